//! Front end: structural tags to the grammar representation.
//!
//! # Idea
//! A structural tag is a JSON document that says how an output is put together: free text, tags with
//! a begin, a content and an end, JSON Schemas, choices and repetitions of those. It is how inference
//! engines ask for tool calls. The tag is read into a tree of formats (`read`), which become the
//! rules of a grammar (`lower`); embedded schemas are grammars of their own that stand for a rule
//! ([`formwork_grammar::compose`]), most of them made when an output first gets there.
//!
//! # Meaning
//! - Text is UTF-8. Free text contains none of its `excludes`, no trigger and no end of the tag
//!   around it. It never spells a special token.
//! - In free text a trigger is complete when its last byte is written; from there on the output is a
//!   tag. What free text excludes says nothing about tags.
//! - `at_least_one` in `triggered_tags` means that the output begins with a tag. `stop_after_first`
//!   means that nothing follows the first tag.
//! - Tokens, by id or by the name of a special token, are whole tokens. A tag with a token for its end
//!   ends `any_tokens` and `exclude_token` in it; one with strings for its end ends free text.
//! - `max_chars` counts characters, `max_tokens` tokens that contribute to the text.
//! - JSON is as [`formwork_json_schema`] has it. What the [`Style`]s other than JSON mean is said in
//!   `xml`: each value is written as its own kind of value, and nothing else is.
//! - Everything that is not known is refused, with a JSON pointer.
//!
//! # When schemas are compiled
//! With hundreds of tools, most of which a request never calls, compiling every schema would be most
//! of the wait. A schema that is looked at when it is needed must not turn out to be wrong then: the
//! output has been led there. So each is looked at once, in a pass over its text that knows when
//! a schema cannot fail (`plain`); those are compiled when they are needed, all others at once.
//! [`Options::schemas`] has the choice.
//!
//! # Presets
//! [`preset`] writes the structural tag of a model's tool calls for a list of tools.
//!
//! # Reading order
//! `options`, `error`, `style`, `document`, `model`, `read`, `patterns`, `lower`, `embed`, `plain`,
//! `xml`, `presets`.

mod document;
mod embed;
mod error;
mod lower;
mod model;
mod options;
mod patterns;
mod plain;
mod presets;
mod read;
mod style;
mod xml;

pub use error::{StructuralTagError, StructuralTagErrorKind};
pub use options::{Options, Schemas};
pub use presets::{Parallel, Preset, PresetError, Tool, ToolCalls, ToolChoice, preset, presets};
pub use style::Style;

use StructuralTagError as Error;
use document::{Document, ValueId};
use embed::Embedded;
use formwork_automata::CancellationToken;
use formwork_grammar::{BodyBuilder, Grammar, GrammarError, Limits, compose};
use model::Schema;
use std::sync::Arc;

/// The grammar of the outputs that a structural tag describes, given as JSON: an object with a
/// `format`, or one with `structures` and `triggers`.
///
/// Cost: linear in the text, and what compiling those schemas takes that a look does not show to be
/// right.
///
/// ```
/// use formwork_grammar::Limits;
/// use formwork_structural_tag::{Options, compile};
/// let tag = r#"{"format": {"type": "tag", "begin": "<b>", "content": {"type": "any_text"}, "end": "</b>"}}"#;
/// assert!(compile(tag, &Options::default(), &Limits::default()).is_ok());
/// let error = compile(r#"{"format": {"type": "tags"}}"#, &Options::default(), &Limits::default());
/// assert_eq!(error.unwrap_err().location.to_string(), "/format/type");
/// ```
///
/// # Errors
/// [`StructuralTagError`], with a JSON pointer and a position, but for limits that schemas hit when
/// they are lowered: those are a [`LowerError`](formwork_grammar::LowerError) of the rule concerned.
pub fn compile(
    text: &str,
    options: &Options,
    limits: &Limits,
) -> Result<Grammar, StructuralTagError> {
    let mut fuel = limits.fuel(&CancellationToken::new());
    let document = Arc::new(Document::parse(text, limits)?);
    let (model, warnings) = read::read(&document, &mut fuel)?;
    let (grammar, holes) = lower::lower(&document, &model, options, limits, &mut fuel)?;
    let grammar = grammar.with_warnings(warnings);
    compose(grammar, holes, limits).map_err(StructuralTagError::whole)
}

/// The grammar of the values that satisfy a JSON Schema, written in a [`Style`].
///
/// # Errors
/// As [`compile`]; locations are in the schema.
pub fn compile_schema(
    schema: &str,
    style: Style,
    options: &Options,
    limits: &Limits,
) -> Result<Grammar, StructuralTagError> {
    let document = Arc::new(Document::parse(schema, limits)?);
    let schema = Schema {
        value: ValueId::ROOT,
        style,
        any_order: false,
        max_white_space: None,
        excludes: Vec::new(),
    };
    let mut body = BodyBuilder::new();
    match embed::schema(&document, &schema, options, limits)? {
        Embedded::Nothing => {
            let root = body.never();
            Ok(Grammar::of_body(body.finish(root)))
        }
        Embedded::Part(part) => {
            let root = body.empty();
            let outer = Grammar::of_body(body.finish(root));
            let root = outer.root();
            compose(outer, [(root, part)], limits).map_err(StructuralTagError::whole)
        }
    }
}

/// Compiles a tag and everything embedded in it, down to the last rule: what [`compile`] would find
/// later, if at all, is found here.
///
/// # Errors
/// As [`compile`], and limits that schemas hit.
pub fn validate(text: &str, options: &Options, limits: &Limits) -> Result<(), StructuralTagError> {
    let options = Options { schemas: Schemas::AtOnce, ..options.clone() };
    let grammar = compile(text, &options, limits)?;
    match grammar.lower_all(limits) {
        Ok(_) => Ok(()),
        Err(GrammarError::Lower(error)) => Err(StructuralTagError {
            location: error.location.clone(),
            position: None,
            kind: GrammarError::Lower(error).into(),
        }),
        Err(error) => Err(StructuralTagError::whole(error)),
    }
}

#[cfg(test)]
mod tests;
