//! The machine a session runs: automaton, rows, and nothing that changes.

use crate::{alphabet::Alphabet, ambiguity::Sets, forced, liveness::Liveness, rows::Rows};
use formwork_automata::{Dfa, StateId};
use formwork_core::{Machine, MaskDelta, RowId, StopSets, TokenId, Vocabulary, Warning};
use formwork_grammar::regular::TOKEN_END;
use smallvec::SmallVec;
use std::sync::Arc;

/// Where a session is: an automaton state, or (past the last of them) a set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position(pub(crate) u32);

impl Position {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An automaton that reads tokens: bytes, then the token end where the grammar looks at it.
#[derive(Debug)]
pub(crate) struct TokenAutomaton {
    pub(crate) dfa: Dfa,
    pub(crate) alphabet: Alphabet,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) states: Vec<StateId>,
    reads_token_ends: bool,
}

impl TokenAutomaton {
    pub(crate) fn new(dfa: Dfa, alphabet: Alphabet, vocabulary: Arc<Vocabulary>) -> Self {
        let reads_token_ends = dfa.marks().contains(&TOKEN_END);
        let states = dfa.live_states().collect();
        Self { dfa, alphabet, vocabulary, states, reads_token_ends }
    }

    /// Whether the automaton has the token end among its letters.
    pub(crate) fn reads_token_ends(&self) -> bool {
        self.reads_token_ends
    }

    /// The state after the end of a token.
    #[inline]
    pub(crate) fn end(&self, state: StateId) -> StateId {
        match self.reads_token_ends {
            true => self.dfa.next_mark(state, TOKEN_END),
            false => state,
        }
    }

    /// The state after a token read as its bytes; dead when it has none.
    #[inline]
    pub(crate) fn after_bytes(&self, state: StateId, token: TokenId) -> StateId {
        match self.vocabulary.bytes(token) {
            Some(bytes) => self.end(self.dfa.next_bytes(state, bytes)),
            None => StateId::DEAD,
        }
    }

    /// The state after a token read as a symbol; dead where the grammar does not name it.
    #[inline]
    pub(crate) fn after_symbol(&self, state: StateId, token: TokenId) -> StateId {
        if self.alphabet.is_empty() {
            return StateId::DEAD;
        }
        match self.alphabet.mark(token) {
            Some(mark) => self.end(self.dfa.next_mark(state, mark)),
            None => StateId::DEAD,
        }
    }

    /// The states in which a token may begin: the start and what follows a token end, or all.
    pub(crate) fn boundary_states(&self) -> Vec<StateId> {
        if !self.reads_token_ends {
            return self.states.clone();
        }
        let mut boundary = vec![false; self.dfa.len()];
        boundary[self.dfa.start().index()] = true;
        for &state in &self.states {
            boundary[self.end(state).index()] = true;
        }
        self.states.iter().copied().filter(|state| boundary[state.index()]).collect()
    }
}

/// The compiled machine.
#[derive(Debug)]
pub struct DfaMachine {
    pub(crate) automaton: TokenAutomaton,
    pub(crate) liveness: Liveness,
    pub(crate) sets: Sets,
    pub(crate) rows: Rows,
    /// Row by position; [`NO_ROW`] for states inside a token.
    pub(crate) row_of: Vec<u32>,
    /// By position: whether the output is complete there.
    pub(crate) accepting: Vec<bool>,
    pub(crate) zero_row: Option<u32>,
    pub(crate) stop_sets: StopSets,
    pub(crate) warnings: Vec<Warning>,
}

/// No token begins in this state.
pub(crate) const NO_ROW: u32 = u32::MAX;

impl DfaMachine {
    /// The automaton states a position stands for.
    pub(crate) fn members(&self, position: Position) -> SmallVec<[StateId; 2]> {
        match position.index().checked_sub(self.automaton.dfa.len()) {
            Some(set) => self.sets.members(set).into(),
            None => SmallVec::from_slice(&[self.automaton.states[position.index() - 1]]),
        }
    }

    /// The position for these states, which the closure of compile time knows.
    fn position(&self, mut states: SmallVec<[StateId; 2]>) -> Option<Position> {
        states.retain(|state| self.liveness.is_live(*state));
        states.sort_unstable();
        states.dedup();
        match states[..] {
            [] => None,
            [state] => Some(Position(state.as_u32())),
            _ => {
                // Always found after a compile (invariant 3). Nobody vouches for that of a machine
                // that was loaded; it then refuses the token.
                self.sets.find(&states).map(|set| self.set_position(set))
            }
        }
    }

    fn set_position(&self, set: usize) -> Position {
        Position(u32::try_from(self.automaton.dfa.len() + set).expect("positions are u32"))
    }
}

impl Machine for DfaMachine {
    type State = Position;

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.automaton.vocabulary
    }

    fn stop_sets(&self) -> &StopSets {
        &self.stop_sets
    }

    fn start(&self) -> Position {
        Position(self.automaton.dfa.start().as_u32())
    }

    fn step(&self, position: Position, token: TokenId) -> Option<Position> {
        if !self.automaton.vocabulary.is_emittable(token) {
            return None;
        }
        if self.automaton.alphabet.is_empty() {
            let state = self.automaton.states[position.index() - 1];
            let next = self.automaton.after_bytes(state, token);
            return self.liveness.is_live(next).then_some(Position(next.as_u32()));
        }
        let mut next = SmallVec::new();
        for state in self.members(position) {
            next.push(self.automaton.after_bytes(state, token));
            next.push(self.automaton.after_symbol(state, token));
        }
        self.position(next)
    }

    fn step_bytes(&self, position: Position, bytes: &[u8]) -> Result<Position, usize> {
        let dfa = &self.automaton.dfa;
        let mut states = self.members(position);
        for (offset, &byte) in bytes.iter().enumerate() {
            states.iter_mut().for_each(|state| *state = dfa.next(*state, byte));
            states.retain(|state| !state.is_dead());
            if states.is_empty() {
                return Err(offset);
            }
        }
        states.iter_mut().for_each(|state| *state = self.automaton.end(*state));
        self.position(states).ok_or(bytes.len())
    }

    fn is_accepting(&self, position: Position) -> bool {
        self.accepting[position.index()]
    }

    fn may_continue(&self, position: Position) -> bool {
        Some(self.row_of[position.index()]) != self.zero_row
    }

    fn row(&self, position: Position) -> RowId {
        self.rows.id(self.row_of[position.index()])
    }

    fn write_row(&self, position: Position, row: &mut [i32]) {
        self.rows.write(self.row_of[position.index()], row);
    }

    fn row_delta(&self, position: Position, delta: &mut MaskDelta) -> bool {
        self.rows.delta(self.row_of[position.index()], delta);
        true
    }

    fn forced_bytes(&self, position: Position, limit: usize, bytes: &mut Vec<u8>) {
        forced::forced_bytes(self, position, limit, bytes);
    }

    fn memory_bytes(&self) -> usize {
        self.automaton.dfa.memory_bytes()
            + self.automaton.states.len() * size_of::<StateId>()
            + self.automaton.alphabet.memory_bytes()
            + self.liveness.memory_bytes()
            + self.sets.memory_bytes()
            + self.rows.bytes()
            + self.row_of.len() * (size_of::<u32>() + size_of::<bool>())
    }

    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}
