//! Bytes and characters as strings and classes.

use crate::{Body, ExprId, Node};
use formwork_automata::ByteSet;
use regex_syntax::utf8::{Utf8Range, Utf8Sequences};
use std::fmt::Write as _;

/// The characters that a node is one of, when that is all it is: an alternative of UTF-8 sequences,
/// as [`BodyBuilder::characters`](crate::BodyBuilder::characters) makes it.
pub(super) fn ranges_of(body: &Body, id: ExprId) -> Option<Vec<(char, char)>> {
    let choices: &[ExprId] = match &body[id] {
        Node::Alt(choices) => choices,
        Node::Bytes(_) | Node::Seq(_) => &[id],
        _ => return None,
    };
    let mut ranges = Vec::new();
    for &choice in choices {
        match &body[choice] {
            Node::Bytes(set) => ranges.extend(ascii_ranges(set)?),
            Node::Seq(parts) if parts.len() <= 4 => ranges.push(range_of(body, parts)?),
            _ => return None,
        }
    }
    Some(joined(ranges))
}

/// Ascending, neighbours joined; the surrogates are no characters.
fn joined(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut joined: Vec<(char, char)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if (last.1..=char::MAX).nth(1) == Some(start) => last.1 = end,
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// The ranges of a set of ASCII characters.
fn ascii_ranges(set: &ByteSet) -> Option<Vec<(char, char)>> {
    let ranges = byte_ranges(set);
    let is_ascii = ranges.last().is_some_and(|last| last.1.is_ascii());
    is_ascii.then(|| ranges.into_iter().map(|(a, b)| (char::from(a), char::from(b))).collect())
}

/// The range of characters that a sequence of bytes says.
fn range_of(body: &Body, parts: &[ExprId]) -> Option<(char, char)> {
    let mut sequence: Vec<Utf8Range> = Vec::with_capacity(4);
    for &part in parts {
        match &body[part] {
            Node::Literal(bytes) => {
                sequence.extend(bytes.iter().map(|&byte| Utf8Range { start: byte, end: byte }));
            }
            Node::Bytes(set) => match byte_ranges(set)[..] {
                [(start, end)] => sequence.push(Utf8Range { start, end }),
                _ => return None,
            },
            _ => return None,
        }
    }
    let first = character(sequence.iter().map(|range| range.start))?;
    let last = character(sequence.iter().map(|range| range.end))?;
    let mut expected = Utf8Sequences::new(first, last);
    let same = expected.next()?.as_slice() == sequence && expected.next().is_none();
    same.then_some((first, last))
}

/// The one character that these bytes spell.
fn character(bytes: impl Iterator<Item = u8>) -> Option<char> {
    let bytes: Vec<u8> = bytes.collect();
    let mut characters = std::str::from_utf8(&bytes).ok()?.chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

fn byte_ranges(set: &ByteSet) -> Vec<(u8, u8)> {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in set.iter() {
        match ranges.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(byte) => last.1 = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    ranges
}

/// A character class.
pub(super) fn class(ranges: &[(char, char)]) -> String {
    let mut class = "[".to_owned();
    for &(start, end) in ranges {
        push_escaped(start, &mut class);
        if start < end {
            class.push('-');
            push_escaped(end, &mut class);
        }
    }
    class.push(']');
    class
}

/// One byte of a set: a class where it is of ASCII.
pub(super) fn byte_set(set: &ByteSet) -> String {
    match ascii_ranges(set) {
        Some(ranges) => class(&ranges),
        None => format!("Bytes(\"{}\")", hexadecimal(set)),
    }
}

fn hexadecimal(set: &ByteSet) -> String {
    let ranges = byte_ranges(set).into_iter().map(|(start, end)| match start == end {
        true => format!("{start:02x}"),
        false => format!("{start:02x}-{end:02x}"),
    });
    ranges.collect::<Vec<_>>().join(",")
}

/// Bytes in order: a string, and what is no text behind it.
pub(super) fn text(bytes: &[u8]) -> String {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let rest = &bytes[valid.len()..];
    let mut printed = String::new();
    if rest.is_empty() || !valid.is_empty() {
        printed.push('"');
        valid.chars().for_each(|character| push_escaped(character, &mut printed));
        printed.push('"');
    }
    if !rest.is_empty() {
        let list: Vec<String> = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        if !printed.is_empty() {
            printed.push(' ');
        }
        // Writing to a string cannot fail.
        let _ = write!(printed, "Bytes(\"{}\")", list.join(" "));
    }
    printed
}

/// A character as it may stand in a string and in a class.
fn push_escaped(character: char, output: &mut String) {
    match character {
        '\n' => output.push_str("\\n"),
        '\r' => output.push_str("\\r"),
        '\t' => output.push_str("\\t"),
        '"' | '\\' | '[' | ']' | '^' | '-' => {
            output.push('\\');
            output.push(character);
        }
        _ if character.is_control() || u32::from(character) >= 0x1_0000 => {
            // Writing to a string cannot fail.
            let _ = write!(output, "\\U{:08X}", u32::from(character));
        }
        _ => output.push(character),
    }
}
