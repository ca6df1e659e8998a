//! Text to tokens.
//!
//! # Idea
//! One loop over the bytes. Line ends are tokens, since they end definitions; not so inside `(…)`
//! and `[…]`, before a `|`, and behind another line end. The value after `%json` and its like is one
//! token, found by its brackets and strings. Braces are paired here, so that a grammar inside a
//! grammar is a range of tokens.

use crate::{
    ast::Span,
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
};

/// What stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Rule,
    Terminal,
    Underscore,
    /// `%name`.
    Directive,
    /// With its quotes and flag.
    String,
    /// With its slashes and flags.
    Regex,
    Number,
    /// `<…>`.
    Special,
    /// `@name`.
    Named,
    /// The value after a directive that takes JSON.
    Json,
    Colon,
    DoubleColon,
    Bar,
    Open,
    Close,
    OpenSquare,
    CloseSquare,
    OpenBrace,
    CloseBrace,
    Star,
    Plus,
    Question,
    Bang,
    Tilde,
    Dot,
    DotDot,
    And,
    Arrow,
    Comma,
    Equals,
    LineEnd,
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    /// For an opening brace, the index of the closing one.
    pub(crate) partner: u32,
}

/// Directives whose value is JSON.
const WITH_JSON: [&str; 4] = ["json", "regex", "llguidance", "grammar_options"];

struct Scanner<'t> {
    text: &'t str,
    source: u32,
    at: usize,
    tokens: Vec<Token>,
    /// Open brackets: indices of tokens.
    open: Vec<usize>,
}

/// The tokens of a text, the last of them [`TokenKind::End`].
pub(crate) fn scan(text: &str, source: u32) -> Result<Vec<Token>, Fault> {
    let mut scanner = Scanner { text, source, at: 0, tokens: Vec::new(), open: Vec::new() };
    while scanner.at < text.len() {
        scanner.next()?;
    }
    if let Some(&open) = scanner.open.last() {
        return Err(fault(Kind::Unclosed, scanner.tokens[open].span));
    }
    scanner.push(TokenKind::End, 0);
    Ok(scanner.tokens)
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn span(&self, len: usize) -> Span {
        let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: cut(self.at), len: cut(len) }
    }

    fn push(&mut self, kind: TokenKind, len: usize) {
        self.tokens.push(Token { kind, span: self.span(len), partner: 0 });
        self.at += len;
    }

    fn fail<T>(&self, kind: Kind, len: usize) -> Result<T, Fault> {
        Err(fault(kind, self.span(len)))
    }

    /// Bytes from here on that are in a set.
    fn run(&self, from: usize, holds: impl Fn(u8) -> bool) -> usize {
        self.rest()[from..].iter().take_while(|&&byte| holds(byte)).count()
    }

    fn next(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        match (rest[0], rest.get(1)) {
            (b' ' | b'\t' | b'\r' | 0x0c, _) => self.at += 1,
            (b'\n', _) => self.line_end(),
            (b'#', _) | (b'/', Some(b'/')) => self.at += self.run(0, |byte| byte != b'\n'),
            (b'"', _) => return self.string(),
            (b'/', _) => return self.regex(),
            (b'<', _) => return self.special(),
            (b'%', _) => return self.directive(),
            (b'@', _) => {
                let len = 1 + self.identifier(1);
                if len == 1 {
                    let found = found(self.text, self.at + 1);
                    return self
                        .fail(Kind::Expected { expected: "the name of a grammar", found }, 1);
                }
                self.push(TokenKind::Named, len);
            }
            (b'0'..=b'9', _) => self.number(),
            (byte, _) if byte.is_ascii_alphabetic() || byte == b'_' => return self.name(),
            _ => return self.punctuation(),
        }
        Ok(())
    }

    fn line_end(&mut self) {
        let inside = self.open.last().map(|&open| self.tokens[open].kind);
        let counts = !matches!(inside, Some(TokenKind::Open | TokenKind::OpenSquare))
            && self.tokens.last().is_some_and(|last| last.kind != TokenKind::LineEnd);
        match counts {
            true => self.push(TokenKind::LineEnd, 1),
            false => self.at += 1,
        }
    }

    /// Length of the identifier at an offset: `-` only where more follows.
    fn identifier(&self, from: usize) -> usize {
        let rest = &self.rest()[from..];
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let mut len = 0;
        while len < rest.len() {
            match rest[len] {
                byte if is_word(byte) => len += 1,
                b'-' if len > 0 && rest.get(len + 1).is_some_and(|&next| is_word(next)) => len += 1,
                _ => break,
            }
        }
        len
    }

    fn name(&mut self) -> Result<(), Fault> {
        let len = self.identifier(0);
        let name = &self.text[self.at..self.at + len];
        let (small, capital) = (
            name.bytes().any(|byte| byte.is_ascii_lowercase()),
            name.bytes().any(|byte| byte.is_ascii_uppercase()),
        );
        match (small, capital) {
            (true, false) => self.push(TokenKind::Rule, len),
            (false, true) => self.push(TokenKind::Terminal, len),
            (false, false) if name == "_" => self.push(TokenKind::Underscore, len),
            _ => return self.fail(Kind::MixedCase { name: name.into() }, len),
        }
        Ok(())
    }

    /// Decimal with an optional fraction, or hexadecimal.
    fn number(&mut self) {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let hexadecimal = self.rest().starts_with(b"0x") || self.rest().starts_with(b"0X");
        let mut len = match hexadecimal {
            true => 2 + self.run(2, |byte| byte.is_ascii_hexdigit()),
            false => self.run(0, is_digit),
        };
        let fraction = self.rest().get(len) == Some(&b'.')
            && self.rest().get(len + 1).is_some_and(u8::is_ascii_digit);
        if !hexadecimal && fraction {
            len += 1 + self.run(len + 1, is_digit);
        }
        self.push(TokenKind::Number, len);
    }

    fn string(&mut self) -> Result<(), Fault> {
        let mut len = 1;
        loop {
            match self.rest().get(len) {
                None | Some(b'\n') => return self.fail(Kind::UnterminatedString, len),
                Some(b'\\') => len += 2,
                Some(b'"') => break,
                Some(_) => len += 1,
            }
        }
        len += 1;
        let flags = self.run(len, |byte| byte.is_ascii_alphabetic());
        self.push(TokenKind::String, len + flags);
        Ok(())
    }

    fn regex(&mut self) -> Result<(), Fault> {
        let mut len = 1;
        loop {
            match self.rest().get(len) {
                None => return self.fail(Kind::UnterminatedRegex, 1),
                Some(b'\\') => len += 2,
                Some(b'/') => break,
                Some(_) => len += 1,
            }
        }
        len += 1;
        let flags = self.run(len, |byte| byte.is_ascii_alphabetic());
        self.push(TokenKind::Regex, len + flags);
        Ok(())
    }

    fn special(&mut self) -> Result<(), Fault> {
        let len = self.run(0, |byte| byte != b'>' && !byte.is_ascii_whitespace());
        if self.rest().get(len) != Some(&b'>') || len == 1 {
            return self.fail(Kind::MalformedToken, len);
        }
        self.push(TokenKind::Special, len + 1);
        Ok(())
    }

    fn directive(&mut self) -> Result<(), Fault> {
        let len = 1 + self.run(1, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let name = &self.text[self.at + 1..self.at + len];
        let takes_json = WITH_JSON.contains(&name);
        self.push(TokenKind::Directive, len);
        match takes_json {
            true => self.json(),
            false => Ok(()),
        }
    }

    /// One JSON value, as far as its brackets and strings tell.
    fn json(&mut self) -> Result<(), Fault> {
        self.at += self.run(0, |byte| byte.is_ascii_whitespace());
        let (mut len, mut depth, mut in_string) = (0, 0_usize, false);
        while let Some(&byte) = self.rest().get(len) {
            len += 1;
            match byte {
                b'\\' if in_string => len += 1,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ if depth == 0 && byte.is_ascii_whitespace() => {
                    len -= 1;
                    break;
                }
                _ => {}
            }
            if depth == 0 && !in_string && matches!(byte, b'}' | b']' | b'"') {
                break;
            }
        }
        if len > self.rest().len() || depth > 0 || in_string || len == 0 {
            return self.fail(Kind::Json { what: "unterminated JSON" }, len.min(self.rest().len()));
        }
        self.push(TokenKind::Json, len);
        Ok(())
    }

    fn punctuation(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let two = match rest {
            [b':', b':', ..] => Some(TokenKind::DoubleColon),
            [b'.', b'.', ..] => Some(TokenKind::DotDot),
            [b'-', b'>', ..] => Some(TokenKind::Arrow),
            _ => None,
        };
        if let Some(kind) = two {
            self.push(kind, 2);
            return Ok(());
        }
        let kind = match rest[0] {
            b':' => TokenKind::Colon,
            b'(' => TokenKind::Open,
            b')' => TokenKind::Close,
            b'[' => TokenKind::OpenSquare,
            b']' => TokenKind::CloseSquare,
            b'{' => TokenKind::OpenBrace,
            b'}' => TokenKind::CloseBrace,
            b'*' => TokenKind::Star,
            b'+' => TokenKind::Plus,
            b'?' => TokenKind::Question,
            b'!' => TokenKind::Bang,
            b'~' => TokenKind::Tilde,
            b'.' => TokenKind::Dot,
            b'&' => TokenKind::And,
            b',' => TokenKind::Comma,
            b'=' => TokenKind::Equals,
            b'|' => {
                if self.tokens.last().is_some_and(|last| last.kind == TokenKind::LineEnd) {
                    self.tokens.pop();
                }
                TokenKind::Bar
            }
            _ => {
                let character = self.text[self.at..].chars().next().unwrap_or('\0');
                return self.fail(Kind::UnexpectedCharacter { character }, character.len_utf8());
            }
        };
        match kind {
            TokenKind::Open | TokenKind::OpenSquare | TokenKind::OpenBrace => {
                self.open.push(self.tokens.len());
            }
            TokenKind::Close => self.close(TokenKind::Open, "something to close with `)`")?,
            TokenKind::CloseSquare => {
                self.close(TokenKind::OpenSquare, "something to close with `]`")?;
            }
            TokenKind::CloseBrace => {
                self.close(TokenKind::OpenBrace, "something to close with `}`")?;
            }
            _ => {}
        }
        self.push(kind, 1);
        Ok(())
    }

    fn close(&mut self, wanted: TokenKind, expected: &'static str) -> Result<(), Fault> {
        match self.open.pop() {
            Some(open) if self.tokens[open].kind == wanted => {
                let partner = u32::try_from(self.tokens.len()).unwrap_or(u32::MAX);
                self.tokens[open].partner = partner;
                Ok(())
            }
            Some(open) => Err(fault(Kind::Unclosed, self.tokens[open].span)),
            None => self.fail(Kind::Expected { expected, found: found(self.text, self.at) }, 1),
        }
    }
}

/// What stands at an offset, for an error: some characters of one line.
pub(crate) fn found(text: &str, at: usize) -> Box<str> {
    let rest = text.get(at..).unwrap_or_default();
    let shown: String = rest.chars().take_while(|character| *character != '\n').take(20).collect();
    match (rest.is_empty(), shown.trim().is_empty()) {
        (true, _) => "the end of the text".into(),
        (_, true) => "the end of the line".into(),
        _ => format!("`{}`", shown.trim()).into(),
    }
}
