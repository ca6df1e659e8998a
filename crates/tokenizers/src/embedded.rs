//! The vocabularies that are compiled in, through `tiktoken-rs`.

use crate::split::{Pattern, check_runs};
use formwork_vocab::{EncodeError, Encoder, TokenId, Vocabulary, VocabularyError};
use std::{fmt, sync::Arc};
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR};

/// The split pattern of cl100k_base.
const CL100K_PATTERN: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
);

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
    let mut builder = Vocabulary::builder(len as usize);
    let mut special = Vec::new();
    for name in tokenizer.special_tokens() {
        if let [id] = tokenizer.encode_with_special_tokens(name)[..] {
            builder = builder.special(TokenId::new(id), name);
            special.push(id);
            if name == END_OF_TEXT {
                builder = builder.eos(TokenId::new(id));
            }
        }
    }
    for id in (0..len).filter(|id| !special.contains(id)) {
        // Some ids below the special ones are not in use.
        if let Ok(bytes) = tokenizer.decode_bytes(&[id]) {
            builder = builder.token(TokenId::new(id), &bytes);
        }
    }
    let pattern = Pattern::new(pattern);
    let vocabulary = builder.encoder(Arc::new(Tiktoken { tokenizer, pattern })).build()?;
    Ok(Arc::new(vocabulary))
}

/// tiktoken's own encoding.
struct Tiktoken {
    tokenizer: &'static CoreBPE,
    pattern: Pattern,
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tiktoken")
    }
}

impl Tiktoken {
    fn encode_text(&self, text: &str) -> Result<Vec<TokenId>, EncodeError> {
        // tiktoken panics where its pattern fails, which only such runs bring about.
        check_runs(text)?;
        Ok(self.tokenizer.encode_ordinary(text).into_iter().map(TokenId::new).collect())
    }
}

impl Encoder for Tiktoken {
    fn encode(&self, text: &[u8]) -> Result<Vec<TokenId>, EncodeError> {
        let text = std::str::from_utf8(text)
            .map_err(|error| EncodeError::InvalidUtf8 { offset: error.valid_up_to() })?;
        self.encode_text(text)
    }

    fn encode_prefix(&self, text: &[u8]) -> Result<Vec<TokenId>, EncodeError> {
        let text = match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                let whole = &text[..error.valid_up_to()];
                std::str::from_utf8(whole).expect("valid up to here")
            }
            Err(error) => return Err(EncodeError::InvalidUtf8 { offset: error.valid_up_to() }),
        };
        let mut tokens = self.encode_text(text)?;
        let decided = self.pattern.decided_len(text);
        // Tokens never cross the boundary of a piece.
        let mut end = 0;
        let kept = tokens.iter().take_while(|token| {
            let bytes = self.tokenizer.decode_bytes(&[token.as_u32()]);
            end += bytes.map_or(0, |bytes| bytes.len());
            end <= decided
        });
        let kept = kept.count();
        tokens.truncate(kept);
        Ok(tokens)
    }
}

#[cfg(test)]
mod tests;
