//! Masks to check and to time with.

use formwork_mask::words_for;
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
