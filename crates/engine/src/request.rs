//! One request: its constraint, once that is compiled, its reasoning gate, its state.

use crate::{
    EngineError, Explanation, ReasoningEnd, RequestError, TierMode,
    constrained::{Compiled, Constrained},
    engine::{Compiling, Shared},
    flight::{Outcome, Ticket},
    gate::Gate,
    heal::Healing,
};
use formwork::{
    AcceptError, AcceptErrorKind, Filled, RollbackError, RowId, StartOptions,
    StructuredOutputGrammar, TokenId, Vocabulary, mask::RowMut,
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

/// A request. It belongs to one sequence; whoever steps it has it alone.
///
/// While its constraint is compiled it is [waiting](Status::Waiting). Until its reasoning gate
/// opens it may step all the same: nothing is constrained yet.
#[derive(Debug)]
pub struct Request {
    pub(crate) engine: Arc<Shared>,
    state: State,
    start: StartOptions,
    gate: Option<Gate>,
    healing: Option<Healing>,
}

/// Where a request stands.
#[derive(Clone, Debug)]
pub enum Status {
    /// Its constraint is being compiled.
    Waiting,
    /// It can step.
    Ready,
    /// It never will.
    Failed(EngineError),
}

#[derive(Debug)]
enum State {
    /// Without a constraint: the tokens taken.
    Free(usize),
    Waiting(Ticket<Arc<Constrained>>),
    Running(Running),
    Failed(EngineError),
    /// The matcher panicked.
    Broken,
}

#[derive(Debug)]
struct Running {
    constrained: Arc<Constrained>,
    on: Compiled,
    matcher: Box<dyn StructuredOutputGrammar>,
    /// Whether it may go over to what a second compile makes.
    may_move: bool,
}

/// What a request starts with, besides its constraint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    pub(crate) start: StartOptions,
    pub(crate) reasoning: Option<ReasoningEnd>,
    /// Tokens of the prompt that belong to the thinking.
    pub(crate) thought: Vec<TokenId>,
    /// How many of the last fixed bytes the prompt's tokens do not hold.
    pub(crate) healed: usize,
}

impl Request {
    pub(crate) fn new(
        engine: Arc<Shared>,
        beginning: Beginning,
        outcome: Option<Compiling>,
    ) -> Self {
        let Beginning { start, reasoning, thought, healed } = beginning;
        let gate = reasoning.map(|end| {
            let mut gate = Gate::new(end);
            gate.read(&thought, &engine.vocabulary);
            gate.settle();
            gate
        });
        let mut start = start;
        let kept = start.fixed_bytes.len().saturating_sub(healed);
        let healing = (kept < start.fixed_bytes.len())
            .then(|| Healing::new(start.fixed_bytes.split_off(kept)));
        let state = match outcome {
            None => State::Free(0),
            Some(Ok(ticket)) => State::Waiting(ticket),
            Some(Err(outcome)) => begin(&engine, &start, healing.as_ref(), outcome),
        };
        Self { engine, state, start, gate, healing }
    }

    /// Where the request stands now.
    pub fn poll(&mut self) -> Status {
        if let State::Waiting(ticket) = &self.state
            && let Some(outcome) = ticket.poll_outcome()
        {
            self.state = begin(&self.engine, &self.start, self.healing.as_ref(), outcome);
        }
        match &self.state {
            State::Free(_) | State::Running(_) => Status::Ready,
            State::Waiting(_) => Status::Waiting,
            State::Failed(error) => Status::Failed(error.clone()),
            State::Broken => Status::Failed(EngineError::Panicked { message: "a matcher".into() }),
        }
    }

    /// Blocks until the constraint is compiled.
    ///
    /// # Errors
    /// Why it is not.
    pub fn wait(&mut self) -> Result<(), EngineError> {
        if let State::Waiting(ticket) = &self.state {
            // The outcome stays in the ticket.
            ticket.wait().ok();
        }
        self.outcome()
    }

    /// Waits until the constraint is compiled. Dropping the future changes nothing.
    ///
    /// # Errors
    /// Why it is not.
    pub async fn ready(&mut self) -> Result<(), EngineError> {
        if let State::Waiting(ticket) = &self.state {
            ticket.await.ok();
        }
        self.outcome()
    }

    fn outcome(&mut self) -> Result<(), EngineError> {
        match self.poll() {
            Status::Failed(error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Calls back once the request is no longer waiting: at once where it is not, otherwise on the
    /// thread that compiles, which should not be kept long. [`Self::poll`] says how it went.
    pub fn on_ready(&self, callback: impl FnOnce() + Send + 'static) {
        match &self.state {
            State::Waiting(ticket) => ticket.on_ready(move |_| callback()),
            _ => callback(),
        }
    }

    /// Which backend the request is on, and why; `None` without a constraint and while waiting.
    #[must_use]
    pub fn explain(&self) -> Option<&Explanation> {
        match &self.state {
            State::Running(running) => Some(&running.on.explanation),
            _ => None,
        }
    }

    /// The matcher, where there is one.
    pub(crate) fn matcher(&mut self) -> Option<&mut (dyn StructuredOutputGrammar + 'static)> {
        match &mut self.state {
            State::Running(running) => Some(&mut *running.matcher),
            _ => None,
        }
    }

    /// The vocabulary whose tokens are read.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.engine.vocabulary
    }

    /// Whether the thinking has not ended yet.
    #[must_use]
    pub fn is_thinking(&self) -> bool {
        self.gate.as_ref().is_some_and(|gate| !gate.is_open())
    }

    /// Whether rows of this request constrain anything now.
    pub(crate) fn is_constrained(&self) -> bool {
        !matches!(self.state, State::Free(_)) && !self.is_thinking()
    }

    /// Whether the output has ended.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        !self.is_thinking()
            && matches!(&self.state, State::Running(it) if it.matcher.is_terminated())
    }

    /// Whether the output so far is complete. An unconstrained one always is, one that still thinks
    /// never.
    #[must_use]
    pub fn is_accepting(&self) -> bool {
        !self.is_thinking()
            && match &self.state {
                State::Free(_) => true,
                State::Running(running) => running.matcher.is_accepting(),
                _ => false,
            }
    }

    /// Tokens taken, those of the thinking included; what can be rolled back.
    #[must_use]
    pub fn num_tokens(&self) -> usize {
        let thought = self.gate.as_ref().map_or(0, Gate::len);
        thought
            + match &self.state {
                State::Free(count) => *count,
                State::Running(running) => running.matcher.num_processed_tokens(),
                _ => 0,
            }
    }

    /// An independent request in the same state.
    ///
    /// # Errors
    /// [`RequestError::Waiting`], [`RequestError::Failed`] or [`RequestError::Panicked`] when there
    /// is no state to copy.
    pub fn fork(&mut self) -> Result<Self, RequestError> {
        self.poll();
        let state = match &self.state {
            State::Free(count) => State::Free(*count),
            State::Running(Running { constrained, on, matcher, may_move }) => {
                State::Running(Running {
                    constrained: constrained.clone(),
                    on: on.clone(),
                    matcher: matcher.fork(),
                    may_move: *may_move,
                })
            }
            State::Waiting(ticket) => State::Waiting(ticket.clone()),
            State::Failed(error) => return Err(error.clone().into()),
            State::Broken => return Err(RequestError::Panicked),
        };
        let (engine, start) = (self.engine.clone(), self.start.clone());
        Ok(Self { engine, state, start, gate: self.gate.clone(), healing: self.healing.clone() })
    }

    /// Calls the matcher. A panic breaks the request, and nothing else.
    fn with<T>(
        &mut self,
        call: impl FnOnce(&mut dyn StructuredOutputGrammar) -> T,
    ) -> Result<T, RequestError> {
        self.poll();
        let running = match &mut self.state {
            State::Running(running) => running,
            State::Waiting(_) => return Err(RequestError::Waiting),
            State::Failed(error) => return Err(error.clone().into()),
            // Nobody asks for the matcher of a request that has no constraint.
            State::Broken | State::Free(_) => return Err(RequestError::Panicked),
        };
        let called = catch_unwind(AssertUnwindSafe(|| call(&mut *running.matcher)));
        called.map_err(|_| {
            tracing::error!("a matcher panicked");
            self.state = State::Broken;
            RequestError::Panicked
        })
    }

    /// Writes the row of this state, whatever stood there; `held` is the identity of what stands
    /// there, where it is known (see
    /// [`fill_bitmask`](StructuredOutputGrammar::fill_bitmask)).
    ///
    /// # Errors
    /// [`RequestError`]: the row then allows the stop ids alone.
    pub fn fill(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, RequestError> {
        if !self.is_constrained() {
            if held == RowId::UNCONSTRAINED {
                return Ok(Filled::Unchanged);
            }
            row.fill(-1);
            return Ok(Filled::Written(RowId::UNCONSTRAINED));
        }
        let filled = self.with(|matcher| matcher.fill_bitmask(row, held));
        match filled {
            Ok(Ok(filled)) => Ok(self.heal(row, filled)),
            // The matcher has written the row.
            Ok(Err(error)) => Err(error.into()),
            Err(error) => {
                self.fill_stops(row);
                Err(error)
            }
        }
    }

    /// Takes away what does not go on with the bytes to be healed. The row has no identity then:
    /// by the one the matcher gave, it would be another.
    fn heal(&self, row: &mut [i32], filled: Filled) -> Filled {
        match &self.healing {
            Some(healing) if healing.is_open() => {
                healing.restrict(row, &self.engine.vocabulary);
                Filled::Written(RowId::NONE)
            }
            _ => filled,
        }
    }

    /// The row of a request that cannot go on.
    fn fill_stops(&self, row: &mut [i32]) {
        row.fill(0);
        let mut row = RowMut::new(row, self.engine.vocabulary.model_len());
        let own = match &self.state {
            State::Running(running) => running.matcher.stop_ids(),
            _ => self.engine.vocabulary.eos(),
        };
        own.iter().for_each(|stop| row.set(stop.index()));
    }

    /// Takes tokens, all or none.
    ///
    /// # Errors
    /// [`RequestError::Accept`] names the first token that is not allowed; the state is as before.
    pub fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), RequestError> {
        if let State::Free(count) = &mut self.state {
            *count += tokens.len();
            return Ok(());
        }
        let thought = self.think(tokens);
        let rest = &tokens[thought..];
        let taken = match rest.is_empty() {
            true => Ok(()),
            false => self.accept_constrained(rest),
        };
        if let Err(mut error) = taken {
            self.unthink(thought);
            if let RequestError::Accept(error) = &mut error {
                error.index += thought;
            }
            return Err(error);
        }
        self.note_tokens(rest.len());
        Ok(())
    }

    fn accept_constrained(&mut self, tokens: &[TokenId]) -> Result<(), RequestError> {
        let healed = self.healed(tokens);
        let taken = match healed < tokens.len() {
            true => {
                let kind = AcceptErrorKind::NotAllowed;
                // What the matcher says of the tokens before comes first.
                let known = self.with(|matcher| matcher.validate_tokens(&tokens[..healed]))?;
                let index = known.min(healed);
                Err(AcceptError { index, token: tokens[index], kind }.into())
            }
            false => self.with(|matcher| matcher.accept_tokens(tokens))?.map_err(Into::into),
        };
        if taken.is_ok()
            && let Some(healing) = &mut self.healing
        {
            healing.accept(tokens, &self.engine.vocabulary);
        }
        taken
    }

    /// How many of the tokens go on with the bytes to be healed.
    fn healed(&self, tokens: &[TokenId]) -> usize {
        let healing = self.healing.as_ref();
        healing.map_or(tokens.len(), |it| it.validate(tokens, &self.engine.vocabulary))
    }

    /// Reads what belongs to the thinking; how many tokens.
    fn think(&mut self, tokens: &[TokenId]) -> usize {
        let gate = self.gate.as_mut();
        gate.map_or(0, |gate| gate.read(tokens, &self.engine.vocabulary))
    }

    fn unthink(&mut self, tokens: usize) {
        if let Some(gate) = &mut self.gate {
            gate.rollback(tokens);
        }
    }

    /// How many of the tokens, from the first on, would be accepted; 0 when terminated. Changes
    /// nothing.
    ///
    /// # Errors
    /// [`RequestError`] when the request cannot go on.
    pub fn validate_tokens(&mut self, tokens: &[TokenId]) -> Result<usize, RequestError> {
        if let State::Free(_) = &self.state {
            return Ok(tokens.len());
        }
        let thought = self.think(tokens);
        self.unthink(thought);
        let rest = &tokens[thought..];
        if rest.is_empty() {
            return Ok(thought);
        }
        let healed = self.healed(rest);
        Ok(thought + self.with(|matcher| matcher.validate_tokens(&rest[..healed]))?)
    }

    /// Whether the row of this state allows the token, without making the row.
    ///
    /// # Errors
    /// As [`Self::validate_tokens`].
    pub fn check_token(&mut self, token: TokenId) -> Result<bool, RequestError> {
        if !self.is_constrained() {
            return Ok(token.index() < self.engine.vocabulary.model_len());
        }
        Ok(self.healed(&[token]) == 1 && self.with(|matcher| matcher.check_token(token))?)
    }

    /// Undoes the last tokens, those of the thinking too.
    ///
    /// # Errors
    /// [`RequestError::Rollback`] when fewer were taken; the state is as before.
    pub fn rollback(&mut self, tokens: usize) -> Result<(), RequestError> {
        let processed = self.num_tokens();
        if tokens > processed {
            return Err(RollbackError { requested: tokens, processed }.into());
        }
        if let State::Free(count) = &mut self.state {
            *count -= tokens;
            return Ok(());
        }
        let own = self.matcher().map_or(0, |it| it.num_processed_tokens()).min(tokens);
        if own > 0 {
            self.with(|matcher| matcher.rollback(own))??;
        }
        self.unthink(tokens - own);
        let written = self.matcher().map_or(0, |matcher| matcher.num_processed_tokens());
        if let Some(healing) = &mut self.healing {
            healing.truncate(written);
        }
        Ok(())
    }

    /// Takes the tokens that the tokenizer itself would go on with whatever the model says, at most
    /// `limit` bytes of them, and returns them: as many forward passes are saved. The last token
    /// that a continuation could still change is held back. Empty without an encoder, while the
    /// request thinks, and where the output is not the tokenizer's own encoding.
    ///
    /// # Errors
    /// [`RequestError`] when the request cannot go on.
    pub fn jump_forward(&mut self, limit: usize) -> Result<Vec<TokenId>, RequestError> {
        let tokens = self.forced_tokens(limit)?;
        self.accept_tokens(&tokens)?;
        self.engine.note_jump(tokens.len());
        Ok(tokens)
    }

    /// The same tokens, as a draft that is accepted by construction; none is taken.
    ///
    /// # Errors
    /// As [`Self::jump_forward`].
    pub fn forced_tokens(&mut self, limit: usize) -> Result<Vec<TokenId>, RequestError> {
        let healing = self.healing.as_ref().is_some_and(Healing::is_open);
        if !self.is_constrained() || healing {
            return Ok(Vec::new());
        }
        let mut tokens = Vec::new();
        self.with(|matcher| matcher.forced_tokens(limit, &mut tokens))?;
        Ok(tokens)
    }

    /// Begins a step: takes what has become ready, and goes over to what a second compile has made.
    pub(crate) fn step(&mut self) {
        self.poll();
        let tiers = &self.engine.config.tiers;
        if tiers.mode != TierMode::Background || self.is_thinking() {
            return;
        }
        let State::Running(running) = &mut self.state else { return };
        let Some(second) = running.constrained.second() else { return };
        if !running.may_move {
            return;
        }
        running.may_move = false;
        if running.matcher.num_processed_tokens() > tiers.replay_tokens {
            return;
        }
        let (second, start, old) = (second.clone(), &self.start, &*running.matcher);
        let moved = catch_unwind(AssertUnwindSafe(|| replay(&second, start, old)));
        match moved {
            Ok(Some(matcher)) => {
                (running.matcher, running.on) = (matcher, second);
                self.engine.note_move();
            }
            // It stays where it is, which is as good.
            _ => tracing::warn!("a request could not go over to a second compile"),
        }
    }

    fn note_tokens(&mut self, count: usize) {
        if let State::Running(running) = &self.state
            && running.constrained.note_tokens(count, &self.engine.config.tiers)
        {
            self.engine.promote(&running.constrained);
        }
    }
}

/// A matcher of the second compile in the state of this one.
fn replay(
    second: &Compiled,
    start: &StartOptions,
    old: &dyn StructuredOutputGrammar,
) -> Option<Box<dyn StructuredOutputGrammar>> {
    let tokens = old.processed_tokens();
    let mut matcher = second.grammar.clone().start(start).ok()?;
    matcher.accept_tokens(&tokens).ok()?;
    let is_same = matcher.num_processed_tokens() == tokens.len()
        && matcher.is_terminated() == old.is_terminated()
        && matcher.is_accepting() == old.is_accepting();
    is_same.then_some(matcher)
}

/// Starts a matcher on what was compiled.
fn begin(
    engine: &Shared,
    start: &StartOptions,
    healing: Option<&Healing>,
    outcome: Outcome<Arc<Constrained>>,
) -> State {
    let started = outcome.and_then(|constrained| {
        engine.settle_tier(&constrained);
        let on = constrained.current().clone();
        let start = || {
            if let Some(healing) = healing {
                // All that the prompt holds must be possible, not only what its tokens hold.
                let mut whole = start.clone();
                whole.fixed_bytes.extend_from_slice(healing.bytes());
                on.grammar.clone().start(&whole)?;
            }
            on.grammar.clone().start(start)
        };
        let matcher = catch_unwind(AssertUnwindSafe(start))
            .map_err(|_| EngineError::Panicked { message: "starting a matcher".into() })??;
        let may_move = constrained.second().is_none();
        Ok(Running { constrained, on, matcher, may_move })
    });
    started.map_or_else(
        |error| {
            engine.note_failure();
            State::Failed(error)
        },
        State::Running,
    )
}
