//! What a pattern says, before anchors are resolved.

use formwork_grammar::Polarity;
use std::{ops::Range, sync::Arc};

/// A node of a [`Tree`].
pub(crate) type NodeId = u32;

/// A set of characters in [`Tree::sets`].
pub(crate) type SetId = u32;

/// Inclusive ranges of characters, ascending, not adjacent.
pub(crate) type Ranges = Arc<[(char, char)]>;

/// A pattern. Every node but the root has exactly one parent, which stands after it.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Children before parents; the root is the last.
    pub(crate) nodes: Vec<TreeNode>,
    /// All literal characters in the order of the pattern.
    pub(crate) text: String,
    /// The distinct sets.
    pub(crate) sets: Vec<Ranges>,
    /// Where in the pattern the first look-ahead stands.
    pub(crate) first_look: Option<usize>,
}

/// One construct.
#[derive(Debug)]
pub(crate) enum TreeNode {
    /// These bytes of [`Tree::text`].
    Text(Range<usize>),
    /// One character of a set.
    Set(SetId),
    /// Nothing, at the very start of the output.
    Start,
    /// Nothing, at the very end of the output.
    End,
    /// Nothing, where what follows begins with the node, or does not.
    Look(NodeId, Polarity),
    /// One after the other.
    Seq(Box<[NodeId]>),
    /// One of them.
    Alt(Box<[NodeId]>),
    /// Between `min` and `max` times.
    Repeat {
        /// What is repeated.
        node: NodeId,
        /// The least number of times.
        min: u32,
        /// The greatest; `None` for no bound.
        max: Option<u32>,
    },
}
