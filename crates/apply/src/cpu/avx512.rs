//! AVX-512: the mask's bits are the processor's own store masks.
//!
//! A masked store writes the refused lanes and neither reads nor writes the others.

#![expect(unsafe_code, reason = "vector stores go through pointers")]

use super::{
    Writes,
    walk::{CHUNK, Found, Ways, walk},
};
use crate::logit::NEG_INFINITY_F32;
use formwork_mask::WORD_BITS;
use std::arch::x86_64::*;

/// Words of a vector.
const LANES: usize = 16;

/// Applies whole words to their 32 logits each.
pub(super) fn four(logits: &mut [u32], words: &[i32], writes: Writes) {
    assert_eq!(logits.len(), words.len() * WORD_BITS);
    // SAFETY: `Level::is_available` has found the instructions before this level could be chosen.
    unsafe { four_inner(logits, words, writes) }
}

/// Applies whole words to their 32 logits each.
pub(super) fn two(logits: &mut [u16], words: &[i32], refused: u16, writes: Writes) {
    assert_eq!(logits.len(), words.len() * WORD_BITS);
    // SAFETY: as in `four`.
    unsafe { two_inner(logits, words, refused, writes) }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn four_inner(logits: &mut [u32], words: &[i32], writes: Writes) {
    let refused = _mm512_set1_epi32(NEG_INFINITY_F32.cast_signed());
    let ways = Ways {
        scan: |chunk: &[i32; CHUNK]| scan(chunk),
        fill: |logits: &mut [u32]| fill(logits, refused, writes),
        store: |logits: &mut [u32], word: i32| {
            let zeros = !word.cast_unsigned();
            let logits = &mut logits[..WORD_BITS];
            let at = logits.as_mut_ptr().cast::<i32>();
            // SAFETY: `logits` is a word's 32 elements of 4 bytes: two vectors.
            unsafe {
                _mm512_mask_storeu_epi32(at, zeros as u16, refused);
                _mm512_mask_storeu_epi32(at.add(16), (zeros >> 16) as u16, refused);
            }
        },
    };
    walk(logits, words, NEG_INFINITY_F32, &ways);
    finish(writes);
}

#[target_feature(enable = "avx512f,avx512bw")]
fn two_inner(logits: &mut [u16], words: &[i32], refused: u16, writes: Writes) {
    let vector = _mm512_set1_epi16(refused.cast_signed());
    let ways = Ways {
        scan: |chunk: &[i32; CHUNK]| scan(chunk),
        fill: |logits: &mut [u16]| fill(logits, vector, writes),
        store: |logits: &mut [u16], word: i32| {
            let logits = &mut logits[..WORD_BITS];
            let at = logits.as_mut_ptr().cast::<i16>();
            // SAFETY: `logits` is a word's 32 elements of 2 bytes: one vector.
            unsafe { _mm512_mask_storeu_epi16(at, !word.cast_unsigned(), vector) };
        },
    };
    walk(logits, words, refused, &ways);
    finish(writes);
}

/// What is known of a chunk's words. All ones are told by one comparison.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn scan(chunk: &[i32; CHUNK]) -> Found {
    let at = chunk.as_ptr();
    // SAFETY: a chunk is four vectors of sixteen words.
    let vector = |part: usize| unsafe { _mm512_loadu_si512(at.add(LANES * part).cast()) };
    let ones = _mm512_set1_epi32(-1);
    let (ab, cd) = (_mm512_and_si512(vector(0), vector(1)), _mm512_and_si512(vector(2), vector(3)));
    let all = _mm512_and_si512(ab, cd);
    if _mm512_cmpneq_epi32_mask(all, ones) == 0 {
        return Found { constrained: 0, zero: 0 };
    }
    let mut found = Found { constrained: 0, zero: 0 };
    for part in 0..CHUNK / LANES {
        let vector = vector(part);
        let constrained = _mm512_cmpneq_epi32_mask(vector, ones);
        let zero = _mm512_testn_epi32_mask(vector, vector);
        found.constrained |= u64::from(constrained) << (LANES * part);
        found.zero |= u64::from(zero) << (LANES * part);
    }
    found
}

/// Refuses all of some logits, at least a vector of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn fill<B>(logits: &mut [B], refused: __m512i, writes: Writes) {
    const BYTES: usize = size_of::<__m512i>();
    let at = logits.as_mut_ptr().cast::<u8>();
    let len = size_of_val(logits);
    assert!(len >= BYTES);
    // The first and the last vector lie wherever the logits do; between them are whole lines.
    let lines = at.align_offset(BYTES)..len - (at as usize + len) % BYTES;
    // SAFETY: every store lies between the first and the last byte of `logits`, and streaming ones
    // at whole lines. Elements stay whole: lines begin at a multiple of an element, because
    // elements are aligned to their size.
    unsafe {
        if lines.start != 0 {
            _mm512_storeu_si512(at.cast(), refused);
        }
        for offset in lines.clone().step_by(BYTES) {
            match writes {
                Writes::Around => _mm512_stream_si512(at.add(offset).cast(), refused),
                Writes::Cached => _mm512_store_si512(at.add(offset).cast(), refused),
            }
        }
        if lines.end != len {
            _mm512_storeu_si512(at.add(len - BYTES).cast(), refused);
        }
    }
}

/// Orders what was written around the caches before everything that follows.
#[target_feature(enable = "sse")]
fn finish(writes: Writes) {
    if writes == Writes::Around {
        _mm_sfence();
    }
}
