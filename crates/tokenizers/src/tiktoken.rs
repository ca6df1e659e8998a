//! Vocabularies that encode as tiktoken does: ranks and a pattern.
//!
//! The token of a piece is the piece itself where it is a token, and else its bytes are merged by
//! the ranks of what the merges make ([`merge`](crate::merge)).

use crate::{
    cuts::Cuts,
    files::{FileError, FileErrorKind, ranks},
    merge::{Seed, merge},
    presets::TiktokenPreset,
    split::{Pattern, PatternError, check_runs},
    table::Table,
    text::{TextEncoder, Tokenize},
};
use formwork_vocab::{EncodeError, Encoder, TokenId, Vocabulary};
use rustc_hash::FxHashMap;
use std::{io::BufRead, sync::Arc};

/// What a rank file does not say about its tokenizer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TiktokenOptions {
    /// Name and id of every special token.
    pub special: Vec<(String, TokenId)>,
    /// Ids that end an output.
    pub eos: Vec<TokenId>,
    /// The regular expression whose matches are encoded piece by piece; without it the vocabulary
    /// has no encoder.
    pub pattern: Option<String>,
    /// How many ranks the file has, where that is known; another number is an error.
    pub ranks: Option<usize>,
}

/// Reads a tiktoken rank file, with an encoder where the options have a pattern and every byte has a
/// rank.
///
/// # Errors
/// [`FileError`] with the line; the last line where an option is at fault.
pub fn tiktoken(reader: impl BufRead, options: &TiktokenOptions) -> Result<Vocabulary, FileError> {
    let (mut table, lines) = ranks(reader)?;
    let mut build = || -> Result<Vocabulary, FileErrorKind> {
        if let Some(promised) = options.ranks.filter(|&ranks| ranks != table.token_count()) {
            return Err(FileErrorKind::Count { promised, found: table.token_count() });
        }
        let encoder = match &options.pattern {
            Some(pattern) => encoder(&table, pattern, 0)?,
            None => None,
        };
        for (name, id) in &options.special {
            table.special(name, *id)?;
        }
        table.eos.clone_from(&options.eos);
        Ok(table.build(table.end(), encoder)?)
    };
    build().map_err(|kind| lines.fault(kind))
}

/// Reads the rank file of a known tokenizer.
///
/// # Errors
/// As [`tiktoken`]; a file with another number of ranks is not that tokenizer's.
pub fn tiktoken_preset(
    reader: impl BufRead,
    preset: TiktokenPreset,
) -> Result<Vocabulary, FileError> {
    tiktoken(reader, &preset.options())
}

/// The encoder of a table of ranks, which are the ids less `shift`. `None` when some byte is no
/// token, since then some text cannot be encoded.
pub(crate) fn encoder(
    table: &Table,
    pattern: &str,
    shift: u32,
) -> Result<Option<Arc<dyn Encoder>>, PatternError> {
    let pattern = Pattern::new(pattern)?;
    let mut ranks = FxHashMap::default();
    let mut longest = 0;
    for (id, bytes) in table.tokens() {
        longest = longest.max(bytes.len());
        ranks.insert(bytes.into(), id.as_u32() - shift);
    }
    if (0..=255_u8).any(|byte| !ranks.contains_key(&[byte][..])) {
        return Ok(None);
    }
    let cuts = Some(Cuts::of_pattern(pattern.clone()));
    let tokenizer = Ranks { pattern, ranks, longest, shift };
    let bytes = Arc::new(table.bytes());
    Ok(Some(Arc::new(TextEncoder { tokenizer, bytes, cuts })))
}

/// A tokenizer of ranks.
struct Ranks {
    pattern: Pattern,
    ranks: FxHashMap<Box<[u8]>, u32>,
    /// Bytes of the longest token.
    longest: usize,
    shift: u32,
}

impl Tokenize for Ranks {
    fn tokens(&self, text: &str) -> Result<Vec<TokenId>, EncodeError> {
        check_runs(text)?;
        let mut tokens = Vec::new();
        for piece in self.pattern.pieces(text) {
            self.encode_piece(&text.as_bytes()[piece?], &mut tokens);
        }
        Ok(tokens)
    }
}

impl Ranks {
    fn encode_piece(&self, piece: &[u8], tokens: &mut Vec<TokenId>) {
        let token = |bytes: &[u8]| Some(TokenId::new(self.ranks.get(bytes)? + self.shift));
        if let Some(id) = token(piece) {
            tokens.push(id);
            return;
        }
        let bytes = piece.iter().map(|_| Seed { len: 1, frozen: false });
        let rank = |bytes: &[u8]| self.ranks.get(bytes).copied();
        let parts = merge(piece, bytes, self.longest, rank);
        // Every part is a byte or was made by a merge, so it is a token.
        tokens.extend(parts.into_iter().filter_map(|part| token(&piece[part])));
    }
}

#[cfg(test)]
mod tests;
