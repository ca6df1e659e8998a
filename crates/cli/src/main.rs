//! The `formwork` command.
//!
//! `generate` runs the decode loop of an inference engine, with a sampler in the model's place;
//! `check` says whether a text satisfies a constraint, and if not, where it leaves it and what would
//! have been legal there; `inspect` says what a constraint became; `mask` shows what may follow a
//! prefix; `maskbench` measures masks and verdicts on many cases; `schema-support` lists what becomes of
//! each keyword of JSON Schema.

mod args;
mod check;
mod generate;
mod guarded;
mod inspect;
mod lines;
mod mask;
mod maskbench;
mod printable;
mod sampler;
mod summary;
mod vocabularies;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn schema_support() -> anyhow::Result<ExitCode> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(formwork::json_schema::support_markdown().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Mask(arguments) => mask::run(&arguments),
        Command::Maskbench(arguments) => maskbench::run(&arguments),
        Command::SchemaSupport => schema_support(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a command's errors go to standard error")]
            {
                eprintln!("formwork: {error:#}");
            }
            ExitCode::from(1)
        }
    }
}
