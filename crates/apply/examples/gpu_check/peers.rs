//! What this machine's Python has to compare with.

use serde_json::Value;
use std::process::Command;

const SCRIPT: &str = include_str!("peers.py");

/// Times by the script, as it prints them; null where Python or PyTorch is missing.
pub(crate) fn measure() -> Value {
    let output = Command::new("python3").args(["-c", SCRIPT]).output();
    let parsed = output.ok().filter(|output| output.status.success());
    let parsed = parsed.and_then(|output| serde_json::from_slice(&output.stdout).ok());
    parsed.unwrap_or_else(|| {
        eprintln!("gpu-check: python3 has no PyTorch that sees the GPU; nothing to compare with");
        Value::Null
    })
}
