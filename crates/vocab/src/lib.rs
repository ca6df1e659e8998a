//! Vocabularies and the token trie.
//!
//! # Idea
//! A [`Vocabulary`] says what each token id stands for: bytes, or a name for a special token that
//! text never matches. A [`TokenTrie`] holds the bytes of all emittable tokens as one flat array in
//! depth-first order, so that walking it under a recogniser is a scan with skips. Both can be saved
//! as one archive ([`Vocabulary::save`]), which is read much faster than a tokenizer's own files.
//!
//! # Reading order
//! `token`, `vocabulary`, `encoder`, `fingerprint`, `trie`, `trie/walk`; then `vocabulary/saved` and
//! `trie/saved`.

mod encoder;
mod fingerprint;
mod token;
mod trie;
mod vocabulary;

pub use encoder::{EncodeError, Encoder};
pub use fingerprint::Fingerprint;
pub use token::TokenId;
pub use trie::{NodeId, Recognizer, TokenTrie, WalkScratch, WalkStats};
pub use vocabulary::{
    ByteBits, LoadError, Misplaced, Vocabulary, VocabularyBuilder, VocabularyError,
};
