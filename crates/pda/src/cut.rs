//! Which rules are called, and which are inlined.
//!
//! # Construction
//! Rules are inlined as far as that ends and does not multiply the grammar: a rule is called when
//! its component embeds itself and no other rule of it is called already, or when it is used more
//! than once and large. The called rules of a component are found greedily: the one most referred to
//! within its component, until no component embeds itself.

use crate::{alphabet::call_set, islands::is_text, parts::Source};
use formwork_grammar::{
    Body, BodyBuilder, Node, Repeat, RuleId,
    passes::{self, Analysis, Linearity, Rules},
};
use std::sync::Arc;

/// Repetitions of up to so many turns are unrolled.
pub(crate) const UNROLLED: u32 = 8;
/// Rules of more than so many positions are called where they are used more than once.
const LARGE: usize = 32;
/// Rounds of the greedy search; after them, every rule of what is left is called.
const ROUNDS: usize = 64;

/// What was decided.
#[derive(Debug)]
pub(crate) struct Cuts {
    /// By rule.
    pub(crate) called: Vec<bool>,
    /// Positions of a rule with all that is inlined in it.
    size: Vec<usize>,
}

impl Cuts {
    pub(crate) fn new(source: &Source) -> Self {
        let rules = &source.rules;
        let mut called = vec![false; rules.len()];
        for round in 0.. {
            let analysis = passes::analyze(&without(rules, &called));
            let mut is_done = true;
            for component in &analysis.components {
                if analysis.linearity[component[0].index()] != Linearity::SelfEmbedding {
                    continue;
                }
                is_done = false;
                match round < ROUNDS {
                    true => called[most_used(rules, &analysis, component).index()] = true,
                    false => component.iter().for_each(|rule| called[rule.index()] = true),
                }
            }
            if is_done {
                let size = sizes(rules, &analysis, &mut called);
                return Self { size, called };
            }
        }
        unreachable!("every round calls one more rule")
    }

    /// Positions of each node of a body, repetitions of more than [`UNROLLED`] turns counted in full.
    pub(crate) fn node_sizes(&self, body: &Body) -> Vec<usize> {
        node_sizes(body, &self.size, &self.called)
    }
}

/// The rules with references to called ones replaced by letters.
fn without(rules: &Rules, called: &[bool]) -> Rules {
    let bodies = rules.bodies.iter().map(|body| {
        if !body.references().iter().any(|rule| called[rule.index()]) {
            return body.clone();
        }
        let mut builder = BodyBuilder::new();
        let root = builder.rebuild(body, |builder, _, node| match node {
            Node::Rule(rule) if called[rule.index()] => builder.tokens(call_set(0)),
            node => builder.renormalize(node),
        });
        Arc::new(builder.finish(root))
    });
    Rules { bodies: bodies.collect(), names: rules.names.clone() }
}

/// The rule of a component that its rules refer to most often.
fn most_used(rules: &Rules, analysis: &Analysis, component: &[RuleId]) -> RuleId {
    let inside = analysis.component_of[component[0].index()];
    let mut uses = vec![0_usize; rules.len()];
    for rule in component {
        for node in rules.body(*rule).nodes() {
            if let Node::Rule(callee) = node
                && analysis.component_of[callee.index()] == inside
            {
                uses[callee.index()] += 1;
            }
        }
    }
    // The smallest number among equals, so that the answer does not depend on the order.
    let key = |rule: &&RuleId| (uses[rule.index()], std::cmp::Reverse(rule.index()));
    *component.iter().max_by_key(key).expect("a component has a rule")
}

/// Sizes by rule, callees first; large rules that are used more than once become called.
/// What begins with itself is not: it would call itself for ever.
fn sizes(rules: &Rules, analysis: &Analysis, called: &mut [bool]) -> Vec<usize> {
    let corners = corners(rules);
    let mut size = vec![1; rules.len()];
    for component in &analysis.components {
        let all = component.iter().map(|rule| {
            let sizes = node_sizes(rules.body(*rule), &size, called);
            *sizes.last().expect("a body has a root")
        });
        let all = all.fold(0_usize, usize::saturating_add);
        for rule in component {
            size[rule.index()] = all;
            let is_shared = analysis.references[rule.index()] > 1;
            if is_shared && all > LARGE && !corners.is_recursive(*rule) {
                called[rule.index()] = true;
            }
        }
    }
    size
}

fn node_sizes(body: &Body, size: &[usize], called: &[bool]) -> Vec<usize> {
    let mut sizes: Vec<usize> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let own = match node {
            Node::Rule(rule) if called[rule.index()] => 1,
            Node::Rule(rule) => size[rule.index()],
            Node::Literal(bytes) => bytes.len(),
            Node::Automaton(dfa) if is_text(dfa) => 1,
            Node::Automaton(dfa) => dfa.len(),
            Node::Repeat(Repeat { expr, min, max }) => {
                let turns = max.unwrap_or(min + 1) as usize;
                // Longer repetitions count, or what they repeat is called.
                let turns = turns.min(UNROLLED as usize);
                sizes[expr.index()].saturating_mul(turns)
            }
            node => {
                let mut all = 1_usize;
                node.for_each_child(|child| all = all.saturating_add(sizes[child.index()]));
                all
            }
        };
        sizes.push(own);
    }
    sizes
}

/// Whether some called rule begins with itself by way of another called one. What begins with itself
/// directly is rewritten.
pub(crate) fn mutual_left_recursion(source: &Source, cuts: &Cuts) -> bool {
    let component_has_two = |component: &Vec<RuleId>| {
        component.iter().filter(|rule| cuts.called[rule.index()]).count() > 1
    };
    corners(&source.rules).components.iter().any(component_has_two)
}

/// Which rules begin with which.
fn corners(rules: &Rules) -> Analysis {
    let nullable = nullable(rules);
    // The graph of left corners as a grammar, so that the analysis finds its components.
    let bodies = rules.bodies.iter().map(|body| {
        let mut builder = BodyBuilder::new();
        let corners: Vec<_> =
            left_corners(body, &nullable).into_iter().map(|rule| builder.rule(rule)).collect();
        let root = builder.alt(&corners);
        Arc::new(builder.finish(root))
    });
    let graph = Rules { bodies: bodies.collect(), names: rules.names.clone() };
    passes::analyze(&graph)
}

fn nullable(rules: &Rules) -> Vec<bool> {
    let mut nullable = vec![false; rules.len()];
    // Callees first, so that two rounds do where nothing is recursive.
    let order = passes::analyze(rules).components;
    loop {
        let before = nullable.clone();
        for rule in order.iter().flatten() {
            let nodes = nullable_nodes(rules.body(*rule), &nullable);
            nullable[rule.index()] = *nodes.last().expect("a body has a root");
        }
        if nullable == before {
            return nullable;
        }
    }
}

fn nullable_nodes(body: &Body, rules: &[bool]) -> Vec<bool> {
    let mut nodes: Vec<bool> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let is_nullable = match node {
            Node::Empty => true,
            Node::Seq(parts) => parts.iter().all(|part| nodes[part.index()]),
            Node::Alt(choices) => choices.iter().any(|choice| nodes[choice.index()]),
            Node::Repeat(repeat) => repeat.min == 0 || nodes[repeat.expr.index()],
            Node::Rule(rule) => rules[rule.index()],
            Node::Automaton(dfa) => dfa.is_accepting(dfa.start()),
            Node::Permute(permute) => permute.min == 0,
            Node::Annotated { expr, .. } => nodes[expr.index()],
            _ => false,
        };
        nodes.push(is_nullable);
    }
    nodes
}

fn left_corners(body: &Body, nullable: &[bool]) -> Vec<RuleId> {
    let nodes = nullable_nodes(body, nullable);
    let mut is_left = vec![false; nodes.len()];
    is_left[body.root().index()] = true;
    let mut corners = Vec::new();
    for (id, node) in body.iter().rev() {
        if !is_left[id.index()] {
            continue;
        }
        match node {
            Node::Rule(rule) => corners.push(*rule),
            Node::Seq(parts) => {
                for part in parts {
                    is_left[part.index()] = true;
                    if !nodes[part.index()] {
                        break;
                    }
                }
            }
            node => node.for_each_child(|child| is_left[child.index()] = true),
        }
    }
    corners
}
