//! Masks as messages: a resident row and a short difference.
//!
//! # Idea
//! Real masks repeat. A device keeps the rows that steps start from, and a step sends, for each row
//! of the batch, which one it is and the few tokens that differ. A message is 16 bytes and 4 for
//! each token; where a packed row of 128,256 tokens is 16,032 bytes, most steps need below 100.
//!
//! The tokens of all messages lie in one array of entries, so that a batch is two arrays of plain
//! words that can lie in pinned memory and go to the device as they are.

use crate::{RowStore, Slot};
use formwork_mask::RowMut;

/// What a message starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A row that is resident on the device.
    Row(Slot),
    /// No token is allowed.
    Zeros,
    /// Every token is allowed; with nothing removed, the row need not be looked at.
    Ones,
}

/// One row's mask, as the kernels read it: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Message {
    base: i32,
    first: u32,
    added: u32,
    removed: u32,
}

const ONES: i32 = -1;
const ZEROS: i32 = -2;

#[cfg(feature = "cuda")]
impl Message {
    /// The message as the words that go to the device.
    pub(crate) fn words(&self) -> [u32; 4] {
        [self.base.cast_unsigned(), self.first, self.added, self.removed]
    }
}

/// The messages of one step's batch. Reused between steps, so that filling it allocates nothing once
/// it is large enough.
#[derive(Clone, Debug, Default)]
pub struct MessageBatch {
    messages: Vec<Message>,
    entries: Vec<u32>,
}

impl MessageBatch {
    /// No messages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all messages and keeps the memory.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.entries.clear();
    }

    /// Appends the mask of the next row: `base`, and `add`, without `remove`. A token in both is
    /// removed; one past the vocabulary changes nothing.
    ///
    /// # Panics
    /// When the batch would have 2^32 entries.
    pub fn push(&mut self, base: Base, add: &[u32], remove: &[u32]) {
        let index = |length: usize| u32::try_from(length).expect("entries of a batch fit 32 bits");
        let base = match base {
            // Slots are below the store's capacity, which fits.
            Base::Row(slot) => slot.index().cast_signed(),
            Base::Zeros => ZEROS,
            Base::Ones => ONES,
        };
        let message = Message {
            base,
            first: index(self.entries.len()),
            added: index(add.len()),
            removed: index(remove.len()),
        };
        index(self.entries.len() + add.len() + remove.len());
        self.entries.extend_from_slice(add);
        self.entries.extend_from_slice(remove);
        self.messages.push(message);
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages, one per row.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The tokens of all messages.
    #[must_use]
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// What goes to the device, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.messages()) + size_of_val(self.entries())
    }

    /// Writes the mask that message `row` stands for: the meaning of a message.
    ///
    /// # Panics
    /// When there is no such message, or its base is not in the store, or `mask` is of another
    /// vocabulary than the store.
    pub fn write_mask(&self, row: usize, store: &RowStore, mask: &mut RowMut<'_>) {
        let message = self.messages[row];
        match message.base {
            ONES => mask.set_all(),
            ZEROS => mask.clear_all(),
            slot => mask.copy_from(store.row_at(slot.cast_unsigned())),
        }
        let entries = &self.entries[message.first as usize..];
        let (added, rest) = entries.split_at(message.added as usize);
        for &token in added {
            mask.set(token as usize);
        }
        for &token in &rest[..message.removed as usize] {
            mask.clear(token as usize);
        }
    }
}
