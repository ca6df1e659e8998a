//! Under what a compiled constraint is kept: SHA-256 of everything that determines its masks.
//!
//! Constraints that say the same in other words should share an entry, as far as that is evident
//! from the text; a missed pair costs a compile, a wrong one an output that breaks its schema. So a
//! JSON text loses its white space and its spelling of strings, and a schema loses its titles,
//! descriptions and comments, and the order of keywords that hold no schema. Everything else stays
//! as it is written: the order of `properties` is the order of the output, numbers keep their
//! digits. Where a reference could point at what would be removed, the text is taken as it is.

use crate::{BackendChoice, LimitsConfig, OptionValues};
use formwork::{Constraint, vocab::Fingerprint};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::{collections::HashSet, fmt};

/// The identity of a constraint with everything around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key([u8; 32]);

impl Key {
    /// The least of all.
    pub(crate) const FIRST: Self = Self([0; 32]);

    /// The key of a number.
    #[cfg(test)]
    pub(crate) fn numbered(number: u32) -> Self {
        let mut bytes = [0; 32];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        Self(bytes)
    }
}

/// What determines the masks of a constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyParts<'a> {
    pub(crate) constraint: &'a Constraint,
    pub(crate) options: &'a OptionValues,
    pub(crate) limits: &'a LimitsConfig,
    pub(crate) backend: &'a BackendChoice,
    pub(crate) vocabulary: Fingerprint,
}

impl KeyParts<'_> {
    /// The key. Linear in the text, but for JSON of many levels, each of which is read again.
    pub(crate) fn key(&self) -> Key {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(b"formwork constraint 1");
        part(&self.vocabulary.0);
        part(String::from(self.backend.clone()).as_bytes());
        // Maps of text and numbers always have a text.
        part(&serde_json::to_vec(self.options).unwrap_or_default());
        part(&serde_json::to_vec(self.limits).unwrap_or_default());
        part(self.constraint.key().as_bytes());
        match self.constraint {
            Constraint::JsonSchema(text) => {
                // What other documents refer to is not looked for.
                let alone = !self.options.contains_key("documents");
                json_part(text, if alone { Place::Schema } else { Place::Value }, &mut part);
            }
            Constraint::StructuralTag(text) => json_part(text, Place::Value, &mut part),
            Constraint::Regex(text) | Constraint::Grammar(text) => part(text.as_bytes()),
            Constraint::Choice(choices) => choices.iter().for_each(|it| part(it.as_bytes())),
            other => part(format!("{other:?}").as_bytes()),
        }
        Key(hash.finalize().into())
    }
}

fn json_part(text: &str, place: Place, part: &mut impl FnMut(&[u8])) {
    match normal_json(text, place) {
        Some(normal) => {
            part(b"normal");
            part(&normal);
        }
        None => {
            part(b"as written");
            part(text.as_bytes());
        }
    }
}

/// Texts longer than this are not normalised.
const MAX_BYTES: usize = 1 << 20;
/// Nor those that are deeper.
const MAX_DEPTH: usize = 64;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A schema, or a list of some.
    Schema,
    /// Schemas by name.
    Schemas,
    /// Anything else: its order may have a meaning.
    Value,
}

const ANNOTATIONS: [&str; 6] =
    ["title", "description", "$comment", "deprecated", "readOnly", "writeOnly"];

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

impl Place {
    /// What stands under a keyword of a schema.
    fn under(keyword: &str) -> Self {
        match keyword {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => Self::Schemas,
            "items"
            | "prefixItems"
            | "additionalItems"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "allOf"
            | "anyOf"
            | "oneOf" => Self::Schema,
            _ => Self::Value,
        }
    }
}

/// The text in its normal form; `None` when it is no JSON or had better be left alone.
fn normal_json(text: &str, place: Place) -> Option<Vec<u8>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let value: &RawValue = serde_json::from_str(text).ok()?;
    let mut out = Vec::with_capacity(text.len());
    write(&mut out, value.get(), place, 0)?;
    Some(out)
}

fn write(out: &mut Vec<u8>, text: &str, place: Place, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match text.as_bytes().first()? {
        b'{' => write_object(out, text, place, depth)?,
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            let place = if place == Place::Schema { place } else { Place::Value };
            out.push(b'[');
            for item in items {
                write(out, item.get(), place, depth + 1)?;
                out.push(b',');
            }
            out.push(b']');
        }
        b'"' => {
            let decoded: String = serde_json::from_str(text).ok()?;
            serde_json::to_writer(out, &decoded).ok()?;
        }
        _ => out.extend_from_slice(text.as_bytes()),
    }
    Some(())
}

fn write_object(out: &mut Vec<u8>, text: &str, place: Place, depth: usize) -> Option<()> {
    let Members(mut members) = serde_json::from_str(text).ok()?;
    let mut names = HashSet::new();
    if !members.iter().all(|(name, _)| names.insert(name.as_str())) {
        return None;
    }
    if members.iter().any(|(name, value)| is_odd_reference(name, value)) {
        return None;
    }
    if place == Place::Schema {
        members.retain(|(name, value)| !is_annotation(name, value));
        let (mut plain, rest): (Vec<_>, Vec<_>) =
            members.into_iter().partition(|(name, value)| is_plain(name, value));
        plain.sort_by(|one, other| one.0.cmp(&other.0));
        plain.extend(rest);
        members = plain;
    }
    out.push(b'{');
    for (name, value) in members {
        serde_json::to_writer(&mut *out, &name).ok()?;
        out.push(b':');
        let place = match place {
            Place::Schema => Place::under(&name),
            Place::Schemas => Place::Schema,
            Place::Value => Place::Value,
        };
        write(out, value.get(), place, depth + 1)?;
        out.push(b',');
    }
    out.push(b'}');
    Some(())
}

/// Whether a member of a schema says nothing of its values. One of another type is for the front
/// end to complain of.
fn is_annotation(name: &str, value: &RawValue) -> bool {
    let value = value.get();
    match name {
        "title" | "description" | "$comment" => value.starts_with('"'),
        "deprecated" | "readOnly" | "writeOnly" => matches!(value, "true" | "false"),
        _ => false,
    }
}

/// Whether a keyword holds no schema and means the same wherever it stands.
fn is_plain(name: &str, value: &RawValue) -> bool {
    !name.starts_with('$') && !value.get().starts_with(['{', '['])
}

/// Whether a reference could point at an annotation.
fn is_odd_reference(name: &str, value: &RawValue) -> bool {
    let target = || serde_json::from_str::<String>(value.get()).unwrap_or_default();
    REFERENCES.contains(&name) && {
        let target = target();
        target.contains('%') || ANNOTATIONS.iter().any(|word| target.contains(word))
    }
}

/// The members of an object as they are written, doubles included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(constraint: &Constraint) -> Key {
        keyed(constraint, &OptionValues::new(), &BackendChoice::Auto)
    }

    fn keyed(constraint: &Constraint, options: &OptionValues, backend: &BackendChoice) -> Key {
        let limits = LimitsConfig::default();
        let vocabulary = Fingerprint([7; 32]);
        KeyParts { constraint, options, limits: &limits, backend, vocabulary }.key()
    }

    fn schema(text: &str) -> Key {
        key(&Constraint::JsonSchema(text.into()))
    }

    #[test]
    fn what_has_no_meaning_makes_no_difference() {
        let plain = schema(r#"{"maxLength":3,"type":"string"}"#);
        for other in [
            r#" { "type" : "string" , "maxLength" : 3 } "#,
            r#"{"title":"A","type":"string","description":"B","maxLength":3,"deprecated":true}"#,
            r#"{"\u0074ype":"\u0073tring","maxLength":3}"#,
        ] {
            assert_eq!(plain, schema(other), "{other}");
        }
        let nested =
            schema(r#"{"properties":{"title":{"type":"null"},"b":{"items":{"type":"null"}}}}"#);
        let titled = schema(
            r#"{"properties":{"title":{"title":"T","type":"null"},"b":{"items":{"$comment":"c","type":"null"}}}}"#,
        );
        assert_eq!(nested, titled);
    }

    #[test]
    fn what_may_have_a_meaning_makes_a_difference() {
        let texts = [
            r#"{"properties":{"a":{},"b":{}}}"#,
            r#"{"properties":{"b":{},"a":{}}}"#,
            r#"{"properties":{"a":{}}}"#,
            r#"{"properties":{"title":{}}}"#,
            r#"{"properties":{"title":true}}"#,
            r#"{"const":{"title":"a"}}"#,
            r#"{"const":{"title":"b"}}"#,
            r#"{"const":{"x":1,"y":2}}"#,
            r#"{"const":{"y":2,"x":1}}"#,
            r#"{"maximum":1.0}"#,
            r#"{"maximum":1}"#,
            r#"{"title":1}"#,
            r#"{"title":2}"#,
            r##"{"$ref":"#/deprecated","deprecated":true}"##,
            r##"{"$ref":"#/deprecated","deprecated":false}"##,
            r##"{"$ref":"#/%64eprecated","deprecated":true}"##,
            r##"{"$ref":"#/%64eprecated","deprecated":false}"##,
            r##"{"$ref":"#/$defs/a","properties":{"b":{}}}"##,
            r##"{"properties":{"b":{}},"$ref":"#/$defs/a"}"##,
            r#"{"a":1,"a":2}"#,
            r#"{"a":2,"a":1}"#,
            "{",
            "{ ",
        ];
        let keys: HashSet<Key> = texts.iter().map(|text| schema(text)).collect();
        assert_eq!(keys.len(), texts.len());
    }

    #[test]
    fn everything_around_the_constraint_counts() {
        let constraint = Constraint::Regex("a".into());
        let none = OptionValues::new();
        let dot = OptionValues::from([("dot".to_owned(), json!("any"))]);
        let dfa = BackendChoice::Named("dfa".into());
        let keys = HashSet::from([
            key(&constraint),
            key(&Constraint::Grammar("a".into())),
            key(&Constraint::Choice(vec!["a".into()])),
            key(&Constraint::Choice(vec!["a".into(), "b".into()])),
            key(&Constraint::Choice(vec!["ab".into()])),
            key(&Constraint::JsonObject),
            keyed(&constraint, &dot, &BackendChoice::Auto),
            keyed(&constraint, &none, &dfa),
        ]);
        assert_eq!(keys.len(), 8);
    }

    #[test]
    fn depth_is_no_danger() {
        let deep =
            |levels: usize| format!("{}{}", r#"{"not":"#.repeat(levels), "1") + &"}".repeat(levels);
        assert_ne!(schema(&deep(60)), schema(&deep(61)));
        assert_ne!(schema(&deep(100_000)), schema(&deep(100_001)));
    }
}
