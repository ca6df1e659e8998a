//! A compiled grammar as one archive.
//!
//! # Sections
//! | section | what |
//! |---|---|
//! | fingerprint | 32 bytes: the vocabulary it was compiled for |
//! | warnings | u32: their number, then each: place, message |
//! | work | two u64: trie nodes visited, rows that began as class rows |
//! | automaton | classes, marks, start, accepting, edge counts, columns, targets |
//! | atoms | u32s: tokens in each, u32s: the tokens |
//! | live | bytes: one per state, or none where all states live |
//! | sets | u32s: states in each, u32s: the states |
//! | rows | see `rows/saved` |
//! | row numbers | u32s, by position |
//!
//! What follows from these is computed again. Nothing of the vocabulary is saved, and nothing of
//! the grammar but its warnings.
//!
//! # Trust
//! Whatever a file says, loading it gives an error or a machine that can be run: everything a session
//! indexes is checked, in linear time. That its masks are those of some grammar cannot be checked
//! without compiling the grammar again, so load files only from those you would let write masks.

mod load;

pub(crate) use load::{inconsistent, split};

use crate::{
    backend::{Compiled, DfaBackend},
    liveness::Liveness,
};
use formwork_archive::{ArchiveError, Kind, Reader, Writer, read_archive};
use formwork_automata::{DfaParts, PartsError, StateId};
use formwork_core::{Location, TokenId, Vocabulary, Warning};
use formwork_vocab::Fingerprint;
use std::{
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};

const KIND: Kind = Kind::new(b"dfa-rows");
const VERSION: u32 = 1;

/// Where a warning points, as a number.
const WHOLE: u32 = 0;
const TEXT: u32 = 1;
const POINTER: u32 = 2;

/// Why a compiled grammar could not be saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// What the sink says.
    #[error("the artifact cannot be written")]
    Io(#[from] io::Error),
    /// A warning points to a place that the format has no word for.
    #[error("warning {position} points to a kind of place that cannot be saved")]
    Location {
        /// Which warning.
        position: usize,
    },
}

/// Why a saved grammar could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It was compiled for another vocabulary.
    #[error("it was compiled for vocabulary {compiled_for}, and this one is {given}")]
    OtherVocabulary {
        /// The vocabulary it was compiled for.
        compiled_for: Fingerprint,
        /// The one given.
        given: Fingerprint,
    },
    /// The automaton is none.
    #[error(transparent)]
    Automaton(#[from] PartsError),
    /// A table that breaks an invariant.
    #[error("entry {entry} of the {table} breaks an invariant")]
    Inconsistent {
        /// The table.
        table: ArtifactTable,
        /// The first entry that does.
        entry: usize,
    },
    /// A table of a length that does not go with the others.
    #[error("the {table} have a length that does not go with the rest")]
    Lengths {
        /// The table.
        table: ArtifactTable,
    },
}

/// The tables of a saved grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactTable {
    /// Warnings: each has a place of a known kind.
    Warnings,
    /// Whether a state accepts: 0 or 1.
    Accepting,
    /// Marks of the automaton: each an atom or the token end.
    Marks,
    /// Atoms: not empty, and their tokens ascending, emittable, each in one atom.
    Atoms,
    /// Whether tokens can complete a state: 0 or 1, 0 for the dead state and 1 for the start.
    Live,
    /// Sets of states: two or more live states in which tokens begin, ascending; no set twice.
    Sets,
    /// Rows: each in its form, of emittable tokens; no form twice.
    Rows,
    /// Row numbers: one for each live state in which a token may begin and each set, none for the
    /// other states.
    RowNumbers,
}

impl fmt::Display for ArtifactTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warnings => "warnings",
            Self::Accepting => "accepting states",
            Self::Marks => "marks",
            Self::Atoms => "token atoms",
            Self::Live => "live states",
            Self::Sets => "state sets",
            Self::Rows => "rows",
            Self::RowNumbers => "row numbers",
        })
    }
}

impl Compiled {
    /// Writes everything that a matcher needs, the vocabulary excepted. Equal machines make equal
    /// files. Cost: linear in what it holds.
    ///
    /// # Errors
    /// [`SaveError`].
    pub fn save(&self, sink: impl Write) -> Result<(), SaveError> {
        let machine = &self.machine;
        let mut writer = Writer::new(KIND, VERSION);
        writer.fixed(&machine.automaton.vocabulary.fingerprint().0);
        write_warnings(&mut writer, &machine.warnings)?;
        writer.u64(self.work.trie_nodes);
        writer.u64(self.work.class_rows as u64);
        write_automaton(&mut writer, machine.automaton.dfa.to_parts());
        write_lists(&mut writer, machine.automaton.alphabet.atoms(), TokenId::as_u32);
        match &machine.liveness {
            Liveness::All => writer.bytes(&[]),
            Liveness::Some(live) => write_bools(&mut writer, live),
        }
        let sets: Vec<_> = (0..machine.sets.len()).map(|set| machine.sets.members(set)).collect();
        write_lists(&mut writer, &sets, StateId::as_u32);
        machine.rows.save(&mut writer);
        writer.u32s(&machine.row_of);
        Ok(writer.write_to(sink)?)
    }
}

impl DfaBackend {
    /// Loads what [`Compiled::save`] wrote, for the vocabulary it was compiled for. The machine is
    /// the one that was saved: the same masks, the same answers, the same statistics. Cost: linear
    /// in the file.
    ///
    /// # Errors
    /// [`ArtifactError`], for the first thing that is wrong.
    pub fn load(bytes: &[u8], vocabulary: Arc<Vocabulary>) -> Result<Arc<Compiled>, ArtifactError> {
        let mut reader = Reader::open(bytes, KIND, VERSION)?;
        let compiled = load::read(&mut reader, vocabulary)?;
        reader.finish()?;
        Ok(Arc::new(compiled))
    }

    /// The same from a stream, of which at most `limit` bytes are taken.
    ///
    /// # Errors
    /// As for [`Self::load`], and what the stream says.
    pub fn load_from(
        stream: impl Read,
        limit: u64,
        vocabulary: Arc<Vocabulary>,
    ) -> Result<Arc<Compiled>, ArtifactError> {
        Self::load(&read_archive(stream, (KIND, VERSION), limit)?, vocabulary)
    }
}

fn write_warnings(writer: &mut Writer, warnings: &[Warning]) -> Result<(), SaveError> {
    writer.u32(u32::try_from(warnings.len()).expect("fewer warnings than bytes of a constraint"));
    for (position, warning) in warnings.iter().enumerate() {
        match &warning.location {
            Location::Whole => writer.u32(WHOLE),
            Location::Text(text) => {
                writer.u32(TEXT);
                for number in [text.offset, text.length, text.line, text.column] {
                    writer.u64(number as u64);
                }
            }
            Location::Pointer(pointer) => {
                writer.u32(POINTER);
                writer.str(pointer);
            }
            _ => return Err(SaveError::Location { position }),
        }
        writer.str(&warning.message);
    }
    Ok(())
}

fn write_automaton(writer: &mut Writer, parts: DfaParts) {
    writer.fixed(&parts.classes);
    writer.u32s(&parts.marks);
    writer.u32(parts.start);
    write_bools(writer, &parts.accepting);
    writer.u32s(&parts.edge_counts);
    writer.u32s(&parts.columns);
    writer.u32s(&parts.targets);
}

fn write_bools(writer: &mut Writer, values: &[bool]) {
    writer.bytes(&values.iter().copied().map(u8::from).collect::<Vec<_>>());
}

/// Lengths, then all entries one after the other.
fn write_lists<T: Copy>(writer: &mut Writer, lists: &[impl AsRef<[T]>], number: impl Fn(T) -> u32) {
    let lengths = lists.iter().map(|list| list.as_ref().len());
    let lengths = lengths.map(|length| u32::try_from(length).expect("fewer entries than ids"));
    writer.u32s(&lengths.collect::<Vec<_>>());
    let entries = lists.iter().flat_map(|list| list.as_ref().iter().copied());
    writer.u32s(&entries.map(number).collect::<Vec<_>>());
}
