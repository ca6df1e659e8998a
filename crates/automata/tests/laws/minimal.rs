//! Minimal automata have as many states as there are classes of states that no word tells apart.

use crate::expression::expressions;
use formwork_automata::{BooleanOp, ByteSet, Dfa, Fuel, Mark, NfaBuilder, StateId, determinize};
use proptest::prelude::*;
use std::collections::HashMap;

/// Live states of the minimal automaton by Moore's rounds: refine by (class, classes of all
/// targets) until nothing changes.
fn moore(dfa: &Dfa) -> usize {
    let states: Vec<StateId> = std::iter::once(StateId::DEAD).chain(dfa.live_states()).collect();
    let mut class: Vec<usize> =
        states.iter().map(|&state| usize::from(dfa.is_accepting(state))).collect();
    loop {
        let mut numbers = HashMap::new();
        let refined: Vec<usize> = states
            .iter()
            .map(|&state| {
                let bytes = (0..=255).map(|byte| class[dfa.next(state, byte).index()]);
                let marks = dfa.marks().iter().map(|&m| class[dfa.next_mark(state, m).index()]);
                let key = (class[state.index()], bytes.chain(marks).collect::<Vec<_>>());
                let next = numbers.len();
                *numbers.entry(key).or_insert(next)
            })
            .collect();
        if numbers.len() == class.iter().collect::<std::collections::HashSet<_>>().len() {
            return numbers.len() - 1;
        }
        class = refined;
    }
}

/// A random automaton with marks, in which many states are alike.
fn random_automata() -> impl Strategy<Value = Dfa> {
    let edge = (0_usize..12, 0_u8..4, 0_usize..12);
    (proptest::collection::vec(edge, 8..40), 1_usize..11).prop_map(|(edges, accepting)| {
        let mut fuel = Fuel::unlimited();
        let mut builder = NfaBuilder::new(&mut fuel);
        let states: Vec<_> = (0..12).map(|_| builder.state().unwrap()).collect();
        for (from, letter, to) in edges {
            match letter {
                0 | 1 => builder.byte(states[from], ByteSet::single(b'a' + letter), states[to]),
                letter => builder.mark(states[from], Mark(u32::from(letter) * 7), states[to]),
            }
            .unwrap();
        }
        for &state in &states[..accepting] {
            builder.empty(state, states[11]).unwrap();
        }
        let nfa = builder.finish(states[0], states[11]);
        determinize(&nfa, &mut fuel).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn as_many_states_as_moore_finds(expression in expressions()) {
        let Some(dfa) = expression.dfa() else { return Ok(()) };
        prop_assert_eq!(dfa.minimized().live_states().count(), moore(&dfa));
    }

    #[test]
    fn as_many_states_as_moore_finds_with_marks(dfa in random_automata()) {
        let minimal = dfa.minimized();
        prop_assert_eq!(minimal.live_states().count(), moore(&dfa));
        prop_assert!(minimal.equivalent(&dfa, &mut Fuel::unlimited()).unwrap());
        prop_assert!(dfa.canonical().equivalent(&dfa, &mut Fuel::unlimited()).unwrap());
    }

    #[test]
    fn canonical_is_a_normal_form_with_marks(a in random_automata(), b in random_automata()) {
        let equal = a.equivalent(&b, &mut Fuel::unlimited()).unwrap();
        prop_assert_eq!(a.canonical() == b.canonical(), equal);
        let fuel = &mut Fuel::unlimited();
        let split = a.combine(&b, BooleanOp::Difference, fuel).unwrap();
        let rest = a.combine(&b, BooleanOp::Intersection, fuel).unwrap();
        let joined = split.combine(&rest, BooleanOp::Union, fuel).unwrap();
        prop_assert_eq!(joined.canonical(), a.canonical());
    }
}

#[test]
fn a_long_chain_of_nearly_equal_states_needs_no_stack() {
    // (a^999 a)*: a cycle of 1,000 states, all distinct, found only by 1,000 rounds.
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let (start, accept) = (builder.state().unwrap(), builder.state().unwrap());
    builder.literal(start, &[b'a'; 20_000], start).unwrap();
    builder.empty(start, accept).unwrap();
    let nfa = builder.finish(start, accept);
    let dfa = determinize(&nfa, &mut fuel).unwrap();
    assert_eq!(dfa.minimized().live_states().count(), 20_000);
    let doubled = determinize(
        &{
            let mut builder = NfaBuilder::new(&mut fuel);
            let (start, accept) = (builder.state().unwrap(), builder.state().unwrap());
            let middle = builder.state().unwrap();
            builder.automaton(start, &dfa, middle).unwrap();
            builder.automaton(middle, &dfa, accept).unwrap();
            builder.finish(start, accept)
        },
        &mut fuel,
    )
    .unwrap();
    assert_eq!(doubled.canonical(), dfa.canonical());
}
