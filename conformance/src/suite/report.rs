//! What a run of the suite found.

use formwork_core::{
    AcceptError, CompileError, DeltaForm, Filled, RollbackError, RowId, StartError, StepError,
};
use formwork_vocab::TokenId;
use std::{collections::BTreeMap, fmt};

/// A law that every backend obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Law {
    /// A constraint that nothing satisfies is an error that says so, and no other is.
    Satisfiability,
    /// A token that the vocabulary does not have is an error that names it.
    UnknownToken,
    /// The mask of every state is the oracle's.
    Mask,
    /// A row is written whole, whatever stood there; bits past the model's ids are zero.
    WholeRow,
    /// Equal identities are equal rows; a held identity leaves the row untouched.
    Identity,
    /// A delta is the mask.
    Delta,
    /// `check_token`, `validate_tokens` and `accept_tokens` say what the mask says, for every id.
    Agreement,
    /// All tokens are taken or none, and the error names the first refused one.
    AtomicAccept,
    /// `validate_tokens` tells how long a prefix would be accepted.
    Validate,
    /// Asking changes nothing.
    Purity,
    /// `is_accepting` is the oracle's.
    Accepting,
    /// `is_terminated` is the oracle's, and after the end everything is allowed and ignored.
    Termination,
    /// The processed tokens are those that were accepted before and with the end.
    ProcessedTokens,
    /// Rolling back restores every state, the mask bit for bit, and refuses to go too far.
    Rollback,
    /// Resetting restores the start.
    Reset,
    /// A fork is a state of its own.
    Fork,
    /// Forced bytes are never wrong; they are the longest where every byte is a token and nothing
    /// counts tokens.
    ForcedBytes,
    /// Fixed bytes are read like a token, or refused at the right offset.
    FixedBytes,
    /// The outputs and masks that a data file states.
    Data,
}

/// What was wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Discrepancy {
    /// A token that is allowed is not, or the other way.
    Token {
        /// The first such token.
        token: TokenId,
        /// Whether it should be allowed.
        expected: Allowed,
    },
    /// Bits past the model's ids are set, or not all words of an unconstrained row are -1.
    Padding,
    /// A row differs from what it should be.
    Row {
        /// What was being done.
        during: &'static str,
        /// The first word that differs.
        word: usize,
    },
    /// An identity is not what it should be.
    Identity {
        /// What was being done.
        during: &'static str,
        /// The identity in question.
        row: RowId,
    },
    /// The answer to a fill is not what it should be.
    Filled(Filled),
    /// The answer to a delta is not what it should be.
    DeltaForm(DeltaForm),
    /// The base of a delta cannot be had.
    UnknownBase(RowId),
    /// A count is not what it should be.
    Count {
        /// What was counted.
        what: &'static str,
        /// The right count.
        expected: usize,
        /// The count found.
        found: usize,
    },
    /// A fact is not what it should be.
    Fact {
        /// Which.
        what: &'static str,
        /// What is so.
        expected: bool,
    },
    /// Bytes are not what they should be.
    Bytes {
        /// The right ones.
        expected: Vec<u8>,
        /// Those found.
        found: Vec<u8>,
    },
    /// Tokens were refused, or refused wrongly.
    Accept(AcceptError),
    /// Tokens were taken that should be refused.
    Taken,
    /// A rollback was refused, or refused wrongly.
    Rollback(RollbackError),
    /// A step failed.
    Step(StepError),
    /// A start failed, or failed wrongly.
    Start(StartError),
    /// A compile failed, or failed wrongly.
    Compile(Box<CompileErrorText>),
    /// A constraint compiled that nothing satisfies.
    NotUnsatisfiable,
}

/// A compile error, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileErrorText(String);

impl From<&CompileError> for CompileErrorText {
    fn from(error: &CompileError) -> Self {
        Self(error.to_string())
    }
}

/// Whether a token is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// A broken law.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Which.
    pub law: Law,
    /// After which tokens.
    pub after: Vec<TokenId>,
    /// What was wrong.
    pub discrepancy: Discrepancy,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after: Vec<u32> = self.after.iter().map(|token| token.as_u32()).collect();
        write!(f, "{:?} after {after:?}: {:?}", self.law, self.discrepancy)
    }
}

/// A broken law, and in which case.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The data case, by file and name, or the smallest random case that was found.
    pub case: String,
    /// Which law, and where. None for what is wrong with the suite's own data.
    pub violation: Option<Violation>,
}

/// What a run of the suite found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How often each law was put to the test.
    pub checks: BTreeMap<Law, u64>,
    /// Cases in which every law was checked.
    pub passed: u64,
    /// Cases that the backend does not support, by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// Cases that exceeded a limit, by reason.
    pub over_limit: BTreeMap<String, u64>,
    /// Random cases that no output satisfies (and the backend said so).
    pub unsatisfiable: u64,
    /// Random cases that the oracle could not decide.
    pub undecided: u64,
    /// Forced bytes that were right but not the longest.
    pub short_forced_bytes: u64,
    /// Data cases that were skipped for a stated reason.
    pub skipped: Vec<String>,
    /// Broken laws.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Whether no law was broken.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }

    /// Adds another run's findings.
    pub fn merge(&mut self, other: Self) {
        for (law, count) in other.checks {
            *self.checks.entry(law).or_default() += count;
        }
        for (mine, theirs) in
            [(&mut self.unsupported, other.unsupported), (&mut self.over_limit, other.over_limit)]
        {
            for (reason, count) in theirs {
                *mine.entry(reason).or_default() += count;
            }
        }
        self.passed += other.passed;
        self.unsatisfiable += other.unsatisfiable;
        self.undecided += other.undecided;
        self.short_forced_bytes += other.short_forced_bytes;
        self.skipped.extend(other.skipped);
        self.failures.extend(other.failures);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, unsatisfiable, undecided, short_forced_bytes, .. } = self;
        writeln!(
            f,
            "{passed} cases passed, {unsatisfiable} unsatisfiable, {undecided} undecided, \
             {short_forced_bytes} forced bytes shorter than possible"
        )?;
        for (law, count) in &self.checks {
            writeln!(f, "  {law:?}: {count} checks")?;
        }
        for (what, reasons) in [("unsupported", &self.unsupported), ("limit", &self.over_limit)] {
            for (reason, count) in reasons {
                writeln!(f, "  {what}: {count} cases: {reason}")?;
            }
        }
        for skipped in &self.skipped {
            writeln!(f, "  skipped: {skipped}")?;
        }
        for failure in &self.failures {
            match &failure.violation {
                Some(violation) => writeln!(f, "FAILED {violation}\n{}", failure.case)?,
                None => writeln!(f, "FAILED {}", failure.case)?,
            }
        }
        Ok(())
    }
}
