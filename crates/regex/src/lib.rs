//! Front end: regular expressions to the grammar representation.
//!
//! # Idea
//! A pattern is parsed into a tree (`parse`), the anchors in it are resolved (`lower`), and what
//! remains is grammar: literals, byte sets, sequences, alternatives, counted repetitions. Counted
//! repetition is never unrolled here, so a pattern's grammar is about as long as the pattern.
//!
//! # Meaning
//! Text is a sequence of Unicode scalar values in UTF-8; no class, however negated, matches
//! anything else. Groups do not capture, lazy quantifiers mean what greedy ones do: only the
//! language counts. `^` and `$` (`\A`, `\z`, `\Z`) are the very start and the very end of the
//! output, wherever they stand in the pattern; a branch that puts one where it cannot be matches
//! nothing.
//!
//! # Dialects
//! [`Dialect::Shared`] reads what ECMA-262, Python and Rust agree on. It follows Rust where Python
//! and ECMA-262 differ by a few characters (`\s`, `\w`), Python and ECMA-262 where a lone bracket
//! or brace is a literal, and ECMA-262 for `[]` (nothing) and `[^]` (anything). `\<` and `\>` are
//! the characters. Brackets and operators in classes that would be read differently are refused.
//!
//! # Look-ahead
//! `(?=…)` and `(?!…)` are resolved in the automaton (`look`): the language is as regular as without
//! them. That needs to know what follows, so [`lower`], whose expression others embed, refuses them.
//!
//! # What is refused
//! Look-behind, backreferences, word boundaries, anchors at line breaks, atomic groups, possessive
//! quantifiers, conditionals, recursion, comments and verbose mode: each by name and place. See
//! [`RegexErrorKind`].
//!
//! # Why a parser of its own
//! The tables of Unicode come from `regex-syntax`; its parser is not used. It lacks half of the
//! escapes of ECMA-262 and reads brackets differently, so the text would have to be taken apart and
//! put together again before it could see it, by something that knows groups, classes and
//! quantifiers: a parser.
//!
//! # Reading order
//! `options`, `error`, `tree`, `parse` (`cursor`, `group`, `escape`, `class`, `sets`), `lower`,
//! `characters`, `language`, `look`.

mod characters;
mod error;
mod language;
mod look;
mod lower;
mod options;
mod parse;
mod tree;

pub use error::{RegexError, RegexErrorKind};
pub use options::{Case, Classes, Dialect, Dot, Folding, MatchMode, Options};

use formwork_automata::{CancellationToken, Dfa, Fuel};
use formwork_grammar::{BodyBuilder, ExprId, Grammar, Limits, SourcePosition};
use look::Conditions;

/// The grammar of a pattern.
///
/// ```
/// use formwork_grammar::Limits;
/// use formwork_regex::{Options, RegexErrorKind, compile};
/// let limits = Limits::default();
/// assert!(compile("(a{1,1000}){1,1000}", &Options::default(), &limits).is_ok());
/// let error = compile(r"(a)b\1", &Options::default(), &limits).unwrap_err();
/// assert_eq!((error.kind, error.position.column), (RegexErrorKind::Backreference, 5));
/// ```
///
/// Cost: linear in the pattern, some microseconds for a short one; a class with hundreds of ranges,
/// such as `\p{L}` or the `\w` of Unicode, takes a few milliseconds once in a pattern. A pattern that
/// nothing matches is a grammar that nothing satisfies.
///
/// # Errors
/// [`RegexError`]: the pattern is malformed, uses what is not supported, or hits a limit
/// ([`Limits::source_bytes`], [`Limits::nesting`], [`Limits::nodes`], and the automaton limits for
/// the classes in it).
pub fn compile(pattern: &str, options: &Options, limits: &Limits) -> Result<Grammar, RegexError> {
    let mut body = BodyBuilder::new();
    let mut fuel = limits.fuel(&CancellationToken::new());
    let root = lower_with(pattern, options, limits, &mut body, &mut fuel)?;
    Ok(Grammar::of_body(body.finish(root)))
}

/// The language of a pattern as an expression of a body that is being built, for front ends that
/// embed patterns. In the pattern, "output" then means what this expression generates.
///
/// Cost: as [`compile`]. The nodes that `body` already has count.
///
/// # Errors
/// As [`compile`], and [`RegexErrorKind::LookAhead`]; the body then holds nodes that nothing refers
/// to.
pub fn lower(
    pattern: &str,
    options: &Options,
    limits: &Limits,
    body: &mut BodyBuilder,
) -> Result<ExprId, RegexError> {
    let mut fuel = limits.fuel(&CancellationToken::new());
    let tree = parse::parse(pattern, options, limits, &mut fuel)?;
    if let Some(at) = tree.first_look {
        let position = SourcePosition::in_text(pattern, at, "(?=".len());
        return Err(RegexError { kind: RegexErrorKind::LookAhead, position });
    }
    lower_tree((pattern, &tree), options, limits, body, &mut fuel)
}

/// The canonical automaton of a pattern: minimal, and equal for equal languages. Counted
/// repetitions are unrolled here, as far as the fuel goes.
///
/// Cost: that of determinisation, exponential in the worst case; all of it is paid from `fuel`,
/// and the automaton limits of `limits` are not looked at.
///
/// # Errors
/// As [`compile`], and [`RegexErrorKind::Exhausted`] when the fuel does not suffice.
pub fn language(
    pattern: &str,
    options: &Options,
    limits: &Limits,
    fuel: &mut Fuel,
) -> Result<Dfa, RegexError> {
    let mut body = BodyBuilder::new();
    let root = lower_with(pattern, options, limits, &mut body, fuel)?;
    let body = body.finish(root);
    language::automaton(|expr| &body[expr], body.root(), &Conditions::default(), fuel)
        .map_err(|exhausted| whole(pattern, exhausted.into()))
}

fn lower_with(
    pattern: &str,
    options: &Options,
    limits: &Limits,
    body: &mut BodyBuilder,
    fuel: &mut Fuel,
) -> Result<ExprId, RegexError> {
    let tree = parse::parse(pattern, options, limits, fuel)?;
    lower_tree((pattern, &tree), options, limits, body, fuel)
}

fn lower_tree(
    (pattern, tree): (&str, &tree::Tree),
    options: &Options,
    limits: &Limits,
    body: &mut BodyBuilder,
    fuel: &mut Fuel,
) -> Result<ExprId, RegexError> {
    lower::Lowering::new(body, limits, fuel)
        .pattern(tree, options.mode)
        .map_err(|kind| whole(pattern, kind))
}

/// An error that is nowhere in particular.
fn whole(pattern: &str, kind: RegexErrorKind) -> RegexError {
    RegexError { kind, position: SourcePosition::in_text(pattern, 0, pattern.len()) }
}
