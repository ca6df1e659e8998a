//! The rules of the grammar that is being made, by numbers of its own.

use crate::error::LarkErrorKind as Kind;
use formwork_automata::{Dfa, Fuel};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Grammar, GrammarBuilder, Limits, Node, RuleId,
    passes::Rules as Reached,
    regular::{self, BytesOnly, RegularError},
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rules, with and without bodies.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    builder: GrammarBuilder,
    ids: Vec<RuleId>,
    names: Vec<Box<str>>,
    bodies: Vec<Option<Arc<Body>>>,
}

impl Rules {
    pub(crate) fn declare(&mut self, name: &str, limits: &Limits) -> Result<RuleId, Kind> {
        if self.bodies.len() >= limits.rules {
            return Err(Kind::Rules { limit: limits.rules });
        }
        self.names.push(name.into());
        self.bodies.push(None);
        let id = self.builder.declare(name);
        self.ids.push(id);
        Ok(id)
    }

    pub(crate) fn name(&self, rule: RuleId) -> &str {
        &self.names[rule.index()]
    }

    pub(crate) fn define(&mut self, rule: RuleId, body: Arc<Body>) {
        self.bodies[rule.index()] = Some(body);
    }

    pub(crate) fn body(&self, rule: RuleId) -> Option<&Arc<Body>> {
        self.bodies[rule.index()].as_ref()
    }

    /// The grammar of all rules, each of which has a body by now.
    pub(crate) fn finish(mut self, root: RuleId) -> Result<Grammar, Kind> {
        let bodies = std::mem::take(&mut self.bodies);
        for (rule, body) in self.ids.into_iter().zip(bodies) {
            if let Some(body) = body {
                self.builder.define(rule, Arc::unwrap_or_clone(body))?;
            }
        }
        Ok(self.builder.finish(root)?)
    }

    /// The minimal automaton of a body over bytes alone, whose rules have bodies.
    pub(crate) fn dfa(&self, body: &Arc<Body>, fuel: &mut Fuel) -> Result<Arc<Dfa>, Kind> {
        if let [Node::Automaton(dfa)] = body.nodes() {
            return Ok(dfa.clone());
        }
        let mut mint = GrammarBuilder::new();
        mint.declare("");
        let mut numbers: FxHashMap<RuleId, RuleId> = FxHashMap::default();
        let mut waiting = vec![body.clone()];
        let mut reached = Reached { bodies: Vec::new(), names: Vec::new() };
        while reached.bodies.len() < waiting.len() {
            let body = waiting[reached.bodies.len()].clone();
            fuel.steps(body.nodes().len())?;
            let mut builder = BodyBuilder::new();
            let root = builder.rebuild(&body, |builder, _, node| match node {
                Node::Rule(rule) => {
                    let number = *numbers.entry(rule).or_insert_with(|| {
                        waiting.extend(self.body(rule).cloned());
                        mint.declare("")
                    });
                    builder.rule(number)
                }
                other => builder.renormalize(other),
            });
            reached.bodies.push(Arc::new(builder.finish(root)));
            reached.names.push("terminal".into());
        }
        match regular::dfa_of_rules(&reached, &BytesOnly, fuel) {
            Ok(dfa) => Ok(Arc::new(dfa)),
            Err(RegularError::Exhausted(exhausted)) => Err(exhausted.into()),
            Err(RegularError::Grammar(error)) => Err(error.into()),
            Err(_) => Err(Kind::NotInTerminal { what: "what is not regular" }),
        }
    }
}

/// Builds another body's nodes here; returns what became of its root.
pub(crate) fn import(builder: &mut BodyBuilder, body: &Body) -> ExprId {
    builder.rebuild(body, |builder, _, node| builder.renormalize(node))
}
