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
//!   refused by name (`keywords` is the table, [`support_markdown`] shows it). Under
//!   [`Leniency::Relax`] what would be refused is dropped, with a warning.
//! - The draft is that of `$schema`, or that of the options. A keyword that it does not have is of
//!   no effect, with a warning; some spellings of older drafts are understood in all: lists under
//!   `items`, `dependencies`, a boolean `exclusiveMinimum`. Up to draft 7, what stands beside `$ref`
//!   is of no effect, with a warning.
//! - References lead anywhere in the schema, in the documents given beside it and in the
//!   metaschemas; dynamic ones to what they mean on each way that leads there. Nothing is fetched.
//! - What is satisfied only because it is satisfied, is not.
//! - Properties come in declared order, then what is only required, then all other keys; a declared
//!   key occurs at most once. What `allOf`, a reference and the like declare comes where that
//!   keyword is written; lists that declare the same names in different orders are merged.
//! - Strings that nothing but a length constrains may use any escape; all other strings, and all
//!   keys, are spelled plainly: only `"`, `\` and control characters are escaped, as `\"`, `\\`,
//!   `\b \f \n \r \t` or `\u00` and two lower-case digits.
//! - Integers are `-?(0|[1-9][0-9]*)`; other numbers may have an exponent unless they have bounds;
//!   listed ones are written as in the schema, or plainly. Bounds are exact to the last digit.
//! - White space may stand between two tokens, not before the first nor after the last.
//! - A count above 2^32 - 1 as a maximum is no maximum.
//!
//! # Reading order
//! `options`, `error`, `decimal`, `document`, `uri`, `keywords`, `model`, `lower`; beside them
//! `support` and `strict`.

mod decimal;
mod document;
mod error;
mod keywords;
mod lower;
mod model;
mod options;
mod strict;
mod support;
mod uri;

pub use error::{SchemaError, SchemaErrorKind, SyntaxError};
pub use options::{
    DistinctKeys, Draft, Fixed, FormatMode, Leniency, Options, PropertyOrder, Separators, Spelling,
    Unmentioned, WhiteSpace,
};

pub use strict::{Counted, Departure, DepartureKind, strict_departures};
pub use support::{Support, SupportOutcome, format_support, keyword_support, support_markdown};

use formwork_automata::CancellationToken;
use formwork_grammar::{BodyBuilder, Grammar, GrammarError, Limits, LowerError};
use formwork_regex::RegexErrorKind;
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
/// [`LowerError`] of the rule concerned: its location is a pointer,
/// its source a [`SchemaErrorKind`].
pub fn compile(
    schema: impl AsRef<[u8]>,
    options: &Options,
    limits: &Limits,
) -> Result<Grammar, SchemaError> {
    let mut fuel = limits.fuel(&CancellationToken::new());
    let layout = Layout::new(options, limits, &mut fuel)?;
    let document = document::parse(schema.as_ref(), limits)?;
    let model = model::read(document, options, limits, &mut fuel)?;
    check_patterns(&model, limits)?;
    let warnings = model.warnings().to_vec();
    let lowerer = Lowerer::new(model, layout, limits.clone(), fuel)?;
    let may_refuse = lowerer.may_refuse();
    let grammar = Grammar::lazy("#", Arc::new(lowerer)).with_warnings(warnings);
    if may_refuse {
        check_rules(&grammar, limits)?;
    }
    Ok(grammar)
}

/// How many rules are looked at to find out whether one of them is refused.
const CHECKED_RULES: usize = 2_000;

/// Lowers the first rules of a grammar to see whether one is refused. What a budget cuts off is
/// found out when an output gets there.
fn check_rules(grammar: &Grammar, limits: &Limits) -> Result<(), SchemaError> {
    let mut limits = limits.clone();
    limits.rules = limits.rules.min(CHECKED_RULES);
    let Err(GrammarError::Lower(LowerError { location, source })) = grammar.lower_all(&limits)
    else {
        return Ok(());
    };
    match source.downcast_ref::<SchemaErrorKind>() {
        Some(kind @ SchemaErrorKind::Unsupported { .. }) => {
            Err(SchemaError { kind: kind.clone(), location, position: None })
        }
        _ => Ok(()),
    }
}

/// The grammar of all JSON objects: what is usually called JSON mode.
///
/// # Errors
/// [`SchemaError`] for options that are none, or limits too small for even this.
pub fn json_object(options: &Options, limits: &Limits) -> Result<Grammar, SchemaError> {
    compile(br#"{"type":"object"}"#, options, limits)
}

/// Parses every pattern, without building its automaton unless there is look-ahead in it.
fn check_patterns(model: &Model, limits: &Limits) -> Result<(), SchemaError> {
    let options = pattern_options();
    for (value, pattern) in model.patterns() {
        let pattern = model.document.text(pattern);
        let lowered = formwork_regex::lower(pattern, &options, limits, &mut BodyBuilder::new());
        let checked = match lowered {
            Err(error) if error.kind == RegexErrorKind::LookAhead => {
                formwork_regex::compile(pattern, &options, limits).map(drop)
            }
            other => other.map(drop),
        };
        checked.map_err(|error| {
            error_at(&model.document, value, SchemaErrorKind::Pattern(Box::new(error)))
        })?;
    }
    Ok(())
}
