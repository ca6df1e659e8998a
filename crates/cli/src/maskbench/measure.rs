//! One case: compile once; per test a fresh matcher; per token a mask, a look at the token's bit, a
//! commit. Nothing but these calls stands between two readings of the clock, and nothing is
//! subtracted from what it says.

use super::{
    protocol::{Case, Outcome, Phase, Status, Test, Verdict},
    respell::{Variant, respell, seed_of},
};
use crate::{guarded::guarded, vocabularies::tokenize};
use formwork::{
    CancellationToken, CompilationError, CompiledGrammar, Compiler, Constraint, Filled, RowId,
    StartError, StartOptions, StructuredOutputGrammar, TokenId, Vocabulary, mask::Row,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// What cases are run with.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) compiler: Compiler,
    /// The name that stands in results.
    pub(crate) engine: String,
    pub(crate) variant: Variant,
    /// What one case may take, from its compile on.
    pub(crate) time_limit: Duration,
}

/// Why a schema did not become a matcher.
enum Refusal {
    Compile(CompilationError),
    Start(StartError),
}

/// The tokens of a test in the spelling asked for, or why there are none.
type Spelled = Result<Vec<TokenId>, String>;

/// A compiled case in its tests.
struct Run<'b> {
    compiled: Arc<dyn CompiledGrammar>,
    deadline: Instant,
    /// One row for all tests: a fresh matcher is told that nothing is known of it.
    row: Vec<i32>,
    outcome: &'b mut Outcome,
    /// Whether [`Outcome::first_mask_us`] has been taken.
    has_first_mask: bool,
}

/// The deadline has passed.
struct Late;

impl Bench {
    /// Runs a case. `compiled` is told how long the compile took, once it is done.
    pub(crate) fn run(&self, case: &Case, compiled: &mut dyn FnMut(f64)) -> Outcome {
        let mut outcome = Outcome {
            engine: self.engine.clone(),
            id: case.id.clone(),
            split: case.split.clone(),
            ..Outcome::default()
        };
        let mut phase = Phase::Compile;
        let ran = guarded(|| {
            let tests: Vec<Spelled> =
                case.tests.iter().map(|test| self.spell(case, test)).collect();
            let deadline = Instant::now() + self.time_limit;
            let Some(grammar) = self.compile(case, deadline, &mut outcome) else { return };
            compiled(outcome.compile_us);
            phase = Phase::Match;
            let row = vec![0; self.compiler.vocabulary().row_words()];
            let run = Run {
                compiled: grammar,
                deadline,
                row,
                outcome: &mut outcome,
                has_first_mask: false,
            };
            if run.tests(&case.tests, &tests).is_err() {
                outcome.fail(Status::Timeout, Some(phase), self.over_limit());
            }
        });
        if let Err(panic) = ran {
            outcome.fail(Status::Crash, Some(phase), panic.to_string());
        }
        outcome
    }

    fn over_limit(&self) -> String {
        format!("over {} s", self.time_limit.as_secs_f64())
    }

    /// From the text of the schema to a matcher that is ready for its first mask.
    fn compile(
        &self,
        case: &Case,
        deadline: Instant,
        outcome: &mut Outcome,
    ) -> Option<Arc<dyn CompiledGrammar>> {
        let schema = Constraint::JsonSchema(case.schema.get().to_owned());
        let cancellation = CancellationToken::with_deadline(deadline);
        let started = Instant::now();
        let ready = self
            .compiler
            .compile_cancellable(&schema, cancellation)
            .map_err(Refusal::Compile)
            .and_then(|compiled| {
                let matcher = compiled.clone().start(&StartOptions::default());
                Ok((compiled, matcher.map_err(Refusal::Start)?))
            });
        outcome.compile_us = microseconds(started.elapsed());
        match ready {
            Ok((compiled, _matcher)) => return Some(compiled),
            Err(Refusal::Compile(error)) if error.is_deadline() => {
                outcome.fail(Status::Timeout, Some(Phase::Compile), self.over_limit());
                outcome.compile_us = microseconds(self.time_limit);
            }
            Err(Refusal::Compile(error)) => {
                outcome.fail(Status::CompileError, None, error.to_string());
            }
            Err(Refusal::Start(error)) => {
                outcome.fail(Status::CompileError, None, error.to_string());
            }
        }
        None
    }

    /// The tokens of a test. Those of another spelling than the given one are made by the
    /// vocabulary's encoder, or by [`tokenize`]'s rule where it has none.
    fn spell(&self, case: &Case, test: &Test) -> Spelled {
        let tokens = test.tokens.iter().copied().map(TokenId::new);
        if self.variant == Variant::Compact {
            return Ok(tokens.collect());
        }
        let vocabulary = self.compiler.vocabulary();
        let bytes: Vec<u8> =
            tokens.filter_map(|id| vocabulary.bytes(id)).flatten().copied().collect();
        let spelled = respell(&bytes, self.variant, seed_of(&case.id));
        tokenize(vocabulary, &spelled).map_err(|error| error.to_string())
    }
}

impl Run<'_> {
    /// All tests; without a first mask from them, one that counts as such only.
    fn tests(mut self, tests: &[Test], spelled: &[Spelled]) -> Result<(), Late> {
        for (test, tokens) in tests.iter().zip(spelled) {
            let masks_before = self.outcome.mask_us.len();
            let mut verdict = Verdict { valid: test.valid, ..Verdict::default() };
            match tokens {
                Ok(tokens) => self.test(tokens, &mut verdict)?,
                Err(error) => verdict.error = Some(error.clone()),
            }
            verdict.masks = self.outcome.mask_us.len() - masks_before;
            self.outcome.tests.push(verdict);
        }
        if !self.has_first_mask {
            self.lone_mask();
        }
        self.outcome.tokens = self.outcome.mask_us.len();
        Ok(())
    }

    fn test(&mut self, tokens: &[TokenId], verdict: &mut Verdict) -> Result<(), Late> {
        let started = Instant::now();
        let matcher = self.compiled.clone().start(&StartOptions::default());
        self.outcome.reset_us.push(microseconds(started.elapsed()));
        let mut matcher = match matcher {
            Ok(matcher) => matcher,
            Err(error) => {
                verdict.error = Some(format!("start: {error}"));
                return Ok(());
            }
        };
        let mut held = RowId::NONE;
        for &token in tokens {
            if Instant::now() >= self.deadline {
                return Err(Late);
            }
            match self.step(&mut *matcher, held, token) {
                Ok(Some(filled)) => held = filled.row(held),
                Ok(None) => return Ok(()),
                Err(error) => {
                    verdict.error = Some(error);
                    return Ok(());
                }
            }
            verdict.tokens_done += 1;
        }
        verdict.accepted_prefix = true;
        match may_end(&mut *matcher, &mut self.row, held) {
            Ok(may_end) => verdict.eos_allowed = Some(may_end),
            Err(error) => verdict.error = Some(error),
        }
        Ok(())
    }

    /// A mask, and if it allows the token, a commit. `None` when it does not.
    fn step(
        &mut self,
        matcher: &mut dyn StructuredOutputGrammar,
        held: RowId,
        token: TokenId,
    ) -> Result<Option<Filled>, String> {
        let started = Instant::now();
        let filled = matcher.fill_bitmask(&mut self.row, held);
        let mask_us = microseconds(started.elapsed());
        let outcome = &mut *self.outcome;
        if !self.has_first_mask {
            self.has_first_mask = true;
            outcome.first_mask_us = mask_us;
        }
        outcome.mask_us.push(mask_us);
        let index = outcome.commit_us.len();
        outcome.commit_us.push(0.0);
        let filled = filled.map_err(|error| format!("mask: {error}"))?;
        if !Row::new(&self.row, matcher.vocabulary().model_len()).contains(token.index()) {
            return Ok(None);
        }
        let started = Instant::now();
        let accepted = matcher.accept_tokens(&[token]);
        outcome.commit_us[index] = microseconds(started.elapsed());
        accepted.map_err(|error| format!("commit: {error}"))?;
        Ok(Some(filled))
    }

    fn lone_mask(&mut self) {
        let mut matcher = match self.compiled.clone().start(&StartOptions::default()) {
            Ok(matcher) => matcher,
            Err(error) => {
                return self.outcome.fail(Status::Error, None, format!("first mask: {error}"));
            }
        };
        let started = Instant::now();
        let filled = matcher.fill_bitmask(&mut self.row, RowId::NONE);
        self.outcome.first_mask_us = microseconds(started.elapsed());
        if let Err(error) = filled {
            self.outcome.fail(Status::Error, None, format!("first mask: {error}"));
        }
    }
}

/// Whether the output may end here: by the bits of the stop ids in one more mask, which is not
/// timed. A vocabulary that knows no end of sequence has no such bits; the matcher is asked instead.
fn may_end(
    matcher: &mut dyn StructuredOutputGrammar,
    row: &mut [i32],
    held: RowId,
) -> Result<bool, String> {
    if matcher.stop_ids().is_empty() {
        return Ok(matcher.is_accepting());
    }
    matcher.fill_bitmask(row, held).map_err(|error| format!("eos: {error}"))?;
    let row = Row::new(row, matcher.vocabulary().model_len());
    Ok(matcher.stop_ids().iter().any(|id| row.contains(id.index())))
}

impl Outcome {
    /// Ends badly: what was measured of the tests is thrown away, the compile's time is kept.
    fn fail(&mut self, status: Status, phase: Option<Phase>, error: String) {
        let timings = [&mut self.mask_us, &mut self.commit_us, &mut self.reset_us];
        timings.into_iter().for_each(Vec::clear);
        self.tests.clear();
        (self.status, self.phase, self.error) = (status, phase, Some(error));
        (self.tokens, self.first_mask_us) = (0, 0.0);
    }
}

fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// The mean of an empty timed region, in nanoseconds.
pub(crate) fn timer_baseline_ns() -> f64 {
    const READINGS: u32 = 100_000;
    let total: Duration = (0..READINGS).map(|_| Instant::now().elapsed()).sum();
    total.as_nanos() as f64 / f64::from(READINGS)
}

/// Computes what cases of this vocabulary share, so that no case pays for it: the vocabulary's own
/// tables, and those that a backend makes at its first compile.
pub(crate) fn warm_up(compiler: &Compiler) -> Duration {
    let started = Instant::now();
    let vocabulary: &Vocabulary = compiler.vocabulary();
    formwork::prepare(vocabulary);
    // Whether this backend can do even this is for the cases to say.
    let _ = compiler.compile(&Constraint::Regex("[0-9]".into()));
    started.elapsed()
}

#[cfg(test)]
mod tests;
