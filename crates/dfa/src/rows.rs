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

use formwork_core::{MaskDelta, RowId, TableId, TokenId};
use formwork_mask::{Row, RowMut, WORD_BITS, words_for};
use rustc_hash::FxHashMap;

/// The most ids in a sparse row or a delta: setting this many bits takes about as long as copying
/// a row of a large vocabulary twice.
pub(crate) const SHORT: usize = 512;
/// How many bases are tried for a new row: each costs one pass over the words.
const BASES: usize = 32;

/// A row before it is stored: ascending ids when there are few, otherwise words. Which of the two
/// depends on the number of ids alone, so equal rows are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Draft {
    Few(Box<[u32]>),
    Many(Box<[i32]>),
}

#[derive(Debug)]
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
    numbers: FxHashMap<Draft, u32>,
    bases: Vec<u32>,
}

impl Draft {
    /// The row that allows exactly these ids, which may repeat and come in any order.
    pub(crate) fn new(mut ids: Vec<u32>, model_len: usize) -> Self {
        if ids.len() <= 4 * SHORT {
            ids.sort_unstable();
            ids.dedup();
        }
        if ids.len() > SHORT {
            let mut words = vec![0; words_for(model_len)];
            let mut row = RowMut::new(&mut words, model_len);
            ids.iter().for_each(|&id| row.set(id as usize));
            if row.as_row().count() > SHORT {
                return Self::Many(words.into());
            }
            ids.sort_unstable();
            ids.dedup();
        }
        Self::Few(ids.into())
    }

    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, Self::Few(ids) if ids.is_empty())
    }

    /// Every allowed id.
    pub(crate) fn ids(&self, model_len: usize) -> Vec<u32> {
        match self {
            Self::Few(ids) => ids.to_vec(),
            Self::Many(words) => {
                let ones = Row::new(words, model_len).ones();
                ones.map(|id| u32::try_from(id).expect("ids are u32")).collect()
            }
        }
    }
}

impl RowsBuilder {
    pub(crate) fn new(model_len: usize) -> Self {
        let rows = Rows { table: TableId::unique(), model_len, forms: Vec::new(), bytes: 0 };
        Self { rows, numbers: FxHashMap::default(), bases: Vec::new() }
    }

    /// The number of a row, stored now if it is new.
    pub(crate) fn add(&mut self, draft: Draft) -> u32 {
        if let Some(&number) = self.numbers.get(&draft) {
            return number;
        }
        let number = u32::try_from(self.rows.forms.len()).expect("fewer rows than states");
        let form = self.form(&draft);
        if matches!(form, Form::Dense(_)) {
            self.bases.push(number);
        }
        self.rows.bytes += form.bytes();
        self.rows.forms.push(form);
        self.numbers.insert(draft, number);
        number
    }

    /// A row stored before.
    pub(crate) fn draft(&self, number: u32) -> Draft {
        let rows = &self.rows;
        match &rows.forms[number as usize] {
            Form::Sparse(ids) => Draft::Few(ids.clone()),
            _ => {
                let mut words = vec![0; words_for(rows.model_len)];
                rows.write(number, &mut words);
                Draft::Many(words.into())
            }
        }
    }

    /// Heap bytes the rows take so far.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.bytes
    }

    pub(crate) fn finish(self) -> Rows {
        self.rows
    }

    fn form(&self, draft: &Draft) -> Form {
        let words = match draft {
            Draft::Few(ids) => return Form::Sparse(ids.clone()),
            Draft::Many(words) => words,
        };
        let distance = |base: &[i32]| -> usize {
            base.iter().zip(words).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
        };
        let nearest = self
            .bases
            .iter()
            .rev()
            .take(BASES)
            .map(|&base| (distance(self.rows.dense(base)), base))
            .min();
        match nearest {
            Some((flips, base)) if flips <= SHORT => {
                Form::Delta { base, flips: differing(self.rows.dense(base), words) }
            }
            _ => Form::Dense(words.clone()),
        }
    }
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
        let drafts = [evens.clone(), nearly.clone(), few.clone(), evens.clone()];
        let mut builder = RowsBuilder::new(model_len);
        let numbers: Vec<u32> =
            drafts.iter().map(|ids| builder.add(Draft::new(ids.clone(), model_len))).collect();
        assert_eq!(numbers, [0, 1, 2, 0]);
        let rows = builder.finish();
        assert_eq!(rows.forms(), [1, 1, 1]);
        let mut words = vec![-1; words_for(model_len)];
        for (mut ids, number) in drafts.into_iter().zip(numbers) {
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
