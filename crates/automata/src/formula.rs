//! Boolean formulas over nondeterministic automata, as a flat list of nodes: children before their
//! parents, the root last. So nothing that walks, copies or drops a formula recurses.

use crate::Nfa;

/// A boolean combination of languages, each given by an [`Nfa`].
#[derive(Clone, Debug)]
pub struct Formula {
    pub(crate) leaves: Vec<Nfa>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// Index of a leaf.
    Leaf(usize),
    /// Indices of nodes.
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
}

impl Formula {
    /// The language of an automaton.
    #[must_use]
    pub fn language(nfa: Nfa) -> Self {
        Self { leaves: vec![nfa], nodes: vec![Node::Leaf(0)] }
    }

    /// The words of both. Cost: the size of the smaller formula.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.join(other, Node::And)
    }

    /// The words of either. Cost: the size of the smaller formula.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.join(other, Node::Or)
    }

    /// All byte strings that are not words of it. Constant time.
    #[must_use]
    pub fn complement(mut self) -> Self {
        self.nodes.push(Node::Not(self.nodes.len() - 1));
        self
    }

    fn join(self, other: Self, node: fn(usize, usize) -> Node) -> Self {
        let (mut large, small) =
            if self.nodes.len() < other.nodes.len() { (other, self) } else { (self, other) };
        let (leaves, nodes) = (large.leaves.len(), large.nodes.len());
        large.leaves.extend(small.leaves);
        large.nodes.extend(small.nodes.into_iter().map(|node| match node {
            Node::Leaf(leaf) => Node::Leaf(leaf + leaves),
            Node::Not(a) => Node::Not(a + nodes),
            Node::And(a, b) => Node::And(a + nodes, b + nodes),
            Node::Or(a, b) => Node::Or(a + nodes, b + nodes),
        }));
        large.nodes.push(node(nodes - 1, large.nodes.len() - 1));
        large
    }

    /// Whether a complement occurs in it.
    pub(crate) fn has_complement(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Not(_)))
    }
}

/// A formula without its leaves, and room to evaluate it.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator {
    nodes: Vec<Node>,
    values: Vec<Option<bool>>,
}

impl Evaluator {
    pub(crate) fn new(formula: &Formula) -> Self {
        Self { nodes: formula.nodes.clone(), values: Vec::with_capacity(formula.nodes.len()) }
    }

    /// The value of the formula in Kleene's three-valued logic: none is "not known".
    pub(crate) fn value(&mut self, leaf: impl Fn(usize) -> Option<bool>) -> Option<bool> {
        self.values.clear();
        for &node in &self.nodes {
            let value = match node {
                Node::Leaf(index) => leaf(index),
                Node::Not(a) => self.values[a].map(|value| !value),
                Node::And(a, b) => match (self.values[a], self.values[b]) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                },
                Node::Or(a, b) => match (self.values[a], self.values[b]) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                },
            };
            self.values.push(value);
        }
        *self.values.last().expect("a formula has a root")
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        std::mem::size_of_val(&*self.nodes) + self.values.capacity()
    }
}
