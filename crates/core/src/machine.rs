//! What a backend with small, copyable states provides; [`Session`](crate::Session) does the rest.

use crate::{MaskDelta, RowId, StepError, StopSets};
use formwork_grammar::Warning;
use formwork_vocab::{TokenId, Vocabulary};
use std::{fmt, sync::Arc};

/// A deterministic machine that reads tokens. It knows nothing of stop ids, ends, or history.
///
/// # Invariants an implementation keeps
/// 1. A state it hands out can be completed by emittable tokens.
/// 2. [`Self::step`] gives a state exactly for the tokens that [`Self::write_row`] allows.
/// 3. States with the same [`Self::row`] have the same row.
pub trait Machine: fmt::Debug + Send + Sync + 'static {
    /// A state between two tokens.
    type State: Copy + fmt::Debug + Send + Sync + 'static;

    /// The vocabulary.
    fn vocabulary(&self) -> &Arc<Vocabulary>;

    /// The stop sets of this machine's sessions.
    fn stop_sets(&self) -> &StopSets;

    /// The state before the first token.
    fn start(&self) -> Self::State;

    /// The state after a token, if the grammar takes it. Ids beyond the vocabulary are not taken.
    fn step(&self, state: Self::State, token: TokenId) -> Option<Self::State>;

    /// As [`Self::step`], for machines whose steps can fail for want of work or memory. The default
    /// says that this one's cannot.
    ///
    /// # Errors
    /// The limit that was hit.
    fn try_step(
        &self,
        state: Self::State,
        token: TokenId,
    ) -> Result<Option<Self::State>, StepError> {
        Ok(self.step(state, token))
    }

    /// Makes the state's row, for machines that make rows when they are asked for; until then
    /// [`Self::row`] and [`Self::write_row`] may not be called. The default says that it is there.
    ///
    /// # Errors
    /// The limit that was hit.
    fn prepare_row(&self, _state: Self::State) -> Result<(), StepError> {
        Ok(())
    }

    /// The state after bytes that count as one token, or the offset of the first byte that cannot
    /// be taken (the length when all can but nothing could follow).
    ///
    /// # Errors
    /// That offset.
    fn step_bytes(&self, state: Self::State, bytes: &[u8]) -> Result<Self::State, usize>;

    /// Whether the output is complete.
    fn is_accepting(&self, state: Self::State) -> bool;

    /// Whether any token may follow.
    fn may_continue(&self, state: Self::State) -> bool;

    /// The identity of the state's row, without stop ids.
    fn row(&self, state: Self::State) -> RowId;

    /// Writes the state's row, whole, without stop ids.
    fn write_row(&self, state: Self::State, row: &mut [i32]);

    /// The state's row as a delta, without stop ids, if there is a short one. The default says that
    /// there is none.
    fn row_delta(&self, _state: Self::State, _delta: &mut MaskDelta) -> bool {
        false
    }

    /// Appends the bytes that every completion begins with, at most `limit`.
    fn forced_bytes(&self, state: Self::State, limit: usize, bytes: &mut Vec<u8>);

    /// Heap bytes held.
    fn memory_bytes(&self) -> usize;

    /// Warnings of the grammar.
    fn warnings(&self) -> &[Warning] {
        &[]
    }
}
