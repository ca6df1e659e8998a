//! Why a schema is refused: what, and where.

use formwork_automata::Exhausted;
use formwork_grammar::{Location, SourcePosition};
use formwork_regex::RegexError;
use std::fmt;

/// A schema, or an option, that cannot become a grammar.
#[derive(Clone, Debug, thiserror::Error)]
pub struct SchemaError {
    /// What is wrong.
    pub kind: SchemaErrorKind,
    /// Where, as a JSON pointer into the schema, or, behind the name of a document given beside it
    /// and `#`, into that; [`Location::Whole`] when it is no place at all.
    pub location: Location,
    /// Where in the text of the schema or of that document, when it is a place there.
    pub position: Option<SourcePosition>,
}

impl SchemaError {
    /// An error that is at no place in the schema's text.
    pub(crate) fn whole(kind: impl Into<SchemaErrorKind>) -> Self {
        Self { kind: kind.into(), location: Location::Whole, position: None }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.location)?;
        if let Some(position) = &self.position {
            write!(f, " (line {}, column {})", position.line, position.column)?;
        }
        write!(f, ": {}", self.kind)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// The text is not JSON as RFC 8259 has it, or says something twice.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// More source text than [`Limits::source_bytes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} bytes of schema")]
    SourceBytes {
        /// The limit that was hit.
        limit: usize,
    },
    /// Deeper nesting than [`Limits::nesting`](formwork_grammar::Limits) allows: of the schema's
    /// text, or of an instance whose indentation would have to be known that deep.
    #[error("nested more than {limit} levels deep")]
    Nesting {
        /// The limit that was hit.
        limit: usize,
    },
    /// More rules than [`Limits::rules`](formwork_grammar::Limits) allows.
    #[error("more than {limit} rules")]
    Rules {
        /// The limit that was hit.
        limit: usize,
    },
    /// More nodes than [`Limits::nodes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} grammar nodes")]
    Nodes {
        /// The limit that was hit.
        limit: usize,
    },
    /// A budget of automaton states or steps was used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// A keyword of JSON Schema that is not enforced, and so is refused rather than ignored.
    #[error("the keyword `{keyword}` is not supported")]
    Unsupported {
        /// Its name.
        keyword: &'static str,
    },
    /// A schema is neither an object nor a boolean.
    #[error("a schema must be an object, true or false")]
    NotASchema,
    /// A keyword has a value that JSON Schema does not allow.
    #[error("`{keyword}` must be {expected}")]
    IllTyped {
        /// The keyword.
        keyword: &'static str,
        /// What it must be, in a few words.
        expected: &'static str,
    },
    /// A count is so large that no output could reach it.
    #[error("`{keyword}` is more than {}", u32::MAX)]
    CountTooLarge {
        /// The keyword.
        keyword: &'static str,
    },
    /// The exponent of a number is so large that its digits cannot be numbered.
    #[error("the exponent of this number is out of range")]
    ExponentTooLarge,
    /// A reference names a document that is there, but no place in it.
    #[error("the reference {reference:?} leads nowhere")]
    UnresolvableReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference to a document that was not given beside the schema; nothing is fetched.
    #[error("the reference {reference:?} is to a document that was not given")]
    RemoteReference {
        /// The reference as written.
        reference: String,
    },
    /// The metaschema demands a vocabulary that is not known.
    #[error("the vocabulary {vocabulary:?} is required but not known")]
    UnknownVocabulary {
        /// Its URI.
        vocabulary: String,
    },
    /// A pattern is not a regular expression, or not one that is supported.
    #[error("bad pattern: {0}")]
    Pattern(Box<RegexError>),
    /// No JSON value satisfies the schema.
    #[error("nothing satisfies this schema")]
    Unsatisfiable,
    /// An option for white space would let something else than white space through.
    #[error("{what} may hold nothing but JSON white space{beside}")]
    NotWhiteSpace {
        /// Which option.
        what: &'static str,
        /// What else it must hold, in words.
        beside: &'static str,
    },
}

/// What is wrong with the text as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntaxError {
    /// The text ends too early.
    #[error("unexpected end of the text")]
    UnexpectedEnd,
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    InvalidUtf8,
    /// Something else was expected.
    #[error("expected {expected}, found {found:?}")]
    Unexpected {
        /// What could have stood here.
        expected: &'static str,
        /// What stands here.
        found: char,
    },
    /// More text after the value.
    #[error("unexpected text after the end of the value")]
    TrailingText,
    /// A control character inside a string.
    #[error("control character {character:?} in a string; it must be escaped")]
    ControlCharacter {
        /// The character.
        character: char,
    },
    /// An escape sequence that JSON does not have.
    #[error("invalid escape sequence")]
    InvalidEscape,
    /// An escaped surrogate without its partner stands for no character.
    #[error("escaped surrogate without its partner")]
    LoneSurrogate,
    /// A number that JSON does not have, such as `01`, `1.` or `+1`.
    #[error("malformed number")]
    MalformedNumber,
    /// A key that the object has already.
    #[error("duplicate key {key:?}")]
    DuplicateKey {
        /// The key.
        key: String,
    },
}
