//! Vocabulary files.

use base64::{Engine, engine::general_purpose::STANDARD};
use formwork_vocab::{TokenId, Vocabulary, VocabularyError};
use serde::Deserialize;
use std::{collections::BTreeMap, io::BufRead};

/// Why a vocabulary file cannot be read, and where.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct FileError {
    /// 1-based line; the last one where the file as a whole is at fault.
    pub line: usize,
    /// What is wrong there.
    pub kind: FileErrorKind,
}

/// What is wrong with a vocabulary file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// The file cannot be read at all.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// There is no header.
    #[error("the file is empty: a header was expected")]
    Empty,
    /// A line is not the JSON that belongs there.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A line of ranks is not two words.
    #[error("expected the token's bytes in base64, a space, and its rank")]
    Rank,
    /// Bytes are not base64.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// What was read is no vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

/// First line of a raw table.
#[derive(Debug, Deserialize)]
struct Header {
    /// Width of the logits.
    vocab_size: u32,
    /// Name and id of every special token.
    #[serde(default)]
    special: BTreeMap<String, u32>,
    /// One end-of-sequence id, or several.
    #[serde(default)]
    eos: Eos,
}

#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Eos {
    #[default]
    None,
    One(u32),
    Several(Vec<u32>),
}

/// Reads a table in JSON lines: a header object with `vocab_size`, `special` (an object from names
/// to ids) and `eos` (an id or a list of ids), other keys being passed over; then one
/// `[id, "base64 of the bytes"]` per ordinary token. Blank lines are passed over.
///
/// # Errors
/// [`FileError`] with the line.
pub fn raw_table(reader: impl BufRead) -> Result<Vocabulary, FileError> {
    let mut lines = numbered(reader);
    let Some((line, header)) = lines.next() else {
        return Err(FileError { line: 1, kind: FileErrorKind::Empty });
    };
    let header: Header =
        header.and_then(|text| Ok(serde_json::from_str(&text)?)).map_err(at(line))?;
    let mut builder = Vocabulary::builder(header.vocab_size as usize);
    for (name, id) in &header.special {
        builder = builder.special(TokenId::new(*id), name);
    }
    let eos = match header.eos {
        Eos::None => Vec::new(),
        Eos::One(id) => vec![id],
        Eos::Several(ids) => ids,
    };
    builder = eos.into_iter().fold(builder, |builder, id| builder.eos(TokenId::new(id)));
    let mut last = line;
    for (line, text) in lines {
        let (id, bytes) = text.and_then(|text| table_row(&text)).map_err(at(line))?;
        builder = builder.token(id, &bytes);
        last = line;
    }
    builder.build().map_err(|error| at(last)(error.into()))
}

fn table_row(text: &str) -> Result<(TokenId, Vec<u8>), FileErrorKind> {
    let (id, bytes): (u32, &str) = serde_json::from_str(text)?;
    Ok((TokenId::new(id), STANDARD.decode(bytes)?))
}

/// Reads a tiktoken rank file: per line the bytes in base64, a space, and the id. Special tokens,
/// which such files do not hold, are given as name and id; `eos` are among them.
///
/// # Errors
/// [`FileError`] with the line.
pub fn tiktoken_ranks(
    reader: impl BufRead,
    special: &[(&str, TokenId)],
    eos: &[TokenId],
) -> Result<Vocabulary, FileError> {
    let mut ranks = Vec::new();
    let mut last = 1;
    for (line, text) in numbered(reader) {
        ranks.push(text.and_then(|text| rank(&text)).map_err(at(line))?);
        last = line;
    }
    let ids = ranks.iter().map(|rank| rank.0).chain(special.iter().map(|special| special.1));
    let len = ids.map(|id| id.index() + 1).max().unwrap_or_default();
    let mut builder = Vocabulary::builder(len);
    for (id, bytes) in &ranks {
        builder = builder.token(*id, bytes);
    }
    for &(name, id) in special {
        builder = builder.special(id, name);
    }
    builder = eos.iter().fold(builder, |builder, &id| builder.eos(id));
    builder.build().map_err(|error| at(last)(error.into()))
}

fn rank(text: &str) -> Result<(TokenId, Vec<u8>), FileErrorKind> {
    let (bytes, rank) = text.split_once(' ').ok_or(FileErrorKind::Rank)?;
    let rank = rank.trim().parse().map_err(|_| FileErrorKind::Rank)?;
    Ok((TokenId::new(rank), STANDARD.decode(bytes)?))
}

/// Lines that are not blank, with their 1-based numbers.
fn numbered(reader: impl BufRead) -> impl Iterator<Item = (usize, Result<String, FileErrorKind>)> {
    let lines = (1..).zip(reader.lines());
    lines
        .map(|(line, text)| (line, text.map_err(FileErrorKind::from)))
        .filter(|(_, text)| !matches!(text, Ok(text) if text.trim().is_empty()))
}

fn at(line: usize) -> impl Fn(FileErrorKind) -> FileError {
    move |kind| FileError { line, kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r#"{"vocab_size": 6, "num_regular": 3, "eos": 4, "special": {"<end>": 4}}
[0, "YQ=="]
[1, "YWI="]

[2, "/w=="]
"#;

    #[test]
    fn a_table_gives_exact_bytes() {
        let vocabulary = raw_table(TABLE.as_bytes()).unwrap();
        let bytes = |id| vocabulary.bytes(TokenId::new(id));
        assert_eq!([bytes(0), bytes(1), bytes(2)], [Some(&b"a"[..]), Some(b"ab"), Some(b"\xff")]);
        assert_eq!(vocabulary.eos(), [TokenId::new(4)]);
        assert_eq!(vocabulary.special_name(TokenId::new(4)), Some("<end>"));
        assert_eq!(vocabulary.model_len(), 6);
    }

    #[test]
    fn faults_name_their_line() {
        let fault = |text: &str| {
            let error = raw_table(text.as_bytes()).unwrap_err();
            (error.line, error.kind)
        };
        assert!(matches!(fault(""), (1, FileErrorKind::Empty)));
        assert!(matches!(fault("7"), (1, FileErrorKind::Json(_))));
        assert!(matches!(fault(&TABLE.replace("YWI=", "Y!")), (3, FileErrorKind::Base64(_))));
        assert!(matches!(fault(&TABLE.replace("[1,", "[0,")), (5, FileErrorKind::Vocabulary(_))));
        assert!(matches!(fault(&TABLE.replace("[1,", "{1,")), (3, FileErrorKind::Json(_))));
    }

    #[test]
    fn a_rank_file_takes_its_specials_from_the_caller() {
        let end = TokenId::new(9);
        let vocabulary =
            tiktoken_ranks(b"YQ== 0\nYWI= 1\n".as_slice(), &[("<end>", end)], &[end]).unwrap();
        assert_eq!(vocabulary.tokenizer_len(), 10);
        assert_eq!(vocabulary.bytes(TokenId::new(1)), Some(&b"ab"[..]));
        let error = tiktoken_ranks(b"YQ== 0\nYWI=\n".as_slice(), &[], &[]).unwrap_err();
        assert!(matches!((error.line, error.kind), (2, FileErrorKind::Rank)));
    }
}
