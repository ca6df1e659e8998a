//! A stack that forks in constant time.
//!
//! # Idea
//! Entries are kept in blocks of [`BLOCK`]. The last block belongs to this stack alone; the full
//! ones before it are immutable and shared, each linking to the one below. A fork copies the last
//! block (a bounded number of entries) and one link.
//!
//! # Cost
//! Push and pop: a few nanoseconds; one allocation per [`BLOCK`] pushes, none in between. Fork: at
//! most [`BLOCK`] entries copied. `truncate` by n: O(n / BLOCK + BLOCK).

use std::sync::Arc;

/// Entries per block.
const BLOCK: usize = 128;

/// A stack of small values with a constant-time fork.
#[derive(Debug)]
pub struct History<T> {
    /// Never empty unless the whole stack is: holds the top entry.
    top: Vec<T>,
    below: Option<Arc<Block<T>>>,
    below_len: usize,
}

#[derive(Debug)]
struct Block<T> {
    entries: Box<[T]>,
    below: Option<Arc<Block<T>>>,
}

impl<T> Drop for Block<T> {
    /// Unlinks iteratively: a long chain must not recurse.
    fn drop(&mut self) {
        let mut below = self.below.take();
        while let Some(block) = below {
            // `into_inner`, so that of two stacks dropped at once one gets the block.
            match Arc::into_inner(block) {
                Some(mut owned) => below = owned.below.take(),
                None => break,
            }
        }
    }
}

impl<T: Copy> Default for History<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Clone for History<T> {
    fn clone(&self) -> Self {
        let mut top = Vec::with_capacity(BLOCK);
        top.extend_from_slice(&self.top);
        Self { top, below: self.below.clone(), below_len: self.below_len }
    }
}

impl<T: Copy> History<T> {
    /// An empty stack.
    #[must_use]
    pub fn new() -> Self {
        Self { top: Vec::with_capacity(BLOCK), below: None, below_len: 0 }
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.below_len + self.top.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.top.is_empty()
    }

    /// The newest entry.
    #[must_use]
    pub fn last(&self) -> Option<T> {
        self.top.last().copied()
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: T) {
        if self.top.len() == BLOCK {
            let entries = self.top.as_slice().into();
            self.below = Some(Arc::new(Block { entries, below: self.below.take() }));
            self.below_len += BLOCK;
            self.top.clear();
        }
        self.top.push(entry);
    }

    /// Keeps the oldest `len` entries; does nothing when there are not more.
    pub fn truncate(&mut self, len: usize) {
        while self.below_len >= len
            && let Some(block) = self.below.take()
        {
            self.top.clear();
            self.top.extend_from_slice(&block.entries);
            self.below = block.below.clone();
            self.below_len -= BLOCK;
        }
        self.top.truncate(len - self.below_len.min(len));
    }

    /// All entries, oldest first. Linear in their number.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let mut blocks: Vec<&[T]> = vec![&self.top];
        let mut below = self.below.as_deref();
        while let Some(block) = below {
            blocks.push(&block.entries);
            below = block.below.as_deref();
        }
        blocks.into_iter().rev().flatten().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Op {
        Push(usize),
        Truncate(usize),
        Fork,
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            (1..400_usize).prop_map(Op::Push),
            (0..900_usize).prop_map(Op::Truncate),
            Just(Op::Fork),
        ];
        prop::collection::vec(op, 1..12)
    }

    proptest! {
        #[test]
        fn behaves_like_a_vector_and_forks_are_independent(ops in ops()) {
            let mut stack = History::new();
            let mut model = Vec::new();
            let mut forks = Vec::new();
            for op in ops {
                match op {
                    Op::Push(count) => for value in 0..count {
                        stack.push(value);
                        model.push(value);
                    },
                    Op::Truncate(len) => {
                        stack.truncate(len);
                        model.truncate(len);
                    }
                    Op::Fork => forks.push((stack.clone(), model.clone())),
                }
                prop_assert_eq!(stack.len(), model.len());
                prop_assert_eq!(stack.last(), model.last().copied());
                prop_assert_eq!(stack.is_empty(), model.is_empty());
            }
            prop_assert_eq!(stack.to_vec(), model);
            for (fork, model) in forks {
                prop_assert_eq!(fork.to_vec(), model);
            }
        }
    }

    #[test]
    fn a_long_stack_drops_without_recursion() {
        let mut stack = History::new();
        for value in 0..10_000_000_u32 {
            stack.push(value);
        }
        drop(stack);
    }
}
