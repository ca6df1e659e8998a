//! Why a grammar text is refused: what, and where.

use formwork_automata::Exhausted;
use formwork_grammar::SourcePosition;
use formwork_regex::RegexError;

/// A text that cannot become a grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
pub struct EbnfError {
    /// What is wrong.
    pub kind: EbnfErrorKind,
    /// Where: the construct at fault, or all of the text when a limit was hit.
    pub position: SourcePosition,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EbnfErrorKind {
    /// Something else had to stand here.
    #[error("expected {expected}, found {}", Found(*found))]
    Expected {
        /// What had to.
        expected: &'static str,
        /// The character that does; `None` at the end of the text.
        found: Option<char>,
    },
    /// `"` without its `"`.
    #[error("unclosed string")]
    UnclosedString,
    /// `[` without its `]`.
    #[error("unclosed character class")]
    UnclosedClass,
    /// `/` without its `/`.
    #[error("unclosed regular expression")]
    UnclosedRegex,
    /// `(` without its `)`.
    #[error("unclosed group")]
    UnclosedGroup,
    /// `)` without its `(`.
    #[error("unopened group")]
    UnopenedGroup,
    /// A look-ahead assertion that is not the last thing of its rule.
    #[error("a look-ahead assertion stands at the end of a rule only")]
    AssertionInside,
    /// `\` before something it gives no meaning to.
    #[error("unknown escape `\\{character}`")]
    UnknownEscape {
        /// What stands after the backslash.
        character: char,
    },
    /// Hexadecimal digits are missing.
    #[error("malformed hexadecimal escape")]
    MalformedHex,
    /// `\x` with other than two digits, which only some dialects read, or read differently.
    #[error("`\\x` with other than two digits, which dialects read differently")]
    AmbiguousHex,
    /// A number that is no Unicode scalar value.
    #[error("not a Unicode character")]
    NotACharacter,
    /// `.` right behind a name: part of the name or any character, as the dialect has it.
    #[error("`.` after a name, which dialects read differently; put a blank before it")]
    AmbiguousDot,
    /// `[]`.
    #[error("an empty character class")]
    EmptyClass,
    /// A range whose end is before its start.
    #[error("a range from {start:?} back to {end:?}")]
    ReversedRange {
        /// Where it starts.
        start: char,
        /// Where it ends.
        end: char,
    },
    /// A quantifier with nothing to repeat before it.
    #[error("nothing to repeat")]
    DanglingQuantifier,
    /// A quantifier whose greatest count is less than its least.
    #[error("at least {min} times but at most {max} times")]
    ReversedQuantifier {
        /// The least count.
        min: u32,
        /// The greatest count.
        max: u32,
    },
    /// A number that does not fit its place.
    #[error("a number of more than {}", u32::MAX)]
    NumberTooLarge,
    /// `::=` after a name that is not the first thing on its line.
    #[error("a rule begins on a line of its own")]
    RuleInsideLine,
    /// A name that no rule has.
    #[error("rule `{name}` is used but never defined")]
    Undefined {
        /// The name.
        name: Box<str>,
    },
    /// A name that two rules have.
    #[error("rule `{name}` is defined twice")]
    DefinedTwice {
        /// The name.
        name: Box<str>,
    },
    /// There is no rule of the name that [`Options::root_rule`](crate::Options) gives.
    #[error("there is no rule `{name}`")]
    NoRoot {
        /// The name.
        name: Box<str>,
    },
    /// An argument that the construct does not have.
    #[error("unknown argument `{name}`")]
    UnknownArgument {
        /// The name.
        name: Box<str>,
    },
    /// An argument of the wrong kind.
    #[error("expected {expected} as argument")]
    Argument {
        /// What is wanted.
        expected: &'static str,
    },
    /// A rule attribute that there is not.
    #[error("unknown attribute `{name}`")]
    UnknownAttribute {
        /// The name.
        name: Box<str>,
    },
    /// A rule attribute or an argument given twice.
    #[error("`{name}` is given twice")]
    GivenTwice {
        /// The name.
        name: Box<str>,
    },
    /// A temperature that is negative, not finite or not a number.
    #[error("a temperature is a finite number that is not negative")]
    Temperature,
    /// A flag of a regular expression other than `i`, `s` and `u`.
    #[error("the flag `{flag}` is not supported")]
    UnknownFlag {
        /// The flag.
        flag: char,
    },
    /// A regular expression that cannot be read. Its position is within the pattern.
    #[error("in the regular expression: {0}")]
    Regex(#[from] RegexError),
    /// What is excluded is the begin of a trigger, so that the trigger could never be written.
    #[error("the excluded {excluded:?} is a prefix of a trigger")]
    ExcludedTrigger {
        /// What is excluded.
        excluded: Box<str>,
    },
    /// A construct that needs a regular language has another, or one that is not known to be.
    #[error("{construct} needs a regular language over text: {why}")]
    NotRegular {
        /// The construct.
        construct: &'static str,
        /// What is in the way.
        why: &'static str,
    },
    /// Nothing can be generated.
    #[error("nothing satisfies the grammar")]
    Unsatisfiable,
    /// More source text than [`Limits::source_bytes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} bytes of grammar")]
    SourceBytes {
        /// The limit that was hit.
        limit: usize,
    },
    /// Groups nested deeper than [`Limits::nesting`](formwork_grammar::Limits) allows.
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
}

/// A character as a message shows it.
struct Found(Option<char>);

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(character) => write!(f, "{character:?}"),
            None => f.write_str("the end"),
        }
    }
}
