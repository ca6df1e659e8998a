//! Front end: JSON Schema to the grammar representation.
//!
//! # Idea
//! A schema is read into typed nodes (`model`), and a rule of the grammar stands for a *set* of
//! them that one value must satisfy together (`lower`). References, alternatives and overlapping
//! keywords thus become unions of sets, and a property that three schemas speak of is one rule.
//! Rules are lowered when they are first asked for: five thousand properties cost what the output
//! visits.
//!
//! # Meaning
//! - Every keyword of JSON Schema is enforced exactly, of no effect by the specification, or
//!   refused by name (`keywords` is the table).
//! - Beside `$ref` all keywords count; where `$schema` names draft 7 or an earlier one, none does, as
//!   those drafts say, and the grammar carries a warning about the first.
//! - Properties come in declared order, then what is only required, then all other keys; a declared
//!   key occurs at most once.
//! - Strings that nothing but a length constrains may use any escape; all other strings, and all
//!   keys, are spelled plainly: only `"`, `\` and control characters are escaped, as `\"`, `\\`,
//!   `\b \f \n \r \t` or `\u00` and two lower-case digits.
//! - Integers are `-?(0|[1-9][0-9]*)`; other numbers may have an exponent unless they have bounds;
//!   listed ones are written as in the schema, or plainly. Bounds are exact to the last digit.
//! - White space may stand between two tokens, not before the first nor after the last.
//! - A count above 2^32 - 1 as a maximum is no maximum.
//!
//! # Reading order
//! `options`, `error`, `decimal`, `document`, `keywords`, `model`, `lower`.

mod decimal;
mod document;
mod error;
mod keywords;
mod lower;
mod model;
mod options;

pub use error::{SchemaError, SchemaErrorKind, SyntaxError};
pub use options::{Fixed, Options, WhiteSpace};

use formwork_automata::CancellationToken;
use formwork_grammar::{BodyBuilder, Grammar, Limits, Location, Warning};
use lower::{Layout, Lowerer, pattern_options};
use model::{Model, error_at};
use std::sync::Arc;

/// The grammar of the JSON texts that satisfy a schema, given as UTF-8 text. The output is one
/// value, without white space around it.
///
/// What is wrong with the schema, as far as the root reaches, is found here, and so is that nothing
/// satisfies it; bodies of rules are lowered when they are asked for. Cost: linear in the schema,
/// and in the automata of those strings and numbers that are mandatory.
///
/// # Errors
/// [`SchemaError`], with a JSON pointer and a position. A budget that is used up later is the
/// [`LowerError`](formwork_grammar::LowerError) of the rule concerned: its location is a pointer,
/// its source a [`SchemaErrorKind`].
pub fn compile(
    schema: impl AsRef<[u8]>,
    options: &Options,
    limits: &Limits,
) -> Result<Grammar, SchemaError> {
    let mut fuel = limits.fuel(&CancellationToken::new());
    let layout = Layout::new(options, limits, &mut fuel)?;
    let document = document::parse(schema.as_ref(), limits)?;
    let model = model::read(document)?;
    check_patterns(&model, limits)?;
    let warnings = warnings(&model);
    let lowerer = Lowerer::new(model, layout, limits.clone(), fuel)?;
    Ok(Grammar::lazy("#", Arc::new(lowerer)).with_warnings(warnings))
}

/// The grammar of all JSON objects: what is usually called JSON mode.
///
/// # Errors
/// [`SchemaError`] for options that are none, or limits too small for even this.
pub fn json_object(options: &Options, limits: &Limits) -> Result<Grammar, SchemaError> {
    compile(br#"{"type":"object"}"#, options, limits)
}

/// What the author of a schema may not have meant. One warning however many places there are: a
/// pointer can be as long as the schema.
fn warnings(model: &Model) -> Vec<Warning> {
    let warning = model.ignored().map(|ignored| {
        let (keyword, count) = (ignored.keyword, ignored.count);
        Warning {
            location: Location::Pointer(model.document.pointer(ignored.value)),
            message: format!(
                "`{keyword}` has no effect: before draft 2019-09 whatever stands beside `$ref` is \
                 ignored (keywords concerned in this schema: {count})"
            ),
        }
    });
    warning.into_iter().collect()
}

/// Parses every pattern, without building its automaton.
fn check_patterns(model: &Model, limits: &Limits) -> Result<(), SchemaError> {
    let options = pattern_options();
    for (value, pattern) in model.patterns() {
        let pattern = model.document.text(pattern);
        formwork_regex::lower(pattern, &options, limits, &mut BodyBuilder::new()).map_err(
            |error| error_at(&model.document, value, SchemaErrorKind::Pattern(Box::new(error))),
        )?;
    }
    Ok(())
}
