//! A place in the pattern, and errors that know theirs.

use crate::{RegexError, RegexErrorKind};
use formwork_grammar::SourcePosition;

/// Reads a pattern character by character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'p> {
    pattern: &'p str,
    at: usize,
}

impl<'p> Cursor<'p> {
    pub(crate) fn new(pattern: &'p str) -> Self {
        Self { pattern, at: 0 }
    }

    /// Byte offset of the next character.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'p str {
        &self.pattern[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Reads `expected` if it comes next.
    pub(crate) fn eat(&mut self, expected: &str) -> bool {
        let comes = self.rest().starts_with(expected);
        if comes {
            self.at += expected.len();
        }
        comes
    }

    /// Reads the longest run of characters that are `wanted`.
    pub(crate) fn eat_while(&mut self, wanted: impl Fn(char) -> bool) -> &'p str {
        let rest = self.rest();
        let end = rest.find(|character| !wanted(character)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// An error about what stands from `start` up to here.
    pub(crate) fn error(&self, start: usize, kind: RegexErrorKind) -> RegexError {
        self.error_of(start, self.at - start, kind)
    }

    /// An error about `length` bytes from `start`.
    pub(crate) fn error_of(&self, start: usize, length: usize, kind: RegexErrorKind) -> RegexError {
        RegexError { kind, position: SourcePosition::in_text(self.pattern, start, length) }
    }
}
