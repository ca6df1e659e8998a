//! Positions: what is known of a state, and of the state with some of the stack below it.
//!
//! # Shape
//! A *node* is a state, the turns done if it is in a loop, and none, one or more of the returns on the
//! stack below, nearest first. It has the mask of the tokens that these take without leaving what is
//! known, and the *exits*, what is left of tokens that do leave. Its child by one more return is the
//! same mask with the exits that the return takes. A mask is read off the first node on the way down a
//! stack that has no exits; most have none at once.
//!
//! Whatever is made here does not depend on who asks first.

use crate::{
    fill::{Filling, Shared},
    fixed::{Window, words_of},
    frames::{Frames, UNKNOWN},
    mask::Mask,
    program::Program,
    walker::Thread,
};
use dashmap::DashMap;
use formwork_core::StepError;
use formwork_vocab::{NodeId, TokenTrie};
use rustc_hash::FxBuildHasher;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// A state with so much of its stack as is known.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) mask: Mask,
    /// What is left of tokens that leave what is known.
    exits: Option<Arc<TokenTrie>>,
    /// Whether what is known can be left before the next byte.
    pops: bool,
    /// Whether nothing more need be known.
    pub(crate) is_closed: bool,
    children: boxcar::Vec<(u32, u32)>,
}

impl Node {
    fn new(
        program: &Program,
        (mask, exits): (Mask, Option<Arc<TokenTrie>>),
        (island, pops): (u32, bool),
    ) -> Self {
        let is_closed = exits.is_none() && !(pops && program.is_called[island as usize]);
        Self { mask, exits, pops, is_closed, children: boxcar::Vec::new() }
    }

    /// Tokens that what is known does not decide, those that would follow it at once not counted.
    pub(crate) fn open_tokens(&self) -> usize {
        let Some(exits) = &self.exits else { return 0 };
        let mut tokens = exits.tokens_below(NodeId::ROOT).to_vec();
        tokens.sort_unstable();
        tokens.dedup();
        tokens.len()
    }

    fn child(&self, back: u32) -> Option<u32> {
        self.children.iter().find(|(_, child)| child.0 == back).map(|(_, child)| child.1)
    }

    fn memory_bytes(&self) -> usize {
        let exits = self.exits.as_ref().filter(|exits| Arc::strong_count(exits) == 1);
        size_of::<Self>()
            + self.mask.memory_bytes()
            + exits.map_or(0, |exits| exits.memory_bytes())
    }
}

/// All nodes of a grammar; they only grow.
#[derive(Debug)]
pub(crate) struct Nodes {
    shared: Shared,
    nodes: boxcar::Vec<Node>,
    by_state: Box<[OnceLock<u32>]>,
    in_loops: DashMap<(u32, Window), u32, FxBuildHasher>,
    limit: u64,
    bytes: AtomicUsize,
    pub(crate) visited: AtomicU64,
}

impl Nodes {
    pub(crate) fn new(program: &Program, shared: Shared, limit: u64) -> Self {
        Self {
            shared,
            nodes: boxcar::Vec::new(),
            by_state: program.states.iter().map(|_| OnceLock::new()).collect(),
            in_loops: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8),
            limit,
            bytes: AtomicUsize::new(0),
            visited: AtomicU64::new(0),
        }
    }

    pub(crate) fn get(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The nodes of states that have been made: state and node.
    pub(crate) fn known(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.by_state.iter().enumerate().filter_map(|(state, node)| Some((state, *node.get()?)))
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.count()
    }

    /// Heap bytes held, shared rows aside.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The distinct rows that masks are based on.
    pub(crate) fn row_bytes(&self) -> usize {
        let mut rows: Vec<_> = self.nodes.iter().filter_map(|(_, node)| node.mask.row()).collect();
        rows.sort_unstable_by_key(|row| row.as_ptr().addr());
        rows.dedup_by_key(|row| row.as_ptr().addr());
        rows.iter().map(|row| size_of_val(&***row)).sum()
    }

    /// The node of a thread, nothing of its frame known.
    pub(crate) fn of(
        &self,
        program: &Program,
        frames: &Frames,
        thread: Thread,
    ) -> Result<u32, StepError> {
        let Some(_) = program.turns(thread.state) else {
            let slot = &self.by_state[thread.state as usize];
            if let Some(&known) = slot.get() {
                return Ok(known);
            }
            let made = self.make(program, frames, thread)?;
            return Ok(*slot.get_or_init(|| self.push(made)));
        };
        let key = (thread.state, program.window(thread));
        if let Some(known) = self.in_loops.get(&key) {
            return Ok(*known);
        }
        let made = self.make(program, frames, thread)?;
        Ok(*self.in_loops.entry(key).or_insert_with(|| self.push(made)))
    }

    fn push(&self, node: Node) -> u32 {
        self.bytes.fetch_add(node.memory_bytes() + 32, Ordering::Relaxed);
        u32::try_from(self.nodes.push(node)).expect("bounded by bytes")
    }

    fn make(&self, program: &Program, frames: &Frames, thread: Thread) -> Result<Node, StepError> {
        let state = program.state(thread.state);
        let shared = &self.shared;
        let mut filling = Filling::new(program, frames, shared, (state.island, self.limit));
        let pops = program.can_end(thread);
        if program.is_fixed(state.island) {
            let base = match program.can_read(thread) {
                true => filling.base(thread, program.follow[state.island as usize]),
                false => Arc::default(),
            };
            self.visited.fetch_add(filling.visited as u64, Ordering::Relaxed);
            let (mask, exits) = (base.mask.clone(), base.exits.clone());
            return Ok(Node::new(program, (mask, exits), (state.island, pops)));
        }
        filling.threads(&[Thread { frame: UNKNOWN, ..thread }])?;
        Ok(self.finish(program, filling, (state.island, pops)))
    }

    /// The node by one more return.
    pub(crate) fn child(
        &self,
        program: &Program,
        frames: &Frames,
        number: u32,
        back: u32,
    ) -> Result<u32, StepError> {
        let node = self.get(number);
        if let Some(known) = node.child(back) {
            return Ok(known);
        }
        let below = Thread { state: back, count: 0, frame: UNKNOWN };
        let child = match &node.exits {
            None if node.mask.is_empty() => self.of(program, frames, below)?,
            _ => {
                let made = self.make_child(program, frames, node, below)?;
                self.push(made)
            }
        };
        node.children.push((back, child));
        Ok(child)
    }

    fn make_child(
        &self,
        program: &Program,
        frames: &Frames,
        node: &Node,
        below: Thread,
    ) -> Result<Node, StepError> {
        let state = program.state(below.state);
        let shared = &self.shared;
        let mut filling = Filling::new(program, frames, shared, (state.island, self.limit));
        filling.mask.mask(&node.mask);
        if let Some(exits) = &node.exits {
            filling.rests(exits, below.state)?;
        }
        if node.pops {
            let base = self.get(self.of(program, frames, below)?);
            filling.mask.mask(&base.mask);
            if let Some(exits) = &base.exits {
                filling.exits.extend(words_of(&program.vocabulary, exits));
            }
            return Ok(self.finish(program, filling, (state.island, base.pops)));
        }
        Ok(self.finish(program, filling, (state.island, false)))
    }

    fn finish(&self, program: &Program, filling: Filling<'_>, (island, pops): (u32, bool)) -> Node {
        self.visited.fetch_add(filling.visited as u64, Ordering::Relaxed);
        let rows = &self.shared.fixed.rows;
        let mask = filling.mask.finish(rows, program.vocabulary.model_len());
        let mut exits = filling.exits;
        exits.retain(|exit| !mask.contains(exit.1.as_u32()));
        let exits = (!exits.is_empty()).then(|| Arc::new(TokenTrie::of_words(exits)));
        Node::new(program, (mask, exits), (island, pops))
    }
}
