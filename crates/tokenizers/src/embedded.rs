//! The vocabularies that are compiled in, through `tiktoken-rs`.

use crate::{
    cuts::{Composing, Cuts, Stage},
    split::{CL100K_PATTERN, Pattern, check_runs},
    table::Table,
    text::{TextEncoder, Tokenize},
};
use formwork_vocab::{EncodeError, TokenId, Vocabulary, VocabularyError};
use std::sync::Arc;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR};

/// The name of the end of sequence in both vocabularies.
const END_OF_TEXT: &str = "<|endoftext|>";

/// o200k_base: 200,019 ids, of GPT-4o and its successors. Reading it takes a few hundred
/// milliseconds.
///
/// # Errors
/// [`VocabularyError`] if the embedded table is not a vocabulary, which tests exclude.
pub fn o200k_base() -> Result<Arc<Vocabulary>, VocabularyError> {
    vocabulary(tiktoken_rs::o200k_base_singleton(), O200K_BASE_PAT_STR, 200_019)
}

/// cl100k_base: 100,277 ids, of GPT-4 and GPT-3.5.
///
/// # Errors
/// As [`o200k_base`].
pub fn cl100k_base() -> Result<Arc<Vocabulary>, VocabularyError> {
    vocabulary(tiktoken_rs::cl100k_base_singleton(), CL100K_PATTERN, 100_277)
}

fn vocabulary(
    tokenizer: &'static CoreBPE,
    pattern: &str,
    len: u32,
) -> Result<Arc<Vocabulary>, VocabularyError> {
    let mut table = Table::default();
    let mut special = Vec::new();
    for name in tokenizer.special_tokens() {
        if let [id] = tokenizer.encode_with_special_tokens(name)[..] {
            table.special(name, TokenId::new(id))?;
            special.push(id);
            if name == END_OF_TEXT {
                table.eos.push(TokenId::new(id));
            }
        }
    }
    for id in (0..len).filter(|id| !special.contains(id)) {
        // Some ids below the special ones are not in use.
        if let Ok(bytes) = tokenizer.decode_bytes(&[id]) {
            table.token(TokenId::new(id), &bytes)?;
        }
    }
    let pattern = Pattern::new(pattern).expect("a constant pattern that tests compile");
    let encoder = TextEncoder {
        tokenizer: Embedded(tokenizer),
        bytes: Arc::new(table.bytes()),
        cuts: Some(Cuts::of_pattern(pattern)),
    };
    Ok(Arc::new(table.build(len as usize, Some(Arc::new(encoder)))?))
}

impl Cuts {
    /// Those of a tokenizer that cuts by a pattern and does nothing else.
    pub(crate) fn of_pattern(pattern: Pattern) -> Self {
        Self {
            composing: Composing::No,
            space: None,
            stages: vec![Stage::Pattern(pattern)],
            joined: None,
            added: Vec::new(),
        }
    }
}

/// tiktoken's own encoding.
struct Embedded(&'static CoreBPE);

impl Tokenize for Embedded {
    fn tokens(&self, text: &str) -> Result<Vec<TokenId>, EncodeError> {
        // tiktoken panics where its pattern fails, which only such runs bring about.
        check_runs(text)?;
        Ok(self.0.encode_ordinary(text).into_iter().map(TokenId::new).collect())
    }
}

#[cfg(test)]
mod tests;
