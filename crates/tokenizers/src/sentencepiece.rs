//! SentencePiece's `.model` files.
//!
//! # Idea
//! The file is a protocol buffer: pieces with scores and kinds, how the trainer was set, and what the
//! normaliser does. A piece has spaces written as `▁`; in the middle of a text it stands for itself
//! with spaces put back, and a byte piece `<0x0A>` for its byte.
//!
//! # Encoding
//! As the continuation of a text: the space that SentencePiece puts before a text's first word is
//! left out. BPE merges as [`merge`](crate::merge) does, from characters, by score; Unigram takes the
//! path of the highest score (Kudo, "Subword regularization", 2018).

mod model;
mod proto;
mod unigram;

pub use proto::{SentencePieceError, SentencePieceErrorKind};

use crate::{
    cuts::{Composing, Cuts, Needles},
    huggingface::fallback_byte,
    pairs::BytePairs,
    table::Table,
    text::{TextEncoder, Tokenize},
};
use formwork_vocab::{Encoder, TokenId, Vocabulary};
use model::Bpe;
use proto::{Algorithm, Kind, Model, fault};
use std::sync::Arc;
use unigram::Unigram;

/// Bytes of a piece that text is searched for. Those in use have a few dozen; a long one would be
/// compared with the text at each of its places.
const MAX_SEARCHED_BYTES: usize = 1024;

/// What stands for a space.
const SPACE: char = '▁';

/// Reads a SentencePiece model. The output ends with the trainer's end-of-sequence piece, where that
/// is a control symbol. There is an encoder where the normaliser changes nothing but spaces, every
/// text can be encoded, no piece is kept unused, and none that text is searched for is longer than
/// 1,024 bytes; for Unigram no piece may be user-defined either.
///
/// # Errors
/// [`SentencePieceError`] with the piece. Refused are models that mark the ends of words instead of
/// their beginnings, and those that change text again when they decode.
pub fn sentencepiece(bytes: &[u8]) -> Result<Vocabulary, SentencePieceError> {
    let model = Model::read(bytes)?;
    let mut table = Table::default();
    for (id, piece) in (0..).map(TokenId::new).zip(&model.pieces) {
        let defined = match piece.kind() {
            Kind::Control | Kind::Unknown => table.special(piece.text(), id),
            Kind::Byte => {
                let byte = fallback_byte(piece.text()).ok_or_else(|| {
                    let piece = piece.text().to_owned();
                    fault(Some(id), SentencePieceErrorKind::Byte { piece })
                })?;
                table.token(id, &[byte])
            }
            Kind::Normal | Kind::UserDefined | Kind::Unused => {
                table.token(id, piece.text().replace(SPACE, " ").as_bytes())
            }
        };
        defined.map_err(|error| fault(Some(id), error))?;
        if model.ends_with(id) {
            table.eos.push(id);
        }
    }
    let encoder = encoder(&model, &table);
    table.build(model.pieces.len(), encoder).map_err(|error| fault(None, error))
}

/// The encoder; `None` where it would not be SentencePiece's own.
fn encoder(model: &Model, table: &Table) -> Option<Arc<dyn Encoder>> {
    if !model.leaves_text_alone() || model.pieces.iter().any(|piece| piece.kind() == Kind::Unused) {
        return None;
    }
    match model.algorithm() {
        Algorithm::Bpe => Some(finish(Bpe::new(model)?, model, table)),
        Algorithm::Unigram => Some(finish(Unigram::new(model)?, model, table)),
        Algorithm::Other => None,
    }
}

fn finish(tokenizer: impl Tokenize + 'static, model: &Model, table: &Table) -> Arc<dyn Encoder> {
    let bytes = Arc::new(table.bytes());
    Arc::new(TextEncoder { tokenizer, bytes, cuts: cuts(model) })
}

fn cuts(model: &Model) -> Option<Cuts> {
    let spelt = |kind: Kind| {
        let pieces = model.pieces.iter().filter(move |piece| piece.kind() == kind);
        pieces.map(|piece| match model.escapes() {
            true => piece.text().replace(SPACE, " "),
            false => piece.text().to_owned(),
        })
    };
    let mut joined = BytePairs::new();
    for text in spelt(Kind::Normal).chain(spelt(Kind::UserDefined)) {
        joined.insert_inner(text.as_bytes());
    }
    let user_defined: Vec<String> = spelt(Kind::UserDefined).collect();
    Some(Cuts {
        composing: Composing::No,
        // What is written `▁` comes out as a space.
        space: Some(SPACE),
        stages: Vec::new(),
        joined: Some(joined),
        added: vec![Needles::new(user_defined.iter().map(String::as_str))?],
    })
}

#[cfg(test)]
mod tests;
