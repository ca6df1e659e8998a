//! Look-ahead: against a backtracking engine, and by hand.

use crate::{language_of, options};
use fancy_regex::Regex;
use formwork_grammar::{BodyBuilder, Limits};
use formwork_regex::{Dialect::Shared, MatchMode, Options, RegexErrorKind, compile, lower};
use proptest::prelude::*;

fn check(mode: MatchMode, pattern: &str, accepted: &[&str], refused: &[&str]) {
    let language = language_of(pattern, &options(mode, Shared)).expect(pattern);
    for text in accepted {
        assert!(language.accepts(text.as_bytes()), "{pattern} accepts {text:?}");
    }
    for text in refused {
        assert!(!language.accepts(text.as_bytes()), "{pattern} refuses {text:?}");
    }
}

#[test]
fn what_follows_is_all_that_follows() {
    use MatchMode::{Search, Whole};
    check(Whole, "(?!foo).*", &["", "fo", "bar", "xfoo"], &["foo", "foobar"]);
    check(Whole, "^(?!(a|b)$)[ab]+$", &["aa", "ab", "bb"], &["a", "b", "c"]);
    check(Whole, "(?=.*[0-9])(?=.*[a-z]).{3,}", &["a1x", "xx1"], &["abc", "123", "a1"]);
    check(Whole, "(?:(?!--).)*", &["", "a-b-", "-"], &["--", "a--b"]);
    check(Whole, "a(?=b)", &[], &["a", "ab"]);
    check(Whole, "(?!a(?!b)).*", &["", "ab", "b"], &["a", "ac"]);
    check(Whole, "(?!)a|b", &["b"], &["a", ""]);
    check(Search, "foo(?!bar)", &["foo", "xfoobaz", "foobarfoo"], &["foobar", "fo"]);
    check(Search, "^(?!.*secret)", &["", "secre"], &["secret", "a secret."]);
    check(Search, r"^(?!\.)(?!.*\.$)[a-z.]+$", &["a.b", "a"], &[".a", "a.", ""]);
}

#[test]
fn places_that_are_not_clear_are_refused() {
    for pattern in ["(?=^a)a", "(?=a)^a", "a$(?!b)", "(?:(?!b)^a)*"] {
        let error = language_of(pattern, &options(MatchMode::Whole, Shared)).expect_err(pattern);
        assert_eq!(error.kind, RegexErrorKind::LookAhead, "{pattern}");
    }
    // What others embed may be followed by anything.
    let (limits, mut body) = (Limits::default(), BodyBuilder::new());
    let error = lower("ab(?=c)", &Options::default(), &limits, &mut body).expect_err("embedded");
    assert_eq!((error.kind, error.position.column), (RegexErrorKind::LookAhead, 3));
    assert!(compile("ab(?!c)d", &Options::default(), &limits).is_ok());
}

#[test]
fn what_grows_out_of_hand_is_a_limit() {
    let many: String = (0..14).map(|count| format!("(?=.*a.{{{count}}}b)")).collect();
    let error = language_of(&format!("{many}.*"), &options(MatchMode::Whole, Shared));
    assert!(matches!(error.unwrap_err().kind, RegexErrorKind::Exhausted(_)));
}

/// The other engine repeats nothing that is nothing but look-ahead.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b", "c", ".", "[ab]", "[^a]", "ab"]);
    leaf.prop_map(String::from).prop_recursive(4, 16, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 1..4);
        let choices = prop::collection::vec(inner.clone(), 2..3);
        prop_oneof![
            3 => parts.prop_map(|parts| parts.concat()),
            1 => choices.prop_map(|choices| format!("(?:{})", choices.join("|"))),
            1 => inner.clone().prop_map(|inner| format!("(?:{inner}|cc)*")),
            1 => inner.clone().prop_map(|inner| format!("(?:{inner}|cc){{0,2}}")),
            2 => inner.clone().prop_map(|inner| format!("(?={inner})")),
            2 => inner.clone().prop_map(|inner| format!("(?!{inner})")),
            1 => inner.prop_map(|inner| format!("(?!{inner}$)")),
        ]
    })
}

/// All texts of up to four of three letters.
fn texts() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut done = 0;
    while all[done].len() < 4 {
        for letter in ["a", "b", "c"] {
            all.push(format!("{}{letter}", all[done]));
        }
        done += 1;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn another_engine_accepts_the_same(pattern in pattern()) {
        let language = language_of(&pattern, &options(MatchMode::Whole, Shared));
        let Ok(language) = language else {
            prop_assert_eq!(language.unwrap_err().kind, RegexErrorKind::LookAhead);
            return Ok(());
        };
        let other = Regex::new(&format!(r"\A(?:{pattern})\z")).expect("the same syntax");
        for text in texts() {
            let expected = other.is_match(&text).expect("short");
            prop_assert_eq!(language.accepts(text.as_bytes()), expected, "{} on {:?}", &pattern, text);
        }
    }
}
