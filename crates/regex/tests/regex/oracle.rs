//! Random patterns on random strings, and on the strings of their language, against
//! `regex-automata`.

use crate::language_of;
use formwork_automata::{CancellationToken, Dfa, Letter};
use formwork_grammar::{Limits, regular};
use formwork_regex::{MatchMode, Options, compile};
use proptest::prelude::*;
use regex_automata::meta::Regex;

/// Characters, and sets of them, as both sides read them.
const LITERALS: &[&str] =
    &["a", "b", "ab", "é", "😀", "K", "ß", r"\.", r"\n", r"\x41", r"\u00e9", "-", "]"];
const CLASSES: &[&str] = &[
    ".",
    r"\d",
    r"\w",
    r"\S",
    r"\W",
    "[ab]",
    "[^a]",
    "[a-c\u{e0}-\u{ff}]",
    r"[^\w😀]",
    r"\p{Lu}",
    r"\P{L}",
    r"[\d\s_-]",
    "(?i:k)",
    "(?i:[^k])",
    "(?s:.)",
];
const ANCHORS: &[&str] = &["^", "$", r"\A", r"\z"];
const COUNTS: &[&str] =
    &["*", "+", "?", "*?", "{0}", "{1}", "{2}", "{0,2}", "{1,3}", "{2,3}?", "{2,}", "{3,}"];
const LETTERS: &[&str] = &[
    "a", "b", "c", "é", "É", "😀", "k", "K", "\u{212a}", "ß", "A", ".", "\n", "0", " ", "-", "_",
    "]",
];

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(String::from)
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => one_of(LITERALS),
        3 => one_of(CLASSES),
        2 => one_of(ANCHORS),
        1 => Just(String::new()),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let parts = prop::collection::vec(inner.clone(), 0..4);
        let choices = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            2 => parts.prop_map(|parts| parts.concat()),
            2 => choices.prop_map(|choices| format!("({})", choices.join("|"))),
            2 => (inner.clone(), one_of(COUNTS)).prop_map(|(inner, counts)| format!("(?:{inner}){counts}")),
            1 => inner.prop_map(|inner| format!("(?P<name>{inner})")),
        ]
    })
    .prop_map(with_distinct_names)
}

/// The other side wants the names of groups to differ.
fn with_distinct_names(pattern: String) -> String {
    let mut parts = pattern.split("<name>");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.enumerate().fold(first, |all, (number, part)| format!("{all}<n{number}>{part}"))
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(one_of(LETTERS), 0..7).prop_map(|letters| letters.concat())
}

/// Patterns of two letters, mostly anchors and repetitions of them.
fn anchored_pattern() -> impl Strategy<Value = String> {
    let leaf = one_of(&["a", "b", "^", "$", "^a", "a$", "^a$", ""]);
    leaf.prop_recursive(4, 16, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 2..4);
        let choices = prop::collection::vec(inner.clone(), 2..4);
        let counts = one_of(&["*", "+", "?", "{2}", "{3}", "{0,2}", "{1,2}", "{2,3}", "{2,}"]);
        prop_oneof![
            parts.prop_map(|parts| parts.concat()),
            choices.prop_map(|choices| format!("(?:{})", choices.join("|"))),
            (inner, counts).prop_map(|(inner, counts)| format!("(?:{inner}){counts}")),
        ]
    })
}

/// Every text of these two letters up to this length.
fn all_texts(length: usize) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut longest = texts.clone();
    for _ in 0..length {
        longest =
            longest.iter().flat_map(|text| [format!("{text}a"), format!("{text}b")]).collect();
        texts.extend_from_slice(&longest);
    }
    texts
}

fn other_engine(pattern: &str, mode: MatchMode) -> Regex {
    let pattern = match mode {
        MatchMode::Whole => format!(r"\A(?:{pattern})\z"),
        _ => pattern.to_owned(),
    };
    Regex::new(&pattern).expect("a pattern of this dialect too")
}

/// The first words of a language, the shortest first.
fn words(dfa: &Dfa) -> Vec<String> {
    let bytes = |word: Vec<Letter>| -> Vec<u8> {
        let bytes = word.into_iter().map(|letter| match letter {
            Letter::Byte(byte) => byte,
            Letter::Mark(mark) => panic!("a pattern has no marks, but here is {mark:?}"),
        });
        bytes.collect()
    };
    let words = dfa.words(40).map(bytes);
    words.map(|word| String::from_utf8(word).expect("text, all of it")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn membership_is_that_of_another_engine(
        pattern in pattern(),
        texts in prop::collection::vec(text(), 24),
        mode in prop::sample::select(&[MatchMode::Whole, MatchMode::Search][..]),
    ) {
        let dfa = language_of(&pattern, &Options::default().with_mode(mode)).expect("small");
        let other = other_engine(&pattern, mode);
        for text in texts.iter().chain(&words(&dfa)) {
            prop_assert_eq!(
                dfa.accepts(text.as_bytes()),
                other.is_match(text),
                "{:?} on {:?}", pattern, text,
            );
        }
    }

    #[test]
    fn anchors_mean_what_they_mean_to_another_engine(
        pattern in anchored_pattern(),
        mode in prop::sample::select(&[MatchMode::Whole, MatchMode::Search][..]),
    ) {
        let dfa = language_of(&pattern, &Options::default().with_mode(mode)).expect("small");
        let other = other_engine(&pattern, mode);
        for text in all_texts(5) {
            prop_assert_eq!(
                dfa.accepts(text.as_bytes()),
                other.is_match(&text),
                "{:?} on {:?}", pattern, text,
            );
        }
    }

    #[test]
    fn the_grammar_has_the_same_language(
        pattern in pattern(),
        mode in prop::sample::select(&[MatchMode::Whole, MatchMode::Search][..]),
    ) {
        let options = Options::default().with_mode(mode);
        let limits = Limits::default();
        let grammar = compile(&pattern, &options, &limits).expect("small");
        let of_grammar =
            regular::dfa(&grammar, &regular::BytesOnly, &limits, &CancellationToken::new());
        let dfa = language_of(&pattern, &options).expect("small");
        prop_assert_eq!(of_grammar.expect("regular").canonical(), dfa);
    }
}
