//! Every case that is not right, for whoever mends what is wrong: a JSON object a line.

use super::{
    corpus::{Case, Expectation},
    judge::{Judged, Outcome, Place, Why},
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::{
    fmt::Write as _,
    fs::File,
    io::{BufWriter, Result, Write},
    path::Path,
};

/// A line.
#[derive(Debug, Serialize)]
struct Failure<'a> {
    outcome: Outcome,
    /// The beginning of the case's digest, as the list of skips takes it.
    case: &'a str,
    /// What we say of the constraint.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    /// The case as its file has it.
    record: &'a RawValue,
}

/// Where an input was refused.
#[derive(Debug, Serialize)]
struct Refused {
    /// Offset of the byte that cannot be taken; the length when the input ends too early.
    offset: usize,
    /// What stands before it.
    before: String,
    /// It and what follows; empty when the input ends too early.
    found: String,
    /// The bytes that could have stood there, as ranges.
    legal: String,
    /// Whether the input could have ended there.
    could_end: bool,
}

/// How many bytes are shown on either side.
const CONTEXT: usize = 40;
/// How many digits of a digest are written.
const DIGITS: usize = 16;

/// Writes the failures.
pub(super) fn write(path: &Path, cases: &[&Case], judged: &[Judged]) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for (case, judged) in cases.iter().zip(judged) {
        if !matches!(judged.outcome, Outcome::Right | Outcome::Skipped) {
            file.write_all(line(case, judged).as_bytes())?;
            file.write_all(b"\n")?;
        }
    }
    file.flush()
}

pub(super) fn line(case: &Case, judged: &Judged) -> String {
    let input = match &case.expectation {
        Expectation::Input { text, .. } => text.as_bytes(),
        Expectation::Compiles(_) => &[],
    };
    let (error, refused) = match &judged.why {
        Why::Text(text) => (Some(text.as_str()), None),
        Why::Place(place) => (None, Some(refused(input, place))),
        Why::Plain | Why::Skip(_) => (None, None),
    };
    let digest = case.digest();
    let (case_digits, outcome) = (&digest[..DIGITS], judged.outcome);
    let failure = Failure { outcome, case: case_digits, error, refused, record: &case.line };
    serde_json::to_string(&failure).expect("strings and numbers can be written")
}

fn refused(input: &[u8], place: &Place) -> Refused {
    let Place { offset, ref legal, could_end } = *place;
    let (before, found) = input.split_at(offset);
    let before = &before[offset.saturating_sub(CONTEXT)..];
    let found = &found[..found.len().min(CONTEXT)];
    let shown = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Refused { offset, before: shown(before), found: shown(found), legal: ranges(legal), could_end }
}

/// Ascending bytes as ranges: `"'0'-'9' 'a' 0x80-0xbf"`.
fn ranges(bytes: &[u8]) -> String {
    let mut text = String::new();
    for run in bytes.chunk_by(|left, right| right - left == 1) {
        let separator = if text.is_empty() { "" } else { " " };
        text.push_str(separator);
        text.push_str(&shown(run[0]));
        if let [_, .., last] = run {
            write!(text, "-{}", shown(*last)).expect("a string takes all");
        }
    }
    text
}

fn shown(byte: u8) -> String {
    match byte {
        b' '..=b'~' => format!("'{}'", char::from(byte)),
        _ => format!("{byte:#04x}"),
    }
}
