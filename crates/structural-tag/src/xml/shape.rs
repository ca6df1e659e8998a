//! What a schema says about the members of objects and the items of arrays, as far as a style that
//! writes them one by one can do it.

use super::{Writer, wire::Type};
use crate::{
    Error, StructuralTagErrorKind as Kind,
    document::{Document, Value, ValueId},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a value has to satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Child {
    /// Nothing.
    Any,
    /// A schema.
    Schema(ValueId),
    /// To be this value.
    Constant(ValueId),
}

/// One way to be an object.
#[derive(Debug, Default)]
pub(super) struct Object {
    /// Keys, whether they are required, and their values.
    pub(super) members: Vec<(String, bool, Child)>,
    /// Patterns of other keys, and their values.
    pub(super) patterns: Vec<(ValueId, String, Child)>,
    /// All other keys.
    pub(super) others: Option<Child>,
    /// What keys that are not declared have to satisfy.
    pub(super) names: Option<Child>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// One way to be an array.
#[derive(Debug, Default)]
pub(super) struct Array {
    pub(super) first: Vec<Child>,
    pub(super) others: Option<Child>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

/// One way to be either.
#[derive(Debug)]
pub(super) enum Shape {
    Object(Object),
    Array(Array),
}

/// Keywords that say nothing about which values there are.
const SILENT: [&str; 16] = [
    "description",
    "title",
    "default",
    "examples",
    "example",
    "$comment",
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "$anchor",
    "deprecated",
    "readOnly",
    "writeOnly",
    "strict",
    "name",
];

/// Keywords about values of other types.
const SCALAR: [&str; 10] = [
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "contentEncoding",
];

const OBJECT: [&str; 8] = [
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
];

const ARRAY: [&str; 5] = ["items", "prefixItems", "minItems", "maxItems", "unevaluatedItems"];

/// Keywords that lead to other schemas about the same value.
const ELSEWHERE: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "enum", "const"];

/// Where a reference inside the schema leads.
pub(super) fn resolve(document: &Document, root: ValueId, reference: &str) -> Option<ValueId> {
    let pointer = reference.strip_prefix('#')?;
    let mut at = root;
    if pointer.is_empty() {
        return Some(at);
    }
    for token in pointer.strip_prefix('/')?.split('/') {
        let token = percent_decoded(token)?.replace("~1", "/").replace("~0", "~");
        at = match document.value(at) {
            Value::Array(_) => *document.items(at).get(token.parse::<usize>().ok()?)?,
            _ => document.get(at, &token)?,
        };
    }
    Some(at)
}

fn percent_decoded(token: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The types that a value may have, as far as one look at its schema tells.
pub(super) fn types(document: &Document, child: Child) -> Vec<Type> {
    const ALL: [Type; 6] =
        [Type::Null, Type::Boolean, Type::Number, Type::String, Type::Array, Type::Object];
    match child {
        Child::Any => ALL.to_vec(),
        Child::Constant(value) => vec![type_of(document, value)],
        Child::Schema(schema) => match document.get(schema, "type") {
            None => ALL.to_vec(),
            Some(names) => {
                let named = |id: ValueId| document.string(id).and_then(|name| Type::named(&name));
                let list = document.items(names).iter().filter_map(|&id| named(id));
                let mut types: Vec<Type> = named(names).into_iter().chain(list).collect();
                types.sort_unstable();
                types.dedup();
                types
            }
        },
    }
}

/// The type of a value.
pub(super) fn type_of(document: &Document, value: ValueId) -> Type {
    match document.value(value) {
        Value::Null => Type::Null,
        Value::Boolean(_) => Type::Boolean,
        Value::Number => Type::Number,
        Value::String => Type::String,
        Value::Array(_) => Type::Array,
        Value::Object(_) => Type::Object,
    }
}

impl Writer<'_> {
    /// All ways to be an object, or an array, under a schema.
    pub(super) fn shapes(&mut self, child: Child, wanted: Type) -> Result<Vec<Shape>, Error> {
        let mut open = vec![child];
        let mut seen: FxHashSet<Child> = FxHashSet::default();
        let mut shapes = Vec::new();
        while let Some(child) = open.pop() {
            if !seen.insert(child) {
                continue;
            }
            match child {
                Child::Any => shapes.push(self.anything(wanted)),
                Child::Constant(value) => shapes.extend(self.constant(value, wanted)),
                Child::Schema(schema) => self.shape(schema, wanted, &mut open, &mut shapes)?,
            }
        }
        Ok(shapes)
    }

    fn anything(&self, wanted: Type) -> Shape {
        match wanted {
            Type::Array => Shape::Array(Array { others: Some(Child::Any), ..Array::default() }),
            _ => Shape::Object(Object { others: Some(Child::Any), ..Object::default() }),
        }
    }

    fn constant(&self, value: ValueId, wanted: Type) -> Option<Shape> {
        let document = &self.task.document;
        if type_of(document, value) != wanted {
            return None;
        }
        Some(match wanted {
            Type::Array => {
                let first: Vec<Child> =
                    document.items(value).iter().copied().map(Child::Constant).collect();
                let count = u32::try_from(first.len()).expect("offsets are 32 bits wide");
                Shape::Array(Array { first, others: None, min: count, max: Some(count) })
            }
            _ => {
                let members = document.members(value).iter();
                let member = |member: &crate::document::Member| {
                    let key = document.key(member).into_owned();
                    (key, true, Child::Constant(member.value))
                };
                Shape::Object(Object {
                    members: members.map(member).collect(),
                    ..Object::default()
                })
            }
        })
    }

    fn refuse<T>(&self, at: ValueId, what: &'static str) -> Result<T, Error> {
        let style = self.task.style.name();
        Err(self.task.document.error(at, Kind::Style { style, what }))
    }

    fn shape(
        &mut self,
        schema: ValueId,
        wanted: Type,
        open: &mut Vec<Child>,
        shapes: &mut Vec<Shape>,
    ) -> Result<(), Error> {
        let document = self.task.document.clone();
        match document.value(schema) {
            Value::Boolean(true) => {
                shapes.push(self.anything(wanted));
                return Ok(());
            }
            Value::Object(_) => {}
            _ => return Ok(()),
        }
        if !types(&document, Child::Schema(schema)).contains(&wanted) {
            return Ok(());
        }
        let (mine, other) = match wanted {
            Type::Array => (&ARRAY[..], &OBJECT[..]),
            _ => (&OBJECT[..], &ARRAY[..]),
        };
        let (mut elsewhere, mut has_mine) = (Vec::new(), false);
        for member in document.members(schema) {
            match &*document.key(member) {
                key if SILENT.contains(&key) || SCALAR.contains(&key) || other.contains(&key) => {}
                "type" => {}
                key if mine.contains(&key) => has_mine = true,
                key if ELSEWHERE.contains(&key) => elsewhere.push((key.to_owned(), member.value)),
                _ => return self.refuse(member.value, "this keyword"),
            }
        }
        match &elsewhere[..] {
            [] if wanted == Type::Array => shapes.push(Shape::Array(self.array(schema)?)),
            [] => shapes.push(Shape::Object(self.object(schema)?)),
            [(keyword, value)] if !has_mine => self.elsewhere(keyword, *value, wanted, open)?,
            _ => return self.refuse(schema, "several schemas about one value"),
        }
        Ok(())
    }

    /// What a keyword that leads elsewhere leads to.
    fn elsewhere(
        &mut self,
        keyword: &str,
        value: ValueId,
        wanted: Type,
        open: &mut Vec<Child>,
    ) -> Result<(), Error> {
        let document = self.task.document.clone();
        let schemas = || document.items(value).iter().copied().map(Child::Schema);
        match keyword {
            "$ref" => {
                let reference = document.string(value).unwrap_or_default();
                match resolve(&document, self.task.value, &reference) {
                    Some(target) => open.push(Child::Schema(target)),
                    None => return self.refuse(value, "a reference that leads elsewhere"),
                }
            }
            "const" => open.push(Child::Constant(value)),
            "enum" => open.extend(document.items(value).iter().copied().map(Child::Constant)),
            "anyOf" => open.extend(schemas()),
            // One that holds is one that is satisfied alone only where no other can be.
            _ => {
                let mut able = Vec::new();
                for child in schemas() {
                    if self.json(child, &[wanted])?.is_some() {
                        able.push(child);
                    }
                }
                match &able[..] {
                    [only] if keyword == "oneOf" => open.push(*only),
                    [] => {}
                    [only] if document.items(value).len() == 1 => open.push(*only),
                    _ if keyword == "oneOf" => {
                        return self.refuse(value, "alternatives that exclude each other");
                    }
                    _ => return self.refuse(value, "several schemas about one value"),
                }
            }
        }
        Ok(())
    }

    fn count(&self, schema: ValueId, keyword: &str) -> Option<u32> {
        let id = self.task.document.get(schema, keyword)?;
        self.task.document.raw(id).parse().ok()
    }

    /// What a keyword says about everything else: `false` is nothing.
    fn everything_else(&self, schema: ValueId, keywords: [&str; 2]) -> Option<Option<Child>> {
        let document = &self.task.document;
        let id = keywords.iter().find_map(|keyword| document.get(schema, keyword))?;
        Some(match document.value(id) {
            Value::Boolean(false) => None,
            Value::Boolean(true) => Some(Child::Any),
            _ => Some(Child::Schema(id)),
        })
    }

    fn object(&self, schema: ValueId) -> Result<Object, Error> {
        let document = &self.task.document;
        let required: Vec<(ValueId, String)> = document
            .get(schema, "required")
            .map(|id| document.items(id))
            .unwrap_or_default()
            .iter()
            .filter_map(|&id| Some((id, document.string(id)?.into_owned())))
            .collect();
        let mut wanted: FxHashMap<&str, ValueId> =
            required.iter().map(|(place, name)| (&**name, *place)).collect();
        let mut object = Object {
            min: self.count(schema, "minProperties").unwrap_or_default(),
            max: self.count(schema, "maxProperties"),
            names: document.get(schema, "propertyNames").map(Child::Schema),
            ..Object::default()
        };
        if let Some(properties) = document.get(schema, "properties") {
            for member in document.members(properties) {
                let key = document.key(member).into_owned();
                let is_required = wanted.remove(&*key).is_some();
                object.members.push((key, is_required, Child::Schema(member.value)));
            }
        }
        if let Some(patterns) = document.get(schema, "patternProperties") {
            for member in document.members(patterns) {
                let pattern = document.key(member).into_owned();
                object.patterns.push((member.value, pattern, Child::Schema(member.value)));
            }
        }
        let mentions = !object.members.is_empty() || !object.patterns.is_empty();
        object.others = self
            .everything_else(schema, ["additionalProperties", "unevaluatedProperties"])
            .unwrap_or_else(|| self.unmentioned(mentions));
        for (place, name) in &required {
            if wanted.remove(&**name).is_some() {
                match object.others {
                    Some(child) if object.patterns.is_empty() => {
                        object.members.push((name.clone(), true, child));
                    }
                    _ => return self.refuse(*place, "a required key that is not declared"),
                }
            }
        }
        Ok(object)
    }

    fn array(&self, schema: ValueId) -> Result<Array, Error> {
        let document = &self.task.document;
        let first = document.get(schema, "prefixItems").map(|id| document.items(id));
        let first: Vec<Child> =
            first.unwrap_or_default().iter().copied().map(Child::Schema).collect();
        let others = self.everything_else(schema, ["items", "unevaluatedItems"]);
        let others = others.unwrap_or_else(|| self.unmentioned_items(!first.is_empty()));
        Ok(Array {
            first,
            others,
            min: self.count(schema, "minItems").unwrap_or_default(),
            max: self.count(schema, "maxItems"),
        })
    }
}
