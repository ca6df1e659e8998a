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
use formwork_json_schema::Unmentioned;
use std::borrow::Cow;

/// Deeper schemas are not plain: a limit on nesting may be meant for them alone.
const DEPTH: usize = 64;

/// Types by their names.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Formats that are enforced, or say nothing.
const FORMATS: [&str; 9] =
    ["date", "time", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"];

/// More alternatives are not compared with each other.
const MAX_BRANCHES: usize = 16;

/// Keywords that say nothing about values.
const ANNOTATIONS: [&str; 6] =
    ["description", "title", "default", "examples", "example", "$comment"];

/// Whether compiling the schema at `root` succeeds, whatever the other options are.
pub(crate) fn cannot_fail(
    document: &Document,
    root: ValueId,
    style: Style,
    unmentioned: Unmentioned,
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
        if depth > DEPTH || !is_plain((document, schema), style, unmentioned, depth, &mut open) {
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
    (document, schema): (&Document, ValueId),
    style: Style,
    unmentioned: Unmentioned,
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
    let (mut closed, mut others) = (0, 0);
    for member in document.members(schema) {
        let value = member.value;
        let is_right = match &*document.key(member) {
            key if ANNOTATIONS.contains(&key) => true,
            "type" => is_type(document, value),
            key @ ("enum" | "const" | "format") => {
                closed += 1;
                is_about_strings(document, key, value)
                    && of_type(document, schema, &["string"], true)
            }
            keyword @ ("anyOf" | "oneOf") if may_choose(document, schema, style, unmentioned) => {
                is_choice_of_required(document, schema, value, keyword)
            }
            "anyOf" => {
                closed += 1;
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
    closed == 0 || closed == 1 && others == 0
}

/// Whether alternatives may stand beside properties: in other styles members and alternatives of
/// them are not written side by side, and one that is closed by itself has none of the members.
fn may_choose(
    document: &Document,
    schema: ValueId,
    style: Style,
    unmentioned: Unmentioned,
) -> bool {
    style == Style::Json
        && unmentioned != Unmentioned::Forbidden
        && document.get(schema, "properties").is_some()
}

/// Whether a keyword that names strings has a value that leaves some.
fn is_about_strings(document: &Document, keyword: &str, value: ValueId) -> bool {
    match keyword {
        "enum" => are_words(document, value),
        "const" => document.string(value).is_some(),
        _ => document.string(value).is_some_and(|name| FORMATS.contains(&&*name)),
    }
}

/// Whether alternatives beside properties say nothing but which of these are required, and some
/// choice of members satisfies what the keyword asks of them.
fn is_choice_of_required(
    document: &Document,
    schema: ValueId,
    alternatives: ValueId,
    keyword: &str,
) -> bool {
    let branches = document.items(alternatives);
    if branches.len() > MAX_BRANCHES || !of_type(document, schema, &["object"], false) {
        return false;
    }
    let names = |list: ValueId| -> Option<Vec<Cow<'_, str>>> {
        document.items(list).iter().map(|&item| document.string(item)).collect()
    };
    let required = |branch: &ValueId| match document.members(*branch) {
        [only] if document.key(only) == "required" => {
            is_declared(document, schema, only.value).then(|| names(only.value)).flatten()
        }
        _ => None,
    };
    let Some(lists) = branches.iter().map(required).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let always = document.get(schema, "required").and_then(names).unwrap_or_default();
    // With the members of one branch and those that are always there, is another satisfied too?
    let follows = |of: &[Cow<'_, str>], from: &[Cow<'_, str>]| {
        of.iter().all(|name| from.contains(name) || always.contains(name))
    };
    lists.iter().enumerate().any(|(at, own)| {
        let mut others = lists.iter().enumerate().filter(|&(other, _)| other != at);
        keyword == "anyOf" || !others.any(|(_, other)| follows(other, own))
    })
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
