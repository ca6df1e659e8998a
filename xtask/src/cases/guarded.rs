//! Work that may panic, without ending the run or writing over its table.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook},
};

thread_local! {
    /// Where this thread panicked last.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs `work` with panics kept silent: their places are remembered for [`guarded`].
pub(super) fn silenced<T>(work: impl FnOnce() -> T) -> T {
    let before = take_hook();
    set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        PLACE.set(info.location().map(ToString::to_string));
    }));
    let result = work();
    set_hook(before);
    result
}

/// Runs `work`, and turns a panic into what it said, and where. What it was changing must be thrown
/// away then.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("without a message");
        match PLACE.take() {
            Some(place) => format!("panic at {place}: {text}"),
            None => format!("panic: {text}"),
        }
    })
}
