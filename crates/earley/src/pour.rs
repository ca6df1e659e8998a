//! From the nodes of a body to positions and edges.

use crate::{
    boolean::language,
    closed::{MAX_STATES, Part},
    counted::{Counted, counted},
    place::{Callee, END},
    program::{Program, constraint},
    states::{Edge, Positions},
};
use formwork_automata::{ByteSet, CancellationToken};
use formwork_core::StepError;
use formwork_grammar::{Body, ExprId, Node, Repeat, regular::RegularError};
use std::sync::Arc;

/// Repetitions of up to so many turns are unrolled.
const UNROLLED: u32 = 2;

/// One body while its nodes become positions.
pub(crate) struct Pouring<'p> {
    program: &'p Program,
    body: &'p Arc<Body>,
    edges: Vec<Vec<Edge>>,
    pending: Vec<(ExprId, u32, u32)>,
    parts: Vec<Part>,
}

impl<'p> Pouring<'p> {
    pub(crate) fn new(program: &'p Program, body: &'p Arc<Body>) -> Self {
        let parts = program.parts(body);
        Self { program, body, edges: Vec::new(), pending: Vec::new(), parts }
    }

    /// The positions of a node.
    pub(crate) fn pour(mut self, root: ExprId) -> Result<Positions, StepError> {
        let start = self.position();
        let end = self.position();
        self.pending.push((root, start, end));
        while let Some((expr, from, to)) = self.pending.pop() {
            self.node(expr, from, to)?;
        }
        Ok(Positions { edges: self.edges, ends: vec![(end, END)] })
    }

    /// The positions of items: first one where each begins, in order.
    pub(crate) fn items(mut self, items: &[Vec<ExprId>]) -> Result<Positions, StepError> {
        items.iter().for_each(|_| {
            self.position();
        });
        let mut ends = Vec::with_capacity(items.len());
        for (number, item) in (0..).zip(items) {
            let end = self.position();
            ends.push((end, number));
            match item.is_empty() {
                true => self.edge(number, Edge::Empty(end)),
                false => self.sequence(item, number, end),
            }
        }
        while let Some((expr, from, to)) = self.pending.pop() {
            self.node(expr, from, to)?;
        }
        Ok(Positions { edges: self.edges, ends })
    }

    fn position(&mut self) -> u32 {
        self.edges.push(Vec::new());
        u32::try_from(self.edges.len() - 1).expect("nodes are limited")
    }

    fn edge(&mut self, from: u32, edge: Edge) {
        self.edges[from as usize].push(edge);
    }

    fn node(&mut self, expr: ExprId, from: u32, to: u32) -> Result<(), StepError> {
        let body = self.body;
        if self.parts[expr.index()].is_text() && self.text(expr, from, to)? {
            return Ok(());
        }
        match &body.nodes()[expr.index()] {
            Node::Never => {}
            Node::Empty => self.edge(from, Edge::Empty(to)),
            Node::Literal(bytes) => self.literal(bytes, from, to),
            Node::Bytes(bytes) => self.edge(from, Edge::Bytes(*bytes, to)),
            Node::Seq(parts) => self.sequence(parts, from, to),
            Node::Alt(choices) => {
                self.pending.extend(choices.iter().map(|&choice| (choice, from, to)));
            }
            Node::Repeat(repeat) => self.repeat(*repeat, from, to)?,
            Node::Rule(rule) => {
                let callee = Callee::Island(self.program.rule(*rule));
                self.edge(from, Edge::Call(callee, to));
            }
            Node::Automaton(dfa) => {
                let callee = Callee::Island(self.program.automaton(dfa));
                self.edge(from, Edge::Call(callee, to));
            }
            Node::And(_) | Node::Not(_) => self.boolean(expr, from, to)?,
            Node::Permute(permute) => {
                let callee = self.program.items(body, permute)?;
                self.edge(from, Edge::Call(callee, to));
            }
            Node::Tokens(set) => {
                let set = self.program.token_set(set)?;
                self.edge(from, Edge::Token(set, to));
            }
            Node::Annotated { expr, .. } => self.pending.push((*expr, from, to)),
            // What a compile finds, it resolves.
            Node::LookAhead(_) => {
                return Err(constraint("look-ahead in a rule that is lowered late"));
            }
            other => return Err(constraint(unsupported(other).unwrap_or("an unknown construct"))),
        }
        Ok(())
    }

    /// A part that is text as one automaton, unless that grows too large.
    fn text(&mut self, expr: ExprId, from: u32, to: u32) -> Result<bool, StepError> {
        let node = &self.body.nodes()[expr.index()];
        if matches!(node, Node::Rule(_) | Node::Annotated { .. }) {
            // It is found where it stands.
            return Ok(false);
        }
        let Program { grammar, limits, .. } = self.program;
        let mut limits = limits.clone();
        limits.automaton_states = limits.automaton_states.min(MAX_STATES);
        match language(grammar, self.body, &[expr], &limits, &CancellationToken::new()) {
            Ok(dfa) if !dfa.is_empty() => {
                let callee = Callee::Island(self.program.automaton(&Arc::new(dfa)));
                self.edge(from, Edge::Call(callee, to));
                Ok(true)
            }
            Ok(_) | Err(RegularError::Exhausted(_)) => Ok(false),
            Err(error) => Err(constraint(error)),
        }
    }

    fn literal(&mut self, bytes: &[u8], from: u32, to: u32) {
        let mut at = from;
        for (index, &byte) in bytes.iter().enumerate() {
            let next = if index + 1 == bytes.len() { to } else { self.position() };
            self.edge(at, Edge::Bytes(ByteSet::single(byte), next));
            at = next;
        }
    }

    fn sequence(&mut self, parts: &[ExprId], from: u32, to: u32) {
        let mut at = from;
        for (index, &part) in parts.iter().enumerate() {
            let next = if index + 1 == parts.len() { to } else { self.position() };
            self.pending.push((part, at, next));
            at = next;
        }
    }

    fn repeat(
        &mut self,
        Repeat { expr, min, max }: Repeat,
        from: u32,
        to: u32,
    ) -> Result<(), StepError> {
        let symbol = match &self.body.nodes()[expr.index()] {
            Node::Automaton(dfa) => Some(self.program.automaton(dfa)),
            Node::Bytes(bytes) => Some(self.program.bytes(*bytes)),
            _ if max.is_some_and(|max| max > UNROLLED) || min > UNROLLED => self.symbol(expr)?,
            _ => None,
        };
        match (symbol, max) {
            (_, Some(max)) if max <= UNROLLED => self.unroll(expr, (min, max), from, to),
            (None, None) if min <= UNROLLED => self.cycle(expr, min, from, to),
            (symbol, max) => {
                let island = symbol.unwrap_or_else(|| self.program.part(self.body, expr));
                let callee = self.program.loop_over(island, min, max);
                self.edge(from, Edge::Call(callee, to));
            }
        }
        Ok(())
    }

    /// The island of a part that is a single symbol, a class of characters say.
    fn symbol(&self, expr: ExprId) -> Result<Option<u32>, StepError> {
        if !self.parts[expr.index()].may_be_symbol() {
            return Ok(None);
        }
        let Program { grammar, limits, .. } = self.program;
        let dfa = language(grammar, self.body, &[expr], limits, &CancellationToken::new());
        let dfa = Arc::new(dfa.map_err(constraint)?);
        let island = self.program.automaton(&dfa);
        Ok(self.program.is_symbol(island).then_some(island))
    }

    fn unroll(&mut self, expr: ExprId, (min, max): (u32, u32), from: u32, to: u32) {
        let mut at = from;
        for turn in 0..max {
            if turn >= min {
                self.edge(at, Edge::Empty(to));
            }
            let next = if turn + 1 == max { to } else { self.position() };
            self.pending.push((expr, at, next));
            at = next;
        }
    }

    /// `min` turns, then any number. The cycle has a position of its own, so that nothing else that
    /// begins where it begins can be read after a turn.
    fn cycle(&mut self, expr: ExprId, min: u32, from: u32, to: u32) {
        let mut at = from;
        for _ in 0..min {
            let next = self.position();
            self.pending.push((expr, at, next));
            at = next;
        }
        let turn = self.position();
        self.edge(at, Edge::Empty(turn));
        self.pending.push((expr, turn, turn));
        self.edge(turn, Edge::Empty(to));
    }

    /// Intersections and complements become one automaton; but where symbols are counted, they stay
    /// so.
    fn boolean(&mut self, expr: ExprId, from: u32, to: u32) -> Result<(), StepError> {
        let Program { grammar, limits, .. } = self.program;
        if let Node::And(operands) = &self.body.nodes()[expr.index()] {
            let counted = counted(grammar, self.body, operands, limits, &self.program.fixed);
            let callee = match counted.map_err(constraint)? {
                None => None,
                Some(Counted::Empty) => return Ok(()),
                Some(Counted::Plain(dfa)) => Some(Callee::Island(self.program.automaton(&dfa))),
                Some(Counted::Bounded(island, min, max)) => {
                    let island = self.program.fixed_island(island);
                    Some(self.program.loop_over(island, min, max))
                }
            };
            if let Some(callee) = callee {
                self.edge(from, Edge::Call(callee, to));
                return Ok(());
            }
        }
        let dfa = language(grammar, self.body, &[expr], limits, &CancellationToken::new());
        let dfa = dfa.map_err(constraint)?;
        if !dfa.is_empty() {
            let callee = Callee::Island(self.program.automaton(&Arc::new(dfa)));
            self.edge(from, Edge::Call(callee, to));
        }
        Ok(())
    }
}

/// The construct that this backend lacks, if the node is one.
pub(crate) fn unsupported(node: &Node) -> Option<&'static str> {
    match node {
        Node::TokenLimit { .. } => Some("token limits"),
        _ => None,
    }
}
