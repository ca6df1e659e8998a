//! A checksummed container for what is built once and saved.
//!
//! # Idea
//! A vocabulary with its trie, a compiled grammar: things that take long to make and are read many
//! times. An archive holds one of them. It says what it is before anything is read from it, and a
//! file that was cut short, damaged, or written for another purpose is an error, never half a
//! value.
//!
//! # Format
//! All numbers are little-endian.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | magic: `\x93FORMWK\n` |
//! | 8 | 8 | kind, ASCII: what the payload is |
//! | 16 | 4 | version of that kind's payload |
//! | 20 | 8 | bytes of the payload |
//! | 28 | 32 | SHA-256 of everything else: the 28 bytes before and the payload |
//! | 60 | | payload |
//!
//! The payload is a sequence of sections: single numbers as they are, strings and arrays after their
//! number of elements (u64). Nothing marks where a section begins or which type it has; kind and
//! version settle that.
//!
//! # Trust
//! The checksum finds accidents. It stops nobody who writes a file on purpose, so whoever reads an
//! archive checks what the sections say as if anyone had written them. What this crate promises for
//! any input: no panic, and no allocation larger than the input, since a claimed length is compared
//! with the bytes that are left before anything is allocated.
//!
//! # Reading order
//! `header`, `writer`, `reader`, `stream`, `error`.

mod error;
mod header;
mod reader;
mod stream;
mod writer;

pub use error::{ArchiveError, Fault};
pub use header::Kind;
pub use reader::Reader;
pub use stream::read_archive;
pub use writer::Writer;
