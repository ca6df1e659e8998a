//! Rules without look-ahead: one for each part that needs it, condition, and condition left.

use crate::{
    backend::of_rules,
    conditions::{Condition, Conditions},
    texts::{Texts, sizes},
    units::{Items, Leaf, Part, Site, Units, Way},
};
use formwork_automata::{CancellationToken, Exhausted};
use formwork_core::{CompileError, Limits};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Grammar, GrammarBuilder, LookAhead, Node, Permute, Repeat, RuleId,
    passes::{self, Analysis, Rules},
};
use rustc_hash::FxHashMap;

/// A unit, and the condition that it leaves.
type Split = (u32, Condition);

/// Whether there is a look-ahead in any of the rules.
pub(crate) fn has_look_ahead(rules: &Rules) -> bool {
    let mut nodes = rules.bodies.iter().flat_map(|body| body.nodes());
    nodes.any(|node| matches!(node, Node::LookAhead(_)))
}

/// The same language without look-ahead.
///
/// # Errors
/// What is wrong with a look-ahead, or a limit.
pub(crate) fn without_look_ahead(
    rules: &Rules,
    limits: &Limits,
    cancellation: &CancellationToken,
) -> Result<Rules, CompileError> {
    let grammar = of_rules(rules)?;
    let analysis = passes::analyze(rules);
    let mut fuel = limits.fuel(cancellation);
    let mut conditions = Conditions::new();
    let mut texts = Texts {
        rules,
        grammar: &grammar,
        limits,
        cancellation,
        languages: FxHashMap::default(),
        looks: FxHashMap::default(),
    };
    for rule in rules.ids() {
        for (expr, node) in rules.body(rule).iter() {
            if let Node::LookAhead(LookAhead { expr: operand, polarity }) = node {
                let language = texts.language(rule, *operand).map_err(crate::backend::regular)?;
                let look = conditions.look(&language, *polarity, &mut fuel)?;
                texts.looks.insert((rule, expr), look);
            }
        }
    }
    let looks = nodes_with_look_ahead(rules, &analysis);
    let sizes = sizes(rules, &analysis.components);
    let mut units = Units::new(texts, conditions, looks, sizes, fuel);
    let root = units.body(rules.ids().next().expect("there is a root"));
    units.unit(root, Condition::NONE)?;
    units.settle()?;
    let splits =
        Splits { units, rules: FxHashMap::default(), pending: Vec::new(), nodes: 0, limits };
    let grammar = splits.grammar(root)?;
    Ok(passes::reach(&grammar, limits)?)
}

/// By rule and node: whether there is a look-ahead in it. Callees first; the rules of a component
/// have one if any has.
fn nodes_with_look_ahead(rules: &Rules, analysis: &Analysis) -> Vec<Box<[bool]>> {
    let mut looks: Vec<Box<[bool]>> = rules.bodies.iter().map(|_| Box::default()).collect();
    let mut has_any = vec![false; rules.len()];
    for component in &analysis.components {
        let mut any = false;
        for &rule in component {
            any |= rules.body(rule).nodes().iter().any(|node| match node {
                Node::LookAhead(_) => true,
                Node::Rule(callee) => has_any[callee.index()],
                _ => false,
            });
        }
        component.iter().for_each(|rule| has_any[rule.index()] = any);
        for &rule in component {
            let body = rules.body(rule);
            let mut own: Vec<bool> = Vec::with_capacity(body.nodes().len());
            for node in body.nodes() {
                let mut has_look = match node {
                    Node::LookAhead(_) => true,
                    Node::Rule(callee) => has_any[callee.index()],
                    _ => false,
                };
                node.for_each_child(|child| has_look |= own[child.index()]);
                own.push(has_look);
            }
            looks[rule.index()] = own.into();
        }
    }
    looks
}

/// What a split is built of.
enum Plan {
    Leaf(Leaf),
    /// The node with its children as they are.
    Same(Vec<Split>),
    /// A sequence for each way.
    Ways(Vec<Vec<Split>>),
    Limit(Split, u32),
    Repeat(Split, u32, Option<u32>),
    /// A list, by its children; none for what cannot be.
    Permute(Permute, Vec<Option<Split>>),
}

/// Rules under construction.
struct Splits<'a> {
    units: Units<'a>,
    rules: FxHashMap<Split, RuleId>,
    pending: Vec<(Split, RuleId)>,
    nodes: usize,
    limits: &'a Limits,
}

impl Splits<'_> {
    fn grammar(mut self, root: Part) -> Result<Grammar, CompileError> {
        let mut builder = GrammarBuilder::new();
        let start = builder.declare(&self.units.texts.rules.names[root.0.index()]);
        let unit = self.units.unit(root, Condition::NONE)?;
        let mut outs = self.units.outs(root, Condition::NONE)?.to_vec();
        outs.retain(|&out| self.units.conditions.may_end(out));
        let mut body = BodyBuilder::new();
        let ends: Vec<ExprId> =
            outs.into_iter().map(|out| body.rule(self.rule((unit, out), &mut builder))).collect();
        let whole = body.alt(&ends);
        builder.define(start, body.finish(whole))?;
        while let Some((split, rule)) = self.pending.pop() {
            let body = self.body(split, &mut builder)?;
            builder.define(rule, body)?;
        }
        Ok(builder.finish(start)?)
    }

    /// The rule of a split.
    fn rule(&mut self, split: Split, builder: &mut GrammarBuilder) -> RuleId {
        if let Some(&known) = self.rules.get(&split) {
            return known;
        }
        let ((rule, _), _) = self.units.part(split.0);
        let new = builder.declare(&self.units.texts.rules.names[rule.index()]);
        self.rules.insert(split, new);
        self.pending.push((split, new));
        new
    }

    /// The body of a rule: splits are built children first, each once.
    fn body(&mut self, split: Split, builder: &mut GrammarBuilder) -> Result<Body, CompileError> {
        let mut body = BodyBuilder::new();
        let mut built: FxHashMap<Split, ExprId> = FxHashMap::default();
        let mut pending = vec![split];
        loop {
            let top = *pending.last().expect("the whole is the last to go");
            let is_whole = pending.len() == 1;
            let weight = body.weight();
            let plan = self.plan(top)?;
            let mut children = Vec::new();
            plan.for_each(|child| children.push(child));
            self.units.fuel.steps(1 + children.len())?;
            for child in children {
                if built.contains_key(&child) {
                    continue;
                }
                match self.is_apart(child)? {
                    true => {
                        let rule = self.rule(child, builder);
                        built.insert(child, body.rule(rule));
                    }
                    false => pending.push(child),
                }
            }
            if pending.last() == Some(&top) {
                let node = self.build(top, plan, &mut body, &built);
                self.grow(body.weight() - weight)?;
                if is_whole {
                    return Ok(body.finish(node));
                }
                built.insert(top, node);
                // The same may have been asked for more than once.
                while pending.len() > 1 && built.contains_key(&pending[pending.len() - 1]) {
                    pending.pop();
                }
            }
        }
    }

    fn grow(&mut self, nodes: usize) -> Result<(), CompileError> {
        self.nodes += nodes;
        self.units.fuel.steps(nodes)?;
        match self.nodes > self.limits.nodes {
            true => Err(Exhausted::States { limit: self.limits.nodes }.into()),
            false => Ok(()),
        }
    }

    /// Whether a split is a rule of its own: it may lead to itself.
    fn is_apart(&mut self, (unit, _): Split) -> Result<bool, CompileError> {
        let (part, condition) = self.units.part(unit);
        Ok(match part.1 {
            Site::Node(_) => part == self.units.body(part.0),
            Site::Rest(..) => false,
            Site::Turns(..) => !self.stays(part, condition)?,
            Site::Items(_) => true,
        })
    }

    /// Whether a repetition or a list stays one.
    fn stays(&mut self, part: Part, condition: Condition) -> Result<bool, CompileError> {
        let Some(parts) = self.units.same(part) else { return Ok(false) };
        for part in parts {
            if self.units.outs(part, condition)?.iter().any(|&out| out != condition) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn plan(&mut self, (unit, out): Split) -> Result<Plan, CompileError> {
        let (part, condition) = self.units.part(unit);
        if self.units.is_plain(part, condition) {
            return self.same(part);
        }
        if let Some(leaves) = self.units.leaves(unit) {
            let leaf = leaves.iter().find(|leaf| leaf.0 == out).expect("one of the unit's outs");
            return Ok(Plan::Leaf(leaf.1.clone()));
        }
        if self.stays(part, condition)? {
            return self.stayed(part, condition);
        }
        let ways = self.ways(part, condition, out)?;
        if let (rule, Site::Node(expr)) = part
            && let Node::TokenLimit { max, .. } = self.units.node(rule, expr)
        {
            return Ok(match ways.first() {
                Some(way) => Plan::Limit(way[0], *max),
                None => Plan::Ways(ways),
            });
        }
        Ok(Plan::Ways(ways))
    }

    fn same(&mut self, (rule, site): Part) -> Result<Plan, CompileError> {
        let Site::Node(expr) = site else { unreachable!("only nodes are plain") };
        let node = self.units.node(rule, expr);
        let mut children: Vec<Part> = Vec::new();
        node.for_each_child(|child| children.push((rule, Site::Node(child))));
        if let Node::Rule(callee) = node {
            children.push(self.units.body(*callee));
        }
        let split = |part| Ok((self.units.unit(part, Condition::NONE)?, Condition::NONE));
        Ok(Plan::Same(children.into_iter().map(split).collect::<Result<_, CompileError>>()?))
    }

    /// A repetition or a list of which no part changes the condition.
    fn stayed(&mut self, part: Part, condition: Condition) -> Result<Plan, CompileError> {
        let mut children = Vec::new();
        for part in self.units.same(part).unwrap_or_default() {
            let is_possible = !self.units.outs(part, condition)?.is_empty();
            let unit = self.units.unit(part, condition)?;
            children.push(is_possible.then_some((unit, condition)));
        }
        let (rule, site) = part;
        match site {
            Site::Turns(expr, done) => {
                let Node::Repeat(Repeat { min, max, .. }) = *self.units.node(rule, expr) else {
                    unreachable!("turns are of repetitions")
                };
                let (min, max) = (min.saturating_sub(done), max.map(|max| max - done));
                Ok(match children[0] {
                    Some(turn) => Plan::Repeat(turn, min, max),
                    None if min == 0 => Plan::Leaf(Leaf::Empty),
                    None => Plan::Ways(Vec::new()),
                })
            }
            Site::Items(number) => {
                let Items { expr, left, count, .. } = self.units.items(number).clone();
                let Node::Permute(permute) = self.units.node(rule, expr) else {
                    unreachable!("items are of permutations")
                };
                let mut permute = Permute::clone(permute);
                permute.members =
                    left.iter().map(|&member| permute.members[member as usize]).collect();
                permute.min = permute.min.saturating_sub(count).max(1);
                permute.max = permute.max.map(|max| max - count);
                Ok(Plan::Permute(permute, children))
            }
            _ => unreachable!("nothing else stays"),
        }
    }

    /// The ways from one condition to another; a rest that has one way only is part of its
    /// sequence.
    fn ways(
        &mut self,
        part: Part,
        condition: Condition,
        out: Condition,
    ) -> Result<Vec<Vec<Split>>, CompileError> {
        let mut ways = self.next(part, condition, out)?;
        for way in &mut ways {
            while let Some(&(last, out)) = way.last() {
                let (part, condition) = self.units.part(last);
                if !matches!(part.1, Site::Rest(..)) {
                    break;
                }
                let mut next = self.next(part, condition, out)?;
                if next.len() != 1 {
                    break;
                }
                way.pop();
                way.append(&mut next[0]);
            }
        }
        Ok(ways)
    }

    fn next(
        &mut self,
        part: Part,
        condition: Condition,
        out: Condition,
    ) -> Result<Vec<Vec<Split>>, CompileError> {
        let mut found = Vec::new();
        for way in self.units.ways(part)? {
            match way {
                Way::Nothing => found.extend((out == condition).then(Vec::new)),
                Way::One(part) => {
                    if self.units.outs(part, condition)?.contains(&out) {
                        found.push(vec![(self.units.unit(part, condition)?, out)]);
                    }
                }
                Way::Two(first, then) => {
                    let unit = self.units.unit(first, condition)?;
                    for between in self.units.outs(first, condition)?.to_vec() {
                        if self.units.outs(then, between)?.contains(&out) {
                            let then = self.units.unit(then, between)?;
                            found.push(vec![(unit, between), (then, out)]);
                        }
                    }
                }
            }
        }
        Ok(found)
    }

    fn build(
        &self,
        (unit, _): Split,
        plan: Plan,
        body: &mut BodyBuilder,
        built: &FxHashMap<Split, ExprId>,
    ) -> ExprId {
        let ((rule, site), _) = self.units.part(unit);
        let node = || match site {
            Site::Node(expr) => self.units.node(rule, expr).clone(),
            _ => unreachable!("only nodes are copied"),
        };
        match plan {
            Plan::Leaf(Leaf::Empty) => body.empty(),
            Plan::Leaf(Leaf::Same) => body.renormalize(node()),
            Plan::Leaf(Leaf::Bytes(bytes)) => body.bytes(bytes),
            Plan::Leaf(Leaf::Text(dfa)) => body.automaton(dfa),
            Plan::Same(children) => match node() {
                // Its body is another rule.
                Node::Rule(_) => built[&children[0]],
                node => {
                    let mut children = children.iter().map(|child| built[child]);
                    let node = replaced(node, || children.next().expect("one a child"));
                    body.renormalize(node)
                }
            },
            Plan::Ways(ways) => {
                let mut choices = Vec::with_capacity(ways.len());
                for way in ways {
                    let parts: Vec<ExprId> = way.iter().map(|part| built[part]).collect();
                    choices.push(body.seq(&parts));
                }
                body.alt(&choices)
            }
            Plan::Limit(child, max) => body.token_limit(built[&child], max),
            Plan::Repeat(turn, min, max) => body.repeat(built[&turn], min, max),
            Plan::Permute(permute, children) => {
                let never = body.never();
                let mut children =
                    children.iter().map(|child| child.map_or(never, |child| built[&child]));
                let permute = permute.map(|_| children.next().expect("one a child"));
                body.permute(permute)
            }
        }
    }
}

impl Plan {
    fn for_each(&self, mut visit: impl FnMut(Split)) {
        match self {
            Self::Leaf(_) => {}
            Self::Same(children) => children.iter().copied().for_each(visit),
            Self::Ways(ways) => ways.iter().flatten().copied().for_each(visit),
            Self::Limit(child, _) | Self::Repeat(child, ..) => visit(*child),
            Self::Permute(_, children) => children.iter().flatten().copied().for_each(visit),
        }
    }
}

/// A node with other children, in the order in which [`Node::for_each_child`] tells them.
fn replaced(node: Node, mut next: impl FnMut() -> ExprId) -> Node {
    match node {
        Node::Seq(parts) => Node::Seq(parts.iter().map(|_| next()).collect()),
        Node::Alt(choices) => Node::Alt(choices.iter().map(|_| next()).collect()),
        Node::And(parts) => Node::And(parts.iter().map(|_| next()).collect()),
        Node::Repeat(repeat) => Node::Repeat(Repeat { expr: next(), ..repeat }),
        Node::Not(_) => Node::Not(next()),
        Node::LookAhead(look) => Node::LookAhead(LookAhead { expr: next(), ..look }),
        Node::TokenLimit { max, .. } => Node::TokenLimit { expr: next(), max },
        Node::Annotated { annotation, .. } => Node::Annotated { expr: next(), annotation },
        Node::Permute(permute) => Node::Permute(permute.map(|_| next()).into()),
        leaf => leaf,
    }
}

#[cfg(test)]
mod tests;
