//! What a request asks for, in the words of serving engines.

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::value::RawValue;

/// A constraint. In JSON an object of one key; the keys are those of vLLM's structured-output
/// requests: `json`, `json_object`, `regex`, `choice`, `grammar`, `structural_tag`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Constraint {
    /// A JSON Schema, as its text, so that numbers keep all their digits. In JSON either a string
    /// that holds the schema's text or the schema itself.
    #[serde(rename = "json", alias = "json_schema", deserialize_with = "schema_text")]
    JsonSchema(String),
    /// Any JSON object. In JSON `true`; `false` is an error, since it would constrain nothing.
    #[serde(rename = "json_object", serialize_with = "as_true", deserialize_with = "only_true")]
    JsonObject,
    /// A regular expression for the whole output.
    #[serde(rename = "regex")]
    Regex(String),
    /// One of these strings.
    #[serde(rename = "choice")]
    Choice(Vec<String>),
    /// A grammar in one of the dialects that the front ends read.
    #[serde(rename = "grammar")]
    Grammar(String),
    /// A structural tag, as its JSON text; read like `json`.
    #[serde(rename = "structural_tag", deserialize_with = "schema_text")]
    StructuralTag(String),
}

impl Constraint {
    /// The request key.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::JsonSchema(_) => "json",
            Self::JsonObject => "json_object",
            Self::Regex(_) => "regex",
            Self::Choice(_) => "choice",
            Self::Grammar(_) => "grammar",
            Self::StructuralTag(_) => "structural_tag",
        }
    }
}

/// A JSON string stands for its contents, anything else for its own text.
fn schema_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    match raw.get().starts_with('"') {
        true => serde_json::from_str(raw.get()).map_err(D::Error::custom),
        false => Ok(raw.get().to_owned()),
    }
}

fn as_true<S: serde::Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(true)
}

fn only_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match bool::deserialize(deserializer)? {
        true => Ok(()),
        false => Err(D::Error::custom("json_object must be true")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Constraint, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn reads_the_keys_of_serving_engines() {
        assert_eq!(read(r#"{"regex":"a+"}"#).unwrap(), Constraint::Regex("a+".into()));
        assert_eq!(
            read(r#"{"choice":["a","b"]}"#).unwrap(),
            Constraint::Choice(vec!["a".into(), "b".into()])
        );
        assert_eq!(read(r#"{"json_object":true}"#).unwrap(), Constraint::JsonObject);
        assert!(read(r#"{"json_object":false}"#).is_err());
        assert!(read(r#"{"regexp":"a"}"#).is_err());
        assert_eq!(read(r#"{"grammar":"root ::= x"}"#).unwrap().key(), "grammar");
    }

    #[test]
    fn a_schema_keeps_its_text_and_may_come_as_a_string() {
        let digits = "9".repeat(400);
        let inline = read(&format!(r#"{{"json":{{"maximum": {digits}}}}}"#)).unwrap();
        assert_eq!(inline, Constraint::JsonSchema(format!(r#"{{"maximum": {digits}}}"#)));
        let quoted = read(r#"{"json":"{\"type\":\"string\"}"}"#).unwrap();
        assert_eq!(quoted, Constraint::JsonSchema(r#"{"type":"string"}"#.into()));
        let written = serde_json::to_string(&quoted).unwrap();
        assert_eq!(read(&written).unwrap(), quoted);
        assert_eq!(
            serde_json::to_string(&Constraint::JsonObject).unwrap(),
            r#"{"json_object":true}"#
        );
    }
}
