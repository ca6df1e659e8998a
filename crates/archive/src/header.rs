//! The first 60 bytes of an archive: what it is, how long it is, and its checksum.

use crate::ArchiveError;
use sha2::{Digest, Sha256};
use std::fmt;

/// How an archive begins. The first byte is none of ASCII, the last a line end, so that a transfer
/// that changes text destroys it.
const MAGIC: [u8; 8] = *b"\x93FORMWK\n";
/// Bytes of the header that the checksum covers.
const CHECKED: usize = 28;
/// Bytes of the whole header.
pub(crate) const HEADER: usize = CHECKED + 32;

/// What an archive holds: eight ASCII bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind([u8; 8]);

impl Kind {
    /// A kind. Meant for constants, so that a name that will not do is found by the compiler.
    ///
    /// # Panics
    /// When a byte is not printable ASCII.
    #[must_use]
    pub const fn new(name: &[u8; 8]) -> Self {
        let mut at = 0;
        while at < name.len() {
            assert!(name[at].is_ascii_graphic(), "a kind is printable ASCII");
            at += 1;
        }
        Self(*name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One that was read from a file can hold anything.
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({self})")
    }
}

/// A header as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    bytes: [u8; HEADER],
}

impl Header {
    /// The header of a payload.
    pub(crate) fn of(kind: Kind, version: u32, payload: &[u8]) -> Self {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&kind.0);
        bytes[16..20].copy_from_slice(&version.to_le_bytes());
        bytes[20..CHECKED].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        let digest = digest(&bytes[..CHECKED], payload);
        bytes[CHECKED..].copy_from_slice(&digest);
        Self { bytes }
    }

    pub(crate) fn as_bytes(&self) -> &[u8; HEADER] {
        &self.bytes
    }

    /// The header at the beginning of `bytes`, when it is one of this kind and version.
    pub(crate) fn read(bytes: &[u8], kind: Kind, version: u32) -> Result<Self, ArchiveError> {
        let given = bytes.len().min(MAGIC.len());
        if given == 0 || bytes[..given] != MAGIC[..given] {
            return Err(ArchiveError::NotAnArchive);
        }
        let Some(&bytes) = bytes.first_chunk() else {
            return Err(ArchiveError::Truncated {
                expected: HEADER as u64,
                found: bytes.len() as u64,
            });
        };
        let header = Self { bytes };
        let found = Kind(header.field(8));
        if found != kind {
            return Err(ArchiveError::OtherKind { found, expected: kind });
        }
        match u32::from_le_bytes(header.field(16)) {
            found if found != version => {
                Err(ArchiveError::UnsupportedVersion { found, known: version })
            }
            _ => Ok(header),
        }
    }

    /// Bytes of header and payload together.
    pub(crate) fn archive_len(&self) -> u64 {
        u64::from_le_bytes(self.field(20)).saturating_add(HEADER as u64)
    }

    /// Whether this is the payload that was written.
    pub(crate) fn fits(&self, payload: &[u8]) -> bool {
        digest(&self.bytes[..CHECKED], payload) == self.bytes[CHECKED..]
    }

    fn field<const LEN: usize>(&self, at: usize) -> [u8; LEN] {
        std::array::from_fn(|index| self.bytes[at + index])
    }
}

fn digest(header: &[u8], payload: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(header).chain_update(payload).finalize().into()
}
