//! Whether a schema is so plain that it cannot fail: that it compiles, that something satisfies it,
//! and that there is nothing to warn of.
//!
//! # Idea
//! What can be wrong with a schema is mostly in keywords that few tools use. This pass knows the
//! others, checks their values, and says no to everything else; it need not be right about a schema
//! that it says no to. It is one look at each value, some tens of nanoseconds.

use crate::{
    Style,
    document::{Document, Value, ValueId},
};
use formwork_grammar::Limits;

/// Deeper schemas are not plain: a limit on nesting may be meant for them alone.
const DEPTH: usize = 64;

/// Types by their names.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Keywords that say nothing about values.
const ANNOTATIONS: [&str; 6] =
    ["description", "title", "default", "examples", "example", "$comment"];

/// Whether compiling the schema at `root` succeeds, whatever the options are.
pub(crate) fn cannot_fail(
    document: &Document,
    root: ValueId,
    style: Style,
    limits: &Limits,
) -> bool {
    let defaults = Limits::default();
    let is_roomy = limits.nesting > DEPTH
        && limits.rules >= defaults.rules
        && limits.nodes >= defaults.nodes
        && limits.automaton_states >= defaults.automaton_states
        && limits.automaton_steps >= defaults.automaton_steps;
    // Nested styles have a shape of their own to check.
    let is_flat = !matches!(style, Style::CohereXml | Style::MinimaxM3Xml);
    if !is_roomy || !is_flat || style != Style::Json && !is_object(document, root) {
        return false;
    }
    let mut open = vec![(root, 0)];
    while let Some((schema, depth)) = open.pop() {
        if depth > DEPTH || !is_plain(document, schema, depth, &mut open) {
            return false;
        }
    }
    true
}

fn is_object(document: &Document, schema: ValueId) -> bool {
    let is = document.get(schema, "type").and_then(|id| document.string(id));
    is.as_deref() == Some("object")
}

/// Whether a schema itself is plain; those inside it are added to `open`.
fn is_plain(
    document: &Document,
    schema: ValueId,
    depth: usize,
    open: &mut Vec<(ValueId, usize)>,
) -> bool {
    match document.value(schema) {
        Value::Boolean(holds) => return *holds,
        Value::Object(_) => {}
        _ => return false,
    }
    let mut inside = |schemas: &mut dyn Iterator<Item = ValueId>| {
        open.extend(schemas.map(|schema| (schema, depth + 1)));
    };
    // Keywords that could contradict each other are alone, but for a type and each other in pairs.
    let (mut is_closed, mut others) = (false, 0);
    for member in document.members(schema) {
        let value = member.value;
        let is_right = match &*document.key(member) {
            key if ANNOTATIONS.contains(&key) => true,
            "type" => is_type(document, value),
            "enum" => {
                is_closed = true;
                are_words(document, value) && of_type(document, schema, &["string"], true)
            }
            "anyOf" => {
                is_closed = true;
                inside(&mut document.items(value).iter().copied());
                !document.items(value).is_empty() && document.get(schema, "type").is_none()
            }
            "properties" => {
                others += 1;
                inside(&mut document.members(value).iter().map(|member| member.value));
                matches!(document.value(value), Value::Object(_))
            }
            "items" => {
                others += 1;
                inside(&mut [value].into_iter());
                true
            }
            "required" => {
                others += 1;
                is_declared(document, schema, value)
            }
            "additionalProperties" => {
                others += 1;
                let is_schema = !matches!(document.value(value), Value::Boolean(_));
                inside(&mut is_schema.then_some(value).into_iter());
                true
            }
            key @ ("minLength" | "maxLength" | "minItems" | "maxItems" | "minimum" | "maximum") => {
                others += 1;
                is_bound(document, schema, key, value)
            }
            _ => false,
        };
        if !is_right {
            return false;
        }
    }
    !is_closed || others == 0
}

/// Whether a bound is a small integer, fits to the type, and leaves something to the other one.
fn is_bound(document: &Document, schema: ValueId, keyword: &str, value: ValueId) -> bool {
    let types: &[&str] = match keyword {
        "minLength" | "maxLength" => &["string"],
        "minItems" | "maxItems" => &["array"],
        _ => &["integer", "number"],
    };
    let number = |id: ValueId| {
        let number = document.raw(id).parse::<i32>().ok();
        number.filter(|&number| *document.value(id) == Value::Number && is_sane(keyword, number))
    };
    let Some(bound) = number(value) else { return false };
    let other = match keyword.strip_prefix("min") {
        Some(rest) => {
            document.get(schema, &format!("max{rest}")).map(|max| (Some(bound), number(max)))
        }
        None => {
            let min = document.get(schema, &keyword.replace("max", "min"));
            min.map(|min| (number(min), Some(bound)))
        }
    };
    // Without a word about items there may be none.
    let is_possible = keyword != "minItems" || document.get(schema, "items").is_some();
    is_possible
        && of_type(document, schema, types, false)
        && other.is_none_or(|(min, max)| min.zip(max).is_some_and(|(min, max)| min <= max))
}

/// Whether a bound is one that costs nothing.
fn is_sane(keyword: &str, number: i32) -> bool {
    match keyword {
        "minimum" | "maximum" => number.unsigned_abs() <= 1_000_000_000,
        _ => (0..=10_000).contains(&number),
    }
}

/// Whether the schema names one of these types, or, where that may be, none.
fn of_type(document: &Document, schema: ValueId, types: &[&str], or_none: bool) -> bool {
    match document.get(schema, "type") {
        None => or_none,
        Some(id) => document.string(id).is_some_and(|name| types.contains(&&*name)),
    }
}

fn is_type(document: &Document, value: ValueId) -> bool {
    document.string(value).is_some_and(|name| TYPES.contains(&&*name))
}

/// A list of different strings, at least one of them.
fn are_words(document: &Document, value: ValueId) -> bool {
    let items = document.items(value);
    let words: Option<Vec<_>> = items.iter().map(|&item| document.string(item)).collect();
    let Some(mut words) = words.filter(|words| !words.is_empty()) else { return false };
    words.sort_unstable();
    words.windows(2).all(|pair| pair[0] != pair[1])
}

/// A list of different strings, all of them properties of the schema.
fn is_declared(document: &Document, schema: ValueId, value: ValueId) -> bool {
    let Value::Array(_) = document.value(value) else { return false };
    if document.items(value).is_empty() {
        return true;
    }
    let Some(properties) = document.get(schema, "properties") else { return false };
    let mut keys: Vec<_> =
        document.members(properties).iter().map(|member| document.key(member)).collect();
    keys.sort_unstable();
    let is_key = |&item: &ValueId| {
        document.string(item).is_some_and(|word| keys.binary_search(&word).is_ok())
    };
    document.items(value).iter().all(is_key) && are_words(document, value)
}

#[cfg(test)]
mod tests;
