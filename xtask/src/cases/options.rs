//! The sources' words for options, and ours.
//!
//! Every source has words of its own; [`WORDS`] says what each means here. Ours are set by their
//! names, so that one which is not there yet needs no change here once it is: until then it makes
//! its cases skipped.

use super::corpus::Case;
use formwork::FrontEndOptions;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A word of a source.
#[derive(Debug)]
struct Word {
    source: &'static str,
    word: &'static str,
    meaning: fn(&Value, &Map<String, Value>) -> Meaning,
}

/// What a word means, given its value and all options of the case.
#[derive(Debug)]
enum Meaning {
    /// These options of ours; none where it is what we do anyway.
    Settings(Vec<Setting>),
    /// Nothing that we have.
    NoCounterpart,
}

/// An option of ours, by name, and its value.
type Setting = (&'static str, Value);

/// The words. White space: where a source takes any at all, ours is the default, any up to a bound.
const WORDS: &[Word] = &[
    word("xgrammar", "any_whitespace", |_, all| xgrammar_white_space(all)),
    word("xgrammar", "separators", |_, all| xgrammar_white_space(all)),
    word("xgrammar", "indent", |_, all| xgrammar_white_space(all)),
    word("xgrammar", "max_whitespace_cnt", |_, all| xgrammar_white_space(all)),
    word("xgrammar", "strict_mode", |value, _| {
        let names = ["additional_properties_default", "additional_items_default"];
        given(value, &names.map(|name| (name, CLOSED)))
    }),
    word("xgrammar", "any_order", |value, _| given(value, &[("property_order", "any")])),
    word("xgrammar", "json_format", |value, _| setting("style", value.clone())),
    word("xgrammar", "root_rule_name", |value, _| setting("root_rule", value.clone())),
    word("xgrammar", "named_grammars", |value, _| named_grammars(value)),
    word("llguidance", "whitespace_flexible", |_, all| llguidance_white_space(all)),
    word("llguidance", "whitespace_pattern", |_, all| llguidance_white_space(all)),
    word("llguidance", "item_separator", |_, all| llguidance_white_space(all)),
    word("llguidance", "key_separator", |_, all| llguidance_white_space(all)),
    word("llguidance", "coerce_one_of", |value, _| match value {
        Value::Bool(false) => Meaning::Settings(Vec::new()),
        _ => Meaning::NoCounterpart,
    }),
    word("llguidance", "lenient", |value, _| given(value, &[("lenient", "relax")])),
    word("llguidance", "json_allow_general_unicode_escapes", |value, _| {
        given(value, &[("spelling", "any")])
    }),
    word("llguidance", "json_allowed_escapes", |_, _| Meaning::NoCounterpart),
    word("llguidance", "named_grammars", |value, _| named_grammars(value)),
    word("outlines", "whitespace_pattern", |value, _| white_space(json!({ "pattern": value }))),
    word("outlines", "closed_objects", closed_objects),
    word("outlines", "property_order", property_order),
    word("llama.cpp", "closed_objects", closed_objects),
    word("llama.cpp", "property_order", property_order),
    word("jsts", "draft", |value, _| setting("default_draft", value.clone())),
    word("jsts", "format_assertion", |value, _| match value {
        Value::Bool(true) => setting("format", "assert".into()),
        _ => setting("format", "annotate".into()),
    }),
];

/// A source, a front end, and settings.
type Always = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What a source takes for granted in all its cases of a front end. jsts means values, however they
/// are spelt and in whatever order their keys come; xgrammar's `.` is any character, its objects in
/// structural tags have no keys but those that are declared, what its Lark ignores may come last, and
/// no letter has a case but those of ASCII. Its look-ahead in EBNF is a hint.
const ALWAYS: &[Always] = &[
    ("jsts", "json_schema", &[("property_order", "any"), ("spelling", "any")]),
    ("xgrammar", "ebnf", &[("grammar", "ebnf"), ("dot", "any"), ("lenient", "relax")]),
    (
        "xgrammar",
        "lark",
        &[
            ("grammar", "lark"),
            ("ignored", "between_and_after"),
            ("folding", "ascii"),
            ("ending", "optional"),
        ],
    ),
    (
        "xgrammar",
        "regex",
        &[("dialect", "ecma262"), ("dot", "any"), ("classes", "ascii"), ("folding", "ascii")],
    ),
    (
        "xgrammar",
        "structural_tag",
        &[
            ("grammar", "ebnf"),
            ("dot", "any"),
            ("additional_properties_default", CLOSED),
            ("additional_items_default", CLOSED),
        ],
    ),
    ("llguidance", "lark", &[("grammar", "lark")]),
    ("llama.cpp", "lark", &[("grammar", "lark")]),
    ("llama.cpp", "gbnf", &[("grammar", "gbnf")]),
    ("kbnf", "gbnf", &[("grammar", "gbnf")]),
];

/// Closed where something is declared: an object, or array, without any is open everywhere.
const CLOSED: &str = "forbidden_beside_others";

const fn word(
    source: &'static str,
    word: &'static str,
    meaning: fn(&Value, &Map<String, Value>) -> Meaning,
) -> Word {
    Word { source, word, meaning }
}

/// What becomes of a case with an option that we do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownOptions {
    /// It is skipped.
    Skip,
    /// It is run without that option. Words that have no counterpart make it skipped still.
    LeaveOut,
}

/// Our options for a case.
///
/// # Errors
/// The options that we do not have: words without a counterpart as they are, others by our names.
pub(super) fn front_end_options(
    case: &Case,
    unknown: UnknownOptions,
) -> Result<FrontEndOptions, BTreeSet<String>> {
    let mut missing = BTreeSet::new();
    let mut settings = always(case);
    for (name, value) in &case.options {
        match meaning(case.corpus(), name, value, &case.options) {
            Meaning::Settings(more) => settings.extend(more),
            Meaning::NoCounterpart => {
                missing.insert(name.clone());
            }
        }
    }
    let mut options = FrontEndOptions::default();
    for (name, value) in settings {
        if options.set(name, &value).is_err() && unknown == UnknownOptions::Skip {
            missing.insert(name.to_owned());
        }
    }
    match missing.is_empty() {
        true => Ok(options),
        false => Err(missing),
    }
}

fn always(case: &Case) -> Vec<Setting> {
    let rows = ALWAYS
        .iter()
        .filter(|(source, front_end, _)| *source == case.corpus() && *front_end == case.frontend);
    rows.flat_map(|(.., settings)| *settings).map(|&(name, value)| (name, value.into())).collect()
}

fn meaning(source: &str, name: &str, value: &Value, all: &Map<String, Value>) -> Meaning {
    let found = WORDS.iter().find(|word| word.source == source && word.word == name);
    found.map_or(Meaning::NoCounterpart, |word| (word.meaning)(value, all))
}

fn setting(name: &'static str, value: Value) -> Meaning {
    Meaning::Settings(vec![(name, value)])
}

/// Named grammars: their front ends are those of the cases, by other names.
fn named_grammars(value: &Value) -> Meaning {
    let Some(named) = value.as_object() else { return Meaning::NoCounterpart };
    let mut grammars = Map::new();
    for (name, grammar) in named {
        let kind = match grammar["frontend"].as_str() {
            Some("lark") => "lark",
            Some("json_schema") => "json",
            Some("regex") => "regex",
            _ => return Meaning::NoCounterpart,
        };
        grammars.insert(name.clone(), json!({ kind: grammar["spec"] }));
    }
    setting("named_grammars", Value::Object(grammars))
}

fn white_space(value: Value) -> Meaning {
    setting("white_space", value)
}

/// Options for `true`; `false` is what we do anyway.
fn given(value: &Value, settings: &[(&'static str, &'static str)]) -> Meaning {
    match value {
        Value::Bool(true) => {
            Meaning::Settings(settings.iter().map(|&(name, value)| (name, value.into())).collect())
        }
        Value::Bool(false) => Meaning::Settings(Vec::new()),
        _ => Meaning::NoCounterpart,
    }
}

fn closed_objects(value: &Value, _: &Map<String, Value>) -> Meaning {
    given(value, &[("additional_properties_default", CLOSED)])
}

fn property_order(value: &Value, _: &Map<String, Value>) -> Meaning {
    match value.as_str() {
        Some("declared") => Meaning::Settings(Vec::new()),
        _ => setting("property_order", value.clone()),
    }
}

/// Any white space, or none but that of fixed separators and an indentation by so many spaces. As
/// in Python, an indented item ends with a bare comma.
fn xgrammar_white_space(all: &Map<String, Value>) -> Meaning {
    let given = |name| all.get(name).filter(|value| !value.is_null());
    if given("any_whitespace") != Some(&Value::Bool(false)) {
        return match given("max_whitespace_cnt") {
            Some(max) => white_space(json!({ "bounded": max })),
            None => Meaning::Settings(Vec::new()),
        };
    }
    let indent = given("indent").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let separators = match given("separators").and_then(Value::as_array).map(Vec::as_slice) {
        Some([item, key]) => (item.clone(), key.clone()),
        Some(_) => return Meaning::NoCounterpart,
        None => (if indent.is_some() { "," } else { ", " }.into(), ": ".into()),
    };
    white_space(json!({ "fixed": {
        "item_separator": separators.0,
        "key_separator": separators.1,
        "indent": indent.map(|n| " ".repeat(n)),
    }}))
}

/// White space anywhere, by a pattern or not, or none but what separators, which are patterns, have.
fn llguidance_white_space(all: &Map<String, Value>) -> Meaning {
    let text = |name, default| all.get(name).map_or(Some(default), Value::as_str);
    let (Some(item), Some(key)) = (text("item_separator", ","), text("key_separator", ":")) else {
        return Meaning::NoCounterpart;
    };
    let is_flexible = all.get("whitespace_flexible") != Some(&Value::Bool(false));
    match (is_flexible, all.get("whitespace_pattern")) {
        (true, None) if item == "," && key == ":" => Meaning::Settings(Vec::new()),
        (true, Some(pattern)) if item == "," && key == ":" => {
            white_space(json!({ "pattern": pattern }))
        }
        (false, None) => white_space(json!({ "separators": { "item": item, "key": key } })),
        _ => Meaning::NoCounterpart,
    }
}
