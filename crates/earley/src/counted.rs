//! Intersections with a counted repetition between two marks: strings with a pattern and a length.

use crate::{
    boolean::language,
    fixed::{FixedIsland, FixedIslands},
    symbols::{Marks, marked},
};
use formwork_automata::{BooleanOp, CancellationToken, Dfa};
use formwork_grammar::{Body, ExprId, Grammar, Limits, Node, Repeat, regular::RegularError};
use std::sync::Arc;

/// An intersection with a counted repetition between two marks.
pub(crate) enum Counted {
    /// Nothing is in it.
    Empty,
    /// The bounds say nothing: an automaton.
    Plain(Arc<Dfa>),
    /// An automaton whose symbols are counted, and between which bounds.
    Bounded(Arc<FixedIsland>, u32, Option<u32>),
}

/// A counted repetition of an automaton between two literals.
struct Form {
    before: Vec<u8>,
    symbol: Arc<Dfa>,
    bounds: (u32, Option<u32>),
    after: Vec<u8>,
}

/// The intersection of these nodes, if one of them is a counted repetition of symbols between two
/// marks, and its symbols can be counted while the others are read.
pub(crate) fn counted(
    grammar: &Grammar,
    body: &Body,
    operands: &[ExprId],
    limits: &Limits,
    islands: &FixedIslands,
) -> Result<Option<Counted>, RegularError> {
    let found = operands.iter().find_map(|&operand| Some((operand, form(body, operand)?)));
    let Some((operand, form)) = found else { return Ok(None) };
    let others: Vec<ExprId> = operands.iter().copied().filter(|&other| other != operand).collect();
    let mut both = match others[..] {
        [other] if let Node::Automaton(dfa) = &body.nodes()[other.index()] => dfa.clone(),
        _ => Arc::new(language(grammar, body, &others, limits, &CancellationToken::new())?),
    };
    let marks = Marks { before: &form.before, symbol: &form.symbol, after: &form.after };
    let mut island = islands.counted(&both, &form.symbol, marks);
    if island.is_none() {
        let mut fuel = limits.fuel(&CancellationToken::new());
        let any = marked(marks, &mut fuel)?;
        both = Arc::new(both.combine(&any, BooleanOp::Intersection, &mut fuel)?.canonical());
        if both.is_empty() {
            return Ok(Some(Counted::Empty));
        }
        island = islands.counted(&both, &form.symbol, marks);
    }
    Ok(island.and_then(|island| bounded(both, island, form.bounds)))
}

/// An island with these bounds; none where they cannot be counted so.
fn bounded(
    dfa: Arc<Dfa>,
    island: Arc<FixedIsland>,
    (min, max): (u32, Option<u32>),
) -> Option<Counted> {
    let symbols = island.symbols.as_ref()?;
    let start = dfa.start();
    // Bounds that every word keeps anyhow are none.
    let min = if symbols.least(start) >= min { 0 } else { min };
    let max = match (symbols.most(start), max) {
        (Some(most), Some(max)) if most <= max => None,
        (_, max) => max,
    };
    match max {
        None if min == 0 => Some(Counted::Plain(dfa)),
        Some(max) if max < min => Some(Counted::Empty),
        _ if !symbols.can_count(min, max) => None,
        _ if symbols.fits(start, min, max) => Some(Counted::Bounded(island, min, max)),
        _ => Some(Counted::Empty),
    }
}

fn form(body: &Body, expr: ExprId) -> Option<Form> {
    let nodes = body.nodes();
    let Node::Seq(parts) = &nodes[expr.index()] else { return None };
    let [before, middle, after] = parts[..] else { return None };
    let Node::Repeat(Repeat { expr, min, max }) = nodes[middle.index()] else { return None };
    let Node::Automaton(symbol) = &nodes[expr.index()] else { return None };
    let mark = |mark: ExprId| match &nodes[mark.index()] {
        Node::Literal(bytes) => Some(bytes.to_vec()),
        Node::Bytes(bytes) if bytes.len() == 1 => bytes.first().map(|byte| vec![byte]),
        _ => None,
    };
    let (before, after) = (mark(before)?, mark(after)?);
    let is_code = is_code(symbol) && !symbol.out_bytes(symbol.start()).contains(after[0]);
    is_code.then(|| Form { before, symbol: symbol.clone(), bounds: (min, max), after })
}

/// Whether no word is empty and none the begin of another.
fn is_code(symbol: &Dfa) -> bool {
    let ends = |state| !symbol.is_accepting(state) || symbol.out_bytes(state).is_empty();
    !symbol.is_accepting(symbol.start()) && symbol.live_states().all(ends)
}
