//! What a run says of itself at its end.

use formwork::{CompiledGrammar, Stats};
use std::{fmt, time::Duration};

/// Counts and times of one generation.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) ended: Ended,
    pub(crate) tokens: usize,
    pub(crate) bytes: usize,
    /// Tokens that lie wholly inside bytes the constraint forced.
    pub(crate) forced_tokens: usize,
    pub(crate) front_end: Duration,
    pub(crate) compile: Duration,
    pub(crate) vocabulary: Duration,
    /// Time in `fill_bitmask`, all steps.
    pub(crate) mask: Duration,
    /// Time in `accept_tokens`, all steps.
    pub(crate) advance: Duration,
    pub(crate) memory_bytes: usize,
    pub(crate) stats: Stats,
}

/// How a generation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The text satisfies the constraint.
    #[default]
    Complete,
    /// The token limit came first: the text is a beginning only.
    Cut,
}

impl Summary {
    pub(crate) fn describe(&mut self, compiled: &dyn CompiledGrammar) {
        self.memory_bytes = compiled.memory_bytes();
        self.stats = compiled.stats();
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.tokens.max(1) as f64;
        let per_step = |time: Duration| time.as_secs_f64() * 1e6 / steps;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        match self.ended {
            Ended::Complete => writeln!(f, "complete: the text satisfies the constraint")?,
            Ended::Cut => writeln!(
                f,
                "cut: the token limit came before the text was complete; raise --max-tokens"
            )?,
        }
        writeln!(
            f,
            "tokens       {} ({} bytes), {:.0}% of them forced",
            self.tokens,
            self.bytes,
            100.0 * self.forced_tokens as f64 / steps
        )?;
        writeln!(
            f,
            "per token    mask {:.2} us, advance {:.2} us",
            per_step(self.mask),
            per_step(self.advance)
        )?;
        writeln!(
            f,
            "compile      {:.1} ms (front end {:.1} ms); vocabulary {:.0} ms, once",
            milliseconds(self.front_end + self.compile),
            milliseconds(self.front_end),
            milliseconds(self.vocabulary)
        )?;
        let value = |name| self.stats.value(name).unwrap_or_default();
        write!(
            f,
            "compiled     {} states, {} distinct rows, {:.2} MB",
            value("states"),
            value("rows"),
            self.memory_bytes as f64 / 1e6
        )
    }
}
