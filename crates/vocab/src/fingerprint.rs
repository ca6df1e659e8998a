//! The identity of a vocabulary.

use crate::{TokenId, Vocabulary};
use sha2::{Digest, Sha256};
use std::fmt;

/// SHA-256 over everything about a vocabulary that determines masks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Hashes sizes, end-of-sequence ids, and for each id a kind, a length and the bytes or the name.
    /// Every variable part follows its length, so no two vocabularies hash the same input. An id
    /// that was never defined and one of no bytes are alike here, as they are to every mask.
    pub(crate) fn of(vocabulary: &Vocabulary) -> Self {
        let mut hash = Buffered::default();
        hash.update(b"formwork vocabulary 1");
        let eos = vocabulary.eos();
        for len in [vocabulary.tokenizer_len(), vocabulary.model_len(), eos.len()] {
            hash.update((len as u64).to_le_bytes());
        }
        for id in eos {
            hash.update(id.as_u32().to_le_bytes());
        }
        for id in (0..).take(vocabulary.tokenizer_len()).map(TokenId::new) {
            // No special token has bytes, so names need be looked up for few.
            let (kind, text) = match vocabulary.bytes(id) {
                Some(bytes) => (0, bytes),
                None => match vocabulary.special_name(id) {
                    Some(name) => (1, name.as_bytes()),
                    None => (0, &[][..]),
                },
            };
            let mut head = [kind; 9];
            head[1..].copy_from_slice(&(text.len() as u64).to_le_bytes());
            hash.update(head);
            hash.update(text);
        }
        hash.flush();
        Self(hash.hash.finalize().into())
    }
}

/// What is hashed comes in hundreds of thousands of small parts, and handing over each of them
/// costs more than hashing it.
#[derive(Default)]
struct Buffered {
    hash: Sha256,
    pending: Vec<u8>,
}

impl Buffered {
    /// Bytes handed over at once.
    const BLOCK: usize = 1 << 13;

    fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.pending.extend_from_slice(bytes.as_ref());
        if self.pending.len() >= Self::BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.hash.update(&self.pending);
        self.pending.clear();
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.to_string();
        f.write_str(&shown[..12])
    }
}
