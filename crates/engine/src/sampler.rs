//! Sampling, for engines without a sampler of their own.
//!
//! In this order: repetition penalty, mask, temperature, top-k, top-p, min-p, draw. The mask comes
//! before every filter, so that a filter never leaves only tokens that are not allowed.
//!
//! [`Sampler::sample_request`] makes a mask only where it must. Greedy: when the most likely token
//! of all is allowed, it is the most likely of those allowed. Drawing without filters: when the token
//! drawn from all is allowed it stands, otherwise one is drawn from those allowed; with `a` the
//! probability of all allowed tokens, one of probability `p` then comes out with
//! `p + (1 - a) * p / a = p / a`, which is its share of the allowed. With filters neither holds, and
//! the mask is made first.

use crate::{Request, RequestError};
use formwork::{RowId, TokenId};
use serde::{Deserialize, Serialize};

/// How to sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// What logits are divided by; 0 takes the most likely token. Default 1.
    pub temperature: f32,
    /// Only so many of the most likely tokens; 0, the default, for all.
    pub top_k: usize,
    /// Only the most likely tokens that together reach this probability. Default 1: all.
    pub top_p: f32,
    /// Only tokens of at least this part of the greatest probability. Default 0: all.
    pub min_p: f32,
    /// What positive logits of tokens that were there already are divided by, and negative ones
    /// multiplied with. Default 1: nothing.
    pub repetition_penalty: f32,
    /// Where the random numbers begin.
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            seed: 0,
        }
    }
}

impl Sampling {
    /// The most likely token.
    #[must_use]
    pub fn greedy() -> Self {
        Self { temperature: 0.0, ..Self::default() }
    }

    fn is_greedy(&self) -> bool {
        self.temperature <= 0.0
    }

    fn has_filters(&self) -> bool {
        self.top_k > 0 || self.top_p < 1.0 || self.min_p > 0.0
    }
}

/// Samples tokens for one sequence. Allocates only until its buffers are as long as a vocabulary.
#[derive(Clone, Debug)]
pub struct Sampler {
    sampling: Sampling,
    random: SplitMix,
    candidates: Vec<Candidate>,
    row: Vec<i32>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    token: u32,
    /// The logit, later the weight.
    weight: f32,
}

impl Sampler {
    /// A sampler at the beginning of its random numbers.
    #[must_use]
    pub fn new(sampling: Sampling) -> Self {
        let random = SplitMix(sampling.seed);
        Self { sampling, random, candidates: Vec::new(), row: Vec::new() }
    }

    /// A token from the logits, of those that the row allows where there is one; `None` when there
    /// is no such token with a finite logit. `before` are the tokens that the penalty is for.
    pub fn sample(
        &mut self,
        logits: &[f32],
        row: Option<&[i32]>,
        before: &[TokenId],
    ) -> Option<TokenId> {
        self.collect(logits, row, before);
        match self.sampling.is_greedy() {
            true => self.most_likely(),
            false => self.draw(),
        }
    }

    /// The same for a request in its present state, whose row is made only where it must be. The
    /// token is not taken yet.
    ///
    /// # Errors
    /// [`RequestError`] when the request cannot go on.
    pub fn sample_request(
        &mut self,
        logits: &[f32],
        request: &mut Request,
        before: &[TokenId],
    ) -> Result<Option<TokenId>, RequestError> {
        if self.sampling.is_greedy() || !self.sampling.has_filters() {
            match self.sample(logits, None, before) {
                Some(token) if !request.check_token(token)? => {}
                other => return Ok(other),
            }
        }
        let mut row = std::mem::take(&mut self.row);
        row.resize(request.engine.vocabulary.row_words(), 0);
        let token = match request.fill(&mut row, RowId::NONE) {
            Ok(_) => Ok(self.sample(logits, Some(&row), before)),
            Err(error) => Err(error),
        };
        self.row = row;
        token
    }

    /// The tokens in question, ascending, with their logits.
    fn collect(&mut self, logits: &[f32], row: Option<&[i32]>, before: &[TokenId]) {
        self.candidates.clear();
        let allowed = |token: usize| match row {
            None => true,
            Some(row) => row.get(token / 32).is_some_and(|word| word >> (token % 32) & 1 == 1),
        };
        let finite = |weight: f32| !weight.is_nan() && weight > f32::NEG_INFINITY;
        let known = (0..).zip(logits.iter().copied());
        let known = known.filter(|&(token, weight)| finite(weight) && allowed(token as usize));
        self.candidates.extend(known.map(|(token, weight)| Candidate { token, weight }));
        let penalty = self.sampling.repetition_penalty;
        if penalty == 1.0 {
            return;
        }
        let mut tokens: Vec<u32> = before.iter().map(|token| token.as_u32()).collect();
        tokens.sort_unstable();
        tokens.dedup();
        for token in tokens {
            let found = self.candidates.binary_search_by_key(&token, |it| it.token);
            if let Ok(at) = found {
                let weight = &mut self.candidates[at].weight;
                *weight = if *weight > 0.0 { *weight / penalty } else { *weight * penalty };
            }
        }
    }

    /// The first of the most likely.
    fn most_likely(&self) -> Option<TokenId> {
        let better = |best: Candidate, next: &Candidate| {
            if next.weight > best.weight { *next } else { best }
        };
        let (first, rest) = self.candidates.split_first()?;
        Some(TokenId::new(rest.iter().fold(*first, better).token))
    }

    /// Turns logits into weights, filters, draws.
    fn draw(&mut self) -> Option<TokenId> {
        let Sampling { temperature, top_k, top_p, min_p, .. } = self.sampling;
        let candidates = &mut self.candidates;
        let by_weight = |one: &Candidate, other: &Candidate| {
            other.weight.total_cmp(&one.weight).then(one.token.cmp(&other.token))
        };
        if top_k > 0 && top_k < candidates.len() {
            candidates.select_nth_unstable_by(top_k - 1, by_weight);
            candidates.truncate(top_k);
        }
        let greatest = candidates.iter().map(|it| it.weight).reduce(f32::max)?;
        for candidate in candidates.iter_mut() {
            // An infinite logit is certain.
            let above = candidate.weight - greatest;
            candidate.weight = if above.is_nan() { 1.0 } else { (above / temperature).exp() };
        }
        if top_p < 1.0 {
            candidates.sort_unstable_by(by_weight);
            let enough = f64::from(top_p.max(0.0)) * total(candidates);
            let mut sum = 0.0;
            let reached = candidates.iter().position(|it| {
                sum += f64::from(it.weight);
                sum >= enough
            });
            candidates.truncate(reached.map_or(candidates.len(), |at| at + 1));
        }
        if min_p > 0.0 {
            // The greatest weight is 1, and stays whatever is asked for.
            let least = min_p.min(1.0);
            candidates.retain(|it| it.weight >= least);
        }
        let mut left = self.random.unit() * total(candidates);
        let drawn = candidates.iter().find(|it| {
            left -= f64::from(it.weight);
            left < 0.0
        });
        drawn.or(candidates.last()).map(|it| TokenId::new(it.token))
    }
}

fn total(candidates: &[Candidate]) -> f64 {
    candidates.iter().map(|it| f64::from(it.weight)).sum()
}

/// Random numbers by Steele, Lea and Flood (2014): the same everywhere and for ever.
#[derive(Clone, Copy, Debug)]
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// At least 0, less than 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests;
