//! Packed token masks over the caller's memory.
//!
//! # Layout
//! A mask of `len` tokens is `words_for(len)` words of `i32`; token `i` is bit `i % 32` of word
//! `i / 32`, and 1 means allowed. This is the layout that vLLM, SGLang and XGrammar's kernels read.
//! The words belong to the caller: every function here works on a borrowed slice and copies nothing
//! it was not asked to copy.
//!
//! # Invariants
//! 1. **Padding is zero**: the bits at or past `len` in the last word of a row that this crate wrote
//!    are zero, with one exception: an *unconstrained* row ([`fill_unconstrained`]) is all ones,
//!    padding included, because engines compare such rows with -1.
//! 2. No function reads a bit at or past `len`.
//!
//! # Reading order
//! [`words_for`], [`Row`], [`RowMut`], [`BatchBitmask`].

mod batch;
mod row;

pub use batch::BatchBitmask;
pub use row::{Ones, Row, RowMut};

/// Tokens in one word.
pub const WORD_BITS: usize = 32;

/// How many words a row of `len` tokens takes.
#[must_use]
pub const fn words_for(len: usize) -> usize {
    len.div_ceil(WORD_BITS)
}

/// Makes the row say "nothing is constrained": every word is -1, padding included.
pub fn fill_unconstrained(words: &mut [i32]) {
    words.fill(-1);
}

/// Whether a row says that nothing is constrained.
#[must_use]
pub fn is_unconstrained(words: &[i32]) -> bool {
    words.iter().all(|&word| word == -1)
}
