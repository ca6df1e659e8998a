//! Work stops where the budget ends, where it is cancelled and when its time is over.

use formwork_automata::{
    BooleanOp, ByteSet, CancellationToken, Dfa, Exhausted, Fuel, Nfa, NfaBuilder, determinize,
};
use std::time::{Duration, Instant};

/// (a|b)*a(a|b)^n: 2^(n+1) subsets.
fn exponential(n: usize) -> Nfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let both = ByteSet::range(b'a'..=b'b');
    let start = builder.state().unwrap();
    builder.byte(start, both, start).unwrap();
    let mut at = builder.state().unwrap();
    builder.byte(start, ByteSet::single(b'a'), at).unwrap();
    for _ in 0..n {
        let next = builder.state().unwrap();
        builder.byte(at, both, next).unwrap();
        at = next;
    }
    builder.finish(start, at)
}

/// Words of a length divisible by n.
fn multiples(n: usize) -> Dfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let start = builder.state().unwrap();
    builder.literal(start, &vec![b'a'; n], start).unwrap();
    let nfa = builder.finish(start, start);
    determinize(&nfa, &mut fuel).unwrap()
}

#[test]
fn determinisation_stops_at_either_limit() {
    let nfa = exponential(30);
    let states = determinize(&nfa, &mut Fuel::new(1_000, u64::MAX)).unwrap_err();
    assert_eq!(states, Exhausted::States { limit: 1_000 });
    let steps = determinize(&nfa, &mut Fuel::new(usize::MAX, 10_000)).unwrap_err();
    assert_eq!(steps, Exhausted::Steps { limit: 10_000 });
    let small = determinize(&exponential(9), &mut Fuel::unlimited()).unwrap();
    assert_eq!(small.minimized().live_states().count(), 1 << 10);
}

#[test]
fn products_stop_at_the_limit_and_comparisons_stop_early() {
    let (left, right) = (multiples(97), multiples(89));
    let combined = left.combine(&right, BooleanOp::Intersection, &mut Fuel::new(500, u64::MAX));
    assert_eq!(combined.unwrap_err(), Exhausted::States { limit: 500 });
    let fuel = &mut Fuel::unlimited();
    let product = left.combine(&right, BooleanOp::Intersection, fuel).unwrap();
    assert_eq!(product.live_states().count(), 97 * 89);
    // The empty word is in both, and 89 letters are in one only.
    let few = &mut Fuel::new(90, u64::MAX);
    assert!(!left.intersection_is_empty(&right, few).unwrap());
    assert!(!left.equivalent(&right, &mut Fuel::new(90, u64::MAX)).unwrap());
}

#[test]
fn cancellation_and_deadlines_stop_the_work() {
    let nfa = exponential(30);
    let token = CancellationToken::new();
    token.clone().cancel();
    let mut fuel = Fuel::unlimited().with_cancellation(token);
    assert_eq!(determinize(&nfa, &mut fuel).unwrap_err(), Exhausted::Cancelled);
    assert!(fuel.states_spent() < 10_000);
    let token = CancellationToken::with_deadline(Instant::now() + Duration::from_millis(20));
    let mut fuel = Fuel::unlimited().with_cancellation(token);
    assert_eq!(determinize(&nfa, &mut fuel).unwrap_err(), Exhausted::DeadlinePassed);
    let token = CancellationToken::new();
    let worker = std::thread::spawn({
        let token = token.clone();
        move || determinize(&nfa, &mut Fuel::unlimited().with_cancellation(token))
    });
    token.cancel();
    assert_eq!(worker.join().unwrap().unwrap_err(), Exhausted::Cancelled);
}
