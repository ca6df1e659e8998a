//! Masks as they are remembered: a shared row and some ids.

use crate::bases::Bases;
use formwork_core::{MaskDelta, RowId, TokenId};
use formwork_mask::{RowMut, words_for};
use std::sync::Arc;

/// More ids than this become a row: setting so many bits takes as long as a few copies.
const MAX_IDS: usize = 512;

/// A mask, free of stop ids.
#[derive(Debug)]
pub(crate) struct Mask {
    row: Option<Arc<[i32]>>,
    /// Whether other masks have the row too, so that it is worth being kept on a device.
    is_shared: bool,
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
            return self.near_a_row(&words).unwrap_or_else(|| Mask {
                row: Some(words.into()),
                is_shared: false,
                removed: Box::default(),
                ids: Box::default(),
            });
        }
        self.ids.sort_unstable();
        self.ids.dedup();
        let (row, removed) = self.rows.pop().unzip();
        let removed = removed.unwrap_or_default().into();
        Mask { row, is_shared: true, removed, ids: self.ids.into() }
    }

    /// The mask as one of the rows and a short difference, if there is one: unions are mostly a
    /// large row and some tokens of others.
    fn near_a_row(&self, words: &[i32]) -> Option<Mask> {
        self.rows.iter().find_map(|(row, _)| {
            let pairs = || row.iter().zip(words);
            let changes: u32 = pairs().map(|(row, word)| (row ^ word).count_ones()).sum();
            if changes as usize > MaskDelta::MAX_ENTRIES {
                return None;
            }
            let removed = ids_of(pairs().map(|(row, word)| row & !word));
            let ids = ids_of(pairs().map(|(row, word)| word & !row));
            Some(Mask { row: Some(row.clone()), is_shared: true, removed, ids })
        })
    }
}

/// The ids of the bits that are set, ascending.
fn ids_of(words: impl Iterator<Item = i32>) -> Box<[u32]> {
    let constrained = words.zip(0_u32..).filter(|&(word, _)| word != 0);
    let bits = constrained.flat_map(|(word, index)| {
        (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * 32 + bit)
    });
    bits.collect()
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

    /// Writes the mask as a shared row and what differs, if that is short.
    pub(crate) fn write_delta(&self, bases: &Bases, delta: &mut MaskDelta) -> bool {
        if self.removed.len() + self.ids.len() > MaskDelta::MAX_ENTRIES {
            return false;
        }
        let base = match &self.row {
            None => Some(RowId::ZEROS),
            Some(row) if self.is_shared => bases.name(row),
            Some(_) => None,
        };
        let Some(base) = base else { return false };
        let in_row = |id: &u32| {
            let word = self.row.as_ref().map_or(0, |row| row[*id as usize / 32]);
            word >> (id % 32) & 1 == 1
        };
        delta.set_base(base);
        let added = self.ids.iter().filter(|id| !in_row(id));
        delta.add.extend(added.map(|&id| TokenId::new(id)));
        let removed = self.removed.iter().filter(|id| in_row(id));
        let removed = removed.filter(|id| self.ids.binary_search(id).is_err());
        delta.remove.extend(removed.map(|&id| TokenId::new(id)));
        true
    }

    /// Heap bytes held; the row counts as its own.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.ids.len() * 4 + self.row.as_ref().map_or(0, |row| row.len() * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 4096;

    fn row(ids: impl Iterator<Item = u32>) -> Arc<[i32]> {
        let mut words = vec![0; words_for(LEN)];
        ids.for_each(|id| RowMut::new(&mut words, LEN).set(id as usize));
        words.into()
    }

    /// A mask by its difference, which must be short, and must hold news only.
    fn by_difference(mask: &Mask, bases: &Bases) -> Vec<i32> {
        let mut delta = MaskDelta::default();
        assert!(mask.write_delta(bases, &mut delta));
        let mut words = match delta.base {
            RowId::ZEROS => vec![0; words_for(LEN)],
            base => bases.row(base).unwrap().to_vec(),
        };
        let mut bits = RowMut::new(&mut words, LEN);
        for token in &delta.add {
            assert!(!bits.as_row().contains(token.index()));
            bits.set(token.index());
        }
        for token in &delta.remove {
            assert!(bits.as_row().contains(token.index()));
            bits.clear(token.index());
        }
        words
    }

    #[test]
    fn a_mask_is_its_row_and_its_difference() {
        let bases = Bases::new();
        let (large, small) = (row((0..LEN as u32).filter(|id| id % 3 != 0)), row(40..60));
        let shared = |mask: &Mask| {
            let mut written = vec![-1; words_for(LEN)];
            mask.write(&mut written, LEN);
            assert_eq!(by_difference(mask, &bases), written);
        };
        let mut one = MaskBuilder::default();
        one.row(large.clone(), vec![1, 2, 3, 40]);
        // Some that the row has, some that it has not, one that is removed from it.
        one.ids.extend([0, 2, 4, 9]);
        shared(&one.finish(LEN));
        let mut two = MaskBuilder::default();
        two.row(small.clone(), vec![41]);
        two.row(large.clone(), vec![1, 40]);
        two.ids.extend([0, 2]);
        let two = two.finish(LEN);
        assert!(two.is_shared, "the union is near the large row");
        shared(&two);
        let mut far = MaskBuilder::default();
        far.row(large, Vec::new());
        far.row(row((0..LEN as u32).filter(|id| id % 3 == 0)), Vec::new());
        assert!(!far.finish(LEN).write_delta(&bases, &mut MaskDelta::default()));
    }
}
