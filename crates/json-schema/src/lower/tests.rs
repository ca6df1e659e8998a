//! What the grammars of schemas accept.

mod hostile;
mod laws;
mod recogniser;
mod tables;

use crate::{Options, SchemaError, SchemaErrorKind, WhiteSpace, compile};
use formwork_grammar::{Grammar, Limits};
use recogniser::accepts;

fn compact() -> Options {
    Options::default().with_white_space(WhiteSpace::Compact)
}

fn grammar(schema: &str) -> Grammar {
    compile(schema, &compact(), &Limits::default()).expect("satisfiable")
}

fn refusal(schema: &str) -> SchemaError {
    compile(schema, &compact(), &Limits::default()).expect_err("refused")
}

/// Checks which texts a schema accepts.
fn check(schema: &str, accepted: &[&str], refused: &[&str]) {
    let grammar = grammar(schema);
    for text in accepted {
        assert!(accepts(&grammar, text.as_bytes()), "{schema} should accept {text}");
    }
    for text in refused {
        assert!(!accepts(&grammar, text.as_bytes()), "{schema} should refuse {text}");
    }
}

fn is_unsatisfiable(schema: &str) -> bool {
    matches!(
        compile(schema, &compact(), &Limits::default()),
        Err(SchemaError { kind: SchemaErrorKind::Unsatisfiable, .. })
    )
}
