//! Front end: llama.cpp's GBNF and XGrammar's EBNF to the grammar representation.
//!
//! # Idea
//! A text is read once, rule by rule, straight into bodies (`parse`); rules may be used before they
//! are defined. What a rule says about itself is applied afterwards, callees first, and what nothing
//! can satisfy is refused (`finish`). Counted repetition and recursion, left recursion too, go into
//! the grammar as they are.
//!
//! # Syntax
//! ```text
//! name ::= "text" [a-z] [^a-z] . other (a | b) a* a+ a? a{2} a{2,} a{2,5}   # a comment
//! name[max_tokens=5, max_chars=9, lazy, capture="x", temperature=0.5] ::= …
//! name ::= … (= what follows)
//! <[7]>  <think>  !<[7]>                          a token, any other token
//! Token(1, (3, 5), "<x>")  ExcludeToken(2)        any of these tokens, any but these
//! Regex("…", flags="is", json_string=true)  /…/is
//! Substring("a ", "b ", "c ")                     a run of consecutive chunks
//! TagDispatch(("<a>", rule), …, loop_after_dispatch=true, excludes=("…"), stop_str=("…"), stop_eos=true)
//! TokenTagDispatch((7, rule), …, loop_after_dispatch=true, excludes=(8))
//! ```
//! and, so that whatever the grammar representation can say has a text
//! ([`formwork_grammar::print`]):
//! ```text
//! Bytes("e2 80-8f,91")                            a byte of each set
//! And(a, b)  Not(a)                               byte strings in both rules, not in the rule
//! Followed(a)  NotFollowed(a)                     nothing, before what does (not) begin like a
//! Permute(required=(a), optional=(b), rest=(key, tail), distinct=true, separator=s, min=1, max=9)
//! ```
//! Line breaks are blanks: a rule ends where a line begins with a name and `::=`. A name of a call
//! that the text gives to a rule is that rule.
//!
//! # Meaning
//! Text is a sequence of Unicode scalar values in UTF-8; escapes are characters, never bytes.
//! `lazy` keeps, of the words of a rule, those without a shorter one at their begin; `max_chars`
//! those of at most so many characters; both need a rule that is regular and does not refer to
//! itself. `max_tokens` is exact: a token that would exceed it is not offered. (XGrammar ends such a
//! region where it can, and lets it go on where it cannot.) Free text in a dispatch is a minimal
//! automaton: see `macros::dispatch`.
//!
//! A regular expression matches all of what the construct generates; `\d`, `\w` and `\s` are ASCII,
//! and so are the letters whose case the flag `i` ignores. Without `flags`, `.` is any character in `Regex("…")`; with them, and in `/…/`, only with `s`.
//!
//! An assertion `(= …)` is checked as far as the output goes on behind the rule: what follows must
//! not contradict it, and the end of the output contradicts nothing. An assertion
//! that refers to rules which are not regular is refused; under [`Leniency::Relax`] those rules stand
//! for any text there, and a warning says so. Assertions of the rules that an assertion refers to
//! are not looked at.
//!
//! # Dialects
//! Every construct is read in every [`Dialect`]. They differ in
//!
//! | text | `Gbnf` | `XGrammar` | `Shared` |
//! |---|---|---|---|
//! | `\x` before other than two hexadecimal digits | the first two | all of them | refused |
//! | `.` right behind or before a name | any character | part of the name | refused behind a name |
//! | a line break in a string or class | itself | refused | refused |
//!
//! What one of the two peers refuses and the other reads is read: left recursion, quantifiers in a
//! row, names with `_`, rules over several lines, empty alternatives, `[^]` (any character). A name
//! is defined once. `\d` and its like in classes, `[]` and reversed ranges are refused.
//!
//! # Limits
//! [`Limits::source_bytes`], [`Limits::nesting`] (groups), [`Limits::rules`], [`Limits::nodes`], and
//! the automaton limits for what is made into automata here. Reading is linear in the text, however
//! deep it is nested.
//!
//! # Reading order
//! `options`, `error`, `cursor`, `characters`, `attributes`, `arguments`, `parse`, `macros`,
//! `keywords`, `machines`, `finish`.

mod arguments;
mod attributes;
mod characters;
mod cursor;
mod error;
mod finish;
mod keywords;
mod machines;
mod macros;
mod options;
mod parse;

pub use error::{EbnfError, EbnfErrorKind};
pub use options::{Dialect, Leniency, Options};

use formwork_grammar::{Grammar, Limits};

/// The grammar that a text describes.
///
/// ```
/// use formwork_ebnf::{EbnfErrorKind, Options, compile};
/// use formwork_grammar::Limits;
/// let (options, limits) = (Options::default(), Limits::default());
/// assert!(compile(r#"root ::= root "," item | item  item ::= [0-9]+"#, &options, &limits).is_err());
/// let text = "root ::= root \",\" item | item\nitem ::= [0-9]+";
/// assert!(compile(text, &options, &limits).is_ok());
/// let error = compile("root ::= (\"a\"", &options, &limits).unwrap_err();
/// assert_eq!((error.kind, error.position.column), (EbnfErrorKind::UnclosedGroup, 10));
/// ```
///
/// The grammar's warnings name the rules that take part in no output, and the assertions that are
/// not checked in full.
///
/// Cost: linear in the text, and what the automata in it take.
///
/// # Errors
/// [`EbnfError`]: the text is malformed, a name is undefined or defined twice, nothing satisfies
/// the grammar, or a limit is hit.
pub fn compile(text: &str, options: &Options, limits: &Limits) -> Result<Grammar, EbnfError> {
    let parsed = parse::parse(text, options, limits)?;
    finish::finish(text, parsed, options, limits)
}
