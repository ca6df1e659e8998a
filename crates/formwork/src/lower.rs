//! From a constraint to a grammar: which front end reads what.

use formwork_choice::ChoiceError;
use formwork_core::{Constraint, Grammar, Limits};
use formwork_json_schema::SchemaError;
use formwork_regex::RegexError;

/// Options of the front ends.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FrontEndOptions {
    /// For `json` and `json_object`.
    pub json_schema: formwork_json_schema::Options,
    /// For `regex`.
    pub regex: formwork_regex::Options,
}

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
