//! A mask as a base row and a short difference, for devices that keep the base rows.

use crate::{RowId, TokenId};

/// The difference between a mask and a base row. Reused between steps, so that filling it
/// allocates nothing once its lists are long enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskDelta {
    /// The base: [`RowId::ZEROS`], [`RowId::UNCONSTRAINED`], or a row that
    /// [`CompiledGrammar::base_row`](crate::CompiledGrammar::base_row) gives.
    pub base: RowId,
    /// Tokens that the mask allows and the base does not.
    pub add: Vec<TokenId>,
    /// Tokens that the base allows and the mask does not.
    pub remove: Vec<TokenId>,
}

impl Default for MaskDelta {
    fn default() -> Self {
        Self { base: RowId::ZEROS, add: Vec::new(), remove: Vec::new() }
    }
}

/// How `fill_delta` answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaForm {
    /// The delta is the mask.
    Delta,
    /// No short difference exists: the caller's row was written whole and has this identity.
    Whole(RowId),
}

impl MaskDelta {
    /// The most entries, of both lists together, that still count as short: 256 bytes of message.
    pub const MAX_ENTRIES: usize = 64;

    /// Makes this the mask that is exactly the base.
    pub fn set_base(&mut self, base: RowId) {
        self.base = base;
        self.add.clear();
        self.remove.clear();
    }
}
