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
    fixed::{Window, Word, words_of},
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
    /// The first of the nodes by one more return, as a link.
    first: OnceLock<u32>,
}

/// A node by one more return, and the next one of the same: lists that only grow.
#[derive(Debug)]
struct Link {
    back: u32,
    child: u32,
    next: OnceLock<u32>,
}

impl Node {
    fn new(
        program: &Program,
        (mask, exits): (Mask, Option<Arc<TokenTrie>>),
        (island, pops): (u32, bool),
    ) -> Self {
        let is_closed = exits.is_none() && !(pops && program.is_called[island as usize]);
        Self { mask, exits, pops, is_closed, first: OnceLock::new() }
    }

    /// Tokens that what is known does not decide, those that would follow it at once not counted.
    pub(crate) fn open_tokens(&self) -> usize {
        let Some(exits) = &self.exits else { return 0 };
        let mut tokens = exits.tokens_below(NodeId::ROOT).to_vec();
        tokens.sort_unstable();
        tokens.dedup();
        tokens.len()
    }
}

/// What is left of tokens: each token, and the bytes that are left of it.
type RestsKey = Box<[(u32, u32)]>;

/// All nodes of a grammar; they only grow.
#[derive(Debug)]
pub(crate) struct Nodes {
    shared: Shared,
    nodes: boxcar::Vec<Node>,
    links: boxcar::Vec<Link>,
    /// Equal lists of ids are one: what may follow is the same at many places.
    lists: DashMap<Arc<[u32]>, (), FxBuildHasher>,
    /// The same for what is left of tokens, by token and number of bytes.
    rests: DashMap<RestsKey, Arc<TokenTrie>, FxBuildHasher>,
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
            links: boxcar::Vec::new(),
            lists: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8),
            rests: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8),
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

    fn push(&self, mut node: Node) -> u32 {
        let list = node.mask.list_mut();
        let known = self.lists.get(&**list).map(|known| known.key().clone());
        match known {
            Some(known) => *list = known,
            None => {
                self.bytes.fetch_add(size_of_val(&**list) + 48, Ordering::Relaxed);
                self.lists.insert(list.clone(), ());
            }
        }
        self.bytes.fetch_add(size_of::<Node>(), Ordering::Relaxed);
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
        let mut last = &node.first;
        while let Some(&link) = last.get() {
            let link = &self.links[link as usize];
            if link.back == back {
                return Ok(link.child);
            }
            last = &link.next;
        }
        let below = Thread { state: back, count: 0, frame: UNKNOWN };
        let child = match &node.exits {
            None if node.mask.is_empty() => self.of(program, frames, below)?,
            _ => {
                let made = self.make_child(program, frames, node, below)?;
                self.push(made)
            }
        };
        let link = self.links.push(Link { back, child, next: OnceLock::new() });
        self.bytes.fetch_add(size_of::<Link>(), Ordering::Relaxed);
        let link = u32::try_from(link).expect("bounded by bytes");
        // Behind whatever others have put there meanwhile.
        while last.set(link).is_err() {
            let taken = *last.get().expect("it is set");
            last = &self.links[taken as usize].next;
        }
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

    /// The trie of what is left of tokens.
    fn rests(&self, words: Vec<Word<'_>>) -> Arc<TokenTrie> {
        let narrow = |len| u32::try_from(len).expect("tokens are short");
        let mut key: Vec<(u32, u32)> =
            words.iter().map(|word| (word.1.as_u32(), narrow(word.0.len()))).collect();
        key.sort_unstable();
        key.dedup();
        if let Some(known) = self.rests.get(&*key) {
            return known.clone();
        }
        let trie = Arc::new(TokenTrie::of_words(words));
        let bytes = trie.memory_bytes() + size_of_val(&*key) + 48;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.rests.insert(key.into(), trie.clone());
        trie
    }

    fn finish(&self, program: &Program, filling: Filling<'_>, (island, pops): (u32, bool)) -> Node {
        self.visited.fetch_add(filling.visited as u64, Ordering::Relaxed);
        let rows = &self.shared.fixed.rows;
        let mask = filling.mask.finish(rows, program.vocabulary.model_len());
        let mut exits = filling.exits;
        exits.retain(|exit| !mask.contains(exit.1.as_u32()));
        let exits = (!exits.is_empty()).then(|| self.rests(exits));
        Node::new(program, (mask, exits), (island, pops))
    }
}
