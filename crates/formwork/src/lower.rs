//! From a constraint to a grammar: which front end reads what.

use crate::{FrontEndOptions, GrammarSyntax};
use formwork_choice::ChoiceError;
use formwork_core::{Constraint, Grammar, Limits};
use formwork_ebnf::{EbnfError, EbnfErrorKind};
use formwork_json_schema::{SchemaError, SchemaErrorKind};
use formwork_lark::{LarkError, LarkErrorKind};
use formwork_regex::{RegexError, RegexErrorKind};
use formwork_structural_tag::{StructuralTagError, StructuralTagErrorKind, Style};

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
    /// The grammar in GBNF or EBNF is at fault, or uses what is not supported.
    #[error(transparent)]
    Ebnf(#[from] Box<EbnfError>),
    /// The grammar in Lark is at fault, or uses what is not supported.
    #[error(transparent)]
    Lark(#[from] Box<LarkError>),
    /// The structural tag is at fault, or uses what is not supported.
    #[error(transparent)]
    StructuralTag(#[from] Box<StructuralTagError>),
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
            Self::JsonSchema(error) => is_unsupported_schema(&error.kind),
            Self::Regex(error) => is_unsupported_pattern(&error.kind),
            Self::Ebnf(error) => match &error.kind {
                EbnfErrorKind::Regex(error) => is_unsupported_pattern(&error.kind),
                _ => false,
            },
            Self::Lark(error) => match &error.kind {
                LarkErrorKind::Schema(error) => is_unsupported_schema(&error.kind),
                _ => false,
            },
            Self::StructuralTag(error) => match &error.kind {
                StructuralTagErrorKind::Schema(error) => is_unsupported_schema(&error.kind),
                _ => false,
            },
            Self::Choice(_) => false,
            Self::Kind { .. } => true,
        }
    }
}

/// Whether a schema uses what is not enforced.
fn is_unsupported_schema(kind: &SchemaErrorKind) -> bool {
    match kind {
        SchemaErrorKind::Unsupported { .. } | SchemaErrorKind::RemoteReference { .. } => true,
        SchemaErrorKind::Pattern(error) => is_unsupported_pattern(&error.kind),
        _ => false,
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
        Constraint::JsonSchema(schema) if options.style != Style::Json => {
            let tag = options.structural_tag();
            let lowered =
                formwork_structural_tag::compile_schema(schema, options.style, &tag, limits);
            Ok(lowered.map_err(Box::new)?)
        }
        Constraint::JsonSchema(schema) => {
            Ok(formwork_json_schema::compile(schema, &options.json_schema, limits)?)
        }
        Constraint::JsonObject => {
            Ok(formwork_json_schema::json_object(&options.json_schema, limits)?)
        }
        Constraint::Regex(pattern) => Ok(formwork_regex::compile(pattern, &options.regex, limits)?),
        Constraint::Choice(choices) => Ok(formwork_choice::compile(choices, limits)?),
        Constraint::Grammar(text) => grammar(text, options, limits),
        Constraint::StructuralTag(text) => {
            Ok(formwork_structural_tag::compile(text, &options.structural_tag(), limits)
                .map_err(Box::new)?)
        }
        other => Err(ConstraintError::Kind { key: other.key() }),
    }
}

fn grammar(
    text: &str,
    options: &FrontEndOptions,
    limits: &Limits,
) -> Result<Grammar, ConstraintError> {
    let is_lark = match options.grammar {
        GrammarSyntax::Detect => !text.contains("::="),
        GrammarSyntax::Ebnf => false,
        GrammarSyntax::Lark => true,
    };
    match is_lark {
        true => Ok(formwork_lark::compile(text, &options.lark(), limits).map_err(Box::new)?),
        false => Ok(formwork_ebnf::compile(text, &options.ebnf, limits).map_err(Box::new)?),
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
        assert!(refused(schema(r#"{"type": "string", "pattern": "a(?<=b)"}"#)));
        assert!(!refused(schema(r#"{"type": 7}"#)));
        assert!(!refused(schema("{")));
    }

    #[test]
    fn the_language_of_a_grammar_shows() {
        let limits = Limits::default();
        let lower = |text: &str| {
            lower(&Constraint::Grammar(text.into()), &FrontEndOptions::default(), &limits)
        };
        assert!(lower("root ::= \"a\" | \"b\" root").is_ok());
        assert!(lower("start: \"a\" | \"b\" start").is_ok());
        assert!(matches!(lower("root ::= missing"), Err(ConstraintError::Ebnf(_))));
        assert!(matches!(lower("start: missing"), Err(ConstraintError::Lark(_))));
    }

    #[test]
    fn a_style_writes_a_schema_in_its_own_way() {
        let options = FrontEndOptions { style: Style::QwenXml, ..FrontEndOptions::default() };
        let schema =
            |text: &str| lower(&Constraint::JsonSchema(text.into()), &options, &Limits::default());
        assert!(schema(r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#).is_ok());
        let error = schema("{").unwrap_err();
        assert!(matches!(error, ConstraintError::StructuralTag(_)), "{error}");
    }

    #[test]
    fn tags_are_read_with_the_options_of_what_they_embed() {
        let tag = r#"{"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"type": "array"}}}"#;
        let lowered = lower(
            &Constraint::StructuralTag(tag.into()),
            &FrontEndOptions::default(),
            &Limits::default(),
        );
        assert!(lowered.is_ok());
    }
}
