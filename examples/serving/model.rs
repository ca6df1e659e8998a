//! A model that says anything it may, and a draft model that is half right.

use formwork::{RowId, TokenId};
use formwork_engine::Request;

/// Random numbers (xorshift, Marsaglia, 2003).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// Less than `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit.max(1)
    }
}

/// An allowed token: the first from a random one on.
pub(crate) fn pick(row: &[i32], known: usize, random: &mut Random) -> Option<TokenId> {
    let is_allowed = |&id: &usize| row[id / 32] >> (id % 32) & 1 == 1;
    let start = random.below(known);
    let found = (start..known).chain(0..start).find(is_allowed)?;
    u32::try_from(found).ok().map(TokenId::new)
}

/// A draft: what is allowed, or, for every other token, anything.
pub(crate) fn drafts_of(request: &mut Request, count: usize, random: &mut Random) -> Vec<i32> {
    let Ok(mut fork) = request.fork() else { return Vec::new() };
    let vocabulary = fork.vocabulary().clone();
    let mut row = vec![0; vocabulary.row_words()];
    let mut draft = Vec::new();
    while draft.len() < count {
        let known = vocabulary.tokenizer_len();
        let token = match random.below(2) {
            0 => u32::try_from(random.below(known)).ok().map(TokenId::new),
            _ => fork.fill(&mut row, RowId::NONE).ok().and_then(|_| pick(&row, known, random)),
        };
        let Some(token) = token else { break };
        draft.extend(i32::try_from(token.as_u32()));
        fork.accept_tokens(&[token]).ok();
    }
    draft
}
