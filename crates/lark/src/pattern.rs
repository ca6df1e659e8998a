//! Regular expressions and strings without case, as bodies.

use crate::error::LarkErrorKind as Kind;
use formwork_grammar::{Body, BodyBuilder, Limits, Node};
use formwork_regex::{Case, Dot, Folding, Options};
use std::borrow::Cow;

/// The body of a regular expression with flags out of `imsux`.
pub(crate) fn lower(
    pattern: &str,
    flags: &str,
    folding: Folding,
    limits: &Limits,
) -> Result<Body, Kind> {
    let mut options = Options::default();
    options.folding = folding;
    if flags.contains('i') {
        options.case = Case::Insensitive;
    }
    if flags.contains('s') {
        options.dot = Dot::Any;
    }
    let mut pattern = Cow::Borrowed(pattern);
    if flags.contains('x') {
        pattern = without_blanks(&pattern).into();
    }
    if flags.contains('m') {
        pattern = format!("(?m:{pattern})").into();
    }
    body(&pattern, &options, limits)
}

/// The body of a string whose letters match whatever differs from them by its case alone.
pub(crate) fn insensitive(text: &str, folding: Folding, limits: &Limits) -> Result<Body, Kind> {
    let mut options = Options::default();
    options.folding = folding;
    options.case = Case::Insensitive;
    let mut pattern = String::new();
    for character in text.chars() {
        match character.is_ascii() && !character.is_ascii_alphanumeric() {
            true => pattern.push_str(&format!(r"\x{:02x}", u32::from(character))),
            false => pattern.push(character),
        }
    }
    body(&pattern, &options, limits)
}

fn body(pattern: &str, options: &Options, limits: &Limits) -> Result<Body, Kind> {
    let mut builder = BodyBuilder::new();
    let root = formwork_regex::lower(pattern, options, limits, &mut builder)
        .map_err(|error| Kind::Regex(Box::new(error)))?;
    Ok(builder.finish(root))
}

/// A pattern under the flag `x`: white space and comments out of it, but for what is escaped.
fn without_blanks(pattern: &str) -> String {
    let mut kept = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(blank) if blank.is_ascii_whitespace() || blank == '#' => {
                    kept.push_str(&format!(r"\x{:02x}", u32::from(blank)));
                }
                escaped => {
                    kept.push('\\');
                    kept.extend(escaped);
                }
            },
            '#' => {
                characters.by_ref().find(|&next| next == '\n');
            }
            _ if character.is_whitespace() => {}
            _ => kept.push(character),
        }
    }
    kept
}

/// Whether the empty word is in the language of a body without rules.
pub(crate) fn is_nullable(body: &Body) -> bool {
    let mut nullable: Vec<bool> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let of = |id: &formwork_grammar::ExprId| nullable[id.index()];
        let value = match node {
            Node::Empty => true,
            Node::Seq(parts) | Node::And(parts) => parts.iter().all(of),
            Node::Alt(parts) => parts.iter().any(of),
            Node::Repeat(repeat) => repeat.min == 0 || of(&repeat.expr),
            Node::Not(inner) => !of(inner),
            Node::Automaton(dfa) => dfa.is_accepting(dfa.start()),
            _ => false,
        };
        nullable.push(value);
    }
    nullable.last().copied().unwrap_or(false)
}
