//! Minimal and canonical automata.
//!
//! # Algorithm
//! Hopcroft's refinement in the form of Valmari ("Fast brief practical DFA minimization",
//! Information Processing Letters 112(6), 2012). Two partitions refine each other: blocks of
//! states, and *cords* of edges (edges of one cord read the same column and lead into one block).
//! ```text
//! blocks: accepting | not;  cords: edges by column
//! for each cord: split every block by "has an edge in this cord"
//!     for each new block: split every cord by "leads into this block"
//! ```
//! O(m log n) for m live edges and n states, whatever the number of columns; the dead state takes
//! no part. Memory: about 32 bytes an edge while it runs.

use crate::{ByteClasses, Dfa, Mark, StateId, partition::Partition, table::Rows};
use rustc_hash::FxHashMap;

impl Dfa {
    /// The automaton with the fewest states over the same columns, trimmed. Expects a trimmed
    /// automaton, as every public construction gives. O(m log n) for m edges and n states.
    #[must_use]
    pub fn minimized(&self) -> Self {
        if self.is_empty() {
            return Self::never();
        }
        let blocks = Refinement::new(self).run();
        // State s of the automaton is element s - 1; block b becomes state b + 1.
        let number = |state: StateId| StateId(blocks.set_of[state.index() - 1] + 1);
        let mut rows = Rows::new();
        rows.finish_row();
        let mut accepting = vec![false];
        for block in 0..blocks.count() {
            let state = StateId(blocks.elements[blocks.range(block).start] + 1);
            for (column, target) in self.edges(state) {
                rows.push(column, number(target));
            }
            rows.finish_row();
            accepting.push(self.is_accepting(state));
        }
        let (classes, marks) = (self.classes.clone(), self.marks.clone());
        Self::assemble(classes, marks, rows, accepting, number(self.start)).trimmed()
    }

    /// The canonical automaton of the language: minimal, over the coarsest classes, numbered in
    /// breadth-first order. Languages are equal exactly when these are equal values. Cost: as
    /// [`Self::minimized`].
    #[must_use]
    pub fn canonical(&self) -> Self {
        self.with_coarsest_classes().minimized().with_coarsest_classes().trimmed()
    }

    /// Merges columns that no state tells apart: the coarsest byte classes of this automaton, and
    /// no mark that leads nowhere. On a minimal automaton this gives the canonical alphabet.
    /// Linear in the table.
    #[must_use]
    pub fn with_coarsest_classes(&self) -> Self {
        let groups = self.equal_classes();
        let classes = ByteClasses::from_keys(|byte| groups[self.classes.class(byte)]);
        let mut live = vec![false; self.columns()];
        for state in self.live_states() {
            for (column, _) in self.edges(state) {
                live[column] = true;
            }
        }
        // The new column of an old one, for the first of its group: the order is kept, since
        // classes are numbered by their smallest byte, before and after.
        let mut column_of = vec![None; self.columns()];
        for (class, byte) in classes.representatives().into_iter().enumerate() {
            column_of[self.classes.class(byte)] = Some(class);
        }
        let mut marks: Vec<Mark> = Vec::new();
        for (index, &mark) in self.marks.iter().enumerate() {
            let column = self.classes.count() + index;
            if live[column] {
                column_of[column] = Some(classes.count() + marks.len());
                marks.push(mark);
            }
        }
        let mut rows = Rows::new();
        rows.finish_row();
        for state in self.live_states() {
            for (column, target) in self.edges(state) {
                if let Some(column) = column_of[column] {
                    rows.push(column, target);
                }
            }
            rows.finish_row();
        }
        Self::assemble(classes, marks, rows, self.accepting.clone(), self.start)
    }

    /// Numbers the byte classes such that two get the same number exactly when every state leads
    /// to the same target by both. Most states split nothing, which their live edges show; at most
    /// 255 states pay for a split.
    fn equal_classes(&self) -> Vec<usize> {
        let classes = self.classes.count();
        let mut group_of = vec![0; classes];
        let mut size = vec![classes];
        // Per group: the target of its first member in this row, and how many follow it.
        let mut seen: Vec<(StateId, usize)> = Vec::new();
        for state in self.live_states() {
            if size.len() == classes {
                break;
            }
            seen.clear();
            seen.resize(size.len(), (StateId::DEAD, 0));
            for (class, target) in self.byte_edges(state) {
                let (first, count) = &mut seen[group_of[class]];
                if *count == 0 {
                    *first = target;
                }
                *count += usize::from(*first == target);
            }
            if seen.iter().zip(&size).any(|(&(_, count), &size)| count != 0 && count != size) {
                size = self.split_groups(state, &mut group_of);
            }
        }
        group_of
    }

    /// Refines the groups by the targets of one state; the new sizes.
    fn split_groups(&self, state: StateId, group_of: &mut [usize]) -> Vec<usize> {
        let mut numbers: FxHashMap<(usize, StateId), usize> = FxHashMap::default();
        let mut size = Vec::new();
        for (class, group) in group_of.iter_mut().enumerate() {
            let next = numbers.len();
            *group = *numbers.entry((*group, self.next_class(state, class))).or_insert(next);
            if *group == size.len() {
                size.push(0);
            }
            size[*group] += 1;
        }
        size
    }
}

/// The two partitions while they refine each other.
struct Refinement {
    blocks: Partition,
    cords: Partition,
    /// Source of each edge, as an element of `blocks`.
    tails: Vec<u32>,
    /// Edges by target; those of target t are `incoming[first[t]..first[t + 1]]`.
    incoming: Vec<u32>,
    first: Vec<u32>,
}

impl Refinement {
    fn new(dfa: &Dfa) -> Self {
        let states = dfa.len() - 1;
        let (mut tails, mut heads, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for state in dfa.live_states() {
            for (column, target) in dfa.edges(state) {
                tails.push(state.0 - 1);
                heads.push(target.0 - 1);
                columns.push(u32::try_from(column).expect("columns are u32"));
            }
        }
        let accepting: Vec<u32> =
            dfa.live_states().map(|state| u32::from(!dfa.is_accepting(state))).collect();
        let (first, incoming) = by_target(states, &heads);
        Self {
            blocks: Partition::by_key(2, &accepting),
            cords: Partition::by_key(dfa.columns(), &columns),
            tails,
            incoming,
            first,
        }
    }

    fn run(mut self) -> Partition {
        // Cords by column alone already respect "leads into any block at all", so one block need
        // not be looked at; each later split leaves the larger part behind for the same reason.
        let (mut block, mut cord) = (1, 0);
        loop {
            while block < self.blocks.count() {
                for at in self.blocks.range(block) {
                    let state = self.blocks.elements[at] as usize;
                    for &edge in
                        &self.incoming[self.first[state] as usize..self.first[state + 1] as usize]
                    {
                        self.cords.mark(edge);
                    }
                }
                self.cords.split();
                block += 1;
            }
            if cord == self.cords.count() {
                return self.blocks;
            }
            for at in self.cords.range(cord) {
                self.blocks.mark(self.tails[self.cords.elements[at] as usize]);
            }
            self.blocks.split();
            cord += 1;
        }
    }
}

/// Edges sorted by target: where each target's begin, and the edges.
fn by_target(states: usize, heads: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0_u32; states + 1];
    for &head in heads {
        first[head as usize + 1] += 1;
    }
    for state in 1..=states {
        first[state] += first[state - 1];
    }
    let mut fill = first.clone();
    let mut incoming = vec![0; heads.len()];
    for (edge, &head) in (0..).zip(heads) {
        let slot = &mut fill[head as usize];
        incoming[*slot as usize] = edge;
        *slot += 1;
    }
    (first, incoming)
}
