//! The cache against a list, single flights, failures, values that grow.

use super::*;
use crate::flight::Job;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that says what it weighs.
#[derive(Clone, Debug)]
struct Weight(Arc<AtomicUsize>);

impl Weight {
    fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }
}

impl Weigh for Weight {
    fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A flight and its number.
fn numbered(number: u64, into: &mut u64, outcome: Outcome<Weight>) -> Arc<Flight<Weight>> {
    *into = number;
    flight(outcome)
}

fn flight(outcome: Outcome<Weight>) -> Arc<Flight<Weight>> {
    Flight::new(Duration::from_secs(60), Box::new(|_| outcome), Box::new(|_| {}))
}

/// Finds or makes; whether it was there.
fn fetch(cache: &Cache<Weight>, number: u32, outcome: Outcome<Weight>) -> bool {
    let key = Key::numbered(number);
    let mut own = 0;
    match cache.find(key, |number| numbered(number, &mut own, outcome.clone())) {
        Found::Outcome(_) => true,
        Found::Joined(_) => unreachable!("one thread"),
        Found::New(_ticket, _) => {
            cache.settle(key, own, &outcome);
            false
        }
    }
}

fn unsupported() -> EngineError {
    EngineError::UnknownBackend { name: "a".into(), known: "b".into() }
}

proptest! {
    #[test]
    fn the_least_recently_used_go_first(looks in proptest::collection::vec(0..12_u32, 1..80)) {
        let each = 1_000 + ENTRY_BYTES;
        let cache = Cache::new(5 * each);
        let mut list: Vec<u32> = Vec::new();
        for number in looks {
            let known = list.iter().position(|&it| it == number);
            prop_assert_eq!(fetch(&cache, number, Ok(Weight::new(1_000))), known.is_some());
            if let Some(at) = known {
                list.remove(at);
            }
            list.push(number);
            if list.len() > 5 {
                list.remove(0);
            }
            let stats = cache.stats();
            prop_assert_eq!((stats.entries, stats.bytes), (list.len(), list.len() * each));
        }
    }
}

#[test]
fn a_stream_of_failures_stays_within_its_bytes() {
    let cache = Cache::new(100_000);
    for number in 0..20_000 {
        assert!(!fetch(&cache, number, Err(unsupported())));
        assert!(cache.stats().bytes <= 100_000);
    }
    let stats = cache.stats();
    assert!(stats.entries > 10, "{stats:?}");
    assert_eq!(stats.evictions, 20_000 - stats.entries as u64);
}

#[test]
fn what_is_too_large_is_not_kept() {
    let cache = Cache::new(10_000);
    assert!(!fetch(&cache, 1, Ok(Weight::new(50_000))));
    assert_eq!((cache.stats().entries, cache.stats().bytes), (0, 0));
}

#[test]
fn what_grows_is_noticed() {
    let cache = Cache::new(100_000);
    let growing = Weight::new(10);
    fetch(&cache, 1, Ok(growing.clone()));
    for number in 2..20 {
        fetch(&cache, number, Ok(Weight::new(10)));
    }
    growing.0.store(90_000, Ordering::Relaxed);
    for _ in 0..20 {
        fetch(&cache, 19, Ok(Weight::new(10)));
    }
    assert!(cache.stats().bytes >= 90_000, "{:?}", cache.stats());
    assert!(cache.stats().bytes <= 100_000);
}

#[test]
fn one_flight_for_all_who_wait_and_none_for_what_was_given_up() {
    let cache: Cache<Weight> = Cache::new(100_000);
    let key = Key::numbered(1);
    let Found::New(first, work) = cache.find(key, |_| flight(Ok(Weight::new(1)))) else {
        panic!("it is new")
    };
    let Found::Joined(second) = cache.find(key, |_| unreachable!()) else { panic!("it is there") };
    work.run();
    assert!(first.wait().is_ok() && second.poll_outcome().is_some());

    let other = Key::numbered(2);
    let Found::New(ticket, _) = cache.find(other, |_| flight(Ok(Weight::new(1)))) else {
        panic!("it is new")
    };
    drop(ticket);
    assert!(matches!(cache.find(other, |_| flight(Ok(Weight::new(1)))), Found::New(..)));
}

#[test]
fn what_may_go_better_next_time_is_not_kept() {
    let cache: Cache<Weight> = Cache::new(100_000);
    let late = || Err(EngineError::stopped(formwork::Exhausted::DeadlinePassed));
    assert!(!fetch(&cache, 1, late()));
    assert!(!fetch(&cache, 1, Err(unsupported())));
    assert!(fetch(&cache, 1, Err(unsupported())));
    cache.clear();
    assert!(!fetch(&cache, 1, Err(unsupported())));
}
