//! Strings, escapes and character classes.

use crate::{Dialect, EbnfError, EbnfErrorKind as Kind, cursor::Cursor};

/// Ranges of characters, both ends included.
pub(crate) type Ranges = Vec<(char, char)>;

/// Every character.
pub(crate) const ANY: [(char, char); 1] = [('\0', char::MAX)];

/// Reads the string whose quote comes next.
pub(crate) fn string(cursor: &mut Cursor<'_>, dialect: Dialect) -> Result<String, EbnfError> {
    let start = cursor.offset();
    cursor.bump();
    let mut text = String::new();
    loop {
        match cursor.peek() {
            Some('"') => {
                cursor.bump();
                return Ok(text);
            }
            Some(character) if may_stand(character, dialect) => {
                text.push(one(cursor, dialect)?);
            }
            _ => return Err(cursor.error_of(start, 1, Kind::UnclosedString)),
        }
    }
}

/// Line breaks in strings and classes are GBNF's alone: elsewhere a missing quote is far likelier.
fn may_stand(character: char, dialect: Dialect) -> bool {
    dialect == Dialect::Gbnf || !matches!(character, '\n' | '\r')
}

/// Reads the class whose bracket comes next: its ranges, ascending, not touching.
pub(crate) fn class(cursor: &mut Cursor<'_>, dialect: Dialect) -> Result<Ranges, EbnfError> {
    let start = cursor.offset();
    cursor.bump();
    let negated = cursor.eat("^");
    let mut ranges = Ranges::new();
    loop {
        let at = cursor.offset();
        match cursor.peek() {
            Some(']') => break,
            Some(character) if may_stand(character, dialect) => {}
            _ => return Err(cursor.error_of(start, 1, Kind::UnclosedClass)),
        }
        let first = one(cursor, dialect)?;
        let rest = cursor.rest();
        let is_range = rest.starts_with('-')
            && rest[1..].chars().next().is_some_and(|next| next != ']' && may_stand(next, dialect));
        let last = match is_range {
            true => {
                cursor.bump();
                one(cursor, dialect)?
            }
            false => first,
        };
        if first > last {
            return Err(cursor.error(at, Kind::ReversedRange { start: first, end: last }));
        }
        ranges.push((first, last));
    }
    cursor.bump();
    match (ranges.is_empty(), negated) {
        (true, false) => Err(cursor.error(start, Kind::EmptyClass)),
        (true, true) => Ok(ANY.to_vec()),
        (false, false) => Ok(joined(ranges)),
        (false, true) => Ok(complement(&joined(ranges))),
    }
}

/// Ascending, overlapping and neighbouring ranges joined.
fn joined(mut ranges: Ranges) -> Ranges {
    ranges.sort_unstable();
    let mut joined: Ranges = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if start <= last.1 || after(last.1) == Some(start) => {
                last.1 = last.1.max(end);
            }
            _ => joined.push((start, end)),
        }
    }
    joined
}

fn complement(ranges: &[(char, char)]) -> Ranges {
    let mut outside = Ranges::new();
    let mut next = Some('\0');
    for &(start, end) in ranges {
        if let (Some(first), Some(last)) = (next, before(start))
            && first <= last
        {
            outside.push((first, last));
        }
        next = after(end);
    }
    outside.extend(next.map(|first| (first, char::MAX)));
    outside
}

/// The next character; the surrogates are none.
fn after(character: char) -> Option<char> {
    (character..=char::MAX).nth(1)
}

fn before(character: char) -> Option<char> {
    ('\0'..character).next_back()
}

/// Reads one character, escaped or not.
fn one(cursor: &mut Cursor<'_>, dialect: Dialect) -> Result<char, EbnfError> {
    let start = cursor.offset();
    match cursor.bump() {
        Some('\\') => escape(cursor, start, dialect),
        Some(character) => Ok(character),
        None => Err(cursor.expected("a character")),
    }
}

fn escape(cursor: &mut Cursor<'_>, start: usize, dialect: Dialect) -> Result<char, EbnfError> {
    let Some(character) = cursor.bump() else { return Err(cursor.expected("an escape")) };
    let plain = match character {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'a' => '\u{7}',
        'e' => '\u{1b}',
        '0' => '\0',
        'x' => return short_hex(cursor, start, dialect),
        'u' => return hex(cursor, start, 4),
        'U' => return hex(cursor, start, 8),
        punctuation if punctuation.is_ascii_punctuation() => punctuation,
        _ => return Err(cursor.error(start, Kind::UnknownEscape { character })),
    };
    Ok(plain)
}

/// `\x`: two digits in GBNF, as many as there are in XGrammar's EBNF.
fn short_hex(cursor: &mut Cursor<'_>, start: usize, dialect: Dialect) -> Result<char, EbnfError> {
    let digits = cursor.rest().bytes().take_while(u8::is_ascii_hexdigit).count();
    match dialect {
        Dialect::Gbnf => hex(cursor, start, 2),
        Dialect::XGrammar => hex(cursor, start, digits),
        Dialect::Shared if digits == 2 => hex(cursor, start, 2),
        Dialect::Shared => Err(cursor.error(start, Kind::AmbiguousHex)),
    }
}

fn hex(cursor: &mut Cursor<'_>, start: usize, digits: usize) -> Result<char, EbnfError> {
    let rest = cursor.rest();
    let text = rest.get(..digits).filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Err(cursor.error(start, Kind::MalformedHex));
    };
    cursor.eat(text);
    let significant = text.trim_start_matches('0');
    let number = match significant.len() {
        0 => Some(0),
        1..=6 => u32::from_str_radix(significant, 16).ok(),
        _ => None,
    };
    number.and_then(char::from_u32).ok_or_else(|| cursor.error(start, Kind::NotACharacter))
}
