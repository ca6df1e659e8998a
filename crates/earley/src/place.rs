//! The small things that everything is made of: places, frames, threads.

/// A state of an island.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) island: u32,
    pub(crate) state: u32,
}

/// A frame: what happens when the island of a thread is left. One of the frames of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FrameRef {
    /// The activation; with [`SCRATCH`] set, one of a walk's own.
    pub(crate) activation: u32,
    /// Which of its frames.
    pub(crate) index: u32,
}

/// Marks the activations of a walk.
pub(crate) const SCRATCH: u32 = 1 << 31;

impl FrameRef {
    /// The frame below which there is none: leaving it completes the output.
    pub(crate) const ROOT: Self = Self { activation: 0, index: 0 };

    pub(crate) fn is_scratch(self) -> bool {
        self.activation & SCRATCH != 0
    }
}

/// One way in which the output can be read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Thread {
    pub(crate) place: Place,
    pub(crate) frame: FrameRef,
}

/// What a thread can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Callee {
    /// An island, once.
    Island(u32),
    /// A counted repetition.
    Loop(u32),
    /// Items in any order.
    Items(u32),
}

/// The end of a body; those of items are numbered.
pub(crate) const END: u32 = u32::MAX;
/// The index of the frame of items that are being read, which end by the end that is reached;
pub(crate) const ITEMS: u32 = u32::MAX;
/// of their separator;
pub(crate) const SEPARATOR: u32 = u32::MAX - 1;
/// and of the last part of an item that the register has counted already.
pub(crate) const TAIL: u32 = u32::MAX - 2;

/// Frames that one closure opens, before it is known on top of which frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FrameTemplate {
    /// The frame of the thread that is closed.
    Own,
    /// A frame of the closure.
    Local(u32),
}

/// Where a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Return {
    pub(crate) place: Place,
    pub(crate) frame: FrameTemplate,
}

/// One frame of a closure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrameShape {
    /// Goes on at these places, and leaves those frames too.
    Call { returns: Box<[Return]>, tails: Box<[FrameTemplate]> },
    /// Ends the first turn of a loop, whose own end leaves `exit`.
    Loop { repetition: u32, exit: FrameTemplate },
    /// Ends the first of some items.
    Items { unordered: u32, exit: FrameTemplate },
    /// Ends the key of the first of some items.
    Key { unordered: u32, exit: FrameTemplate },
}

/// Everything that can be read from a place before the next byte: computed once, on top of no
/// frame in particular.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    /// Threads that can read a byte.
    pub(crate) threads: Box<[(Place, FrameTemplate)]>,
    pub(crate) frames: Box<[FrameShape]>,
    /// By which ends the thread's own frame can be left without a byte.
    pub(crate) leaves: Box<[u32]>,
}
