//! Schemas that are large, deep or malicious.

use super::*;
use crate::SyntaxError;
use formwork_automata::Exhausted;
use formwork_grammar::{GrammarError, Location, Node};
use std::fmt::Write;

#[test]
fn deep_nesting_is_refused() {
    let deep = r#"{"items":"#.repeat(10_000) + "true" + &"}".repeat(10_000);
    assert_eq!(refusal(&deep).kind, SchemaErrorKind::Nesting { limit: 2_000 });
    let open = "[".repeat(100_000);
    assert_eq!(refusal(&open).kind, SchemaErrorKind::Nesting { limit: 2_000 });
}

#[test]
fn as_deep_as_allowed_is_lowered() {
    let schema = r#"{"type":"array","minItems":1,"items":"#.repeat(1_900)
        + "{\"const\":1}"
        + &"}".repeat(1_900);
    let grammar = grammar(&schema);
    assert_eq!(grammar.lower_all(&Limits::default()).expect("within limits").len(), 1_901);
    let deep = r#"{"anyOf":["#.repeat(900) + "{\"const\":1}" + &"]}".repeat(900);
    check(&deep, &["1"], &["2"]);
}

#[test]
fn a_listed_value_may_be_deep() {
    let value = "[".repeat(1_500) + &"]".repeat(1_500);
    let grammar = grammar(&format!(r#"{{"const":{value},"type":"array"}}"#));
    let body = grammar.body(grammar.root()).expect("lowered");
    assert!(body.nodes().len() < 5_000);
    // Deep and long: not one copy for each level.
    let value = format!("{}{}1{}", "[".repeat(1_500), "1,".repeat(100_000), "]".repeat(1_500));
    let schema = format!(r#"{{"const":{value}}}"#);
    let grammar = compile(&schema, &Options::default(), &Limits::default()).expect("satisfiable");
    let body = grammar.body(grammar.root()).expect("lowered");
    let parts: usize = body
        .nodes()
        .iter()
        .map(|node| match node {
            Node::Seq(parts) => parts.len(),
            _ => 1,
        })
        .sum();
    assert!(parts < 1_000_000, "{parts}");
}

#[test]
fn refused_by_name_and_place() {
    let error =
        refusal("{\n \"required\": [\"a\"], \"properties\": {\"a\": {\"minLength\": \"\"}}}");
    assert_eq!(error.location, Location::Pointer("/properties/a/minLength".into()));
    assert_eq!(
        error.to_string(),
        "/properties/a/minLength (line 2, column 55): `minLength` must be an integer that is not negative"
    );
    let kind = SchemaErrorKind::Syntax(SyntaxError::InvalidUtf8);
    assert_eq!(compile(b"\xff", &compact(), &Limits::default()).expect_err("refused").kind, kind);
}

#[test]
fn five_thousand_properties() {
    for required in ["", r#","required":["property2500"]"#] {
        let mut schema = String::from(r#"{"type":"object","properties":{"#);
        for index in 0..5_000 {
            write!(schema, r#""property{index}":{{"type":"string","maxLength":{index}}},"#)
                .unwrap();
        }
        write!(schema, r#""last":{{"type":"null"}}}}{required}}}"#).unwrap();
        let grammar = grammar(&schema);
        let body = grammar.body(grammar.root()).expect("lowered");
        assert!(body.nodes().len() < 60_000, "{}", body.nodes().len());
        assert!(accepts(
            &grammar,
            br#"{"property7":"seven","property2500":"","last":null,"property5000":[1]}"#
        ));
        assert!(!accepts(&grammar, br#"{"property2500":"","property2500":""}"#));
    }
}

#[test]
fn a_hundred_thousand_listed_strings() {
    let words: Vec<String> =
        (0..100_000).map(|index| format!("\"value-{:06}\"", index * 7)).collect();
    let grammar = grammar(&format!(r#"{{"type":"string","enum":[{}]}}"#, words.join(",")));
    assert!(accepts(&grammar, b"\"value-000007\"") && !accepts(&grammar, b"\"value-000008\""));
    assert_eq!(grammar.body(grammar.root()).expect("lowered").nodes().len(), 1);
}

#[test]
fn alternatives_that_multiply_are_one_language() {
    let mut schema = String::from(r##"{"$ref":"#/$defs/0","$defs":{"##);
    for index in 0..30 {
        let rest = if index < 29 {
            format!(r##""$ref":"#/$defs/{}","##, index + 1)
        } else {
            String::new()
        };
        write!(
            schema,
            r#""{index}":{{{rest}"anyOf":[{{"minLength":{}}},{{"maxLength":{index}}}]}},"#,
            100 + index
        )
        .unwrap();
    }
    schema.push_str("\"x\":true}}");
    let text = |length: usize| format!("\"{}\"", "a".repeat(length));
    check(&schema, &["null", &text(0), &text(129)], &[&text(1), &text(99), &text(128)]);
}

#[test]
fn numbers_that_are_too_long_to_write() {
    for schema in [r#"{"type":"integer","minimum":1e1000000000}"#, r#"{"const":1e1000000000}"#] {
        let error = refusal(schema);
        let exhausted = matches!(error.kind, SchemaErrorKind::Exhausted(Exhausted::States { .. }));
        assert!(exhausted, "{error}");
    }
    assert_eq!(
        refusal(r#"{"const":1e99999999999999999999}"#).kind,
        SchemaErrorKind::ExponentTooLarge
    );
}

#[test]
fn rules_and_nodes_are_limited() {
    let mut schema = String::from(r#"{"type":"object","properties":{"#);
    for index in 0..100 {
        write!(schema, r#""{index}":{{"type":"string","maxLength":{index}}},"#).unwrap();
    }
    schema.push_str("\"x\":true}}");
    let kind = |limits: &Limits| {
        let grammar = compile(&schema, &compact(), limits).expect("satisfiable");
        let error = grammar.body(grammar.root()).expect_err("refused");
        error.source.downcast_ref::<SchemaErrorKind>().expect("from here").clone()
    };
    let mut limits = Limits::default();
    limits.rules = 50;
    assert_eq!(kind(&limits), SchemaErrorKind::Rules { limit: 50 });
    let mut limits = Limits::default();
    limits.nodes = 150;
    assert_eq!(kind(&limits), SchemaErrorKind::Nodes { limit: 150 });
}

#[test]
fn long_tuples_are_linear() {
    let items = vec!["{\"const\":1}"; 5_000].join(",");
    for least in [0, 2_500, 5_000] {
        let schema = format!(r#"{{"type":"array","prefixItems":[{items}],"minItems":{least}}}"#);
        let grammar = grammar(&schema);
        let body = grammar.body(grammar.root()).expect("lowered");
        assert!(body.nodes().len() < 25_000);
    }
}

#[test]
fn a_wide_choice_of_objects_is_lowered() {
    let branches: Vec<String> = (0..1_000)
        .map(|index| {
            format!(r#"{{"type":"object","properties":{{"kind":{{"const":"k{index}"}}}},"required":["kind"],"additionalProperties":false}}"#)
        })
        .collect();
    let schema = format!(r#"{{"anyOf":[{}]}}"#, branches.join(","));
    check(&schema, &[r#"{"kind":"k999"}"#], &[r#"{"kind":"k1000"}"#, "{}"]);
    let grammar = grammar(&schema);
    match grammar.lower_all(&Limits::default()) {
        Ok(rules) => assert_eq!(rules.len(), 1_001),
        Err(GrammarError::Lower(error)) => panic!("{error}"),
        Err(error) => panic!("{error}"),
    }
}
