//! What Lark grammars generate, and what is refused.
//!
//! Grammars here are regular, so that a word is looked up in the grammar's automaton.

mod errors;
mod hostile;
mod meaning;
mod oracle;
mod parameters;

use formwork_automata::{CancellationToken, Dfa};
use formwork_grammar::{
    Limits,
    regular::{self, BytesOnly},
};
use formwork_lark::{LarkErrorKind, Options, compile};

/// The automaton of a grammar that is regular and names no tokens.
pub(crate) fn automaton(text: &str, options: &Options) -> Dfa {
    let limits = Limits::default();
    let grammar = compile(text, options, &limits).unwrap_or_else(|error| panic!("{text}\n{error}"));
    regular::dfa(&grammar, &BytesOnly, &limits, &CancellationToken::new())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Which of the words a grammar generates, with default options.
pub(crate) fn check(text: &str, accepted: &[&str], refused: &[&str]) {
    check_with(text, &Options::default(), accepted, refused);
}

pub(crate) fn check_with(text: &str, options: &Options, accepted: &[&str], refused: &[&str]) {
    let dfa = automaton(text, options);
    for word in accepted {
        assert!(dfa.accepts(word.as_bytes()), "{text}\nshould generate {word:?}");
    }
    for word in refused {
        assert!(!dfa.accepts(word.as_bytes()), "{text}\nshould not generate {word:?}");
    }
}

/// Why a grammar is refused, and in which line and column.
pub(crate) fn refusal(text: &str) -> (LarkErrorKind, usize, usize) {
    let error = compile(text, &Options::default(), &Limits::default()).map(|_| ()).expect_err(text);
    (error.kind, error.position.line, error.position.column)
}
