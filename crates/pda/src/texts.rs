//! Which class rows serve which states of free text.
//!
//! A state that takes any text of a class takes all tokens made of it; the vocabulary has their row.
//! Whether it does is decided for all states of an island at once, when the first of them is asked
//! for. Calls only add to what a state takes, so the automaton alone may decide.

use crate::program::Program;
use formwork_automata::{ByteSet, Dfa, StateId};
use formwork_slices::{Fit, Fits, SliceRow, Slices};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// States that read at least so many bytes are free text.
pub(crate) const TEXT: usize = 64;

/// The class of each state that has one, and how it fits.
pub(crate) type Classes = FxHashMap<StateId, (usize, Fit)>;

/// Classes by island.
#[derive(Debug)]
pub(crate) struct Texts {
    by_island: Box<[OnceLock<Classes>]>,
}

impl Texts {
    pub(crate) fn new(program: &Program) -> Self {
        Self { by_island: program.islands.iter().map(|_| OnceLock::new()).collect() }
    }

    /// The row of a class of tokens that a state takes, the largest there is.
    pub(crate) fn row<'s>(
        &self,
        program: &Program,
        slices: &'s Slices,
        state: u32,
    ) -> Option<SliceRow<'s>> {
        let state = program.state(state);
        let slot = &self.by_island[state.island as usize];
        let classes = slot.get_or_init(|| {
            let dfa = &program.islands[state.island as usize].dfa;
            classes(dfa, slices, texts_of(program, state.island))
        });
        let (slice, fit) = classes.get(&state.local.0)?;
        slices.all()[*slice].row(*fit)
    }
}

/// The classes of the states of an automaton that are free text, by what they read.
pub(crate) fn classes(dfa: &Dfa, slices: &Slices, mut open: Vec<(StateId, ByteSet)>) -> Classes {
    let mut classes = Classes::default();
    for (number, slice) in slices.all().iter().enumerate() {
        let candidates = open.iter().filter(|(_, bytes)| slice.is_candidate(bytes));
        let candidates: Vec<StateId> = candidates.map(|candidate| candidate.0).collect();
        if candidates.is_empty() {
            continue;
        }
        let fits = Fits::new(dfa, slice.class(), candidates.iter().copied());
        for state in candidates {
            let fit = fits.fit(state);
            if slice.row(fit).is_some() {
                classes.insert(state, (number, fit));
            }
        }
        open.retain(|(state, _)| !classes.contains_key(state));
    }
    classes
}

/// What is free text in an island.
fn texts_of(program: &Program, island: u32) -> Vec<(StateId, ByteSet)> {
    let dfa = &program.islands[island as usize].dfa;
    let start = program.start(island) as usize - dfa.start().index();
    let states = &program.states[start..start + dfa.len()];
    states
        .iter()
        .filter(|state| state.out.len() >= TEXT)
        .map(|state| (state.local.0, state.out))
        .collect()
}

/// The states of an automaton that are free text, and what they read.
pub(crate) fn texts(dfa: &Dfa) -> Vec<(StateId, ByteSet)> {
    let members: Vec<ByteSet> =
        (0..dfa.classes().count()).map(|class| dfa.classes().members(class)).collect();
    let out = |state| {
        dfa.byte_edges(state).fold(ByteSet::EMPTY, |out, (class, _)| out.union(&members[class]))
    };
    let states = dfa.live_states().map(|state| (state, out(state)));
    states.filter(|(_, out)| out.len() >= TEXT).collect()
}
