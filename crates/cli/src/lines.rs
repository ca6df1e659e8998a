//! Lines of bounded length, from streams and from packed files.
//!
//! Lines are pushed rather than pulled: what unpacks `.xz` writes into a [`LineSplitter`], so no
//! second thread is needed to unpack and to work at once. A block of an `.xz` file is unpacked whole
//! before its first line is seen.

use anyhow::{Context, Result};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
    ops::ControlFlow,
    path::Path,
};

/// The longest line that is read whole.
const MAX_LINE_BYTES: usize = 64 << 20;

/// A line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// It has more than this many bytes, and was passed over.
    TooLong {
        /// The most bytes of a line.
        limit: usize,
    },
}

/// What a handler of lines answers: whether it wants more.
pub(crate) type Handled = Result<ControlFlow<()>>;

/// Hands every line of a file to `handle`, unpacking it when its name ends in `.xz`.
pub(crate) fn for_each_line_of_file(
    path: &Path,
    handle: impl FnMut(Line<'_>) -> Handled,
) -> Result<()> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if path.extension().is_none_or(|extension| extension != "xz") {
        return for_each_line(reader, handle);
    }
    let mut splitter = LineSplitter::new(MAX_LINE_BYTES, handle);
    let unpacked = lzma_rs::xz_decompress(&mut reader, &mut splitter);
    splitter.finish(unpacked.map_err(|error| match error {
        lzma_rs::error::Error::IoError(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidData, format!("{other:?}")),
    }))
}

/// Hands every line to `handle` as soon as it is there.
pub(crate) fn for_each_line(
    mut reader: impl BufRead,
    handle: impl FnMut(Line<'_>) -> Handled,
) -> Result<()> {
    let mut splitter = LineSplitter::new(MAX_LINE_BYTES, handle);
    let read = loop {
        let chunk = match reader.fill_buf() {
            Ok([]) => break Ok(()),
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Err(error),
        };
        let len = chunk.len();
        if let Err(error) = splitter.write_all(chunk) {
            break Err(error);
        }
        reader.consume(len);
    };
    splitter.finish(read)
}

/// Cuts what is written to it into lines.
struct LineSplitter<F> {
    handle: F,
    /// The beginning of a line whose end has not come yet.
    pending: Vec<u8>,
    limit: usize,
    /// Whether that line is too long already.
    too_long: bool,
    /// How the handler ended the reading, if it did.
    ended: Option<Result<()>>,
}

impl<F: FnMut(Line<'_>) -> Handled> LineSplitter<F> {
    fn new(limit: usize, handle: F) -> Self {
        Self { handle, pending: Vec::new(), limit, too_long: false, ended: None }
    }

    /// The last line, when it has no end, and the outcome of the whole.
    fn finish(mut self, read: io::Result<()>) -> Result<()> {
        if let Some(ended) = self.ended {
            return ended;
        }
        read?;
        if !self.pending.is_empty() || self.too_long {
            self.line_ends();
        }
        self.ended.unwrap_or(Ok(()))
    }

    fn keep(&mut self, part: &[u8]) {
        self.too_long |= self.pending.len() + part.len() > self.limit;
        match self.too_long {
            true => self.pending.clear(),
            false => self.pending.extend_from_slice(part),
        }
    }

    fn line_ends(&mut self) {
        let line = match self.too_long {
            true => Line::TooLong { limit: self.limit },
            false => Line::Whole(&self.pending),
        };
        match (self.handle)(line) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => self.ended = Some(Ok(())),
            Err(error) => self.ended = Some(Err(error)),
        }
        self.pending.clear();
        self.too_long = false;
    }
}

impl<F: FnMut(Line<'_>) -> Handled> Write for LineSplitter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.keep(end);
                    self.line_ends();
                }
                None => self.keep(part),
            }
            if self.ended.is_some() {
                return Err(io::Error::other("the reader wants no more lines"));
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, limit: usize, most: usize) -> Vec<String> {
        let mut seen = Vec::new();
        let mut splitter = LineSplitter::new(limit, |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                Line::TooLong { limit } => format!("more than {limit}"),
            });
            Ok(if seen.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        // In pieces of two bytes, so that lines end in the middle of pieces.
        let written = text.as_bytes().chunks(2).try_for_each(|piece| splitter.write_all(piece));
        splitter.finish(written).unwrap();
        seen
    }

    #[test]
    fn lines_end_where_they_end() {
        assert_eq!(lines("one\n\nthree", 100, 9), ["one", "", "three"]);
        assert_eq!(lines("one\n", 100, 9), ["one"]);
        assert_eq!(lines("one\ntwo\nthree\n", 100, 2), ["one", "two"]);
        assert!(lines("", 100, 9).is_empty());
    }

    #[test]
    fn a_line_too_long_is_passed_over_and_the_next_is_read() {
        assert_eq!(lines("12345\n1234567\n123", 5, 9), ["12345", "more than 5", "123"]);
        assert_eq!(lines("123456", 5, 9), ["more than 5"]);
    }

    #[test]
    fn a_packed_file_gives_the_same_lines_and_a_broken_one_an_error() {
        let path = std::env::temp_dir().join(format!("formwork-lines-{}.xz", std::process::id()));
        let text = "first\nsecond\n".repeat(1_000);
        let mut packed = Vec::new();
        lzma_rs::xz_compress(&mut text.as_bytes(), &mut packed).unwrap();
        std::fs::write(&path, &packed).unwrap();
        let mut count = 0;
        let mut read = || {
            for_each_line_of_file(&path, |line| {
                assert!(matches!(line, Line::Whole(b"first" | b"second")));
                count += 1;
                Ok(ControlFlow::Continue(()))
            })
        };
        read().unwrap();
        std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        read().unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(count, 2_000);
    }
}
