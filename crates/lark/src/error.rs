//! Why a grammar is refused: what, and where.

use formwork_automata::Exhausted;
use formwork_grammar::{GrammarError, SourcePosition};
use formwork_json_schema::SchemaError;
use formwork_regex::RegexError;
use std::fmt;

/// A Lark grammar that cannot become a grammar here.
#[derive(Clone, Debug, thiserror::Error)]
pub struct LarkError {
    /// What is wrong.
    pub kind: LarkErrorKind,
    /// Where in the text: the construct at fault.
    pub position: SourcePosition,
    /// The name of the grammar in [`Options::grammars`](crate::Options) whose text that is; `None`
    /// for the text given to [`compile`](crate::compile).
    pub grammar: Option<Box<str>>,
}

impl fmt::Display for LarkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.grammar {
            write!(f, "grammar `{name}`, ")?;
        }
        write!(f, "line {}, column {}: {}", self.position.line, self.position.column, self.kind)
    }
}

/// What is wrong.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LarkErrorKind {
    /// Something else was expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What could have stood here.
        expected: &'static str,
        /// What stands here, as written.
        found: Box<str>,
    },
    /// A character that begins nothing.
    #[error("unexpected character {character:?}")]
    UnexpectedCharacter {
        /// The character.
        character: char,
    },
    /// A string without its closing quote on the same line.
    #[error("unterminated string")]
    UnterminatedString,
    /// A regular expression without its closing `/`.
    #[error("unterminated regular expression")]
    UnterminatedRegex,
    /// `<` without `>` on the same line, or with white space between.
    #[error("malformed token reference")]
    MalformedToken,
    /// A bracket without its partner.
    #[error("unclosed bracket")]
    Unclosed,
    /// An escape that strings do not have.
    #[error("invalid escape sequence in a string")]
    InvalidEscape,
    /// A name with small and capital letters.
    #[error("the name `{name}` is neither a rule (small letters) nor a terminal (capital letters)")]
    MixedCase {
        /// The name.
        name: Box<str>,
    },
    /// A number that is too large, or not of the kind that is wanted here.
    #[error("bad number; expected {expected}")]
    Number {
        /// What it must be.
        expected: &'static str,
    },
    /// A repetition whose greatest count is less than its least.
    #[error("at least {min} times but at most {max} times")]
    ReversedRepeat {
        /// The least count.
        min: u32,
        /// The greatest count.
        max: u32,
    },
    /// An end of a range of characters is not one character without a flag.
    #[error("the ends of a range must be single characters")]
    RangeEnd,
    /// A range whose end is before its start.
    #[error("a range from {start} back to {end}")]
    ReversedRange {
        /// Where it starts.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// A flag that strings or regular expressions do not have here.
    #[error("the flag `{flag}` is not supported")]
    Flag {
        /// The flag.
        flag: char,
    },
    /// A directive that is not known, or not supported.
    #[error("the directive `%{name}` is not supported")]
    Directive {
        /// Its name.
        name: Box<str>,
    },
    /// A rule or reference with parameters in braces.
    #[error("templates are not supported")]
    Template,
    /// An import of something that is not in the common library.
    #[error("there is no `{name}` to import; only terminals of `common` can be")]
    Import {
        /// What was to be imported.
        name: Box<str>,
    },
    /// A name defined twice.
    #[error("`{name}` is defined twice")]
    Duplicate {
        /// The name.
        name: Box<str>,
    },
    /// A name that is used and not defined.
    #[error("`{name}` is not defined")]
    Undefined {
        /// The name.
        name: Box<str>,
    },
    /// No grammar of this name was given beside the text.
    #[error("no grammar named `{name}` was given")]
    UnknownGrammar {
        /// The name.
        name: Box<str>,
    },
    /// There is no rule `start`.
    #[error("there is no rule `start`")]
    NoStart,
    /// A terminal that contains itself.
    #[error("the terminal `{name}` is recursive")]
    RecursiveTerminal {
        /// Its name.
        name: Box<str>,
    },
    /// Something in a terminal, or in a rule that must be like one, that only rules can have.
    #[error("{what} cannot be part of a terminal")]
    NotInTerminal {
        /// What.
        what: &'static str,
    },
    /// `&` or `~` in a rule.
    #[error("{what} is possible in terminals only")]
    NotInRule {
        /// What.
        what: &'static str,
    },
    /// An attribute that is not known.
    #[error("unknown attribute `{name}`")]
    UnknownAttribute {
        /// Its name.
        name: Box<str>,
    },
    /// An attribute given twice.
    #[error("the attribute `{name}` is given twice")]
    DuplicateAttribute {
        /// Its name.
        name: Box<str>,
    },
    /// An attribute whose value is missing, superfluous, or of the wrong kind.
    #[error("the attribute `{name}` needs {expected}")]
    AttributeValue {
        /// Its name.
        name: &'static str,
        /// What it needs.
        expected: &'static str,
    },
    /// Two attributes that exclude each other, or one that needs another.
    #[error("{what}")]
    AttributeConflict {
        /// In words.
        what: &'static str,
    },
    /// A parameter where there is none, or none where there is one.
    #[error("{what}")]
    Parameter {
        /// In words.
        what: &'static str,
    },
    /// A function of parameters that is not known.
    #[error("unknown function `{name}` of a parameter")]
    UnknownFunction {
        /// Its name.
        name: Box<str>,
    },
    /// Bits that a parameter of 64 bits does not have, or an empty range of them.
    #[error("bits must be a range within 0 to 64")]
    Bits,
    /// JSON that is malformed, or not of the kind that a directive takes.
    #[error("{what}")]
    Json {
        /// In words.
        what: &'static str,
    },
    /// An option of `%llguidance`, `%grammar_options` or `x-guidance` that is not known or not
    /// supported.
    #[error("the option {name:?} is not supported")]
    Option {
        /// Its name.
        name: Box<str>,
    },
    /// A regular expression is malformed or uses what is not supported. The position inside is
    /// relative to the expression.
    #[error("bad regular expression: {0}")]
    Regex(Box<RegexError>),
    /// A group named `stop`, which one dialect reads as a condition on what follows.
    #[error("a group named `stop` is not supported")]
    StopGroup,
    /// A JSON Schema is refused.
    #[error("bad JSON Schema: {0}")]
    Schema(Box<SchemaError>),
    /// More source text than [`Limits::source_bytes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} bytes of grammar")]
    SourceBytes {
        /// The limit that was hit.
        limit: usize,
    },
    /// Groups or conditions nested deeper than [`Limits::nesting`](formwork_grammar::Limits)
    /// allows.
    #[error("nested more than {limit} levels deep")]
    Nesting {
        /// The limit that was hit.
        limit: usize,
    },
    /// More rules than [`Limits::rules`](formwork_grammar::Limits) allows, rules for each value of
    /// a parameter included.
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
    /// A grammar inside this one cannot be embedded.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}
