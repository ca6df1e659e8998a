//! Logits and masks of every kind, from a seed.

use formwork_apply::{Logit, bf16, f16};
use formwork_mask::words_for;

/// Bits of a logit: all of them, so that NaN payloads count.
pub(crate) trait Bits: Logit + std::fmt::Debug {
    fn of(bits: u32) -> Self;
    fn bits(self) -> u32;
}

impl Bits for f32 {
    fn of(bits: u32) -> Self {
        f32::from_bits(bits)
    }
    fn bits(self) -> u32 {
        self.to_bits()
    }
}

impl Bits for f16 {
    fn of(bits: u32) -> Self {
        f16::from_bits((bits >> 16) as u16)
    }
    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }
}

impl Bits for bf16 {
    fn of(bits: u32) -> Self {
        bf16::from_bits((bits >> 16) as u16)
    }
    fn bits(self) -> u32 {
        u32::from(self.to_bits())
    }
}

/// A small generator, because proptest's own vectors of 151,936 numbers take their time.
#[derive(Clone, Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 32) as u32
    }

    /// Logits that include every kind of number, or are near each other, with ties.
    pub(crate) fn logit<T: Bits>(&mut self) -> T {
        match self.next() % 4 {
            0 => T::of(self.next()),
            1 => T::of(((self.next() % 64) as f32 - 32.0).to_bits()),
            2 => T::of(0x8000_0000 * (self.next() % 2)),
            _ => T::of(((self.next() % 4096) as f32 / 256.0 - 8.0).to_bits()),
        }
    }

    /// Words of stretches: all ones, all zeros, mixed to some degree.
    pub(crate) fn words(&mut self, tokens: usize) -> Vec<i32> {
        let mut words = Vec::with_capacity(words_for(tokens));
        while words.len() < words_for(tokens) {
            let (kind, stretch) = (self.next() % 5, self.next() % 40);
            for _ in 0..stretch {
                words.push(match kind {
                    0 => 0,
                    1 => -1,
                    2 => 1_i32.rotate_left(self.next() % 32),
                    3 => !1_i32.rotate_left(self.next() % 32),
                    _ => self.next().cast_signed(),
                });
            }
        }
        words.truncate(words_for(tokens));
        words
    }
}
