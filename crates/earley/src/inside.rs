//! The masks of threads in fixed islands.
//!
//! A walk that was made once for the vocabulary says which tokens stay inside; what is left of those
//! that leave is walked by whatever the frame returns to, and that is remembered by frame. Where the
//! next byte could both stay and leave, tokens that stay are known all the same, and the others are
//! read one by one.

use crate::{
    fill::Filling,
    fixed::FixedIsland,
    place::{FrameRef, Thread},
    program::{Island, Program},
    symbols::Symbols,
    tables::Activation,
    unordered::OFF,
    walker::{Level, Turn},
    walks::{At, Counted, End, Inside, PRIVATE, Walk},
};
use formwork_automata::{ByteSet, StateId};
use formwork_core::{StepError, TokenId};
use std::sync::Arc;

/// So many runs are looked up one by one.
const MAX_APART: usize = 8;

/// So many tokens must stay inside for the others to be worth a trie.
const MANY_INSIDE: usize = 30_000;

/// What a thread in a fixed island follows.
struct Found {
    island: Arc<FixedIsland>,
    walk: Arc<Walk>,
    /// What is left when the island is.
    exit: FrameRef,
    turns: Option<Turns>,
    /// Tokens of the walk that are not meant, ascending.
    removed: Vec<u32>,
}

impl Found {
    /// Whether tokens that stay inside can be told apart from those that cannot.
    fn can_be_split(&self, at: At<'_>) -> bool {
        let inside = match &self.walk.inside {
            Inside::List(_) => 0,
            Inside::Row(_) => self.walk.tokens,
            Inside::Counted(counted) => counted.len(),
        };
        at.is_root() && self.island.symbols.is_none() && inside >= MANY_INSIDE
    }
}

/// How often the words of a run may still be taken.
#[derive(Clone, Copy)]
struct Turns {
    done: usize,
    min: usize,
    max: usize,
}

impl Filling<'_> {
    /// Runs that began together, before a comma and before a bracket say, have a frame each: the
    /// threads of each.
    pub(crate) fn runs_apart(&self, thread: Thread) -> Option<Vec<Thread>> {
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
    pub(crate) fn island(&mut self, thread: Thread, at: At<'_>) -> Result<bool, StepError> {
        let checkpoint = self.walker.checkpoint();
        let is_known = match self.inside(thread, at)? {
            Some(found) => self.add(thread, found, at)?,
            None => false,
        };
        self.walker.back_to(checkpoint);
        Ok(is_known)
    }

    /// The walk that a thread follows, if it stands in a fixed island.
    fn inside(&mut self, thread: Thread, at: At<'_>) -> Result<Option<Found>, StepError> {
        let program: &Program = &self.tables.program;
        let (island, key) = match program.island(thread.place.island) {
            Island::Body(_) => return Ok(None),
            Island::Fixed(island) => (island, None),
            // A key that may still become one of those written is read byte by byte.
            Island::Key(island) => match self.walker.key_of(thread.frame) {
                Some(key) if key.node == OFF => (island, Some(key)),
                _ => return Ok(None),
            },
        };
        let walks = program.walks();
        let state = island.state(thread.place.state);
        let found = |island: &Arc<FixedIsland>, walk, exit| Found {
            island: island.clone(),
            walk,
            exit,
            turns: None,
            removed: Vec::new(),
        };
        if let Some(key) = key {
            let exit = self.walker.unknown_key(&key);
            return Ok(Some(self.difference(island, state, at, exit)));
        }
        Ok(match self.turns(thread, island) {
            Some((turns, exit)) => {
                let walk = match island.symbols {
                    Some(_) => island.walk(&walks, state, at),
                    None => island.run(&walks, at),
                };
                Some(Found { turns: Some(turns), ..found(island, walk, exit) })
            }
            // After a single symbol nearly every token goes on: nothing is known of those.
            None if island.is_symbol || island.symbols.is_some() => None,
            None => Some(self.difference(island, state, at, thread.frame)),
        })
    }

    /// The walk of a state, from that of the island that this one is a difference from.
    fn difference(
        &mut self,
        island: &Arc<FixedIsland>,
        state: StateId,
        at: At<'_>,
        exit: FrameRef,
    ) -> Found {
        let walks = self.tables.program.walks();
        let Some(difference) = &island.difference else {
            let walk = island.walk(&walks, state, at);
            return Found { island: island.clone(), walk, exit, turns: None, removed: Vec::new() };
        };
        let (removed, visited) = difference.removed(island, state, at);
        self.visited += visited;
        let base = &difference.base;
        let walk = base.walk(&walks, difference.state(state), at);
        Found { island: base.clone(), walk, exit, turns: None, removed }
    }

    /// Adds the tokens of a walk, and those that leave it; unless these are not known.
    fn add(&mut self, thread: Thread, found: Found, at: At<'_>) -> Result<bool, StepError> {
        let Found { ref walk, exit, turns, ref removed, .. } = found;
        let next = self.walker.leave(exit)?;
        let bytes = self.walker.bytes(next)?;
        if self.walker.take_uncertain() {
            return Ok(false);
        }
        let is_ambiguous = !bytes.intersection(&walk.ambiguous).is_empty();
        if is_ambiguous && !found.can_be_split(at) {
            return Ok(false);
        }
        self.visited += walk.take_nodes();
        let first = self.mask.ids.len();
        self.add_inside(&found, thread, at)?;
        if is_ambiguous {
            self.add_others(thread, &found)?;
        } else if next.first < next.end {
            let from = (exit, turns.filter(|turns| !turns.is_free(walk.longest)));
            self.resume(&found.island, walk, (next, bytes), from)?;
        }
        if !removed.is_empty() {
            let mut kept = self.mask.ids.split_off(first);
            kept.retain(|id| removed.binary_search(id).is_err());
            self.mask.ids.append(&mut kept);
        }
        Ok(true)
    }

    /// Adds the tokens that stay inside.
    fn add_inside(&mut self, found: &Found, thread: Thread, at: At<'_>) -> Result<(), StepError> {
        let Found { island, walk, turns, removed, .. } = found;
        match &walk.inside {
            Inside::List(list) => self.mask.ids.extend_from_slice(list),
            Inside::Row(row) => self.mask.row(row.clone(), removed.clone()),
            Inside::Counted(counted) => match (*turns, &island.symbols) {
                (Some(turns), Some(symbols)) if !turns.is_above(symbols) => {
                    let fits = |end: &End| turns.fits(symbols, end);
                    let ends = walk.ends(island, island.state(thread.place.state), at);
                    let ids = ends.iter().filter(|end| fits(end)).map(|end| end.token);
                    self.mask.ids.extend(ids);
                    self.walker.spend(ends.len())?;
                }
                (Some(turns), Some(symbols)) => {
                    let outside = counted.outside.iter().filter(|end| turns.fits(symbols, end));
                    self.mask.ids.extend(outside.map(|end| end.token));
                    self.counted(counted, walk, Some(turns), at);
                }
                _ => self.counted(counted, walk, *turns, at),
            },
        }
        Ok(())
    }

    /// Adds tokens that leave an island by a byte that could also stay inside: of those that cannot
    /// stay inside to their end, the few that there are, read by this thread alone.
    fn add_others(&mut self, thread: Thread, found: &Found) -> Result<(), StepError> {
        let Found { walk, turns, removed, .. } = found;
        if let (Inside::Counted(counted), Some(turns)) = (&walk.inside, turns) {
            let left = turns.max - turns.done;
            self.uncertain.extend(counted.tokens_past(left).map(TokenId::new));
        }
        self.uncertain.extend(removed.iter().map(|&id| TokenId::new(id)));
        let others = walk.others(&self.tables.program.vocabulary);
        let level = self.walker.level_of(&[thread], false);
        self.trie(PRIVATE, &others, level)
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
