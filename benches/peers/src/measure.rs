//! The protocol: every engine on one case in turn, three times over, and the shortest times.
//!
//! A run is a compile, all tests followed on what came of it (cold), and all tests once more on the
//! same (warm). For every token: make the mask (timed), look whether it allows the token, stop if
//! not, take the token (timed). After the last token one more mask, not timed, says whether the
//! output may end. A time is the clock read directly before and directly after the engine's call.

use crate::{
    engine::{Compiled, Engine, guarded},
    input::{Case, Test},
    outcome::{FirstRun, Measured, Outcome, Status, Step, Verdict},
    probe::Excess,
};
use anyhow::Result;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// How it is measured.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    /// How many runs the minima are taken over.
    pub(crate) runs: usize,
    /// An engine whose run of a case took longer gets no further run of it.
    pub(crate) time_limit: Duration,
    /// Bytes of a source above which an engine does not get the case.
    pub(crate) caps: HashMap<String, usize>,
    /// Words of a row.
    pub(crate) row_words: usize,
    /// The end of a sequence.
    pub(crate) eos: u32,
}

impl Protocol {
    /// Whether a case is over the cap of an engine.
    pub(crate) fn caps_out(&self, engine: &str, case: &Case) -> bool {
        self.caps.get(engine).is_some_and(|&cap| case.constraint.bytes() > cap)
    }
}

/// One run of one engine.
enum Run {
    Refused { error: String, compile_ns: u64 },
    Ran(Measured),
}

/// Measures one case. Engines take turns within each run; `place`, the number of the case, says
/// which one begins. The engines in `stopped` are known not to come to an end with it.
pub(crate) fn case(
    engines: &[Box<dyn Engine>],
    (case, place): (&Case, usize),
    stopped: &HashMap<&str, Excess>,
    protocol: &Protocol,
) -> Vec<Outcome> {
    let mut merged: Vec<Option<Run>> = engines.iter().map(|_| None).collect();
    let mut slow = vec![false; engines.len()];
    let mut row = vec![0; protocol.row_words];
    for round in 0..protocol.runs {
        for turn in 0..engines.len() {
            let at = (turn + place + round) % engines.len();
            let engine = &*engines[at];
            let is_left_out =
                protocol.caps_out(engine.name(), case) || stopped.contains_key(engine.name());
            if slow[at] || is_left_out {
                continue;
            }
            let start = Instant::now();
            let run = run(engine, case, protocol.eos, &mut row);
            slow[at] = start.elapsed() > protocol.time_limit;
            merged[at] = Some(match merged[at].take() {
                None => run,
                Some(earlier) => merge(earlier, run),
            });
        }
    }
    let outcome = |(engine, run): (&dyn Engine, Option<Run>)| Outcome {
        engine: engine.name().to_owned(),
        id: case.id.clone(),
        split: case.split.clone(),
        source_bytes: case.constraint.bytes(),
        status: match run {
            None => match stopped.get(engine.name()) {
                Some(&excess) => Status::Stopped { excess },
                None => Status::Skipped,
            },
            Some(Run::Refused { error, compile_ns }) => Status::Refused { error, compile_ns },
            Some(Run::Ran(measured)) => Status::Ran(Box::new(measured)),
        },
    };
    engines.iter().map(|engine| &**engine).zip(merged).map(outcome).collect()
}

fn run(engine: &dyn Engine, case: &Case, eos: u32, row: &mut [i32]) -> Run {
    let source = case.constraint.source(engine.reads());
    let start = Instant::now();
    let compiled = guarded(|| engine.compile(source));
    let compile_ns = since(start);
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => return Run::Refused { error: format!("{error:#}"), compile_ns },
    };
    let mut cold = Pass::over(&*compiled, &case.tests, eos, row);
    if cold.first_mask.is_none() {
        // No test begins with a token: a mask that counts for nothing else.
        cold.first_mask = first_mask(&*compiled, row).ok();
    }
    let counters = compiled.counters().into_iter().collect();
    let memory_bytes = compiled.memory_bytes();
    let warm = Pass::over(&*compiled, &case.tests, eos, row);
    let ttfm_ns = compile_ns + cold.first_mask.unwrap_or(0);
    let steps_ns = cold.steps.iter().map(|step| step.total()).sum();
    Run::Ran(Measured {
        runs: 1,
        compile_ns,
        ttfm_ns,
        first_run: FirstRun { compile_ns, ttfm_ns, steps_ns },
        unsteady: cold.verdicts != warm.verdicts,
        cold: cold.steps,
        warm: warm.steps,
        verdicts: cold.verdicts,
        counters,
        memory_bytes,
    })
}

/// The tests followed once.
#[derive(Default)]
struct Pass {
    first_mask: Option<u64>,
    steps: Vec<Step>,
    verdicts: Vec<Verdict>,
}

impl Pass {
    fn over(compiled: &dyn Compiled, tests: &[Test], eos: u32, row: &mut [i32]) -> Self {
        let mut pass = Self::default();
        for test in tests {
            let mut tokens_taken = 0;
            let accepted = guarded(|| pass.follow(compiled, (test, eos), row, &mut tokens_taken));
            pass.verdicts.push(Verdict {
                valid: test.valid,
                accepted: *accepted.as_ref().unwrap_or(&false),
                tokens_taken,
                error: accepted.err().map(|error| format!("{error:#}")),
            });
        }
        pass
    }

    /// Follows one test from the beginning: whether all of it and then the end is allowed.
    fn follow(
        &mut self,
        compiled: &dyn Compiled,
        (test, eos): (&Test, u32),
        row: &mut [i32],
        taken: &mut usize,
    ) -> Result<bool> {
        let mut matcher = compiled.start()?;
        for &token in &test.tokens {
            let start = Instant::now();
            let made = matcher.mask(row);
            let mask = since(start);
            self.first_mask.get_or_insert(mask);
            self.steps.push(Step(mask, 0));
            made?;
            if !matcher.allows(row, token) {
                return Ok(false);
            }
            let start = Instant::now();
            let committed = matcher.commit(token);
            let commit = since(start);
            committed?;
            *self.steps.last_mut().expect("just pushed") = Step(mask, commit);
            *taken += 1;
        }
        matcher.mask(row)?;
        Ok(matcher.allows(row, eos))
    }
}

fn first_mask(compiled: &dyn Compiled, row: &mut [i32]) -> Result<u64> {
    guarded(|| {
        let mut matcher = compiled.start()?;
        let start = Instant::now();
        let made = matcher.mask(row);
        let mask = since(start);
        made.map(|()| mask)
    })
}

/// The shorter time of two runs, step by step; what is not a time is the earlier run's.
fn merge(earlier: Run, later: Run) -> Run {
    match (earlier, later) {
        (Run::Ran(mut earlier), Run::Ran(later)) => {
            earlier.runs += later.runs;
            earlier.compile_ns = earlier.compile_ns.min(later.compile_ns);
            earlier.ttfm_ns = earlier.ttfm_ns.min(later.ttfm_ns);
            earlier.unsteady |= later.unsteady || earlier.verdicts != later.verdicts;
            shorter(&mut earlier.cold, &later.cold);
            shorter(&mut earlier.warm, &later.warm);
            Run::Ran(earlier)
        }
        (Run::Refused { error, compile_ns: a }, Run::Refused { compile_ns: b, .. }) => {
            Run::Refused { error, compile_ns: a.min(b) }
        }
        // Once yes and once no: not passed, whatever else it did.
        (Run::Ran(mut ran), Run::Refused { .. }) | (Run::Refused { .. }, Run::Ran(mut ran)) => {
            ran.unsteady = true;
            Run::Ran(ran)
        }
    }
}

fn shorter(earlier: &mut [Step], later: &[Step]) {
    for (step, other) in earlier.iter_mut().zip(later) {
        if other.total() < step.total() {
            *step = *other;
        }
    }
}

fn since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds that a timed region contains even when it is empty: the mean of many.
pub(crate) fn clock_ns() -> f64 {
    const READINGS: u32 = 100_000;
    let total: u64 = (0..READINGS).map(|_| since(Instant::now())).sum();
    total as f64 / f64::from(READINGS)
}

#[cfg(test)]
mod tests;
