//! The automaton as a machine that a session runs.

use crate::{
    fill::{Filling, Shared},
    frames::{END, Frames, ROOT, UNKNOWN},
    nodes::Nodes,
    program::Program,
    walker::{Level, Moves, Thread, Walker},
};
use dashmap::DashMap;
use formwork_automata::{CancellationToken, Exhausted};
use formwork_core::{Machine, MaskDelta, RowId, StepError, StopSets, TableId, TokenId, Vocabulary};
use formwork_mask::words_for;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// Returns looked at below a position; deeper ones are read off the stack as it is.
const MAX_DEPTH: usize = 16;
/// What is called from more places has its masks by place made when they are met.
const MAX_RETURNS: usize = 64;
/// Trie nodes visited in advance, at about 10 ns each; what is left is made when it is met.
const MAX_ADVANCE: u64 = 1 << 26;
/// Masks that are united at a step.
const MAX_UNITED: usize = 32;
/// The bit of the row numbers of united masks.
const UNITED: u32 = 1 << 31;
/// The state of a place that is a set of threads.
const SET: u32 = u32::MAX;

/// What the matchers of a grammar share for as long as it lives.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) program: Program,
    pub(crate) nodes: Nodes,
    table: TableId,
    stop_sets: StopSets,
    united: DashMap<Box<[u32]>, u32, FxBuildHasher>,
    next_united: AtomicU32,
    limit: u64,
}

/// The stacks of one generation, over a core.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) core: Arc<Core>,
    pub(crate) frames: Frames,
}

/// Where an output is: a thread, or a set of threads.
pub(crate) type Place = Thread;

/// The nodes whose masks are the mask of a place.
type Leaves = SmallVec<[u32; 4]>;

impl Core {
    pub(crate) fn new(program: Program, shared: Shared, limit: u64) -> Self {
        Self {
            nodes: Nodes::new(&program, shared, limit),
            program,
            table: TableId::unique(),
            stop_sets: StopSets::default(),
            united: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8),
            next_united: AtomicU32::new(0),
            limit,
        }
    }

    /// Makes the nodes of all states, and those by one return where the states alone do not decide.
    /// Loops are made for their first turn. Grammars with thousands of states of free text, each
    /// with a row of its own, are not made to the end.
    ///
    /// # Errors
    /// A limit, or the cancellation.
    pub(crate) fn precompute(
        &self,
        cancellation: &CancellationToken,
    ) -> Result<(), PrecomputeError> {
        let frames = Frames::new();
        let program = &self.program;
        let count = u32::try_from(program.states.len()).expect("states are u32");
        (0..count).into_par_iter().try_for_each(|state| {
            let visited = self.nodes.visited.load(Ordering::Relaxed);
            if program.state(state).local.0.is_dead() || visited > MAX_ADVANCE {
                return Ok(());
            }
            if let Some(reason) = cancellation.reason() {
                return Err(PrecomputeError::Exhausted(reason));
            }
            let thread = Thread { state, count: 0, frame: UNKNOWN };
            let node = self.nodes.of(program, &frames, thread)?;
            let returns = &program.returns[program.state(state).island as usize];
            if !self.nodes.get(node).is_closed && returns.len() <= MAX_RETURNS {
                for &back in returns {
                    self.nodes.child(program, &frames, node, back)?;
                }
            }
            Ok(())
        })
    }

    /// How many tokens a state decides whatever is below it on the stack, on average over the states
    /// whose masks are made, as parts of a million of the tokens that the vocabulary has. `None`
    /// before any mask is made.
    pub(crate) fn decided(&self) -> Option<u64> {
        let program = &self.program;
        let tokens = program.vocabulary.trie().tokens_below(formwork_vocab::NodeId::ROOT).len();
        let (mut states, mut open) = (0_u64, 0_u64);
        for (_, known) in self.nodes.known() {
            states += 1;
            open += self.nodes.get(known).open_tokens() as u64;
        }
        let all = states * tokens as u64;
        (all > 0).then(|| (all - open) * 1_000_000 / all)
    }

    /// Heap bytes of what is known of islands that call nothing; other grammars may share it.
    pub(crate) fn shared_bytes(&self) -> usize {
        let islands = self.program.fixed.iter().flatten();
        let mut known: Vec<_> =
            islands.map(|island| (Arc::as_ptr(island).addr(), island.bytes())).collect();
        known.sort_unstable();
        known.dedup();
        known.into_iter().map(|island| island.1).sum()
    }
}

/// Why not all masks were made in advance.
#[derive(Debug)]
pub(crate) enum PrecomputeError {
    Step(StepError),
    Exhausted(Exhausted),
}

impl From<StepError> for PrecomputeError {
    fn from(error: StepError) -> Self {
        Self::Step(error)
    }
}

impl Tables {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, frames: Frames::new() }
    }

    /// Heap bytes held, those aside that are known of islands which other grammars may have too.
    pub(crate) fn own_bytes(&self) -> usize {
        let Core { program, nodes, .. } = &*self.core;
        program.memory_bytes() + nodes.bytes() + nodes.row_bytes() + self.frames.bytes()
    }

    fn walker(&self) -> Walker<'_> {
        Walker::new(&self.core.program, &self.frames, self.core.limit)
    }

    /// The threads of a place.
    fn threads(&self, place: Place) -> SmallVec<[Thread; 2]> {
        match place.state {
            SET => SmallVec::from_slice(self.frames.set(place.frame)),
            _ => SmallVec::from_slice(&[place]),
        }
    }

    /// The place of some threads.
    fn place(&self, walker: &mut Walker<'_>, level: Level) -> Place {
        let threads = walker.commit(level);
        match threads[..] {
            [thread] => thread,
            _ => Place { state: SET, count: 0, frame: self.frames.intern_set(&threads) },
        }
    }

    /// The mask of a place as the masks of nodes; `None` when the stack would have to be looked at
    /// too deep.
    fn leaves(&self, place: Place) -> Result<Option<Leaves>, StepError> {
        let mut leaves = Leaves::new();
        let is_known = match place.state {
            SET => {
                let mut is_known = true;
                for &thread in self.frames.set(place.frame) {
                    is_known &= self.leaves_of(thread, &mut leaves)?;
                }
                is_known
            }
            _ => self.leaves_of(place, &mut leaves)?,
        };
        if leaves.len() > 1 {
            leaves.sort_unstable();
            leaves.dedup();
        }
        Ok((is_known && leaves.len() <= MAX_UNITED).then_some(leaves))
    }

    fn leaves_of(&self, thread: Thread, leaves: &mut Leaves) -> Result<bool, StepError> {
        let Core { program, nodes, .. } = &*self.core;
        let mut node = nodes.of(program, &self.frames, thread)?;
        let mut frame = thread.frame;
        let mut depth = 0;
        // Most stacks are lists; where they are not, the others wait.
        let mut pending: SmallVec<[(u32, u32, usize); 4]> = SmallVec::new();
        loop {
            if nodes.get(node).is_closed {
                leaves.push(node);
            } else if depth >= MAX_DEPTH || pending.len() > MAX_UNITED {
                return Ok(false);
            } else {
                for &link in &self.frames.frame(frame).links {
                    match link.back {
                        END => leaves.push(node),
                        back => {
                            let child = nodes.child(program, &self.frames, node, back)?;
                            pending.push((child, link.below, depth + 1));
                        }
                    }
                }
            }
            let Some(next) = pending.pop() else { return Ok(true) };
            (node, frame, depth) = next;
        }
    }

    /// The mask of a place, with no regard to what is known of its positions.
    fn live(&self, place: Place) -> Result<crate::mask::Mask, StepError> {
        let Core { program, nodes, .. } = &*self.core;
        let mut filling = Filling::new(program, &self.frames, nodes.shared(), (0, self.core.limit));
        filling.live(&self.threads(place))?;
        Ok(filling.mask.finish(&nodes.shared().fixed.rows, program.vocabulary.model_len()))
    }

    fn number(&self, leaves: &Leaves) -> u32 {
        if let [leaf] = leaves[..] {
            return leaf;
        }
        if let Some(known) = self.core.united.get(&leaves[..]) {
            return *known;
        }
        let next = || self.core.next_united.fetch_add(1, Ordering::Relaxed) | UNITED;
        *self.core.united.entry(leaves[..].into()).or_insert_with(next)
    }

    /// The thread after as many bytes as it reads alone, in the automaton it stands in; and how many
    /// those are.
    fn run(&self, mut thread: Thread, bytes: &[u8]) -> (Thread, usize) {
        let program = &self.core.program;
        let top = &self.frames.frame(thread.frame).top;
        for (at, &byte) in bytes.iter().enumerate() {
            let state = program.state(thread.state);
            let is_alone = state.out.contains(byte)
                && !state.indirect.contains(byte)
                && !(top.first.contains(byte) && program.can_end(thread));
            if !is_alone || !program.can_read(thread) {
                return (thread, at);
            }
            let Some(next) = program.next(thread.state, byte) else { return (thread, at) };
            thread = program.turned(Thread { state: next, ..thread });
        }
        (thread, bytes.len())
    }

    /// The place after some bytes, or the offset of the first that cannot be read.
    fn read(&self, place: Place, bytes: &[u8]) -> Result<Result<Place, usize>, StepError> {
        let mut done = 0;
        let mut place = place;
        if place.state != SET {
            (place, done) = self.run(place, bytes);
            let only_ends = self.core.program.state(place.state).only_ends;
            if done == bytes.len() && (!only_ends || place.frame == ROOT) {
                return Ok(Ok(place));
            }
            if done == bytes.len()
                && let [link] = self.frames.frame(place.frame).links[..]
            {
                return Ok(Ok(Place { state: link.back, count: 0, frame: link.below }));
            }
        }
        let mut walker = self.walker();
        let mut level = walker.level(&self.threads(place));
        for (offset, &byte) in bytes.iter().enumerate().skip(done) {
            level = walker.read(level, byte, Moves::All)?;
            if level.is_empty() {
                return Ok(Err(offset));
            }
        }
        Ok(Ok(self.place(&mut walker, level)))
    }

    /// The place after a token that may be a symbol.
    fn read_token(&self, place: Place, token: TokenId) -> Result<Option<Place>, StepError> {
        let program = &self.core.program;
        let mut walker = self.walker();
        let level = walker.level(&self.threads(place));
        let empty = Level { end: level.first, ..level };
        let as_symbol = match program.alphabet.mark(token) {
            Some(mark) => walker.read_token(level, mark)?,
            None => empty,
        };
        let mut as_text = empty;
        if let Some(bytes) = program.vocabulary.bytes(token) {
            as_text = level;
            for &byte in bytes {
                as_text = walker.read(as_text, byte, Moves::All)?;
                if as_text.is_empty() {
                    break;
                }
            }
        }
        let after = match (as_text.is_empty(), as_symbol.is_empty()) {
            (true, true) => return Ok(None),
            (true, false) => as_symbol,
            (false, true) => as_text,
            (false, false) => walker.either(as_text, as_symbol)?,
        };
        Ok(Some(self.place(&mut walker, after)))
    }
}

impl Machine for Tables {
    type State = Place;

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.core.program.vocabulary
    }

    fn stop_sets(&self) -> &StopSets {
        &self.core.stop_sets
    }

    fn start(&self) -> Place {
        Place { state: self.core.program.start(0), count: 0, frame: ROOT }
    }

    fn step(&self, place: Place, token: TokenId) -> Option<Place> {
        self.try_step(place, token).ok().flatten()
    }

    fn try_step(&self, place: Place, token: TokenId) -> Result<Option<Place>, StepError> {
        let program = &self.core.program;
        if !program.vocabulary.is_emittable(token) {
            return Ok(None);
        }
        if !program.alphabet.is_empty() {
            return self.read_token(place, token);
        }
        match program.vocabulary.bytes(token) {
            Some(bytes) => Ok(self.read(place, bytes)?.ok()),
            None => Ok(None),
        }
    }

    fn prepare_row(&self, place: Place) -> Result<(), StepError> {
        if self.leaves(place)?.is_none() {
            self.live(place)?;
        }
        Ok(())
    }

    fn step_bytes(&self, place: Place, bytes: &[u8]) -> Result<Place, usize> {
        self.read(place, bytes).unwrap_or(Err(0))
    }

    fn is_accepting(&self, place: Place) -> bool {
        let accepts = |thread: Thread| {
            self.core.program.can_end(thread) && self.frames.frame(thread.frame).top.accepts
        };
        match place.state {
            SET => self.frames.set(place.frame).iter().any(|&thread| accepts(thread)),
            _ => accepts(place),
        }
    }

    fn may_continue(&self, place: Place) -> bool {
        let program = &self.core.program;
        let continues = |thread: Thread| {
            let state = program.state(thread.state);
            let top = &self.frames.frame(thread.frame).top;
            state.reads_tokens
                || !state.indirect.is_empty()
                || !state.out.is_empty() && program.can_read(thread)
                || program.can_end(thread) && (top.reads_tokens || !top.first.is_empty())
        };
        match place.state {
            SET => self.frames.set(place.frame).iter().any(|&thread| continues(thread)),
            _ => continues(place),
        }
    }

    fn row(&self, place: Place) -> RowId {
        match self.leaves(place) {
            Ok(Some(leaves)) => RowId::stored(self.core.table, self.number(&leaves)),
            _ => RowId::NONE,
        }
    }

    fn write_row(&self, place: Place, row: &mut [i32]) {
        let nodes = &self.core.nodes;
        match self.leaves(place) {
            Ok(Some(leaves)) => match leaves.split_first() {
                Some((&first, rest)) => {
                    nodes.get(first).mask.write(row);
                    rest.iter().for_each(|&leaf| nodes.get(leaf).mask.add_to(row));
                }
                None => row.fill(0),
            },
            // Whoever prepared the row knows that it could not be made.
            _ => match self.live(place) {
                Ok(mask) => mask.write(row),
                Err(_) => row.fill(0),
            },
        }
        debug_assert_eq!(row.len(), words_for(self.vocabulary().model_len()));
    }

    fn row_delta(&self, place: Place, delta: &mut MaskDelta) -> bool {
        match self.leaves(place) {
            Ok(Some(leaves)) => match leaves[..] {
                [leaf] => self.core.nodes.get(leaf).mask.write_delta(delta),
                _ => false,
            },
            _ => false,
        }
    }

    fn forced_bytes(&self, place: Place, limit: usize, bytes: &mut Vec<u8>) {
        let mut walker = self.walker();
        let mut level = walker.level(&self.threads(place));
        for _ in 0..limit {
            if walker.accepts(level) || walker.reads_tokens(level) {
                return;
            }
            let next = walker.bytes(level, Moves::All);
            let (Some(byte), 1) = (next.first(), next.len()) else { return };
            match walker.read(level, byte, Moves::All) {
                Ok(after) => level = after,
                Err(_) => return,
            }
            bytes.push(byte);
        }
    }

    fn memory_bytes(&self) -> usize {
        self.own_bytes() + self.core.shared_bytes()
    }
}
