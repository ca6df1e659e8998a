//! The path of the highest score.

use super::{
    MAX_SEARCHED_BYTES,
    model::Fallback,
    proto::{Kind, Model},
};
use crate::{strings::Strings, text::Tokenize};
use formwork_vocab::{EncodeError, TokenId};

/// What an unknown character costs more than the worst piece.
const UNKNOWN_PENALTY: f32 = 10.0;

/// Pieces with scores, sums of which are compared.
#[derive(Debug)]
pub(super) struct Unigram {
    pieces: Strings,
    /// By id.
    scores: Vec<f32>,
    unknown_score: f32,
    fallback: Fallback,
}

/// The best way to a place in the text.
#[derive(Clone, Copy)]
struct Step {
    score: f32,
    start: usize,
    /// `None` for an unknown character.
    piece: Option<TokenId>,
}

impl Unigram {
    pub(super) fn new(model: &Model) -> Option<Self> {
        if model.pieces.iter().any(|piece| piece.kind() == Kind::UserDefined) {
            return None;
        }
        let scores: Vec<f32> =
            model.pieces.iter().map(|piece| piece.score.unwrap_or_default()).collect();
        let normal = (0..).zip(&model.pieces).filter(|(_, piece)| piece.kind() == Kind::Normal);
        let pieces: Vec<(Box<[u8]>, u32)> =
            normal.clone().map(|(id, piece)| (piece.text().as_bytes().into(), id)).collect();
        if pieces.iter().any(|(piece, _)| piece.len() > MAX_SEARCHED_BYTES) {
            return None;
        }
        let worst = normal.map(|(_, piece)| piece.score.unwrap_or_default());
        let worst = worst.fold(f32::MAX, f32::min);
        Some(Self {
            pieces: Strings::new(pieces),
            scores,
            unknown_score: worst - UNKNOWN_PENALTY,
            fallback: Fallback::new(model)?,
        })
    }

    /// The best step to each place; `None` where none leads.
    fn steps(&self, text: &str) -> Vec<Option<Step>> {
        let mut steps: Vec<Option<Step>> = vec![None; text.len() + 1];
        for (start, character) in text.char_indices() {
            let so_far = steps[start].map_or(0.0, |step| step.score);
            let mut reach = |len: usize, score: f32, piece: Option<TokenId>| {
                let step = &mut steps[start + len];
                let score = so_far + score;
                if step.is_none_or(|step| score > step.score) {
                    *step = Some(Step { score, start, piece });
                }
            };
            let mut is_piece = false;
            self.pieces.prefixes(&text.as_bytes()[start..], |len, id| {
                is_piece |= len == character.len_utf8();
                reach(len, self.scores[id as usize], Some(TokenId::new(id)));
            });
            if !is_piece {
                reach(character.len_utf8(), self.unknown_score, None);
            }
        }
        steps
    }
}

impl Tokenize for Unigram {
    fn tokens(&self, text: &str) -> Result<Vec<TokenId>, EncodeError> {
        let text = self.fallback.escape(text);
        let steps = self.steps(&text);
        let mut path = Vec::new();
        let mut end = text.len();
        // Every character leads on, so every place between characters has a step to it.
        while let Some(step) = steps[end].filter(|_| end > 0) {
            path.push((step.start..end, step.piece));
            end = step.start;
        }
        let mut tokens = Vec::new();
        let mut after_unknown = false;
        for (range, piece) in path.into_iter().rev() {
            match piece {
                Some(id) => tokens.push(id),
                None => self.fallback.push(&text.as_bytes()[range], &mut tokens, after_unknown),
            }
            after_unknown = piece.is_none();
        }
        Ok(tokens)
    }
}
