//! Work that must not end the command, whatever it comes upon.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A panic where there should be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Panicked(String);

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "panic: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// Runs `work`, and turns a panic into an error. What it was changing must be thrown away then.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Panicked(text.unwrap_or("without a message").to_owned())
    })
}
