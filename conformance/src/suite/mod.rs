//! The suite: one run that says whether a backend is right.
//!
//! # Idea
//! Every law ([`Law`]) is checked on cases that people wrote down (`suite/*.toml`, see `data`) and
//! on random ones ([`random`]): a matcher walks beside the oracle's, and at every
//! state everything that can be asked is asked. A random case that breaks a law is shrunk before it
//! is reported. What a backend does not support is counted with its reason.
//!
//! # Reading order
//! This file, `report`, `subject`, `laws` (one state), `walk` (ways between states), `data`.

mod data;
mod laws;
mod report;
mod subject;
mod walk;

pub use report::{Allowed, CompileErrorText, Discrepancy, Failure, Law, Report, Violation};

use crate::{
    oracle::{Oracle, OracleError, OracleLimits, OracleMatcher},
    random::{self, Case, GrammarOptions},
};
use formwork_core::{
    CompileError, CompileRequest, CompiledGrammar, StartError, StartOptions,
    StructuredOutputBackend, Unsupported,
};
use formwork_grammar::{BodyBuilder, Grammar, Limits, Node, TokenRef, TokenSet};
use formwork_vocab::{TokenId, Vocabulary};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use rustc_hash::FxHashMap;
use std::{cell::RefCell, path::PathBuf, sync::Arc};
use subject::{Counts, Stop, Subject};

/// What a run does.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of data files; none for random cases alone.
    pub data: Option<PathBuf>,
    /// The file that says which data cases are skipped, and why.
    pub skips: Option<PathBuf>,
    /// Kinds of random grammars.
    pub grammars: Vec<GrammarOptions>,
    /// Random cases of each kind. Default 500.
    pub cases: u32,
    /// From which the random cases follow. Default 0.
    pub seed: u64,
    /// Limits given to the backend.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut limits = Limits::default();
        // A random grammar that needs more is not worth the wait.
        limits.automaton_states = 20_000;
        limits.automaton_steps = 2_000_000;
        Self {
            data: Some(folder.join("suite")),
            skips: Some(folder.join("skips.toml")),
            grammars: vec![
                GrammarOptions::regular(),
                GrammarOptions::context_free(),
                GrammarOptions::everything(),
            ],
            cases: 500,
            seed: 0,
            limits,
        }
    }
}

/// What one case is made of.
struct Setup {
    grammar: Arc<Grammar>,
    vocabulary: Arc<Vocabulary>,
    start: StartOptions,
    choices: Vec<u16>,
}

/// What became of a case in which no law was broken.
enum Outcome {
    Passed,
    Unsupported(String),
    OverLimit(String),
    Unsatisfiable,
    Undecided,
}

/// Checks a backend.
#[must_use]
pub fn run(backend: &dyn StructuredOutputBackend, options: &Options) -> Report {
    let mut report = Report::default();
    unknown_token(backend, &options.limits, &mut report);
    if options.data.is_some() {
        data::run(backend, options, &mut report);
    }
    for kind in &options.grammars {
        report.merge(run_random(backend, options, kind));
    }
    report
}

/// A grammar of one token that the vocabulary does not have.
fn unknown_token(backend: &dyn StructuredOutputBackend, limits: &Limits, report: &mut Report) {
    const NAME: &str = "<|nobody|>";
    let mut body = BodyBuilder::new();
    let root = body.tokens(TokenSet::of([TokenRef::Name(NAME.into())]));
    let vocabulary = Vocabulary::builder(1).token(TokenId::new(0), NAME.as_bytes()).build();
    let setup = Setup {
        grammar: Arc::new(Grammar::of_body(body.finish(root))),
        vocabulary: Arc::new(vocabulary.expect("one token is a vocabulary")),
        start: StartOptions::default(),
        choices: Vec::new(),
    };
    *report.checks.entry(Law::UnknownToken).or_default() += 1;
    let discrepancy = match compile(backend, limits, &setup) {
        Err(CompileError::UnknownToken { name }) if &*name == NAME => return,
        Err(CompileError::Unsupported(why)) => {
            return report.count(Outcome::Unsupported(reason(&why)));
        }
        Err(error) => Discrepancy::Compile(Box::new(CompileErrorText::from(&error))),
        Ok(_) => Discrepancy::Fact { what: "the token is known", expected: false },
    };
    let violation = Violation { law: Law::UnknownToken, after: Vec::new(), discrepancy };
    let case = format!("the token {NAME} is named, and no token is called so");
    report.failures.push(Failure { case, violation: Some(violation) });
}

/// Random cases of one kind, the first failing one shrunk.
fn run_random(
    backend: &dyn StructuredOutputBackend,
    options: &Options,
    kind: &GrammarOptions,
) -> Report {
    let config = Config {
        cases: options.cases,
        failure_persistence: None,
        max_shrink_iters: 10_000,
        ..Config::default()
    };
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&options.seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let report = RefCell::new(Report::default());
    let violation = RefCell::new(None);
    let result = runner.run(&random::case(kind), |case: Case| {
        let setup = Setup {
            grammar: Arc::new(case.grammar()),
            vocabulary: case.vocabulary(),
            start: StartOptions {
                stop_ids: case.stop_policy(),
                fixed_bytes: case.fixed_bytes.clone(),
            },
            choices: case.choices.clone(),
        };
        let mut report = report.borrow_mut();
        // What a panic leaves behind must not pass for what an earlier case did.
        *violation.borrow_mut() = None;
        match check(backend, &options.limits, &setup, &mut report) {
            Ok(outcome) => {
                report.count(outcome);
                Ok(())
            }
            Err(broken) => {
                let reason = broken.to_string();
                // The last one is of the smallest case.
                *violation.borrow_mut() = Some(broken);
                Err(TestCaseError::fail(reason))
            }
        }
    });
    let mut report = report.into_inner();
    if let Err(TestError::Fail(reason, case)) = result {
        let seed = options.seed;
        let tokens = tokens_of(&case.vocabulary());
        let violation = violation.into_inner();
        // Without a violation it was a panic, and the reason is all there is.
        let reason = if violation.is_none() { reason.message() } else { "" };
        let case = format!("{reason}\nrandom case, seed {seed}:\n{case:?}\ntokens: {tokens}");
        report.failures.push(Failure { case, violation });
    }
    report
}

/// The first tokens by id, to read failures by.
fn tokens_of(vocabulary: &Vocabulary) -> String {
    let known = u32::try_from(vocabulary.tokenizer_len()).expect("ids are u32");
    let token = |id: u32| {
        let text = vocabulary.bytes(TokenId::new(id)).unwrap_or(b"-");
        format!("{id}:{}", text.escape_ascii())
    };
    (0..known.min(24)).map(token).collect::<Vec<_>>().join(" ")
}

impl Report {
    fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Unsatisfiable => self.unsatisfiable += 1,
            Outcome::Undecided => self.undecided += 1,
            Outcome::Unsupported(why) => *self.unsupported.entry(why).or_default() += 1,
            Outcome::OverLimit(why) => *self.over_limit.entry(why).or_default() += 1,
        }
    }
}

/// Checks one case.
fn check(
    backend: &dyn StructuredOutputBackend,
    limits: &Limits,
    setup: &Setup,
    report: &mut Report,
) -> Result<Outcome, Violation> {
    let compiled = match compile(backend, limits, setup) {
        Ok(compiled) => Ok(compiled),
        Err(CompileError::Unsupported(why)) => return Ok(Outcome::Unsupported(reason(&why))),
        Err(why @ CompileError::Exhausted(_)) => {
            return Ok(Outcome::OverLimit(why.to_string()));
        }
        Err(error) => Err(error),
    };
    let mut counts = Counts::default();
    let result = start(compiled, setup, &mut counts).and_then(|subject| match subject {
        Started::Running(mut subject) => {
            subject.walk(&setup.choices)?;
            Ok(Outcome::Passed)
        }
        Started::Refused => Ok(Outcome::Passed),
        Started::Unsatisfiable => Ok(Outcome::Unsatisfiable),
    });
    for (law, count) in counts.checks {
        *report.checks.entry(law).or_default() += count;
    }
    report.short_forced_bytes += counts.short_forced_bytes;
    match result {
        Ok(outcome) => Ok(outcome),
        Err(Stop::NoAnswer) => Ok(Outcome::Undecided),
        Err(Stop::Broken(violation)) => Err(violation),
    }
}

fn compile(
    backend: &dyn StructuredOutputBackend,
    limits: &Limits,
    setup: &Setup,
) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
    let mut request = CompileRequest::new(setup.grammar.clone(), setup.vocabulary.clone());
    request.limits = limits.clone();
    match backend.assess(&setup.grammar, &setup.vocabulary, limits) {
        formwork_core::Assessment::Unsupported(why) => Err(why.into()),
        formwork_core::Assessment::Supported(_) => backend.compile_blocking(&request),
    }
}

/// The kind of a reason, without what belongs to one grammar.
fn reason(why: &Unsupported) -> String {
    match why {
        Unsupported::NotRegular { why, .. } => format!("not regular: {why}"),
        Unsupported::Construct { construct, .. } => (*construct).to_owned(),
        other => other.to_string(),
    }
}

/// How a start went, where it went as it should.
enum Started<'c> {
    Running(Box<Subject<'c>>),
    /// The fixed bytes are refused.
    Refused,
    Unsatisfiable,
}

/// Starts the backend's matcher and the oracle's, and compares how that goes.
fn start<'c>(
    compiled: Result<Arc<dyn CompiledGrammar>, CompileError>,
    setup: &Setup,
    counts: &'c mut Counts,
) -> Result<Started<'c>, Stop> {
    let broken =
        |law, discrepancy| Err(Stop::Broken(Violation { law, after: Vec::new(), discrepancy }));
    let oracle = Oracle::new(&setup.grammar, setup.vocabulary.clone(), &OracleLimits::default())?;
    let oracle = OracleMatcher::start(oracle, &setup.start.stop_ids, &setup.start.fixed_bytes);
    *counts.checks.entry(Law::Satisfiability).or_default() += 1;
    let compiled = match (compiled, &oracle) {
        (Err(CompileError::Unsatisfiable), Err(OracleError::Unsatisfiable)) => {
            return Ok(Started::Unsatisfiable);
        }
        (Ok(_), Err(OracleError::Unsatisfiable)) => {
            return broken(Law::Satisfiability, Discrepancy::NotUnsatisfiable);
        }
        (Ok(compiled), _) => compiled,
        (Err(error), _) => {
            let error = Box::new(CompileErrorText::from(&error));
            return broken(Law::Satisfiability, Discrepancy::Compile(error));
        }
    };
    *counts.checks.entry(Law::FixedBytes).or_default() += 1;
    let started = compiled.clone().start(&setup.start);
    let (oracle, matcher) = match (oracle, started) {
        (Ok(oracle), Ok(matcher)) => (oracle, matcher),
        (
            Err(OracleError::FixedBytes { offset }),
            Err(StartError::FixedBytes { offset: found }),
        ) => {
            return match offset {
                Some(expected) if expected != found => {
                    let what = "offset of the refused byte";
                    broken(Law::FixedBytes, Discrepancy::Count { what, expected, found })
                }
                _ => Ok(Started::Refused),
            };
        }
        (Err(OracleError::FixedBytes { .. }), Ok(_)) => {
            let what = "the fixed bytes are taken";
            return broken(Law::FixedBytes, Discrepancy::Fact { what, expected: false });
        }
        (Err(error), _) => return Err(error.into()),
        (Ok(_), Err(error)) => return broken(Law::FixedBytes, Discrepancy::Start(error)),
    };
    if matcher.fixed_bytes() != setup.start.fixed_bytes {
        let what = "fixed_bytes replay";
        return broken(Law::FixedBytes, Discrepancy::Fact { what, expected: true });
    }
    let forced_bytes_are_exact =
        setup.vocabulary.is_byte_complete() && !counts_tokens(&setup.grammar);
    Ok(Started::Running(Box::new(Subject {
        compiled,
        options: setup.start.clone(),
        matcher,
        oracle,
        tokens: Vec::new(),
        forced_bytes_are_exact,
        rows: FxHashMap::default(),
        counts,
    })))
}

fn counts_tokens(grammar: &Grammar) -> bool {
    let rules = grammar.lower_all(&Limits::default()).unwrap_or_default();
    let bodies = rules.into_iter().filter_map(|rule| grammar.body(rule).ok());
    let limit = |node: &Node| matches!(node, Node::TokenLimit { .. });
    bodies.into_iter().any(|body| body.nodes().iter().any(limit))
}
