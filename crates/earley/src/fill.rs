//! Making a mask.
//!
//! # How
//! Threads do not see each other, so a mask is the union of the masks of its threads. A thread in a
//! fixed island takes the tokens that stay inside from the island's walk, and walks only what is
//! left of those that leave it. The others walk the trie together, in depth-first order; where they
//! enter a fixed island with many tokens below, the island's walk from there is taken again.

use crate::{
    fixed::FixedIsland,
    mask::{Mask, MaskBuilder},
    place::{FrameRef, Thread},
    program::Island,
    symbols::Symbols,
    tables::{Activation, Tables},
    unordered::OFF,
    walker::{Checkpoint, Level, Turn, Walker},
    walks::{At, Counted, End, Inside, Walk},
};
use formwork_automata::ByteSet;
use formwork_core::{StepError, TokenId};
use formwork_vocab::{NodeId, TokenTrie};
use std::sync::{Arc, atomic::Ordering};

/// Nodes with at least so many tokens below ask fixed islands for their walks.
const MANY: usize = 64;

/// So often the rest of a token is looked up in a trie of its own, rather than read byte by byte.
const MAX_DEPTH: usize = 16;

/// So many runs are looked up one by one.
const MAX_APART: usize = 8;

/// A mask under construction.
struct Filling<'t> {
    tables: &'t Tables,
    walker: Walker<'t>,
    mask: MaskBuilder,
    /// Tokens that a walk could not decide.
    uncertain: Vec<TokenId>,
    visited: usize,
    /// How many tries of exits are being walked, one within the other.
    depth: usize,
}

/// A node of a trie whose children are being read.
struct Visit {
    node: NodeId,
    level: Level,
    checkpoint: Checkpoint,
    /// The bytes still to be read.
    bytes: ByteSet,
}

/// How often the words of a run may still be taken.
#[derive(Clone, Copy)]
struct Turns {
    done: usize,
    min: usize,
    max: usize,
}

/// The mask of a configuration.
pub(crate) fn mask(tables: &Tables, threads: &[Thread]) -> Result<Mask, StepError> {
    let walker = Walker::new(tables);
    let mut filling = Filling {
        tables,
        walker,
        mask: MaskBuilder::default(),
        uncertain: Vec::new(),
        visited: 0,
        depth: 0,
    };
    let trie = tables.program.vocabulary.trie();
    let level = filling.walker.level_of(threads, false);
    filling.tokens(level)?;
    filling.trie(0, trie, level)?;
    filling.read_uncertain(level)?;
    tables.work.nodes.fetch_add(filling.visited as u64, Ordering::Relaxed);
    tables.work.masks.fetch_add(1, Ordering::Relaxed);
    Ok(filling.mask.finish(tables.program.vocabulary.model_len()))
}

impl Filling<'_> {
    /// Adds the tokens of a trie that a level takes.
    fn trie(&mut self, number: u64, trie: &TokenTrie, level: Level) -> Result<(), StepError> {
        let mut visits = Vec::new();
        let root = At { number, trie, node: NodeId::ROOT };
        self.descend(root, level, &mut visits)?;
        while let Some(visit) = visits.last_mut() {
            let Some(byte) = visit.bytes.first() else {
                let checkpoint = visit.checkpoint;
                visits.pop();
                self.walker.back_to(checkpoint);
                continue;
            };
            visit.bytes = visit.bytes.difference(&ByteSet::single(byte));
            let (node, level) = (visit.node, visit.level);
            let Some(child) = trie.child(node, byte) else { continue };
            self.visited += 1;
            let checkpoint = self.walker.checkpoint();
            let after = self.walker.read(level, byte)?;
            if self.walker.take_uncertain() {
                self.uncertain.extend_from_slice(trie.tokens_below(child));
                self.walker.back_to(checkpoint);
                continue;
            }
            if after.first == after.end && !after.accepting {
                self.walker.back_to(checkpoint);
                continue;
            }
            self.mask.ids.extend(trie.tokens(child).iter().map(|token| token.as_u32()));
            match trie.child_count(child) {
                0 => self.walker.back_to(checkpoint),
                _ => {
                    let depth = visits.len();
                    let at = At { number, trie, node: child };
                    self.descend(at, after, &mut visits)?;
                    match visits.len() > depth {
                        true => visits[depth].checkpoint = checkpoint,
                        false => self.walker.back_to(checkpoint),
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the tokens that a level takes as symbols.
    fn tokens(&mut self, level: Level) -> Result<(), StepError> {
        let program = &self.tables.program;
        if !program.names_tokens() {
            return Ok(());
        }
        for set in self.walker.token_sets(level)? {
            let tokens = program.tokens(set);
            match &tokens.row {
                Some(row) => self.mask.row(row.clone(), Vec::new()),
                None => self.mask.ids.extend_from_slice(&tokens.ids),
            }
        }
        Ok(())
    }

    /// Reads the tokens that walks could not decide, each by itself.
    fn read_uncertain(&mut self, level: Level) -> Result<(), StepError> {
        let mut tokens = std::mem::take(&mut self.uncertain);
        tokens.sort_unstable();
        tokens.dedup();
        let vocabulary = &self.tables.program.vocabulary;
        for token in tokens {
            let checkpoint = self.walker.checkpoint();
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            let mut after = level;
            let mut read = 0;
            while read < bytes.len() && after.first < after.end {
                after = self.walker.read(after, bytes[read])?;
                read += 1;
            }
            if read == bytes.len() && (after.first < after.end || after.accepting) {
                self.mask.ids.push(token.as_u32());
            }
            self.walker.back_to(checkpoint);
        }
        Ok(())
    }

    /// Begins with the children of a node; nothing is left to do there when fixed islands know it.
    fn descend(
        &mut self,
        at: At<'_>,
        mut level: Level,
        visits: &mut Vec<Visit>,
    ) -> Result<(), StepError> {
        let At { trie, node, .. } = at;
        let checkpoint = self.walker.checkpoint();
        let is_known = at.is_remembered() && self.depth < MAX_DEPTH;
        if is_known && trie.tokens_below(node).len() >= MANY {
            let mut pending = self.walker.threads(level).to_vec();
            let mut rest = Vec::with_capacity(pending.len());
            while let Some(thread) = pending.pop() {
                if let Some(apart) = self.runs_apart(thread) {
                    pending.extend(apart);
                } else if !self.island(thread, at)? {
                    rest.push(thread);
                }
            }
            level = self.walker.level_of(&rest, false);
        }
        if level.first == level.end {
            self.walker.back_to(checkpoint);
            return Ok(());
        }
        let mut bytes = self.walker.bytes(level)?;
        if bytes.len() > trie.child_count(node) {
            bytes =
                trie.children(node).map(|child| child.0).filter(|&b| bytes.contains(b)).collect();
        }
        visits.push(Visit { node, level, checkpoint, bytes });
        Ok(())
    }

    /// Runs that began together, before a comma and before a bracket say, have a frame each: the
    /// threads of each.
    fn runs_apart(&self, thread: Thread) -> Option<Vec<Thread>> {
        let Island::Fixed(island) = self.tables.program.island(thread.place.island) else {
            return None;
        };
        match self.walker.activation(thread.frame) {
            Activation::Union(frames)
                if (island.is_symbol || island.symbols.is_some()) && frames.len() <= MAX_APART =>
            {
                Some(frames.iter().map(|&frame| Thread { frame, ..thread }).collect())
            }
            _ => None,
        }
    }

    /// Adds what a thread takes below a node, if it stands in a fixed island and that is known.
    fn island(&mut self, thread: Thread, at: At<'_>) -> Result<bool, StepError> {
        let tables = self.tables;
        let program = &tables.program;
        let (island, key) = match program.island(thread.place.island) {
            Island::Body(_) => return Ok(false),
            Island::Fixed(island) => (island, None),
            // A key that may still become one of those written is read byte by byte.
            Island::Key(island) => match self.walker.key_of(thread.frame) {
                Some(key) if key.node == OFF => (island, Some(key)),
                _ => return Ok(false),
            },
        };
        let walks = program.walks();
        let state = island.state(thread.place.state);
        let checkpoint = self.walker.checkpoint();
        let thread = match key {
            Some(key) => Thread { frame: self.walker.unknown_key(&key), ..thread },
            None => thread,
        };
        let mut removed = Vec::new();
        let (own, walk, turns, exit) = match (self.turns(thread, island), &island.difference) {
            (Some((turns, exit)), _) if island.symbols.is_some() => {
                (island, island.walk(&walks, state, at), Some(turns), exit)
            }
            (Some((turns, exit)), _) => (island, island.run(&walks, at), Some(turns), exit),
            // After a single symbol nearly every token goes on: nothing is known of those.
            (None, _) if island.is_symbol || island.symbols.is_some() => return Ok(false),
            (None, None) => (island, island.walk(&walks, state, at), None, thread.frame),
            (None, Some(difference)) => {
                let visited;
                (removed, visited) = difference.removed(island, state, at);
                self.visited += visited;
                let base = &difference.base;
                let walk = base.walk(&walks, difference.state(state), at);
                (base, walk, None, thread.frame)
            }
        };
        let next = self.walker.leave(exit)?;
        let bytes = self.walker.bytes(next)?;
        let is_uncertain = self.walker.take_uncertain();
        if is_uncertain || !bytes.intersection(&walk.ambiguous).is_empty() {
            self.walker.back_to(checkpoint);
            return Ok(false);
        }
        self.visited += walk.take_nodes();
        let first = self.mask.ids.len();
        match &walk.inside {
            Inside::List(list) => self.mask.ids.extend_from_slice(list),
            Inside::Row(row) => self.mask.row(row.clone(), removed.clone()),
            Inside::Counted(counted) => match (turns, &island.symbols) {
                (Some(turns), Some(symbols)) if !turns.is_above(symbols) => {
                    let fits = |end: &End| turns.fits(symbols, end);
                    let ends = walk.ends(island, state, at);
                    let ids = ends.iter().filter(|end| fits(end)).map(|end| end.token);
                    self.mask.ids.extend(ids);
                    self.walker.spend(ends.len())?;
                }
                (Some(turns), Some(symbols)) => {
                    let outside = counted.outside.iter().filter(|end| turns.fits(symbols, end));
                    self.mask.ids.extend(outside.map(|end| end.token));
                    self.counted(counted, &walk, Some(turns), at);
                }
                _ => self.counted(counted, &walk, turns, at),
            },
        }
        if next.first < next.end {
            let from = (exit, turns.filter(|turns| !turns.is_free(walk.longest)));
            self.resume(own, &walk, (next, bytes), from)?;
        }
        if !removed.is_empty() {
            let mut kept = self.mask.ids.split_off(first);
            kept.retain(|id| removed.binary_search(id).is_err());
            self.mask.ids.append(&mut kept);
        }
        self.walker.back_to(checkpoint);
        Ok(true)
    }

    /// The turns of a thread at the begin of a word of a run, and what follows the run.
    fn turns(&self, thread: Thread, island: &FixedIsland) -> Option<(Turns, FrameRef)> {
        let program = &self.tables.program;
        let is_run = island.is_symbol && thread.place.state == island.dfa.start().as_u32();
        if !is_run && island.symbols.is_none() {
            return None;
        }
        let Turn { repetition, count, exit } = self.walker.turn_of(thread.frame)?;
        let shape = program.repetition(repetition);
        if shape.body != thread.place.island {
            return None;
        }
        let turns = Turns {
            done: count as usize,
            min: shape.min as usize,
            max: shape.max.map_or(usize::MAX, |max| max as usize),
        };
        Some((turns, exit))
    }

    fn counted(&mut self, counted: &Counted, walk: &Walk, turns: Option<Turns>, at: At<'_>) {
        let left = turns.map_or(usize::MAX, |turns| turns.max - turns.done);
        // Below the root, rows are kept for the whole alone; what is left of tokens is listed.
        let is_all = at.is_whole() && left >= walk.longest && counted.is_long();
        let as_row = at.is_root() || is_all;
        match as_row {
            true => self.mask.row(counted.row(left, walk.longest), Vec::new()),
            false => self.mask.ids.extend(counted.tokens(left)),
        }
    }

    /// Walks what is left of the tokens that leave an island.
    fn resume(
        &mut self,
        island: &FixedIsland,
        walk: &Walk,
        (next, bytes): (Level, ByteSet),
        (exit, turns): (FrameRef, Option<Turns>),
    ) -> Result<(), StepError> {
        let key = (walk.number, exit);
        let is_shared = turns.is_none() && !exit.is_scratch();
        if is_shared && let Some(known) = self.tables.resumed.get(&key) {
            self.mask.ids.extend_from_slice(&known);
            return Ok(());
        }
        let first = self.mask.ids.len();
        let mut sets = Vec::new();
        let walks = self.tables.program.walks();
        walk.exits_by(&walks, island, &bytes, |exits| sets.push(exits.clone()));
        for exits in sets {
            let from = self.mask.ids.len();
            self.depth += 1;
            self.trie(exits.number, &exits.trie, next)?;
            self.depth -= 1;
            if let Some(turns) = turns {
                let mut kept = from;
                for at in from..self.mask.ids.len() {
                    let id = self.mask.ids[at];
                    let done = turns.done + exits.count(TokenId::new(id));
                    if (turns.min..=turns.max).contains(&done) {
                        self.mask.ids[kept] = id;
                        kept += 1;
                    }
                }
                self.mask.ids.truncate(kept);
            }
        }
        if is_shared {
            let found: Arc<[u32]> = self.mask.ids[first..].into();
            self.tables.spend(found.len() * 4 + 96);
            self.tables.resumed.insert(key, found);
        }
        Ok(())
    }
}

impl Turns {
    /// Whether the lower bound is no matter any more: it is reached, or whatever can be read can be
    /// continued to where it is.
    fn is_above(self, symbols: &Symbols) -> bool {
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let max = (self.max < usize::MAX).then(|| narrow(self.max));
        self.done >= self.min || symbols.is_wide(narrow(self.min), max)
    }

    /// Whether the bounds can be kept after a token.
    fn fits(self, symbols: &Symbols, end: &End) -> bool {
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let done = self.done + usize::from(end.count);
        let min = narrow(self.min.saturating_sub(done));
        match self.max {
            usize::MAX => symbols.fits(end.state, min, None),
            max if max < done => false,
            max => symbols.fits(end.state, min, Some(narrow(max - done))),
        }
    }

    /// Whether no token of a walk comes near to a bound.
    fn is_free(self, longest: usize) -> bool {
        self.done >= self.min && self.max - self.done >= longest
    }
}
