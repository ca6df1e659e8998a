//! What the examples share: how to print.
//!
//! Run one with `cargo run -p formwork-examples --example decode_loop`.

use std::io::Write;

/// Prints a line to standard output.
///
/// # Errors
/// What writing says.
pub fn say(line: impl std::fmt::Display) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{line}")
}
