//! AVX2: no cheap masked stores, so that mixed words load, blend and store.
//!
//! A blend moves bits and computes nothing, so that allowed logits come back as they were.

#![expect(unsafe_code, reason = "vector loads and stores go through pointers")]

use super::{
    Writes,
    walk::{CHUNK, Found, Ways, walk},
};
use crate::logit::NEG_INFINITY_F32;
use formwork_mask::WORD_BITS;
use std::arch::x86_64::*;

/// Words of a vector.
const LANES: usize = 8;

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

#[target_feature(enable = "avx2")]
fn four_inner(logits: &mut [u32], words: &[i32], writes: Writes) {
    let refused = _mm256_set1_epi32(NEG_INFINITY_F32.cast_signed());
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let ways = Ways {
        scan: |chunk: &[i32; CHUNK]| scan(chunk),
        fill: |logits: &mut [u32]| fill(logits, refused, writes),
        store: |logits: &mut [u32], word: i32| {
            let at = logits[..WORD_BITS].as_mut_ptr().cast::<__m256i>();
            for byte in 0..4 {
                let chosen = _mm256_and_si256(_mm256_set1_epi32(word >> (8 * byte)), bits);
                let keep = _mm256_cmpeq_epi32(chosen, bits);
                // SAFETY: the logits are a word's 32 elements of 4 bytes: four vectors.
                unsafe {
                    let at = at.add(byte);
                    let lanes = _mm256_blendv_epi8(refused, _mm256_loadu_si256(at), keep);
                    _mm256_storeu_si256(at, lanes);
                }
            }
        },
    };
    walk(logits, words, NEG_INFINITY_F32, &ways);
    finish(writes);
}

#[target_feature(enable = "avx2")]
fn two_inner(logits: &mut [u16], words: &[i32], refused: u16, writes: Writes) {
    const BITS: [u16; 16] = {
        let mut bits = [0; 16];
        let mut lane = 0;
        while lane < 16 {
            bits[lane] = 1 << lane;
            lane += 1;
        }
        bits
    };
    let vector = _mm256_set1_epi16(refused.cast_signed());
    // SAFETY: the array is one vector.
    let bits = unsafe { _mm256_loadu_si256(BITS.as_ptr().cast()) };
    let ways = Ways {
        scan: |chunk: &[i32; CHUNK]| scan(chunk),
        fill: |logits: &mut [u16]| fill(logits, vector, writes),
        store: |logits: &mut [u16], word: i32| {
            let at = logits[..WORD_BITS].as_mut_ptr().cast::<__m256i>();
            for half in 0..2 {
                let chosen =
                    _mm256_and_si256(_mm256_set1_epi16((word >> (16 * half)) as i16), bits);
                let keep = _mm256_cmpeq_epi16(chosen, bits);
                // SAFETY: the logits are a word's 32 elements of 2 bytes: two vectors.
                unsafe {
                    let at = at.add(half);
                    let lanes = _mm256_blendv_epi8(vector, _mm256_loadu_si256(at), keep);
                    _mm256_storeu_si256(at, lanes);
                }
            }
        },
    };
    walk(logits, words, refused, &ways);
    finish(writes);
}

/// What is known of a chunk's words. All ones are told by one comparison.
#[inline]
#[target_feature(enable = "avx2")]
fn scan(chunk: &[i32; CHUNK]) -> Found {
    let at = chunk.as_ptr();
    // SAFETY: a chunk is eight vectors of eight words.
    let vector = |part: usize| unsafe { _mm256_loadu_si256(at.add(LANES * part).cast()) };
    let ones = _mm256_set1_epi32(-1);
    let mut all = ones;
    for part in 0..CHUNK / LANES {
        all = _mm256_and_si256(all, vector(part));
    }
    if _mm256_testc_si256(all, ones) == 1 {
        return Found { constrained: 0, zero: 0 };
    }
    let equal = |vector, to| {
        let equal = _mm256_castsi256_ps(_mm256_cmpeq_epi32(vector, to));
        u64::from(_mm256_movemask_ps(equal).cast_unsigned())
    };
    let (mut whole, mut zero) = (0, 0);
    for part in 0..CHUNK / LANES {
        let vector = vector(part);
        whole |= equal(vector, ones) << (LANES * part);
        zero |= equal(vector, _mm256_setzero_si256()) << (LANES * part);
    }
    Found { constrained: !whole, zero }
}

/// Refuses all of some logits, at least a vector of them.
#[inline]
#[target_feature(enable = "avx2")]
fn fill<B>(logits: &mut [B], refused: __m256i, writes: Writes) {
    const BYTES: usize = size_of::<__m256i>();
    let at = logits.as_mut_ptr().cast::<u8>();
    let len = size_of_val(logits);
    assert!(len >= BYTES);
    // The first and the last vector lie wherever the logits do; those between are aligned.
    let aligned = at.align_offset(BYTES)..len - (at as usize + len) % BYTES;
    // SAFETY: every store lies between the first and the last byte of `logits`, and streaming ones
    // are aligned. Elements stay whole, because they are aligned to their size.
    unsafe {
        if aligned.start != 0 {
            _mm256_storeu_si256(at.cast(), refused);
        }
        for offset in aligned.clone().step_by(BYTES) {
            match writes {
                Writes::Around => _mm256_stream_si256(at.add(offset).cast(), refused),
                Writes::Cached => _mm256_store_si256(at.add(offset).cast(), refused),
            }
        }
        if aligned.end != len {
            _mm256_storeu_si256(at.add(len - BYTES).cast(), refused);
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
