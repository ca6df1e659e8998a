//! What lies ahead: in which monitors a machine can finish, over every possible input.
//!
//! # Idea
//! The set of monitors in which a machine, started in a given state and monitor, can return is the
//! least solution of equations between such sets, one for each (machine, state, monitor) that is
//! asked for. They are tabulated (Sharir and Pnueli, "Two Approaches to Interprocedural Data Flow
//! Analysis", 1981, the functional approach): every summary explores its configurations, a call
//! subscribes to the summary of the child, and what a summary finds it tells its subscribers. Local
//! states and monitors are finite in number, so this ends, whatever the recursion.
//!
//! # Two bounds
//! Only distinct keys of a large language are not exact, because the keys to come are infinitely
//! many. [`Bound::Above`] lets them repeat. [`Bound::Below`] takes only classes of keys so large
//! that a new one can always be found. Where both agree, the answer is exact.

use super::{
    error::OracleError,
    monitor::{MonitorId, Monitors, Reading},
    program::{Horizon, Lift, Local, Machine, NodeId, Program, Step},
};
use formwork_automata::{ByteSet, Fuel, NfaBuilder, NfaStateId, StateId, determinize};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which of the two answers about keys to come is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Above,
    Below,
}

/// Summaries so far.
#[derive(Debug)]
pub(super) struct Futures {
    bound: Bound,
    summaries: Vec<Summary>,
    ids: FxHashMap<(NodeId, Local, MonitorId), usize>,
    pending: Vec<(usize, Local, MonitorId)>,
    keys: FxHashMap<(NodeId, MonitorId), Vec<KeyClass>>,
}

/// Which monitors a machine can return in.
#[derive(Debug)]
struct Summary {
    node: NodeId,
    configurations: FxHashSet<(Local, MonitorId)>,
    outs: Vec<MonitorId>,
    /// Who called, and in which state it goes on.
    callers: Vec<(usize, Local)>,
}

/// The keys that lead from one monitor to another.
#[derive(Clone, Copy, Debug)]
struct KeyClass {
    out: MonitorId,
    /// `u64::MAX` when there are infinitely many.
    words: u64,
}

/// The parts of an oracle that futures are computed from, and what the work may cost.
pub(super) struct Ground<'a> {
    pub(super) program: &'a mut Program,
    pub(super) monitors: &'a mut Monitors,
    pub(super) steps: &'a mut Steps,
}

/// Elementary steps, counted against a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) taken: u64,
    pub(super) limit: u64,
}

impl Steps {
    pub(super) fn take(&mut self) -> Result<(), OracleError> {
        self.taken += 1;
        match self.taken > self.limit {
            true => Err(OracleError::Steps { limit: self.limit }),
            false => Ok(()),
        }
    }
}

impl Futures {
    pub(super) fn new(bound: Bound) -> Self {
        let (ids, keys) = (FxHashMap::default(), FxHashMap::default());
        Self { bound, summaries: Vec::new(), ids, pending: Vec::new(), keys }
    }

    /// The monitors in which `node`, now in state `at`, can return.
    pub(super) fn outs(
        &mut self,
        ground: &mut Ground<'_>,
        node: NodeId,
        at: Local,
        monitor: MonitorId,
    ) -> Result<&[MonitorId], OracleError> {
        let summary = self.summary(node, at, monitor);
        while let Some((summary, at, monitor)) = self.pending.pop() {
            ground.steps.take()?;
            self.configuration(ground, summary, at, monitor)?;
        }
        Ok(&self.summaries[summary].outs)
    }

    fn summary(&mut self, node: NodeId, at: Local, monitor: MonitorId) -> usize {
        if let Some(&summary) = self.ids.get(&(node, at, monitor)) {
            return summary;
        }
        let summary = self.summaries.len();
        self.ids.insert((node, at, monitor), summary);
        let configurations = FxHashSet::default();
        self.summaries.push(Summary {
            node,
            configurations,
            outs: Vec::new(),
            callers: Vec::new(),
        });
        self.reach(summary, at, monitor);
        summary
    }

    fn reach(&mut self, summary: usize, at: Local, monitor: MonitorId) {
        if self.summaries[summary].configurations.insert((at, monitor)) {
            self.pending.push((summary, at, monitor));
        }
    }

    fn configuration(
        &mut self,
        ground: &mut Ground<'_>,
        summary: usize,
        at: Local,
        monitor: MonitorId,
    ) -> Result<(), OracleError> {
        let node = self.summaries[summary].node;
        if ground.program.returns(node, at) {
            self.found(ground, summary, monitor);
        }
        if ground.monitors.may_end(monitor) {
            let ended = ground.monitors.end(monitor);
            self.reach(summary, at, ended);
        }
        for byte in ground.program.bytes(node, at).iter() {
            if let Some(moved) = ground.monitors.byte(monitor, byte, Reading::Free)
                && let Some(next) = ground.program.read(node, at, byte, Horizon::Future)
            {
                self.reach(summary, next, moved);
            }
        }
        if let Some((tokens, next)) = ground.program.symbols(node, at)
            && !tokens.is_empty()
            && let Some(moved) = ground.monitors.symbol(monitor)
        {
            self.reach(summary, next, moved);
        }
        let mut steps = Vec::new();
        ground.program.steps(node, at, Horizon::Future, &mut steps);
        for step in steps {
            self.step(ground, summary, (at, monitor), step)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        ground: &mut Ground<'_>,
        summary: usize,
        (at, monitor): (Local, MonitorId),
        step: Step,
    ) -> Result<(), OracleError> {
        match step {
            Step::Move(next) => self.reach(summary, next, monitor),
            Step::Call { child, after } => self.call(ground, summary, (child, monitor), after),
            Step::Limit { child, max } => {
                let limited = ground.monitors.limit(monitor, max);
                let after = Program::limit_waits(limited.is_some());
                self.call(ground, summary, (child, limited.unwrap_or(monitor)), after);
            }
            Step::Look(look) => {
                if let Some(looking) = ground.monitors.look(monitor, look) {
                    self.reach(summary, Program::after_look(), looking);
                }
            }
            Step::FreshKey { enough, after } => {
                let node = self.summaries[summary].node;
                let _ = at;
                for class in self.key_classes(ground, node, monitor)? {
                    let fresh = enough.map_or(u64::MAX, |enough| enough as u64);
                    if self.bound == Bound::Above || class.words >= fresh {
                        self.reach(summary, after, class.out);
                    }
                }
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        ground: &mut Ground<'_>,
        caller: usize,
        (child, monitor): (NodeId, MonitorId),
        after: Local,
    ) {
        let start = ground.program.start(child);
        let callee = self.summary(child, start, monitor);
        if !self.summaries[callee].callers.contains(&(caller, after)) {
            self.summaries[callee].callers.push((caller, after));
            for out in self.summaries[callee].outs.clone() {
                self.resume(ground, caller, after, out);
            }
        }
    }

    /// A summary learns a monitor in which its machine returns.
    fn found(&mut self, ground: &mut Ground<'_>, summary: usize, out: MonitorId) {
        if !self.summaries[summary].outs.contains(&out) {
            self.summaries[summary].outs.push(out);
            for (caller, after) in self.summaries[summary].callers.clone() {
                self.resume(ground, caller, after, out);
            }
        }
    }

    fn resume(&mut self, ground: &mut Ground<'_>, caller: usize, after: Local, out: MonitorId) {
        let (at, monitor) = resume(ground, self.summaries[caller].node, after, out);
        self.reach(caller, at, monitor);
    }

    /// The classes of distinct keys of a permutation that begin in `monitor`.
    fn key_classes(
        &mut self,
        ground: &mut Ground<'_>,
        node: NodeId,
        monitor: MonitorId,
    ) -> Result<Vec<KeyClass>, OracleError> {
        if let Some(classes) = self.keys.get(&(node, monitor)) {
            return Ok(classes.clone());
        }
        let classes = key_classes(ground, node, monitor)?;
        self.keys.insert((node, monitor), classes.clone());
        Ok(classes)
    }
}

/// Where a caller goes on when a child has returned in `out`.
pub(super) fn resume(
    ground: &mut Ground<'_>,
    caller: NodeId,
    after: Local,
    out: MonitorId,
) -> (Local, MonitorId) {
    match ground.program.resumes(caller, after) {
        (at, Lift::Limit) => (at, ground.monitors.unlimit(out)),
        (at, Lift::Nothing) => (at, out),
    }
}

/// A state of the key automaton, in a monitor.
type Place = (StateId, MonitorId);

/// Explores the product of the key automaton and the monitors, and counts the words that lead to
/// each monitor; spellings of one word count once, because the product is made deterministic.
fn key_classes(
    ground: &mut Ground<'_>,
    node: NodeId,
    monitor: MonitorId,
) -> Result<Vec<KeyClass>, OracleError> {
    let Machine::Permute(permute) = ground.program.machine(node) else { return Ok(Vec::new()) };
    let keys = permute.keys().expect("resolved");
    let first = (keys.start(), monitor);
    let mut reached = vec![first];
    let mut edges: Vec<(Place, Option<u8>, Place)> = Vec::new();
    let mut seen = FxHashSet::from_iter([first]);
    let mut pending = vec![first];
    while let Some((state, monitor)) = pending.pop() {
        ground.steps.take()?;
        let mut next = Vec::new();
        if ground.monitors.may_end(monitor) {
            next.push((None, (state, ground.monitors.end(monitor))));
        }
        for byte in keys.out_bytes(state).iter() {
            if let Some(moved) = ground.monitors.byte(monitor, byte, Reading::Free) {
                next.push((Some(byte), (keys.next(state, byte), moved)));
            }
        }
        for (byte, target) in next {
            edges.push(((state, monitor), byte, target));
            if seen.insert(target) {
                reached.push(target);
                pending.push(target);
            }
        }
    }
    let mut outs: Vec<MonitorId> =
        reached.iter().filter(|at| keys.is_accepting(at.0)).map(|at| at.1).collect();
    outs.sort_unstable();
    outs.dedup();
    let mut classes = Vec::with_capacity(outs.len());
    for out in outs {
        let mut fuel = Fuel::unlimited();
        let mut nfa = NfaBuilder::new(&mut fuel);
        let accept = nfa.state()?;
        let mut image: FxHashMap<Place, NfaStateId> = FxHashMap::default();
        for &at in &reached {
            image.insert(at, nfa.state()?);
        }
        for (from, byte, to) in &edges {
            match byte {
                None => nfa.empty(image[from], image[to])?,
                Some(byte) => nfa.byte(image[from], ByteSet::single(*byte), image[to])?,
            }
        }
        for at in reached.iter().filter(|at| at.1 == out && keys.is_accepting(at.0)) {
            nfa.empty(image[at], accept)?;
        }
        let words = determinize(&nfa.finish(image[&first], accept), &mut fuel)?;
        classes.push(KeyClass { out, words: words.count_words(words.start(), u64::MAX) });
    }
    Ok(classes)
}
