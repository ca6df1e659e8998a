//! Reading bytes: threads, levels, and the frames that a walk opens.
//!
//! A walk works in scratch memory: the activations it opens are numbered apart ([`SCRATCH`]) and
//! dropped when it goes back. Only what an accepted token leads to is entered into the tables.
//!
//! # Invariant
//! A level has one thread a place, and one activation a place that opened frames: what would be a
//! second one has its frame added to the first one's. So a level is never longer than the grammar,
//! however ambiguous it is.

use crate::{
    closure::Reach,
    place::{Closure, END, FrameRef, FrameShape, FrameTemplate, Place, SCRATCH, Thread},
    program::{Island, constraint},
    symbols::Symbols,
    tables::{Activation, Tables},
};
use formwork_automata::ByteSet;
use formwork_core::StepError;
use std::cell::Cell;

/// Scratch memory, kept between walks so that they do not allocate.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    activations: Vec<Activation>,
    threads: Vec<Thread>,
    pub(crate) pending: Vec<Thread>,
    /// Frames to be left, and by which ends.
    pub(crate) leaving: Vec<(FrameRef, u32)>,
    opened: Vec<Opened>,
    left: Vec<(FrameRef, u32)>,
    /// Registers of items in the level in hand, with what leaves them, and their activations.
    pub(crate) items: Vec<(u32, FrameRef, u32)>,
}

/// A place whose closure the level in hand has.
#[derive(Clone, Copy, Debug)]
struct Opened {
    place: Place,
    own: FrameRef,
    /// The activation of its frames, if it has any.
    activation: Option<u32>,
}

impl Memory {
    /// Forgets everything: a walk that failed leaves things half done.
    fn clear(&mut self) {
        let Self { activations, threads, pending, leaving, opened, left, items } = self;
        activations.clear();
        threads.clear();
        pending.clear();
        leaving.clear();
        opened.clear();
        left.clear();
        items.clear();
    }
}

thread_local! {
    static MEMORY: Cell<Memory> = Cell::default();
}

/// Threads on the stack of a walk, and whether the output can end there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) accepting: bool,
}

/// A turn of a loop after `count` others; or, where symbols are counted, so many symbols.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) repetition: u32,
    pub(crate) count: u32,
    pub(crate) exit: FrameRef,
}

/// A place to come back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    threads: usize,
    activations: usize,
}

/// Reads bytes from configurations.
#[derive(Debug)]
pub(crate) struct Walker<'t> {
    pub(crate) tables: &'t Tables,
    pub(crate) memory: Memory,
    accepting: bool,
    /// Where the threads of the level in hand begin, and its activations.
    first: usize,
    first_activation: usize,
    pub(crate) steps: u64,
    /// Whether more could be read here if it were known which keys have been written.
    pub(crate) is_uncertain: bool,
}

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        let mut memory = std::mem::take(&mut self.memory);
        memory.clear();
        MEMORY.set(memory);
    }
}

impl<'t> Walker<'t> {
    pub(crate) fn new(tables: &'t Tables) -> Self {
        Self {
            tables,
            memory: MEMORY.take(),
            accepting: false,
            first: 0,
            first_activation: 0,
            steps: 0,
            is_uncertain: false,
        }
    }

    /// Counts steps.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), StepError> {
        self.steps += steps as u64;
        let limit = self.tables.program.limits.mask_steps;
        match self.steps {
            steps if steps > limit => Err(StepError::MaskSteps { limit }),
            _ => Ok(()),
        }
    }

    pub(crate) fn threads(&self, level: Level) -> &[Thread] {
        &self.memory.threads[level.first..level.end]
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let Memory { threads, activations, .. } = &self.memory;
        Checkpoint { threads: threads.len(), activations: activations.len() }
    }

    /// Drops what was opened since.
    pub(crate) fn back_to(&mut self, checkpoint: Checkpoint) {
        self.memory.threads.truncate(checkpoint.threads);
        self.memory.activations.truncate(checkpoint.activations);
    }

    /// The level of these threads, which are closed.
    pub(crate) fn level_of(&mut self, threads: &[Thread], accepting: bool) -> Level {
        let first = self.memory.threads.len();
        self.memory.threads.extend_from_slice(threads);
        Level { first, end: self.memory.threads.len(), accepting }
    }

    /// The level of a thread that is not closed.
    pub(crate) fn start(&mut self, thread: Thread) -> Result<Level, StepError> {
        self.begin();
        self.memory.pending.push(thread);
        self.close()?;
        Ok(self.end())
    }

    /// The level after leaving a frame.
    pub(crate) fn leave(&mut self, frame: FrameRef) -> Result<Level, StepError> {
        self.begin();
        self.memory.leaving.push((frame, END));
        self.close()?;
        Ok(self.end())
    }

    /// The level after a byte.
    pub(crate) fn read(&mut self, level: Level, byte: u8) -> Result<Level, StepError> {
        self.begin();
        self.spend(1 + level.end - level.first)?;
        for at in level.first..level.end {
            let thread = self.memory.threads[at];
            if let Some(place) = self.next(thread.place, byte)? {
                match self.tables.program.island(place.island) {
                    Island::Fixed(island) if let Some(symbols) = &island.symbols => {
                        self.count(thread, place, symbols)?;
                    }
                    Island::Key(island) => self.key(thread, place, (island, byte))?,
                    Island::Body(_) | Island::Fixed(_) => {
                        self.memory.pending.push(Thread { place, frame: thread.frame });
                    }
                }
                self.close()?;
            }
        }
        Ok(self.end())
    }

    /// The level after a token as a symbol.
    pub(crate) fn read_token(&mut self, level: Level, token: u32) -> Result<Level, StepError> {
        self.begin();
        let program = &self.tables.program;
        for at in level.first..level.end {
            let thread = self.memory.threads[at];
            let Island::Body(body) = program.island(thread.place.island) else { continue };
            let states = program.states(body)?;
            for edge in states.get(thread.place.state).token_edges() {
                self.spend(1)?;
                if program.tokens(edge.set).ids.binary_search(&token).is_ok() {
                    let place = Place { state: states.after_token(edge), ..thread.place };
                    self.memory.pending.push(Thread { place, frame: thread.frame });
                    self.close()?;
                }
            }
        }
        Ok(self.end())
    }

    /// The level of what can be read from either of two.
    pub(crate) fn either(&mut self, one: Level, other: Level) -> Level {
        self.begin();
        for level in [one, other] {
            for at in level.first..level.end {
                self.push(self.memory.threads[at]);
            }
            self.accepting |= level.accepting;
        }
        self.end()
    }

    /// The token sets that the threads of a level read.
    pub(crate) fn token_sets(&self, level: Level) -> Result<Vec<u32>, StepError> {
        let mut sets = Vec::new();
        for thread in self.threads(level) {
            if let Some(state) = self.tables.program.body_state(thread.place)? {
                sets.extend(state.token_edges().iter().map(|edge| edge.set));
            }
        }
        sets.sort_unstable();
        sets.dedup();
        Ok(sets)
    }

    /// The bytes that the threads of a level read; where symbols are counted, perhaps some more.
    pub(crate) fn bytes(&self, level: Level) -> Result<ByteSet, StepError> {
        let mut bytes = ByteSet::EMPTY;
        for thread in self.threads(level) {
            bytes = bytes.union(&self.tables.program.bytes_at(thread.place)?);
        }
        Ok(bytes)
    }

    /// The bytes that can be read.
    pub(crate) fn exact_bytes(&mut self, level: Level) -> Result<ByteSet, StepError> {
        let bytes = self.bytes(level)?;
        let program = &self.tables.program;
        let is_counted = |thread: &Thread| match program.island(thread.place.island) {
            Island::Fixed(island) => island.symbols.is_some(),
            Island::Key(_) => true,
            Island::Body(_) => false,
        };
        if bytes.len() < 2 || !self.threads(level).iter().any(is_counted) {
            return Ok(bytes);
        }
        let mut exact = ByteSet::EMPTY;
        for byte in bytes.iter() {
            let checkpoint = self.checkpoint();
            let after = self.read(level, byte)?;
            if after.first < after.end || after.accepting {
                exact = exact.union(&ByteSet::single(byte));
            }
            self.back_to(checkpoint);
        }
        Ok(exact)
    }

    pub(crate) fn activation(&self, frame: FrameRef) -> &Activation {
        match frame.is_scratch() {
            true => &self.memory.activations[(frame.activation & !SCRATCH) as usize],
            false => self.tables.activation_at(frame.activation),
        }
    }

    fn next(&self, place: Place, byte: u8) -> Result<Option<Place>, StepError> {
        let program = &self.tables.program;
        let state = match program.island(place.island) {
            Island::Fixed(island) | Island::Key(island) => {
                let next = island.dfa.next(island.state(place.state), byte);
                (!next.is_dead()).then(|| next.as_u32())
            }
            Island::Body(body) => {
                let states = program.states(body)?;
                states.next(states.get(place.state), byte)
            }
        };
        Ok(state.map(|state| Place { island: place.island, state }))
    }

    /// A thread after a byte where symbols are counted: one for each count, if the bounds still can
    /// be kept.
    fn count(
        &mut self,
        Thread { place, frame }: Thread,
        to: Place,
        symbols: &Symbols,
    ) -> Result<(), StepError> {
        let program = &self.tables.program;
        let Island::Fixed(island) = program.island(to.island) else {
            unreachable!("symbols are counted in automata")
        };
        let (from, state) = (island.state(place.state), island.state(to.state));
        let more = u32::from(symbols.counts(from, state));
        let mut frames = vec![frame];
        while let Some(frame) = frames.pop() {
            self.spend(1)?;
            if let Activation::Union(members) = self.activation(frame) {
                frames.extend_from_slice(members);
                continue;
            }
            let Some(turn) = self.turn_of(frame) else {
                unreachable!("such an island is called by a loop")
            };
            let shape = program.repetition(turn.repetition);
            let done = turn.count.saturating_add(more);
            // Without a bound above, symbols past the least are not told apart.
            let done = if shape.max.is_none() { done.min(shape.min) } else { done };
            let left = shape.max.map(|max| max.checked_sub(done));
            let Some(left) = left.map_or(Some(None), |left| left.map(Some)) else { continue };
            if !symbols.fits(state, shape.min.saturating_sub(done), left) {
                continue;
            }
            let frame = match done == turn.count {
                true => frame,
                false => {
                    let Turn { repetition, exit, .. } = turn;
                    let activation = Activation::Loop { repetition, count: done, exit };
                    FrameRef { activation: self.open(activation), index: 0 }
                }
            };
            self.memory.pending.push(Thread { place: to, frame });
        }
        Ok(())
    }

    /// The turn of a loop that a frame is, if it is one.
    pub(crate) fn turn_of(&self, frame: FrameRef) -> Option<Turn> {
        match *self.activation(frame) {
            Activation::Loop { repetition, count, exit } => Some(Turn { repetition, count, exit }),
            Activation::Call { origin, own } => {
                let closure = self.tables.program.closure_at(origin)?;
                match closure.frames[frame.index as usize] {
                    FrameShape::Loop { repetition, exit } => {
                        let exit = resolve(exit, own, frame.activation);
                        Some(Turn { repetition, count: 0, exit })
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn begin(&mut self) {
        self.first = self.memory.threads.len();
        self.first_activation = self.memory.activations.len();
        self.accepting = false;
        self.memory.opened.clear();
        self.memory.left.clear();
        self.memory.items.clear();
    }

    fn end(&self) -> Level {
        Level { first: self.first, end: self.memory.threads.len(), accepting: self.accepting }
    }

    fn push(&mut self, thread: Thread) {
        let level = &self.memory.threads[self.first..];
        match level.iter().position(|known| known.place == thread.place) {
            None => self.memory.threads.push(thread),
            Some(at) => {
                let at = self.first + at;
                let known = self.memory.threads[at].frame;
                self.memory.threads[at].frame = self.union(known, thread.frame);
            }
        }
    }

    /// Whether a frame is another one, or a union with it that this level made.
    fn holds(&self, known: FrameRef, frame: FrameRef) -> bool {
        let number = (known.activation & !SCRATCH) as usize;
        let is_own = known.is_scratch() && number >= self.first_activation;
        known == frame
            || is_own
                && match &self.memory.activations[number] {
                    Activation::Union(members) => members.contains(&frame),
                    _ => false,
                }
    }

    /// A frame that is either of two. A union of this level is added to: nothing else holds it but
    /// threads that want the same.
    fn union(&mut self, known: FrameRef, frame: FrameRef) -> FrameRef {
        if known == frame {
            return known;
        }
        let number = (known.activation & !SCRATCH) as usize;
        if known.is_scratch()
            && number >= self.first_activation
            && let Activation::Union(members) = &mut self.memory.activations[number]
        {
            if !members.contains(&frame) {
                members.push(frame);
            }
            return known;
        }
        let activation = self.open(Activation::Union(vec![known, frame]));
        FrameRef { activation, index: 0 }
    }

    pub(crate) fn open(&mut self, activation: Activation) -> u32 {
        let number = u32::try_from(self.memory.activations.len()).expect("bounded by steps");
        self.memory.activations.push(activation);
        number | SCRATCH
    }

    /// Closes the pending threads and frames.
    fn close(&mut self) -> Result<(), StepError> {
        loop {
            if let Some(thread) = self.memory.pending.pop() {
                self.reach(thread)?;
            } else if let Some((frame, end)) = self.memory.leaving.pop() {
                self.leave_frame(frame, end)?;
            } else {
                return Ok(());
            }
        }
    }

    fn reach(&mut self, thread: Thread) -> Result<(), StepError> {
        let tables = self.tables;
        match tables.program.reach(thread.place)? {
            Reach::Plain { reads, leaves } => {
                if reads {
                    self.push(thread);
                }
                self.memory.leaving.extend(leaves.iter().map(|&end| (thread.frame, end)));
            }
            Reach::Full(closure) => {
                if self.enter(thread, closure)? {
                    let ends = closure.leaves.iter().map(|&end| (thread.frame, end));
                    self.memory.leaving.extend(ends);
                }
            }
        }
        Ok(())
    }

    /// The threads of a closure, on top of a frame. Says whether that is anything new.
    fn enter(&mut self, thread: Thread, closure: &Closure) -> Result<bool, StepError> {
        self.spend(closure.threads.len())?;
        let Thread { place, frame: own } = thread;
        if let Some(at) = self.memory.opened.iter().position(|opened| opened.place == place) {
            return Ok(self.enter_again(at, own, closure));
        }
        let activation = match closure.frames.is_empty() {
            true => None,
            false => Some(self.open(Activation::Call { origin: place, own })),
        };
        self.memory.opened.push(Opened { place, own, activation });
        for &(place, frame) in &closure.threads {
            let frame = resolve(frame, own, activation.unwrap_or_default());
            self.push(Thread { place, frame });
        }
        Ok(true)
    }

    /// The same on top of one more frame.
    fn enter_again(&mut self, at: usize, own: FrameRef, closure: &Closure) -> bool {
        let opened = self.memory.opened[at];
        if self.holds(opened.own, own) {
            return false;
        }
        let both = self.union(opened.own, own);
        self.memory.opened[at].own = both;
        if let Some(activation) = opened.activation {
            let activation = &mut self.memory.activations[(activation & !SCRATCH) as usize];
            *activation = Activation::Call { origin: opened.place, own: both };
        }
        for &(place, frame) in &closure.threads {
            if frame == FrameTemplate::Own {
                self.push(Thread { place, frame: own });
            }
        }
        true
    }

    fn leave_frame(&mut self, frame: FrameRef, end: u32) -> Result<(), StepError> {
        self.spend(1)?;
        if self.memory.left.contains(&(frame, end)) {
            return Ok(());
        }
        self.memory.left.push((frame, end));
        let tables = self.tables;
        match *self.activation(frame) {
            Activation::Root => self.accepting = true,
            Activation::Union(ref frames) => {
                let frames = frames.clone();
                self.memory.leaving.extend(frames.into_iter().map(|frame| (frame, end)));
            }
            Activation::Loop { repetition, count, exit } => {
                self.turn(frame, Turn { repetition, count, exit })?;
            }
            Activation::Items { .. } | Activation::Key { .. } => self.leave_items(frame, end)?,
            Activation::Call { origin, own } => {
                let Reach::Full(closure) = tables.program.reach(origin)? else {
                    unreachable!("plain places open no frames")
                };
                match &closure.frames[frame.index as usize] {
                    FrameShape::Call { returns, tails } => {
                        let frames = tails.iter().map(|&t| resolve(t, own, frame.activation));
                        self.memory.leaving.extend(frames.map(|frame| (frame, END)));
                        let threads = returns.iter().map(|back| Thread {
                            place: back.place,
                            frame: resolve(back.frame, own, frame.activation),
                        });
                        self.memory.pending.extend(threads);
                    }
                    FrameShape::Loop { repetition, exit } => {
                        let exit = resolve(*exit, own, frame.activation);
                        self.turn(frame, Turn { repetition: *repetition, count: 0, exit })?;
                    }
                    FrameShape::Items { .. } | FrameShape::Key { .. } => {
                        self.leave_items(frame, end)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The end of a turn of a loop after `count` others: the loop ends, or goes on, or both.
    fn turn(&mut self, frame: FrameRef, turn: Turn) -> Result<(), StepError> {
        let Turn { repetition, count, exit } = turn;
        let tables = self.tables;
        let shape = tables.program.repetition(repetition);
        if tables.program.symbols(shape.body).is_some() {
            if count >= shape.min && shape.max.is_none_or(|max| count <= max) {
                self.memory.leaving.push((exit, END));
            }
            return Ok(());
        }
        let done = count.saturating_add(1);
        if done >= shape.min {
            self.memory.leaving.push((exit, END));
        }
        if shape.max.is_some_and(|max| done >= max) {
            return Ok(());
        }
        // Without a bound above, turns past the least are not told apart.
        let next = if shape.max.is_none() { done.min(shape.min) } else { done };
        let frame = match next == count {
            true => frame,
            false => {
                let activation = self.open(Activation::Loop { repetition, count: next, exit });
                FrameRef { activation, index: 0 }
            }
        };
        let thread = Thread { place: tables.program.start(shape.body), frame };
        let empty = match tables.program.reach(thread.place)? {
            Reach::Plain { reads, leaves } => {
                if reads {
                    self.push(thread);
                }
                !leaves.is_empty()
            }
            Reach::Full(closure) => {
                self.enter(thread, closure)?;
                !closure.leaves.is_empty()
            }
        };
        if empty {
            self.memory.leaving.push((exit, END));
        }
        Ok(())
    }

    /// Enters the threads of a level, and the frames they need, into the tables.
    ///
    /// # Errors
    /// The frames lead in a circle: see `empty`.
    pub(crate) fn commit(&mut self, level: Level) -> Result<u32, StepError> {
        let mut numbers: Vec<Option<u32>> = vec![None; self.memory.activations.len()];
        let mut pending: Vec<u32> = Vec::new();
        let roots = self.threads(level).iter().map(|thread| thread.frame);
        pending.extend(roots.filter(|frame| frame.is_scratch()).map(|frame| frame.activation));
        // An activation after those it names. One that is met again below itself is in a circle.
        let mut met = vec![false; self.memory.activations.len()];
        while let Some(&number) = pending.last() {
            let at = index_of(number);
            if numbers[at].is_some() {
                pending.pop();
                continue;
            }
            met[at] = true;
            let activation = &self.memory.activations[at];
            let before = pending.len();
            let mut is_circular = false;
            activation.for_each_frame(|frame| {
                if frame.is_scratch() && renamed(frame, &numbers).is_none() {
                    is_circular |= met[index_of(frame.activation)];
                    pending.push(frame.activation);
                }
            });
            if is_circular {
                return Err(constraint("unordered items that can be empty"));
            }
            if pending.len() == before {
                pending.pop();
                let rename = |frame| renamed(frame, &numbers).expect("entered before");
                let entered = activation.renamed(rename);
                numbers[at] = Some(self.tables.activation(entered));
            }
        }
        let mut threads: Vec<Thread> = self
            .threads(level)
            .iter()
            .map(|thread| {
                let frame = renamed(thread.frame, &numbers).expect("entered above");
                Thread { frame, ..*thread }
            })
            .collect();
        threads.sort_unstable();
        threads.dedup();
        Ok(self.tables.configuration(&threads, level.accepting))
    }
}

pub(crate) fn resolve(frame: FrameTemplate, own: FrameRef, activation: u32) -> FrameRef {
    match frame {
        FrameTemplate::Own => own,
        FrameTemplate::Local(index) => FrameRef { activation, index },
    }
}

/// The place of an activation in scratch memory.
fn index_of(activation: u32) -> usize {
    (activation & !SCRATCH) as usize
}

/// The frame in the tables, if its activation has been entered.
fn renamed(frame: FrameRef, numbers: &[Option<u32>]) -> Option<FrameRef> {
    match frame.is_scratch() {
        true => {
            let activation = numbers[index_of(frame.activation)]?;
            Some(FrameRef { activation, ..frame })
        }
        false => Some(frame),
    }
}
