//! Making the mask of a position: of a thread of whose frame nothing is known.
//!
//! # How
//! The thread is spread over its calls. Those of the resulting threads that stand in an island that
//! calls nothing take the tokens that stay inside from what the vocabulary knows of it, and walk only
//! what is left of the others; those that stand in free text take the row of a class of tokens and
//! walk the rest; all others walk the vocabulary's trie together. Wherever the unknown frame could be
//! left, the rest of the token is set aside: an *exit*.

use crate::{
    fixed::{Base, FixedIslands, Position, Word, words_below},
    frames::{Frames, UNKNOWN},
    mask::MaskBuilder,
    program::Program,
    texts::{TEXT, Texts},
    walker::{Checkpoint, Level, Moves, Thread, Walker},
};
use formwork_automata::ByteSet;
use formwork_core::StepError;
use formwork_mask::words_for;
use formwork_vocab::{NodeId, TokenTrie, WalkScratch};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is the vocabulary's, and which of its classes are in the grammar.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) fixed: Arc<FixedIslands>,
    pub(crate) texts: Texts,
}

/// A mask under construction.
pub(crate) struct Filling<'p> {
    program: &'p Program,
    shared: &'p Shared,
    walker: Walker<'p>,
    pub(crate) mask: MaskBuilder,
    pub(crate) exits: Vec<Word<'p>>,
    /// Bytes that exits may begin with.
    follow: ByteSet,
    pub(crate) visited: usize,
}

/// A trie and how to begin with it.
struct Ground<'t> {
    trie: &'t TokenTrie,
    moves: Moves,
    /// Whether the unknown frame can be left before the first byte.
    is_open: bool,
}

/// A node of a trie whose children are being read.
struct Visit {
    node: NodeId,
    level: Level,
    checkpoint: Checkpoint,
    bytes: ByteSet,
    moves: Moves,
}

impl<'p> Filling<'p> {
    /// `island` is the one on top of the unknown frame.
    pub(crate) fn new(
        program: &'p Program,
        frames: &'p Frames,
        shared: &'p Shared,
        (island, limit): (u32, u64),
    ) -> Self {
        Self {
            program,
            shared,
            walker: Walker::new(program, frames, limit),
            mask: MaskBuilder::default(),
            exits: Vec::new(),
            follow: program.follow[island as usize],
            visited: 0,
        }
    }

    /// Adds what some threads take.
    pub(crate) fn threads(&mut self, threads: &[Thread]) -> Result<(), StepError> {
        let level = self.walker.level(threads);
        self.symbols(level)?;
        let mut rest = Vec::new();
        for &thread in threads {
            let closure = self.walker.closure(thread)?;
            rest.extend_from_slice(self.walker.threads(closure));
        }
        let mut kept = Vec::with_capacity(rest.len());
        for thread in rest {
            let state = self.program.state(thread.state);
            if self.program.is_fixed(state.island) {
                self.in_fixed(thread)?;
            } else if state.out.len() >= TEXT {
                self.in_text(thread)?;
            } else {
                kept.push(thread);
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        let level = self.walker.level(&kept);
        let trie = self.program.vocabulary.trie();
        let (moves, is_open) = (Moves::Direct, false);
        self.walk(&Ground { trie, moves, is_open }, level)
    }

    /// Adds what some threads take, their frames as they are, with a walk over the whole trie.
    pub(crate) fn live(&mut self, threads: &[Thread]) -> Result<(), StepError> {
        let level = self.walker.level(threads);
        self.symbols(level)?;
        let trie = &self.program.vocabulary.trie();
        self.walk(&Ground { trie, moves: Moves::All, is_open: false }, level)
    }

    /// Adds the tokens that a level takes as symbols.
    fn symbols(&mut self, level: Level) -> Result<(), StepError> {
        if !self.program.alphabet.is_empty() {
            for (atom, _) in self.walker.atoms(level)? {
                let tokens = self.program.alphabet.tokens(atom);
                self.mask.ids.extend(tokens.iter().map(|token| token.as_u32()));
            }
        }
        Ok(())
    }

    /// Adds what a state of which nothing is known below takes of the rests of tokens.
    pub(crate) fn rests(&mut self, trie: &TokenTrie, state: u32) -> Result<(), StepError> {
        let level = self.walker.level(&[Thread { state, count: 0, frame: UNKNOWN }]);
        let is_open = self.walker.is_open(level);
        self.walk(&Ground { trie, moves: Moves::All, is_open }, level)
    }

    /// Bytes that can be read once a frame is left, whatever is below.
    fn behind(&self, frame: u32) -> ByteSet {
        let top = self.walker.top(frame);
        if top.is_open { top.first.union(&self.follow) } else { top.first }
    }

    /// Adds what a thread takes that is in an island which calls nothing.
    fn in_fixed(&mut self, thread: Thread) -> Result<(), StepError> {
        let base = self.base(thread, self.behind(thread.frame));
        self.mask.mask(&base.mask);
        if let Some(trie) = &base.exits {
            let is_open = self.walker.top(thread.frame).is_open;
            let checkpoint = self.walker.checkpoint();
            let level = self.walker.behind(thread.frame)?;
            self.walk(&Ground { trie, moves: Moves::All, is_open }, level)?;
            self.walker.back_to(checkpoint);
        }
        Ok(())
    }

    /// What the vocabulary knows of a thread in an island that calls nothing.
    pub(crate) fn base(&mut self, thread: Thread, follow: ByteSet) -> Arc<Base> {
        let program = self.program;
        let state = program.state(thread.state);
        let island = program.fixed[state.island as usize].as_ref().expect("it calls nothing");
        let position = Position { state: state.local.0, window: program.window(thread), follow };
        let (base, visited) = island.base(&self.shared.fixed, &program.vocabulary, position);
        self.visited += visited;
        base
    }

    /// Adds what a thread in free text takes: the tokens that its automaton reads to their ends, then
    /// those that go another way.
    fn in_text(&mut self, thread: Thread) -> Result<(), StepError> {
        let program = self.program;
        let vocabulary = &program.vocabulary;
        let state = program.state(thread.state);
        let dfa = &program.island(thread.state).dfa;
        let base = thread.state - state.local.0.as_u32();
        let behind = self.behind(thread.frame);
        let slices = self.shared.fixed.slices.clone();
        let row = self.shared.texts.row(program, &slices, thread.state);
        let mut own = MaskBuilder::default();
        let mut branches: FxHashMap<u32, Vec<Word<'_>>> = FxHashMap::default();
        let step = |state, byte| {
            let next = dfa.next(state, byte);
            (!next.is_dead()).then_some(next)
        };
        let mut visit = |trie: &TokenTrie, node: NodeId, local: formwork_automata::StateId| {
            own.ids.extend(trie.tokens(node).iter().map(|token| token.as_u32()));
            let global = base + local.as_u32();
            let state = program.state(global);
            if state.indirect.is_empty() && !state.ends {
                return;
            }
            for (byte, child) in trie.children(node) {
                if state.indirect.contains(byte) || state.ends && behind.contains(byte) {
                    let words = branches.entry(global).or_default();
                    words_below(vocabulary, trie, (node, child), |word| words.push(word));
                }
            }
        };
        let mut scratch = WalkScratch::default();
        let trie = vocabulary.trie();
        self.visited += match row {
            Some(row) => {
                row.slice().walk_other_nodes(trie, state.local.0, &mut scratch, step, visit)
            }
            None => {
                let visit = |node, local| visit(trie, node, local);
                trie.walk_nodes_from(NodeId::ROOT, state.local.0, &mut scratch, step, visit).nodes
            }
        };
        if let Some(row) = row {
            let mut words = vec![0; words_for(vocabulary.model_len())];
            row.write(&mut words);
            own.row(self.shared.fixed.rows.intern(&words));
        }
        let mut branches: Vec<(u32, Vec<Word<'_>>)> = branches.into_iter().collect();
        branches.sort_unstable_by_key(|branch| branch.0);
        self.beside(thread, own, branches)
    }

    /// Adds the tokens that an automaton reads to their ends, and of others what is left where they
    /// go another way, by the state that they are in there.
    fn beside(
        &mut self,
        thread: Thread,
        mut own: MaskBuilder,
        branches: Vec<(u32, Vec<Word<'_>>)>,
    ) -> Result<(), StepError> {
        let words = words_for(self.program.vocabulary.model_len());
        let bits = if branches.is_empty() { Vec::new() } else { own.bits(words) };
        self.mask.ids.append(&mut own.ids);
        if let Some(base) = own.into_base() {
            self.mask.mask(&base);
        }
        for (state, mut words) in branches {
            words.retain(|word| bits[word.1.index() / 32] >> (word.1.index() % 32) & 1 == 0);
            let trie = TokenTrie::of_words(words);
            let checkpoint = self.walker.checkpoint();
            let level = self.walker.level(&[Thread { state, ..thread }]);
            let is_open = self.walker.is_open(level);
            let ground = Ground { trie: &trie, moves: Moves::Indirect, is_open };
            self.walk(&ground, level)?;
            self.walker.back_to(checkpoint);
        }
        Ok(())
    }

    /// Adds the tokens of a trie that a level takes.
    fn walk(&mut self, ground: &Ground<'_>, level: Level) -> Result<(), StepError> {
        let trie = ground.trie;
        if ground.is_open {
            self.leave(ground, NodeId::ROOT);
        }
        let checkpoint = self.walker.checkpoint();
        let mut visits = vec![self.visit(ground.trie, NodeId::ROOT, level, ground.moves)];
        while let Some(visit) = visits.last_mut() {
            let Some(byte) = visit.bytes.first() else {
                let checkpoint = visit.checkpoint;
                visits.pop();
                self.walker.back_to(checkpoint);
                continue;
            };
            visit.bytes = visit.bytes.difference(&ByteSet::single(byte));
            let (node, level, moves) = (visit.node, visit.level, visit.moves);
            let Some(child) = trie.child(node, byte) else { continue };
            self.visited += 1;
            let checkpoint = self.walker.checkpoint();
            let after = self.walker.read(level, byte, moves)?;
            if after.is_empty() {
                self.walker.back_to(checkpoint);
                continue;
            }
            self.mask.ids.extend(trie.tokens(child).iter().map(|token| token.as_u32()));
            if trie.child_count(child) == 0 {
                self.walker.back_to(checkpoint);
                continue;
            }
            if self.walker.is_open(after) {
                self.leave(ground, child);
            }
            let visit = self.visit(trie, child, after, Moves::All);
            visits.push(Visit { checkpoint, ..visit });
        }
        self.walker.back_to(checkpoint);
        Ok(())
    }

    fn visit(&self, trie: &TokenTrie, node: NodeId, level: Level, moves: Moves) -> Visit {
        let mut bytes = self.walker.bytes(level, moves);
        if bytes.len() > trie.child_count(node) {
            let children = trie.children(node).map(|child| child.0);
            bytes = children.filter(|&byte| bytes.contains(byte)).collect();
        }
        Visit { node, level, checkpoint: self.walker.checkpoint(), bytes, moves }
    }

    /// Sets aside what is left of tokens at a node.
    fn leave(&mut self, ground: &Ground<'_>, node: NodeId) {
        for (byte, child) in ground.trie.children(node) {
            if self.follow.contains(byte) {
                let exits = &mut self.exits;
                let vocabulary = &self.program.vocabulary;
                words_below(vocabulary, ground.trie, (node, child), |word| exits.push(word));
            }
        }
    }
}
