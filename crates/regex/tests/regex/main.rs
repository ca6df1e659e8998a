//! What patterns mean, against another engine and by hand, and why they are refused.

mod dialects;
mod errors;
mod limits;
mod look;
mod oracle;

use formwork_automata::{CancellationToken, Dfa};
use formwork_grammar::Limits;
use formwork_regex::{Dialect, MatchMode, Options, RegexError, language};

/// The language of a pattern, under default limits.
fn language_of(pattern: &str, options: &Options) -> Result<Dfa, RegexError> {
    let limits = Limits::default();
    language(pattern, options, &limits, &mut limits.fuel(&CancellationToken::new()))
}

fn options(mode: MatchMode, dialect: Dialect) -> Options {
    Options::default().with_mode(mode).with_dialect(dialect)
}
