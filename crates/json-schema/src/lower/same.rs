//! Schemas that say the same, word for word, though they stand in several places.
//!
//! # Idea
//! People copy schemas. Two copies would be two literals, and whether what one asks for contradicts
//! what the other forbids would be a question about values; as one literal it is answered at sight.
//! So each schema is written down with its subschemas replaced by their representatives, and equal
//! texts have one representative. Annotations are not part of it.
//!
//! # Cost
//! Linear in the schema, twice: schemas are mostly read before what is inside them, so in the
//! opposite order the inner ones come first; the second time settles most references.

use super::{
    Analysis, Lowered,
    sets::{SetId, Sign},
};
use crate::{
    document::{Event, Order, Text, Value, ValueId, Walk},
    model::{ArrayKeywords, Count, Keywords, Model, ObjectKeywords, SchemaId},
};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::{collections::HashMap, hash::BuildHasher};

/// Longer lists of values are taken to be different.
const MAX_LISTED: usize = 256;

/// A schema in bytes, without ambiguity: every part has a mark and a length.
struct Writer<'m> {
    model: &'m Model,
    same: &'m FxHashMap<SchemaId, SchemaId>,
    /// Of all schemas.
    numbers: &'m FxHashMap<SchemaId, usize>,
    out: Vec<u8>,
}

impl Analysis {
    /// Finds out which schemas say the same.
    pub(super) fn compare_schemas(&mut self) -> Lowered<()> {
        let model = self.model.clone();
        let mut all = vec![model.root()];
        let mut numbers: FxHashMap<SchemaId, usize> = FxHashMap::from_iter([(model.root(), 0)]);
        let mut done = 0;
        while let Some(&schema) = all.get(done) {
            done += 1;
            if let Some(keywords) = model.keywords(schema) {
                for inner in inside(keywords) {
                    let inner = model.canonical(inner);
                    numbers.entry(inner).or_insert_with(|| {
                        all.push(inner);
                        all.len() - 1
                    });
                }
            }
        }
        for _ in 0..2 {
            let mut known: HashMap<Vec<u8>, SchemaId> = HashMap::new();
            for &schema in all.iter().rev() {
                let Some(keywords) = model.keywords(schema) else { continue };
                let (same, numbers) = (&self.same, &numbers);
                let mut writer = Writer { model: &model, same, numbers, out: Vec::new() };
                writer.keywords(schema, keywords);
                self.fuel.steps(writer.out.len())?;
                let representative = *known.entry(writer.out).or_insert(schema);
                if representative != schema {
                    self.same.insert(schema, representative);
                }
            }
        }
        Ok(())
    }

    /// The values that satisfy a schema, or do not: the same set for all schemas that say the same.
    pub(super) fn set_of(&mut self, schema: SchemaId, sign: Sign) -> SetId {
        let schema = self.model.canonical(schema);
        let schema = self.same.get(&schema).copied().unwrap_or(schema);
        self.sets.schema(&self.model, schema, sign)
    }
}

/// The schemas that a schema applies.
fn inside(keywords: &Keywords) -> Vec<SchemaId> {
    let mut inner: Vec<SchemaId> = Vec::new();
    inner.extend(keywords.reference);
    inner.extend(&*keywords.all_of);
    inner.extend(&*keywords.any_of);
    inner.extend(&*keywords.one_of);
    inner.extend(keywords.not);
    if let Some(conditional) = keywords.conditional {
        inner.push(conditional.condition);
        inner.extend(conditional.then);
        inner.extend(conditional.otherwise);
    }
    if let Some(object) = &keywords.object {
        for list in [&object.properties, &object.patterns, &object.dependent_schemas] {
            inner.extend(list.iter().map(|(_, schema)| *schema));
        }
        inner.extend([object.additional, object.names, object.unevaluated].into_iter().flatten());
    }
    if let Some(array) = &keywords.array {
        inner.extend(&*array.prefix);
        inner.extend(array.contains.map(|contains| contains.schema));
        inner.extend([array.items, array.unevaluated].into_iter().flatten());
    }
    inner
}

impl Writer<'_> {
    fn number(&mut self, number: usize) {
        self.out.extend_from_slice(&(number as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.out.extend_from_slice(bytes);
    }

    fn text(&mut self, text: Text) {
        self.bytes(self.model.document.text(text).as_bytes());
    }

    /// What has no better text than that for people, which is unambiguous.
    fn debug(&mut self, value: &impl std::fmt::Debug) {
        self.bytes(format!("{value:?}").as_bytes());
    }

    fn schema(&mut self, schema: SchemaId) {
        let schema = self.model.canonical(schema);
        let schema = self.same.get(&schema).copied().unwrap_or(schema);
        self.number(self.numbers.get(&schema).copied().unwrap_or(usize::MAX));
    }

    fn optional(&mut self, schema: Option<SchemaId>) {
        self.out.push(u8::from(schema.is_some()));
        if let Some(schema) = schema {
            self.schema(schema);
        }
    }

    fn schemas(&mut self, schemas: &[SchemaId]) {
        self.number(schemas.len());
        schemas.iter().for_each(|&schema| self.schema(schema));
    }

    fn named(&mut self, list: &[(Text, SchemaId)]) {
        self.number(list.len());
        for &(name, schema) in list {
            self.text(name);
            self.schema(schema);
        }
    }

    fn count(&mut self, count: Count) {
        self.number(count.min as usize);
        self.number(count.max.map_or(usize::MAX, |max| max as usize));
    }

    fn keywords(&mut self, schema: SchemaId, keywords: &Keywords) {
        let Keywords { types, written_whole, reference, not, conditional, .. } = keywords;
        self.number(usize::try_from(FxBuildHasher.hash_one(types)).unwrap_or(usize::MAX));
        self.out.push(u8::from(*written_whole));
        self.optional(*reference);
        self.schemas(&keywords.all_of);
        self.schemas(&keywords.any_of);
        self.schemas(&keywords.one_of);
        self.optional(*not);
        self.out.push(u8::from(conditional.is_some()));
        if let Some(conditional) = conditional {
            self.schema(conditional.condition);
            self.optional(conditional.then);
            self.optional(conditional.otherwise);
        }
        let listed = keywords.enumeration.as_deref();
        self.values(schema, listed);
        self.values(schema, keywords.constant.as_ref().map(std::slice::from_ref));
        self.object(keywords.object.as_ref());
        self.array(keywords.array.as_ref());
        self.out.push(u8::from(keywords.string.is_some()));
        if let Some(string) = &keywords.string {
            self.count(string.length);
            self.out.push(u8::from(string.pattern.is_some()));
            string.pattern.into_iter().for_each(|pattern| self.text(pattern));
            self.number(string.format.map_or(0, |format| 1 + format as usize));
        }
        self.out.push(u8::from(keywords.number.is_some()));
        if let Some(number) = &keywords.number {
            self.debug(number);
        }
    }

    fn object(&mut self, object: Option<&ObjectKeywords>) {
        self.out.push(u8::from(object.is_some()));
        let Some(object) = object else { return };
        self.named(&object.properties);
        self.number(object.required.len());
        object.required.iter().for_each(|&name| self.text(name));
        self.optional(object.additional);
        self.named(&object.patterns);
        self.optional(object.names);
        self.count(object.count);
        self.number(object.dependent_required.len());
        for &(name, other) in &object.dependent_required {
            self.text(name);
            self.text(other);
        }
        self.named(&object.dependent_schemas);
        self.optional(object.unevaluated);
    }

    fn array(&mut self, array: Option<&ArrayKeywords>) {
        self.out.push(u8::from(array.is_some()));
        let Some(array) = array else { return };
        self.schemas(&array.prefix);
        self.optional(array.items);
        self.count(array.count);
        self.out.push(u8::from(array.unique));
        self.optional(array.unevaluated);
        self.out.push(u8::from(array.contains.is_some()));
        if let Some(contains) = array.contains {
            self.schema(contains.schema);
            self.count(contains.count);
            self.out.push(u8::from(contains.evaluates));
        }
    }

    /// Listed values, as they are written but for white space.
    fn values(&mut self, schema: SchemaId, values: Option<&[ValueId]>) {
        let Some(values) = values else { return self.number(0) };
        self.number(1 + values.len());
        if values.len() > MAX_LISTED {
            return self.schema(schema);
        }
        let document = &self.model.document;
        for &value in values {
            for event in Walk::new(document, value, Order::Written) {
                match event {
                    Event::Open { value, .. } => {
                        let is_object = matches!(document.value(value), Value::Object(_));
                        self.out.push(if is_object { b'{' } else { b'[' });
                    }
                    Event::Close { .. } => self.out.push(b')'),
                    Event::Item { .. } => self.out.push(b','),
                    Event::Key(key) => self.text(key),
                    Event::Scalar(scalar) => match document.value(scalar) {
                        Value::String(text) => {
                            self.out.push(b's');
                            self.text(text);
                        }
                        Value::Number(text) => {
                            self.out.push(b'n');
                            self.text(text);
                        }
                        scalar => self.debug(&scalar),
                    },
                }
            }
        }
    }
}
