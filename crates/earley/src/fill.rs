//! Making a mask.
//!
//! # How
//! Threads do not see each other, so a mask is the union of the masks of its threads. A thread in a
//! fixed island takes the tokens that stay inside from the island's walk, and walks only what is
//! left of those that leave it. The others walk the trie together, in depth-first order; where they
//! enter a fixed island with many tokens below, the island's walk from there is taken again.

use crate::{
    mask::{Mask, MaskBuilder},
    place::Thread,
    tables::Tables,
    walker::{Checkpoint, Level, Walker},
    walks::At,
};
use formwork_automata::ByteSet;
use formwork_core::{StepError, TokenId};
use formwork_vocab::{NodeId, TokenTrie};
use std::sync::atomic::Ordering;

/// Nodes with at least so many tokens below ask fixed islands for their walks.
const MANY: usize = 64;

/// So often the rest of a token is looked up in a trie of its own, rather than read byte by byte.
const MAX_DEPTH: usize = 16;

/// A mask under construction.
pub(crate) struct Filling<'t> {
    pub(crate) tables: &'t Tables,
    pub(crate) walker: Walker<'t>,
    pub(crate) mask: MaskBuilder,
    /// Tokens that a walk could not decide.
    pub(crate) uncertain: Vec<TokenId>,
    pub(crate) visited: usize,
    /// How many tries of exits are being walked, one within the other.
    pub(crate) depth: usize,
}

/// A node of a trie whose children are being read.
struct Visit {
    node: NodeId,
    level: Level,
    checkpoint: Checkpoint,
    /// The bytes still to be read.
    bytes: ByteSet,
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
    pub(crate) fn trie(
        &mut self,
        number: u64,
        trie: &TokenTrie,
        level: Level,
    ) -> Result<(), StepError> {
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
}
