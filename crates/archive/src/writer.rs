//! Writing an archive: sections one after the other, the header last.

use crate::{
    Kind,
    header::{HEADER, Header},
};
use std::io::{self, Write};

/// An archive being written. The whole of it is kept in memory until it is finished, because the
/// header, which comes first, has its checksum.
#[derive(Clone, Debug)]
pub struct Writer {
    kind: Kind,
    version: u32,
    /// Room for the header, then the payload.
    bytes: Vec<u8>,
}

impl Writer {
    /// An archive of nothing yet. `version` is the kind's own: raise it whenever the sections or
    /// their meaning change.
    #[must_use]
    pub fn new(kind: Kind, version: u32) -> Self {
        Self { kind, version, bytes: vec![0; HEADER] }
    }

    /// A number.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A number.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Bytes whose number the reader knows, so that it is not written.
    pub fn fixed<const SIZE: usize>(&mut self, values: &[u8; SIZE]) {
        self.bytes.extend_from_slice(values);
    }

    /// An array of bytes.
    pub fn bytes(&mut self, values: &[u8]) {
        self.u64(values.len() as u64);
        self.bytes.extend_from_slice(values);
    }

    /// A string.
    pub fn str(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// An array of numbers.
    pub fn u16s(&mut self, values: &[u16]) {
        self.array(values, |value| value.to_le_bytes());
    }

    /// An array of numbers.
    pub fn u32s(&mut self, values: &[u32]) {
        self.array(values, |value| value.to_le_bytes());
    }

    /// An array of numbers.
    pub fn i32s(&mut self, values: &[i32]) {
        self.array(values, |value| value.to_le_bytes());
    }

    /// An array of numbers.
    pub fn u64s(&mut self, values: &[u64]) {
        self.array(values, |value| value.to_le_bytes());
    }

    /// The archive. Cost: one pass of SHA-256.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let header = Header::of(self.kind, self.version, &self.bytes[HEADER..]);
        self.bytes[..HEADER].copy_from_slice(header.as_bytes());
        self.bytes
    }

    /// Writes the archive out.
    ///
    /// # Errors
    /// What the sink says.
    pub fn write_to(self, mut sink: impl Write) -> io::Result<()> {
        sink.write_all(&self.finish())
    }

    fn array<T: Copy, const SIZE: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; SIZE]) {
        self.u64(values.len() as u64);
        self.bytes.reserve(values.len() * SIZE);
        self.bytes.extend(values.iter().flat_map(|&value| bytes(value)));
    }
}
