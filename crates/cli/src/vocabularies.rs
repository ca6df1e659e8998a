//! Vocabularies by name, and text as their tokens.

use anyhow::{Context, Result};
use formwork::{TokenId, Vocabulary, vocab::NodeId};
use std::{path::Path, sync::Arc};

/// One token per byte.
pub(crate) const BYTES: &str = "bytes";

/// The vocabulary of a name: an embedded one, [`BYTES`], or else a file's.
pub(crate) fn load(name: &str) -> Result<Arc<Vocabulary>> {
    match name {
        "o200k_base" => {
            formwork_tokenizers::o200k_base().context("the embedded vocabulary cannot be read")
        }
        "cl100k_base" => {
            formwork_tokenizers::cl100k_base().context("the embedded vocabulary cannot be read")
        }
        BYTES => Ok(Arc::new(byte_vocabulary()?)),
        path => formwork_tokenizers::load(Path::new(path)).with_context(|| {
            format!(
                "{path:?} is no vocabulary: neither `o200k_base`, `cl100k_base` or `bytes`, nor a \
                 tokenizer's file or folder that can be read"
            )
        }),
    }
}

/// One token per byte, and nothing else.
pub(crate) fn byte_vocabulary() -> Result<Vocabulary> {
    let bytes = (0..=255_u8).map(|byte| (TokenId::new(u32::from(byte)), [byte]));
    let builder =
        bytes.fold(Vocabulary::builder(256), |builder, (id, byte)| builder.token(id, &byte));
    Ok(builder.build()?)
}

/// Bytes that the vocabulary cannot spell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unspellable {
    /// Offset of the first byte that no token could be found for.
    pub(crate) offset: usize,
}

impl std::fmt::Display for Unspellable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the vocabulary has no token for the text at byte {}", self.offset)
    }
}

impl std::error::Error for Unspellable {}

/// The tokens of some bytes: by the vocabulary's own encoder where it has one that takes them (a
/// table of tokens has none, and encoders take text only), otherwise from left to right the longest
/// token that fits.
pub(crate) fn tokenize(vocabulary: &Vocabulary, bytes: &[u8]) -> Result<Vec<TokenId>, Unspellable> {
    let encoded = vocabulary.encoder().map(|encoder| encoder.encode(bytes));
    if let Some(Ok(tokens)) = encoded {
        return Ok(tokens);
    }
    let mut tokens = Vec::new();
    let mut offset = 0;
    while offset < bytes.len() {
        let (token, len) =
            longest_token(vocabulary, &bytes[offset..]).ok_or(Unspellable { offset })?;
        tokens.push(token);
        offset += len;
    }
    Ok(tokens)
}

/// The longest token that the bytes begin with, and its length.
fn longest_token(vocabulary: &Vocabulary, bytes: &[u8]) -> Option<(TokenId, usize)> {
    let trie = vocabulary.trie();
    let mut node = NodeId::ROOT;
    let mut longest = None;
    for (index, &byte) in bytes.iter().enumerate() {
        let Some(child) = trie.child(node, byte) else { break };
        node = child;
        if let Some(&token) = trie.tokens(node).first() {
            longest = Some((token, index + 1));
        }
    }
    longest
}

/// cl100k_base, read once for all tests.
#[cfg(test)]
pub(crate) fn cl100k_base() -> Arc<Vocabulary> {
    static READ: std::sync::LazyLock<Arc<Vocabulary>> =
        std::sync::LazyLock::new(|| load("cl100k_base").expect("it is embedded"));
    READ.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_encoder_the_longest_token_is_taken() {
        let token = TokenId::new;
        let vocabulary = Vocabulary::builder(4)
            .token(token(0), b"a")
            .token(token(1), b"ab")
            .token(token(2), b"abcd")
            .token(token(3), b"c")
            .build()
            .unwrap();
        assert_eq!(tokenize(&vocabulary, b"abcab"), Ok(vec![token(1), token(3), token(1)]));
        assert_eq!(tokenize(&vocabulary, b"abcda"), Ok(vec![token(2), token(0)]));
        assert_eq!(tokenize(&vocabulary, b"abx"), Err(Unspellable { offset: 2 }));
        assert_eq!(tokenize(&vocabulary, b""), Ok(vec![]));
    }

    #[test]
    fn an_encoder_is_asked_first_and_bytes_that_are_no_text_are_spelt_all_the_same() {
        let vocabulary = cl100k_base();
        let spelt = |bytes: &[u8]| -> Vec<u8> {
            let tokens = tokenize(&vocabulary, bytes).unwrap();
            tokens.iter().flat_map(|&id| vocabulary.bytes(id).unwrap()).copied().collect()
        };
        let encoded = vocabulary.encoder().unwrap().encode(b"unhappiness").unwrap();
        assert_eq!(tokenize(&vocabulary, b"unhappiness"), Ok(encoded));
        assert_eq!(spelt(b"text \xff\xfe"), b"text \xff\xfe");
    }

    #[test]
    fn a_name_that_leads_nowhere_is_told_with_those_there_are() {
        let error = format!("{:#}", load("no/such/file").unwrap_err());
        for part in ["no/such/file", "o200k_base", "cl100k_base", "bytes"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
