//! What the members of a clause say together about the inside of a value.
//!
//! A property must satisfy what each member says about it: the schema under its name, or that for
//! additional properties where a member does not name it. Each member judges by its own list of
//! names, so merging is exact: names declared by some member are treated one by one, and all other
//! keys are additional to every member.

use super::{Analysis, Clause, Lowered, SetId, Signed, number::Digits};
use crate::{
    document::Text,
    model::{
        ArrayKeywords, Count, Interval, Keywords, NumberKeywords, ObjectKeywords, StringKeywords,
        Types,
    },
};
use std::collections::HashMap;

/// A name of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Property {
    pub(super) name: Text,
    /// What its value must satisfy.
    pub(super) set: SetId,
    pub(super) required: bool,
}

/// What is said about objects.
#[derive(Clone, Debug)]
pub(super) struct ObjectShape {
    /// Every name that is declared or required, once: the declared ones in declared order, then
    /// those that are only required.
    pub(super) properties: Vec<Property>,
    /// What the value of every other key must satisfy.
    pub(super) rest: SetId,
}

/// What is said about arrays.
#[derive(Clone, Debug)]
pub(super) struct ArrayShape {
    /// The first items, one by one.
    pub(super) prefix: Vec<SetId>,
    /// All others.
    pub(super) rest: SetId,
    pub(super) count: Count,
}

/// What is said about strings.
#[derive(Clone, Debug, Default)]
pub(super) struct StringShape {
    pub(super) length: Count,
    /// Sorted, without repeats.
    pub(super) patterns: Vec<Box<str>>,
}

impl Analysis {
    pub(super) fn object_shape(&mut self, clause: &Clause) -> Lowered<ObjectShape> {
        let model = self.model.clone();
        let document = &model.document;
        let parts = parts(&model, clause, |keywords| keywords.object.as_ref());
        let mut names: Vec<(Text, bool)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        let declared = parts.iter().flat_map(|(_, part)| &part.properties);
        let required = parts.iter().flat_map(|(_, part)| &part.required);
        let names_in_order =
            declared.map(|(name, _)| (*name, false)).chain(required.map(|name| (*name, true)));
        for (name, required) in names_in_order {
            self.fuel.steps(1)?;
            let at = *known.entry(document.text(name)).or_insert_with(|| {
                names.push((name, false));
                names.len() - 1
            });
            names[at].1 |= required;
        }
        let mut properties = Vec::with_capacity(names.len());
        for (name, required) in names {
            self.fuel.steps(parts.len())?;
            let text = document.text(name);
            let schemas = parts.iter().filter_map(|(member, part): &(Signed, &ObjectKeywords)| {
                Some(Signed { schema: part.value_schema(document, text)?, ..*member })
            });
            let set = self.sets.intern(&model, schemas);
            properties.push(Property { name, set, required });
        }
        let rest = parts
            .iter()
            .filter_map(|(member, part)| Some(Signed { schema: part.additional?, ..*member }));
        let rest = self.sets.intern(&model, rest);
        Ok(ObjectShape { properties, rest })
    }

    pub(super) fn array_shape(&mut self, clause: &Clause) -> Lowered<ArrayShape> {
        let model = self.model.clone();
        let parts = parts(&model, clause, |keywords| keywords.array.as_ref());
        let len = parts.iter().map(|(_, part)| part.prefix.len()).max().unwrap_or(0);
        let mut prefix = Vec::with_capacity(len);
        for index in 0..len {
            self.fuel.steps(parts.len())?;
            let schemas = parts.iter().filter_map(|(member, part): &(Signed, &ArrayKeywords)| {
                Some(Signed { schema: part.item_schema(index)?, ..*member })
            });
            prefix.push(self.sets.intern(&model, schemas));
        }
        let rest = parts
            .iter()
            .filter_map(|(member, part)| Some(Signed { schema: part.items?, ..*member }));
        let rest = self.sets.intern(&model, rest);
        let counts = parts.iter().map(|(_, part)| part.count);
        let count = counts.fold(Count::default(), Count::intersect);
        Ok(ArrayShape { prefix, rest, count })
    }

    pub(super) fn string_shape(&self, clause: &Clause) -> StringShape {
        let mut shape = StringShape::default();
        for (_, part) in parts(&self.model, clause, |keywords| keywords.string.as_ref()) {
            let StringKeywords { length, pattern } = part;
            shape.length = shape.length.intersect(*length);
            shape.patterns.extend(pattern.map(|text| self.model.document.text(text).into()));
        }
        shape.patterns.sort_unstable();
        shape.patterns.dedup();
        shape
    }

    pub(super) fn number_shape(&self, clause: &Clause) -> (Interval, Digits) {
        let parts = parts(&self.model, clause, |keywords| keywords.number.as_ref());
        let intervals = parts.iter().map(|(_, NumberKeywords { interval })| interval);
        // A set of types is a union of named ones, so fractions never come without integers.
        let digits = match clause.types.intersects(Types::FRACTION) {
            true => Digits::Fraction,
            false => Digits::Integer,
        };
        (intervals.fold(Interval::default(), Interval::intersect), digits)
    }
}

/// The keywords of one subject, of all members that have some.
fn parts<'m, T>(
    model: &'m crate::model::Model,
    clause: &Clause,
    part: impl Fn(&'m Keywords) -> Option<&'m T>,
) -> Vec<(Signed, &'m T)> {
    let members = clause.members.iter();
    members.filter_map(|&member| Some((member, part(model.keywords(member.schema)?)?))).collect()
}
