//! `cargo xtask gpu-check`: the kernels on the GPU of this machine, checked and timed.
//!
//! The work is done by the example `gpu_check` of `crates/apply`, which is built here with its
//! feature `cuda`, so that this package stays free of it. What a machine's Python has to compare with
//! (PyTorch, XGrammar) is timed by a script that the example is told of.

use anyhow::{Context, Result};
use std::{path::Path, process::Command, process::ExitCode};

/// Builds and runs the check with what stands behind `gpu-check`.
pub(crate) fn run(arguments: &[&str], root: &Path) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["run", "--release", "--package", "formwork-apply", "--features", "cuda"])
        .args(["--example", "gpu_check", "--"])
        .args(arguments)
        .status()
        .context("cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
