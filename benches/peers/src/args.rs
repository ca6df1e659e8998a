//! The command line.

use crate::{input::Choice, probe::Allowance};
use anyhow::{Result, anyhow};
use clap::Parser;
use std::{collections::HashMap, path::PathBuf, time::Duration};

/// Measures Formwork beside its peers in one process, on one thread.
#[derive(Debug, Parser)]
pub(crate) struct Args {
    /// Schemas with tokenized tests, one case a line; `.xz` is decompressed
    #[arg(long)]
    pub(crate) cases: Option<PathBuf>,
    /// Regular expressions with texts, one case a line
    #[arg(long, required_unless_present_any = ["cases", "grammars", "tools"])]
    pub(crate) regexes: Option<PathBuf>,
    /// What is measured beside schemas and regular expressions
    #[command(flatten)]
    pub(crate) grammatical: GrammarArgs,
    /// The vocabulary: a raw table whose header has the tokenizer's `pattern`
    #[arg(long)]
    pub(crate) vocab: PathBuf,
    /// At most so many schemas, taken at random
    #[arg(long, conflicts_with = "ids")]
    limit: Option<usize>,
    /// What the random sample, and its order, follows from
    #[arg(long, default_value_t = 1, requires = "limit")]
    pub(crate) seed: u64,
    /// The schemas with these ids, one a line, in this order
    #[arg(long)]
    ids: Option<PathBuf>,
    /// Engines by name; without it all, each once
    #[arg(long, value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
    /// Leave an engine out where the source has more bytes: `outlines-core=500`
    #[arg(long, value_delimiter = ',', value_parser = cap)]
    cap: Vec<(String, usize)>,
    /// How many runs the shortest times are taken over
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) runs: u8,
    /// Engines that are given every case in a second process first, where they can be ended;
    /// without it all
    #[arg(long, value_delimiter = ',')]
    pub(crate) probe: Vec<String>,
    /// Gibibytes that such a second process may take
    #[arg(long, default_value_t = 6)]
    memory_limit: u32,
    /// Seconds that a run of a case may take there; one that takes longer here is not repeated
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    time_limit: f64,
    /// The folder for `results.jsonl` and `report.html`; made if it is not there
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Be the second process of an engine
    #[arg(long, hide = true)]
    pub(crate) answer_probes_for: Option<String>,
}

/// Grammars, and tools that become one.
#[derive(Debug, clap::Args)]
pub(crate) struct GrammarArgs {
    /// Grammars with texts, one a line
    #[arg(long)]
    pub(crate) grammars: Option<PathBuf>,
    /// Schemas with tokenized tests that become the tools of one structural tag
    #[arg(long)]
    pub(crate) tools: Option<PathBuf>,
    /// How many tools there are
    #[arg(long, default_value_t = 500, requires = "tools")]
    tool_count: usize,
    /// What the ids of the schemas begin with that become tools
    #[arg(long, default_value = "", requires = "tools")]
    tool_prefix: String,
}

impl Args {
    /// Which schemas are measured.
    ///
    /// # Errors
    /// When the list of ids cannot be read.
    pub(crate) fn choice(&self) -> Result<Choice> {
        Ok(match (&self.ids, self.limit) {
            (Some(path), _) => Choice::Ids(crate::input::ids(path)?),
            (None, Some(limit)) => Choice::Sample { limit, seed: self.seed },
            (None, None) => Choice::All,
        })
    }

    /// Which schemas become tools.
    pub(crate) fn tools(&self) -> Choice {
        let GrammarArgs { tool_count, tool_prefix, .. } = &self.grammatical;
        Choice::First { limit: *tool_count, prefix: tool_prefix.clone() }
    }

    /// Bytes of a source above which an engine is left out.
    pub(crate) fn caps(&self) -> HashMap<String, usize> {
        self.cap.iter().cloned().collect()
    }

    /// What a probed run may take.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance {
            time: Duration::from_secs_f64(self.time_limit),
            memory_bytes: u64::from(self.memory_limit) << 30,
        }
    }
}

fn cap(text: &str) -> Result<(String, usize)> {
    let (engine, bytes) = text.split_once('=').ok_or_else(|| anyhow!("expected ENGINE=BYTES"))?;
    Ok((engine.to_owned(), bytes.parse()?))
}

fn seconds(text: &str) -> Result<f64> {
    let seconds: f64 = text.parse()?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(_) => Ok(seconds),
        Err(error) => Err(error.into()),
    }
}
