//! Pass 1: lower everything that the root needs, drop the rest, number the rules densely.
//!
//! Before: any grammar. After: rule 0 is the root, every rule is reachable from it.
//! Cost: linear in the size of the grammar, which [`Limits`] bounds.

use crate::{Body, BodyBuilder, Grammar, GrammarError, Limits, Node, RuleId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The rules of a grammar, all lowered, densely numbered; rule 0 is the root.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Body by rule.
    pub bodies: Vec<Arc<Body>>,
    /// Name by rule, for people.
    pub names: Vec<Box<str>>,
}

impl Rules {
    /// The body of a rule.
    #[must_use]
    pub fn body(&self, rule: RuleId) -> &Body {
        &self.bodies[rule.index()]
    }

    /// Number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// There is always a root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All rules.
    pub fn ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..u32::try_from(self.len()).expect("rules are u32")).map(RuleId)
    }

    /// The same rules with each body replaced, unless one cannot be.
    pub fn try_map<E>(&self, mut replace: impl FnMut(&Body) -> Result<Body, E>) -> Result<Self, E> {
        let bodies = self.bodies.iter().map(|body| Ok(Arc::new(replace(body)?)));
        Ok(Self { bodies: bodies.collect::<Result<_, E>>()?, names: self.names.clone() })
    }

    /// The same rules with each body replaced.
    pub(super) fn map(&self, replace: impl Fn(&Body) -> Body) -> Self {
        let bodies = self.bodies.iter().map(|body| Arc::new(replace(body))).collect();
        Self { bodies, names: self.names.clone() }
    }
}

/// Lowers and collects what the root needs.
///
/// # Errors
/// The front end's error, or a limit on rules or nodes.
pub fn reach(grammar: &Grammar, limits: &Limits) -> Result<Rules, GrammarError> {
    let reached = grammar.lower_all(limits)?;
    let number: FxHashMap<RuleId, RuleId> =
        reached.iter().copied().zip((0..).map(RuleId)).collect();
    let mut rules = Rules { bodies: Vec::new(), names: Vec::new() };
    for rule in reached {
        let body = grammar.body(rule)?;
        let mut builder = BodyBuilder::new();
        let root = builder.rebuild(&body, |builder, _, node| match node {
            Node::Rule(rule) => builder.rule(number[&rule]),
            other => builder.renormalize(other),
        });
        rules.bodies.push(Arc::new(builder.finish(root)));
        rules.names.push(grammar.name(rule).into());
    }
    debug_assert!(
        rules
            .bodies
            .iter()
            .flat_map(|body| body.references())
            .all(|rule| rule.index() < rules.len()),
        "every reference is to a rule that was reached"
    );
    Ok(rules)
}
