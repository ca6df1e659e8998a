//! Pass 2: drop what generates nothing.
//!
//! A rule is productive when it generates some sequence; the least fixpoint is found by a worklist
//! (Hopcroft and Ullman, "Introduction to Automata Theory", 1979, section 4.4). References to
//! unproductive rules become [`Node::Never`], which the constructors then carry upwards.
//!
//! Before: rules are dense. After: only the root's body can be `Never`, and then nothing satisfies
//! the grammar. Intersections and complements count as productive here.
//! Cost: linear, but for recursion: a component of rules is gone over again for each of its rules
//! that is found productive. Paid from the fuel, which the rewriting pays too: what is left when an
//! alternative vanishes can flatten to twice its size with every node.

use super::{Rules, analyze, reach};
use crate::{
    Body, BodyBuilder, Grammar, GrammarBuilder, Limits, Node, RuleId, permute::most_others,
};
use formwork_automata::{Dfa, Exhausted, Fuel};

/// Drops alternatives that generate nothing, and the rules that are then unreachable.
///
/// # Errors
/// [`Exhausted`] when the fuel is used up.
pub fn prune_unproductive(rules: &Rules, fuel: &mut Fuel) -> Result<Rules, Exhausted> {
    let Some(pruned) = without_unproductive(rules, fuel)? else {
        // Nothing to drop but `Never` under an operator, which the constructors have dropped.
        return Ok(rules.clone());
    };
    let rules = reach(&as_grammar(pruned), &unlimited()).expect("nothing is lowered here");
    debug_assert!(
        rules.bodies.iter().skip(1).all(|body| body.nodes() != [Node::Never]),
        "only the root can generate nothing"
    );
    Ok(rules)
}

/// The same rules, numbered as they are, without references to rules that generate nothing: their
/// bodies, and no others, are `Never` alone. Nothing where there are none.
pub(crate) fn without_unproductive(
    rules: &Rules,
    fuel: &mut Fuel,
) -> Result<Option<Rules>, Exhausted> {
    let productive = productive_rules(rules, fuel)?;
    if productive.iter().all(|&productive| productive) {
        return Ok(None);
    }
    let pruned = rules.try_map(|body| {
        let mut builder = BodyBuilder::new();
        let root = builder.try_rebuild(body, |builder, _, node| {
            let before = builder.weight();
            let node = match node {
                Node::Rule(rule) if !productive[rule.index()] => builder.never(),
                other => builder.renormalize(other),
            };
            fuel.steps(1 + builder.weight() - before)?;
            Ok(node)
        })?;
        Ok(builder.finish(root))
    })?;
    Ok(Some(pruned))
}

/// Rules as a grammar, numbered as they are.
pub(crate) fn as_grammar(rules: Rules) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let ids: Vec<RuleId> = rules.names.iter().map(|name| builder.declare(name)).collect();
    for (&id, body) in ids.iter().zip(rules.bodies) {
        let body = std::sync::Arc::unwrap_or_clone(body);
        builder.define(id, body).expect("each rule is defined once");
    }
    builder.finish(ids[0]).expect("all rules are defined")
}

fn unlimited() -> Limits {
    Limits { rules: usize::MAX, nodes: usize::MAX, ..Limits::default() }
}

/// Per rule: does it generate some sequence? Components come callees first, so only recursion is
/// looked at more than once.
fn productive_rules(rules: &Rules, fuel: &mut Fuel) -> Result<Vec<bool>, Exhausted> {
    let mut productive = vec![false; rules.len()];
    for component in analyze(rules).components {
        let mut found = true;
        while found {
            found = false;
            for &RuleId(rule) in &component {
                let rule = rule as usize;
                if !productive[rule] {
                    fuel.steps(rules.bodies[rule].nodes().len())?;
                    productive[rule] = is_productive(&rules.bodies[rule], &productive);
                    found |= productive[rule];
                }
            }
        }
    }
    Ok(productive)
}

fn is_productive(body: &Body, rules: &[bool]) -> bool {
    let mut nodes: Vec<bool> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let productive = match node {
            Node::Never => false,
            Node::Seq(parts) => parts.iter().all(|part| nodes[part.index()]),
            Node::Alt(choices) => choices.iter().any(|choice| nodes[choice.index()]),
            Node::And(operands) => operands.iter().all(|operand| nodes[operand.index()]),
            Node::Rule(rule) => rules[rule.index()],
            Node::Automaton(dfa) => !Dfa::is_empty(dfa),
            Node::Repeat(repeat) => repeat.min == 0 || nodes[repeat.expr.index()],
            Node::TokenLimit { expr, .. } | Node::Annotated { expr, .. } => nodes[expr.index()],
            Node::Permute(permute) => permute_is_productive(permute, body.nodes(), &nodes),
            Node::Empty
            | Node::Literal(_)
            | Node::Bytes(_)
            | Node::Not(_)
            | Node::Tokens(_)
            | Node::LookAhead(_) => true,
        };
        nodes.push(productive);
    }
    *nodes.last().expect("a body has a root")
}

/// Counting: of distinct keys, those that are known to the body as an automaton.
fn permute_is_productive(permute: &crate::Permute, body: &[Node], nodes: &[bool]) -> bool {
    let usable = |id: crate::ExprId| nodes[id.index()];
    let members = permute.members.iter().filter(|member| usable(member.expr)).count();
    let rest = match permute.rest.is_some_and(|rest| usable(rest.key) && usable(rest.tail)) {
        true => most_others(permute, body).map_or(usize::MAX, |others| others as usize),
        false => 0,
    };
    let required = permute.members.iter().filter(|m| m.required).all(|m| usable(m.expr));
    let least = permute.min as usize;
    required && members.saturating_add(rest) >= least && (least < 2 || usable(permute.separator))
}
