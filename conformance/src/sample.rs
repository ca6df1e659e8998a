//! A backend as small as it can be: how to begin.
//!
//! The whole language is one automaton; every token is tried byte by byte, whenever a row is
//! needed. What the contract requires is implemented, the rest are its defaults, but for forced
//! bytes: masks alone do not tell whether a token is allowed for its bytes or for its name. It is
//! slow, and it passes the suite.

use formwork_automata::{ByteSet, Dfa, Mark, StateId};
use formwork_core::{
    AcceptError, AcceptErrorKind, Assessment, CompileError, CompileRequest, CompiledGrammar,
    Estimate, Filled, RollbackError, RowId, StartError, StartOptions, StepError, StopSet, StopSets,
    StructuredOutputBackend, StructuredOutputGrammar, Unsupported,
};
use formwork_grammar::regular::{self, RegularError, TOKEN_END, TokenAlphabet};
use formwork_grammar::{Grammar, Limits, TokenSet};
use formwork_mask::{RowMut, fill_unconstrained};
use formwork_vocab::{TokenId, Vocabulary};
use std::sync::Arc;

/// The backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleBackend;

#[derive(Debug)]
struct Compiled {
    dfa: Dfa,
    /// By state: whether tokens of the vocabulary can complete it.
    live: Vec<bool>,
    vocabulary: Arc<Vocabulary>,
    stop_sets: StopSets,
}

/// Tokens are the letters of their own ids.
struct Alphabet<'v>(&'v Vocabulary);

impl TokenAlphabet for Alphabet<'_> {
    fn marks(&self, set: &TokenSet) -> Result<Vec<Mark>, RegularError> {
        let tokens = crate::oracle::tokens_of(set, self.0).map_err(|error| match error {
            crate::oracle::OracleError::UnknownToken { name } => {
                RegularError::UnknownToken { name }
            }
            _ => unreachable!("a token set is lowered by name and id alone"),
        })?;
        Ok(tokens.into_iter().map(|token| Mark(token.as_u32())).collect())
    }
}

impl StructuredOutputBackend for SampleBackend {
    fn name(&self) -> &str {
        "sample"
    }

    fn assess(&self, grammar: &Grammar, _vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        match regular::check(grammar, limits) {
            Err(RegularError::NotRegular { rule, why }) => {
                Assessment::Unsupported(Unsupported::NotRegular { rule, why })
            }
            _ => Assessment::Supported(Estimate::default()),
        }
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        let vocabulary = request.vocabulary.clone();
        let alphabet = Alphabet(&vocabulary);
        let dfa = regular::dfa(&request.grammar, &alphabet, &request.limits, &request.cancellation)
            .map_err(|error| match error {
                RegularError::NotRegular { rule, why } => {
                    Unsupported::NotRegular { rule, why }.into()
                }
                RegularError::UnknownToken { name } => CompileError::UnknownToken { name },
                RegularError::Exhausted(exhausted) => exhausted.into(),
                RegularError::Grammar(error) => error.into(),
                _ => CompileError::Unsatisfiable,
            })?;
        let live = vec![true; dfa.len()];
        let mut compiled = Compiled { dfa, live, vocabulary, stop_sets: StopSets::default() };
        compiled.find_live_states();
        match compiled.live[compiled.dfa.start().index()] {
            true => Ok(Arc::new(compiled)),
            false => Err(CompileError::Unsatisfiable),
        }
    }
}

impl Compiled {
    fn tokens(&self) -> impl Iterator<Item = TokenId> + use<> {
        let len = self.vocabulary.tokenizer_len().min(self.vocabulary.model_len());
        (0..u32::try_from(len).expect("ids are u32")).map(TokenId::new)
    }

    /// The least fixpoint: accepting states, and those that a token leads from to one found before.
    fn find_live_states(&mut self) {
        let mut live: Vec<bool> = vec![false; self.dfa.len()];
        let mut found = true;
        while found {
            found = false;
            for state in
                self.dfa.live_states().filter(|state| !live[state.index()]).collect::<Vec<_>>()
            {
                let leads_on =
                    |token| self.readings(state, token).iter().any(|next| live[next.index()]);
                if self.dfa.is_accepting(state) || self.tokens().any(leads_on) {
                    live[state.index()] = true;
                    found = true;
                }
            }
        }
        self.live = live;
    }

    fn ended(&self, state: StateId) -> StateId {
        match self.dfa.marks().contains(&TOKEN_END) {
            true => self.dfa.next_mark(state, TOKEN_END),
            false => state,
        }
    }

    /// The live states after a token, by its bytes and by its name.
    fn readings(&self, state: StateId, token: TokenId) -> Vec<StateId> {
        if !self.vocabulary.is_emittable(token) {
            return Vec::new();
        }
        let by_bytes = self.vocabulary.bytes(token).map(|bytes| self.dfa.next_bytes(state, bytes));
        let by_name = self.dfa.next_mark(state, Mark(token.as_u32()));
        let ends = by_bytes.into_iter().chain([by_name]).map(|state| self.ended(state));
        ends.filter(|state| self.live[state.index()]).collect()
    }

    fn step(&self, states: &[StateId], token: TokenId) -> Vec<StateId> {
        let mut next: Vec<StateId> =
            states.iter().flat_map(|&state| self.readings(state, token)).collect();
        next.sort_unstable();
        next.dedup();
        next
    }

    fn is_accepting(&self, states: &[StateId]) -> bool {
        states.iter().any(|&state| self.dfa.is_accepting(state))
    }

    fn ends(&self, states: &[StateId]) -> bool {
        let stuck = || self.tokens().all(|token| self.step(states, token).is_empty());
        self.is_accepting(states) && stuck()
    }

    /// The one byte that every completion goes on with. Says nothing where it would have to know
    /// how tokens spell: where bytes are missing, and where tokens are counted.
    fn forced_byte(&self, states: &[StateId]) -> Option<u8> {
        let counts = self.dfa.marks().contains(&TOKEN_END);
        if !self.vocabulary.is_byte_complete() || counts || self.is_accepting(states) {
            return None;
        }
        if states.iter().any(|&state| self.dfa.mark_edges(state).next().is_some()) {
            return None;
        }
        let bytes = states.iter().map(|&state| self.dfa.out_bytes(state));
        let bytes = bytes.fold(ByteSet::EMPTY, |all, bytes| all.union(&bytes));
        bytes.first().filter(|_| bytes.len() == 1)
    }
}

impl CompiledGrammar for Compiled {
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError> {
        let mut state = self.dfa.start();
        for (offset, &byte) in options.fixed_bytes.iter().enumerate() {
            state = self.dfa.next(state, byte);
            if state.is_dead() {
                return Err(StartError::FixedBytes { offset });
            }
        }
        if !options.fixed_bytes.is_empty() {
            state = self.ended(state);
        }
        if !self.live[state.index()] {
            return Err(StartError::FixedBytes { offset: options.fixed_bytes.len() });
        }
        let stops = self.stop_sets.resolve(&options.stop_ids, &self.vocabulary);
        let terminated = stops.ids().is_empty() && self.ends(&[state]);
        let start = Entry { token: TokenId::new(0), states: vec![state], terminated };
        let fixed_bytes = options.fixed_bytes.clone();
        Ok(Box::new(Matcher { compiled: self, stops, fixed_bytes, start, history: Vec::new() }))
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    fn memory_bytes(&self) -> usize {
        self.dfa.memory_bytes() + self.live.len()
    }
}

#[derive(Clone, Debug)]
struct Matcher {
    compiled: Arc<Compiled>,
    stops: StopSet,
    fixed_bytes: Vec<u8>,
    start: Entry,
    history: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    token: TokenId,
    states: Vec<StateId>,
    terminated: bool,
}

impl Matcher {
    fn now(&self) -> &Entry {
        self.history.last().unwrap_or(&self.start)
    }

    fn after(&self, now: &Entry, token: TokenId) -> Option<Entry> {
        let states = self.compiled.step(&now.states, token);
        let stops = self.stops.contains(token);
        if states.is_empty() {
            let ends = stops && self.compiled.is_accepting(&now.states);
            return ends.then(|| Entry { token, states: now.states.clone(), terminated: true });
        }
        let may_end = stops || self.stops.ids().is_empty();
        let terminated = may_end && self.compiled.ends(&states);
        Some(Entry { token, states, terminated })
    }
}

impl StructuredOutputGrammar for Matcher {
    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.compiled.vocabulary
    }

    fn stop_ids(&self) -> &[TokenId] {
        self.stops.ids()
    }

    fn fill_bitmask(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, StepError> {
        let now = self.now();
        if now.terminated {
            if held == RowId::UNCONSTRAINED {
                return Ok(Filled::Unchanged);
            }
            fill_unconstrained(row);
            return Ok(Filled::Written(RowId::UNCONSTRAINED));
        }
        let mut row = RowMut::new(row, self.compiled.vocabulary.model_len());
        row.clear_all();
        for token in self.compiled.tokens().filter(|&token| self.after(now, token).is_some()) {
            row.set(token.index());
        }
        Ok(Filled::Written(RowId::NONE))
    }

    fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), AcceptError> {
        let before = self.history.len();
        for (index, &token) in tokens.iter().enumerate() {
            if self.now().terminated {
                break;
            }
            let Some(entry) = self.after(self.now(), token) else {
                self.history.truncate(before);
                let known = token.index() < self.compiled.vocabulary.model_len();
                let kind =
                    if known { AcceptErrorKind::NotAllowed } else { AcceptErrorKind::Unknown };
                return Err(AcceptError { index, token, kind });
            };
            self.history.push(entry);
        }
        Ok(())
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), RollbackError> {
        let processed = self.history.len();
        let error = RollbackError { requested: tokens, processed };
        self.history.truncate(processed.checked_sub(tokens).ok_or(error)?);
        Ok(())
    }

    fn fork(&self) -> Box<dyn StructuredOutputGrammar> {
        Box::new(self.clone())
    }

    fn is_accepting(&self) -> bool {
        self.compiled.is_accepting(&self.now().states)
    }

    fn is_terminated(&self) -> bool {
        self.now().terminated
    }

    fn processed_tokens(&self) -> Vec<TokenId> {
        self.history.iter().map(|entry| entry.token).collect()
    }

    fn fixed_bytes(&self) -> &[u8] {
        &self.fixed_bytes
    }

    fn forced_bytes(&mut self, limit: usize, bytes: &mut Vec<u8>) {
        let now = self.now();
        if now.terminated {
            return;
        }
        let mut states = now.states.clone();
        for _ in 0..limit {
            let Some(byte) = self.compiled.forced_byte(&states) else { return };
            bytes.push(byte);
            states.iter_mut().for_each(|state| *state = self.compiled.dfa.next(*state, byte));
            states.retain(|state| !state.is_dead());
        }
    }
}
