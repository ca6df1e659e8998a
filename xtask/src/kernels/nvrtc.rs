//! The CUDA compiler as a Python package: where it is, how it is installed, how it is called.

use super::sources::Kernel;
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The package's version; the PTX depends on it.
pub(super) const VERSION: &str = "13.0.88";
/// Without contraction of multiplications and additions, so that numbers are those of the processor.
pub(super) const OPTIONS: [&str; 2] = ["--std=c++17", "--fmad=false"];

const SCRIPT: &str = include_str!("compile.py");

/// An installed compiler.
#[derive(Debug)]
pub(super) struct Nvrtc {
    /// The folder of the Python environment.
    environment: PathBuf,
    /// The folder of the libraries.
    libraries: PathBuf,
}

impl Nvrtc {
    /// The compiler, if it has been installed to `environment`.
    pub(super) fn found(environment: &Path) -> Option<Self> {
        let pythons = fs::read_dir(environment.join("lib")).ok()?;
        let libraries = pythons.flatten().map(|python| {
            python.path().join("site-packages").join("nvidia").join("cu13").join("lib")
        });
        let libraries =
            libraries.into_iter().find(|folder| folder.join("libnvrtc.so.13").exists())?;
        Some(Self { environment: environment.to_owned(), libraries })
    }

    /// The compiler, installed to `environment` if it is not there.
    pub(super) fn installed(environment: &Path) -> Result<Self> {
        if let Some(found) = Self::found(environment) {
            return Ok(found);
        }
        call(Command::new("python3").args(["-m", "venv"]).arg(environment))?;
        let package = format!("nvidia-cuda-nvrtc=={VERSION}");
        let pip = ["-m", "pip", "install", "--quiet", &package];
        call(Command::new(environment.join("bin").join("python3")).args(pip))?;
        Self::found(environment).context("the package is installed and has no library")
    }

    /// PTX of every kernel, in their order.
    pub(super) fn compile(
        &self,
        folder: &Path,
        architecture: &str,
        kernels: &[Kernel],
    ) -> Result<Vec<String>> {
        let out = self.environment.join(architecture);
        fs::create_dir_all(&out)?;
        let mut command = Command::new(self.environment.join("bin").join("python3"));
        command.args(["-c", SCRIPT]).arg(&self.libraries).arg(folder).arg(architecture).arg(&out);
        command.args(kernels.iter().map(|kernel| &kernel.name)).arg("--").args(OPTIONS);
        call(&mut command)?;
        let read = |kernel: &Kernel| {
            let path = kernel.ptx_path(&out);
            fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        kernels.iter().map(read).collect()
    }
}

fn call(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| program.clone())?;
    ensure!(status.success(), "{program} ended with {status}");
    Ok(())
}
