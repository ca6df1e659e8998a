//! Front end: a list of strings to the grammar representation.
//!
//! # Idea
//! The output is one of the strings given, byte for byte. Such a language is finite, so the grammar
//! is a single automaton, built minimal from the sorted strings without a trie in between
//! ([`Dfa::from_strings`]). Strings need not be text: any bytes will do.
//!
//! # Cost
//! Sorting, then time and memory linear in the bytes of all strings together.
//!
//! # Reading order
//! [`compile`], [`from_json`], `error`.

mod error;
mod json;

pub use error::{ChoiceError, ChoiceErrorKind};

use formwork_automata::{CancellationToken, Dfa};
use formwork_grammar::{BodyBuilder, Grammar, Limits};
use std::sync::Arc;

/// The grammar of exactly these strings.
///
/// The empty string is a choice like any other. A string given twice is one choice. The bytes of
/// all strings together count as source text; the automaton spends
/// [`Limits::automaton_states`] and [`Limits::automaton_steps`].
///
/// # Errors
/// [`ChoiceErrorKind::Empty`] for an empty list, otherwise the limit that was hit.
pub fn compile(choices: &[impl AsRef<[u8]>], limits: &Limits) -> Result<Grammar, ChoiceError> {
    if choices.is_empty() {
        return Err(ChoiceErrorKind::Empty.into());
    }
    let lengths = choices.iter().map(|choice| choice.as_ref().len());
    if lengths.fold(0, usize::saturating_add) > limits.source_bytes {
        return Err(ChoiceErrorKind::SourceBytes { limit: limits.source_bytes }.into());
    }
    let mut fuel = limits.fuel(&CancellationToken::new());
    let choices = choices.iter().map(AsRef::as_ref);
    let dfa = Dfa::from_strings(choices, &mut fuel).map_err(ChoiceErrorKind::Exhausted)?;
    let mut body = BodyBuilder::new();
    let root = body.automaton(Arc::new(dfa));
    Ok(Grammar::of_body(body.finish(root)))
}

/// The grammar of the strings in a JSON array (RFC 8259), as [`compile`] makes it.
///
/// ```
/// use formwork_grammar::Limits;
/// let limits = Limits::default();
/// assert!(formwork_choice::from_json(r#"["yes", "no"]"#, &limits).is_ok());
/// assert!(formwork_choice::from_json(r#"["yes", 1]"#, &limits).is_err());
/// ```
///
/// # Errors
/// What is wrong with the text as a JSON array of strings and where, or what [`compile`] refuses.
pub fn from_json(text: &str, limits: &Limits) -> Result<Grammar, ChoiceError> {
    if text.len() > limits.source_bytes {
        return Err(ChoiceErrorKind::SourceBytes { limit: limits.source_bytes }.into());
    }
    compile(&json::strings(text)?, limits)
}

#[cfg(test)]
mod tests;
