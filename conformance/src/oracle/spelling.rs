//! How tokens spell bytes: which bytes may follow inside a token, and where one may end.
//!
//! # Idea
//! The trie of the emittable byte tokens with equal subtrees merged (a DAWG). It answers for
//! futures, where the tokens are not yet known: from a boundary any token may be begun, inside a
//! token its bytes must go on, where a token ends there is a boundary again.
//!
//! # Two reductions, both exact
//! 1. A token that nothing extends ends at once: nothing else can happen before its end.
//! 2. Where nothing counts tokens, a token all of whose bytes are tokens themselves spells nothing
//!    that they do not, and is left out. With a token for every byte, what remains is one state.

use formwork_vocab::{TokenId, Vocabulary};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A place inside a token, or between two.
pub(super) type SpellId = u32;

/// Between two tokens.
pub(super) const BOUNDARY: SpellId = 0;

/// Whether something in the grammar counts tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Tokens,
    Nothing,
}

/// The automaton of spellings.
#[derive(Clone, Debug)]
pub(super) struct Spelling {
    states: Vec<Spell>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Spell {
    /// Whether a token may end here.
    ends: bool,
    /// Bytes that go on, ascending.
    next: Vec<(u8, Next)>,
}

/// Where a byte leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Next {
    /// Further inside a token.
    Inside(SpellId),
    /// To the end of one.
    End,
}

#[derive(Default)]
struct TrieNode {
    ends: bool,
    children: BTreeMap<u8, usize>,
}

impl Spelling {
    pub(super) fn new(vocabulary: &Vocabulary, counting: Counting) -> Self {
        let known = vocabulary.tokenizer_len().min(vocabulary.model_len());
        let ids = (0..u32::try_from(known).expect("ids are u32")).map(TokenId::new);
        let tokens: Vec<&[u8]> = ids
            .filter(|&id| vocabulary.is_emittable(id))
            .filter_map(|id| vocabulary.bytes(id))
            .collect();
        let mut alone = [false; 256];
        for token in &tokens {
            if let [byte] = token {
                alone[usize::from(*byte)] = true;
            }
        }
        let spells_more = |token: &&&[u8]| {
            counting == Counting::Tokens
                || token.len() == 1
                || token.iter().any(|&byte| !alone[usize::from(byte)])
        };
        let mut trie = vec![TrieNode::default()];
        for token in tokens.iter().filter(spells_more) {
            let mut at = 0;
            for &byte in *token {
                let new = trie.len();
                let child = *trie[at].children.entry(byte).or_insert(new);
                if child == new {
                    trie.push(TrieNode::default());
                }
                at = child;
            }
            trie[at].ends = true;
        }
        Self::merged(&trie)
    }

    /// Children come after their parents in the trie, so backwards every child is known.
    fn merged(trie: &[TrieNode]) -> Self {
        let mut states = vec![Spell::default()];
        let mut ids: FxHashMap<Spell, SpellId> = FxHashMap::default();
        let mut image = vec![Next::End; trie.len()];
        for (index, node) in trie.iter().enumerate().rev() {
            let next = node.children.iter().map(|(&byte, &child)| (byte, image[child])).collect();
            let spell = Spell { ends: node.ends, next };
            if index == 0 {
                // Never merged with a place inside a token: here symbols may be read.
                states[0] = spell;
            } else if !spell.next.is_empty() {
                let id = *ids.entry(spell.clone()).or_insert_with(|| {
                    states.push(spell);
                    SpellId::try_from(states.len() - 1).expect("fewer states than bytes")
                });
                image[index] = Next::Inside(id);
            }
        }
        Self { states }
    }

    /// Where a byte leads, if some token goes on with it.
    pub(super) fn next(&self, at: SpellId, byte: u8) -> Option<Next> {
        let next = &self.states[at as usize].next;
        next.binary_search_by_key(&byte, |edge| edge.0).ok().map(|index| next[index].1)
    }

    /// Whether a token may end here.
    pub(super) fn ends(&self, at: SpellId) -> bool {
        self.states[at as usize].ends
    }
}
