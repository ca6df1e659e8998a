//! Intersections and complements, each as one automaton.

use formwork_automata::{CancellationToken, Dfa};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Grammar, GrammarBuilder, GrammarError, Limits, Node, RuleId,
    passes::Rules,
    regular::{self, BytesOnly, RegularError},
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The automaton of a node of a body, which must be regular over bytes.
pub(crate) fn language(
    grammar: &Grammar,
    body: &Body,
    expr: ExprId,
    limits: &Limits,
    cancellation: &CancellationToken,
) -> Result<Dfa, RegularError> {
    regular::dfa(&grammar_of(grammar, body, expr)?, &BytesOnly, limits, cancellation)
}

/// The same rules with every outermost boolean node replaced by its automaton, or by nothing where
/// that accepts nothing. `grammar` has these rules.
pub(crate) fn fold(
    rules: &Rules,
    grammar: &Grammar,
    limits: &Limits,
    cancellation: &CancellationToken,
) -> Result<Rules, RegularError> {
    let mut folded = Rules { bodies: Vec::new(), names: rules.names.clone() };
    for body in &rules.bodies {
        let outermost = outermost(body);
        if outermost.is_empty() {
            folded.bodies.push(body.clone());
            continue;
        }
        let mut builder = BodyBuilder::new();
        let root = builder.try_rebuild(body, |builder, id, node| {
            if !outermost.contains(&id) {
                return Ok(builder.renormalize(node));
            }
            let dfa = language(grammar, body, id, limits, cancellation)?;
            Ok::<_, RegularError>(builder.automaton(Arc::new(dfa)))
        })?;
        folded.bodies.push(Arc::new(builder.finish(root)));
    }
    Ok(folded)
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

/// A node as a grammar of its own, with the rules that it needs.
fn grammar_of(grammar: &Grammar, body: &Body, expr: ExprId) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let root = builder.declare("part");
    let mut numbers: FxHashMap<RuleId, RuleId> = FxHashMap::default();
    let mut pending = vec![(root, copy(body, Some(expr), &mut numbers, grammar, &mut builder))];
    let mut done = rustc_hash::FxHashSet::default();
    while let Some((rule, (body, references))) = pending.pop() {
        builder.define(rule, body)?;
        for reference in references {
            if done.insert(reference) {
                let body = grammar.body(reference)?;
                let copied = copy(&body, None, &mut numbers, grammar, &mut builder);
                pending.push((numbers[&reference], copied));
            }
        }
    }
    builder.finish(root)
}

/// A body, or the part of it below a node, with its references renamed; and those it had.
fn copy(
    body: &Body,
    root: Option<ExprId>,
    numbers: &mut FxHashMap<RuleId, RuleId>,
    grammar: &Grammar,
    rules: &mut GrammarBuilder,
) -> (Body, Vec<RuleId>) {
    let mut builder = BodyBuilder::new();
    let mut part = None;
    let whole = builder.rebuild(body, |builder, id, node| {
        let node = match node {
            Node::Rule(rule) => {
                let number = numbers.entry(rule);
                let number = *number.or_insert_with(|| rules.declare(&grammar.name(rule)));
                builder.rule(number)
            }
            other => builder.renormalize(other),
        };
        if Some(id) == root {
            part = Some(node);
        }
        node
    });
    // References outside the part are declared too, so they need bodies too.
    (builder.finish(part.unwrap_or(whole)), body.references())
}
