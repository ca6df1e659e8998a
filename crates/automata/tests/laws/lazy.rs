//! The lazy automaton of a formula is the eager one, whatever its memory.

use crate::expression::{Expression, LETTERS, expressions};
use formwork_automata::{
    ByteSet, Dfa, Exhausted, Formula, Fuel, LazyDfa, LazyError, LazyState, Letter, Mark, Nfa,
    NfaBuilder, StateId,
};
use proptest::prelude::*;

/// The outer boolean operators become the formula, the rest its automata.
fn formula(expression: &Expression, fuel: &mut Fuel) -> Result<Formula, Exhausted> {
    Ok(match expression {
        Expression::And(a, b) => formula(a, fuel)?.and(formula(b, fuel)?),
        Expression::Union(a, b) => formula(a, fuel)?.or(formula(b, fuel)?),
        Expression::Not(a) => formula(a, fuel)?.complement(),
        other => {
            let mut builder = NfaBuilder::new(fuel);
            let (start, accept) = (builder.state()?, builder.state()?);
            other.add(&mut builder, start, accept)?;
            Formula::language(builder.finish(start, accept))
        }
    })
}

/// Formulas with an operator at the root more often than expressions have one.
fn combinations() -> impl Strategy<Value = Expression> {
    (expressions(), expressions(), 0..4).prop_map(|(a, b, kind)| match kind {
        0 => Expression::And(a.into(), b.into()),
        1 => Expression::Union(a.into(), b.into()),
        2 => Expression::And(a.into(), Box::new(Expression::Not(b.into()))),
        _ => Expression::Not(Expression::Union(a.into(), b.into()).into()),
    })
}

fn nfa(
    build: impl FnOnce(
        &mut NfaBuilder<'_>,
        formwork_automata::NfaStateId,
    ) -> formwork_automata::NfaStateId,
) -> Nfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let start = builder.state().unwrap();
    let accept = build(&mut builder, start);
    builder.finish(start, accept)
}

/// (a|b)*a(a|b)^n: 2^n deterministic states.
fn exponential(n: usize) -> Nfa {
    nfa(|builder, start| {
        let both = ByteSet::range(b'a'..=b'b');
        builder.byte(start, both, start).unwrap();
        let mut at = builder.state().unwrap();
        builder.byte(start, ByteSet::single(b'a'), at).unwrap();
        for _ in 0..n {
            let next = builder.state().unwrap();
            builder.byte(at, both, next).unwrap();
            at = next;
        }
        at
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn equals_the_eager_automaton(expression in combinations()) {
        let Some(dfa) = expression.dfa() else { return Ok(()) };
        let mut fuel = Fuel::new(100_000, 10_000_000);
        let Ok(formula) = formula(&expression, &mut fuel) else { return Ok(()) };
        let mut lazy = LazyDfa::new(formula, usize::MAX).unwrap();
        let mut level: Vec<(LazyState, StateId)> =
            vec![(lazy.start(&mut fuel).unwrap(), dfa.start())];
        for _ in 0..8 {
            let mut next = Vec::new();
            for (state, expected) in level {
                prop_assert_eq!(lazy.is_accepting(state).unwrap(), dfa.is_accepting(expected));
                let alive = lazy.can_complete(state, &mut fuel).unwrap();
                prop_assert_eq!(alive, !expected.is_dead());
                prop_assert!(!(state.is_dead() && alive));
                for &letter in LETTERS.iter().chain(b"z") {
                    let state = lazy.next(state, letter, &mut fuel).unwrap();
                    next.push((state, dfa.next(expected, letter)));
                }
            }
            next.sort_by_key(|&(_, expected)| expected);
            next.dedup();
            level = next;
        }
    }

    #[test]
    fn advances_through_flushes(
        words in proptest::collection::vec("[ab]{0,400}", 1..4),
        n in 5_usize..9,
    ) {
        let fuel = &mut Fuel::unlimited();
        let all = nfa(|builder, start| {
            builder.byte(start, ByteSet::range(b'a'..=b'b'), start).unwrap();
            start
        });
        let formula = Formula::language(exponential(n)).complement().and(Formula::language(all));
        let mut lazy = LazyDfa::new(formula, 0).unwrap();
        for word in words {
            lazy.flush(&mut []).unwrap();
            let mut state = lazy.start(fuel).unwrap();
            for (index, byte) in word.bytes().enumerate() {
                lazy.advance(&mut state, Letter::Byte(byte), fuel).unwrap();
                let read = &word.as_bytes()[..=index];
                let expected = read.len() <= n || read[read.len() - n - 1] == b'b';
                prop_assert_eq!(lazy.is_accepting(state).unwrap(), expected);
                prop_assert!(lazy.state_count() <= 66, "{}", lazy.state_count());
            }
        }
    }
}

#[test]
fn visits_only_what_is_asked_for() {
    let fuel = &mut Fuel::unlimited();
    let mut lazy = LazyDfa::new(Formula::language(exponential(40)), usize::MAX).unwrap();
    let mut state = lazy.start(fuel).unwrap();
    for byte in b"abbabab".iter().cycle().take(1_000) {
        state = lazy.next(state, *byte, fuel).unwrap();
    }
    assert!(lazy.state_count() < 200);
    assert!(lazy.can_complete(state, fuel).unwrap());
    assert!(lazy.state_count() < 400);
}

#[test]
fn says_full_and_stale() {
    let fuel = &mut Fuel::unlimited();
    let mut lazy = LazyDfa::new(Formula::language(exponential(20)), 1_000).unwrap();
    let start = lazy.start(fuel).unwrap();
    // Counting in binary leads to more and more subsets.
    let mut state = start;
    let letters = (0_u32..10_000).map(|n| if n.count_ones() % 2 == 0 { b'a' } else { b'b' });
    let mut error = None;
    for byte in letters {
        match lazy.next(state, byte, fuel) {
            Ok(next) => state = next,
            Err(reason) => {
                error = Some(reason);
                break;
            }
        }
    }
    assert_eq!(error, Some(LazyError::Full { limit: 1_000 }));
    let before = lazy.memory_bytes();
    let mut kept = [state];
    lazy.flush(&mut kept).unwrap();
    assert!(lazy.memory_bytes() < before && lazy.state_count() == 2);
    assert_eq!(lazy.next(start, b'a', fuel), Err(LazyError::Stale { generation: 0 }));
    assert_eq!(lazy.is_accepting(start), Err(LazyError::Stale { generation: 0 }));
    assert_eq!(lazy.flush(&mut [start]), Err(LazyError::Stale { generation: 0 }));
    assert!(lazy.next(kept[0], b'a', fuel).is_ok());
    let spent = &mut Fuel::new(0, 0);
    let error = lazy.next(kept[0], b'b', spent).unwrap_err();
    assert_eq!(error, LazyError::Exhausted(Exhausted::Steps { limit: 0 }));
    // What was refused for want of fuel can be had with more.
    assert!(lazy.next(kept[0], b'b', fuel).is_ok());
}

#[test]
fn an_empty_intersection_is_found_dead() {
    // Lengths divisible by 30 and by 7 with a remainder of 3 that never agree with evenness.
    let fuel = &mut Fuel::unlimited();
    let multiple = |n: usize, rest: usize| {
        nfa(|builder, start| {
            builder.literal(start, &vec![b'a'; n], start).unwrap();
            let accept = builder.state().unwrap();
            builder.literal(start, &vec![b'a'; rest], accept).unwrap();
            accept
        })
    };
    let even_and_odd = Formula::language(multiple(30, 0)).and(Formula::language(multiple(14, 3)));
    let mut lazy = LazyDfa::new(even_and_odd, usize::MAX).unwrap();
    let start = lazy.start(fuel).unwrap();
    assert!(!start.is_dead());
    assert!(!lazy.can_complete(start, fuel).unwrap());
    let next = lazy.next(start, b'a', fuel).unwrap();
    let spent = &mut Fuel::new(0, 0);
    assert!(!lazy.can_complete(next, spent).unwrap(), "learnt by the first search");
}

#[test]
fn marks_are_letters_and_have_no_complement() {
    let marked = |mark: u32| {
        nfa(|builder, start| {
            let (middle, accept) = (builder.state().unwrap(), builder.state().unwrap());
            builder.literal(start, b"x", middle).unwrap();
            builder.mark(middle, Mark(mark), accept).unwrap();
            accept
        })
    };
    let fuel = &mut Fuel::unlimited();
    let either = Formula::language(marked(3)).or(Formula::language(marked(5)));
    let mut lazy = LazyDfa::new(either.clone(), usize::MAX).unwrap();
    let start = lazy.start(fuel).unwrap();
    let middle = lazy.next(start, b'x', fuel).unwrap();
    let end = lazy.next_mark(middle, Mark(5), fuel).unwrap();
    assert!(lazy.is_accepting(end).unwrap());
    assert!(lazy.next_mark(middle, Mark(4), fuel).unwrap().is_dead());
    assert!(lazy.next_mark(start, Mark(3), fuel).unwrap().is_dead());
    assert_eq!(LazyDfa::new(either.complement(), usize::MAX).unwrap_err().first, Mark(3));
}

#[test]
fn deep_formulas_need_no_stack() {
    let fuel = &mut Fuel::unlimited();
    let mut formula = Formula::language(nfa(|builder, start| {
        builder.automaton(start, &Dfa::any(), start).unwrap();
        start
    }));
    for _ in 0..200_001 {
        formula = formula.complement();
    }
    let mut lazy = LazyDfa::new(formula, usize::MAX).unwrap();
    let start = lazy.start(fuel).unwrap();
    assert!(!lazy.is_accepting(start).unwrap());
    assert!(!lazy.can_complete(start, fuel).unwrap());
}
