//! What becomes of the cases of one constraint.

use super::{
    corpus::{Case, Expectation, Mode},
    guarded::guarded,
    options::{UnknownOptions, front_end_options},
};
use anyhow::Result;
use formwork::{
    AcceptErrorKind, CancellationToken, CompilationError, CompileError, CompiledGrammar, Compiler,
    Constraint, ConstraintError, FrontEndOptions, RowId, StartOptions, StepError,
    StructuredOutputGrammar, TokenId, Vocabulary, backend, json_schema::SchemaErrorKind, mask::Row,
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// What a case counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Right,
    WronglyAccepted,
    WronglyRefused,
    /// No verdict on the input: the constraint is refused, at first or when it is followed, or takes
    /// too long. One that is refused because nothing satisfies it refuses its inputs instead.
    RefusedToCompile,
    Panicked,
    Skipped,
}

/// A case's outcome, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    pub(super) why: Why,
}

/// Why a case came out as it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// There is no more to say.
    Plain,
    /// What was said of the constraint, or why it was not tried.
    Text(String),
    /// Where the input was refused.
    Place(Place),
    /// An entry of the list of skips; its index.
    Skip(usize),
}

/// Where an input was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Offset of the byte that cannot be taken; the length when the input is merely incomplete.
    pub(super) offset: usize,
    /// Bytes that could have stood there, ascending.
    pub(super) legal: Vec<u8>,
    /// Whether the input could have ended there.
    pub(super) could_end: bool,
}

/// Compiles constraints and reads inputs.
#[derive(Debug)]
pub(super) struct Judge {
    compiler: Compiler,
    limit: Duration,
    unknown: UnknownOptions,
}

/// A constraint, compiled or not.
type Compiled = Result<Arc<dyn CompiledGrammar>, NotCompiled>;

/// Why there is nothing to read inputs with; each with what there is to say.
enum NotCompiled {
    /// It is not tried.
    Skipped(String),
    Refused(String),
    /// It is refused because no input satisfies it.
    Unsatisfiable(String),
    Panicked(String),
}

/// What was found of an input.
enum Reading {
    /// All of it was taken and, where it is asked whole, it may end there.
    Accepted,
    Refused(Place),
    /// It could not be read to its end.
    Stopped(Stopped),
}

enum Stopped {
    Deadline,
    Failed { offset: usize, error: StepError },
}

/// A front end by its name: what it makes of a `spec`.
type FrontEnd = (&'static str, fn(&RawValue) -> Option<Constraint>);

/// The front ends there are. A new one is a line here.
const FRONT_ENDS: &[FrontEnd] = &[
    ("json_schema", |spec| Some(Constraint::JsonSchema(text_or_json(spec)?))),
    ("regex", |spec| Some(Constraint::Regex(serde_json::from_str(spec.get()).ok()?))),
    ("choice", |spec| Some(Constraint::Choice(serde_json::from_str(&text_or_json(spec)?).ok()?))),
    ("gbnf", |spec| Some(Constraint::Grammar(serde_json::from_str(spec.get()).ok()?))),
    ("ebnf", |spec| Some(Constraint::Grammar(serde_json::from_str(spec.get()).ok()?))),
    ("lark", |spec| Some(Constraint::Grammar(serde_json::from_str(spec.get()).ok()?))),
    ("structural_tag", |spec| Some(Constraint::StructuralTag(text_or_json(spec)?))),
];

const BYTES: u32 = 256;
/// Inputs of one constraint that may take too long before its others are not tried.
const SLOW_INPUTS: usize = 2;
const DEADLINE: &str = "deadline";
const NO_FRONT_END: &str = "no front end";

impl Judge {
    /// A judge with a backend of this name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn new(name: &str, limit: Duration, unknown: UnknownOptions) -> Result<Self> {
        let compiler = Compiler::new(Arc::new(byte_vocabulary()?)).with_backend(backend(name)?);
        Ok(Self { compiler, limit, unknown })
    }

    /// Judges cases that have source, front end, spec and options in common.
    pub(super) fn judge(&self, cases: &[&Case]) -> Vec<Judged> {
        let Some(first) = cases.first() else { return Vec::new() };
        let compiled = guarded(|| self.compile(first));
        let compiled = compiled.unwrap_or_else(|text| Err(NotCompiled::Panicked(text)));
        let mut slow = 0;
        let mut judged = Vec::with_capacity(cases.len());
        for case in cases {
            let verdict = match (&compiled, &case.expectation) {
                (Ok(compiled), Expectation::Input { text, accept }) => {
                    let verdict = match slow < SLOW_INPUTS {
                        true => self.judge_input(compiled, text, *accept, case.mode),
                        false => Judged::new(Outcome::RefusedToCompile, DEADLINE),
                    };
                    slow += usize::from(verdict.is_slow());
                    verdict
                }
                (Err(error), Expectation::Input { accept, .. }) => of_no_reading(*accept, error),
                (compiled, Expectation::Compiles(expected)) => of_compiling(*expected, compiled),
            };
            judged.push(verdict);
        }
        judged
    }

    fn judge_input(
        &self,
        compiled: &Arc<dyn CompiledGrammar>,
        text: &str,
        accept: bool,
        mode: Mode,
    ) -> Judged {
        match guarded(|| self.read(compiled, text.as_bytes(), mode)) {
            Ok(reading) => of_reading(accept, reading),
            Err(text) => Judged::new(Outcome::Panicked, &text),
        }
    }

    fn compile(&self, case: &Case) -> Compiled {
        let Some((_, read)) = FRONT_ENDS.iter().find(|(name, _)| *name == case.frontend) else {
            return Err(NotCompiled::Skipped(NO_FRONT_END.to_owned()));
        };
        let options = match front_end_options(case, self.unknown) {
            Ok(options) => options,
            Err(missing) => {
                let names: Vec<String> = missing.into_iter().collect();
                return Err(NotCompiled::Skipped(format!("option {}", names.join(", "))));
            }
        };
        match read(&case.spec) {
            Some(constraint) => self.compile_with(&constraint, options),
            None => Err(NotCompiled::Refused("the spec has the wrong type".to_owned())),
        }
    }

    fn compile_with(&self, constraint: &Constraint, options: FrontEndOptions) -> Compiled {
        let compiler = self.compiler.clone().with_options(options);
        let cancellation = CancellationToken::with_deadline(Instant::now() + self.limit);
        compiler.compile_cancellable(constraint, cancellation).map_err(|error| match error {
            CompilationError::Constraint(ConstraintError::Kind { .. }) => {
                NotCompiled::Skipped(NO_FRONT_END.to_owned())
            }
            error if error.is_deadline() => NotCompiled::Refused(DEADLINE.to_owned()),
            error if is_unsatisfiable(&error) => NotCompiled::Unsatisfiable(error.to_string()),
            error if error.is_unsupported() => {
                NotCompiled::Refused(format!("unsupported: {error}"))
            }
            error => NotCompiled::Refused(error.to_string()),
        })
    }

    /// Reads an input byte by byte.
    fn read(&self, compiled: &Arc<dyn CompiledGrammar>, input: &[u8], mode: Mode) -> Reading {
        let deadline = Instant::now() + self.limit;
        let failed = |offset, error| Reading::Stopped(Stopped::Failed { offset, error });
        let mut matcher = match compiled.clone().start(&StartOptions::default()) {
            Ok(matcher) => matcher,
            Err(formwork::StartError::Step(error)) => return failed(0, error),
            Err(error) => unreachable!("no bytes are fixed: {error}"),
        };
        for (offset, &byte) in input.iter().enumerate() {
            match matcher.accept_tokens(&[token(byte)]) {
                Ok(()) => {}
                Err(error) => match error.kind {
                    AcceptErrorKind::Failed(error) => return failed(offset, error),
                    _ => return refusal(&mut *matcher, offset),
                },
            }
            if Instant::now() >= deadline {
                return Reading::Stopped(Stopped::Deadline);
            }
        }
        match mode == Mode::Prefix || matcher.is_accepting() {
            true => Reading::Accepted,
            false => refusal(&mut *matcher, input.len()),
        }
    }
}

impl Judged {
    fn new(outcome: Outcome, why: &str) -> Self {
        Self { outcome, why: Why::Text(why.to_owned()) }
    }

    fn is_slow(&self) -> bool {
        matches!(&self.why, Why::Text(text) if text == DEADLINE)
    }
}

fn is_unsatisfiable(error: &CompilationError) -> bool {
    match error {
        CompilationError::Compile(error) => matches!(error, CompileError::Unsatisfiable),
        CompilationError::Constraint(ConstraintError::JsonSchema(error)) => {
            error.kind == SchemaErrorKind::Unsatisfiable
        }
        _ => false,
    }
}

/// A constraint that is refused need not be at fault: that it uses what we do not support is as good
/// an answer where it should be refused. That time ran out is none.
fn of_compiling(expected: bool, compiled: &Compiled) -> Judged {
    match (expected, compiled) {
        (true, Ok(_)) => Judged { outcome: Outcome::Right, why: Why::Plain },
        (false, Ok(_)) => Judged { outcome: Outcome::WronglyAccepted, why: Why::Plain },
        (_, Err(NotCompiled::Skipped(reason))) => Judged::new(Outcome::Skipped, reason),
        (_, Err(NotCompiled::Panicked(text))) => Judged::new(Outcome::Panicked, text),
        (_, Err(NotCompiled::Refused(error) | NotCompiled::Unsatisfiable(error))) => {
            match expected || error == DEADLINE {
                true => Judged::new(Outcome::RefusedToCompile, error),
                false => Judged::new(Outcome::Right, error),
            }
        }
    }
}

/// The verdict where no input can be read.
fn of_no_reading(accept: bool, error: &NotCompiled) -> Judged {
    match error {
        // An answer to every input: it is refused.
        NotCompiled::Unsatisfiable(error) if accept => Judged::new(Outcome::WronglyRefused, error),
        NotCompiled::Unsatisfiable(error) => Judged::new(Outcome::Right, error),
        NotCompiled::Refused(error) => Judged::new(Outcome::RefusedToCompile, error),
        NotCompiled::Skipped(reason) => Judged::new(Outcome::Skipped, reason),
        NotCompiled::Panicked(text) => Judged::new(Outcome::Panicked, text),
    }
}

fn of_reading(accept: bool, reading: Reading) -> Judged {
    let (outcome, why) = match (accept, reading) {
        (true, Reading::Accepted) => (Outcome::Right, Why::Plain),
        (false, Reading::Accepted) => (Outcome::WronglyAccepted, Why::Plain),
        (false, Reading::Refused(place)) => (Outcome::Right, Why::Place(place)),
        (true, Reading::Refused(place)) => (Outcome::WronglyRefused, Why::Place(place)),
        (_, Reading::Stopped(Stopped::Deadline)) => {
            (Outcome::RefusedToCompile, Why::Text(DEADLINE.to_owned()))
        }
        (_, Reading::Stopped(Stopped::Failed { offset, error })) => {
            (Outcome::RefusedToCompile, Why::Text(format!("at byte {offset}: {error}")))
        }
    };
    Judged { outcome, why }
}

/// The byte at the offset cannot be taken; or the input ends there, and should not.
fn refusal(matcher: &mut dyn StructuredOutputGrammar, offset: usize) -> Reading {
    let vocabulary = matcher.vocabulary().clone();
    let mut row = vec![0; vocabulary.row_words()];
    // A mask that cannot be made shows no byte; the verdict does not depend on it.
    let _ = matcher.fill_bitmask(&mut row, RowId::NONE);
    let allowed = Row::new(&row, vocabulary.model_len()).ones();
    let legal = allowed.filter_map(|id| u8::try_from(id).ok()).collect();
    Reading::Refused(Place { offset, legal, could_end: matcher.is_accepting() })
}

fn token(byte: u8) -> TokenId {
    TokenId::new(u32::from(byte))
}

/// A token per byte, and one that ends the output.
fn byte_vocabulary() -> Result<Vocabulary> {
    let end = TokenId::new(BYTES);
    let builder = Vocabulary::builder(BYTES as usize + 1).special(end, "<end>").eos(end);
    let bytes = 0..=u8::MAX;
    Ok(bytes.fold(builder, |builder, byte| builder.token(token(byte), &[byte])).build()?)
}

/// A string holds the text; anything else is the text itself.
fn text_or_json(spec: &RawValue) -> Option<String> {
    match spec.get().starts_with('"') {
        true => serde_json::from_str(spec.get()).ok(),
        false => Some(spec.get().to_owned()),
    }
}
