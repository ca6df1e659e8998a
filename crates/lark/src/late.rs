//! Rules that are lowered as an output gets to them.
//!
//! # Idea
//! Whoever asks for rules one by one must not be led to one that generates nothing. So before a rule
//! is referred to, it is known to be productive: rules are lowered, those first that were referred
//! to last, until what is known of their bodies says so of the one in question (Horn clauses,
//! Dowling and Gallier 1984), or until nothing is left to lower and none of them is. Limits on rules
//! and nodes bound the search.

use crate::{
    LarkErrorKind as Kind,
    fault::{Fault, Sources, fault},
    lower::{Key, Lowering},
};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Location, LowerError, LowerRule, Node, PartId, Parts, RuleAllocator,
    RuleId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// Lowers rules late.
pub(crate) struct Late {
    pub(crate) state: Mutex<State>,
    sources: Sources,
}

/// What is known so far. Rules are numbered twice: by [`Lowering`], and outside.
pub(crate) struct State {
    lowering: Lowering,
    parts: Parts,
    part_ids: Vec<PartId>,
    productive: FxHashMap<RuleId, bool>,
    outside: FxHashMap<RuleId, RuleId>,
    inside: FxHashMap<RuleId, RuleId>,
    nodes: usize,
    /// The root, until it is asked for, which it is first.
    pub(crate) root: Option<RuleId>,
}

impl fmt::Debug for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Late").finish_non_exhaustive()
    }
}

impl Late {
    pub(crate) fn new(
        lowering: Lowering,
        parts: Parts,
        part_ids: Vec<PartId>,
        sources: Sources,
    ) -> Self {
        let state = State {
            lowering,
            parts,
            part_ids,
            productive: FxHashMap::default(),
            outside: FxHashMap::default(),
            inside: FxHashMap::default(),
            nodes: 0,
            root: None,
        };
        Self { state: Mutex::new(state), sources }
    }
}

impl LowerRule for Late {
    fn lower(
        &self,
        rule: RuleId,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, LowerError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lowered) = state.parts.lower(rule, body, rules) {
            return lowered;
        }
        if let Some(root) = state.root.take() {
            state.outside.insert(root, rule);
            state.inside.insert(rule, root);
        }
        state.lower(rule, body, rules).map_err(|Fault { kind, span }| LowerError {
            location: Location::Text(self.sources.position(span)),
            source: Arc::new(*kind),
        })
    }
}

impl State {
    fn lower(
        &mut self,
        rule: RuleId,
        builder: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, Fault> {
        let own = self.inside[&rule];
        let body = self.body(own)?;
        for reference in body.references() {
            self.is_productive(reference)?;
        }
        Ok(builder.rebuild(&body, |builder, _, node| match node {
            Node::Rule(reference) if !self.productive[&reference] => builder.never(),
            Node::Rule(reference) => {
                let rule = self.outside(reference, rules);
                builder.rule(rule)
            }
            other => builder.renormalize(other),
        }))
    }

    /// The number outside of a rule.
    fn outside(&mut self, own: RuleId, rules: &RuleAllocator<'_>) -> RuleId {
        let name = self.lowering.rules.name(own);
        if let Some(Key::Part(part)) = self.lowering.keys.get(&own) {
            return self.parts.rule(self.part_ids[*part as usize], name, rules);
        }
        let rule = *self.outside.entry(own).or_insert_with(|| rules.rule(name));
        self.inside.insert(rule, own);
        rule
    }

    /// The body of a rule by its own number, lowered now if it has not been.
    fn body(&mut self, own: RuleId) -> Result<Arc<Body>, Fault> {
        if let Some(body) = self.lowering.rules.body(own) {
            return Ok(body.clone());
        }
        self.lowering.lower(own)?;
        self.lowering.waiting.clear();
        let body = self.lowering.rules.body(own).expect("just lowered").clone();
        self.nodes += body.nodes().len();
        match self.nodes > self.lowering.limits.nodes {
            true => {
                let limit = self.lowering.limits.nodes;
                Err(fault(Kind::Nodes { limit }, self.lowering.span(own)))
            }
            false => Ok(body),
        }
    }

    /// Whether the rule generates anything.
    pub(crate) fn is_productive(&mut self, target: RuleId) -> Result<bool, Fault> {
        let mut waiting = vec![target];
        let mut seen: FxHashSet<RuleId> = FxHashSet::default();
        let mut users: FxHashMap<RuleId, Vec<RuleId>> = FxHashMap::default();
        while let Some(rule) = waiting.pop() {
            if let Some(&known) = self.productive.get(&target) {
                return Ok(known);
            }
            if self.productive.contains_key(&rule) || !seen.insert(rule) {
                continue;
            }
            if let Some(Key::Part(part)) = self.lowering.keys.get(&rule) {
                let known = self.parts.is_productive(self.part_ids[*part as usize]);
                self.learn(rule, known, &users)?;
                continue;
            }
            let body = self.body(rule)?;
            if self.generates(&body) {
                self.learn(rule, true, &users)?;
                continue;
            }
            // The last is looked at first: in lists that end by themselves it is the first written.
            for reference in body.references().into_iter().rev() {
                if !self.productive.contains_key(&reference) {
                    users.entry(reference).or_default().push(rule);
                    waiting.push(reference);
                }
            }
        }
        // Everything they could generate by has been looked at.
        for rule in seen {
            self.productive.entry(rule).or_insert(false);
        }
        Ok(self.productive[&target])
    }

    /// Notes what a rule is, and what follows for those that refer to it.
    fn learn(
        &mut self,
        rule: RuleId,
        is_productive: bool,
        users: &FxHashMap<RuleId, Vec<RuleId>>,
    ) -> Result<(), Fault> {
        self.productive.insert(rule, is_productive);
        let mut news = vec![rule];
        while let Some(rule) = news.pop() {
            for &user in users.get(&rule).map_or(&[][..], Vec::as_slice) {
                if self.productive.contains_key(&user) {
                    continue;
                }
                let body = self.body(user)?;
                if self.generates(&body) {
                    self.productive.insert(user, true);
                    news.push(user);
                }
            }
        }
        Ok(())
    }

    /// Whether a body generates something by what is known to.
    fn generates(&self, body: &Body) -> bool {
        let mut known: Vec<bool> = Vec::with_capacity(body.nodes().len());
        for node in body.nodes() {
            let of = |id: &ExprId| known[id.index()];
            let value = match node {
                Node::Never => false,
                Node::Rule(rule) => self.productive.get(rule) == Some(&true),
                Node::Seq(parts) | Node::And(parts) => parts.iter().all(of),
                Node::Alt(parts) => parts.iter().any(of),
                Node::Repeat(repeat) => repeat.min == 0 || of(&repeat.expr),
                Node::TokenLimit { expr, .. } | Node::Annotated { expr, .. } => of(expr),
                _ => true,
            };
            known.push(value);
        }
        known.last().copied().unwrap_or(false)
    }
}
