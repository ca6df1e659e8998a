//! The strings of a JSON array.
//!
//! # Idea
//! The array is read as a list of raw values that borrow from the text, so that the offset of the
//! element at fault is known. Nothing recurses: raw values are skipped, not built.

use crate::{ChoiceError, ChoiceErrorKind};
use formwork_grammar::SourcePosition;
use serde_json::{error::Category, value::RawValue};

/// The strings of `text`, which must be a JSON array of strings.
pub(crate) fn strings(text: &str) -> Result<Vec<String>, ChoiceError> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
        let kind = match error.classify() {
            Category::Data => return whole(text, ChoiceErrorKind::NotAnArray),
            _ => ChoiceErrorKind::Syntax,
        };
        at(text, offset(text, &error), 0, kind)
    })?;
    elements.into_iter().enumerate().map(|(index, raw)| string(text, index, raw.get())).collect()
}

/// One element; `raw` is a part of `text`.
fn string(text: &str, index: usize, raw: &str) -> Result<String, ChoiceError> {
    let start = raw.as_ptr().addr() - text.as_ptr().addr();
    if !raw.starts_with('"') {
        return Err(at(text, start, raw.len(), ChoiceErrorKind::NotAString { index }));
    }
    serde_json::from_str(raw)
        .map_err(|error| at(text, start + offset(raw, &error), 0, ChoiceErrorKind::Syntax))
}

fn whole(text: &str, kind: ChoiceErrorKind) -> ChoiceError {
    let start = text.len() - text.trim_start().len();
    at(text, start, text.trim().len(), kind)
}

fn at(text: &str, offset: usize, length: usize, kind: ChoiceErrorKind) -> ChoiceError {
    ChoiceError { kind, position: Some(SourcePosition::in_text(text, offset, length)) }
}

/// The byte offset of an error. The reader counts lines from 1, and columns in bytes: the number of
/// bytes of the line it has read, the last of which it did not like.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    let read = line_start + error.column();
    if error.is_eof() { text.len() } else { read.saturating_sub(1) }
}
