//! A matcher: a session over stacks, which goes over to new ones when those have grown too large.

use crate::{backend::Compiled, machine::Tables};
use formwork_core::{
    AcceptError, DeltaForm, Filled, MaskDelta, RollbackError, RowId, Session, StartError,
    StartOptions, StepError, StructuredOutputGrammar, TokenId, Vocabulary,
};
use std::sync::Arc;

/// Tokens after which a matcher may go over to new tables.
const MIN_TOKENS: usize = 256;

/// One request.
#[derive(Debug)]
pub(crate) struct Matcher {
    compiled: Arc<Compiled>,
    options: StartOptions,
    session: Session<Tables>,
    /// Tokens processed when the tables were last changed.
    renewed_at: usize,
}

impl Matcher {
    pub(crate) fn start(
        compiled: Arc<Compiled>,
        options: &StartOptions,
    ) -> Result<Self, StartError> {
        let session = Session::start(compiled.tables(), options)?;
        Ok(Self { compiled, options: options.clone(), session, renewed_at: 0 })
    }

    /// Goes over to new stacks when these are too large, by reading the output once more. A matcher
    /// does so only when it has processed as many tokens again, so that all replays together cost
    /// what reading the output costs.
    fn renew(&mut self) {
        if !self.compiled.is_full(self.session.machine()) {
            return;
        }
        let processed = self.session.num_processed_tokens();
        if processed < (2 * self.renewed_at).max(MIN_TOKENS) {
            return;
        }
        self.renewed_at = processed;
        self.compiled.replace(self.session.machine());
        if let Ok(mut session) = Session::start(self.compiled.tables(), &self.options)
            && session.accept_tokens(&self.session.processed_tokens()).is_ok()
        {
            self.session = session;
        }
    }
}

impl StructuredOutputGrammar for Matcher {
    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.session.vocabulary()
    }

    fn stop_ids(&self) -> &[TokenId] {
        self.session.stop_ids()
    }

    fn fill_bitmask(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, StepError> {
        self.session.fill_bitmask(row, held)
    }

    fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), AcceptError> {
        self.renew();
        self.session.accept_tokens(tokens)
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), RollbackError> {
        self.session.rollback(tokens)
    }

    fn fork(&self) -> Box<dyn StructuredOutputGrammar> {
        Box::new(Self {
            compiled: self.compiled.clone(),
            options: self.options.clone(),
            session: self.session.clone(),
            renewed_at: self.renewed_at,
        })
    }

    fn is_accepting(&self) -> bool {
        self.session.is_accepting()
    }

    fn is_terminated(&self) -> bool {
        self.session.is_terminated()
    }

    fn processed_tokens(&self) -> Vec<TokenId> {
        self.session.processed_tokens()
    }

    fn fixed_bytes(&self) -> &[u8] {
        self.session.fixed_bytes()
    }

    fn num_processed_tokens(&self) -> usize {
        self.session.num_processed_tokens()
    }

    fn validate_tokens(&mut self, tokens: &[TokenId]) -> usize {
        self.session.validate_tokens(tokens)
    }

    fn check_token(&mut self, token: TokenId) -> bool {
        self.session.check_token(token)
    }

    fn fill_delta(
        &mut self,
        row: &mut [i32],
        delta: &mut MaskDelta,
    ) -> Result<DeltaForm, StepError> {
        self.session.fill_delta(row, delta)
    }

    fn forced_bytes(&mut self, limit: usize, bytes: &mut Vec<u8>) {
        self.session.forced_bytes(limit, bytes);
    }

    fn reset(&mut self) {
        self.session.reset();
        self.renewed_at = 0;
    }
}
