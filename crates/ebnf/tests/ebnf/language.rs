//! What texts generate.

use crate::{check, grammar, grammar_in};
use formwork_ebnf::{Dialect, EbnfErrorKind, Leniency, Options, compile};
use formwork_grammar::Limits;

#[test]
fn rules_end_where_the_next_begins() {
    let text = "# a comment\nroot ::= \"a\" # another\n  \"b\" |\n\n  item # [x] ::= \n item\n\nitem ::=\n [x-z]";
    check(&grammar(text), &["ab", "xz"], &["a", "x", "abx"]);
}

#[test]
fn quantifiers_bind_to_what_is_before_them() {
    let text = "root ::= \"ab\"* [c]+ (\"d\" | \"e\" \"f\")? item { 2 , 3 } item{0} item{1,}\nitem ::= \"x\"";
    check(&grammar(text), &["ababcxxx", "cefxxxxxxx", "ccdxxx"], &["abacxxx", "cxx", "cdefxxx"]);
}

#[test]
fn an_alternative_may_be_empty() {
    let text = "root ::= | \"a\" (|\"b\"|) () \"\" \"c\" |";
    check(&grammar(text), &["", "ac", "abc"], &["a", "b", "c"]);
}

#[test]
fn groups_nest_in_every_combination() {
    let text = "root ::= ((\"a\" | (\"b\" | (\"c\")))) (((\"d\") \"e\")) ((\"f\" | \"g\") | (\"h\" \"i\"))* ((\"j\" | \"k\") \"l\" | \"m\")";
    check(
        &grammar(text),
        &["adem", "bdefghijl", "cdekl"],
        &["dem", "abdem", "adehm", "adej", "adejlm"],
    );
}

#[test]
fn classes_are_of_characters() {
    let text = "root ::= [^\\\"\\x00-\\x1F\\]] [a\\-z] [-+] [+-] [\\u00e9-\\u00ff]? .";
    check(
        &grammar(text),
        &["xa-+x", "\u{1f600}z+-\n", "xa--\u{e9}\u{3042}"],
        &["\"a-+x", "]a-+x", "xb-+x", "\na-+x", "xa-+"],
    );
}

#[test]
fn escapes_are_characters() {
    let text = r#"root ::= "\t\n\r\\\"\[\]\x41\u00e9\U0001F600\/\'\-""#;
    check(&grammar(text), &["\t\n\r\\\"[]A\u{e9}\u{1f600}/'-"], &["tnr"]);
}

#[test]
fn recursion_of_any_kind_is_read() {
    let text = "root ::= sum\nsum ::= sum \"+\" product | product\nproduct ::= product \"*\" unit | unit\nunit ::= \"(\" sum \")\" | \"1\" | \"-\" unit";
    check(&grammar(text), &["1", "1+1*1", "(1+1)*-1"], &["", "1+", "(1", "+1"]);
    let long: String =
        (0..10).map(|n| format!("r{n} ::= r{} \"x\" | \"{n}\"\n", (n + 1) % 10)).collect();
    check(
        &grammar(&format!("root ::= r0\n{long}")),
        &["0", "1x", "0xxxxxxxxxx"],
        &["1", "x", "0x"],
    );
}

#[test]
fn rules_without_a_base_case_are_left_out_and_named() {
    let grammar = grammar("root ::= \"a\" | b\nb ::= b \"x\" | c\nc ::= \"y\" b\nspare ::= \"z\"");
    check(&grammar, &["a"], &["x", "y", ""]);
    let lines: Vec<String> =
        grammar.warnings().iter().map(|warning| warning.location.to_string()).collect();
    assert_eq!(lines, ["line 2, column 1", "line 3, column 1", "line 4, column 1"]);
}

#[test]
fn the_root_is_chosen() {
    let options = Options::default().with_root_rule("b");
    let grammar = compile("a ::= \"x\"\nb ::= a a", &options, &Limits::default()).expect("fine");
    check(&grammar, &["xx"], &["x"]);
}

#[test]
fn attributes_restrict_their_rules() {
    let shortest = grammar("root ::= \"<\" r \">\"\nr[lazy] ::= [a-z]+ [0-9]? | \"==\"");
    check(&shortest, &["<a>", "<==>"], &["<ab>", "<a1>", "<>"]);
    let short =
        grammar("root ::= w \".\"\nw [ max_chars = 2 , capture=\"\\\"]\" ] ::= [a-z\\u00e9]*");
    check(&short, &[".", "a\u{e9}."], &["abc."]);
}

#[test]
fn an_assertion_is_about_what_follows() {
    let text =
        "root ::= a | a \"x\" | a \"y\" | a \"xz\"\na ::= \"a\" | \"b\" (= \"x\" [yz] | \"w\")";
    let grammar = grammar(text);
    check(&grammar, &["a", "bx", "axz", "b"], &["ay", "by"]);
    assert!(grammar.warnings().is_empty());
}

#[test]
fn an_assertion_that_is_not_regular_is_refused_or_believed_where_asked() {
    let text = "root ::= a nest \"x\"\na ::= \"a\" (= \"(\" nest | \"x\")\nnest ::= \"(\" nest \")\" | \"\"";
    let error = grammar_in(Dialect::Shared, text).expect_err("refused");
    let construct = "a look-ahead assertion";
    assert!(matches!(error.kind, EbnfErrorKind::NotRegular { construct: c, .. } if c == construct));
    assert_eq!((error.position.line, error.position.column), (2, 11));
    let relaxed = Options::default().with_leniency(Leniency::Relax);
    let grammar = compile(text, &relaxed, &Limits::default()).expect("relaxed");
    check(&grammar, &["ax", "a(())x"], &["a("]);
    assert_eq!(grammar.warnings().len(), 1);
}

#[test]
fn the_case_of_ascii_letters_alone_is_ignored() {
    let grammar = grammar("root ::= Regex(\"k\\u03a3[^\\u00e4b]\", flags=\"i\")");
    check(
        &grammar,
        &["k\u{3a3}x", "K\u{3a3}\u{c4}"],
        &["k\u{3c3}x", "\u{212a}\u{3a3}x", "k\u{3a3}B"],
    );
}
