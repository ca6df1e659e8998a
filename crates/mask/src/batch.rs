//! A batch of rows in one allocation, for callers that have no tensor of their own.

use crate::{Row, words_for};

/// `[rows, words_for(len)]` words, row-major, all ones (unconstrained) when new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchBitmask {
    words: Vec<i32>,
    rows: usize,
    len: usize,
}

impl BatchBitmask {
    /// A batch in which no row is constrained.
    #[must_use]
    pub fn new(rows: usize, len: usize) -> Self {
        Self { words: vec![-1; rows * words_for(len)], rows, len }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Tokens per row.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.len
    }

    /// The words of one row.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> Row<'_> {
        let stride = words_for(self.len);
        Row::new(&self.words[row * stride..(row + 1) * stride], self.len)
    }

    /// The words of one row, to be filled.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn row_words_mut(&mut self, row: usize) -> &mut [i32] {
        let stride = words_for(self.len);
        &mut self.words[row * stride..(row + 1) * stride]
    }

    /// All rows, disjoint, so that threads can fill them side by side.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [i32]> {
        // `max(1)` because a vocabulary of no tokens has rows of no words.
        self.words.chunks_exact_mut(words_for(self.len).max(1))
    }

    /// All words, row-major: what goes to the device.
    #[must_use]
    pub fn words(&self) -> &[i32] {
        &self.words
    }
}
