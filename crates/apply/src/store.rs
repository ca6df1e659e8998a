//! Which rows are resident on a device: the host's side of the row store.
//!
//! # Idea
//! A store belongs to one vocabulary and is shared by all its grammars, because they share most of
//! their rows. Rows are found by content: whoever brings a row that is already there gets its slot.
//! A new row takes a free slot, or that of the row unused for longest. A row is not given up while a
//! step that may still be running has used it, so that nothing changes under a kernel.
//!
//! A slot carries a generation, so that a slot remembered beyond its row's life is recognised.

use formwork_mask::{Row, words_for};
use std::{collections::HashMap, sync::Arc};

/// A resident row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    index: u32,
    generation: u32,
}

impl Slot {
    /// The row's place in the device's array of rows.
    #[must_use]
    pub fn index(self) -> u32 {
        self.index
    }
}

/// What [`RowStore::insert`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredRow {
    /// The row was there.
    Resident(Slot),
    /// The row is new: its words must be copied to the slot before a message names it.
    New(Slot),
}

/// Why a row cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Every row is in use by a step that may be running.
    #[error("all {capacity} resident rows are in use by steps in flight")]
    Full {
        /// How many rows the store holds.
        capacity: u32,
    },
    /// The row is of another vocabulary.
    #[error("a row of {tokens} tokens for a store of rows of {expected}")]
    Tokens {
        /// The row's tokens.
        tokens: usize,
        /// The store's.
        expected: usize,
    },
}

/// The rows that a device holds, by content. Its memory is that of the rows, which it keeps to
/// compare with and to be able to send again.
#[derive(Debug)]
pub struct RowStore {
    tokens: usize,
    capacity: u32,
    in_flight: u64,
    step: u64,
    by_content: HashMap<Arc<[i32]>, u32>,
    rows: Vec<Resident>,
}

#[derive(Debug)]
struct Resident {
    words: Arc<[i32]>,
    generation: u32,
    last_used: u64,
}

impl RowStore {
    /// An empty store for `capacity` rows of `tokens` tokens, with at most `in_flight` steps begun
    /// on the device and not yet ended while the next is prepared.
    ///
    /// # Panics
    /// When `capacity` is 2^31 or more.
    #[must_use]
    pub fn new(tokens: usize, capacity: u32, in_flight: u32) -> Self {
        assert!(i32::try_from(capacity).is_ok(), "slots are told apart from marks by their sign");
        Self {
            tokens,
            capacity,
            in_flight: u64::from(in_flight),
            step: 0,
            by_content: HashMap::new(),
            rows: Vec::new(),
        }
    }

    /// Begins to prepare the next step's messages.
    pub fn begin_step(&mut self) {
        self.step += 1;
    }

    /// The slot of a row, found by its content, and used by this step. Cost: one hash of the row; of
    /// a new row when the store is full also one look at every slot.
    ///
    /// # Errors
    /// When the row is of another vocabulary, or no slot can be given up.
    pub fn insert(&mut self, row: Row<'_>) -> Result<StoredRow, StoreError> {
        if row.len() != self.tokens {
            return Err(StoreError::Tokens { tokens: row.len(), expected: self.tokens });
        }
        if let Some(&index) = self.by_content.get(row.words()) {
            let resident = &mut self.rows[index as usize];
            resident.last_used = self.step;
            return Ok(StoredRow::Resident(Slot { index, generation: resident.generation }));
        }
        let words: Arc<[i32]> = row.words().into();
        let slot = self.place(Arc::clone(&words))?;
        self.by_content.insert(words, slot.index);
        Ok(StoredRow::New(slot))
    }

    /// Says that this step uses a remembered slot. False: its row has been given up, and must be
    /// brought again.
    #[must_use]
    pub fn touch(&mut self, slot: Slot) -> bool {
        match self.rows.get_mut(slot.index as usize) {
            Some(resident) if resident.generation == slot.generation => {
                resident.last_used = self.step;
                true
            }
            _ => false,
        }
    }

    /// A slot's row; `None` when it has been given up.
    #[must_use]
    pub fn row(&self, slot: Slot) -> Option<Row<'_>> {
        let resident = self.rows.get(slot.index as usize)?;
        (resident.generation == slot.generation).then(|| Row::new(&resident.words, self.tokens))
    }

    pub(crate) fn row_at(&self, index: u32) -> Row<'_> {
        Row::new(&self.rows[index as usize].words, self.tokens)
    }

    /// Rows resident.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no row is resident.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Tokens per row.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Rows that fit.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Bytes of the resident rows, on the device and here each.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.rows.len() * words_for(self.tokens) * size_of::<i32>()
    }

    fn place(&mut self, words: Arc<[i32]>) -> Result<Slot, StoreError> {
        let fresh = self.rows.len() as u32;
        if fresh < self.capacity {
            self.rows.push(Resident { words, generation: 0, last_used: self.step });
            return Ok(Slot { index: fresh, generation: 0 });
        }
        let full = StoreError::Full { capacity: self.capacity };
        let oldest = self.rows.iter().enumerate().min_by_key(|(_, row)| row.last_used);
        let index = oldest.map(|(index, _)| index).ok_or(full)?;
        let resident = &mut self.rows[index];
        if resident.last_used + self.in_flight >= self.step {
            return Err(full);
        }
        let generation = resident.generation.wrapping_add(1);
        let new = Resident { words, generation, last_used: self.step };
        let old = std::mem::replace(resident, new);
        self.by_content.remove(&old.words);
        Ok(Slot { index: index as u32, generation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(store: &mut RowStore, word: i32) -> Result<StoredRow, StoreError> {
        store.insert(Row::new(&[word], 32))
    }

    fn slot(stored: Result<StoredRow, StoreError>) -> Slot {
        match stored.unwrap() {
            StoredRow::New(slot) | StoredRow::Resident(slot) => slot,
        }
    }

    #[test]
    fn equal_rows_share_a_slot() {
        let mut store = RowStore::new(32, 4, 1);
        let first = slot(insert(&mut store, 5));
        assert_eq!(insert(&mut store, 5), Ok(StoredRow::Resident(first)));
        assert_ne!(slot(insert(&mut store, 6)), first);
        assert_eq!(store.row(first).unwrap().words(), [5]);
        assert_eq!((store.len(), store.bytes()), (2, 8));
    }

    #[test]
    fn the_row_unused_for_longest_goes_and_its_slot_is_recognised() {
        let mut store = RowStore::new(32, 2, 1);
        store.begin_step();
        let old = slot(insert(&mut store, 1));
        let kept = slot(insert(&mut store, 2));
        store.begin_step();
        assert!(store.touch(kept));
        store.begin_step();
        let new = slot(insert(&mut store, 3));
        assert_eq!(new.index(), old.index());
        assert!(!store.touch(old) && store.row(old).is_none());
        assert_eq!(store.row(kept).unwrap().words(), [2]);
        // What went is not found again under its content.
        assert!(insert(&mut store, 1).is_err());
    }

    #[test]
    fn rows_of_steps_in_flight_stay() {
        let mut store = RowStore::new(32, 1, 2);
        store.begin_step();
        let used = slot(insert(&mut store, 1));
        for _ in 0..2 {
            store.begin_step();
            assert_eq!(insert(&mut store, 2), Err(StoreError::Full { capacity: 1 }));
        }
        store.begin_step();
        assert_eq!(slot(insert(&mut store, 2)).index(), used.index());
    }

    #[test]
    fn a_store_has_one_vocabulary() {
        let error = RowStore::new(33, 1, 0).insert(Row::new(&[1], 32));
        assert_eq!(error, Err(StoreError::Tokens { tokens: 32, expected: 33 }));
    }
}
