//! Front end: Lark grammars to the grammar representation, in the dialect of llguidance.
//!
//! # Idea
//! A text becomes tokens (`token`), tokens become definitions in one arena (`parse`), names are
//! resolved (`resolve`), terminals become bodies and automata (`lexeme`), and each rule becomes a
//! rule of the grammar for every way in which it is used (`lower`).
//!
//! # Meaning
//! - Rules (small letters) generate what context-free rules do; terminals (capital letters) are
//!   regular, and may be intersected (`&`) and complemented (`~`, over all byte strings). There is no
//!   lexer: a terminal may end wherever its language allows. [`Lexer::Greedy`] demands the longest.
//! - A rule with `lazy`, `stop` or `suffix` is like a terminal: its text, with the text that ends
//!   it, begins with no other text of it. And where it could begin, what begins with a text of it
//!   is that text and nothing else that could begin there. Which rules these are is read off the
//!   grammar rule by rule (`flow`), not off the output so far.
//! - `stop=""` asks for nothing: the rule's text ends where what follows begins.
//! - Ignored text stands between two terminals, strings or embedded grammars of the module that
//!   ignores it; [`Ignored`] also allows it behind the last, `allow_initial_skip` before the first.
//! - `@name`, `%lark` and `%json` are grammars with names and ignored text of their own.
//! - Flags `i m s u x` of expressions are read as Rust's `regex` does, `i` of strings likewise, but
//!   that [`Folding::Ascii`] leaves letters beyond ASCII as they are; anchors at line breaks are refused.
//! - `max_tokens` and `temperature` go with any rule, `max_chars` with rules that are regular;
//!   `max_tokens=0` is the empty text. Priorities, aliases, `?` and `!` change no language.
//! - Parameters are 64 bits; `incr` and `decr` stop at the ends of their field. Rules with more
//!   than a few values are lowered as an output gets to them.
//!
//! # What is refused
//! Templates, `%declare`, `%override`, `%extend`, imports from elsewhere than `common`, look-around
//! in expressions and groups named `stop`: each by name and place. See [`LarkErrorKind`].
//!
//! # Reading order
//! `options`, `error`, `fault`, `token`, `ast`, `parameter`, `parse`, `common`, `guidance`,
//! `substring`, `resolve`, `pattern`, `words`, `rules`, `lexeme`, `flow`, `lower`, `late`, `expand`.

mod ast;
mod common;
mod error;
mod expand;
mod fault;
mod flow;
mod guidance;
mod late;
mod lexeme;
mod lower;
mod options;
mod parameter;
mod parse;
mod pattern;
mod resolve;
mod rules;
mod substring;
mod token;
mod words;

pub use error::{LarkError, LarkErrorKind};
pub use formwork_regex::Folding;
pub use options::{Ending, Ignored, Lexer, Options, SubGrammar};

use ast::Ast;
use fault::{Fault, Sources};
use formwork_automata::CancellationToken;
use formwork_grammar::{Grammar, Limits};

/// The grammar of a Lark text, whose rule `start` stands for the whole.
///
/// ```
/// use formwork_grammar::Limits;
/// use formwork_lark::{LarkErrorKind, Options, compile};
/// let limits = Limits::default();
/// let text = "start: NAME \"=\" value\nvalue: NUMBER | \"(\" value \")\"\n\
///             NAME: /[a-z]+/\n%import common.NUMBER";
/// assert!(compile(text, &Options::default(), &limits).is_ok());
/// let error = compile("start: x", &Options::default(), &limits).unwrap_err();
/// assert!(matches!(error.kind, LarkErrorKind::Undefined { .. }));
/// assert_eq!(error.position.column, 8);
/// ```
///
/// Cost: linear in the text, and in the automata of those terminals that need one: where one is
/// intersected or complemented, and where one competes with a lazy rule. A text that nothing
/// satisfies is a grammar that nothing satisfies.
///
/// # Errors
/// [`LarkError`]: the text is malformed, uses what is not supported, or hits a limit. Where rules
/// are lowered late, what is wrong there is a [`LowerError`](formwork_grammar::LowerError) with a
/// [`LarkErrorKind`].
pub fn compile(text: &str, options: &Options, limits: &Limits) -> Result<Grammar, LarkError> {
    let mut sources = Sources { texts: vec![(None, text.into())] };
    compile_in(text, &mut sources, options, limits).map_err(|fault| sources.error(fault))
}

fn compile_in(
    text: &str,
    sources: &mut Sources,
    options: &Options,
    limits: &Limits,
) -> Result<Grammar, Fault> {
    let mut ast = Ast::default();
    parse::parse(text, 0, &mut ast, &options.json, limits)?;
    resolve::resolve(&mut ast, sources, options, limits)?;
    let fuel = limits.fuel(&CancellationToken::new());
    let lowering = lower::Lowering::new(ast, options, limits, fuel)?;
    expand::grammar(lowering, sources)
}
