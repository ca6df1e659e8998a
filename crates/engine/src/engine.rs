//! The engine: what a server talks to.

use crate::{
    BackendChoice, Backends, CacheStats, CompileMode, EngineConfig, EngineError, OptionValues,
    ReasoningEnd, Request, TierMode,
    cache::{Cache, Found},
    config::front_end_options,
    constrained::Constrained,
    flight::{Flight, Outcome, Ticket},
    key::{Key, KeyParts},
    pool::Pool,
    request::Beginning,
    router::Matter,
};
use formwork::{
    CancellationToken, Constraint, FrontEndOptions, StartOptions, TokenId, Vocabulary, Warning,
    lower, vocab::Fingerprint,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// The engine. One for each vocabulary; cheap to clone, shared between threads.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What an engine and its requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: EngineConfig,
    pub(crate) vocabulary: Arc<Vocabulary>,
    fingerprint: Fingerprint,
    backends: Backends,
    cache: Arc<Cache<Arc<Constrained>>>,
    pool: Pool,
    pub(crate) threads: rayon::ThreadPool,
    counters: Counters,
    /// Every byte as a token: what constraints are validated with.
    bytes: Arc<Vocabulary>,
}

#[derive(Debug, Default)]
struct Counters {
    jumped: AtomicU64,
    moved: AtomicU64,
    promoted: AtomicU64,
    failed: AtomicU64,
}

/// Counts of what an engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineStats {
    /// Of its cache.
    pub cache: CacheStats,
    /// Forward passes saved by [`Request::jump_forward`]: tokens taken without one.
    pub jumped_tokens: u64,
    /// Constraints for which a second compile was begun.
    pub promotions: u64,
    /// Running requests that went over to a second compile.
    pub moved_requests: u64,
    /// Requests whose constraint could not be compiled or started.
    pub failed_requests: u64,
}

/// What a request asks for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RequestSpec {
    /// The constraint; without one nothing is ever masked.
    pub constraint: Option<Constraint>,
    /// The backend, when not the configured one.
    pub backend: Option<BackendChoice>,
    /// Options of the front ends that differ from the configured ones.
    pub options: OptionValues,
    /// Stop ids, and bytes of the output that the prompt already holds.
    pub start: StartOptions,
    /// How many of the last bytes that the prompt holds its tokens do not: the output begins with
    /// them (token healing). At most as many as there are.
    pub healed_bytes: usize,
    /// How the thinking ends that comes before the output; `None` when the output is constrained
    /// from its start.
    pub reasoning: Option<ReasoningEnd>,
    /// Tokens of the prompt that belong to the thinking: with the end among them, it is over.
    pub thought: Vec<TokenId>,
}

impl RequestSpec {
    /// A request with this constraint and nothing else.
    #[must_use]
    pub fn new(constraint: Constraint) -> Self {
        Self { constraint: Some(constraint), ..Self::default() }
    }

    /// A request without a constraint.
    #[must_use]
    pub fn unconstrained() -> Self {
        Self::default()
    }
}

impl Engine {
    /// An engine with the backends of this build.
    ///
    /// # Errors
    /// As [`Self::with_backends`].
    pub fn new(config: EngineConfig, vocabulary: Arc<Vocabulary>) -> Result<Self, EngineError> {
        Self::with_backends(config, vocabulary, Backends::new())
    }

    /// An engine with these backends. Builds what every compile needs (see [`formwork::prepare`]),
    /// which takes a few hundred milliseconds for a vocabulary of 128,000 tokens, and starts the
    /// threads.
    ///
    /// # Errors
    /// [`EngineError`] when the configuration names an unknown backend or option, or threads cannot
    /// be started.
    pub fn with_backends(
        config: EngineConfig,
        vocabulary: Arc<Vocabulary>,
        backends: Backends,
    ) -> Result<Self, EngineError> {
        front_end_options(&config.options)?;
        if let BackendChoice::Named(name) = &config.backend {
            backends.backend(name)?;
        }
        formwork::prepare(&vocabulary);
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(config.step.thread_count())
            .thread_name(|number| format!("formwork-step-{number}"))
            .build()
            .map_err(|_| EngineError::Threads)?;
        let shared = Shared {
            fingerprint: vocabulary.fingerprint(),
            cache: Arc::new(Cache::new(config.cache.bytes)),
            pool: Pool::new(&config.pool)?,
            counters: Counters::default(),
            bytes: Arc::new(every_byte()),
            config,
            vocabulary,
            backends,
            threads,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.shared.vocabulary
    }

    /// Counts of what it has done.
    #[must_use]
    pub fn stats(&self) -> EngineStats {
        let Counters { jumped, moved, promoted, failed } = &self.shared.counters;
        EngineStats {
            cache: self.shared.cache.stats(),
            jumped_tokens: jumped.load(Ordering::Relaxed),
            promotions: promoted.load(Ordering::Relaxed),
            moved_requests: moved.load(Ordering::Relaxed),
            failed_requests: failed.load(Ordering::Relaxed),
        }
    }

    /// Forgets every compiled constraint. Requests keep theirs.
    pub fn clear_cache(&self) {
        self.shared.cache.clear();
    }

    /// A request. Never fails by itself: what is wrong with its constraint is told by
    /// [`Request::poll`]. Hashes the constraint's text on the caller's thread, and compiles there in
    /// [`CompileMode::Synchronous`] and [`TierMode::Deterministic`].
    #[must_use]
    pub fn request(&self, spec: RequestSpec) -> Request {
        let RequestSpec { constraint, backend, options, start, healed_bytes, reasoning, thought } =
            spec;
        let outcome = constraint.map(|constraint| self.shared.find(constraint, backend, options));
        let beginning = Beginning { start, reasoning, thought, healed: healed_bytes };
        Request::new(self.shared.clone(), beginning, outcome)
    }

    /// Whether a constraint can be compiled, without this vocabulary: it is compiled for one of
    /// single bytes, so a constraint passes exactly when some tokenizer could spell it, but for names
    /// of special tokens, which no one knows here. Has a deadline of its own; gives what the user
    /// should know of the constraint.
    #[must_use]
    pub fn validate(
        &self,
        constraint: Constraint,
        options: OptionValues,
    ) -> Ticket<Arc<[Warning]>> {
        let shared = &self.shared;
        let (config, backends) = (shared.config.clone(), shared.backends.clone());
        let bytes = shared.bytes.clone();
        let work = move |token: CancellationToken| {
            let _span = tracing::debug_span!("validate", kind = constraint.key()).entered();
            let options = merged(&config.options, options);
            let options = front_end_options(&options)?;
            let matter = matter(&constraint, &options, &config, bytes)?;
            let warnings: Arc<[Warning]> = matter.grammar.warnings().into();
            let (choice, tiers) = (&config.backend, &config.tiers);
            match Constrained::compile(matter, choice, &backends, tiers, &token) {
                Err(error) if !is_unknown_token(&error) => Err(error),
                _ => Ok(warnings),
            }
        };
        let time = shared.config.pool.validation_deadline();
        let flight = Flight::new(time, Box::new(work), Box::new(|_| {}));
        let ticket = flight.ticket().expect("nobody has given up what is new");
        shared.begin(&flight);
        ticket
    }
}

/// A ticket for a constraint that is being compiled; in place of an error, its outcome.
pub(crate) type Compiling = Result<Ticket<Arc<Constrained>>, Outcome<Arc<Constrained>>>;

impl Shared {
    /// Finds a constraint in the cache, or has it compiled.
    fn find(
        &self,
        constraint: Constraint,
        backend: Option<BackendChoice>,
        options: OptionValues,
    ) -> Compiling {
        let backend = backend.unwrap_or_else(|| self.config.backend.clone());
        let options = merged(&self.config.options, options);
        let parts = KeyParts {
            constraint: &constraint,
            options: &options,
            limits: &self.config.limits,
            backend: &backend,
            vocabulary: self.fingerprint,
        };
        let key = parts.key();
        let found = self.cache.find(key, |number| {
            let work = self.work(constraint, options, backend);
            self.flight(key, number, work)
        });
        let ticket = match found {
            Found::Outcome(outcome) => return Err(outcome),
            Found::Joined(ticket) => ticket,
            Found::New(ticket, flight) => {
                self.begin(&flight);
                ticket
            }
        };
        match self.waits() {
            true => Err(ticket.wait()),
            false => Ok(ticket),
        }
    }

    fn waits(&self) -> bool {
        self.config.pool.mode == CompileMode::Synchronous
            || self.config.tiers.mode == TierMode::Deterministic
    }

    fn flight(
        &self,
        key: Key,
        number: u64,
        work: impl FnOnce(CancellationToken) -> Outcome<Arc<Constrained>> + Send + 'static,
    ) -> Arc<Flight<Arc<Constrained>>> {
        let (cache, timed) = (self.cache.clone(), self.cache.clone());
        let work = move |token: CancellationToken| {
            let started = Instant::now();
            let outcome = work(token);
            timed.note_compile(started.elapsed());
            outcome
        };
        let settle = move |outcome: &Outcome<_>| cache.settle(key, number, outcome);
        Flight::new(self.config.pool.deadline(), Box::new(work), Box::new(settle))
    }

    /// The compile of a constraint.
    fn work(
        &self,
        constraint: Constraint,
        options: OptionValues,
        backend: BackendChoice,
    ) -> impl FnOnce(CancellationToken) -> Outcome<Arc<Constrained>> + Send + 'static {
        let (config, backends) = (self.config.clone(), self.backends.clone());
        let vocabulary = self.vocabulary.clone();
        move |token| {
            let _span = tracing::debug_span!("compile", kind = constraint.key()).entered();
            let options = front_end_options(&options)?;
            let matter = matter(&constraint, &options, &config, vocabulary)?;
            let outcome = Constrained::compile(matter, &backend, &backends, &config.tiers, &token);
            match &outcome {
                Ok(it) => tracing::debug!(explanation = %it.first.explanation, "compiled"),
                Err(error) => tracing::debug!(%error, "not compiled"),
            }
            outcome
        }
    }

    /// Has work done: by the pool, or here.
    fn begin<V: Clone + Send + 'static>(&self, flight: &Arc<Flight<V>>) {
        match self.waits() {
            true => Pool::run_here(&**flight),
            false => self.pool.submit(flight),
        }
    }

    /// Has a hot constraint compiled once more.
    pub(crate) fn promote(&self, constrained: &Arc<Constrained>) {
        if let Some(flight) = constrained.promote(&self.backends, self.config.pool.deadline()) {
            self.counters.promoted.fetch_add(1, Ordering::Relaxed);
            match self.config.tiers.mode {
                TierMode::Deterministic => Pool::run_here(&*flight),
                _ => self.pool.submit(&flight),
            }
        }
    }

    /// Waits until every second compile is over.
    #[cfg(test)]
    pub(crate) fn finish_promotions(&self) {
        self.cache.outcomes().into_iter().flatten().for_each(|it| it.finish_promotion());
    }

    /// One more request has this constraint.
    pub(crate) fn settle_tier(&self, constrained: &Arc<Constrained>) {
        if constrained.note_use(&self.config.tiers) {
            self.promote(constrained);
        }
    }

    pub(crate) fn note_jump(&self, tokens: usize) {
        self.counters.jumped.fetch_add(tokens as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_move(&self) {
        self.counters.moved.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_failure(&self) {
        self.counters.failed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The configured options, with those of a request in their place.
fn merged(base: &OptionValues, over: OptionValues) -> OptionValues {
    let mut merged = base.clone();
    merged.extend(over);
    merged
}

/// Reads a constraint.
fn matter(
    constraint: &Constraint,
    options: &FrontEndOptions,
    config: &EngineConfig,
    vocabulary: Arc<Vocabulary>,
) -> Outcome<Matter> {
    let limits = config.limits.limits();
    let grammar = Arc::new(lower(constraint, options, &limits)?);
    let source_bytes = match constraint {
        Constraint::JsonSchema(text)
        | Constraint::Regex(text)
        | Constraint::Grammar(text)
        | Constraint::StructuralTag(text) => text.len(),
        Constraint::Choice(choices) => choices.iter().map(String::len).sum(),
        _ => 0,
    };
    Ok(Matter { grammar, vocabulary, limits, source_bytes, demand: config.demand })
}

/// A vocabulary of every byte and an end.
fn every_byte() -> Vocabulary {
    let end = TokenId::new(256);
    let builder = (0..=u8::MAX).fold(Vocabulary::builder(257), |builder, byte| {
        builder.token(TokenId::new(byte.into()), &[byte])
    });
    builder.special(end, "<end>").eos(end).build().expect("257 tokens, each once")
}

fn is_unknown_token(error: &EngineError) -> bool {
    use formwork::{CompilationError, CompileError};
    matches!(
        error,
        EngineError::Compilation(CompilationError::Compile(CompileError::UnknownToken { .. }))
    )
}
