//! Minimal automata of finite sets of byte strings, without a trie in between.
//!
//! # Algorithm
//! Daciuk, Mihov, Watson and Watson, "Incremental construction of minimal acyclic finite-state
//! automata", Computational Linguistics 26(1), 2000, for sorted words.
//! ```text
//! for each word: the states of the previous word past the common prefix will not change any more;
//!     from the deepest up: is there an equal one in the register? take that, else register it
//!     then append fresh states for the rest of the word
//! ```
//!
//! # Departures
//! 1. A registered state is a row of the finished table, so nothing is copied at the end.
//! 2. Each state remembers the first state registered whose last edge leads to it. A state that
//!    nothing leads to yet has no equal among its future parents, and only second and later parents
//!    go through a hash table: 10,000 of the 97,000 states of 10,000 random words of 14 letters. The
//!    table was what the time went into, one cache miss a state.
//! 3. Columns are bytes until the end, when it is known which bytes occur.

use crate::{
    ByteClasses, ByteSet, Dfa, Exhausted, Fuel, StateId,
    table::{RowEdge, Rows},
};
use std::{hash::Hasher, num::NonZeroU32};

/// Why a word was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// The word is smaller than the one before it.
    #[error("word {index} is smaller than the word before it")]
    OutOfOrder {
        /// How many words were given before this one.
        index: usize,
    },
    /// The budget is used up.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

/// A state that may still change.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Ascending by byte; the edge to the next open state is not among them yet.
    edges: Vec<RowEdge>,
    accepting: bool,
}

/// Builds the minimal automaton of words that come in ascending order.
#[derive(Clone, Debug)]
pub struct StringsBuilder {
    /// The previous word.
    previous: Vec<u8>,
    /// The states along it, the first `previous.len() + 1` of these; the others are spare.
    path: Vec<Open>,
    words: usize,
    bytes: ByteSet,
    rows: Rows,
    accepting: Vec<bool>,
    /// By state: the first one whose last edge leads to it. By 0: the first one without edges.
    first_parent: Vec<Option<NonZeroU32>>,
    /// All others.
    register: Register,
}

impl Default for StringsBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl StringsBuilder {
    /// No word yet.
    #[must_use]
    pub fn new() -> Self {
        let mut rows = Rows::new();
        rows.finish_row();
        Self {
            previous: Vec::new(),
            path: vec![Open::default()],
            words: 0,
            bytes: ByteSet::EMPTY,
            rows,
            accepting: vec![false],
            first_parent: vec![None],
            register: Register::new(),
        }
    }

    /// Adds a word; the same word again changes nothing.
    ///
    /// Cost: the length of this word and of the one before it: one step of fuel a byte, one state
    /// for each state of the minimal automaton that is complete with this word.
    ///
    /// # Errors
    /// [`InsertError::OutOfOrder`] when the word is smaller than the one before it, which leaves
    /// the builder as it was; [`InsertError::Exhausted`] when the fuel does not suffice, after
    /// which the builder holds an unspecified part of the words.
    pub fn insert(&mut self, word: &[u8], fuel: &mut Fuel) -> Result<(), InsertError> {
        if word < &*self.previous {
            return Err(InsertError::OutOfOrder { index: self.words });
        }
        Ok(self.append(word, fuel)?)
    }

    /// Adds a word that is known not to be smaller than the one before it.
    fn append(&mut self, word: &[u8], fuel: &mut Fuel) -> Result<(), Exhausted> {
        fuel.steps(word.len() + 1)?;
        let common = self.previous.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.freeze_below(common, fuel)?;
        for &byte in &word[common..] {
            self.bytes.insert(byte);
            self.previous.push(byte);
            if self.path.len() == self.previous.len() {
                self.path.push(Open::default());
            }
        }
        self.path[word.len()].accepting = true;
        self.words += 1;
        Ok(())
    }

    /// The minimal automaton of the words given.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice for the states of the last word.
    pub fn finish(mut self, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        if self.words == 0 {
            return Ok(Dfa::never());
        }
        self.freeze_below(0, fuel)?;
        let start = self.freeze(0, fuel)?;
        let mut classes = ByteClasses::coarsest();
        if !self.bytes.is_empty() {
            // One class for each byte that occurs, one for all others: ascending, as the bytes are.
            classes = ByteClasses::from_keys(|byte| match self.bytes.contains(byte) {
                true => usize::from(byte),
                false => usize::from(self.bytes.complement().first().unwrap_or(byte)),
            });
        }
        self.rows.rename_columns(|byte| classes.map()[byte as usize].into());
        Ok(Dfa::assemble(classes, [], self.rows, self.accepting, start))
    }

    /// Freezes the states of the previous word deeper than `depth`, and forgets them.
    fn freeze_below(&mut self, depth: usize, fuel: &mut Fuel) -> Result<(), Exhausted> {
        while self.previous.len() > depth {
            let state = self.freeze(self.previous.len(), fuel)?;
            let byte = self.previous.pop().expect("longer than the depth");
            self.path[self.previous.len()].edges.push((u32::from(byte), state));
        }
        Ok(())
    }

    /// The registered state equal to the open one at this depth, which becomes empty.
    fn freeze(&mut self, depth: usize, fuel: &mut Fuel) -> Result<StateId, Exhausted> {
        let open = &mut self.path[depth];
        let accepting = std::mem::take(&mut open.accepting);
        let equal = |state: u32| {
            self.accepting[state as usize] == accepting
                && self.rows.row(state as usize) == &*open.edges
        };
        let last = open.edges.last().map_or(StateId::DEAD, |edge| edge.1).index();
        // Of the first parent there is no hash; a hash is needed only beside a first parent.
        let mut hash = None;
        if let Some(first) = self.first_parent[last] {
            hash = Some(Register::hash(&open.edges, accepting));
            let known = if equal(first.get()) { Some(first.get()) } else { None };
            let known = known.or_else(|| self.register.find(hash?, equal));
            if let Some(state) = known {
                open.edges.clear();
                return Ok(StateId(state));
            }
        }
        fuel.state()?;
        let state = u32::try_from(self.rows.len())
            .map_err(|_| Exhausted::States { limit: u32::MAX as usize })?;
        for (byte, target) in open.edges.drain(..) {
            self.rows.push(byte as usize, target);
        }
        self.rows.finish_row();
        self.accepting.push(accepting);
        self.first_parent.push(None);
        match hash {
            Some(hash) => self.register.insert(state, hash),
            None => self.first_parent[last] = NonZeroU32::new(state),
        }
        Ok(StateId(state))
    }
}

/// A hash table of states, at most half full, with linear probing.
#[derive(Clone, Debug)]
struct Register {
    /// A state and its hash; state 0 is a free slot. Length is a power of two.
    slots: Vec<(u32, u32)>,
    states: usize,
}

impl Register {
    fn new() -> Self {
        Self { slots: vec![(0, 0); 256], states: 0 }
    }

    fn hash(edges: &[RowEdge], accepting: bool) -> u32 {
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write_u8(u8::from(accepting));
        for &(byte, target) in edges {
            hasher.write_u64(u64::from(byte) << 32 | u64::from(target.0));
        }
        let hash = hasher.finish();
        (hash ^ (hash >> 32)) as u32
    }

    fn find(&self, hash: u32, equal: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (state, other) = self.slots[slot];
            if state == 0 {
                return None;
            }
            if other == hash && equal(state) {
                return Some(state);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn insert(&mut self, state: u32, hash: u32) {
        self.states += 1;
        if self.states * 2 > self.slots.len() {
            let larger = vec![(0, 0); self.slots.len() * 4];
            for (state, hash) in std::mem::replace(&mut self.slots, larger) {
                if state != 0 {
                    self.place(state, hash);
                }
            }
        }
        self.place(state, hash);
    }

    fn place(&mut self, state: u32, hash: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot].0 != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (state, hash);
    }
}

impl Dfa {
    /// The minimal automaton of a set of byte strings, in any order.
    ///
    /// Cost: sorting, then one step of fuel a byte and one state for each state of the result.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel does not suffice.
    pub fn from_strings<S: AsRef<[u8]>>(
        strings: impl IntoIterator<Item = S>,
        fuel: &mut Fuel,
    ) -> Result<Self, Exhausted> {
        // Sorted by the first eight bytes, which are at hand, and by the rest only where those are
        // equal.
        let keyed = strings.into_iter().map(|string| (leading_bytes(string.as_ref()), string));
        let mut strings: Vec<(u64, S)> = keyed.collect();
        strings.sort_unstable_by(|(a_leading, a), (b_leading, b)| {
            a_leading.cmp(b_leading).then_with(|| a.as_ref().cmp(b.as_ref()))
        });
        let mut builder = StringsBuilder::new();
        for (_, string) in &strings {
            builder.append(string.as_ref(), fuel)?;
        }
        builder.finish(fuel)
    }
}

/// The first eight bytes as a number that orders like them; missing ones are 0.
fn leading_bytes(string: &[u8]) -> u64 {
    let mut leading = [0; 8];
    let len = string.len().min(8);
    leading[..len].copy_from_slice(&string[..len]);
    u64::from_be_bytes(leading)
}
