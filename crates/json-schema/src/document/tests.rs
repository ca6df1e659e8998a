//! Documents against serde_json and hand-made tables: values, positions, typed errors.

use super::*;
use crate::{SchemaError, SchemaErrorKind, SyntaxError};
use formwork_grammar::{Limits, Location};
use proptest::prelude::*;

fn parsed(text: &str) -> Document {
    parse(text.as_bytes(), &Limits::default()).expect("valid")
}

fn refused(text: impl AsRef<[u8]>) -> SchemaError {
    parse(text.as_ref(), &Limits::default()).expect_err("invalid")
}

/// Line, column, pointer and kind of the error of a text.
fn fault(text: impl AsRef<[u8]>) -> (usize, usize, String, SyntaxError) {
    let error = refused(text);
    let position = error.position.expect("in the text");
    let Location::Pointer(pointer) = error.location else { panic!("no pointer") };
    let SchemaErrorKind::Syntax(kind) = error.kind else { panic!("{:?}", error.kind) };
    (position.line, position.column, pointer, kind)
}

#[test]
fn keeps_order_text_and_places() {
    let long = "9".repeat(400);
    let document =
        parsed(&format!("{{\"b\":[1.50,{long}e-7],\n \"a~/\":\"\\u00e9\\ud83d\\ude00x\"}}"));
    let Value::Object(children) = document.value(ValueId::ROOT) else { panic!("an object") };
    let keys: Vec<_> =
        document.members(children).iter().map(|member| document.text(member.key)).collect();
    assert_eq!(keys, ["b", "a~/"]);
    let list = document.member(ValueId::ROOT, "b").expect("there");
    let Value::Array(children) = document.value(list) else { panic!("an array") };
    let numbers: Vec<_> = document.items(children).to_vec();
    let Value::Number(text) = document.value(numbers[1]) else { panic!("a number") };
    assert_eq!(document.text(text), format!("{long}e-7"));
    assert_eq!(document.pointer(numbers[0]), "/b/0");
    assert_eq!(document.pointer(numbers[1]), "/b/1");
    let text = document.member(ValueId::ROOT, "a~/").expect("there");
    let Value::String(decoded) = document.value(text) else { panic!("a string") };
    assert_eq!(document.text(decoded), "é😀x");
    assert_eq!(document.pointer(text), "/a~0~1");
    assert_eq!((document.position(text).line, document.position(text).column), (2, 8));
    assert_eq!(document.member(ValueId::ROOT, "c"), None);
    assert_eq!(document.pointer(ValueId::ROOT), "");
}

#[test]
fn errors_say_what_and_where() {
    use SyntaxError::*;
    let unexpected = |expected, found| Unexpected { expected, found };
    for (text, line, column, pointer, kind) in [
        ("", 1, 1, "", UnexpectedEnd),
        ("[1,\n 2", 2, 3, "/2", UnexpectedEnd),
        ("{\"a\":[{},{\"b\" 1}]}", 1, 15, "/a/1/b", unexpected("a colon", '1')),
        ("{\"a\":1,}", 1, 8, "/a", unexpected("a key", '}')),
        ("[1 2]", 1, 4, "/1", unexpected("a comma or a closing bracket", '2')),
        ("{\"a\":1]", 1, 7, "/a", unexpected("a comma or a closing brace", ']')),
        ("[é]", 1, 2, "/0", unexpected("a value", 'é')),
        ("\u{feff}{}", 1, 1, "", unexpected("a value", '\u{feff}')),
        ("{} x", 1, 4, "", TrailingText),
        ("tru", 1, 4, "", UnexpectedEnd),
        ("[nulL]", 1, 5, "/0", unexpected("null", 'L')),
        ("[01]", 1, 3, "/0", MalformedNumber),
        ("[1.]", 1, 4, "/0", MalformedNumber),
        ("[-]", 1, 3, "/0", MalformedNumber),
        ("[1e+]", 1, 5, "/0", MalformedNumber),
        ("[\"a\\x\"]", 1, 4, "/0", InvalidEscape),
        ("[\"\\u12g4\"]", 1, 3, "/0", InvalidEscape),
        ("[\"\\ud800\"]", 1, 3, "/0", LoneSurrogate),
        ("[\"\\udc00\\ud800\"]", 1, 3, "/0", LoneSurrogate),
        ("[\"\\ud800\\u0041\"]", 1, 3, "/0", LoneSurrogate),
        ("\"a\tb\"", 1, 3, "", ControlCharacter { character: '\t' }),
        ("\"\0\"", 1, 2, "", ControlCharacter { character: '\0' }),
        ("[1,\0]", 1, 4, "/1", unexpected("a value", '\0')),
        ("\"abc", 1, 5, "", UnexpectedEnd),
    ] {
        assert_eq!(fault(text), (line, column, pointer.to_owned(), kind), "{text:?}");
    }
    assert_eq!(fault(b"{\"k\":\"a\xffb\"}"), (1, 8, "/k".into(), InvalidUtf8));
    assert_eq!(fault(b"{}\xff"), (1, 3, "".into(), InvalidUtf8));
}

#[test]
fn duplicate_keys_are_found_however_they_are_written() {
    let kind = SyntaxError::DuplicateKey { key: "a/é".into() };
    let text = "{\"x\":{\"a/é\":1,\"b\":2,\n\"a/\\u00e9\":3}}";
    assert_eq!(fault(text), (2, 1, "/x/a~1é".into(), kind));
}

#[test]
fn limits_are_typed() {
    let mut limits = Limits::default();
    limits.nesting = 3;
    assert!(parse(b"[[[1]]]", &limits).is_ok());
    let deep = parse(b"[[[[1]]]]", &limits).expect_err("too deep");
    assert_eq!(deep.kind, SchemaErrorKind::Nesting { limit: 3 });
    assert_eq!(deep.location, Location::Pointer("/0/0/0".into()));
    limits.source_bytes = 4;
    let long = parse(b"[1,2]", &limits).expect_err("too long");
    assert_eq!(long.kind, SchemaErrorKind::SourceBytes { limit: 4 });
}

#[test]
fn any_depth_is_survived() {
    let mut limits = Limits::default();
    let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    assert!(parse(text.as_bytes(), &limits).is_err());
    limits.nesting = usize::MAX;
    let document = parse(text.as_bytes(), &limits).expect("deep, but well-formed");
    assert_eq!(document.len(), 1_000_000);
    assert_eq!(Walk::new(&document, ValueId::ROOT, Order::Written).count(), 2_999_999);
    let open = "{\"a\":".repeat(1_000_000);
    assert!(parse(open.as_bytes(), &limits).is_err());
}

#[test]
fn walks_in_either_order() {
    let document = parsed(r#"{"b":[],"a":{"c":1}}"#);
    let keys = |order| -> Vec<String> {
        let events = Walk::new(&document, ValueId::ROOT, order);
        events
            .filter_map(|event| match event {
                Event::Key(key) => Some(document.text(key).to_owned()),
                _ => None,
            })
            .collect()
    };
    assert_eq!(keys(Order::Written), ["b", "a", "c"]);
    assert_eq!(keys(Order::Sorted), ["a", "c", "b"]);
    let empty = Walk::new(&document, ValueId::ROOT, Order::Written)
        .filter(|event| matches!(event, Event::Close { empty: true, .. }));
    assert_eq!(empty.count(), 1);
}

/// The document as the reference parser would have it.
fn as_reference(document: &Document, id: ValueId) -> serde_json::Value {
    match document.value(id) {
        Value::Null => serde_json::Value::Null,
        Value::Boolean(truth) => truth.into(),
        Value::Number(text) => serde_json::from_str(document.text(text)).expect("a number"),
        Value::String(text) => document.text(text).into(),
        Value::Array(children) => {
            document.items(children).iter().map(|&item| as_reference(document, item)).collect()
        }
        Value::Object(children) => document
            .members(children)
            .iter()
            .map(|member| {
                (document.text(member.key).to_owned(), as_reference(document, member.value))
            })
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]
    #[test]
    fn agrees_with_the_reference_parser(
        text in "([\\[\\]{},:\" \\n01\\-.eEa]|null|true|false|\\\\|\\\\u00e9|\\\\ud83d|\\\\ude00|\"a\"|\"b\":|\\[|\\]|\\{|\\}){0,14}",
    ) {
        let reference: Result<serde_json::Value, _> = serde_json::from_str(&text);
        match (parse(text.as_bytes(), &Limits::default()), reference) {
            (Ok(document), Ok(value)) => {
                prop_assert_eq!(as_reference(&document, ValueId::ROOT), value);
            }
            (Err(_), Err(_)) => {}
            (Err(error), Ok(_)) => {
                let duplicate = matches!(
                    error.kind,
                    SchemaErrorKind::Syntax(SyntaxError::DuplicateKey { .. })
                );
                prop_assert!(duplicate, "{} {:?}", text, error);
            }
            // Floats end somewhere, numbers here do not.
            (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range")),
        }
    }
}
