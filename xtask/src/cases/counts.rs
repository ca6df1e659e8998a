//! How many cases of a source and a front end came out how.

use super::{
    corpus::{Case, Expectation},
    judge::{Judged, Outcome, Why},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct RowKey {
    /// The source's short name.
    pub(super) source: String,
    pub(super) frontend: String,
    pub(super) asked: Asked,
}

/// What the cases ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asked {
    /// Whether an input is accepted.
    Input,
    /// Whether the constraint compiles.
    Compile,
}

/// Counts of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counts {
    pub(super) cases: usize,
    pub(super) right: usize,
    pub(super) wrongly_accepted: usize,
    pub(super) wrongly_refused: usize,
    pub(super) refused_to_compile: usize,
    /// None is ever put up with.
    #[serde(skip)]
    pub(super) panicked: usize,
    pub(super) skipped: usize,
    /// Right ones among those that say what JSON Schema itself says.
    pub(super) agree_right: usize,
    /// Those of them that were not skipped.
    pub(super) agree_total: usize,
}

/// The counts, and why cases were skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) rows: BTreeMap<RowKey, Counts>,
    skipped: BTreeMap<String, usize>,
}

impl RowKey {
    fn of(case: &Case) -> Self {
        let asked = match case.expectation {
            Expectation::Input { .. } => Asked::Input,
            Expectation::Compiles(_) => Asked::Compile,
        };
        Self { source: case.corpus().to_owned(), frontend: case.frontend.clone(), asked }
    }
}

impl fmt::Display for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = match self.asked {
            Asked::Input => "",
            Asked::Compile => " (compiles)",
        };
        write!(f, "{} {}{asked}", self.source, self.frontend)
    }
}

impl Counts {
    fn add(&mut self, case: &Case, outcome: Outcome) {
        self.cases += 1;
        *match outcome {
            Outcome::Right => &mut self.right,
            Outcome::WronglyAccepted => &mut self.wrongly_accepted,
            Outcome::WronglyRefused => &mut self.wrongly_refused,
            Outcome::RefusedToCompile => &mut self.refused_to_compile,
            Outcome::Panicked => &mut self.panicked,
            Outcome::Skipped => &mut self.skipped,
        } += 1;
        if case.agrees_with_json_schema() && outcome != Outcome::Skipped {
            self.agree_total += 1;
            self.agree_right += usize::from(outcome == Outcome::Right);
        }
    }

    fn sum(rows: impl Iterator<Item = Self>) -> Self {
        rows.fold(Self::default(), |sum, row| Self {
            cases: sum.cases + row.cases,
            right: sum.right + row.right,
            wrongly_accepted: sum.wrongly_accepted + row.wrongly_accepted,
            wrongly_refused: sum.wrongly_refused + row.wrongly_refused,
            refused_to_compile: sum.refused_to_compile + row.refused_to_compile,
            panicked: sum.panicked + row.panicked,
            skipped: sum.skipped + row.skipped,
            agree_right: sum.agree_right + row.agree_right,
            agree_total: sum.agree_total + row.agree_total,
        })
    }

    fn cells(&self) -> [String; 8] {
        let Self { cases, right, wrongly_accepted, wrongly_refused, .. } = self;
        [
            cases.to_string(),
            right.to_string(),
            wrongly_accepted.to_string(),
            wrongly_refused.to_string(),
            self.refused_to_compile.to_string(),
            self.panicked.to_string(),
            self.skipped.to_string(),
            format!("{}/{}", self.agree_right, self.agree_total),
        ]
    }
}

impl Table {
    /// Counts.
    pub(super) fn of(cases: &[&Case], judged: &[Judged]) -> Self {
        let mut table = Self::default();
        for (case, judged) in cases.iter().zip(judged) {
            table.rows.entry(RowKey::of(case)).or_default().add(case, judged.outcome);
            if judged.outcome == Outcome::Skipped {
                let reason = match &judged.why {
                    Why::Text(reason) => reason,
                    _ => "listed, with a reason",
                };
                *table.skipped.entry(reason.to_owned()).or_default() += 1;
            }
        }
        table
    }
}

const HEADINGS: [&str; 8] = [
    "cases",
    "right",
    "wrongly accepted",
    "wrongly refused",
    "refused to compile",
    "panicked",
    "skipped",
    "agree",
];

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = ("all".to_owned(), Counts::sum(self.rows.values().copied()).cells());
        let rows = self.rows.iter().map(|(key, counts)| (key.to_string(), counts.cells()));
        let rows: Vec<_> = rows.chain([total]).collect();
        let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line = |f: &mut fmt::Formatter<'_>, name: &str, cells: [&str; 8]| {
            write!(f, "{name:first$}")?;
            for (cell, heading) in cells.iter().zip(HEADINGS) {
                write!(f, "  {cell:>width$}", width = heading.len().max(9))?;
            }
            writeln!(f)
        };
        line(f, "", HEADINGS)?;
        for (name, cells) in &rows {
            line(f, name, cells.each_ref().map(String::as_str))?;
        }
        let mut reasons: Vec<_> = self.skipped.iter().collect();
        reasons.sort_by_key(|&(_, count)| std::cmp::Reverse(*count));
        for (reason, count) in reasons {
            writeln!(f, "skipped: {count:>6}  {reason}")?;
        }
        Ok(())
    }
}
