//! Strings, ranges, regular expressions, numbers and token references.

use super::Parser;
use crate::{
    ast::{Node, NodeId, Span},
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    token::TokenKind,
};
use formwork_grammar::{TokenRef, TokenSet};

impl Parser<'_> {
    /// A whole number of 64 bits, decimal or hexadecimal.
    pub(super) fn integer(&mut self, expected: &'static str) -> Result<u64, Fault> {
        if self.kind() != TokenKind::Number {
            return self.unexpected(expected);
        }
        let word = self.word();
        let span = self.advance();
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
        let number = match digits {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        number.map_err(|_| fault(Kind::Number { expected }, span))
    }

    /// A string in hand: its text, and whether it has the flag `i`.
    pub(super) fn string(&mut self) -> Result<(Box<str>, bool), Fault> {
        let span = self.span();
        let word = self.word();
        self.at += 1;
        let close = word.rfind('"').unwrap_or(0);
        let flags = &word[close + 1..];
        if let Some(flag) = flags.chars().find(|&flag| flag != 'i') {
            return Err(fault(Kind::Flag { flag }, span));
        }
        let text = unescaped(&word[1..close]).ok_or_else(|| fault(Kind::InvalidEscape, span))?;
        Ok((text.into(), !flags.is_empty()))
    }

    pub(super) fn string_or_range(&mut self) -> Result<NodeId, Fault> {
        let start = self.span();
        let (text, insensitive) = self.string()?;
        if !self.take(TokenKind::DotDot) {
            return Ok(self.ast.push(Node::Text { text, insensitive }, start));
        }
        let end = match self.kind() {
            TokenKind::String => self.string()?,
            _ => return self.unexpected("a string that ends the range"),
        };
        let span = self.since(start);
        let single = |(text, insensitive): (&str, bool)| {
            let mut characters = text.chars();
            match (characters.next(), characters.next(), insensitive) {
                (Some(only), None, false) => Ok(only),
                _ => Err(fault(Kind::RangeEnd, span)),
            }
        };
        let (low, high) = (single((&text, insensitive))?, single((&end.0, end.1))?);
        if low > high {
            let (start, end) = (u64::from(low), u64::from(high));
            return Err(fault(Kind::ReversedRange { start, end }, span));
        }
        Ok(self.ast.push(Node::Range(low, high), span))
    }

    pub(super) fn regex(&mut self) -> Result<Node, Fault> {
        let word = self.word();
        let span = self.advance();
        let close = word.rfind('/').unwrap_or(0);
        let (pattern, flags) = (&word[1..close], &word[close + 1..]);
        if let Some(flag) = flags.chars().find(|flag| !"imsux".contains(*flag)) {
            return Err(fault(Kind::Flag { flag }, span));
        }
        if pattern.contains("(?P<stop>") || pattern.contains("(?<stop>") {
            return Err(fault(Kind::StopGroup, span));
        }
        Ok(Node::Regex { pattern: pattern.into(), flags: flags.into() })
    }

    /// `<name>`, `<[1,5-7]>`, `<[^1]>` or `<[*]>`.
    pub(super) fn special(&mut self) -> Result<Node, Fault> {
        let word = self.word();
        let span = self.advance();
        let listed = word.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>"));
        let Some(listed) = listed else {
            return Ok(Node::Tokens(TokenSet::of([TokenRef::Name(word.into())])));
        };
        if listed == "*" {
            return Ok(Node::Tokens(TokenSet::all_except([])));
        }
        let (negated, listed) = match listed.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, listed),
        };
        let ids = listed.split(',').map(|part| ids(part, span));
        let tokens = ids.collect::<Result<Box<[_]>, Fault>>()?;
        Ok(Node::Tokens(TokenSet { tokens, negated }))
    }
}

/// `5` or `5-7`.
fn ids(part: &str, span: Span) -> Result<TokenRef, Fault> {
    let id = |text: &str| {
        text.parse::<u32>().map_err(|_| fault(Kind::Number { expected: "the id of a token" }, span))
    };
    let (first, last) = match part.split_once('-') {
        Some((first, last)) => (id(first)?, id(last)?),
        None => (id(part)?, id(part)?),
    };
    match first <= last {
        true => Ok(TokenRef::Ids(first, last)),
        false => {
            let (start, end) = (u64::from(first), u64::from(last));
            Err(fault(Kind::ReversedRange { start, end }, span))
        }
    }
}

/// The text of a string: the escapes of JSON, and `\xHH` for a character below 256.
fn unescaped(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = rest[at + 1..].chars().next()?;
        rest = &rest[at + 1 + escape.len_utf8()..];
        let character = match escape {
            '"' | '\\' | '/' => escape,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'x' => char::from_u32(hexadecimal(&mut rest, 2)?)?,
            'u' => code_point(&mut rest)?,
            _ => return None,
        };
        text.push(character);
    }
    text.push_str(rest);
    Some(text)
}

fn hexadecimal(rest: &mut &str, digits: usize) -> Option<u32> {
    let text = rest.get(..digits).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
    *rest = &rest[digits..];
    u32::from_str_radix(text, 16).ok()
}

/// Four digits, or a pair of surrogates.
fn code_point(rest: &mut &str) -> Option<char> {
    let unit = hexadecimal(rest, 4)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return char::from_u32(unit);
    }
    *rest = rest.strip_prefix("\\u")?;
    let low = hexadecimal(rest, 4)?;
    match (0xdc00..0xe000).contains(&low) {
        true => char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)),
        false => None,
    }
}
