//! What the keywords of one schema say of a value of one type, or what their negation says, without
//! those that apply other schemas to the value itself.
//!
//! Positive, all keywords hold; negative, one of them does not. So each keyword is written down once
//! for each sign, and the sign says how they are joined.

use super::{
    Analysis, Lowered,
    facts::{Fact, FactsId, Places},
    formula::{Connective, Id},
    judge::decimal,
    keys::{Keys, KeysId},
    meaning::{Kind, Meaning},
    scalars::{NumberAtom, Polarity, TextAtom},
    sets::{Literal, SetId, Sign},
};
use crate::{
    document::{Value, ValueId},
    model::{
        ArrayKeywords, Count, Interval, Keywords, NumberKeywords, ObjectKeywords, SchemaId,
        StringKeywords, Types,
    },
};
use std::{collections::BTreeSet, sync::Arc};

/// At most so many keys are taken one by one.
const MAX_NAMES: usize = 16;

impl Sign {
    fn polarity(self) -> Polarity {
        match self {
            Self::Positive => Polarity::Holds,
            Self::Negative => Polarity::Fails,
        }
    }

    /// How the keywords of a schema are joined.
    pub(super) fn connective(self) -> Connective {
        match self {
            Self::Positive => Connective::And,
            Self::Negative => Connective::Or,
        }
    }
}

impl Analysis {
    /// What a schema says by itself.
    pub(super) fn own(&mut self, schema: SchemaId, sign: Sign, kind: Kind) -> Lowered<Meaning> {
        let model = self.model.clone();
        let Some(keywords) = model.keywords(schema) else {
            return Ok(Meaning::of(sign == Sign::Positive, kind));
        };
        if !keywords.types.intersects(kind.types()) {
            return Ok(Meaning::of(sign == Sign::Negative, kind));
        }
        let mut parts = Vec::new();
        match kind {
            Kind::Null | Kind::Boolean => {}
            Kind::Number => self.number_keywords(keywords, sign, &mut parts),
            Kind::String => self.string_keywords(keywords.string.as_ref(), sign, &mut parts),
            Kind::Array => {
                if let Some(array) = &keywords.array {
                    let facts = self.array_keywords(schema, array, sign)?;
                    parts.extend(facts.into_iter().map(Meaning::Facts));
                }
            }
            Kind::Object => {
                if let Some(object) = &keywords.object {
                    let facts = self.object_keywords(schema, object, sign)?;
                    parts.extend(facts.into_iter().map(Meaning::Facts));
                }
            }
        }
        if let Some(value) = keywords.constant {
            parts.push(self.equals(value, sign, kind)?);
        }
        if let Some(values) = &keywords.enumeration {
            parts.push(self.listed(schema, values, sign, kind)?);
        }
        self.fuel.steps(parts.len())?;
        Ok(self.joined(sign.connective(), kind, &parts))
    }

    fn string_keywords(
        &mut self,
        keywords: Option<&StringKeywords>,
        sign: Sign,
        parts: &mut Vec<Meaning>,
    ) {
        let Some(StringKeywords { length, pattern, format }) = keywords else { return };
        let model = self.model.clone();
        let length = (*length != Count::default()).then_some(TextAtom::Length(*length));
        let pattern = pattern.map(|text| TextAtom::Pattern(model.document.text(text).into()));
        let atoms = [length, pattern, format.map(TextAtom::Format)].into_iter().flatten();
        parts.extend(atoms.map(|atom| Meaning::Text(self.scalars.text(atom, sign.polarity()))));
    }

    fn number_keywords(&mut self, keywords: &Keywords, sign: Sign, parts: &mut Vec<Meaning>) {
        let mut atoms = Vec::new();
        // A set of types is a union of named ones, so fractions never come without integers.
        if !keywords.types.intersects(Types::FRACTION) {
            atoms.push(match keywords.written_whole {
                true => NumberAtom::WrittenWhole,
                false => NumberAtom::Integer,
            });
        }
        if let Some(NumberKeywords { interval, multiple_of }) = &keywords.number {
            if *interval != Interval::default() {
                atoms.push(NumberAtom::Interval(interval.clone()));
            }
            atoms.extend(multiple_of.clone().map(NumberAtom::MultipleOf));
        }
        let atoms = atoms.into_iter();
        parts.extend(atoms.map(|atom| Meaning::Number(self.scalars.number(atom, sign.polarity()))));
    }

    /// The values of a type that `enum` lists, or all others.
    fn listed(
        &mut self,
        schema: SchemaId,
        values: &[ValueId],
        sign: Sign,
        kind: Kind,
    ) -> Lowered<Meaning> {
        let model = self.model.clone();
        self.fuel.steps(values.len())?;
        let values: Vec<ValueId> = values
            .iter()
            .copied()
            .filter(|&value| Kind::of(model.document.value(value)) == kind)
            .collect();
        if values.is_empty() {
            return Ok(Meaning::of(sign == Sign::Negative, kind));
        }
        match (kind, sign) {
            (Kind::Array | Kind::Object, Sign::Positive) => {
                Ok(Meaning::Facts(self.facts.atom(Fact::Among(schema))))
            }
            (Kind::Array | Kind::Object, Sign::Negative) => {
                let mut all = Vec::with_capacity(values.len());
                for value in values {
                    all.push(self.differs(value)?);
                }
                Ok(Meaning::Facts(self.facts.and(all)))
            }
            _ => self.listed_scalars(&values, sign, kind),
        }
    }

    /// Scalars of one type, or all others of that type.
    pub(super) fn listed_scalars(
        &mut self,
        values: &[ValueId],
        sign: Sign,
        kind: Kind,
    ) -> Lowered<Meaning> {
        let model = self.model.clone();
        let document = &model.document;
        let (mut bits, mut texts, mut numbers) = (0, BTreeSet::new(), BTreeSet::new());
        for &value in values {
            match document.value(value) {
                Value::Null | Value::Boolean(false) => bits |= 1,
                Value::Boolean(true) => bits |= 2,
                Value::String(text) => {
                    let text = document.text(text);
                    self.fuel.steps(text.len())?;
                    texts.insert(Box::from(text));
                }
                Value::Number(text) => {
                    let text = document.text(text);
                    self.fuel.steps(text.len())?;
                    numbers.insert((decimal(text)?, Box::from(text)));
                }
                Value::Array(_) | Value::Object(_) => {}
            }
        }
        let polarity = sign.polarity();
        Ok(match kind {
            Kind::String => {
                Meaning::Text(self.scalars.text(TextAtom::Values(Arc::new(texts)), polarity))
            }
            Kind::Number => {
                let atom = NumberAtom::Values(Arc::new(numbers));
                Meaning::Number(self.scalars.number(atom, polarity))
            }
            _ => match (sign, Meaning::of(true, kind)) {
                (Sign::Negative, Meaning::Constants(all)) => Meaning::Constants(all & !bits),
                _ => Meaning::Constants(bits),
            },
        })
    }

    fn object_keywords(
        &mut self,
        schema: SchemaId,
        object: &ObjectKeywords,
        sign: Sign,
    ) -> Lowered<Vec<FactsId>> {
        let model = self.model.clone();
        let document = &model.document;
        let mut facts = match sign {
            Sign::Positive => {
                let silent = object.properties.is_empty()
                    && object.required.is_empty()
                    && object.patterns.is_empty()
                    && object.additional.is_none();
                if silent { Vec::new() } else { vec![self.facts.atom(Fact::Declared(schema))] }
            }
            Sign::Negative => self.undeclared_member(object)?,
        };
        if let Some(names) = object.names {
            let valid = self.names_of(names)?;
            let invalid = self.keys(Keys { inside: valid.outside, outside: valid.inside });
            facts.push(match sign {
                Sign::Positive => self.facts.atom(Fact::EveryMember(invalid, SetId::FALSE)),
                Sign::Negative => self.some_member(invalid, SetId::TRUE)?,
            });
        }
        self.count(object.count, sign, &mut facts);
        self.fuel.steps(object.dependent_required.len())?;
        for &(name, other) in &object.dependent_required {
            let name = self.names.intern(document.text(name));
            let other = self.names.intern(document.text(other));
            let (one, two) = match sign {
                Sign::Positive => (Fact::Lacks(name), Fact::Has(other)),
                Sign::Negative => (Fact::Has(name), Fact::Lacks(other)),
            };
            let parts = [self.facts.atom(one), self.facts.atom(two)];
            facts.push(match sign {
                Sign::Positive => self.facts.or(parts),
                Sign::Negative => self.facts.and(parts),
            });
        }
        Ok(facts)
    }

    /// The keys that satisfy a schema, as strings, and those that do not.
    fn names_of(&mut self, schema: SchemaId) -> Lowered<Keys> {
        let mut of = |sign: Sign| -> Lowered<super::scalars::TextId> {
            let set = self.set_of(schema, sign);
            let meaning = self.meaning(set, Kind::String)?;
            Ok(meaning.text().expect("of strings"))
        };
        Ok(Keys { inside: of(Sign::Positive)?, outside: of(Sign::Negative)? })
    }

    /// What it takes for an object not to be as `properties`, `patternProperties`,
    /// `additionalProperties` and `required` say: one of these.
    fn undeclared_member(&mut self, object: &ObjectKeywords) -> Lowered<Vec<FactsId>> {
        let model = self.model.clone();
        let document = &model.document;
        self.fuel.steps(object.properties.len() + object.required.len())?;
        let mut facts = Vec::new();
        for &(name, schema) in &object.properties {
            let others = self.set_of(schema, Sign::Negative);
            if others != SetId::FALSE {
                let name = self.names.intern(document.text(name));
                facts.push(self.has_under(name, others));
            }
        }
        for &name in &object.required {
            let name = self.names.intern(document.text(name));
            facts.push(self.facts.atom(Fact::Lacks(name)));
        }
        for &(pattern, schema) in &object.patterns {
            let keys = self.pattern_keys(document.text(pattern));
            let others = self.set_of(schema, Sign::Negative);
            facts.push(self.some_member(keys, others)?);
        }
        if let Some(additional) = object.additional {
            let others = self.set_of(additional, Sign::Negative);
            let keys = self.additional_keys(object);
            facts.push(self.some_member(keys, others)?);
        }
        Ok(facts)
    }

    /// One of these keys has such a value: where there are few, one of these names.
    fn some_member(&mut self, keys: KeysId, set: SetId) -> Lowered<FactsId> {
        if set == SetId::FALSE {
            return Ok(Id::FALSE);
        }
        let inside = self.keys_of(keys).inside;
        let names = self.scalars.listed_texts(inside, MAX_NAMES, &mut self.fuel)?;
        let Some(names) = names else { return Ok(self.facts.atom(Fact::SomeMember(keys, set))) };
        let mut choices = Vec::with_capacity(names.len());
        for name in names {
            let name = self.names.intern(&name);
            choices.push(self.has_under(name, set));
        }
        Ok(self.facts.or(choices))
    }

    /// The key is there, and its value is in the set.
    pub(super) fn has_under(&mut self, name: super::names::NameId, set: SetId) -> FactsId {
        let has = self.facts.atom(Fact::Has(name));
        if set == SetId::TRUE {
            return has;
        }
        let under = self.facts.atom(Fact::Under(name, set));
        self.facts.and([has, under])
    }

    fn count(&mut self, count: Count, sign: Sign, facts: &mut Vec<FactsId>) {
        match sign {
            Sign::Positive => {
                facts.push(self.at_least(count.min));
                facts.extend(count.max.map(|max| self.facts.atom(Fact::AtMost(max))));
            }
            Sign::Negative => {
                facts.extend(
                    count.min.checked_sub(1).map(|most| self.facts.atom(Fact::AtMost(most))),
                );
                let more = count.max.and_then(|max| max.checked_add(1));
                facts.extend(more.map(|least| self.facts.atom(Fact::AtLeast(least))));
            }
        }
    }

    fn array_keywords(
        &mut self,
        schema: SchemaId,
        array: &ArrayKeywords,
        sign: Sign,
    ) -> Lowered<Vec<FactsId>> {
        let mut facts = Vec::new();
        match sign {
            Sign::Positive => {
                if !array.prefix.is_empty() || array.items.is_some() {
                    facts.push(self.facts.atom(Fact::Items(schema)));
                }
            }
            Sign::Negative => {
                self.fuel.steps(array.prefix.len())?;
                let first = array.prefix.iter().zip(0..);
                let first = first.map(|(&item, place)| (item, Places::one(place)));
                let len = u32::try_from(array.prefix.len()).expect("fewer than 2^32");
                let rest = array.items.map(|item| (item, Places::from(len)));
                for (item, places) in first.chain(rest) {
                    let others = self.set_of(item, Sign::Negative);
                    if others != SetId::FALSE {
                        facts.push(self.facts.atom(Fact::SomeItem(places, others)));
                    }
                }
            }
        }
        self.count(array.count, sign, &mut facts);
        if array.unique {
            facts.push(match sign {
                Sign::Positive => self.facts.atom(Fact::Unique),
                Sign::Negative if self.is_relaxed() => Id::TRUE,
                Sign::Negative => self.facts.atom(Fact::Repeated),
            });
        }
        if let Some(contains) = array.contains {
            let set = self.set_of(contains.schema, Sign::Positive);
            let Count { min, max } = contains.count;
            let (least, most) = match sign {
                Sign::Positive => (Some(min), max),
                Sign::Negative => (max.and_then(|max| max.checked_add(1)), min.checked_sub(1)),
            };
            facts.extend(least.map(|least| self.matching(set, least)));
            facts.extend(most.map(|most| self.matching_at_most(set, most)));
        }
        Ok(facts)
    }

    /// At least so many items of a set.
    fn matching(&mut self, set: SetId, least: u32) -> FactsId {
        match (set, least) {
            (_, 0) => Id::TRUE,
            (SetId::TRUE, _) => self.at_least(least),
            (SetId::FALSE, _) => Id::FALSE,
            _ => self.facts.atom(Fact::Matching(set, least)),
        }
    }

    fn matching_at_most(&mut self, set: SetId, most: u32) -> FactsId {
        match (set, most) {
            (SetId::TRUE, _) => self.facts.atom(Fact::AtMost(most)),
            (SetId::FALSE, _) => Id::TRUE,
            (_, 0) => {
                let others = self.sets.negate(set);
                self.facts.atom(Fact::EveryItem(Places::from(0), others))
            }
            _ => self.facts.atom(Fact::MatchingAtMost(set, most)),
        }
    }

    /// The arrays, or objects, that differ from one of the document.
    pub(super) fn differs(&mut self, value: ValueId) -> Lowered<FactsId> {
        let model = self.model.clone();
        let document = &model.document;
        let mut facts = Vec::new();
        match document.value(value) {
            Value::Array(children) => {
                self.fuel.steps(1 + children.len as usize)?;
                self.count(
                    Count { min: children.len, max: Some(children.len) },
                    Sign::Negative,
                    &mut facts,
                );
                for (&item, place) in document.items(children).iter().zip(0..) {
                    let others = self.sets.literal(Literal::Equals(item, Sign::Negative));
                    facts.push(self.facts.atom(Fact::SomeItem(Places::one(place), others)));
                }
            }
            Value::Object(children) => {
                self.fuel.steps(1 + children.len as usize)?;
                let mut names = BTreeSet::new();
                for member in document.members(children) {
                    let text = document.text(member.key);
                    names.insert(Box::from(text));
                    let name = self.names.intern(text);
                    let others = self.sets.literal(Literal::Equals(member.value, Sign::Negative));
                    facts.push(self.facts.atom(Fact::Lacks(name)));
                    facts.push(self.has_under(name, others));
                }
                let atom = TextAtom::Values(Arc::new(names));
                let inside = self.scalars.text(atom.clone(), Polarity::Fails);
                let outside = self.scalars.text(atom, Polarity::Holds);
                let keys = self.keys(Keys { inside, outside });
                facts.push(self.facts.atom(Fact::SomeMember(keys, SetId::TRUE)));
            }
            _ => return Ok(Id::TRUE),
        }
        Ok(self.facts.or(facts))
    }
}
