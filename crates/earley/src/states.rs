//! The island of a rule: its body as an automaton with calls, determinised as far as it is visited.
//!
//! # Data
//! Positions are those of a Thompson automaton (Thompson, 1968) whose edges are byte sets, nothing,
//! or calls. A state is a set of positions closed under empty edges. Its outgoing bytes are
//! partitioned into groups that lead to the same set, and its calls are one for each callee; where
//! they lead becomes a state when it is first asked for.
//!
//! Shared between threads: states are only ever added, a group's target is an atomic cell.

use crate::place::{Callee, Closure, END};
use dashmap::DashMap;
use formwork_automata::ByteSet;
use rustc_hash::FxBuildHasher;
use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// An edge of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    Bytes(ByteSet, u32),
    Empty(u32),
    Call(Callee, u32),
    /// A token as a symbol: one of a set of the program's.
    Token(u32, u32),
}

/// A body as positions; position 0 is the start.
#[derive(Debug)]
pub(crate) struct Positions {
    pub(crate) edges: Vec<Vec<Edge>>,
    /// Positions where the body ends, and the end's number.
    pub(crate) ends: Vec<(u32, u32)>,
}

/// A determinised state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) groups: Box<[Group]>,
    pub(crate) calls: Box<[Call]>,
    /// Tokens that can be read as symbols, by set.
    tokens: Box<[TokenEdge]>,
    /// By which ends the body can end here.
    pub(crate) ends: Box<[u32]>,
    /// The bytes of all groups.
    pub(crate) bytes: ByteSet,
    pub(crate) closure: OnceLock<Closure>,
}

/// Bytes that lead to one state.
#[derive(Debug)]
pub(crate) struct Group {
    bytes: ByteSet,
    target: Target,
}

/// A call, and where it goes on.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) callee: Callee,
    target: Target,
}

/// A set of tokens as symbols, and where they lead.
#[derive(Debug)]
pub(crate) struct TokenEdge {
    pub(crate) set: u32,
    target: Target,
}

/// A set of positions that becomes a state when it is asked for.
#[derive(Debug)]
struct Target {
    positions: Box<[u32]>,
    state: AtomicU32,
}

/// Not asked for yet.
const UNKNOWN: u32 = u32::MAX;

impl Target {
    fn new(mut positions: Vec<u32>) -> Self {
        positions.sort_unstable();
        positions.dedup();
        Self { positions: positions.into(), state: AtomicU32::new(UNKNOWN) }
    }
}

impl State {
    /// Whether the body can end here and nothing else: a call that returns here is the last thing.
    pub(crate) fn only_ends(&self) -> bool {
        *self.ends == [END] && !self.reads() && self.calls.is_empty()
    }

    /// Whether a byte or a token can be read here, calls aside.
    pub(crate) fn reads(&self) -> bool {
        !self.groups.is_empty() || !self.tokens.is_empty()
    }

    /// The tokens that can be read as symbols.
    pub(crate) fn token_edges(&self) -> &[TokenEdge] {
        &self.tokens
    }
}

/// The states of one body.
#[derive(Debug)]
pub(crate) struct States {
    positions: Positions,
    states: boxcar::Vec<State>,
    numbers: DashMap<Box<[u32]>, u32, FxBuildHasher>,
}

impl States {
    /// State 0 is the start.
    pub(crate) fn new(positions: Positions) -> Self {
        let states = Self::without_start(positions);
        states.number(&[0]);
        states
    }

    /// No state yet.
    pub(crate) fn without_start(positions: Positions) -> Self {
        // Few shards: most bodies have a handful of states.
        let numbers = DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 2);
        Self { positions, states: boxcar::Vec::new(), numbers }
    }

    pub(crate) fn get(&self, state: u32) -> &State {
        &self.states[state as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.states.count()
    }

    /// The state after a byte.
    #[inline]
    pub(crate) fn next(&self, state: &State, byte: u8) -> Option<u32> {
        let group = state.groups.iter().find(|group| group.bytes.contains(byte))?;
        Some(self.target(&group.target))
    }

    /// The state after a token of an edge.
    pub(crate) fn after_token(&self, edge: &TokenEdge) -> u32 {
        self.target(&edge.target)
    }

    /// The state in which a call goes on.
    pub(crate) fn after_call(&self, call: &Call) -> u32 {
        self.target(&call.target)
    }

    fn target(&self, target: &Target) -> u32 {
        match target.state.load(Ordering::Acquire) {
            UNKNOWN => {
                let state = self.number(&target.positions);
                target.state.store(state, Ordering::Release);
                state
            }
            state => state,
        }
    }

    /// The state of a sorted set of positions, made now if it is new.
    pub(crate) fn number(&self, positions: &[u32]) -> u32 {
        if let Some(known) = self.numbers.get(positions) {
            return *known;
        }
        let state = self.state(positions);
        *self.numbers.entry(positions.into()).or_insert_with(|| {
            u32::try_from(self.states.push(state)).expect("fewer states than memory holds")
        })
    }

    fn state(&self, positions: &[u32]) -> State {
        let mut members = positions.to_vec();
        let mut ends = Vec::new();
        let mut calls: Vec<(Callee, u32)> = Vec::new();
        let mut tokens: Vec<(u32, u32)> = Vec::new();
        let mut partition = Partition::default();
        let mut seen = rustc_hash::FxHashSet::from_iter(positions.iter().copied());
        let mut at = 0;
        while at < members.len() {
            let position = members[at];
            at += 1;
            let own = self.positions.ends.iter().filter(|end| end.0 == position);
            ends.extend(own.map(|end| end.1));
            for &edge in &self.positions.edges[position as usize] {
                match edge {
                    Edge::Bytes(bytes, to) => partition.add(bytes, to),
                    Edge::Call(callee, to) => calls.push((callee, to)),
                    Edge::Token(set, to) => tokens.push((set, to)),
                    Edge::Empty(to) => {
                        if seen.insert(to) {
                            members.push(to);
                        }
                    }
                }
            }
        }
        calls.sort_unstable();
        let calls = calls
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| {
                let positions = same.iter().map(|call| call.1).collect();
                Call { callee: same[0].0, target: Target::new(positions) }
            })
            .collect();
        tokens.sort_unstable();
        let tokens = tokens
            .chunk_by(|a, b| a.0 == b.0)
            .map(|same| {
                let positions = same.iter().map(|edge| edge.1).collect();
                TokenEdge { set: same[0].0, target: Target::new(positions) }
            })
            .collect();
        let bytes = partition.groups.iter().fold(ByteSet::EMPTY, |all, group| all.union(&group.0));
        let groups = partition.finish();
        ends.sort_unstable();
        ends.dedup();
        State { groups, calls, tokens, ends: ends.into(), bytes, closure: OnceLock::new() }
    }

    /// The state of the items that these ends stand for: position `end` begins each.
    pub(crate) fn items(&self, ends: &[u32]) -> Option<u32> {
        (!ends.is_empty()).then(|| self.number(ends))
    }

    /// Heap bytes held, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        let edges: usize = self.positions.edges.iter().map(|edges| 24 + edges.len() * 48).sum();
        let states: usize = self
            .states
            .iter()
            .map(|(_, state)| size_of::<State>() + state.groups.len() * 80 + state.calls.len() * 48)
            .sum();
        edges + states * 2
    }
}

/// Bytes by the set of positions that they lead to.
#[derive(Default)]
struct Partition {
    groups: Vec<(ByteSet, Vec<u32>)>,
}

impl Partition {
    fn add(&mut self, bytes: ByteSet, to: u32) {
        let mut left = bytes;
        for at in 0..self.groups.len() {
            let both = self.groups[at].0.intersection(&left);
            if both.is_empty() {
                continue;
            }
            left = left.difference(&both);
            let rest = self.groups[at].0.difference(&both);
            if !rest.is_empty() {
                let targets = self.groups[at].1.clone();
                self.groups.push((rest, targets));
                self.groups[at].0 = both;
            }
            self.groups[at].1.push(to);
            if left.is_empty() {
                return;
            }
        }
        self.groups.push((left, vec![to]));
    }

    fn finish(self) -> Box<[Group]> {
        let group = |(bytes, targets)| Group { bytes, target: Target::new(targets) };
        self.groups.into_iter().map(group).collect()
    }
}
