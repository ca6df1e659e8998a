//! Tokenizer files and the embedded vocabularies to [`Vocabulary`].
//!
//! # What is read
//! - [`load`]: a file of any of these formats, told by its content, or a model's folder;
//! - [`huggingface`]: `tokenizer.json` of byte-level BPE (GPT-2, Llama 3, Qwen, DeepSeek), and of
//!   BPE and Unigram in SentencePiece's manner (Llama 2, Mistral, Gemma);
//! - [`sentencepiece`]: a SentencePiece `.model`, BPE or Unigram;
//! - [`tiktoken`](fn@tiktoken), [`tiktoken_preset`]: a rank file (`base64 rank` a line) with the
//!   special tokens and the pattern of its tokenizer, which [`TiktokenPreset`] knows for some;
//!   [`tiktoken_ranks`]: one without a pattern, and so without an encoder;
//! - [`tekken`]: Mistral's `tekken.json`;
//! - [`o200k_base`], [`cl100k_base`]: embedded;
//! - [`raw_table`]: a table of ids and bytes in JSON lines;
//! - what [`Vocabulary::save`] wrote, by [`load`].
//!
//! # Invariants
//! The bytes of a token are exactly what the tokenizer decodes it to in the middle of a text: what
//! some decoders strip from the beginning of an output is left on. Special tokens have none. Files
//! under whose decoders a token has no bytes of its own, as WordPiece's, are refused by name.
//!
//! Files are hostile until proven otherwise: sizes are checked before anything is allocated by them,
//! nothing recurses as deep as a file says, and what is wrong is a typed error with its place.
//!
//! # What encoders promise
//! Encoding continues a text: no space is put before its first word, as some tokenizers do. No text
//! becomes a special token, nor, by its name, a token for a byte. Where the normaliser leaves a text
//! unchanged and every character of it has tokens, the bytes of its tokens are the text.
//! [`encode_prefix`](formwork_vocab::Encoder::encode_prefix) is never wrong; how far it reaches:
//!
//! | family | encoder | what is decided |
//! |---|---|---|
//! | embedded, presets | yes | all up to the last word or punctuation, or the last four pieces |
//! | ranks with another pattern, tekken | where every byte has a rank | up to the last two neighbours that no match of the pattern can span; nothing under look-behind, back references, or look-ahead at more than a character |
//! | byte-level `tokenizer.json` | by `Split` with `Isolated`, `Digits`, `ByteLevel` | the same through all stages, and past the last added token; up to ASCII after a Unicode normaliser, which must have left the text unchanged |
//! | SentencePiece's manner, `tokenizer.json` | by `Replace` of spaces, `Prepend`, `Metaspace` | up to the last two neighbouring bytes that no merge joins, or no piece of a unigram model contains |
//! | SentencePiece `.model` | without normalisation rules and removal of spaces, without unused pieces, and for Unigram without user-defined ones | the same |
//! | `tokenizer.json` with added tokens that strip spaces or want whole words | yes | nothing |
//! | other normalisers and pre-tokenizers; files whose decoder does not undo their encoding; models under which characters vanish | no | |
//! | raw table, saved | no | |
//!
//! Without the feature `huggingface`, which is on by default, no `tokenizer.json` has an encoder.
//!
//! # Reading order
//! `table`, `files`, `split`, `split/joins`, `cuts`, `text`; then a format each: `embedded`,
//! `tiktoken` with `presets` and `merge`, `tekken`, `sentencepiece`, `huggingface`; `load`.

#[cfg_attr(not(feature = "huggingface"), allow(dead_code, reason = "encoders have more stages"))]
mod cuts;
mod embedded;
mod files;
#[cfg_attr(not(feature = "huggingface"), allow(dead_code, reason = "encoders read all of a file"))]
mod huggingface;
mod load;
mod members;
mod merge;
mod pairs;
mod presets;
mod sentencepiece;
#[cfg_attr(not(feature = "huggingface"), allow(dead_code, reason = "encoders have more patterns"))]
mod split;
mod strings;
mod table;
mod tekken;
#[cfg(test)]
mod testing;
mod text;
mod tiktoken;

pub use embedded::{cl100k_base, o200k_base};
pub use files::{FileError, FileErrorKind, raw_table, tiktoken_ranks};
pub use huggingface::{
    DecoderError, HuggingFaceError, HuggingFaceErrorKind, HuggingFaceOptions, huggingface,
};
pub use load::{LoadError, LoadErrorKind, load};
pub use presets::TiktokenPreset;
pub use sentencepiece::{SentencePieceError, SentencePieceErrorKind, sentencepiece};
pub use split::PatternError;
pub use tekken::{TekkenError, TekkenErrorKind, tekken};
pub use tiktoken::{TiktokenOptions, tiktoken, tiktoken_preset};

#[cfg(doc)]
use formwork_vocab::Vocabulary;
