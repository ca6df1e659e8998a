//! What can be said about the members of an object, or the items of an array.
//!
//! # Idea
//! A set of objects is a monotone formula over *facts*. Some facts are settled by one member, some by
//! each, some by how many there are. Reading a member (or seeing that it does not come) turns every
//! fact into what is left of it, and so the formula into another one: its *derivative*, in which
//! [`Fact::Value`] says what the value of the member in hand must be.
//!
//! A fact that speaks of a name is not touched when that member has been met as the fact wants it:
//! it then stands for what is true (see `trimmed`), and the formula is the same before and after.

use super::{
    Analysis, Lowered,
    formula::{Atom, Connective, Formulas, Id, Node},
    keys::KeysId,
    names::NameId,
    order::OrderId,
    sets::{Literal, SetId, Sign},
};
use crate::{
    SchemaErrorKind,
    document::{Value, ValueId},
    model::SchemaId,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Something about the inside of an object or array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// The value in hand is in the set: in derivatives only.
    Value(SetId),
    /// It equals a value of the document.
    Equals(ValueId),
    /// It is among the values that a schema lists.
    Among(SchemaId),
    /// So many members or items are still to come, at least.
    AtLeast(u32),
    /// At most.
    AtMost(u32),

    /// An object: what `properties`, `patternProperties`, `additionalProperties` and `required` of a
    /// schema say.
    Declared(SchemaId),
    /// An object with this key.
    Has(NameId),
    /// An object without it.
    Lacks(NameId),
    /// An object in which this key, if it is there, has such a value.
    Under(NameId, SetId),
    /// An object in which all of these keys have such values.
    EveryMember(KeysId, SetId),
    /// An object in which one of these keys, none of the names of the formula, has such a value.
    SomeMember(KeysId, SetId),

    /// An array: what `items` and `prefixItems` of a schema say.
    Items(SchemaId),
    /// An array in which the items in such places are in the set.
    EveryItem(Places, SetId),
    /// An array in which one of the items in such places is in the set.
    SomeItem(Places, SetId),
    /// An array with at least so many more items of the set; one at least.
    Matching(SetId, u32),
    /// An array with at most so many more items of the set.
    MatchingAtMost(SetId, u32),
    /// An array no two items of which are equal.
    Unique,
    /// An array two items of which are equal.
    Repeated,
}

/// Places of items, from the first to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Places {
    pub(super) from: u32,
    /// None when there is no end to them.
    pub(super) to: Option<u32>,
}

impl Places {
    pub(super) fn one(place: u32) -> Self {
        Self { from: place, to: place.checked_add(1) }
    }

    pub(super) fn from(from: u32) -> Self {
        Self { from, to: None }
    }

    pub(super) fn contains(self, place: u32) -> bool {
        place >= self.from && self.to.is_none_or(|to| place < to)
    }
}

impl Atom for Fact {
    fn complement(&self) -> Option<Self> {
        Some(match *self {
            Self::Has(name) => Self::Lacks(name),
            Self::Lacks(name) => Self::Has(name),
            Self::AtLeast(count) => Self::AtMost(count.checked_sub(1)?),
            Self::AtMost(count) => Self::AtLeast(count.checked_add(1)?),
            Self::Unique => Self::Repeated,
            Self::Repeated => Self::Unique,
            _ => return None,
        })
    }
}

/// A formula over facts.
pub(super) type FactsId = Id<Fact>;

/// All such formulas.
pub(super) type Facts = Formulas<Fact>;

/// The member that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// One of the names of the formula.
    Name(NameId),
    /// A key of a class of keys that are none of its names.
    Class(super::keys::ClassId),
}

/// What a fact becomes.
enum Left {
    /// Itself.
    Same,
    /// Itself, and the value in hand must be in the set.
    With(SetId),
    /// Something else.
    Else(FactsId),
}

impl Analysis {
    /// At least `count`; nothing for none.
    pub(super) fn at_least(&mut self, count: u32) -> FactsId {
        if count == 0 { Id::TRUE } else { self.facts.atom(Fact::AtLeast(count)) }
    }

    /// The derivative by a member that is there.
    pub(super) fn after_member(&mut self, facts: FactsId, key: Key) -> Lowered<FactsId> {
        self.derivative(facts, |analysis, fact| analysis.member(fact, key))
    }

    /// The derivative by a member that is not there.
    pub(super) fn after_no_member(&mut self, facts: FactsId, name: NameId) -> Lowered<FactsId> {
        self.derivative(facts, |analysis, fact| {
            let missing = match fact {
                Fact::Has(other) => other == name,
                Fact::Declared(schema) => analysis.declares(schema)?.required.contains(&name),
                Fact::Equals(value) => analysis.member_of(value, name).is_some(),
                _ => false,
            };
            Ok(if missing { Left::Else(Id::FALSE) } else { Left::Same })
        })
    }

    /// The derivative by the item in a place.
    pub(super) fn after_item(&mut self, facts: FactsId, place: u32) -> Lowered<FactsId> {
        self.derivative(facts, |analysis, fact| analysis.item(fact, place))
    }

    fn derivative(
        &mut self,
        facts: FactsId,
        mut left: impl FnMut(&mut Self, Fact) -> Lowered<Left>,
    ) -> Lowered<FactsId> {
        let mut changed: FxHashMap<FactsId, FactsId> = FxHashMap::default();
        for (id, fact) in self.facts.atoms(facts).iter().copied() {
            self.fuel.steps(1)?;
            let new = match left(self, fact)? {
                Left::Same | Left::With(SetId::TRUE) => continue,
                Left::With(SetId::FALSE) => Id::FALSE,
                Left::With(set) => {
                    let value = self.facts.atom(Fact::Value(set));
                    self.facts.and([value, id])
                }
                Left::Else(new) => new,
            };
            changed.insert(id, new);
        }
        Ok(if changed.is_empty() { facts } else { self.facts.replace(facts, &changed) })
    }

    fn value_or(&mut self, set: SetId, rest: FactsId) -> FactsId {
        let value = match set {
            SetId::TRUE => Id::TRUE,
            SetId::FALSE => Id::FALSE,
            _ => self.facts.atom(Fact::Value(set)),
        };
        self.facts.or([value, rest])
    }

    /// What a member leaves of a fact.
    fn member(&mut self, fact: Fact, key: Key) -> Lowered<Left> {
        Ok(match (fact, key) {
            (Fact::AtLeast(count), _) => {
                let left = self.at_least(count.saturating_sub(1));
                Left::Else(left)
            }
            (Fact::AtMost(0), _) => Left::Else(Id::FALSE),
            (Fact::AtMost(count), _) => Left::Else(self.facts.atom(Fact::AtMost(count - 1))),
            (Fact::Declared(schema), Key::Name(name)) => Left::With(self.declared(schema, name)?),
            (Fact::Declared(schema), Key::Class(class)) => {
                Left::With(self.undeclared(schema, class)?)
            }
            (Fact::Lacks(other), Key::Name(name)) if other == name => Left::Else(Id::FALSE),
            (Fact::Under(other, set), Key::Name(name)) if other == name => Left::With(set),
            (Fact::EveryMember(keys, set), _) => {
                if self.has_key(keys, key)?.unwrap_or(true) {
                    Left::With(set)
                } else {
                    Left::Same
                }
            }
            (Fact::SomeMember(keys, set), _) => {
                if self.has_key(keys, key)?.unwrap_or(false) {
                    let rest = self.facts.atom(fact);
                    Left::Else(self.value_or(set, rest))
                } else {
                    Left::Same
                }
            }
            (Fact::Equals(value), Key::Name(name)) => match self.member_of(value, name) {
                Some(member) => {
                    Left::With(self.sets.literal(Literal::Equals(member, Sign::Positive)))
                }
                None => Left::Else(Id::FALSE),
            },
            (Fact::Equals(_), Key::Class(_)) => Left::Else(Id::FALSE),
            _ => Left::Same,
        })
    }

    /// The value of a member of an object of the document.
    fn member_of(&self, object: ValueId, name: NameId) -> Option<ValueId> {
        self.model.document.member(object, &self.names.text(name))
    }

    /// What an item leaves of a fact.
    fn item(&mut self, fact: Fact, place: u32) -> Lowered<Left> {
        Ok(match fact {
            Fact::AtLeast(count) => {
                let left = self.at_least(count.saturating_sub(1));
                Left::Else(left)
            }
            Fact::AtMost(0) => Left::Else(Id::FALSE),
            Fact::AtMost(count) => Left::Else(self.facts.atom(Fact::AtMost(count - 1))),
            Fact::Items(schema) => Left::With(self.item_set(schema, place)),
            Fact::EveryItem(places, set) if places.contains(place) => Left::With(set),
            Fact::SomeItem(places, set) if places.contains(place) => {
                let last = places.to == Some(place + 1);
                let rest = if last { Id::FALSE } else { self.facts.atom(fact) };
                Left::Else(self.value_or(set, rest))
            }
            Fact::Matching(set, count) => {
                let fewer = match count {
                    0 | 1 => Id::TRUE,
                    _ => self.facts.atom(Fact::Matching(set, count - 1)),
                };
                let (value, same) = (self.value_or(set, Id::FALSE), self.facts.atom(fact));
                let one = self.facts.and([value, fewer]);
                Left::Else(self.facts.or([one, same]))
            }
            Fact::MatchingAtMost(set, count) => {
                let others = self.sets.negate(set);
                let (value, same) = (self.value_or(others, Id::FALSE), self.facts.atom(fact));
                let none = self.facts.and([value, same]);
                let fewer = match count.checked_sub(1) {
                    Some(count) => self.facts.atom(Fact::MatchingAtMost(set, count)),
                    None => Id::FALSE,
                };
                Left::Else(self.facts.or([none, fewer]))
            }
            Fact::Equals(array) => {
                let Value::Array(children) = self.model.document.value(array) else {
                    return Ok(Left::Else(Id::FALSE));
                };
                match self.model.document.items(children).get(place as usize) {
                    Some(&item) => {
                        Left::With(self.sets.literal(Literal::Equals(item, Sign::Positive)))
                    }
                    None => Left::Else(Id::FALSE),
                }
            }
            Fact::Unique if self.is_relaxed() => Left::Same,
            Fact::Unique | Fact::Repeated => {
                return Err(SchemaErrorKind::Unsupported { keyword: "uniqueItems" });
            }
            _ => Left::Same,
        })
    }

    /// What the item in a place must be.
    pub(super) fn item_set(&mut self, schema: SchemaId, place: u32) -> SetId {
        let model = self.model.clone();
        let array = model.keywords(schema).and_then(|keywords| keywords.array.as_ref());
        match array.and_then(|array| array.item_schema(place as usize)) {
            Some(item) => self.set_of(item, Sign::Positive),
            None => Id::TRUE,
        }
    }

    /// Whether the formula holds when nothing more comes: the names were all met, and an array has
    /// as many items as its place says.
    pub(super) fn holds_at_end(&self, facts: FactsId, place: u32) -> bool {
        self.facts.fold(facts, |node, parts: &[bool]| match node {
            Node::True => true,
            Node::False => false,
            Node::And(_) => parts.iter().all(|&part| part),
            Node::Or(_) => parts.iter().any(|&part| part),
            Node::Atom(fact) => match *fact {
                Fact::AtLeast(_)
                | Fact::SomeMember(..)
                | Fact::SomeItem(..)
                | Fact::Matching(..)
                | Fact::Repeated
                | Fact::Value(_)
                | Fact::Among(_) => false,
                Fact::Equals(value) => match self.model.document.value(value) {
                    Value::Array(children) => children.len == place,
                    _ => true,
                },
                _ => true,
            },
        })
    }

    /// The formula without what the names before a place of the order have settled.
    pub(super) fn trimmed(&mut self, facts: FactsId, order: OrderId, at: u32) -> Lowered<FactsId> {
        let mut settled: FxHashMap<FactsId, FactsId> = FxHashMap::default();
        for (id, fact) in self.facts.atoms(facts).iter().copied() {
            self.fuel.steps(1)?;
            let done = match fact {
                Fact::Has(name) | Fact::Lacks(name) | Fact::Under(name, _) => {
                    self.orders.is_before(order, name, at)
                }
                Fact::Declared(schema) => {
                    let declares = self.declares(schema)?;
                    let mut names = declares.names.iter().chain(&declares.required);
                    declares.nothing_else
                        && names.all(|&name| self.orders.is_before(order, name, at))
                }
                _ => false,
            };
            if done {
                settled.insert(id, Id::TRUE);
            }
        }
        Ok(if settled.is_empty() { facts } else { self.facts.replace(facts, &settled) })
    }

    /// Every way to read a member or item: what its value must be, and what is left. The ways differ
    /// in what is left and together they are the derivative. Where there is a choice, values that
    /// are impossible at sight are left out; others may be as well.
    pub(super) fn ways(&mut self, derivative: FactsId) -> Lowered<Vec<(SetId, FactsId)>> {
        if derivative == Id::FALSE {
            return Ok(Vec::new());
        }
        let asks = |(_, fact): &(FactsId, Fact)| matches!(fact, Fact::Value(_));
        if !self.facts.atoms(derivative).iter().any(asks) {
            return Ok(vec![(SetId::TRUE, derivative)]);
        }
        let mut ways: Vec<(SetId, FactsId)> = Vec::new();
        let mut pending = vec![(SetId::TRUE, derivative)];
        let mut met: FxHashSet<(SetId, FactsId)> = FxHashSet::default();
        let mut chosen = false;
        while let Some((value, left)) = pending.pop() {
            let (value, left) = self.separated(value, left);
            // Alternatives that differ in what this value settles lead to the same.
            if left == Id::FALSE || value == SetId::FALSE || !met.insert((value, left)) {
                continue;
            }
            if value != SetId::TRUE && chosen && self.is_empty_at_sight(value)? {
                continue;
            }
            let (mut asking, mut silent) = (Vec::new(), Vec::new());
            for part in self.facts.parts(Connective::And, left) {
                let atoms = self.facts.atoms(part);
                self.fuel.steps(1 + atoms.len())?;
                let asks = atoms.iter().any(|(_, fact)| matches!(fact, Fact::Value(_)));
                if asks { &mut asking } else { &mut silent }.push(part);
            }
            chosen |= !asking.is_empty();
            match asking[..] {
                [] => ways.push((value, left)),
                [one] => {
                    for choice in self.facts.parts(Connective::Or, one).into_iter().rev() {
                        let left = self.facts.and(silent.iter().copied().chain([choice]));
                        pending.push((value, left));
                    }
                }
                _ => self.choose((value, left), &mut pending)?,
            }
        }
        Ok(self.merged(ways))
    }

    /// Moves what a conjunction says of the value over to the value, and takes that for granted in
    /// the rest.
    fn separated(&mut self, value: SetId, left: FactsId) -> (SetId, FactsId) {
        let (mut value, mut left) = (value, left);
        loop {
            let (mut values, mut others) = (vec![value], Vec::new());
            for part in self.facts.parts(Connective::And, left) {
                match *self.facts.node(part) {
                    Node::Atom(Fact::Value(set)) => values.push(set),
                    _ => others.push(part),
                }
            }
            if values.len() > 1 {
                value = self.sets.and(values);
                left = self.facts.and(others);
            }
            let mut settled: FxHashMap<FactsId, FactsId> = FxHashMap::default();
            for (id, fact) in self.facts.atoms(left).iter().copied() {
                if let Fact::Value(set) = fact {
                    let both = self.sets.and([value, set]);
                    if both == SetId::FALSE || both == value {
                        settled.insert(id, Id::of(both == value));
                    }
                }
            }
            if settled.is_empty() {
                return (value, left);
            }
            left = self.facts.replace(left, &settled);
        }
    }

    /// Asks the value something: it is in the set; or it is not, or need not be. Where the formula
    /// asks for both, one of them holds, and so such a set is preferred.
    fn choose(
        &mut self,
        (value, left): (SetId, FactsId),
        pending: &mut Vec<(SetId, FactsId)>,
    ) -> Lowered<()> {
        let atoms = self.facts.atoms(left);
        let asked = atoms.iter().filter_map(|&(id, fact)| match fact {
            Fact::Value(set) => Some((set, id)),
            _ => None,
        });
        let asked: FxHashMap<SetId, FactsId> = asked.collect();
        let mut sets: Vec<SetId> = asked.keys().copied().collect();
        sets.sort_unstable();
        self.fuel.steps(sets.len())?;
        let decisive = sets.iter().copied().find(|&set| asked.contains_key(&self.sets.negate(set)));
        let set = decisive.unwrap_or(sets[0]);
        let others = self.sets.negate(set);
        let mut given = |yes: bool| {
            let no = asked.get(&others).map(|&no| (no, Id::of(!yes)));
            let table = [(asked[&set], Id::of(yes))].into_iter().chain(no).collect();
            self.facts.replace(left, &table)
        };
        let (with, without) = (given(true), given(false));
        let not = if decisive.is_some() { self.sets.and([value, others]) } else { value };
        pending.push((not, without));
        pending.push((self.sets.and([value, set]), with));
        Ok(())
    }

    /// Ways with the same left over are one, and so are ways with the same value.
    fn merged(&mut self, ways: Vec<(SetId, FactsId)>) -> Vec<(SetId, FactsId)> {
        let mut by_left: Vec<(FactsId, Vec<SetId>)> = Vec::new();
        let mut index: FxHashMap<FactsId, usize> = FxHashMap::default();
        for (value, left) in ways {
            let next = by_left.len();
            let at = *index.entry(left).or_insert(next);
            if at == next {
                by_left.push((left, Vec::new()));
            }
            by_left[at].1.push(value);
        }
        let mut by_value: Vec<(SetId, Vec<FactsId>)> = Vec::new();
        let mut index: FxHashMap<SetId, usize> = FxHashMap::default();
        for (left, values) in by_left {
            let value = self.sets.or(values);
            let next = by_value.len();
            let at = *index.entry(value).or_insert(next);
            if at == next {
                by_value.push((value, Vec::new()));
            }
            by_value[at].1.push(left);
        }
        let merged = by_value.into_iter().map(|(value, lefts)| (value, self.facts.or(lefts)));
        merged.collect()
    }
}
