//! Reading an archive from a stream, no further than a limit.

use crate::{
    ArchiveError, Kind,
    header::{HEADER, Header},
};
use std::io::Read;

/// Reads a whole archive into memory, to be opened by [`Reader::open`](crate::Reader::open). The
/// header is looked at first, so that little is read of what is no archive of this kind and
/// version, or longer than `limit` bytes. Memory grows with the bytes that arrive, whatever length
/// the header claims.
///
/// # Errors
/// [`ArchiveError::TooLong`], what is wrong with the header, bytes missing or too many, and what
/// the stream says.
pub fn read_archive(
    mut stream: impl Read,
    (kind, version): (Kind, u32),
    limit: u64,
) -> Result<Vec<u8>, ArchiveError> {
    let mut bytes = Vec::with_capacity(HEADER);
    stream.by_ref().take(HEADER as u64).read_to_end(&mut bytes)?;
    let header = Header::read(&bytes, kind, version)?;
    let expected = header.archive_len();
    if expected > limit {
        return Err(ArchiveError::TooLong { found: expected, limit });
    }
    // One more than there should be, to see whether there is more.
    stream.take((expected - HEADER as u64).saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        found if found < expected => Err(ArchiveError::Truncated { expected, found }),
        found if found > expected => Err(ArchiveError::TrailingBytes { count: found - expected }),
        _ => Ok(bytes),
    }
}
