//! The tokenizer's own encoding, for callers that need canonical tokens.

use crate::TokenId;
use std::fmt;

/// Encodes text the way the model's tokenizer does.
pub trait Encoder: fmt::Debug + Send + Sync {
    /// The tokens of `text`. Special tokens are never matched by text.
    ///
    /// # Errors
    /// [`EncodeError`] when the tokenizer takes no such bytes.
    fn encode(&self, text: &[u8]) -> Result<Vec<TokenId>, EncodeError>;

    /// The leading tokens of `encode(text)` that the encoding of every text beginning with `text`
    /// shares. Fewer tokens than that are allowed, a wrong one never is.
    ///
    /// # Errors
    /// As [`Self::encode`]; a character cut off at the end of `text` is no error, it is merely not
    /// encoded yet.
    fn encode_prefix(&self, text: &[u8]) -> Result<Vec<TokenId>, EncodeError>;
}

/// Why bytes could not be encoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The tokenizer reads text, and these bytes are not UTF-8.
    #[error("the bytes are not UTF-8 at offset {offset}")]
    InvalidUtf8 {
        /// Offset of the first byte that is not part of a character.
        offset: usize,
    },
    /// The tokenizer's way of cutting text into pieces cannot deal with a run this long.
    #[error("more than {limit} white-space characters in a row at offset {offset}")]
    RunTooLong {
        /// Offset of the first byte of the run.
        offset: usize,
        /// The most characters of a run.
        limit: usize,
    },
}
