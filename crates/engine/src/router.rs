//! Which backend compiles a constraint, and why.
//!
//! A backend that is asked for by name compiles, or nobody does. Under `auto` each is asked to
//! [assess](formwork::StructuredOutputBackend::assess) the grammar; those that can do it are tried
//! in the order of their cost (see [`Profile`](crate::Profile)) until one succeeds. With tiers, the
//! one that everything starts on is tried first.

use crate::{BackendChoice, Backends, Demand, EngineError, Profile, registry::Registered};
use formwork::{
    Assessment, CancellationToken, CompileError, CompileRequest, CompiledGrammar, Estimate,
    Exhausted, Grammar, Limits, SharedBackend, Unsupported, Vocabulary,
};
use std::{fmt, sync::Arc, time::Duration};

/// What there is to route.
#[derive(Clone, Debug)]
pub(crate) struct Matter {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) limits: Limits,
    /// Bytes of the constraint's text.
    pub(crate) source_bytes: usize,
    pub(crate) demand: Demand,
}

/// Why a backend was chosen: every candidate in the order in which they were tried.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What was asked for.
    pub choice: BackendChoice,
    /// The backend that compiled, once one has.
    pub chosen: Option<Box<str>>,
    /// The candidates.
    pub candidates: Vec<Candidate>,
}

/// A backend under consideration.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its name.
    pub backend: Box<str>,
    /// The cost expected, where it has a profile and can do the grammar.
    pub cost: Option<Duration>,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of a backend under consideration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// It says that it cannot do the grammar.
    Unsupported(Unsupported),
    /// It could, but one before it did.
    NotTried,
    /// It was tried and failed.
    Failed(CompileError),
    /// It compiled.
    Chosen,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = String::from(self.choice.clone());
        match &self.chosen {
            Some(chosen) => write!(f, "`{chosen}` (asked for: `{asked}`)")?,
            None => write!(f, "none (asked for: `{asked}`)")?,
        }
        for Candidate { backend, cost, verdict } in &self.candidates {
            write!(f, "\n  {backend}: ")?;
            if let Some(cost) = cost {
                write!(f, "about {cost:.1?} expected; ")?;
            }
            match verdict {
                Verdict::Unsupported(reason) => write!(f, "{reason}")?,
                Verdict::NotTried => f.write_str("not needed")?,
                Verdict::Failed(error) => write!(f, "tried: {error}")?,
                Verdict::Chosen => f.write_str("chosen")?,
            }
        }
        Ok(())
    }
}

impl Profile {
    /// What a constraint costs over all its requests.
    #[must_use]
    pub fn cost(&self, source_bytes: usize, estimate: Estimate, demand: Demand) -> Duration {
        let times = |each: Duration, count: u64| {
            let nanos = u128::from(count).saturating_mul(each.as_nanos());
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let compile = match estimate.states {
            Some(states) => times(self.compile_state, states as u64),
            None => times(self.compile_byte, source_bytes as u64),
        };
        let visits = times(self.first_visit.saturating_sub(self.step), demand.tokens);
        let steps = times(self.step, demand.tokens.saturating_mul(demand.uses));
        self.compile.saturating_add(compile).saturating_add(visits).saturating_add(steps)
    }
}

/// A backend that may be tried, under these limits.
#[derive(Debug)]
struct Attempt {
    backend: SharedBackend,
    limits: Limits,
    /// Where the explanation tells of it.
    candidate: usize,
}

/// What is to be tried, in order, and the explanation so far.
#[derive(Debug)]
pub(crate) struct Route {
    attempts: Vec<Attempt>,
    explanation: Explanation,
}

impl Route {
    /// The way to a backend asked for by name.
    pub(crate) fn named(
        backends: &Backends,
        name: &str,
        matter: &Matter,
    ) -> Result<Self, EngineError> {
        let backend = backends.backend(name)?.clone();
        let candidate = Candidate { backend: name.into(), cost: None, verdict: Verdict::NotTried };
        Ok(Self {
            attempts: vec![Attempt { backend, limits: matter.limits.clone(), candidate: 0 }],
            explanation: Explanation {
                choice: BackendChoice::Named(name.to_owned()),
                chosen: None,
                candidates: vec![candidate],
            },
        })
    }

    /// The way by cost; `first`, where it can do the grammar, comes before all others.
    pub(crate) fn auto(backends: &Backends, first: Option<&str>, matter: &Matter) -> Self {
        let mut ranked: Vec<(Candidate, Attempt)> =
            backends.entries().iter().map(|entry| assess(entry, matter)).collect();
        // Stable: without a profile in the order of registration, last; the refused after all.
        ranked.sort_by_key(|(candidate, _)| {
            let refused = matches!(candidate.verdict, Verdict::Unsupported(_));
            let first = !refused && first == Some(&*candidate.backend);
            (refused, !first, candidate.cost.is_none(), candidate.cost)
        });
        let mut route = Self {
            attempts: Vec::new(),
            explanation: Explanation {
                choice: BackendChoice::Auto,
                chosen: None,
                candidates: Vec::new(),
            },
        };
        for (index, (candidate, attempt)) in ranked.into_iter().enumerate() {
            if matches!(candidate.verdict, Verdict::NotTried) {
                route.attempts.push(Attempt { candidate: index, ..attempt });
            }
            route.explanation.candidates.push(candidate);
        }
        route
    }

    /// Only what is expected to cost less than this backend, and that backend itself not.
    pub(crate) fn better_than(mut self, name: &str) -> Self {
        let at = self.attempts.iter().position(|attempt| attempt.backend.name() == name);
        self.attempts.truncate(at.unwrap_or(self.attempts.len()));
        self
    }

    /// Tries one after the other.
    ///
    /// A backend that was asked for by name gives its own error. Under `auto`, what is a matter of
    /// the grammar or of the caller ends the search, and what is a matter of the backend does not.
    pub(crate) fn compile(
        mut self,
        matter: &Matter,
        cancellation: &CancellationToken,
    ) -> Result<(Arc<dyn CompiledGrammar>, Explanation), EngineError> {
        let by_name = matches!(self.explanation.choice, BackendChoice::Named(_));
        for attempt in &self.attempts {
            let request = CompileRequest {
                grammar: matter.grammar.clone(),
                vocabulary: matter.vocabulary.clone(),
                limits: attempt.limits.clone(),
                cancellation: cancellation.clone(),
            };
            let candidate = &mut self.explanation.candidates[attempt.candidate];
            match attempt.backend.compile_blocking(&request) {
                Ok(compiled) => {
                    candidate.verdict = Verdict::Chosen;
                    self.explanation.chosen = Some(attempt.backend.name().into());
                    return Ok((compiled, self.explanation));
                }
                Err(error) if by_name || !is_backends(&error) => return Err(error.into()),
                Err(error) => candidate.verdict = Verdict::Failed(error),
            }
        }
        Err(EngineError::NoBackend { explanation: Arc::new(self.explanation) })
    }
}

/// Whether another backend, or the same with other limits, may do better.
fn is_backends(error: &CompileError) -> bool {
    matches!(
        error,
        CompileError::Unsupported(_)
            | CompileError::Exhausted(Exhausted::States { .. } | Exhausted::Steps { .. })
    )
}

fn assess(entry: &Registered, matter: &Matter) -> (Candidate, Attempt) {
    let mut limits = matter.limits.clone();
    if let Some(profile) = entry.profile {
        limits.automaton_states = limits.automaton_states.min(profile.states);
    }
    let assessment = entry.backend.assess(&matter.grammar, &matter.vocabulary, &limits);
    let (cost, verdict) = match assessment {
        Assessment::Unsupported(reason) => (None, Verdict::Unsupported(reason)),
        Assessment::Supported(estimate) => {
            let cost =
                entry.profile.map(|it| it.cost(matter.source_bytes, estimate, matter.demand));
            (cost, Verdict::NotTried)
        }
    };
    let candidate = Candidate { backend: entry.backend.name().into(), cost, verdict };
    (candidate, Attempt { backend: entry.backend.clone(), limits, candidate: 0 })
}

#[cfg(test)]
mod tests;
