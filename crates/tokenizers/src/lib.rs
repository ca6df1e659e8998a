//! Tokenizer files and the embedded vocabularies to [`Vocabulary`].
//!
//! # What is read
//! - [`o200k_base`], [`cl100k_base`]: embedded, with the tokenizer's own encoding;
//! - [`tiktoken_ranks`]: a tiktoken rank file (`base64 rank` a line), special tokens given beside;
//! - [`raw_table`]: a table of ids and bytes in JSON lines.
//!
//! # Invariant
//! The bytes of a token are exactly what the tokenizer decodes it to; special tokens have none.
//!
//! # Reading order
//! `embedded`, `split`, `files`.

mod embedded;
mod files;
mod split;

pub use embedded::{cl100k_base, o200k_base};
pub use files::{FileError, FileErrorKind, raw_table, tiktoken_ranks};

#[cfg(doc)]
use formwork_vocab::Vocabulary;
