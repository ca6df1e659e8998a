//! Which states emittable tokens can complete.
//!
//! Where every byte the automaton reads is a token by itself, and nobody counts tokens, a state
//! that bytes can complete is a state that tokens can complete, and nothing is computed. Otherwise
//! (a vocabulary that cannot spell some byte; a token limit) the graph of states and whole tokens is
//! searched backwards from the accepting states.

use crate::{
    machine::TokenAutomaton,
    walk::{Edges, Scratch, for_each_token},
};
use formwork_automata::{CancellationToken, Exhausted, StateId};
use rayon::prelude::*;

/// The states that can be completed.
#[derive(Debug)]
pub(crate) enum Liveness {
    /// All but the dead one.
    All,
    /// By state.
    Some(Box<[bool]>),
}

impl Liveness {
    pub(crate) fn is_live(&self, state: StateId) -> bool {
        match self {
            Self::All => !state.is_dead(),
            Self::Some(live) => live[state.index()],
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::All => 0,
            Self::Some(live) => live.len(),
        }
    }

    /// Computes what is needed. Cost: nothing, or a trie walk per state.
    pub(crate) fn new(
        automaton: &TokenAutomaton,
        edges: &Edges,
        cancellation: &CancellationToken,
    ) -> Result<Self, Exhausted> {
        if is_obvious(automaton) {
            return Ok(Self::All);
        }
        let boundary = automaton.boundary_states();
        let successors: Vec<Vec<StateId>> = boundary
            .par_iter()
            .map_init(Scratch::default, |scratch, &state| {
                if let Some(reason) = cancellation.reason() {
                    return Err(reason);
                }
                let mut targets = Vec::new();
                for_each_token(automaton, edges, state, scratch, &mut |_, target| {
                    if targets.last() != Some(&target) {
                        targets.push(target);
                    }
                });
                targets.sort_unstable();
                targets.dedup();
                Ok(targets)
            })
            .collect::<Result<_, _>>()?;
        let mut sources: Vec<Vec<StateId>> = vec![Vec::new(); automaton.dfa.len()];
        for (&state, targets) in boundary.iter().zip(&successors) {
            for target in targets {
                sources[target.index()].push(state);
            }
        }
        let mut live = vec![false; automaton.dfa.len()];
        let mut pending: Vec<StateId> =
            boundary.into_iter().filter(|&state| automaton.dfa.is_accepting(state)).collect();
        pending.iter().for_each(|state| live[state.index()] = true);
        while let Some(state) = pending.pop() {
            for &source in &sources[state.index()] {
                if !live[source.index()] {
                    live[source.index()] = true;
                    pending.push(source);
                }
            }
        }
        Ok(Self::Some(live.into()))
    }
}

/// Whether tokens complete whatever bytes complete.
fn is_obvious(automaton: &TokenAutomaton) -> bool {
    let unspellable = automaton.vocabulary.unspellable_bytes();
    !automaton.reads_token_ends()
        && (unspellable.is_empty()
            || automaton.states.iter().all(|&state| {
                automaton.dfa.out_bytes(state).iter().all(|byte| !unspellable.contains(byte))
            }))
}
