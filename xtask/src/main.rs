//! Development tasks: `cargo xtask tidy` holds the tree to the rules that no compiler checks,
//! `cargo xtask cases` runs recorded cases, `cargo xtask kernels` compiles the CUDA kernels, and
//! `cargo xtask gpu-check` runs them on a GPU.
//!
//! # Idea
//! A [`tree::Tree`] is everything a rule may look at: the texts of the tracked files and what the
//! manifests say. A check is a function from it to findings; `tidy` runs them all and prints one
//! `path:line: what` per finding. The same checks run over the same tree as a test, so that
//! `cargo test` fails where tidy does.
//!
//! # Reading order
//! `tidy` (the list of checks), `finding`, `checks` (one file per rule), `tree`, `source` (the
//! little that sizes need to know of Rust's syntax); `cases`; `kernels`; `gpu_check`.

mod cases;
mod checks;
mod finding;
mod gpu_check;
mod kernels;
mod source;
mod tidy;
mod tree;

use anyhow::{Context, Result};
use std::{io::Write, path::Path, process::ExitCode};

const USAGE: &str = "usage: cargo xtask tidy\n       cargo xtask cases --dir DIR [OPTION …]\n       \
    cargo xtask kernels [--check]\n       cargo xtask gpu-check [OPTION …]\n\n\
    tidy    check dependency edges, headers, sizes and words over the whole tree\n\
    cases   run recorded accept-or-refuse cases; `cargo xtask cases --help` lists its options\n\
    kernels compile the CUDA kernels to the committed PTX, or check that it is theirs\n\
    gpu-check  check and time the kernels on this machine's GPU\n";

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => run_tidy(),
        ["cases", ..] => cases::run(&arguments, root()?),
        ["kernels", ref rest @ ..] => kernels::run(rest, root()?),
        ["gpu-check", ref rest @ ..] => gpu_check::run(rest, root()?),
        ["help" | "--help" | "-h"] => {
            std::io::stdout().write_all(USAGE.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            std::io::stderr().write_all(USAGE.as_bytes())?;
            Ok(ExitCode::from(2))
        }
    }
}

fn run_tidy() -> Result<ExitCode> {
    let report = tidy::run(&tree::Tree::load(root()?)?);
    std::io::stdout().write_all(report.to_string().as_bytes())?;
    Ok(if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The workspace: the directory above this package.
fn root() -> Result<&'static Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("this package has no directory above it")
}
