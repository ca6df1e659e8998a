//! Sets of states, for tokens with two readings.
//!
//! Where the grammar names an ordinary token, that token can be read as a symbol and as its bytes,
//! and the two readings may lead to different states. The output is then a prefix of the language
//! by either, so the session is in both. Which sets can arise is found at compile time.

use crate::{
    liveness::Liveness,
    machine::TokenAutomaton,
    walk::{Edges, Scratch, for_each_token},
};
use formwork_automata::{CancellationToken, Exhausted, StateId};
use formwork_grammar::regular::TOKEN_END;
use rustc_hash::FxHashMap;

/// The sets of two or more states that a session can be in, closed under tokens.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    members: Vec<Box<[StateId]>>,
    numbers: FxHashMap<Box<[StateId]>, usize>,
}

impl Sets {
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn members(&self, set: usize) -> &[StateId] {
        &self.members[set]
    }

    /// The number of a sorted set.
    pub(crate) fn find(&self, states: &[StateId]) -> Option<usize> {
        self.numbers.get(states).copied()
    }

    /// Sets that were found before; sorted, and all different.
    pub(crate) fn of_members(members: Vec<Box<[StateId]>>) -> Self {
        let numbers = members.iter().cloned().zip(0..).collect();
        Self { members, numbers }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let states: usize = self.members.iter().map(|members| members.len()).sum();
        2 * states * size_of::<StateId>() + self.members.len() * 48
    }

    fn add(&mut self, mut states: Vec<StateId>) {
        states.sort_unstable();
        states.dedup();
        if states.len() > 1 {
            let states: Box<[StateId]> = states.into();
            let next = self.members.len();
            self.numbers.entry(states.clone()).or_insert_with(|| {
                self.members.push(states);
                next
            });
        }
    }

    /// Finds all sets. Cost: the tokens of every symbol edge, and a trie walk per set and member.
    ///
    /// # Errors
    /// [`Exhausted`] when there are more sets than `limit`, or the work is cancelled.
    pub(crate) fn new(
        automaton: &TokenAutomaton,
        edges: &Edges,
        liveness: &Liveness,
        limit: usize,
        cancellation: &CancellationToken,
    ) -> Result<Self, Exhausted> {
        let mut sets = Self::default();
        let live = |state: StateId| liveness.is_live(state).then_some(state);
        if automaton.alphabet.is_empty() {
            return Ok(sets);
        }
        for state in automaton.boundary_states() {
            if let Some(reason) = cancellation.reason() {
                return Err(reason);
            }
            // Only a state that takes a symbol can take a token in two ways.
            for (mark, target) in automaton.dfa.mark_edges(state) {
                if mark == TOKEN_END {
                    continue;
                }
                let symbol = live(automaton.end(target));
                for &token in automaton.alphabet.tokens(mark) {
                    let bytes = live(automaton.after_bytes(state, token));
                    sets.add(bytes.into_iter().chain(symbol).collect());
                }
            }
            if sets.len() > limit {
                return Err(Exhausted::States { limit });
            }
        }
        let mut scratch = Scratch::default();
        let mut done = 0;
        while done < sets.len() {
            if let Some(reason) = cancellation.reason() {
                return Err(reason);
            }
            if sets.len() > limit {
                return Err(Exhausted::States { limit });
            }
            let mut after: FxHashMap<_, Vec<StateId>> = FxHashMap::default();
            for &state in &sets.members[done].clone() {
                for_each_token(automaton, edges, state, &mut scratch, &mut |token, target| {
                    if liveness.is_live(target) {
                        after.entry(token).or_default().push(target);
                    }
                });
            }
            after.into_values().for_each(|states| sets.add(states));
            done += 1;
        }
        Ok(sets)
    }
}
