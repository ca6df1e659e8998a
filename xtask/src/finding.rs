//! A finding: where a rule is broken, and how.

use crate::checks::{
    code_map::CodeMapFault, edges::EdgeFault, headers::HeaderFault, lints::LintFault,
    sizes::SizeFault, test_command::TestCommandFault, unsafe_code::UnsafeFault, words::WordFault,
};
use std::fmt;

/// One broken rule at one place. Ordered by place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path from the root, with `/` between its parts.
    pub(crate) path: String,
    /// Line, from 1. A rule about a whole file, or one that is missing, stands at line 1.
    pub(crate) line: usize,
    /// The broken rule.
    pub(crate) fault: Fault,
}

impl Finding {
    /// A finding at a line of a file.
    pub(crate) fn new(path: &str, line: usize, fault: impl Into<Fault>) -> Self {
        Self { path: path.to_owned(), line, fault: fault.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.fault)
    }
}

/// The ways of breaking a rule, one variant per check.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Fault {
    /// Of `checks::edges`.
    Edge(#[from] EdgeFault),
    /// Of `checks::code_map`.
    CodeMap(#[from] CodeMapFault),
    /// Of `checks::headers`.
    Header(#[from] HeaderFault),
    /// Of `checks::lints`.
    Lint(#[from] LintFault),
    /// Of `checks::sizes`.
    Size(#[from] SizeFault),
    /// Of `checks::test_command`.
    TestCommand(#[from] TestCommandFault),
    /// Of `checks::unsafe_code`.
    Unsafe(#[from] UnsafeFault),
    /// Of `checks::words`.
    Word(#[from] WordFault),
}
