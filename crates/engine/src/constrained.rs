//! A compiled constraint, and the second compile that it may get.
//!
//! Uses and tokens are counted over all requests. When a constraint proves hot, it is compiled once
//! more, for whatever is expected to be cheaper than the backend it started on; nothing happens when
//! there is no such backend, and a second compile that fails is not repeated.

use crate::{
    BackendChoice, Backends, Demand, EngineError, Explanation, TierConfig, TierMode,
    cache::Weigh,
    flight::{Flight, Outcome, Ticket},
    router::{Matter, Route},
};
use formwork::{CancellationToken, CompiledGrammar};
use std::{
    mem::size_of,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// A compiled constraint.
#[derive(Debug)]
pub(crate) struct Constrained {
    matter: Matter,
    pub(crate) first: Compiled,
    second: OnceLock<Compiled>,
    uses: AtomicU64,
    tokens: AtomicU64,
    /// Whether a second compile was begun.
    promoted: AtomicBool,
    /// Keeps the second compile going for as long as there is anybody to use it.
    promotion: Mutex<Option<Ticket<()>>>,
}

/// What one backend made of it, and why that one.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) grammar: Arc<dyn CompiledGrammar>,
    pub(crate) explanation: Arc<Explanation>,
}

impl Compiled {
    fn new((grammar, explanation): (Arc<dyn CompiledGrammar>, Explanation)) -> Self {
        Self { grammar, explanation: Arc::new(explanation) }
    }
}

impl Constrained {
    /// Compiles for the first time.
    pub(crate) fn compile(
        matter: Matter,
        choice: &BackendChoice,
        backends: &Backends,
        tiers: &TierConfig,
        cancellation: &CancellationToken,
    ) -> Outcome<Arc<Self>> {
        let route = match choice {
            BackendChoice::Named(name) => Route::named(backends, name, &matter)?,
            BackendChoice::Auto => {
                let first = (tiers.mode != TierMode::Off).then_some(tiers.start.as_str());
                Route::auto(backends, first, &matter)
            }
        };
        let first = Compiled::new(route.compile(&matter, cancellation)?);
        Ok(Arc::new(Self {
            matter,
            first,
            second: OnceLock::new(),
            uses: AtomicU64::new(0),
            tokens: AtomicU64::new(0),
            promoted: AtomicBool::new(false),
            promotion: Mutex::new(None),
        }))
    }

    /// What new requests start on.
    pub(crate) fn current(&self) -> &Compiled {
        self.second.get().unwrap_or(&self.first)
    }

    /// What the second compile made, once it has.
    pub(crate) fn second(&self) -> Option<&Compiled> {
        self.second.get()
    }

    /// One more request; whether the constraint has proved hot by it.
    pub(crate) fn note_use(&self, tiers: &TierConfig) -> bool {
        let uses = self.uses.fetch_add(1, Ordering::Relaxed) + 1;
        uses >= tiers.uses && self.may_rise(tiers)
    }

    /// Some more tokens; whether the constraint has proved hot by them.
    pub(crate) fn note_tokens(&self, count: usize, tiers: &TierConfig) -> bool {
        let count = count as u64;
        let tokens = self.tokens.fetch_add(count, Ordering::Relaxed).saturating_add(count);
        tokens >= tiers.tokens && tiers.mode == TierMode::Background && self.may_rise(tiers)
    }

    fn may_rise(&self, tiers: &TierConfig) -> bool {
        !self.promoted.load(Ordering::Relaxed)
            && tiers.mode != TierMode::Off
            && self.first.explanation.choice == BackendChoice::Auto
            && self.first.explanation.chosen.as_deref() == Some(tiers.start.as_str())
    }

    /// The second compile as work for a pool; `None` when somebody else has taken it.
    pub(crate) fn promote(
        self: &Arc<Self>,
        backends: &Backends,
        time: Duration,
    ) -> Option<Arc<Flight<()>>> {
        if self.promoted.swap(true, Ordering::Relaxed) {
            return None;
        }
        // The work must not keep alive what keeps the work alive.
        let (constrained, backends) = (Arc::downgrade(self), backends.clone());
        let work = move |token: CancellationToken| {
            let matter = constrained.upgrade().map(|it| (it.hot_matter(), it.start()));
            let Some((matter, Some(start))) = matter else { return Ok(()) };
            let _span = tracing::debug_span!("second_compile").entered();
            let route = Route::auto(&backends, None, &matter).better_than(&start);
            let compiled = Compiled::new(route.compile(&matter, &token)?);
            tracing::debug!(explanation = %compiled.explanation, "a hot constraint is compiled");
            if let Some(constrained) = constrained.upgrade() {
                // Nobody else sets it: only one second compile is ever begun.
                constrained.second.set(compiled).ok();
            }
            Ok(())
        };
        let settle = |outcome: &Outcome<()>| {
            if let Err(error) = outcome {
                tracing::debug!(%error, "a hot constraint stays where it is");
            }
        };
        let flight = Flight::new(time, Box::new(work), Box::new(settle));
        *self.promotion.lock().unwrap_or_else(PoisonError::into_inner) = flight.ticket();
        Some(flight)
    }

    /// Waits until the second compile, if one was begun, is over.
    #[cfg(test)]
    pub(crate) fn finish_promotion(&self) {
        let promotion = self.promotion.lock().unwrap().clone();
        promotion.into_iter().for_each(|ticket| drop(ticket.wait()));
    }

    fn start(&self) -> Option<Box<str>> {
        self.first.explanation.chosen.clone()
    }

    /// The same, with the demand that is expected of what is hot: ten times what was seen.
    fn hot_matter(&self) -> Matter {
        let uses = self.uses.load(Ordering::Relaxed).max(1);
        let tokens = self.tokens.load(Ordering::Relaxed) / uses;
        let demand =
            Demand { uses: uses.saturating_mul(10), tokens: tokens.max(self.matter.demand.tokens) };
        Matter { demand, ..self.matter.clone() }
    }
}

impl Weigh for Arc<Constrained> {
    fn bytes(&self) -> usize {
        let compiled = |it: &Compiled| it.grammar.memory_bytes() + size_of::<Explanation>();
        // The grammar is kept for the second compile: about a node for every few bytes of text.
        let grammar = 16 * self.matter.source_bytes;
        size_of::<Constrained>()
            + grammar
            + compiled(&self.first)
            + self.second.get().map_or(0, compiled)
    }
}

impl EngineError {
    /// Whether the constraint itself is at fault, or cannot be done, rather than the engine.
    #[must_use]
    pub fn is_constraints(&self) -> bool {
        match self {
            Self::Compilation(_) => !self.is_cancelled() && !self.is_deadline(),
            Self::NoBackend { .. } | Self::Option(_) | Self::Start(_) => true,
            _ => false,
        }
    }
}
