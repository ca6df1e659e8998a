//! Subset construction (Rabin and Scott, IBM Journal 3(2), 1959).
//!
//! # Algorithm
//! ```text
//! intern {} as state 0, closure({start}) as state 1
//! for each state, in order:
//!     for each member, each edge: append the target to the bucket of each column of the edge
//!     for each bucket that is not empty: its closure, interned, is the target of that column
//! ```
//!
//! # Departures
//! 1. A subset keeps *important* members only: those with an edge that reads something, and the
//!    accepting state. The others are implied.
//! 2. Buckets are interned before their closure is taken: the twenty columns of `[^"\\]` hold the
//!    same bucket, and their closure is computed once.
//! 3. Subsets lie end to end in one vector; nothing is allocated per subset.

use crate::{
    ByteClasses, Dfa, Exhausted, Fuel, Mark, Nfa, StateId, nfa::Label, subsets::Subsets,
    table::Rows,
};

/// The deterministic automaton of the same language, trimmed, not minimal.
///
/// Cost: one state of fuel for each subset reached, one step for each member and each edge looked
/// at. Exponential in the worst case, which is what the fuel is for.
///
/// # Errors
/// [`Exhausted`] when the fuel does not suffice.
pub fn determinize(nfa: &Nfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let alphabet = Alphabet::new(nfa, fuel)?;
    let mut subsets = Subsets::new(nfa);
    let mut buckets = Buckets::new(alphabet.columns());
    let start = subsets.start(fuel)?;
    let mut rows = Rows::new();
    let mut accepting = Vec::new();
    while rows.len() < subsets.len() {
        let subset = u32::try_from(rows.len()).expect("interned numbers are u32");
        buckets.fill(subsets.members(subset), nfa, &alphabet, fuel)?;
        for &column in &buckets.touched {
            let bucket = &mut buckets.targets[column as usize];
            rows.push(column as usize, StateId(subsets.close(bucket, fuel)?));
            bucket.clear();
        }
        rows.finish_row();
        accepting.push(subsets.is_accepting(subset));
    }
    let Alphabet { classes, marks, .. } = alphabet;
    Ok(Dfa::assemble(classes, marks, rows, accepting, StateId(start)).trimmed())
}

/// Which columns an edge label stands for, computed once per distinct byte set.
#[derive(Debug)]
struct Alphabet {
    classes: ByteClasses,
    marks: Vec<Mark>,
    /// Classes of each set, end to end.
    set_columns: Vec<u32>,
    /// One more than there are sets.
    offsets: Vec<usize>,
}

impl Alphabet {
    fn new(nfa: &Nfa, fuel: &mut Fuel) -> Result<Self, Exhausted> {
        let classes = nfa.byte_classes();
        let representatives = classes.representatives();
        let mut set_columns = Vec::new();
        let mut offsets = vec![0];
        for set in &nfa.sets {
            fuel.steps(representatives.len())?;
            let members = (0..).zip(&representatives).filter(|&(_, &byte)| set.contains(byte));
            set_columns.extend(members.map(|(class, _)| class));
            offsets.push(set_columns.len());
        }
        Ok(Self { classes, marks: nfa.marks(), set_columns, offsets })
    }

    fn columns(&self) -> usize {
        self.classes.count() + self.marks.len()
    }

    fn of_set(&self, set: u32) -> &[u32] {
        &self.set_columns[self.offsets[set as usize]..self.offsets[set as usize + 1]]
    }

    fn of_mark(&self, mark: Mark) -> u32 {
        let index = self.marks.binary_search(&mark).expect("all marks of the automaton are here");
        u32::try_from(self.classes.count() + index).expect("fewer columns than edges")
    }
}

/// The targets of one subset by column, before closure. Reused from subset to subset.
#[derive(Debug)]
struct Buckets {
    targets: Vec<Vec<u32>>,
    /// Columns whose bucket is not empty, ascending.
    touched: Vec<u32>,
}

impl Buckets {
    fn new(columns: usize) -> Self {
        Self { targets: vec![Vec::new(); columns], touched: Vec::new() }
    }

    /// Expects empty buckets.
    fn fill(
        &mut self,
        members: &[u32],
        nfa: &Nfa,
        alphabet: &Alphabet,
        fuel: &mut Fuel,
    ) -> Result<(), Exhausted> {
        self.touched.clear();
        for &member in members {
            for &(label, target) in &nfa.states[member as usize].edges {
                match label {
                    Label::Set(set) => {
                        let columns = alphabet.of_set(set);
                        fuel.steps(columns.len())?;
                        for &column in columns {
                            self.push(column, target.0);
                        }
                    }
                    Label::Mark(mark) => {
                        fuel.steps(1)?;
                        self.push(alphabet.of_mark(mark), target.0);
                    }
                }
            }
        }
        self.touched.sort_unstable();
        Ok(())
    }

    fn push(&mut self, column: u32, target: u32) {
        let bucket = &mut self.targets[column as usize];
        if bucket.is_empty() {
            self.touched.push(column);
        }
        // Members ascend, so the commonest repetition, a loop, is caught here.
        if bucket.last() != Some(&target) {
            bucket.push(target);
        }
    }
}
