//! Automata accept what expressions match, and the boolean operations are the ones of sets.

use crate::expression::{all_words, expressions};
use formwork_automata::{BooleanOp, Dfa, Fuel};
use proptest::prelude::*;

fn fuel() -> Fuel {
    Fuel::new(100_000, 10_000_000)
}

fn complement(dfa: &Dfa) -> Dfa {
    dfa.complement().expect("no marks in expressions")
}

/// Every live state is reachable and can be completed: the invariant that "not dead" relies on.
fn is_trimmed(dfa: &Dfa) -> bool {
    let mut reached = vec![false; dfa.len()];
    let mut stack = vec![dfa.start()];
    while let Some(state) = stack.pop() {
        if !std::mem::replace(&mut reached[state.index()], true) {
            stack.extend(dfa.edges(state).map(|(_, target)| target));
        }
    }
    let completable = |state| dfa.shortest_bytes(state).is_some();
    dfa.live_states().all(|state| reached[state.index()] && completable(state))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn accepts_what_the_expression_matches(expression in expressions()) {
        let Some(dfa) = expression.dfa() else { return Ok(()) };
        let (minimal, canonical) = (dfa.minimized(), dfa.canonical());
        for word in all_words(6) {
            let expected = expression.matches(&word);
            prop_assert_eq!(dfa.accepts(&word), expected, "{:?}", word);
            prop_assert_eq!(minimal.accepts(&word), expected, "minimal, {:?}", word);
            prop_assert_eq!(canonical.accepts(&word), expected, "canonical, {:?}", word);
        }
        prop_assert!(is_trimmed(&dfa) && is_trimmed(&minimal) && is_trimmed(&canonical));
    }

    #[test]
    fn boolean_operations_are_those_of_sets(a in expressions(), b in expressions()) {
        let (Some(left), Some(right)) = (a.dfa(), b.dfa()) else { return Ok(()) };
        type Expected = fn(bool, bool) -> bool;
        let operations: [(BooleanOp, Expected); 4] = [
            (BooleanOp::Union, |a, b| a | b),
            (BooleanOp::Intersection, |a, b| a & b),
            (BooleanOp::Difference, |a, b| a & !b),
            (BooleanOp::SymmetricDifference, |a, b| a ^ b),
        ];
        for (operation, expected) in operations {
            let dfa = left.combine(&right, operation, &mut fuel()).unwrap();
            prop_assert!(is_trimmed(&dfa));
            for word in all_words(5) {
                let expected = expected(a.matches(&word), b.matches(&word));
                prop_assert_eq!(dfa.accepts(&word), expected, "{:?} {:?}", operation, word);
            }
        }
    }

    #[test]
    fn complement_and_de_morgan(a in expressions(), b in expressions()) {
        let (Some(left), Some(right)) = (a.dfa(), b.dfa()) else { return Ok(()) };
        let (not_left, not_right) = (complement(&left), complement(&right));
        prop_assert!(is_trimmed(&not_left));
        for word in all_words(5) {
            prop_assert_eq!(not_left.accepts(&word), !a.matches(&word));
        }
        prop_assert_eq!(complement(&not_left).canonical(), left.canonical());
        let union = left.combine(&right, BooleanOp::Union, &mut fuel()).unwrap();
        let both_not = not_left.combine(&not_right, BooleanOp::Intersection, &mut fuel()).unwrap();
        prop_assert_eq!(complement(&union).canonical(), both_not.canonical());
    }

    #[test]
    fn comparisons_agree_with_differences(a in expressions(), b in expressions()) {
        let (Some(left), Some(right)) = (a.dfa(), b.dfa()) else { return Ok(()) };
        let combine = |operation| left.combine(&right, operation, &mut fuel()).unwrap();
        prop_assert_eq!(
            left.is_subset_of(&right, &mut fuel()).unwrap(),
            combine(BooleanOp::Difference).is_empty()
        );
        let equal = combine(BooleanOp::SymmetricDifference).is_empty();
        prop_assert_eq!(left.equivalent(&right, &mut fuel()).unwrap(), equal);
        prop_assert_eq!(left.canonical() == right.canonical(), equal);
        let meet = combine(BooleanOp::Intersection);
        prop_assert_eq!(
            left.intersection_is_empty(&right, &mut fuel()).unwrap(),
            meet.is_empty()
        );
        // Pairs where the comparisons say yes are rare among random ones: make some.
        prop_assert!(meet.is_subset_of(&left, &mut fuel()).unwrap());
        let difference = combine(BooleanOp::Difference);
        prop_assert!(difference.intersection_is_empty(&right, &mut fuel()).unwrap());
        let union = difference.combine(&meet, BooleanOp::Union, &mut fuel()).unwrap();
        prop_assert!(union.equivalent(&left, &mut fuel()).unwrap());
        prop_assert_eq!(union.canonical(), left.canonical());
    }
}
