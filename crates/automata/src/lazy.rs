//! Determinisation on demand, of a boolean formula over nondeterministic automata.
//!
//! # Idea
//! A state is one subset for each leaf of the formula; it accepts when the formula holds of which
//! leaves accept. States are interned, and a cell of the transition table is filled when it is
//! first asked for: what is never visited costs nothing.
//!
//! # Memory
//! Bounded. When the limit is reached, new work is refused ([`LazyError::Full`]) until the caller
//! starts a new *generation* with [`LazyDfa::flush`], naming the states it still needs; all others
//! become stale, which every later use of them says. [`LazyDfa::advance`] does that for a caller
//! who holds one state.
//!
//! # Can it be completed?
//! [`LazyDfa::can_complete`] searches forward until it meets an accepting state, and remembers what
//! it has learnt about every state it saw.

use crate::{
    ByteClasses, Exhausted, Formula, Fuel, Letter, Mark, MarksPresent, Nfa, formula::Evaluator,
    interner::ListInterner, subsets::Subsets,
};
use rustc_hash::FxHashMap;

/// A state of a [`LazyDfa`], valid in one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LazyState {
    id: u32,
    generation: u32,
}

impl LazyState {
    /// Whether it is plain that nothing is accepted from here. That it is not plain does not mean
    /// that something is: see [`LazyDfa::can_complete`].
    #[must_use]
    pub fn is_dead(self) -> bool {
        self.id == DEAD
    }
}

/// Why a [`LazyDfa`] could not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LazyError {
    /// The budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The memory limit is reached: flush.
    #[error("the lazy automaton holds more than {limit} bytes")]
    Full {
        /// The limit in bytes.
        limit: usize,
    },
    /// The state is of a generation that was flushed.
    #[error("a state of generation {generation}, which was flushed")]
    Stale {
        /// Its generation.
        generation: u32,
    },
}

/// The state from which nothing is accepted, the empty list in every generation.
const DEAD: u32 = 0;
/// A cell not computed yet.
const UNKNOWN: u32 = u32::MAX;
/// So many states are held whatever the memory limit, so that there is progress after a flush.
const FEWEST_STATES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Completion {
    Unknown,
    Possible,
    Impossible,
}

/// A deterministic automaton whose states and edges are made when they are first visited.
#[derive(Clone, Debug)]
pub struct LazyDfa {
    evaluator: Evaluator,
    leaves: Vec<Subsets<Box<Nfa>>>,
    classes: ByteClasses,
    representatives: Vec<u8>,
    marks: Vec<Mark>,
    /// One subset number for each leaf; [`DEAD`] is the empty list.
    states: ListInterner,
    accepting: Vec<bool>,
    completion: Vec<Completion>,
    /// `cells[state * columns + column]`: the next state or [`UNKNOWN`].
    cells: Vec<u32>,
    generation: u32,
    memory_limit: usize,
    scratch: Vec<u32>,
}

impl LazyDfa {
    /// An automaton that holds about `memory_limit` bytes at most, but always 64 states.
    ///
    /// # Errors
    /// [`MarksPresent`] when the formula has both marks and a complement, which is over bytes.
    pub fn new(formula: Formula, memory_limit: usize) -> Result<Self, MarksPresent> {
        let mut marks: Vec<Mark> = formula.leaves.iter().flat_map(Nfa::marks).collect();
        marks.sort_unstable();
        marks.dedup();
        if let Some(&first) = marks.first().filter(|_| formula.has_complement()) {
            return Err(MarksPresent { first });
        }
        let classes = ByteClasses::from_sets(formula.leaves.iter().flat_map(|nfa| &nfa.sets));
        let mut lazy = Self {
            evaluator: Evaluator::new(&formula),
            leaves: formula.leaves.into_iter().map(|nfa| Subsets::new(Box::new(nfa))).collect(),
            representatives: classes.representatives(),
            classes,
            marks,
            states: ListInterner::new(),
            accepting: Vec::new(),
            completion: Vec::new(),
            cells: Vec::new(),
            generation: 0,
            memory_limit,
            scratch: Vec::new(),
        };
        lazy.clear();
        Ok(lazy)
    }

    /// The state before the first letter.
    ///
    /// # Errors
    /// [`LazyError::Exhausted`] when the fuel does not suffice, [`LazyError::Full`] when there is no
    /// room.
    pub fn start(&mut self, fuel: &mut Fuel) -> Result<LazyState, LazyError> {
        self.check_room()?;
        let mut list = std::mem::take(&mut self.scratch);
        list.clear();
        for leaf in &mut self.leaves {
            list.push(leaf.start(fuel)?);
        }
        let id = self.intern(&list, fuel)?;
        self.scratch = list;
        Ok(self.state(id))
    }

    /// The state after a byte. One look-up when it was asked for before; else one step of fuel for
    /// each edge of each member of each subset, and one state for each subset and state that is
    /// new.
    ///
    /// # Errors
    /// As [`Self::start`]; [`LazyError::Stale`] when the state was flushed.
    pub fn next(
        &mut self,
        state: LazyState,
        byte: u8,
        fuel: &mut Fuel,
    ) -> Result<LazyState, LazyError> {
        self.check(state)?;
        let id = self.target(state.id, self.classes.class(byte), fuel)?;
        Ok(self.state(id))
    }

    /// The state after a mark, as [`Self::next`]; dead when no automaton carries the mark.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub fn next_mark(
        &mut self,
        state: LazyState,
        mark: Mark,
        fuel: &mut Fuel,
    ) -> Result<LazyState, LazyError> {
        self.check(state)?;
        let Ok(index) = self.marks.binary_search(&mark) else { return Ok(self.state(DEAD)) };
        let id = self.target(state.id, self.classes.count() + index, fuel)?;
        Ok(self.state(id))
    }

    /// Moves the only state that the caller holds on by one letter; starts a new generation when
    /// there is no room.
    ///
    /// # Errors
    /// [`LazyError::Exhausted`] and [`LazyError::Stale`], as [`Self::next`]; the state is kept, and
    /// valid unless it was stale.
    pub fn advance(
        &mut self,
        state: &mut LazyState,
        letter: Letter,
        fuel: &mut Fuel,
    ) -> Result<(), LazyError> {
        let step = |lazy: &mut Self, state: LazyState, fuel: &mut Fuel| match letter {
            Letter::Byte(byte) => lazy.next(state, byte, fuel),
            Letter::Mark(mark) => lazy.next_mark(state, mark, fuel),
        };
        *state = match step(self, *state, fuel) {
            Err(LazyError::Full { .. }) => {
                self.flush(std::slice::from_mut(state))?;
                step(self, *state, fuel)?
            }
            other => other?,
        };
        Ok(())
    }

    /// Whether what was read is in the language.
    ///
    /// # Errors
    /// [`LazyError::Stale`] when the state was flushed.
    pub fn is_accepting(&self, state: LazyState) -> Result<bool, LazyError> {
        self.check(state)?;
        Ok(self.accepting[state.id as usize])
    }

    /// Whether anything is accepted from here. Exact: a depth-first search until an accepting state
    /// is met or nothing is left; what it learns is remembered until the next flush.
    ///
    /// # Errors
    /// As [`Self::next`]: the search visits states, which cost what they cost there.
    pub fn can_complete(&mut self, state: LazyState, fuel: &mut Fuel) -> Result<bool, LazyError> {
        self.check(state)?;
        match self.completion[state.id as usize] {
            Completion::Possible => return Ok(true),
            Completion::Impossible => return Ok(false),
            Completion::Unknown => {}
        }
        // Each state seen, and from where.
        let mut seen = FxHashMap::from_iter([(state.id, state.id)]);
        let mut stack = vec![state.id];
        while let Some(at) = stack.pop() {
            for column in 0..self.columns() {
                let target = self.target(at, column, fuel)?;
                match self.completion[target as usize] {
                    Completion::Possible => {
                        self.note_possible(at, &seen);
                        return Ok(true);
                    }
                    Completion::Impossible => {}
                    Completion::Unknown => {
                        seen.entry(target).or_insert_with(|| {
                            stack.push(target);
                            at
                        });
                    }
                }
            }
        }
        for &id in seen.keys() {
            self.completion[id as usize] = Completion::Impossible;
        }
        Ok(false)
    }

    /// Everything on the way from the start of a search to `at` can be completed.
    fn note_possible(&mut self, mut at: u32, seen: &FxHashMap<u32, u32>) {
        while self.completion[at as usize] == Completion::Unknown {
            self.completion[at as usize] = Completion::Possible;
            at = seen[&at];
        }
    }

    /// Starts a new generation that holds these states only, and renames them. All other states are
    /// stale from now on.
    ///
    /// # Errors
    /// [`LazyError::Stale`] when one of them was flushed before; then nothing has changed.
    pub fn flush(&mut self, keep: &mut [LazyState]) -> Result<(), LazyError> {
        let mut kept = Vec::with_capacity(keep.len());
        for &state in &*keep {
            self.check(state)?;
            let subsets = self.states.list(state.id);
            let members = subsets.iter().zip(&self.leaves);
            let members: Vec<Vec<u32>> =
                members.map(|(&subset, leaf)| leaf.members(subset).to_vec()).collect();
            kept.push((members, self.completion[state.id as usize]));
        }
        self.generation = self.generation.wrapping_add(1);
        self.clear();
        for (state, (members, completion)) in keep.iter_mut().zip(kept) {
            let members = members.iter().zip(&mut self.leaves);
            let list: Vec<u32> = members.map(|(members, leaf)| leaf.restore(members)).collect();
            let (id, new) = self.states.intern(&list);
            if new {
                self.add_row(&list);
                self.completion[id as usize] = completion;
            }
            *state = self.state(id);
        }
        Ok(())
    }

    /// States made in this generation, the dead one included.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Heap bytes held, the automata of the formula not included.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let leaves: usize = self.leaves.iter().map(Subsets::memory_bytes).sum();
        leaves
            + self.states.memory_bytes()
            + self.evaluator.memory_bytes()
            + 4 * self.cells.capacity()
            + self.accepting.capacity()
            + self.completion.capacity()
    }

    fn columns(&self) -> usize {
        self.representatives.len() + self.marks.len()
    }

    fn state(&self, id: u32) -> LazyState {
        LazyState { id, generation: self.generation }
    }

    /// The dead state is the same in every generation.
    fn check(&self, state: LazyState) -> Result<(), LazyError> {
        if state.generation == self.generation || state.is_dead() {
            Ok(())
        } else {
            Err(LazyError::Stale { generation: state.generation })
        }
    }

    fn check_room(&self) -> Result<(), LazyError> {
        if self.states.len() >= FEWEST_STATES && self.memory_bytes() > self.memory_limit {
            return Err(LazyError::Full { limit: self.memory_limit });
        }
        Ok(())
    }

    /// Forgets everything but the dead state.
    fn clear(&mut self) {
        self.leaves.iter_mut().for_each(Subsets::clear);
        self.states = ListInterner::new();
        self.states.intern(&[]);
        self.accepting = vec![false];
        self.completion = vec![Completion::Impossible];
        self.cells = vec![DEAD; self.columns()];
    }

    fn target(&mut self, state: u32, column: usize, fuel: &mut Fuel) -> Result<u32, LazyError> {
        let cell = state as usize * self.columns() + column;
        if self.cells[cell] != UNKNOWN {
            return Ok(self.cells[cell]);
        }
        self.check_room()?;
        let letter = match self.representatives.get(column) {
            Some(&byte) => Letter::Byte(byte),
            None => Letter::Mark(self.marks[column - self.representatives.len()]),
        };
        let mut list = std::mem::take(&mut self.scratch);
        list.clear();
        for (&subset, leaf) in self.states.list(state).iter().zip(&mut self.leaves) {
            list.push(leaf.step(subset, letter, fuel)?);
        }
        let target = self.intern(&list, fuel)?;
        self.scratch = list;
        self.cells[cell] = target;
        Ok(target)
    }

    fn intern(&mut self, list: &[u32], fuel: &mut Fuel) -> Result<u32, Exhausted> {
        if self.plainly(list) == Some(false) {
            return Ok(DEAD);
        }
        if let Some(id) = self.states.find(list) {
            return Ok(id);
        }
        fuel.state()?;
        let (id, _) = self.states.intern(list);
        self.add_row(list);
        Ok(id)
    }

    /// Appends what is known of a new state.
    fn add_row(&mut self, list: &[u32]) {
        let leaves = &self.leaves;
        let accepting = self.evaluator.value(|leaf| Some(leaves[leaf].is_accepting(list[leaf])));
        let accepting = accepting == Some(true);
        self.accepting.push(accepting);
        let possible = accepting || self.plainly(list) == Some(true);
        self.completion.push(if possible { Completion::Possible } else { Completion::Unknown });
        self.cells.resize(self.cells.len() + self.columns(), UNKNOWN);
    }

    /// Whether all words or none are accepted from here, as far as it shows in which subsets are
    /// empty.
    fn plainly(&mut self, list: &[u32]) -> Option<bool> {
        self.evaluator.value(|leaf| (list[leaf] == 0).then_some(false))
    }
}
