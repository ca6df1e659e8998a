//! The counts that the tree has reached: `baseline.toml`. They may only become better.
//!
//! # Better and worse
//! Outcomes are ranked: right, refused to compile, wrongly refused, wrongly accepted, and last
//! skipped, of which nothing is known. A run is no worse than another when for every rank it has at
//! least as many cases there and above, and at least as many right among those that say what JSON
//! Schema says. So a case may only move down when another moves up past the same rank, and cases
//! that were skipped may turn out to be anything.

use super::{
    counts::{Counts, RowKey, Table},
    problem::Problem,
};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

/// Counts per source and front end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Baseline {
    rows: BTreeMap<RowKey, Counts>,
}

/// The file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    row: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(flatten)]
    key: RowKey,
    counts: Counts,
}

const HEADER: &str = "# What `cargo xtask cases` counts. Written by `cargo xtask cases --dir DIR \
    --write-baseline`,\n# which only ever makes it better.\n\n";

impl Baseline {
    /// Reads the file; one that is not there has no rows.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text)?;
        Ok(Self { rows: file.row.into_iter().map(|row| (row.key, row.counts)).collect() })
    }

    /// What is wrong with the counts of a run. Rows that `covered` says it was not about are left
    /// alone; rows that only the run has are new.
    pub(super) fn compare(&self, table: &Table, covered: impl Fn(&RowKey) -> bool) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (key, was) in self.rows.iter().filter(|(key, _)| covered(key)) {
            let is = table.rows.get(key).copied().unwrap_or_default();
            let key = key.clone();
            if is.cases != was.cases {
                problems.push(Problem::OtherCases { key, was: was.cases, is: is.cases });
            } else if !is.is_no_worse_than(was) {
                problems.push(Problem::Worse { key, was: Box::new(*was), is: Box::new(is) });
            }
        }
        problems
    }

    /// Takes over counts that are better, and rows that are new.
    pub(super) fn improve(&mut self, table: &Table) {
        for (key, is) in &table.rows {
            let was = self.rows.entry(key.clone()).or_insert(*is);
            if is.is_no_worse_than(was) {
                *was = *is;
            }
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        fs::write(path, self.text()?).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(super) fn text(&self) -> Result<String> {
        let rows = self.rows.iter().map(|(key, counts)| Row { key: key.clone(), counts: *counts });
        Ok(format!("{HEADER}{}", toml::to_string(&File { row: rows.collect() })?))
    }
}

impl Counts {
    fn is_no_worse_than(&self, other: &Self) -> bool {
        let pairs = self.at_least().into_iter().zip(other.at_least());
        self.agree_right >= other.agree_right && pairs.into_iter().all(|(is, was)| is >= was)
    }

    /// How many cases have a rank or a higher one.
    fn at_least(&self) -> [usize; 4] {
        let right = self.right;
        let compiled = right + self.refused_to_compile;
        let refused = compiled + self.wrongly_refused;
        [right, compiled, refused, refused + self.wrongly_accepted]
    }
}
