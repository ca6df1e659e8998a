//! Masks to check and to time with.

use formwork_apply::{Base, MessageBatch, RowStore, Slot, StoreError, StoredRow};
use formwork_mask::{Row, words_for};
use std::{io, path::Path};

/// A small generator of numbers, from a seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32
    }

    /// Whether something of this probability happens.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        f64::from(self.next()) < probability * 4_294_967_296.0
    }
}

/// Tokens that are refused together in clustered masks.
pub(crate) const STRETCH: usize = 256;

/// Masks that were made once and are repeated: making them all would take longer than the rest.
const DISTINCT: usize = 64;

/// `rows` packed masks that refuse a fraction of the tokens, in stretches of `stretch`.
pub(crate) fn masks(rows: usize, tokens: usize, fraction: f64, stretch: usize) -> Vec<i32> {
    let mut numbers = Numbers(tokens as u64 ^ fraction.to_bits());
    let mut distinct = vec![-1; rows.min(DISTINCT) * words_for(tokens)];
    for row in distinct.chunks_mut(words_for(tokens)) {
        for begin in (0..tokens).step_by(stretch) {
            if numbers.happens(fraction) {
                for token in begin..tokens.min(begin + stretch) {
                    row[token / 32] &= !(1_i32 << (token % 32));
                }
            }
        }
    }
    repeat(&distinct, rows * words_for(tokens))
}

/// `words` repeated up to a length.
pub(crate) fn repeat(words: &[i32], len: usize) -> Vec<i32> {
    words.iter().copied().cycle().take(len).collect()
}

/// Vocabulary of the real masks.
pub(crate) const REAL_TOKENS: usize = 128_256;

/// The words of a file of masks.
pub(crate) fn real_masks(path: &Path) -> io::Result<Vec<i32>> {
    let bytes = std::fs::read(path)?;
    let words: Vec<i32> =
        bytes.as_chunks::<4>().0.iter().map(|word| i32::from_le_bytes(*word)).collect();
    match !words.is_empty() && words.len().is_multiple_of(words_for(REAL_TOKENS)) {
        true => Ok(words),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "no whole rows of 4,008 words")),
    }
}

/// Bytes of 32-byte sectors that hold a logit whose bit is `bit`.
pub(crate) fn sector_bytes(words: &[i32], logit_bytes: usize, bit: bool) -> usize {
    let per_sector = 32 / logit_bytes;
    let part = u32::MAX >> (32 - per_sector);
    let count = |word: &i32| {
        let bits = if bit { *word } else { !*word }.cast_unsigned();
        (0..32).step_by(per_sector).filter(|shift| bits >> shift & part != 0).count()
    };
    words.iter().map(count).sum::<usize>() * 32
}

/// Entries that a message may have before its row is sent whole.
const MOST_CHANGES: usize = 64;

/// Masks as resident rows and messages: each is one of the rows before it and what differs, or a new
/// row where none is near.
pub(crate) fn messages(
    words: &[i32],
    tokens: usize,
) -> Result<(RowStore, Vec<Slot>, MessageBatch), StoreError> {
    let rows = words.chunks(words_for(tokens));
    let mut store = RowStore::new(tokens, rows.len() as u32, 0);
    let mut bases: Vec<(&[i32], Slot)> = Vec::new();
    let mut batch = MessageBatch::new();
    for row in rows {
        let near = bases.iter().find(|(base, _)| changes(base, row) <= MOST_CHANGES).copied();
        let (base, slot) = match near {
            Some(near) => near,
            None => {
                let (StoredRow::New(slot) | StoredRow::Resident(slot)) =
                    store.insert(Row::new(row, tokens))?;
                bases.push((row, slot));
                (row, slot)
            }
        };
        batch.push(Base::Row(slot), &only_in(row, base), &only_in(base, row));
    }
    Ok((store, bases.into_iter().map(|(_, slot)| slot).collect(), batch))
}

fn changes(left: &[i32], right: &[i32]) -> usize {
    left.iter().zip(right).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
}

/// Ids that one row has and another has not.
fn only_in(row: &[i32], other: &[i32]) -> Vec<u32> {
    let bits = row.iter().zip(other).zip(0_u32..).flat_map(|((row, other), index)| {
        let bits = row & !other;
        (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| index * 32 + bit)
    });
    bits.collect()
}
