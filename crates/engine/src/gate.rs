//! The reasoning gate: nothing is masked until the model has ended its thinking.
//!
//! The end is recognised as tokens or as text, by the automaton of Knuth, Morris and Pratt (1977)
//! for each way to end. The output proper begins with the token after the one that completes an
//! end; where an end is text that lies inside a token, the rest of that token belongs to the
//! thinking. States are kept per token, so that rolling back is exact.

use formwork::{TokenId, Vocabulary};
use std::sync::Arc;

/// A way to end the thinking.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EndMark {
    /// These tokens in a row.
    Tokens(Vec<TokenId>),
    /// This text, however it is cut into tokens. A special token counts as its name.
    Text(String),
}

/// How the thinking ends. Cheap to clone, to be made once per model.
#[derive(Clone, Debug)]
pub struct ReasoningEnd {
    patterns: Arc<[Pattern]>,
}

/// There is an empty way to end, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the end of the thinking is empty")]
pub struct EmptyEnd;

#[derive(Clone, Debug)]
struct Pattern {
    /// Token ids or bytes.
    symbols: Vec<u32>,
    /// `failure[n]`: the longest proper border of the first `n + 1` symbols.
    failure: Vec<usize>,
    is_text: bool,
}

impl ReasoningEnd {
    /// Thinking that ends in any of these ways.
    ///
    /// # Errors
    /// [`EmptyEnd`] when there is none, or one that is empty.
    pub fn new(marks: &[EndMark]) -> Result<Self, EmptyEnd> {
        let pattern = |mark: &EndMark| match mark {
            EndMark::Tokens(tokens) => {
                Pattern::new(tokens.iter().map(|token| token.as_u32()).collect(), false)
            }
            EndMark::Text(text) => Pattern::new(text.bytes().map(u32::from).collect(), true),
        };
        let patterns: Arc<[Pattern]> = marks.iter().map(pattern).collect();
        match patterns.is_empty() || patterns.iter().any(|it| it.symbols.is_empty()) {
            true => Err(EmptyEnd),
            false => Ok(Self { patterns }),
        }
    }
}

impl Pattern {
    fn new(symbols: Vec<u32>, is_text: bool) -> Self {
        let mut failure = vec![0; symbols.len()];
        let mut matched = 0;
        for at in 1..symbols.len() {
            while matched > 0 && symbols[at] != symbols[matched] {
                matched = failure[matched - 1];
            }
            matched += usize::from(symbols[at] == symbols[matched]);
            failure[at] = matched;
        }
        Self { symbols, failure, is_text }
    }

    /// How many symbols are matched after one more.
    fn step(&self, mut matched: usize, symbol: u32) -> usize {
        while matched > 0 && self.symbols[matched] != symbol {
            matched = self.failure[matched - 1];
        }
        matched + usize::from(self.symbols[matched] == symbol)
    }

    /// The same after one more token; never past the end.
    fn read(&self, mut matched: usize, token: TokenId, vocabulary: &Vocabulary) -> usize {
        let end = self.symbols.len();
        if !self.is_text {
            return self.step(matched, token.as_u32());
        }
        let name = || vocabulary.special_name(token).map(str::as_bytes);
        for &byte in vocabulary.bytes(token).or_else(name).unwrap_or_default() {
            matched = self.step(matched, byte.into());
            if matched == end {
                break;
            }
        }
        matched
    }
}

/// The gate of one request.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    end: ReasoningEnd,
    /// Symbols matched of every pattern: before the first token, then after each, in rows.
    matched: Vec<usize>,
}

impl Gate {
    pub(crate) fn new(end: ReasoningEnd) -> Self {
        let matched = vec![0; end.patterns.len()];
        Self { end, matched }
    }

    fn width(&self) -> usize {
        self.end.patterns.len()
    }

    fn last(&self) -> &[usize] {
        &self.matched[self.matched.len() - self.width()..]
    }

    /// Whether the thinking has ended.
    pub(crate) fn is_open(&self) -> bool {
        let mut ends = self.last().iter().zip(self.end.patterns.iter());
        ends.any(|(&matched, pattern)| matched == pattern.symbols.len())
    }

    /// Tokens read, and not rolled back.
    pub(crate) fn len(&self) -> usize {
        self.matched.len() / self.width() - 1
    }

    /// Reads tokens until the thinking has ended; how many.
    pub(crate) fn read(&mut self, tokens: &[TokenId], vocabulary: &Vocabulary) -> usize {
        for (count, &token) in tokens.iter().enumerate() {
            if self.is_open() {
                return count;
            }
            let before = self.matched.len() - self.width();
            for at in 0..self.width() {
                let pattern = &self.end.patterns[at];
                let matched = pattern.read(self.matched[before + at], token, vocabulary);
                self.matched.push(matched);
            }
        }
        tokens.len()
    }

    /// Makes what was read so far the beginning: it is not counted, nor rolled back.
    pub(crate) fn settle(&mut self) {
        let read = self.len() * self.width();
        self.matched.drain(..read);
    }

    /// Forgets the last tokens.
    pub(crate) fn rollback(&mut self, tokens: usize) {
        let left = self.matched.len() - tokens * self.width();
        self.matched.truncate(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens `a`, `b`, `ab`, `ba`, `aab`, and a special token named `ab`.
    fn vocabulary() -> Vocabulary {
        let texts = ["a", "b", "ab", "ba", "aab"];
        let mut builder = Vocabulary::builder(6);
        for (id, text) in (0..).zip(texts) {
            builder = builder.token(TokenId::new(id), text.as_bytes());
        }
        builder.special(TokenId::new(5), "ab").build().unwrap()
    }

    const TEXTS: [&str; 6] = ["a", "b", "ab", "ba", "aab", "ab"];

    fn ids(numbers: &[u32]) -> Vec<TokenId> {
        numbers.iter().map(|&id| TokenId::new(id)).collect()
    }

    /// The tokens after which the thinking has ended, found by looking for the ends anew each time.
    fn naive(marks: &[EndMark], tokens: &[u32]) -> Option<usize> {
        (1..=tokens.len()).find(|&count| {
            let text: String = tokens[..count].iter().map(|&id| TEXTS[id as usize]).collect();
            marks.iter().any(|mark| match mark {
                EndMark::Tokens(end) => ids(&tokens[..count]).ends_with(end),
                EndMark::Text(end) => text.contains(end.as_str()),
            })
        })
    }

    fn marks() -> impl Strategy<Value = Vec<EndMark>> {
        let tokens = prop::collection::vec(0..6_u32, 1..4).prop_map(|it| EndMark::Tokens(ids(&it)));
        let text = "[ab]{1,5}".prop_map(EndMark::Text);
        prop::collection::vec(prop_oneof![tokens, text], 1..4)
    }

    proptest! {
        #[test]
        fn the_end_is_where_a_naive_search_finds_it(
            marks in marks(),
            tokens in prop::collection::vec(0..6_u32, 0..24),
        ) {
            let vocabulary = vocabulary();
            let mut gate = Gate::new(ReasoningEnd::new(&marks).unwrap());
            let read = gate.read(&ids(&tokens), &vocabulary);
            prop_assert_eq!(gate.is_open().then_some(read), naive(&marks, &tokens));
        }

        #[test]
        fn rolling_back_forgets_exactly(
            marks in marks(),
            first in prop::collection::vec(0..6_u32, 0..10),
            second in prop::collection::vec(0..6_u32, 0..10),
        ) {
            let vocabulary = vocabulary();
            let mut gate = Gate::new(ReasoningEnd::new(&marks).unwrap());
            gate.read(&ids(&first), &vocabulary);
            let before = gate.clone();
            let read = gate.read(&ids(&second), &vocabulary);
            gate.rollback(read);
            prop_assert_eq!(&gate.matched, &before.matched);
            gate.settle();
            prop_assert_eq!((gate.len(), gate.is_open()), (0, before.is_open()));
        }
    }

    #[test]
    fn no_end_is_an_error() {
        assert_eq!(ReasoningEnd::new(&[]).unwrap_err(), EmptyEnd);
        assert_eq!(ReasoningEnd::new(&[EndMark::Text(String::new())]).unwrap_err(), EmptyEnd);
        assert_eq!(ReasoningEnd::new(&[EndMark::Tokens(vec![])]).unwrap_err(), EmptyEnd);
    }
}
