//! Why a list of choices is refused: what, and where.

use formwork_automata::Exhausted;
use formwork_grammar::SourcePosition;
use std::fmt;

/// A list of choices that cannot become a grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ChoiceError {
    /// What is wrong.
    pub kind: ChoiceErrorKind,
    /// Where in the JSON text, when there is one and it is a place in it.
    pub position: Option<SourcePosition>,
}

impl From<ChoiceErrorKind> for ChoiceError {
    fn from(kind: ChoiceErrorKind) -> Self {
        Self { kind, position: None }
    }
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(f, "line {}, column {}: ", position.line, position.column)?;
        }
        write!(f, "{}", self.kind)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceErrorKind {
    /// There is nothing to choose from.
    #[error("the list of choices is empty")]
    Empty,
    /// More bytes than [`Limits::source_bytes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} bytes of choices")]
    SourceBytes {
        /// The limit that was hit.
        limit: usize,
    },
    /// A budget of automaton states or steps was used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The text is not JSON.
    #[error("not JSON as RFC 8259 has it")]
    Syntax,
    /// The text is JSON, but no array.
    #[error("the choices must be a JSON array")]
    NotAnArray,
    /// An element of the array is no string.
    #[error("choice {index} must be a string")]
    NotAString {
        /// Which element, from 0.
        index: usize,
    },
}
