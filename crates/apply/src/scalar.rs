//! The meaning of every operation of this crate, one token at a time: what all faster ways are
//! tested against.

use crate::{Logit, SampleKey, logit::rank};
use formwork_mask::Row;

/// Writes minus infinity to every logit whose token the mask refuses.
///
/// # Panics
/// When the mask is not as long as the row.
pub fn apply<T: Logit>(logits: &mut [T], mask: Row<'_>) {
    assert_eq!(logits.len(), mask.len(), "logits and mask of one vocabulary");
    for (token, logit) in logits.iter_mut().enumerate() {
        if !mask.contains(token) {
            *logit = T::NEG_INFINITY;
        }
    }
}

/// The allowed token with the greatest logit; `None` when no token is allowed. `mask` may be absent:
/// every token is allowed then.
///
/// # Panics
/// When the mask is not as long as the row.
#[must_use]
pub fn argmax<T: Logit>(logits: &[T], mask: Option<Row<'_>>) -> Option<u32> {
    best(logits, mask, |_, logit| logit)
}

/// A token drawn with the probabilities of a softmax over the allowed logits, by
/// [`SampleKey`]'s noise; `None` when no token is allowed.
///
/// # Panics
/// When the mask is not as long as the row.
#[must_use]
pub fn sample<T: Logit>(logits: &[T], mask: Option<Row<'_>>, key: &SampleKey) -> Option<u32> {
    best(logits, mask, |token, logit| key.score(token, logit))
}

fn best<T: Logit>(
    logits: &[T],
    mask: Option<Row<'_>>,
    score: impl Fn(u32, f32) -> f32,
) -> Option<u32> {
    assert!(mask.is_none_or(|mask| mask.len() == logits.len()), "mask of another vocabulary");
    let mut best = (0, None);
    for (token, logit) in logits.iter().enumerate() {
        if mask.is_none_or(|mask| mask.contains(token)) {
            // Vocabularies are far below 2^32 tokens.
            let id = token as u32;
            let rank = rank(score(id, logit.to_f32()));
            if rank > best.0 {
                best = (rank, Some(id));
            }
        }
    }
    best.1
}
