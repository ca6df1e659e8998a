//! Rows, stored once per distinct mask in the smallest form.
//!
//! | form | bytes | fill |
//! |---|---|---|
//! | sparse: the allowed ids | 4 per id | zero the row, set the bits |
//! | delta: a base row and the ids to flip | 4 per id | copy the base, flip the bits |
//! | dense: all words | vocabulary / 8 | copy |
//!
//! A row becomes sparse or a delta only while the ids are few enough that filling stays near the
//! cost of a copy ([`SHORT`]); then that form is also the smallest. Bases are dense rows stored
//! before; the search looks at the most recent [`BASES`] of them.
//!
//! # Invariants
//! 1. No two stored rows have the same bits.
//! 2. A base is dense.

mod saved;

use formwork_core::{MaskDelta, RowId, TableId, TokenId};
use formwork_mask::{Row, RowMut, WORD_BITS, words_for};
use formwork_slices::SliceRow;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// The most ids in a sparse row or a delta: setting this many bits takes about as long as copying
/// a row of a large vocabulary twice.
pub(crate) const SHORT: usize = 256;
/// Up to this many ids are put in order by sorting, more by setting and reading bits.
const FEW: usize = 100;
/// How many bases are tried for a new row: each costs one pass over the words.
const BASES: usize = 32;

/// Rows before they are stored, flat: ascending ids where there are few, otherwise words. Which of
/// the two depends on the number of ids alone, so equal rows have equal drafts.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    entries: Vec<Entry>,
    ids: Vec<u32>,
    many: Vec<Box<[i32]>>,
    /// One row, for putting ids in order.
    scratch: Vec<i32>,
    /// Trie nodes visited for these rows.
    pub(crate) trie_nodes: u64,
}

#[derive(Debug)]
enum Entry {
    /// A stretch of `ids`.
    Few(std::ops::Range<usize>),
    /// An index into `many`.
    Many(usize),
}

/// One draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Draft<'a> {
    Few(&'a [u32]),
    Many(&'a [i32]),
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Form {
    Sparse(Box<[u32]>),
    Delta { base: u32, flips: Box<[u32]> },
    Dense(Box<[i32]>),
}

/// The rows of one compiled grammar.
#[derive(Debug)]
pub(crate) struct Rows {
    table: TableId,
    model_len: usize,
    forms: Vec<Form>,
    bytes: usize,
}

/// Collects rows and finds equal ones.
#[derive(Debug)]
pub(crate) struct RowsBuilder {
    rows: Rows,
    /// The latest row with a hash; `same_hash` leads to the ones before it.
    by_hash: FxHashMap<u64, u32>,
    same_hash: Vec<Option<u32>>,
    bases: Vec<u32>,
    scratch: Vec<i32>,
}

impl Drafts {
    /// Adds the row that allows exactly these ids, which may repeat and come in any order. `ids` is
    /// left empty.
    pub(crate) fn push(&mut self, ids: &mut Vec<u32>, model_len: usize) {
        if ids.len() <= FEW {
            ids.sort_unstable();
            ids.dedup();
        } else {
            self.scratch.resize(words_for(model_len), 0);
            let mut row = RowMut::new(&mut self.scratch, model_len);
            row.clear_all();
            ids.iter().for_each(|&id| row.set(id as usize));
            return self.push_scratch(ids, model_len);
        }
        self.push_few(ids);
    }

    /// Adds the row that allows these ids beside those of a class row.
    pub(crate) fn push_with(&mut self, row: SliceRow<'_>, ids: &mut Vec<u32>, model_len: usize) {
        self.scratch.resize(words_for(model_len), 0);
        row.write(&mut self.scratch);
        let mut row = RowMut::new(&mut self.scratch, model_len);
        ids.iter().for_each(|&id| row.set(id as usize));
        self.push_scratch(ids, model_len);
    }

    /// Adds the row in `scratch`; `ids` is there to be used.
    fn push_scratch(&mut self, ids: &mut Vec<u32>, model_len: usize) {
        ids.clear();
        let row = Row::new(&self.scratch, model_len);
        if row.count() > SHORT {
            self.entries.push(Entry::Many(self.many.len()));
            self.many.push(self.scratch.as_slice().into());
            return;
        }
        ids.extend(row.ones().map(|id| u32::try_from(id).expect("ids are u32")));
        self.push_few(ids);
    }

    fn push_few(&mut self, ids: &mut Vec<u32>) {
        let start = self.ids.len();
        self.ids.append(ids);
        self.entries.push(Entry::Few(start..self.ids.len()));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Draft<'_>> {
        self.entries.iter().map(|entry| match entry {
            Entry::Few(range) => Draft::Few(&self.ids[range.clone()]),
            Entry::Many(index) => Draft::Many(&self.many[*index]),
        })
    }
}

impl Draft<'_> {
    pub(crate) fn is_zero(self) -> bool {
        self == Self::Few(&[])
    }
}

impl RowsBuilder {
    pub(crate) fn new(model_len: usize) -> Self {
        Self {
            rows: Rows { table: TableId::unique(), model_len, forms: Vec::new(), bytes: 0 },
            by_hash: FxHashMap::default(),
            same_hash: Vec::new(),
            bases: Vec::new(),
            scratch: vec![0; words_for(model_len)],
        }
    }

    /// The number of a row, stored now if it is new.
    pub(crate) fn add(&mut self, draft: Draft<'_>) -> u32 {
        let hash = FxBuildHasher.hash_one(draft);
        let mut known = self.by_hash.get(&hash).copied();
        while let Some(number) = known {
            if self.is(number, draft) {
                return number;
            }
            known = self.same_hash[number as usize];
        }
        let number = u32::try_from(self.rows.forms.len()).expect("fewer rows than states");
        let form = self.form(draft);
        if matches!(form, Form::Dense(_)) {
            self.bases.push(number);
        }
        self.rows.bytes += form.bytes();
        self.rows.forms.push(form);
        self.same_hash.push(self.by_hash.insert(hash, number));
        number
    }

    fn is(&mut self, number: u32, draft: Draft<'_>) -> bool {
        match (&self.rows.forms[number as usize], draft) {
            (Form::Sparse(stored), Draft::Few(ids)) => **stored == *ids,
            (Form::Sparse(_), Draft::Many(_)) | (_, Draft::Few(_)) => false,
            (_, Draft::Many(words)) => {
                self.rows.write(number, &mut self.scratch);
                self.scratch == words
            }
        }
    }

    /// The ids of a row stored before.
    pub(crate) fn ids(&mut self, number: u32) -> Vec<u32> {
        self.rows.write(number, &mut self.scratch);
        let ones = Row::new(&self.scratch, self.rows.model_len).ones();
        ones.map(|id| u32::try_from(id).expect("ids are u32")).collect()
    }

    /// Heap bytes the rows take so far.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes
    }

    pub(crate) fn finish(self) -> Rows {
        self.rows
    }

    fn form(&self, draft: Draft<'_>) -> Form {
        let words = match draft {
            Draft::Few(ids) => return Form::Sparse(ids.into()),
            Draft::Many(words) => words,
        };
        let bases = self.bases.iter().rev().take(BASES);
        let nearest =
            bases.filter_map(|&base| Some((distance(self.rows.dense(base), words)?, base))).min();
        match nearest {
            Some((_, base)) => Form::Delta { base, flips: differing(self.rows.dense(base), words) },
            None => Form::Dense(words.into()),
        }
    }
}

/// How many bits differ, unless more than [`SHORT`] do: rows that are far apart are told from each
/// other by their first words.
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

/// Ids whose bits differ.
fn differing(a: &[i32], b: &[i32]) -> Box<[u32]> {
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

impl Form {
    fn bytes(&self) -> usize {
        let heap = match self {
            Self::Sparse(ids) => std::mem::size_of_val(&**ids),
            Self::Delta { flips, .. } => std::mem::size_of_val(&**flips),
            Self::Dense(words) => std::mem::size_of_val(&**words),
        };
        heap + size_of::<Self>()
    }
}

impl Rows {
    /// The identity of a row.
    pub(crate) fn id(&self, row: u32) -> RowId {
        RowId::stored(self.table, row)
    }

    /// The number of a row of this table.
    pub(crate) fn number(&self, id: RowId) -> Option<u32> {
        id.row_in(self.table).filter(|&row| (row as usize) < self.forms.len())
    }

    pub(crate) fn len(&self) -> usize {
        self.forms.len()
    }

    /// Heap bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many rows have each form: sparse, delta, dense.
    pub(crate) fn forms(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for form in &self.forms {
            let at = match form {
                Form::Sparse(_) => 0,
                Form::Delta { .. } => 1,
                Form::Dense(_) => 2,
            };
            counts[at] += 1;
        }
        counts
    }

    fn dense(&self, row: u32) -> &[i32] {
        match &self.forms[row as usize] {
            Form::Dense(words) => words,
            _ => unreachable!("invariant 2: a base is dense"),
        }
    }

    /// Writes a row whole.
    pub(crate) fn write(&self, row: u32, words: &mut [i32]) {
        match &self.forms[row as usize] {
            Form::Dense(stored) => words.copy_from_slice(stored),
            Form::Sparse(ids) => {
                words.fill(0);
                flip(words, ids);
            }
            Form::Delta { base, flips } => {
                words.copy_from_slice(self.dense(*base));
                flip(words, flips);
            }
        }
    }

    /// The row as a short difference from a base that a device can hold. There always is one: any
    /// row that is not short itself serves as its own base.
    pub(crate) fn delta(&self, row: u32, delta: &mut MaskDelta) {
        match &self.forms[row as usize] {
            Form::Sparse(ids) if ids.len() <= MaskDelta::MAX_ENTRIES => {
                delta.set_base(RowId::ZEROS);
                delta.add.extend(ids.iter().map(|&id| TokenId::new(id)));
            }
            Form::Delta { base, flips } if flips.len() <= MaskDelta::MAX_ENTRIES => {
                delta.set_base(self.id(*base));
                let base = Row::new(self.dense(*base), self.model_len);
                for &id in flips {
                    let list = match base.contains(id as usize) {
                        true => &mut delta.remove,
                        false => &mut delta.add,
                    };
                    list.push(TokenId::new(id));
                }
            }
            _ => delta.set_base(self.id(row)),
        }
    }
}

fn flip(words: &mut [i32], ids: &[u32]) {
    for &id in ids {
        words[id as usize / WORD_BITS] ^= 1 << (id as usize % WORD_BITS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_stored_once_and_every_form_reads_back() {
        let model_len = 4_000;
        let evens: Vec<u32> = (0..model_len as u32).step_by(2).collect();
        let mut nearly = evens.clone();
        nearly.retain(|&id| id != 10);
        nearly.push(11);
        let few = vec![7, 3, 3, 3_999];
        let lists = [evens.clone(), nearly.clone(), few.clone(), evens.clone()];
        let mut drafts = Drafts::default();
        lists.iter().for_each(|ids| drafts.push(&mut ids.clone(), model_len));
        let mut builder = RowsBuilder::new(model_len);
        let numbers: Vec<u32> = drafts.iter().map(|draft| builder.add(draft)).collect();
        assert_eq!(numbers, [0, 1, 2, 0]);
        let rows = builder.finish();
        assert_eq!(rows.forms(), [1, 1, 1]);
        let mut words = vec![-1; words_for(model_len)];
        for (mut ids, number) in lists.into_iter().zip(numbers) {
            ids.sort_unstable();
            ids.dedup();
            rows.write(number, &mut words);
            let read: Vec<u32> = Row::new(&words, model_len).ones().map(|id| id as u32).collect();
            assert_eq!(read, ids);
        }
        let mut delta = MaskDelta::default();
        rows.delta(1, &mut delta);
        assert_eq!(delta.base, rows.id(0));
        assert_eq!((delta.add, delta.remove), (vec![TokenId::new(11)], vec![TokenId::new(10)]));
    }
}
