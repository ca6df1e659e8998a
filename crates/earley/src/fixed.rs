//! Fixed islands: automata whose masks are known in advance, shared by all grammars.
//!
//! # Idea
//! Inside a JSON string every grammar allows the same tokens; only what may follow the closing
//! quotation mark differs. So the tokens that stay inside are computed once per automaton state (and
//! trie node where it is entered), as a row or a list, and the tokens that leave it are kept as a
//! small trie of what is left of them ([`Exits`]), to be walked by whatever comes next.
//!
//! A *run* is a loop over an island of single symbols: the same for any number of turns, with the
//! number of turns that each token takes.

use crate::walks::{Walk, Walks};
use dashmap::DashMap;
use formwork_automata::{ByteSet, Dfa, Fuel, NfaBuilder, StateId, determinize};
use formwork_slices::Slices;
use formwork_vocab::{NodeId, Vocabulary};
use rustc_hash::FxBuildHasher;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicUsize, Ordering},
};

/// Heap bytes of walks after which the vocabulary's islands are forgotten. Grammars keep those that
/// they use.
const MAX_BYTES: usize = 64 << 20;

/// Bytes of a symbol: a character of JSON is at most two escapes of six bytes.
const MAX_SYMBOL_BYTES: usize = 12;

/// The fixed islands of a vocabulary.
#[derive(Debug)]
pub(crate) struct FixedIslands {
    islands: DashMap<Arc<Dfa>, Arc<FixedIsland>, FxBuildHasher>,
    singles: DashMap<ByteSet, Arc<Dfa>, FxBuildHasher>,
    slices: OnceLock<Arc<Slices>>,
    bytes: Arc<AtomicUsize>,
}

/// An automaton, and the tokens that stay inside it.
#[derive(Debug)]
pub(crate) struct FixedIsland {
    pub(crate) dfa: Arc<Dfa>,
    /// All states by number, the dead one first.
    states: Box<[StateId]>,
    /// Outgoing bytes by state.
    out: Box<[ByteSet]>,
    /// Bytes that can follow where a word can end.
    pub(crate) accepting_out: ByteSet,
    /// Whether words are single symbols: short, none empty, none the begin of another.
    pub(crate) is_symbol: bool,
    walks: DashMap<(StateId, NodeId), Arc<Walk>, FxBuildHasher>,
    runs: DashMap<NodeId, Arc<Walk>, FxBuildHasher>,
    bytes: Arc<AtomicUsize>,
}

impl FixedIslands {
    /// Those of a vocabulary.
    pub(crate) fn of(vocabulary: &Vocabulary) -> Arc<Self> {
        vocabulary.derived(|_| Self {
            islands: DashMap::default(),
            singles: DashMap::default(),
            slices: OnceLock::new(),
            bytes: Arc::default(),
        })
    }

    /// The island of an automaton.
    pub(crate) fn island(&self, dfa: &Arc<Dfa>) -> Arc<FixedIsland> {
        if let Some(known) = self.islands.get(dfa) {
            return known.clone();
        }
        if self.bytes.load(Ordering::Relaxed) > MAX_BYTES {
            self.islands.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        let island = Arc::new(FixedIsland::new(dfa.clone(), self.bytes.clone()));
        self.bytes.fetch_add(island.own_bytes(), Ordering::Relaxed);
        self.islands.entry(dfa.clone()).or_insert(island).clone()
    }

    /// The automaton of one byte of a set.
    pub(crate) fn single(&self, bytes: ByteSet) -> Arc<Dfa> {
        let build = || {
            let mut fuel = Fuel::unlimited();
            let mut builder = NfaBuilder::new(&mut fuel);
            let (start, end) = (builder.state()?, builder.state()?);
            builder.byte(start, bytes, end)?;
            determinize(&builder.finish(start, end), &mut Fuel::unlimited())
        };
        let single = || Arc::new(build().expect("two states, without a limit").minimized());
        self.singles.entry(bytes).or_insert_with(single).clone()
    }

    /// The vocabulary's class rows.
    pub(crate) fn slices(&self, vocabulary: &Vocabulary) -> &Arc<Slices> {
        self.slices.get_or_init(|| Slices::of(vocabulary))
    }
}

impl FixedIsland {
    fn new(dfa: Arc<Dfa>, bytes: Arc<AtomicUsize>) -> Self {
        let mut out = vec![ByteSet::EMPTY; dfa.len()];
        let mut accepting_out = ByteSet::EMPTY;
        let mut is_symbol = !dfa.is_accepting(dfa.start());
        for state in dfa.live_states() {
            out[state.index()] = dfa.out_bytes(state);
            if dfa.is_accepting(state) {
                accepting_out = accepting_out.union(&out[state.index()]);
                is_symbol &= out[state.index()].is_empty();
            }
        }
        is_symbol &= dfa.longest_word_len().is_some_and(|len| len <= MAX_SYMBOL_BYTES);
        Self {
            states: std::iter::once(StateId::DEAD).chain(dfa.live_states()).collect(),
            out: out.into(),
            accepting_out,
            is_symbol,
            dfa,
            walks: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
            runs: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
            bytes,
        }
    }

    fn own_bytes(&self) -> usize {
        self.dfa.memory_bytes() + self.out.len() * 32 + 1_000
    }

    /// The state of this number, which came from this automaton.
    pub(crate) fn state(&self, state: u32) -> StateId {
        self.states[state as usize]
    }

    /// The bytes that can follow in a state.
    #[inline]
    pub(crate) fn out(&self, state: StateId) -> &ByteSet {
        &self.out[state.index()]
    }

    /// The tokens below a node that go on from `state` there.
    pub(crate) fn walk(&self, walks: &Walks<'_>, state: StateId, node: NodeId) -> Arc<Walk> {
        if let Some(known) = self.walks.get(&(state, node)) {
            return known.clone();
        }
        let walk = self.counted(walks.within(self, state, node));
        self.walks.entry((state, node)).or_insert(walk).clone()
    }

    /// The tokens below a node that go on with any number of words there.
    pub(crate) fn run(&self, walks: &Walks<'_>, node: NodeId) -> Arc<Walk> {
        if let Some(known) = self.runs.get(&node) {
            return known.clone();
        }
        let walk = self.counted(walks.run(self, node));
        self.runs.entry(node).or_insert(walk).clone()
    }

    fn counted(&self, walk: Walk) -> Arc<Walk> {
        self.bytes.fetch_add(walk.memory_bytes(), Ordering::Relaxed);
        Arc::new(walk)
    }
}
