//! `cargo xtask cases`: recorded accept-or-refuse cases of other engines, and of test suites,
//! against ours.
//!
//! # Idea
//! A case says what one input is under one constraint, or whether a constraint compiles, in the
//! words of whoever recorded it. Cases that share a constraint are a group: it is compiled once, for
//! a vocabulary of the 256 bytes, and the inputs are read byte by byte. Groups are judged in
//! parallel; what became of each case is counted per source and front end.
//!
//! Counts may only improve: `baseline.toml` has those of the tree, and a run that is worse fails.
//! `skips.toml` lists cases that we mean to differ on, each with a reason; one that excuses nothing
//! fails too.
//!
//! # Reading order
//! `corpus` (what a case is), `options` (the sources' words for ours), `judge` (one group), `pool`
//! (all groups), `counts` (the table), `skips`, `baseline`, `failures`, `problem`.

mod arguments;
mod baseline;
mod corpus;
mod counts;
mod failures;
mod guarded;
mod judge;
mod options;
mod pool;
mod problem;
mod skips;

use anyhow::{Context, Result, ensure};
use arguments::Arguments;
use baseline::Baseline;
use clap::Parser;
use corpus::{Case, Corpora};
use judge::{Judge, Judged};
use problem::Problem;
use skips::Skips;
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::Instant,
};

/// Where baseline and skips lie, from the root.
const DATA: &str = "conformance/cases";

/// Runs the command; the first argument is its name.
pub(crate) fn run(arguments: &[String], root: &Path) -> Result<ExitCode> {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            error.print()?;
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)));
        }
    };
    ensure!(
        arguments.is_comparable() || !arguments.write_baseline,
        "the baseline is about another backend"
    );
    let started = Instant::now();
    let corpora = Corpora::read(&arguments.dir)?;
    let cases: Vec<&Case> = corpora.cases.iter().filter(|case| arguments.selects(case)).collect();
    ensure!(!cases.is_empty(), "no case in {} is asked for", arguments.dir.display());
    let mut judged = judged(&arguments, &cases)?;
    let problems = compared(&arguments, &corpora, &cases, &mut judged, &root.join(DATA))?;
    if let Some(path) = &arguments.failures {
        failures::write(path, &cases, &judged)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut output = io::stdout().lock();
    write!(output, "{}", counts::Table::of(&cases, &judged))?;
    let seconds = started.elapsed().as_secs_f64();
    writeln!(output, "cases: {} in {seconds:.1} s", cases.len())?;
    for problem in &problems {
        writeln!(output, "{problem}")?;
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judged(arguments: &Arguments, cases: &[&Case]) -> Result<Vec<Judged>> {
    let judge = Judge::new(&arguments.backend, arguments.limit, arguments.unknown_options())?;
    guarded::silenced(|| pool::judge_all(&judge, cases, arguments.threads()))
}

/// Applies the skips, and holds what came out against the baseline.
fn compared(
    arguments: &Arguments,
    corpora: &Corpora,
    cases: &[&Case],
    judged: &mut [Judged],
    data: &Path,
) -> Result<Vec<Problem>> {
    let mut problems = problem::panics(cases, judged);
    if !arguments.is_comparable() {
        return Ok(problems);
    }
    let skips = Skips::read(&data.join("skips.toml"))?;
    problems
        .extend(skips.apply(cases, judged, |skip| arguments.covers(&skip.source, &skip.frontend)));
    problems.extend(skips::too_many(corpora, cases, judged));
    let path = data.join("baseline.toml");
    let mut baseline = Baseline::read(&path)?;
    let table = counts::Table::of(cases, judged);
    problems.extend(baseline.compare(&table, |row| arguments.covers(&row.source, &row.frontend)));
    if arguments.write_baseline && problems.is_empty() {
        baseline.improve(&table);
        baseline.write(&path)?;
    }
    Ok(problems)
}

#[cfg(test)]
mod tests;
