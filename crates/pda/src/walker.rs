//! Reading: sets of threads, byte by byte, on frames that are a walk's own until they are committed.
//!
//! # Shape
//! A *thread* is a state, the turns done where the state is in a loop, and a frame. A *level* is the
//! set of threads after some bytes, at most one for each state and number of turns: a second one's
//! frame is united with the first's. Levels lie one after the other on a stack; so do the frames
//! pushed on the way, and a checkpoint takes both back.

use crate::{
    frames::{END, Frames, Link, OPEN, SCRATCH, Top, UNKNOWN},
    program::{Program, State, TAIL},
};
use formwork_automata::{ByteSet, Mark};
use formwork_core::StepError;
use smallvec::SmallVec;
use std::cell::Cell;

/// One way in which the output can be read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Thread {
    pub(crate) state: u32,
    /// Turns done, where the state is in a loop; else 0.
    pub(crate) count: u32,
    pub(crate) frame: u32,
}

/// The threads after some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) first: u32,
    pub(crate) end: u32,
}

impl Level {
    pub(crate) fn is_empty(self) -> bool {
        self.first == self.end
    }
}

/// Where a walk can go back to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpoint {
    threads: usize,
    frames: usize,
    links: usize,
}

#[derive(Clone, Copy, Debug)]
struct ScratchFrame {
    first_link: u32,
    end_link: u32,
    top: Top,
}

/// How the threads of a level move on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moves {
    All,
    /// By the automata that they stand in alone.
    Direct,
    /// In any other way.
    Indirect,
}

/// How a thread was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Level,
    Behind,
    Call,
}

/// What threads are looked for.
#[derive(Clone, Copy, Debug)]
enum Want {
    Byte(u8),
    Tokens,
    /// Whatever is reached without leaving a frame.
    Inside,
    Nothing,
}

impl Want {
    fn is_first(self, state: &State) -> bool {
        match self {
            Self::Byte(byte) => state.first.contains(byte),
            Self::Tokens => state.reads_tokens,
            Self::Inside => true,
            Self::Nothing => false,
        }
    }

    fn is_behind(self, top: &Top) -> bool {
        match self {
            Self::Byte(byte) => top.first.contains(byte),
            Self::Tokens => top.reads_tokens,
            Self::Inside | Self::Nothing => false,
        }
    }
}

/// Threads in motion.
#[derive(Debug)]
pub(crate) struct Walker<'p> {
    pub(crate) program: &'p Program,
    frames: &'p Frames,
    threads: Vec<Thread>,
    scratch: Vec<ScratchFrame>,
    links: Vec<Link>,
    reached: Vec<(Thread, Origin)>,
    calls: Vec<Thread>,
    left: Vec<Link>,
    /// Empty; what it was made of goes back when the walk is over.
    spare: Box<Spare>,
    work: u64,
    limit: u64,
}

/// Memory of a walk that is over, for the next one of the same thread.
#[derive(Debug, Default)]
struct Spare {
    threads: Vec<Thread>,
    scratch: Vec<ScratchFrame>,
    links: Vec<Link>,
    reached: Vec<(Thread, Origin)>,
    calls: Vec<Thread>,
    left: Vec<Link>,
}

thread_local! {
    static SPARE: Cell<Option<Box<Spare>>> = const { Cell::new(None) };
}

/// Entries up to which memory is kept.
const KEPT: usize = 1 << 16;

impl Drop for Walker<'_> {
    fn drop(&mut self) {
        let mut spare = std::mem::take(&mut self.spare);
        spare.threads = std::mem::take(&mut self.threads);
        spare.scratch = std::mem::take(&mut self.scratch);
        spare.links = std::mem::take(&mut self.links);
        spare.reached = std::mem::take(&mut self.reached);
        spare.calls = std::mem::take(&mut self.calls);
        spare.left = std::mem::take(&mut self.left);
        let entries = spare.threads.capacity() + spare.scratch.capacity() + spare.links.capacity();
        if entries <= KEPT {
            spare.threads.clear();
            spare.scratch.clear();
            spare.links.clear();
            // A thread that ends has no memory to keep any more.
            let _ = SPARE.try_with(|slot| slot.set(Some(spare)));
        }
    }
}

impl<'p> Walker<'p> {
    pub(crate) fn new(program: &'p Program, frames: &'p Frames, limit: u64) -> Self {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let mut spare = spare.unwrap_or_default();
        Self {
            program,
            frames,
            threads: std::mem::take(&mut spare.threads),
            scratch: std::mem::take(&mut spare.scratch),
            links: std::mem::take(&mut spare.links),
            reached: std::mem::take(&mut spare.reached),
            calls: std::mem::take(&mut spare.calls),
            left: std::mem::take(&mut spare.left),
            spare,
            work: 0,
            limit,
        }
    }

    /// A level of some threads.
    pub(crate) fn level(&mut self, threads: &[Thread]) -> Level {
        let first = self.threads.len();
        self.threads.extend_from_slice(threads);
        self.since(first)
    }

    fn since(&self, first: usize) -> Level {
        let narrow = |at: usize| u32::try_from(at).expect("work is limited");
        Level { first: narrow(first), end: narrow(self.threads.len()) }
    }

    pub(crate) fn threads(&self, level: Level) -> &[Thread] {
        &self.threads[level.first as usize..level.end as usize]
    }

    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let (threads, frames) = (self.threads.len(), self.scratch.len());
        Checkpoint { threads, frames, links: self.links.len() }
    }

    pub(crate) fn back_to(&mut self, checkpoint: Checkpoint) {
        self.threads.truncate(checkpoint.threads);
        self.scratch.truncate(checkpoint.frames);
        self.links.truncate(checkpoint.links);
    }

    pub(crate) fn spend(&mut self, work: usize) -> Result<(), StepError> {
        self.work += work as u64;
        match self.work > self.limit {
            true => Err(StepError::MaskSteps { limit: self.limit }),
            false => Ok(()),
        }
    }

    pub(crate) fn top(&self, frame: u32) -> Top {
        match frame & SCRATCH {
            0 => self.frames.frame(frame).top,
            _ => self.scratch[(frame & !SCRATCH) as usize].top,
        }
    }

    fn link_count(&self, frame: u32) -> usize {
        match frame & SCRATCH {
            0 => self.frames.frame(frame).links.len(),
            _ => {
                let frame = &self.scratch[(frame & !SCRATCH) as usize];
                (frame.end_link - frame.first_link) as usize
            }
        }
    }

    fn link(&self, frame: u32, at: usize) -> Link {
        match frame & SCRATCH {
            0 => self.frames.frame(frame).links[at],
            _ => {
                let frame = &self.scratch[(frame & !SCRATCH) as usize];
                self.links[frame.first_link as usize + at]
            }
        }
    }

    /// A frame of one link.
    fn push_frame(&mut self, link: Link) -> u32 {
        self.frame_of(&[link])
    }

    fn frame_of(&mut self, links: &[Link]) -> u32 {
        let mut top = Top::default();
        for &link in links {
            let below = self.top(link.below);
            top.add(self.program, link, &below);
        }
        let narrow = |at: usize| u32::try_from(at).expect("work is limited");
        let first_link = narrow(self.links.len());
        self.links.extend_from_slice(links);
        let end_link = narrow(self.links.len());
        self.scratch.push(ScratchFrame { first_link, end_link, top });
        narrow(self.scratch.len() - 1) | SCRATCH
    }

    /// A frame that is left like either of two.
    fn unite(&mut self, a: u32, b: u32) -> Result<u32, StepError> {
        let count = self.link_count(a) + self.link_count(b);
        self.spend(count)?;
        let mut links: SmallVec<[Link; 8]> = SmallVec::with_capacity(count);
        for frame in [a, b] {
            links.extend((0..self.link_count(frame)).map(|at| self.link(frame, at)));
        }
        links.sort_unstable();
        links.dedup();
        for frame in [a, b] {
            if links.len() == self.link_count(frame) {
                return Ok(frame);
            }
        }
        Ok(self.frame_of(&links))
    }

    /// The bytes that a level reads.
    pub(crate) fn bytes(&self, level: Level, moves: Moves) -> ByteSet {
        let mut bytes = ByteSet::EMPTY;
        for &thread in self.threads(level) {
            let state = self.program.state(thread.state);
            let direct = if self.program.can_read(thread) { state.out } else { ByteSet::EMPTY };
            bytes = bytes.union(&match moves {
                Moves::All => direct.union(&state.indirect),
                Moves::Direct => direct,
                Moves::Indirect => state.indirect,
            });
            if moves != Moves::Direct && self.program.can_end(thread) {
                bytes = bytes.union(&self.top(thread.frame).first);
            }
        }
        bytes
    }

    /// Whether the output may be complete.
    pub(crate) fn accepts(&self, level: Level) -> bool {
        let threads = self.threads(level).iter();
        threads
            .clone()
            .any(|&thread| self.program.can_end(thread) && self.top(thread.frame).accepts)
    }

    /// Whether a token can be read as a symbol.
    pub(crate) fn reads_tokens(&self, level: Level) -> bool {
        self.threads(level).iter().any(|&thread| {
            self.program.state(thread.state).reads_tokens
                || self.program.can_end(thread) && self.top(thread.frame).reads_tokens
        })
    }

    /// Whether a level can end where nothing is known.
    pub(crate) fn is_open(&self, level: Level) -> bool {
        let threads = self.threads(level).iter();
        threads
            .clone()
            .any(|&thread| self.program.can_end(thread) && self.top(thread.frame).is_open)
    }

    /// Adds a thread to the level that is being made.
    fn add(&mut self, first: usize, thread: Thread) -> Result<(), StepError> {
        // An island that can only end is left at once, unless that is the end of all.
        if self.program.state(thread.state).only_ends
            && (thread.frame & SCRATCH != 0 || thread.frame > UNKNOWN)
        {
            let mut links: SmallVec<[Link; 4]> = SmallVec::new();
            links.extend((0..self.link_count(thread.frame)).map(|at| self.link(thread.frame, at)));
            let open = links.iter().any(|link| link.back == END || link.back == OPEN);
            if !open {
                for Link { back, below } in links {
                    self.add(first, Thread { state: back, count: 0, frame: below })?;
                }
                return Ok(());
            }
        }
        self.spend(1)?;
        for at in first..self.threads.len() {
            let known = self.threads[at];
            if (known.state, known.count) == (thread.state, thread.count) {
                if known.frame != thread.frame {
                    self.threads[at].frame = self.unite(known.frame, thread.frame)?;
                }
                return Ok(());
            }
        }
        self.spend((self.threads.len() - first) / 8)?;
        self.threads.push(thread);
        Ok(())
    }

    /// Everything that the threads of a level stand for and that is wanted: themselves, what they
    /// leave their frames for, and what all those call. A callee is entered once, on a frame of all
    /// its callers; callers come first, since no island begins with itself.
    fn spread(&mut self, level: Level, want: Want) -> Result<(), StepError> {
        self.reached.clear();
        self.left.clear();
        for at in level.first..level.end {
            self.reached.push((self.threads[at as usize], Origin::Level));
        }
        let mut at = 0;
        while at < self.reached.len() {
            let thread = self.reached[at].0;
            self.spend(1)?;
            if self.program.can_end(thread) && want.is_behind(&self.top(thread.frame)) {
                self.leave(thread.frame);
            }
            at += 1;
        }
        for at in 0..self.reached.len() {
            self.call(self.reached[at].0, want)?;
        }
        let order = |call: &Thread, program: &Program| program.state(call.state).order;
        while let Some(at) =
            (0..self.calls.len()).max_by_key(|&at| order(&self.calls[at], self.program))
        {
            let called = self.calls.swap_remove(at);
            self.spend(1)?;
            self.reached.push((called, Origin::Call));
            self.call(called, want)?;
        }
        Ok(())
    }

    /// Enters what a thread calls.
    fn call(&mut self, thread: Thread, want: Want) -> Result<(), StepError> {
        let program = self.program;
        for &call in &program.state(thread.state).calls {
            if !want.is_first(program.state(call.start)) {
                continue;
            }
            let frame = match call.back {
                TAIL => thread.frame,
                back => self.push_frame(Link { back, below: thread.frame }),
            };
            let known = self.calls.iter().position(|known| known.state == call.start);
            match known {
                Some(known) => {
                    self.calls[known].frame = self.unite(self.calls[known].frame, frame)?
                }
                None => self.calls.push(Thread { state: call.start, count: 0, frame }),
            }
        }
        Ok(())
    }

    /// The threads behind a frame are reached, each once.
    fn leave(&mut self, frame: u32) {
        for at in 0..self.link_count(frame) {
            let link = self.link(frame, at);
            if link.back != END && link.back != OPEN && !self.left.contains(&link) {
                self.left.push(link);
                let thread = Thread { state: link.back, count: 0, frame: link.below };
                self.reached.push((thread, Origin::Behind));
            }
        }
    }

    /// The level after a byte.
    pub(crate) fn read(
        &mut self,
        level: Level,
        byte: u8,
        moves: Moves,
    ) -> Result<Level, StepError> {
        let first = self.threads.len();
        let want = if moves == Moves::Direct { Want::Nothing } else { Want::Byte(byte) };
        self.spread(level, want)?;
        for at in 0..self.reached.len() {
            let (thread, origin) = self.reached[at];
            let moves = if origin == Origin::Level { moves } else { Moves::All };
            self.move_on(first, thread, byte, moves)?;
        }
        Ok(self.since(first))
    }

    fn move_on(
        &mut self,
        first: usize,
        thread: Thread,
        byte: u8,
        moves: Moves,
    ) -> Result<(), StepError> {
        let program = self.program;
        let state = program.state(thread.state);
        let Thread { count, frame, .. } = thread;
        if moves != Moves::Indirect
            && state.out.contains(byte)
            && self.program.can_read(thread)
            && let Some(next) = program.next(thread.state, byte)
        {
            let next = match program.turns(thread.state) {
                Some(_) => program.turned(Thread { state: next, count, frame }),
                None => Thread { state: next, count: 0, frame },
            };
            self.add(first, next)?;
        }
        if moves != Moves::Direct && state.indirect.contains(byte) {
            for &same in &state.same {
                if let Some(next) = program.next(same, byte) {
                    self.add(first, Thread { state: next, count: 0, frame })?;
                }
            }
        }
        Ok(())
    }

    /// The threads behind a frame, as a level.
    pub(crate) fn behind(&mut self, frame: u32) -> Result<Level, StepError> {
        let first = self.threads.len();
        for at in 0..self.link_count(frame) {
            let Link { back, below } = self.link(frame, at);
            if back != END && back != OPEN {
                self.add(first, Thread { state: back, count: 0, frame: below })?;
            }
        }
        Ok(self.since(first))
    }

    /// All threads that a thread stands for, calls made but no frame left; those that read bytes by
    /// their own automata.
    pub(crate) fn closure(&mut self, thread: Thread) -> Result<Level, StepError> {
        let level = self.level(&[thread]);
        self.spread(level, Want::Inside)?;
        let first = self.threads.len();
        for at in 0..self.reached.len() {
            let thread = self.reached[at].0;
            let state = self.program.state(thread.state);
            if !state.out.is_empty() && self.program.can_read(thread) {
                self.add(first, thread)?;
            }
            for &same in &state.same {
                if !self.program.state(same).out.is_empty() {
                    self.add(first, Thread { state: same, ..thread })?;
                }
            }
        }
        Ok(self.since(first))
    }

    /// The atoms that can be read from a level, and the threads after them.
    pub(crate) fn atoms(&mut self, level: Level) -> Result<Vec<(Mark, Thread)>, StepError> {
        self.spread(level, Want::Tokens)?;
        let mut atoms = Vec::new();
        for &(thread, _) in &self.reached {
            for &(mark, target) in &self.program.state(thread.state).symbols {
                atoms.push((mark, Thread { state: target, count: 0, frame: thread.frame }));
            }
        }
        Ok(atoms)
    }

    /// The level after a token that is read as a symbol.
    pub(crate) fn read_token(&mut self, level: Level, atom: Mark) -> Result<Level, StepError> {
        let atoms = self.atoms(level)?;
        let first = self.threads.len();
        for (_, thread) in atoms.into_iter().filter(|&(mark, _)| mark == atom) {
            self.add(first, thread)?;
        }
        Ok(self.since(first))
    }

    /// The level of the threads of two.
    pub(crate) fn either(&mut self, a: Level, b: Level) -> Result<Level, StepError> {
        let first = self.threads.len();
        for at in (a.first..a.end).chain(b.first..b.end) {
            let thread = self.threads[at as usize];
            self.add(first, thread)?;
        }
        Ok(self.since(first))
    }

    /// The threads of a level on frames that everybody sees, sorted.
    pub(crate) fn commit(&mut self, level: Level) -> SmallVec<[Thread; 2]> {
        let mut known: Vec<u32> = Vec::new();
        let mut committed: SmallVec<[Thread; 2]> = SmallVec::new();
        for at in level.first..level.end {
            let thread = self.threads[at as usize];
            let frame = match thread.frame & SCRATCH {
                0 => thread.frame,
                _ => self.commit_frame(thread.frame, &mut known),
            };
            committed.push(Thread { frame, ..thread });
        }
        committed.sort_unstable();
        committed
    }

    /// Frames refer to older ones only, so those up to a frame are committed in order, if needed.
    fn commit_frame(&self, frame: u32, known: &mut Vec<u32>) -> u32 {
        const NONE: u32 = u32::MAX;
        known.resize(self.scratch.len(), NONE);
        let mut pending = vec![frame & !SCRATCH];
        while let Some(&at) = pending.last() {
            if known[at as usize] != NONE {
                pending.pop();
                continue;
            }
            let ScratchFrame { first_link, end_link, top } = self.scratch[at as usize];
            let links = &self.links[first_link as usize..end_link as usize];
            let before = pending.len();
            for link in links {
                let below = link.below & !SCRATCH;
                if link.below & SCRATCH != 0 && known[below as usize] == NONE {
                    pending.push(below);
                }
            }
            if pending.len() > before {
                continue;
            }
            let mut links: SmallVec<[Link; 4]> = links.into();
            for link in &mut links {
                if link.below & SCRATCH != 0 {
                    link.below = known[(link.below & !SCRATCH) as usize];
                }
            }
            links.sort_unstable();
            links.dedup();
            known[at as usize] = self.frames.intern(&links, top);
            pending.pop();
        }
        known[(frame & !SCRATCH) as usize]
    }
}
