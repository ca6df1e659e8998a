//! Cases that we mean to differ on, each with its reason: `skips.toml`.

use super::{
    corpus::{Case, Corpora},
    judge::{Judged, Outcome, Why},
    problem::{Problem, Stale},
};
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::{fs, path::Path};

/// The list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Skips {
    #[serde(default)]
    skip: Vec<Skip>,
}

/// An entry: cases of a source and a front end, by a tag or one by its digest.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Skip {
    pub(super) source: String,
    pub(super) frontend: String,
    #[serde(flatten)]
    matcher: Matcher,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Matcher {
    /// Cases with this tag.
    Tag(String),
    /// Cases whose digest begins with these hexadecimal digits.
    Case(String),
}

/// How many digits of a digest are enough.
const DIGITS: usize = 8;
/// One case in so many may be excused.
const SHARE: usize = 100;

impl Skips {
    /// Reads the list.
    ///
    /// # Errors
    /// When it cannot be read, or an entry has no reason or too few digits.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let skips: Self = toml::from_str(text)?;
        for (index, skip) in skips.skip.iter().enumerate() {
            let number = index + 1;
            ensure!(!skip.reason.trim().is_empty(), "skip {number} has no reason");
            if let Matcher::Case(digits) = &skip.matcher {
                ensure!(digits.len() >= DIGITS, "skip {number} has fewer than {DIGITS} digits");
            }
        }
        Ok(skips)
    }

    /// Turns wrong cases that an entry matches into skipped ones; the first entry that does counts.
    /// Panics are never excused. Entries that `covered` says this run is about must excuse a case.
    pub(super) fn apply(
        &self,
        cases: &[&Case],
        judged: &mut [Judged],
        covered: impl Fn(&Skip) -> bool,
    ) -> Vec<Problem> {
        let mut stale = vec![Some(Stale::MatchesNothing); self.skip.len()];
        for (case, judged) in cases.iter().zip(judged) {
            for (index, skip) in self.skip.iter().enumerate() {
                if !skip.matches(case) {
                    continue;
                }
                if judged.outcome.is_wrong() {
                    *judged = Judged { outcome: Outcome::Skipped, why: Why::Skip(index) };
                }
                if judged.why == Why::Skip(index) {
                    stale[index] = None;
                } else if stale[index].is_some() {
                    stale[index] = Some(Stale::ExcusesNothing);
                }
            }
        }
        let entries = self.skip.iter().zip(stale).enumerate();
        entries
            .filter(|(_, (skip, _))| covered(skip))
            .filter_map(|(index, (_, stale))| {
                Some(Problem::StaleSkip { number: index + 1, stale: stale? })
            })
            .collect()
    }
}

impl Skip {
    fn matches(&self, case: &Case) -> bool {
        self.source == case.corpus()
            && self.frontend == case.frontend
            && match &self.matcher {
                Matcher::Tag(tag) => case.tags.contains(tag),
                Matcher::Case(digits) => case.digest().starts_with(digits.as_str()),
            }
    }
}

impl Outcome {
    /// Whether a skip may excuse it.
    fn is_wrong(self) -> bool {
        matches!(self, Self::WronglyAccepted | Self::WronglyRefused | Self::RefusedToCompile)
    }
}

/// Sources of which more is excused than may be.
pub(super) fn too_many(corpora: &Corpora, cases: &[&Case], judged: &[Judged]) -> Vec<Problem> {
    let excused = |corpus: &str| {
        let pairs = cases.iter().zip(judged).filter(|(case, _)| case.corpus() == corpus);
        pairs.filter(|(_, judged)| matches!(judged.why, Why::Skip(_))).count()
    };
    let sizes = corpora.sizes().into_iter();
    sizes
        .map(|(corpus, cases)| (corpus, excused(corpus), cases))
        .filter(|&(_, skipped, cases)| skipped * SHARE > cases)
        .map(|(corpus, skipped, cases)| Problem::TooManySkips {
            corpus: corpus.to_owned(),
            skipped,
            cases,
        })
        .collect()
}
