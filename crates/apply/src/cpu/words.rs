//! The portable level: whole words where they are whole, bit by bit where not.

use crate::logit::NEG_INFINITY_F32;
use formwork_mask::WORD_BITS;

/// Applies whole words to their 32 logits each.
pub(super) fn four(logits: &mut [u32], words: &[i32]) {
    each(logits, words, NEG_INFINITY_F32);
}

/// Applies whole words to their 32 logits each.
pub(super) fn two(logits: &mut [u16], words: &[i32], refused: u16) {
    each(logits, words, refused);
}

fn each<B: Copy>(logits: &mut [B], words: &[i32], refused: B) {
    for (logits, &word) in logits.chunks_exact_mut(WORD_BITS).zip(words) {
        match word {
            -1 => {}
            0 => logits.fill(refused),
            _ => {
                let mut zeros = !word.cast_unsigned();
                while zeros != 0 {
                    logits[zeros.trailing_zeros() as usize] = refused;
                    zeros &= zeros - 1;
                }
            }
        }
    }
}
