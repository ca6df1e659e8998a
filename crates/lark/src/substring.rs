//! `%regex`: what stands somewhere in a text, from chunk to chunk.
//!
//! # Idea
//! The words of the language are runs of neighbouring chunks, the empty run included. The automaton
//! reads them from a chain of states, one for each chunk: any state of the chain is a start and an
//! end. Its deterministic form is the suffix automaton of the chunks (Blumer et al., 1985), whose
//! size is linear.

use crate::error::LarkErrorKind as Kind;
use formwork_automata::{Dfa, Exhausted, Fuel, NfaBuilder, determinize};
use serde_json::Value;

/// The chunks that the object names.
pub(crate) fn chunks(text: &str) -> Result<Box<[Box<str>]>, Kind> {
    let bad = Kind::Json {
        what: "`%regex` takes an object with one of `substring_words`, `substring_chars` (strings) \
               and `substring_chunks` (a list of strings)",
    };
    let Ok(Value::Object(object)) = serde_json::from_str(text) else { return Err(bad) };
    let mut entries = object.iter();
    let (Some((name, value)), None) = (entries.next(), entries.next()) else { return Err(bad) };
    match (name.as_str(), value) {
        ("substring_chars", Value::String(text)) => {
            Ok(text.chars().map(|character| character.to_string().into()).collect())
        }
        ("substring_words", Value::String(text)) => Ok(words(text)),
        ("substring_chunks", Value::Array(chunks)) => {
            chunks.iter().map(|chunk| chunk.as_str().map(Into::into).ok_or(bad.clone())).collect()
        }
        _ => Err(bad),
    }
}

/// Cuts a text into runs of letters, digits and `_`, runs of white space, and other characters by
/// themselves.
fn words(text: &str) -> Box<[Box<str>]> {
    #[derive(PartialEq)]
    enum Class {
        Word,
        Space,
        Other,
    }
    let class = |character: char| match character {
        _ if character.is_alphanumeric() || character == '_' => Class::Word,
        _ if character.is_whitespace() => Class::Space,
        _ => Class::Other,
    };
    let mut chunks: Vec<Box<str>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let class_here = class(first);
        let end = match class_here {
            Class::Other => first.len_utf8(),
            _ => rest.find(|next| class(next) != class_here).unwrap_or(rest.len()),
        };
        chunks.push(rest[..end].into());
        rest = &rest[end..];
    }
    chunks.into()
}

/// The automaton of all runs of neighbouring chunks.
pub(crate) fn automaton(chunks: &[Box<str>], fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    let mut at = nfa.state()?;
    nfa.empty(start, at)?;
    nfa.empty(at, accept)?;
    for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
        let next = nfa.state()?;
        nfa.literal(at, chunk.as_bytes(), next)?;
        nfa.empty(start, next)?;
        nfa.empty(next, accept)?;
        at = next;
    }
    let nfa = nfa.finish(start, accept);
    Ok(determinize(&nfa, fuel)?.minimized())
}
