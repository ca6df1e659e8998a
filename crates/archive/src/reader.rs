//! Reading an archive that lies in memory: everything about it is checked before its first section.

use crate::{
    ArchiveError, Fault, Kind,
    header::{HEADER, Header},
};

/// An archive being read, section by section, in the order they were written. Every method takes
/// the name that an error shall call the section by.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    payload: &'a [u8],
    /// Offset of the next section.
    at: usize,
}

impl<'a> Reader<'a> {
    /// Opens an archive of this kind and version. Cost: one pass of SHA-256.
    ///
    /// # Errors
    /// [`ArchiveError`]: another file, another kind, another version, bytes missing or too many, a
    /// checksum that differs; in this order.
    pub fn open(bytes: &'a [u8], kind: Kind, version: u32) -> Result<Self, ArchiveError> {
        let header = Header::read(bytes, kind, version)?;
        let (expected, found) = (header.archive_len(), bytes.len() as u64);
        if found < expected {
            return Err(ArchiveError::Truncated { expected, found });
        }
        if found > expected {
            return Err(ArchiveError::TrailingBytes { count: found - expected });
        }
        let payload = &bytes[HEADER..];
        match header.fits(payload) {
            true => Ok(Self { payload, at: 0 }),
            false => Err(ArchiveError::ChecksumDiffers),
        }
    }

    /// As many bytes as the reader knows there are.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn fixed<const SIZE: usize>(
        &mut self,
        section: &'static str,
    ) -> Result<[u8; SIZE], ArchiveError> {
        let rest = &self.payload[self.at..];
        match rest.first_chunk() {
            Some(&bytes) => {
                self.at += SIZE;
                Ok(bytes)
            }
            None => Err(malformed(section, self.at, Fault::TooShort { left: rest.len() })),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`], as for every section.
    pub fn u32(&mut self, section: &'static str) -> Result<u32, ArchiveError> {
        Ok(u32::from_le_bytes(self.fixed(section)?))
    }

    /// A number.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn u64(&mut self, section: &'static str) -> Result<u64, ArchiveError> {
        Ok(u64::from_le_bytes(self.fixed(section)?))
    }

    /// An array of bytes, where it lies.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn bytes(&mut self, section: &'static str) -> Result<&'a [u8], ArchiveError> {
        self.elements(section, 1)
    }

    /// A string, where it lies.
    ///
    /// # Errors
    /// As for [`Self::u32`], and when it is not UTF-8.
    pub fn str(&mut self, section: &'static str) -> Result<&'a str, ArchiveError> {
        let offset = self.at;
        let bytes = self.bytes(section)?;
        str::from_utf8(bytes).map_err(|_| malformed(section, offset, Fault::NotUtf8))
    }

    /// An array of numbers.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn u16s(&mut self, section: &'static str) -> Result<Vec<u16>, ArchiveError> {
        self.array(section, u16::from_le_bytes)
    }

    /// An array of numbers.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn u32s(&mut self, section: &'static str) -> Result<Vec<u32>, ArchiveError> {
        self.array(section, u32::from_le_bytes)
    }

    /// An array of numbers.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn i32s(&mut self, section: &'static str) -> Result<Vec<i32>, ArchiveError> {
        self.array(section, i32::from_le_bytes)
    }

    /// An array of numbers.
    ///
    /// # Errors
    /// As for [`Self::u32`].
    pub fn u64s(&mut self, section: &'static str) -> Result<Vec<u64>, ArchiveError> {
        self.array(section, u64::from_le_bytes)
    }

    /// Bytes of the payload that were not read yet. No section that follows can have more elements.
    #[must_use]
    pub fn left(&self) -> usize {
        self.payload.len() - self.at
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When there is more in the archive.
    pub fn finish(self) -> Result<(), ArchiveError> {
        match self.left() {
            0 => Ok(()),
            left => Err(malformed("end", self.at, Fault::LeftOver { left })),
        }
    }

    fn array<T, const SIZE: usize>(
        &mut self,
        section: &'static str,
        value: impl Fn([u8; SIZE]) -> T,
    ) -> Result<Vec<T>, ArchiveError> {
        let (values, _) = self.elements(section, SIZE)?.as_chunks();
        Ok(values.iter().map(|&bytes| value(bytes)).collect())
    }

    /// The bytes of as many elements as the section says it has, when there are so many.
    fn elements(&mut self, section: &'static str, size: usize) -> Result<&'a [u8], ArchiveError> {
        let offset = self.at;
        let claimed = u64::from_le_bytes(self.fixed(section)?);
        let rest = &self.payload[self.at..];
        let len = usize::try_from(claimed).ok().and_then(|count| count.checked_mul(size));
        match len.and_then(|len| rest.get(..len)) {
            Some(bytes) => {
                self.at += bytes.len();
                Ok(bytes)
            }
            None => Err(malformed(section, offset, Fault::TooShort { left: rest.len() })),
        }
    }
}

fn malformed(section: &'static str, offset: usize, fault: Fault) -> ArchiveError {
    ArchiveError::Malformed { section, offset, fault }
}
