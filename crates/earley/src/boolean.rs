//! Intersections and complements, each as one automaton.

use crate::{
    counted::{Counted, counted},
    fixed::FixedIslands,
};
use formwork_automata::{CancellationToken, Dfa};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Grammar, GrammarBuilder, GrammarError, Limits, Node, Permute,
    RuleId, Uniqueness,
    passes::Rules,
    regular::{self, BytesOnly, RegularError},
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The automaton of the intersection of nodes of a body, which must be regular over bytes.
pub(crate) fn language(
    grammar: &Grammar,
    body: &Body,
    operands: &[ExprId],
    limits: &Limits,
    cancellation: &CancellationToken,
) -> Result<Dfa, RegularError> {
    regular::dfa(&grammar_of(grammar, body, operands)?, &BytesOnly, limits, cancellation)
}

/// The same rules with every outermost boolean node replaced by its automaton, or by nothing where
/// that accepts nothing; but those in which symbols are counted stay. `grammar` has these rules.
pub(crate) fn fold(
    rules: &Rules,
    grammar: &Grammar,
    limits: &Limits,
    cancellation: &CancellationToken,
    islands: &FixedIslands,
) -> Result<Rules, RegularError> {
    let mut folded = Rules { bodies: Vec::new(), names: rules.names.clone() };
    for body in &rules.bodies {
        let outermost = outermost(body);
        if outermost.is_empty() && !body.nodes().iter().any(has_distinct_keys) {
            folded.bodies.push(body.clone());
            continue;
        }
        let mut builder = BodyBuilder::new();
        let root = builder.try_rebuild(body, |builder, id, node| {
            if let Node::Permute(permute) = &node
                && has_distinct_keys(&node)
                && let Node::Permute(before) = &body.nodes()[id.index()]
            {
                let key = before.rest.map(|rest| rest.key);
                return with_keys(builder, permute, |_| {
                    language(grammar, body, key.as_slice(), limits, cancellation)
                });
            }
            if !outermost.contains(&id) {
                return Ok(builder.renormalize(node));
            }
            if let Node::And(operands) = &body.nodes()[id.index()] {
                match counted(grammar, body, operands, limits, islands)? {
                    None => {}
                    Some(Counted::Empty) => return Ok(builder.never()),
                    Some(Counted::Plain(dfa)) => return Ok(builder.automaton(dfa)),
                    Some(Counted::Bounded(..)) => return Ok(builder.renormalize(node)),
                }
            }
            let dfa = language(grammar, body, &[id], limits, cancellation)?;
            Ok::<_, RegularError>(builder.automaton(Arc::new(dfa)))
        })?;
        folded.bodies.push(Arc::new(builder.finish(root)));
    }
    Ok(folded)
}

/// A list whose keys must differ, with their automaton: how many there are says whether it can be
/// as long as it must be.
fn with_keys(
    builder: &mut BodyBuilder,
    permute: &Permute,
    language: impl FnOnce(ExprId) -> Result<Dfa, RegularError>,
) -> Result<ExprId, RegularError> {
    let mut permute = permute.clone();
    if let Some(rest) = &mut permute.rest {
        let keys = language(rest.key)?;
        rest.key = builder.automaton(Arc::new(keys));
    }
    Ok(builder.permute(permute))
}

fn has_distinct_keys(node: &Node) -> bool {
    matches!(node, Node::Permute(permute)
        if permute.rest.is_some_and(|rest| rest.uniqueness == Uniqueness::Distinct))
}

/// The boolean nodes that are in no other one.
fn outermost(body: &Body) -> Vec<ExprId> {
    let mut inside = vec![false; body.nodes().len()];
    let mut outermost = Vec::new();
    for (id, node) in body.iter().rev() {
        let is_boolean = matches!(node, Node::And(_) | Node::Not(_));
        if is_boolean && !inside[id.index()] {
            outermost.push(id);
        }
        if is_boolean || inside[id.index()] {
            node.for_each_child(|child| inside[child.index()] = true);
        }
    }
    outermost
}

/// The intersection of nodes as a grammar of its own, with the rules that it needs.
fn grammar_of(
    grammar: &Grammar,
    body: &Body,
    operands: &[ExprId],
) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("part");
    let mut numbers: FxHashMap<RuleId, RuleId> = FxHashMap::default();
    let mut pending = vec![(root, copy(body, operands, &mut numbers, grammar, &mut builder))];
    let mut done = rustc_hash::FxHashSet::default();
    while let Some((rule, (body, references))) = pending.pop() {
        builder.define(rule, body)?;
        for reference in references {
            if done.insert(reference) {
                let body = grammar.body(reference)?;
                let copied = copy(&body, &[], &mut numbers, grammar, &mut builder);
                pending.push((numbers[&reference], copied));
            }
        }
    }
    builder.finish(root)
}

/// A body, or the intersection of some of its nodes, with its references renamed; and those it had.
fn copy(
    body: &Body,
    operands: &[ExprId],
    numbers: &mut FxHashMap<RuleId, RuleId>,
    grammar: &Grammar,
    rules: &mut GrammarBuilder,
) -> (Body, Vec<RuleId>) {
    let mut builder = BodyBuilder::new();
    let mut parts = Vec::with_capacity(operands.len());
    let whole = builder.rebuild(body, |builder, id, node| {
        let node = match node {
            Node::Rule(rule) => {
                let number = numbers.entry(rule);
                let number = *number.or_insert_with(|| rules.declare(&grammar.name(rule)));
                builder.rule(number)
            }
            other => builder.renormalize(other),
        };
        if operands.contains(&id) {
            parts.push(node);
        }
        node
    });
    // References outside the part are declared too, so they need bodies too.
    let root = if operands.is_empty() { whole } else { builder.and(&parts) };
    (builder.finish(root), body.references())
}
