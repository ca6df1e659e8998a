//! One slice: the tokens of a class, and the trie of what begins like them.

use crate::{CharacterClass, Fit, catalogue::begins};
use formwork_automata::ByteSet;
use formwork_mask::{RowMut, words_for};
use formwork_vocab::{NodeId, TokenId, TokenTrie, Vocabulary, WalkScratch};
use std::sync::OnceLock;

/// Rows by number of characters are kept for so many; longer bounds are made anew. Few tokens are
/// longer than this, and few states that near to their bound.
const KEPT_BOUNDS: usize = 48;

/// Characters of one token: what a class says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub(crate) class: CharacterClass,
    pub(crate) characters: u16,
}

/// The tokens made of one class of characters.
pub struct Slice {
    class: CharacterClass,
    first_bytes: ByteSet,
    /// Members by number of characters.
    members: Box<[TokenId]>,
    /// How many members have at most so many characters, by that number.
    ends: Box<[u32]>,
    row: Box<[i32]>,
    /// Rows of the members of at most `index + 1` characters, made when first asked for.
    bounded: Box<[OnceLock<Box<[i32]>>]>,
    /// Tokens that begin with a byte of `first_bytes` and are no members.
    rest: TokenTrie,
    model_len: usize,
}

impl std::fmt::Debug for Slice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slice")
            .field("class", &self.class)
            .field("members", &self.members.len())
            .field("rest_nodes", &self.rest.node_count())
            .finish_non_exhaustive()
    }
}

/// The part of a slice that a state allows at once.
#[derive(Clone, Copy, Debug)]
pub struct SliceRow<'a> {
    slice: &'a Slice,
    /// The most characters of a token; `None` for any.
    bound: Option<usize>,
}

impl Slice {
    /// Cost: a test per token, a sort of the members, and the building of the small trie.
    pub(crate) fn new(
        vocabulary: &Vocabulary,
        signatures: &[Option<Signature>],
        class: CharacterClass,
    ) -> Self {
        let signature = |token: TokenId| {
            signatures[token.index()].filter(|signature| signature.class.is_subset_of(class))
        };
        let trie = vocabulary.trie();
        let mut members: Vec<(u16, TokenId)> = trie
            .tokens_below(NodeId::ROOT)
            .iter()
            .filter_map(|&token| Some((signature(token)?.characters, token)))
            .collect();
        members.sort_unstable();
        let longest = members.last().map_or(0, |member| usize::from(member.0));
        let mut ends = vec![0; longest + 1];
        members.iter().for_each(|member| ends[usize::from(member.0)] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let model_len = vocabulary.model_len();
        let mut row = vec![0; words_for(model_len)].into_boxed_slice();
        let mut bits = RowMut::new(&mut row, model_len);
        members.iter().for_each(|member| bits.set(member.1.index()));
        let first_bytes = class.first_bytes();
        let rest = trie.subset(vocabulary, |token| {
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            bytes.first().is_some_and(|&byte| first_bytes.contains(byte))
                && signature(token).is_none()
        });
        Self {
            class,
            first_bytes,
            members: members.into_iter().map(|member| member.1).collect(),
            ends: ends.into(),
            row,
            bounded: (1..longest.min(KEPT_BOUNDS)).map(|_| OnceLock::new()).collect(),
            rest,
            model_len,
        }
    }

    /// The class.
    #[must_use]
    pub fn class(&self) -> CharacterClass {
        self.class
    }

    /// The bytes that members begin with.
    #[must_use]
    pub fn first_bytes(&self) -> &ByteSet {
        &self.first_bytes
    }

    /// Whether a state that takes exactly these bytes takes one that begins each character of the
    /// class. One that does not fits the class in no way.
    #[must_use]
    pub fn is_candidate(&self, bytes: &ByteSet) -> bool {
        begins(self.class, bytes)
    }

    /// How many tokens are members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no token is a member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Characters of the longest member.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.ends.len() - 1
    }

    /// What a state allows at once that fits the class so. `None` when that is nothing, or not
    /// known: then all tokens have to be walked.
    #[must_use]
    pub fn row(&self, fit: Fit) -> Option<SliceRow<'_>> {
        let bound = match fit {
            Fit::No => return None,
            Fit::Any => None,
            Fit::Exactly(count) | Fit::AtLeast(count) if count >= self.longest() => None,
            Fit::Exactly(count) => Some(count),
            Fit::AtLeast(_) => return None,
        };
        Some(SliceRow { slice: self, bound })
    }

    /// The trie of the tokens that begin with a byte of the class and are no members.
    #[must_use]
    pub fn rest(&self) -> &TokenTrie {
        &self.rest
    }

    /// Tells the tokens that are no members and lead an automaton from `start` to some state, and
    /// that state: the small trie, then the tokens of the whole trie that begin with other bytes.
    /// Returns the number of nodes visited.
    pub fn walk_others<S: Copy>(
        &self,
        trie: &TokenTrie,
        start: S,
        scratch: &mut WalkScratch<S>,
        step: impl FnMut(S, u8) -> Option<S>,
        mut on_token: impl FnMut(TokenId, S),
    ) -> usize {
        self.walk_other_nodes(trie, start, scratch, step, |trie, node, state| {
            trie.tokens(node).iter().for_each(|&token| on_token(token, state));
        })
    }

    /// The same, telling every node that a state is reached at and the trie it is of.
    pub fn walk_other_nodes<S: Copy>(
        &self,
        trie: &TokenTrie,
        start: S,
        scratch: &mut WalkScratch<S>,
        mut step: impl FnMut(S, u8) -> Option<S>,
        mut on_node: impl FnMut(&TokenTrie, NodeId, S),
    ) -> usize {
        let rest = &self.rest;
        let on_rest = |node, state| on_node(rest, node, state);
        let mut visited =
            rest.walk_nodes_from(NodeId::ROOT, start, scratch, &mut step, on_rest).nodes;
        for (byte, child) in trie.children(NodeId::ROOT) {
            if self.first_bytes.contains(byte) {
                continue;
            }
            visited += 1;
            if let Some(state) = step(start, byte) {
                on_node(trie, child, state);
                let on_node = |node, state| on_node(trie, node, state);
                let walked = trie.walk_nodes_from(child, state, scratch, &mut step, on_node);
                visited += walked.nodes;
            }
        }
        visited
    }

    /// Heap bytes held, the rows made so far included.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let made = self.bounded.iter().filter(|row| row.get().is_some()).count();
        (made + 1) * self.row.len() * 4
            + self.bounded.len() * size_of::<OnceLock<Box<[i32]>>>()
            + (self.members.len() + self.ends.len()) * 4
            + self.rest.memory_bytes()
    }

    fn bounded_row(&self, bound: usize) -> Box<[i32]> {
        let mut row = vec![0; self.row.len()].into_boxed_slice();
        let mut bits = RowMut::new(&mut row, self.model_len);
        self.members[..self.ends[bound] as usize].iter().for_each(|token| bits.set(token.index()));
        row
    }
}

impl SliceRow<'_> {
    /// The slice.
    #[must_use]
    pub fn slice(&self) -> &Slice {
        self.slice
    }

    /// How many tokens are in the row.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bound.map_or(self.slice.len(), |bound| self.slice.ends[bound] as usize)
    }

    /// Writes the row whole. Cost: a copy; for bounds past the ones kept, the row is made anew.
    pub fn write(&self, words: &mut [i32]) {
        match self.bound {
            None => words.copy_from_slice(&self.slice.row),
            Some(0) => words.fill(0),
            Some(bound) => match self.slice.bounded.get(bound - 1) {
                Some(row) => {
                    words.copy_from_slice(row.get_or_init(|| self.slice.bounded_row(bound)));
                }
                None => words.copy_from_slice(&self.slice.bounded_row(bound)),
            },
        }
    }

    /// The tokens of the row, in no order.
    pub fn tokens(&self) -> impl Iterator<Item = TokenId> + '_ {
        self.slice.members[..self.count()].iter().copied()
    }
}
