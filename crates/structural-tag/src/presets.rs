//! The structural tag of a model's tool calls.
//!
//! # Idea
//! Models differ in what they write around the name of a tool and around its arguments, and in little
//! else. So a layout is data (`presets.toml`): pieces of text and special tokens, and a style. From
//! it and a list of tools comes a structural tag, as JSON that anybody can read, change and compile.
//!
//! # Meaning
//! - `auto` is free text with calls in it, `required` begins with a call, a named tool is called once
//!   and nothing follows.
//! - Where a special token begins a call, free text needs no trigger: it never spells a token.
//! - Without parallel calls nothing follows the first one.

use crate::{
    Style,
    document::{Document, Value, ValueId},
};
use formwork_grammar::Limits;
use serde::Deserialize;
use std::sync::LazyLock;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name, as the model writes it.
    pub name: String,
    /// The JSON Schema of its arguments, as JSON text; any object where there is none.
    pub parameters: Option<String>,
}

/// Which tools are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// Those that the model likes, or none.
    #[default]
    Auto,
    /// At least one.
    Required,
    /// The one of this name, once.
    Named(String),
}

/// How many calls one output may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Parallel {
    /// Any number.
    #[default]
    Many,
    /// One.
    One,
}

/// What is wanted of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCalls {
    /// Which tools are called.
    pub choice: ToolChoice,
    /// How many calls there may be.
    pub parallel: Parallel,
}

/// Why there is no structural tag for some tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresetError {
    /// There is no layout of this name.
    #[error("there is no preset {name:?}")]
    UnknownPreset {
        /// The name.
        name: String,
    },
    /// There are no tools to choose from.
    #[error("no tools")]
    NoTools,
    /// The tool that has to be called is not in the list.
    #[error("there is no tool {name:?}")]
    UnknownTool {
        /// The name.
        name: String,
    },
    /// The parameters of a tool are no JSON Schema: neither an object nor true or false.
    #[error("the parameters of {tool:?} are no JSON Schema")]
    Parameters {
        /// The tool.
        tool: String,
    },
}

/// How some models write tool calls.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    name: String,
    models: String,
    style: String,
    trigger: Option<String>,
    #[serde(default)]
    open: Vec<Piece>,
    before_name: Vec<Piece>,
    after_name: Vec<Piece>,
    after_arguments: Vec<Piece>,
    separator: String,
    #[serde(default)]
    close: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Piece {
    Text(String),
    Token { token: String },
    Pattern { pattern: String },
}

#[derive(Debug, Deserialize)]
struct File {
    preset: Vec<Preset>,
}

static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    let file: File =
        toml::from_str(include_str!("presets/presets.toml")).expect("a file of this crate");
    file.preset
});

/// All layouts.
#[must_use]
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The layout of this name.
///
/// # Errors
/// [`PresetError::UnknownPreset`].
///
/// ```
/// use formwork_grammar::Limits;
/// use formwork_structural_tag::{Options, Tool, ToolCalls, compile, preset};
/// let tools = [Tool { name: "now".into(), parameters: None }];
/// let tag = preset("hermes")?.structural_tag(&tools, &ToolCalls::default())?;
/// assert!(compile(&tag, &Options::default(), &Limits::default()).is_ok());
/// # Ok::<(), formwork_structural_tag::PresetError>(())
/// ```
pub fn preset(name: &str) -> Result<&'static Preset, PresetError> {
    let found = PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| PresetError::UnknownPreset { name: name.to_owned() })
}

impl Preset {
    /// What it is asked for by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What models write tool calls so, for people.
    #[must_use]
    pub fn models(&self) -> &str {
        &self.models
    }

    /// How arguments are written.
    #[must_use]
    pub fn style(&self) -> Style {
        Style::named(&self.style).unwrap_or_default()
    }

    /// The structural tag for these tools, as JSON. Linear in the tools.
    ///
    /// # Errors
    /// [`PresetError`].
    pub fn structural_tag(&self, tools: &[Tool], calls: &ToolCalls) -> Result<String, PresetError> {
        let tools: Vec<&Tool> = match &calls.choice {
            ToolChoice::Named(name) => tools.iter().filter(|tool| tool.name == *name).collect(),
            _ => tools.iter().collect(),
        };
        match (&calls.choice, tools.is_empty()) {
            (ToolChoice::Named(name), true) => {
                return Err(PresetError::UnknownTool { name: name.clone() });
            }
            (_, true) => return Err(PresetError::NoTools),
            _ => {}
        }
        let schemas: Vec<String> =
            tools.iter().map(|tool| self.schema(tool)).collect::<Result<_, _>>()?;
        let is_one =
            calls.parallel == Parallel::One || matches!(calls.choice, ToolChoice::Named(_));
        let is_forced = calls.choice != ToolChoice::Auto;
        let format = match &self.trigger {
            Some(trigger) => self.triggered(trigger, (&tools, &schemas), is_forced, is_one),
            None => self.by_tokens((&tools, &schemas), is_forced, is_one),
        };
        Ok(format!("{{\"type\":\"structural_tag\",\"format\":{format}}}"))
    }

    /// The format of a tool's arguments.
    fn schema(&self, tool: &Tool) -> Result<String, PresetError> {
        let text = tool
            .parameters
            .as_deref()
            .unwrap_or(r#"{"type":"object","additionalProperties":true}"#);
        let error = || PresetError::Parameters { tool: tool.name.clone() };
        let document = Document::parse(text, &Limits::default()).map_err(|_| error())?;
        match document.value(ValueId::ROOT) {
            Value::Object(_) | Value::Boolean(_) => Ok(format!(
                "{{\"type\":\"json_schema\",\"json_schema\":{},\"style\":{}}}",
                document.raw(ValueId::ROOT),
                quoted(&self.style)
            )),
            _ => Err(error()),
        }
    }

    /// Calls where a text begins them.
    fn triggered(
        &self,
        trigger: &str,
        (tools, schemas): (&[&Tool], &[String]),
        is_forced: bool,
        is_one: bool,
    ) -> String {
        let tag = |(tool, schema): (&&Tool, &String)| {
            let begin = [text(&self.before_name), &tool.name, text(&self.after_name)].concat();
            tag(&begin, schema, text(&self.after_arguments))
        };
        let tags: Vec<String> = tools.iter().zip(schemas).map(tag).collect();
        let tags = tags.join(",");
        let listed = if self.open.is_empty() {
            tags
        } else {
            let calls = separated(&tags, &self.separator, is_one);
            crate::presets::tag(text(&self.open), &calls, text(&self.close))
        };
        format!(
            "{{\"type\":\"triggered_tags\",\"triggers\":[{}],\"tags\":[{listed}],\
             \"at_least_one\":{is_forced},\"stop_after_first\":{is_one}}}",
            quoted(trigger)
        )
    }

    /// Calls where a special token begins them.
    fn by_tokens(
        &self,
        (tools, schemas): (&[&Tool], &[String]),
        is_forced: bool,
        is_one: bool,
    ) -> String {
        let call = |(tool, schema): (&&Tool, &String)| {
            let mut parts: Vec<String> = self.before_name.iter().map(piece).collect();
            parts.push(constant(&tool.name));
            parts.extend(self.after_name.iter().map(piece));
            parts.push(schema.clone());
            parts.extend(self.after_arguments.iter().map(piece));
            sequence(&parts)
        };
        let calls: Vec<String> = tools.iter().zip(schemas).map(call).collect();
        let call = format!("{{\"type\":\"or\",\"elements\":[{}]}}", calls.join(","));
        let turn = if self.open.is_empty() {
            call
        } else {
            let more = sequence(&[constant(&self.separator), call.clone()]);
            let more = if is_one { constant("") } else { star(&more) };
            let mut parts: Vec<String> = self.open.iter().map(piece).collect();
            parts.extend([call, more]);
            parts.extend(self.close.iter().map(piece));
            sequence(&parts)
        };
        let any = "{\"type\":\"any_text\"}".to_owned();
        let step = sequence(&[any.clone(), turn.clone()]);
        match (is_forced, is_one) {
            (true, true) => turn,
            (true, false) => sequence(&[turn, star(&step), any]),
            (false, true) => format!("{{\"type\":\"or\",\"elements\":[{step},{any}]}}"),
            (false, false) => sequence(&[star(&step), any]),
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Pieces that are one text, as layouts with a trigger have them.
fn text(pieces: &[Piece]) -> &str {
    match pieces {
        [Piece::Text(text)] => text,
        _ => "",
    }
}

fn constant(text: &str) -> String {
    format!("{{\"type\":\"const_string\",\"value\":{}}}", quoted(text))
}

fn piece(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => constant(text),
        Piece::Token { token } => format!("{{\"type\":\"token\",\"token\":{}}}", quoted(token)),
        Piece::Pattern { pattern } => {
            format!("{{\"type\":\"regex\",\"pattern\":{}}}", quoted(pattern))
        }
    }
}

fn sequence(parts: &[String]) -> String {
    format!("{{\"type\":\"sequence\",\"elements\":[{}]}}", parts.join(","))
}

fn star(content: &str) -> String {
    format!("{{\"type\":\"star\",\"content\":{content}}}")
}

fn tag(begin: &str, content: &str, end: &str) -> String {
    let (begin, end) = (quoted(begin), quoted(end));
    format!("{{\"type\":\"tag\",\"begin\":{begin},\"content\":{content},\"end\":{end}}}")
}

fn separated(tags: &str, separator: &str, is_one: bool) -> String {
    format!(
        "{{\"type\":\"tags_with_separator\",\"tags\":[{tags}],\"separator\":{},\
         \"at_least_one\":true,\"stop_after_first\":{is_one}}}",
        quoted(separator)
    )
}

#[cfg(test)]
mod tests;
