//! Which class row serves which text state.
//!
//! A state that takes any text of a class allows all tokens made of it; the vocabulary has their row
//! already. What remains to walk is a hundredth of the trie.

use crate::{liveness::Liveness, machine::TokenAutomaton, walk::Edges};
use formwork_automata::StateId;
use formwork_slices::{Fits, SliceRow, Slices};
use rustc_hash::FxHashMap;

/// Class rows by state.
#[derive(Debug, Default)]
pub(crate) struct ClassRows<'a> {
    rows: FxHashMap<StateId, SliceRow<'a>>,
}

impl<'a> ClassRows<'a> {
    /// Decides for every text state. Nothing is decided where a token is more than its bytes (the
    /// grammar looks at token ends) or a state that bytes complete may be a dead end.
    ///
    /// Cost: linear in the text states, for each class that some of them may fit.
    pub(crate) fn new(
        automaton: &TokenAutomaton,
        edges: &Edges,
        liveness: &Liveness,
        slices: &'a Slices,
    ) -> Self {
        let mut rows = FxHashMap::default();
        if automaton.reads_token_ends() || !matches!(liveness, Liveness::All) {
            return Self { rows };
        }
        let states = automaton.states.iter().copied().filter(|&state| edges.is_text(state));
        let mut open: Vec<_> =
            states.map(|state| (state, automaton.dfa.out_bytes(state))).collect();
        for slice in slices.all() {
            let candidates: Vec<StateId> = open
                .iter()
                .filter(|(_, bytes)| slice.is_candidate(bytes))
                .map(|candidate| candidate.0)
                .collect();
            if candidates.is_empty() {
                continue;
            }
            let fits = Fits::new(&automaton.dfa, slice.class(), candidates.iter().copied());
            for state in candidates {
                if let Some(row) = slice.row(fits.fit(state)) {
                    rows.insert(state, row);
                }
            }
            open.retain(|(state, _)| !rows.contains_key(state));
        }
        Self { rows }
    }

    /// The row of a state.
    pub(crate) fn get(&self, state: StateId) -> Option<SliceRow<'a>> {
        self.rows.get(&state).copied()
    }

    /// How many states are served.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}
