//! Both halves of the algorithm alone, on automata that need many rounds: cycles with few accepting
//! states and random edges across.

use super::*;
use crate::{ByteSet, Fuel, NfaBuilder, determinize};
use proptest::prelude::*;

/// A trimmed automaton of up to 60 states.
fn automata() -> impl Strategy<Value = Dfa> {
    let edges = proptest::collection::vec((0_usize..60, 0_usize..60), 0..12);
    (2_usize..60, edges, proptest::collection::vec(0_usize..60, 1..4)).prop_map(
        |(cycle, edges, accepting)| {
            let mut fuel = Fuel::unlimited();
            let mut builder = NfaBuilder::new(&mut fuel);
            let states: Vec<_> = (0..cycle).map(|_| builder.state().unwrap()).collect();
            let accept = builder.state().unwrap();
            let on = ByteSet::range(b'a'..=b'b');
            for (&from, &to) in states.iter().zip(states.iter().cycle().skip(1)) {
                builder.byte(from, on, to).unwrap();
            }
            let mut sources: Vec<usize> = Vec::new();
            for (from, to) in edges {
                let from = from % cycle;
                if !sources.contains(&from) {
                    sources.push(from);
                    let across = ByteSet::single(b'c');
                    builder.byte(states[from], across, states[to % cycle]).unwrap();
                }
            }
            for state in accepting {
                builder.empty(states[state % cycle], accept).unwrap();
            }
            let nfa = builder.finish(states[0], accept);
            determinize(&nfa, &mut fuel).unwrap()
        },
    )
}

/// Exact rounds until nothing changes, as many as it takes.
fn slowly(dfa: &Dfa) -> Vec<u32> {
    let mut classes: Vec<u32> = (0..)
        .zip(&dfa.accepting)
        .map(|(state, &yes)| u32::from(state > 0) + u32::from(yes))
        .collect();
    loop {
        let mut numbers = FxHashMap::default();
        let mut refined = classes.clone();
        for state in dfa.live_states() {
            let row: Vec<(usize, u32)> = dfa
                .edges(state)
                .map(|(column, target)| (column, classes[target.index()]))
                .collect();
            let next = u32::try_from(numbers.len() + 1).unwrap();
            refined[state.index()] = *numbers.entry((classes[state.index()], row)).or_insert(next);
        }
        if refined == classes {
            return classes;
        }
        classes = refined;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn refinement_alone_finds_the_same_classes(dfa in automata(), rounds in 0_usize..3) {
        let expected = slowly(&dfa);
        let mut classes = vec![0; dfa.len()];
        let accepts = |state, _| u64::from(dfa.is_accepting(state));
        let mut count = renumber(&dfa, &mut classes, accepts);
        for _ in 0..rounds {
            let before = classes.clone();
            count = renumber(&dfa, &mut classes, |state, _| row_hash(&dfa, &before, state));
        }
        let blocks = Refinement::new(&dfa, count, &classes).run();
        renumber(&dfa, &mut classes, |_, element| u64::from(blocks.set_of[element]));
        prop_assert_eq!(&classes, &expected);
        prop_assert_eq!(&indistinguishable(&dfa), &expected);
        let count = *expected.iter().max().unwrap() as usize;
        prop_assert!(is_stable(&dfa, &expected, count));
    }
}
