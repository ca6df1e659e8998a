//! Masks as they are remembered: a shared row and some ids.

use formwork_core::{MaskDelta, RowId, TokenId};
use formwork_mask::{RowMut, words_for};
use std::sync::Arc;

/// More ids than this become a row: setting so many bits takes as long as a few copies.
const MAX_IDS: usize = 512;

/// A mask, free of stop ids.
#[derive(Debug)]
pub(crate) struct Mask {
    row: Option<Arc<[i32]>>,
    /// Ids of the row that are not meant.
    removed: Box<[u32]>,
    /// Ascending; some may be in the row too.
    ids: Box<[u32]>,
}

/// A mask while it is put together.
#[derive(Debug, Default)]
pub(crate) struct MaskBuilder {
    /// Rows, each less some ids.
    rows: Vec<(Arc<[i32]>, Vec<u32>)>,
    pub(crate) ids: Vec<u32>,
}

impl MaskBuilder {
    /// Adds a row less some ids.
    pub(crate) fn row(&mut self, row: Arc<[i32]>, removed: Vec<u32>) {
        let known = |known: &(Arc<[i32]>, Vec<u32>)| Arc::ptr_eq(&known.0, &row);
        match self.rows.iter_mut().find(|row| known(row)) {
            // What one of two adds, both together add.
            Some(known) => known.1.retain(|id| removed.binary_search(id).is_ok()),
            None => self.rows.push((row, removed)),
        }
    }

    pub(crate) fn finish(mut self, model_len: usize) -> Mask {
        if self.rows.len() > 1 || self.ids.len() > MAX_IDS {
            let mut words = vec![0; words_for(model_len)];
            let mut one = vec![0; words_for(model_len)];
            for (row, removed) in &self.rows {
                one.copy_from_slice(row);
                let mut bits = RowMut::new(&mut one, model_len);
                removed.iter().for_each(|&id| bits.clear(id as usize));
                words.iter_mut().zip(&one).for_each(|(word, other)| *word |= other);
            }
            let mut bits = RowMut::new(&mut words, model_len);
            self.ids.iter().for_each(|&id| bits.set(id as usize));
            let (removed, ids) = (Box::default(), Box::default());
            return Mask { row: Some(words.into()), removed, ids };
        }
        self.ids.sort_unstable();
        self.ids.dedup();
        let (row, removed) = self.rows.pop().unzip();
        Mask { row, removed: removed.unwrap_or_default().into(), ids: self.ids.into() }
    }
}

impl Mask {
    /// Writes the row whole.
    pub(crate) fn write(&self, words: &mut [i32], model_len: usize) {
        match &self.row {
            Some(row) => words.copy_from_slice(row),
            None => words.fill(0),
        }
        let mut bits = RowMut::new(words, model_len);
        self.removed.iter().for_each(|&id| bits.clear(id as usize));
        self.ids.iter().for_each(|&id| bits.set(id as usize));
    }

    /// Writes the mask as a list of all that it allows, if that is short.
    pub(crate) fn write_delta(&self, delta: &mut MaskDelta) -> bool {
        if self.row.is_some() || self.ids.len() > MaskDelta::MAX_ENTRIES {
            return false;
        }
        delta.set_base(RowId::ZEROS);
        delta.add.extend(self.ids.iter().map(|&id| TokenId::new(id)));
        true
    }

    /// Heap bytes held; the row counts as its own.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ids.len() * 4 + self.row.as_ref().map_or(0, |row| row.len() * 4)
    }
}
