//! `formwork check`: a text against a constraint, token by token.
//!
//! Unless a vocabulary is named, the constraint is compiled for one of the 256 bytes, so that the
//! answer is to the byte and does not depend on any tokenizer.

mod jsonl;

use crate::{
    args::Check,
    printable::{byte_ranges, escaped},
    vocabularies::{BYTES, tokenize},
};
use anyhow::{Context, Result};
use formwork::{Compiler, RowId, StartOptions, StructuredOutputGrammar, TokenId, mask::Row};
use jsonl::Judge;
use std::{
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
};

/// Exit status of a text that does not satisfy the constraint.
const REFUSED: u8 = 2;
/// How much of the text before the refusal is shown.
const CONTEXT: usize = 40;

/// Runs the command.
pub(crate) fn run(arguments: &Check) -> Result<ExitCode> {
    let vocabulary = arguments.engine.vocabulary(BYTES)?;
    let options = arguments.constraint.options()?;
    let backend = arguments.engine.backend()?;
    let compiler = Compiler::new(vocabulary.clone()).with_backend(backend);
    let mut output = io::stdout().lock();
    if arguments.jsonl {
        let mut judge = Judge::new(compiler, options, arguments.time_limit);
        jsonl::serve(&mut judge, io::stdin().lock(), &mut output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = text(arguments)?;
    let constraint = arguments.constraint.constraint()?;
    let compiled = compiler.with_options(options).compile(&constraint)?;
    let mut matcher = compiled.start(&StartOptions::default())?;
    let verdict = verdict(&mut *matcher, &tokenize(&vocabulary, &text)?)?;
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

/// Whether a text satisfies a constraint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Refused {
        /// Where the first token that cannot be taken begins, in bytes; the length when the text is
        /// incomplete.
        offset: usize,
        /// That token's bytes; none when the text is incomplete.
        token: Vec<u8>,
        /// Bytes that could have stood there, ascending: those that allowed tokens begin with.
        legal: Vec<u8>,
        /// Whether the text could have ended there.
        complete: bool,
    },
}

/// Reads the text token by token.
pub(crate) fn verdict(
    matcher: &mut dyn StructuredOutputGrammar,
    tokens: &[TokenId],
) -> Result<Verdict> {
    let vocabulary = matcher.vocabulary().clone();
    let bytes = |token: &TokenId| vocabulary.bytes(*token).unwrap_or_default();
    let mut taken = 0;
    while let Some(&token) = tokens.get(taken)
        && !matcher.is_terminated()
        && matcher.accept_tokens(&[token]).is_ok()
    {
        taken += 1;
    }
    let complete = matcher.is_accepting();
    if taken == tokens.len() && complete {
        return Ok(Verdict::Accepted);
    }
    let mut row = vec![0; vocabulary.row_words()];
    let mut legal = Vec::new();
    if !matcher.is_terminated() {
        matcher.fill_bitmask(&mut row, RowId::NONE)?;
        let allowed = Row::new(&row, vocabulary.model_len()).ones();
        let allowed = allowed.filter_map(|id| u32::try_from(id).ok()).map(TokenId::new);
        let mut begins = [false; 256];
        for first in allowed.filter_map(|id| vocabulary.bytes(id)?.first().copied()) {
            begins[usize::from(first)] = true;
        }
        legal.extend((0..=255_u8).filter(|&byte| begins[usize::from(byte)]));
    }
    Ok(Verdict::Refused {
        offset: tokens[..taken].iter().map(|token| bytes(token).len()).sum(),
        token: tokens.get(taken).map(bytes).unwrap_or_default().to_vec(),
        legal,
        complete,
    })
}

impl Verdict {
    fn describe(&self, text: &[u8]) -> String {
        let Self::Refused { offset, token, legal, complete } = self else {
            return "accepted".into();
        };
        let before = escaped(&text[offset.saturating_sub(CONTEXT)..*offset]);
        let found = match &**token {
            [] => "the end of the text".into(),
            [byte] => format!("byte {:?}", escaped(&[*byte])),
            bytes => format!("token {:?}", escaped(bytes)),
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
