//! A compiled grammar as one archive.
//!
//! # Sections
//! | section | what |
//! |---|---|
//! | fingerprint | 32 bytes: the vocabulary it was compiled for |
//! | warnings | u32: their number, then each: place, message |
//! | limits | two u64: steps of a mask, bytes of stacks |
//! | atoms | u32s: tokens in each, u32s: the tokens |
//! | islands | u32: their number, then each: turns, automaton |
//!
//! What follows from these is computed again, masks included: they take less time to make than to
//! read, since most belong to the vocabulary and not to the grammar.
//!
//! # Trust
//! Whatever a file says, loading it gives an error or a machine that can be run. That its masks are
//! those of some grammar cannot be checked without compiling the grammar again, so load files only
//! from those you would let write masks.

use crate::{
    alphabet::{Alphabet, call},
    backend::{Compiled, PdaBackend, Settings},
    islands::{Island, Turns, is_symbol},
    program::Program,
};
use formwork_archive::{ArchiveError, Kind, Reader, Writer, read_archive};
use formwork_automata::{Dfa, DfaParts, Mark, PartsError};
use formwork_core::{CompileError, Location, TokenId, Vocabulary, Warning};
use formwork_grammar::SourcePosition;
use formwork_vocab::Fingerprint;
use std::{
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};

const KIND: Kind = Kind::new(b"pda-isls");
const VERSION: u32 = 1;

/// Where a warning points, as a number.
const WHOLE: u32 = 0;
const TEXT: u32 = 1;
const POINTER: u32 = 2;

/// Whether an island is a loop, and whether that has a greatest number of turns.
const ONCE: u32 = 0;
const BOUNDED: u32 = 1;
const UNBOUNDED: u32 = 2;

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
    /// The automaton of an island is none.
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
    /// The islands together cannot be run.
    #[error("the islands cannot be run together")]
    Program(#[source] CompileError),
}

/// The tables of a saved grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactTable {
    /// Warnings: each has a place of a known kind.
    Warnings,
    /// Atoms: not empty, and their tokens ascending, emittable, each in one atom.
    Atoms,
    /// Islands: at least one, none empty, their marks atoms or calls of islands; loops over words of
    /// which none begins another, with bounds in order.
    Islands,
}

impl fmt::Display for ArtifactTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warnings => "warnings",
            Self::Atoms => "token atoms",
            Self::Islands => "islands",
        })
    }
}

impl Compiled {
    /// Writes everything that a matcher needs, the vocabulary excepted. Equal grammars make equal
    /// files. Cost: linear in the automata.
    ///
    /// # Errors
    /// [`SaveError`].
    pub fn save(&self, sink: impl Write) -> Result<(), SaveError> {
        let core = self.tables().core.clone();
        let program = &core.program;
        let settings = self.settings();
        let mut writer = Writer::new(KIND, VERSION);
        writer.fixed(&program.vocabulary.fingerprint().0);
        write_warnings(&mut writer, &settings.warnings)?;
        writer.u64(settings.mask_steps);
        writer.u64(settings.compiled_bytes as u64);
        write_atoms(&mut writer, &program.alphabet);
        writer.u32(narrow(program.islands.len()));
        for island in &program.islands {
            write_island(&mut writer, island);
        }
        Ok(writer.write_to(sink)?)
    }
}

impl PdaBackend {
    /// Loads what [`Compiled::save`] wrote, for the vocabulary it was compiled for; masks are made
    /// when this backend makes them. Cost: linear in the file, but for the masks.
    ///
    /// # Errors
    /// [`ArtifactError`], for the first thing that is wrong.
    pub fn load(
        &self,
        bytes: &[u8],
        vocabulary: Arc<Vocabulary>,
    ) -> Result<Arc<Compiled>, ArtifactError> {
        let mut reader = Reader::open(bytes, KIND, VERSION)?;
        let compiled_for = Fingerprint(reader.fixed("fingerprint")?);
        let given = vocabulary.fingerprint();
        if compiled_for != given {
            return Err(ArtifactError::OtherVocabulary { compiled_for, given });
        }
        let warnings = read_warnings(&mut reader)?;
        let mask_steps = reader.u64("steps of a mask")?;
        let bytes = reader.u64("bytes of stacks")?;
        let compiled_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let alphabet = read_atoms(&mut reader, &vocabulary)?;
        let islands = read_islands(&mut reader, &alphabet)?;
        reader.finish()?;
        let program = Program::new(islands, alphabet, vocabulary);
        let settings = Settings { warnings, mask_steps, compiled_bytes };
        let compiled = program.and_then(|program| self.finish(program, settings, None));
        Ok(Arc::new(compiled.map_err(ArtifactError::Program)?))
    }

    /// The same from a stream, of which at most `limit` bytes are taken.
    ///
    /// # Errors
    /// As for [`Self::load`], and what the stream says.
    pub fn load_from(
        &self,
        stream: impl Read,
        limit: u64,
        vocabulary: Arc<Vocabulary>,
    ) -> Result<Arc<Compiled>, ArtifactError> {
        self.load(&read_archive(stream, (KIND, VERSION), limit)?, vocabulary)
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).expect("counts are bounded by nodes and tokens")
}

fn inconsistent(table: ArtifactTable, entry: u32) -> ArtifactError {
    ArtifactError::Inconsistent { table, entry: entry as usize }
}

fn write_warnings(writer: &mut Writer, warnings: &[Warning]) -> Result<(), SaveError> {
    writer.u32(narrow(warnings.len()));
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

fn read_warnings(reader: &mut Reader<'_>) -> Result<Vec<Warning>, ArtifactError> {
    let mut warnings = Vec::new();
    for position in 0..reader.u32("warnings")? {
        let location = match reader.u32("place of a warning")? {
            WHOLE => Location::Whole,
            TEXT => {
                let mut number = || {
                    let number = reader.u64("position of a warning")?;
                    usize::try_from(number)
                        .map_err(|_| inconsistent(ArtifactTable::Warnings, position))
                };
                let (offset, length, line, column) = (number()?, number()?, number()?, number()?);
                Location::Text(SourcePosition { offset, length, line, column })
            }
            POINTER => Location::Pointer(reader.str("pointer of a warning")?.to_owned()),
            _ => return Err(inconsistent(ArtifactTable::Warnings, position)),
        };
        let message = reader.str("message of a warning")?.to_owned();
        warnings.push(Warning { location, message });
    }
    Ok(warnings)
}

fn write_atoms(writer: &mut Writer, alphabet: &Alphabet) {
    writer.u32(narrow(alphabet.len()));
    for atom in 0..narrow(alphabet.len()) {
        let tokens: Vec<u32> =
            alphabet.tokens(Mark(atom)).iter().map(|token| token.as_u32()).collect();
        writer.u32s(&tokens);
    }
}

fn read_atoms(reader: &mut Reader<'_>, vocabulary: &Vocabulary) -> Result<Alphabet, ArtifactError> {
    let mut known = vec![false; vocabulary.tokenizer_len()];
    let mut atoms = Vec::new();
    for atom in 0..reader.u32("atoms")? {
        let tokens: Vec<TokenId> =
            reader.u32s("tokens of an atom")?.into_iter().map(TokenId::new).collect();
        let is_good = !tokens.is_empty()
            && tokens.is_sorted()
            && tokens.iter().all(|&id| {
                vocabulary.is_emittable(id) && !std::mem::replace(&mut known[id.index()], true)
            });
        if !is_good {
            return Err(inconsistent(ArtifactTable::Atoms, atom));
        }
        atoms.push(tokens);
    }
    Ok(Alphabet::of_atoms(atoms))
}

fn write_island(writer: &mut Writer, island: &Island) {
    let (kind, min, max) = match island.turns {
        None => (ONCE, 0, 0),
        Some(Turns { min, max: Some(max) }) => (BOUNDED, min, max),
        Some(Turns { min, max: None }) => (UNBOUNDED, min, 0),
    };
    [kind, min, max].into_iter().for_each(|number| writer.u32(number));
    let parts = island.dfa.to_parts();
    writer.fixed(&parts.classes);
    writer.u32s(&parts.marks);
    writer.u32(parts.start);
    writer.bytes(&parts.accepting.iter().copied().map(u8::from).collect::<Vec<_>>());
    writer.u32s(&parts.edge_counts);
    writer.u32s(&parts.columns);
    writer.u32s(&parts.targets);
}

fn read_islands(
    reader: &mut Reader<'_>,
    alphabet: &Alphabet,
) -> Result<Vec<Island>, ArtifactError> {
    let count = reader.u32("islands")?;
    let mut islands = Vec::new();
    for number in 0..count {
        let wrong = || inconsistent(ArtifactTable::Islands, number);
        let island = read_island(reader, number)?;
        let is_known = |mark: &Mark| match call(*mark) {
            Some(callee) => callee < count,
            None => (mark.0 as usize) < alphabet.len(),
        };
        let is_in_order = island.turns.is_none_or(|turns| {
            turns.max.is_none_or(|max| turns.min <= max && max > 0)
                && island.dfa.marks().is_empty()
                && is_symbol(&island.dfa)
        });
        if island.dfa.is_empty() || !is_in_order || !island.dfa.marks().iter().all(is_known) {
            return Err(wrong());
        }
        islands.push(island);
    }
    // The first is the root, which nothing counts.
    match islands.first() {
        Some(root) if root.turns.is_none() => Ok(islands),
        _ => Err(inconsistent(ArtifactTable::Islands, 0)),
    }
}

fn read_island(reader: &mut Reader<'_>, number: u32) -> Result<Island, ArtifactError> {
    let wrong = || inconsistent(ArtifactTable::Islands, number);
    let kind = reader.u32("kind of an island")?;
    let (min, max) = (reader.u32("least turns")?, reader.u32("most turns")?);
    let turns = match kind {
        ONCE => None,
        BOUNDED => Some(Turns { min, max: Some(max) }),
        UNBOUNDED => Some(Turns { min, max: None }),
        _ => return Err(wrong()),
    };
    let parts = DfaParts {
        classes: reader.fixed("classes")?,
        marks: reader.u32s("marks")?,
        start: reader.u32("start")?,
        accepting: {
            let bytes = reader.bytes("accepting states")?;
            if bytes.is_empty() || bytes.iter().any(|&byte| byte > 1) {
                return Err(wrong());
            }
            bytes.iter().map(|&byte| byte == 1).collect()
        },
        edge_counts: reader.u32s("edge counts")?,
        columns: reader.u32s("columns")?,
        targets: reader.u32s("targets")?,
    };
    Ok(Island { dfa: Arc::new(Dfa::from_parts(parts)?), turns })
}

#[cfg(test)]
mod tests;
