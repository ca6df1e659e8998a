//! Graphs of small automata.

use super::*;
use formwork::{
    CancellationToken, Constraint, FrontEndOptions, Limits,
    grammar::regular::{self, BytesOnly},
    lower,
};

pub(in crate::inspect) fn dfa(pattern: &str) -> Dfa {
    let constraint = Constraint::Regex(pattern.into());
    let limits = Limits::default();
    let grammar = lower(&constraint, &FrontEndOptions::default(), &limits).unwrap();
    regular::dfa(&grammar, &BytesOnly, &limits, &CancellationToken::new()).unwrap()
}

#[test]
fn the_text_for_graphviz_is_this() {
    let expected = "\
digraph automaton {
  rankdir=LR;
  node [shape=circle];
  start [shape=point];
  q1;
  q2 [shape=doublecircle];
  q3;
  start -> q1;
  q1 -> q2 [label=\"\\\" A-F a-c\"];
  q2 -> q3 [label=\"'-'\"];
  q3 -> q2 [label=\"space 0-9 \\\\\\\\\"];
}
";
    let dot = Graph::new(&dfa(r#"["A-Fabc](-[0-9\\ ])*"#), 3).unwrap().dot();
    assert_eq!(dot, expected);
}

#[test]
fn what_is_too_large_is_refused_with_both_numbers() {
    let error = Graph::new(&dfa("[a-z]{50}"), 50).unwrap_err();
    assert_eq!(error, TooManyStates { states: 51, limit: 50 });
    assert!(error.to_string().contains("51") && error.to_string().contains("50"));
}

#[test]
fn labels_show_what_is_shorter_and_never_much() {
    let label = |bytes: &ByteSet| Label(*bytes).to_string();
    assert_eq!(label(&ByteSet::FULL), "any byte");
    assert_eq!(label(&ByteSet::single(b'"').complement()), "not \"");
    assert_eq!(label(&ByteSet::range(b'a'..=b'b')), "a b");
    assert_eq!(label(&ByteSet::range(0x80..=0xbf)), r"\x80-\xbf");
    assert_eq!(label(&ByteSet::single(b'\n')), r"\n");
    let every_other: ByteSet = (0..=255).filter(|byte| byte % 2 == 0).collect();
    assert!(label(&every_other).ends_with("and 116 more ranges"));
}
