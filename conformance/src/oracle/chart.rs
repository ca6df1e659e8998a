//! The prefix read so far, as a chart.
//!
//! # Idea
//! Earley's recogniser (CACM 13(2), 1970), with machines for dotted rules. A *call* is a machine
//! begun at a position in a monitor, together with everybody who waits for it to return; an *item*
//! is a configuration (state, monitor) of a call. A position is closed under steps and returns, to
//! a fixpoint, so empty and cyclic constructs need no care. A later position never changes an
//! earlier one.
//!
//! A set of items *can go on* when one of them can return, and whoever waits for it can then
//! return, and so on up to the root, in a monitor that may be final: a graph search over
//! (call, monitor), with [`Futures`] saying what lies ahead of each.

use super::{
    error::OracleError,
    futures::{Futures, Ground, resume},
    monitor::{MonitorId, Monitors, Reading},
    program::{Horizon, Local, NodeId, Program, Step},
};
use formwork_automata::ByteSet;
use formwork_vocab::TokenId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::{collections::BTreeSet, rc::Rc};

/// A call: the position it was made at, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallId {
    position: u32,
    index: u32,
}

/// The call of the grammar's root.
const ROOT: CallId = CallId { position: 0, index: 0 };

/// A configuration of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Item {
    call: CallId,
    node: NodeId,
    at: Local,
    monitor: MonitorId,
}

#[derive(Debug)]
struct Call {
    node: NodeId,
    /// Calls that wait, and in which state they go on.
    waiting: Vec<(CallId, Local)>,
    /// Monitors in which it returned at the very position it was made at.
    returned: Vec<MonitorId>,
}

/// A closed set of items.
#[derive(Debug)]
pub(super) struct Position {
    calls: Vec<Call>,
    items: Vec<Item>,
    /// The bytes that some item may read.
    bytes: ByteSet,
    /// Whether the root returned in a monitor that may be final.
    complete: bool,
}

impl Position {
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The bytes that some item may read.
    pub(super) fn bytes(&self) -> ByteSet {
        self.bytes
    }

    /// The token symbols that some item may read, ascending.
    pub(super) fn symbols(&self, program: &Program) -> BTreeSet<TokenId> {
        let sets = self.items.iter().filter_map(|item| program.symbols(item.node, item.at));
        sets.flat_map(|(tokens, _)| tokens.iter().copied()).collect()
    }
}

/// Positions so far. Cheap to clone: positions are shared.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    positions: Vec<Rc<Position>>,
}

impl Chart {
    /// The chart of nothing read.
    pub(super) fn start(ground: &mut Ground<'_>) -> Result<Self, OracleError> {
        let mut chart = Self::default();
        let item = root_item(ground.program);
        chart.push(ground, &[item])?;
        Ok(chart)
    }

    pub(super) fn last(&self) -> &Rc<Position> {
        self.positions.last().expect("a chart has a first position")
    }

    pub(super) fn pop(&mut self) {
        self.positions.pop();
    }

    /// The items after a byte, before closing.
    pub(super) fn after_byte(
        &self,
        ground: &mut Ground<'_>,
        byte: u8,
        reading: Reading,
    ) -> Vec<Item> {
        let mut kernel = Vec::new();
        for &item in &self.last().items {
            if let Some(at) = ground.program.read(item.node, item.at, byte, Horizon::Written)
                && let Some(monitor) = ground.monitors.byte(item.monitor, byte, reading)
            {
                kernel.push(Item { at, monitor, ..item });
            }
        }
        kernel
    }

    /// The items after a token symbol and the end of the token, before closing.
    pub(super) fn after_symbol(&self, ground: &mut Ground<'_>, token: TokenId) -> Vec<Item> {
        let mut kernel = Vec::new();
        for &item in &self.last().items {
            if let Some((tokens, at)) = ground.program.symbols(item.node, item.at)
                && tokens.binary_search(&token).is_ok()
                && let Some(monitor) = ground.monitors.symbol(item.monitor)
            {
                kernel.push(Item { at, monitor, ..item });
            }
        }
        kernel
    }

    /// Closes the items as the next position.
    pub(super) fn push(
        &mut self,
        ground: &mut Ground<'_>,
        kernel: &[Item],
    ) -> Result<(), OracleError> {
        let here = u32::try_from(self.positions.len()).expect("positions are u32");
        let mut closing = Closing {
            earlier: &self.positions,
            here,
            calls: Vec::new(),
            ids: FxHashMap::default(),
            items: Vec::new(),
            seen: FxHashSet::default(),
            complete: false,
        };
        if here == ROOT.position {
            let node = ground.program.root;
            closing.calls.push(Call { node, waiting: Vec::new(), returned: Vec::new() });
            closing.ids.insert((node, Monitors::initial()), ROOT);
        }
        kernel.iter().for_each(|&item| closing.add(item));
        let position = closing.run(ground)?;
        self.positions.push(Rc::new(position));
        Ok(())
    }

    /// Whether these items, which stand between two tokens, can go on to a complete output.
    pub(super) fn can_go_on(
        &self,
        ground: &mut Ground<'_>,
        futures: &mut Futures,
        kernel: &[Item],
    ) -> Result<bool, OracleError> {
        let mut seen: FxHashSet<(CallId, MonitorId)> = FxHashSet::default();
        let mut pending = Vec::new();
        for item in kernel {
            for &out in futures.outs(ground, item.node, item.at, item.monitor)? {
                if seen.insert((item.call, out)) {
                    pending.push((item.call, out));
                }
            }
        }
        while let Some((call, monitor)) = pending.pop() {
            ground.steps.take()?;
            if call == ROOT && ground.monitors.is_final(monitor) {
                return Ok(true);
            }
            for &(waiting, after) in &self.call(call).waiting {
                let node = self.call(waiting).node;
                let (at, monitor) = resume(ground, node, after, monitor);
                for &out in futures.outs(ground, node, at, monitor)? {
                    if seen.insert((waiting, out)) {
                        pending.push((waiting, out));
                    }
                }
            }
        }
        Ok(false)
    }

    fn call(&self, call: CallId) -> &Call {
        &self.positions[call.position as usize].calls[call.index as usize]
    }
}

/// The root before anything was read.
pub(super) fn root_item(program: &Program) -> Item {
    let node = program.root;
    Item { call: ROOT, node, at: program.start(node), monitor: Monitors::initial() }
}

/// The items after the end of the token at hand.
pub(super) fn after_end(ground: &mut Ground<'_>, kernel: &[Item]) -> Vec<Item> {
    let end = |item: &Item| Item { monitor: ground.monitors.end(item.monitor), ..*item };
    kernel.iter().map(end).collect()
}

/// The items that a token yet to be chosen may end in.
pub(super) fn after_possible_end(ground: &mut Ground<'_>, kernel: &[Item]) -> Vec<Item> {
    let may_end = |item: &&Item| ground.monitors.may_end(item.monitor);
    let ending: Vec<Item> = kernel.iter().filter(may_end).copied().collect();
    after_end(ground, &ending)
}

/// A position under construction.
struct Closing<'c> {
    earlier: &'c [Rc<Position>],
    here: u32,
    calls: Vec<Call>,
    ids: FxHashMap<(NodeId, MonitorId), CallId>,
    /// In order of discovery: the queue and the result.
    items: Vec<Item>,
    seen: FxHashSet<Item>,
    complete: bool,
}

impl Closing<'_> {
    fn add(&mut self, item: Item) {
        if self.seen.insert(item) {
            self.items.push(item);
        }
    }

    fn run(mut self, ground: &mut Ground<'_>) -> Result<Position, OracleError> {
        let mut done = 0;
        let mut steps = Vec::new();
        while let Some(&item) = self.items.get(done) {
            done += 1;
            ground.steps.take()?;
            if ground.program.returns(item.node, item.at) {
                self.returned(ground, item);
            }
            steps.clear();
            ground.program.steps(item.node, item.at, Horizon::Written, &mut steps);
            for &step in &steps {
                self.step(ground, item, step);
            }
        }
        let bytes = self
            .items
            .iter()
            .fold(ByteSet::EMPTY, |set, item| set.union(&ground.program.bytes(item.node, item.at)));
        Ok(Position { calls: self.calls, items: self.items, bytes, complete: self.complete })
    }

    fn step(&mut self, ground: &mut Ground<'_>, item: Item, step: Step) {
        match step {
            Step::Move(at) => self.add(Item { at, ..item }),
            Step::Look(look) => {
                if let Some(monitor) = ground.monitors.look(item.monitor, look) {
                    self.add(Item { at: Program::after_look(), monitor, ..item });
                }
            }
            Step::Call { child, after } => self.enter(ground, item, (child, item.monitor), after),
            Step::Limit { child, max } => {
                let limited = ground.monitors.limit(item.monitor, max);
                let after = Program::limit_waits(limited.is_some());
                self.enter(ground, item, (child, limited.unwrap_or(item.monitor)), after);
            }
            Step::FreshKey { .. } => unreachable!("keys are known while the input is"),
        }
    }

    fn enter(
        &mut self,
        ground: &mut Ground<'_>,
        item: Item,
        (child, monitor): (NodeId, MonitorId),
        after: Local,
    ) {
        let index = u32::try_from(self.calls.len()).expect("calls are u32");
        let call = *self.ids.entry((child, monitor)).or_insert_with(|| {
            self.calls.push(Call { node: child, waiting: Vec::new(), returned: Vec::new() });
            CallId { position: self.here, index }
        });
        if call.index == index {
            let at = ground.program.start(child);
            self.add(Item { call, node: child, at, monitor });
        }
        let entry = &mut self.calls[call.index as usize];
        if !entry.waiting.contains(&(item.call, after)) {
            entry.waiting.push((item.call, after));
            for out in entry.returned.clone() {
                self.resume(ground, (item.call, after), out);
            }
        }
    }

    fn returned(&mut self, ground: &mut Ground<'_>, item: Item) {
        self.complete |= item.call == ROOT && ground.monitors.is_final(item.monitor);
        let waiting = if item.call.position == self.here {
            let call = &mut self.calls[item.call.index as usize];
            if call.returned.contains(&item.monitor) {
                return;
            }
            call.returned.push(item.monitor);
            call.waiting.clone()
        } else {
            let position = &self.earlier[item.call.position as usize];
            position.calls[item.call.index as usize].waiting.clone()
        };
        for waiting in waiting {
            self.resume(ground, waiting, item.monitor);
        }
    }

    fn resume(&mut self, ground: &mut Ground<'_>, (call, after): (CallId, Local), out: MonitorId) {
        let node = match call.position == self.here {
            true => self.calls[call.index as usize].node,
            false => self.earlier[call.position as usize].calls[call.index as usize].node,
        };
        let (at, monitor) = resume(ground, node, after, out);
        self.add(Item { call, node, at, monitor });
    }
}
