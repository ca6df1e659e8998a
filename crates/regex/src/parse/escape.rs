//! Escapes, inside classes and outside.

use super::{
    Parser,
    sets::{Name, Sign},
};
use crate::{Dialect, RegexError, RegexErrorKind as Kind};

/// Where an escape stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Outside,
    InClass,
}

/// What an escape stands for.
#[derive(Clone, Debug)]
pub(super) enum Escape {
    Character(char),
    Set(Name, Sign),
    Start,
    End,
}

impl Parser<'_, '_> {
    /// Reads the escape whose backslash stands at `start` and has been read.
    pub(super) fn escape(&mut self, start: usize, place: Place) -> Result<Escape, RegexError> {
        let Some(letter) = self.cursor.bump() else {
            return Err(self.cursor.error(start, Kind::EscapeAtEnd));
        };
        let shared = self.options.dialect == Dialect::Shared;
        let in_class = place == Place::InClass;
        let character = match letter {
            'd' => return Ok(Escape::Set(Name::Digit, Sign::Plain)),
            'D' => return Ok(Escape::Set(Name::Digit, Sign::Negated)),
            'w' => return Ok(Escape::Set(Name::Word, Sign::Plain)),
            'W' => return Ok(Escape::Set(Name::Word, Sign::Negated)),
            's' => return Ok(Escape::Set(Name::Space, Sign::Plain)),
            'S' => return Ok(Escape::Set(Name::Space, Sign::Negated)),
            'p' => return Ok(Escape::Set(self.property(start)?, Sign::Plain)),
            'P' => return Ok(Escape::Set(self.property(start)?, Sign::Negated)),
            'A' if shared && !in_class => return Ok(Escape::Start),
            'z' | 'Z' if shared && !in_class => return Ok(Escape::End),
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            'f' => '\x0c',
            'a' if shared => '\x07',
            'b' if in_class => '\x08',
            'b' | 'B' if !in_class => return Err(self.cursor.error(start, Kind::WordBoundary)),
            '0'..='9' => self.number(start, letter, place)?,
            'k' if !in_class => return Err(self.cursor.error(start, Kind::Backreference)),
            'c' => self.control(start)?,
            'x' => self.hex(start, 2, shared)?,
            'u' => self.code_unit(start)?,
            'U' if shared => self.hex(start, 8, true)?,
            character if character.is_ascii_alphanumeric() => {
                return Err(self.cursor.error(start, Kind::UnknownEscape { character }));
            }
            character => character,
        };
        Ok(Escape::Character(character))
    }

    /// `\0`, or a refusal.
    fn number(&mut self, start: usize, digit: char, place: Place) -> Result<char, RegexError> {
        let more = self.cursor.eat_while(|next| next.is_ascii_digit());
        match (digit, place) {
            ('0', _) if more.is_empty() => Ok('\0'),
            ('1'..='9', Place::Outside) => Err(self.cursor.error(start, Kind::Backreference)),
            _ => Err(self.cursor.error(start, Kind::OctalEscape)),
        }
    }

    fn control(&mut self, start: usize) -> Result<char, RegexError> {
        match self.cursor.peek() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                self.cursor.bump();
                Ok(char::from(letter as u8 % 32))
            }
            _ => Err(self.cursor.error(start, Kind::MalformedControl)),
        }
    }

    /// `digits` hexadecimal digits, or any number of them in braces where that is allowed.
    fn hex(&mut self, start: usize, digits: usize, braces: bool) -> Result<char, RegexError> {
        let value = match braces && self.cursor.eat("{") {
            true => self.braced(start)?,
            false => self.digits(start, digits)?,
        };
        char::from_u32(value).ok_or_else(|| self.cursor.error(start, Kind::NotACharacter))
    }

    /// What follows `\u`: a character, or the two halves of one.
    fn code_unit(&mut self, start: usize) -> Result<char, RegexError> {
        if self.cursor.eat("{") {
            let value = self.braced(start)?;
            return char::from_u32(value)
                .ok_or_else(|| self.cursor.error(start, Kind::NotACharacter));
        }
        let high = self.digits(start, 4)?;
        if !(0xd800..0xdc00).contains(&high) || !self.cursor.rest().starts_with("\\u") {
            return char::from_u32(high)
                .ok_or_else(|| self.cursor.error(start, Kind::NotACharacter));
        }
        let half = self.cursor;
        self.cursor.eat("\\u");
        // In braces stands a character, never a half.
        if self.cursor.peek() == Some('{') {
            return Err(half.error(start, Kind::NotACharacter));
        }
        let low = self.digits(half.offset(), 4)?;
        match char::decode_utf16([high, low].map(|unit| unit as u16)).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(half.error(start, Kind::NotACharacter)),
        }
    }

    fn digits(&mut self, start: usize, count: usize) -> Result<u32, RegexError> {
        let mut value = 0;
        for _ in 0..count {
            let Some(digit) = self.cursor.peek().and_then(|digit| digit.to_digit(16)) else {
                return Err(self.cursor.error(start, Kind::MalformedHex));
            };
            self.cursor.bump();
            value = value * 16 + digit;
        }
        Ok(value)
    }

    fn braced(&mut self, start: usize) -> Result<u32, RegexError> {
        let digits = self.cursor.eat_while(|digit| digit.is_ascii_hexdigit());
        if digits.is_empty() || !self.cursor.eat("}") {
            return Err(self.cursor.error(start, Kind::MalformedHex));
        }
        let digits = digits.trim_start_matches('0');
        match digits.len() {
            0 => Ok(0),
            1..=8 => Ok(u32::from_str_radix(digits, 16).expect("eight hexadecimal digits")),
            _ => Err(self.cursor.error(start, Kind::NotACharacter)),
        }
    }

    /// What follows `\p`. Nothing but letters, digits, `_` and `=` reaches the tables.
    fn property(&mut self, start: usize) -> Result<Name, RegexError> {
        let name = if self.cursor.eat("{") {
            let name = self.cursor.eat_while(|next| next != '}' && next != '\\');
            if !self.cursor.eat("}") {
                let name = String::new();
                return Err(self.cursor.error_of(start, 3, Kind::UnknownProperty { name }));
            }
            name
        } else if self.options.dialect == Dialect::Shared {
            let end = self.cursor.peek().map_or(0, char::len_utf8);
            let name = &self.cursor.rest()[..end];
            self.cursor.bump();
            name
        } else {
            ""
        };
        let known = |next: char| next.is_ascii_alphanumeric() || next == '_' || next == '=';
        if name.is_empty() || !name.chars().all(known) {
            let name = name.chars().take(QUOTED).collect();
            return Err(self.cursor.error(start, Kind::UnknownProperty { name }));
        }
        Ok(Name::Property(name.into()))
    }
}

/// Characters of the user's text that an error repeats at most.
pub(super) const QUOTED: usize = 64;
