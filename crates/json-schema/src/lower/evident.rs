//! Schemas of which it shows in their keywords that some value satisfies them.
//!
//! # Idea
//! Most schemas name a type and constrain nothing that could leave it without values; most objects
//! require some members that are such schemas. That is seen without taking a formula apart. What is
//! not seen here may be satisfiable all the same.
//!
//! # Cost
//! Some comparisons a schema, [`MAX_SCHEMAS`] of them at most; nothing is remembered.

use super::{
    Analysis,
    formula::Node,
    satisfy::Goal,
    sets::{Literal, Sign},
};
use crate::{
    document::{Value, ValueId},
    model::{Keywords, Model, ObjectKeywords, Schema, SchemaId, Types},
};

/// How many schemas are looked at before nothing is evident any more.
const MAX_SCHEMAS: u32 = 64;

impl Analysis {
    /// Whether a goal is a value of one schema, and evidently there is one.
    pub(super) fn is_evident(&self, goal: Goal) -> bool {
        let Goal::Set(set) = goal else { return false };
        match *self.sets.node(set) {
            Node::Atom(Literal::Schema(schema, Sign::Positive)) => {
                is_satisfied(&self.model, schema, &mut { MAX_SCHEMAS })
            }
            _ => false,
        }
    }
}

fn is_satisfied(model: &Model, schema: SchemaId, left: &mut u32) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    match model.schema(schema) {
        Schema::Always => true,
        Schema::Keywords(keywords) => {
            let composed = keywords.reference.is_some()
                || !keywords.all_of.is_empty()
                || !keywords.any_of.is_empty()
                || !keywords.one_of.is_empty()
                || keywords.not.is_some()
                || keywords.conditional.is_some();
            !composed
                && match (&keywords.enumeration, keywords.constant) {
                    (None, None) => has_value(model, keywords, left),
                    (Some(values), None) => is_one(model, keywords, values),
                    (None, Some(value)) => is_one(model, keywords, &[value]),
                    _ => false,
                }
        }
        Schema::Never | Schema::Alias(_) => false,
    }
}

/// Whether a listed value has a type that nothing but the list constrains.
fn is_one(model: &Model, keywords: &Keywords, values: &[ValueId]) -> bool {
    values.iter().take(MAX_SCHEMAS as usize).any(|&value| {
        let (types, free) = match model.document.value(value) {
            Value::Null => (Types::NULL, true),
            Value::Boolean(_) => (Types::BOOLEAN, true),
            Value::String(_) => (Types::STRING, keywords.string.is_none()),
            _ => (Types::NONE, false),
        };
        free && keywords.types.intersects(types)
    })
}

/// Whether there is a value of one of the types, where no values are listed.
fn has_value(model: &Model, keywords: &Keywords, left: &mut u32) -> bool {
    let may_be = |types: Types| keywords.types.intersects(types);
    may_be(Types::NULL.union(Types::BOOLEAN))
        || may_be(Types::STRING)
            && keywords.string.as_ref().is_none_or(|string| {
                string.pattern.is_none() && string.format.is_none() && !string.length.is_empty()
            })
        || may_be(Types::NUMBER) && keywords.number.is_none()
        || may_be(Types::ARRAY)
            && keywords
                .array
                .as_ref()
                .is_none_or(|array| array.count.min == 0 && array.contains.is_none())
        || may_be(Types::OBJECT)
            && keywords.object.as_ref().is_none_or(|object| has_object(model, object, left))
}

/// Whether there is an object of what is required and nothing else.
fn has_object(model: &Model, object: &ObjectKeywords, left: &mut u32) -> bool {
    if object.required.is_empty() {
        return object.count.min == 0;
    }
    let plain = object.patterns.is_empty()
        && object.names.is_none()
        && object.dependent_required.is_empty()
        && object.dependent_schemas.is_empty()
        && object.unevaluated.is_none();
    plain
        && object.count.contains(object.required.len())
        && object.required.iter().all(|&name| {
            let name = model.document.text(name);
            let declared = object.by_name.binary_search_by(|&at| {
                model.document.text(object.properties[at as usize].0).cmp(name)
            });
            let schema = match declared {
                Ok(at) => Some(object.properties[object.by_name[at] as usize].1),
                Err(_) => object.additional,
            };
            schema.is_none_or(|schema| is_satisfied(model, schema, left))
        })
}
