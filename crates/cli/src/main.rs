//! The `formwork` command.
//!
//! `generate` runs the decode loop of an inference engine on an embedded vocabulary, with a sampler
//! in the model's place; `check` says whether a text satisfies a constraint, and if not, where it
//! leaves it and what would have been legal there.

mod args;
mod check;
mod generate;
mod printable;
mod sampler;
mod summary;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
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
