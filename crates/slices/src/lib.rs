//! Rows of token classes over a vocabulary.
//!
//! # Idea
//! Inside free text nearly every token is allowed, and finding that out token by token is a walk
//! over the whole trie: a thousand microseconds. But the tokens that are plain text are the same in
//! every state that takes any text. So the vocabulary is cut once into *slices*: a slice has the
//! row of all tokens made of the characters of one class, and a small trie of the tokens that begin
//! with such a character and go on with others. A state that takes every text of the class allows
//! the row at once, and only the small trie, and tokens that begin otherwise, are walked.
//!
//! Whether a state takes every text of a class, or every text of at most so many characters and
//! none longer, is decided exactly, from the automaton alone ([`Fits`]); it costs time linear in the
//! states that take the class's first bytes.
//!
//! # Reading order
//! `class` (character classes as sets of atoms), `utf8`, `slice`, `catalogue` (which classes, and
//! why), `fits`.

mod catalogue;
mod class;
mod fits;
mod slice;
mod utf8;

pub use catalogue::Slices;
pub use class::CharacterClass;
pub use fits::{Fit, Fits};
pub use slice::{Slice, SliceRow};
