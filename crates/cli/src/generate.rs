//! `formwork generate`: the decode loop of an engine, with a sampler in the model's place.

use crate::{
    args::Generate,
    printable::escaped,
    sampler::Sampler,
    summary::{Ended, Summary},
};
use anyhow::{Context, Result, bail};
use formwork::{
    CompileRequest, CompiledGrammar, Limits, RowId, StartOptions, StructuredOutputGrammar,
    Vocabulary, lower, mask::Row,
};
use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

/// The most forced bytes looked at for the forced share.
const FORCED_LIMIT: usize = 256;

/// Exit status of a text that was cut.
const CUT: u8 = 3;

/// Runs the command.
pub(crate) fn run(arguments: &Generate) -> Result<ExitCode> {
    let mut summary = Summary::default();
    let started = Instant::now();
    let vocabulary = arguments.engine.vocabulary("o200k_base")?;
    formwork::prepare(&vocabulary);
    summary.vocabulary = started.elapsed();
    let compiled = compile(arguments, &vocabulary, &mut summary)?;
    summary.describe(&*compiled);
    let mut matcher = compiled.start(&StartOptions::default())?;
    let mut sampler = Sampler::new(&vocabulary, arguments.seed);
    let mut output = io::stdout().lock();
    decode(&mut *matcher, &mut sampler, arguments.max_tokens, &mut output, &mut summary)?;
    writeln!(output)?;
    if !arguments.quiet || summary.ended == Ended::Cut {
        #[expect(clippy::print_stderr, reason = "the summary must not mix with the text")]
        {
            eprintln!("{summary}");
        }
    }
    Ok(match summary.ended {
        Ended::Complete => ExitCode::SUCCESS,
        Ended::Cut => ExitCode::from(CUT),
    })
}

fn compile(
    arguments: &Generate,
    vocabulary: &Arc<Vocabulary>,
    summary: &mut Summary,
) -> Result<Arc<dyn CompiledGrammar>> {
    let limits = Limits::default();
    let constraint = arguments.constraint.constraint()?;
    let started = Instant::now();
    let grammar = Arc::new(lower(&constraint, &arguments.constraint.options()?, &limits)?);
    summary.front_end = started.elapsed();
    let started = Instant::now();
    let request = CompileRequest::new(grammar, vocabulary.clone());
    let compiled = arguments.engine.backend()?.compile_blocking(&request)?;
    summary.compile = started.elapsed();
    Ok(compiled)
}

/// The loop: mask, choose, accept, print; until the text ends or the limit is reached.
pub(crate) fn decode(
    matcher: &mut dyn StructuredOutputGrammar,
    sampler: &mut Sampler,
    max_tokens: usize,
    output: &mut dyn Write,
    summary: &mut Summary,
) -> Result<()> {
    let vocabulary = matcher.vocabulary().clone();
    let mut row = vec![0; vocabulary.row_words()];
    let mut held = RowId::NONE;
    let mut forced = Vec::new();
    while !matcher.is_terminated() {
        if summary.tokens == max_tokens {
            summary.ended = if matcher.is_accepting() { Ended::Complete } else { Ended::Cut };
            return Ok(());
        }
        let started = Instant::now();
        let filled = matcher.fill_bitmask(&mut row, held)?;
        summary.mask += started.elapsed();
        held = filled.row(held);
        let Some(token) = sampler.choose(Row::new(&row, vocabulary.model_len())) else {
            bail!("no token is allowed, which must never be: this is a bug in formwork");
        };
        forced.clear();
        matcher.forced_bytes(FORCED_LIMIT, &mut forced);
        let started = Instant::now();
        matcher.accept_tokens(&[token])?;
        summary.advance += started.elapsed();
        // The token that ends the text is not part of it.
        let Some(bytes) = vocabulary.bytes(token) else { continue };
        summary.tokens += 1;
        summary.bytes += bytes.len();
        summary.forced_tokens += usize::from(forced.starts_with(bytes));
        output
            .write_all(bytes)
            .and_then(|()| output.flush())
            .with_context(|| format!("cannot write {:?}", escaped(bytes)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
