//! What stands in the model's place: built-in scores and a seeded choice.
//!
//! This is no language model. Every token has a fixed score by its looks (short lower-case words
//! high, white space and escapes low); what closes or ends gains with every token that does not,
//! so that texts stay short. The choice is by the Gumbel-max trick: the allowed token with the
//! greatest score plus noise, which samples from the softmax of the scores.

use formwork::{TokenId, Vocabulary, mask::Row};
use rand::{Rng, SeedableRng, rngs::StdRng};

/// A seeded sampler over one vocabulary.
#[derive(Debug)]
pub(crate) struct Sampler {
    scores: Vec<f32>,
    closes: Vec<bool>,
    random: StdRng,
    /// Tokens since something was closed.
    since_closed: u32,
}

/// Head start of what closes over a word, against the tens of thousands of words.
const CLOSE: f32 = 9.0;
/// What it gains with every token since something was closed.
const CLOSE_STEP: f32 = 1.0;

impl Sampler {
    pub(crate) fn new(vocabulary: &Vocabulary, seed: u64) -> Self {
        let ids = (0..vocabulary.model_len()).map(|id| {
            let id = u32::try_from(id).expect("ids are u32");
            TokenId::new(id)
        });
        let (scores, closes) = ids
            .map(|id| match vocabulary.bytes(id) {
                Some(bytes) => (score(bytes), closes(bytes)),
                // Specials are allowed only where they end the text or the grammar wants them.
                None => (CLOSE, true),
            })
            .unzip();
        Self { scores, closes, random: StdRng::seed_from_u64(seed), since_closed: 0 }
    }

    /// One of the allowed tokens; `None` when there is none.
    pub(crate) fn choose(&mut self, allowed: Row<'_>) -> Option<TokenId> {
        let patience = CLOSE + CLOSE_STEP * self.since_closed as f32;
        let mut best: Option<(f32, usize)> = None;
        for id in allowed.ones() {
            let bonus = if self.closes[id] { patience } else { 0.0 };
            // Open interval, so that both logarithms are finite.
            let uniform: f32 = self.random.random_range(f32::MIN_POSITIVE..1.0);
            let noise = -(-uniform.ln()).max(f32::MIN_POSITIVE).ln();
            let total = self.scores[id] + bonus + noise;
            if best.is_none_or(|(greatest, _)| total > greatest) {
                best = Some((total, id));
            }
        }
        let (_, id) = best?;
        self.since_closed = if self.closes[id] { 0 } else { self.since_closed + 1 };
        Some(TokenId::new(u32::try_from(id).expect("ids are u32")))
    }
}

/// Whether a token closes something: a string, a list, an object, a sentence.
fn closes(bytes: &[u8]) -> bool {
    matches!(bytes, b"\"" | b"}" | b"]" | b"\"}" | b"\"]" | b"\"," | b"]}" | b".")
}

/// How readable a token looks.
fn score(bytes: &[u8]) -> f32 {
    let word = bytes.strip_prefix(b" ").unwrap_or(bytes);
    let letters = word.iter().filter(|byte| byte.is_ascii_lowercase()).count();
    match word {
        _ if bytes.iter().any(|byte| !byte.is_ascii_graphic() && *byte != b' ') => -12.0,
        _ if bytes.contains(&b'\\') => -10.0,
        [] => -6.0,
        _ if word[0] == b' ' => -12.0,
        _ if letters == word.len() => 3.0 - 0.4 * letters.abs_diff(5) as f32,
        _ if word.iter().all(u8::is_ascii_digit) => 2.0 - 1.5 * (word.len() as f32 - 1.0),
        _ if word.iter().all(u8::is_ascii_alphanumeric) => -1.0,
        _ => -3.0,
    }
}
