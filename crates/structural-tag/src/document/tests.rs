//! The parser agrees with another one, and places know where they stand.

use super::*;
use formwork_grammar::Limits;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Document, StructuralTagError> {
    Document::parse(text, &Limits::default())
}

/// The same value in another library's form.
fn converted(document: &Document, id: ValueId) -> serde_json::Value {
    match document.value(id) {
        Value::Null => serde_json::Value::Null,
        Value::Boolean(value) => (*value).into(),
        Value::Number => serde_json::from_str(document.raw(id)).expect("a number"),
        Value::String => document.string(id).expect("a string").into_owned().into(),
        Value::Array(_) => {
            document.items(id).iter().map(|&item| converted(document, item)).collect()
        }
        Value::Object(_) => {
            let members = document.members(id).iter();
            let pairs = members.map(|member| {
                (document.key(member).into_owned(), converted(document, member.value))
            });
            serde_json::Value::Object(pairs.collect())
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\"a\"",
        "\"b\"",
        "\"\\u00e9\\n\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "1",
        "-0",
        "01",
        "1.5e3",
        "1.",
        "true",
        "nul",
        "null",
        "\"",
        "é",
        "\n",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..12)
        .prop_map(|list| list.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        "[a-c\"\\\\/~é\n]{0,4}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 14, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
            prop::collection::vec(("[a-f~/é\"]{0,3}", inner), 0..16)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn texts_are_json_where_another_parser_says_so(text in text()) {
        let (ours, theirs) = (parse(&text), serde_json::from_str::<serde_json::Value>(&text));
        match (&ours, &theirs) {
            (Err(error), Ok(_)) => prop_assert!(
                matches!(error.kind, StructuralTagErrorKind::DuplicateKey { .. }),
                "{error}"
            ),
            _ => prop_assert_eq!(ours.is_ok(), theirs.is_ok()),
        }
    }

    #[test]
    fn values_are_read_as_written_and_found_by_their_pointers(value in json()) {
        let text = value.to_string();
        let document = parse(&text).unwrap();
        prop_assert_eq!(&converted(&document, ValueId::ROOT), &value);
        for id in (0..document.entries.len()).map(|at| ValueId(at as u32)) {
            let pointed = value.pointer(&document.pointer(id)).unwrap();
            prop_assert_eq!(&converted(&document, id), pointed);
            prop_assert_eq!(document.raw(id), pointed.to_string());
        }
    }
}

#[test]
fn repeated_keys_are_found_in_small_and_large_objects() {
    for count in [2, 40] {
        let members: Vec<String> = (0..count).map(|at| format!("\"k{at}\":0")).collect();
        let text = format!("{{{},\"k\\u0031\":0}}", members.join(","));
        let error = parse(&text).unwrap_err();
        assert!(
            matches!(&error.kind, StructuralTagErrorKind::DuplicateKey { key } if key == "k1"),
            "{error}"
        );
    }
}

#[test]
fn deep_and_long_texts_meet_their_limits() {
    let deep = "[".repeat(1_000_000);
    let error = parse(&deep).unwrap_err();
    assert!(matches!(error.kind, StructuralTagErrorKind::Nesting { limit: 2000 }), "{error}");
    let mut limits = Limits::default();
    limits.source_bytes = 3;
    let error = Document::parse("null", &limits).unwrap_err();
    assert!(matches!(error.kind, StructuralTagErrorKind::SourceBytes { limit: 3 }), "{error}");
}
