//! What a construction may spend: operations, never time; and how it is told to stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// Tells running work to stop: by hand, or because a deadline has passed. Clones share the switch.
#[derive(Clone, Debug, Default)]
pub struct CancellationToken {
    cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl CancellationToken {
    /// A token that is cancelled by hand only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that also counts as cancelled once `deadline` has passed.
    #[must_use]
    pub fn with_deadline(deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..Self::default() }
    }

    /// Tells all work that holds a clone of this token to stop at its next check.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Why the work should stop, if it should. Reads the clock when there is a deadline.
    #[must_use]
    pub fn reason(&self) -> Option<Exhausted> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Some(Exhausted::Cancelled);
        }
        let passed = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        passed.then_some(Exhausted::DeadlinePassed)
    }
}

/// Why a construction stopped before it was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Exhausted {
    /// More automaton states than allowed.
    #[error("more than {limit} automaton states")]
    States {
        /// The limit that was hit.
        limit: usize,
    },
    /// More elementary steps than allowed.
    #[error("more than {limit} construction steps")]
    Steps {
        /// The limit that was hit.
        limit: u64,
    },
    /// The caller cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// The deadline passed.
    #[error("the deadline passed")]
    DeadlinePassed,
}

/// The budget of one construction. One step is one visited transition or set member: about ten
/// million a second.
#[derive(Clone, Debug)]
pub struct Fuel {
    max_states: usize,
    max_steps: u64,
    states: usize,
    steps: u64,
    next_check: u64,
    cancellation: CancellationToken,
}

/// Steps between two looks at the cancellation token: well under a millisecond.
const CHECK_EVERY: u64 = 4_096;

impl Fuel {
    /// A budget of automaton states and elementary steps.
    #[must_use]
    pub fn new(max_states: usize, max_steps: u64) -> Self {
        Self {
            max_states,
            max_steps,
            states: 0,
            steps: 0,
            next_check: 0,
            cancellation: CancellationToken::new(),
        }
    }

    /// The same budget, stopped by a token as well.
    #[must_use]
    pub fn with_cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// No limit at all, for inputs known to be small.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(usize::MAX, u64::MAX)
    }

    /// Pays for one more automaton state.
    ///
    /// # Errors
    /// [`Exhausted`] when the budget is used up or the work was cancelled.
    pub fn state(&mut self) -> Result<(), Exhausted> {
        if self.states >= self.max_states {
            return Err(Exhausted::States { limit: self.max_states });
        }
        self.states += 1;
        self.steps(1)
    }

    /// Pays for some elementary steps.
    ///
    /// # Errors
    /// [`Exhausted`] when the budget is used up or the work was cancelled.
    pub fn steps(&mut self, count: usize) -> Result<(), Exhausted> {
        self.steps = self.steps.saturating_add(count as u64);
        if self.steps > self.max_steps {
            return Err(Exhausted::Steps { limit: self.max_steps });
        }
        if self.steps >= self.next_check {
            self.next_check = self.steps + CHECK_EVERY;
            if let Some(reason) = self.cancellation.reason() {
                return Err(reason);
            }
        }
        Ok(())
    }

    /// States paid for so far.
    #[must_use]
    pub fn states_spent(&self) -> usize {
        self.states
    }

    /// Steps paid for so far.
    #[must_use]
    pub fn steps_spent(&self) -> u64 {
        self.steps
    }
}
