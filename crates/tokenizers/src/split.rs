//! Which leading pieces of a text no continuation can change.
//!
//! tiktoken cuts a text into pieces by a regular expression, leftmost first, and encodes each piece
//! alone. Where a piece ends depends on the text after it only so far:
//!
//! 1. every loop of the patterns runs over one kind of character (letters and marks, digits, white
//!    space, the others), so a piece is decided once the run it stands in has ended;
//! 2. a contraction looks at three characters more, and `\s+(?!\S)` at one;
//! 3. a run of white space makes at most two pieces before the run ends: the one that ends in its
//!    last line break, and what is left.
//!
//! So a piece with [`UNDECIDED`] more pieces after it is decided: the text after it holds the rest
//! of its run, the run's end, and three characters. Appending random text tests this.

use fancy_regex::Regex;

/// How many of the last pieces may still change.
const UNDECIDED: usize = 4;

/// Byte length of the leading pieces that stay as they are whatever is appended. 0 when the pattern
/// fails on the text, which fancy-regex does when backtracking exceeds its limit.
pub(crate) fn decided_len(pattern: &Regex, text: &str) -> usize {
    let mut starts = [0; UNDECIDED];
    let mut pieces = 0;
    for piece in pattern.find_iter(text) {
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
