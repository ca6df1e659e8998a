//! A vocabulary and its trie as one archive.
//!
//! # Sections
//! | section | what |
//! |---|---|
//! | model | u64: width of the logits |
//! | eos | u32s: end-of-sequence ids, ascending |
//! | lengths | u16s: bytes of each token, by id; 0 when it has no reading as bytes |
//! | bytes | all bytes, one token after the other by id |
//! | special | u32s: special ids, ascending |
//! | names | their names, a string each |
//! | order | u32s: the tokens of the trie by their bytes, then by id |
//! | fingerprint | 32 bytes |
//!
//! Everything else follows from these and is computed again. So a file says nothing twice but the
//! fingerprint, which is compared.

use super::{MAX_TOKENS, MAX_TOTAL_BYTES, Vocabulary, VocabularyError};
use crate::{Fingerprint, TokenId, TokenTrie, trie::OrderFault};
use formwork_archive::{ArchiveError, Kind, Reader, Writer, read_archive};
use std::{
    io::{self, Read, Write},
    sync::OnceLock,
};

const KIND: Kind = Kind::new(b"vocabula");
const VERSION: u32 = 1;

/// Why a saved vocabulary could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// There is no such vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
    /// The tokens have other bytes together than there are.
    #[error("the tokens have {claimed} bytes together, and there are {found}")]
    Lengths {
        /// The sum of their lengths.
        claimed: u64,
        /// The bytes there are.
        found: usize,
    },
    /// A special token that has bytes too.
    #[error("token {id} is special and has bytes")]
    SpecialWithBytes {
        /// The id.
        id: TokenId,
    },
    /// A list that is not in order.
    #[error("entry {position} of the {list} is out of order")]
    OutOfOrder {
        /// The list.
        list: Misplaced,
        /// The first entry that does not come after the one before it.
        position: usize,
    },
    /// The trie holds a token that no text is spelt with.
    #[error("entry {position} of the trie's tokens is not emittable text")]
    NotText {
        /// Where in the list.
        position: usize,
    },
    /// The trie lacks tokens.
    #[error("the trie has {found} tokens of {expected}")]
    MissingTokens {
        /// How many it has.
        found: usize,
        /// How many the vocabulary has.
        expected: usize,
    },
    /// The fingerprint is another vocabulary's.
    #[error("the vocabulary has fingerprint {computed}, and {recorded} was saved with it")]
    FingerprintDiffers {
        /// The one that was saved.
        recorded: Fingerprint,
        /// The one it has.
        computed: Fingerprint,
    },
}

/// Lists that must be ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misplaced {
    /// The end-of-sequence ids.
    Eos,
    /// The special tokens.
    Special,
    /// The tokens of the trie.
    Trie,
}

impl std::fmt::Display for Misplaced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Eos => "end-of-sequence ids",
            Self::Special => "special tokens",
            Self::Trie => "trie's tokens",
        })
    }
}

impl From<OrderFault> for LoadError {
    fn from(fault: OrderFault) -> Self {
        match fault {
            OrderFault::NotText { position } => Self::NotText { position },
            OrderFault::NotAscending { position } => {
                Self::OutOfOrder { list: Misplaced::Trie, position }
            }
            OrderFault::Missing { found, expected } => Self::MissingTokens { found, expected },
        }
    }
}

impl Vocabulary {
    /// Writes the vocabulary and its trie, which is built if it is not yet there. The encoder is not
    /// saved. Equal vocabularies make equal files.
    ///
    /// # Errors
    /// What the sink says.
    pub fn save(&self, sink: impl Write) -> io::Result<()> {
        let mut writer = Writer::new(KIND, VERSION);
        writer.u64(self.model_len as u64);
        writer.u32s(&numbers(&self.eos));
        let lengths = self.offsets.windows(2).map(|pair| {
            u16::try_from(pair[1] - pair[0]).expect("tokens are at most MAX_TOKEN_BYTES")
        });
        writer.u16s(&lengths.collect::<Vec<_>>());
        writer.bytes(&self.bytes);
        let mut special: Vec<TokenId> = self.names.keys().copied().collect();
        special.sort_unstable();
        writer.u32s(&numbers(&special));
        special.iter().for_each(|id| writer.str(&self.names[id]));
        writer.u32s(&numbers(self.trie().order()));
        writer.fixed(&self.fingerprint.0);
        writer.write_to(sink)
    }

    /// Reads what [`Self::save`] wrote: the vocabulary with its trie, without an encoder
    /// ([`Self::with_encoder`]). Everything is checked, so that a file that was not written by
    /// `save` is a vocabulary too, or an error. Cost: linear; 128,000 tokens take some
    /// milliseconds.
    ///
    /// # Errors
    /// [`LoadError`], for the first thing that is wrong.
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        let mut reader = Reader::open(bytes, KIND, VERSION)?;
        let vocabulary = read_tokens(&mut reader)?.completed();
        let order = ids(reader.u32s("order")?);
        let recorded = Fingerprint(reader.fixed("fingerprint")?);
        reader.finish()?;
        let computed = vocabulary.fingerprint;
        if recorded != computed {
            return Err(LoadError::FingerprintDiffers { recorded, computed });
        }
        let trie = TokenTrie::from_order(&vocabulary, &order)?;
        Ok(Self { trie: OnceLock::from(trie), ..vocabulary })
    }

    /// The same from a stream, of which at most `limit` bytes are taken. Files of 128,000 tokens
    /// have two megabytes.
    ///
    /// # Errors
    /// As for [`Self::load`], and what the stream says.
    pub fn load_from(stream: impl Read, limit: u64) -> Result<Self, LoadError> {
        Self::load(&read_archive(stream, (KIND, VERSION), limit)?)
    }
}

/// Everything that the trie is made of, not yet [completed](Vocabulary::completed).
fn read_tokens(reader: &mut Reader<'_>) -> Result<Vocabulary, LoadError> {
    let model_len = usize::try_from(reader.u64("model")?).unwrap_or(usize::MAX);
    let eos = ids(reader.u32s("eos")?);
    let lengths = reader.u16s("lengths")?;
    let len = lengths.len();
    let largest = len.max(model_len);
    if largest > MAX_TOKENS {
        return Err(VocabularyError::TooMany { len: largest }.into());
    }
    if let Some(&id) = eos.iter().find(|id| id.index() >= len) {
        return Err(VocabularyError::EosOutOfRange { id, len }.into());
    }
    check_ascending(&eos, Misplaced::Eos)?;
    let bytes = reader.bytes("bytes")?;
    let mut vocabulary = Vocabulary::blank(eos, model_len);
    vocabulary.offsets = offsets(&lengths, bytes)?;
    vocabulary.bytes = bytes.into();
    read_names(reader, &mut vocabulary)?;
    Ok(vocabulary)
}

/// Where each token's bytes begin, and where the last one's end.
fn offsets(lengths: &[u16], bytes: &[u8]) -> Result<Box<[u32]>, LoadError> {
    let claimed = lengths.iter().copied().map(u64::from).sum();
    let found = bytes.len();
    if found as u64 != claimed {
        return Err(LoadError::Lengths { claimed, found });
    }
    if found > MAX_TOTAL_BYTES {
        return Err(VocabularyError::TooManyBytes { len: found }.into());
    }
    let mut offsets = Vec::with_capacity(lengths.len() + 1);
    let mut end = 0;
    offsets.push(end);
    offsets.extend(lengths.iter().map(|&length| {
        end += u32::from(length);
        end
    }));
    Ok(offsets.into())
}

fn read_names(reader: &mut Reader<'_>, vocabulary: &mut Vocabulary) -> Result<(), LoadError> {
    let special = ids(reader.u32s("special")?);
    check_ascending(&special, Misplaced::Special)?;
    let len = vocabulary.tokenizer_len();
    if let Some(&id) = special.last().filter(|last| last.index() >= len) {
        return Err(VocabularyError::OutOfRange { id, len }.into());
    }
    for id in special {
        let name: Box<str> = reader.str("names")?.into();
        if vocabulary.bytes(id).is_some() {
            return Err(LoadError::SpecialWithBytes { id });
        }
        if vocabulary.ids_by_name.insert(name.clone(), id).is_some() {
            return Err(VocabularyError::NameTwice { name }.into());
        }
        vocabulary.names.insert(id, name);
    }
    Ok(())
}

fn check_ascending(ids: &[TokenId], list: Misplaced) -> Result<(), LoadError> {
    match ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(before) => Err(LoadError::OutOfOrder { list, position: before + 1 }),
        None => Ok(()),
    }
}

fn numbers(ids: &[TokenId]) -> Vec<u32> {
    ids.iter().map(|id| id.as_u32()).collect()
}

fn ids(numbers: Vec<u32>) -> Vec<TokenId> {
    numbers.into_iter().map(TokenId::new).collect()
}

#[cfg(test)]
mod tests;
