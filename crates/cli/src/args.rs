//! Command-line arguments.

mod constraint;
mod engine;

use crate::maskbench::Variant;
use clap::{Args as ClapArgs, Parser, Subcommand};
pub(crate) use constraint::{ConstraintArgs, OptionArgs};
pub(crate) use engine::EngineArgs;
use std::{path::PathBuf, time::Duration};

/// Structured output for language models.
#[derive(Debug, Parser)]
#[command(name = "formwork", version, about)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Generate text under a constraint.
    ///
    /// There is no language model in it: a seeded sampler with built-in scores, which favour short
    /// readable text, picks among the tokens the constraint allows.
    Generate(Generate),
    /// Say whether a text satisfies a constraint, and if not, where and why.
    Check(Check),
    /// Say what a constraint became: rules, automaton, rows, times.
    Inspect(Inspect),
    /// Show the mask after a prefix.
    Mask(Mask),
    /// Measure masks and verdicts on cases of schemas and tokenized instances.
    Maskbench(Maskbench),
    /// List what becomes of each keyword and each format of JSON Schema, as Markdown.
    SchemaSupport,
}

#[derive(Debug, ClapArgs)]
#[command(group = constraint::required())]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Seed of the sampler: the same seed gives the same text.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// The most tokens to generate.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) max_tokens: usize,
    /// Print the text alone, without the summary.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("input").required(true).args(["text", "file", "jsonl"]))]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// The text itself.
    #[arg(long, requires = constraint::KIND)]
    pub(crate) text: Option<String>,
    /// A file that holds the text; `-` for standard input.
    #[arg(long, requires = constraint::KIND)]
    pub(crate) file: Option<PathBuf>,
    /// Answer requests on standard input, a JSON object a line, until it ends.
    ///
    /// A request is {"frontend": "json_schema" | "regex" | "choice" | "grammar" | "structural_tag",
    /// "spec": …, "options": {…}, "input": TEXT}; the answer {"ok": true, "accept": BOOL} or {"ok": false, "error": TEXT}.
    /// Without "input": whether the constraint compiles. With "mode": "prefix": whether the input
    /// can be completed. Options on the command line hold for every request that does not set them.
    #[arg(long, conflicts_with = constraint::KIND)]
    pub(crate) jsonl: bool,
    /// Seconds that one request may take, with --jsonl.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) time_limit: Duration,
}

#[derive(Debug, ClapArgs)]
#[command(group = constraint::required())]
pub(crate) struct Inspect {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Write the automaton as Graphviz text; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
    /// Write the automaton as a drawing; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// The most states to write or to draw.
    #[arg(long, default_value_t = 200)]
    pub(crate) max_states: usize,
    /// How many tokens of a generated text the forced share is taken over.
    #[arg(long, default_value_t = 200)]
    pub(crate) steps: usize,
    /// Seed of that text.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print the numbers as JSON, all rules included.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(group = constraint::required())]
pub(crate) struct Mask {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
    /// How many of the allowed tokens to show, evenly spaced over their ids.
    #[arg(long, default_value_t = 20)]
    pub(crate) sample: usize,
    /// Print the row too, as hexadecimal words.
    #[arg(long)]
    pub(crate) words: bool,
    /// Print everything as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What stands before the mask; nothing when none is given.
#[derive(Debug, Default, ClapArgs)]
#[group(multiple = false)]
pub(crate) struct Prefix {
    /// Text before the mask, as its bytes.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prefix: Option<String>,
    /// A file that holds the text before the mask; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) prefix_file: Option<PathBuf>,
    /// Ids of the tokens before the mask.
    #[arg(long, value_name = "IDS", value_delimiter = ',', num_args = 1..)]
    pub(crate) tokens: Vec<u32>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Maskbench {
    /// The cases: JSON lines, or the same packed as `.xz`.
    #[arg(long, value_name = "FILE", required_unless_present = "worker")]
    pub(crate) cases: Option<PathBuf>,
    /// Where the results go, a JSON line for each case.
    #[arg(long, value_name = "FILE", required_unless_present = "worker")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) options: OptionArgs,
    /// How the instances are spelled.
    #[arg(long, value_enum, default_value_t = Variant::Compact)]
    pub(crate) variant: Variant,
    /// A file of case ids, one a line: only these cases.
    #[arg(long, value_name = "FILE", conflicts_with = "worker")]
    pub(crate) ids: Option<PathBuf>,
    /// The most cases to run.
    #[arg(long, conflicts_with = "worker")]
    pub(crate) limit: Option<usize>,
    /// Seconds that one case may take, from its compile on.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    pub(crate) time_limit: Duration,
    /// Read cases from standard input and answer each with its result on standard output.
    #[arg(long, conflicts_with_all = ["cases", "out"])]
    pub(crate) worker: bool,
}

/// A positive number of seconds, at most a day.
fn seconds(text: &str) -> Result<Duration, &'static str> {
    const DAY: f64 = 86_400.0;
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= DAY => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds above 0, at most 86400"),
    }
}

#[cfg(test)]
mod tests;
