//! Islands that are another island less a few words.
//!
//! # Idea
//! The keys that a schema does not declare are all strings but some. Every schema declares others,
//! so every schema has its own automaton of keys, and none finds the walks of another. But each is
//! the automaton of all strings with a few edges cut: the closing marks of the declared names. So
//! its walks are those of all strings, less the tokens that read over a cut.
//!
//! # Construction
//! States are mapped to states of the base by reading the same bytes. It is a difference if every
//! state is mapped to one state, both accept or neither does, and whatever only the base can read
//! is a cut. States from which a cut can still be reached are *near*; only they are walked for
//! tokens to take away. They must be acyclic, and cuts few bytes each, or there would be too many
//! such tokens. Cost: linear in the edges.

use crate::{fixed::FixedIsland, walks::At};
use formwork_automata::{ByteSet, StateId};
use formwork_vocab::NodeId;
use std::sync::Arc;

/// States with cuts.
const MAX_CUTS: usize = 4_096;
/// Bytes cut off at one state.
const MAX_CUT_BYTES: usize = 4;

/// What an island lacks of another.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) base: Arc<FixedIsland>,
    /// State of the base by state.
    states: Box<[StateId]>,
    /// Bytes that only the base reads, by state.
    cuts: Box<[ByteSet]>,
    near: Box<[bool]>,
}

impl Difference {
    /// The difference, if the island is one.
    pub(crate) fn new(island: &FixedIsland, base: &Arc<FixedIsland>) -> Option<Self> {
        let (dfa, base_dfa) = (&island.dfa, &base.dfa);
        let mut states = vec![StateId::DEAD; dfa.len()];
        let mut cuts = vec![ByteSet::EMPTY; dfa.len()];
        let mut sources: Vec<Vec<StateId>> = vec![Vec::new(); dfa.len()];
        let mut pending = vec![dfa.start()];
        let mut near = vec![false; dfa.len()];
        let mut towards = Vec::new();
        let classes = dfa.classes().meet(base_dfa.classes()).representatives();
        states[dfa.start().index()] = base_dfa.start();
        while let Some(state) = pending.pop() {
            let mapped = states[state.index()];
            if dfa.is_accepting(state) != base_dfa.is_accepting(mapped) {
                return None;
            }
            cuts[state.index()] = base.out(mapped).difference(island.out(state));
            if cuts[state.index()].len() > MAX_CUT_BYTES {
                return None;
            }
            if !cuts[state.index()].is_empty() {
                near[state.index()] = true;
                towards.push(state);
                if towards.len() > MAX_CUTS {
                    return None;
                }
            }
            for &byte in &classes {
                let target = dfa.next(state, byte);
                if target.is_dead() {
                    continue;
                }
                let into = base_dfa.next(mapped, byte);
                sources[target.index()].push(state);
                let known = &mut states[target.index()];
                if into.is_dead() || !known.is_dead() && *known != into {
                    return None;
                }
                if known.is_dead() {
                    *known = into;
                    pending.push(target);
                }
            }
        }
        while let Some(state) = towards.pop() {
            for &source in &sources[state.index()] {
                if !std::mem::replace(&mut near[source.index()], true) {
                    towards.push(source);
                }
            }
        }
        if !is_acyclic(&near, &sources) {
            return None;
        }
        let (states, cuts, near) = (states.into(), cuts.into(), near.into());
        Some(Self { base: base.clone(), states, cuts, near })
    }

    /// The state of the base.
    pub(crate) fn state(&self, state: StateId) -> StateId {
        self.states[state.index()]
    }

    /// The tokens below a node that read over a cut, ascending, each once; and the nodes visited.
    pub(crate) fn removed(
        &self,
        island: &FixedIsland,
        state: StateId,
        at: At<'_>,
    ) -> (Vec<u32>, usize) {
        let mut removed = Vec::new();
        let mut visited = 0;
        let mut pending: Vec<(StateId, NodeId)> = Vec::new();
        if self.near[state.index()] {
            pending.push((state, at.node));
        }
        while let Some((state, node)) = pending.pop() {
            let cuts = &self.cuts[state.index()];
            for byte in cuts.iter() {
                if let Some(child) = at.trie.child(node, byte) {
                    visited += 1;
                    removed.extend(at.trie.tokens_below(child).iter().map(|token| token.as_u32()));
                }
            }
            for (byte, child) in at.trie.children(node) {
                visited += 1;
                let next = island.dfa.next(state, byte);
                if self.near[next.index()] {
                    pending.push((next, child));
                }
            }
        }
        removed.sort_unstable();
        removed.dedup();
        (removed, visited)
    }
}

/// Whether no near state leads back to itself: states that no open state leads to are closed, until
/// there are none.
fn is_acyclic(near: &[bool], sources: &[Vec<StateId>]) -> bool {
    // Sources of near states are near.
    let mut open = vec![0_usize; near.len()];
    for (_, sources) in near.iter().zip(sources).filter(|(near, _)| **near) {
        sources.iter().for_each(|source| open[source.index()] += 1);
    }
    let mut left = near.iter().filter(|&&near| near).count();
    let mut closed: Vec<usize> =
        (0..near.len()).filter(|&state| near[state] && open[state] == 0).collect();
    while let Some(state) = closed.pop() {
        left -= 1;
        for source in &sources[state] {
            open[source.index()] -= 1;
            if open[source.index()] == 0 {
                closed.push(source.index());
            }
        }
    }
    left == 0
}
