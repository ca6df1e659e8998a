//! The way out of an automaton and in again: flat lists, to be saved and loaded.
//!
//! Lists that come from elsewhere can say anything, so [`Dfa::from_parts`] believes nothing: what it
//! gives has the invariants of every other [`Dfa`], the trimmed form included. All checks are linear.

use super::{Dfa, StateId};
use crate::{ByteClasses, Mark, table::Rows};

/// A trimmed automaton as lists of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DfaParts {
    /// Byte to class; classes are numbered by their smallest byte.
    pub classes: [u8; 256],
    /// Ascending.
    pub marks: Vec<u32>,
    /// The start state.
    pub start: u32,
    /// By state, the dead one first: whether the word read so far is in the language.
    pub accepting: Vec<bool>,
    /// By state: how many live edges it has.
    pub edge_counts: Vec<u32>,
    /// The columns of all edges, state by state, ascending within a state.
    pub columns: Vec<u32>,
    /// The targets beside them; none is dead.
    pub targets: Vec<u32>,
}

/// Why parts are no trimmed automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartsError {
    /// Classes that are not numbered by their smallest byte.
    #[error("byte {byte} has a class that is not numbered by its smallest byte")]
    Classes {
        /// The first byte of a class whose number leaves out one.
        byte: u8,
    },
    /// Marks out of order.
    #[error("mark {position} does not come after the one before it")]
    Marks {
        /// Where in the list.
        position: usize,
    },
    /// Lists whose lengths do not go together.
    #[error("the lists have lengths that do not go together")]
    Lengths,
    /// More states than numbers.
    #[error("there are more states than numbers for them")]
    TooManyStates,
    /// A dead state that accepts or has edges, or a start that there is not.
    #[error("state {state} is not what its number says")]
    State {
        /// The state.
        state: u32,
    },
    /// An edge whose column is out of order or range, or whose target is dead or out of range.
    #[error("edge {edge} has no place in the table")]
    Edge {
        /// Where in the list.
        edge: usize,
    },
    /// A state that the start does not lead to, or that leads to no accepting state.
    #[error("state {state} is of no use")]
    Useless {
        /// The first such state.
        state: usize,
    },
}

impl Dfa {
    /// The automaton as lists. Cost: linear in the table.
    #[must_use]
    pub fn to_parts(&self) -> DfaParts {
        let mut parts = DfaParts {
            classes: *self.classes.map(),
            marks: self.marks.iter().map(|mark| mark.0).collect(),
            start: self.start.0,
            accepting: self.accepting.to_vec(),
            edge_counts: Vec::with_capacity(self.len()),
            columns: Vec::new(),
            targets: Vec::new(),
        };
        parts.edge_counts.push(0);
        for state in self.live_states() {
            let before = parts.columns.len();
            for (column, target) in self.edges(state) {
                parts.columns.push(u32::try_from(column).expect("columns are u32"));
                parts.targets.push(target.0);
            }
            let count = parts.columns.len() - before;
            parts.edge_counts.push(u32::try_from(count).expect("fewer edges than columns"));
        }
        parts
    }

    /// The automaton of these lists. Cost: linear in them.
    ///
    /// # Errors
    /// [`PartsError`], when no trimmed automaton has these parts.
    pub fn from_parts(parts: DfaParts) -> Result<Self, PartsError> {
        let classes = classes(&parts.classes)?;
        if let Some(before) = parts.marks.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(PartsError::Marks { position: before + 1 });
        }
        let columns = classes.count() + parts.marks.len();
        let rows = rows(&parts, columns)?;
        let states = parts.accepting.len();
        if parts.accepting[0] || parts.edge_counts[0] != 0 {
            return Err(PartsError::State { state: 0 });
        }
        if parts.start as usize >= states {
            return Err(PartsError::State { state: parts.start });
        }
        let marks: Vec<Mark> = parts.marks.into_iter().map(Mark).collect();
        let dfa = Self::assemble(classes, marks, rows, parts.accepting, StateId(parts.start));
        let (reachable, completable) = (dfa.reachable(), dfa.completable());
        match (1..states).find(|&state| !reachable[state] || !completable[state]) {
            Some(state) => Err(PartsError::Useless { state }),
            None => Ok(dfa),
        }
    }

    /// Per state: can it be reached from the start?
    fn reachable(&self) -> Vec<bool> {
        let mut seen = vec![false; self.len()];
        seen[self.start.index()] = true;
        let mut pending = vec![self.start];
        while let Some(state) = pending.pop() {
            for (_, target) in self.edges(state) {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    pending.push(target);
                }
            }
        }
        seen
    }
}

fn classes(class_of: &[u8; 256]) -> Result<ByteClasses, PartsError> {
    let classes = ByteClasses::from_keys(|byte| usize::from(class_of[usize::from(byte)]));
    match (0..=255_u8).find(|&byte| classes.class(byte) != usize::from(class_of[usize::from(byte)]))
    {
        Some(byte) => Err(PartsError::Classes { byte }),
        None => Ok(classes),
    }
}

/// The edges by state. There is at least the dead state afterwards.
fn rows(parts: &DfaParts, columns: usize) -> Result<Rows, PartsError> {
    let (states, edges) = (parts.accepting.len(), parts.columns.len());
    let counted: u64 = parts.edge_counts.iter().copied().map(u64::from).sum();
    let agree = parts.edge_counts.len() == states
        && parts.targets.len() == edges
        && counted == edges as u64
        && states > 0;
    if !agree {
        return Err(PartsError::Lengths);
    }
    if u32::try_from(states).is_err() {
        return Err(PartsError::TooManyStates);
    }
    let mut rows = Rows::with_capacity(states, edges);
    let mut edge = 0;
    for &count in &parts.edge_counts {
        let mut least = 0;
        for _ in 0..count {
            let (column, target) = (parts.columns[edge] as usize, parts.targets[edge]);
            let fits =
                (least..columns).contains(&column) && (1..states).contains(&(target as usize));
            if !fits {
                return Err(PartsError::Edge { edge });
            }
            rows.push(column, StateId(target));
            least = column + 1;
            edge += 1;
        }
        rows.finish_row();
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
