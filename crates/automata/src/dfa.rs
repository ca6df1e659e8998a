//! Deterministic automata as one transition table.
//!
//! # Layout
//! Columns of the table are the byte classes, then the marks in ascending order. State 0 is dead:
//! it is not accepting and every edge of it leads back. Small tables are dense, large and mostly
//! dead ones are sparse (see `table`); nothing but speed and size depends on it.
//!
//! # Invariants
//! 1. The function is total: whatever is not in the table leads to the dead state.
//! 2. After [`Dfa::trimmed`] (which every public construction ends with) every state but 0 can be
//!    reached from the start and can reach an accepting state; so "not dead" means "can still be
//!    completed", and the language is empty exactly when the start is dead.

mod parts;

pub use parts::{DfaParts, PartsError};

use crate::{
    ByteClasses, ByteSet, Mark,
    table::{Edges, Rows, Table},
};

/// A state of a [`Dfa`]: 0 is dead.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(crate) u32);

impl StateId {
    /// The state from which nothing is accepted.
    pub const DEAD: Self = Self(0);

    /// Position in tables indexed by state.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The number itself.
    #[must_use]
    pub fn as_u32(self) -> u32 {
        self.0
    }

    /// Whether nothing is accepted from here.
    #[must_use]
    pub fn is_dead(self) -> bool {
        self.0 == 0
    }
}

impl std::fmt::Debug for StateId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "q{}", self.0)
    }
}

/// A deterministic automaton over byte classes and marks.
#[derive(Clone, PartialEq, Eq)]
pub struct Dfa {
    pub(crate) classes: ByteClasses,
    pub(crate) marks: Box<[Mark]>,
    pub(crate) table: Table,
    pub(crate) accepting: Box<[bool]>,
    pub(crate) start: StateId,
}

/// Hashes what is cheap to read, so that a large automaton can be part of a key: equal automata
/// have equal hashes, and automata of one size are told apart by their first edges.
impl std::hash::Hash for Dfa {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.classes.hash(state);
        self.marks.hash(state);
        (self.start, self.len()).hash(state);
        for at in self.live_states().take(16) {
            self.is_accepting(at).hash(state);
            self.edges(at).for_each(|edge| edge.hash(state));
        }
    }
}

impl Dfa {
    /// From the parts, with state 0 dead: untrimmed.
    pub(crate) fn assemble(
        classes: ByteClasses,
        marks: impl Into<Box<[Mark]>>,
        rows: Rows,
        accepting: impl Into<Box<[bool]>>,
        start: StateId,
    ) -> Self {
        let marks = marks.into();
        let table = Table::new(classes.count() + marks.len(), rows);
        Self { classes, marks, table, accepting: accepting.into(), start }
    }

    /// The automaton of the empty language.
    #[must_use]
    pub fn never() -> Self {
        let mut rows = Rows::new();
        rows.finish_row();
        Self::assemble(ByteClasses::coarsest(), [], rows, [false], StateId::DEAD)
    }

    /// The automaton of all byte strings.
    #[must_use]
    pub fn any() -> Self {
        let mut rows = Rows::new();
        rows.finish_row();
        rows.push(0, StateId(1));
        rows.finish_row();
        Self::assemble(ByteClasses::coarsest(), [], rows, [false, true], StateId(1))
    }

    /// Number of states, the dead one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.accepting.len()
    }

    /// Whether the language is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start.is_dead()
    }

    /// The start state.
    #[must_use]
    pub fn start(&self) -> StateId {
        self.start
    }

    /// Byte classes: the first columns of the table.
    #[must_use]
    pub fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// Marks: the last columns of the table, ascending.
    #[must_use]
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Columns of the table.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.classes.count() + self.marks.len()
    }

    /// All states but the dead one.
    pub fn live_states(&self) -> impl Iterator<Item = StateId> + use<> {
        (1..u32::try_from(self.len()).expect("states are u32")).map(StateId)
    }

    /// Whether the word read so far is in the language.
    #[must_use]
    pub fn is_accepting(&self, state: StateId) -> bool {
        self.accepting[state.index()]
    }

    /// The state after one byte. One look-up in a dense table, a binary search among the edges of
    /// the state in a sparse one.
    #[must_use]
    #[inline]
    pub fn next(&self, state: StateId, byte: u8) -> StateId {
        self.next_column(state, self.classes.class(byte))
    }

    /// The state after one byte of a class.
    #[must_use]
    #[inline]
    pub fn next_class(&self, state: StateId, class: usize) -> StateId {
        self.next_column(state, class)
    }

    /// The state after a mark; dead when no edge carries it.
    #[must_use]
    pub fn next_mark(&self, state: StateId, mark: Mark) -> StateId {
        match self.marks.binary_search(&mark) {
            Ok(index) => self.next_mark_index(state, index),
            Err(_) => StateId::DEAD,
        }
    }

    /// The state after the mark at `index` of [`Self::marks`].
    #[must_use]
    pub fn next_mark_index(&self, state: StateId, index: usize) -> StateId {
        self.next_column(state, self.classes.count() + index)
    }

    #[inline]
    pub(crate) fn next_column(&self, state: StateId, column: usize) -> StateId {
        self.table.next(state, column)
    }

    /// The live edges of a state, bytes and marks: (column, target), ascending by column, where
    /// columns below `classes().count()` are byte classes and the others are marks. Cost: the
    /// number of edges when the table is sparse, the number of columns when it is dense.
    #[must_use]
    pub fn edges(&self, state: StateId) -> Edges<'_> {
        self.table.edges(state)
    }

    /// The live byte edges of a state: (class, target), ascending by class.
    pub fn byte_edges(&self, state: StateId) -> impl Iterator<Item = (usize, StateId)> + '_ {
        let classes = self.classes.count();
        self.edges(state).take_while(move |&(column, _)| column < classes)
    }

    /// The live mark edges of a state, ascending by mark.
    pub fn mark_edges(&self, state: StateId) -> impl Iterator<Item = (Mark, StateId)> + '_ {
        let classes = self.classes.count();
        self.edges(state)
            .skip_while(move |&(column, _)| column < classes)
            .map(move |(column, target)| (self.marks[column - classes], target))
    }

    /// The bytes that lead on from a state. Cost: its edges, then a scan of 256 bytes.
    #[must_use]
    pub fn out_bytes(&self, state: StateId) -> ByteSet {
        let mut live = [false; 256];
        for (class, _) in self.byte_edges(state) {
            live[class] = true;
        }
        (0..=255).filter(|&byte| live[self.classes.class(byte)]).collect()
    }

    /// The state after some bytes.
    #[must_use]
    pub fn next_bytes(&self, state: StateId, bytes: &[u8]) -> StateId {
        bytes.iter().fold(state, |state, &byte| self.next(state, byte))
    }

    /// Whether a byte string is in the language.
    #[must_use]
    pub fn accepts(&self, bytes: &[u8]) -> bool {
        self.is_accepting(self.next_bytes(self.start, bytes))
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.table.memory_bytes() + self.accepting.len() + std::mem::size_of_val(&*self.marks)
    }

    /// Keeps the states that can be reached and completed, numbered in breadth-first order of the
    /// columns (so that isomorphic automata over the same columns become equal), dead first.
    /// Cost: linear in the table.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let useful = self.completable();
        if !useful[self.start.index()] {
            return Self::never();
        }
        let mut number = vec![StateId::DEAD; self.len()];
        let mut order = vec![self.start];
        number[self.start.index()] = StateId(1);
        let mut rows = Rows::new();
        rows.finish_row();
        let mut accepting = vec![false];
        while let Some(&state) = order.get(accepting.len() - 1) {
            for (column, target) in self.edges(state) {
                if !useful[target.index()] {
                    continue;
                }
                if number[target.index()].is_dead() {
                    order.push(target);
                    number[target.index()] =
                        StateId(u32::try_from(order.len()).expect("states are u32"));
                }
                rows.push(column, number[target.index()]);
            }
            rows.finish_row();
            accepting.push(self.is_accepting(state));
        }
        let (classes, marks) = (self.classes.clone(), self.marks.clone());
        Self::assemble(classes, marks, rows, accepting, StateId(1))
    }

    /// Per state: can an accepting state be reached? Backwards search over reversed edges.
    fn completable(&self) -> Vec<bool> {
        let mut first = vec![0_usize; self.len() + 1];
        self.for_each_edge(|_, target| first[target.index() + 1] += 1);
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut sources = vec![StateId::DEAD; first[self.len()]];
        let mut fill = first.clone();
        self.for_each_edge(|source, target| {
            let slot = &mut fill[target.index()];
            sources[*slot] = source;
            *slot += 1;
        });
        let mut useful = self.accepting.to_vec();
        let mut stack: Vec<usize> = (0..self.len()).filter(|&state| useful[state]).collect();
        while let Some(state) = stack.pop() {
            for &source in &sources[first[state]..first[state + 1]] {
                if !useful[source.index()] {
                    useful[source.index()] = true;
                    stack.push(source.index());
                }
            }
        }
        useful
    }

    fn for_each_edge(&self, mut visit: impl FnMut(StateId, StateId)) {
        for state in self.live_states() {
            for (_, target) in self.edges(state) {
                visit(state, target);
            }
        }
    }
}

impl std::fmt::Debug for Dfa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "start {:?}", self.start)?;
        for state in self.live_states() {
            write!(f, "{state:?}{}", if self.is_accepting(state) { "!" } else { " " })?;
            for class in 0..self.classes.count() {
                let target = self.next_class(state, class);
                if !target.is_dead() {
                    write!(f, " {:?}>{target:?}", self.classes.members(class))?;
                }
            }
            for (index, mark) in self.marks.iter().enumerate() {
                let target = self.next_mark_index(state, index);
                if !target.is_dead() {
                    write!(f, " <{}>>{target:?}", mark.0)?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
