//! Argmax and sampling under a mask.
//!
//! # Idea
//! Words without an allowed token are passed over unread. In the others argmax takes the greatest
//! rank of the 32, refused ones counted as zero, and remembers the first word that beats all before;
//! which token it was is looked up once, at the end. That loop has no branch but one per word, so
//! that the compiler vectorises it for each level.
//!
//! Sampling skips noise that cannot matter: a token whose logit is beaten even with the greatest
//! noise there is.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls of functions compiled for other levels")
)]

use super::Level;
use crate::{
    Logit, SampleKey,
    logit::rank,
    noise::{GREATEST, gumbel},
};
use formwork_mask::{Row, WORD_BITS};

/// See [`crate::scalar::argmax`].
pub(super) fn argmax<T: Logit>(level: Level, logits: &[T], mask: Option<Row<'_>>) -> Option<u32> {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Level::is_available` has found the instructions before the level was chosen.
        Level::Avx512 => unsafe { argmax_avx512(logits, mask) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { argmax_avx2(logits, mask) },
        _ => argmax_in_words(logits, mask),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2")]
fn argmax_avx512<T: Logit>(logits: &[T], mask: Option<Row<'_>>) -> Option<u32> {
    argmax_in_words(logits, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn argmax_avx2<T: Logit>(logits: &[T], mask: Option<Row<'_>>) -> Option<u32> {
    argmax_in_words(logits, mask)
}

/// The mask's words, all ones without a mask.
#[inline(always)]
fn words<'a>(mask: Option<Row<'a>>) -> impl Fn(usize) -> u32 + 'a {
    move |index| mask.map_or(u32::MAX, |mask| mask.words()[index].cast_unsigned())
}

#[inline(always)]
fn argmax_in_words<T: Logit>(logits: &[T], mask: Option<Row<'_>>) -> Option<u32> {
    let word = words(mask);
    let (full, tail) = logits.as_chunks::<WORD_BITS>();
    let (mut best, mut best_word) = (0, 0);
    for (index, logits) in full.iter().enumerate() {
        let word = word(index);
        if word == 0 {
            continue;
        }
        let mut greatest = 0;
        for (bit, &logit) in logits.iter().enumerate() {
            let allowed = 0_u32.wrapping_sub(word >> bit & 1);
            greatest = greatest.max(rank(logit.to_f32()) & allowed);
        }
        if greatest > best {
            (best, best_word) = (greatest, index);
        }
    }
    let mut token = None;
    if best > 0 {
        let (logits, word) = (&full[best_word], word(best_word));
        let is_best = |&bit: &usize| word >> bit & 1 == 1 && rank(logits[bit].to_f32()) == best;
        token = (0..WORD_BITS).find(is_best).map(|bit| best_word * WORD_BITS + bit);
    }
    for (bit, &logit) in tail.iter().enumerate() {
        let rank = rank(logit.to_f32());
        if word(full.len()) >> bit & 1 == 1 && rank > best {
            (best, token) = (rank, Some(full.len() * WORD_BITS + bit));
        }
    }
    // Vocabularies are far below 2^32 tokens.
    token.map(|token| token as u32)
}

/// See [`crate::scalar::sample`]; the key is not greedy.
pub(super) fn sample<T: Logit>(
    logits: &[T],
    mask: Option<Row<'_>>,
    key: &SampleKey,
) -> Option<u32> {
    const GROUP: usize = 4;
    let word = words(mask);
    let (mut best, mut token, mut best_score) = (0, None, f32::NEG_INFINITY);
    for (group, logits) in logits.chunks(GROUP).enumerate() {
        let first = group * GROUP;
        let allowed = word(first / WORD_BITS) >> (first % WORD_BITS);
        let scaled = |bit: usize| logits[bit].to_f32() * key.scale();
        // A score of NaN compares as false: it is not passed over here.
        let may_win = |&bit: &usize| {
            let hopeless = scaled(bit) + GREATEST < best_score;
            allowed >> bit & 1 == 1 && !hopeless
        };
        if allowed & 0xf == 0 || !(0..logits.len()).any(|bit| may_win(&bit)) {
            continue;
        }
        let noise = key.noise(group as u32);
        for (bit, noise) in noise.into_iter().enumerate().take(logits.len()) {
            if allowed >> bit & 1 == 0 {
                continue;
            }
            let score = scaled(bit) + gumbel(noise);
            let rank = rank(score);
            if rank > best {
                (best, token) = (rank, Some((first + bit) as u32));
                best_score = if score.is_nan() { f32::NEG_INFINITY } else { score };
            }
        }
    }
    token
}
