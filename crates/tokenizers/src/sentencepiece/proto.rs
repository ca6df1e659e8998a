//! The messages of a SentencePiece model, and what can be wrong with them.
//!
//! Field numbers are those of `sentencepiece_model.proto`; fields that nothing here needs are passed
//! over. Pieces are read one by one, so that their number is checked before there are too many.

use formwork_vocab::{TokenId, Vocabulary, VocabularyError};
use prost::{
    DecodeError, Message,
    bytes::Buf,
    encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field},
};

/// Why a SentencePiece model cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}{kind}", place(*.piece))]
pub struct SentencePieceError {
    /// The piece that is at fault; `None` where the file as a whole is.
    pub piece: Option<TokenId>,
    /// What is wrong.
    pub kind: SentencePieceErrorKind,
}

/// What is wrong with a SentencePiece model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SentencePieceErrorKind {
    /// It is not the protocol buffer it should be.
    #[error(transparent)]
    Protobuf(#[from] DecodeError),
    /// A field goes past the end of the file.
    #[error("the file ends inside a field")]
    Cut,
    /// A byte piece is not `<0x..>`.
    #[error("{piece:?} stands for no byte")]
    Byte {
        /// The piece.
        piece: String,
    },
    /// `treat_whitespace_as_suffix` is set.
    #[error(
        "treat_whitespace_as_suffix writes a word's space behind it, and takes it away from the \
         last word, so that a token has no bytes of its own"
    )]
    WhitespaceAsSuffix,
    /// There are rules for decoding.
    #[error("a denormalizer changes text across tokens, which leaves them no bytes of their own")]
    Denormalizer,
    /// What was read is no vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

fn place(piece: Option<TokenId>) -> String {
    piece.map_or_else(String::new, |piece| format!("piece {piece}: "))
}

/// The error at a piece.
pub(super) fn fault(
    piece: Option<TokenId>,
    kind: impl Into<SentencePieceErrorKind>,
) -> SentencePieceError {
    SentencePieceError { piece, kind: kind.into() }
}

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Kind {
    #[default]
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

/// How text is divided into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Unigram,
    Bpe,
    /// Words or characters.
    Other,
}

/// `ModelProto.SentencePiece`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Piece {
    #[prost(string, optional, tag = "1")]
    pub(super) piece: Option<String>,
    #[prost(float, optional, tag = "2")]
    pub(super) score: Option<f32>,
    #[prost(int32, optional, tag = "3")]
    pub(super) r#type: Option<i32>,
}

/// `TrainerSpec`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Trainer {
    #[prost(int32, optional, tag = "3")]
    pub(super) model_type: Option<i32>,
    #[prost(bool, optional, tag = "24")]
    pub(super) treat_whitespace_as_suffix: Option<bool>,
    #[prost(bool, optional, tag = "35")]
    pub(super) byte_fallback: Option<bool>,
    #[prost(int32, optional, tag = "42")]
    pub(super) eos_id: Option<i32>,
}

/// `NormalizerSpec`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Normalizer {
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(super) precompiled_charsmap: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "4")]
    pub(super) remove_extra_whitespaces: Option<bool>,
    #[prost(bool, optional, tag = "5")]
    pub(super) escape_whitespaces: Option<bool>,
}

/// `ModelProto`.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) pieces: Vec<Piece>,
    pub(super) trainer: Trainer,
    pub(super) normalizer: Normalizer,
    denormalizer: Normalizer,
}

impl Piece {
    pub(super) fn text(&self) -> &str {
        self.piece.as_deref().unwrap_or_default()
    }

    pub(super) fn kind(&self) -> Kind {
        match self.r#type {
            Some(2) => Kind::Unknown,
            Some(3) => Kind::Control,
            Some(4) => Kind::UserDefined,
            Some(5) => Kind::Unused,
            Some(6) => Kind::Byte,
            _ => Kind::Normal,
        }
    }
}

impl Normalizer {
    fn has_rules(&self) -> bool {
        self.precompiled_charsmap.as_ref().is_some_and(|rules| !rules.is_empty())
    }
}

impl Model {
    pub(super) fn read(mut bytes: &[u8]) -> Result<Self, SentencePieceError> {
        let mut model = Self::default();
        while bytes.has_remaining() {
            model.field(&mut bytes)?;
        }
        if model.trainer.treat_whitespace_as_suffix == Some(true) {
            return Err(fault(None, SentencePieceErrorKind::WhitespaceAsSuffix));
        }
        if model.denormalizer.has_rules() {
            return Err(fault(None, SentencePieceErrorKind::Denormalizer));
        }
        Ok(model)
    }

    fn field(&mut self, bytes: &mut &[u8]) -> Result<(), SentencePieceError> {
        let fail = |error: DecodeError| fault(None, error);
        let (tag, wire) = decode_key(bytes).map_err(fail)?;
        if wire != WireType::LengthDelimited || !matches!(tag, 1..=3 | 5) {
            return skip_field(wire, tag, bytes, DecodeContext::default()).map_err(fail);
        }
        let len = decode_varint(bytes).map_err(fail)?;
        let split = usize::try_from(len).ok().and_then(|len| bytes.split_at_checked(len));
        let (message, rest) = split.ok_or_else(|| fault(None, SentencePieceErrorKind::Cut))?;
        *bytes = rest;
        match tag {
            1 => {
                let id = self.pieces.len();
                if id == Vocabulary::MAX_TOKENS {
                    return Err(fault(None, VocabularyError::TooMany { len: id + 1 }));
                }
                self.pieces.push(Piece::decode(message).map_err(fail)?);
            }
            2 => self.trainer.merge(message).map_err(fail)?,
            3 => self.normalizer.merge(message).map_err(fail)?,
            _ => self.denormalizer.merge(message).map_err(fail)?,
        }
        Ok(())
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        match self.trainer.model_type {
            None | Some(1) => Algorithm::Unigram,
            Some(2) => Algorithm::Bpe,
            Some(_) => Algorithm::Other,
        }
    }

    pub(super) fn escapes(&self) -> bool {
        self.normalizer.escape_whitespaces.unwrap_or(true)
    }

    /// Whether text reaches the pieces as it is, spaces apart.
    pub(super) fn leaves_text_alone(&self) -> bool {
        !self.normalizer.has_rules() && !self.normalizer.remove_extra_whitespaces.unwrap_or(true)
    }

    /// Whether a piece is the trainer's end of sequence.
    pub(super) fn ends_with(&self, id: TokenId) -> bool {
        let eos = self.trainer.eos_id.unwrap_or(2);
        usize::try_from(eos) == Ok(id.index()) && self.pieces[id.index()].kind() == Kind::Control
    }
}
