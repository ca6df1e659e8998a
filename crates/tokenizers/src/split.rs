//! How a tokenizer cuts a text into pieces, and which cuts no continuation can move.
//!
//! A pattern cuts a text leftmost first, and each piece is encoded alone. So tokens are decided
//! where pieces are. [`Joins`] says between which neighbours no match of a pattern can go on;
//! `cuts` puts that together with all else that a tokenizer does to a text.
//!
//! # The last pieces
//! For the patterns in [`BOUNDED`] there is a second argument, which needs no such neighbours. Where
//! a piece ends depends on the text after it only so far:
//!
//! 1. every loop of these patterns runs over one kind of character (letters and marks, digits, white
//!    space, the others), so a piece is decided once the run it stands in has ended; inside a run of
//!    digits it is decided earlier, and inside a run of letters once the next piece is;
//! 2. a contraction looks at three characters more, and `\s+(?!\S)` at one;
//! 3. a run of white space makes at most two pieces before the run ends: the one that ends in its
//!    last line break, and what is left.
//!
//! So a piece with [`UNDECIDED`] more pieces after it is decided.

mod joins;

pub(crate) use joins::Joins;

use fancy_regex::Regex;
use formwork_vocab::EncodeError;
use std::ops::Range;

/// The split pattern of cl100k_base as tiktoken has it today.
pub(crate) const CL100K_PATTERN: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
);

/// The split pattern of Llama 3, which was cl100k_base's at first.
pub(crate) const LLAMA3_PATTERN: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// The split pattern of Qwen: Llama 3's with every digit alone.
pub(crate) const QWEN_PATTERN: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|",
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

/// The split pattern of GPT-2, and of `ByteLevel` where it is told nothing else.
pub(crate) const GPT2_PATTERN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The patterns that the argument about the last pieces was made for; o200k_base's, which Llama 4
/// has too, is among them.
const BOUNDED: [&str; 4] =
    [CL100K_PATTERN, LLAMA3_PATTERN, QWEN_PATTERN, tiktoken_rs::O200K_BASE_PAT_STR];

/// How many of the last pieces may still change.
const UNDECIDED: usize = 4;

/// White-space characters in a row. The pattern engine keeps a record of 1,000,000 places to go
/// back to, and the look-ahead of these patterns makes it keep one per character of such a run.
const MAX_RUN: usize = 1 << 18;

/// Bytes of a pattern; those in use have a few hundred.
const MAX_PATTERN_BYTES: usize = 1 << 14;

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
            return Err(too_hard(start));
        }
    }
    Ok(())
}

/// The pattern engine gave up on what begins here.
pub(crate) fn too_hard(offset: usize) -> EncodeError {
    EncodeError::RunTooLong { offset, limit: MAX_RUN }
}

/// Why a split pattern cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It is too long.
    #[error("the split pattern has {len} bytes, more than {MAX_PATTERN_BYTES}")]
    TooLong {
        /// Its bytes.
        len: usize,
    },
    /// It is not a regular expression of this dialect.
    #[error(transparent)]
    Syntax(#[from] Box<fancy_regex::Error>),
}

/// A tokenizer's way of cutting a text into pieces.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    joins: Option<Joins>,
    bounded: bool,
}

impl Pattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, PatternError> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong { len: pattern.len() });
        }
        Ok(Self {
            regex: Regex::new(pattern).map_err(Box::new)?,
            joins: Joins::of(pattern),
            bounded: BOUNDED.contains(&pattern),
        })
    }

    /// Which neighbours a match can contain; `None` where the pattern is not understood.
    pub(crate) fn joins(&self) -> Option<&Joins> {
        self.joins.as_ref()
    }

    /// The matches, from left to right.
    ///
    /// # Errors
    /// Each item is one where the pattern engine gave up; it is the last one.
    pub(crate) fn pieces(
        &self,
        text: &str,
    ) -> impl Iterator<Item = Result<Range<usize>, EncodeError>> {
        let mut end = 0;
        let mut failed = false;
        self.regex.find_iter(text).map_while(move |piece| match piece {
            _ if failed => None,
            Ok(piece) => {
                end = piece.end();
                Some(Ok(piece.range()))
            }
            Err(_) => {
                failed = true;
                Some(Err(too_hard(end)))
            }
        })
    }

    /// Byte length of all pieces but the last [`UNDECIDED`], which stay as they are whatever is
    /// appended. 0 for patterns that are not in [`BOUNDED`], and when the engine gives up.
    pub(crate) fn all_but_last(&self, text: &str) -> usize {
        if !self.bounded {
            return 0;
        }
        let mut starts = [0; UNDECIDED];
        let mut pieces = 0;
        for piece in self.pieces(text) {
            let Ok(piece) = piece else { return 0 };
            starts[pieces % UNDECIDED] = piece.start;
            pieces += 1;
        }
        match pieces < UNDECIDED {
            true => 0,
            // The oldest start kept: that of the first piece that may change.
            false => starts[pieces % UNDECIDED],
        }
    }
}
