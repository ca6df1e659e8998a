//! What has been compiled, least recently used first to go, by bytes.
//!
//! Everything counts: compiled constraints, their keys, failures. What compiled constraints hold
//! grows while they are used, so entries are weighed again in turn, a few at every change. Equal
//! constraints that are being compiled are one flight.

use crate::{
    EngineError,
    flight::{Flight, Outcome, Ticket},
    key::Key,
};
use std::{
    collections::{BTreeMap, HashMap},
    mem::size_of,
    ops::Bound,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// What a value holds.
pub(crate) trait Weigh {
    /// Heap bytes.
    fn bytes(&self) -> usize;
}

/// Counts of what a cache has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Found, failures included.
    pub hits: u64,
    /// Found being compiled.
    pub joins: u64,
    /// Not found.
    pub misses: u64,
    /// Removed to make room, or never kept because there was none.
    pub evictions: u64,
    /// Entries held.
    pub entries: usize,
    /// Bytes held.
    pub bytes: usize,
    /// Compiles that came to an end, successfully or not.
    pub compiles: u64,
    /// The time they took together, on their threads.
    pub compile_time: Duration,
}

/// The cache.
#[derive(Debug)]
pub(crate) struct Cache<V: Clone + Send + 'static> {
    limit: usize,
    inner: Mutex<Inner<V>>,
}

#[derive(Debug)]
struct Inner<V> {
    entries: BTreeMap<Key, Entry<V>>,
    /// Least recently used first.
    order: BTreeMap<u64, Key>,
    /// What is being compiled, with a number of its own.
    flights: HashMap<Key, (u64, Arc<Flight<V>>)>,
    next: u64,
    /// The entry that was weighed last.
    weighed: Key,
    stats: CacheStats,
}

#[derive(Debug)]
struct Entry<V> {
    outcome: Outcome<V>,
    bytes: usize,
    used: u64,
}

/// What a look brings.
#[derive(Debug)]
pub(crate) enum Found<V: Clone + Send + 'static> {
    /// The outcome.
    Outcome(Outcome<V>),
    /// Somebody is at it.
    Joined(Ticket<V>),
    /// Nobody is: here is the work, to be handed to a pool.
    New(Ticket<V>, Arc<Flight<V>>),
}

/// An entry with its place in both maps.
const ENTRY_BYTES: usize = 2 * (size_of::<Entry<()>>() + 2 * size_of::<Key>());
/// Entries weighed again at every look.
const WEIGHED: usize = 4;

impl<V: Clone + Send + Weigh + 'static> Cache<V> {
    /// A cache of so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let inner = Inner {
            entries: BTreeMap::new(),
            order: BTreeMap::new(),
            flights: HashMap::new(),
            next: 0,
            weighed: Key::FIRST,
            stats: CacheStats::default(),
        };
        Self { limit, inner: Mutex::new(inner) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<V>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let inner = self.lock();
        CacheStats { entries: inner.entries.len(), ..inner.stats }
    }

    /// Looks for a key; where there is nothing, `flight` makes what others will find, from the
    /// number that is to be [settled](Self::settle).
    pub(crate) fn find(&self, key: Key, flight: impl FnOnce(u64) -> Arc<Flight<V>>) -> Found<V> {
        let mut inner = self.lock();
        if let Some(outcome) = inner.touch(key) {
            inner.stats.hits += 1;
            inner.weigh_some();
            let evicted = inner.evict(self.limit);
            drop(inner);
            drop(evicted);
            return Found::Outcome(outcome);
        }
        if let Some(ticket) = inner.flights.get(&key).and_then(|(_, flight)| flight.ticket()) {
            inner.stats.joins += 1;
            return Found::Joined(ticket);
        }
        inner.stats.misses += 1;
        let number = inner.tick();
        let flight = flight(number);
        let ticket = flight.ticket().expect("nobody has given up what is new");
        inner.flights.insert(key, (number, flight.clone()));
        Found::New(ticket, flight)
    }

    /// Takes an outcome: the flight is over, and what would come out the same again is kept.
    pub(crate) fn settle(&self, key: Key, number: u64, outcome: &Outcome<V>) {
        let mut inner = self.lock();
        // A flight that was given up may have been followed by another.
        if inner.flights.get(&key).is_some_and(|(known, _)| *known == number) {
            inner.flights.remove(&key);
        }
        if outcome.as_ref().is_err_and(|error| !error.is_lasting()) {
            return;
        }
        let replaced = inner.insert(key, outcome.clone());
        inner.weigh_some();
        let evicted = inner.evict(self.limit);
        drop(inner);
        // Freeing what is large takes its time, and nobody need wait for it.
        drop((replaced, evicted));
    }

    /// Counts the time of a compile.
    pub(crate) fn note_compile(&self, time: Duration) {
        let stats = &mut self.lock().stats;
        stats.compiles += 1;
        stats.compile_time += time;
    }

    /// All that is kept.
    #[cfg(test)]
    pub(crate) fn outcomes(&self) -> Vec<Outcome<V>> {
        self.lock().entries.values().map(|entry| entry.outcome.clone()).collect()
    }

    /// Forgets everything; what is being compiled goes on.
    pub(crate) fn clear(&self) {
        let mut inner = self.lock();
        let evicted = inner.evict(0);
        drop(inner);
        drop(evicted);
    }
}

impl<V: Clone + Weigh> Inner<V> {
    fn tick(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// The outcome of a key, which is now the most recently used.
    fn touch(&mut self, key: Key) -> Option<Outcome<V>> {
        let now = self.tick();
        let entry = self.entries.get_mut(&key)?;
        self.order.remove(&entry.used);
        entry.used = now;
        self.order.insert(now, key);
        Some(entry.outcome.clone())
    }

    fn insert(&mut self, key: Key, outcome: Outcome<V>) -> Option<Entry<V>> {
        let used = self.tick();
        let bytes = weigh(&outcome);
        self.stats.bytes += bytes;
        self.order.insert(used, key);
        let replaced = self.entries.insert(key, Entry { outcome, bytes, used });
        if let Some(old) = &replaced {
            self.order.remove(&old.used);
            self.stats.bytes -= old.bytes;
        }
        replaced
    }

    /// Weighs the next few entries again.
    fn weigh_some(&mut self) {
        for _ in 0..WEIGHED.min(self.entries.len()) {
            let after = (Bound::Excluded(self.weighed), Bound::Unbounded);
            let next = self.entries.range(after).next().map(|(key, _)| *key);
            let Some(key) = next.or_else(|| self.entries.keys().next().copied()) else { return };
            self.weighed = key;
            if let Some(entry) = self.entries.get_mut(&key) {
                let bytes = weigh(&entry.outcome);
                self.stats.bytes = self.stats.bytes - entry.bytes + bytes;
                entry.bytes = bytes;
            }
        }
    }

    /// Removes the least recently used until no more than `limit` bytes are left.
    fn evict(&mut self, limit: usize) -> Vec<Entry<V>> {
        let mut evicted = Vec::new();
        while self.stats.bytes > limit {
            let Some((_, key)) = self.order.pop_first() else { break };
            if let Some(entry) = self.entries.remove(&key) {
                self.stats.bytes -= entry.bytes;
                self.stats.evictions += 1;
                evicted.push(entry);
            }
        }
        evicted
    }
}

/// Bytes of an entry.
fn weigh<V: Weigh>(outcome: &Outcome<V>) -> usize {
    ENTRY_BYTES
        + match outcome {
            Ok(value) => value.bytes(),
            // Its text is the greater part of an error, and some texts are there twice.
            Err(error) => 2 * (size_of::<EngineError>() + error.to_string().len()),
        }
}

#[cfg(test)]
mod tests;
