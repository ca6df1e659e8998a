//! What each style writes around a value.

use crate::Style;

/// The types of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    /// The type's name in JSON Schema; integers are numbers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// The type of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "number" | "integer" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }
}

/// How values of some types are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// The characters of a string.
    Text,
    /// JSON.
    Json,
    /// Members, each written as a parameter.
    Members,
    /// Items, each written as a parameter without a name.
    Items,
}

/// Values of some types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) types: &'static [Type],
    pub(super) form: Form,
    /// What the attribute says of them.
    pub(super) attribute: &'static str,
    /// What it may say too, of values of any schema.
    pub(super) other_attribute: Option<&'static str>,
}

/// A parameter of a style, from its begin to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) before_key: &'static str,
    pub(super) after_key: &'static str,
    /// Behind the attribute; nothing where there is none.
    pub(super) after_attribute: Option<&'static str>,
    /// Behind white space.
    pub(super) before_value: &'static str,
    pub(super) after_value: &'static str,
    /// Behind the value, the key once more, and this.
    pub(super) after_second_key: Option<&'static str>,
    /// What stands in place of everything up to the attribute where there is no key.
    pub(super) unnamed: &'static str,
    pub(super) groups: &'static [Group],
    /// Characters of keys that are written otherwise.
    pub(super) entities: &'static [(char, &'static str)],
}

const fn group(types: &'static [Type], form: Form, attribute: &'static str) -> Group {
    Group { types, form, attribute, other_attribute: None }
}

const NO_STRING: &[Type] = &[Type::Null, Type::Boolean, Type::Number, Type::Array, Type::Object];
const SCALARS: &[Type] = &[Type::Null, Type::Boolean, Type::Number];

const FLAT: &[Group] = &[group(&[Type::String], Form::Text, ""), group(NO_STRING, Form::Json, "")];
const FLAGGED: &[Group] =
    &[group(&[Type::String], Form::Text, "true"), group(NO_STRING, Form::Json, "false")];
const TYPED: &[Group] = &[
    group(&[Type::String], Form::Text, "string"),
    Group {
        types: &[Type::Number],
        form: Form::Json,
        attribute: "number",
        other_attribute: Some("integer"),
    },
    group(&[Type::Boolean], Form::Json, "boolean"),
    group(&[Type::Null], Form::Json, "null"),
    group(&[Type::Object], Form::Json, "object"),
    group(&[Type::Array], Form::Json, "array"),
];
const NESTED: &[Group] = &[
    group(&[Type::String], Form::Text, "raw"),
    group(SCALARS, Form::Json, "json"),
    group(&[Type::Object], Form::Members, "dict"),
    group(&[Type::Array], Form::Items, "list"),
];

const PLAIN: Wire = Wire {
    before_key: "",
    after_key: "",
    after_attribute: None,
    before_value: "",
    after_value: "</parameter>",
    after_second_key: None,
    unnamed: "",
    groups: FLAT,
    entities: &[],
};

impl Wire {
    /// The parameters of a style.
    pub(super) fn of(style: Style) -> Self {
        match style {
            Style::Json | Style::QwenXml => {
                Self { before_key: "<parameter=", after_key: ">", ..PLAIN }
            }
            Style::MinimaxXml => {
                Self { before_key: "<parameter name=\"", after_key: "\">", ..PLAIN }
            }
            Style::GlmXml => Self {
                before_key: "<arg_key>",
                after_key: "</arg_key>",
                before_value: "<arg_value>",
                after_value: "</arg_value>",
                ..PLAIN
            },
            Style::DeepseekXml => Self {
                before_key: "<｜DSML｜parameter name=\"",
                after_key: "\" string=\"",
                after_attribute: Some("\">"),
                after_value: "</｜DSML｜parameter>",
                groups: FLAGGED,
                ..PLAIN
            },
            Style::DeepseekV41Xml => Self {
                before_key: "<｜DSML｜ parameter name=\"",
                after_value: "</｜DSML｜ parameter>",
                ..Self::of(Style::DeepseekXml)
            },
            Style::KimiK3Xml => Self {
                before_key: "<|open|>argument key=\"",
                after_key: "\" type=\"",
                after_attribute: Some("\"<|sep|>"),
                after_value: "<|close|>argument<|sep|>",
                groups: TYPED,
                entities: &[('&', "&amp;"), ('"', "&quot;")],
                ..PLAIN
            },
            Style::CohereXml => Self {
                before_key: "<cofl:value name=\"",
                after_key: "\" type=\"",
                after_attribute: Some("\">"),
                after_value: "</cofl:value>",
                unnamed: "<cofl:value type=\"",
                groups: NESTED,
                entities: &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")],
                ..PLAIN
            },
            Style::MinimaxM3Xml => Self {
                before_key: "]<]minimax[>[<",
                after_key: ">",
                after_value: "]<]minimax[>[</",
                after_second_key: Some(">"),
                groups: NESTED,
                ..PLAIN
            },
        }
    }

    /// What cannot stand in a text without ending it.
    pub(super) fn end_of_text(&self) -> &'static str {
        match self.after_second_key {
            None => self.after_value,
            Some(_) => "]<]minimax[>[",
        }
    }

    /// A key as it is written.
    pub(super) fn key(&self, key: &str) -> String {
        let mut written = String::with_capacity(key.len());
        for character in key.chars() {
            match self.entities.iter().find(|entity| entity.0 == character) {
                Some((_, entity)) => written.push_str(entity),
                None => written.push(character),
            }
        }
        written
    }
}
