//! Languages of numbers.
//!
//! # Idea
//! A formula with a list of numbers that must hold is a finite set: its candidates are asked one by
//! one, and their texts are listed. Everything else is one automaton that reads digits and keeps in
//! mind what the formula asks about (`machine`). Numbers of which nothing is said are as RFC 8259 has
//! them.

use super::{
    NumberAtom, Polarity, Writing,
    formula::{Formulas, Node, NodeId},
    machine::Machine,
};
use crate::{
    SchemaErrorKind,
    decimal::Decimal,
    lower::{
        Lowered,
        text::{automaton, words},
    },
};
use formwork_automata::{BooleanOp, ByteSet, Dfa, Exhausted, Fuel};
use formwork_grammar::Limits;
use rustc_hash::FxHashMap;
use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

type Quantities = Formulas<NumberAtom>;

/// Every number, as RFC 8259 has it.
static ANY_NUMBER: LazyLock<Arc<Dfa>> = LazyLock::new(|| {
    let digits = || ByteSet::range(b'0'..=b'9');
    let language = automaton(
        |nfa, from, to| {
            let (unsigned, whole, more) = (nfa.state()?, nfa.state()?, nfa.state()?);
            nfa.empty(from, unsigned)?;
            nfa.byte(from, ByteSet::single(b'-'), unsigned)?;
            nfa.byte(unsigned, ByteSet::single(b'0'), whole)?;
            nfa.byte(unsigned, ByteSet::range(b'1'..=b'9'), more)?;
            nfa.byte(more, digits(), more)?;
            nfa.empty(more, whole)?;
            let (point, fraction) = (nfa.state()?, nfa.state()?);
            nfa.byte(whole, ByteSet::single(b'.'), point)?;
            nfa.byte(point, digits(), fraction)?;
            nfa.byte(fraction, digits(), fraction)?;
            let (mark, sign, exponent) = (nfa.state()?, nfa.state()?, nfa.state()?);
            for end in [whole, fraction] {
                nfa.empty(end, to)?;
                nfa.byte(end, b"eE".iter().copied().collect(), mark)?;
            }
            nfa.byte(mark, b"+-".iter().copied().collect(), sign)?;
            nfa.empty(mark, sign)?;
            nfa.byte(sign, digits(), exponent)?;
            nfa.byte(exponent, digits(), exponent)?;
            nfa.empty(exponent, to)
        },
        &mut Fuel::unlimited(),
    );
    Arc::new(language.expect("without a limit"))
});

/// What is known of formulas about numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    limits: Limits,
    languages: FxHashMap<(NodeId, Writing), Arc<Dfa>>,
}

impl Numbers {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, languages: FxHashMap::default() }
    }

    pub(super) fn language(
        &mut self,
        quantities: &mut Quantities,
        id: NodeId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        if let Some(known) = self.languages.get(&(id, writing)) {
            return Ok(known.clone());
        }
        let language = if id == NodeId::TRUE && writing != Writing::Canonical {
            ANY_NUMBER.clone()
        } else {
            Arc::new(self.build(quantities, id, writing, fuel)?)
        };
        self.languages.insert((id, writing), language.clone());
        Ok(language)
    }

    /// In minimal and canonical writing lists are listed; what stands beside them is a machine.
    fn build(
        &self,
        quantities: &mut Quantities,
        id: NodeId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Dfa> {
        if writing == Writing::Any {
            return Machine::new(quantities, id, writing, fuel)?.automaton(fuel);
        }
        let finite = finite(quantities, id, fuel)?;
        let parts = match quantities.node(id) {
            Node::Or(parts) => parts.to_vec(),
            _ => vec![id],
        };
        let (listed, others): (Vec<NodeId>, Vec<NodeId>) =
            parts.into_iter().partition(|part| finite[part]);
        let mut texts = Vec::new();
        for &part in &listed {
            let members = members(quantities, &finite, part, usize::MAX, fuel)?;
            self.spell(&members, writing, &mut texts, fuel)?;
        }
        let listed = words(texts, fuel)?;
        if others.is_empty() {
            return Ok(listed);
        }
        let others = quantities.or(others.into_iter());
        let others = Machine::new(quantities, others, writing, fuel)?.automaton(fuel)?;
        if listed.is_empty() {
            return Ok(others);
        }
        Ok(listed.combine(&others, BooleanOp::Union, fuel)?.canonical())
    }

    fn spell(
        &self,
        members: &[&(Decimal, Box<str>)],
        writing: Writing,
        texts: &mut Vec<Vec<u8>>,
        fuel: &mut Fuel,
    ) -> Result<(), Exhausted> {
        // As a word of an automaton a number would have a state for each digit.
        let limit = self.limits.automaton_states;
        for (value, written) in members {
            let len = usize::try_from(value.plain_len()).unwrap_or(usize::MAX);
            if len > limit {
                return Err(Exhausted::States { limit });
            }
            fuel.steps(len)?;
            texts.push(value.plain().into_bytes());
            if writing == Writing::Minimal {
                texts.push(written.as_bytes().to_vec());
            }
        }
        Ok(())
    }

    pub(super) fn holds(
        &self,
        quantities: &Quantities,
        id: NodeId,
        text: &str,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        let value = Decimal::parse(text).ok_or(SchemaErrorKind::ExponentTooLarge)?;
        holds(quantities, &quantities.below(id), (&value, text), fuel)
    }
}

/// By formula: whether it allows only what is listed in it.
fn finite(
    quantities: &Quantities,
    id: NodeId,
    fuel: &mut Fuel,
) -> Result<FxHashMap<NodeId, bool>, Exhausted> {
    let mut known: FxHashMap<NodeId, bool> = FxHashMap::default();
    for id in quantities.below(id) {
        fuel.steps(1)?;
        let finite = match quantities.node(id) {
            Node::True => false,
            Node::False => true,
            Node::And(parts) => parts.iter().any(|part| known[part]),
            Node::Or(parts) => parts.iter().all(|part| known[part]),
            Node::Atom(atom, polarity) => {
                *polarity == Polarity::Holds
                    && matches!(quantities.atoms()[*atom], NumberAtom::Values(_))
            }
        };
        known.insert(id, finite);
    }
    Ok(known)
}

/// Up to `limit` numbers that satisfy a finite formula, in order.
fn members<'q>(
    quantities: &'q Quantities,
    finite: &FxHashMap<NodeId, bool>,
    id: NodeId,
    limit: usize,
    fuel: &mut Fuel,
) -> Lowered<Vec<&'q (Decimal, Box<str>)>> {
    let mut candidates: BTreeSet<&(Decimal, Box<str>)> = BTreeSet::new();
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        match quantities.node(id) {
            Node::Or(parts) => pending.extend(parts),
            // One finite part bounds them all.
            Node::And(parts) => pending.extend(parts.iter().find(|part| finite[part])),
            Node::Atom(atom, _) => {
                if let NumberAtom::Values(values) = &quantities.atoms()[*atom] {
                    fuel.steps(values.len())?;
                    candidates.extend(values.iter());
                }
            }
            Node::True | Node::False => {}
        }
    }
    let order = quantities.below(id);
    let mut members = Vec::new();
    for candidate in candidates {
        if members.len() == limit {
            break;
        }
        if holds(quantities, &order, (&candidate.0, &candidate.1), fuel)? {
            members.push(candidate);
        }
    }
    Ok(members)
}

/// Whether a number satisfies the last formula of a list that has all parts of it.
fn holds(
    quantities: &Quantities,
    order: &[NodeId],
    (value, text): (&Decimal, &str),
    fuel: &mut Fuel,
) -> Lowered<bool> {
    fuel.steps(order.len() + text.len())?;
    let mut truths: FxHashMap<NodeId, bool> = FxHashMap::default();
    for &id in order {
        let truth = match quantities.node(id) {
            Node::True => true,
            Node::False => false,
            Node::And(parts) => parts.iter().all(|part| truths[part]),
            Node::Or(parts) => parts.iter().any(|part| truths[part]),
            Node::Atom(atom, polarity) => {
                let holds = match &quantities.atoms()[*atom] {
                    NumberAtom::Interval(interval) => interval.contains(value),
                    NumberAtom::MultipleOf(divisor) => value.is_multiple_of(divisor, fuel)?,
                    NumberAtom::Integer => value.is_integer(),
                    NumberAtom::WrittenWhole => !text.contains(['.', 'e', 'E']),
                    NumberAtom::Values(values) => {
                        let from = (value.clone(), Box::from(""));
                        values.range(from..).next().is_some_and(|found| found.0 == *value)
                    }
                };
                holds == (*polarity == Polarity::Holds)
            }
        };
        truths.insert(id, truth);
    }
    Ok(order.last().is_some_and(|last| truths[last]))
}
