//! Whether some text satisfies a formula, where that is evident without an automaton.
//!
//! Lengths, one pattern and lists of what must not be are what most schemas consist of, and that
//! they can be satisfied shows in the grammar of the pattern, in which nothing is that cannot match.

use super::{
    Polarity, TextAtom,
    excluded::Split,
    formula::{Node, NodeId},
    strings::Texts,
};
use crate::{
    SchemaErrorKind,
    lower::{Lowered, pattern_options},
    model::Count,
};
use formwork_grammar::{Body, BodyBuilder, ExprId, Limits, Node as Construct, Repeat};
use formwork_regex::RegexErrorKind;

/// There are more characters than that; so there are more texts of any length but 0.
const MANY: usize = 1_000_000;

/// Whether some text certainly satisfies a formula; false where only its automaton can tell.
pub(super) fn is_evidently_inhabited(texts: &Texts, id: NodeId, limits: &Limits) -> Lowered<bool> {
    let choices = match texts.node(id) {
        Node::Or(parts) => parts.to_vec(),
        _ => vec![id],
    };
    for choice in choices {
        if is_conjunction_inhabited(texts, choice, limits)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_conjunction_inhabited(texts: &Texts, id: NodeId, limits: &Limits) -> Lowered<bool> {
    let split = Split::new(texts, id);
    let mut length = Count::default();
    let mut pattern = None;
    for &other in &split.others {
        let atom = match texts.node(other) {
            Node::True => continue,
            Node::Atom(atom, Polarity::Holds) => &texts.atoms()[*atom],
            _ => return Ok(false),
        };
        match atom {
            TextAtom::Length(count) => {
                length.min = length.min.max(count.min);
                length.max = match (length.max, count.max) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
            TextAtom::Pattern(text) if pattern.is_none() => pattern = Some(text),
            _ => return Ok(false),
        }
    }
    if length.is_empty() {
        return Ok(false);
    }
    let Some(pattern) = pattern else {
        let listed = split.excluded.iter().map(|&atom| match &texts.atoms()[atom] {
            TextAtom::Values(values) => values.len(),
            _ => 0,
        });
        return Ok(split.excluded.is_empty()
            || length.max != Some(0) && listed.fold(0, usize::saturating_add) < MANY);
    };
    let endless = length.max.is_none();
    has_text(pattern, length, limits, |can_grow| split.excluded.is_empty() || can_grow && endless)
}

/// Whether a text of so many characters certainly matches a pattern, and what is said about its
/// growing holds.
fn has_text(
    pattern: &str,
    length: Count,
    limits: &Limits,
    suffices: impl FnOnce(bool) -> bool,
) -> Lowered<bool> {
    let mut builder = BodyBuilder::new();
    let root = match formwork_regex::lower(pattern, &pattern_options(), limits, &mut builder) {
        Ok(root) => root,
        // That is up to its automaton.
        Err(error) if error.kind == RegexErrorKind::LookAhead => return Ok(false),
        Err(error) => return Err(SchemaErrorKind::Pattern(Box::new(error))),
    };
    let body = builder.finish(root);
    if matches!(body.nodes(), [Construct::Never]) {
        return Ok(false);
    }
    let Some(shortest) = shortest(&body) else { return Ok(false) };
    // A character has at least one byte, so the shortest text has at most so many characters, and
    // a repetition of single characters makes it longer one by one.
    let can_grow = match &body.nodes()[body.root().index()] {
        Construct::Seq(parts) => parts.iter().any(|&part| repeats_characters(&body, part)),
        _ => repeats_characters(&body, body.root()),
    };
    let least = shortest.max(length.min as usize);
    let fits = (length.min == 0 || can_grow) && length.max.is_none_or(|max| least <= max as usize);
    Ok(fits && suffices(can_grow))
}

/// Bytes of the shortest word of a body without rules.
fn shortest(body: &Body) -> Option<usize> {
    let mut lengths: Vec<usize> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let of = |expr: &ExprId| lengths[expr.index()];
        lengths.push(match node {
            Construct::Empty => 0,
            Construct::Literal(bytes) => bytes.len(),
            Construct::Bytes(_) => 1,
            Construct::Seq(parts) => parts.iter().map(of).fold(0, usize::saturating_add),
            Construct::Alt(choices) => choices.iter().map(of).min()?,
            Construct::Repeat(repeat) => of(&repeat.expr).saturating_mul(repeat.min as usize),
            Construct::Automaton(dfa) => dfa.shortest_bytes(dfa.start())?.len(),
            _ => return None,
        });
    }
    lengths.pop()
}

/// Whether a node is an unbounded repetition of something that can be one character of ASCII.
fn repeats_characters(body: &Body, expr: ExprId) -> bool {
    let Construct::Repeat(Repeat { expr, max: None, .. }) = body.nodes()[expr.index()] else {
        return false;
    };
    let is_ascii = |expr: ExprId| match &body.nodes()[expr.index()] {
        Construct::Bytes(bytes) => bytes.iter().any(|byte| byte.is_ascii()),
        Construct::Automaton(dfa) => {
            (0..0x80).any(|byte| dfa.is_accepting(dfa.next(dfa.start(), byte)))
        }
        _ => false,
    };
    match &body.nodes()[expr.index()] {
        Construct::Alt(choices) => choices.iter().any(|&choice| is_ascii(choice)),
        _ => is_ascii(expr),
    }
}
