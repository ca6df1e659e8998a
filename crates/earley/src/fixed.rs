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

use crate::{
    difference::Difference,
    symbols::{Marks, Symbols},
    walks::{At, Walk, Walks},
};
use dashmap::DashMap;
use formwork_automata::{ByteSet, Dfa, Fuel, NfaBuilder, StateId, determinize};
use formwork_slices::Slices;
use formwork_vocab::{NodeId, Vocabulary};
use rustc_hash::FxBuildHasher;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Heap bytes of walks after which the vocabulary's islands are forgotten. Grammars keep those that
/// they use.
const MAX_BYTES: usize = 64 << 20;

/// So many islands are remembered as what others may be differences from,
const MAX_BASES: usize = 16;
/// of so few states.
const MAX_BASE_STATES: usize = 40;

/// Bytes of a symbol: a character of JSON is at most two escapes of six bytes.
const MAX_SYMBOL_BYTES: usize = 12;

/// The fixed islands of a vocabulary.
#[derive(Debug)]
pub(crate) struct FixedIslands {
    islands: DashMap<Arc<Dfa>, Arc<FixedIsland>, FxBuildHasher>,
    /// Islands whose symbols are counted.
    counted: DashMap<CountedKey, Option<Arc<FixedIsland>>, FxBuildHasher>,
    singles: DashMap<ByteSet, Arc<Dfa>, FxBuildHasher>,
    /// The vocabulary's class rows.
    pub(crate) slices: Arc<Slices>,
    /// Islands that others may be differences from.
    bases: Mutex<Vec<Arc<FixedIsland>>>,
    bytes: Arc<AtomicUsize>,
}

/// What an island whose symbols are counted is known by: automaton, symbol, marks.
type CountedKey = (Arc<Dfa>, Arc<Dfa>, Box<[u8]>, Box<[u8]>);

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
    /// What it lacks of another island, if that is little.
    pub(crate) difference: Option<Difference>,
    /// Its symbols, where they are counted.
    pub(crate) symbols: Option<Symbols>,
    walks: DashMap<(u64, StateId, NodeId), Arc<Walk>, FxBuildHasher>,
    runs: DashMap<(u64, NodeId), Arc<Walk>, FxBuildHasher>,
    bytes: Arc<AtomicUsize>,
}

impl FixedIslands {
    /// Those of a vocabulary.
    pub(crate) fn of(vocabulary: &Vocabulary) -> Arc<Self> {
        vocabulary.derived(|vocabulary| Self {
            islands: DashMap::default(),
            counted: DashMap::default(),
            singles: DashMap::default(),
            slices: Slices::of(vocabulary),
            bases: Mutex::default(),
            bytes: Arc::default(),
        })
    }

    /// The island of an automaton.
    pub(crate) fn island(&self, dfa: &Arc<Dfa>) -> Arc<FixedIsland> {
        if let Some(known) = self.islands.get(dfa) {
            return known.clone();
        }
        self.forget();
        let mut island = FixedIsland::new(dfa.clone(), self.bytes.clone());
        self.bytes.fetch_add(island.own_bytes(), Ordering::Relaxed);
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        island.difference = bases.iter().find_map(|base| Difference::new(&island, base));
        let is_base =
            island.difference.is_none() && bases.len() < MAX_BASES && island.may_be_base();
        let island = self.islands.entry(dfa.clone()).or_insert_with(|| Arc::new(island)).clone();
        if is_base {
            bases.push(island.clone());
        }
        island
    }

    /// The island of an automaton whose symbols are counted; none where that cannot be done.
    pub(crate) fn counted(
        &self,
        dfa: &Arc<Dfa>,
        symbol: &Arc<Dfa>,
        marks: Marks<'_>,
    ) -> Option<Arc<FixedIsland>> {
        let key = (dfa.clone(), symbol.clone(), marks.before.into(), marks.after.into());
        if let Some(known) = self.counted.get(&key) {
            return known.clone();
        }
        self.forget();
        let island = Symbols::new(dfa, marks).map(|symbols| {
            let mut island = FixedIsland::new(dfa.clone(), self.bytes.clone());
            island.is_symbol = false;
            island.symbols = Some(symbols);
            self.bytes.fetch_add(2 * island.own_bytes(), Ordering::Relaxed);
            Arc::new(island)
        });
        self.counted.entry(key).or_insert(island).clone()
    }

    /// Begins anew when what is held has outgrown its bound.
    fn forget(&self) {
        if self.bytes.load(Ordering::Relaxed) > MAX_BYTES {
            self.islands.clear();
            self.counted.clear();
            self.bases.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
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
            difference: None,
            symbols: None,
            dfa,
            walks: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
            runs: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
            bytes,
        }
    }

    /// Whether it is small and text: the string of a language, less some words, is what schemas
    /// are full of.
    pub(crate) fn may_be_base(&self) -> bool {
        self.dfa.len() <= MAX_BASE_STATES && self.out.iter().any(|bytes| bytes.len() >= 64)
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
    pub(crate) fn walk(&self, walks: &Walks<'_>, state: StateId, at: At<'_>) -> Arc<Walk> {
        let key = (at.number, state, at.node);
        if let Some(known) = self.walks.get(&key) {
            return known.clone();
        }
        let walk = self.counted(walks.within(self, state, at));
        self.walks.entry(key).or_insert(walk).clone()
    }

    /// The tokens below a node that go on with any number of words there.
    pub(crate) fn run(&self, walks: &Walks<'_>, at: At<'_>) -> Arc<Walk> {
        let key = (at.number, at.node);
        if let Some(known) = self.runs.get(&key) {
            return known.clone();
        }
        let walk = self.counted(walks.run(self, at));
        self.runs.entry(key).or_insert(walk).clone()
    }

    fn counted(&self, walk: Walk) -> Arc<Walk> {
        let held = self.bytes.fetch_add(walk.memory_bytes(), Ordering::Relaxed);
        if held > 2 * MAX_BYTES {
            // An island that is in use all the time begins anew as well.
            self.walks.clear();
            self.runs.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        Arc::new(walk)
    }
}
