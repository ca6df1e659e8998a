//! A place in the text, and errors that know theirs.

use crate::{EbnfError, EbnfErrorKind};
use formwork_grammar::SourcePosition;

/// Reads a text character by character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Whether nothing but blanks stands between the begin of the line and here.
    fresh: bool,
}

/// What may stand in a name anywhere, in every dialect.
pub(crate) fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, fresh: true }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Byte offset of the next character.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Whether what comes next is the first thing on its line.
    pub(crate) fn is_first_on_line(&self) -> bool {
        self.fresh
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        self.fresh = false;
        Some(next)
    }

    /// Reads `expected` if it comes next.
    pub(crate) fn eat(&mut self, expected: &str) -> bool {
        let comes = self.rest().starts_with(expected);
        if comes {
            self.at += expected.len();
            self.fresh = false;
        }
        comes
    }

    /// Reads the longest run of characters that are `wanted`.
    pub(crate) fn eat_while(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|character| !wanted(character)).unwrap_or(rest.len());
        self.at += end;
        self.fresh &= end == 0;
        &rest[..end]
    }

    /// Reads blanks, line breaks and comments.
    pub(crate) fn skip_blank(&mut self) {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\n' | b'\r') => {
                    self.at += 1;
                    self.fresh = true;
                }
                Some(b'#') => {
                    let rest = self.rest();
                    self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// An error: something else had to come next.
    pub(crate) fn expected(&self, expected: &'static str) -> EbnfError {
        let found = self.peek();
        let length = found.map_or(0, char::len_utf8);
        self.error_of(self.at, length, EbnfErrorKind::Expected { expected, found })
    }

    /// Reads `wanted`, after blanks; `expected` says it in an error.
    pub(crate) fn expect(&mut self, wanted: &str, expected: &'static str) -> Result<(), EbnfError> {
        self.skip_blank();
        if self.eat(wanted) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// An error about what stands from `start` up to here.
    pub(crate) fn error(&self, start: usize, kind: EbnfErrorKind) -> EbnfError {
        self.error_of(start, self.at - start, kind)
    }

    /// An error about `length` bytes from `start`.
    pub(crate) fn error_of(&self, start: usize, length: usize, kind: EbnfErrorKind) -> EbnfError {
        EbnfError { kind, position: SourcePosition::in_text(self.text, start, length) }
    }
}
