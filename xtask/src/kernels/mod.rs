//! `cargo xtask kernels`: compiles the CUDA kernels to the PTX that is committed beside them.
//!
//! # Idea
//! Users need no compiler: the PTX is part of the sources, and its first line holds a hash of what
//! it was made from. `--check` compares the hashes, which needs nothing; where NVRTC is at hand it
//! also compiles every kernel for the machine code of three generations and compares the PTX itself.
//! NVRTC is a Python package and runs without a GPU; `cargo xtask kernels` installs it below the
//! target folder.
//!
//! # Reading order
//! `sources` (what is hashed), `nvrtc` (where the compiler comes from), this file.

mod nvrtc;
mod sources;

use anyhow::{Context, Result, bail};
use nvrtc::Nvrtc;
use sources::Kernel;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// What the committed PTX is made for: the oldest generation that it runs on.
const PORTABLE: &str = "compute_80";
/// What the kernels must compile to: Ampere, Hopper, Blackwell.
const GENERATIONS: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Runs the command with what stands behind `kernels`.
pub(crate) fn run(arguments: &[&str], root: &Path) -> Result<ExitCode> {
    let folder = root.join("kernels");
    match arguments {
        [] => build(&folder, &Nvrtc::installed(&tools(root))?),
        ["--check"] => return check(&folder, Nvrtc::found(&tools(root)).as_ref()),
        _ => bail!("usage: cargo xtask kernels [--check]"),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Where the compiler is installed: below the target folder, which is nobody's.
fn tools(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    target.map_or_else(|| root.join("target"), PathBuf::from).join("nvrtc")
}

fn build(folder: &Path, nvrtc: &Nvrtc) -> Result<()> {
    let kernels = sources::read(folder)?;
    let compiled = nvrtc.compile(folder, PORTABLE, &kernels)?;
    for (kernel, ptx) in kernels.iter().zip(compiled) {
        let path = kernel.ptx_path(folder);
        fs::write(&path, kernel.sign(&ptx)).with_context(|| path.display().to_string())?;
        writeln!(std::io::stdout(), "{}: {} bytes", path.display(), ptx.len())?;
    }
    Ok(())
}

fn check(folder: &Path, nvrtc: Option<&Nvrtc>) -> Result<ExitCode> {
    let mut out = std::io::stdout();
    let mut faults = stale(folder)?;
    match nvrtc {
        None => writeln!(
            out,
            "kernels: only the hashes are checked, there is no NVRTC here; `cargo xtask kernels` installs it"
        )?,
        Some(nvrtc) => faults.extend(recompile(folder, nvrtc)?),
    }
    for fault in &faults {
        writeln!(out, "{fault}")?;
    }
    writeln!(out, "kernels: {} findings", faults.len())?;
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Kernels whose PTX was made from other sources, or is not there.
fn stale(folder: &Path) -> Result<Vec<String>> {
    let kernels = sources::read(folder)?;
    let is_stale = |kernel: &&Kernel| {
        let ptx = fs::read_to_string(kernel.ptx_path(folder)).unwrap_or_default();
        !kernel.has_signed(&ptx)
    };
    let message = |kernel: &Kernel| {
        format!(
            "kernels/{}.ptx: not made from these sources: run `cargo xtask kernels`",
            kernel.name
        )
    };
    Ok(kernels.iter().filter(is_stale).map(message).collect())
}

/// Compiles for every generation, and again what is committed.
fn recompile(folder: &Path, nvrtc: &Nvrtc) -> Result<Vec<String>> {
    let kernels = sources::read(folder)?;
    for generation in GENERATIONS {
        nvrtc.compile(folder, generation, &kernels)?;
        writeln!(std::io::stdout(), "kernels: {} compile for {generation}", kernels.len())?;
    }
    let mut faults = Vec::new();
    for (kernel, ptx) in kernels.iter().zip(nvrtc.compile(folder, PORTABLE, &kernels)?) {
        let committed = fs::read_to_string(kernel.ptx_path(folder)).unwrap_or_default();
        if committed != kernel.sign(&ptx) {
            faults.push(format!("kernels/{}.ptx: not what the compiler makes", kernel.name));
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_code_was_made_from_these_sources() {
        let folder = crate::root().unwrap().join("kernels");
        assert!(sources::read(&folder).unwrap().len() >= 3);
        assert_eq!(stale(&folder).unwrap(), Vec::<String>::new());
    }
}
