//! Closures: what can be read from a place before the next byte.
//!
//! # Construction
//! A closure is symbolic in the frame of its thread ([`FrameTemplate::Own`]), so it is computed once
//! per place. A callee that is called from several places at the same point of the output is entered
//! once, and its frame has all of them as returns; that is the merging of Earley's item sets
//! (Earley, 1970), and it makes left recursion a frame that returns into itself. A call that is the
//! last thing of its island has no frame of its own: it gets its caller's (Leo, 1991), so that
//! right recursion does not grow the stack.
//!
//! Cost: linear in the places reached, once per place.

use crate::{
    place::{Callee, Closure, END, FrameShape, FrameTemplate, Place, Return},
    program::{Island, Program, constraint},
    states::State,
};
use formwork_automata::ByteSet;
use formwork_core::StepError;
use rustc_hash::FxHashMap;

/// A closure, or what is known without one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach<'p> {
    /// The thread itself, if it can read a byte; and by which ends its frame can be left.
    Plain { reads: bool, leaves: &'p [u32] },
    /// More than that.
    Full(&'p Closure),
}

impl Program {
    /// What can be read from a place.
    pub(crate) fn reach(&self, place: Place) -> Result<Reach<'_>, StepError> {
        let body = match self.island(place.island) {
            Island::Fixed(island) | Island::Key(island) => {
                let state = island.state(place.state);
                let reads = !island.out(state).is_empty();
                let leaves: &[u32] = if island.dfa.is_accepting(state) { &[END] } else { &[] };
                return Ok(Reach::Plain { reads, leaves });
            }
            Island::Body(body) => body,
        };
        let states = self.states(body)?;
        let state = states.get(place.state);
        if state.calls.is_empty() {
            let reads = state.reads();
            return Ok(Reach::Plain { reads, leaves: &state.ends });
        }
        if let Some(closure) = state.closure.get() {
            return Ok(Reach::Full(closure));
        }
        let closure = Closing::new(self).close(place)?;
        Ok(Reach::Full(state.closure.get_or_init(|| closure)))
    }

    /// The closure of a place that opened frames.
    pub(crate) fn closure_at(&self, place: Place) -> Option<&Closure> {
        match self.reach(place) {
            Ok(Reach::Full(closure)) => Some(closure),
            _ => None,
        }
    }

    /// The first place of an island.
    pub(crate) fn start(&self, island: u32) -> Place {
        let state = match self.island(island) {
            Island::Fixed(island) | Island::Key(island) => island.dfa.start().as_u32(),
            Island::Body(_) => 0,
        };
        Place { island, state }
    }

    /// The bytes that can be read at a place, calls aside.
    pub(crate) fn bytes_at(&self, place: Place) -> Result<ByteSet, StepError> {
        Ok(match self.island(place.island) {
            Island::Fixed(island) | Island::Key(island) => *island.out(island.state(place.state)),
            Island::Body(body) => self.states(body)?.get(place.state).bytes,
        })
    }

    /// Whether a byte or a token can be read at a place, calls aside.
    fn reads(&self, place: Place) -> Result<bool, StepError> {
        Ok(match self.body_state(place)? {
            Some(state) => state.reads(),
            None => !self.bytes_at(place)?.is_empty(),
        })
    }

    /// The state of a body at a place.
    pub(crate) fn body_state(&self, place: Place) -> Result<Option<&State>, StepError> {
        match self.island(place.island) {
            Island::Fixed(_) | Island::Key(_) => Ok(None),
            Island::Body(body) => Ok(Some(self.states(body)?.get(place.state))),
        }
    }

    fn after_call(&self, place: Place, call: usize) -> Result<Place, StepError> {
        let Island::Body(body) = self.island(place.island) else {
            unreachable!("fixed islands call nothing")
        };
        let states = self.states(body)?;
        let state = states.after_call(&states.get(place.state).calls[call]);
        Ok(Place { island: place.island, state })
    }
}

/// A closure under construction.
struct Closing<'p> {
    program: &'p Program,
    threads: Vec<(Place, FrameTemplate)>,
    frames: Vec<Opened>,
    numbers: FxHashMap<Callee, u32>,
    pending: Vec<(Place, FrameTemplate)>,
    leaves: Vec<u32>,
    /// Whether an unordered item was found to be empty.
    has_empty_item: bool,
}

/// What a frame of the closure is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    /// The first turn of a loop; its exit is the frame before.
    Loop(u32),
    /// The first of some items; their exit is the frame before.
    Items(u32),
    /// The key of the first of some items; their exit is two frames before.
    Key(u32),
}

/// A frame of the closure.
struct Opened {
    returns: Vec<Return>,
    tails: Vec<FrameTemplate>,
    kind: Kind,
    /// Whether the callee has been found to end without a byte.
    left: bool,
}

impl<'p> Closing<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            threads: Vec::new(),
            frames: Vec::new(),
            numbers: FxHashMap::default(),
            pending: Vec::new(),
            leaves: Vec::new(),
            has_empty_item: false,
        }
    }

    fn close(mut self, place: Place) -> Result<Closure, StepError> {
        self.add(place, FrameTemplate::Own);
        while let Some((place, frame)) = self.pending.pop() {
            let Some(state) = self.program.body_state(place)? else {
                if let Reach::Plain { leaves: [END, ..], .. } = self.program.reach(place)? {
                    self.leave(frame, END);
                }
                continue;
            };
            for &end in &state.ends {
                self.leave(frame, end);
            }
            for call in 0..state.calls.len() {
                let after = self.program.after_call(place, call)?;
                self.call(state.calls[call].callee, after, frame)?;
            }
        }
        self.finish()
    }

    fn add(&mut self, place: Place, frame: FrameTemplate) {
        if !self.threads.contains(&(place, frame)) {
            self.threads.push((place, frame));
            self.pending.push((place, frame));
        }
    }

    fn call(
        &mut self,
        callee: Callee,
        after: Place,
        frame: FrameTemplate,
    ) -> Result<(), StepError> {
        let number = match self.numbers.get(&callee) {
            Some(&number) => number,
            None => self.open(callee)?,
        };
        let tail = self.program.body_state(after)?.is_some_and(State::only_ends);
        let opened = &mut self.frames[number as usize];
        let left = opened.left;
        if tail {
            if frame != FrameTemplate::Local(number) && !opened.tails.contains(&frame) {
                opened.tails.push(frame);
                if left {
                    self.leave(frame, END);
                }
            }
            return Ok(());
        }
        let back = Return { place: after, frame };
        if !opened.returns.contains(&back) {
            opened.returns.push(back);
            if left {
                self.add(after, frame);
            }
        }
        Ok(())
    }

    /// The frame of a callee that was not called before; the callee is entered.
    fn open(&mut self, callee: Callee) -> Result<u32, StepError> {
        let number = u32::try_from(self.frames.len()).expect("frames are at most one a callee");
        let frame = |kind| Opened { returns: Vec::new(), tails: Vec::new(), kind, left: false };
        self.frames.push(frame(Kind::Call));
        self.numbers.insert(callee, number);
        match callee {
            Callee::Island(island) => {
                self.add(self.program.start(island), FrameTemplate::Local(number));
            }
            Callee::Loop(repetition) => {
                let shape = self.program.repetition(repetition);
                self.frames.push(frame(Kind::Loop(repetition)));
                let is_counted = self.program.symbols(shape.body).is_some();
                self.frames[number as usize].left = shape.min == 0 && !is_counted;
                self.add(self.program.start(shape.body), FrameTemplate::Local(number + 1));
            }
            Callee::Items(unordered) => {
                self.frames.push(frame(Kind::Items(unordered)));
                self.frames.push(frame(Kind::Key(unordered)));
                let shape = self.program.unordered(unordered);
                let registers = &self.program.registers;
                let register = registers.first(unordered, shape);
                let known = registers.get(register);
                self.frames[number as usize].left = shape.is_complete(known);
                if let Some(place) = self.program.first_of_items(register)? {
                    self.add(place, FrameTemplate::Local(number + 1));
                }
                if shape.takes_key(known, registers)
                    && let Some(distinct) = &shape.distinct
                {
                    self.add(self.program.start(distinct.key), FrameTemplate::Local(number + 2));
                }
            }
        }
        Ok(number)
    }

    /// A frame can be left here, by an end.
    fn leave(&mut self, frame: FrameTemplate, end: u32) {
        let mut frames = vec![(frame, end)];
        while let Some((frame, end)) = frames.pop() {
            let FrameTemplate::Local(number) = frame else {
                if !self.leaves.contains(&end) {
                    self.leaves.push(end);
                }
                continue;
            };
            let opened = &mut self.frames[number as usize];
            match opened.kind {
                Kind::Items(_) | Kind::Key(_) => {
                    self.has_empty_item = true;
                    continue;
                }
                _ if std::mem::replace(&mut opened.left, true) => continue,
                // A turn can be empty, so all of them can.
                Kind::Loop(_) => {
                    frames.push((FrameTemplate::Local(number - 1), END));
                    continue;
                }
                Kind::Call => {}
            }
            frames.extend(opened.tails.iter().map(|&tail| (tail, END)));
            let returns = opened.returns.clone();
            returns.iter().for_each(|back| self.add(back.place, back.frame));
        }
    }

    fn finish(self) -> Result<Closure, StepError> {
        if self.has_empty_item {
            return Err(constraint("an unordered item that can be empty"));
        }
        let alias = aliases(&self.frames);
        let resolve = |frame: FrameTemplate| match frame {
            FrameTemplate::Own => FrameTemplate::Own,
            FrameTemplate::Local(number) => alias[number as usize],
        };
        let mut threads = Vec::new();
        for &(place, frame) in &self.threads {
            let thread = (place, resolve(frame));
            if self.program.reads(place)? && !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        let frames = (0..).zip(&self.frames).map(|(number, opened)| match opened.kind {
            Kind::Loop(repetition) => {
                FrameShape::Loop { repetition, exit: resolve(FrameTemplate::Local(number - 1)) }
            }
            Kind::Items(unordered) => {
                FrameShape::Items { unordered, exit: resolve(FrameTemplate::Local(number - 1)) }
            }
            Kind::Key(unordered) => {
                FrameShape::Key { unordered, exit: resolve(FrameTemplate::Local(number - 2)) }
            }
            Kind::Call => {
                let back = |back: &Return| Return { place: back.place, frame: resolve(back.frame) };
                let mut tails: Vec<FrameTemplate> =
                    opened.tails.iter().map(|&t| resolve(t)).collect();
                tails.sort_unstable();
                tails.dedup();
                tails.retain(|&tail| tail != FrameTemplate::Local(number));
                FrameShape::Call {
                    returns: opened.returns.iter().map(back).collect(),
                    tails: tails.into(),
                }
            }
        });
        let frames = frames.collect();
        Ok(Closure { threads: threads.into(), frames, leaves: self.leaves.into() })
    }
}

/// Frames that only pass on to one other frame are that frame.
fn aliases(frames: &[Opened]) -> Vec<FrameTemplate> {
    let only = |number: u32| {
        let opened = &frames[number as usize];
        match opened.tails[..] {
            [tail] if opened.returns.is_empty() && opened.kind == Kind::Call => Some(tail),
            _ => None,
        }
    };
    (0..frames.len() as u32)
        .map(|number| {
            let mut at = FrameTemplate::Local(number);
            // A cycle of tails alone is a rule without a base case; any of its frames will do.
            for _ in 0..=frames.len() {
                match at {
                    FrameTemplate::Local(number) => match only(number) {
                        Some(tail) => at = tail,
                        None => break,
                    },
                    FrameTemplate::Own => break,
                }
            }
            at
        })
        .collect()
}
