//! Whether a value of the document satisfies a set: how listed values are filtered by what stands
//! beside the list.
//!
//! # Idea
//! A question is a pair of a value and a set. What a set says about the type of the value is a
//! formula over facts, and a fact asks questions about values inside the value. Questions are kept on
//! an explicit stack: one is asked again when those that it led to are answered.
//!
//! # Cost
//! A step of fuel for each fact and each question.

use super::{
    Analysis, Lowered,
    facts::{Fact, FactsId, Key},
    formula::Id,
    meaning::{Kind, Meaning},
    names::NameId,
    sets::SetId,
};
use crate::{
    SchemaErrorKind,
    decimal::Decimal,
    document::{Document, Event, Order, Value, ValueId, Walk},
    model::SchemaId,
};
use rustc_hash::FxHashMap;
use std::{collections::HashSet, sync::Arc};

/// A value and a set it may be in.
pub(super) type Question = (ValueId, SetId);

/// Questions that came up while another one was asked.
type Missing = Vec<Question>;

impl Analysis {
    /// Whether a value is in a set. Remembered.
    pub(super) fn satisfies(&mut self, value: ValueId, set: SetId) -> Lowered<bool> {
        let mut stack = vec![(value, set)];
        while let Some(&question) = stack.last() {
            if self.answer(question).is_some() {
                stack.pop();
                continue;
            }
            let mut missing = Missing::new();
            let holds = self.ask(question, &mut missing)?;
            if missing.is_empty() {
                self.known.answers.insert(question, holds);
            }
            stack.extend(missing);
        }
        Ok(self.answer((value, set)) == Some(true))
    }

    /// Whether a value satisfies a formula about its members or items.
    pub(super) fn facts_hold(&mut self, value: ValueId, facts: FactsId) -> Lowered<bool> {
        loop {
            let mut missing = Missing::new();
            let holds = self.ask_facts(value, facts, &mut missing)?;
            if missing.is_empty() {
                return Ok(holds);
            }
            for (value, set) in missing {
                self.satisfies(value, set)?;
            }
        }
    }

    fn answer(&self, (value, set): Question) -> Option<bool> {
        match set {
            SetId::TRUE => Some(true),
            SetId::FALSE => Some(false),
            _ => self.known.answers.get(&(value, set)).copied(),
        }
    }

    /// The answer as far as it is known; what is not counts as yes.
    fn look(&self, value: ValueId, set: SetId, missing: &mut Missing) -> bool {
        self.answer((value, set)).unwrap_or_else(|| {
            missing.push((value, set));
            true
        })
    }

    fn ask(&mut self, (value, set): Question, missing: &mut Missing) -> Lowered<bool> {
        let model = self.model.clone();
        let document = &model.document;
        let given = document.value(value);
        Ok(match (self.meaning(set, Kind::of(given))?, given) {
            (Meaning::Constants(bits), Value::Boolean(true)) => bits & 2 != 0,
            (Meaning::Constants(bits), _) => bits & 1 != 0,
            (Meaning::Text(id), Value::String(text)) => {
                self.scalars.text_holds(id, document.text(text), &mut self.fuel)?
            }
            (Meaning::Number(id), Value::Number(text)) => {
                self.scalars.number_holds(id, document.text(text), &mut self.fuel)?
            }
            (Meaning::Facts(facts), _) => self.ask_facts(value, facts, missing)?,
            _ => false,
        })
    }

    fn ask_facts(
        &mut self,
        value: ValueId,
        facts: FactsId,
        missing: &mut Missing,
    ) -> Lowered<bool> {
        let mut truths: FxHashMap<FactsId, FactsId> = FxHashMap::default();
        for (id, fact) in self.facts.atoms(facts).iter().copied() {
            let holds = match self.model.document.value(value) {
                Value::Object(_) => self.member_fact(value, fact, missing)?,
                _ => self.item_fact(value, fact, missing)?,
            };
            truths.insert(id, Id::of(holds));
        }
        Ok(self.facts.replace(facts, &truths) == Id::TRUE)
    }

    /// The members of an object of the document, their names interned.
    fn members(&mut self, object: ValueId) -> Lowered<Vec<(NameId, ValueId)>> {
        let model = self.model.clone();
        let Value::Object(children) = model.document.value(object) else { return Ok(Vec::new()) };
        let members = model.document.members(children).iter();
        self.fuel.steps(1 + members.len())?;
        let members = members.map(|m| (self.names.intern(model.document.text(m.key)), m.value));
        Ok(members.collect())
    }

    fn member_fact(&mut self, object: ValueId, fact: Fact, missing: &mut Missing) -> Lowered<bool> {
        let members = self.members(object)?;
        let find = |name: NameId| members.iter().find(|member| member.0 == name);
        let count = u32::try_from(members.len()).expect("fewer than 2^32");
        let mut some = false;
        let mut every = true;
        match fact {
            Fact::AtLeast(least) => return Ok(count >= least),
            Fact::AtMost(most) => return Ok(count <= most),
            Fact::Equals(other) => return self.are_equal(object, other),
            Fact::Among(schema) => return self.is_listed(object, schema),
            Fact::Has(name) => return Ok(find(name).is_some()),
            Fact::Lacks(name) => return Ok(find(name).is_none()),
            Fact::Under(name, set) => {
                return Ok(find(name).is_none_or(|&(_, value)| self.look(value, set, missing)));
            }
            Fact::Declared(schema) => {
                let declares = self.declares(schema)?;
                every &= declares.required.iter().all(|&name| find(name).is_some());
                for &(name, value) in &members {
                    let set = self.declared(schema, name)?;
                    every &= self.look(value, set, missing);
                }
                return Ok(every);
            }
            Fact::EveryMember(keys, set) => {
                for &(name, value) in &members {
                    if self.has_key(keys, Key::Name(name))?.unwrap_or(true) {
                        every &= self.look(value, set, missing);
                    }
                }
                return Ok(every);
            }
            Fact::SomeMember(keys, set) => {
                for &(name, value) in &members {
                    if self.has_key(keys, Key::Name(name))?.unwrap_or(false) {
                        some |= self.look(value, set, missing);
                    }
                }
                return Ok(some);
            }
            _ => {}
        }
        Ok(false)
    }

    fn item_fact(&mut self, array: ValueId, fact: Fact, missing: &mut Missing) -> Lowered<bool> {
        let model = self.model.clone();
        let Value::Array(children) = model.document.value(array) else { return Ok(false) };
        let items = model.document.items(children);
        self.fuel.steps(1 + items.len())?;
        let mut in_set = |places: super::facts::Places, set| {
            let items = items.iter().zip(0..).filter(|(_, place)| places.contains(*place));
            let held = items.map(|(&item, _)| self.look(item, set, missing));
            held.collect::<Vec<bool>>()
        };
        let all = super::facts::Places::from(0);
        let count = |held: Vec<bool>| held.into_iter().filter(|&held| held).count();
        Ok(match fact {
            Fact::AtLeast(least) => children.len >= least,
            Fact::AtMost(most) => children.len <= most,
            Fact::EveryItem(places, set) => !in_set(places, set).contains(&false),
            Fact::SomeItem(places, set) => in_set(places, set).contains(&true),
            Fact::Matching(set, least) => count(in_set(all, set)) >= least as usize,
            Fact::MatchingAtMost(set, most) => {
                // Asked the other way round, so that what is not known counts as yes.
                let others = self.sets.negate(set);
                let held = items.iter().map(|&item| self.look(item, others, missing));
                items.len() - count(held.collect()) <= most as usize
            }
            Fact::Equals(other) => self.are_equal(array, other)?,
            Fact::Among(schema) => self.is_listed(array, schema)?,
            Fact::Items(schema) => {
                let mut every = true;
                for (&item, place) in items.iter().zip(0..) {
                    let set = self.item_set(schema, place);
                    every &= self.look(item, set, missing);
                }
                every
            }
            Fact::Unique => self.are_distinct(items)?,
            Fact::Repeated => !self.are_distinct(items)?,
            _ => false,
        })
    }

    fn are_distinct(&mut self, items: &[ValueId]) -> Lowered<bool> {
        let mut seen = HashSet::new();
        for &item in items {
            if !seen.insert(self.canonical_text(item)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn are_equal(&mut self, one: ValueId, other: ValueId) -> Lowered<bool> {
        Ok(one == other || self.canonical_text(one)? == self.canonical_text(other)?)
    }

    /// Whether a value is among those that a schema lists.
    fn is_listed(&mut self, value: ValueId, schema: SchemaId) -> Lowered<bool> {
        let model = self.model.clone();
        let keywords = model.keywords(schema);
        let Some(values) = keywords.and_then(|keywords| keywords.enumeration.as_ref()) else {
            return Ok(false);
        };
        // Values are numbered as they stand in the text, so a list of them is sorted.
        if values.binary_search(&value).is_ok() {
            return Ok(true);
        }
        let known = match self.known.enumerations.get(&schema) {
            Some(known) => known.clone(),
            None => {
                let mut texts = HashSet::new();
                for &value in values {
                    texts.insert(self.canonical_text(value)?);
                }
                let texts = Arc::new(texts);
                self.known.enumerations.insert(schema, texts.clone());
                texts
            }
        };
        Ok(known.contains(&self.canonical_text(value)?))
    }

    /// A text that equal values, and only they, share: members sorted, numbers by value.
    pub(super) fn canonical_text(&mut self, value: ValueId) -> Lowered<Box<[u8]>> {
        let model = self.model.clone();
        let document = &model.document;
        let mut text = Vec::new();
        for event in Walk::new(document, value, Order::Sorted) {
            match event {
                Event::Open { value, .. } => text.push(match document.value(value) {
                    Value::Object(_) => b'{',
                    _ => b'[',
                }),
                Event::Item { .. } => text.push(b','),
                Event::Key(key) => super::text::quote(document.text(key), &mut text),
                Event::Close { .. } => text.push(b'}'),
                Event::Scalar(scalar) => canonical_scalar(document, scalar, &mut text)?,
            }
        }
        self.fuel.steps(text.len())?;
        Ok(text.into())
    }
}

fn canonical_scalar(document: &Document, scalar: ValueId, out: &mut Vec<u8>) -> Lowered<()> {
    match document.value(scalar) {
        Value::Null => out.push(b'n'),
        Value::Boolean(truth) => out.push(if truth { b't' } else { b'f' }),
        Value::Number(number) => {
            let number = decimal(document.text(number))?;
            out.extend_from_slice(number.key().as_bytes());
        }
        Value::String(string) => super::text::quote(document.text(string), out),
        Value::Array(_) | Value::Object(_) => unreachable!("containers are opened"),
    }
    Ok(())
}

/// The value of a number of the document.
pub(super) fn decimal(text: &str) -> Lowered<Decimal> {
    Decimal::parse(text).ok_or(SchemaErrorKind::ExponentTooLarge)
}
