//! Minimal and canonical automata.
//!
//! The work is done by `refinement`, which finds the states that no word tells apart; here the
//! automaton of their classes is made, and columns that no state tells apart are merged.

use crate::{ByteClasses, Dfa, Mark, StateId, refinement, table::Rows};
use rustc_hash::FxHashMap;

impl Dfa {
    /// The automaton with the fewest states over the same columns, trimmed. Expects a trimmed
    /// automaton, as every public construction gives. O(m log n) for m live edges and n states.
    #[must_use]
    pub fn minimized(&self) -> Self {
        let classes = refinement::indistinguishable(self);
        let number = |state: StateId| StateId(classes[state.index()]);
        let mut rows = Rows::new();
        rows.finish_row();
        let mut accepting = vec![false];
        // Classes are numbered in the order of their first members.
        for state in self.live_states() {
            if number(state).index() == accepting.len() {
                for (column, target) in self.edges(state) {
                    rows.push(column, number(target));
                }
                rows.finish_row();
                accepting.push(self.is_accepting(state));
            }
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
