//! Unordered items that can be empty, which frames cannot express.
//!
//! What follows an item is known on top of a frame only, not while a closure is made. An item
//! without a byte would therefore go on where it began, and in a grammar that is left-recursive
//! there, or that repeats the list, frames would lead in a circle. Such lists are refused by name.

use formwork_grammar::{Body, ExprId, Node, Permute, Repeat, Uniqueness, passes::Rules};

/// Whether an item of some unordered list, or a key that must differ from others, can be empty.
/// `rules` has no intersections or complements but such as are not empty.
pub(crate) fn has_empty_items(rules: &Rules) -> bool {
    let mut nodes = rules.bodies.iter().flat_map(|body| body.nodes());
    if !nodes.any(|node| matches!(node, Node::Permute(_))) {
        return false;
    }
    let nullable = nullable_rules(rules);
    rules.bodies.iter().any(|body| {
        let empty = nullable_nodes(body, &nullable);
        body.nodes().iter().any(|node| match node {
            Node::Permute(permute) => has_empty_item(permute, &empty),
            _ => false,
        })
    })
}

fn has_empty_item(permute: &Permute, empty: &[bool]) -> bool {
    let is_empty = |expr: ExprId| empty[expr.index()];
    permute.members.iter().any(|member| is_empty(member.expr))
        || permute.rest.is_some_and(|rest| match rest.uniqueness {
            Uniqueness::Distinct => is_empty(rest.key),
            Uniqueness::Any => is_empty(rest.key) && is_empty(rest.tail),
        })
}

/// Which rules generate the empty sequence: a least fixpoint.
fn nullable_rules(rules: &Rules) -> Vec<bool> {
    let mut nullable = vec![false; rules.bodies.len()];
    loop {
        let mut changed = false;
        for (rule, body) in rules.bodies.iter().enumerate() {
            if !nullable[rule] && nullable_nodes(body, &nullable)[body.root().index()] {
                nullable[rule] = true;
                changed = true;
            }
        }
        if !changed {
            return nullable;
        }
    }
}

/// Which nodes of a body generate the empty sequence; children come before their parents.
fn nullable_nodes(body: &Body, rules: &[bool]) -> Vec<bool> {
    let mut nullable: Vec<bool> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let is_nullable = |expr: ExprId| nullable[expr.index()];
        let own = match node {
            Node::Empty | Node::LookAhead(_) => true,
            Node::Seq(parts) => parts.iter().all(|&part| is_nullable(part)),
            Node::Alt(choices) => choices.iter().any(|&choice| is_nullable(choice)),
            Node::Repeat(Repeat { expr, min, .. }) => *min == 0 || is_nullable(*expr),
            Node::Rule(rule) => rules[rule.index()],
            Node::Automaton(dfa) => dfa.is_accepting(dfa.start()),
            Node::TokenLimit { expr, .. } | Node::Annotated { expr, .. } => is_nullable(*expr),
            Node::Permute(permute) => permute.min == 0 || has_empty_item(permute, &nullable),
            _ => false,
        };
        nullable.push(own);
    }
    nullable
}
