//! Why a `tokenizer.json` is refused.

use super::DecoderError;
use formwork_vocab::{TokenId, VocabularyError};

/// Why a `tokenizer.json`, or a file beside it, cannot be read, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}{kind}", location(.pointer))]
pub struct HuggingFaceError {
    /// JSON pointer to what is wrong; empty where the file as a whole is.
    pub pointer: String,
    /// What is wrong there.
    pub kind: HuggingFaceErrorKind,
}

/// What is wrong with a `tokenizer.json`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HuggingFaceErrorKind {
    /// It is not JSON of the right shape.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The model is WordPiece.
    #[error(
        "WordPiece puts a space before a token or not as its neighbours have it, so that a token \
         has no bytes of its own"
    )]
    WordPiece,
    /// The model is WordLevel.
    #[error("WordLevel has whole words alone, so that a token has no bytes of its own")]
    WordLevel,
    /// The model is of another type.
    #[error("unknown model {name:?}")]
    UnknownModel {
        /// Its type.
        name: String,
    },
    /// The model marks the tokens inside or at the end of a word.
    #[error("tokens that carry a mark for their place in a word have no bytes of their own")]
    Affix,
    /// The decoder is of no use here.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
    /// Two tokens have one content.
    #[error("the token {content:?} is there twice")]
    ContentTwice {
        /// The content.
        content: String,
    },
    /// A merge is not two tokens.
    #[error("a merge is two tokens")]
    Merge,
    /// A merge names or makes a token that there is not.
    #[error("the merge needs the token {content:?}, which there is not")]
    UnknownMerge {
        /// The content of the token.
        content: String,
    },
    /// The id of the unknown token is past the vocabulary.
    #[error("the unknown token {id} is past the vocabulary of {len}")]
    UnknownOutOfRange {
        /// The id.
        id: usize,
        /// Tokens of the vocabulary.
        len: usize,
    },
    /// An added token has an id, and its content another.
    #[error("the added token {content:?} has id {added}, and the model has it as {model}")]
    AddedElsewhere {
        /// The content.
        content: String,
        /// Its id among the added tokens.
        added: TokenId,
        /// Its id in the model.
        model: TokenId,
    },
    /// An end of sequence that no token is named like.
    #[error("no token is named {name:?}, which should end the output")]
    UnknownEos {
        /// The name.
        name: String,
    },
    /// What was read is no vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

fn location(pointer: &str) -> String {
    match pointer {
        "" => String::new(),
        pointer => format!("at {pointer}: "),
    }
}

/// The error at a place.
pub(super) fn fault(pointer: &str, kind: impl Into<HuggingFaceErrorKind>) -> HuggingFaceError {
    HuggingFaceError { pointer: pointer.to_owned(), kind: kind.into() }
}

/// The JSON pointer (RFC 6901) to a place.
pub(super) fn pointer(path: &[&str]) -> String {
    let escaped = path.iter().map(|part| part.replace('~', "~0").replace('/', "~1"));
    escaped.fold(String::new(), |pointer, part| pointer + "/" + &part)
}
