//! Walks: the trie under a recogniser, refused subtrees skipped.
//!
//! The textbook walk is a recursion over children. Here it is a scan over the flat array:
//!
//! ```text
//! at = first node
//! while at < end:
//!     if the recogniser takes nodes[at].byte: tell the node's tokens; at += 1
//!     else: at = nodes[at].end
//! ```
//!
//! What a node's parent left behind is found by the node's depth, so nothing is pushed or popped on
//! the way up.

use super::{NodeId, TokenTrie};
use crate::TokenId;

/// Something that reads bytes one at a time and can undo them.
pub trait Recognizer {
    /// Whether the byte can be taken here; it is then taken.
    fn push(&mut self, byte: u8) -> bool;

    /// Undoes the last `count` bytes taken.
    fn pop(&mut self, count: usize);
}

/// States by depth, reused between walks so that only the first one allocates: a state (and for
/// walks by class an answer) per byte of the longest token.
#[derive(Clone, Debug)]
pub struct WalkScratch<S> {
    states: Vec<S>,
    answers: Vec<Option<(u8, Option<S>)>>,
}

impl<S> Default for WalkScratch<S> {
    fn default() -> Self {
        Self { states: Vec::new(), answers: Vec::new() }
    }
}

impl<S: Copy> WalkScratch<S> {
    /// Room for `depths` states, the first being `start`. The others are stale: a walk writes a
    /// depth before it reads it.
    fn states(&mut self, depths: usize, start: S) -> &mut [S] {
        if self.states.len() < depths {
            self.states.resize(depths, start);
        }
        self.states[0] = start;
        &mut self.states
    }
}

/// The work a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkStats {
    /// Nodes looked at: taken and refused.
    pub nodes: usize,
}

impl TokenTrie {
    /// A node and all below it, in the order of their bytes.
    pub fn subtree(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        (node.0..self.nodes[node.index()].end).map(NodeId)
    }

    /// Tells every token whose bytes the recogniser takes from where it stands. The recogniser is
    /// left as it was found.
    pub fn walk(
        &self,
        recognizer: &mut impl Recognizer,
        on_token: impl FnMut(TokenId),
    ) -> WalkStats {
        self.walk_from(NodeId::ROOT, recognizer, on_token)
    }

    /// The same for the tokens strictly below `node`, the recogniser standing at the node.
    pub fn walk_from(
        &self,
        node: NodeId,
        recognizer: &mut impl Recognizer,
        mut on_token: impl FnMut(TokenId),
    ) -> WalkStats {
        let base = usize::from(self.depths[node.index()]);
        let end = self.nodes[node.index()].end as usize;
        let mut stats = WalkStats::default();
        let mut taken = 0;
        let mut at = node.index() + 1;
        while at < end {
            let node = self.nodes[at];
            let above = usize::from(self.depths[at]) - 1 - base;
            if taken > above {
                recognizer.pop(taken - above);
                taken = above;
            }
            stats.nodes += 1;
            if recognizer.push(node.byte()) {
                taken += 1;
                at += 1;
                let first = self.nodes[at].first();
                self.tokens[node.first()..first].iter().for_each(|&token| on_token(token));
            } else {
                at = node.end as usize;
            }
        }
        if taken > 0 {
            recognizer.pop(taken);
        }
        stats
    }

    /// Tells every token whose bytes lead an automaton from `start` to some state, and that state.
    /// `step` gives the state after a byte, or `None` when there is none worth going on from.
    pub fn walk_states<S: Copy>(
        &self,
        start: S,
        scratch: &mut WalkScratch<S>,
        step: impl FnMut(S, u8) -> Option<S>,
        on_token: impl FnMut(TokenId, S),
    ) -> WalkStats {
        self.walk_states_from(NodeId::ROOT, start, scratch, step, on_token)
    }

    /// The same for the tokens strictly below `node`, `start` being the state at the node.
    pub fn walk_states_from<S: Copy>(
        &self,
        node: NodeId,
        start: S,
        scratch: &mut WalkScratch<S>,
        step: impl FnMut(S, u8) -> Option<S>,
        mut on_token: impl FnMut(TokenId, S),
    ) -> WalkStats {
        self.walk_nodes_from(node, start, scratch, step, |node, state| {
            self.tokens(node).iter().for_each(|&token| on_token(token, state));
        })
    }

    /// The same, telling every node strictly below `node` that a state is reached at, with tokens or
    /// without.
    #[inline]
    pub fn walk_nodes_from<S: Copy>(
        &self,
        node: NodeId,
        start: S,
        scratch: &mut WalkScratch<S>,
        mut step: impl FnMut(S, u8) -> Option<S>,
        mut on_node: impl FnMut(NodeId, S),
    ) -> WalkStats {
        let base = self.depths[node.index()];
        let states = scratch.states(self.max_depth() - usize::from(base) + 1, start);
        let end = self.nodes[node.index()].end as usize;
        let mut at = node.index() + 1;
        let mut stats = WalkStats::default();
        while at < end {
            let node = self.nodes[at];
            let depth = usize::from(self.depths[at] - base);
            stats.nodes += 1;
            match step(states[depth - 1], node.byte()) {
                Some(state) => {
                    states[depth] = state;
                    on_node(NodeId(u32::try_from(at).expect("nodes are u32")), state);
                    at += 1;
                }
                None => at = node.end as usize,
            }
        }
        stats
    }

    /// As [`Self::walk_states`] for an automaton over byte classes: `classes` maps bytes to classes,
    /// `step` takes a class. Neighbouring siblings of one class ask `step` once: siblings come in
    /// the order of their bytes, so the last class and answer per depth are all that is kept. That
    /// costs two memory accesses a node, so it pays where a step costs more than a table look-up.
    /// `nodes` counts the questions asked, not the nodes passed.
    pub fn walk_states_classes<S: Copy>(
        &self,
        start: S,
        classes: &[u8; 256],
        scratch: &mut WalkScratch<S>,
        mut step: impl FnMut(S, u8) -> Option<S>,
        mut on_token: impl FnMut(TokenId, S),
    ) -> WalkStats {
        let depths = self.max_depth() + 1;
        scratch.states(depths, start);
        let WalkScratch { states, answers } = scratch;
        // Below the root nothing was asked yet; deeper answers are cleared when a node is entered.
        // One more than there are depths, since a node of the last depth clears the next one too.
        answers.resize(answers.len().max(depths + 1), None);
        answers[1] = None;
        let mut at = 1;
        let mut stats = WalkStats::default();
        while at < self.node_count() {
            let node = self.nodes[at];
            let depth = usize::from(self.depths[at]);
            let class = classes[usize::from(node.byte())];
            let next = match answers[depth] {
                Some((known, next)) if known == class => next,
                _ => {
                    stats.nodes += 1;
                    let next = step(states[depth - 1], class);
                    answers[depth] = Some((class, next));
                    next
                }
            };
            match next {
                Some(state) => {
                    states[depth] = state;
                    answers[depth + 1] = None;
                    at += 1;
                    for &token in &self.tokens[node.first()..self.nodes[at].first()] {
                        on_token(token, state);
                    }
                }
                None => at = node.end as usize,
            }
        }
        stats
    }
}
