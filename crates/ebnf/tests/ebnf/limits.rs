//! Large and hostile texts.

use crate::check;
use formwork_ebnf::{EbnfErrorKind as Kind, Options, compile};
use formwork_grammar::{Grammar, Limits};

fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

fn compiled(text: &str, limits: &Limits) -> Result<Grammar, Kind> {
    compile(text, &Options::default(), limits).map_err(|error| error.kind)
}

const DEEP: usize = 30_000;

#[test]
fn nesting_is_limited_by_the_limit_alone() {
    let deep = limits(|limits| limits.nesting = DEEP);
    let nested = [
        ("(", "\"a\"", ")"),
        ("(\"b\" | ", "\"a\"", ")"),
        ("(", "\"a\"", " | \"b\")"),
        ("(\"b\" ", "\"a\"", " | \"c\")"),
        ("(\"b\" ", "\"a\"", ")"),
        ("(", "\"a\"", " \"b\")"),
        ("(", "\"a\"", ")?"),
        ("(", "\"a\"", " \"b\")*"),
    ];
    for (open, inside, close) in nested {
        let text = format!("root ::= {}{inside}{}", open.repeat(DEEP), close.repeat(DEEP));
        let grammar = compiled(&text, &deep).unwrap_or_else(|kind| panic!("{open}: {kind}"));
        let nodes = grammar.body(grammar.root()).expect("lowered").nodes().len();
        assert!(nodes < 4 * DEEP, "{open}: {nodes}");
        let refused = compiled(&text, &Limits::default()).err();
        assert_eq!(refused, Some(Kind::Nesting { limit: Limits::default().nesting }), "{open}");
    }
}

#[test]
fn a_megabyte_of_alternatives_is_read() {
    let words: Vec<String> = (0..100_000).map(|n| format!("\"{n:06}\"")).collect();
    let grammar = compiled(&format!("root ::= {}", words.join(" | ")), &Limits::default());
    assert!(grammar.is_ok());
}

#[test]
fn many_rules_on_one_line_and_many_lines_are_read() {
    let chain: String = (0..20_000).map(|n| format!("r{n} ::= \"x\" r{}\n", n + 1)).collect();
    let text = format!("root ::= r0\n{chain}r20000 ::= \"\"");
    assert!(compiled(&text, &Limits::default()).is_ok());
    let text = format!("root ::= \"a\" {}\nb ::= \"b\"", "b[\"]".repeat(50_000));
    assert!(compiled(&text, &Limits::default()).is_ok());
}

#[test]
fn limits_are_named() {
    let text = "root ::= \"a\" | b [x] | [y] \"zz\" \nb ::= \"c\"";
    let source = limits(|limits| limits.source_bytes = 10);
    assert_eq!(compiled(text, &source).err(), Some(Kind::SourceBytes { limit: 10 }));
    let rules = limits(|limits| limits.rules = 1);
    assert_eq!(compiled(text, &rules).err(), Some(Kind::Rules { limit: 1 }));
    let nodes = limits(|limits| limits.nodes = 4);
    assert_eq!(compiled(text, &nodes).err(), Some(Kind::Nodes { limit: 4 }));
    let states = limits(|limits| limits.automaton_states = 20);
    let kind =
        compiled("root ::= TagDispatch(excludes=(\"a very long word to exclude\"))", &states);
    assert!(matches!(kind.err(), Some(Kind::Exhausted(_))));
}

#[test]
fn unrolled_attributes_are_paid_for() {
    let few = limits(|limits| limits.automaton_states = 1_000);
    let text = "root[lazy] ::= ([ab]{9} [ab]{9}){99} \"a\"";
    assert!(matches!(compiled(text, &few).err(), Some(Kind::Exhausted(_))));
}

#[test]
fn a_deep_text_means_what_a_flat_one_does() {
    let text = format!("root ::= {}\"a\"{}", "(\"b\" | (".repeat(500), "))".repeat(500));
    check(
        &compiled(&text, &Limits::default()).expect("within the limit"),
        &["a", "b"],
        &["", "ab"],
    );
}
