//! Stacks: hash-consed frames, and what is known on top of each.
//!
//! # Shape
//! A frame is a set of *links*, each a state where an island goes on when the one above ends, and the
//! frame below. Most frames have one link and the whole is a list; where an output can be read in
//! several ways that meet in one state, their stacks are united and share what they have in common
//! (the graph-structured stacks of Tomita, 1985). Equal frames are one, so that pushing, popping,
//! forking and going back are numbers.

use crate::{
    program::{Program, TAIL},
    walker::Thread,
};
use dashmap::DashMap;
use formwork_automata::ByteSet;
use rustc_hash::FxBuildHasher;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The frame below which there is none: leaving it completes the output.
pub(crate) const ROOT: u32 = 0;
/// A frame of which nothing is known.
pub(crate) const UNKNOWN: u32 = 1;
/// Marks the frames of a walk.
pub(crate) const SCRATCH: u32 = 1 << 31;

/// The link of the root frame goes nowhere.
pub(crate) const END: u32 = TAIL;
/// And so does that of the unknown one.
pub(crate) const OPEN: u32 = TAIL - 1;

/// Where an island goes on, and on which frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) back: u32,
    pub(crate) below: u32,
}

/// What is known of a frame without looking at its links.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Top {
    /// Bytes that can be read once the frame is left.
    pub(crate) first: ByteSet,
    /// Whether the output may be complete once it is left.
    pub(crate) accepts: bool,
    /// Whether leaving it can lead to where nothing is known.
    pub(crate) is_open: bool,
    /// Whether a token can be read as a symbol once it is left.
    pub(crate) reads_tokens: bool,
}

impl Top {
    /// What is known on top of a link, given what is known of the frame below.
    pub(crate) fn add(&mut self, program: &Program, link: Link, below: &Self) {
        match link.back {
            END => self.accepts = true,
            OPEN => self.is_open = true,
            back => {
                let state = program.state(back);
                self.first = self.first.union(&state.first);
                self.reads_tokens |= state.reads_tokens;
                if state.ends {
                    self.first = self.first.union(&below.first);
                    self.accepts |= below.accepts;
                    self.is_open |= below.is_open;
                    self.reads_tokens |= below.reads_tokens;
                }
            }
        }
    }
}

/// A frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) links: Box<[Link]>,
    pub(crate) top: Top,
}

/// The frames and sets of threads that outputs have led to; they only grow.
#[derive(Debug)]
pub(crate) struct Frames {
    frames: boxcar::Vec<Frame>,
    numbers: DashMap<Box<[Link]>, u32, FxBuildHasher>,
    sets: boxcar::Vec<Box<[Thread]>>,
    set_numbers: DashMap<Box<[Thread]>, u32, FxBuildHasher>,
    bytes: AtomicUsize,
}

impl Frames {
    pub(crate) fn new() -> Self {
        let frames = Self {
            frames: boxcar::Vec::new(),
            numbers: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8),
            sets: boxcar::Vec::new(),
            set_numbers: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8),
            bytes: AtomicUsize::new(0),
        };
        let root = Top { accepts: true, ..Top::default() };
        let open = Top { is_open: true, ..Top::default() };
        for (number, top, back) in [(ROOT, root, END), (UNKNOWN, open, OPEN)] {
            let links: Box<[Link]> = Box::new([Link { back, below: number }]);
            frames.numbers.insert(links.clone(), number);
            frames.frames.push(Frame { links, top });
        }
        frames
    }

    pub(crate) fn frame(&self, frame: u32) -> &Frame {
        &self.frames[frame as usize]
    }

    /// The number of the frame with these links, which are sorted.
    pub(crate) fn intern(&self, links: &[Link], top: Top) -> u32 {
        if let Some(known) = self.numbers.get(links) {
            return *known;
        }
        *self.numbers.entry(links.into()).or_insert_with(|| {
            self.bytes.fetch_add(128 + 2 * size_of_val(links), Ordering::Relaxed);
            let frame = Frame { links: links.into(), top };
            u32::try_from(self.frames.push(frame)).expect("bounded by bytes")
        })
    }

    pub(crate) fn set(&self, set: u32) -> &[Thread] {
        &self.sets[set as usize]
    }

    /// The number of a sorted set of threads.
    pub(crate) fn intern_set(&self, threads: &[Thread]) -> u32 {
        if let Some(known) = self.set_numbers.get(threads) {
            return *known;
        }
        *self.set_numbers.entry(threads.into()).or_insert_with(|| {
            self.bytes.fetch_add(96 + 2 * size_of_val(threads), Ordering::Relaxed);
            u32::try_from(self.sets.push(threads.into())).expect("bounded by bytes")
        })
    }

    /// How many frames there are.
    pub(crate) fn len(&self) -> usize {
        self.frames.count()
    }

    /// Heap bytes held, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
