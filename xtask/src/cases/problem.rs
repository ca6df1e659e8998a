//! What makes a run fail.

use super::{
    corpus::Case,
    counts::{Counts, RowKey},
    judge::{Judged, Outcome, Why},
};

/// Why a run fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    /// A case panicked.
    #[error("{source_name}: {text}")]
    Panicked {
        /// Where the case comes from.
        source_name: String,
        /// What the panic said, and where.
        text: String,
    },
    /// Counts are worse than they were.
    #[error("{key}: worse than the baseline: {}", changes(.was, .is))]
    Worse {
        /// Which.
        key: RowKey,
        /// The baseline's counts.
        was: Box<Counts>,
        /// This run's counts.
        is: Box<Counts>,
    },
    /// The baseline is about other cases.
    #[error(
        "{key}: {is} cases, {was} in the baseline: strike its row, and the next --write-baseline \
         writes it anew"
    )]
    OtherCases {
        /// Which.
        key: RowKey,
        /// How many the baseline has.
        was: usize,
        /// How many there are.
        is: usize,
    },
    /// A skip that no case needs.
    #[error("skip {number} is stale: {stale}: strike it")]
    StaleSkip {
        /// Which one, from 1.
        number: usize,
        /// In what way.
        stale: Stale,
    },
    /// More skips than a corpus may have.
    #[error("{corpus}: {skipped} of {cases} cases are listed as skipped, at most 1% may be")]
    TooManySkips {
        /// The source.
        corpus: String,
        /// Its cases that a skip excuses.
        skipped: usize,
        /// All its cases.
        cases: usize,
    },
}

/// In what way a skip is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Stale {
    /// There is no such case.
    #[error("it matches no case")]
    MatchesNothing,
    /// There are such cases.
    #[error("the cases it matches are right, or not run, without it")]
    ExcusesNothing,
}

/// A panic is a problem in any run.
pub(super) fn panics(cases: &[&Case], judged: &[Judged]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (case, judged) in cases.iter().zip(judged) {
        if let (Outcome::Panicked, Why::Text(text)) = (judged.outcome, &judged.why) {
            problems
                .push(Problem::Panicked { source_name: case.source.clone(), text: text.clone() });
        }
    }
    problems
}

fn changes(was: &Counts, is: &Counts) -> String {
    let numbers = [
        ("right", was.right, is.right),
        ("wrongly accepted", was.wrongly_accepted, is.wrongly_accepted),
        ("wrongly refused", was.wrongly_refused, is.wrongly_refused),
        ("refused to compile", was.refused_to_compile, is.refused_to_compile),
        ("skipped", was.skipped, is.skipped),
        ("right among those that agree", was.agree_right, is.agree_right),
    ];
    let changed = numbers.iter().filter(|(_, was, is)| was != is);
    let changed: Vec<String> =
        changed.map(|(name, was, is)| format!("{name} {is} (was {was})")).collect();
    changed.join(", ")
}
