//! The subset of JSON Schema that OpenAI calls *strict*, as a check.
//!
//! # Idea
//! A provider that accepts a schema only within such a profile answers with the first thing that it
//! dislikes. Here all departures are listed, each with its place, so that a schema can be written
//! once for both. Nothing is changed, and nothing that is enforced here depends on it.
//!
//! # The profile
//! As OpenAI documents structured outputs in 2026:
//! - The root is an object, and no `anyOf`.
//! - Every object has `additionalProperties: false` and requires all its properties.
//! - Keywords other than those listed below, such as `allOf`, `oneOf` or `minLength`, are not
//!   supported.
//! - At most 5,000 properties, 10 levels of objects, 1,000 values in enumerations, and 120,000
//!   characters in names and listed strings; in an enumeration of more than 250 strings, 15,000.
//!
//! # Cost
//! Linear in the schema.

use crate::{
    SchemaError,
    document::{self, Children, Document, Value, ValueId},
};
use formwork_grammar::{Limits, Location, SourcePosition};
use std::collections::HashSet;

/// The keywords of the profile, those without effect included.
const KEYWORDS: [&str; 25] = [
    "$comment",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// The formats of the profile.
const FORMATS: [&str; 9] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// A departure from the profile, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// What departs.
    pub kind: DepartureKind,
    /// Where, as a JSON pointer into the schema.
    pub location: Location,
    /// Where in its text.
    pub position: SourcePosition,
}

/// How a schema departs from the profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DepartureKind {
    /// The root is not of type `object`, or an `anyOf`.
    #[error("the root must be an object, and no `anyOf`")]
    Root,
    /// A schema says no type, and is no reference, `anyOf`, `enum` or `const` either.
    #[error("a schema must have a type")]
    NoType,
    /// A boolean in place of a schema.
    #[error("a boolean is no schema here")]
    BooleanSchema,
    /// An object may have further properties.
    #[error("an object must have `additionalProperties: false`")]
    OpenObject,
    /// A property is not required.
    #[error("the property {name:?} must be required")]
    OptionalProperty {
        /// Its name, at most 64 characters of it.
        name: String,
    },
    /// A keyword that the profile does not have.
    #[error("`{keyword}` is not supported")]
    Keyword {
        /// Its name, at most 64 characters of it.
        keyword: String,
    },
    /// A format that the profile does not have.
    #[error("the format {format:?} is not supported")]
    Format {
        /// Its name, at most 64 characters of it.
        format: String,
    },
    /// A reference that does not lead into the schema itself.
    #[error("a reference must be `#` or a pointer into this schema")]
    Reference,
    /// More of something than the profile allows, once for each.
    #[error("more than {limit} {what}")]
    TooMany {
        /// What is counted.
        what: Counted,
        /// How many there may be.
        limit: usize,
    },
}

/// What the profile counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Counted {
    /// Properties of all objects.
    Properties,
    /// Levels of objects inside each other, references not followed.
    Levels,
    /// Values in all enumerations.
    EnumValues,
    /// Characters in names of properties and definitions, and in listed strings.
    Characters,
    /// Characters in one enumeration of more than 250 strings.
    EnumCharacters,
}

impl Counted {
    fn limit(self) -> usize {
        match self {
            Self::Properties => 5_000,
            Self::Levels => 10,
            Self::EnumValues => 1_000,
            Self::Characters => 120_000,
            Self::EnumCharacters => 15_000,
        }
    }
}

impl std::fmt::Display for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Properties => "properties",
            Self::Levels => "levels of nesting",
            Self::EnumValues => "values in enumerations",
            Self::Characters => "characters in names and listed strings",
            Self::EnumCharacters => "characters in a long enumeration",
        })
    }
}

/// Every departure of a schema from OpenAI's strict profile, in the order of their places; none
/// when it is within. At most 1,000 are listed.
///
/// # Errors
/// [`SchemaError`] when the text is not JSON, or larger or deeper than the limits allow.
pub fn strict_departures(
    schema: impl AsRef<[u8]>,
    limits: &Limits,
) -> Result<Vec<Departure>, SchemaError> {
    let document = document::parse(schema.as_ref(), limits)?;
    let mut check = Check {
        document: &document,
        found: Vec::new(),
        pending: Vec::new(),
        counts: [0; 5],
        reported: HashSet::new(),
    };
    check.root();
    while let Some((schema, level)) = check.pending.pop() {
        check.schema(schema, level);
    }
    let mut found = check.found;
    found.sort_by_key(|&(value, _)| value);
    let departures = found.into_iter().take(MOST).map(|(value, kind)| Departure {
        kind,
        location: Location::Pointer(document.pointer(value)),
        position: document.position(value),
    });
    Ok(departures.collect())
}

/// So many departures are listed, and so many characters of a name are quoted: both lists and names
/// can be as long as the schema.
const MOST: usize = 1_000;
const QUOTED: usize = 64;

struct Check<'d> {
    document: &'d Document,
    found: Vec<(ValueId, DepartureKind)>,
    /// Schemas still to be looked at, with the number of objects around them.
    pending: Vec<(ValueId, usize)>,
    /// By [`Counted`], what is counted over the whole schema.
    counts: [usize; 5],
    /// What has been found to be too much already.
    reported: HashSet<Counted>,
}

impl<'d> Check<'d> {
    fn depart(&mut self, at: ValueId, kind: DepartureKind) {
        // Sorting comes later, so some more are kept than are listed.
        if self.found.len() < 4 * MOST {
            self.found.push((at, kind));
        }
    }

    fn too_many(&mut self, at: ValueId, what: Counted, count: usize) {
        if count > what.limit() && self.reported.insert(what) {
            self.depart(at, DepartureKind::TooMany { what, limit: what.limit() });
        }
    }

    fn count(&mut self, at: ValueId, what: Counted, more: usize) {
        let count = &mut self.counts[what as usize];
        *count += more;
        let count = *count;
        self.too_many(at, what, count);
    }

    fn root(&mut self) {
        let is_object = self.string(ValueId::ROOT, "type") == Some("object");
        if !is_object || self.document.member(ValueId::ROOT, "anyOf").is_some() {
            self.depart(ValueId::ROOT, DepartureKind::Root);
        }
        self.pending.push((ValueId::ROOT, 0));
    }

    fn string(&self, value: ValueId, key: &str) -> Option<&'d str> {
        match self.document.value(self.document.member(value, key)?) {
            Value::String(text) => Some(self.document.text(text)),
            _ => None,
        }
    }

    /// Whether a schema names a type, alone or among others.
    fn has_type(&self, schema: ValueId, name: &str) -> bool {
        let is_it = |value: ValueId| {
            matches!(self.document.value(value),
                Value::String(text) if self.document.text(text) == name)
        };
        let Some(types) = self.document.member(schema, "type") else { return false };
        match self.document.value(types) {
            Value::Array(items) => self.document.items(items).iter().any(|&item| is_it(item)),
            _ => is_it(types),
        }
    }

    fn schema(&mut self, schema: ValueId, level: usize) {
        let document = self.document;
        let children = match document.value(schema) {
            Value::Object(children) => children,
            Value::Boolean(_) => return self.depart(schema, DepartureKind::BooleanSchema),
            _ => return,
        };
        self.too_many(schema, Counted::Levels, level);
        let has = |key: &str| document.member(schema, key).is_some();
        if !["type", "$ref", "anyOf", "enum", "const"].into_iter().any(has) {
            self.depart(schema, DepartureKind::NoType);
        }
        if self.has_type(schema, "object") || has("properties") {
            self.object(schema);
        }
        self.keywords(children, level);
    }

    fn object(&mut self, schema: ValueId) {
        let document = self.document;
        let additional = document.member(schema, "additionalProperties");
        let closed = additional.map(|value| document.value(value)) == Some(Value::Boolean(false));
        if !closed {
            self.depart(additional.unwrap_or(schema), DepartureKind::OpenObject);
        }
        let properties = document.member(schema, "properties").map(|at| document.value(at));
        let Some(Value::Object(properties)) = properties else { return };
        let required = match document.member(schema, "required").map(|at| document.value(at)) {
            Some(Value::Array(items)) => document.items(items),
            _ => &[],
        };
        let name = |&item: &ValueId| match document.value(item) {
            Value::String(text) => Some(document.text(text)),
            _ => None,
        };
        let required: HashSet<&str> = required.iter().filter_map(name).collect();
        for member in document.members(properties) {
            let name = document.text(member.key);
            if !required.contains(name) {
                let name = quoted(name);
                self.depart(member.value, DepartureKind::OptionalProperty { name });
            }
        }
    }

    fn keywords(&mut self, children: Children, level: usize) {
        let document = self.document;
        for member in document.members(children) {
            let (name, value) = (document.text(member.key), member.value);
            match (name, document.value(value)) {
                ("$defs" | "definitions", Value::Object(children)) => {
                    self.named(children, value, 0);
                }
                ("properties", Value::Object(children)) => {
                    self.count(value, Counted::Properties, children.len as usize);
                    self.named(children, value, level + 1);
                }
                ("anyOf", Value::Array(children)) => {
                    let branches = document.items(children).iter();
                    self.pending.extend(branches.map(|&branch| (branch, level)));
                }
                ("items", _) => self.pending.push((value, level)),
                ("enum", Value::Array(values)) => self.enumeration(value, values),
                ("const", Value::String(text)) => {
                    let length = document.text(text).chars().count();
                    self.count(value, Counted::Characters, length);
                }
                ("format", Value::String(text)) if !FORMATS.contains(&document.text(text)) => {
                    let format = quoted(document.text(text));
                    self.depart(value, DepartureKind::Format { format });
                }
                ("$ref", Value::String(text)) => {
                    let reference = document.text(text);
                    if reference != "#" && !reference.starts_with("#/") {
                        self.depart(value, DepartureKind::Reference);
                    }
                }
                _ if KEYWORDS.contains(&name) => {}
                _ => self.depart(value, DepartureKind::Keyword { keyword: quoted(name) }),
            }
        }
    }

    /// Schemas with names, which count.
    fn named(&mut self, children: Children, at: ValueId, level: usize) {
        let document = self.document;
        for member in document.members(children) {
            let length = document.text(member.key).chars().count();
            self.count(at, Counted::Characters, length);
            self.pending.push((member.value, level));
        }
    }

    fn enumeration(&mut self, at: ValueId, values: Children) {
        let document = self.document;
        self.count(at, Counted::EnumValues, values.len as usize);
        let lengths =
            document.items(values).iter().filter_map(|&value| match document.value(value) {
                Value::String(text) => Some(document.text(text).chars().count()),
                _ => None,
            });
        let characters = lengths.sum();
        self.count(at, Counted::Characters, characters);
        if values.len > 250 {
            self.too_many(at, Counted::EnumCharacters, characters);
        }
    }
}

fn quoted(name: &str) -> String {
    name.chars().take(QUOTED).collect()
}

#[cfg(test)]
mod tests;
