//! Sets of pairs of neighbouring bytes.

use std::fmt;

/// A set of pairs of bytes, in 8 KiB.
pub(crate) struct BytePairs(Box<[u64; 1024]>);

impl BytePairs {
    pub(crate) fn new() -> Self {
        Self(Box::new([0; 1024]))
    }

    pub(crate) fn insert(&mut self, before: u8, after: u8) {
        let (word, bit) = Self::place(before, after);
        self.0[word] |= bit;
    }

    /// Every pair of neighbours in a string.
    pub(crate) fn insert_inner(&mut self, bytes: &[u8]) {
        for pair in bytes.windows(2) {
            self.insert(pair[0], pair[1]);
        }
    }

    pub(crate) fn contains(&self, before: u8, after: u8) -> bool {
        let (word, bit) = Self::place(before, after);
        self.0[word] & bit != 0
    }

    fn place(before: u8, after: u8) -> (usize, u64) {
        let at = usize::from(before) << 8 | usize::from(after);
        (at >> 6, 1 << (at & 63))
    }
}

impl fmt::Debug for BytePairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: u32 = self.0.iter().map(|word| word.count_ones()).sum();
        f.debug_struct("BytePairs").field("pairs", &pairs).finish()
    }
}
