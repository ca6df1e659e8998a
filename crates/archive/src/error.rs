//! Why an archive cannot be read.

use crate::Kind;

/// Why an archive cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// It does not begin as archives do.
    #[error("this is no archive")]
    NotAnArchive,
    /// An archive of something else.
    #[error("this is an archive of kind `{found}`, not of kind `{expected}`")]
    OtherKind {
        /// What it holds.
        found: Kind,
        /// What was asked for.
        expected: Kind,
    },
    /// Written by another version.
    #[error("the archive has version {found} of its kind, and only version {known} can be read")]
    UnsupportedVersion {
        /// Its version.
        found: u32,
        /// The one that can be read.
        known: u32,
    },
    /// It ends too early.
    #[error("the archive ends after {found} bytes of {expected}")]
    Truncated {
        /// Bytes it should have; the header's when it ends within the header.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Bytes after its end.
    #[error("{count} bytes follow the end of the archive")]
    TrailingBytes {
        /// Their number.
        count: u64,
    },
    /// Its bytes are not the ones that were written.
    #[error("the archive is damaged: its checksum differs")]
    ChecksumDiffers,
    /// A section that cannot be read.
    #[error("section `{section}` at offset {offset} of the payload {fault}")]
    Malformed {
        /// The name the reader gives the section.
        section: &'static str,
        /// Where in the payload it begins.
        offset: usize,
        /// What is wrong with it.
        fault: Fault,
    },
    /// More bytes than the reader takes.
    #[error("the archive has {found} bytes, more than {limit}")]
    TooLong {
        /// The bytes it says it has.
        found: u64,
        /// The most that were allowed.
        limit: u64,
    },
    /// The stream itself failed.
    #[error("the archive cannot be read")]
    Io(#[from] std::io::Error),
}

/// What is wrong with a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// More bytes than there are.
    #[error("is longer than the {left} bytes that are left")]
    TooShort {
        /// Bytes of the payload from where the section's own begin.
        left: usize,
    },
    /// A string that is none.
    #[error("is not UTF-8")]
    NotUtf8,
    /// Everything was read, and there is more.
    #[error("should be the end, and {left} bytes are left")]
    LeftOver {
        /// Bytes not read.
        left: usize,
    },
}
