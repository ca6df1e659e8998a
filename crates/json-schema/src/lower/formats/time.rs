//! Dates, times and durations: RFC 3339.

use super::matching;
use formwork_automata::Dfa;
use std::fmt::Write;

/// Which texts with a second of 60 count as times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeapSeconds {
    /// Those at 23:59 UTC whose offset is a multiple of 15 minutes.
    Known,
    /// All.
    Any,
}

/// No 31 April, and 29 February in leap years alone: those that 4 divides, but of the full
/// centuries only those that 400 divides.
const DATE: &str = concat!(
    "(?:[0-9]{4}-(?:",
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
    "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)",
);

const FRACTION: &str = r"(?:\.[0-9]+)?";
const OFFSET: &str = "(?:[Zz]|[+\\-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
const MINUTES_OF_DAY: u32 = 24 * 60;

pub(super) fn date() -> Dfa {
    matching(DATE)
}

pub(super) fn time(leap: LeapSeconds) -> Dfa {
    matching(&time_pattern(leap))
}

pub(super) fn date_time(leap: LeapSeconds) -> Dfa {
    matching(&format!("{DATE}[Tt]{}", time_pattern(leap)))
}

pub(super) fn duration() -> Dfa {
    let time = "T(?:N+H(?:N+M(?:N+S)?)?|N+M(?:N+S)?|N+S)";
    let date = "(?:N+D|N+M(?:N+D)?|N+Y(?:N+M(?:N+D)?)?)";
    matching(&format!("P(?:{date}(?:{time})?|{time}|N+W)").replace('N', "[0-9]"))
}

fn time_pattern(leap: LeapSeconds) -> String {
    let hour = "(?:[01][0-9]|2[0-3])";
    let (seconds, known) = match leap {
        LeapSeconds::Any => ("(?:[0-5][0-9]|60)", String::new()),
        LeapSeconds::Known => ("[0-5][0-9]", leap_seconds()),
    };
    format!("(?:{hour}:[0-5][0-9]:{seconds}{FRACTION}{OFFSET}{known})")
}

/// Alternatives for each minute of the day that is 23:59 UTC under such an offset: one offset ahead
/// of UTC, one behind, and UTC itself for 23:59.
fn leap_seconds() -> String {
    let mut alternatives = String::new();
    let clock = |minutes: u32| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    for ahead in (0..MINUTES_OF_DAY).step_by(15) {
        let local = clock((MINUTES_OF_DAY - 1 + ahead) % MINUTES_OF_DAY);
        let behind = clock((MINUTES_OF_DAY - ahead) % MINUTES_OF_DAY);
        let ahead_clock = clock(ahead);
        let utc = if ahead == 0 { "[Zz]|" } else { "" };
        // Writing to a string does not fail.
        let _ = write!(alternatives, "|{local}:60{FRACTION}(?:{utc}\\+{ahead_clock}|-{behind})");
    }
    alternatives
}
