//! `formwork mask`: which tokens may follow a prefix.

use crate::{
    args::{Mask, Prefix},
    printable::escaped,
};
use anyhow::{Context, Result};
use formwork::{
    CompiledGrammar, Compiler, RowId, StartOptions, StructuredOutputGrammar, TokenId, Vocabulary,
    mask::Row,
};
use serde::Serialize;
use std::{
    fmt,
    io::{self, Read, Write},
    path::Path,
    process::ExitCode,
    sync::Arc,
};

/// The most forced bytes that are shown.
const FORCED_LIMIT: usize = 256;
/// Words of a row on a line.
const WORDS_PER_LINE: usize = 8;

/// Runs the command.
pub(crate) fn run(arguments: &Mask) -> Result<ExitCode> {
    let vocabulary = arguments.engine.vocabulary("o200k_base")?;
    let compiled = Compiler::new(vocabulary)
        .with_backend(arguments.engine.backend()?)
        .with_options(arguments.constraint.options()?)
        .compile(&arguments.constraint.constraint()?)?;
    let mut matcher = start(compiled, &arguments.prefix)?;
    let mut view = View::new(&mut *matcher, arguments.sample)?;
    if !arguments.words {
        view.words.clear();
    }
    let mut output = io::stdout().lock();
    match arguments.json {
        true => writeln!(output, "{}", serde_json::to_string_pretty(&view)?)?,
        false => writeln!(output, "{view}")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A matcher after the prefix. Bytes count as fixed by the prompt, so they need not be spelt by
/// tokens.
fn start(
    compiled: Arc<dyn CompiledGrammar>,
    prefix: &Prefix,
) -> Result<Box<dyn StructuredOutputGrammar>> {
    let fixed_bytes = prefix_bytes(prefix)?;
    let mut matcher = compiled.start(&StartOptions { fixed_bytes, ..StartOptions::default() })?;
    let tokens: Vec<TokenId> = prefix.tokens.iter().copied().map(TokenId::new).collect();
    matcher.accept_tokens(&tokens)?;
    Ok(matcher)
}

fn prefix_bytes(prefix: &Prefix) -> Result<Vec<u8>> {
    match (&prefix.prefix, &prefix.prefix_file) {
        (Some(text), _) => Ok(text.clone().into_bytes()),
        (None, Some(path)) if path == Path::new("-") => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
            Ok(bytes)
        }
        (None, Some(path)) => std::fs::read(path)
            .with_context(|| format!("cannot read the prefix {}", path.display())),
        (None, None) => Ok(Vec::new()),
    }
}

/// A mask, for people.
#[derive(Debug, PartialEq, Serialize)]
struct View {
    /// Tokens allowed.
    allowed: usize,
    /// Bits of the row.
    of: usize,
    accepting: bool,
    terminated: bool,
    /// What every completion goes on with.
    forced_bytes: String,
    /// The ids that may end the output, and whether they may here.
    stop_ids: Vec<Stop>,
    sample: Vec<Token>,
    /// The row, as hexadecimal words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Stop {
    id: u32,
    allowed: bool,
}

#[derive(Debug, PartialEq, Serialize)]
struct Token {
    id: u32,
    /// Its bytes, escaped, or the name of a special token in angle brackets.
    text: String,
}

impl View {
    fn new(matcher: &mut dyn StructuredOutputGrammar, sample: usize) -> Result<Self> {
        let vocabulary = matcher.vocabulary().clone();
        let mut words = vec![0; vocabulary.row_words()];
        matcher.fill_bitmask(&mut words, RowId::NONE)?;
        let row = Row::new(&words, vocabulary.model_len());
        let mut forced = Vec::new();
        matcher.forced_bytes(FORCED_LIMIT, &mut forced);
        let allowed = row.count();
        let stop = |id: &TokenId| Stop { id: id.as_u32(), allowed: row.contains(id.index()) };
        Ok(Self {
            allowed,
            of: vocabulary.model_len(),
            accepting: matcher.is_accepting(),
            terminated: matcher.is_terminated(),
            forced_bytes: escaped(&forced),
            stop_ids: matcher.stop_ids().iter().map(stop).collect(),
            sample: spaced(row, sample).map(|id| Token::new(&vocabulary, id)).collect(),
            words: words.iter().map(|word| format!("{word:08x}")).collect(),
        })
    }

    /// Allowed tokens, as a share of all.
    fn share(&self) -> f64 {
        self.allowed as f64 / self.of.max(1) as f64
    }
}

/// `count` of the allowed ids, evenly spaced: the first one always, all when there are no more.
fn spaced(row: Row<'_>, count: usize) -> impl Iterator<Item = TokenId> + '_ {
    let allowed = row.count();
    let shown = count.min(allowed);
    // The k-th of the shown ones is the allowed one of rank floor(k * allowed / shown).
    let mut next = 0;
    row.ones().enumerate().filter_map(move |(rank, id)| {
        let due = next < shown && rank == next * allowed / shown;
        next += usize::from(due);
        due.then(|| TokenId::new(u32::try_from(id).expect("ids are u32")))
    })
}

impl Token {
    fn new(vocabulary: &Vocabulary, id: TokenId) -> Self {
        let text = match (vocabulary.bytes(id), vocabulary.special_name(id)) {
            (Some(bytes), _) => escaped(bytes),
            (None, Some(name)) => format!("<{name}>"),
            // Where nothing is constrained, ids without a meaning are allowed too.
            (None, None) => String::new(),
        };
        Self { id: id.as_u32(), text }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "allowed    {} of {} ({:.3}%)", self.allowed, self.of, 100.0 * self.share())?;
        writeln!(f, "accepting  {}", if self.accepting { "yes" } else { "no" })?;
        if self.terminated {
            writeln!(f, "terminated: nothing is constrained any more")?;
        }
        writeln!(f, "forced     \"{}\"", self.forced_bytes)?;
        write!(f, "stop ids  ")?;
        for stop in &self.stop_ids {
            write!(f, " {} ({})", stop.id, if stop.allowed { "allowed" } else { "not allowed" })?;
        }
        write!(f, "{}\nsample", if self.stop_ids.is_empty() { " none" } else { "" })?;
        for Token { id, text } in &self.sample {
            write!(f, "\n{id:>10} \"{text}\"")?;
        }
        if !self.words.is_empty() {
            write!(f, "\nwords, bit i%32 of word i/32 for token i")?;
        }
        for (index, words) in self.words.chunks(WORDS_PER_LINE).enumerate() {
            write!(f, "\n{:>10} {}", 32 * WORDS_PER_LINE * index, words.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
