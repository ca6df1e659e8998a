//! Loops over symbols: which tokens stay inside, by the number of symbols they need, and what is left
//! of those that leave. Both are the vocabulary's, whatever the bounds.

use crate::mask::row_of;
use formwork_automata::{Dfa, StateId};
use formwork_vocab::{NodeId, TokenId, TokenTrie, Vocabulary, WalkScratch};
use std::sync::{Arc, OnceLock};

/// More tokens than this are a row.
const LIST: usize = 256;

/// A loop over one symbol.
#[derive(Debug)]
pub(crate) struct Loop {
    dfa: Arc<Dfa>,
    states: Box<[OnceLock<Inside>]>,
}

/// What is known of one state of a symbol.
#[derive(Debug)]
pub(crate) struct Inside {
    /// Symbols that a token needs, the one it stops in counted, and the token; ascending.
    tokens: Box<[(u16, u32)]>,
    rows: Box<[OnceLock<Arc<[i32]>>]>,
    exits: Box<[OnceLock<TokenTrie>]>,
    model_len: usize,
}

impl Loop {
    pub(crate) fn new(dfa: Arc<Dfa>) -> Self {
        let states = (0..dfa.len()).map(|_| OnceLock::new()).collect();
        Self { dfa, states }
    }

    /// The tokens that stay inside from a state on. Cost: a walk, once.
    pub(crate) fn inside(&self, state: StateId, vocabulary: &Vocabulary) -> &Inside {
        self.states[state.index()].get_or_init(|| {
            let trie = vocabulary.trie();
            let mut tokens = Vec::new();
            self.walk(state, trie, |node, (state, count)| {
                let needs = count.saturating_add(u16::from(state != self.dfa.start()));
                tokens.extend(trie.tokens(node).iter().map(|token| (needs, token.as_u32())));
            });
            tokens.sort_unstable();
            let longest = tokens.last().map_or(0, |token: &(u16, u32)| usize::from(token.0));
            Inside {
                tokens: tokens.into(),
                rows: (0..=longest).map(|_| OnceLock::new()).collect(),
                exits: (0..256).map(|_| OnceLock::new()).collect(),
                model_len: vocabulary.model_len(),
            }
        })
    }

    /// What is left of the tokens that leave the loop from a state on, after at least one byte, by a
    /// byte. Cost: a walk, once for each byte.
    pub(crate) fn exits(&self, state: StateId, byte: u8, vocabulary: &Vocabulary) -> &TokenTrie {
        let inside = self.inside(state, vocabulary);
        inside.exits[usize::from(byte)].get_or_init(|| {
            let trie = vocabulary.trie();
            let mut words: Vec<(&[u8], TokenId)> = Vec::new();
            self.walk(state, trie, |node, (state, _)| {
                if state == self.dfa.start()
                    && let Some(child) = trie.child(node, byte)
                {
                    let depth = trie.depth(node);
                    words.extend(trie.tokens_below(child).iter().map(|&token| {
                        let bytes = vocabulary.bytes(token).unwrap_or_default();
                        (&bytes[depth..], token)
                    }));
                }
            });
            TokenTrie::of_words(words)
        })
    }

    fn walk(&self, state: StateId, trie: &TokenTrie, visit: impl FnMut(NodeId, (StateId, u16))) {
        let step = |(state, count): (StateId, u16), byte| {
            let next = self.dfa.next(state, byte);
            match (next.is_dead(), self.dfa.is_accepting(next)) {
                (true, _) => None,
                (false, true) => Some((self.dfa.start(), count.saturating_add(1))),
                (false, false) => Some((next, count)),
            }
        };
        let mut scratch = WalkScratch::default();
        trie.walk_nodes_from(NodeId::ROOT, (state, 0), &mut scratch, step, visit);
    }

    /// The symbols that end in some bytes, read from a state.
    pub(crate) fn count(&self, mut state: StateId, bytes: &[u8]) -> u32 {
        let mut count = 0;
        for &byte in bytes {
            state = self.dfa.next(state, byte);
            if self.dfa.is_accepting(state) {
                count += 1;
                state = self.dfa.start();
            }
        }
        count
    }
}

impl Inside {
    /// The tokens of at most so many symbols, as a list.
    pub(crate) fn tokens(&self, most: usize) -> impl Iterator<Item = u32> + '_ {
        let end = self.tokens.partition_point(|token| usize::from(token.0) <= most);
        self.tokens[..end].iter().map(|token| token.1)
    }

    /// The same as a row, where there are many.
    pub(crate) fn row(&self, most: usize) -> Option<Arc<[i32]>> {
        let most = most.min(self.longest());
        let end = self.tokens.partition_point(|token| usize::from(token.0) <= most);
        let row = || row_of(self.model_len, self.tokens(most));
        (end > LIST).then(|| self.rows[most].get_or_init(row).clone())
    }

    /// The most symbols that a token needs.
    pub(crate) fn longest(&self) -> usize {
        self.rows.len() - 1
    }
}
