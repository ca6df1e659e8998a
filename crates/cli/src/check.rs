//! `formwork check`: a text against a constraint, byte by byte.
//!
//! The constraint is compiled for a vocabulary of the 256 bytes, so the answer does not depend on
//! any tokenizer.

use crate::{
    args::Check,
    printable::{byte_ranges, escaped},
};
use anyhow::{Context, Result};
use formwork::{
    Compiler, RowId, StartOptions, StructuredOutputGrammar, TokenId, Vocabulary, mask::Row,
};
use std::{
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

/// Exit status of a text that does not satisfy the constraint.
const REFUSED: u8 = 2;
/// How much of the text before the refusal is shown.
const CONTEXT: usize = 40;

/// Runs the command.
pub(crate) fn run(arguments: &Check) -> Result<ExitCode> {
    let text = text(arguments)?;
    let constraint = arguments.constraint.constraint()?;
    let compiled = Compiler::new(Arc::new(byte_vocabulary()?))
        .with_options(arguments.constraint.options())
        .compile(&constraint)?;
    let mut matcher = compiled.start(&StartOptions::default())?;
    let verdict = verdict(&mut *matcher, &text)?;
    let mut output = io::stdout().lock();
    writeln!(output, "{}", verdict.describe(&text))?;
    Ok(match verdict {
        Verdict::Accepted => ExitCode::SUCCESS,
        Verdict::Refused { .. } => ExitCode::from(REFUSED),
    })
}

fn text(arguments: &Check) -> Result<Vec<u8>> {
    match (&arguments.text, &arguments.file) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(path)) if path == Path::new("-") => {
            let mut text = Vec::new();
            io::stdin().read_to_end(&mut text).context("cannot read standard input")?;
            Ok(text)
        }
        (None, Some(path)) => {
            std::fs::read(path).with_context(|| format!("cannot read the text {}", path.display()))
        }
        (None, None) => Ok(Vec::new()),
    }
}

/// One token per byte, and nothing else.
pub(crate) fn byte_vocabulary() -> Result<Vocabulary> {
    let bytes = (0..=255_u8).map(|byte| (TokenId::new(u32::from(byte)), [byte]));
    let builder =
        bytes.fold(Vocabulary::builder(256), |builder, (id, byte)| builder.token(id, &byte));
    Ok(builder.build()?)
}

/// Whether a text satisfies a constraint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Refused {
        /// Offset of the first byte that cannot be taken; the length when the text is incomplete.
        offset: usize,
        /// Bytes that could have stood there, ascending.
        legal: Vec<u8>,
        /// Whether the text could have ended there.
        complete: bool,
    },
}

/// Reads the text byte by byte.
pub(crate) fn verdict(matcher: &mut dyn StructuredOutputGrammar, text: &[u8]) -> Result<Verdict> {
    let mut offset = 0;
    while let Some(&byte) = text.get(offset)
        && !matcher.is_terminated()
        && matcher.accept_tokens(&[TokenId::new(u32::from(byte))]).is_ok()
    {
        offset += 1;
    }
    let complete = matcher.is_accepting();
    if offset == text.len() && complete {
        return Ok(Verdict::Accepted);
    }
    let mut row = vec![0; matcher.vocabulary().row_words()];
    let mut legal = Vec::new();
    if !matcher.is_terminated() {
        matcher.fill_bitmask(&mut row, RowId::NONE)?;
        let ones = Row::new(&row, matcher.vocabulary().model_len()).ones();
        legal.extend(ones.filter_map(|id| u8::try_from(id).ok()));
    }
    Ok(Verdict::Refused { offset, legal, complete })
}

impl Verdict {
    fn describe(&self, text: &[u8]) -> String {
        let Self::Refused { offset, legal, complete } = self else { return "accepted".into() };
        let before = escaped(&text[offset.saturating_sub(CONTEXT)..*offset]);
        let found = match text.get(*offset) {
            Some(byte) => format!("byte {:?}", escaped(&[*byte])),
            None => "the end of the text".into(),
        };
        let end = if *complete { "the end of the text" } else { "" };
        let legal = match (legal.is_empty(), end) {
            (true, _) => end.to_owned(),
            (false, "") => byte_ranges(legal),
            (false, _) => format!("{}, or {end}", byte_ranges(legal)),
        };
        format!("refused at byte {offset}: {found} after {before:?}\nlegal there: {legal}")
    }
}

#[cfg(test)]
mod tests;
