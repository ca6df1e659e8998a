//! Mistral's `tekken.json`: ranks with a pattern, behind the special tokens.
//!
//! The ids below `default_num_special_tokens` are special; those without a name of their own are
//! `<SPECIAL_n>`. The rank of a token is its id less that number. Of the ranks only those count that
//! fit below `default_vocab_size`.

use crate::{split::PatternError, table::Table, tiktoken::encoder};
use base64::{Engine, engine::general_purpose::STANDARD};
use formwork_vocab::{TokenId, Vocabulary, VocabularyError};
use serde::Deserialize;

/// Why a `tekken.json` cannot be read, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", .pointer)]
pub struct TekkenError {
    /// JSON pointer to what is wrong; empty where the file as a whole is.
    pub pointer: String,
    /// What is wrong there.
    pub kind: TekkenErrorKind,
}

/// What is wrong with a `tekken.json`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TekkenErrorKind {
    /// It is not JSON of the right shape.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Bytes are not base64.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// There are fewer tokens than the configuration promises.
    #[error("{found} tokens are there, and the configuration needs {promised}")]
    Count {
        /// The configuration's number.
        promised: usize,
        /// Those there are.
        found: usize,
    },
    /// A special token is past the number of special tokens.
    #[error("the special token {rank} is past the {len} ids of special tokens")]
    SpecialOutOfRange {
        /// Its rank, which is its id.
        rank: u32,
        /// Number of special tokens.
        len: u32,
    },
    /// The pattern is of no use.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// What was read is no vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

#[derive(Debug, Deserialize)]
struct File {
    config: Config,
    vocab: Vec<Token>,
    special_tokens: Option<Vec<Special>>,
}

#[derive(Debug, Deserialize)]
struct Config {
    pattern: String,
    default_vocab_size: u32,
    default_num_special_tokens: u32,
}

#[derive(Debug, Deserialize)]
struct Token {
    rank: u32,
    token_bytes: String,
}

#[derive(Debug, Deserialize)]
struct Special {
    rank: u32,
    token_str: String,
}

/// The special tokens of files that list none.
const UNLISTED: [&str; 20] = [
    "<unk>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[TOOL_CALLS]",
    "[IMG]",
    "<pad>",
    "[IMG_BREAK]",
    "[IMG_END]",
    "[PREFIX]",
    "[MIDDLE]",
    "[SUFFIX]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CONTENT]",
];

/// The special token that ends an output.
const END: &str = "</s>";

fn fault(pointer: impl Into<String>, kind: impl Into<TekkenErrorKind>) -> TekkenError {
    TekkenError { pointer: pointer.into(), kind: kind.into() }
}

/// Reads a `tekken.json`. Outputs end with `</s>`. There is an encoder where every byte has a rank.
///
/// # Errors
/// [`TekkenError`] with a JSON pointer to what is wrong.
pub fn tekken(text: &str) -> Result<Vocabulary, TekkenError> {
    let file: File = serde_json::from_str(text).map_err(|error| fault("", error))?;
    let shift = file.config.default_num_special_tokens;
    let len = file.config.default_vocab_size;
    let mut table = Table::default();
    table.check_len(len as usize).map_err(|error| fault("/config/default_vocab_size", error))?;
    let Some(ranks) = len.checked_sub(shift) else {
        let kind = TekkenErrorKind::Count { promised: shift as usize, found: len as usize };
        return Err(fault("/config/default_num_special_tokens", kind));
    };
    define_tokens(&mut table, &file.vocab, ranks, shift)?;
    let encoder = encoder(&table, &file.config.pattern, shift)
        .map_err(|error| fault("/config/pattern", error))?;
    define_specials(&mut table, file.special_tokens, shift)?;
    table.build(len as usize, encoder).map_err(|error| fault("", error))
}

fn define_tokens(
    table: &mut Table,
    tokens: &[Token],
    ranks: u32,
    shift: u32,
) -> Result<(), TekkenError> {
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.rank < ranks) {
        let bytes = STANDARD
            .decode(&token.token_bytes)
            .map_err(|error| fault(format!("/vocab/{index}/token_bytes"), error))?;
        let id = TokenId::new(token.rank + shift);
        table.token(id, &bytes).map_err(|error| fault(format!("/vocab/{index}/rank"), error))?;
    }
    match table.token_count() {
        found if found == ranks as usize => Ok(()),
        found => Err(fault("/vocab", TekkenErrorKind::Count { promised: ranks as usize, found })),
    }
}

fn define_specials(
    table: &mut Table,
    listed: Option<Vec<Special>>,
    len: u32,
) -> Result<(), TekkenError> {
    let listed = listed.unwrap_or_else(|| {
        let names = UNLISTED.iter().map(|name| (*name).to_owned());
        names.zip(0..len).map(|(token_str, rank)| Special { rank, token_str }).collect()
    });
    for (index, special) in listed.iter().enumerate() {
        let rank = special.rank;
        let place = || format!("/special_tokens/{index}");
        if rank >= len {
            return Err(fault(place(), TekkenErrorKind::SpecialOutOfRange { rank, len }));
        }
        let id = TokenId::new(rank);
        table.special(&special.token_str, id).map_err(|error| fault(place(), error))?;
        if special.token_str == END {
            table.eos.push(id);
        }
    }
    for id in (0..len).map(TokenId::new) {
        if !table.has(id) {
            table
                .special(&format!("<SPECIAL_{id}>"), id)
                .map_err(|error| fault("/special_tokens", error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
