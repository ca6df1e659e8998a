//! A place for what others derive from a vocabulary, by type.

use rustc_hash::FxHashMap;
use std::{
    any::{Any, TypeId},
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

type Value = Arc<dyn Any + Send + Sync>;

/// One value a type. The lock is held to find the cell, never while a value is made.
#[derive(Default)]
pub(super) struct Derived {
    cells: Mutex<FxHashMap<TypeId, Arc<OnceLock<Value>>>>,
}

impl Derived {
    pub(super) fn get<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let cell = {
            // Nothing under the lock can panic half-way.
            let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            cells.entry(TypeId::of::<T>()).or_default().clone()
        };
        let value = cell.get_or_init(|| Arc::new(make())).clone();
        value.downcast().expect("the key of a cell is the type of its value")
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derived").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Derived;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    #[test]
    fn a_value_is_made_once_a_type() {
        let derived = Derived::default();
        let made = AtomicUsize::new(0);
        let make = || {
            made.fetch_add(1, Ordering::Relaxed);
            vec![7_u8]
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(*derived.get(make), [7]));
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert!(Arc::ptr_eq(&derived.get(|| 3_u32), &derived.get(|| 4_u32)));
        assert_eq!(*derived.get(|| vec![9_u8]), [7]);
    }
}
