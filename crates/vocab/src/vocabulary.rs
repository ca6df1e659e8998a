//! What each token id stands for.

mod derived;
mod saved;

pub use saved::{LoadError, Misplaced};

use crate::{Encoder, Fingerprint, TokenId, TokenTrie};
use derived::Derived;
use rustc_hash::FxHashMap;
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// Number of ids: the trie packs a count of tokens, all of them included, into 24 bits.
const MAX_TOKENS: usize = (1 << 24) - 1;
/// Bytes of one token: the trie keeps depths in 16 bits.
const MAX_TOKEN_BYTES: usize = u16::MAX as usize;
/// Bytes of all tokens together: real vocabularies hold one to three million. A trie has at most
/// one node a byte, so this bounds its memory too, at some 1.2 GB.
const MAX_TOTAL_BYTES: usize = 1 << 26;

/// A model's tokens. Immutable; share it in an [`Arc`].
pub struct Vocabulary {
    /// All bytes, one token after the other by id.
    bytes: Box<[u8]>,
    /// `bytes[offsets[id]..offsets[id + 1]]` are the bytes of a token; none when it has no reading
    /// as bytes. One more entry than there are tokens.
    offsets: Box<[u32]>,
    names: FxHashMap<TokenId, Box<str>>,
    ids_by_name: FxHashMap<Box<str>, TokenId>,
    eos: Box<[TokenId]>,
    model_len: usize,
    encoder: Option<Arc<dyn Encoder>>,
    fingerprint: Fingerprint,
    unspellable: ByteBits,
    longest_token: usize,
    trie: OnceLock<TokenTrie>,
    derived: Derived,
}

/// Why a vocabulary could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// A token at or past the size of the tokenizer.
    #[error("token {id} is out of range: the tokenizer has {len} ids")]
    OutOfRange {
        /// The id.
        id: TokenId,
        /// The size of the tokenizer.
        len: usize,
    },
    /// An end-of-sequence id at or past the size of the tokenizer.
    #[error("end-of-sequence id {id} is out of range: the tokenizer has {len} ids")]
    EosOutOfRange {
        /// The id.
        id: TokenId,
        /// The size of the tokenizer.
        len: usize,
    },
    /// An id that was given twice.
    #[error("token {id} is defined twice")]
    DefinedTwice {
        /// The id.
        id: TokenId,
    },
    /// Two special tokens with one name.
    #[error("two special tokens are named {name:?}")]
    NameTwice {
        /// The name.
        name: Box<str>,
    },
    /// A token of too many bytes.
    #[error("token {id} has {len} bytes, more than {MAX_TOKEN_BYTES}")]
    TooLong {
        /// The id.
        id: TokenId,
        /// Its bytes.
        len: usize,
    },
    /// All tokens together have too many bytes.
    #[error("the tokens have {len} bytes together, more than {MAX_TOTAL_BYTES}")]
    TooManyBytes {
        /// Their bytes.
        len: usize,
    },
    /// More ids than are supported.
    #[error("{len} ids are more than {MAX_TOKENS}")]
    TooMany {
        /// The number of ids asked for.
        len: usize,
    },
}

/// Collects the tokens of a vocabulary; see [`Vocabulary::builder`].
#[derive(Debug)]
pub struct VocabularyBuilder {
    entries: Vec<Entry>,
    pool: Vec<u8>,
    len: usize,
    model_len: usize,
    eos: Vec<TokenId>,
    encoder: Option<Arc<dyn Encoder>>,
}

#[derive(Debug)]
struct Entry {
    id: TokenId,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A stretch of the pool.
    Text(std::ops::Range<usize>),
    Special(Box<str>),
}

impl Vocabulary {
    /// The most ids of a tokenizer, and the most bits of a row.
    pub const MAX_TOKENS: usize = MAX_TOKENS;
    /// The most bytes of one token.
    pub const MAX_TOKEN_BYTES: usize = MAX_TOKEN_BYTES;
    /// The most bytes of all tokens together.
    pub const MAX_TOTAL_BYTES: usize = MAX_TOTAL_BYTES;

    /// A builder for a tokenizer of `len` ids. Ids that are never defined have no reading and are
    /// never allowed.
    #[must_use]
    pub fn builder(len: usize) -> VocabularyBuilder {
        VocabularyBuilder {
            entries: Vec::new(),
            pool: Vec::new(),
            len,
            model_len: len,
            eos: Vec::new(),
            encoder: None,
        }
    }

    /// Number of ids of the tokenizer.
    #[must_use]
    pub fn tokenizer_len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Width of the model's logits, hence bits of a row. May be more or less than the tokenizer's.
    #[must_use]
    pub fn model_len(&self) -> usize {
        self.model_len
    }

    /// Words of a row.
    #[must_use]
    pub fn row_words(&self) -> usize {
        formwork_mask::words_for(self.model_len)
    }

    /// The bytes of a token; `None` for special tokens, unknown ids and tokens without bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        let end = *self.offsets.get(id.index() + 1)?;
        let start = self.offsets[id.index()];
        (start != end).then(|| &self.bytes[start as usize..end as usize])
    }

    /// The name of a special token.
    #[must_use]
    pub fn special_name(&self, id: TokenId) -> Option<&str> {
        self.names.get(&id).map(|name| &**name)
    }

    /// Whether a token is special: never matched by text.
    #[must_use]
    pub fn is_special(&self, id: TokenId) -> bool {
        self.names.contains_key(&id)
    }

    /// The special token of this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<TokenId> {
        self.ids_by_name.get(name).copied()
    }

    /// The emittable tokens that are spelt so, ascending.
    pub fn tokens_with_bytes(&self, bytes: &[u8]) -> impl Iterator<Item = TokenId> + '_ {
        let node =
            bytes.iter().try_fold(crate::NodeId::ROOT, |node, &byte| self.trie().child(node, byte));
        node.map_or(&[][..], |node| self.trie().tokens(node)).iter().copied()
    }

    /// End-of-sequence ids, ascending.
    #[must_use]
    pub fn eos(&self) -> &[TokenId] {
        &self.eos
    }

    /// Whether the model can emit the token and it stands for something.
    #[must_use]
    #[inline]
    pub fn is_emittable(&self, id: TokenId) -> bool {
        id.index() < self.model_len && (self.bytes(id).is_some() || self.is_special(id))
    }

    /// The byte values that are not emittable tokens by themselves. What contains none of them can
    /// be spelt; what contains one may or may not.
    #[must_use]
    pub fn unspellable_bytes(&self) -> ByteBits {
        self.unspellable
    }

    /// Whether every byte is an emittable token by itself.
    #[must_use]
    pub fn is_byte_complete(&self) -> bool {
        self.unspellable.is_empty()
    }

    /// Bytes of the longest emittable token; 0 when none has bytes.
    #[must_use]
    pub fn longest_token(&self) -> usize {
        self.longest_token
    }

    /// The identity of everything here that determines masks. Encoders do not.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The tokenizer's own encoding, where it is known.
    #[must_use]
    pub fn encoder(&self) -> Option<&Arc<dyn Encoder>> {
        self.encoder.as_ref()
    }

    /// The trie of all emittable tokens that have bytes. Built on first use, so that calling this
    /// early takes the cost out of the first compile.
    pub fn trie(&self) -> &TokenTrie {
        self.trie.get_or_init(|| TokenTrie::new(self))
    }

    /// What others compute from this vocabulary once, for all who share it: one value of each type,
    /// made by the first caller and freed with the vocabulary. Those who ask meanwhile wait.
    ///
    /// `make` must not ask for the same type, nor wait for a thread that might.
    pub fn derived<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Self) -> T) -> Arc<T> {
        self.derived.get(|| make(self))
    }

    /// This vocabulary with its tokenizer's own encoding. What others derived from it is forgotten.
    #[must_use]
    pub fn with_encoder(self, encoder: Arc<dyn Encoder>) -> Self {
        Self { encoder: Some(encoder), derived: Derived::default(), ..self }
    }

    /// Heap bytes held, the trie's included once it is built; the encoder's not, nor what others
    /// derived.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let names: usize = self.names.values().map(|name| 2 * (name.len() + 24)).sum();
        let trie = self.trie.get().map_or(0, TokenTrie::memory_bytes);
        self.bytes.len() + self.offsets.len() * 4 + self.eos.len() * 4 + names + trie
    }

    /// One without tokens, to be filled and then [completed](Self::completed). `eos` is ascending.
    fn blank(eos: Vec<TokenId>, model_len: usize) -> Self {
        Self {
            bytes: [].into(),
            offsets: [].into(),
            names: FxHashMap::default(),
            ids_by_name: FxHashMap::default(),
            eos: eos.into(),
            model_len,
            encoder: None,
            fingerprint: Fingerprint([0; 32]),
            unspellable: ByteBits::all(),
            longest_token: 0,
            trie: OnceLock::new(),
            derived: Derived::default(),
        }
    }

    /// With what follows from the tokens.
    fn completed(mut self) -> Self {
        self.fingerprint = Fingerprint::of(&self);
        self.unspellable = unspellable(&self);
        self.longest_token = longest_token(&self);
        self
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("tokenizer_len", &self.tokenizer_len())
            .field("model_len", &self.model_len)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

impl VocabularyBuilder {
    /// An ordinary token, or an added one that is not special: text. A token of no bytes has no
    /// reading.
    #[must_use]
    pub fn token(mut self, id: TokenId, bytes: &[u8]) -> Self {
        let start = self.pool.len();
        self.pool.extend_from_slice(bytes);
        self.entries.push(Entry { id, kind: Kind::Text(start..self.pool.len()) });
        self
    }

    /// A special token: it has a name and no bytes.
    #[must_use]
    pub fn special(mut self, id: TokenId, name: &str) -> Self {
        self.entries.push(Entry { id, kind: Kind::Special(name.into()) });
        self
    }

    /// One more end-of-sequence id.
    #[must_use]
    pub fn eos(mut self, id: TokenId) -> Self {
        self.eos.push(id);
        self
    }

    /// The width of the model's logits, when it differs from the size of the tokenizer. Ids at or
    /// past it can never be emitted; ids between the tokenizer's size and it are padding.
    #[must_use]
    pub fn model_size(mut self, len: usize) -> Self {
        self.model_len = len;
        self
    }

    /// The tokenizer's own encoding.
    #[must_use]
    pub fn encoder(mut self, encoder: Arc<dyn Encoder>) -> Self {
        self.encoder = Some(encoder);
        self
    }

    /// The vocabulary.
    ///
    /// # Errors
    /// [`VocabularyError`], for the first thing that is out of range, defined twice or too large.
    pub fn build(mut self) -> Result<Vocabulary, VocabularyError> {
        self.check_sizes()?;
        self.check_ids()?;
        self.eos.sort_unstable();
        self.eos.dedup();
        let mut vocabulary = Vocabulary::blank(std::mem::take(&mut self.eos), self.model_len);
        vocabulary.encoder = self.encoder.take();
        self.lay_out(&mut vocabulary)?;
        Ok(vocabulary.completed())
    }

    /// Writes bytes, offsets and names in the order of the ids, which the entries are sorted by.
    fn lay_out(self, vocabulary: &mut Vocabulary) -> Result<(), VocabularyError> {
        let mut offsets = Vec::with_capacity(self.len + 1);
        let mut bytes = Vec::with_capacity(self.pool.len());
        let mut entries = self.entries.into_iter().peekable();
        offsets.push(0);
        for id in (0..).take(self.len).map(TokenId::new) {
            match entries.next_if(|entry| entry.id == id).map(|entry| entry.kind) {
                Some(Kind::Text(range)) => bytes.extend_from_slice(&self.pool[range]),
                Some(Kind::Special(name)) => {
                    if vocabulary.ids_by_name.insert(name.clone(), id).is_some() {
                        return Err(VocabularyError::NameTwice { name });
                    }
                    vocabulary.names.insert(id, name);
                }
                None => {}
            }
            offsets.push(u32::try_from(bytes.len()).expect("at most MAX_TOTAL_BYTES"));
        }
        vocabulary.bytes = bytes.into();
        vocabulary.offsets = offsets.into();
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), VocabularyError> {
        let largest = self.len.max(self.model_len);
        if largest > MAX_TOKENS {
            return Err(VocabularyError::TooMany { len: largest });
        }
        for entry in &self.entries {
            if let Kind::Text(range) = &entry.kind
                && range.len() > MAX_TOKEN_BYTES
            {
                return Err(VocabularyError::TooLong { id: entry.id, len: range.len() });
            }
        }
        match self.pool.len() {
            len if len > MAX_TOTAL_BYTES => Err(VocabularyError::TooManyBytes { len }),
            _ => Ok(()),
        }
    }

    /// Sorts the entries and refuses what is out of range or there twice.
    fn check_ids(&mut self) -> Result<(), VocabularyError> {
        self.entries.sort_by_key(|entry| entry.id);
        let len = self.len;
        if let Some(last) = self.entries.last().filter(|last| last.id.index() >= len) {
            return Err(VocabularyError::OutOfRange { id: last.id, len });
        }
        if let Some(&id) = self.eos.iter().find(|id| id.index() >= len) {
            return Err(VocabularyError::EosOutOfRange { id, len });
        }
        match self.entries.windows(2).find(|pair| pair[0].id == pair[1].id) {
            Some(pair) => Err(VocabularyError::DefinedTwice { id: pair[0].id }),
            None => Ok(()),
        }
    }
}

fn longest_token(vocabulary: &Vocabulary) -> usize {
    let ids = (0..).take(vocabulary.model_len.min(vocabulary.tokenizer_len())).map(TokenId::new);
    ids.filter_map(|id| vocabulary.bytes(id)).map(<[u8]>::len).max().unwrap_or_default()
}

fn unspellable(vocabulary: &Vocabulary) -> ByteBits {
    let mut bits = ByteBits::all();
    for id in (0..).take(vocabulary.tokenizer_len()).map(TokenId::new) {
        if let Some(&[byte]) = vocabulary.bytes(id)
            && vocabulary.is_emittable(id)
        {
            bits.remove(byte);
        }
    }
    bits
}

/// A set of byte values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteBits([u64; 4]);

impl ByteBits {
    const fn all() -> Self {
        Self([u64::MAX; 4])
    }

    const fn remove(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] &= !(1 << (byte & 63));
    }

    /// Whether the byte is a member.
    #[must_use]
    pub const fn contains(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] & (1 << (byte & 63)) != 0
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u8> + use<> {
        let bits = *self;
        (0..=255).filter(move |&byte| bits.contains(byte))
    }
}

#[cfg(test)]
mod tests;
