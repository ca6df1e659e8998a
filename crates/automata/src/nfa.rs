//! Nondeterministic automata, and the builder that grammars are poured into.
//!
//! The builder works between two states the caller names (`from`, `to`), in the manner of Thompson
//! (CACM 11(6), 1968). That suits grammars: a right-linear rule is a state, a reference to it is an
//! empty edge, and no fragment is ever copied.

use crate::{ByteClasses, ByteSet, Dfa, Exhausted, Fuel, StateId};
use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A letter that is not a byte. Its meaning is the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark(pub u32);

/// A state of an [`Nfa`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NfaStateId(pub(crate) u32);

impl NfaStateId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an edge of an [`Nfa`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// Nothing.
    Empty,
    /// One byte of the set.
    Byte(ByteSet),
    /// One mark.
    Mark(Mark),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Label {
    /// Index into [`Nfa::sets`].
    Set(u32),
    Mark(Mark),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct NfaState {
    pub(crate) edges: SmallVec<[(Label, NfaStateId); 1]>,
    pub(crate) empty_edges: SmallVec<[NfaStateId; 2]>,
}

/// A nondeterministic automaton with one start and one accepting state.
#[derive(Clone, Debug)]
pub struct Nfa {
    pub(crate) states: Vec<NfaState>,
    /// Every distinct byte set on an edge, once.
    pub(crate) sets: Vec<ByteSet>,
    pub(crate) start: NfaStateId,
    pub(crate) accept: NfaStateId,
}

impl Nfa {
    /// Number of states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// An automaton has at least its start and its accepting state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Where reading begins.
    #[must_use]
    pub fn start(&self) -> NfaStateId {
        self.start
    }

    /// The one accepting state.
    #[must_use]
    pub fn accept(&self) -> NfaStateId {
        self.accept
    }

    /// The edges that leave a state.
    pub fn edges(&self, state: NfaStateId) -> impl Iterator<Item = (Edge, NfaStateId)> + '_ {
        let state = &self.states[state.index()];
        let empty = state.empty_edges.iter().map(|&target| (Edge::Empty, target));
        empty.chain(state.edges.iter().map(|&(label, target)| match label {
            Label::Set(set) => (Edge::Byte(self.sets[set as usize]), target),
            Label::Mark(mark) => (Edge::Mark(mark), target),
        }))
    }

    /// The coarsest byte classes that its edges respect.
    #[must_use]
    pub fn byte_classes(&self) -> ByteClasses {
        ByteClasses::from_sets(&self.sets)
    }

    /// Every mark on an edge, sorted, once.
    #[must_use]
    pub fn marks(&self) -> Vec<Mark> {
        let labels = self.states.iter().flat_map(|state| state.edges.iter().map(|edge| edge.0));
        let mut marks: Vec<Mark> = labels
            .filter_map(|label| match label {
                Label::Mark(mark) => Some(mark),
                Label::Set(_) => None,
            })
            .collect();
        marks.sort_unstable();
        marks.dedup();
        marks
    }
}

/// Builds an [`Nfa`]. Every state costs [`Fuel`].
#[derive(Debug)]
pub struct NfaBuilder<'f> {
    states: Vec<NfaState>,
    sets: Vec<ByteSet>,
    set_ids: FxHashMap<ByteSet, u32>,
    fuel: &'f mut Fuel,
}

impl<'f> NfaBuilder<'f> {
    /// An empty builder that spends `fuel`.
    pub fn new(fuel: &'f mut Fuel) -> Self {
        Self { states: Vec::new(), sets: Vec::new(), set_ids: FxHashMap::default(), fuel }
    }

    /// Number of states so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// All states so far, in the order in which they were made.
    pub fn state_ids(&self) -> impl Iterator<Item = NfaStateId> + use<> {
        (0..u32::try_from(self.states.len()).expect("states are u32")).map(NfaStateId)
    }

    /// The budget, for work that the caller does between two states.
    pub fn fuel(&mut self) -> &mut Fuel {
        self.fuel
    }

    /// A new state without edges.
    ///
    /// # Errors
    /// [`Exhausted`] when there is no fuel left. So for every other method here.
    pub fn state(&mut self) -> Result<NfaStateId, Exhausted> {
        self.fuel.state()?;
        let id = u32::try_from(self.states.len())
            .map_err(|_| Exhausted::States { limit: u32::MAX as usize })?;
        self.states.push(NfaState::default());
        Ok(NfaStateId(id))
    }

    /// From `from` to `to` by nothing.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn empty(&mut self, from: NfaStateId, to: NfaStateId) -> Result<(), Exhausted> {
        self.fuel.steps(1)?;
        if from != to {
            self.states[from.index()].empty_edges.push(to);
        }
        Ok(())
    }

    /// From `from` to `to` by one byte of `set`.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn byte(
        &mut self,
        from: NfaStateId,
        set: ByteSet,
        to: NfaStateId,
    ) -> Result<(), Exhausted> {
        self.fuel.steps(1)?;
        if !set.is_empty() {
            let next = u32::try_from(self.sets.len()).expect("fewer sets than edges");
            let id = *self.set_ids.entry(set).or_insert_with(|| {
                self.sets.push(set);
                next
            });
            self.states[from.index()].edges.push((Label::Set(id), to));
        }
        Ok(())
    }

    /// From `from` to `to` by a mark.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn mark(&mut self, from: NfaStateId, mark: Mark, to: NfaStateId) -> Result<(), Exhausted> {
        self.fuel.steps(1)?;
        self.states[from.index()].edges.push((Label::Mark(mark), to));
        Ok(())
    }

    /// From `from` to `to` by these bytes in order.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn literal(
        &mut self,
        from: NfaStateId,
        bytes: &[u8],
        to: NfaStateId,
    ) -> Result<(), Exhausted> {
        let Some((&last, init)) = bytes.split_last() else { return self.empty(from, to) };
        let mut at = from;
        for &byte in init {
            let next = self.state()?;
            self.byte(at, ByteSet::single(byte), next)?;
            at = next;
        }
        self.byte(at, ByteSet::single(last), to)
    }

    /// From `from` to `to` by the UTF-8 encoding of one character of the inclusive ranges.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn characters(
        &mut self,
        from: NfaStateId,
        ranges: &[(char, char)],
        to: NfaStateId,
    ) -> Result<(), Exhausted> {
        for &(start, end) in ranges {
            for sequence in Utf8Sequences::new(start, end) {
                let mut at = from;
                let parts = sequence.as_slice();
                for (index, part) in parts.iter().enumerate() {
                    let next = if index + 1 == parts.len() { to } else { self.state()? };
                    self.byte(at, ByteSet::range(part.start..=part.end), next)?;
                    at = next;
                }
            }
        }
        Ok(())
    }

    /// From `from` to `to` by a word of `dfa`.
    ///
    /// # Errors
    /// As [`Self::state`].
    pub fn automaton(
        &mut self,
        from: NfaStateId,
        dfa: &Dfa,
        to: NfaStateId,
    ) -> Result<(), Exhausted> {
        if dfa.is_empty() {
            return Ok(());
        }
        let first = self.states.len();
        for _ in 1..dfa.len() {
            self.state()?;
        }
        let image = |state: StateId| {
            NfaStateId(u32::try_from(first + state.index() - 1).expect("checked when made"))
        };
        self.empty(from, image(dfa.start()))?;
        let members: Vec<_> =
            (0..dfa.classes().count()).map(|class| dfa.classes().members(class)).collect();
        for state in dfa.live_states() {
            let mut by_target: SmallVec<[(StateId, ByteSet); 4]> = SmallVec::new();
            for (class, target) in dfa.byte_edges(state) {
                match by_target.iter_mut().find(|entry| entry.0 == target) {
                    Some(entry) => entry.1 = entry.1.union(&members[class]),
                    None => by_target.push((target, members[class])),
                }
            }
            for (target, set) in by_target {
                self.byte(image(state), set, image(target))?;
            }
            for (mark, target) in dfa.mark_edges(state) {
                self.mark(image(state), mark, image(target))?;
            }
            if dfa.is_accepting(state) {
                self.empty(image(state), to)?;
            }
        }
        Ok(())
    }

    /// The automaton from `start` to `accept`.
    #[must_use]
    pub fn finish(self, start: NfaStateId, accept: NfaStateId) -> Nfa {
        Nfa { states: self.states, sets: self.sets, start, accept }
    }
}
