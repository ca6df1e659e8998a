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

/// The byte edges of the automaton, laid out for walking; built once per compile.
#[derive(Debug)]
pub(crate) struct Edges {
    /// Byte to class.
    classes: [u8; 256],
    class_count: usize,
    /// Where a state's edges are: see [`Place`].
    places: Vec<Place>,
    /// Bytes and targets of narrow states.
    narrow: Vec<(u8, StateId)>,
    /// Targets by class of wide states, one row after the other.
    wide: Vec<StateId>,
}

/// A stretch of `narrow`, or the beginning of a row of `wide`.
#[derive(Clone, Copy, Debug)]
enum Place {
    Narrow { first: u32, count: u32 },
    Wide { row: usize },
}

impl Edges {
    pub(crate) fn new(automaton: &TokenAutomaton) -> Self {
        let dfa = &automaton.dfa;
        let class_count = dfa.classes().count();
        let members: Vec<Vec<u8>> =
            (0..class_count).map(|class| dfa.classes().members(class).iter().collect()).collect();
        let mut edges = Self {
            classes: *dfa.classes().map(),
            class_count,
            places: vec![Place::Narrow { first: 0, count: 0 }; dfa.len()],
            narrow: Vec::with_capacity(dfa.len()),
            wide: Vec::new(),
        };
        for &state in &automaton.states {
            let bytes: usize = dfa.byte_edges(state).map(|(class, _)| members[class].len()).sum();
            edges.places[state.index()] = if bytes <= NARROW {
                let first = edges.narrow.len();
                for (class, target) in dfa.byte_edges(state) {
                    edges.narrow.extend(members[class].iter().map(|&byte| (byte, target)));
                }
                let first = u32::try_from(first).expect("at most 12 a state");
                Place::Narrow { first, count: bytes as u32 }
            } else {
                let row = edges.wide.len();
                edges.wide.resize(row + class_count, StateId::DEAD);
                for (class, target) in dfa.byte_edges(state) {
                    edges.wide[row + class] = target;
                }
                Place::Wide { row }
            };
        }
        edges
    }

    /// The edges of a narrow state; `None` for a wide one.
    fn narrow(&self, state: StateId) -> Option<&[(u8, StateId)]> {
        match self.places[state.index()] {
            Place::Narrow { first, count } => {
                Some(&self.narrow[first as usize..(first + count) as usize])
            }
            Place::Wide { .. } => None,
        }
    }

    /// The state after a byte.
    #[inline]
    fn next(&self, state: StateId, byte: u8) -> Option<StateId> {
        match self.places[state.index()] {
            Place::Wide { row } => {
                let class = usize::from(self.classes[usize::from(byte)]);
                debug_assert!(class < self.class_count);
                let next = self.wide[row + class];
                (!next.is_dead()).then_some(next)
            }
            Place::Narrow { first, count } => {
                let edges = &self.narrow[first as usize..(first + count) as usize];
                edges.iter().find(|edge| edge.0 == byte).map(|edge| edge.1)
            }
        }
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
