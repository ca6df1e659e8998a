//! The oracle: slow, plain, and complete. It executes every construct of the grammar
//! representation and says exactly which tokens may come next.
//!
//! # Idea
//! Each construct is a little machine (`program`); look-aheads, token limits and the spelling of
//! bytes by tokens ride along in a *monitor* (`monitor`, `spelling`). The prefix read so far is a
//! chart (`chart`); what can still be completed is a least fixpoint (`futures`). Nothing is
//! optimised that would have to be believed.
//!
//! # Exactness
//! A token is allowed exactly when one of its readings leaves a prefix that emittable tokens of
//! this vocabulary can complete. One case may stay open: distinct keys of a large language together
//! with token limits, look-aheads or a vocabulary that lacks bytes. Then two bounds are computed,
//! and [`OracleError::Undecided`] says that they differ.
//!
//! # Reading order
//! `program`, `permute`, `operands`, `spelling`, `monitor`, `chart`, `futures`, this file,
//! `matcher` (stop ids and ends).

mod chart;
mod error;
mod futures;
mod matcher;
mod monitor;
mod operands;
mod permute;
mod program;
mod spelling;
#[cfg(test)]
mod tests;
mod trie;

pub use error::OracleError;
pub use matcher::OracleMatcher;
pub(crate) use program::tokens_of;

use chart::{Chart, Item, after_end, after_possible_end, root_item};
use formwork_automata::Fuel;
use formwork_grammar::{Grammar, Limits};
use formwork_vocab::{TokenId, Vocabulary};
use futures::{Bound, Futures, Ground, Steps};
use monitor::{Monitors, Reading};
use program::Program;
use rustc_hash::FxHashMap;
use spelling::{Counting, Spelling};
use std::{collections::BTreeSet, fmt, sync::Arc};
use trie::Trie;

/// What the oracle may spend.
#[derive(Clone, Debug)]
pub struct OracleLimits {
    /// Limits on the grammar and on the automata of operands.
    pub grammar: Limits,
    /// Elementary steps over the oracle's life, about a million a second. Default 200,000,000.
    pub steps: u64,
}

impl Default for OracleLimits {
    fn default() -> Self {
        Self { grammar: Limits::default(), steps: 200_000_000 }
    }
}

/// The oracle of one grammar and vocabulary. It remembers what it has worked out.
pub struct Oracle {
    vocabulary: Arc<Vocabulary>,
    trie: Trie,
    program: Program,
    monitors: Monitors,
    above: Futures,
    /// Only where the two bounds can differ.
    below: Option<Futures>,
    counting: Counting,
    steps: Steps,
}

impl fmt::Debug for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.steps.taken;
        f.debug_struct("Oracle").field("steps", &steps).finish_non_exhaustive()
    }
}

/// What was read so far. Belongs to the oracle that made it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Prefix {
    chart: Chart,
}

impl Prefix {
    /// Whether it is a sequence of the language.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.chart.last().is_complete()
    }
}

impl Oracle {
    /// The oracle of a grammar.
    ///
    /// # Errors
    /// What is wrong with the grammar, or a limit.
    pub fn new(
        grammar: &Grammar,
        vocabulary: Arc<Vocabulary>,
        limits: &OracleLimits,
    ) -> Result<Self, OracleError> {
        let mut fuel = Fuel::new(limits.grammar.automaton_states, limits.grammar.automaton_steps);
        let mut program = Program::new(grammar, &vocabulary, &limits.grammar, &mut fuel)?;
        let counting = match program.counts_tokens() {
            true => Counting::Tokens,
            false => Counting::Nothing,
        };
        let spelling = Spelling::new(&vocabulary, counting);
        let monitors = Monitors::new(std::mem::take(&mut program.looks), spelling);
        let below = program.has_many_keys().then(|| Futures::new(Bound::Below));
        Ok(Self {
            trie: Trie::new(&vocabulary),
            vocabulary,
            program,
            monitors,
            above: Futures::new(Bound::Above),
            below,
            counting,
            steps: Steps { taken: 0, limit: limits.steps },
        })
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The empty prefix, or the prefix of bytes that a prompt has fixed.
    ///
    /// # Errors
    /// [`OracleError::Unsatisfiable`], [`OracleError::FixedBytes`], or no answer.
    pub fn start(&mut self, fixed: &[u8]) -> Result<Prefix, OracleError> {
        let kernel = [root_item(&self.program)];
        let chart = Chart::start(&mut self.ground())?;
        if !self.can_go_on(&chart, &kernel)? {
            return Err(OracleError::Unsatisfiable);
        }
        if fixed.is_empty() {
            return Ok(Prefix { chart });
        }
        let refused = || OracleError::FixedBytes { offset: None };
        let read = self.read_token(&chart, fixed)?;
        let accepted = match &read {
            Some((chart, kernel)) => self.can_go_on(chart, kernel)?,
            None => false,
        };
        match read {
            Some((mut chart, kernel)) if accepted => {
                chart.push(&mut self.ground(), &kernel)?;
                Ok(Prefix { chart })
            }
            _ if self.counting == Counting::Nothing && self.vocabulary.is_byte_complete() => {
                let offset = Some(self.refused_byte(&chart, fixed)?);
                Err(OracleError::FixedBytes { offset })
            }
            _ => Err(refused()),
        }
    }

    /// The offset of the first byte that leads nowhere.
    fn refused_byte(&mut self, chart: &Chart, bytes: &[u8]) -> Result<usize, OracleError> {
        for end in 1..=bytes.len() {
            let goes_on = match self.read_token(chart, &bytes[..end])? {
                Some((chart, kernel)) => self.can_go_on(&chart, &kernel)?,
                None => false,
            };
            if !goes_on {
                return Ok(end - 1);
            }
        }
        Ok(bytes.len())
    }

    /// The tokens that may come next, stop ids apart, ascending.
    ///
    /// # Errors
    /// No answer.
    pub fn allowed(&mut self, prefix: &Prefix) -> Result<Vec<TokenId>, OracleError> {
        let mut allowed = BTreeSet::new();
        self.allowed_by_bytes(prefix, &mut allowed)?;
        self.allowed_by_symbol(prefix, &mut allowed)?;
        Ok(allowed.into_iter().collect())
    }

    /// Walks the trie of the vocabulary with the chart as a stack.
    fn allowed_by_bytes(
        &mut self,
        prefix: &Prefix,
        allowed: &mut BTreeSet<TokenId>,
    ) -> Result<(), OracleError> {
        let mut chart = prefix.chart.clone();
        // Nodes on the path, each with how many of its children were tried.
        let mut path = vec![(Trie::ROOT, 0)];
        while let Some((node, tried)) = path.last_mut() {
            let Some(&(byte, child)) = self.trie.children(*node).get(*tried) else {
                path.pop();
                chart.pop();
                continue;
            };
            *tried += 1;
            if !chart.last().bytes().contains(byte) {
                continue;
            }
            let kernel = chart.after_byte(&mut self.ground(), byte, Reading::Known);
            if kernel.is_empty() {
                continue;
            }
            if !self.trie.tokens(child).is_empty() {
                let ended = after_end(&mut self.ground(), &kernel);
                if self.can_go_on(&chart, &ended)? {
                    allowed.extend(self.trie.tokens(child));
                }
            }
            if !self.trie.children(child).is_empty() {
                chart.push(&mut self.ground(), &kernel)?;
                path.push((child, 0));
            }
        }
        Ok(())
    }

    fn allowed_by_symbol(
        &mut self,
        prefix: &Prefix,
        allowed: &mut BTreeSet<TokenId>,
    ) -> Result<(), OracleError> {
        // Most tokens of a large set lead to the same items.
        let mut known: FxHashMap<Vec<Item>, bool> = FxHashMap::default();
        for token in prefix.chart.last().symbols(&self.program) {
            let kernel = prefix.chart.after_symbol(&mut self.ground(), token);
            let goes_on = match known.get(&kernel) {
                Some(&goes_on) => goes_on,
                None => self.can_go_on(&prefix.chart, &kernel)?,
            };
            known.insert(kernel, goes_on);
            if goes_on {
                allowed.insert(token);
            }
        }
        Ok(())
    }

    /// The prefix after one more token, if the token may come next.
    ///
    /// # Errors
    /// No answer.
    pub fn step(&mut self, prefix: &Prefix, token: TokenId) -> Result<Option<Prefix>, OracleError> {
        if !self.vocabulary.is_emittable(token) {
            return Ok(None);
        }
        let vocabulary = self.vocabulary.clone();
        let by_bytes = match vocabulary.bytes(token) {
            Some(bytes) => self.read_token(&prefix.chart, bytes)?,
            None => None,
        };
        // Items refer to earlier positions only, so both readings can share the longer chart.
        let (mut chart, mut kernel) = by_bytes.unwrap_or((prefix.chart.clone(), Vec::new()));
        kernel.extend(prefix.chart.after_symbol(&mut self.ground(), token));
        if !self.can_go_on(&chart, &kernel)? {
            return Ok(None);
        }
        chart.push(&mut self.ground(), &kernel)?;
        Ok(Some(Prefix { chart }))
    }

    /// The chart before the last byte of a token, and the items after its end; `None` when a byte
    /// cannot be read. `bytes` is not empty.
    fn read_token(
        &mut self,
        chart: &Chart,
        bytes: &[u8],
    ) -> Result<Option<(Chart, Vec<Item>)>, OracleError> {
        let mut chart = chart.clone();
        let Some((&last, init)) = bytes.split_last() else { return Ok(None) };
        for &byte in init {
            let kernel = chart.after_byte(&mut self.ground(), byte, Reading::Known);
            if kernel.is_empty() {
                return Ok(None);
            }
            chart.push(&mut self.ground(), &kernel)?;
        }
        let kernel = chart.after_byte(&mut self.ground(), last, Reading::Known);
        let kernel = after_end(&mut self.ground(), &kernel);
        Ok((!kernel.is_empty()).then_some((chart, kernel)))
    }

    /// The longest byte string, up to `limit` bytes, that every completion begins with; empty when
    /// the prefix is complete.
    ///
    /// # Errors
    /// No answer.
    pub fn forced_bytes(&mut self, prefix: &Prefix, limit: usize) -> Result<Vec<u8>, OracleError> {
        let mut chart = prefix.chart.clone();
        let mut forced = Vec::new();
        while forced.len() < limit && !chart.last().is_complete() {
            for token in chart.last().symbols(&self.program) {
                let kernel = chart.after_symbol(&mut self.ground(), token);
                if self.can_go_on(&chart, &kernel)? {
                    return Ok(forced);
                }
            }
            let mut next = None;
            for byte in chart.last().bytes().iter() {
                let mut kernel = chart.after_byte(&mut self.ground(), byte, Reading::Free);
                kernel.extend(after_possible_end(&mut self.ground(), &kernel));
                if self.can_go_on(&chart, &kernel)? {
                    if next.is_some() {
                        return Ok(forced);
                    }
                    next = Some((byte, kernel));
                }
            }
            let Some((byte, kernel)) = next else { break };
            forced.push(byte);
            chart.push(&mut self.ground(), &kernel)?;
        }
        Ok(forced)
    }

    fn ground(&mut self) -> Ground<'_> {
        Ground { program: &mut self.program, monitors: &mut self.monitors, steps: &mut self.steps }
    }

    /// Whether items between two tokens can go on to a complete output.
    fn can_go_on(&mut self, chart: &Chart, kernel: &[Item]) -> Result<bool, OracleError> {
        let mut ground = Ground {
            program: &mut self.program,
            monitors: &mut self.monitors,
            steps: &mut self.steps,
        };
        if !chart.can_go_on(&mut ground, &mut self.above, kernel)? {
            return Ok(false);
        }
        if let Some(below) = &mut self.below
            && !chart.can_go_on(&mut ground, below, kernel)?
        {
            return Err(OracleError::Undecided { why: "distinct keys may run out" });
        }
        Ok(true)
    }
}
