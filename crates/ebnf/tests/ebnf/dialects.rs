//! What dialects read differently.

use crate::{check, grammar_in};
use formwork_ebnf::{Dialect, EbnfErrorKind};

fn kind(dialect: Dialect, text: &str) -> EbnfErrorKind {
    grammar_in(dialect, text).expect_err("it is refused").kind
}

#[test]
fn hexadecimal_escapes_are_of_two_digits_or_of_all() {
    let text = r#"root ::= "\x41B""#;
    check(&grammar_in(Dialect::Gbnf, text).expect("two digits"), &["AB"], &["\u{41b}"]);
    check(&grammar_in(Dialect::XGrammar, text).expect("three"), &["\u{41b}"], &["AB"]);
    assert_eq!(kind(Dialect::Shared, text), EbnfErrorKind::AmbiguousHex);
    assert_eq!(kind(Dialect::Gbnf, r#"root ::= "\x4""#), EbnfErrorKind::MalformedHex);
}

#[test]
fn a_dot_may_belong_to_a_name() {
    let text = "root ::= a.b\na ::= \"1\"\nb ::= \"2\"\na.b ::= \"3\"";
    check(&grammar_in(Dialect::XGrammar, text).expect("three rules"), &["3"], &["1x2"]);
    let text = "root ::= a.b .\na ::= \"1\"\nb ::= \"2\"";
    check(&grammar_in(Dialect::Gbnf, text).expect("two rules"), &["1x2y"], &["1x2", "3"]);
    assert_eq!(kind(Dialect::Shared, text), EbnfErrorKind::AmbiguousDot);
    check(&grammar_in(Dialect::XGrammar, "root ::= . \"b\"").expect("any"), &["ab"], &["b"]);
}

#[test]
fn lines_may_break_in_the_strings_of_gbnf() {
    let text = "root ::= \"a\nb\" [\n]";
    check(&grammar_in(Dialect::Gbnf, text).expect("a line break"), &["a\nb\n"], &["ab\n"]);
    assert_eq!(kind(Dialect::XGrammar, text), EbnfErrorKind::UnclosedString);
    assert_eq!(kind(Dialect::Shared, "root ::= [a\n]"), EbnfErrorKind::UnclosedClass);
}

#[test]
fn a_call_is_a_rule_where_there_is_one() {
    let text = "root ::= Token (\"1\") \nToken ::= \"t\"";
    check(&grammar_in(Dialect::Gbnf, text).expect("a rule"), &["t1"], &["1"]);
}

#[test]
fn names_may_begin_like_numbers_and_options() {
    let text = "root ::= -kv 1st\n-kv ::= \"a\"\n1st ::= \"b\"";
    check(&grammar_in(Dialect::Gbnf, text).expect("three rules"), &["ab"], &["a"]);
}
