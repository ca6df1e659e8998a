//! Laws of spelling: the value stays, the spelling is what was asked for, twice is once.

use super::*;
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::Value;

/// JSON texts with white space, escapes and numbers as nobody would write them.
fn texts() -> impl Strategy<Value = String> {
    let space = || select(vec!["", " ", "\n\t", "\r\n  "]);
    let part = select(vec![
        "a",
        "é",
        "日",
        "😀",
        r"\u00e9",
        r"\ud83d\ude00",
        r"\n",
        r#"\""#,
        r"\\",
        "{",
        ",",
        "]",
    ]);
    let string = vec(part, 0..5).prop_map(|parts| format!("\"{}\"", parts.concat()));
    let scalar = select(vec!["null", "true", "1", "-0", "1.0", "1e2", "0.10", "1E+5", "[]", "{ }"]);
    let leaf = prop_oneof![scalar.prop_map(str::to_owned), string.clone()];
    let value = leaf.prop_recursive(4, 40, 5, move |inner| {
        let item =
            (space(), inner.clone(), space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let member = (space(), string.clone(), space(), item.clone())
            .prop_map(|(a, key, b, value)| format!("{a}{key}{b}:{value}"));
        prop_oneof![
            vec(item, 1..5).prop_map(|items| format!("[{}]", items.join(","))),
            vec(member, 1..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    });
    (space(), value, space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"))
}

fn spelt(text: &str, variant: Variant, seed: u64) -> String {
    String::from_utf8(respell(text.as_bytes(), variant, seed).into_owned()).unwrap()
}

/// The members of all objects, sorted, as a slow and obviously right check that numbers keep their
/// digits: every scalar of the text.
fn scalars(text: &str) -> Vec<&str> {
    let mut scalars: Vec<&str> = Tokens(text)
        .filter(|token| {
            !matches!(token.as_bytes()[0], b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':')
        })
        .collect();
    scalars.sort_unstable();
    scalars
}

proptest! {
    #[test]
    fn every_spelling_has_the_same_value_and_twice_is_once(text in texts(), seed: u64) {
        let value: Value = serde_json::from_str(&text).unwrap();
        for variant in [Variant::Compact, Variant::Pretty, Variant::Ascii, Variant::Shuffled] {
            let once = spelt(&text, variant, seed);
            prop_assert_eq!(&serde_json::from_str::<Value>(&once).unwrap(), &value, "{}", once);
            prop_assert_eq!(scalars(&once), scalars(&text), "numbers keep their digits");
            prop_assert_eq!(&spelt(&once, variant, seed), &once, "{:?}", variant);
        }
    }

    #[test]
    fn ascii_has_ascii_only_and_shuffling_only_moves(text in texts(), seed: u64) {
        prop_assert!(spelt(&text, Variant::Ascii, seed).is_ascii());
        let shuffled = spelt(&text, Variant::Shuffled, seed);
        let sorted = |text: &str| { let mut bytes = text.as_bytes().to_vec(); bytes.sort_unstable(); bytes };
        prop_assert_eq!(sorted(&shuffled), sorted(&text));
    }

    #[test]
    fn pretty_is_what_a_serialiser_writes(text in texts()) {
        // Where the text has no escapes and no numbers, a serialiser has no choice.
        let value: Value = serde_json::from_str(&text).unwrap();
        let plain = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(spelt(&plain, Variant::Pretty, 0), serde_json::to_string_pretty(&value).unwrap());
    }
}

#[test]
fn characters_beyond_the_first_plane_become_surrogate_pairs() {
    assert_eq!(spelt(r#"["é😀"]"#, Variant::Ascii, 0), r#"["\u00e9\ud83d\ude00"]"#);
}

#[test]
fn seeds_give_orders_and_members_of_one_key_keep_theirs() {
    let members: Vec<String> = (0..10).map(|key| format!("\"key {key}\": {key}")).collect();
    let text = format!("{{{}}}", members.join(", "));
    let orders: std::collections::HashSet<String> =
        (0..20).map(|seed| spelt(&text, Variant::Shuffled, seed)).collect();
    assert!(orders.len() >= 19, "ten keys have 3,628,800 orders: {}", orders.len());
    for seed in 0..20 {
        let order = spelt(r#"{"a": 1, "b": 0, "\u0061": 2}"#, Variant::Shuffled, seed);
        assert!(order.find('1') < order.find('2'), "{order}");
    }
}

#[test]
fn seeds_of_names_are_those_of_the_published_hash() {
    assert_eq!(seed_of(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(seed_of("a"), 0xaf63_dc4c_8601_ec8c);
}

#[test]
fn what_is_no_json_stays_as_it_is() {
    for bytes in [&b"{\"a\": }"[..], b"", b"{} {}", b"\"\xff\"", b"{'a': \"\xc3\xa9\"}"] {
        for variant in [Variant::Pretty, Variant::Ascii, Variant::Shuffled] {
            assert_eq!(respell(bytes, variant, 1), bytes);
        }
    }
}

#[test]
fn deep_nesting_is_left_alone_and_costs_no_stack() {
    let nested = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let deep = nested(1_000_000);
    assert_eq!(spelt(&deep, Variant::Pretty, 0), deep);
    let deepest = nested(MAX_NESTING);
    assert!(spelt(&deepest, Variant::Pretty, 0).len() > deepest.len());
    let objects = format!("{}1{}", r#"{"a":"#.repeat(400), "}".repeat(400));
    assert_eq!(spelt(&objects, Variant::Shuffled, 0), objects);
}
