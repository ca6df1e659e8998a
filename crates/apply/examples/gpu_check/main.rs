//! The kernels on this machine's GPU: first whether they are right, then how long they take.
//!
//! `gpu_check [--out FILE] [--masks FILE] [--quick]`, usually by `cargo xtask gpu-check`. Prints a
//! table last and writes everything as JSON. `--masks` names a file of real masks: rows of 4,008
//! little-endian words, for a vocabulary of 128,256 tokens. Where `python3` has PyTorch, its own
//! operations are timed beside ours, and XGrammar's kernel where that is installed.
//!
//! Ends with 0 when every bit was right, 1 when not, 2 when there is no GPU to ask.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is what it is for")]
#![expect(unsafe_code, reason = "a device works on addresses that the caller vouches for")]

mod correct;
mod data;
mod peers;
mod timing;

use formwork_apply::cuda::Cuda;
use serde_json::json;
use std::{path::PathBuf, process::ExitCode};

struct Options {
    out: PathBuf,
    masks: Option<PathBuf>,
    quick: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options { out: "gpu-check.json".into(), masks: None, quick: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--out" => options.out = value()?.into(),
            "--masks" => options.masks = Some(value()?.into()),
            "--quick" => options.quick = true,
            _ => return Err(format!("unknown option {argument}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    match options() {
        Ok(options) => run(&options).unwrap_or_else(|error| {
            eprintln!("gpu-check: {error}");
            ExitCode::from(2)
        }),
        Err(error) => {
            eprintln!("gpu-check: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let cuda = Cuda::open(0)?;
    println!("device: {}", cuda.name()?);
    let correct = correct::check_all(&cuda)?;
    println!("{} results compared, {} wrong", correct.compared, correct.wrong.len());
    for wrong in &correct.wrong {
        println!("WRONG: {wrong}");
    }
    let real = options.masks.as_deref().map(data::real_masks).transpose()?;
    let bandwidth = timing::copy_bandwidth(&cuda)?;
    let rows = timing::measure(&cuda, real.as_deref(), options.quick)?;
    let peers = peers::measure();
    let document = json!({
        "device": cuda.name()?,
        "compared": correct.compared,
        "wrong": correct.wrong,
        "copy_bytes_per_second": bandwidth,
        "rows": rows.iter().map(|row| row.to_json(bandwidth)).collect::<Vec<_>>(),
        "peers": peers,
    });
    std::fs::write(&options.out, serde_json::to_string_pretty(&document)?)?;
    if !peers.is_null() {
        println!("peers, microseconds: {}", serde_json::to_string_pretty(&peers)?);
    }
    println!("written: {}", options.out.display());
    println!("copy: {:.0} GB/s, read and written", bandwidth / 1e9);
    println!("{}", timing::HEADING);
    for row in &rows {
        println!("{}", row.to_line(bandwidth));
    }
    Ok(if correct.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
