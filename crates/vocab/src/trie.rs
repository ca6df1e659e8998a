//! The bytes of all emittable tokens as one flat trie.
//!
//! # Layout
//! Nodes stand in depth-first order, children by ascending byte; node 0 is the root, and one node
//! past the last closes the arrays. Per node, side by side for the walk:
//! - `nodes[n].end`: the index after the node's last descendant, so refusing a node's byte jumps
//!   there;
//! - `nodes[n].byte_and_first`: the byte in the low 8 bits, above it how many tokens stand before
//!   the node. So `tokens[first(n)..first(n + 1)]` are the tokens spelt exactly so, and
//!   `tokens[first(n)..first(end(n))]` all tokens at or below the node;
//! - `depths[n]`: bytes from the root.
//!
//! Children by name: `child_bytes[child_first[n]..child_first[n + 1]]`, ascending, and
//! `child_nodes` beside it; the root has a direct table.
//!
//! # Cost
//! 10 bytes a node for the walk and 9 for child look-up. A vocabulary of 128,000 tokens has 275,000
//! nodes. Building sorts the tokens once (by a prefix of 8 bytes as a number, then by the rest) and
//! reads them once.

mod saved;
mod walk;

pub(crate) use saved::OrderFault;
pub use walk::{Recognizer, WalkScratch, WalkStats};

use crate::{TokenId, Vocabulary};
use std::fmt;

/// A node of a [`TokenTrie`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The empty prefix.
    pub const ROOT: Self = Self(0);

    /// Position in tables indexed by node.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    end: u32,
    byte_and_first: u32,
}

impl Node {
    #[inline]
    fn new(byte: u8, first: usize) -> Self {
        let first = u32::try_from(first).expect("fewer than 2^24 tokens");
        Self { end: 0, byte_and_first: first << 8 | u32::from(byte) }
    }

    #[inline]
    const fn byte(self) -> u8 {
        (self.byte_and_first & 0xff) as u8
    }

    #[inline]
    const fn first(self) -> usize {
        (self.byte_and_first >> 8) as usize
    }
}

/// No child. No node has this index, since there are fewer nodes than bytes allowed.
const NONE: u32 = u32::MAX;

/// A trie over the bytes of tokens.
pub struct TokenTrie {
    nodes: Vec<Node>,
    depths: Vec<u16>,
    tokens: Vec<TokenId>,
    root_children: Box<[u32; 256]>,
    child_first: Vec<u32>,
    child_bytes: Vec<u8>,
    child_nodes: Vec<u32>,
    max_depth: usize,
}

impl fmt::Debug for TokenTrie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenTrie")
            .field("nodes", &self.node_count())
            .field("tokens", &self.tokens.len())
            .finish_non_exhaustive()
    }
}

impl TokenTrie {
    /// The trie of the vocabulary's emittable tokens that have bytes.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        Self::of_sorted_words(
            sorted_tokens(vocabulary).into_iter().map(|(_, bytes, id)| (bytes, id)),
        )
    }

    /// The trie of some of these tokens. `vocabulary` is the one this trie was built from. Cost: a
    /// question per token, then the building of the smaller trie; nothing is sorted again.
    #[must_use]
    pub fn subset(&self, vocabulary: &Vocabulary, keep: impl Fn(TokenId) -> bool) -> Self {
        let kept: Vec<TokenId> = self.tokens.iter().copied().filter(|&token| keep(token)).collect();
        Self::from_sorted(vocabulary, kept)
    }

    /// A trie of any words, each with the token it stands for: what is left of tokens after a
    /// prefix, say. Words may repeat, and a token may have several. Empty words are passed over.
    #[must_use]
    pub fn of_words(mut words: Vec<(&[u8], TokenId)>) -> Self {
        words.retain(|word| !word.0.is_empty());
        words.sort_unstable();
        words.dedup();
        Self::of_sorted_words(words.into_iter())
    }

    fn from_sorted(vocabulary: &Vocabulary, sorted: Vec<TokenId>) -> Self {
        let bytes = |id| vocabulary.bytes(id).expect("tokens with bytes were sorted");
        Self::of_sorted_words(sorted.into_iter().map(|id| (bytes(id), id)))
    }

    fn of_sorted_words<'a>(sorted: impl ExactSizeIterator<Item = (&'a [u8], TokenId)>) -> Self {
        Self::try_of_sorted_words(sorted).expect("sorted and each once")
    }

    /// The trie of words that are not empty and ascend, words of the same bytes by their tokens; or
    /// the position of the first word that does not come after the one before it.
    fn try_of_sorted_words<'a>(
        sorted: impl ExactSizeIterator<Item = (&'a [u8], TokenId)>,
    ) -> Result<Self, usize> {
        let mut nodes = Vec::with_capacity(sorted.len() * 5 / 2 + 2);
        let mut depths: Vec<u16> = Vec::with_capacity(nodes.capacity());
        let mut tokens = Vec::with_capacity(sorted.len());
        nodes.push(Node::new(0, 0));
        depths.push(0);
        let mut previous: &[u8] = &[];
        for (bytes, id) in sorted {
            let shared = previous.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            let ascends = match (previous.get(shared), bytes.get(shared)) {
                (Some(before), Some(after)) => before < after,
                (None, None) => tokens.last() < Some(&id),
                (before, _) => before.is_none(),
            };
            if !ascends {
                return Err(tokens.len());
            }
            for (depth, &byte) in (shared + 1..).zip(&bytes[shared..]) {
                nodes.push(Node::new(byte, tokens.len()));
                depths.push(u16::try_from(depth).expect("tokens are at most 2^16 bytes"));
            }
            tokens.push(id);
            previous = bytes;
        }
        nodes.push(Node::new(0, tokens.len()));
        let max_depth = depths.iter().copied().max().unwrap_or_default().into();
        Ok(Self {
            nodes,
            depths,
            tokens,
            root_children: Box::new([NONE; 256]),
            child_first: Vec::new(),
            child_bytes: Vec::new(),
            child_nodes: Vec::new(),
            max_depth,
        }
        .with_ends_and_children())
    }

    /// Fills in what bytes and depths determine. Three passes without a branch that depends on the
    /// shape of the trie: which node is which one's parent, then ends from the last node to the
    /// first, then children.
    fn with_ends_and_children(mut self) -> Self {
        let count = self.node_count();
        let parents = self.parents();
        for node in (1..count).rev() {
            // An end that is still 0 belongs to a node without children.
            let end = self.nodes[node].end.max(index(node + 1));
            self.nodes[node].end = end;
            let parent = &mut self.nodes[parents[node] as usize];
            parent.end = parent.end.max(end);
        }
        self.nodes[0].end = index(count);
        self.child_first = vec![0; count + 1];
        for &parent in &parents[1..] {
            self.child_first[parent as usize + 1] += 1;
        }
        let mut sum = 0;
        for first in &mut self.child_first {
            sum += *first;
            *first = sum;
        }
        self.child_bytes = vec![0; count - 1];
        self.child_nodes = vec![0; count - 1];
        // Children come ascending here, so the next free place of a parent is what `first` counts up.
        let mut free = self.child_first.clone();
        for (node, &parent) in parents.iter().enumerate().skip(1) {
            let place = &mut free[parent as usize];
            self.child_bytes[*place as usize] = self.nodes[node].byte();
            self.child_nodes[*place as usize] = index(node);
            *place += 1;
        }
        for at in 0..self.child_first[1] as usize {
            self.root_children[usize::from(self.child_bytes[at])] = self.child_nodes[at];
        }
        self
    }

    /// The parent of every node but the root, whose entry means nothing.
    fn parents(&self) -> Vec<u32> {
        // By depth: the node last passed.
        let mut path = vec![0; self.max_depth + 1];
        let mut parents = vec![0; self.node_count()];
        for (node, parent) in parents.iter_mut().enumerate().skip(1) {
            let depth = usize::from(self.depths[node]);
            *parent = path[depth - 1];
            path[depth] = index(node);
        }
        parents
    }

    /// Number of nodes, the root included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.depths.len()
    }

    /// Bytes of the longest token.
    #[must_use]
    pub fn max_depth(&self) -> usize {
        self.max_depth
    }

    /// The tokens spelt exactly like the path to a node, ascending.
    #[must_use]
    #[inline]
    pub fn tokens(&self, node: NodeId) -> &[TokenId] {
        let at = node.index();
        &self.tokens[self.nodes[at].first()..self.nodes[at + 1].first()]
    }

    /// All tokens at or below a node, in the order of their bytes.
    #[must_use]
    pub fn tokens_below(&self, node: NodeId) -> &[TokenId] {
        let at = self.nodes[node.index()];
        &self.tokens[at.first()..self.nodes[at.end as usize].first()]
    }

    /// The node after the last descendant of a node.
    #[must_use]
    pub fn subtree_end(&self, node: NodeId) -> NodeId {
        NodeId(self.nodes[node.index()].end)
    }

    /// Bytes from the root to a node.
    #[must_use]
    pub fn depth(&self, node: NodeId) -> usize {
        self.depths[node.index()].into()
    }

    /// The child by a byte. One look-up at the root, a short search elsewhere.
    #[must_use]
    #[inline]
    pub fn child(&self, node: NodeId, byte: u8) -> Option<NodeId> {
        if node == NodeId::ROOT {
            let child = self.root_children[usize::from(byte)];
            return (child != NONE).then_some(NodeId(child));
        }
        let range = self.child_range(node);
        let bytes = &self.child_bytes[range.clone()];
        // Most nodes have a child or two; a search by halves pays from a cache line on.
        let at = match bytes.len() {
            0..=16 => bytes.iter().position(|&candidate| candidate == byte),
            _ => bytes.binary_search(&byte).ok(),
        };
        at.map(|at| NodeId(self.child_nodes[range.start + at]))
    }

    /// How many children a node has.
    #[must_use]
    #[inline]
    pub fn child_count(&self, node: NodeId) -> usize {
        self.child_range(node).len()
    }

    /// All children with their bytes, ascending.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = (u8, NodeId)> + '_ {
        let range = self.child_range(node);
        let nodes = self.child_nodes[range.clone()].iter().copied().map(NodeId);
        self.child_bytes[range].iter().copied().zip(nodes)
    }

    fn child_range(&self, node: NodeId) -> std::ops::Range<usize> {
        let at = node.index();
        self.child_first[at] as usize..self.child_first[at + 1] as usize
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>()
            + self.depths.len() * 2
            + (self.tokens.len() + self.child_first.len() + self.child_nodes.len()) * 4
            + self.child_bytes.len()
            + 1024
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).expect("nodes are at most one a byte, and bytes are limited")
}

/// The emittable tokens that have bytes, by bytes and then by id; before each its first eight bytes
/// as a number.
fn sorted_tokens(vocabulary: &Vocabulary) -> Vec<(u64, &[u8], TokenId)> {
    let ids = (0..).take(vocabulary.tokenizer_len()).map(TokenId::new);
    let mut keyed: Vec<(u64, &[u8], TokenId)> = ids
        .filter(|&id| vocabulary.is_emittable(id))
        .filter_map(|id| {
            let bytes = vocabulary.bytes(id)?;
            let mut prefix = [0; 8];
            let length = bytes.len().min(8);
            prefix[..length].copy_from_slice(&bytes[..length]);
            Some((u64::from_be_bytes(prefix), bytes, id))
        })
        .collect();
    keyed.sort_unstable();
    keyed
}

#[cfg(test)]
mod tests;
