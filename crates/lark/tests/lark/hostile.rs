//! Inputs that are large, deep or meaningless.

use crate::automaton;
use formwork_grammar::Limits;
use formwork_lark::{LarkErrorKind as Kind, Options, compile};
use proptest::prelude::*;

fn refused(text: &str) -> Kind {
    compile(text, &Options::default(), &Limits::default()).map(|_| ()).expect_err("refused").kind
}

#[test]
fn depth_is_limited_not_recursed() {
    let nested = |depth: usize| format!("start: {}\"a\"{}", "(".repeat(depth), ")".repeat(depth));
    assert!(matches!(refused(&nested(30_000)), Kind::Nesting { limit: 2_000 }));
    assert!(compile(&nested(1_999), &Options::default(), &Limits::default()).is_ok());
    let mut limits = Limits::default();
    limits.nesting = 50_000;
    assert!(compile(&nested(30_000), &Options::default(), &limits).is_ok());
    let complements = format!("start: A\nA: {}\"a\"", "~".repeat(30_001));
    assert!(!automaton(&complements, &Options::default()).accepts(b"a"));
    let conditions = format!("start: a::0\na::_: \"a\" %if {}true", "not(".repeat(30_000));
    assert!(matches!(refused(&conditions), Kind::Unclosed));
    let modules = format!("start: {}\"a\"{}", "%lark { start: ".repeat(20_000), "}".repeat(20_000));
    assert!(compile(&modules, &Options::default(), &Limits::default()).is_ok());
}

#[test]
fn a_megabyte_of_alternatives() {
    let choices: Vec<String> = (0..80_000).map(|number| format!("\"w{number}\"")).collect();
    let text = format!("start: {}", choices.join(" | "));
    assert!(compile(&text, &Options::default(), &Limits::default()).is_ok());
}

#[test]
fn recursion_of_every_kind() {
    let ring: String =
        (0..10).map(|n| format!("r{n}: r{} \"a\" | \"b\"\n", (n + 1) % 10)).collect();
    let dfa = automaton(&format!("start: r0\n{ring}"), &Options::default());
    assert!(dfa.accepts(b"baaaaaaaaaaaa") && dfa.accepts(b"b") && !dfa.accepts(b"ab"));
    assert!(automaton("start: a\na: b\nb: a", &Options::default()).is_empty());
    assert!(automaton("start: a | \"x\"\na: \"y\" a", &Options::default()).accepts(b"x"));
}

#[test]
fn terminals_that_double_are_not_written_out() {
    let chain: String = (0..40).map(|n| format!("T{n}: T{0} T{0}\n", n + 1)).collect();
    let text = format!("start: T0\n{chain}T40: \"a\"");
    assert!(compile(&text, &Options::default(), &Limits::default()).is_ok());
    let text = format!("start: s\ns[lazy]: T0\n{chain}T40: \"a\"");
    assert!(matches!(refused(&text), Kind::Exhausted(_)));
}

#[test]
fn limits_have_names() {
    let mut limits = Limits::default();
    limits.source_bytes = 10;
    let error = compile("start: \"abcdef\"", &Options::default(), &limits).unwrap_err();
    assert!(matches!(error.kind, Kind::SourceBytes { limit: 10 }));
    let mut limits = Limits::default();
    limits.rules = 2;
    let error =
        compile("start: a b\na: \"a\"\nb: \"b\"", &Options::default(), &limits).unwrap_err();
    assert!(matches!(error.kind, Kind::Rules { limit: 2 }));
}

/// Pieces that mean something, put together without sense.
fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "start",
        "start:",
        "a",
        "A",
        "\n",
        ":",
        "::",
        "_",
        "|",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "*",
        "+",
        "?",
        "~",
        "&",
        "->",
        "..",
        ",",
        "=",
        "1",
        "0x",
        "2..3",
        "\"a\"",
        "\"b\"i",
        "/a*/",
        "/(/",
        "/[/i",
        "<[1]>",
        "<a>",
        "%json",
        "{}",
        "%lark",
        "%regex",
        "{\"substring_chars\":\"ab\"}",
        "%ignore",
        "%import",
        "common.INT",
        "%if",
        "incr",
        "lazy",
        "stop",
        "capture",
        "@x",
        " ",
        "é",
        "//",
        "#",
        "\"",
        "/",
        "\\",
        "%",
        "a: \"a\"\n",
        "A: /b/\n",
        "start: a A\n",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn arbitrary_text_is_compiled_or_refused(text in prop_oneof![soup(), "\\PC*", any::<String>()]) {
        if let Err(error) = compile(&text, &Options::default(), &Limits::default()) {
            prop_assert!(error.position.offset <= text.len());
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
