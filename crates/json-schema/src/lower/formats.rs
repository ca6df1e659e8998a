//! The formats of draft 2020-12, as languages of UTF-8 texts.
//!
//! # Idea
//! A format is a table entry: a name, the texts that are *surely* valid and those that are *possibly*
//! valid. Where the standard behind a format is a regular language both are the same and exact.
//! Where it is not, or only with an automaton out of all proportion, they differ, and what must hold
//! is taken from the first, what must fail from the second: nothing invalid is ever offered.
//!
//! | format | from | surely valid |
//! |---|---|---|
//! | `date` | RFC 3339 | exact, leap years included |
//! | `time`, `date-time` | RFC 3339 | exact but for leap seconds: 23:59:60 UTC where the offset is a multiple of 15 minutes, as those of all time zones are |
//! | `duration` | RFC 3339, appendix A | exact in capital letters |
//! | `email` | RFC 5321 | with its limits on the part before the sign and on labels; no general address literals, nothing escaped without need |
//! | `idn-email` | RFC 6531 | domains as for `idn-hostname` |
//! | `hostname` | RFC 1123 | exact but for labels whose third and fourth characters are hyphens, such as `xn--…`: which of them decode is not regular |
//! | `idn-hostname` | RFC 5890 to 5893 | as `hostname`, and labels of at most nine characters of one of the scripts listed in `idn` |
//! | `ipv4`, `ipv6` | RFC 2673, RFC 4291 | exact, embedded IPv4 included |
//! | `uri`, `uri-reference` | RFC 3986 | exact |
//! | `iri`, `iri-reference` | RFC 3987 | exact |
//! | `uri-template` | RFC 6570 | exact but for the operators that it reserves |
//! | `uuid` | RFC 4122 | exact |
//! | `json-pointer` | RFC 6901 | exact |
//! | `relative-json-pointer` | its first draft | exact; index manipulation, a later addition, is possibly valid |
//! | `regex` | ECMA-262 | groups up to three deep, see `pattern` |
//!
//! # Cost
//! Each automaton is built when it is first asked for, once in a process: from some microseconds to
//! a few milliseconds.

mod idn;
mod internet;
mod pattern;
mod resource;
mod time;

use super::{scalars::Polarity, text::automaton};
use crate::model::Count;
use formwork_automata::{BooleanOp, Dfa, Fuel};
use formwork_grammar::Limits;
use formwork_regex::{Dialect, Options};
use resource::Alphabet;
use std::sync::{Arc, OnceLock};
use time::LeapSeconds;

/// A format that is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Format {
    Date,
    DateTime,
    Duration,
    Email,
    Hostname,
    IdnEmail,
    IdnHostname,
    Ipv4,
    Ipv6,
    Iri,
    IriReference,
    JsonPointer,
    Regex,
    RelativeJsonPointer,
    Time,
    Uri,
    UriReference,
    UriTemplate,
    Uuid,
}

/// Texts of a format: those of an automaton that have so many characters.
#[derive(Clone, Debug)]
pub(super) struct Texts {
    pub(super) dfa: Arc<Dfa>,
    pub(super) length: Count,
}

/// All formats, sorted by name.
const FORMATS: [(&str, Format); 19] = [
    ("date", Format::Date),
    ("date-time", Format::DateTime),
    ("duration", Format::Duration),
    ("email", Format::Email),
    ("hostname", Format::Hostname),
    ("idn-email", Format::IdnEmail),
    ("idn-hostname", Format::IdnHostname),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("iri", Format::Iri),
    ("iri-reference", Format::IriReference),
    ("json-pointer", Format::JsonPointer),
    ("regex", Format::Regex),
    ("relative-json-pointer", Format::RelativeJsonPointer),
    ("time", Format::Time),
    ("uri", Format::Uri),
    ("uri-reference", Format::UriReference),
    ("uri-template", Format::UriTemplate),
    ("uuid", Format::Uuid),
];

impl Format {
    /// The format of this name. Any other name is an annotation.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let at = FORMATS.binary_search_by(|(format, _)| (*format).cmp(name)).ok()?;
        Some(FORMATS[at].1)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        FORMATS[self as usize].0
    }

    /// Every format, in the order of their names.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|&(_, format)| format)
    }

    /// What is enforced of it beyond or below the standard, for people; none when it is exact.
    pub(crate) fn restriction(self) -> Option<&'static str> {
        Some(match self {
            Self::Time | Self::DateTime => {
                "leap seconds only where the offset is a multiple of 15 minutes"
            }
            Self::Duration => "capital letters only",
            Self::Email => {
                "address literals only of IPv4 and IPv6, at most 31 characters in quotation marks"
            }
            Self::Hostname => "no label like `xn--…`",
            Self::IdnHostname | Self::IdnEmail => {
                "labels beyond ASCII have at most nine characters, of one common script"
            }
            Self::UriTemplate => "no operator that RFC 6570 reserves",
            Self::RelativeJsonPointer => "no index manipulation",
            Self::Regex => "groups at most three deep, no references to groups",
            _ => return None,
        })
    }

    /// The texts that surely have the format ([`Polarity::Holds`]), or those that possibly have it,
    /// so that all others surely do not ([`Polarity::Fails`]).
    pub(super) fn texts(self, polarity: Polarity) -> Texts {
        static SURE: [OnceLock<Texts>; FORMATS.len()] = [const { OnceLock::new() }; FORMATS.len()];
        static POSSIBLE: [OnceLock<Texts>; FORMATS.len()] =
            [const { OnceLock::new() }; FORMATS.len()];
        match polarity {
            Polarity::Holds => SURE[self as usize].get_or_init(|| self.sure()).clone(),
            Polarity::Fails => match self.possible() {
                None => self.texts(Polarity::Holds),
                Some(build) => POSSIBLE[self as usize].get_or_init(build).clone(),
            },
        }
    }

    fn sure(self) -> Texts {
        Texts::of(match self {
            Self::Date => time::date(),
            Self::DateTime => time::date_time(LeapSeconds::Known),
            Self::Duration => time::duration(),
            Self::Email => internet::email(),
            Self::Hostname => return internet::hostname(),
            Self::IdnEmail => idn::email(),
            Self::IdnHostname => return idn::hostname(),
            Self::Ipv4 => internet::ipv4(),
            Self::Ipv6 => internet::ipv6(),
            Self::Iri => resource::uri(Alphabet::Unicode),
            Self::IriReference => resource::reference(Alphabet::Unicode),
            Self::JsonPointer => resource::json_pointer(),
            Self::Regex => pattern::regex(),
            Self::RelativeJsonPointer => resource::relative_json_pointer(),
            Self::Time => time::time(LeapSeconds::Known),
            Self::Uri => resource::uri(Alphabet::Ascii),
            Self::UriReference => resource::reference(Alphabet::Ascii),
            Self::UriTemplate => resource::uri_template(""),
            Self::Uuid => internet::uuid(),
        })
    }

    /// What is possibly valid, where that is more than what surely is.
    fn possible(self) -> Option<fn() -> Texts> {
        Some(match self {
            Self::DateTime => || Texts::of(time::date_time(LeapSeconds::Any)),
            Self::Time => || Texts::of(time::time(LeapSeconds::Any)),
            Self::Duration => || Texts::of(matching("(?i:[0-9PYMWDTHS]+)")),
            Self::Email => || Texts::of(matching(r"[\x20-\x7E]+@[\x20-\x7E]+")),
            Self::IdnEmail => || Texts::of(matching(r"[^]+@[^]+")),
            Self::Hostname => internet::possible_hostname,
            // Whatever begins with a dot or a hyphen has a label that is none.
            Self::IdnHostname => || Texts::of(matching(r"[^.\-][^]*")),
            Self::Regex => || Texts::of(matching(r"(?:[^*+?)][^]*)?")),
            Self::RelativeJsonPointer => || Texts::of(resource::possible_relative_json_pointer()),
            Self::UriTemplate => || Texts::of(resource::uri_template("=,!@|")),
            _ => return None,
        })
    }
}

impl Texts {
    fn of(dfa: Dfa) -> Self {
        Self { dfa: Arc::new(dfa), length: Count::default() }
    }
}

/// The canonical automaton of the texts that an ECMA-262 pattern of this module matches as a whole.
fn matching(pattern: &str) -> Dfa {
    let options = Options::default().with_dialect(Dialect::Ecma262);
    formwork_regex::language(pattern, &options, &Limits::default(), &mut Fuel::unlimited())
        .expect("the patterns of this module are well-formed")
}

/// Those of the first that are in the second, or are not.
fn combined(first: &Dfa, op: BooleanOp, second: &Dfa) -> Dfa {
    first.combine(second, op, &mut Fuel::unlimited()).expect("without a limit").canonical()
}

/// Words of the first followed by words of the second.
fn concatenated(first: &Dfa, second: &Dfa) -> Dfa {
    let both = automaton(
        |nfa, from, to| {
            let between = nfa.state()?;
            nfa.automaton(from, first, between)?;
            nfa.automaton(between, second, to)
        },
        &mut Fuel::unlimited(),
    );
    both.expect("without a limit")
}

#[cfg(test)]
mod tests;
