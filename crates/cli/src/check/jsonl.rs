//! `formwork check --jsonl`: requests and answers, a JSON object a line, until the input ends.
//!
//! No line ends the command: one that cannot be read, names something unknown, is refused or takes
//! too long gets an answer that says so. An error that begins with `unsupported` or `timeout` says
//! that the constraint may be sound; any other that something is wrong with it.

use crate::{
    guarded::guarded,
    lines::{Line, for_each_line},
    vocabularies::tokenize,
};
use anyhow::{Result, anyhow, bail};
use formwork::{
    CancellationToken, CompilationError, CompiledGrammar, Compiler, Constraint, FrontEndOptions,
    StartOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};
use std::{
    io::{BufRead, Write},
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

/// A front end by its name: what it makes of a `spec`.
type FrontEnd = (&'static str, fn(&RawValue) -> Result<Constraint>);

/// The front ends there are. A new one is a line here.
const FRONT_ENDS: &[FrontEnd] = &[
    ("json_schema", |spec| Ok(Constraint::JsonSchema(schema(spec)?))),
    ("regex", |spec| Ok(Constraint::Regex(text(spec)?))),
    ("choice", |spec| Ok(Constraint::Choice(choices(spec)?))),
    ("grammar", |spec| Ok(Constraint::Grammar(text(spec)?))),
    ("structural_tag", |spec| Ok(Constraint::StructuralTag(schema(spec)?))),
];

/// How many tokens are read between two looks at the clock.
const TOKENS_PER_LOOK: usize = 1_024;

/// A line of input.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    frontend: String,
    /// The constraint, as its front end has it.
    spec: Box<RawValue>,
    /// Options of the front end by their names, and `mode`.
    #[serde(default)]
    options: Option<Map<String, Value>>,
    /// The text; without it, the question is whether the constraint compiles.
    #[serde(default)]
    input: Option<String>,
    /// `mode` may stand here too.
    #[serde(default)]
    mode: Option<Mode>,
}

/// What is asked of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Whether it satisfies the constraint.
    Whole,
    /// Whether it can be completed.
    Prefix,
}

/// A line of output.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Answer {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    accept: Option<bool>,
    /// Whether every byte of the input could be taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Answers every line.
pub(super) fn serve(judge: &mut Judge, input: impl BufRead, output: &mut impl Write) -> Result<()> {
    for_each_line(input, |line| {
        if matches!(line, Line::Whole(bytes) if bytes.trim_ascii().is_empty()) {
            return Ok(ControlFlow::Continue(()));
        }
        let answer = match guarded(|| judge.answer(line)) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Answer::error(format!("{error:#}")),
            Err(panic) => {
                judge.last = None;
                Answer::error(panic.to_string())
            }
        };
        serde_json::to_writer(&mut *output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
        Ok(ControlFlow::Continue(()))
    })
}

impl Answer {
    fn error(error: String) -> Self {
        Self { ok: false, accept: None, prefix: None, error: Some(error) }
    }
}

/// Compiles and reads, and keeps the last constraint, since requests that follow each other often
/// share it.
#[derive(Debug)]
pub(super) struct Judge {
    compiler: Compiler,
    /// What holds for options that a request does not set.
    options: FrontEndOptions,
    time_limit: Duration,
    last: Option<Kept>,
}

/// A constraint and what became of it.
#[derive(Debug)]
struct Kept {
    key: Key,
    compiled: Result<Arc<dyn CompiledGrammar>, String>,
}

/// What determines a constraint: front end, spec and options.
type Key = (String, String, Map<String, Value>);

impl Judge {
    /// A judge that gives up on a request once it has taken `time_limit`.
    pub(super) fn new(compiler: Compiler, options: FrontEndOptions, time_limit: Duration) -> Self {
        Self { compiler, options, time_limit, last: None }
    }

    fn answer(&mut self, line: Line<'_>) -> Result<Answer> {
        let deadline = Instant::now() + self.time_limit;
        let mut request: Request = match line {
            Line::Whole(bytes) => serde_json::from_slice(bytes)?,
            Line::TooLong { limit } => bail!("the line has more than {limit} bytes"),
        };
        let mut options = request.options.take().unwrap_or_default();
        let mode = match (options.remove("mode"), request.mode) {
            (None, mode) => mode.unwrap_or(Mode::Whole),
            (Some(mode), None) => serde_json::from_value(mode)?,
            (Some(_), Some(_)) => bail!("`mode` is given twice"),
        };
        let key = (request.frontend, request.spec.get().to_owned(), options);
        let compiled = self.compiled(key, &request.spec, deadline)?;
        match request.input {
            None => Ok(Answer { ok: true, accept: Some(true), prefix: None, error: None }),
            Some(input) => read(compiled, input.as_bytes(), mode, deadline),
        }
    }

    /// The compiled constraint, from before where it is the same.
    fn compiled(
        &mut self,
        key: Key,
        spec: &RawValue,
        deadline: Instant,
    ) -> Result<Arc<dyn CompiledGrammar>> {
        if let Some(kept) = self.last.as_ref().filter(|kept| kept.key == key) {
            return kept.compiled.clone().map_err(anyhow::Error::msg);
        }
        self.last = None;
        let (frontend, _, options) = &key;
        let constraint = constraint(frontend, spec)?;
        let mut front_end_options = self.options.clone();
        for (name, value) in options {
            front_end_options.set(name, value)?;
        }
        let compiler = self.compiler.clone().with_options(front_end_options);
        let cancellation = CancellationToken::with_deadline(deadline);
        let compiled = match compiler.compile_cancellable(&constraint, cancellation) {
            // The next request has a time of its own.
            Err(error) if error.is_deadline() => bail!(TIMEOUT_COMPILING),
            compiled => compiled.map_err(|error| described(&error)),
        };
        let kept = self.last.insert(Kept { key, compiled });
        kept.compiled.clone().map_err(anyhow::Error::msg)
    }
}

const TIMEOUT_COMPILING: &str = "timeout: the constraint took too long to compile";
const TIMEOUT_READING: &str = "timeout: the input took too long to read";

fn described(error: &CompilationError) -> String {
    match error.is_unsupported() {
        true => format!("unsupported: {error}"),
        false => error.to_string(),
    }
}

/// Reads the input token by token.
fn read(
    compiled: Arc<dyn CompiledGrammar>,
    input: &[u8],
    mode: Mode,
    deadline: Instant,
) -> Result<Answer> {
    let tokens = tokenize(compiled.vocabulary(), input)?;
    let mut matcher = compiled.start(&StartOptions::default())?;
    let mut taken = 0;
    while let Some(&token) = tokens.get(taken)
        && !matcher.is_terminated()
        && matcher.accept_tokens(&[token]).is_ok()
    {
        taken += 1;
        if taken % TOKENS_PER_LOOK == 0 && Instant::now() >= deadline {
            bail!(TIMEOUT_READING);
        }
    }
    let prefix = taken == tokens.len();
    let accept = prefix && (mode == Mode::Prefix || matcher.is_accepting());
    Ok(Answer { ok: true, accept: Some(accept), prefix: Some(prefix), error: None })
}

fn constraint(frontend: &str, spec: &RawValue) -> Result<Constraint> {
    match FRONT_ENDS.iter().find(|(name, _)| *name == frontend) {
        Some((_, read)) => read(spec),
        None => {
            let known: Vec<String> =
                FRONT_ENDS.iter().map(|(name, _)| format!("`{name}`")).collect();
            bail!("unsupported: no front end is named {frontend:?}; there are {}", known.join(", "))
        }
    }
}

fn text(spec: &RawValue) -> Result<String> {
    serde_json::from_str(spec.get()).map_err(|_| anyhow!("`spec` must be a string"))
}

/// A string holds the schema's text; anything else is the schema itself.
fn schema(spec: &RawValue) -> Result<String> {
    match spec.get().starts_with('"') {
        true => text(spec),
        false => Ok(spec.get().to_owned()),
    }
}

/// A list of strings, or a string that holds one as JSON.
fn choices(spec: &RawValue) -> Result<Vec<String>> {
    serde_json::from_str(&schema(spec)?).map_err(|_| {
        anyhow!("`spec` must be a list of strings, or a string that holds one as JSON")
    })
}

#[cfg(test)]
mod tests;
