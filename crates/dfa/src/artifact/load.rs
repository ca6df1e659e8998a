//! Reading a compiled grammar: every table checked before anything is built on it.

use super::{ArtifactError, ArtifactTable, POINTER, TEXT, WHOLE};
use crate::{
    alphabet::Alphabet,
    ambiguity::Sets,
    backend::Compiled,
    compile::accepting,
    liveness::Liveness,
    machine::{DfaMachine, NO_ROW, TokenAutomaton},
    numbering::Work,
    rows::Rows,
};
use formwork_archive::Reader;
use formwork_automata::{Dfa, DfaParts, StateId};
use formwork_core::{Location, StopSets, TokenId, Vocabulary, Warning};
use formwork_grammar::{SourcePosition, regular::TOKEN_END};
use formwork_vocab::Fingerprint;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// An entry that breaks an invariant.
pub(crate) fn inconsistent(table: ArtifactTable, entry: usize) -> ArtifactError {
    ArtifactError::Inconsistent { table, entry }
}

/// Reads a compiled grammar.
pub(super) fn read(
    reader: &mut Reader<'_>,
    vocabulary: Arc<Vocabulary>,
) -> Result<Compiled, ArtifactError> {
    let compiled_for = Fingerprint(reader.fixed("fingerprint")?);
    let given = vocabulary.fingerprint();
    if compiled_for != given {
        return Err(ArtifactError::OtherVocabulary { compiled_for, given });
    }
    let warnings = read_warnings(reader)?;
    let work = Work {
        trie_nodes: reader.u64("trie nodes")?,
        class_rows: usize::try_from(reader.u64("class rows")?).unwrap_or(usize::MAX),
    };
    let dfa = read_automaton(reader)?;
    let alphabet = read_alphabet(reader, &vocabulary)?;
    check_marks(&dfa, &alphabet)?;
    let automaton = TokenAutomaton::new(dfa, alphabet, vocabulary);
    let liveness = read_liveness(reader, &automaton.dfa)?;
    let begins = begins(&automaton, &liveness);
    let sets = read_sets(reader, &automaton, &begins)?;
    let rows = Rows::load(reader, &automaton.vocabulary)?;
    let row_of = reader.u32s("row numbers")?;
    check_row_numbers(&row_of, &begins, (sets.len(), rows.len()))?;
    let machine = DfaMachine {
        accepting: accepting(&automaton, &sets),
        zero_row: rows.zero(),
        stop_sets: StopSets::default(),
        automaton,
        liveness,
        sets,
        rows,
        row_of,
        warnings,
    };
    Ok(Compiled { machine: Arc::new(machine), work })
}

fn read_warnings(reader: &mut Reader<'_>) -> Result<Vec<Warning>, ArtifactError> {
    let count = reader.u32("warnings")?;
    let mut warnings = Vec::new();
    for position in 0..count {
        let location = match reader.u32("place of a warning")? {
            WHOLE => Location::Whole,
            TEXT => {
                let mut number = || {
                    let number = reader.u64("position of a warning")?;
                    usize::try_from(number)
                        .map_err(|_| inconsistent(ArtifactTable::Warnings, position as usize))
                };
                let (offset, length, line, column) = (number()?, number()?, number()?, number()?);
                Location::Text(SourcePosition { offset, length, line, column })
            }
            POINTER => Location::Pointer(reader.str("pointer of a warning")?.to_owned()),
            _ => return Err(inconsistent(ArtifactTable::Warnings, position as usize)),
        };
        let message = reader.str("message of a warning")?.to_owned();
        warnings.push(Warning { location, message });
    }
    Ok(warnings)
}

/// The automaton, which takes at least one word.
fn read_automaton(reader: &mut Reader<'_>) -> Result<Dfa, ArtifactError> {
    let parts = DfaParts {
        classes: reader.fixed("classes")?,
        marks: reader.u32s("marks")?,
        start: reader.u32("start")?,
        accepting: bools(reader.bytes("accepting states")?, ArtifactTable::Accepting)?,
        edge_counts: reader.u32s("edge counts")?,
        columns: reader.u32s("columns")?,
        targets: reader.u32s("targets")?,
    };
    let dfa = Dfa::from_parts(parts)?;
    match dfa.is_empty() {
        // Nothing was compiled that nothing satisfies.
        true => Err(inconsistent(ArtifactTable::Accepting, 0)),
        false => Ok(dfa),
    }
}

fn read_alphabet(
    reader: &mut Reader<'_>,
    vocabulary: &Vocabulary,
) -> Result<Alphabet, ArtifactError> {
    let lists = read_lists(reader, ArtifactTable::Atoms)?;
    let mut known = vec![false; vocabulary.tokenizer_len()];
    let mut atoms = Vec::with_capacity(lists.len());
    for (atom, list) in lists.iter().enumerate() {
        let tokens: Vec<TokenId> = list.iter().copied().map(TokenId::new).collect();
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

fn check_marks(dfa: &Dfa, alphabet: &Alphabet) -> Result<(), ArtifactError> {
    let is_atom = |mark: u32| (mark as usize) < alphabet.atoms().len();
    match dfa.marks().iter().position(|&mark| mark != TOKEN_END && !is_atom(mark.0)) {
        Some(mark) => Err(inconsistent(ArtifactTable::Marks, mark)),
        None => Ok(()),
    }
}

fn read_liveness(reader: &mut Reader<'_>, dfa: &Dfa) -> Result<Liveness, ArtifactError> {
    let live = bools(reader.bytes("live states")?, ArtifactTable::Live)?;
    if live.is_empty() {
        return Ok(Liveness::All);
    }
    if live.len() != dfa.len() {
        return Err(ArtifactError::Lengths { table: ArtifactTable::Live });
    }
    let start = dfa.start().index();
    match (live[0], live[start]) {
        (false, true) => Ok(Liveness::Some(live.into())),
        (true, _) => Err(inconsistent(ArtifactTable::Live, 0)),
        (_, false) => Err(inconsistent(ArtifactTable::Live, start)),
    }
}

/// By state: whether a session can be there before a token.
fn begins(automaton: &TokenAutomaton, liveness: &Liveness) -> Vec<bool> {
    let mut begins = vec![false; automaton.dfa.len()];
    for state in automaton.boundary_states() {
        begins[state.index()] = liveness.is_live(state);
    }
    begins
}

fn read_sets(
    reader: &mut Reader<'_>,
    automaton: &TokenAutomaton,
    begins: &[bool],
) -> Result<Sets, ArtifactError> {
    let lists = read_lists(reader, ArtifactTable::Sets)?;
    // Only where the grammar names tokens are there two readings.
    if automaton.alphabet.is_empty() && !lists.is_empty() {
        return Err(ArtifactError::Lengths { table: ArtifactTable::Sets });
    }
    let mut known = FxHashSet::default();
    let mut sets = Vec::with_capacity(lists.len());
    for (set, list) in lists.iter().enumerate() {
        let is_good = list.len() > 1
            && list.is_sorted_by(|a, b| a < b)
            && list.iter().all(|&state| begins.get(state as usize) == Some(&true))
            && known.insert(list.as_slice());
        if !is_good {
            return Err(inconsistent(ArtifactTable::Sets, set));
        }
        let states = list.iter().map(|&state| automaton.states[state as usize - 1]);
        sets.push(states.collect::<Box<[StateId]>>());
    }
    Ok(Sets::of_members(sets))
}

/// Every position a session can be in has a row, and no other state has one.
fn check_row_numbers(
    row_of: &[u32],
    begins: &[bool],
    (sets, rows): (usize, usize),
) -> Result<(), ArtifactError> {
    let (table, states) = (ArtifactTable::RowNumbers, begins.len());
    if row_of.len() != states + sets {
        return Err(ArtifactError::Lengths { table });
    }
    let is_good = |(position, &row): (usize, &u32)| match begins.get(position) {
        Some(false) => row == NO_ROW,
        _ => (row as usize) < rows,
    };
    match row_of.iter().enumerate().position(|entry| !is_good(entry)) {
        Some(entry) => Err(inconsistent(table, entry)),
        None => Ok(()),
    }
}

fn bools(bytes: &[u8], table: ArtifactTable) -> Result<Vec<bool>, ArtifactError> {
    match bytes.iter().position(|&byte| byte > 1) {
        Some(entry) => Err(inconsistent(table, entry)),
        None => Ok(bytes.iter().map(|&byte| byte == 1).collect()),
    }
}

/// What `write_lists` wrote.
fn read_lists(
    reader: &mut Reader<'_>,
    table: ArtifactTable,
) -> Result<Vec<Vec<u32>>, ArtifactError> {
    let lengths = reader.u32s("lengths of lists")?;
    let entries = reader.u32s("entries of lists")?;
    split(&lengths, &entries).ok_or(ArtifactError::Lengths { table })
}

/// Lists of these lengths, when together they are as long as `entries`.
pub(crate) fn split<L: for<'a> From<&'a [u32]>>(
    lengths: &[u32],
    entries: &[u32],
) -> Option<Vec<L>> {
    let mut rest = entries;
    let mut lists = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (list, others) = rest.split_at_checked(length as usize)?;
        lists.push(list.into());
        rest = others;
    }
    rest.is_empty().then_some(lists)
}
