//! Files of one token a line: the raw table, and tiktoken's ranks.

use crate::{members::Members, split::PatternError, table::Table};
use base64::{Engine, engine::general_purpose::STANDARD};
use formwork_vocab::{TokenId, Vocabulary, VocabularyError};
use serde::Deserialize;
use std::io::{BufRead, Read};

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
    /// A line is longer than any that belongs in such a file.
    #[error("the line has more than {MAX_LINE_BYTES} bytes")]
    LineTooLong,
    /// A line is not the JSON that belongs there.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A line of ranks is not two words.
    #[error("expected the token's bytes in base64, a space, and its rank")]
    Rank,
    /// Bytes are not base64.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// The header promised another number of tokens.
    #[error("{found} tokens follow, and the header says {promised}")]
    Count {
        /// The header's number.
        promised: usize,
        /// Those there are.
        found: usize,
    },
    /// The pattern that text is cut by is of no use.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// What was read is no vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

/// Bytes of one line: twice what the longest token takes, and room for some thousand special tokens
/// in a header.
const MAX_LINE_BYTES: usize = 1 << 20;

/// First line of a raw table.
#[derive(Debug, Deserialize)]
struct Header {
    /// Width of the logits.
    vocab_size: u32,
    /// How many lines follow, where the header says so.
    num_regular: Option<usize>,
    /// Name and id of every special token.
    #[serde(default)]
    special: Members<u32>,
    /// One end-of-sequence id, or several.
    #[serde(default)]
    eos: Ids,
    /// One end-of-turn id, or several: they end an output too.
    #[serde(default)]
    eot: Ids,
}

/// Ids as JSON has them.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum Ids {
    #[default]
    None,
    One(u32),
    Several(Vec<u32>),
}

impl Ids {
    pub(crate) fn into_vec(self) -> Vec<TokenId> {
        let ids = match self {
            Self::None => Vec::new(),
            Self::One(id) => vec![id],
            Self::Several(ids) => ids,
        };
        ids.into_iter().map(TokenId::new).collect()
    }
}

/// Reads a table in JSON lines: a header object with `vocab_size`, `special` (an object from names
/// to ids), `eos` and `eot` (each an id or a list of ids; both end an output) and `num_regular` (how
/// many lines follow), all but the first optional, other keys being passed over; then one
/// `[id, "base64 of the bytes"]` per ordinary token. Blank lines are passed over.
///
/// # Errors
/// [`FileError`] with the line.
pub fn raw_table(reader: impl BufRead) -> Result<Vocabulary, FileError> {
    let mut lines = Lines { reader, line: 0 };
    let Some(text) = lines.next()? else {
        return Err(FileError { line: 1, kind: FileErrorKind::Empty });
    };
    let header: Header = serde_json::from_slice(&text).map_err(|error| lines.fault(error))?;
    let mut table = Table::default();
    for (name, id) in header.special.0 {
        table.special(&name, TokenId::new(id)).map_err(|error| lines.fault(error))?;
    }
    let mut eos = header.eos.into_vec();
    eos.extend(header.eot.into_vec());
    let len = header.vocab_size as usize;
    table.check_len(len).map_err(|error| lines.fault(error))?;
    let mut found = 0;
    while let Some(text) = lines.next()? {
        let (id, bytes) = table_row(&text).map_err(|error| lines.fault(error))?;
        if id.index() >= len {
            return Err(lines.fault(VocabularyError::OutOfRange { id, len }));
        }
        table.token(id, &bytes).map_err(|error| lines.fault(error))?;
        found += 1;
    }
    if let Some(promised) = header.num_regular.filter(|&promised| promised != found) {
        return Err(lines.fault(FileErrorKind::Count { promised, found }));
    }
    table.eos = eos;
    table.build(len, None).map_err(|error| lines.fault(error))
}

fn table_row(text: &[u8]) -> Result<(TokenId, Vec<u8>), FileErrorKind> {
    // Owned, because JSON may write the slashes of base64 as escapes.
    let (id, bytes): (u32, String) = serde_json::from_slice(text)?;
    Ok((TokenId::new(id), STANDARD.decode(bytes)?))
}

/// Reads a tiktoken rank file: per line the bytes in base64, a space, and the id. Special tokens,
/// which such files do not hold, are given as name and id; `eos` are among them. The vocabulary has
/// no encoder, since the file does not say how text is cut: see
/// [`tiktoken`](fn@crate::tiktoken).
///
/// # Errors
/// [`FileError`] with the line.
pub fn tiktoken_ranks(
    reader: impl BufRead,
    special: &[(&str, TokenId)],
    eos: &[TokenId],
) -> Result<Vocabulary, FileError> {
    let (mut table, lines) = ranks(reader)?;
    for &(name, id) in special {
        table.special(name, id).map_err(|error| lines.fault(error))?;
    }
    table.eos = eos.to_vec();
    table.build(table.end(), None).map_err(|error| lines.fault(error))
}

/// The tokens of a rank file, and where its reading ended.
pub(crate) fn ranks<R: BufRead>(reader: R) -> Result<(Table, Lines<R>), FileError> {
    let mut lines = Lines { reader, line: 0 };
    let mut table = Table::default();
    while let Some(text) = lines.next()? {
        let (id, bytes) = rank(&text).map_err(|error| lines.fault(error))?;
        table.token(id, &bytes).map_err(|error| lines.fault(error))?;
    }
    Ok((table, lines))
}

fn rank(text: &[u8]) -> Result<(TokenId, Vec<u8>), FileErrorKind> {
    let text = std::str::from_utf8(text).map_err(|_| FileErrorKind::Rank)?;
    let (bytes, rank) = text.trim().split_once(' ').ok_or(FileErrorKind::Rank)?;
    let rank = rank.parse().map_err(|_| FileErrorKind::Rank)?;
    Ok((TokenId::new(rank), STANDARD.decode(bytes)?))
}

/// Lines that are not blank.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    /// The 1-based number of the last line read.
    line: usize,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<Vec<u8>>, FileError> {
        loop {
            let mut text = Vec::new();
            let mut limited = (&mut self.reader).take(MAX_LINE_BYTES as u64 + 1);
            let read = limited.read_until(b'\n', &mut text);
            self.line += usize::from(!matches!(read, Ok(0)));
            match read.map_err(|error| self.fault(error))? {
                0 => return Ok(None),
                _ if text.len() > MAX_LINE_BYTES => {
                    return Err(self.fault(FileErrorKind::LineTooLong));
                }
                _ if text.iter().all(u8::is_ascii_whitespace) => {}
                _ => return Ok(Some(text)),
            }
        }
    }

    /// The error, at the last line read.
    pub(crate) fn fault(&self, kind: impl Into<FileErrorKind>) -> FileError {
        FileError { line: self.line.max(1), kind: kind.into() }
    }
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
        let fault_of_vocabulary = |text: &str| match fault(text) {
            (line, FileErrorKind::Vocabulary(error)) => (line, error),
            other => panic!("{other:?}"),
        };
        let twice = |id| VocabularyError::DefinedTwice { id: TokenId::new(id) };
        assert_eq!(fault_of_vocabulary(&TABLE.replace("[1,", "[0,")), (3, twice(0)));
        assert_eq!(fault_of_vocabulary(&TABLE.replace("[1,", "[4,")), (3, twice(4)));
        let out = VocabularyError::OutOfRange { id: TokenId::new(6), len: 6 };
        assert_eq!(fault_of_vocabulary(&TABLE.replace("[1,", "[6,")), (3, out));
        let twice = TABLE.replace("\"eos\": 4", "\"eos\": 4, \"eot\": [5, 4]");
        assert_eq!(raw_table(twice.as_bytes()).unwrap().eos(), [4, 5].map(TokenId::new));
        let names = TABLE.replace("{\"<end>\": 4}", "{\"<end>\": 4, \"<end>\": 5}");
        let (_, error) = fault_of_vocabulary(&names);
        assert_eq!(error, VocabularyError::NameTwice { name: "<end>".into() });
        let eos = VocabularyError::EosOutOfRange { id: TokenId::new(7), len: 6 };
        assert_eq!(fault_of_vocabulary(&TABLE.replace("\"eos\": 4", "\"eos\": [4, 7]")).1, eos);
        let cut = TABLE.replace("[2, \"/w==\"]\n", "");
        assert!(matches!(fault(&cut), (_, FileErrorKind::Count { promised: 3, found: 2 })));
        let long = TABLE.replace("YWI=", &"A".repeat(MAX_LINE_BYTES));
        assert!(matches!(fault(&long), (3, FileErrorKind::LineTooLong)));
        assert!(matches!(fault(&TABLE.replace('Y', "\u{e9}")), (2, FileErrorKind::Base64(_))));
        assert!(matches!(fault(&TABLE.replace("[1,", "{1,")), (3, FileErrorKind::Json(_))));
    }

    #[test]
    fn a_file_without_end_is_refused_at_the_first_fault() {
        struct Endless(usize);
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                for byte in buffer.iter_mut() {
                    *byte = b"YQ== 0\n"[self.0 % 7];
                    self.0 += 1;
                }
                Ok(buffer.len())
            }
        }
        let error = tiktoken_ranks(std::io::BufReader::new(Endless(0)), &[], &[]).unwrap_err();
        assert!(matches!((error.line, error.kind), (2, FileErrorKind::Vocabulary(_))));
        let endless = std::io::BufReader::new(std::io::repeat(b'['));
        let error = raw_table(endless).unwrap_err();
        assert!(matches!((error.line, error.kind), (1, FileErrorKind::LineTooLong)));
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
