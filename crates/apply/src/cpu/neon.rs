//! NEON: mixed words load, select and store, as with AVX2.

#![expect(unsafe_code, reason = "vector loads and stores go through pointers")]

use crate::logit::NEG_INFINITY_F32;
use formwork_mask::WORD_BITS;
use std::arch::aarch64::*;

/// Applies whole words to their 32 logits each.
pub(super) fn four(logits: &mut [u32], words: &[i32]) {
    assert_eq!(logits.len(), words.len() * WORD_BITS);
    // SAFETY: `Level::is_available` has found the instructions before this level could be chosen.
    unsafe { four_inner(logits, words) }
}

/// Applies whole words to their 32 logits each.
pub(super) fn two(logits: &mut [u16], words: &[i32], refused: u16) {
    assert_eq!(logits.len(), words.len() * WORD_BITS);
    // SAFETY: as in `four`.
    unsafe { two_inner(logits, words, refused) }
}

#[target_feature(enable = "neon")]
fn four_inner(logits: &mut [u32], words: &[i32]) {
    // SAFETY: the array is one vector of four.
    let bits = unsafe { vld1q_u32([1, 2, 4, 8].as_ptr()) };
    let refused = vdupq_n_u32(NEG_INFINITY_F32);
    each_constrained(logits, words, |logits, word| {
        for (nibble, logits) in logits.chunks_exact_mut(4).enumerate() {
            let at = logits.as_mut_ptr();
            let allowed = word.cast_unsigned() >> (4 * nibble);
            // SAFETY: `logits` is four elements of 4 bytes: one vector.
            unsafe {
                let lanes = match word {
                    0 => refused,
                    _ => vbslq_u32(vtstq_u32(vdupq_n_u32(allowed), bits), vld1q_u32(at), refused),
                };
                vst1q_u32(at, lanes);
            }
        }
    });
}

#[target_feature(enable = "neon")]
fn two_inner(logits: &mut [u16], words: &[i32], refused: u16) {
    // SAFETY: the array is one vector of eight.
    let bits = unsafe { vld1q_u16([1, 2, 4, 8, 16, 32, 64, 128].as_ptr()) };
    let refused = vdupq_n_u16(refused);
    each_constrained(logits, words, |logits, word| {
        for (byte, logits) in logits.chunks_exact_mut(8).enumerate() {
            let at = logits.as_mut_ptr();
            let allowed = (word.cast_unsigned() >> (8 * byte)) as u16;
            // SAFETY: `logits` is eight elements of 2 bytes: one vector.
            unsafe {
                let lanes = match word {
                    0 => refused,
                    _ => vbslq_u16(vtstq_u16(vdupq_n_u16(allowed), bits), vld1q_u16(at), refused),
                };
                vst1q_u16(at, lanes);
            }
        }
    });
}

/// Calls `store` for every word that is not all ones, with its logits. Four words are passed over
/// at a time where they are.
#[inline]
#[target_feature(enable = "neon")]
fn each_constrained<B>(logits: &mut [B], words: &[i32], mut store: impl FnMut(&mut [B], i32)) {
    for (group, logits) in words.chunks(4).zip(logits.chunks_mut(4 * WORD_BITS)) {
        if group.iter().fold(-1, |all, word| all & word) == -1 {
            continue;
        }
        for (&word, logits) in group.iter().zip(logits.chunks_exact_mut(WORD_BITS)) {
            if word != -1 {
                store(logits, word);
            }
        }
    }
}
