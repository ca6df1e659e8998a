//! Command-line arguments.

use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use formwork::{
    Constraint, FrontEndOptions,
    json_schema::{Options as SchemaOptions, WhiteSpace},
};
use std::path::PathBuf;

/// Structured output for language models.
#[derive(Debug, Parser)]
#[command(name = "formwork", version, about)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Generate text under a constraint with the embedded o200k_base vocabulary.
    ///
    /// There is no language model in it: a seeded sampler with built-in scores, which favour short
    /// readable text, picks among the tokens the constraint allows.
    Generate(Generate),
    /// Say whether a text satisfies a constraint, and if not, where and why.
    Check(Check),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
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
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) constraint: ConstraintArgs,
    /// The text itself.
    #[arg(long, conflicts_with = "file", required_unless_present = "file")]
    pub(crate) text: Option<String>,
    /// A file that holds the text; `-` for standard input.
    #[arg(long)]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = false, id = "constraint_kind")]
pub(crate) struct Kind {
    /// A file that holds a JSON Schema.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// A regular expression for the whole text.
    #[arg(long, value_name = "REGEX")]
    regex: Option<String>,
    /// One of these strings (repeat the option, or give several).
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    choice: Option<Vec<String>>,
    /// Any JSON object.
    #[arg(long)]
    json_object: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConstraintArgs {
    #[command(flatten)]
    kind: Kind,
    /// White space between JSON tokens.
    #[arg(long, value_enum, default_value_t = Spacing::Any)]
    white_space: Spacing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Spacing {
    /// Any, in runs of bounded length.
    Any,
    /// None.
    Compact,
    /// Any, in runs of any length.
    Unbounded,
}

impl ConstraintArgs {
    /// The constraint that was asked for; files are read now.
    pub(crate) fn constraint(&self) -> Result<Constraint> {
        let kind = &self.kind;
        if let Some(path) = &kind.schema {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the schema {}", path.display()))?;
            return Ok(Constraint::JsonSchema(text));
        }
        if let Some(pattern) = &kind.regex {
            return Ok(Constraint::Regex(pattern.clone()));
        }
        if let Some(choices) = &kind.choice {
            return Ok(Constraint::Choice(choices.clone()));
        }
        Ok(Constraint::JsonObject)
    }

    /// The options of the front ends.
    pub(crate) fn options(&self) -> FrontEndOptions {
        let mut schema = SchemaOptions::default();
        match self.white_space {
            Spacing::Any => {}
            Spacing::Compact => schema.white_space = WhiteSpace::Compact,
            Spacing::Unbounded => schema.white_space = WhiteSpace::Unbounded,
        }
        let mut options = FrontEndOptions::default();
        options.json_schema = schema;
        options
    }
}
