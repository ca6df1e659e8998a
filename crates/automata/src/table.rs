//! The transition function of a deterministic automaton, dense or sparse.
//!
//! # Layout
//! - Dense: `cells[state * columns + column]` is the next state. One look-up.
//! - Sparse: `edges[offsets[state]..offsets[state + 1]]` are the live edges of a state, ascending by
//!   column. A binary search, but 8 bytes an edge instead of 4 bytes a column: 10,000 random words
//!   of 14 letters have 118,000 states with 63 columns, which is 30 MB dense and 2 MB sparse.
//!
//! # Choice
//! Sparse when the dense table would have more than [`DENSE_CELLS`] cells and at most one cell in
//! [`SPARSE_RATIO`] is live. The rule looks at nothing but the function itself, so equal functions
//! are equal tables and the derived equality is the equality of functions.

use crate::StateId;

/// Tables up to this many cells (2 MiB) are always dense: they fit a second-level cache, where a
/// look-up costs less than a binary search, and take less than a millisecond to make.
const DENSE_CELLS: usize = 1 << 19;
/// Larger tables are sparse when at most one cell in so many is live: then they are at least half
/// as small, the offsets included.
const SPARSE_RATIO: usize = 8;

/// One live edge: column and target.
pub(crate) type RowEdge = (u32, StateId);

/// Live edges state by state: what every construction writes, and the sparse form as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// One more than there are states.
    offsets: Vec<usize>,
    /// Ascending by column within a state; no target is dead.
    edges: Vec<RowEdge>,
}

impl Rows {
    /// No state.
    pub(crate) fn new() -> Self {
        Self { offsets: vec![0], edges: Vec::new() }
    }

    /// Room for so many states and edges.
    pub(crate) fn with_capacity(states: usize, edges: usize) -> Self {
        let mut offsets = Vec::with_capacity(states + 1);
        offsets.push(0);
        Self { offsets, edges: Vec::with_capacity(edges) }
    }

    /// Number of finished rows.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Adds an edge to the row under construction; columns must come ascending. Dead targets are
    /// left out.
    pub(crate) fn push(&mut self, column: usize, target: StateId) {
        if !target.is_dead() {
            debug_assert!(
                self.edges[self.offsets[self.len()]..]
                    .last()
                    .is_none_or(|last| (last.0 as usize) < column)
            );
            self.edges.push((u32::try_from(column).expect("columns are u32"), target));
        }
    }

    /// Finishes the row under construction.
    pub(crate) fn finish_row(&mut self) {
        self.offsets.push(self.edges.len());
    }

    pub(crate) fn row(&self, state: usize) -> &[RowEdge] {
        &self.edges[self.offsets[state]..self.offsets[state + 1]]
    }

    /// Renames all columns; the order must stay the same.
    pub(crate) fn rename_columns(&mut self, name: impl Fn(u32) -> u32) {
        for (column, _) in &mut self.edges {
            *column = name(*column);
        }
    }
}

/// A transition function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Dense { columns: usize, cells: Box<[StateId]> },
    Sparse(Rows),
}

impl Table {
    /// The table of these rows, in the form that the rule above chooses.
    pub(crate) fn new(columns: usize, mut rows: Rows) -> Self {
        let cells = rows.len().saturating_mul(columns);
        if cells > DENSE_CELLS && rows.edges.len().saturating_mul(SPARSE_RATIO) <= cells {
            rows.edges.shrink_to_fit();
            rows.offsets.shrink_to_fit();
            return Self::Sparse(rows);
        }
        let mut cells = vec![StateId::DEAD; cells];
        for state in 0..rows.len() {
            for &(column, target) in rows.row(state) {
                cells[state * columns + column as usize] = target;
            }
        }
        Self::Dense { columns, cells: cells.into() }
    }

    /// The next state.
    #[inline]
    pub(crate) fn next(&self, state: StateId, column: usize) -> StateId {
        match self {
            Self::Dense { columns, cells } => cells[state.index() * columns + column],
            Self::Sparse(rows) => {
                let row = rows.row(state.index());
                match row.binary_search_by_key(&column, |edge| edge.0 as usize) {
                    Ok(at) => row[at].1,
                    Err(_) => StateId::DEAD,
                }
            }
        }
    }

    /// The live edges of a state, ascending by column.
    #[inline]
    pub(crate) fn edges(&self, state: StateId) -> Edges<'_> {
        match self {
            Self::Dense { columns, cells } => {
                let row = &cells[state.index() * columns..][..*columns];
                Edges(Inner::Dense(row.iter().enumerate()))
            }
            Self::Sparse(rows) => Edges(Inner::Sparse(rows.row(state.index()).iter())),
        }
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Dense { cells, .. } => std::mem::size_of_val(&**cells),
            Self::Sparse(rows) => {
                std::mem::size_of_val(&*rows.offsets) + std::mem::size_of_val(&*rows.edges)
            }
        }
    }
}

/// The live edges of one state of a [`Dfa`](crate::Dfa), ascending by column: pairs of column and
/// target, never dead. Columns below the number of byte classes are byte classes, the others marks.
#[derive(Clone, Debug)]
pub struct Edges<'a>(Inner<'a>);

#[derive(Clone, Debug)]
enum Inner<'a> {
    Dense(std::iter::Enumerate<std::slice::Iter<'a, StateId>>),
    Sparse(std::slice::Iter<'a, RowEdge>),
}

impl Iterator for Edges<'_> {
    type Item = (usize, StateId);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Dense(row) => {
                row.find(|(_, target)| !target.is_dead()).map(|(column, &target)| (column, target))
            }
            Inner::Sparse(row) => row.next().map(|&(column, target)| (column as usize, target)),
        }
    }
}
