//! How patterns are read.

use formwork_regex::{Dialect, MatchMode};

/// How patterns are read: ECMA-262, and somewhere in the string is enough.
pub(crate) fn pattern_options() -> formwork_regex::Options {
    let mut options = formwork_regex::Options::default();
    options.mode = MatchMode::Search;
    options.dialect = Dialect::Ecma262;
    options
}
