//! AVX-512: the mask's bits are the processor's own store masks.
//!
//! Sixteen words of the mask are compared with all ones at a time, so that a stretch of 512 allowed
//! tokens costs one load and one comparison. A masked store writes the refused lanes and neither
//! reads nor writes the others.

#![expect(unsafe_code, reason = "vector stores go through pointers")]

use crate::logit::NEG_INFINITY_F32;
use formwork_mask::WORD_BITS;
use std::arch::x86_64::*;

const GROUP: usize = 16;

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

#[target_feature(enable = "avx512f,avx512bw")]
fn four_inner(logits: &mut [u32], words: &[i32]) {
    let refused = _mm512_set1_epi32(NEG_INFINITY_F32.cast_signed());
    each_constrained(logits, words, |logits, word| {
        let zeros = !word.cast_unsigned();
        let at = logits.as_mut_ptr().cast::<i32>();
        // SAFETY: `logits` is a word's 32 elements of 4 bytes: two vectors.
        unsafe {
            if word == 0 {
                _mm512_storeu_si512(at.cast(), refused);
                _mm512_storeu_si512(at.add(16).cast(), refused);
            } else {
                _mm512_mask_storeu_epi32(at, zeros as u16, refused);
                _mm512_mask_storeu_epi32(at.add(16), (zeros >> 16) as u16, refused);
            }
        }
    });
}

#[target_feature(enable = "avx512f,avx512bw")]
fn two_inner(logits: &mut [u16], words: &[i32], refused: u16) {
    let refused = _mm512_set1_epi16(refused.cast_signed());
    each_constrained(logits, words, |logits, word| {
        let at = logits.as_mut_ptr().cast::<i16>();
        // SAFETY: `logits` is a word's 32 elements of 2 bytes: one vector.
        unsafe {
            if word == 0 {
                _mm512_storeu_si512(at.cast(), refused);
            } else {
                _mm512_mask_storeu_epi16(at, !word.cast_unsigned(), refused);
            }
        }
    });
}

/// Calls `store` for every word that is not all ones, with its logits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn each_constrained<B>(logits: &mut [B], words: &[i32], mut store: impl FnMut(&mut [B], i32)) {
    let (groups, rest) = words.as_chunks::<GROUP>();
    let (head, tail) = logits.split_at_mut(groups.len() * GROUP * WORD_BITS);
    for (group, logits) in groups.iter().zip(head.chunks_exact_mut(GROUP * WORD_BITS)) {
        // SAFETY: a group is sixteen words of 4 bytes: one vector.
        let loaded = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        let mut constrained = _mm512_cmpneq_epi32_mask(loaded, _mm512_set1_epi32(-1));
        if constrained == u16::MAX {
            for (&word, logits) in group.iter().zip(logits.chunks_exact_mut(WORD_BITS)) {
                store(logits, word);
            }
            continue;
        }
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
