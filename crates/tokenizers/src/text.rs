//! Encoders: a tokenizer's way of encoding text, with what is known about its cuts.

use crate::cuts::Cuts;
use formwork_vocab::{EncodeError, Encoder, TokenId};
use std::{fmt, sync::Arc};

/// How a tokenizer encodes text.
pub(crate) trait Tokenize: Send + Sync {
    /// The tokens of a text.
    fn tokens(&self, text: &str) -> Result<Vec<TokenId>, EncodeError>;

    /// Whether the text reaches the model as it is.
    fn leaves_unchanged(&self, _text: &str) -> bool {
        true
    }
}

/// The bytes of each token by its id.
#[derive(Debug, Default)]
pub(crate) struct TokenBytes {
    pool: Vec<u8>,
    /// One more than there are ids; `pool[ends[id]..ends[id + 1]]` are the bytes.
    ends: Vec<u32>,
}

impl TokenBytes {
    /// From tokens by ascending id.
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = (TokenId, &'a [u8])>) -> Self {
        let mut all = Self::default();
        for (id, bytes) in tokens {
            all.ends.resize(id.index() + 1, all.len());
            all.pool.extend_from_slice(bytes);
            all.ends.push(all.len());
        }
        all
    }

    fn len(&self) -> u32 {
        u32::try_from(self.pool.len()).expect("tables limit their bytes")
    }

    /// The bytes of a token; none for an id without.
    pub(crate) fn of(&self, id: TokenId) -> &[u8] {
        match self.ends.get(id.index()..).and_then(|ends| ends.get(..2)) {
            Some(&[start, end]) => &self.pool[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// An encoder of a vocabulary.
pub(crate) struct TextEncoder<T> {
    pub(crate) tokenizer: T,
    pub(crate) bytes: Arc<TokenBytes>,
    /// Without them nothing is known to be decided.
    pub(crate) cuts: Option<Cuts>,
}

impl<T> fmt::Debug for TextEncoder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextEncoder").finish_non_exhaustive()
    }
}

impl<T: Tokenize> Encoder for TextEncoder<T> {
    fn encode(&self, text: &[u8]) -> Result<Vec<TokenId>, EncodeError> {
        let text = std::str::from_utf8(text)
            .map_err(|error| EncodeError::InvalidUtf8 { offset: error.valid_up_to() })?;
        self.tokenizer.tokens(text)
    }

    fn encode_prefix(&self, text: &[u8]) -> Result<Vec<TokenId>, EncodeError> {
        let text = whole_characters(text)?;
        let mut tokens = self.tokenizer.tokens(text)?;
        let decided = match &self.cuts {
            Some(cuts) if self.tokenizer.leaves_unchanged(text) => cuts.decided_len(text),
            _ => 0,
        };
        // Tokens that do not spell the text are of no use to anyone.
        let mut end = 0;
        let kept = tokens.iter().take_while(|&&token| {
            let bytes = self.bytes.of(token);
            let spells = !bytes.is_empty() && text.as_bytes()[end..].starts_with(bytes);
            end += bytes.len();
            spells && end <= decided
        });
        let kept = kept.count();
        tokens.truncate(kept);
        Ok(tokens)
    }
}

/// All of the text but a character that its end cuts off.
fn whole_characters(text: &[u8]) -> Result<&str, EncodeError> {
    match std::str::from_utf8(text) {
        Ok(text) => Ok(text),
        Err(error) if error.error_len().is_none() => {
            Ok(std::str::from_utf8(&text[..error.valid_up_to()]).expect("valid up to here"))
        }
        Err(error) => Err(EncodeError::InvalidUtf8 { offset: error.valid_up_to() }),
    }
}
