//! Cases that people wrote down: `suite/*.toml`, and the list of those to skip.
//!
//! The format is described in `suite/README.md`. A backend is checked in two ways: the outputs and
//! masks that the file states, and random walks under all laws, beside the oracle. So a case need
//! state no mask at all to be worth its lines.

use super::{
    Options, Outcome, Setup, check, compile,
    report::{Allowed, Discrepancy, Failure, Law, Report, Violation},
};
use formwork_core::{
    CompileError, CompiledGrammar, RowId, StartOptions, StopPolicy, StructuredOutputBackend,
    StructuredOutputGrammar,
};
use formwork_grammar::{Grammar, Limits};
use formwork_json_schema::{SchemaError, SchemaErrorKind};
use formwork_mask::Row;
use formwork_vocab::{TokenId, Vocabulary};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde::Deserialize;
use std::{fs, path::Path, sync::Arc};

/// Random walks over each case.
const WALKS: usize = 3;
/// Tokens of each walk.
const WALK_LENGTH: usize = 12;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<DataCase>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DataCase {
    name: String,
    #[serde(flatten)]
    constraint: DataConstraint,
    vocabulary: Vec<Token>,
    /// Whether every byte is a token, after those listed.
    #[serde(default)]
    every_byte: bool,
    /// Outputs that are complete.
    #[serde(default)]
    accepts: Vec<Text>,
    /// Outputs that are not: refused on the way, or not complete at the end.
    #[serde(default)]
    rejects: Vec<Text>,
    #[serde(default)]
    mask: Vec<Mask>,
    /// Whether nothing satisfies it.
    #[serde(default)]
    unsatisfiable: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DataConstraint {
    Choice(Vec<String>),
    Regex(String),
    JsonSchema(String),
    /// `true`; anything else is no constraint.
    JsonObject(bool),
}

/// A token: `<|…|>` is special, and the special tokens called `<|end|>…` end the output.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Token {
    Text(String),
    Bytes(Vec<u8>),
}

/// An output: tokens, or text that is cut greedily into the longest tokens.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Text {
    Greedy(String),
    Tokens(Vec<Token>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mask {
    after: Text,
    /// Exactly the tokens that may come next, by their texts; `<|end|>` among them where the output
    /// may end.
    allows: Option<Vec<Token>>,
    /// What every completion goes on with.
    forced: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Skips {
    #[serde(default)]
    skip: Vec<Skip>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Skip {
    backend: String,
    case: String,
    reason: String,
}

/// Checks all data cases.
pub(super) fn run(backend: &dyn StructuredOutputBackend, options: &Options, report: &mut Report) {
    let mut skips = match read_skips(options) {
        Ok(skips) => skips,
        Err(problem) => return report.data_problem(problem),
    };
    skips.skip.retain(|skip| skip.backend == backend.name());
    let cases = match read_cases(options) {
        Ok(cases) => cases,
        Err(problem) => return report.data_problem(problem),
    };
    for (name, case) in cases {
        let skip = skips.skip.iter().position(|skip| skip.case == name);
        let result = run_case(backend, &options.limits, &case, report);
        match (skip.map(|index| skips.skip.swap_remove(index)), result) {
            (Some(skip), Err(_)) => report.skipped.push(format!("{name}: {}", skip.reason)),
            (Some(_), Ok(_)) => {
                report.data_problem(format!("{name}: skipped, but no law is broken any more"));
            }
            (None, Ok(outcome)) => report.count(outcome),
            (None, Err(Problem::Broken(violation))) => {
                report.failures.push(Failure { case: name, violation: Some(violation) });
            }
            (None, Err(Problem::Data(problem))) => {
                report.data_problem(format!("{name}: {problem}"));
            }
        }
    }
    for skip in skips.skip {
        report.data_problem(format!("{}: skipped, but there is no such case", skip.case));
    }
}

impl Report {
    fn data_problem(&mut self, case: String) {
        self.failures.push(Failure { case, violation: None });
    }
}

enum Problem {
    Broken(Violation),
    /// The case itself is wrong.
    Data(String),
}

/// Why a front end gave no grammar.
enum FrontEnd {
    /// It found that nothing satisfies the constraint.
    Unsatisfiable,
    Refused(String),
}

fn read_skips(options: &Options) -> Result<Skips, String> {
    let Some(path) = &options.skips else { return Ok(Skips::default()) };
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// All cases, each with `file/name`, in the order of the files' names.
fn read_cases(options: &Options) -> Result<Vec<(String, DataCase)>, String> {
    let Some(folder) = &options.data else { return Ok(Vec::new()) };
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let parsed = read_file(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        cases.extend(parsed.case.into_iter().map(|case| (format!("{stem}/{}", case.name), case)));
    }
    Ok(cases)
}

fn read_file(path: &Path) -> Result<File, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    toml::from_str(&text).map_err(|error| error.to_string())
}

/// One case: what it states, then random walks.
fn run_case(
    backend: &dyn StructuredOutputBackend,
    limits: &Limits,
    case: &DataCase,
    report: &mut Report,
) -> Result<Outcome, Problem> {
    let grammar = match case.grammar(limits) {
        Ok(grammar) => grammar,
        Err(FrontEnd::Unsatisfiable) if case.unsatisfiable => return Ok(Outcome::Unsatisfiable),
        Err(FrontEnd::Unsatisfiable) => {
            return Err(Problem::Data("nothing satisfies it".to_owned()));
        }
        Err(FrontEnd::Refused(why)) => return Err(Problem::Data(why)),
    };
    let vocabulary = case.vocabulary().map_err(Problem::Data)?;
    let mut setup = Setup {
        grammar: Arc::new(grammar),
        vocabulary: Arc::new(vocabulary),
        start: StartOptions::default(),
        choices: Vec::new(),
    };
    match compile(backend, limits, &setup) {
        Ok(_) if case.unsatisfiable => {
            return Err(broken(Law::Satisfiability, &[], Discrepancy::NotUnsatisfiable));
        }
        Ok(compiled) => case.check_stated(&compiled, report)?,
        Err(CompileError::Unsatisfiable) if !case.unsatisfiable => {
            let what = "satisfiable";
            let fact = Discrepancy::Fact { what, expected: true };
            return Err(broken(Law::Satisfiability, &[], fact));
        }
        // The walks below tell the rest.
        Err(_) => {}
    }
    let mut rng = StdRng::seed_from_u64(0);
    let mut outcome = Outcome::Passed;
    for walk in 0..WALKS {
        setup.choices = (0..WALK_LENGTH).map(|_| rng.random()).collect();
        if walk + 1 == WALKS {
            setup.start.stop_ids = StopPolicy::Only(Vec::new());
        }
        outcome = check(backend, limits, &setup, report).map_err(Problem::Broken)?;
    }
    Ok(outcome)
}

fn broken(law: Law, after: &[TokenId], discrepancy: Discrepancy) -> Problem {
    Problem::Broken(Violation { law, after: after.to_vec(), discrepancy })
}

impl DataCase {
    fn grammar(&self, limits: &Limits) -> Result<Grammar, FrontEnd> {
        let schema_options = formwork_json_schema::Options::default();
        let refused = |error: &dyn std::fmt::Display| FrontEnd::Refused(error.to_string());
        let schema_error = |error: SchemaError| match error.kind {
            SchemaErrorKind::Unsatisfiable => FrontEnd::Unsatisfiable,
            _ => refused(&error),
        };
        match &self.constraint {
            DataConstraint::Choice(choices) => {
                formwork_choice::compile(choices, limits).map_err(|error| refused(&error))
            }
            DataConstraint::Regex(pattern) => {
                formwork_regex::compile(pattern, &formwork_regex::Options::default(), limits)
                    .map_err(|error| refused(&error))
            }
            DataConstraint::JsonSchema(schema) => {
                formwork_json_schema::compile(schema, &schema_options, limits).map_err(schema_error)
            }
            DataConstraint::JsonObject(true) => {
                formwork_json_schema::json_object(&schema_options, limits).map_err(schema_error)
            }
            DataConstraint::JsonObject(false) => Err(refused(&"json_object must be true")),
        }
    }

    fn vocabulary(&self) -> Result<Vocabulary, String> {
        let bytes: Vec<u8> = if self.every_byte { (0..=255).collect() } else { Vec::new() };
        let mut ids = (0..).map(TokenId::new);
        let mut builder = Vocabulary::builder(self.vocabulary.len() + bytes.len());
        for (token, id) in self.vocabulary.iter().zip(&mut ids) {
            builder = match token {
                Token::Text(text) if is_special(text) => {
                    let special = builder.special(id, text);
                    if text.starts_with("<|end|>") { special.eos(id) } else { special }
                }
                Token::Text(text) => builder.token(id, text.as_bytes()),
                Token::Bytes(bytes) => builder.token(id, bytes),
            };
        }
        for (byte, id) in bytes.into_iter().zip(&mut ids) {
            builder = builder.token(id, &[byte]);
        }
        builder.build().map_err(|error| error.to_string())
    }

    /// Holds the backend to what the file states.
    fn check_stated(
        &self,
        compiled: &Arc<dyn CompiledGrammar>,
        report: &mut Report,
    ) -> Result<(), Problem> {
        let vocabulary = compiled.vocabulary().clone();
        for (texts, expected) in [(&self.accepts, true), (&self.rejects, false)] {
            for text in texts {
                *report.checks.entry(Law::Data).or_default() += 1;
                let tokens = text.tokens(&vocabulary)?;
                let mut matcher = start(compiled)?;
                let complete = matcher.accept_tokens(&tokens).is_ok() && matcher.is_accepting();
                if complete != expected {
                    let what = "the output is complete";
                    let fact = Discrepancy::Fact { what, expected };
                    return Err(broken(Law::Data, &tokens, fact));
                }
            }
        }
        for mask in &self.mask {
            *report.checks.entry(Law::Data).or_default() += 1;
            check_mask(mask, compiled)?;
        }
        Ok(())
    }
}

fn start(compiled: &Arc<dyn CompiledGrammar>) -> Result<Box<dyn StructuredOutputGrammar>, Problem> {
    let started = compiled.clone().start(&StartOptions::default());
    started.map_err(|error| broken(Law::Data, &[], Discrepancy::Start(error)))
}

fn check_mask(mask: &Mask, compiled: &Arc<dyn CompiledGrammar>) -> Result<(), Problem> {
    let vocabulary = compiled.vocabulary();
    let after = mask.after.tokens(vocabulary)?;
    let mut matcher = start(compiled)?;
    if let Err(error) = matcher.accept_tokens(&after) {
        return Err(broken(Law::Data, &after, Discrepancy::Accept(error)));
    }
    if let Some(allows) = &mask.allows {
        let mut allowed = Vec::new();
        for token in allows {
            allowed.extend(token.ids(vocabulary)?);
        }
        let mut words = vec![0; vocabulary.row_words()];
        if let Err(error) = matcher.fill_bitmask(&mut words, RowId::NONE) {
            return Err(broken(Law::Data, &after, Discrepancy::Step(error)));
        }
        let row = Row::new(&words, vocabulary.model_len());
        let ids =
            (0..u32::try_from(vocabulary.model_len()).expect("ids are u32")).map(TokenId::new);
        for token in ids {
            let expected = allowed.contains(&token);
            if row.contains(token.index()) != expected {
                let expected = if expected { Allowed::Yes } else { Allowed::No };
                return Err(broken(Law::Data, &after, Discrepancy::Token { token, expected }));
            }
        }
    }
    if let Some(forced) = &mask.forced {
        let mut found = Vec::new();
        matcher.forced_bytes(1_000, &mut found);
        // As in the law: only where every byte is a token must they be the longest.
        let right = match vocabulary.is_byte_complete() {
            true => found == forced.as_bytes(),
            false => forced.as_bytes().starts_with(&found),
        };
        if !right {
            let expected = forced.as_bytes().to_vec();
            return Err(broken(Law::Data, &after, Discrepancy::Bytes { expected, found }));
        }
    }
    Ok(())
}

fn is_special(text: &str) -> bool {
    text.starts_with("<|") && text.contains("|>")
}

impl Token {
    /// Every token of the vocabulary that is written like this.
    fn ids(&self, vocabulary: &Vocabulary) -> Result<Vec<TokenId>, Problem> {
        let ids: Vec<TokenId> = match self {
            Self::Text(text) if is_special(text) => vocabulary.by_name(text).into_iter().collect(),
            Self::Text(text) => vocabulary.tokens_with_bytes(text.as_bytes()).collect(),
            Self::Bytes(bytes) => vocabulary.tokens_with_bytes(bytes).collect(),
        };
        match ids.is_empty() {
            true => Err(Problem::Data(format!("no token is written {self:?}"))),
            false => Ok(ids),
        }
    }
}

impl Text {
    fn tokens(&self, vocabulary: &Vocabulary) -> Result<Vec<TokenId>, Problem> {
        match self {
            Self::Tokens(tokens) => {
                tokens.iter().map(|token| Ok(token.ids(vocabulary)?[0])).collect()
            }
            Self::Greedy(text) => {
                let mut rest = text.as_bytes();
                let mut tokens = Vec::new();
                while !rest.is_empty() {
                    let longest = (1..=rest.len()).rev().find_map(|length| {
                        let token = vocabulary.tokens_with_bytes(&rest[..length]).next();
                        token.map(|token| (token, length))
                    });
                    let Some((token, length)) = longest else {
                        return Err(Problem::Data(format!("no tokens spell {text:?}")));
                    };
                    tokens.push(token);
                    rest = &rest[length..];
                }
                Ok(tokens)
            }
        }
    }
}
