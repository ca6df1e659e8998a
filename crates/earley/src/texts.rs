//! Regular parts of bodies, read under a condition: for each condition that is left, an automaton.
//!
//! # Construction
//! A part is poured into a Thompson automaton (Thompson, 1968) in which a look-ahead is a mark; that
//! is multiplied with the conditions, in which a mark opens a look-ahead and a byte moves all that
//! are open. Rules that lead to themselves, and what would be too large, stay what they are.

use crate::{
    boolean::language,
    conditions::{Condition, Conditions},
};
use formwork_automata::{
    CancellationToken, Dfa, Edge, Exhausted, Fuel, Mark, Nfa, NfaBuilder, NfaStateId, determinize,
};
use formwork_grammar::{
    Body, ExprId, Grammar, Limits, Node, Repeat, RuleId, passes::Rules, regular::RegularError,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Positions of a part at most, once its repetitions are unrolled. Next to none in the tests of this
/// crate, so that what is too large is tested there and what is not, in the conformance suite.
const MAX_SIZE: u32 = if cfg!(test) { 3 } else { 2_048 };
/// States of its automata at most,
const MAX_STATES: usize = 20_000;
/// and steps to make them.
const MAX_STEPS: u64 = 2_000_000;

/// Positions by node, for each rule; none where a part is not regular by itself.
pub(crate) type Sizes = Vec<Box<[Option<u32>]>>;

/// The sizes of all nodes: callees first, so a rule that leads to itself has none.
pub(crate) fn sizes(rules: &Rules, components: &[Vec<RuleId>]) -> Sizes {
    let mut sizes: Sizes = rules.bodies.iter().map(|_| Box::default()).collect();
    for &rule in components.iter().flatten() {
        let body = rules.body(rule);
        let mut own: Vec<Option<u32>> = Vec::with_capacity(body.nodes().len());
        for node in body.nodes() {
            let size = size(node, &own, &sizes);
            own.push(size.filter(|&size| size <= MAX_SIZE));
        }
        sizes[rule.index()] = own.into();
    }
    sizes
}

fn size(node: &Node, own: &[Option<u32>], rules: &Sizes) -> Option<u32> {
    let of = |expr: ExprId| own[expr.index()];
    let small = |len: usize| u32::try_from(len).ok();
    match node {
        Node::Never | Node::Empty | Node::Bytes(_) | Node::LookAhead(_) => Some(1),
        Node::Literal(bytes) => small(bytes.len()),
        Node::Automaton(dfa) => small(dfa.len()),
        // What they become is known only once it has been made.
        Node::And(_) | Node::Not(_) => Some(64),
        Node::Seq(parts) | Node::Alt(parts) => {
            let add = |sum: u32, part: &ExprId| Some(sum.saturating_add(of(*part)?));
            parts.iter().try_fold(1, add)
        }
        Node::Repeat(Repeat { expr, min, max }) => {
            let turns = max.unwrap_or_else(|| min.saturating_add(1));
            Some(of(*expr)?.saturating_mul(turns).saturating_add(1))
        }
        Node::Rule(rule) => *rules[rule.index()].last()?,
        Node::Annotated { expr, .. } => of(*expr),
        _ => None,
    }
}

/// A part that has been multiplied with conditions.
#[derive(Debug)]
struct Product {
    states: usize,
    edges: Vec<(u32, Option<formwork_automata::ByteSet>, u32)>,
    ends: Vec<(Condition, u32)>,
}

/// Makes the automata of parts.
pub(crate) struct Texts<'a> {
    pub(crate) rules: &'a Rules,
    /// The same rules.
    pub(crate) grammar: &'a Grammar,
    pub(crate) limits: &'a Limits,
    pub(crate) cancellation: &'a CancellationToken,
    /// Intersections and complements made so far.
    pub(crate) languages: FxHashMap<(RuleId, ExprId), Arc<Dfa>>,
    /// Numbers of look-aheads.
    pub(crate) looks: FxHashMap<(RuleId, ExprId), u32>,
}

impl Texts<'_> {
    /// The automata of a part that begins under a condition, by the condition that is left.
    ///
    /// # Errors
    /// What is wrong with an intersection; or a budget of its own, where that is too small.
    pub(crate) fn text(
        &mut self,
        (rule, expr): (RuleId, ExprId),
        condition: Condition,
        conditions: &mut Conditions,
    ) -> Result<Vec<(Condition, Arc<Dfa>)>, RegularError> {
        let mut fuel =
            Fuel::new(MAX_STATES, MAX_STEPS).with_cancellation(self.cancellation.clone());
        let nfa = self.poured(rule, expr, &mut fuel)?;
        let product = multiplied(&nfa, condition, conditions, &mut fuel)?;
        let mut texts = Vec::new();
        let mut ends: Vec<Condition> = product.ends.iter().map(|end| end.0).collect();
        ends.sort_unstable();
        ends.dedup();
        for end in ends {
            let dfa = product.to(end, &mut fuel)?;
            if !dfa.is_empty() {
                texts.push((end, Arc::new(dfa)));
            }
        }
        Ok(texts)
    }

    /// The automaton of an intersection or a complement.
    pub(crate) fn language(
        &mut self,
        rule: RuleId,
        expr: ExprId,
    ) -> Result<Arc<Dfa>, RegularError> {
        if let Some(known) = self.languages.get(&(rule, expr)) {
            return Ok(known.clone());
        }
        let body = self.rules.body(rule);
        let dfa = language(self.grammar, body, &[expr], self.limits, self.cancellation)?;
        let dfa = Arc::new(dfa);
        self.languages.insert((rule, expr), dfa.clone());
        Ok(dfa)
    }

    fn poured(&mut self, rule: RuleId, expr: ExprId, fuel: &mut Fuel) -> Result<Nfa, RegularError> {
        let rules = self.rules;
        let mut nfa = NfaBuilder::new(fuel);
        let (start, end) = (nfa.state()?, nfa.state()?);
        let mut pending = vec![(rule, expr, start, end)];
        while let Some((rule, expr, from, to)) = pending.pop() {
            nfa.fuel().steps(1)?;
            let body: &Body = rules.body(rule);
            match &body[expr] {
                Node::Empty => nfa.empty(from, to)?,
                Node::Literal(bytes) => nfa.literal(from, bytes, to)?,
                Node::Bytes(bytes) => nfa.byte(from, *bytes, to)?,
                Node::Automaton(dfa) => nfa.automaton(from, dfa, to)?,
                Node::And(_) | Node::Not(_) => {
                    let dfa = self.language(rule, expr)?;
                    nfa.automaton(from, &dfa, to)?;
                }
                Node::LookAhead(_) => nfa.mark(from, Mark(self.looks[&(rule, expr)]), to)?,
                Node::Seq(parts) => {
                    let mut at = from;
                    for (index, &part) in parts.iter().enumerate() {
                        let next = if index + 1 == parts.len() { to } else { nfa.state()? };
                        pending.push((rule, part, at, next));
                        at = next;
                    }
                }
                Node::Alt(choices) => {
                    pending.extend(choices.iter().map(|&choice| (rule, choice, from, to)));
                }
                Node::Repeat(repeat) => {
                    let turns = unrolled(*repeat, &mut nfa, (from, to))?;
                    pending.extend(turns.into_iter().map(|(a, b)| (rule, repeat.expr, a, b)));
                }
                Node::Rule(callee) => {
                    pending.push((*callee, rules.body(*callee).root(), from, to));
                }
                Node::Annotated { expr, .. } => pending.push((rule, *expr, from, to)),
                // Nothing else has a size.
                _ => {}
            }
        }
        Ok(nfa.finish(start, end))
    }
}

/// Between which states the turns of a repetition stand.
fn unrolled(
    Repeat { min, max, .. }: Repeat,
    nfa: &mut NfaBuilder<'_>,
    (from, to): (NfaStateId, NfaStateId),
) -> Result<Vec<(NfaStateId, NfaStateId)>, Exhausted> {
    let mut turns = Vec::new();
    let mut at = from;
    for turn in 0..max.unwrap_or(min) {
        if turn >= min {
            nfa.empty(at, to)?;
        }
        let next = nfa.state()?;
        turns.push((at, next));
        at = next;
    }
    if max.is_none() {
        // A position of its own, so that nothing else that begins here is read after a turn.
        let turn = nfa.state()?;
        nfa.empty(at, turn)?;
        turns.push((turn, turn));
        at = turn;
    }
    nfa.empty(at, to)?;
    Ok(turns)
}

fn multiplied(
    nfa: &Nfa,
    condition: Condition,
    conditions: &mut Conditions,
    fuel: &mut Fuel,
) -> Result<Product, Exhausted> {
    let mut numbers: FxHashMap<(NfaStateId, Condition), u32> = FxHashMap::default();
    let mut pending = vec![(nfa.start(), condition)];
    numbers.insert(pending[0], 0);
    let mut product = Product { states: 1, edges: Vec::new(), ends: Vec::new() };
    while let Some((state, condition)) = pending.pop() {
        let from = numbers[&(state, condition)];
        if state == nfa.accept() {
            product.ends.push((condition, from));
        }
        for (edge, target) in nfa.edges(state) {
            fuel.steps(1)?;
            let mut after = Vec::new();
            match edge {
                Edge::Empty => after.push((None, condition)),
                Edge::Mark(Mark(look)) => {
                    after.extend(conditions.opened(condition, look).map(|next| (None, next)));
                }
                Edge::Byte(bytes) => {
                    for &(part, next) in &*conditions.parts(condition, fuel)? {
                        let both = part.intersection(&bytes);
                        if !both.is_empty() {
                            after.push((Some(both), next));
                        }
                    }
                }
            }
            for (bytes, next) in after {
                let to = *numbers.entry((target, next)).or_insert_with(|| {
                    pending.push((target, next));
                    product.states += 1;
                    u32::try_from(product.states - 1).expect("bounded by fuel")
                });
                product.edges.push((from, bytes, to));
            }
        }
    }
    Ok(product)
}

impl Product {
    /// The words that leave a condition.
    fn to(&self, condition: Condition, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        let mut nfa = NfaBuilder::new(fuel);
        let end = nfa.state()?;
        let states = (0..self.states).map(|_| nfa.state()).collect::<Result<Vec<_>, _>>()?;
        for &(from, bytes, to) in &self.edges {
            let (from, to) = (states[from as usize], states[to as usize]);
            match bytes {
                Some(bytes) => nfa.byte(from, bytes, to)?,
                None => nfa.empty(from, to)?,
            }
        }
        for &(_, state) in self.ends.iter().filter(|end| end.0 == condition) {
            nfa.empty(states[state as usize], end)?;
        }
        let nfa = nfa.finish(states[0], end);
        Ok(determinize(&nfa, fuel)?.canonical())
    }
}
