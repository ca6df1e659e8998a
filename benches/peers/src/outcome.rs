//! What came of one engine on one case: a line of `results.jsonl`.

use crate::probe::Excess;
use serde::Serialize;
use std::collections::BTreeMap;

/// One engine on one case. All times are nanoseconds.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    /// The engine's name.
    pub(crate) engine: String,
    /// The case.
    pub(crate) id: String,
    /// Where the case is from.
    pub(crate) split: String,
    /// Bytes of the schema's or the expression's text.
    pub(crate) source_bytes: usize,
    /// What happened.
    #[serde(flatten)]
    pub(crate) status: Status,
}

/// What happened.
#[derive(Debug, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum Status {
    /// The engine was not given the case: it is over the cap for that engine.
    Skipped,
    /// A run of it does not end within what is allowed.
    Stopped {
        /// What it took too much of.
        excess: Excess,
    },
    /// The engine would not compile it.
    Refused {
        /// Its words.
        error: String,
        /// How long that took, the shortest of the runs.
        compile_ns: u64,
    },
    /// It compiled, and the tests were followed.
    Ran(Box<Measured>),
}

/// The figures of a case that compiled.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Measured {
    /// From how many runs the minima are.
    pub(crate) runs: usize,
    /// Compile: the shortest of the runs.
    pub(crate) compile_ns: u64,
    /// Compile and first mask: the shortest of the runs.
    pub(crate) ttfm_ns: u64,
    /// The first run alone, before anything in the process can have been remembered.
    pub(crate) first_run: FirstRun,
    /// Every step of every test after a compile.
    pub(crate) cold: Vec<Step>,
    /// The same once more on the same compiled grammar.
    pub(crate) warm: Vec<Step>,
    /// What the engine made of each test.
    pub(crate) verdicts: Vec<Verdict>,
    /// The engine's own counts after the cold steps of the first run.
    pub(crate) counters: BTreeMap<&'static str, u64>,
    /// Heap bytes then, where the engine knows.
    pub(crate) memory_bytes: Option<usize>,
    /// Whether the runs differed in what they accepted.
    pub(crate) unsteady: bool,
}

/// The first run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct FirstRun {
    /// Compile.
    pub(crate) compile_ns: u64,
    /// Compile and first mask.
    pub(crate) ttfm_ns: u64,
    /// All cold steps together.
    pub(crate) steps_ns: u64,
}

/// One step: mask, then commit (0 when the mask refused the token).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Step(pub(crate) u64, pub(crate) u64);

/// What an engine made of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    /// Whether the output satisfies the constraint.
    pub(crate) valid: bool,
    /// Whether every token was allowed, and then the end.
    pub(crate) accepted: bool,
    /// How many tokens were taken.
    pub(crate) tokens_taken: usize,
    /// What the engine raised, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

/// How a verdict is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// What satisfies the constraint was refused.
    ValidRefused,
    /// What does not was accepted.
    InvalidAccepted,
    /// The engine raised an error.
    Error,
}

impl Step {
    /// Mask and commit.
    pub(crate) fn total(self) -> u64 {
        self.0 + self.1
    }
}

impl Verdict {
    /// How it is wrong, if it is.
    pub(crate) fn wrong(&self) -> Option<Wrong> {
        match (self.error.is_some(), self.valid, self.accepted) {
            (true, ..) => Some(Wrong::Error),
            (false, true, false) => Some(Wrong::ValidRefused),
            (false, false, true) => Some(Wrong::InvalidAccepted),
            _ => None,
        }
    }
}

impl Measured {
    /// Whether every verdict is right, in every run.
    pub(crate) fn passed(&self) -> bool {
        !self.unsteady && self.verdicts.iter().all(|verdict| verdict.wrong().is_none())
    }
}

impl Outcome {
    /// The figures, if it ran.
    pub(crate) fn measured(&self) -> Option<&Measured> {
        match &self.status {
            Status::Ran(measured) => Some(measured),
            _ => None,
        }
    }
}
