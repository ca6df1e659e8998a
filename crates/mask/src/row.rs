//! One row: borrowed words and the number of tokens they stand for.

use crate::{WORD_BITS, words_for};

/// A row to read: `len` tokens in `words_for(len)` words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    words: &'a [i32],
    len: usize,
}

/// A row to write.
#[derive(Debug)]
pub struct RowMut<'a> {
    words: &'a mut [i32],
    len: usize,
}

const fn bit(token: usize) -> i32 {
    1_i32 << (token % WORD_BITS)
}

/// The bits of the last word that stand for tokens.
const fn last_word_mask(len: usize) -> i32 {
    match len % WORD_BITS {
        0 => -1,
        used => (1_u32 << used).wrapping_sub(1).cast_signed(),
    }
}

impl<'a> Row<'a> {
    /// # Panics
    /// When `words` is not `words_for(len)` long.
    #[must_use]
    pub fn new(words: &'a [i32], len: usize) -> Self {
        assert_eq!(words.len(), words_for(len), "words of a row of {len} tokens");
        Self { words, len }
    }

    /// The packed words.
    #[must_use]
    pub fn words(self) -> &'a [i32] {
        self.words
    }

    /// Number of tokens.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "emptiness of a row means no bit set")]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the token is allowed; false for ids past the row.
    #[must_use]
    pub fn contains(self, token: usize) -> bool {
        token < self.len && self.words[token / WORD_BITS] & bit(token) != 0
    }

    /// How many tokens are allowed. One pass over the words.
    #[must_use]
    pub fn count(self) -> usize {
        let Some((&last, rest)) = self.words.split_last() else { return 0 };
        let full: usize = rest.iter().map(|word| word.count_ones() as usize).sum();
        full + (last & last_word_mask(self.len)).count_ones() as usize
    }

    /// Whether no token is allowed.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.count() == 0
    }

    /// The allowed tokens, ascending.
    #[must_use]
    pub fn ones(self) -> Ones<'a> {
        Ones { row: self, next_word: 0, base: 0, pending: 0 }
    }
}

impl<'a> RowMut<'a> {
    /// # Panics
    /// When `words` is not `words_for(len)` long.
    #[must_use]
    pub fn new(words: &'a mut [i32], len: usize) -> Self {
        assert_eq!(words.len(), words_for(len), "words of a row of {len} tokens");
        Self { words, len }
    }

    /// The same row, to read.
    #[must_use]
    pub fn as_row(&self) -> Row<'_> {
        Row { words: self.words, len: self.len }
    }

    /// Allows nothing.
    pub fn clear_all(&mut self) {
        self.words.fill(0);
    }

    /// Allows every token of the row; padding stays zero.
    pub fn set_all(&mut self) {
        self.words.fill(-1);
        if let Some(last) = self.words.last_mut() {
            *last &= last_word_mask(self.len);
        }
    }

    /// Allows one token; an id past the row changes nothing.
    pub fn set(&mut self, token: usize) {
        if token < self.len {
            self.words[token / WORD_BITS] |= bit(token);
        }
    }

    /// Refuses one token; an id past the row changes nothing.
    pub fn clear(&mut self, token: usize) {
        if token < self.len {
            self.words[token / WORD_BITS] &= !bit(token);
        }
    }

    /// Becomes `other`.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn copy_from(&mut self, other: Row<'_>) {
        assert_eq!(self.len, other.len, "rows of one vocabulary");
        self.words.copy_from_slice(other.words);
    }

    /// Becomes the union with `other`.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn union_with(&mut self, other: Row<'_>) {
        self.zip(other, |mine, theirs| mine | theirs);
    }

    /// Becomes the intersection with `other`.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn intersect_with(&mut self, other: Row<'_>) {
        self.zip(other, |mine, theirs| mine & theirs);
    }

    /// Loses what `other` allows.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn subtract(&mut self, other: Row<'_>) {
        self.zip(other, |mine, theirs| mine & !theirs);
    }

    fn zip(&mut self, other: Row<'_>, combine: impl Fn(i32, i32) -> i32) {
        assert_eq!(self.len, other.len, "rows of one vocabulary");
        for (mine, &theirs) in self.words.iter_mut().zip(other.words) {
            *mine = combine(*mine, theirs);
        }
    }
}

/// Iterator over the allowed tokens of a row, ascending.
#[derive(Clone, Debug)]
pub struct Ones<'a> {
    row: Row<'a>,
    next_word: usize,
    base: usize,
    pending: u32,
}

impl Iterator for Ones<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        while self.pending == 0 {
            let word = *self.row.words.get(self.next_word)?;
            self.base = self.next_word * WORD_BITS;
            self.next_word += 1;
            self.pending = word.cast_unsigned();
            if self.next_word == self.row.words.len() {
                self.pending &= last_word_mask(self.row.len).cast_unsigned();
            }
        }
        let token = self.base + self.pending.trailing_zeros() as usize;
        self.pending &= self.pending - 1;
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_counts_and_lists_without_touching_padding() {
        let mut words = vec![-1; words_for(70)];
        let mut row = RowMut::new(&mut words, 70);
        assert_eq!(row.as_row().count(), 70);
        row.clear_all();
        for token in [0, 31, 32, 69, 70, 1_000] {
            row.set(token);
        }
        assert_eq!(row.as_row().ones().collect::<Vec<_>>(), [0, 31, 32, 69]);
        assert!(!row.as_row().contains(70));
        row.set_all();
        assert_eq!(row.as_row().ones().count(), 70);
        assert_eq!(words[2], (1 << 6) - 1);
    }

    #[test]
    fn a_last_word_of_any_width_keeps_its_padding_zero() {
        for len in 1..=96 {
            let mut words = vec![0; words_for(len)];
            RowMut::new(&mut words, len).set_all();
            let bits: u32 = words.iter().map(|word| word.count_ones()).sum();
            assert_eq!(bits as usize, len);
            assert!(Row::new(&words, len).ones().eq(0..len));
        }
    }

    #[test]
    fn set_operations_are_bitwise() {
        let a = [0b1100];
        let b = [0b1010];
        let apply = |operate: &dyn for<'a, 'b> Fn(&mut RowMut<'a>, Row<'b>)| {
            let mut words = a;
            operate(&mut RowMut::new(&mut words, 4), Row::new(&b, 4));
            words[0]
        };
        assert_eq!(apply(&|row, other| row.union_with(other)), 0b1110);
        assert_eq!(apply(&|row, other| row.intersect_with(other)), 0b1000);
        assert_eq!(apply(&|row, other| row.subtract(other)), 0b0100);
        assert_eq!(apply(&|row, other| row.copy_from(other)), 0b1010);
    }

    #[test]
    fn a_row_of_no_tokens_is_legal() {
        let row = Row::new(&[], 0);
        assert!(row.is_zero());
        assert_eq!(row.ones().next(), None);
    }
}
