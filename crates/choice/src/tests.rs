//! Membership against a set, and every error.

use super::*;
use formwork_automata::Exhausted;
use formwork_grammar::Node;
use proptest::prelude::*;
use std::collections::HashSet;

/// The one automaton that a list of choices becomes.
fn automaton(grammar: &Grammar) -> Arc<Dfa> {
    let body = grammar.body(grammar.root()).expect("defined");
    match &body[body.root()] {
        Node::Automaton(dfa) => dfa.clone(),
        other => panic!("one automaton, not {other:?}"),
    }
}

fn compiled(choices: &[impl AsRef<[u8]>]) -> Arc<Dfa> {
    automaton(&compile(choices, &Limits::default()).expect("within limits"))
}

fn word() -> impl Strategy<Value = Vec<u8>> {
    let letter = prop_oneof![Just(b'a'), Just(b'b'), Just(0), Just(0xff), any::<u8>()];
    prop::collection::vec(letter, 0..6)
}

proptest! {
    #[test]
    fn the_language_is_the_set(
        choices in prop::collection::vec(word(), 1..20),
        others in prop::collection::vec(word(), 0..40),
    ) {
        let set: HashSet<&[u8]> = choices.iter().map(AsRef::as_ref).collect();
        let dfa = compiled(&choices);
        prop_assert_eq!(dfa.count_words(dfa.start(), u64::MAX), set.len() as u64);
        for word in choices.iter().chain(&others) {
            prop_assert_eq!(dfa.accepts(word), set.contains(&word[..]));
        }
    }

    #[test]
    fn json_gives_the_strings_it_spells(
        choices in prop::collection::vec(".{0,8}", 1..10),
    ) {
        let text = serde_json::to_string(&choices).expect("strings");
        let grammar = from_json(&text, &Limits::default()).expect("an array of strings");
        prop_assert_eq!(automaton(&grammar), compiled(&choices));
    }
}

#[test]
fn ten_thousand_strings() {
    let choices: Vec<String> = (0..10_000).map(|n: u64| random_name(n)).collect();
    let set: HashSet<&str> = choices.iter().map(AsRef::as_ref).collect();
    let dfa = compiled(&choices);
    assert_eq!(dfa.count_words(dfa.start(), u64::MAX), set.len() as u64);
    assert!(choices.iter().all(|choice| dfa.accepts(choice.as_bytes())));
    assert!(
        (10_000..20_000)
            .map(random_name)
            .all(|name| { dfa.accepts(name.as_bytes()) == set.contains(name.as_str()) })
    );
}

/// Fourteen letters that look random, the same ones for the same number.
fn random_name(number: u64) -> String {
    let mut state = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let letters = (0..14).map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'a' + u8::try_from(state % 26).expect("below 26"))
    });
    letters.collect()
}

#[test]
fn the_empty_string_is_a_choice() {
    let dfa = compiled(&[""]);
    assert!(dfa.accepts(b"") && !dfa.accepts(b"a"));
}

#[test]
fn an_empty_list_is_refused() {
    let none: [&str; 0] = [];
    let error = compile(&none, &Limits::default()).expect_err("nothing to choose from");
    assert_eq!(error, ChoiceErrorKind::Empty.into());
    let error = from_json(" [ ] ", &Limits::default()).expect_err("nothing to choose from");
    assert_eq!(error, ChoiceErrorKind::Empty.into());
}

#[test]
fn limits_are_inclusive_and_named() {
    let mut limits = Limits::default();
    limits.source_bytes = 6;
    assert!(compile(&["abc", "def"], &limits).is_ok());
    let too_long = ChoiceError::from(ChoiceErrorKind::SourceBytes { limit: 6 });
    assert_eq!(compile(&["abc", "defg"], &limits).expect_err("seven bytes"), too_long);
    assert_eq!(from_json("[\"abc\"]", &limits).expect_err("seven bytes"), too_long);

    let mut limits = Limits::default();
    limits.automaton_states = 4;
    assert!(compile(&["abc", "abd"], &limits).is_ok());
    assert_eq!(
        compile(&["abcd"], &limits).expect_err("five states").kind,
        ChoiceErrorKind::Exhausted(Exhausted::States { limit: 4 }),
    );
}

#[test]
fn json_errors_have_a_kind_and_a_place() {
    let cases = [
        ("", ChoiceErrorKind::Syntax, (1, 1)),
        ("[\"a\"", ChoiceErrorKind::Syntax, (1, 5)),
        ("[\n \"é\", \"b\" x]", ChoiceErrorKind::Syntax, (2, 11)),
        ("[\"a\"] []", ChoiceErrorKind::Syntax, (1, 7)),
        ("[\"é\\q\"]", ChoiceErrorKind::Syntax, (1, 5)),
        (" {\"a\": 1}", ChoiceErrorKind::NotAnArray, (1, 2)),
        ("\"a\"", ChoiceErrorKind::NotAnArray, (1, 1)),
        ("[\"é\",\n  1]", ChoiceErrorKind::NotAString { index: 1 }, (2, 3)),
        ("[[\"a\"]]", ChoiceErrorKind::NotAString { index: 0 }, (1, 2)),
    ];
    for (text, kind, place) in cases {
        let error = from_json(text, &Limits::default()).expect_err(text);
        let position = error.position.expect("a place in the text");
        assert_eq!((error.kind, (position.line, position.column)), (kind, place), "{text}");
    }
}

#[test]
fn deep_nesting_is_an_ordinary_error() {
    let text = "[".repeat(1_000_000);
    let error = from_json(&text, &Limits::default()).expect_err("never closed");
    assert_eq!(error.kind, ChoiceErrorKind::Syntax);
    let text = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = from_json(&text, &Limits::default()).expect_err("no string");
    assert_eq!(error.kind, ChoiceErrorKind::NotAString { index: 0 });
}
