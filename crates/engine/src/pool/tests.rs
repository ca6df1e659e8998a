//! Jobs get done, given up, late, and may panic.

use super::*;
use crate::flight::{Flight, Outcome, Ticket};
use formwork::CancellationToken;
use std::{sync::mpsc, time::Duration};

const LONG: Duration = Duration::from_secs(600);

fn pool(threads: usize, queue: usize) -> Pool {
    Pool::new(&PoolConfig { threads, queue, ..PoolConfig::default() }).unwrap()
}

fn submit(
    pool: &Pool,
    time: Duration,
    work: impl FnOnce(CancellationToken) -> Outcome<u32> + Send + 'static,
) -> Ticket<u32> {
    let flight = Flight::new(time, Box::new(work), Box::new(|_| {}));
    let ticket = flight.ticket().unwrap();
    pool.submit(&flight);
    ticket
}

#[test]
fn every_form_of_waiting_gets_the_outcome() {
    let pool = pool(2, 100);
    let ticket = submit(&pool, LONG, |_| Ok(7));
    let (sender, told) = mpsc::channel();
    let early = sender.clone();
    ticket.on_ready(move |outcome| early.send(*outcome.as_ref().unwrap()).unwrap());
    assert_eq!(pollster::block_on(&ticket).unwrap(), 7);
    assert_eq!(ticket.wait().unwrap(), 7);
    assert_eq!(ticket.poll_outcome().unwrap().unwrap(), 7);
    ticket.on_ready(move |outcome| sender.send(*outcome.as_ref().unwrap() + 1).unwrap());
    let mut told: Vec<u32> = told.iter().collect();
    told.sort_unstable();
    assert_eq!(told, [7, 8]);
}

#[test]
fn a_panic_stays_with_its_job() {
    let pool = pool(1, 100);
    let error = submit(&pool, LONG, |_| panic!("of all things")).wait().unwrap_err();
    assert!(matches!(&error, EngineError::Panicked { message } if &**message == "of all things"));
    let ticket = submit(&pool, LONG, |_| Ok(1));
    ticket.on_ready(|_| panic!("in a callback"));
    assert_eq!(ticket.wait().unwrap(), 1);
    assert_eq!(submit(&pool, LONG, |_| Ok(2)).wait().unwrap(), 2);
}

#[test]
fn nobody_waits_past_a_deadline_though_the_work_does_not_stop() {
    let pool = pool(1, 100);
    let (release, held) = mpsc::channel::<()>();
    let ticket = submit(&pool, Duration::from_millis(20), move |_| {
        held.recv().ok();
        Ok(1)
    });
    assert!(ticket.wait().unwrap_err().is_deadline());
    release.send(()).unwrap();
    assert_eq!(submit(&pool, LONG, |_| Ok(2)).wait().unwrap(), 2, "the worker is back");
    assert!(ticket.wait().unwrap_err().is_deadline(), "the first outcome counts");
}

#[test]
fn the_last_ticket_stops_the_work() {
    let pool = pool(1, 100);
    let (started, has_started) = mpsc::channel();
    let (stopped, has_stopped) = mpsc::channel();
    let ticket = submit(&pool, LONG, move |token| {
        started.send(()).unwrap();
        while token.reason().is_none() {
            thread::yield_now();
        }
        stopped.send(token.reason()).unwrap();
        Ok(1)
    });
    has_started.recv().unwrap();
    let other = ticket.clone();
    drop(ticket);
    assert!(other.poll_outcome().is_none(), "somebody still waits");
    drop(other);
    assert_eq!(has_stopped.recv().unwrap(), Some(formwork::Exhausted::Cancelled));
}

#[test]
fn what_was_given_up_before_it_started_is_freed_and_makes_room() {
    let pool = pool(1, 3);
    let (release, held) = mpsc::channel::<()>();
    let (started, has_started) = mpsc::channel();
    let busy = submit(&pool, LONG, move |_| {
        started.send(()).unwrap();
        held.recv().ok();
        Ok(0)
    });
    has_started.recv().unwrap();
    let witness = Arc::new(());
    for _ in 0..1_000 {
        let held = witness.clone();
        drop(submit(&pool, LONG, move |_| Ok(u32::from(Arc::strong_count(&held) == 0))));
    }
    assert_eq!(Arc::strong_count(&witness), 1);
    let waiting: Vec<_> = (0..3).map(|value| submit(&pool, LONG, move |_| Ok(value))).collect();
    let error = submit(&pool, LONG, |_| Ok(9)).wait().unwrap_err();
    assert!(matches!(error, EngineError::Overloaded { limit: 3 }), "{error}");
    release.send(()).unwrap();
    let values: Vec<u32> = waiting.iter().map(|ticket| ticket.wait().unwrap()).collect();
    assert_eq!((busy.wait().unwrap(), values), (0, vec![0, 1, 2]));
}

#[test]
fn those_who_wait_for_a_pool_that_ends_are_told() {
    let pool = pool(1, 100);
    let (release, held) = mpsc::channel::<()>();
    let (started, has_started) = mpsc::channel();
    let busy = submit(&pool, LONG, move |_| {
        started.send(()).unwrap();
        held.recv().ok();
        Ok(0)
    });
    has_started.recv().unwrap();
    let waiting = submit(&pool, LONG, |_| Ok(1));
    drop(pool);
    assert!(waiting.wait().unwrap_err().is_cancelled());
    release.send(()).unwrap();
    assert_eq!(busy.wait().unwrap(), 0, "what is under way is done");
}

#[test]
fn a_compile_has_the_cores_it_was_given() {
    for cores in [1, 3] {
        let config = PoolConfig { threads: 2, cores_per_compile: cores, ..PoolConfig::default() };
        let pool = Pool::new(&config).unwrap();
        let count = |_| Ok(u32::try_from(rayon::current_num_threads()).unwrap());
        let counts = [0, 1].map(|_| submit(&pool, LONG, count)).map(|it| it.wait().unwrap());
        assert_eq!(counts.map(|count| count as usize), [cores; 2]);
        let both = submit(&pool, LONG, |_| Ok(rayon::join(|| 3, || 4)).map(|(a, b)| a + b));
        assert_eq!(both.wait().unwrap(), 7);
    }
}
