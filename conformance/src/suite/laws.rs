//! The laws about one state: each method checks one of them and leaves the state as it was.

use super::{
    report::{Discrepancy, Law},
    subject::{GARBAGE, Stop, Subject},
};
use formwork_core::{DeltaForm, Filled, MaskDelta, RowId, StructuredOutputGrammar};
use formwork_mask::{Row, RowMut};
use formwork_vocab::TokenId;

impl Subject<'_> {
    /// Everything that can be said of the state at hand.
    pub(super) fn check_state(&mut self) -> Result<(), Stop> {
        let expected = self.expected_row();
        let id = self.check_row(Law::Mask, &expected)?;
        self.facts()?;
        self.whole_row(&expected, id)?;
        self.identity(&expected, id)?;
        self.delta(&expected, id)?;
        self.agreement(&expected)?;
        self.forced_bytes()?;
        self.facts()?;
        self.check_row(Law::Purity, &expected)?;
        Ok(())
    }

    fn facts(&mut self) -> Result<(), Stop> {
        let fact = |what, expected| move || Discrepancy::Fact { what, expected };
        let accepting = self.oracle.is_accepting();
        let found = self.matcher.is_accepting();
        self.check(Law::Accepting, found == accepting, fact("is_accepting", accepting))?;
        let terminated = self.oracle.is_terminated();
        let found = self.matcher.is_terminated();
        self.check(Law::Termination, found == terminated, fact("is_terminated", terminated))?;
        let (expected, found) = (self.tokens.len(), self.matcher.num_processed_tokens());
        let count = || Discrepancy::Count { what: "num_processed_tokens", expected, found };
        self.check(Law::ProcessedTokens, found == expected, count)?;
        let replay = self.matcher.processed_tokens() == self.tokens;
        self.check(Law::ProcessedTokens, replay, fact("processed_tokens replay", true))?;
        let stops = self.matcher.stop_ids() == self.oracle.stop_ids();
        self.check(Law::Termination, stops, fact("stop_ids are those asked for", true))
    }

    fn whole_row(&mut self, expected: &[i32], id: RowId) -> Result<(), Stop> {
        for garbage in GARBAGE {
            let mut row = self.blank_row(garbage);
            let filled = self.fill(&mut row, RowId::NONE)?;
            self.check(Law::WholeRow, row == expected, || {
                super::subject::difference(expected, &row)
            })?;
            let same = filled == Filled::Written(id);
            self.check(Law::Identity, same, || Discrepancy::Filled(filled))?;
        }
        Ok(())
    }

    fn identity(&mut self, expected: &[i32], id: RowId) -> Result<(), Stop> {
        if self.oracle.is_terminated() {
            let during = "after the end";
            let unconstrained = id == RowId::UNCONSTRAINED;
            self.check(Law::Identity, unconstrained, || Discrepancy::Identity { during, row: id })?;
        }
        if id != RowId::NONE {
            if let Some(known) = self.known_row(id) {
                let during = "an identity stood for another row";
                self.check(Law::Identity, known == expected, || Discrepancy::Identity {
                    during,
                    row: id,
                })?;
            }
            self.rows.insert(id, expected.to_vec());
            for garbage in GARBAGE {
                let mut row = self.blank_row(garbage);
                let filled = self.fill(&mut row, id)?;
                let untouched = filled == Filled::Unchanged && row == self.blank_row(garbage);
                self.check(Law::Identity, untouched, || Discrepancy::Filled(filled))?;
            }
        }
        let others: Vec<RowId> = self.rows.keys().copied().filter(|other| *other != id).collect();
        for held in others.into_iter().take(3) {
            let mut row = self.rows[&held].clone();
            let filled = self.fill(&mut row, held)?;
            let right = row == expected && filled.row(held) == id;
            self.check(Law::Identity, right, || Discrepancy::Filled(filled))?;
        }
        Ok(())
    }

    fn delta(&mut self, expected: &[i32], id: RowId) -> Result<(), Stop> {
        let mut row = self.blank_row(GARBAGE[2]);
        // A list that held something before must not show through.
        let stale = vec![TokenId::new(0)];
        let mut delta = MaskDelta { base: RowId::NONE, add: stale.clone(), remove: stale };
        let form = match self.matcher.fill_delta(&mut row, &mut delta) {
            Ok(form) => form,
            Err(error) => return Err(self.broken(Law::Delta, Discrepancy::Step(error))),
        };
        match form {
            DeltaForm::Whole(whole) => {
                let right = row == expected && whole == id;
                self.check(Law::Delta, right, || Discrepancy::DeltaForm(form))
            }
            DeltaForm::Delta => {
                let mut words = self.blank_row(GARBAGE[2]);
                if !self.compiled.base_row(delta.base, &mut words) {
                    return Err(self.broken(Law::Delta, Discrepancy::UnknownBase(delta.base)));
                }
                let base = Row::new(&words, self.model_len());
                let news = delta.add.iter().all(|token| !base.contains(token.index()))
                    && delta.remove.iter().all(|token| base.contains(token.index()));
                let mut changed = RowMut::new(&mut words, self.compiled.vocabulary().model_len());
                delta.add.iter().for_each(|token| changed.set(token.index()));
                delta.remove.iter().for_each(|token| changed.clear(token.index()));
                self.check(Law::Delta, words == expected, || {
                    super::subject::difference(expected, &words)
                })?;
                self.check(Law::Delta, news, || Discrepancy::DeltaForm(form))
            }
        }
    }

    /// Every id of the row, some past it, and some past everything.
    fn ids(&self) -> Vec<TokenId> {
        let model = u32::try_from(self.model_len()).expect("ids are u32");
        let tokenizer = u32::try_from(self.vocabulary().tokenizer_len()).expect("ids are u32");
        let past = [tokenizer, tokenizer + 1, model, model + 1, model + 32, u32::MAX];
        (0..model).chain(past).map(TokenId::new).collect()
    }

    fn agreement(&mut self, expected: &[i32]) -> Result<(), Stop> {
        let terminated = self.oracle.is_terminated();
        let model_len = self.model_len();
        for id in self.ids() {
            let allowed = Row::new(expected, model_len).contains(id.index());
            let answer = || Discrepancy::Token {
                token: id,
                expected: if allowed { super::Allowed::Yes } else { super::Allowed::No },
            };
            let checked = self.matcher.check_token(id) == allowed;
            self.check(Law::Agreement, checked, answer)?;
            let valid = usize::from(allowed && !terminated);
            let validated = self.matcher.validate_tokens(&[id]) == valid;
            self.check(Law::Agreement, validated, answer)?;
            self.agreement_of_accept(id, allowed)?;
        }
        Ok(())
    }

    fn agreement_of_accept(&mut self, id: TokenId, allowed: bool) -> Result<(), Stop> {
        let terminated = self.oracle.is_terminated();
        let mut fork = self.matcher.fork();
        let result = fork.accept_tokens(&[id]);
        let processed = fork.num_processed_tokens();
        let before = self.tokens.len();
        let right = match &result {
            // After the end every id is ignored, known or not.
            Ok(()) if terminated => processed == before,
            Ok(()) => allowed && processed == before + 1,
            Err(error) => {
                !allowed
                    && !terminated
                    && processed == before
                    && (error.index, error.token) == (0, id)
            }
        };
        self.check(Law::Agreement, right, || match result {
            Ok(()) => Discrepancy::Taken,
            Err(error) => Discrepancy::Accept(error),
        })
    }

    fn forced_bytes(&mut self) -> Result<(), Stop> {
        for limit in [0, 1, 3, 40] {
            let expected = self.oracle.forced_bytes(limit)?;
            let mut found = b"before".to_vec();
            self.matcher.forced_bytes(limit, &mut found);
            let kept = found.starts_with(b"before");
            let found = found.split_off(found.len().min(b"before".len()));
            let right = match self.forced_bytes_are_exact {
                true => found == expected,
                false => expected.starts_with(&found),
            };
            self.counts.short_forced_bytes += u64::from(found.len() < expected.len());
            self.check(Law::ForcedBytes, kept && right, || Discrepancy::Bytes { expected, found })?;
        }
        Ok(())
    }

    /// Nothing follows the end: tokens are ignored and not counted.
    pub(super) fn after_the_end(&mut self) -> Result<(), Stop> {
        let some = [TokenId::new(0), TokenId::new(u32::MAX)];
        if let Err(error) = self.matcher.accept_tokens(&some) {
            return Err(self.broken(Law::Termination, Discrepancy::Accept(error)));
        }
        let found = self.matcher.validate_tokens(&some);
        let count = || Discrepancy::Count { what: "validate_tokens", expected: 0, found };
        self.check(Law::Termination, found == 0, count)?;
        self.facts()
    }

    /// An output that is split differently is another matcher's business.
    pub(super) fn fork(&self) -> Box<dyn StructuredOutputGrammar> {
        self.matcher.fork()
    }
}
