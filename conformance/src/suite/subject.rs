//! A matcher under test beside the oracle's, and the ways to compare them.

use super::report::{Allowed, Discrepancy, Law, Violation};
use crate::oracle::{OracleError, OracleMatcher};
use formwork_core::{
    CompiledGrammar, Filled, RowId, StartOptions, StepError, StructuredOutputGrammar,
};
use formwork_mask::{RowMut, words_for};
use formwork_vocab::{TokenId, Vocabulary};
use rustc_hash::FxHashMap;
use std::{collections::BTreeMap, sync::Arc};

/// Why a case was not checked to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// A law is broken.
    Broken(Violation),
    /// The oracle has no answer.
    NoAnswer,
}

impl From<OracleError> for Stop {
    fn from(_: OracleError) -> Self {
        Self::NoAnswer
    }
}

/// What was counted on the way.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) checks: BTreeMap<Law, u64>,
    pub(super) short_forced_bytes: u64,
}

/// A matcher, the oracle's, and all rows seen so far by their identities.
#[derive(Debug)]
pub(super) struct Subject<'c> {
    pub(super) compiled: Arc<dyn CompiledGrammar>,
    pub(super) options: StartOptions,
    pub(super) matcher: Box<dyn StructuredOutputGrammar>,
    pub(super) oracle: OracleMatcher,
    /// Tokens processed so far.
    pub(super) tokens: Vec<TokenId>,
    /// Whether forced bytes must be the longest.
    pub(super) forced_bytes_are_exact: bool,
    pub(super) rows: FxHashMap<RowId, Vec<i32>>,
    pub(super) counts: &'c mut Counts,
}

/// What a row holds before it is written.
pub(super) const GARBAGE: [i32; 3] = [0, -1, 0x5a5a_5a5a];

impl Subject<'_> {
    pub(super) fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.compiled.vocabulary()
    }

    pub(super) fn model_len(&self) -> usize {
        self.vocabulary().model_len()
    }

    /// Says that a law was checked, and what came of it.
    pub(super) fn check(
        &mut self,
        law: Law,
        holds: bool,
        discrepancy: impl FnOnce() -> Discrepancy,
    ) -> Result<(), Stop> {
        *self.counts.checks.entry(law).or_default() += 1;
        if holds { Ok(()) } else { Err(self.broken(law, discrepancy())) }
    }

    pub(super) fn broken(&self, law: Law, discrepancy: Discrepancy) -> Stop {
        Stop::Broken(Violation { law, after: self.tokens.clone(), discrepancy })
    }

    pub(super) fn blank_row(&self, word: i32) -> Vec<i32> {
        vec![word; words_for(self.model_len())]
    }

    /// The row that the oracle says.
    pub(super) fn expected_row(&self) -> Vec<i32> {
        if self.oracle.is_terminated() {
            return self.blank_row(-1);
        }
        let mut words = self.blank_row(0);
        let mut row = RowMut::new(&mut words, self.model_len());
        for token in self.oracle.allowed() {
            row.set(token.index());
        }
        words
    }

    /// Fills a row of the matcher under test.
    pub(super) fn fill(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, Stop> {
        let filled = self.matcher.fill_bitmask(row, held);
        filled.map_err(|error: StepError| self.broken(Law::Mask, Discrepancy::Step(error)))
    }

    /// The matcher's row is `expected`; otherwise `law` is broken.
    pub(super) fn check_row(&mut self, law: Law, expected: &[i32]) -> Result<RowId, Stop> {
        let mut row = self.blank_row(0);
        let id = self.fill(&mut row, RowId::NONE)?.row(RowId::NONE);
        self.check(law, row == expected, || difference(expected, &row))?;
        Ok(id)
    }

    /// A row that some other matcher of the same grammar fills.
    pub(super) fn check_row_of(
        &mut self,
        law: Law,
        other: &mut dyn StructuredOutputGrammar,
        expected: &[i32],
    ) -> Result<(), Stop> {
        let mut row = self.blank_row(0);
        if let Err(error) = other.fill_bitmask(&mut row, RowId::NONE) {
            return Err(self.broken(law, Discrepancy::Step(error)));
        }
        self.check(law, row == expected, || difference(expected, &row))
    }

    /// What an identity stands for, as far as it is known.
    pub(super) fn known_row(&self, id: RowId) -> Option<Vec<i32>> {
        match id {
            RowId::ZEROS => Some(self.blank_row(0)),
            RowId::UNCONSTRAINED => Some(self.blank_row(-1)),
            _ => self.rows.get(&id).cloned(),
        }
    }
}

/// The first difference between two rows.
pub(super) fn difference(expected: &[i32], found: &[i32]) -> Discrepancy {
    let differs = |(word, (expected, found)): (usize, (&i32, &i32))| {
        let bits = (expected ^ found).cast_unsigned();
        (bits != 0).then(|| (word, bits.trailing_zeros(), *expected))
    };
    let first = expected.iter().zip(found).enumerate().find_map(differs);
    let Some((word, bit, expected)) = first else { return Discrepancy::Padding };
    let token = u32::try_from(word * formwork_mask::WORD_BITS).expect("ids are u32") + bit;
    let allowed = expected.cast_unsigned() >> bit & 1 == 1;
    let expected = if allowed { Allowed::Yes } else { Allowed::No };
    Discrepancy::Token { token: TokenId::new(token), expected }
}
