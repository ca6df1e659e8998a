//! A piece of work that several wait for, and their tickets.
//!
//! Work is done once, whoever asks. The first outcome counts: the work's own, or that its deadline
//! passed, or that nobody waits any longer, in which case the work is told to stop.

use crate::EngineError;
use formwork::{CancellationToken, Exhausted};
use std::{
    any::Any,
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

/// What comes of a piece of work.
pub type Outcome<V> = Result<V, EngineError>;

/// What is to be done.
pub(crate) type Work<V> = Box<dyn FnOnce(CancellationToken) -> Outcome<V> + Send>;
/// Who is told of the outcome.
type Callback<V> = Box<dyn FnOnce(&Outcome<V>) + Send>;

/// Work and who waits for it.
pub(crate) struct Flight<V> {
    state: Mutex<State<V>>,
    done: Condvar,
    /// What the work may take from its start.
    time: Duration,
}

struct State<V> {
    outcome: Option<Outcome<V>>,
    /// Until it starts.
    work: Option<Work<V>>,
    /// From its start on.
    token: Option<CancellationToken>,
    tickets: usize,
    wakers: Vec<Waker>,
    callbacks: Vec<Callback<V>>,
}

/// What a pool needs to know of work.
pub(crate) trait Job: Send + Sync {
    /// What the work may take.
    fn time(&self) -> Duration;
    /// Does the work on this thread, unless it is settled already.
    fn run(&self);
    /// Settles it: the deadline has passed.
    fn expire(&self);
    /// Settles it, whatever it may have come to.
    fn fail(&self, error: EngineError);
}

impl<V: Clone + Send + 'static> Flight<V> {
    /// Work that nobody waits for yet. `settle` hears of the outcome before anybody else.
    pub(crate) fn new(time: Duration, work: Work<V>, settle: Callback<V>) -> Arc<Self> {
        let state = State {
            outcome: None,
            work: Some(work),
            token: None,
            tickets: 0,
            wakers: Vec::new(),
            callbacks: vec![settle],
        };
        Arc::new(Self { state: Mutex::new(state), done: Condvar::new(), time })
    }

    /// A ticket, unless the work was given up.
    pub(crate) fn ticket(self: &Arc<Self>) -> Option<Ticket<V>> {
        let mut state = self.lock();
        if matches!(&state.outcome, Some(Err(error)) if error.is_cancelled()) {
            return None;
        }
        state.tickets += 1;
        Some(Ticket { flight: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first outcome counts. Everybody is told outside the lock.
    fn settle(&self, outcome: Outcome<V>) {
        let mut state = self.lock();
        if state.outcome.is_some() {
            return;
        }
        state.outcome = Some(outcome.clone());
        let work = state.work.take();
        let callbacks = std::mem::take(&mut state.callbacks);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        for callback in callbacks {
            tell(callback, &outcome);
        }
        self.done.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        drop(work);
    }
}

/// Calls back; a panic of the one called is theirs alone.
fn tell<V>(callback: Callback<V>, outcome: &Outcome<V>) {
    if catch_unwind(AssertUnwindSafe(|| callback(outcome))).is_err() {
        tracing::error!("a callback panicked");
    }
}

impl<V: Clone + Send + 'static> Job for Flight<V> {
    fn time(&self) -> Duration {
        self.time
    }

    fn run(&self) {
        let mut state = self.lock();
        let Some(work) = state.work.take() else { return };
        let deadline = Instant::now().checked_add(self.time);
        let token = deadline.map_or_else(CancellationToken::new, CancellationToken::with_deadline);
        state.token = Some(token.clone());
        drop(state);
        let outcome = catch_unwind(AssertUnwindSafe(|| work(token))).unwrap_or_else(|panic| {
            let message = panic_message(&*panic);
            tracing::error!(message, "compiling panicked");
            Err(EngineError::Panicked { message: message.into() })
        });
        self.settle(outcome);
    }

    fn expire(&self) {
        self.settle(Err(EngineError::stopped(Exhausted::DeadlinePassed)));
    }

    fn fail(&self, error: EngineError) {
        self.settle(Err(error));
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic")
}

impl<V> fmt::Debug for Flight<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flight").field("time", &self.time).finish_non_exhaustive()
    }
}

/// A claim to the outcome of work that is under way. When the last ticket is dropped before there
/// is one, the work is given up.
///
/// Ask with [`Ticket::poll_outcome`], block with [`Ticket::wait`], be called with
/// [`Ticket::on_ready`], or await it.
pub struct Ticket<V: Clone + Send + 'static> {
    flight: Arc<Flight<V>>,
}

impl<V: Clone + Send + 'static> Ticket<V> {
    /// The outcome, when there is one.
    #[must_use]
    pub fn poll_outcome(&self) -> Option<Outcome<V>> {
        self.flight.lock().outcome.clone()
    }

    /// Blocks until there is an outcome.
    ///
    /// # Errors
    /// That of the work.
    pub fn wait(&self) -> Outcome<V> {
        let mut state = self.flight.lock();
        loop {
            if let Some(outcome) = &state.outcome {
                return outcome.clone();
            }
            state = self.flight.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls back once, with the outcome: at once where there is one, otherwise on the thread that
    /// comes to it, which should not be kept long.
    pub fn on_ready(&self, callback: impl FnOnce(&Outcome<V>) + Send + 'static) {
        let mut state = self.flight.lock();
        match state.outcome.clone() {
            Some(outcome) => {
                drop(state);
                tell(Box::new(callback), &outcome);
            }
            None => state.callbacks.push(Box::new(callback)),
        }
    }
}

impl<V: Clone + Send + 'static> Future for &Ticket<V> {
    type Output = Outcome<V>;

    fn poll(self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.flight.lock();
        match &state.outcome {
            Some(outcome) => Poll::Ready(outcome.clone()),
            None => {
                if !state.wakers.iter().any(|waker| waker.will_wake(ctx.waker())) {
                    state.wakers.push(ctx.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl<V: Clone + Send + 'static> Future for Ticket<V> {
    type Output = Outcome<V>;

    fn poll(self: Pin<&mut Self>, ctx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut &*self).poll(ctx)
    }
}

impl<V: Clone + Send + 'static> Clone for Ticket<V> {
    fn clone(&self) -> Self {
        self.flight.lock().tickets += 1;
        Self { flight: self.flight.clone() }
    }
}

impl<V: Clone + Send + 'static> Drop for Ticket<V> {
    fn drop(&mut self) {
        let mut state = self.flight.lock();
        state.tickets -= 1;
        if state.tickets > 0 || state.outcome.is_some() {
            return;
        }
        if let Some(token) = &state.token {
            token.cancel();
        }
        drop(state);
        self.flight.settle(Err(EngineError::stopped(Exhausted::Cancelled)));
    }
}

impl<V: Clone + Send + 'static> fmt::Debug for Ticket<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").finish_non_exhaustive()
    }
}
