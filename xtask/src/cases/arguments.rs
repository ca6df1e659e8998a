//! The command's arguments.

use super::{corpus::Case, options::UnknownOptions};
use clap::Parser;
use std::{num::NonZeroUsize, path::PathBuf, time::Duration};

/// The backend that the baseline is about.
const BACKEND: &str = "earley";

/// Run recorded accept-or-refuse cases, and hold the counts against the baseline.
#[derive(Debug, Parser)]
#[command(name = "cases", bin_name = "cargo xtask cases")]
pub(super) struct Arguments {
    /// Folder of corpora: `*.jsonl`, a case a line.
    #[arg(long)]
    pub(super) dir: PathBuf,
    /// Only cases of this source: what stands before the first slash of `source`.
    #[arg(long)]
    source: Option<String>,
    /// Only cases of this front end.
    #[arg(long)]
    frontend: Option<String>,
    /// Write every case that is not right here, a JSON object a line.
    #[arg(long)]
    pub(super) failures: Option<PathBuf>,
    /// Seconds that one constraint may take to compile, and one input to be read.
    #[arg(long, default_value = "5", value_parser = seconds)]
    pub(super) limit: Duration,
    /// Threads; as many as there are cores unless given.
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Backend by its name.
    #[arg(long, default_value = BACKEND)]
    pub(super) backend: String,
    /// Write the counts that have become better to the baseline, if nothing is wrong.
    #[arg(long)]
    pub(super) write_baseline: bool,
    /// Leave out options that we do not have, instead of skipping their cases. Verdicts are then
    /// about another constraint than the one recorded: nothing is held against the baseline.
    #[arg(long, conflicts_with = "write_baseline")]
    leave_out_unknown_options: bool,
}

impl Arguments {
    /// Whether a case is asked for.
    pub(super) fn selects(&self, case: &Case) -> bool {
        self.covers(case.corpus(), &case.frontend)
    }

    /// Whether all cases of a source and a front end are asked for.
    pub(super) fn covers(&self, source: &str, frontend: &str) -> bool {
        self.source.as_ref().is_none_or(|only| only == source)
            && self.frontend.as_ref().is_none_or(|only| only == frontend)
    }

    /// Whether the run is one that baseline and skips are about.
    pub(super) fn is_comparable(&self) -> bool {
        self.backend == BACKEND && !self.leave_out_unknown_options
    }

    pub(super) fn unknown_options(&self) -> UnknownOptions {
        match self.leave_out_unknown_options {
            true => UnknownOptions::LeaveOut,
            false => UnknownOptions::Skip,
        }
    }

    pub(super) fn threads(&self) -> NonZeroUsize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(cores)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
