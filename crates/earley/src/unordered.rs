//! Items in any order: what a permutation remembers, and what may come next.
//!
//! # Data
//! The items of a permutation are one island with an end for each member, so that the begins of
//! their keys are read together; its start depends on the members that have not occurred. A
//! *register* is what has occurred: members, number of items, keys. Keys that must differ are a
//! trie, hash-consed from its leaves up, so that equal sets are one number and a set with one more
//! key shares all but the path to it.
//!
//! # Cost
//! A register with one more item: a word for each 64 members; the bytes of the key where keys
//! must differ. The first bytes of the items are determinised anew for each set of members left.

use crate::program::Program;
use dashmap::DashMap;
use formwork_automata::{Dfa, StateId};
use rustc_hash::FxBuildHasher;
use std::sync::OnceLock;

/// A permutation of a grammar.
#[derive(Debug)]
pub(crate) struct Unordered {
    /// The island of the members, each an end of its own; and of the other items, if their keys may
    /// repeat, whose end is numbered after them.
    pub(crate) items: u32,
    pub(crate) separator: u32,
    pub(crate) distinct: Option<Distinct>,
    pub(crate) members: u32,
    /// A bit a member.
    pub(crate) required: Box<[u64]>,
    /// Whether there are other items whose keys may repeat.
    pub(crate) has_others: bool,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

/// Items whose keys must differ.
#[derive(Debug)]
pub(crate) struct Distinct {
    /// The island of the key, and of what follows it.
    pub(crate) key: u32,
    pub(crate) tail: u32,
    /// By state of the key's automaton: how many words follow. Infinitely many are `u64::MAX`.
    pub(crate) words: Box<[u64]>,
    /// How many words there are in all.
    pub(crate) all: u64,
}

/// The number of words that follow each state; `u64::MAX` where there is no end of them.
pub(crate) fn words(dfa: &Dfa) -> Box<[u64]> {
    let mut open = vec![0_usize; dfa.len()];
    let mut into: Vec<Vec<StateId>> = vec![Vec::new(); dfa.len()];
    for state in dfa.live_states() {
        for byte in dfa.out_bytes(state).iter() {
            open[state.index()] += 1;
            into[dfa.next(state, byte).index()].push(state);
        }
    }
    let mut sums = vec![0_u64; dfa.len()];
    let mut words = vec![u64::MAX; dfa.len()];
    let mut done: Vec<StateId> = dfa.live_states().filter(|s| open[s.index()] == 0).collect();
    while let Some(state) = done.pop() {
        let own = u64::from(dfa.is_accepting(state));
        words[state.index()] = sums[state.index()].saturating_add(own);
        for &from in &into[state.index()] {
            let sum = &mut sums[from.index()];
            *sum = sum.saturating_add(words[state.index()]);
            open[from.index()] -= 1;
            if open[from.index()] == 0 {
                done.push(from);
            }
        }
    }
    words.into()
}

/// What has occurred.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Register {
    pub(crate) unordered: u32,
    /// A bit a member.
    seen: Box<[u64]>,
    /// Items so far; without a bound above, those past the least are not told apart.
    count: u32,
    /// The set of keys, as a node of [`Registers`].
    pub(crate) keys: u32,
    /// Whether there was one more key, which nobody has looked at.
    pub(crate) has_unknown_key: bool,
}

/// A node of the trie of a set of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct KeyNode {
    is_key: bool,
    /// Keys at and below the node.
    below: u64,
    children: Box<[(u8, u32)]>,
}

/// The empty set of keys.
pub(crate) const NO_KEYS: u32 = 0;
/// Where no key of a set goes on.
pub(crate) const OFF: u32 = u32::MAX;

/// All registers and sets of keys met so far. Only grows.
#[derive(Debug)]
pub(crate) struct Registers {
    registers: boxcar::Vec<(Register, OnceLock<Option<u32>>)>,
    numbers: DashMap<Register, u32, FxBuildHasher>,
    nodes: boxcar::Vec<KeyNode>,
    node_numbers: DashMap<KeyNode, u32, FxBuildHasher>,
}

impl Registers {
    pub(crate) fn new() -> Self {
        let registers = Self {
            registers: boxcar::Vec::new(),
            numbers: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
            nodes: boxcar::Vec::new(),
            node_numbers: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
        };
        registers.node(KeyNode::default());
        registers
    }

    pub(crate) fn get(&self, register: u32) -> &Register {
        &self.registers[register as usize].0
    }

    /// Heap bytes held, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.registers.count() * 200 + self.nodes.count() * 150
    }

    /// The register before the first item.
    pub(crate) fn first(&self, unordered: u32, shape: &Unordered) -> u32 {
        let seen = vec![0; shape.required.len()].into();
        self.number(Register { unordered, seen, count: 0, keys: NO_KEYS, has_unknown_key: false })
    }

    fn number(&self, register: Register) -> u32 {
        if let Some(known) = self.numbers.get(&register) {
            return *known;
        }
        *self.numbers.entry(register.clone()).or_insert_with(|| {
            let number = self.registers.push((register, OnceLock::new()));
            u32::try_from(number).expect("bounded by bytes")
        })
    }

    /// The register after one more item: a member, or another one.
    pub(crate) fn after(&self, register: u32, shape: &Unordered, member: Option<u32>) -> u32 {
        let mut next = self.get(register).clone();
        if let Some(member) = member {
            next.seen[member as usize / 64] |= 1 << (member % 64);
        }
        next.count = shape.counted(next.count);
        self.number(next)
    }

    /// The register after one more item with a key; none where nobody knows it.
    pub(crate) fn after_key(&self, register: u32, shape: &Unordered, key: Option<&[u8]>) -> u32 {
        let mut next = self.get(register).clone();
        next.count = shape.counted(next.count);
        match key {
            Some(key) => next.keys = self.with_key(next.keys, key),
            None => next.has_unknown_key = true,
        }
        self.number(next)
    }

    /// The state of the items' island in which the items begin that may come next; none if no
    /// member may.
    pub(crate) fn start(&self, register: u32, make: impl FnOnce() -> Option<u32>) -> Option<u32> {
        *self.registers[register as usize].1.get_or_init(make)
    }

    /// The node after a byte of a key.
    pub(crate) fn child(&self, node: u32, byte: u8) -> u32 {
        if node == OFF {
            return OFF;
        }
        let children = &self.nodes[node as usize].children;
        children.binary_search_by_key(&byte, |child| child.0).map_or(OFF, |at| children[at].1)
    }

    /// Whether a node is the end of a key.
    pub(crate) fn is_key(&self, node: u32) -> bool {
        node != OFF && self.nodes[node as usize].is_key
    }

    /// Keys at and below a node.
    pub(crate) fn below(&self, node: u32) -> u64 {
        if node == OFF { 0 } else { self.nodes[node as usize].below }
    }

    fn with_key(&self, root: u32, key: &[u8]) -> u32 {
        let mut path = vec![root];
        for &byte in key {
            path.push(self.child(path[path.len() - 1], byte));
        }
        let copy = |node: u32| match node {
            OFF => KeyNode::default(),
            node => self.nodes[node as usize].clone(),
        };
        let mut last = copy(path[key.len()]);
        last.below += u64::from(!last.is_key);
        last.is_key = true;
        let mut made = self.node(last);
        for (&byte, &node) in key.iter().zip(&path).rev() {
            let mut node = copy(node);
            let mut children = node.children.into_vec();
            match children.binary_search_by_key(&byte, |child| child.0) {
                Ok(at) => children[at].1 = made,
                Err(at) => children.insert(at, (byte, made)),
            }
            let below: u64 = children.iter().map(|child| self.below(child.1)).sum();
            node.below = below + u64::from(node.is_key);
            node.children = children.into();
            made = self.node(node);
        }
        made
    }

    fn node(&self, node: KeyNode) -> u32 {
        if let Some(known) = self.node_numbers.get(&node) {
            return *known;
        }
        *self
            .node_numbers
            .entry(node.clone())
            .or_insert_with(|| u32::try_from(self.nodes.push(node)).expect("bounded by bytes"))
    }
}

impl Unordered {
    fn counted(&self, count: u32) -> u32 {
        let next = count.saturating_add(1);
        if self.max.is_none() { next.min(self.min) } else { next }
    }

    fn required_left(&self, register: &Register) -> u32 {
        let left =
            self.required.iter().zip(&register.seen).map(|(required, seen)| required & !seen);
        left.map(u64::count_ones).sum()
    }

    /// Whether the list can end here.
    pub(crate) fn is_complete(&self, register: &Register) -> bool {
        register.count >= self.min && self.required_left(register) == 0
    }

    /// Whether an item can follow that is not required.
    fn has_room(&self, register: &Register) -> bool {
        let needed = register.count.saturating_add(self.required_left(register));
        self.max.is_none_or(|max| needed < max)
    }

    /// Whether an item with a new key can follow.
    pub(crate) fn takes_key(&self, register: &Register, registers: &Registers) -> bool {
        let unknown = u64::from(register.has_unknown_key);
        let used = registers.below(register.keys) + unknown;
        self.distinct.as_ref().is_some_and(|distinct| distinct.all > used)
            && self.has_room(register)
    }

    /// The ends that may come next: members, and the other items after them.
    pub(crate) fn next(&self, register: &Register) -> Vec<u32> {
        let has_room = self.has_room(register);
        let bit = |bits: &[u64], member: u32| bits[member as usize / 64] >> (member % 64) & 1 == 1;
        let mut next: Vec<u32> = (0..self.members)
            .filter(|&member| !bit(&register.seen, member))
            .filter(|&member| has_room || bit(&self.required, member))
            .collect();
        next.extend((self.has_others && has_room).then_some(self.members));
        next
    }
}

impl Program {
    /// Whether any item can follow.
    pub(crate) fn has_next(&self, register: &Register) -> bool {
        let shape = self.unordered(register.unordered);
        shape.takes_key(register, &self.registers) || !shape.next(register).is_empty()
    }
}
