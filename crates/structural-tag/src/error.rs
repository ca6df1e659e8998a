//! Why a structural tag is refused: what, and where.

use formwork_automata::Exhausted;
use formwork_ebnf::EbnfError;
use formwork_grammar::{GrammarError, Location, SourcePosition};
use formwork_json_schema::SchemaError;
use formwork_regex::RegexError;
use std::fmt;

/// A structural tag that cannot become a grammar.
#[derive(Clone, Debug, thiserror::Error)]
pub struct StructuralTagError {
    /// What is wrong.
    pub kind: StructuralTagErrorKind,
    /// Where, as a JSON pointer into the tag; [`Location::Whole`] when it is no place at all.
    pub location: Location,
    /// Where in the text of the tag.
    pub position: Option<SourcePosition>,
}

impl StructuralTagError {
    /// An error that is at no place in the text.
    pub(crate) fn whole(kind: impl Into<StructuralTagErrorKind>) -> Self {
        Self { kind: kind.into(), location: Location::Whole, position: None }
    }
}

impl fmt::Display for StructuralTagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location::Pointer(pointer) if pointer.is_empty() => write!(f, "the root")?,
            location => write!(f, "{location}")?,
        }
        if let Some(position) = &self.position {
            write!(f, " (line {}, column {})", position.line, position.column)?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// What is wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructuralTagErrorKind {
    /// The text is not JSON as RFC 8259 has it; what should have stood there.
    #[error("not JSON: expected {expected}")]
    Syntax {
        /// What should have stood there.
        expected: &'static str,
    },
    /// An object says something twice.
    #[error("the key {key:?} is there twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// More source text than [`Limits::source_bytes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} bytes of structural tag")]
    SourceBytes {
        /// The limit that was hit.
        limit: usize,
    },
    /// Deeper nesting than [`Limits::nesting`](formwork_grammar::Limits) allows.
    #[error("nested more than {limit} levels deep")]
    Nesting {
        /// The limit that was hit.
        limit: usize,
    },
    /// A field that has to be there is not.
    #[error("the field `{field}` is missing")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A field that this object does not have.
    #[error("unknown field {field:?}")]
    UnknownField {
        /// The field.
        field: String,
    },
    /// A value of the wrong kind.
    #[error("expected {expected}")]
    Expected {
        /// What it should have been.
        expected: &'static str,
    },
    /// A `type` or a `style` that there is not.
    #[error("there is no {what} {name:?}")]
    UnknownName {
        /// What is named.
        what: &'static str,
        /// The name.
        name: Box<str>,
    },
    /// A list that must not be empty.
    #[error("an empty list")]
    EmptyList,
    /// A string that must not be empty.
    #[error("an empty string")]
    EmptyString,
    /// A repetition whose greatest count is less than its least.
    #[error("at least {min} times but at most {max} times")]
    ReversedRepeat {
        /// The least count.
        min: u32,
        /// The greatest count.
        max: u32,
    },
    /// A tag that no trigger leads to: its begin starts with none.
    #[error("no trigger leads to this tag")]
    NoTrigger,
    /// A tag whose begin starts with more than one trigger.
    #[error("more than one trigger leads to this tag: {first:?} and {second:?}")]
    SeveralTriggers {
        /// One of them.
        first: Box<str>,
        /// Another.
        second: Box<str>,
    },
    /// What a JSON Schema says in a style that cannot write it.
    #[error("the style `{style}` cannot write {what}")]
    Style {
        /// The style.
        style: &'static str,
        /// What it cannot write.
        what: &'static str,
    },
    /// An embedded JSON Schema is refused; its pointer is relative to the schema.
    #[error("JSON Schema: {0}")]
    Schema(Box<SchemaError>),
    /// An embedded regular expression is refused.
    #[error("regular expression: {0}")]
    Regex(Box<RegexError>),
    /// An embedded grammar is refused.
    #[error("grammar: {0}")]
    Ebnf(Box<EbnfError>),
    /// Grammars could not be put together.
    #[error(transparent)]
    Grammar(Box<GrammarError>),
    /// A budget of automaton states or steps was used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

impl From<GrammarError> for StructuralTagErrorKind {
    fn from(error: GrammarError) -> Self {
        Self::Grammar(Box::new(error))
    }
}
