//! Automata of free text against searching the text.

use super::*;
use formwork_automata::Fuel;
use proptest::prelude::*;

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab]{1,4}|é|aé?", 0..5)
}

fn distinct(words: &[String]) -> BTreeSet<String> {
    words.iter().cloned().collect()
}

/// By definition: the end of the first trigger to be complete is the end of the text, and what is
/// before it is free of `excluded`.
fn is_up_to(text: &str, trigger: &str, triggers: &[String], excluded: &BTreeSet<String>) -> bool {
    let Some(before) = text.strip_suffix(trigger) else { return false };
    let complete = |end: usize| triggers.iter().any(|word| text[..end].ends_with(word.as_str()));
    let ends = (1..text.len()).filter(|&end| text.is_char_boundary(end));
    !ends.into_iter().any(complete) && !excluded.iter().any(|word| before.contains(word))
}

proptest! {
    #[test]
    fn free_text_is_utf8_without_the_words(words in words(), text in "[abé]{0,8}", cut in 0..9usize) {
        let mut fuel = Fuel::unlimited();
        let dfa = FreeTexts::default().without(distinct(&words), &mut fuel).unwrap();
        let free = !words.iter().any(|word| text.contains(word.as_str()));
        prop_assert_eq!(dfa.accepts(text.as_bytes()), free);
        let bytes = &text.as_bytes()[..cut.min(text.len())];
        let is_text = std::str::from_utf8(bytes).is_ok_and(|text| {
            !words.iter().any(|word| text.contains(word.as_str()))
        });
        prop_assert_eq!(dfa.accepts(bytes), is_text);
    }

    #[test]
    fn a_text_up_to_a_trigger_ends_with_the_first_that_is_complete(
        triggers in prop::collection::vec("[ab]{1,3}", 1..4),
        more in prop::collection::vec("[ab]{1,3}", 0..3),
        text in "[abc]{0,7}",
    ) {
        let mut fuel = Fuel::unlimited();
        let patterns = Patterns::new(&triggers, &mut fuel).unwrap();
        let excluded: BTreeSet<String> = triggers.iter().chain(&more).cloned().collect();
        let mut texts = FreeTexts::default();
        let free = texts.without(excluded.clone(), &mut fuel).unwrap();
        let overlapped = patterns.overlapped(&triggers);
        for (trigger, overlapped) in triggers.iter().zip(overlapped) {
            let expected = is_up_to(&text, trigger, &triggers, &excluded);
            let dfa = texts.up_to(&free, &patterns, trigger, &mut fuel).unwrap();
            prop_assert_eq!(dfa.accepts(text.as_bytes()), expected, "{}", trigger);
            if !overlapped {
                // Then free text and the trigger are the same.
                let before = text.strip_suffix(trigger.as_str());
                let simple = before.is_some_and(|before| free.accepts(before.as_bytes()));
                prop_assert_eq!(simple, expected, "{}", trigger);
            }
        }
    }

    #[test]
    fn prefixes_are_the_words_that_a_text_begins_with(words in words(), text in "[abé]{0,6}") {
        let patterns = Patterns::new(&words, &mut Fuel::unlimited()).unwrap();
        let found: BTreeSet<&str> = patterns.prefixes(&text).map(|at| &*words[at]).collect();
        let expected: BTreeSet<&str> =
            words.iter().map(String::as_str).filter(|word| text.starts_with(word)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn automata_are_paid_for() {
    let words: Vec<String> = (0..2000).map(|at| format!("<tool{at:04}>")).collect();
    let mut fuel = Fuel::new(1000, u64::MAX);
    assert!(Patterns::new(&words, &mut fuel).is_err());
    let mut fuel = Fuel::new(usize::MAX, 100_000);
    let patterns = Patterns::new(&words, &mut fuel).unwrap();
    assert!(patterns.avoiding(&mut fuel).is_err());
}
