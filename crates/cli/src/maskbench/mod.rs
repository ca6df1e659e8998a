//! `formwork maskbench`: masks and verdicts, timed, on cases of schemas and tokenized instances.
//!
//! The protocol: per case, compile once; per test, a fresh matcher; per token, a mask (timed), a
//! look at the token's bit, and if it is set, a commit (timed); after the last token the
//! end-of-sequence bit of one more mask (not timed). One thread does everything.

mod measure;
mod protocol;
mod report;
mod respell;

use crate::{
    args::Maskbench,
    lines::{Handled, Line, for_each_line, for_each_line_of_file},
};
use anyhow::{Context, Result, anyhow, bail};
use formwork::Compiler;
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Bench, timer_baseline_ns, warm_up};
use protocol::{Case, Compiled, Info, Ready};
use report::Report;
pub(crate) use respell::Variant;
use serde::Serialize;
use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufWriter, Write},
    ops::ControlFlow,
    path::Path,
    process::ExitCode,
    time::Duration,
};

/// Runs the command.
pub(crate) fn run(arguments: &Maskbench) -> Result<ExitCode> {
    // An engine compiles on the threads it can spare; here one thread must do everything, so that
    // figures of different engines can be compared.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build_global()
        .context("the thread pool was in use before it was set up")?;
    let vocabulary = arguments.engine.vocabulary("o200k_base")?;
    let compiler = Compiler::new(vocabulary)
        .with_backend(arguments.engine.backend()?)
        .with_options(arguments.options.options()?);
    let bench = Bench {
        engine: engine_name(&compiler, arguments.variant),
        compiler,
        variant: arguments.variant,
        time_limit: arguments.time_limit,
    };
    let prepare = warm_up(&bench.compiler);
    match (&arguments.cases, &arguments.out) {
        (Some(cases), Some(out)) => {
            let selection = Selection::new(arguments)?;
            let report = run_file(&bench, cases, out, &selection)?;
            writeln!(io::stdout(), "{}\n{report}", bench.engine)?;
            selection.check(&report)?;
        }
        _ => serve(&bench, prepare, io::stdin().lock(), &mut io::stdout().lock())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn engine_name(compiler: &Compiler, variant: Variant) -> String {
    let backend = compiler.backend().name();
    match variant {
        Variant::Compact => format!("formwork-{backend}"),
        other => format!("formwork-{backend}-{}", other.name()),
    }
}

/// Which cases of a file are run, in the order of the file.
struct Selection {
    ids: Option<HashSet<String>>,
    limit: usize,
}

impl Selection {
    fn new(arguments: &Maskbench) -> Result<Self> {
        let ids = arguments.ids.as_deref().map(read_ids).transpose()?;
        let limit = arguments.limit.unwrap_or(usize::MAX);
        Ok(Self { limit: ids.as_ref().map_or(limit, |ids| limit.min(ids.len())), ids })
    }

    /// Ids that no case had are no silent matter.
    fn check(&self, report: &Report) -> Result<()> {
        match self.ids.is_some() && report.cases() < self.limit {
            true => {
                bail!("only {} cases of {} that were chosen are there", report.cases(), self.limit)
            }
            false => Ok(()),
        }
    }

    fn has(&self, case: &Case) -> bool {
        self.ids.as_ref().is_none_or(|ids| ids.contains(&case.id))
    }
}

/// Ids, one a line; blank lines and those that begin with `#` are passed over.
fn read_ids(path: &Path) -> Result<HashSet<String>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the ids {}", path.display()))?;
    let lines = text.lines().map(str::trim);
    let ids = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(ids.map(str::to_owned).collect())
}

/// Runs the cases of a file.
fn run_file(bench: &Bench, cases: &Path, out: &Path, selection: &Selection) -> Result<Report> {
    let file = File::create(out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut out = BufWriter::new(file);
    let mut report = Report::default();
    let progress = progress(selection.limit);
    let (mut line_number, mut done) = (0_u64, 0);
    let mut handle = |line: Line<'_>| -> Handled {
        line_number += 1;
        if done == selection.limit {
            return Ok(ControlFlow::Break(()));
        }
        let Some(case) =
            read_case(line).with_context(|| format!("case file, line {line_number}"))?
        else {
            return Ok(ControlFlow::Continue(()));
        };
        if selection.has(&case) {
            let outcome = bench.run(&case, &mut |_| {});
            report.add(&outcome);
            write_line(&mut out, &outcome)?;
            progress.inc(1);
            done += 1;
        }
        Ok(ControlFlow::Continue(()))
    };
    for_each_line_of_file(cases, &mut handle)?;
    progress.finish_and_clear();
    out.flush()?;
    Ok(report)
}

/// A bar on standard error where that is a terminal, otherwise nothing.
fn progress(limit: usize) -> ProgressBar {
    let template = "{bar:30} {pos}/{len} cases, {per_sec}, {eta} left";
    match limit {
        usize::MAX => {
            let style = ProgressStyle::with_template("{spinner} {pos} cases, {per_sec}");
            ProgressBar::no_length().with_style(style.expect("the template is well-formed"))
        }
        limit => {
            let style = ProgressStyle::with_template(template);
            ProgressBar::new(limit as u64).with_style(style.expect("the template is well-formed"))
        }
    }
}

/// Speaks the protocol of workers: a line that says it is ready, then a result for every case.
fn serve(
    bench: &Bench,
    prepare: Duration,
    input: impl BufRead,
    output: &mut impl Write,
) -> Result<()> {
    let vocabulary = bench.compiler.vocabulary();
    let info = Info {
        version: env!("CARGO_PKG_VERSION"),
        backend: bench.compiler.backend().name(),
        vocabulary: vocabulary.tokenizer_len(),
        row_bits: vocabulary.model_len(),
        prepare_us: prepare.as_secs_f64() * 1e6,
        timer_baseline_ns: timer_baseline_ns(),
        threads: rayon::current_num_threads(),
    };
    write_line(output, &Ready { ready: &bench.engine, info })?;
    output.flush()?;
    for_each_line(input, |line| {
        let Some(case) = read_case(line)? else { return Ok(ControlFlow::Continue(())) };
        let mut written = Ok(());
        let outcome = bench.run(&case, &mut |compile_us| {
            written = write_line(output, &Compiled { compiled: &case.id, compile_us })
                .and_then(|()| Ok(output.flush()?));
        });
        written?;
        write_line(output, &outcome)?;
        output.flush()?;
        Ok(ControlFlow::Continue(()))
    })
}

/// The case of a line; none of a blank one.
fn read_case(line: Line<'_>) -> Result<Option<Case>> {
    match line {
        Line::TooLong { limit } => Err(anyhow!("the line has more than {limit} bytes")),
        Line::Whole(bytes) if bytes.trim_ascii().is_empty() => Ok(None),
        Line::Whole(bytes) => Ok(Some(serde_json::from_slice(bytes)?)),
    }
}

fn write_line(output: &mut impl Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer(&mut *output, value)?;
    Ok(output.write_all(b"\n")?)
}

#[cfg(test)]
mod tests;
