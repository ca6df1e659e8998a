//! A rule's body: an arena of nodes, and the constructors that keep it in normal form.

use crate::{
    Annotation, ExprId, LookAhead, Member, Node, Permute, Polarity, Repeat, Rest, RuleId, TokenSet,
    Uniqueness,
};
use formwork_automata::{ByteSet, Dfa};
use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::{FxHashMap, FxHashSet};
use std::{convert::Infallible, ops::Index, sync::Arc};

/// The body of a rule. Children stand before their parents; the root is the last node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Body {
    nodes: Box<[Node]>,
}

impl Body {
    /// The node that stands for the whole body.
    #[must_use]
    pub fn root(&self) -> ExprId {
        ExprId(u32::try_from(self.nodes.len() - 1).expect("checked when built"))
    }

    /// All nodes, children first.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All nodes with their ids, children first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (ExprId, &Node)> {
        let ids = 0..u32::try_from(self.nodes.len()).expect("checked when built");
        ids.map(ExprId).zip(self.nodes.iter())
    }

    /// The rules that the body refers to, each once, in the order of the arena.
    #[must_use]
    pub fn references(&self) -> Vec<RuleId> {
        let mut seen = FxHashSet::default();
        let rules = self.nodes.iter().filter_map(|node| match node {
            Node::Rule(rule) => Some(*rule),
            _ => None,
        });
        rules.filter(|rule| seen.insert(*rule)).collect()
    }
}

impl Index<ExprId> for Body {
    type Output = Node;

    fn index(&self, id: ExprId) -> &Node {
        &self.nodes[id.index()]
    }
}

/// Builds a [`Body`]. Equal nodes are built once. Each constructor states the identities it applies.
#[derive(Clone, Debug, Default)]
pub struct BodyBuilder {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, ExprId>,
    weight: usize,
}

impl BodyBuilder {
    /// A builder without nodes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nodes built so far; what [`Limits::nodes`](crate::Limits) counts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Nodes, children and literal bytes built so far: what the nodes take. Flattening can double it
    /// with every node, so a rewriting pass over a body it does not trust pays for it as it goes.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Whether nothing was built yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node built before.
    #[must_use]
    pub fn node(&self, id: ExprId) -> &Node {
        &self.nodes[id.index()]
    }

    fn intern(&mut self, node: Node) -> ExprId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = ExprId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        self.weight += weight(&node);
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    /// Nothing at all.
    pub fn never(&mut self) -> ExprId {
        self.intern(Node::Never)
    }

    /// The empty sequence.
    pub fn empty(&mut self) -> ExprId {
        self.intern(Node::Empty)
    }

    /// These bytes. No byte is `empty`, one byte is a byte set.
    pub fn literal(&mut self, bytes: &[u8]) -> ExprId {
        match bytes {
            [] => self.empty(),
            [byte] => self.bytes(ByteSet::single(*byte)),
            _ => self.intern(Node::Literal(bytes.into())),
        }
    }

    /// One byte of the set; `never` for an empty one.
    pub fn bytes(&mut self, set: ByteSet) -> ExprId {
        if set.is_empty() { self.never() } else { self.intern(Node::Bytes(set)) }
    }

    /// The UTF-8 encoding of one character in the inclusive ranges.
    pub fn characters(&mut self, ranges: &[(char, char)]) -> ExprId {
        let mut sequences = Vec::new();
        for &(start, end) in ranges {
            for sequence in Utf8Sequences::new(start, end) {
                let parts = sequence.as_slice().iter();
                let bytes: Vec<_> =
                    parts.map(|part| self.bytes(ByteSet::range(part.start..=part.end))).collect();
                sequences.push(self.seq(&bytes));
            }
        }
        self.alt(&sequences)
    }

    /// One after the other: flattened, without `empty`, neighbouring literals joined; `never` if
    /// one of them is.
    pub fn seq(&mut self, parts: &[ExprId]) -> ExprId {
        let mut flat: Vec<ExprId> = Vec::with_capacity(parts.len());
        let mut text: Vec<u8> = Vec::new();
        for &part in parts {
            let nested = match self.node(part) {
                Node::Seq(children) => children.clone(),
                _ => [part].into(),
            };
            for &child in &nested {
                match self.node(child) {
                    Node::Never => return self.never(),
                    Node::Empty => {}
                    Node::Literal(bytes) => text.extend_from_slice(bytes),
                    Node::Bytes(set) if set.len() == 1 => text.extend(set.first()),
                    _ => {
                        self.flush_text(&mut text, &mut flat);
                        flat.push(child);
                    }
                }
            }
        }
        self.flush_text(&mut text, &mut flat);
        match flat[..] {
            [] => self.empty(),
            [only] => only,
            _ => self.intern(Node::Seq(flat.into())),
        }
    }

    fn flush_text(&mut self, text: &mut Vec<u8>, flat: &mut Vec<ExprId>) {
        if !text.is_empty() {
            flat.push(self.literal(text));
            text.clear();
        }
    }

    /// One of them: flattened, without `never` and repeats, byte sets joined; an `empty` among them
    /// makes the others optional; `never` if there is none.
    pub fn alt(&mut self, choices: &[ExprId]) -> ExprId {
        let mut seen = FxHashSet::default();
        let mut flat: Vec<ExprId> = Vec::with_capacity(choices.len());
        let mut set = ByteSet::EMPTY;
        let mut optional = false;
        for &choice in choices {
            let nested = match self.node(choice) {
                Node::Alt(children) => children.clone(),
                _ => [choice].into(),
            };
            for &child in &nested {
                match self.node(child) {
                    Node::Never => {}
                    Node::Empty => optional = true,
                    Node::Bytes(bytes) => set = set.union(bytes),
                    _ => {
                        if seen.insert(child) {
                            flat.push(child);
                        }
                    }
                }
            }
        }
        if !set.is_empty() {
            let bytes = self.bytes(set);
            flat.push(bytes);
        }
        let choice = match flat[..] {
            [] if optional => self.empty(),
            [] => self.never(),
            [only] => only,
            _ => self.intern(Node::Alt(flat.into())),
        };
        if optional { self.optional(choice) } else { choice }
    }

    /// Once or not at all.
    pub fn optional(&mut self, expr: ExprId) -> ExprId {
        self.repeat(expr, 0, Some(1))
    }

    /// Between `min` and `max` times; `never` when `max` is less than `min`. Nested repetitions are
    /// joined where that keeps the language: `(e*)*`, `(e+)*`, `(e?){m,n}`.
    pub fn repeat(&mut self, expr: ExprId, min: u32, max: Option<u32>) -> ExprId {
        if max.is_some_and(|max| max < min) {
            return self.never();
        }
        match *self.node(expr) {
            Node::Empty => return expr,
            Node::Never if min > 0 => return expr,
            Node::Never => return self.empty(),
            Node::Repeat(Repeat { expr, min: inner @ (0 | 1), max: None }) if max != Some(0) => {
                let min = if inner == 0 { 0 } else { min };
                return self.intern(Node::Repeat(Repeat { expr, min, max: None }));
            }
            Node::Repeat(Repeat { expr, min: 0, max: Some(1) }) if max != Some(0) => {
                return self.repeat(expr, 0, max);
            }
            _ => {}
        }
        match (min, max) {
            (_, Some(0)) => self.empty(),
            (1, Some(1)) => expr,
            _ => self.intern(Node::Repeat(Repeat { expr, min, max })),
        }
    }

    /// What the rule generates.
    pub fn rule(&mut self, rule: RuleId) -> ExprId {
        self.intern(Node::Rule(rule))
    }

    /// The words of an automaton over bytes.
    ///
    /// # Panics
    /// When the automaton has marks: they have no meaning in a grammar.
    pub fn automaton(&mut self, dfa: Arc<Dfa>) -> ExprId {
        assert!(dfa.marks().is_empty(), "an automaton in a grammar is over bytes alone");
        if dfa.is_empty() { self.never() } else { self.intern(Node::Automaton(dfa)) }
    }

    /// What is in all of these byte languages; every byte string if there is none.
    pub fn and(&mut self, operands: &[ExprId]) -> ExprId {
        let mut flat: Vec<ExprId> = Vec::with_capacity(operands.len());
        for &operand in operands {
            match self.node(operand) {
                Node::Never => return operand,
                Node::And(children) => flat.extend_from_slice(children),
                _ => flat.push(operand),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat[..] {
            [] => self.automaton(Arc::new(Dfa::any())),
            [only] => only,
            _ => self.intern(Node::And(flat.into())),
        }
    }

    /// The byte strings outside this byte language.
    pub fn not(&mut self, operand: ExprId) -> ExprId {
        match *self.node(operand) {
            Node::Not(inner) => inner,
            Node::Never => self.automaton(Arc::new(Dfa::any())),
            _ => self.intern(Node::Not(operand)),
        }
    }

    /// One token of the set; `never` for an empty plain set.
    pub fn tokens(&mut self, set: TokenSet) -> ExprId {
        if set.tokens.is_empty() && !set.negated {
            return self.never();
        }
        self.intern(Node::Tokens(set))
    }

    /// A condition on what follows.
    pub fn look_ahead(&mut self, expr: ExprId, polarity: Polarity) -> ExprId {
        match (self.node(expr), polarity) {
            (Node::Never, Polarity::Required) | (Node::Empty, Polarity::Forbidden) => self.never(),
            (Node::Never, Polarity::Forbidden) | (Node::Empty, Polarity::Required) => self.empty(),
            _ => self.intern(Node::LookAhead(LookAhead { expr, polarity })),
        }
    }

    /// What `expr` generates, at most `max` tokens contributing.
    pub fn token_limit(&mut self, expr: ExprId, max: u32) -> ExprId {
        match self.node(expr) {
            Node::Never | Node::Empty => expr,
            _ => self.intern(Node::TokenLimit { expr, max }),
        }
    }

    /// `expr` with a note; `expr` itself when the note says nothing.
    pub fn annotate(&mut self, expr: ExprId, annotation: Annotation) -> ExprId {
        if annotation == Annotation::default() || *self.node(expr) == Node::Never {
            return expr;
        }
        self.intern(Node::Annotated { expr, annotation: Arc::new(annotation) })
    }

    /// Keys that differ from each other, each with its tail: a [`Permute`] of rest items alone.
    pub fn distinct(
        &mut self,
        key: ExprId,
        tail: ExprId,
        separator: ExprId,
        (min, max): (u32, Option<u32>),
    ) -> ExprId {
        let rest = Some(Rest { key, tail, uniqueness: Uniqueness::Distinct });
        self.permute(Permute { members: [].into(), rest, separator, min, max })
    }

    /// Items in any order. `min` is raised to the number of required members, `max` lowered to the
    /// number of items there can be at all; impossible members and rests vanish; what cannot be met is `never`; rest items alone that may repeat become an
    /// ordinary list.
    pub fn permute(&mut self, mut permute: Permute) -> ExprId {
        let is_never = |builder: &Self, id: ExprId| *builder.node(id) == Node::Never;
        if permute.members.iter().any(|member| member.required && is_never(self, member.expr)) {
            return self.never();
        }
        let members: Vec<Member> = permute.members.into_vec();
        permute.members =
            members.into_iter().filter(|member| !is_never(self, member.expr)).collect();
        permute.rest =
            permute.rest.filter(|rest| !is_never(self, rest.key) && !is_never(self, rest.tail));
        if is_never(self, permute.separator) {
            permute.max = Some(permute.max.unwrap_or(1).min(1));
            permute.separator = self.empty();
        }
        let required = u32::try_from(permute.required()).unwrap_or(u32::MAX);
        permute.min = permute.min.max(required);
        if let Some(others) = crate::permute::most_others(&permute, &self.nodes) {
            let members = u32::try_from(permute.members.len()).unwrap_or(u32::MAX);
            let most = members.saturating_add(others);
            permute.max = Some(permute.max.unwrap_or(most).min(most));
        }
        if permute.max.is_some_and(|max| max < permute.min) {
            return self.never();
        }
        if permute.max == Some(0) {
            return self.empty();
        }
        match permute.rest {
            Some(rest) if permute.members.is_empty() && rest.uniqueness == Uniqueness::Any => {
                self.list(rest, permute.separator, (permute.min, permute.max))
            }
            _ => self.intern(Node::Permute(Arc::new(permute))),
        }
    }

    /// `item (separator item){min-1,max-1}`, optional when `min` is 0; `max` is not 0.
    fn list(&mut self, rest: Rest, separator: ExprId, (min, max): (u32, Option<u32>)) -> ExprId {
        let item = self.seq(&[rest.key, rest.tail]);
        let further = self.seq(&[separator, item]);
        let further = self.repeat(further, min.saturating_sub(1), max.map(|max| max - 1));
        let list = self.seq(&[item, further]);
        if min == 0 { self.optional(list) } else { list }
    }

    /// Rebuilds `body` here, node by node, children first: `replace` is given this builder, each
    /// node with its children already replaced, and answers with what takes its place. Returns what
    /// became of the root. This is what every rewriting pass is made of.
    pub fn rebuild(
        &mut self,
        body: &Body,
        mut replace: impl FnMut(&mut Self, ExprId, Node) -> ExprId,
    ) -> ExprId {
        let rebuilt: Result<ExprId, Infallible> =
            self.try_rebuild(body, |builder, id, node| Ok(replace(builder, id, node)));
        let Ok(root) = rebuilt;
        root
    }

    /// As [`Self::rebuild`], stopping at the first error of `replace`.
    ///
    /// # Errors
    /// That error.
    pub fn try_rebuild<E>(
        &mut self,
        body: &Body,
        mut replace: impl FnMut(&mut Self, ExprId, Node) -> Result<ExprId, E>,
    ) -> Result<ExprId, E> {
        let mut replaced: Vec<ExprId> = Vec::with_capacity(body.nodes().len());
        for (id, node) in body.iter() {
            let node = map_children(node, |child| replaced[child.index()]);
            let new = replace(self, id, node)?;
            replaced.push(new);
        }
        Ok(*replaced.last().expect("a body has a root"))
    }

    /// Puts a node through its constructor, so that its normal form is restored.
    pub fn renormalize(&mut self, node: Node) -> ExprId {
        match node {
            Node::Never => self.never(),
            Node::Empty => self.empty(),
            Node::Literal(bytes) => self.literal(&bytes),
            Node::Bytes(set) => self.bytes(set),
            Node::Seq(parts) => self.seq(&parts),
            Node::Alt(choices) => self.alt(&choices),
            Node::Repeat(Repeat { expr, min, max }) => self.repeat(expr, min, max),
            Node::Rule(rule) => self.rule(rule),
            Node::Automaton(dfa) => self.automaton(dfa),
            Node::And(operands) => self.and(&operands),
            Node::Not(operand) => self.not(operand),
            Node::Tokens(set) => self.tokens(set),
            Node::LookAhead(LookAhead { expr, polarity }) => self.look_ahead(expr, polarity),
            Node::Permute(permute) => self.permute(Arc::unwrap_or_clone(permute)),
            Node::TokenLimit { expr, max } => self.token_limit(expr, max),
            Node::Annotated { expr, annotation } => {
                self.annotate(expr, Arc::unwrap_or_clone(annotation))
            }
        }
    }

    /// The body whose root is `root`; what it does not need is dropped.
    #[must_use]
    pub fn finish(self, root: ExprId) -> Body {
        let mut needed = vec![false; root.index() + 1];
        needed[root.index()] = true;
        for index in (0..=root.index()).rev() {
            if needed[index] {
                self.nodes[index].for_each_child(|child| needed[child.index()] = true);
            }
        }
        let mut number = vec![ExprId(0); root.index() + 1];
        let mut nodes = Vec::with_capacity(root.index() + 1);
        for (index, node) in self.nodes.into_iter().take(root.index() + 1).enumerate() {
            if needed[index] {
                number[index] = ExprId(u32::try_from(nodes.len()).expect("fewer than before"));
                nodes.push(map_children(&node, |child| number[child.index()]));
            }
        }
        Body { nodes: nodes.into() }
    }
}

/// What a node takes: itself, its children, its bytes.
fn weight(node: &Node) -> usize {
    let mut weight = match node {
        Node::Literal(bytes) => bytes.len(),
        _ => 1,
    };
    node.for_each_child(|_| weight += 1);
    weight
}

/// The node with every child replaced, normal form not restored.
fn map_children(node: &Node, mut replace: impl FnMut(ExprId) -> ExprId) -> Node {
    match node {
        Node::Seq(parts) => Node::Seq(parts.iter().map(|&part| replace(part)).collect()),
        Node::Alt(choices) => Node::Alt(choices.iter().map(|&choice| replace(choice)).collect()),
        Node::And(parts) => Node::And(parts.iter().map(|&part| replace(part)).collect()),
        Node::Repeat(repeat) => Node::Repeat(Repeat { expr: replace(repeat.expr), ..*repeat }),
        Node::Not(expr) => Node::Not(replace(*expr)),
        Node::LookAhead(look) => Node::LookAhead(LookAhead { expr: replace(look.expr), ..*look }),
        Node::Permute(permute) => Node::Permute(Arc::new(permute.map(replace))),
        Node::TokenLimit { expr, max } => Node::TokenLimit { expr: replace(*expr), max: *max },
        Node::Annotated { expr, annotation } => {
            Node::Annotated { expr: replace(*expr), annotation: annotation.clone() }
        }
        Node::Never
        | Node::Empty
        | Node::Literal(_)
        | Node::Bytes(_)
        | Node::Rule(_)
        | Node::Automaton(_)
        | Node::Tokens(_) => node.clone(),
    }
}
