//! Automata of operands: what intersection, complement, look-ahead and distinct keys need.
//!
//! An operand's machines are poured into an NFA, local state by local state: a call is the child's
//! NFA between the state of the call and the state after it. Recursion is allowed where it is
//! linear. Right-linear: a call inside the component is the last thing its caller does, so it is an
//! edge to where the child begins, and all of the component ends in one place. Left-linear is the
//! mirror image. Right-linear is tried first.

use super::{
    error::OracleError,
    program::{AutomatonMachine, Horizon, Local, Machine, NodeId, Operation, Program, Step},
};
use formwork_automata::{BooleanOp, ByteSet, Dfa, Fuel, NfaBuilder, NfaStateId, determinize};
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces every unresolved operation and finds the language of every distinct key, those inside
/// operands first.
pub(super) fn resolve(program: &mut Program, fuel: &mut Fuel) -> Result<(), OracleError> {
    let all = (0..u32::try_from(program.machines.len()).expect("nodes are u32")).map(NodeId);
    for node in all {
        let mut stack = vec![node];
        while let Some(&top) = stack.last() {
            let operands = operands_of(program, top);
            let below = operands
                .iter()
                .flat_map(|&operand| std::iter::once(operand).chain(reachable(program, operand)));
            let mut below = below.filter(|&node| !operands_of(program, node).is_empty());
            match below.next() {
                Some(inner) if stack.contains(&inner) => {
                    return Err(OracleError::Operand { why: "contains itself" });
                }
                Some(inner) => stack.push(inner),
                None => {
                    replace(program, top, fuel)?;
                    stack.pop();
                }
            }
        }
    }
    Ok(())
}

/// The operands of a node that is not resolved yet.
fn operands_of(program: &Program, node: NodeId) -> Vec<NodeId> {
    match program.machine(node) {
        Machine::Unresolved(_) => program.children(node),
        Machine::Permute(permute) => permute.unresolved_key().into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The machines that a machine may call, directly or not.
fn reachable(program: &Program, node: NodeId) -> FxHashSet<NodeId> {
    let mut reached = FxHashSet::default();
    let mut pending = program.children(node);
    while let Some(node) = pending.pop() {
        if reached.insert(node) {
            pending.extend(program.children(node));
        }
    }
    reached
}

fn replace(program: &mut Program, node: NodeId, fuel: &mut Fuel) -> Result<(), OracleError> {
    let operation = match program.machine(node) {
        Machine::Unresolved(operation) => operation.clone(),
        Machine::Permute(permute) => {
            if let Some(key) = permute.unresolved_key() {
                let keys = language(program, key, fuel)?;
                if let Machine::Permute(permute) = &mut program.machines[node.0 as usize] {
                    permute.resolve_keys(keys);
                }
            }
            return Ok(());
        }
        _ => return Ok(()),
    };
    let machine = match operation {
        Operation::And(operands) => {
            let mut all = Dfa::any();
            for operand in operands {
                let next = language(program, operand, fuel)?;
                all = all.combine(&next, BooleanOp::Intersection, fuel)?;
            }
            Machine::Automaton(AutomatonMachine::new(all))
        }
        Operation::Not(operand) => {
            let inside = language(program, operand, fuel)?;
            let outside = Dfa::any().combine(&inside, BooleanOp::Difference, fuel)?;
            Machine::Automaton(AutomatonMachine::new(outside))
        }
        Operation::Look(operand, polarity) => {
            let language = language(program, operand, fuel)?;
            program.looks.push((language, polarity));
            let look = u32::try_from(program.looks.len() - 1).expect("look-aheads are u32");
            Machine::Look(look)
        }
    };
    program.machines[node.0 as usize] = machine;
    Ok(())
}

/// The automaton of an operand.
fn language(program: &mut Program, node: NodeId, fuel: &mut Fuel) -> Result<Dfa, OracleError> {
    let mut left_linear = FxHashSet::default();
    loop {
        match pour(program, node, &left_linear, fuel) {
            Ok(dfa) => return Ok(dfa),
            Err(PourError::NotRightLinear(component)) => {
                left_linear.insert(component);
            }
            Err(PourError::Oracle(error)) => return Err(error),
        }
    }
}

enum PourError {
    /// The component, named by its first node, must be tried as left-linear.
    NotRightLinear(NodeId),
    Oracle(OracleError),
}

impl<E: Into<OracleError>> From<E> for PourError {
    fn from(error: E) -> Self {
        Self::Oracle(error.into())
    }
}

/// Pour a machine between two states, as part of an entered component or alone.
struct Task {
    node: NodeId,
    from: NfaStateId,
    to: NfaStateId,
    entry: Option<usize>,
}

/// One entry into a component of machines that call each other.
struct Entry {
    component: NodeId,
    linearity: Linearity,
    from: NfaStateId,
    to: NfaStateId,
    /// Right-linear: where a machine begins. Left-linear: where it ends.
    anchors: FxHashMap<NodeId, NfaStateId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Linearity {
    Right,
    Left,
}

struct Pouring<'p, 'f> {
    program: &'p mut Program,
    nfa: NfaBuilder<'f>,
    tasks: Vec<Task>,
    entries: Vec<Entry>,
    left_linear: &'p FxHashSet<NodeId>,
    reachable: FxHashMap<NodeId, FxHashSet<NodeId>>,
}

fn pour(
    program: &mut Program,
    node: NodeId,
    left_linear: &FxHashSet<NodeId>,
    fuel: &mut Fuel,
) -> Result<Dfa, PourError> {
    let (tasks, entries) = (Vec::new(), Vec::new());
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    let reachable = FxHashMap::default();
    let mut pouring = Pouring { program, nfa, tasks, entries, left_linear, reachable };
    pouring.enter(node, start, accept)?;
    while let Some(task) = pouring.tasks.pop() {
        pouring.machine(&task)?;
    }
    let nfa = pouring.nfa.finish(start, accept);
    Ok(determinize(&nfa, fuel)?)
}

impl Pouring<'_, '_> {
    /// A call from outside the child's component.
    fn enter(&mut self, child: NodeId, from: NfaStateId, to: NfaStateId) -> Result<(), PourError> {
        let Some(component) = self.component(child) else {
            self.tasks.push(Task { node: child, from, to, entry: None });
            return Ok(());
        };
        // Anchors get loops, so they are states of their own.
        let anchor = self.nfa.state()?;
        let anchors = FxHashMap::from_iter([(child, anchor)]);
        let entry = Some(self.entries.len());
        let linearity = if self.left_linear.contains(&component) {
            self.nfa.empty(anchor, to)?;
            self.tasks.push(Task { node: child, from, to: anchor, entry });
            Linearity::Left
        } else {
            self.nfa.empty(from, anchor)?;
            self.tasks.push(Task { node: child, from: anchor, to, entry });
            Linearity::Right
        };
        self.entries.push(Entry { component, linearity, from, to, anchors });
        Ok(())
    }

    /// The first node of the component of machines that call each other, if this one is in one.
    fn component(&mut self, node: NodeId) -> Option<NodeId> {
        let called = self.reachable_from(node);
        if !called.contains(&node) {
            return None;
        }
        let mut called: Vec<NodeId> = called.iter().copied().collect();
        called.sort_unstable();
        called.into_iter().find(|&other| self.reachable_from(other).contains(&node))
    }

    fn reachable_from(&mut self, node: NodeId) -> &FxHashSet<NodeId> {
        self.reachable.entry(node).or_insert_with(|| reachable(self.program, node))
    }

    /// Pours all local states of one machine.
    fn machine(&mut self, task: &Task) -> Result<(), PourError> {
        let start = self.program.start(task.node);
        let mut states: FxHashMap<Local, NfaStateId> = FxHashMap::default();
        let mut pending = Vec::new();
        let first = self.state(start, &mut states, &mut pending)?;
        self.nfa.empty(task.from, first)?;
        let mut start_again = false;
        let mut inner_call_at_start = false;
        let mut steps = Vec::new();
        while let Some(at) = pending.pop() {
            let from = states[&at];
            if self.program.returns(task.node, at) {
                self.nfa.empty(from, task.to)?;
            }
            let mut by_target: FxHashMap<Local, ByteSet> = FxHashMap::default();
            for byte in self.program.bytes(task.node, at).iter() {
                if let Some(next) = self.program.read(task.node, at, byte, Horizon::Written) {
                    by_target.entry(next).or_default().insert(byte);
                }
            }
            for (next, set) in by_target {
                start_again |= next == start;
                let to = self.state(next, &mut states, &mut pending)?;
                self.nfa.byte(from, set, to)?;
            }
            self.check_operand(task.node, at)?;
            steps.clear();
            self.program.steps(task.node, at, Horizon::Written, &mut steps);
            for &step in &steps {
                match step {
                    Step::Move(next) => {
                        start_again |= next == start;
                        let to = self.state(next, &mut states, &mut pending)?;
                        self.nfa.empty(from, to)?;
                    }
                    Step::Call { child, after } => {
                        start_again |= after == start;
                        let to = self.state(after, &mut states, &mut pending)?;
                        if self.is_inner(task, child) {
                            inner_call_at_start |= at == start;
                            self.inner_call(task, (at, after), child, (from, to))?;
                        } else {
                            self.enter(child, from, to)?;
                        }
                    }
                    Step::Look(_) | Step::Limit { .. } | Step::FreshKey { .. } => {
                        return Err(
                            OracleError::Operand { why: "foresees or counts tokens" }.into()
                        );
                    }
                }
            }
        }
        let left = task.entry.is_some_and(|e| self.entries[e].linearity == Linearity::Left);
        if left && start_again && inner_call_at_start {
            return Err(OracleError::Operand { why: "is not regular" }.into());
        }
        Ok(())
    }

    fn state(
        &mut self,
        local: Local,
        states: &mut FxHashMap<Local, NfaStateId>,
        pending: &mut Vec<Local>,
    ) -> Result<NfaStateId, PourError> {
        if let Some(&state) = states.get(&local) {
            return Ok(state);
        }
        let state = self.nfa.state()?;
        states.insert(local, state);
        pending.push(local);
        Ok(state)
    }

    fn check_operand(&self, node: NodeId, at: Local) -> Result<(), PourError> {
        let why = match self.program.machine(node) {
            Machine::Permute(permute) if permute.has_many_keys() => "has too many distinct keys",
            _ if self.program.symbols(node, at).is_some() => "names tokens",
            _ => return Ok(()),
        };
        Err(OracleError::Operand { why }.into())
    }

    /// Whether a call stays inside the component that the caller is poured for.
    fn is_inner(&mut self, task: &Task, child: NodeId) -> bool {
        task.entry.is_some()
            && self.component(child).is_some_and(|component| {
                task.entry.is_some_and(|entry| self.entries[entry].component == component)
            })
    }

    fn inner_call(
        &mut self,
        task: &Task,
        (at, after): (Local, Local),
        child: NodeId,
        (from, to): (NfaStateId, NfaStateId),
    ) -> Result<(), PourError> {
        let index = task.entry.expect("an inner call is made inside a component");
        let linear = match self.entries[index].linearity {
            Linearity::Right => self.only_returns(task.node, after),
            Linearity::Left => at == self.program.start(task.node),
        };
        if !linear {
            return Err(match self.entries[index].linearity {
                Linearity::Right => PourError::NotRightLinear(self.entries[index].component),
                Linearity::Left => OracleError::Operand { why: "is not regular" }.into(),
            });
        }
        let known = self.entries[index].anchors.get(&child).copied();
        let anchor = match known {
            Some(anchor) => anchor,
            None => self.nfa.state()?,
        };
        let entry = &mut self.entries[index];
        entry.anchors.insert(child, anchor);
        let (begin, end) = match entry.linearity {
            Linearity::Right => (anchor, entry.to),
            Linearity::Left => (entry.from, anchor),
        };
        let right = entry.linearity == Linearity::Right;
        if known.is_none() {
            self.tasks.push(Task { node: child, from: begin, to: end, entry: task.entry });
        }
        match right {
            true => self.nfa.empty(from, anchor)?,
            false => self.nfa.empty(anchor, to)?,
        }
        Ok(())
    }

    /// Whether all that a machine can do in a state is to return.
    fn only_returns(&mut self, node: NodeId, at: Local) -> bool {
        let mut steps = Vec::new();
        self.program.steps(node, at, Horizon::Written, &mut steps);
        steps.is_empty()
            && self.program.bytes(node, at).is_empty()
            && self.program.returns(node, at)
    }
}
