//! The front end through its public face. What a grammar's language is, is decided by the
//! conformance crate's slow reading of the definitions.

mod dialects;
mod errors;
mod examples;
mod language;
mod limits;
mod macros;
mod round_trip;

use formwork_conformance::membership::Membership;
use formwork_ebnf::{Dialect, EbnfError, Options, compile};
use formwork_grammar::{Grammar, Limits};
use formwork_vocab::{TokenId, Vocabulary};
use std::sync::Arc;

fn grammar_in(dialect: Dialect, text: &str) -> Result<Grammar, EbnfError> {
    compile(text, &Options::default().with_dialect(dialect), &Limits::default())
}

fn grammar(text: &str) -> Grammar {
    grammar_in(Dialect::Shared, text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Whether the grammar generates the input.
fn generates(grammar: &Grammar, input: &str) -> bool {
    let vocabulary = Vocabulary::builder(2)
        .token(TokenId::new(0), if input.is_empty() { b"?" } else { input.as_bytes() })
        .token(TokenId::new(1), b"!")
        .build()
        .expect("two tokens");
    let membership = Membership::new(grammar, Arc::new(vocabulary), &Limits::default())
        .expect("the tokens named are there");
    let tokens = if input.is_empty() { vec![] } else { vec![TokenId::new(0)] };
    membership.contains(&tokens).expect("no operation on languages contains itself")
}

/// That the grammar generates these inputs, and not those.
fn check(grammar: &Grammar, accepted: &[&str], refused: &[&str]) {
    for input in accepted {
        assert!(generates(grammar, input), "{input:?} is refused");
    }
    for input in refused {
        assert!(!generates(grammar, input), "{input:?} is accepted");
    }
}
