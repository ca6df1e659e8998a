//! The laws about ways: what is taken, taken back, and taken again.

use super::{
    report::{Discrepancy, Law},
    subject::{Stop, Subject},
};
use formwork_core::{AcceptError, RollbackError, StructuredOutputGrammar};
use formwork_vocab::TokenId;

/// A state on the way, kept to be compared with later.
struct Station {
    row: Vec<i32>,
    fork: Box<dyn StructuredOutputGrammar>,
}

impl Subject<'_> {
    /// Walks as the choices say, checking every state, then back in several ways.
    pub(super) fn walk(&mut self, choices: &[u16]) -> Result<(), Stop> {
        let mut stations = Vec::new();
        for &choice in choices {
            self.check_state()?;
            stations.push(Station { row: self.expected_row(), fork: self.fork() });
            if self.oracle.is_terminated() {
                self.after_the_end()?;
                break;
            }
            let allowed = self.oracle.allowed();
            // A state that nothing may follow, without a stop id, has ended; others allow something.
            let Some(&token) = allowed.get(usize::from(choice) % allowed.len().max(1)) else {
                break;
            };
            self.refused_lists(token)?;
            self.take(token)?;
        }
        if stations.len() == self.tokens.len() {
            self.check_state()?;
            stations.push(Station { row: self.expected_row(), fork: self.fork() });
        }
        self.forks(&mut stations)?;
        self.rollbacks(&stations)?;
        self.reset_and_replay(&stations)
    }

    fn take(&mut self, token: TokenId) -> Result<(), Stop> {
        self.oracle.accept(token)?;
        if let Err(error) = self.matcher.accept_tokens(&[token]) {
            return Err(self.broken(Law::Agreement, Discrepancy::Accept(error)));
        }
        self.tokens.push(token);
        Ok(())
    }

    /// Lists whose second token is refused: nothing is taken, and the error says where.
    fn refused_lists(&mut self, first: TokenId) -> Result<(), Stop> {
        let expected = self.expected_row();
        self.oracle.accept(first)?;
        let after = self.oracle.allowed();
        let expected_after = self.expected_row();
        let ended = self.oracle.is_terminated();
        self.oracle.rollback(1);
        // A wrong mask there must not pass for a wrong list here.
        let mut ahead = self.fork();
        if let Err(error) = ahead.accept_tokens(&[first]) {
            return Err(self.broken(Law::Agreement, Discrepancy::Accept(error)));
        }
        self.tokens.push(first);
        self.check_row_of(Law::Mask, &mut *ahead, &expected_after)?;
        self.tokens.pop();
        if ended {
            let list = [first, first, TokenId::new(u32::MAX)];
            let found = self.matcher.validate_tokens(&list);
            let count = || Discrepancy::Count { what: "validate_tokens", expected: 1, found };
            self.check(Law::Validate, found == 1, count)?;
            return self.check_row(Law::Purity, &expected).map(drop);
        }
        let model = u32::try_from(self.model_len()).expect("ids are u32");
        let refused = (0..model).map(TokenId::new).find(|id| after.binary_search(id).is_err());
        for refused in refused.into_iter().chain([TokenId::new(u32::MAX)]) {
            let list = [first, refused, first];
            let found = self.matcher.validate_tokens(&list);
            let count = || Discrepancy::Count { what: "validate_tokens", expected: 1, found };
            self.check(Law::Validate, found == 1, count)?;
            let result = self.matcher.accept_tokens(&list);
            let at = |error: &AcceptError| (error.index, error.token) == (1, refused);
            let right = result.as_ref().is_err_and(at);
            self.check(Law::AtomicAccept, right, || match result {
                Ok(()) => Discrepancy::Taken,
                Err(error) => Discrepancy::Accept(error),
            })?;
            self.check_row(Law::AtomicAccept, &expected)?;
            let (expected, found) = (self.tokens.len(), self.matcher.num_processed_tokens());
            let count = || Discrepancy::Count { what: "num_processed_tokens", expected, found };
            self.check(Law::AtomicAccept, found == expected, count)?;
        }
        Ok(())
    }

    /// Forks stand where they were taken, and go their own ways.
    fn forks(&mut self, stations: &mut [Station]) -> Result<(), Stop> {
        let last = stations.last().map(|station| station.row.clone()).unwrap_or_default();
        for (taken, station) in stations.iter_mut().enumerate() {
            self.check_row_of(Law::Fork, &mut *station.fork, &station.row)?;
            let rest = &self.tokens[taken..];
            let mut ahead = station.fork.fork();
            if let Err(error) = ahead.accept_tokens(rest) {
                return Err(self.broken(Law::Fork, Discrepancy::Accept(error)));
            }
            self.check_row_of(Law::Fork, &mut *ahead, &last)?;
            if let Err(error) = ahead.rollback(self.tokens.len()) {
                return Err(self.broken(Law::Fork, Discrepancy::Rollback(error)));
            }
            self.check_row_of(Law::Fork, &mut *station.fork, &station.row)?;
        }
        self.check_row(Law::Fork, &last).map(drop)
    }

    /// Back by every number of tokens, and forth again.
    fn rollbacks(&mut self, stations: &[Station]) -> Result<(), Stop> {
        let processed = self.tokens.len();
        let requested = processed + 1;
        let result = self.matcher.rollback(requested);
        let right = result == Err(RollbackError { requested, processed });
        self.check(Law::Rollback, right, || match result {
            Ok(()) => Discrepancy::Taken,
            Err(error) => Discrepancy::Rollback(error),
        })?;
        for depth in 0..=processed {
            self.roll_back(depth)?;
            let left = processed - depth;
            self.check_row(Law::Rollback, &stations[left].row)?;
            let found = self.matcher.num_processed_tokens();
            let count =
                || Discrepancy::Count { what: "num_processed_tokens", expected: left, found };
            self.check(Law::Rollback, found == left, count)?;
            let rest = self.tokens[left..].to_vec();
            if let Err(error) = self.matcher.accept_tokens(&rest) {
                return Err(self.broken(Law::Rollback, Discrepancy::Accept(error)));
            }
            self.check_row(Law::Rollback, &stations[processed].row)?;
        }
        // One token at a time, all the way.
        for left in (0..processed).rev() {
            self.roll_back(1)?;
            self.check_row(Law::Rollback, &stations[left].row)?;
        }
        Ok(())
    }

    fn roll_back(&mut self, depth: usize) -> Result<(), Stop> {
        self.matcher
            .rollback(depth)
            .map_err(|error| self.broken(Law::Rollback, Discrepancy::Rollback(error)))
    }

    /// From the start again: in one list, after a reset, and in a matcher of its own.
    fn reset_and_replay(&mut self, stations: &[Station]) -> Result<(), Stop> {
        let tokens = self.tokens.clone();
        let last = &stations[tokens.len()].row;
        if let Err(error) = self.matcher.accept_tokens(&tokens) {
            return Err(self.broken(Law::Reset, Discrepancy::Accept(error)));
        }
        self.check_row(Law::Reset, last)?;
        self.matcher.reset();
        self.check_row(Law::Reset, &stations[0].row)?;
        let found = self.matcher.num_processed_tokens();
        let count = || Discrepancy::Count { what: "num_processed_tokens", expected: 0, found };
        self.check(Law::Reset, found == 0, count)?;
        let found = self.matcher.validate_tokens(&tokens);
        let expected = tokens.len();
        let count = || Discrepancy::Count { what: "validate_tokens", expected, found };
        self.check(Law::Validate, found == expected, count)?;
        let mut another = match self.compiled.clone().start(&self.options) {
            Ok(another) => another,
            Err(error) => return Err(self.broken(Law::Reset, Discrepancy::Start(error))),
        };
        if let Err(error) = another.accept_tokens(&tokens) {
            return Err(self.broken(Law::Reset, Discrepancy::Accept(error)));
        }
        self.check_row_of(Law::Reset, &mut *another, last)
    }
}
