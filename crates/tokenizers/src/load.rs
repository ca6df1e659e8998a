//! Vocabularies from files of any known format.

use crate::{
    FileError, HuggingFaceError, HuggingFaceOptions, SentencePieceError, TekkenError,
    TiktokenPreset, huggingface, raw_table, sentencepiece, tekken, tiktoken_preset,
};
use formwork_vocab::Vocabulary;
use serde::{Deserialize, de::IgnoredAny};
use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Why no vocabulary could be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", .path.display())]
pub struct LoadError {
    /// The file, or the folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub kind: LoadErrorKind,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// It cannot be read at all.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// It is larger than any vocabulary.
    #[error("the file has more than {MAX_FILE_BYTES} bytes")]
    TooLarge,
    /// The folder has no file that is known.
    #[error("the folder has none of the files {}", FILES.join(", "))]
    EmptyFolder,
    /// It is none of the formats.
    #[error("not a vocabulary in any known format")]
    UnknownFormat,
    /// It has ranks, and nothing says whose.
    #[error("a rank file whose name does not say which tokenizer's it is")]
    UnknownRanks,
    /// It is a raw table, or a rank file, with a fault.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is a `tokenizer.json` that is refused.
    #[error(transparent)]
    HuggingFace(#[from] HuggingFaceError),
    /// It is a `tekken.json` with a fault.
    #[error(transparent)]
    Tekken(#[from] TekkenError),
    /// It is a SentencePiece model that is refused.
    #[error(transparent)]
    SentencePiece(#[from] SentencePieceError),
    /// It is a saved vocabulary with a fault.
    #[error(transparent)]
    Saved(#[from] formwork_vocab::LoadError),
}

/// Bytes of a file; the largest in use have some forty million.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// What is looked for in a folder, best first.
const FILES: [&str; 3] = ["tokenizer.json", "tekken.json", "tokenizer.model"];

/// What a file is.
#[derive(Debug, PartialEq, Eq)]
enum Format {
    RawTable,
    HuggingFace,
    Tekken,
    Ranks,
    SentencePiece,
    /// Written by [`Vocabulary::save`].
    Saved,
}

/// The keys that tell JSON files apart.
#[derive(Debug, Deserialize)]
struct Keys {
    model: Option<IgnoredAny>,
    vocab: Option<IgnoredAny>,
    config: Option<IgnoredAny>,
    vocab_size: Option<IgnoredAny>,
}

/// Reads the vocabulary of a file, whichever of the crate's formats it is in, or one that
/// [`Vocabulary::save`] wrote; of a folder, that of its `tokenizer.json`, `tekken.json` or
/// `tokenizer.model`.
///
/// Formats are told by content. A rank file must say by its name, or its folder's, which tokenizer
/// it belongs to ([`TiktokenPreset::hinted_by`]). Beside a `tokenizer.json`,
/// [`HuggingFaceOptions::from_folder`] looks for what ends an output.
///
/// # Errors
/// [`LoadError`] with the path.
pub fn load(path: &Path) -> Result<Arc<Vocabulary>, LoadError> {
    let fail = |path: &Path, kind| LoadError { path: path.to_owned(), kind };
    if !path.is_dir() {
        return read(path).map(Arc::new).map_err(|kind| fail(path, kind));
    }
    match FILES.iter().map(|name| path.join(name)).find(|file| file.is_file()) {
        Some(file) => load(&file),
        None => Err(fail(path, LoadErrorKind::EmptyFolder)),
    }
}

fn read(path: &Path) -> Result<Vocabulary, LoadErrorKind> {
    let bytes = read_limited(path)?;
    let text = || std::str::from_utf8(&bytes).map_err(|_| LoadErrorKind::UnknownFormat);
    match format(&bytes).ok_or(LoadErrorKind::UnknownFormat)? {
        Format::RawTable => Ok(raw_table(&bytes[..])?),
        Format::HuggingFace => {
            let folder = path.parent().unwrap_or(Path::new(""));
            Ok(huggingface(text()?, &HuggingFaceOptions::from_folder(folder)?)?)
        }
        Format::Tekken => Ok(tekken(text()?)?),
        Format::SentencePiece => Ok(sentencepiece(&bytes)?),
        Format::Saved => Ok(Vocabulary::load(&bytes)?),
        Format::Ranks => {
            let mut names = path.iter().rev().take(2).filter_map(|name| name.to_str());
            let preset = names.find_map(TiktokenPreset::hinted_by);
            Ok(tiktoken_preset(&bytes[..], preset.ok_or(LoadErrorKind::UnknownRanks)?)?)
        }
    }
}

fn read_limited(path: &Path) -> Result<Vec<u8>, LoadErrorKind> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_FILE_BYTES {
        true => Err(LoadErrorKind::TooLarge),
        false => Ok(bytes),
    }
}

impl HuggingFaceOptions {
    /// Those of a model's folder: the texts of `generation_config.json`, `tokenizer_config.json` and
    /// `config.json`, as far as they are there.
    ///
    /// # Errors
    /// Those of reading a file that is there.
    pub fn from_folder(folder: &Path) -> std::io::Result<Self> {
        let text = |name: &str| match std::fs::read_to_string(folder.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        Ok(Self {
            eos: Vec::new(),
            generation_config: text("generation_config.json")?,
            tokenizer_config: text("tokenizer_config.json")?,
            model_config: text("config.json")?,
        })
    }
}

/// What the bytes look like.
fn format(bytes: &[u8]) -> Option<Format> {
    let trimmed = bytes.trim_ascii_start();
    let line = trimmed.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if trimmed.first() == Some(&b'{') {
        let header: Option<Keys> = serde_json::from_slice(line).ok();
        if header.is_some_and(|keys| keys.vocab_size.is_some() && keys.model.is_none()) {
            return Some(Format::RawTable);
        }
        let keys: Keys = serde_json::from_slice(trimmed).ok()?;
        return match (keys.model, keys.vocab, keys.config) {
            (Some(_), _, _) => Some(Format::HuggingFace),
            (None, Some(_), Some(_)) => Some(Format::Tekken),
            _ => None,
        };
    }
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    if let Some(space) = line.iter().position(|&byte| byte == b' ') {
        let (bytes, rank) = (&line[..space], line[space + 1..].trim_ascii_end());
        let is_rank = !rank.is_empty() && rank.iter().all(u8::is_ascii_digit);
        if is_rank && !bytes.is_empty() && bytes.iter().all(is_base64) {
            return Some(Format::Ranks);
        }
    }
    // The first field of a model is a piece, and the first field of a piece its text.
    match bytes {
        [0x0a, _, 0x0a, ..] => Some(Format::SentencePiece),
        // Archives begin with a byte that no text does.
        [0x93, ..] => Some(Format::Saved),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
