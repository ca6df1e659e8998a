//! Options of the front ends, and their names.
//!
//! Whoever takes options from text (a configuration file, a command line, a request) hands name and
//! value to [`FrontEndOptions::set`], whose documentation lists them.

use crate::backends::Listed;
use formwork_json_schema::{
    DistinctKeys, Draft, Fixed, FormatMode, Leniency, PropertyOrder, Separators, Spelling,
    Unmentioned, WhiteSpace,
};
use formwork_lark::{Ending, Ignored, Lexer, SubGrammar};
use formwork_regex::{Case, Classes, Dialect, Dot, Folding, MatchMode};
use formwork_structural_tag::Style;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Options of the front ends. By name: see [`FrontEndOptions::set`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FrontEndOptions {
    /// For `json` and `json_object`.
    pub json_schema: formwork_json_schema::Options,
    /// How what a `json` schema describes is written: as JSON, or as the arguments of a tool are
    /// written in some template.
    pub style: formwork_structural_tag::Style,
    /// For `regex`.
    pub regex: formwork_regex::Options,
    /// In what a `grammar` is written.
    pub grammar: GrammarSyntax,
    /// For a `grammar` in GBNF or EBNF.
    pub ebnf: formwork_ebnf::Options,
    /// For a `grammar` in Lark; what it says about JSON Schemas gives way to `json_schema`.
    pub lark: formwork_lark::Options,
}

/// In what a grammar is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GrammarSyntax {
    /// EBNF when there is a `::=` in it, else Lark.
    #[default]
    Detect,
    /// GBNF or EBNF; which of them is a matter of `ebnf`.
    Ebnf,
    /// Lark.
    Lark,
}

impl FrontEndOptions {
    /// For `structural_tag`: the options of what a tag embeds.
    #[must_use]
    pub fn structural_tag(&self) -> formwork_structural_tag::Options {
        let mut options = formwork_structural_tag::Options::default();
        options.json_schema = self.json_schema.clone();
        options.regex = self.regex;
        options.ebnf = self.ebnf.clone();
        options
    }

    /// For Lark, schemas included.
    pub(crate) fn lark(&self) -> formwork_lark::Options {
        let mut options = self.lark.clone();
        options.json = self.json_schema.clone();
        options
    }
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

/// The values of [`Unmentioned`].
const UNMENTIONED: &str = "\"allowed\", \"forbidden_beside_others\", \"forbidden\"";

/// Every option by its name.
const OPTIONS: &[FrontEndOption] = &[
    FrontEndOption {
        name: "white_space",
        values: "\"any\", {\"bounded\": N}, \"compact\", \"unbounded\", {\"pattern\": REGEX}, \
                 {\"separators\": {\"inside\": REGEX, \"item\": REGEX, \"key\": REGEX}}, \
                 {\"fixed\": {\"item_separator\": S, \"key_separator\": S, \"indent\": S}}",
        set: |options, value| {
            options.json_schema.white_space = white_space(value)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "spelling",
        values: "\"minimal\", \"any\"",
        set: |options, value| {
            let words = [("minimal", Spelling::Minimal), ("any", Spelling::Any)];
            options.json_schema.spelling = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "property_order",
        values: "\"declared\", \"any\"",
        set: |options, value| {
            let words = [("declared", PropertyOrder::Declared), ("any", PropertyOrder::Any)];
            options.json_schema.property_order = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "additional_properties_default",
        values: UNMENTIONED,
        set: |options, value| {
            options.json_schema.additional_properties_default = unmentioned(value)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "additional_items_default",
        values: UNMENTIONED,
        set: |options, value| {
            options.json_schema.additional_items_default = unmentioned(value)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "distinct_keys",
        values: "\"where_counted\", \"everywhere\"",
        set: |options, value| {
            let words = [
                ("where_counted", DistinctKeys::WhereCounted),
                ("everywhere", DistinctKeys::Everywhere),
            ];
            options.json_schema.distinct_keys = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "format",
        values: "\"assert\", \"annotate\"",
        set: |options, value| {
            let words = [("assert", FormatMode::Assert), ("annotate", FormatMode::Annotate)];
            options.json_schema.format = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "lenient",
        values: "\"refuse\", \"relax\"",
        set: |options, value| {
            let words = [("refuse", Leniency::Refuse), ("relax", Leniency::Relax)];
            options.json_schema.lenient = word(value, words)?;
            options.ebnf.lenient = match options.json_schema.lenient {
                Leniency::Relax => formwork_ebnf::Leniency::Relax,
                _ => formwork_ebnf::Leniency::Refuse,
            };
            Some(())
        },
    },
    FrontEndOption {
        name: "default_draft",
        values: "\"draft2020-12\", \"draft2019-09\", \"draft7\", \"draft6\", \"draft4\"",
        set: |options, value| {
            let words = [
                ("draft2020-12", Draft::Draft202012),
                ("draft2019-09", Draft::Draft201909),
                ("draft7", Draft::Draft7),
                ("draft6", Draft::Draft6),
                ("draft4", Draft::Draft4),
            ];
            options.json_schema.default_draft = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "documents",
        values: "{}, {URI: SCHEMA, …}",
        set: |options, value| {
            let text = |schema: &Value| match schema {
                Value::String(text) => text.as_str().into(),
                other => other.to_string().into(),
            };
            let documents = value.as_object()?.iter();
            options.json_schema.documents =
                documents.map(|(uri, schema)| (uri.clone(), text(schema))).collect();
            Some(())
        },
    },
    FrontEndOption {
        name: "style",
        values: "\"json\", \"qwen_xml\", \"minimax_xml\", \"minimax_m3_xml\", \"deepseek_xml\", \
                 \"deepseek_v4_1_xml\", \"glm_xml\", \"cohere_xml\", \"kimi_k3_xml\"",
        set: |options, value| {
            options.style = Style::named(value.as_str()?)?;
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
        name: "folding",
        values: "\"unicode\", \"ascii\"",
        set: |options, value| {
            let words = [("unicode", Folding::Unicode), ("ascii", Folding::Ascii)];
            options.regex.folding = word(value, words)?;
            options.lark.folding = options.regex.folding;
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
    FrontEndOption {
        name: "grammar",
        values: "\"detect\", \"gbnf\", \"ebnf\", \"lark\"",
        set: |options, value| {
            let words = [
                ("detect", (GrammarSyntax::Detect, formwork_ebnf::Dialect::Shared)),
                ("gbnf", (GrammarSyntax::Ebnf, formwork_ebnf::Dialect::Gbnf)),
                ("ebnf", (GrammarSyntax::Ebnf, formwork_ebnf::Dialect::XGrammar)),
                ("lark", (GrammarSyntax::Lark, formwork_ebnf::Dialect::Shared)),
            ];
            (options.grammar, options.ebnf.dialect) = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "root_rule",
        values: "\"root\", NAME",
        set: |options, value| {
            options.ebnf.root_rule = value.as_str()?.into();
            Some(())
        },
    },
    FrontEndOption {
        name: "lexer",
        values: "\"exact\", \"greedy\"",
        set: |options, value| {
            let words = [("exact", Lexer::Exact), ("greedy", Lexer::Greedy)];
            options.lark.lexer = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "ignored",
        values: "\"between\", \"between_and_after\"",
        set: |options, value| {
            let words =
                [("between", Ignored::Between), ("between_and_after", Ignored::BetweenAndAfter)];
            options.lark.ignored = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "ending",
        values: "\"required\", \"optional\"",
        set: |options, value| {
            let words = [("required", Ending::Required), ("optional", Ending::Optional)];
            options.lark.ending = word(value, words)?;
            Some(())
        },
    },
    FrontEndOption {
        name: "named_grammars",
        values: "{}, {NAME: {\"lark\": TEXT}, NAME: {\"json\": SCHEMA}, NAME: {\"regex\": REGEX}, …}",
        set: |options, value| {
            options.lark.grammars = named_grammars(value)?;
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
    /// | `white_space` | JSON Schema | `"any"`, `{"bounded": N}`, `"compact"`, `"unbounded"`, `{"pattern": REGEX}`, `{"separators": {…}}`, `{"fixed": {…}}`; see [`WhiteSpace`], [`Separators`] and [`Fixed`] |
    /// | `spelling` | JSON Schema | `"minimal"`, `"any"`; see [`Spelling`] |
    /// | `property_order` | JSON Schema | `"declared"`, `"any"`; see [`PropertyOrder`] |
    /// | `additional_properties_default` | JSON Schema | `"allowed"`, `"forbidden_beside_others"`, `"forbidden"`; see [`Unmentioned`] |
    /// | `additional_items_default` | JSON Schema | the same |
    /// | `distinct_keys` | JSON Schema | `"where_counted"`, `"everywhere"`; see [`DistinctKeys`] |
    /// | `format` | JSON Schema | `"assert"`, `"annotate"`; see [`FormatMode`] |
    /// | `lenient` | JSON Schema, EBNF | `"refuse"`, `"relax"`; see [`Leniency`] and [`formwork_ebnf::Leniency`] |
    /// | `default_draft` | JSON Schema | `"draft2020-12"`, `"draft2019-09"`, `"draft7"`, `"draft6"`, `"draft4"` |
    /// | `documents` | JSON Schema | `{}`, `{URI: SCHEMA, …}`: what the schema may refer to, as JSON or as its text, which keeps all digits; nothing is fetched |
    /// | `style` | JSON Schema | `"json"`, or a tool-call style; see [`Style`] |
    /// | `match` | regex | `"whole"`, `"search"`; see [`MatchMode`] |
    /// | `dialect` | regex | `"shared"`, `"ecma262"`; see [`Dialect`] |
    /// | `case` | regex | `"sensitive"`, `"insensitive"`; see [`Case`] |
    /// | `folding` | regex, Lark | `"unicode"`, `"ascii"`; see [`Folding`] |
    /// | `dot` | regex | `"except_line_breaks"`, `"any"`; see [`Dot`] |
    /// | `classes` | regex | `"dialect"`, `"ascii"`, `"unicode"`; see [`Classes`] |
    ///
    /// | `grammar` | EBNF, Lark | `"detect"`, `"gbnf"`, `"ebnf"`, `"lark"`; see [`GrammarSyntax`] and [`formwork_ebnf::Dialect`] |
    /// | `root_rule` | EBNF | `"root"`, or any name |
    /// | `lexer` | Lark | `"exact"`, `"greedy"`; see [`Lexer`] |
    /// | `ignored` | Lark | `"between"`, `"between_and_after"`; see [`Ignored`] |
    /// | `ending` | Lark | `"required"`, `"optional"`; see [`Ending`] |
    /// | `named_grammars` | Lark | `{}`, `{NAME: {"lark": TEXT}, …}`, also `json` and `regex`; see [`SubGrammar`] |
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

fn named_grammars(value: &Value) -> Option<BTreeMap<String, SubGrammar>> {
    let grammar = |value: &Value| {
        let mut kinds = value.as_object()?.iter();
        let (kind, text) = kinds.next()?;
        let text = match text {
            Value::String(text) => text.as_str().into(),
            other => other.to_string().into(),
        };
        let grammar = match kind.as_str() {
            "lark" => SubGrammar::Lark(text),
            "json" => SubGrammar::JsonSchema(text),
            "regex" => SubGrammar::Regex(text),
            _ => return None,
        };
        kinds.next().is_none().then_some(grammar)
    };
    let named = value.as_object()?.iter();
    named.map(|(name, value)| Some((name.clone(), grammar(value)?))).collect()
}

fn unmentioned(value: &Value) -> Option<Unmentioned> {
    let words = [
        ("allowed", Unmentioned::Allowed),
        ("forbidden_beside_others", Unmentioned::ForbiddenBesideOthers),
        ("forbidden", Unmentioned::Forbidden),
    ];
    word(value, words)
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
    Separators(SeparatorsValue),
    Fixed(FixedValue),
}

/// [`Separators`] as JSON.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SeparatorsValue {
    inside: String,
    item: String,
    key: String,
}

impl Default for SeparatorsValue {
    fn default() -> Self {
        let Separators { inside, item, key } = Separators::default();
        Self { inside, item, key }
    }
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
        WhiteSpaceValue::Separators(SeparatorsValue { inside, item, key }) => {
            WhiteSpace::Separators(Separators { inside, item, key })
        }
        WhiteSpaceValue::Fixed(FixedValue { item_separator, key_separator, indent }) => {
            WhiteSpace::Fixed(Fixed { item_separator, key_separator, indent })
        }
    })
}

#[cfg(test)]
mod tests;
