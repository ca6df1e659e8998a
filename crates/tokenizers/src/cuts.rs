//! How much of a text is encoded the same whatever follows it.
//!
//! # Idea
//! A tokenizer takes added tokens out of a text, normalises what is left, cuts it into pieces stage
//! by stage, and its model divides each piece into tokens. Suppose that at some place *k* between
//! the characters *a* and *b*, both there already,
//!
//! 1. no added token stands across *k*, none that the end of the text leaves open begins at *k* or
//!    before, and the normaliser changes nothing before *k* whatever follows;
//! 2. no attempt at a match, of any stage, reads *a* and goes on with *b* or looks at it; and
//! 3. *k* is the end of a match of some stage, or the end or beginning of an added token, or the
//!    model has no token, nor a step towards one, with the bytes on both sides of *k* in it.
//!
//! Then everything up to *k* is encoded the same in every text that begins so, and a token ends at
//! *k*. By 1 and 2 all that the stages do before *k* depends on the text before *k* alone, pieces
//! and gaps between matches included, and by 3 nothing is ever joined across *k*.
//!
//! For byte-pair merging and for the best path of a unigram model 3 is enough of the model: the
//! first merges no pair across *k*, so the order of merges before *k* is that of the text before *k*
//! alone; every path of the second passes through *k*, so its best one consists of the best ones on
//! both sides.
//!
//! # Cost
//! A run of the stages over the text, and a few dozen comparisons a byte for added tokens.

use crate::{pairs::BytePairs, split::Pattern, strings::Strings};
use std::ops::Range;

/// One way of cutting pieces into smaller pieces.
#[derive(Debug)]
pub(crate) enum Stage {
    /// At the matches of a pattern; what is between them are pieces too.
    Pattern(Pattern),
    /// Before every space.
    Spaces,
    /// Around every numeric character.
    Digit,
    /// Around every run of numeric characters.
    Digits,
}

/// What the normaliser may do to text that it leaves unchanged as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composing {
    /// Nothing.
    No,
    /// It may compose the last character with what follows, unless that is ASCII.
    Yes,
}

/// All that a tokenizer cuts by.
#[derive(Debug)]
pub(crate) struct Cuts {
    pub(crate) composing: Composing,
    /// What stands for a space inside, and so is no character of its own.
    pub(crate) space: Option<char>,
    pub(crate) stages: Vec<Stage>,
    /// Neighbouring bytes that the model may join; without it, it may join any.
    pub(crate) joined: Option<BytePairs>,
    /// Added tokens in the order in which they are looked for, set after set.
    pub(crate) added: Vec<Needles>,
}

/// Strings that are taken out of a text: of those that begin at one place the longest, from left to
/// right.
#[derive(Debug)]
pub(crate) struct Needles(Strings);

/// Bytes of an added token. Looking for them costs at most this per byte of text.
const MAX_NEEDLE_BYTES: usize = 256;

impl Needles {
    /// `None` when a string is too long.
    pub(crate) fn new<'a>(strings: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut list = Vec::new();
        for (number, string) in (0..).zip(strings) {
            if string.len() > MAX_NEEDLE_BYTES {
                return None;
            }
            list.push((string.as_bytes().into(), number));
        }
        Some(Self(Strings::new(list)))
    }

    /// The stretches of `text[range]` that are taken out.
    fn matches(&self, text: &[u8], range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end && !self.0.is_empty() {
            match self.0.longest(&text[at..range.end]) {
                Some((len, _)) => {
                    found.push(at..at + len);
                    at += len;
                }
                None => at += 1,
            }
        }
        found
    }
}

/// What is known about the places of a text; one entry a byte and one for the end.
struct Places {
    /// An added token may stand across.
    blocked: Vec<bool>,
    /// A piece ends here for certain, unless a stage can cross.
    ends: Vec<bool>,
    /// An added token begins or ends here.
    edges: Vec<bool>,
}

impl Cuts {
    /// Byte length of the part that stays as it is. `text` is unchanged by the normaliser.
    pub(crate) fn decided_len(&self, text: &str) -> usize {
        // Whatever stands for a space is not what it seems: as good as unknown.
        let text = self.space.and_then(|space| text.split(space).next()).unwrap_or(text);
        let mut places = Places {
            blocked: vec![false; text.len() + 1],
            ends: vec![false; text.len() + 1],
            edges: vec![false; text.len() + 1],
        };
        let open = self.block(text, &mut places.blocked);
        let segments = self.segments(text, open, &mut places.edges);
        for segment in segments {
            if self.mark_ends(text, segment, &mut places.ends).is_none() {
                return 0;
            }
        }
        let bounded = self.all_but_last(text);
        let mut characters = text.char_indices().rev().peekable();
        while let Some((at, after)) = characters.next() {
            let Some(&(_, before)) = characters.peek() else { break };
            if at < open && self.is_decided(text, at, (before, after), &places) {
                return at.max(bounded);
            }
        }
        bounded
    }

    /// What the pattern alone can tell, where nothing else is done to a text.
    fn all_but_last(&self, text: &str) -> usize {
        match &self.stages[..] {
            [Stage::Pattern(pattern)]
                if self.added.is_empty() && self.composing == Composing::No =>
            {
                pattern.all_but_last(text)
            }
            _ => 0,
        }
    }

    /// Marks the places across which an added token stands, and finds the first place where one may
    /// begin that the text is too short for.
    fn block(&self, text: &str, blocked: &mut [bool]) -> usize {
        let bytes = text.as_bytes();
        let mut open = bytes.len();
        for set in self.added.iter().filter(|set| !set.0.is_empty()) {
            // The furthest end of those that begin before.
            let mut reach = 0;
            for at in 0..bytes.len() {
                blocked[at] |= at < reach;
                let is_open = set.0.prefixes(&bytes[at..], |len, _| reach = reach.max(at + len));
                if is_open {
                    open = open.min(at);
                }
            }
        }
        open
    }

    /// What is left of the text when the added tokens are taken out.
    /// An added token is certain where none that is still open could take a part of it.
    fn segments(&self, text: &str, open: usize, edges: &mut [bool]) -> Vec<Range<usize>> {
        let mut segments: Vec<Range<usize>> = std::iter::once(0..text.len()).collect();
        for set in &self.added {
            let mut rest = Vec::new();
            for segment in segments {
                let mut start = segment.start;
                for token in set.matches(text.as_bytes(), segment.clone()) {
                    edges[token.start] |= token.end <= open;
                    edges[token.end] |= token.end <= open;
                    rest.push(start..token.start);
                    start = token.end;
                }
                rest.push(start..segment.end);
            }
            segments = rest;
        }
        segments
    }

    /// Runs the stages over a segment; `None` when a pattern gives up.
    fn mark_ends(&self, text: &str, segment: Range<usize>, ends: &mut [bool]) -> Option<()> {
        let mut pieces = vec![segment];
        for (index, stage) in self.stages.iter().enumerate() {
            let mut smaller = Vec::new();
            for piece in pieces {
                let matches = stage.matches(&text[piece.clone()])?;
                let mut start = piece.start;
                for found in matches {
                    let found = piece.start + found.start..piece.start + found.end;
                    ends[found.end] = true;
                    if start < found.start {
                        smaller.push(start..found.start);
                    }
                    start = found.end;
                    smaller.push(found);
                }
                if start < piece.end {
                    smaller.push(start..piece.end);
                }
            }
            if index + 1 == self.stages.len() {
                break;
            }
            pieces = smaller;
        }
        Some(())
    }

    fn is_decided(
        &self,
        text: &str,
        at: usize,
        (before, after): (char, char),
        places: &Places,
    ) -> bool {
        if places.blocked[at] || self.composing == Composing::Yes && !after.is_ascii() {
            return false;
        }
        if places.edges[at] {
            return true;
        }
        if self.stages.iter().any(|stage| stage.may_cross(before, after)) {
            return false;
        }
        let bytes = text.as_bytes();
        places.ends[at]
            || self.joined.as_ref().is_some_and(|pairs| !pairs.contains(bytes[at - 1], bytes[at]))
    }
}

impl Stage {
    /// Whether an attempt at a match may read one character and go on with the other.
    fn may_cross(&self, before: char, after: char) -> bool {
        match self {
            Self::Pattern(pattern) => {
                pattern.joins().is_none_or(|joins| joins.may_cross(before, after))
            }
            Self::Spaces | Self::Digit => false,
            Self::Digits => before.is_numeric() && after.is_numeric(),
        }
    }

    /// The matches in a piece; `None` when the pattern gives up.
    fn matches(&self, piece: &str) -> Option<Vec<Range<usize>>> {
        let characters = piece.char_indices();
        let digits = characters.clone().filter(|(_, character)| character.is_numeric());
        let digits = digits.map(|(at, digit)| at..at + digit.len_utf8());
        match self {
            Self::Pattern(pattern) => pattern.pieces(piece).collect::<Result<_, _>>().ok(),
            Self::Spaces => {
                let spaces = characters.filter(|&(at, character)| at > 0 && character == ' ');
                let starts = std::iter::once(0).chain(spaces.map(|(at, _)| at));
                let ends = starts.clone().skip(1).chain([piece.len()]);
                Some(starts.zip(ends).map(|(start, end)| start..end).collect())
            }
            Self::Digit => Some(digits.collect()),
            Self::Digits => {
                let mut runs: Vec<Range<usize>> = Vec::new();
                for digit in digits {
                    match runs.last_mut() {
                        Some(run) if run.end == digit.start => run.end = digit.end,
                        _ => runs.push(digit),
                    }
                }
                Some(runs)
            }
        }
    }
}
