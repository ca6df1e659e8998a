//! The row of every position: walked side by side, numbered one after the other.
//!
//! Rows are drafted in parallel, a batch of states at a time; while a batch is being drafted, the
//! one before it is compared with the rows known so far and numbered.

use crate::{
    ambiguity::Sets,
    liveness::Liveness,
    machine::{NO_ROW, TokenAutomaton},
    rows::{Draft, Drafts, RowsBuilder},
    text::ClassRows,
    walk::{Edges, Scratch, for_each_other_token, for_each_token},
};
use formwork_automata::{CancellationToken, Exhausted, StateId};
use formwork_core::{CompileError, TokenId, Unsupported};
use rayon::prelude::*;

/// States whose rows one task drafts: few, because text states cost a thousand times what others
/// do and stand side by side.
const CHUNK: usize = 64;
/// Tasks between two looks at the byte budget.
const BATCH: usize = 64;
/// Trie nodes between two looks at the cancellation token: a few milliseconds.
const CHECK_EVERY: u64 = 1 << 19;

/// How the construction went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Trie nodes visited for rows.
    pub(crate) trie_nodes: u64,
    /// Rows that began as a class row.
    pub(crate) class_rows: usize,
}

/// What rows are read off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) automaton: &'a TokenAutomaton,
    pub(crate) edges: &'a Edges,
    pub(crate) liveness: &'a Liveness,
    pub(crate) class_rows: &'a ClassRows<'a>,
    pub(crate) cancellation: &'a CancellationToken,
}

/// Rows by position.
#[derive(Debug)]
pub(crate) struct Numbering {
    pub(crate) rows: RowsBuilder,
    /// Row by position; [`NO_ROW`] where no token begins.
    pub(crate) row_of: Vec<u32>,
    /// The row that allows nothing, if it occurs.
    pub(crate) zero_row: Option<u32>,
    pub(crate) work: Work,
}

/// The rows of all states in which a token may begin, and of all sets of them.
///
/// # Errors
/// When rows and automaton exceed `max_bytes`, or the work is cancelled.
pub(crate) fn number_rows(
    ground: &Ground<'_>,
    sets: &Sets,
    max_bytes: usize,
) -> Result<Numbering, CompileError> {
    let automaton = ground.automaton;
    let boundary: Vec<StateId> = automaton
        .boundary_states()
        .into_iter()
        .filter(|&state| ground.liveness.is_live(state))
        .collect();
    let mut numbering = Numbering {
        rows: RowsBuilder::new(automaton.vocabulary.model_len()),
        row_of: vec![NO_ROW; automaton.dfa.len() + sets.len()],
        zero_row: None,
        work: Work { trie_nodes: 0, class_rows: ground.class_rows.len() },
    };
    let fixed_bytes = automaton.dfa.memory_bytes();
    let mut batches = boundary.chunks(BATCH * CHUNK);
    let mut drafted: Option<(&[StateId], Vec<Drafts>)> = None;
    let mut done = 0;
    loop {
        let next = batches.next();
        let ready = drafted.take();
        let (drafts, ()) = rayon::join(
            || next.map(|states| ground.drafts(states)).transpose(),
            || {
                if let Some((states, drafts)) = &ready {
                    let positions = states.iter().map(|state| state.index());
                    numbering.take(positions, drafts.iter().flat_map(Drafts::iter));
                }
            },
        );
        done += ready.as_ref().map_or(0, |(states, _)| states.len());
        if fixed_bytes + numbering.rows.bytes() > max_bytes {
            let estimate = fixed_bytes + numbering.rows.bytes() / done.max(1) * boundary.len();
            return Err(Unsupported::OverBytes { estimate, limit: max_bytes }.into());
        }
        let Some((states, drafts)) = next.zip(drafts?) else { break };
        numbering.work.trie_nodes += drafts.iter().map(|drafts| drafts.trie_nodes).sum::<u64>();
        drafted = Some((states, drafts));
    }
    numbering.take_sets(sets, ground, max_bytes)?;
    Ok(numbering)
}

impl Numbering {
    fn take<'d>(
        &mut self,
        positions: impl Iterator<Item = usize>,
        drafts: impl Iterator<Item = Draft<'d>>,
    ) {
        for (position, draft) in positions.zip(drafts) {
            let number = self.rows.add(draft);
            self.row_of[position] = number;
            if draft.is_zero() {
                self.zero_row = Some(number);
            }
        }
    }

    /// The row of a set is the union of its members' rows.
    fn take_sets(
        &mut self,
        sets: &Sets,
        ground: &Ground<'_>,
        max_bytes: usize,
    ) -> Result<(), CompileError> {
        let automaton = ground.automaton;
        for set in 0..sets.len() {
            if let Some(reason) = ground.cancellation.reason() {
                return Err(reason.into());
            }
            let members = sets.members(set).iter();
            let mut ids: Vec<u32> =
                members.flat_map(|state| self.rows.ids(self.row_of[state.index()])).collect();
            let mut drafts = Drafts::default();
            drafts.push(&mut ids, automaton.vocabulary.model_len());
            self.take(std::iter::once(automaton.dfa.len() + set), drafts.iter());
            if self.rows.bytes() > max_bytes {
                let estimate = self.rows.bytes() / (set + 1) * sets.len();
                return Err(Unsupported::OverBytes { estimate, limit: max_bytes }.into());
            }
        }
        Ok(())
    }
}

impl Ground<'_> {
    fn drafts(&self, states: &[StateId]) -> Result<Vec<Drafts>, Exhausted> {
        let chunks = states.par_chunks(CHUNK);
        chunks.map_init(Scratch::default, |scratch, states| self.chunk(states, scratch)).collect()
    }

    fn chunk(&self, states: &[StateId], scratch: &mut Scratch) -> Result<Drafts, Exhausted> {
        let model_len = self.automaton.vocabulary.model_len();
        let mut drafts = Drafts::default();
        let mut ids = Vec::new();
        let mut next_check = 0;
        for &state in states {
            if drafts.trie_nodes >= next_check {
                next_check = drafts.trie_nodes + CHECK_EVERY;
                if let Some(reason) = self.cancellation.reason() {
                    return Err(reason);
                }
            }
            let told = &mut |token: TokenId, target| {
                if self.liveness.is_live(target) {
                    ids.push(token.as_u32());
                }
            };
            let row = self.class_rows.get(state);
            let visited = match row {
                Some(row) => {
                    let from = (state, row.slice());
                    for_each_other_token(self.automaton, self.edges, from, scratch, told)
                }
                None => for_each_token(self.automaton, self.edges, state, scratch, told),
            };
            drafts.trie_nodes += visited as u64;
            match row {
                Some(row) => drafts.push_with(row, &mut ids, model_len),
                None => drafts.push(&mut ids, model_len),
            }
        }
        Ok(drafts)
    }
}
