//! Options of the front ends, and their names.
//!
//! Whoever takes options from text (a configuration file, a command line, a request) hands name and
//! value to [`FrontEndOptions::set`], whose documentation lists them.

use crate::backends::Listed;
use formwork_json_schema::{Fixed, WhiteSpace};
use formwork_regex::{Case, Classes, Dialect, Dot, MatchMode};
use serde::Deserialize;
use serde_json::Value;

/// Options of the front ends. By name: see [`FrontEndOptions::set`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FrontEndOptions {
    /// For `json` and `json_object`.
    pub json_schema: formwork_json_schema::Options,
    /// For `regex`.
    pub regex: formwork_regex::Options,
}

/// Why an option could not be set; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// No option has this name.
    #[error("unknown option {name:?}; known are {}", Listed(&names()))]
    Unknown {
        /// The name.
        name: Box<str>,
    },
    /// The option has no such value.
    #[error("option `{name}` cannot be {found}; it takes {values}")]
    Value {
        /// The option.
        name: &'static str,
        /// The value, as JSON, its end cut off when it is long.
        found: Box<str>,
        /// What it takes.
        values: &'static str,
    },
}

/// An option of a front end.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FrontEndOption {
    /// Its name.
    pub name: &'static str,
    /// Its values, as JSON, for people; the default first.
    pub values: &'static str,
    /// Sets it; `None` when the value is none of its own.
    set: fn(&mut FrontEndOptions, &Value) -> Option<()>,
}

/// Every option by its name.
const OPTIONS: &[FrontEndOption] = &[
    FrontEndOption {
        name: "white_space",
        values: "\"any\", {\"bounded\": N}, \"compact\", \"unbounded\", {\"pattern\": REGEX}, \
                 {\"fixed\": {\"item_separator\": S, \"key_separator\": S, \"indent\": S}}",
        set: |options, value| {
            options.json_schema.white_space = white_space(value)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "match",
        values: "\"whole\", \"search\"",
        set: |options, value| {
            let words = [("whole", MatchMode::Whole), ("search", MatchMode::Search)];
            options.regex.mode = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "dialect",
        values: "\"shared\", \"ecma262\"",
        set: |options, value| {
            let words = [("shared", Dialect::Shared), ("ecma262", Dialect::Ecma262)];
            options.regex.dialect = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "case",
        values: "\"sensitive\", \"insensitive\"",
        set: |options, value| {
            let words = [("sensitive", Case::Sensitive), ("insensitive", Case::Insensitive)];
            options.regex.case = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "dot",
        values: "\"except_line_breaks\", \"any\"",
        set: |options, value| {
            let words = [("except_line_breaks", Dot::ExceptLineBreaks), ("any", Dot::Any)];
            options.regex.dot = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "classes",
        values: "\"dialect\", \"ascii\", \"unicode\"",
        set: |options, value| {
            let words = [
                ("dialect", Classes::Dialect),
                ("ascii", Classes::Ascii),
                ("unicode", Classes::Unicode),
            ];
            options.regex.classes = word(value, words)?;
            Some(())
        },
    },
];

impl FrontEndOptions {
    /// Every option that has a name.
    #[must_use]
    pub fn known() -> &'static [FrontEndOption] {
        OPTIONS
    }

    /// Sets an option by its name.
    ///
    /// | option | front end | values, as JSON; the default first |
    /// |---|---|---|
    /// | `white_space` | JSON Schema | `"any"`, `{"bounded": N}`, `"compact"`, `"unbounded"`, `{"pattern": REGEX}`, `{"fixed": {…}}`; see [`WhiteSpace`] and [`Fixed`] |
    /// | `match` | regex | `"whole"`, `"search"`; see [`MatchMode`] |
    /// | `dialect` | regex | `"shared"`, `"ecma262"`; see [`Dialect`] |
    /// | `case` | regex | `"sensitive"`, `"insensitive"`; see [`Case`] |
    /// | `dot` | regex | `"except_line_breaks"`, `"any"`; see [`Dot`] |
    /// | `classes` | regex | `"dialect"`, `"ascii"`, `"unicode"`; see [`Classes`] |
    ///
    /// # Errors
    /// [`OptionError`], which lists what there is.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), OptionError> {
        let Some(option) = OPTIONS.iter().find(|option| option.name == name) else {
            return Err(OptionError::Unknown { name: name.into() });
        };
        (option.set)(self, value).ok_or_else(|| OptionError::Value {
            name: option.name,
            found: shown(value),
            values: option.values,
        })
    }
}

fn names() -> Vec<&'static str> {
    OPTIONS.iter().map(|option| option.name).collect()
}

/// How much of a value an error shows.
const SHOWN_CHARACTERS: usize = 80;

fn shown(value: &Value) -> Box<str> {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// What a string stands for.
fn word<T, const N: usize>(value: &Value, words: [(&str, T); N]) -> Option<T> {
    let text = value.as_str()?;
    words.into_iter().find_map(|(word, meaning)| (word == text).then_some(meaning))
}

/// [`WhiteSpace`] as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WhiteSpaceValue {
    Any,
    Bounded(u32),
    Compact,
    Unbounded,
    Pattern(String),
    Fixed(FixedValue),
}

/// [`Fixed`] as JSON.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FixedValue {
    item_separator: String,
    key_separator: String,
    indent: Option<String>,
}

impl Default for FixedValue {
    fn default() -> Self {
        let Fixed { item_separator, key_separator, indent } = Fixed::default();
        Self { item_separator, key_separator, indent }
    }
}

fn white_space(value: &Value) -> Option<WhiteSpace> {
    Some(match WhiteSpaceValue::deserialize(value).ok()? {
        WhiteSpaceValue::Any => WhiteSpace::default(),
        WhiteSpaceValue::Bounded(max) => WhiteSpace::Bounded { max },
        WhiteSpaceValue::Compact => WhiteSpace::Compact,
        WhiteSpaceValue::Unbounded => WhiteSpace::Unbounded,
        WhiteSpaceValue::Pattern(pattern) => WhiteSpace::Pattern(pattern),
        WhiteSpaceValue::Fixed(FixedValue { item_separator, key_separator, indent }) => {
            WhiteSpace::Fixed(Fixed { item_separator, key_separator, indent })
        }
    })
}

#[cfg(test)]
mod tests;
