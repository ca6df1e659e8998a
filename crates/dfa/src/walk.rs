//! The tokens that a state takes: the automaton and the vocabulary's trie walked together.
//!
//! # Cost
//! A node is left by the shorter of two lists: the bytes of the state, each looked up among the
//! node's children, or the children, each looked up in the state's row. Inside free text, where
//! most bytes go on, the node's whole subtree is scanned in depth-first order instead: refusing a
//! byte then skips everything below it, and nothing is pushed. The hundred thousand states of a
//! large choice need the first, a handful of text states the last.

use crate::machine::TokenAutomaton;
use formwork_automata::StateId;
use formwork_slices::Slice;
use formwork_vocab::{NodeId, TokenId, TokenTrie, WalkScratch};

/// States with at most this many outgoing bytes keep a list of them, others a row by class.
const NARROW: usize = 12;
/// States with at least this many outgoing bytes scan subtrees.
const TEXT: usize = 64;

/// The byte edges of the automaton, laid out for walking; built once per compile.
#[derive(Debug)]
pub(crate) struct Edges {
    /// Byte to class.
    classes: [u8; 256],
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
    Narrow {
        first: u32,
        count: u32,
    },
    Wide {
        row: usize,
    },
    /// Wide, and so many bytes that whole subtrees are scanned.
    Text {
        row: usize,
    },
}

impl Edges {
    pub(crate) fn new(automaton: &TokenAutomaton) -> Self {
        let dfa = &automaton.dfa;
        let class_count = dfa.classes().count();
        let members: Vec<Vec<u8>> =
            (0..class_count).map(|class| dfa.classes().members(class).iter().collect()).collect();
        let mut edges = Self {
            classes: *dfa.classes().map(),
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
                if bytes < TEXT { Place::Wide { row } } else { Place::Text { row } }
            };
        }
        edges
    }

    /// Whether a state has so many outgoing bytes that whole subtrees are scanned.
    pub(crate) fn is_text(&self, state: StateId) -> bool {
        matches!(self.places[state.index()], Place::Text { .. })
    }

    /// The state after a byte.
    #[inline]
    fn next(&self, state: StateId, byte: u8) -> Option<StateId> {
        match self.places[state.index()] {
            Place::Wide { row } | Place::Text { row } => {
                let class = usize::from(self.classes[usize::from(byte)]);
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
/// readings of a token are told, one after the other. Returns the number of trie nodes visited, a
/// token read as a symbol counting as one.
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
        trie.tokens(node).iter().for_each(|&token| told(token, state));
        match edges.places[state.index()] {
            Place::Text { .. } => {
                let step = |state, byte| edges.next(state, byte);
                let walked = trie.walk_states_from(node, state, &mut scratch.walk, step, &mut told);
                visited += walked.nodes;
            }
            Place::Narrow { first, count } if (count as usize) <= trie.child_count(node) => {
                for &(byte, target) in &edges.narrow[first as usize..(first + count) as usize] {
                    if let Some(child) = trie.child(node, byte) {
                        scratch.pending.push((child, target));
                    }
                }
            }
            Place::Narrow { .. } | Place::Wide { .. } => {
                for (byte, child) in trie.children(node) {
                    if let Some(target) = edges.next(state, byte) {
                        scratch.pending.push((child, target));
                    }
                }
            }
        }
    }
    visited + for_each_symbol(automaton, state, &mut told)
}

/// The same for the tokens that a class row does not hold. The automaton does not look at token
/// ends.
pub(crate) fn for_each_other_token(
    automaton: &TokenAutomaton,
    edges: &Edges,
    (state, slice): (StateId, &Slice),
    scratch: &mut Scratch,
    on_token: &mut dyn FnMut(TokenId, StateId),
) -> usize {
    let step = |state, byte| edges.next(state, byte);
    let trie = automaton.vocabulary.trie();
    let visited = slice.walk_others(trie, state, &mut scratch.walk, step, &mut *on_token);
    visited + for_each_symbol(automaton, state, on_token)
}

/// Tells the tokens that `state` takes as symbols. Returns their number.
fn for_each_symbol(
    automaton: &TokenAutomaton,
    state: StateId,
    on_token: &mut dyn FnMut(TokenId, StateId),
) -> usize {
    let mut visited = 0;
    for (mark, target) in automaton.dfa.mark_edges(state) {
        if mark != formwork_grammar::regular::TOKEN_END {
            let tokens = automaton.alphabet.tokens(mark);
            visited += tokens.len();
            tokens.iter().for_each(|&token| on_token(token, target));
        }
    }
    visited
}
