//! Monotone formulas over signed atoms, interned.
//!
//! Nodes are made children first, so whatever depends on all children of a node can be computed in
//! the order of the ids, without recursion.

use super::Polarity;
use rustc_hash::FxHashMap;
use std::{
    collections::{BTreeSet, HashMap},
    hash::Hash,
};

/// A node of [`Formulas`]. Children have smaller ids than their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

impl NodeId {
    pub(super) const TRUE: Self = Self(0);
    pub(super) const FALSE: Self = Self(1);

    fn of(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 formulas"))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    True,
    False,
    /// An index into the atoms.
    Atom(usize, Polarity),
    /// At least two, ascending.
    And(Box<[NodeId]>),
    Or(Box<[NodeId]>),
}

/// All formulas over one kind of atoms. Atoms are what a schema chooses: their hashes are keyed at
/// random, so that no choice makes them collide.
#[derive(Debug)]
pub(super) struct Formulas<A> {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, NodeId>,
    atoms: Vec<A>,
    known: HashMap<A, usize>,
}

impl<A: Clone + Eq + Hash> Formulas<A> {
    pub(super) fn new() -> Self {
        let nodes = vec![Node::True, Node::False];
        let ids = nodes.iter().cloned().zip([NodeId::TRUE, NodeId::FALSE]).collect();
        Self { nodes, ids, atoms: Vec::new(), known: HashMap::new() }
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(super) fn atoms(&self) -> &[A] {
        &self.atoms
    }

    pub(super) fn atom(&mut self, atom: A, polarity: Polarity) -> NodeId {
        let next = self.atoms.len();
        let index = *self.known.entry(atom).or_insert_with_key(|atom| {
            self.atoms.push(atom.clone());
            next
        });
        self.intern(Node::Atom(index, polarity))
    }

    pub(super) fn and(&mut self, parts: impl Iterator<Item = NodeId>) -> NodeId {
        self.connect(parts, (NodeId::TRUE, NodeId::FALSE), Node::And)
    }

    pub(super) fn or(&mut self, parts: impl Iterator<Item = NodeId>) -> NodeId {
        self.connect(parts, (NodeId::FALSE, NodeId::TRUE), Node::Or)
    }

    /// Leaves out what is neutral; one absorbing part, or an atom beside its negation, is all.
    fn connect(
        &mut self,
        parts: impl Iterator<Item = NodeId>,
        (neutral, absorbing): (NodeId, NodeId),
        node: impl FnOnce(Box<[NodeId]>) -> Node,
    ) -> NodeId {
        let mut parts: Vec<NodeId> = parts.filter(|&part| part != neutral).collect();
        parts.sort_unstable();
        parts.dedup();
        let opposed = |part: &NodeId| {
            let Node::Atom(atom, polarity) = self.nodes[part.index()] else { return false };
            let opposite = self.ids.get(&Node::Atom(atom, polarity.opposite()));
            opposite.is_some_and(|opposite| parts.binary_search(opposite).is_ok())
        };
        if parts.contains(&absorbing) || parts.iter().any(opposed) {
            return absorbing;
        }
        match parts[..] {
            [] => neutral,
            [only] => only,
            _ => self.intern(node(parts.into())),
        }
    }

    fn intern(&mut self, node: Node) -> NodeId {
        let next = NodeId::of(self.nodes.len());
        *self.ids.entry(node).or_insert_with_key(|node| {
            self.nodes.push(node.clone());
            next
        })
    }

    /// The nodes below a node, itself included, children before parents.
    pub(super) fn below(&self, root: NodeId) -> Vec<NodeId> {
        let mut seen = BTreeSet::from([root]);
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            if let Node::And(parts) | Node::Or(parts) = self.node(id) {
                pending.extend(parts.iter().copied().filter(|&part| seen.insert(part)));
            }
        }
        seen.into_iter().collect()
    }
}
