//! The smallest honest backend: where an outsider starts.
//!
//! A state of one automaton is a state of the output; every mask is made by trying every token,
//! byte by byte. [`Machine`] asks for this much, and [`Session`] makes a matcher of it: stop ids,
//! ends, atomic accept, rollback, forks, row identities. What it cannot do it says by name.
//! [`sample`](crate::sample) shows the same without that help, and does the rest of the grammars.

use formwork_automata::{Dfa, StateId};
use formwork_core::{
    Assessment, CompileError, CompileRequest, CompiledGrammar, Estimate, Grammar, Limits, Location,
    Machine, RowId, Session, StartError, StartOptions, StopSets, StructuredOutputBackend,
    StructuredOutputGrammar, TableId, TokenId, Unsupported, Vocabulary,
};
use formwork_grammar::regular::{self, BytesOnly, RegularError};
use formwork_mask::RowMut;
use std::sync::Arc;

/// The backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinimalBackend;

impl StructuredOutputBackend for MinimalBackend {
    fn name(&self) -> &str {
        "minimal"
    }

    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        match (vocabulary.is_byte_complete(), regular::check(grammar, limits)) {
            (false, _) => Assessment::Unsupported(lacks("a vocabulary that lacks single bytes")),
            (true, Err(RegularError::NotRegular { rule, why })) => {
                Assessment::Unsupported(Unsupported::NotRegular { rule, why })
            }
            (true, _) => Assessment::Supported(Estimate::default()),
        }
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        if !request.vocabulary.is_byte_complete() {
            return Err(lacks("a vocabulary that lacks single bytes").into());
        }
        let (grammar, limits) = (&request.grammar, &request.limits);
        let dfa = regular::dfa(grammar, &BytesOnly, limits, &request.cancellation);
        let dfa = dfa.map_err(|error| match error {
            RegularError::NotRegular { rule, why } => Unsupported::NotRegular { rule, why }.into(),
            RegularError::Grammar(error) => error.into(),
            RegularError::Exhausted(reason) => CompileError::Exhausted(reason),
            _ => lacks("this grammar").into(),
        })?;
        if !dfa.marks().is_empty() {
            return Err(lacks("a limit on tokens").into());
        }
        if dfa.is_empty() {
            return Err(CompileError::Unsatisfiable);
        }
        let (vocabulary, table) = (request.vocabulary.clone(), TableId::unique());
        let machine = Plain { dfa, vocabulary, table, stop_sets: StopSets::default() };
        Ok(Arc::new(Compiled(Arc::new(machine))))
    }
}

fn lacks(construct: &'static str) -> Unsupported {
    Unsupported::Construct { construct, location: Location::Whole }
}

#[derive(Debug)]
struct Compiled(Arc<Plain>);

impl CompiledGrammar for Compiled {
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError> {
        Ok(Box::new(Session::start(self.0.clone(), options)?))
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.0.vocabulary
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// An automaton over bytes. "Not dead" means "can be completed", and every byte is a token.
#[derive(Debug)]
struct Plain {
    dfa: Dfa,
    vocabulary: Arc<Vocabulary>,
    table: TableId,
    stop_sets: StopSets,
}

impl Plain {
    fn tokens(&self) -> impl Iterator<Item = TokenId> {
        (0..).take(self.vocabulary.model_len()).map(TokenId::new)
    }
}

impl Machine for Plain {
    type State = StateId;

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    fn stop_sets(&self) -> &StopSets {
        &self.stop_sets
    }

    fn start(&self) -> StateId {
        self.dfa.start()
    }

    fn step(&self, state: StateId, token: TokenId) -> Option<StateId> {
        let bytes = self.vocabulary.bytes(token)?;
        let next = self.dfa.next_bytes(state, bytes);
        (self.vocabulary.is_emittable(token) && !next.is_dead()).then_some(next)
    }

    fn step_bytes(&self, state: StateId, bytes: &[u8]) -> Result<StateId, usize> {
        bytes.iter().enumerate().try_fold(state, |state, (offset, &byte)| {
            let next = self.dfa.next(state, byte);
            if next.is_dead() { Err(offset) } else { Ok(next) }
        })
    }

    fn is_accepting(&self, state: StateId) -> bool {
        self.dfa.is_accepting(state)
    }

    fn may_continue(&self, state: StateId) -> bool {
        self.tokens().any(|token| self.step(state, token).is_some())
    }

    fn row(&self, state: StateId) -> RowId {
        RowId::stored(self.table, state.as_u32())
    }

    fn write_row(&self, state: StateId, row: &mut [i32]) {
        let mut row = RowMut::new(row, self.vocabulary.model_len());
        row.clear_all();
        let allowed = self.tokens().filter(|&token| self.step(state, token).is_some());
        allowed.for_each(|token| row.set(token.index()));
    }

    fn forced_bytes(&self, state: StateId, limit: usize, bytes: &mut Vec<u8>) {
        self.dfa.forced_bytes(state, limit, bytes);
    }

    fn memory_bytes(&self) -> usize {
        self.dfa.memory_bytes()
    }
}
