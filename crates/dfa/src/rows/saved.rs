//! Rows in an archive.
//!
//! | section | what |
//! |---|---|
//! | forms | bytes: the form of each row, 0 sparse, 1 delta, 2 dense |
//! | lengths | u32s: ids of each sparse row and each delta |
//! | ids | u32s: all of them |
//! | bases | u32s: the base of each delta |
//! | words | i32s: the words of all dense rows |

use super::{Form, Rows, SHORT};
use crate::artifact::{ArtifactError, ArtifactTable, inconsistent, split};
use formwork_archive::{Reader, Writer};
use formwork_core::{TableId, TokenId, Vocabulary};
use formwork_mask::{Row, RowMut, words_for};
use rustc_hash::FxHashSet;

const SPARSE: u8 = 0;
const DELTA: u8 = 1;
const DENSE: u8 = 2;

impl Rows {
    /// Writes all rows.
    pub(crate) fn save(&self, writer: &mut Writer) {
        let (mut forms, mut lengths) = (Vec::with_capacity(self.forms.len()), Vec::new());
        let (mut ids, mut bases, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for form in &self.forms {
            let (kind, listed): (u8, &[u32]) = match form {
                Form::Sparse(ids) => (SPARSE, ids),
                Form::Delta { base, flips } => {
                    bases.push(*base);
                    (DELTA, flips)
                }
                Form::Dense(row) => {
                    words.extend_from_slice(row);
                    (DENSE, &[])
                }
            };
            forms.push(kind);
            if kind != DENSE {
                lengths.push(u32::try_from(listed.len()).expect("at most SHORT"));
                ids.extend_from_slice(listed);
            }
        }
        writer.bytes(&forms);
        writer.u32s(&lengths);
        writer.u32s(&ids);
        writer.u32s(&bases);
        writer.i32s(&words);
    }

    /// Reads rows over a vocabulary. They get an identity of their own, as if they were new.
    pub(crate) fn load(
        reader: &mut Reader<'_>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, ArtifactError> {
        let model_len = vocabulary.model_len();
        let forms = read_forms(reader, words_for(model_len))?;
        let emittable = emittable(vocabulary);
        let mut rows = Self { table: TableId::unique(), model_len, forms: Vec::new(), bytes: 0 };
        for form in forms {
            if !rows.can_be_next(&form, &emittable) {
                return Err(inconsistent(ArtifactTable::Rows, rows.len()));
            }
            rows.bytes += form.bytes();
            rows.forms.push(form);
        }
        let mut known = FxHashSet::default();
        match rows.forms.iter().position(|form| !known.insert(form)) {
            Some(twice) => Err(inconsistent(ArtifactTable::Rows, twice)),
            None => Ok(rows),
        }
    }

    /// The row that allows nothing, if it is one of these.
    pub(crate) fn zero(&self) -> Option<u32> {
        let zero =
            self.forms.iter().position(|form| matches!(form, Form::Sparse(ids) if ids.is_empty()));
        zero.map(|row| u32::try_from(row).expect("rows are u32"))
    }

    /// Whether a row can stand after the ones there are: of emittable tokens, sparse when they are
    /// few and otherwise not, a delta from a dense row.
    fn can_be_next(&self, form: &Form, emittable: &[i32]) -> bool {
        let all = Row::new(emittable, self.model_len);
        let are_ids = |ids: &[u32]| {
            let in_order = ids.is_sorted_by(|a, b| a < b);
            let in_range = ids.last().is_none_or(|&last| (last as usize) < self.model_len);
            ids.len() <= SHORT
                && in_order
                && in_range
                && ids.iter().all(|&id| all.contains(id as usize))
        };
        match form {
            Form::Sparse(ids) => are_ids(ids),
            Form::Dense(words) => {
                let within = words.iter().zip(emittable).all(|(word, all)| word & !all == 0);
                within && Row::new(words, self.model_len).count() > SHORT
            }
            Form::Delta { base, flips } => {
                let Some(Form::Dense(words)) = self.forms.get(*base as usize) else { return false };
                are_ids(flips) && !flips.is_empty() && {
                    let base = Row::new(words, self.model_len);
                    let removed = flips.iter().filter(|&&id| base.contains(id as usize)).count();
                    base.count() + flips.len() - 2 * removed > SHORT
                }
            }
        }
    }
}

/// The forms as they are written, each alone as it should be.
fn read_forms(reader: &mut Reader<'_>, row_words: usize) -> Result<Vec<Form>, ArtifactError> {
    let table = ArtifactTable::Rows;
    let kinds = reader.bytes("forms of rows")?;
    let (lengths, ids) = (reader.u32s("lengths of rows")?, reader.u32s("ids of rows")?);
    let (bases, words) = (reader.u32s("bases of rows")?, reader.i32s("words of rows")?);
    let lists: Vec<Box<[u32]>> = split(&lengths, &ids).ok_or(ArtifactError::Lengths { table })?;
    let (mut lists, mut bases, mut words) = (lists.into_iter(), bases.into_iter(), &words[..]);
    let mut next = |kind| {
        Some(match kind {
            SPARSE => Form::Sparse(lists.next()?),
            DELTA => Form::Delta { base: bases.next()?, flips: lists.next()? },
            _ => {
                let (row, rest) = words.split_at_checked(row_words)?;
                words = rest;
                Form::Dense(row.into())
            }
        })
    };
    let mut forms = Vec::with_capacity(kinds.len());
    for (row, &kind) in kinds.iter().enumerate() {
        if kind > DENSE {
            return Err(inconsistent(table, row));
        }
        forms.push(next(kind).ok_or(ArtifactError::Lengths { table })?);
    }
    let all_used = lists.len() == 0 && bases.len() == 0 && words.is_empty();
    if all_used { Ok(forms) } else { Err(ArtifactError::Lengths { table }) }
}

/// The row of everything that can be emitted.
fn emittable(vocabulary: &Vocabulary) -> Vec<i32> {
    let mut words = vec![0; vocabulary.row_words()];
    let mut row = RowMut::new(&mut words, vocabulary.model_len());
    let ids = (0..).take(vocabulary.tokenizer_len()).map(TokenId::new);
    ids.filter(|&id| vocabulary.is_emittable(id)).for_each(|id| row.set(id.index()));
    words
}
