//! A matcher over a [`Machine`]: stop ids, termination, atomic accept, rollback, fork, identities.
//!
//! # Invariants
//! 1. `history` holds one entry per processed token: the token and the state after it.
//! 2. Only the newest entry can be terminating; nothing is pushed on top of it.
//! 3. Once `history` has room, no method but `fork` allocates, save one block per 128 tokens.

use crate::{
    AcceptError, AcceptErrorKind, DeltaForm, Filled, History, Machine, MaskDelta, RollbackError,
    RowId, StartError, StartOptions, StepError, StopSet, StructuredOutputGrammar,
};
use formwork_mask::{RowMut, fill_unconstrained};
use formwork_vocab::{TokenId, Vocabulary};
use std::sync::Arc;

/// One request over a machine.
#[derive(Debug)]
pub struct Session<M: Machine> {
    machine: Arc<M>,
    stops: StopSet,
    start: Entry<M::State>,
    fixed_bytes: Arc<[u8]>,
    history: History<Entry<M::State>>,
    failure: Option<Failure>,
}

/// A limit was hit: the session stays so until it is rolled back past the place.
#[derive(Clone, Debug)]
struct Failure {
    error: StepError,
    /// Tokens processed before it.
    at: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry<S> {
    state: S,
    /// The token that led here; meaningless in the start entry.
    token: TokenId,
    terminated: bool,
}

impl<M: Machine> Session<M> {
    /// A session at the machine's start, or after the fixed bytes.
    ///
    /// # Errors
    /// [`StartError::FixedBytes`].
    pub fn start(machine: Arc<M>, options: &StartOptions) -> Result<Self, StartError> {
        let stops = machine.stop_sets().resolve(&options.stop_ids, machine.vocabulary());
        let state = match &*options.fixed_bytes {
            [] => machine.start(),
            bytes => machine
                .step_bytes(machine.start(), bytes)
                .map_err(|offset| StartError::FixedBytes { offset })?,
        };
        let terminated = stops.ids().is_empty() && ends(&*machine, state);
        let start = Entry { state, token: TokenId::new(0), terminated };
        let fixed_bytes = options.fixed_bytes.as_slice().into();
        Ok(Self { machine, stops, start, fixed_bytes, history: History::new(), failure: None })
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Arc<M> {
        &self.machine
    }

    /// The machine's state now. After a stop id that is not a terminal: the state before it.
    #[must_use]
    pub fn state(&self) -> M::State {
        self.now().state
    }

    fn now(&self) -> Entry<M::State> {
        self.history.last().unwrap_or(self.start)
    }

    /// The entry after a token, or `None` when the token is not allowed.
    fn after(
        &self,
        now: Entry<M::State>,
        token: TokenId,
    ) -> Result<Option<Entry<M::State>>, StepError> {
        let machine = &*self.machine;
        Ok(match machine.try_step(now.state, token)? {
            Some(state) => {
                let may_end = self.stops.ids().is_empty() || self.stops.contains(token);
                Some(Entry { state, token, terminated: may_end && ends(machine, state) })
            }
            None => {
                let stops = self.stops.contains(token) && machine.is_accepting(now.state);
                stops.then_some(Entry { state: now.state, token, terminated: true })
            }
        })
    }

    /// The entry after a token in a session that failed: stop ids end it, nothing else is taken.
    fn after_failure(&self, now: Entry<M::State>, token: TokenId) -> Option<Entry<M::State>> {
        self.stops.contains(token).then_some(Entry { token, terminated: true, ..now })
    }

    /// The error of a session that failed.
    fn failure(&self) -> Option<&StepError> {
        self.failure.as_ref().map(|failure| &failure.error)
    }

    fn fail(&mut self, error: StepError) {
        self.failure = Some(Failure { error, at: self.history.len() });
    }

    /// Forgets a failure that was rolled back.
    fn truncate(&mut self, tokens: usize) {
        self.history.truncate(tokens);
        self.failure.take_if(|failure| failure.at > tokens);
    }

    /// Takes one token.
    fn accept(&mut self, now: Entry<M::State>, token: TokenId) -> Result<(), AcceptErrorKind> {
        let after = match self.failure.clone() {
            Some(failure) => match self.after_failure(now, token) {
                Some(entry) => Ok(Some(entry)),
                None => return Err(failure.error.into()),
            },
            None => self.after(now, token),
        };
        match after {
            Ok(Some(entry)) => {
                self.history.push(entry);
                Ok(())
            }
            Ok(None) if token.index() < self.vocabulary().model_len() => {
                Err(AcceptErrorKind::NotAllowed)
            }
            Ok(None) => Err(AcceptErrorKind::Unknown),
            Err(error) => Err(error.into()),
        }
    }

    /// The row of a session that failed.
    fn fill_stops(&self, row: &mut [i32]) {
        row.fill(0);
        let mut row = RowMut::new(row, self.machine.vocabulary().model_len());
        self.stops.ids().iter().for_each(|stop| row.set(stop.index()));
    }

    /// Identity of the row of a running state.
    fn row_id(&self, state: M::State) -> RowId {
        let row = self.machine.row(state);
        match self.machine.is_accepting(state) && !self.stops.ids().is_empty() {
            true if row != RowId::NONE => row.with_stops(self.stops.number()),
            _ => row,
        }
    }

    fn patch_stops(&self, state: M::State, row: &mut [i32]) {
        if self.machine.is_accepting(state) {
            let mut row = RowMut::new(row, self.machine.vocabulary().model_len());
            for stop in self.stops.ids() {
                row.set(stop.index());
            }
        }
    }
}

/// Whether the output is complete and nothing may follow.
fn ends<M: Machine>(machine: &M, state: M::State) -> bool {
    machine.is_accepting(state) && !machine.may_continue(state)
}

/// A fork: constant time.
impl<M: Machine> Clone for Session<M> {
    fn clone(&self) -> Self {
        Self {
            machine: self.machine.clone(),
            stops: self.stops.clone(),
            start: self.start,
            fixed_bytes: self.fixed_bytes.clone(),
            history: self.history.clone(),
            failure: self.failure.clone(),
        }
    }
}

impl<M: Machine> StructuredOutputGrammar for Session<M> {
    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.machine.vocabulary()
    }

    fn stop_ids(&self) -> &[TokenId] {
        self.stops.ids()
    }

    fn fill_bitmask(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, StepError> {
        assert_eq!(row.len(), self.vocabulary().row_words(), "words of a row");
        let now = self.now();
        if !now.terminated && self.failure.is_none() {
            self.machine.prepare_row(now.state).unwrap_or_else(|error| self.fail(error));
        }
        let id = match (now.terminated, self.failure()) {
            (true, _) => RowId::UNCONSTRAINED,
            (false, Some(error)) => {
                let error = error.clone();
                self.fill_stops(row);
                return Err(error);
            }
            (false, None) => self.row_id(now.state),
        };
        if id == held && id != RowId::NONE {
            return Ok(Filled::Unchanged);
        }
        if now.terminated {
            fill_unconstrained(row);
        } else {
            self.machine.write_row(now.state, row);
            self.patch_stops(now.state, row);
        }
        Ok(Filled::Written(id))
    }

    fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), AcceptError> {
        let before = self.history.len();
        for (index, &token) in tokens.iter().enumerate() {
            let now = self.now();
            if now.terminated {
                break;
            }
            if let Err(kind) = self.accept(now, token) {
                self.truncate(before);
                if let AcceptErrorKind::Failed(error) = &kind {
                    self.fail(error.clone());
                }
                return Err(AcceptError { index, token, kind });
            }
        }
        Ok(())
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), RollbackError> {
        let processed = self.history.len();
        match processed.checked_sub(tokens) {
            Some(left) => {
                self.truncate(left);
                Ok(())
            }
            None => Err(RollbackError { requested: tokens, processed }),
        }
    }

    fn fork(&self) -> Box<dyn StructuredOutputGrammar> {
        Box::new(self.clone())
    }

    fn is_accepting(&self) -> bool {
        self.failure.is_none() && self.machine.is_accepting(self.now().state)
    }

    fn is_terminated(&self) -> bool {
        self.now().terminated
    }

    fn processed_tokens(&self) -> Vec<TokenId> {
        self.history.to_vec().into_iter().map(|entry| entry.token).collect()
    }

    fn fixed_bytes(&self) -> &[u8] {
        &self.fixed_bytes
    }

    fn num_processed_tokens(&self) -> usize {
        self.history.len()
    }

    fn validate_tokens(&mut self, tokens: &[TokenId]) -> usize {
        let mut now = self.now();
        for (index, &token) in tokens.iter().enumerate() {
            if now.terminated {
                return index;
            }
            let next = match self.failure.is_some() {
                true => self.after_failure(now, token),
                // A step that would fail is not taken.
                false => self.after(now, token).unwrap_or_default(),
            };
            match next {
                Some(next) => now = next,
                None => return index,
            }
        }
        tokens.len()
    }

    fn check_token(&mut self, token: TokenId) -> bool {
        let now = self.now();
        match now.terminated {
            true => token.index() < self.vocabulary().model_len(),
            false => self.validate_tokens(&[token]) == 1,
        }
    }

    fn fill_delta(
        &mut self,
        row: &mut [i32],
        delta: &mut MaskDelta,
    ) -> Result<DeltaForm, StepError> {
        assert_eq!(row.len(), self.vocabulary().row_words(), "words of a row");
        let now = self.now();
        if now.terminated {
            delta.set_base(RowId::UNCONSTRAINED);
            return Ok(DeltaForm::Delta);
        }
        if self.failure.is_some() || self.machine.prepare_row(now.state).is_err() {
            let whole = self.fill_bitmask(row, RowId::NONE)?.row(RowId::NONE);
            return Ok(DeltaForm::Whole(whole));
        }
        let accepting = self.machine.is_accepting(now.state);
        let stops = if accepting { self.stops.ids().len() } else { 0 };
        let short = stops <= MaskDelta::MAX_ENTRIES
            && self.machine.row_delta(now.state, delta)
            && delta.add.len() + delta.remove.len() + stops <= MaskDelta::MAX_ENTRIES;
        if !short {
            let whole = self.fill_bitmask(row, RowId::NONE)?.row(RowId::NONE);
            return Ok(DeltaForm::Whole(whole));
        }
        if accepting {
            for &stop in self.stops.ids() {
                // Where the grammar itself takes the id, the stored row has it already.
                if self.machine.step(now.state, stop).is_none() {
                    match delta.remove.iter().position(|&removed| removed == stop) {
                        Some(at) => drop(delta.remove.swap_remove(at)),
                        None => delta.add.push(stop),
                    }
                }
            }
        }
        Ok(DeltaForm::Delta)
    }

    fn forced_bytes(&mut self, limit: usize, bytes: &mut Vec<u8>) {
        let now = self.now();
        if !now.terminated && self.failure.is_none() {
            self.machine.forced_bytes(now.state, limit, bytes);
        }
    }

    fn reset(&mut self) {
        self.truncate(0);
        self.failure = None;
    }
}
