//! Why a pattern is refused: what, and where.

use formwork_automata::Exhausted;
use formwork_grammar::SourcePosition;

/// A pattern that cannot become a grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
pub struct RegexError {
    /// What is wrong.
    pub kind: RegexErrorKind,
    /// Where in the pattern: the construct at fault, or all of it when a limit was hit.
    pub position: SourcePosition,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegexErrorKind {
    /// `(` without its `)`.
    #[error("unclosed group")]
    UnclosedGroup,
    /// `)` without its `(`.
    #[error("unopened group")]
    UnopenedGroup,
    /// `(?` followed by nothing that is known.
    #[error("unknown kind of group")]
    UnknownGroup,
    /// A group's name is empty, unclosed, or has other characters than letters, digits, `_`, `$`.
    #[error("malformed group name")]
    GroupName,
    /// A flag other than `i`, `m`, `s` and `u`, or `-u`.
    #[error("the flag `{flag}` is not supported")]
    UnsupportedFlag {
        /// The flag.
        flag: char,
    },
    /// `[` without its `]`.
    #[error("unclosed character class")]
    UnclosedClass,
    /// A range whose end is before its start.
    #[error("a range from {start:?} back to {end:?}")]
    ReversedRange {
        /// Where it starts.
        start: char,
        /// Where it ends.
        end: char,
    },
    /// A range with a class such as `\d` for an end.
    #[error("a class cannot be the end of a range")]
    RangeOfClass,
    /// Brackets that the dialects read differently: a class inside a class, or a class that begins
    /// with `]`. Escaped brackets are unambiguous.
    #[error("brackets that dialects read differently; escape those that are meant literally")]
    AmbiguousBrackets,
    /// `&&`, `--` or `~~` in a class, which some dialects read as an operator.
    #[error("`&&`, `--` or `~~` in a class, which dialects read differently")]
    SetOperation,
    /// A quantifier with nothing to repeat before it.
    #[error("nothing to repeat")]
    DanglingQuantifier,
    /// A quantifier after a quantifier.
    #[error("a quantifier cannot be repeated without a group")]
    RepeatedQuantifier,
    /// `{` that begins like a quantifier and does not go on like one.
    #[error("malformed quantifier")]
    MalformedQuantifier,
    /// A quantifier whose greatest count is less than its least.
    #[error("at least {min} times but at most {max} times")]
    ReversedQuantifier {
        /// The least count.
        min: u32,
        /// The greatest count.
        max: u32,
    },
    /// A count that no output could reach.
    #[error("a count of more than {}", u32::MAX)]
    CountTooLarge,
    /// `\` at the very end.
    #[error("nothing after the backslash")]
    EscapeAtEnd,
    /// An escape that this dialect does not have.
    #[error("unknown escape `\\{character}`")]
    UnknownEscape {
        /// What stands after the backslash.
        character: char,
    },
    /// An escape with a number in octal, or what looks like one.
    #[error("an octal escape, which dialects read differently")]
    OctalEscape,
    /// Hexadecimal digits are missing.
    #[error("malformed hexadecimal escape")]
    MalformedHex,
    /// A number that is no Unicode scalar value.
    #[error("not a Unicode character")]
    NotACharacter,
    /// `\c` without a letter.
    #[error("`\\c` needs a letter")]
    MalformedControl,
    /// A Unicode property that is malformed or not known.
    #[error("unknown Unicode property {name:?}")]
    UnknownProperty {
        /// What stands between the braces.
        name: String,
    },
    /// `(?=…)` or `(?!…)` where what follows the pattern is not known, or beside an anchor that makes
    /// its place unclear: `^` in it or right of it, `$` left of it.
    #[error("look-ahead is not supported here")]
    LookAhead,
    /// `(?<=…)` or `(?<!…)`.
    #[error("look-behind is not supported")]
    LookBehind,
    /// `\1`, `\k<name>` or `(?P=name)`.
    #[error("backreferences are not supported")]
    Backreference,
    /// `\b` or `\B`.
    #[error("word boundaries are not supported")]
    WordBoundary,
    /// `^` or `$` under the flag `m`.
    #[error("anchors at line breaks are not supported")]
    MultiLineAnchor,
    /// `(?>…)`.
    #[error("atomic groups are not supported")]
    AtomicGroup,
    /// `a*+` and the like.
    #[error("possessive quantifiers are not supported")]
    PossessiveQuantifier,
    /// `(?(1)…)`.
    #[error("conditional groups are not supported")]
    ConditionalGroup,
    /// `(?1)`, `(?&name)` or `(?P>name)`.
    #[error("recursion is not supported")]
    Recursion,
    /// `(?#…)`.
    #[error("comments are not supported")]
    Comment,
    /// More source text than [`Limits::source_bytes`](formwork_grammar::Limits) allows.
    #[error("more than {limit} bytes of pattern")]
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
