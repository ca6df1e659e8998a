//! AVX2: no cheap masked stores, so that mixed words load, blend and store.
//!
//! A blend moves bits and computes nothing, so that allowed logits come back as they were.

#![expect(unsafe_code, reason = "vector loads and stores go through pointers")]

use crate::logit::NEG_INFINITY_F32;
use formwork_mask::WORD_BITS;
use std::arch::x86_64::*;

const GROUP: usize = 8;

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

#[target_feature(enable = "avx2")]
fn four_inner(logits: &mut [u32], words: &[i32]) {
    let refused = _mm256_set1_epi32(NEG_INFINITY_F32.cast_signed());
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    each_constrained(logits, words, |logits, word| {
        let at = logits.as_mut_ptr().cast::<__m256i>();
        for byte in 0..4 {
            let allowed = word >> (8 * byte);
            // SAFETY: `logits` is a word's 32 elements of 4 bytes: four vectors.
            unsafe {
                let at = at.add(byte);
                let lanes = match word {
                    0 => refused,
                    _ => {
                        let chosen = _mm256_and_si256(_mm256_set1_epi32(allowed), bits);
                        let keep = _mm256_cmpeq_epi32(chosen, bits);
                        _mm256_blendv_epi8(refused, _mm256_loadu_si256(at), keep)
                    }
                };
                _mm256_storeu_si256(at, lanes);
            }
        }
    });
}

#[target_feature(enable = "avx2")]
fn two_inner(logits: &mut [u16], words: &[i32], refused: u16) {
    let refused = _mm256_set1_epi16(refused.cast_signed());
    let bits = _mm256_setr_epi16(
        1,
        2,
        4,
        8,
        16,
        32,
        64,
        128,
        256,
        512,
        1024,
        2048,
        4096,
        8192,
        16384,
        i16::MIN,
    );
    each_constrained(logits, words, |logits, word| {
        let at = logits.as_mut_ptr().cast::<__m256i>();
        for half in 0..2 {
            let allowed = (word >> (16 * half)) as i16;
            // SAFETY: `logits` is a word's 32 elements of 2 bytes: two vectors.
            unsafe {
                let at = at.add(half);
                let lanes = match word {
                    0 => refused,
                    _ => {
                        let chosen = _mm256_and_si256(_mm256_set1_epi16(allowed), bits);
                        let keep = _mm256_cmpeq_epi16(chosen, bits);
                        _mm256_blendv_epi8(refused, _mm256_loadu_si256(at), keep)
                    }
                };
                _mm256_storeu_si256(at, lanes);
            }
        }
    });
}

/// Calls `store` for every word that is not all ones, with its logits.
#[inline]
#[target_feature(enable = "avx2")]
fn each_constrained<B>(logits: &mut [B], words: &[i32], mut store: impl FnMut(&mut [B], i32)) {
    let (groups, rest) = words.as_chunks::<GROUP>();
    let (head, tail) = logits.split_at_mut(groups.len() * GROUP * WORD_BITS);
    for (group, logits) in groups.iter().zip(head.chunks_exact_mut(GROUP * WORD_BITS)) {
        // SAFETY: a group is eight words of 4 bytes: one vector.
        let loaded = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
        let whole = _mm256_cmpeq_epi32(loaded, _mm256_set1_epi32(-1));
        let whole = _mm256_movemask_ps(_mm256_castsi256_ps(whole));
        let mut constrained = !whole & 0xff;
        while constrained != 0 {
            let index = constrained.trailing_zeros() as usize;
            store(&mut logits[index * WORD_BITS..][..WORD_BITS], group[index]);
            constrained &= constrained - 1;
        }
    }
    for (&word, logits) in rest.iter().zip(tail.chunks_exact_mut(WORD_BITS)) {
        if word != -1 {
            store(logits, word);
        }
    }
}
