//! Parts of bodies that are regular and small: each becomes one automaton, whose masks the
//! vocabulary knows.
//!
//! # Which
//! A part that calls nothing but rules which are so themselves, with a repetition in it: text. What
//! has none is a few bytes, read as fast where it stands. Repetitions of single symbols stay
//! loops, as their masks are known for any bound. The size is an estimate of the positions once
//! repetitions are unrolled; where the automaton grows out of proportion, the part stays as it is.

use formwork_core::Grammar;
use formwork_grammar::{Body, ExprId, Node, Repeat, RuleId};
use rustc_hash::FxHashMap;

/// Positions of an unrolled part at most.
const MAX_SIZE: u32 = 1_024;
/// Positions of a symbol at most: a class of characters has a few dozen.
const MAX_SYMBOL: u32 = 512;
/// States of its automaton at most.
pub(crate) const MAX_STATES: usize = 2_048;
/// Rules looked at one within the other.
const MAX_DEPTH: usize = 64;

/// What is known about a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Positions once it is unrolled; none where it is not regular by itself.
    size: Option<u32>,
    /// Whether something in it is repeated that is worth an automaton.
    has_text: bool,
}

impl Part {
    const OPEN: Self = Self { size: None, has_text: false };

    fn small(size: usize) -> Self {
        Self { size: u32::try_from(size).ok(), has_text: false }
    }

    /// Whether it may be a single symbol, of which a repetition is counted.
    pub(crate) fn may_be_symbol(self) -> bool {
        !self.has_text && self.size.is_some_and(|size| size <= MAX_SYMBOL)
    }

    /// Whether it should become one automaton.
    pub(crate) fn is_text(self) -> bool {
        self.has_text && self.size.is_some_and(|size| size <= MAX_SIZE)
    }
}

/// What is known about the rules that have been looked at; none while one is.
pub(crate) type Known = FxHashMap<RuleId, Option<Part>>;

/// What is known about each node of a body. Rules are followed in grammars that have all bodies.
pub(crate) fn parts(grammar: &Grammar, body: &Body, known: &mut Known) -> Vec<Part> {
    look(grammar, body, known, 0)
}

/// Recurses over rules, as deep as [`MAX_DEPTH`].
fn look(grammar: &Grammar, body: &Body, known: &mut Known, depth: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let part = match node {
            Node::Rule(rule) => rule_part(grammar, *rule, known, depth),
            Node::Empty => Part::small(0),
            Node::Literal(bytes) => Part::small(bytes.len()),
            Node::Bytes(_) => Part::small(1),
            Node::Automaton(dfa) => Part::small(dfa.len()),
            Node::Seq(children) | Node::Alt(children) => together(&parts, children),
            Node::Repeat(repeat) => repeated(&parts, body, *repeat),
            Node::Annotated { expr, .. } => parts[expr.index()],
            _ => Part::OPEN,
        };
        parts.push(part);
    }
    parts
}

fn together(parts: &[Part], children: &[ExprId]) -> Part {
    let all = children.iter().map(|child| parts[child.index()]);
    all.fold(Part::small(1), |all, part| Part {
        size: all.size.zip(part.size).map(|(all, size)| all.saturating_add(size)),
        has_text: all.has_text | part.has_text,
    })
}

fn repeated(parts: &[Part], body: &Body, Repeat { expr, min, max }: Repeat) -> Part {
    let part = parts[expr.index()];
    let turns = max.unwrap_or_else(|| min.saturating_add(1));
    let is_symbol = part.may_be_symbol() && is_character(body, expr);
    Part {
        size: part.size.map(|size| size.saturating_mul(turns).saturating_add(1)),
        has_text: part.has_text || max.is_none() || turns > 2 && !is_symbol,
    }
}

/// Whether a node is one byte or character of a class, or some ways to write one.
fn is_character(body: &Body, expr: ExprId) -> bool {
    match &body.nodes()[expr.index()] {
        Node::Bytes(_) | Node::Automaton(_) => true,
        Node::Alt(choices) => choices.iter().all(|&choice| match &body.nodes()[choice.index()] {
            Node::Bytes(_) => true,
            Node::Literal(bytes) => {
                std::str::from_utf8(bytes).is_ok_and(|s| s.chars().count() == 1)
            }
            Node::Seq(parts) => {
                let is_byte = |part: &ExprId| matches!(body.nodes()[part.index()], Node::Bytes(_));
                parts.len() <= 4 && parts.iter().all(is_byte)
            }
            _ => false,
        }),
        _ => false,
    }
}

fn rule_part(grammar: &Grammar, rule: RuleId, known: &mut Known, depth: usize) -> Part {
    match known.get(&rule) {
        Some(Some(part)) => return *part,
        // It leads to itself.
        Some(None) => return Part::OPEN,
        None => {}
    }
    if grammar.is_lazy() || depth >= MAX_DEPTH {
        return Part::OPEN;
    }
    let Ok(body) = grammar.body(rule) else { return Part::OPEN };
    known.insert(rule, None);
    let parts = look(grammar, &body, known, depth + 1);
    let part = parts[body.root().index()];
    known.insert(rule, Some(part));
    part
}
