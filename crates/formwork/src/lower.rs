//! From a constraint to a grammar: which front end reads what.

use crate::FrontEndOptions;
use formwork_choice::ChoiceError;
use formwork_core::{Constraint, Grammar, Limits};
use formwork_json_schema::{SchemaError, SchemaErrorKind};
use formwork_regex::{RegexError, RegexErrorKind};

/// Why a constraint is not a grammar.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// The JSON Schema is at fault, or uses what is not enforced yet.
    #[error(transparent)]
    JsonSchema(#[from] SchemaError),
    /// The regular expression is at fault, or uses what is not supported.
    #[error(transparent)]
    Regex(#[from] RegexError),
    /// The list of choices is at fault.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// No front end reads this kind of constraint.
    #[error("constraints of kind `{key}` are not supported")]
    Kind {
        /// The request key.
        key: &'static str,
    },
}

impl ConstraintError {
    /// Whether the constraint may be sound but uses what is not supported.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::JsonSchema(error) => match &error.kind {
                SchemaErrorKind::Unsupported { .. } | SchemaErrorKind::RemoteReference { .. } => {
                    true
                }
                SchemaErrorKind::Pattern(error) => is_unsupported_pattern(&error.kind),
                _ => false,
            },
            Self::Regex(error) => is_unsupported_pattern(&error.kind),
            Self::Choice(_) => false,
            Self::Kind { .. } => true,
        }
    }
}

/// Whether a pattern is one that some dialect reads.
fn is_unsupported_pattern(kind: &RegexErrorKind) -> bool {
    use RegexErrorKind as Kind;
    matches!(
        kind,
        Kind::UnsupportedFlag { .. }
            | Kind::AmbiguousBrackets
            | Kind::SetOperation
            | Kind::OctalEscape
            | Kind::LookAhead
            | Kind::LookBehind
            | Kind::Backreference
            | Kind::WordBoundary
            | Kind::MultiLineAnchor
            | Kind::AtomicGroup
            | Kind::PossessiveQuantifier
            | Kind::ConditionalGroup
            | Kind::Recursion
            | Kind::Comment
    )
}

/// Reads a constraint with the front end it belongs to.
///
/// # Errors
/// The front end's error.
pub fn lower(
    constraint: &Constraint,
    options: &FrontEndOptions,
    limits: &Limits,
) -> Result<Grammar, ConstraintError> {
    match constraint {
        Constraint::JsonSchema(schema) => {
            Ok(formwork_json_schema::compile(schema, &options.json_schema, limits)?)
        }
        Constraint::JsonObject => {
            Ok(formwork_json_schema::json_object(&options.json_schema, limits)?)
        }
        Constraint::Regex(pattern) => Ok(formwork_regex::compile(pattern, &options.regex, limits)?),
        Constraint::Choice(choices) => Ok(formwork_choice::compile(choices, limits)?),
        other => Err(ConstraintError::Kind { key: other.key() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_supported_is_told_from_what_is_wrong() {
        let refused = |constraint: Constraint| {
            let lowered = lower(&constraint, &FrontEndOptions::default(), &Limits::default());
            lowered.unwrap_err().is_unsupported()
        };
        assert!(refused(Constraint::Regex(r"(a)\1".into())));
        assert!(!refused(Constraint::Regex("(a".into())));
        let schema = |text: &str| Constraint::JsonSchema(text.into());
        assert!(refused(schema(r#"{"$ref": "https://example.com/other"}"#)));
        assert!(refused(schema(r#"{"type": "string", "pattern": "a(?=b)"}"#)));
        assert!(!refused(schema(r#"{"type": 7}"#)));
        assert!(!refused(schema("{")));
    }
}
