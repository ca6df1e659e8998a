//! What is refused, and where.

use crate::grammar_in;
use formwork_ebnf::{Dialect, EbnfErrorKind as Kind};
use proptest::prelude::*;

/// The error's kind, and its place in the text.
fn error(text: &str) -> (Kind, (usize, usize)) {
    let error = grammar_in(Dialect::Shared, text).expect_err(text);
    (error.kind, (error.position.line, error.position.column))
}

#[test]
fn what_is_unclosed_is_shown_where_it_opens() {
    assert_eq!(error("root ::= \"a"), (Kind::UnclosedString, (1, 10)));
    assert_eq!(error("root ::= [a"), (Kind::UnclosedClass, (1, 10)));
    assert_eq!(error("root ::= (\"a\"\nb ::= \"b\""), (Kind::UnclosedGroup, (1, 10)));
    assert_eq!(error("root ::= \"a\" (= (\"b\""), (Kind::UnclosedGroup, (1, 17)));
    assert_eq!(error("root ::= \"a\")"), (Kind::UnopenedGroup, (1, 13)));
    assert_eq!(error("root ::= /a"), (Kind::UnclosedRegex, (1, 10)));
}

#[test]
fn what_was_expected_is_said() {
    let (kind, place) = error("root ::= \"a\" %");
    let expected = "a string, a class, a rule, a group or a token";
    assert_eq!(kind, Kind::Expected { expected, found: Some('%') });
    assert_eq!(place, (1, 14));
    let shown = grammar_in(Dialect::Shared, "root = \"a\"").expect_err("no rule").to_string();
    assert_eq!(shown, "line 1, column 6: expected `::=`, found '='");
    let shown = grammar_in(Dialect::Shared, "root").expect_err("no rule").to_string();
    assert_eq!(shown, "line 1, column 5: expected `::=`, found the end");
}

#[test]
fn rules_are_defined_once_and_somewhere() {
    let name = || "a".into();
    assert_eq!(error("root ::= a"), (Kind::Undefined { name: name() }, (1, 10)));
    assert_eq!(
        error("root ::= a\na ::= \"\"\na ::= \"\""),
        (Kind::DefinedTwice { name: name() }, (3, 1))
    );
    assert_eq!(error("a ::= \"\""), (Kind::NoRoot { name: "root".into() }, (1, 1)));
    assert_eq!(error(""), (Kind::NoRoot { name: "root".into() }, (1, 1)));
    assert_eq!(error("root ::= \"\" a ::= \"\""), (Kind::RuleInsideLine, (1, 15)));
}

#[test]
fn what_nothing_satisfies_is_an_error() {
    for text in [
        "root ::= root",
        "root ::= \"a\" root | b\nb ::= root b",
        "root ::= /[]/",
        "root ::= a\na[max_chars=2] ::= \"abc\"",
        "root ::= \"a\" (= x)\nx ::= /[]/",
    ] {
        assert_eq!(error(text), (Kind::Unsatisfiable, (1, 1)), "{text}");
    }
}

#[test]
fn quantifiers_are_checked() {
    assert_eq!(error("root ::= *"), (Kind::DanglingQuantifier, (1, 10)));
    assert_eq!(error("root ::= \"a\" | {2}"), (Kind::DanglingQuantifier, (1, 16)));
    assert_eq!(
        error("root ::= \"a\"{3,2}"),
        (Kind::ReversedQuantifier { min: 3, max: 2 }, (1, 13))
    );
    assert_eq!(error("root ::= \"a\"{9999999999}"), (Kind::NumberTooLarge, (1, 14)));
    assert_eq!(error("root ::= \"a\"{,2}").1, (1, 14));
}

#[test]
fn classes_and_escapes_are_checked() {
    assert_eq!(error("root ::= []"), (Kind::EmptyClass, (1, 10)));
    assert_eq!(error("root ::= [z-a]"), (Kind::ReversedRange { start: 'z', end: 'a' }, (1, 11)));
    assert_eq!(error(r"root ::= [\d]"), (Kind::UnknownEscape { character: 'd' }, (1, 11)));
    assert_eq!(error(r#"root ::= "\u12""#), (Kind::MalformedHex, (1, 11)));
    assert_eq!(error(r#"root ::= "\uD800""#), (Kind::NotACharacter, (1, 11)));
    assert_eq!(error(r#"root ::= "\UFFFFFFFF""#), (Kind::NotACharacter, (1, 11)));
}

#[test]
fn attributes_are_checked() {
    for text in ["-0.1", "1e999", "abc", "inf", "nan"] {
        let text = format!("root[temperature={text}] ::= \"a\"");
        assert_eq!(error(&text), (Kind::Temperature, (1, 18)));
    }
    let unknown = Kind::UnknownAttribute { name: "color".into() };
    assert_eq!(error("root[color=1] ::= \"a\""), (unknown, (1, 6)));
    let twice = Kind::GivenTwice { name: "lazy".into() };
    assert_eq!(error("root[lazy, lazy] ::= \"a\""), (twice, (1, 12)));
    for text in ["\"(\" root \")\" | \"\"", "Token(1)", "root \"a\" | \"b\""] {
        let (kind, place) = error(&format!("root[lazy] ::= {text}"));
        assert!(matches!(kind, Kind::NotRegular { construct: "`lazy`", .. }), "{text}: {kind}");
        assert_eq!(place, (1, 5));
    }
}

#[test]
fn arguments_are_checked() {
    let argument = |expected| Kind::Argument { expected };
    assert_eq!(error("root ::= Token(-1)").0, argument("a token's id or name"));
    assert_eq!(error("root ::= Token()"), (argument("a token's id or name"), (1, 10)));
    assert_eq!(error("root ::= Regex(1)"), (argument("a string"), (1, 16)));
    assert_eq!(error("root ::= Regex(\"a\", \"b\")"), (argument("one value"), (1, 10)));
    let unknown = Kind::UnknownArgument { name: "x".into() };
    assert_eq!(error("root ::= Regex(\"a\", x=1)"), (unknown, (1, 23)));
    assert_eq!(error("root ::= Regex(\"a\", flags=\"m\")").0, Kind::UnknownFlag { flag: 'm' });
    assert!(matches!(error("root ::= Regex(\"(\")").0, Kind::Regex(_)));
    assert_eq!(
        error("root ::= TagDispatch((\"\", root))").0,
        argument("a string that is not empty")
    );
    let (kind, place) = error("root ::= Not(r)\nr ::= \"(\" r \")\" | \"\"");
    assert!(matches!(kind, Kind::NotRegular { construct: "Not", .. }), "{kind}");
    assert_eq!(place, (1, 14));
    assert_eq!(error("root ::= (\"a\" (= \"b\"))").0, Kind::AssertionInside);
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "root",
        "::=",
        "\n",
        " ",
        "(",
        ")",
        "(=",
        "|",
        "*",
        "{2,3}",
        "[a-z]",
        "[",
        "]",
        "\"",
        "\\",
        "\"x\"",
        "TagDispatch(",
        "Regex(",
        "Token(1)",
        "excludes=",
        "true",
        ",",
        "=",
        "[lazy] ::=",
        "<[1]>",
        "/",
        "!",
        ".",
        "#",
        "\u{e9}",
        "a",
        "b",
        "\na ::=",
        "\nb ::=",
        "Substring(",
        "And(a)",
        "Not(b)",
        "\\x41",
    ];
    prop_oneof![9 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(pieces in prop::collection::vec(piece(), 0..40), rooted: bool) {
        let mut text = if rooted { "root ::= ".to_owned() } else { String::new() };
        text.extend(pieces);
        for dialect in [Dialect::Shared, Dialect::Gbnf, Dialect::XGrammar] {
            if let Err(error) = grammar_in(dialect, &text) {
                prop_assert!(error.position.offset <= text.len());
                prop_assert!(text.is_char_boundary(error.position.offset));
            }
        }
    }
}
