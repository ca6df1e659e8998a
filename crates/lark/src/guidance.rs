//! JSON Schemas inside a grammar, with the options that they may carry themselves (`x-guidance`).

use crate::error::LarkErrorKind as Kind;
use formwork_grammar::{Grammar, Limits};
use formwork_json_schema::{Leniency, Options, Separators, Spelling, WhiteSpace, compile};
use serde_json::{Map, Value};

/// The grammar of a schema.
pub(crate) fn schema(text: &str, options: &Options, limits: &Limits) -> Result<Grammar, Kind> {
    let own = match text.contains("x-guidance") {
        true => Some(with_own_options(text, options)?),
        false => None,
    };
    compile(text, own.as_ref().unwrap_or(options), limits)
        .map_err(|error| Kind::Schema(Box::new(error)))
}

/// The options of `x-guidance` at the top of the schema, over those given.
fn with_own_options(text: &str, options: &Options) -> Result<Options, Kind> {
    let mut options = options.clone();
    let Ok(Value::Object(schema)) = serde_json::from_str(text) else { return Ok(options) };
    let Some(own) = schema.get("x-guidance") else { return Ok(options) };
    let Value::Object(own) = own else {
        return Err(Kind::Json { what: "`x-guidance` must be an object" });
    };
    let unsupported = |name: &str| Kind::Option { name: name.into() };
    for (name, value) in own {
        match (name.as_str(), value) {
            (
                "item_separator" | "key_separator" | "whitespace_pattern",
                Value::String(_) | Value::Null,
            )
            | ("whitespace_flexible", Value::Bool(_))
            | (
                "coerce_one_of" | "lenient" | "json_allow_general_unicode_escapes",
                Value::Bool(false),
            ) => {}
            ("lenient", Value::Bool(true)) => options.lenient = Leniency::Relax,
            ("json_allow_general_unicode_escapes", Value::Bool(true)) => {
                options.spelling = Spelling::Any;
            }
            _ => return Err(unsupported(name)),
        }
    }
    if let Some(white_space) = white_space(own)? {
        options.white_space = white_space;
    }
    Ok(options)
}

/// White space as `x-guidance` has it; `None` when it says nothing about it.
fn white_space(own: &Map<String, Value>) -> Result<Option<WhiteSpace>, Kind> {
    let text = |name: &str| own.get(name).and_then(Value::as_str);
    let flexible = own.get("whitespace_flexible").and_then(Value::as_bool);
    let pattern = match (text("whitespace_pattern"), flexible) {
        (Some(pattern), _) => pattern,
        (None, Some(false)) => "",
        _ => r"[ \n\r\t]*",
    };
    let (item, key) = (text("item_separator"), text("key_separator"));
    Ok(match (item, key, text("whitespace_pattern"), flexible) {
        (None, None, None, None | Some(true)) => None,
        (None, None, None, Some(false)) => Some(WhiteSpace::Compact),
        (None, None, Some(pattern), _) => Some(WhiteSpace::Pattern(pattern.into())),
        (item, key, _, _) => {
            let around = |separator: &str| format!("(?:{pattern}){separator}(?:{pattern})");
            Some(WhiteSpace::Separators(Separators {
                inside: pattern.into(),
                item: around(item.unwrap_or(",")),
                key: around(key.unwrap_or(":")),
            }))
        }
    })
}
