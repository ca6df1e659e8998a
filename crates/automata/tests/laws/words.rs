//! Words that automata give: shortest, forced, counted, listed.

use crate::expression::{all_words, expressions};
use formwork_automata::{ByteSet, Dfa, Fuel, Letter, Mark, NfaBuilder, determinize};
use proptest::prelude::*;

/// Longer than any word that the tests look at.
const LONGEST: usize = 6;

fn bytes(word: &[Letter]) -> Vec<u8> {
    let byte = |letter: &Letter| match letter {
        Letter::Byte(byte) => *byte,
        Letter::Mark(mark) => panic!("no marks in expressions: {mark:?}"),
    };
    word.iter().map(byte).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn lists_and_counts_what_it_accepts(expression in expressions()) {
        let Some(dfa) = expression.dfa() else { return Ok(()) };
        // Complements hold bytes that no expression names: keep to the letters.
        let mut fuel = Fuel::unlimited();
        let letters = letters_up_to(LONGEST);
        let dfa = dfa.combine(&letters, formwork_automata::BooleanOp::Intersection, &mut fuel);
        let dfa = dfa.unwrap();
        let expected: Vec<Vec<u8>> =
            all_words(LONGEST).into_iter().filter(|word| expression.matches(word)).collect();
        let listed: Vec<Vec<u8>> = dfa.words(usize::MAX).map(|word| bytes(&word)).collect();
        prop_assert_eq!(&listed, &expected);
        prop_assert_eq!(dfa.words(3).count(), expected.len().min(3));
        prop_assert_eq!(dfa.count_words(dfa.start(), u64::MAX), expected.len() as u64);
        prop_assert_eq!(dfa.count_words(dfa.start(), 5), expected.len().min(5) as u64);
        prop_assert!(dfa.is_finite());
        let longest = expected.iter().map(Vec::len).max().unwrap_or(0);
        prop_assert_eq!(dfa.longest_word_len(), Some(longest));
        let shortest = dfa.shortest_word().map(|word| bytes(&word));
        prop_assert_eq!(&shortest, &expected.first().cloned());
        prop_assert_eq!(dfa.shortest_bytes(dfa.start()), shortest);
    }

    #[test]
    fn infinite_exactly_when_a_long_word_exists(expression in expressions()) {
        let Some(dfa) = expression.dfa() else { return Ok(()) };
        // By the pumping lemma: infinite exactly when a word is at least as long as there are
        // states. The first so many words by length reach that far, if there are so many.
        let long = dfa.words(400).any(|word| word.len() >= dfa.len());
        if long {
            prop_assert!(!dfa.is_finite());
            prop_assert_eq!(dfa.longest_word_len(), None);
            prop_assert_eq!(dfa.count_words(dfa.start(), 12_345), 12_345);
        } else if dfa.words(400).count() < 400 {
            prop_assert!(dfa.is_finite());
        }
    }

    #[test]
    fn forced_bytes_are_the_longest_common_prefix(expression in expressions(), prefix in "[abc]{0,3}") {
        let Some(tail) = expression.dfa() else { return Ok(()) };
        let mut fuel = Fuel::unlimited();
        let mut builder = NfaBuilder::new(&mut fuel);
        let (start, accept) = (builder.state().unwrap(), builder.state().unwrap());
        let middle = builder.state().unwrap();
        builder.literal(start, prefix.as_bytes(), middle).unwrap();
        builder.automaton(middle, &tail, accept).unwrap();
        let nfa = builder.finish(start, accept);
        let dfa = determinize(&nfa, &mut fuel).unwrap();
        // A common prefix shows in few words: the shortest, and one for each way to leave it.
        let words: Vec<Vec<u8>> = dfa.words(400).map(|word| bytes(&word)).collect();
        let Some(first) = words.first() else { return Ok(()) };
        let common = (0..=first.len())
            .rev()
            .find(|&len| words.iter().all(|word| word.starts_with(&first[..len])))
            .unwrap_or(0);
        let mut forced = Vec::new();
        dfa.forced_bytes(dfa.start(), usize::MAX, &mut forced);
        if words.len() < 400 {
            prop_assert_eq!(&forced, &first[..common]);
        } else {
            prop_assert!(first[..common].starts_with(&forced));
        }
        let mut limited = b"kept".to_vec();
        dfa.forced_bytes(dfa.start(), 1, &mut limited);
        prop_assert_eq!(&limited[4..], &forced[..forced.len().min(1)]);
    }
}

fn letters_up_to(longest: usize) -> Dfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let (mut at, accept) = (builder.state().unwrap(), builder.state().unwrap());
    let start = at;
    for _ in 0..longest {
        let next = builder.state().unwrap();
        builder.empty(at, accept).unwrap();
        builder.byte(at, ByteSet::range(b'a'..=b'c'), next).unwrap();
        at = next;
    }
    builder.empty(at, accept).unwrap();
    let nfa = builder.finish(start, accept);
    determinize(&nfa, &mut fuel).unwrap()
}

#[test]
fn marks_are_letters_but_never_forced() {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let states: Vec<_> = (0..4).map(|_| builder.state().unwrap()).collect();
    builder.literal(states[0], b"x", states[1]).unwrap();
    builder.mark(states[1], Mark(9), states[2]).unwrap();
    builder.literal(states[2], b"yz", states[3]).unwrap();
    let nfa = builder.finish(states[0], states[3]);
    let dfa = determinize(&nfa, &mut fuel).unwrap();
    let word = [Letter::Byte(b'x'), Letter::Mark(Mark(9)), Letter::Byte(b'y'), Letter::Byte(b'z')];
    assert_eq!(dfa.shortest_word().unwrap(), word);
    assert_eq!(dfa.words(9).collect::<Vec<_>>(), [word.to_vec()]);
    assert_eq!(dfa.shortest_bytes(dfa.start()), None);
    assert_eq!(dfa.count_words(dfa.start(), 100), 1);
    let mut forced = Vec::new();
    dfa.forced_bytes(dfa.start(), 10, &mut forced);
    assert_eq!(forced, b"x");
    let after = dfa.next_mark(dfa.next(dfa.start(), b'x'), Mark(9));
    dfa.forced_bytes(after, 10, &mut forced);
    assert_eq!(forced, b"xyz");
    assert!(dfa.next_mark(dfa.start(), Mark(9)).is_dead());
    assert_eq!(dfa.complement().unwrap_err().first, Mark(9));
}

#[test]
fn counting_does_not_take_as_long_as_the_count() {
    // 26^60 words saturate; an automaton of 60 states is all that is looked at.
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let start = builder.state().unwrap();
    let mut at = start;
    for _ in 0..60 {
        let next = builder.state().unwrap();
        builder.byte(at, ByteSet::range(b'a'..=b'z'), next).unwrap();
        at = next;
    }
    let nfa = builder.finish(start, at);
    let dfa = determinize(&nfa, &mut fuel).unwrap();
    assert_eq!(dfa.count_words(dfa.start(), u64::MAX), u64::MAX);
    let ten_left = dfa.next_bytes(dfa.start(), &[b'q'; 50]);
    assert_eq!(dfa.count_words(ten_left, u64::MAX), 26_u64.pow(10));
    assert_eq!(dfa.words(2).last().unwrap().len(), 60);
}
