//! Masks as they are stored: shared rows and short lists.
//!
//! A mask of few tokens is a list; one near a row that is there already is that row and the ids to
//! flip; any other is a row. Rows are the vocabulary's: equal ones are one, whichever grammar made
//! them, for as long as somebody holds them.

use formwork_core::{MaskDelta, RowId, TokenId};
use formwork_mask::{Row, RowMut, WORD_BITS, words_for};
use formwork_vocab::Vocabulary;
use rustc_hash::{FxHashMap, FxHasher};
use std::{
    collections::VecDeque,
    hash::Hasher,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// The most ids in a list: setting so many bits takes about as long as copying a row twice.
pub(crate) const SHORT: usize = 256;
/// How many recent rows are tried as bases of a new one: each costs a pass over the words.
const BASES: usize = 64;

/// A mask, free of stop ids.
#[derive(Clone, Debug)]
pub(crate) enum Mask {
    /// These ids, ascending.
    Ids(Arc<[u32]>),
    /// A row with some ids flipped.
    Flips(Arc<[i32]>, Arc<[u32]>),
}

impl Default for Mask {
    fn default() -> Self {
        Self::Ids(Arc::default())
    }
}

impl Mask {
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Ids(ids) if ids.is_empty())
    }

    /// Whether two are one by where they lie.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ids(a), Self::Ids(b)) => Arc::ptr_eq(a, b),
            (Self::Flips(row, flips), Self::Flips(other_row, other_flips)) => {
                Arc::ptr_eq(row, other_row)
                    && (Arc::ptr_eq(flips, other_flips)
                        || flips.is_empty() && other_flips.is_empty())
            }
            _ => false,
        }
    }

    /// Writes the mask whole.
    pub(crate) fn write(&self, words: &mut [i32]) {
        let flips = match self {
            Self::Ids(ids) => {
                words.fill(0);
                ids
            }
            Self::Flips(row, flips) => {
                words.copy_from_slice(row);
                flips
            }
        };
        for &id in flips.iter() {
            words[id as usize / WORD_BITS] ^= 1 << (id as usize % WORD_BITS);
        }
    }

    /// Adds the mask to what is there.
    pub(crate) fn add_to(&self, words: &mut [i32]) {
        match self {
            Self::Ids(ids) => ids.iter().for_each(|&id| set(words, id)),
            Self::Flips(row, flips) => {
                let had: Vec<bool> = flips.iter().map(|&id| contains(words, id)).collect();
                words.iter_mut().zip(&**row).for_each(|(word, other)| *word |= other);
                for (&id, had) in flips.iter().zip(had) {
                    // A flip takes an id out of the row or puts it in.
                    if contains(row, id) && !had {
                        words[id as usize / WORD_BITS] &= !(1 << (id as usize % WORD_BITS));
                    } else {
                        set(words, id);
                    }
                }
            }
        }
    }

    /// The mask without some ids, ascending.
    pub(crate) fn without(&self, ids: &[u32], rows: &SharedRows) -> Self {
        let gone: Vec<u32> = ids.iter().copied().filter(|&id| self.contains(id)).collect();
        match self {
            _ if gone.is_empty() => self.clone(),
            Self::Ids(own) => Self::Ids(
                own.iter().copied().filter(|id| gone.binary_search(id).is_err()).collect(),
            ),
            Self::Flips(row, flips) if flips.len() + gone.len() <= SHORT => {
                Self::Flips(row.clone(), symmetric_difference(flips, &gone))
            }
            Self::Flips(row, _) => {
                let mut words = vec![0; row.len()];
                self.write(&mut words);
                gone.iter().for_each(|&id| {
                    words[id as usize / WORD_BITS] &= !(1 << (id as usize % WORD_BITS));
                });
                Self::of_words(&words, rows)
            }
        }
    }

    /// A mask by its words.
    fn of_words(words: &[i32], rows: &SharedRows) -> Self {
        let row = Row::new(words, words.len() * WORD_BITS);
        if row.count() <= SHORT {
            return Self::Ids(
                row.ones().map(|id| u32::try_from(id).expect("ids are u32")).collect(),
            );
        }
        let near = rows.near(words);
        near.unwrap_or_else(|| Self::Flips(rows.intern(words), Arc::default()))
    }

    pub(crate) fn contains(&self, id: u32) -> bool {
        match self {
            Self::Ids(ids) => ids.binary_search(&id).is_ok(),
            Self::Flips(row, flips) => contains(row, id) != flips.binary_search(&id).is_ok(),
        }
    }

    /// Writes the mask as a list of all that it allows, if that is short.
    pub(crate) fn write_delta(&self, delta: &mut MaskDelta) -> bool {
        match self {
            Self::Ids(ids) if ids.len() <= MaskDelta::MAX_ENTRIES => {
                delta.set_base(RowId::ZEROS);
                delta.add.extend(ids.iter().map(|&id| TokenId::new(id)));
                true
            }
            _ => false,
        }
    }

    /// The ids of the list or the flips.
    pub(crate) fn list_mut(&mut self) -> &mut Arc<[u32]> {
        match self {
            Self::Ids(ids) | Self::Flips(_, ids) => ids,
        }
    }

    /// Heap bytes held; a shared row is counted by its holders together.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Ids(ids) => size_of_val(&**ids),
            Self::Flips(_, flips) => size_of_val(&**flips),
        }
    }

    /// The row that it is based on.
    pub(crate) fn row(&self) -> Option<&Arc<[i32]>> {
        match self {
            Self::Ids(_) => None,
            Self::Flips(row, _) => Some(row),
        }
    }
}

fn set(words: &mut [i32], id: u32) {
    words[id as usize / WORD_BITS] |= 1 << (id as usize % WORD_BITS);
}

fn contains(words: &[i32], id: u32) -> bool {
    words[id as usize / WORD_BITS] >> (id as usize % WORD_BITS) & 1 == 1
}

/// The rows of a vocabulary.
#[derive(Debug, Default)]
pub(crate) struct SharedRows {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    by_hash: FxHashMap<u64, Vec<Weak<[i32]>>>,
    recent: VecDeque<Weak<[i32]>>,
}

impl Known {
    /// Makes a row the latest.
    fn touch(&mut self, row: &Arc<[i32]>) {
        let row = Arc::downgrade(row);
        if let Some(at) = self.recent.iter().position(|known| known.ptr_eq(&row)) {
            self.recent.remove(at);
        }
        self.recent.push_back(row);
        if self.recent.len() > BASES {
            self.recent.pop_front();
        }
    }
}

impl SharedRows {
    pub(crate) fn of(vocabulary: &Vocabulary) -> Arc<Self> {
        vocabulary.derived(|_| Self::default())
    }

    /// The shared row with these words.
    pub(crate) fn intern(&self, words: &[i32]) -> Arc<[i32]> {
        let mut hasher = FxHasher::default();
        words.chunks_exact(2).for_each(|pair| {
            hasher.write_u64(
                u64::from(pair[0].cast_unsigned()) << 32 | u64::from(pair[1].cast_unsigned()),
            );
        });
        let hash = hasher.finish();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = known.by_hash.entry(hash).or_default();
        rows.retain(|row| row.strong_count() > 0);
        let same = rows.iter().filter_map(Weak::upgrade).find(|row| **row == *words);
        if let Some(row) = same {
            known.touch(&row);
            return row;
        }
        let row: Arc<[i32]> = words.into();
        rows.push(Arc::downgrade(&row));
        known.touch(&row);
        if known.by_hash.len().is_power_of_two() {
            known.by_hash.retain(|_, rows| rows.iter().any(|row| row.strong_count() > 0));
        }
        row
    }

    /// A recent row that differs in few ids, and those.
    fn near(&self, words: &[i32]) -> Option<Mask> {
        let recent: Vec<Arc<[i32]>> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.recent.iter().filter_map(Weak::upgrade).collect()
        };
        // The first that is near enough will do: the latest come first, and what serves stays.
        let row = recent.into_iter().rev().find(|row| distance(row, words).is_some())?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).touch(&row);
        let flips = differing(&row, words);
        Some(Mask::Flips(row, flips))
    }
}

/// How many bits differ, unless more than [`SHORT`] do.
fn distance(a: &[i32], b: &[i32]) -> Option<usize> {
    let mut flips = 0;
    for (a, b) in a.chunks(64).zip(b.chunks(64)) {
        flips += a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum::<usize>();
        if flips > SHORT {
            return None;
        }
    }
    Some(flips)
}

fn differing(a: &[i32], b: &[i32]) -> Arc<[u32]> {
    let mut ids = Vec::new();
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        let mut bits = (a ^ b).cast_unsigned();
        while bits != 0 {
            let id = index * WORD_BITS + bits.trailing_zeros() as usize;
            ids.push(u32::try_from(id).expect("ids are u32"));
            bits &= bits - 1;
        }
    }
    ids.into()
}

/// A mask while it is put together.
#[derive(Debug, Default)]
pub(crate) struct MaskBuilder {
    /// What it began with, as long as nothing but ids came after.
    base: Option<Mask>,
    words: Option<Vec<i32>>,
    pub(crate) ids: Vec<u32>,
}

impl MaskBuilder {
    /// Adds a shared row.
    pub(crate) fn row(&mut self, row: Arc<[i32]>) {
        self.mask(&Mask::Flips(row, Arc::default()));
    }

    /// Adds a mask.
    pub(crate) fn mask(&mut self, mask: &Mask) {
        let row = match mask {
            Mask::Ids(ids) => return self.ids.extend_from_slice(ids),
            Mask::Flips(row, _) => row,
        };
        match (&self.base, &mut self.words) {
            (None, None) => self.base = Some(mask.clone()),
            (Some(known), None) if known.is_same(mask) => {}
            (_, words) => {
                let base = &self.base;
                let words = words.get_or_insert_with(|| {
                    let mut words = vec![0; row.len()];
                    base.as_ref().into_iter().for_each(|base| base.write(&mut words));
                    words
                });
                mask.add_to(words);
            }
        }
    }

    /// A test whether ids are in what there is so far.
    pub(crate) fn bits(&self, words: usize) -> Vec<i32> {
        let mut bits = match (&self.words, &self.base) {
            (Some(words), _) => words.clone(),
            (None, Some(base)) => {
                let mut bits = vec![0; words];
                base.write(&mut bits);
                bits
            }
            (None, None) => vec![0; words],
        };
        self.ids.iter().for_each(|&id| set(&mut bits, id));
        bits
    }

    /// The row that was added, with nothing else.
    pub(crate) fn into_base(self) -> Option<Mask> {
        self.base
    }

    /// The mask, in the shortest form there is.
    pub(crate) fn finish(mut self, rows: &SharedRows, model_len: usize) -> Mask {
        if self.words.is_none() {
            if let Some(base) = &self.base {
                self.ids.retain(|&id| !base.contains(id));
            }
            if self.ids.len() <= 2 * SHORT {
                self.ids.sort_unstable();
                self.ids.dedup();
            }
            match &self.base {
                None if self.ids.len() <= SHORT => return Mask::Ids(self.ids.into()),
                Some(base) if self.ids.is_empty() => return base.clone(),
                Some(Mask::Flips(row, flips)) if self.ids.len() + flips.len() <= SHORT => {
                    return Mask::Flips(row.clone(), symmetric_difference(flips, &self.ids));
                }
                _ => {}
            }
        }
        let words = self.bits(words_for(model_len));
        Mask::of_words(&words, rows)
    }
}

/// What is in one of two ascending lists and not in the other.
fn symmetric_difference(a: &[u32], b: &[u32]) -> Arc<[u32]> {
    let mut all: Vec<u32> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    let single = all.chunk_by(|a, b| a == b).filter(|group| group.len() == 1);
    single.map(|group| group[0]).collect()
}

/// The row of some tokens.
pub(crate) fn row_of(model_len: usize, tokens: impl Iterator<Item = u32>) -> Arc<[i32]> {
    let mut words = vec![0; words_for(model_len)];
    let mut bits = RowMut::new(&mut words, model_len);
    tokens.for_each(|token| bits.set(token as usize));
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const LEN: usize = 2_000;

    /// Rows and ids that are added.
    type Case = (Vec<Arc<[i32]>>, Vec<u32>);

    fn read(words: &[i32]) -> BTreeSet<u32> {
        Row::new(words, LEN).ones().map(|id| id as u32).collect()
    }

    fn row(ids: impl Iterator<Item = u32>) -> Arc<[i32]> {
        row_of(LEN, ids)
    }

    #[test]
    fn every_form_is_the_union_of_what_was_added() {
        let rows = SharedRows::default();
        let all = |step| (0..LEN as u32).step_by(step);
        let cases: [Case; 6] = [
            (vec![], vec![5, 3, 3, 1_999]),
            (vec![], all(2).collect()),
            (vec![row(all(2))], vec![1, 2, 3]),
            (vec![row(all(2))], all(3).collect()),
            (vec![row(all(2)), row(all(7))], vec![11]),
            (vec![row(all(500)), row(all(700))], vec![]),
        ];
        for (added, ids) in cases {
            let mut builder = MaskBuilder::default();
            let mut expected: BTreeSet<u32> = ids.iter().copied().collect();
            for row in added {
                expected.extend(read(&row));
                builder.row(row);
            }
            builder.ids.extend(ids);
            let mask = builder.finish(&rows, LEN);
            let mut words = vec![-1; words_for(LEN)];
            mask.write(&mut words);
            assert_eq!(read(&words), expected);
            assert!((0..LEN as u32).all(|id| mask.contains(id) == expected.contains(&id)));
            let mut words = row(all(5)).to_vec();
            mask.add_to(&mut words);
            expected.extend(all(5));
            assert_eq!(read(&words), expected);
        }
    }

    #[test]
    fn a_flip_may_take_out_of_a_row() {
        let mask = Mask::Flips(row(0..1_000), [7, 1_500].into());
        let mut words = row([3, 9, 1_200].into_iter()).to_vec();
        mask.add_to(&mut words);
        let mut expected: BTreeSet<u32> = (0..1_000).chain([1_200, 1_500]).collect();
        expected.remove(&7);
        assert_eq!(read(&words), expected);
        let mut words = row([7].into_iter()).to_vec();
        mask.add_to(&mut words);
        assert!(read(&words).contains(&7));
    }

    #[test]
    fn equal_rows_are_one_as_long_as_they_are_held() {
        let rows = SharedRows::default();
        let words = row((0..LEN as u32).step_by(2));
        let one = rows.intern(&words);
        assert!(Arc::ptr_eq(&one, &rows.intern(&words)));
        assert_eq!(Arc::strong_count(&one), 1);
    }
}
