//! Parts of grammars as grammars of their own: what becomes one automaton.

use formwork_automata::{Dfa, Fuel};
use formwork_core::{CompileError, Unsupported, Vocabulary, tokens_of};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Node, RuleId,
    passes::Rules,
    regular::{self, BytesOnly, RegularError, TokenAlphabet},
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A node of the body of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    pub(crate) rule: RuleId,
    pub(crate) expr: ExprId,
}

/// Rules, and as many rule numbers as a part of them may need.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) rules: Rules,
    ids: Vec<RuleId>,
}

impl Source {
    pub(crate) fn new(rules: Rules) -> Self {
        let mut more = rules.clone();
        more.bodies.push(rules.bodies[0].clone());
        let ids = more.ids().collect();
        Self { rules, ids }
    }

    /// The whole of a rule.
    pub(crate) fn whole(&self, rule: RuleId) -> Part {
        Part { rule, expr: self.rules.body(rule).root() }
    }

    /// The node itself.
    pub(crate) fn node(&self, part: Part) -> &Node {
        &self.rules.body(part.rule).nodes()[part.expr.index()]
    }

    /// A part and the rules that it refers to, those for which `replace` gives nothing else.
    /// `replace` is asked for every node, by its place, after its children.
    pub(crate) fn extract<E>(
        &self,
        part: Part,
        mut replace: impl FnMut(Part, &mut BodyBuilder) -> Result<Option<ExprId>, E>,
    ) -> Result<Rules, E> {
        let mut numbers: FxHashMap<RuleId, RuleId> = FxHashMap::default();
        let mut order: Vec<RuleId> = Vec::new();
        let mut extracted = Rules { bodies: Vec::new(), names: Vec::new() };
        let mut next = Some((part.rule, Some(part.expr)));
        let mut done = 0;
        while let Some((rule, only)) = next {
            let body = self.rules.body(rule);
            let mut builder = BodyBuilder::new();
            let mut kept = None;
            let inside = only.map(|only| descendants(body, only));
            let whole = builder.try_rebuild(body, |builder, expr, node| {
                // Beside a part may stand what it does not need, and what is not regular.
                if inside.as_ref().is_some_and(|inside| !inside[expr.index()]) {
                    return Ok(builder.never());
                }
                let new = match (replace(Part { rule, expr }, builder)?, node) {
                    (Some(new), _) => new,
                    (None, Node::Rule(callee)) => {
                        let number = *numbers.entry(callee).or_insert_with(|| {
                            order.push(callee);
                            self.ids[order.len()]
                        });
                        builder.rule(number)
                    }
                    (None, node) => builder.renormalize(node),
                };
                if only == Some(expr) {
                    kept = Some(new);
                }
                Ok(new)
            })?;
            extracted.bodies.push(Arc::new(builder.finish(kept.unwrap_or(whole))));
            extracted.names.push(self.rules.names[rule.index()].clone());
            next = order.get(done).map(|&rule| (rule, None));
            done += 1;
        }
        Ok(extracted)
    }

    /// The automaton of a part over bytes alone.
    pub(crate) fn bytes(&self, part: Part, fuel: &mut Fuel) -> Result<Dfa, RegularError> {
        let rules = self.extract(part, |_, _| Ok::<_, RegularError>(None))?;
        automaton(&rules, &BytesOnly, fuel)
    }
}

/// Which nodes of a body are in one of them, itself among them.
pub(crate) fn descendants(body: &Body, top: ExprId) -> Vec<bool> {
    let mut inside = vec![false; body.nodes().len()];
    inside[top.index()] = true;
    for (id, node) in body.iter().rev() {
        if inside[id.index()] {
            node.for_each_child(|child| inside[child.index()] = true);
        }
    }
    inside
}

/// The minimal automaton of regular rules; what the first does not reach is passed over.
pub(crate) fn automaton(
    rules: &Rules,
    alphabet: &dyn TokenAlphabet,
    fuel: &mut Fuel,
) -> Result<Dfa, RegularError> {
    regular::dfa_of_rules(rules, alphabet, fuel)
}

/// The same rules with every outermost boolean node replaced by its automaton, and without token
/// sets that hold no token.
///
/// # Errors
/// What is wrong with a boolean node, or the budget.
pub(crate) fn fold(
    source: Source,
    vocabulary: &Vocabulary,
    fuel: &mut Fuel,
) -> Result<Source, CompileError> {
    let mut bodies: Vec<Arc<Body>> = Vec::with_capacity(source.rules.len());
    for rule in source.rules.ids() {
        let body = source.rules.body(rule);
        let outermost = outermost(body);
        let has_tokens = body.nodes().iter().any(|node| matches!(node, Node::Tokens(_)));
        if outermost.is_empty() && !has_tokens {
            bodies.push(source.rules.bodies[rule.index()].clone());
            continue;
        }
        let mut builder = BodyBuilder::new();
        let root = builder.try_rebuild(body, |builder, expr, node| match &node {
            Node::Tokens(set) if tokens_of(set, vocabulary)?.is_empty() => Ok(builder.never()),
            _ if outermost.contains(&expr) => {
                let dfa = source.bytes(Part { rule, expr }, fuel).map_err(refusal)?;
                Ok::<_, CompileError>(builder.automaton(Arc::new(dfa)))
            }
            _ => Ok(builder.renormalize(node)),
        })?;
        bodies.push(Arc::new(builder.finish(root)));
    }
    Ok(Source::new(Rules { bodies, names: source.rules.names }))
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

/// Another backend may do what this one refuses; only a cancelled compile is final.
pub(crate) fn refusal(error: RegularError) -> CompileError {
    use formwork_automata::Exhausted;
    match error {
        RegularError::NotRegular { rule, why } => Unsupported::NotRegular { rule, why }.into(),
        RegularError::UnknownToken { name } => CompileError::UnknownToken { name },
        RegularError::Grammar(error) => error.into(),
        RegularError::Exhausted(reason @ (Exhausted::States { .. } | Exhausted::Steps { .. })) => {
            Unsupported::OverBudget(reason).into()
        }
        RegularError::Exhausted(reason) => reason.into(),
        other => unreachable!("every refusal is named above: {other}"),
    }
}
