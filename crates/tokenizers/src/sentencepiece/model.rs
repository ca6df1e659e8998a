//! What both algorithms know about the pieces, and byte-pair merging.

use super::{
    MAX_SEARCHED_BYTES, SPACE,
    proto::{Kind, Model},
};
use crate::{
    merge::{Seed, merge},
    strings::Strings,
    text::Tokenize,
};
use formwork_vocab::{EncodeError, TokenId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Pieces for what is no piece.
#[derive(Debug)]
pub(super) struct Fallback {
    unknown: TokenId,
    /// Each byte's piece.
    bytes: Option<Box<[TokenId; 256]>>,
    escapes: bool,
}

impl Fallback {
    /// `None` when there is nothing that some text could become.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let ids = || (0..).map(TokenId::new).zip(&model.pieces);
        let (unknown, _) = ids().find(|(_, piece)| piece.kind() == Kind::Unknown)?;
        let mut bytes = Box::new([None; 256]);
        for (id, piece) in ids().filter(|(_, piece)| piece.kind() == Kind::Byte) {
            let byte = crate::huggingface::fallback_byte(piece.text())?;
            bytes[usize::from(byte)] = Some(id);
        }
        let falls_back = model.trainer.byte_fallback == Some(true);
        let bytes = match falls_back {
            // SentencePiece takes bytes only where it has all.
            true => Some(Box::new(all(&bytes)?)),
            false => None,
        };
        Some(Self { unknown, bytes, escapes: model.escapes() })
    }

    /// The text as pieces are written.
    pub(super) fn escape<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.escapes && text.contains(' ') {
            true => text.replace(' ', SPACE.encode_utf8(&mut [0; 4])).into(),
            false => text.into(),
        }
    }

    /// Appends what an unknown character becomes. Unknown ones in a row are one unknown piece.
    pub(super) fn push(&self, character: &[u8], tokens: &mut Vec<TokenId>, after_unknown: bool) {
        match &self.bytes {
            Some(bytes) => {
                tokens.extend(character.iter().map(|&byte| bytes[usize::from(byte)]));
            }
            None if !after_unknown => tokens.push(self.unknown),
            None => {}
        }
    }
}

fn all(bytes: &[Option<TokenId>; 256]) -> Option<[TokenId; 256]> {
    let mut all = [TokenId::new(0); 256];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = (*from)?;
    }
    Some(all)
}

/// Byte-pair merging from characters, by score.
#[derive(Debug)]
pub(super) struct Bpe {
    /// Per piece its id and its place in the order of scores, best first.
    pieces: FxHashMap<Box<[u8]>, (TokenId, u32)>,
    /// User-defined pieces, which are taken out first.
    kept: Strings,
    longest: usize,
    fallback: Fallback,
}

impl Bpe {
    pub(super) fn new(model: &Model) -> Option<Self> {
        let mut scored: Vec<(f32, TokenId, &str)> = Vec::new();
        let mut kept = Vec::new();
        for (id, piece) in (0..).zip(&model.pieces) {
            if matches!(piece.kind(), Kind::Normal | Kind::UserDefined) {
                scored.push((piece.score.unwrap_or_default(), TokenId::new(id), piece.text()));
            }
            if piece.kind() == Kind::UserDefined {
                if piece.text().len() > MAX_SEARCHED_BYTES {
                    return None;
                }
                kept.push((piece.text().as_bytes().into(), id));
            }
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut pieces = FxHashMap::default();
        let mut rank = 0;
        for (at, &(score, id, text)) in scored.iter().enumerate() {
            // Pieces of one score are equals, and the leftmost wins.
            rank += u32::from(at > 0 && scored[at - 1].0 != score);
            if pieces.insert(text.as_bytes().into(), (id, rank)).is_some() {
                return None;
            }
        }
        let longest = scored.iter().map(|(_, _, text)| text.len()).max().unwrap_or_default();
        Some(Self { pieces, kept: Strings::new(kept), longest, fallback: Fallback::new(model)? })
    }

    fn seeds<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Seed> + 'a {
        let mut at = 0;
        std::iter::from_fn(move || {
            let character = text[at..].chars().next()?;
            let kept = self.kept.longest(&text.as_bytes()[at..]);
            let len = kept.map_or(character.len_utf8(), |(len, _)| len);
            at += len;
            Some(Seed { len, frozen: kept.is_some() })
        })
    }
}

impl Tokenize for Bpe {
    fn tokens(&self, text: &str) -> Result<Vec<TokenId>, EncodeError> {
        let text = self.fallback.escape(text);
        let rank = |bytes: &[u8]| self.pieces.get(bytes).map(|&(_, rank)| rank);
        let mut tokens = Vec::new();
        let mut after_unknown = false;
        for part in merge(text.as_bytes(), self.seeds(&text), self.longest, rank) {
            let part = &text.as_bytes()[part];
            let piece = self.pieces.get(part);
            match piece {
                Some(&(id, _)) => tokens.push(id),
                None => self.fallback.push(part, &mut tokens, after_unknown),
            }
            after_unknown = piece.is_none();
        }
        Ok(tokens)
    }
}
