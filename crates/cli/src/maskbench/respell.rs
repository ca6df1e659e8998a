//! The same JSON value, spelled differently.
//!
//! Everything here works on the text: a number keeps its digits and a string its escapes, save
//! where the variant is about them. Nothing recurses, so nesting costs no stack.
//!
//! - *pretty*: every item and member on a line of its own, indented by two spaces a level.
//! - *ascii*: every character beyond ASCII as `\uXXXX`, those beyond the first plane as a surrogate
//!   pair.
//! - *shuffled*: the members of every object in another order, which a seed determines; what stands
//!   between members stays where it was.
//!
//! Each is idempotent.

mod shuffle;

use clap::ValueEnum;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// How an instance is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Variant {
    /// As it was tokenized: its tokens are taken as they are.
    Compact,
    /// Every item and member on a line of its own.
    Pretty,
    /// Characters beyond ASCII escaped.
    Ascii,
    /// The keys of every object in another order.
    Shuffled,
}

impl Variant {
    /// The variant's word in names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Pretty => "pretty",
            Self::Ascii => "ascii",
            Self::Shuffled => "shuffled",
        }
    }
}

/// Levels of nesting beyond which a text stays as it is: indentation grows with the depth of every
/// line, so its length is bounded by this times the text's.
const MAX_NESTING: usize = 500;

/// Bytes of indentation per level.
const INDENT: usize = 2;

/// The text in another spelling. What is not JSON, or nested more than [`MAX_NESTING`] levels deep,
/// stays as it is. `seed` determines the order of keys.
pub(crate) fn respell(bytes: &[u8], variant: Variant, seed: u64) -> Cow<'_, [u8]> {
    let Some(text) = json(bytes) else { return bytes.into() };
    match variant {
        Variant::Compact => bytes.into(),
        Variant::Pretty => pretty(text).into_bytes().into(),
        Variant::Ascii => ascii(text).into_bytes().into(),
        Variant::Shuffled => shuffle::shuffled(text, seed).into_bytes().into(),
    }
}

/// A seed for a name: FNV-1a, 64 bits.
pub(crate) fn seed_of(name: &str) -> u64 {
    hash(name.as_bytes(), 0xcbf2_9ce4_8422_2325)
}

fn hash(bytes: &[u8], basis: u64) -> u64 {
    bytes.iter().fold(basis, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The text, if it is JSON of moderate depth.
fn json(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    // Reads without recursion, and without looking at the values of numbers and strings.
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let (mut depth, mut deepest) = (0_usize, 0);
    for token in Tokens(text) {
        match token.as_bytes()[0] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    (deepest <= MAX_NESTING).then_some(text)
}

/// The tokens of a text that is JSON: brackets, commas, colons, and scalars whole.
struct Tokens<'t>(&'t str);

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        let bytes = self.0.as_bytes();
        let len = match bytes.first()? {
            b'"' => string_len(bytes),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => {
                let ends =
                    |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']');
                bytes.iter().position(ends).unwrap_or(bytes.len())
            }
        };
        let (token, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(token)
    }
}

/// Bytes of the string literal that the bytes begin with.
fn string_len(bytes: &[u8]) -> usize {
    let mut at = 1;
    while bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn pretty(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    let mut depth = 0;
    let mut tokens = Tokens(text).peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                match tokens.next_if(|next| matches!(*next, "}" | "]")) {
                    Some(close) => out.push_str(close),
                    None => {
                        depth += 1;
                        line_break(&mut out, depth);
                    }
                }
            }
            "}" | "]" => {
                depth -= 1;
                line_break(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push_str(token);
                line_break(&mut out, depth);
            }
            ":" => out.push_str(": "),
            scalar => out.push_str(scalar),
        }
    }
    out
}

fn line_break(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', INDENT * depth));
}

/// Beyond ASCII there is nothing in JSON but the insides of strings.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests;
