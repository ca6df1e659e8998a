//! Counted repetition with a register is the same language as its unrolled copies.

use crate::expression::{LETTERS, plain_expressions};
use formwork_automata::{
    ByteSet, Counted, CountedState, CountsReversed, Dfa, Exhausted, Fuel, Mark, NfaBuilder,
    Remaining, StateId, determinize,
};
use proptest::prelude::*;
use std::collections::HashMap;

/// Goes through all words up to a length that are not dead, in both machines at once.
fn compare(counted: &Counted, unrolled: &Dfa, longest: usize) -> Result<(), TestCaseError> {
    let mut level: Vec<(CountedState, StateId)> = vec![(counted.start(), unrolled.start())];
    prop_assert_eq!(counted.start().is_dead(), unrolled.is_empty());
    // Equal configurations must stand for equal languages.
    let mut languages: HashMap<CountedState, StateId> = HashMap::new();
    let minimal_of = minimal_states(unrolled);
    for _ in 0..=longest {
        let mut next = Vec::new();
        for (state, expected) in level {
            prop_assert_eq!(counted.is_accepting(&state), unrolled.is_accepting(expected));
            prop_assert_eq!(state.is_dead(), expected.is_dead());
            let language = minimal_of[expected.index()];
            prop_assert_eq!(*languages.entry(state.clone()).or_insert(language), language);
            for &letter in LETTERS {
                let (mut state, expected) = (state.clone(), unrolled.next(expected, letter));
                prop_assert_eq!(counted.step(&mut state, letter), !expected.is_dead());
                next.push((state, expected));
            }
        }
        next.sort_by_key(|(_, expected)| *expected);
        next.dedup();
        level = next;
    }
    Ok(())
}

/// The state of the minimal automaton for each state.
fn minimal_states(dfa: &Dfa) -> Vec<StateId> {
    let minimal = dfa.minimized();
    let mut image = vec![StateId::DEAD; dfa.len()];
    let mut stack = vec![(dfa.start(), minimal.start())];
    while let Some((state, target)) = stack.pop() {
        if !state.is_dead() && image[state.index()].is_dead() {
            image[state.index()] = target;
            stack.extend((0..=255).map(|byte| (dfa.next(state, byte), minimal.next(target, byte))));
        }
    }
    image
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn equals_the_unrolled_automaton(
        body in plain_expressions(),
        min in 0_u32..5,
        more in proptest::option::of(0_u32..5),
    ) {
        let Some(body) = body.dfa() else { return Ok(()) };
        let counted = Counted::new(body, min, more.map(|more| min + more)).unwrap();
        let Ok(unrolled) = counted.unrolled(&mut Fuel::new(3_000, 300_000)) else {
            return Ok(());
        };
        compare(&counted, &unrolled, 9)?;
    }

    /// Words of several lengths make the most of ambiguity: many counts for one word.
    #[test]
    fn equals_the_unrolled_automaton_for_lengths(
        lengths in proptest::collection::vec(0_usize..7, 1..4),
        min in 0_u32..9,
        more in proptest::option::of(0_u32..9),
    ) {
        let words = lengths.iter().map(|&length| vec![b'a'; length]);
        let body = Dfa::from_strings(words, &mut Fuel::unlimited()).unwrap();
        let counted = Counted::new(body, min, more.map(|more| min + more)).unwrap();
        let unrolled = counted.unrolled(&mut Fuel::unlimited()).unwrap();
        let (mut state, mut expected) = (counted.start(), unrolled.start());
        for length in 0..120 {
            prop_assert_eq!(counted.is_accepting(&state), unrolled.is_accepting(expected), "{}", length);
            prop_assert_eq!(state.is_dead(), expected.is_dead(), "{}", length);
            counted.step(&mut state, b'a');
            expected = unrolled.next(expected, b'a');
        }
    }
}

fn lengths(words: &[&str], min: u32, max: Option<u32>) -> Counted {
    let body = Dfa::from_strings(words, &mut Fuel::unlimited()).unwrap();
    Counted::new(body, min, max).unwrap()
}

#[test]
fn large_bounds_hold_one_interval_per_body_state() {
    let one = lengths(&["a", "b"], 1, Some(5_000));
    let mut state = one.start();
    for count in 1..=5_000 {
        assert!(one.step(&mut state, b'a'));
        assert!(one.is_accepting(&state));
        // One interval between repetitions, one inside.
        assert!(state.interval_count() <= 2);
        let left = one.remaining(&state).unwrap();
        assert_eq!(left, Remaining { at_least: 0, at_most: Some(5_000 - count) });
    }
    assert!(!one.step(&mut state, b'a') && state.is_dead() && !one.is_accepting(&state));
    assert_eq!(one.remaining(&state), None);

    // Every prefix is divided in exponentially many ways.
    for (min, max) in [(1, Some(5_000)), (0, Some(1_000_000)), (4_000, None), (2_000, Some(5_000))]
    {
        let many = lengths(&["a", "aa", "aaaaa"], min, max);
        let mut state = many.start();
        for _ in 0..20_000 {
            assert!(many.step(&mut state, b'a'));
            assert!(state.interval_count() <= 12, "{} intervals", state.interval_count());
        }
        assert!(many.is_accepting(&state));
    }
}

#[test]
fn exact_counts() {
    let exact = lengths(&["a"], 3_000, Some(3_000));
    let mut state = exact.start();
    for count in 0..3_000 {
        assert!(!exact.is_accepting(&state));
        let left = exact.remaining(&state).unwrap();
        assert_eq!(left, Remaining { at_least: 3_000 - count, at_most: Some(3_000 - count) });
        assert!(exact.step(&mut state, b'a'));
    }
    assert!(exact.is_accepting(&state) && state.is_between_repetitions());
    assert!(!exact.step(&mut state, b'a'));
}

#[test]
fn bounds_and_bodies_at_the_edge() {
    let fuel = &mut Fuel::unlimited();
    let error = Counted::new(Dfa::any(), 3, Some(2)).unwrap_err();
    assert_eq!(error, CountsReversed { min: 3, max: 2 });
    let never = Counted::new(Dfa::never(), 1, Some(u32::MAX)).unwrap();
    assert!(never.start().is_dead());
    let none = Counted::new(Dfa::never(), 0, None).unwrap();
    assert!(none.is_accepting(&none.start()));
    let zero = lengths(&["a"], 0, Some(0));
    let mut state = zero.start();
    assert!(zero.is_accepting(&state) && !zero.step(&mut state, b'a'));
    let huge = lengths(&["ab"], u32::MAX, Some(u32::MAX));
    let mut state = huge.start();
    assert!(huge.step(&mut state, b'a'));
    assert_eq!(state.body_states().count(), 1);
    let all = Remaining { at_least: u32::MAX, at_most: Some(u32::MAX) };
    assert_eq!(huge.remaining(&state), Some(all));
    let error = huge.unrolled(&mut Fuel::new(1_000, u64::MAX)).unwrap_err();
    assert_eq!(error, Exhausted::States { limit: 1_000 });
    assert!(lengths(&[""], 7, Some(9)).unrolled(fuel).unwrap().accepts(b""));
}

#[test]
fn marks_are_letters_of_the_body() {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let (start, accept) = (builder.state().unwrap(), builder.state().unwrap());
    let middle = builder.state().unwrap();
    builder.byte(start, ByteSet::FULL, middle).unwrap();
    builder.mark(middle, Mark(4), accept).unwrap();
    let nfa = builder.finish(start, accept);
    let counted = Counted::new(determinize(&nfa, &mut fuel).unwrap(), 2, Some(2)).unwrap();
    let mut state = counted.start();
    for _ in 0..2 {
        assert!(counted.step(&mut state, 0) && !counted.is_accepting(&state));
        assert!(counted.step_mark(&mut state, Mark(4)));
    }
    assert!(counted.is_accepting(&state));
    assert!(!counted.step_mark(&mut state, Mark(5)));
}
