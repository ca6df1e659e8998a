//! Hugging Face's `tokenizer.json`.
//!
//! # Idea
//! The file says of four stages what they do: normaliser, pre-tokenizer, model, decoder. The bytes of
//! a token are what the *decoder* makes of it in the middle of a text; so decoders whose output for a
//! token depends on its neighbours are refused by name. Text is encoded by the `tokenizers` crate,
//! as the continuation of a text: what a file puts before the first word is left out.
//!
//! # Reading order
//! `model`, `decoder`, `options`; `pipeline` and `encoder` for encoding.

mod decoder;
#[cfg(feature = "huggingface")]
mod encoder;
mod error;
mod model;
mod options;
#[cfg(feature = "huggingface")]
mod pipeline;

pub use decoder::DecoderError;
pub(crate) use decoder::fallback_byte;
pub use error::{HuggingFaceError, HuggingFaceErrorKind};
pub use options::HuggingFaceOptions;

use crate::table::Table;
use decoder::Decoder;
use error::{fault, pointer};
use formwork_vocab::{TokenId, Vocabulary};
use model::Model;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// The parts of the file that are read.
#[derive(Debug, Deserialize)]
struct File<'a> {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    /// What happens to text first.
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    decoder: Option<Value>,
    #[serde(borrow)]
    model: &'a RawValue,
}

/// A token that is taken out of a text before anything else.
#[derive(Debug, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    special: bool,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
    /// Whether it is looked for in normalised text; ordinary ones are.
    normalized: Option<bool>,
}

/// Reads a `tokenizer.json`: byte-level BPE, and BPE and Unigram in SentencePiece's manner. The
/// crate's documentation says which, and when there is an encoder.
///
/// # Errors
/// [`HuggingFaceError`] with a JSON pointer to what is wrong. Refused are WordPiece, WordLevel, and
/// decoders under which a token has no bytes of its own.
pub fn huggingface(
    text: &str,
    options: &HuggingFaceOptions,
) -> Result<Vocabulary, HuggingFaceError> {
    let file: File<'_> = serde_json::from_str(text).map_err(|error| fault("", error))?;
    let model = Model::read(file.model)?;
    let decoder = Decoder::read(file.decoder.as_ref())?;
    let mut table = Table::default();
    define_model(&mut table, &file, &model, &decoder)?;
    define_added(&mut table, &file, &decoder)?;
    options.apply(&mut table)?;
    #[cfg(feature = "huggingface")]
    let encoder = encoder::encoder(&file, &model, &decoder, &table);
    #[cfg(not(feature = "huggingface"))]
    let encoder = None;
    table.build(table.end(), encoder).map_err(|error| fault("", error))
}

/// Puts the model's tokens into the table, but those that are added tokens too.
fn define_model(
    table: &mut Table,
    file: &File<'_>,
    model: &Model,
    decoder: &Decoder,
) -> Result<(), HuggingFaceError> {
    let added: FxHashMap<&str, u32> =
        file.added_tokens.iter().map(|token| (&*token.content, token.id)).collect();
    let unknown = model.unknown();
    for (index, (content, id)) in model.tokens().enumerate() {
        let fault = |kind: HuggingFaceErrorKind| fault(&model.pointer(content, index), kind);
        let id = TokenId::new(id);
        match added.get(content).copied().map(TokenId::new) {
            Some(added) if added == id => continue,
            Some(added) => {
                let content = content.to_owned();
                return Err(fault(HuggingFaceErrorKind::AddedElsewhere {
                    content,
                    added,
                    model: id,
                }));
            }
            None => {}
        }
        let defined = match unknown == Some(content) {
            true => table.special(content, id),
            false => table.token(id, &decoder.bytes(content)),
        };
        defined.map_err(|error| fault(error.into()))?;
    }
    Ok(())
}

/// Puts the added tokens into the table.
fn define_added(
    table: &mut Table,
    file: &File<'_>,
    decoder: &Decoder,
) -> Result<(), HuggingFaceError> {
    let mut seen = FxHashSet::default();
    for (index, token) in file.added_tokens.iter().enumerate() {
        let id = TokenId::new(token.id);
        // A token may be listed twice; one of no bytes stands for nothing.
        if token.content.is_empty() || !seen.insert((token.id, &*token.content)) {
            continue;
        }
        let defined = match token.special {
            true => table.special(&token.content, id),
            false => table.token(id, &decoder.added_bytes(&token.content)),
        };
        defined.map_err(|error| fault(&pointer(&["added_tokens", &index.to_string()]), error))?;
    }
    Ok(())
}

#[cfg(all(test, feature = "huggingface"))]
mod tests;
