//! One request's state.

use crate::{
    AcceptError, DeltaForm, Filled, MaskDelta, RollbackError, RowId, StepError, TokenId, Vocabulary,
};
use formwork_mask::Row;
use std::{fmt, sync::Arc};

/// The state of one output: which tokens may come next, and what happens when they do.
///
/// # The states of a matcher
/// - *Running*: tokens are taken.
/// - *Terminated*, after a stop id (or, without stop ids, once nothing may follow): the row is all
///   ones, further tokens are ignored without error and without counting for rollback.
/// - *Failed*, after a limit was hit: every step gives the same error, the row allows the stop ids
///   alone, the output is not accepting. Rollback to before the failure ends it.
///
/// Mask, [`Self::accept_tokens`], [`Self::validate_tokens`] and [`Self::check_token`] agree on every
/// id. Methods take `&mut self` so that a matcher may keep scratch; those that only ask leave the
/// state as it is.
pub trait StructuredOutputGrammar: fmt::Debug + Send {
    /// The vocabulary whose tokens are read.
    fn vocabulary(&self) -> &Arc<Vocabulary>;

    /// The ids that may end the output, ascending.
    fn stop_ids(&self) -> &[TokenId];

    /// Writes the mask of this state into `row`, which has
    /// [`row_words`](Vocabulary::row_words) words: all of them, whatever stood there. `held` is the
    /// identity of what the row holds ([`RowId::NONE`] when unknown); when that is this very mask,
    /// nothing is written and the answer is [`Filled::Unchanged`].
    ///
    /// # Errors
    /// [`StepError`] when a limit is hit: the row then allows the stop ids alone.
    ///
    /// # Panics
    /// When `row` has the wrong length.
    fn fill_bitmask(&mut self, row: &mut [i32], held: RowId) -> Result<Filled, StepError>;

    /// Takes the tokens, all or none.
    ///
    /// # Errors
    /// [`AcceptError`] names the first token that cannot be taken; the state is as before.
    fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), AcceptError>;

    /// Undoes the last `tokens` processed tokens, a terminating one included.
    ///
    /// # Errors
    /// [`RollbackError`] when fewer were processed; the state is as before.
    fn rollback(&mut self, tokens: usize) -> Result<(), RollbackError>;

    /// An independent matcher in the same state, in constant time.
    fn fork(&self) -> Box<dyn StructuredOutputGrammar>;

    /// Whether the output so far is complete: a sequence of the language.
    fn is_accepting(&self) -> bool;

    /// Whether the output has ended.
    fn is_terminated(&self) -> bool;

    /// The tokens processed so far, the terminating one included; what replays this state. Linear
    /// in their number: for moving a request, not for the step loop.
    fn processed_tokens(&self) -> Vec<TokenId>;

    /// The bytes fixed at the start, before any token.
    fn fixed_bytes(&self) -> &[u8] {
        &[]
    }

    /// How many tokens were processed and can be rolled back.
    fn num_processed_tokens(&self) -> usize {
        self.processed_tokens().len()
    }

    /// How many of the tokens, from the first on, would be accepted; 0 when terminated. Changes
    /// nothing.
    fn validate_tokens(&mut self, tokens: &[TokenId]) -> usize {
        let before = self.num_processed_tokens();
        let mut accepted = 0;
        while accepted < tokens.len()
            && !self.is_terminated()
            && self.accept_tokens(&tokens[accepted..=accepted]).is_ok()
        {
            accepted += 1;
        }
        let taken = self.num_processed_tokens() - before;
        self.rollback(taken).expect("these tokens were just processed");
        accepted
    }

    /// Whether the mask of this state allows the id, without making the mask.
    fn check_token(&mut self, token: TokenId) -> bool {
        match self.is_terminated() {
            true => token.index() < self.vocabulary().model_len(),
            false => self.validate_tokens(&[token]) == 1,
        }
    }

    /// The mask as a difference from a base row. When there is no short one, `row` is written whole
    /// and the answer says so. The default knows only the empty base.
    ///
    /// # Errors
    /// As [`Self::fill_bitmask`]; `row` is then written.
    ///
    /// # Panics
    /// As [`Self::fill_bitmask`].
    fn fill_delta(
        &mut self,
        row: &mut [i32],
        delta: &mut MaskDelta,
    ) -> Result<DeltaForm, StepError> {
        let id = self.fill_bitmask(row, RowId::NONE)?.row(RowId::NONE);
        if id == RowId::UNCONSTRAINED {
            delta.set_base(id);
            return Ok(DeltaForm::Delta);
        }
        let allowed = Row::new(row, self.vocabulary().model_len());
        delta.set_base(RowId::ZEROS);
        for token in allowed.ones() {
            if delta.add.len() == MaskDelta::MAX_ENTRIES {
                return Ok(DeltaForm::Whole(id));
            }
            delta.add.push(TokenId::new(u32::try_from(token).expect("ids are u32")));
        }
        Ok(DeltaForm::Delta)
    }

    /// Appends to `bytes` what every completion of the output must continue with: the longest such
    /// string of at most `limit` bytes. Nothing when the output is complete, terminated or failed.
    ///
    /// The default appends nothing, which is never wrong: masks alone cannot tell a token that is
    /// read as its bytes from one that is read as a symbol.
    fn forced_bytes(&mut self, _limit: usize, _bytes: &mut Vec<u8>) {}

    /// Appends to `tokens` the tokens that the tokenizer itself would go on with over the forced
    /// bytes (at most `limit` of them), and that no continuation could change. Nothing when the
    /// vocabulary has no encoder, or when the output so far is not the tokenizer's own encoding.
    ///
    /// Cost: encodes the whole output so far.
    fn forced_tokens(&mut self, limit: usize, tokens: &mut Vec<TokenId>) {
        let vocabulary = self.vocabulary().clone();
        let Some(encoder) = vocabulary.encoder() else { return };
        let mut forced = Vec::new();
        self.forced_bytes(limit, &mut forced);
        if forced.is_empty() {
            return;
        }
        let mut text = self.fixed_bytes().to_vec();
        let mut fixed = text.len();
        let mut processed = self.processed_tokens();
        // The encoder knows text alone: after a special token it starts afresh.
        if let Some(special) = processed.iter().rposition(|&id| vocabulary.bytes(id).is_none()) {
            processed.drain(..=special);
            text.clear();
            fixed = 0;
        }
        text.extend(processed.iter().filter_map(|&id| vocabulary.bytes(id)).flatten());
        let written = text.len();
        text.extend_from_slice(&forced);
        let Ok(encoded) = encoder.encode_prefix(&text) else { return };
        let mut processed = processed.into_iter();
        let mut end = 0;
        for token in encoded {
            let start = end;
            end += vocabulary.bytes(token).map_or(0, <[u8]>::len);
            if start >= written {
                tokens.push(token);
            } else if start >= fixed && processed.next() != Some(token) || end > written {
                return;
            }
        }
    }

    /// Back to the beginning.
    fn reset(&mut self) {
        let processed = self.num_processed_tokens();
        self.rollback(processed).expect("exactly what was processed");
    }
}
