//! The tokens that a state takes: the automaton and the vocabulary's trie walked together.
//!
//! # Cost
//! A state with few outgoing bytes goes to the trie's children by name, one look-up each; a state
//! with many (inside free text, say) scans the subtree in its depth-first order, where refusing a
//! byte skips everything below it. The 118,000 states of a large choice need the first, the handful
//! of text states the second.

use crate::machine::TokenAutomaton;
use formwork_automata::StateId;
use formwork_vocab::{NodeId, TokenId, TokenTrie, WalkScratch};

/// States with at most this many outgoing bytes go child by child.
const NARROW: usize = 12;

/// The outgoing bytes of narrow states, flat; built once per compile.
#[derive(Debug)]
pub(crate) struct Edges {
    /// `edges[first[state]..first[state + 1]]`; empty for wide and for dead ends.
    first: Vec<u32>,
    edges: Vec<(u8, StateId)>,
    wide: Vec<bool>,
}

impl Edges {
    pub(crate) fn new(automaton: &TokenAutomaton) -> Self {
        let dfa = &automaton.dfa;
        let members: Vec<Vec<u8>> = (0..dfa.classes().count())
            .map(|class| dfa.classes().members(class).iter().collect())
            .collect();
        let mut edges = Self {
            first: vec![0, 0],
            edges: Vec::with_capacity(dfa.len()),
            wide: vec![false; dfa.len()],
        };
        for &state in &automaton.states {
            let start = edges.edges.len();
            for (class, target) in dfa.byte_edges(state) {
                if edges.edges.len() - start + members[class].len() > NARROW {
                    edges.wide[state.index()] = true;
                    edges.edges.truncate(start);
                    break;
                }
                edges.edges.extend(members[class].iter().map(|&byte| (byte, target)));
            }
            edges.first.push(u32::try_from(edges.edges.len()).expect("at most 12 a state"));
        }
        edges
    }

    fn narrow(&self, state: StateId) -> Option<&[(u8, StateId)]> {
        let at = state.index();
        let range = self.first[at] as usize..self.first[at + 1] as usize;
        (!self.wide[at]).then(|| &self.edges[range])
    }
}

/// Scratch of one thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pending: Vec<(NodeId, StateId)>,
    walk: WalkScratch<StateId>,
}

/// Calls `on_token` with every token that can begin in `state` and the state after its end; both
/// readings of a token are told, one after the other. Returns the number of trie nodes visited.
pub(crate) fn for_each_token(
    automaton: &TokenAutomaton,
    edges: &Edges,
    state: StateId,
    scratch: &mut Scratch,
    on_token: &mut dyn FnMut(TokenId, StateId),
) -> usize {
    let trie: &TokenTrie = automaton.vocabulary.trie();
    let mut visited = 0;
    let mut told = |token: TokenId, state: StateId| {
        let after = automaton.end(state);
        if !after.is_dead() {
            on_token(token, after);
        }
    };
    scratch.pending.push((NodeId::ROOT, state));
    while let Some((node, state)) = scratch.pending.pop() {
        visited += 1;
        let Some(narrow) = edges.narrow(state) else {
            let step = |state: StateId, byte: u8| {
                let next = automaton.dfa.next(state, byte);
                (!next.is_dead()).then_some(next)
            };
            // The node's own tokens were told when it was reached, or here.
            let walked = trie.walk_states_from(node, state, &mut scratch.walk, step, &mut told);
            visited += walked.nodes;
            trie.tokens(node).iter().for_each(|&token| told(token, state));
            continue;
        };
        trie.tokens(node).iter().for_each(|&token| told(token, state));
        for &(byte, target) in narrow {
            if let Some(child) = trie.child(node, byte) {
                scratch.pending.push((child, target));
            }
        }
    }
    for (mark, target) in automaton.dfa.mark_edges(state) {
        if mark != formwork_grammar::regular::TOKEN_END {
            automaton.alphabet.tokens(mark).iter().for_each(|&token| told(token, target));
        }
    }
    visited
}
