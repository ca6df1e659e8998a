//! What the matchers of one grammar have found so far, shared by all of them.
//!
//! # Data
//! - *Activations*: closures on top of a frame, and the turns of loops; hash-consed, so equal stacks
//!   are one number. Stacks share their tails: a frame names the one below.
//! - *Configurations*: the threads of an output, and the mask once somebody asked for it.
//!
//! Tables only grow. Reading is by index and takes no lock; a new entry takes the lock of a shard.
//! When they outgrow their budget, matchers go over to new tables (`session`), and the old ones go
//! with their last matcher.

use crate::{
    bases::Bases,
    mask::Mask,
    place::{FrameRef, Place, Thread},
    program::Program,
};
use dashmap::DashMap;
use formwork_core::{StopSets, TableId};
use rustc_hash::FxBuildHasher;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// Frames that came about together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Activation {
    /// Leaving it completes the output.
    Root,
    /// The frames of the closure of `origin`, on top of `own`.
    Call { origin: Place, own: FrameRef },
    /// A turn of a loop after `count` others.
    Loop { repetition: u32, count: u32, exit: FrameRef },
    /// Items in any order, after those that the register holds.
    Items { register: u32, exit: FrameRef },
    /// The key of one more item: where it stands among the keys of the register, and its text; none
    /// where a walk does not know it.
    Key { register: u32, exit: FrameRef, node: u32, text: Option<Box<[u8]>> },
    /// Any of these frames; sorted in tables.
    Union(Vec<FrameRef>),
}

impl Activation {
    /// Tells the frames below.
    pub(crate) fn for_each_frame(&self, mut visit: impl FnMut(FrameRef)) {
        match self {
            Self::Root => {}
            Self::Call { own, .. } => visit(*own),
            Self::Loop { exit, .. } | Self::Items { exit, .. } | Self::Key { exit, .. } => {
                visit(*exit);
            }
            Self::Union(frames) => frames.iter().copied().for_each(visit),
        }
    }

    /// The same with other names for the frames below.
    pub(crate) fn renamed(&self, rename: impl Fn(FrameRef) -> FrameRef) -> Self {
        match *self {
            Self::Root => Self::Root,
            Self::Call { origin, own } => Self::Call { origin, own: rename(own) },
            Self::Loop { repetition, count, exit } => {
                Self::Loop { repetition, count, exit: rename(exit) }
            }
            Self::Items { register, exit } => Self::Items { register, exit: rename(exit) },
            Self::Key { register, exit, node, ref text } => {
                Self::Key { register, exit: rename(exit), node, text: text.clone() }
            }
            Self::Union(ref frames) => {
                let mut frames: Vec<FrameRef> = frames.iter().copied().map(rename).collect();
                frames.sort_unstable();
                frames.dedup();
                Self::Union(frames)
            }
        }
    }
}

/// All ways in which an output can be read.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) threads: Box<[Thread]>,
    /// Whether the output is complete.
    pub(crate) accepting: bool,
    pub(crate) mask: OnceLock<Mask>,
}

/// Tables of one generation.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) program: Arc<Program>,
    pub(crate) table: TableId,
    /// The same through all generations.
    pub(crate) bases: Arc<Bases>,
    pub(crate) stop_sets: StopSets,
    pub(crate) start: OnceLock<u32>,
    pub(crate) work: Work,
    activations: boxcar::Vec<Activation>,
    activation_numbers: DashMap<Activation, u32, FxBuildHasher>,
    configurations: boxcar::Vec<Configuration>,
    configuration_numbers: DashMap<(Box<[Thread]>, bool), u32, FxBuildHasher>,
    /// Tokens that leave a walk for a frame, by the walk's number.
    pub(crate) resumed: DashMap<(u64, FrameRef), Arc<[u32]>, FxBuildHasher>,
    bytes: AtomicUsize,
}

/// Work done, for those who look.
#[derive(Debug, Default)]
pub(crate) struct Work {
    /// Nodes of tries visited for masks.
    pub(crate) nodes: AtomicU64,
    /// Masks made.
    pub(crate) masks: AtomicU64,
}

impl Tables {
    pub(crate) fn new(program: Arc<Program>, bases: Arc<Bases>) -> Self {
        let tables = Self {
            program,
            table: TableId::unique(),
            bases,
            stop_sets: StopSets::default(),
            start: OnceLock::new(),
            work: Work::default(),
            activations: boxcar::Vec::new(),
            activation_numbers: map(),
            configurations: boxcar::Vec::new(),
            configuration_numbers: map(),
            resumed: map(),
            bytes: AtomicUsize::new(0),
        };
        tables.activation(Activation::Root);
        tables
    }

    /// Heap bytes held, about; the program's not.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn spend(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn activation_count(&self) -> usize {
        self.activations.count()
    }

    pub(crate) fn configuration_count(&self) -> usize {
        self.configurations.count()
    }

    pub(crate) fn activation_at(&self, number: u32) -> &Activation {
        &self.activations[number as usize]
    }

    pub(crate) fn configuration_at(&self, number: u32) -> &Configuration {
        &self.configurations[number as usize]
    }

    /// The number of an activation whose frames are all of these tables.
    pub(crate) fn activation(&self, activation: Activation) -> u32 {
        if let Some(known) = self.activation_numbers.get(&activation) {
            return *known;
        }
        let entry = self.activation_numbers.entry(activation.clone());
        *entry.or_insert_with(|| {
            self.spend(4 * size_of::<Activation>());
            u32::try_from(self.activations.push(activation)).expect("bounded by bytes")
        })
    }

    /// The number of a configuration of sorted threads.
    pub(crate) fn configuration(&self, threads: &[Thread], accepting: bool) -> u32 {
        let key = (Box::from(threads), accepting);
        if let Some(known) = self.configuration_numbers.get(&key) {
            return *known;
        }
        *self.configuration_numbers.entry(key).or_insert_with(|| {
            self.spend(4 * size_of::<Configuration>() + 3 * size_of_val(threads));
            let mask = OnceLock::new();
            let configuration = Configuration { threads: threads.into(), accepting, mask };
            u32::try_from(self.configurations.push(configuration)).expect("bounded by bytes")
        })
    }
}

fn map<K: Eq + std::hash::Hash, V>() -> DashMap<K, V, FxBuildHasher> {
    DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 8)
}
