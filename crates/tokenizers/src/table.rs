//! The tokens read so far.

use crate::text::TokenBytes;
use formwork_vocab::{Encoder, TokenId, Vocabulary, VocabularyBuilder, VocabularyError};
use rustc_hash::FxHashSet;
use std::{ops::Range, sync::Arc};

/// What was read so far, checked as it comes: so that a fault is told with its own place, and so
/// that a file without end is refused at the first id that repeats or is too large.
#[derive(Debug, Default)]
pub(crate) struct Table {
    ids: FxHashSet<TokenId>,
    tokens: Vec<(TokenId, Range<usize>)>,
    pool: Vec<u8>,
    specials: Vec<(TokenId, String)>,
    /// Ids that end an output.
    pub(crate) eos: Vec<TokenId>,
    /// Width of the logits, where it is not the number of ids.
    pub(crate) model_len: Option<usize>,
}

impl Table {
    /// An ordinary token.
    pub(crate) fn token(&mut self, id: TokenId, bytes: &[u8]) -> Result<(), VocabularyError> {
        self.claim(id)?;
        if bytes.len() > Vocabulary::MAX_TOKEN_BYTES {
            return Err(VocabularyError::TooLong { id, len: bytes.len() });
        }
        let start = self.pool.len();
        let len = start + bytes.len();
        if len > Vocabulary::MAX_TOTAL_BYTES {
            return Err(VocabularyError::TooManyBytes { len });
        }
        self.pool.extend_from_slice(bytes);
        self.tokens.push((id, start..len));
        Ok(())
    }

    /// A special token.
    pub(crate) fn special(&mut self, name: &str, id: TokenId) -> Result<(), VocabularyError> {
        self.claim(id)?;
        self.specials.push((id, name.to_owned()));
        Ok(())
    }

    fn claim(&mut self, id: TokenId) -> Result<(), VocabularyError> {
        self.check_len(id.index() + 1)?;
        match self.ids.insert(id) {
            true => Ok(()),
            false => Err(VocabularyError::DefinedTwice { id }),
        }
    }

    /// Whether an id stands for something.
    pub(crate) fn has(&self, id: TokenId) -> bool {
        self.ids.contains(&id)
    }

    /// Whether so many ids are supported.
    pub(crate) fn check_len(&self, len: usize) -> Result<(), VocabularyError> {
        match len {
            len if len > Vocabulary::MAX_TOKENS => Err(VocabularyError::TooMany { len }),
            _ => Ok(()),
        }
    }

    /// One more than the largest id.
    pub(crate) fn end(&self) -> usize {
        self.ids.iter().map(|id| id.index() + 1).max().unwrap_or_default()
    }

    /// How many ordinary tokens there are.
    pub(crate) fn token_count(&self) -> usize {
        self.tokens.len()
    }

    /// The ordinary tokens, in the order they came.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        self.tokens.iter().map(|(id, range)| (*id, &self.pool[range.clone()]))
    }

    /// The special tokens, in the order they came.
    pub(crate) fn specials(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.specials.iter().map(|(id, name)| (*id, name.as_str()))
    }

    /// The bytes of the ordinary tokens.
    pub(crate) fn bytes(&self) -> TokenBytes {
        let mut tokens: Vec<(TokenId, &[u8])> = self.tokens().collect();
        tokens.sort_unstable_by_key(|(id, _)| *id);
        TokenBytes::new(tokens.into_iter())
    }

    /// The vocabulary of `len` ids.
    pub(crate) fn build(
        &self,
        len: usize,
        encoder: Option<Arc<dyn Encoder>>,
    ) -> Result<Vocabulary, VocabularyError> {
        let mut builder = Vocabulary::builder(len);
        for (id, bytes) in self.tokens() {
            builder = builder.token(id, bytes);
        }
        for (id, name) in self.specials() {
            builder = builder.special(id, name);
        }
        if let Some(encoder) = encoder {
            builder = builder.encoder(encoder);
        }
        if let Some(len) = self.model_len {
            builder = builder.model_size(len);
        }
        self.eos.iter().copied().fold(builder, VocabularyBuilder::eos).build()
    }
}
