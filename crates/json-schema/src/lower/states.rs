//! Reading an object member by member, and an array item by item.
//!
//! # Idea
//! A *state* is what is left to satisfy, as a formula, and how far the reading has come. An object is
//! read name by name in the order of its formula, and every name is there or not; then come all other
//! keys. A name that leaves the formula as it is, there or not, is a *slot*; at all others the
//! reading forks. So what several conditions make of an object is never multiplied out: a state is
//! made when an output gets there.

use super::{
    Analysis, Lowered,
    facts::{Fact, FactsId, Key},
    formula::{Connective, Id, Node},
    keys::ClassId,
    names::NameId,
    order::OrderId,
    scalars::TextId,
    sets::SetId,
};
use crate::document::Value;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How far an object was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectState {
    /// What is left to satisfy.
    pub(super) facts: FactsId,
    pub(super) order: OrderId,
    /// The next name of the order.
    pub(super) at: u32,
}

/// How far an array was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ArrayState {
    pub(super) facts: FactsId,
    /// Of the next item; no greater than what the formula can tell apart.
    pub(super) place: u32,
}

/// What can come next in an object.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A name that changes nothing.
    Slot { name: NameId, value: SetId, required: bool },
    /// A name that changes something: by its value, or by not being there.
    Fork { name: NameId, ways: Arc<[(SetId, ObjectState)]>, without: Option<ObjectState> },
    /// All names were read.
    Others,
}

/// What is left for the keys that are no names: one way to satisfy it.
#[derive(Clone, Debug)]
pub(super) struct Others {
    /// How many at least; at most.
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    /// Whether one of them must be of a certain kind.
    pub(super) wanted: bool,
    /// The formula as a whole.
    pub(super) facts: FactsId,
}

/// Keys with what their values must be and what is left then.
pub(super) type OtherWays = Arc<[(TextId, SetId, FactsId)]>;

/// As many ways to satisfy what is left of an object as are told apart, at most.
const MAX_OTHERS: usize = 256;

/// What is known about states.
#[derive(Debug, Default)]
pub(super) struct States {
    steps: FxHashMap<ObjectState, Step>,
    other_ways: FxHashMap<(FactsId, OrderId), OtherWays>,
    items: FxHashMap<ArrayState, Arc<[(SetId, ArrayState)]>>,
    last_places: FxHashMap<FactsId, u32>,
}

impl Analysis {
    /// An object of which nothing was read yet.
    pub(super) fn object_start(&mut self, facts: FactsId, order: OrderId) -> Lowered<ObjectState> {
        Ok(ObjectState { facts: self.without_idle_counts(facts, order)?, order, at: 0 })
    }

    /// Leaves out counts that other facts see to: required names are members, and there are no more
    /// members than names where no other key can occur.
    fn without_idle_counts(&mut self, facts: FactsId, order: OrderId) -> Lowered<FactsId> {
        let parts = self.facts.parts(Connective::And, facts);
        let (mut counts, mut others) = (Vec::new(), Vec::new());
        let names = self.orders.names(order);
        let mut required = std::collections::BTreeSet::new();
        for part in parts {
            match *self.facts.node(part) {
                Node::Atom(Fact::AtLeast(_) | Fact::AtMost(_)) => counts.push(part),
                Node::Atom(fact) => {
                    match fact {
                        Fact::Has(name) => _ = required.insert(name),
                        Fact::Declared(schema) => {
                            required.extend(self.declares(schema)?.required.iter().copied());
                        }
                        _ => {}
                    }
                    others.push(part);
                }
                _ => others.push(part),
            }
        }
        if counts.is_empty() {
            return Ok(facts);
        }
        let rest = self.facts.and(others.iter().copied());
        for count in counts {
            let idle = match *self.facts.node(count) {
                Node::Atom(Fact::AtLeast(least)) => required.len() >= least as usize,
                Node::Atom(Fact::AtMost(most)) => {
                    names.len() <= most as usize && self.other_ways(rest, order)?.is_empty()
                }
                _ => false,
            };
            others.extend((!idle).then_some(count));
        }
        Ok(self.facts.and(others))
    }

    /// What can come next. Remembered.
    pub(super) fn step(&mut self, state: ObjectState) -> Lowered<Step> {
        let names = self.orders.names(state.order);
        let Some(&name) = names.get(state.at as usize) else { return Ok(Step::Others) };
        if let Some(known) = self.states.steps.get(&state) {
            return Ok(known.clone());
        }
        let ObjectState { facts, order, at } = state;
        if let Some(step) = self.plain_slot(facts, name)? {
            self.states.steps.insert(state, step.clone());
            return Ok(step);
        }
        let present = self.after_member(facts, Key::Name(name))?;
        let ways = self.ways(present)?;
        let without = self.after_no_member(facts, name)?;
        let required = without == Id::FALSE;
        let step = match ways[..] {
            [] if without == facts => Step::Slot { name, value: SetId::FALSE, required },
            [(value, left)] if left == facts && (required || without == facts) => {
                Step::Slot { name, value, required }
            }
            _ => {
                let mut next = |facts| -> Lowered<ObjectState> {
                    let facts = self.trimmed(facts, order, at + 1)?;
                    Ok(ObjectState { facts, order, at: at + 1 })
                };
                let without = if required { None } else { Some(next(without)?) };
                let ways: Lowered<Arc<[_]>> =
                    ways.iter().map(|&(value, left)| Ok((value, next(left)?))).collect();
                Step::Fork { name, ways: ways?, without }
            }
        };
        self.states.steps.insert(state, step.clone());
        Ok(step)
    }

    /// What comes next where that is evident: a slot, or that all names were read; else none.
    pub(super) fn slot(&mut self, state: ObjectState) -> Lowered<Option<Step>> {
        let names = self.orders.names(state.order);
        match names.get(state.at as usize) {
            Some(&name) => self.plain_slot(state.facts, name),
            None => Ok(Some(Step::Others)),
        }
    }

    /// The state behind the next name when it does not come; none when it must.
    pub(super) fn without_next(&mut self, state: ObjectState) -> Lowered<Option<ObjectState>> {
        let ObjectState { facts, order, at } = state;
        let name = self.orders.names(order)[at as usize];
        let without = self.after_no_member(facts, name)?;
        if without == Id::FALSE {
            return Ok(None);
        }
        let facts = self.trimmed(without, order, at + 1)?;
        Ok(Some(ObjectState { facts, order, at: at + 1 }))
    }

    /// The slot of a name in a conjunction of facts that no member changes; none when the formula is
    /// something else. Most objects are read by this alone, without a derivative.
    fn plain_slot(&mut self, facts: FactsId, name: NameId) -> Lowered<Option<Step>> {
        let parts = match self.facts.node(facts) {
            Node::And(parts) => parts.to_vec(),
            _ => vec![facts],
        };
        self.fuel.steps(parts.len())?;
        let mut required = false;
        let mut sets = Vec::new();
        for part in parts {
            match *self.facts.node(part) {
                Node::Atom(Fact::Declared(schema)) => {
                    required |= self.declares(schema)?.required.contains(&name);
                    sets.push(self.declared(schema, name)?);
                }
                Node::Atom(Fact::Has(other)) => required |= other == name,
                Node::Atom(Fact::Lacks(other)) if other != name => {}
                Node::Atom(Fact::Under(other, set)) => sets.extend((other == name).then_some(set)),
                Node::Atom(Fact::EveryMember(keys, set)) => {
                    let has = self.has_key(keys, Key::Name(name))?.unwrap_or(true);
                    sets.extend(has.then_some(set));
                }
                _ => return Ok(None),
            }
        }
        let value = self.sets.and(sets);
        Ok(Some(Step::Slot { name, value, required }))
    }

    /// Whether the object without members satisfies the formula.
    pub(super) fn holds_without_members(&mut self, facts: FactsId) -> Lowered<bool> {
        let mut truths: FxHashMap<FactsId, FactsId> = FxHashMap::default();
        for (id, fact) in self.facts.atoms(facts).iter().copied() {
            self.fuel.steps(1)?;
            let holds = match fact {
                Fact::Declared(schema) => self.declares(schema)?.required.is_empty(),
                Fact::Equals(value) => match self.model.document.value(value) {
                    Value::Object(children) => children.len == 0,
                    _ => false,
                },
                Fact::Has(_) | Fact::SomeMember(..) | Fact::AtLeast(_) | Fact::Among(_) => false,
                _ => true,
            };
            truths.insert(id, Id::of(holds));
        }
        Ok(self.facts.replace(facts, &truths) == Id::TRUE)
    }

    /// The ways to satisfy what is left when all names were read. Where there are too many, they are
    /// not told apart.
    pub(super) fn others(&mut self, facts: FactsId) -> Lowered<Vec<Others>> {
        let clauses = match self.facts.clauses(facts, MAX_OTHERS) {
            Some(clauses) => clauses,
            None => vec![vec![facts]],
        };
        let mut all = Vec::with_capacity(clauses.len());
        for clause in clauses {
            self.fuel.steps(1 + clause.len())?;
            let facts = self.facts.and(clause);
            let mut others = Others { min: 0, max: None, wanted: false, facts };
            for (_, fact) in self.facts.atoms(facts).iter().copied() {
                match fact {
                    Fact::AtLeast(least) => others.min = others.min.max(least),
                    Fact::AtMost(most) => {
                        others.max = Some(others.max.map_or(most, |max| max.min(most)));
                    }
                    Fact::SomeMember(..) => others.wanted = true,
                    _ => {}
                }
            }
            // Not told apart, they are read one by one.
            others.wanted |= matches!(self.facts.node(facts), Node::Or(_));
            if facts != Id::FALSE && others.max.is_none_or(|max| max >= others.min) {
                all.push(others);
            }
        }
        Ok(all)
    }

    /// The keys that are no names and can come next, by what their values must be and what is left.
    /// Remembered.
    pub(super) fn other_ways(&mut self, facts: FactsId, order: OrderId) -> Lowered<OtherWays> {
        if let Some(known) = self.states.other_ways.get(&(facts, order)) {
            return Ok(known.clone());
        }
        let mut groups: Vec<(Vec<TextId>, SetId, FactsId)> = Vec::new();
        let mut index: FxHashMap<(SetId, FactsId), usize> = FxHashMap::default();
        for &class in self.classes(facts, order)?.iter() {
            let text = self.keys.class(class).text;
            for (value, left) in self.ways_of_class(facts, class)? {
                let next = groups.len();
                let at = *index.entry((value, left)).or_insert(next);
                if at == next {
                    groups.push((Vec::new(), value, left));
                }
                groups[at].0.push(text);
            }
        }
        let groups = groups.into_iter();
        let ways: OtherWays = groups
            .map(|(texts, value, left)| (self.scalars.text_or(&texts), value, left))
            .collect();
        self.states.other_ways.insert((facts, order), ways.clone());
        Ok(ways)
    }

    fn ways_of_class(&mut self, facts: FactsId, class: ClassId) -> Lowered<Vec<(SetId, FactsId)>> {
        let text = self.keys.class(class).text;
        if !self.scalars.has_text(text, &mut self.fuel)? {
            return Ok(Vec::new());
        }
        let derivative = self.after_member(facts, Key::Class(class))?;
        self.ways(derivative)
    }

    /// An array of which nothing was read yet.
    pub(super) fn array_start(&mut self, facts: FactsId) -> ArrayState {
        self.array_state(facts, 0)
    }

    fn array_state(&mut self, facts: FactsId, place: u32) -> ArrayState {
        ArrayState { facts, place: place.min(self.last_place(facts)) }
    }

    /// The place from which on a formula treats all items alike. Remembered.
    pub(super) fn last_place(&mut self, facts: FactsId) -> u32 {
        if let Some(&known) = self.states.last_places.get(&facts) {
            return known;
        }
        let atoms = self.facts.atoms(facts);
        let last = atoms.iter().map(|&(_, fact)| self.last_place_of(fact)).max();
        let last = last.unwrap_or(0);
        self.states.last_places.insert(facts, last);
        last
    }

    fn last_place_of(&self, fact: Fact) -> u32 {
        match fact {
            Fact::Items(schema) => {
                let keywords = self.model.keywords(schema);
                let array = keywords.and_then(|keywords| keywords.array.as_ref());
                let len = array.map_or(0, |array| array.prefix.len());
                u32::try_from(len).expect("fewer than 2^32")
            }
            Fact::EveryItem(places, _) | Fact::SomeItem(places, _) => {
                places.to.unwrap_or(places.from)
            }
            Fact::Equals(value) => match self.model.document.value(value) {
                Value::Array(children) => children.len,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// What the next item can be, and what is left then. Remembered.
    pub(super) fn item_ways(&mut self, state: ArrayState) -> Lowered<Arc<[(SetId, ArrayState)]>> {
        if let Some(known) = self.states.items.get(&state) {
            return Ok(known.clone());
        }
        let derivative = self.after_item(state.facts, state.place)?;
        let ways = self.ways(derivative)?.into_iter();
        let ways: Arc<[(SetId, ArrayState)]> =
            ways.map(|(value, left)| (value, self.array_state(left, state.place + 1))).collect();
        self.states.items.insert(state, ways.clone());
        Ok(ways)
    }
}
