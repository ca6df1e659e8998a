//! Which leading pieces of a text no continuation can change.
//!
//! tiktoken cuts a text into pieces by a regular expression, leftmost first, and encodes each piece
//! alone. So tokens are decided where pieces are. Two arguments say how far; the further one counts.
//!
//! # The last pieces
//! Where a piece ends depends on the text after it only so far:
//!
//! 1. every loop of the patterns runs over one kind of character (letters and marks, digits, white
//!    space, the others), so a piece is decided once the run it stands in has ended; inside a run of
//!    digits it is decided earlier, and inside a run of letters once the next piece is;
//! 2. a contraction looks at three characters more, and `\s+(?!\S)` at one;
//! 3. a run of white space makes at most two pieces before the run ends: the one that ends in its
//!    last line break, and what is left.
//!
//! So a piece with [`UNDECIDED`] more pieces after it is decided.
//!
//! # Two characters that never share a piece
//! Between some neighbours every text has the end of a piece. The pieces of both patterns are
//! letters and marks (with one character before, a contraction after), digits, other characters
//! (with a space before, and line breaks or slashes after), and white space. Hence no piece, nor any
//! attempt at one, goes
//!
//! 1. from what is not white space to white space other than a line break;
//! 2. from a digit to what is none, or from what is neither digit nor white space to a digit;
//! 3. from a letter to what is neither letter, mark, nor `'`.
//!
//! All matches of the text before such a place stay on their side of it. The patterns look past a
//! match only after white space, and the character before the place is none, so what they see is
//! before the place too. Hence the pieces there are the same whatever follows. Rules 2 and 3 are
//! applied to ASCII alone, so that nothing rests on which version of Unicode knows a character.
//!
//! Short keys of JSON, `{"id":`, are decided by the second argument where the first needs more text.

use fancy_regex::Regex;
use formwork_vocab::EncodeError;

/// How many of the last pieces may still change.
const UNDECIDED: usize = 4;

/// White-space characters in a row. The pattern engine keeps a record of 1,000,000 places to go
/// back to, and the look-ahead of both patterns makes it keep one per character of such a run.
const MAX_RUN: usize = 1 << 18;

/// Refuses runs of white space that are too long for the patterns. One pass over the text.
pub(crate) fn check_runs(text: &str) -> Result<(), EncodeError> {
    let mut run = 0;
    let mut start = 0;
    for (offset, character) in text.char_indices() {
        if !character.is_whitespace() {
            run = 0;
            continue;
        }
        if run == 0 {
            start = offset;
        }
        run += 1;
        if run > MAX_RUN {
            return Err(EncodeError::RunTooLong { offset: start, limit: MAX_RUN });
        }
    }
    Ok(())
}

/// A tokenizer's way of cutting a text into pieces.
#[derive(Debug)]
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// # Panics
    /// When the pattern is not well formed; both there are compile in tests.
    pub(crate) fn new(pattern: &str) -> Self {
        Self(Regex::new(pattern).expect("a constant pattern that tests compile"))
    }

    /// Byte length of the leading pieces that stay as they are whatever is appended.
    pub(crate) fn decided_len(&self, text: &str) -> usize {
        self.all_but_last(text).max(last_certain_end(text))
    }

    /// Byte length of all pieces but the last [`UNDECIDED`]. 0 when the pattern fails on the text,
    /// which fancy-regex does when backtracking exceeds its limit.
    fn all_but_last(&self, text: &str) -> usize {
        let mut starts = [0; UNDECIDED];
        let mut pieces = 0;
        for piece in self.0.find_iter(text) {
            let Ok(piece) = piece else { return 0 };
            starts[pieces % UNDECIDED] = piece.start();
            pieces += 1;
        }
        match pieces < UNDECIDED {
            true => 0,
            // The oldest start kept: that of the first piece that may change.
            false => starts[pieces % UNDECIDED],
        }
    }
}

/// Byte offset of the last place between two characters that never share a piece; 0 without one.
fn last_certain_end(text: &str) -> usize {
    let mut characters = text.char_indices().rev().peekable();
    while let Some((offset, after)) = characters.next() {
        match characters.peek() {
            Some(&(_, before)) if ends_between(before, after) => return offset,
            _ => {}
        }
    }
    0
}

/// Whether a piece ends between these neighbours in every text.
fn ends_between(before: char, after: char) -> bool {
    if before.is_whitespace() {
        return false;
    }
    if after.is_whitespace() && !matches!(after, '\r' | '\n') {
        return true;
    }
    let digits = (before.is_ascii_digit(), after.is_ascii_digit());
    let end_of_word = before.is_ascii_alphabetic() && !after.is_ascii_alphabetic() && after != '\'';
    before.is_ascii() && after.is_ascii() && (digits.0 != digits.1 || end_of_word)
}
