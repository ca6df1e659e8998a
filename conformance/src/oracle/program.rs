//! Every construct as a small local machine.
//!
//! A machine has local states; in one it may read a byte, read a token symbol, call another machine
//! (a child), or return. That is all that charts and futures know of constructs, so each construct
//! is defined here, once, in a few lines.

use super::{error::OracleError, operands, permute::PermuteMachine};
use formwork_automata::{ByteSet, Dfa, Fuel, StateId};
use formwork_grammar::{ExprId, Grammar, Limits, LookAhead, Node, Polarity, Repeat, RuleId};
use formwork_grammar::{TokenRef, TokenSet};
use formwork_vocab::{TokenId, Vocabulary};
use rustc_hash::FxHashMap;

/// A machine: a node of some rule's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(pub(super) u32);

/// A state of one machine; its meaning depends on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Local(pub(super) u32);

impl Local {
    /// Every machine but an automaton starts here.
    const ZERO: Self = Self(0);
    /// After the one thing a machine does.
    const DONE: Self = Self(1);
    /// Inside a limit that must be lifted on return.
    const LIMITED: Self = Self(2);
}

/// Whether the input is known or lies ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Horizon {
    Written,
    Future,
}

/// What a machine may do without reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Run a child, then go on.
    Call { child: NodeId, after: Local },
    /// Go on.
    Move(Local),
    /// Open a look-ahead.
    Look(u32),
    /// Run a child inside a token limit.
    Limit { child: NodeId, max: u32 },
    /// Write a key that differs from those before; any key of a class with so many words will do,
    /// only infinite classes where there is no number.
    FreshKey { enough: Option<usize>, after: Local },
}

#[derive(Debug)]
pub(super) enum Machine {
    Never,
    /// One byte of each set, in order. No set: the empty sequence.
    Bytes(Vec<ByteSet>),
    Seq(Vec<NodeId>),
    Alt(Vec<NodeId>),
    Repeat {
        child: NodeId,
        min: u32,
        max: Option<u32>,
    },
    Automaton(AutomatonMachine),
    /// Emittable tokens, ascending.
    Tokens(Vec<TokenId>),
    Look(u32),
    Limit {
        child: NodeId,
        max: u32,
    },
    Permute(PermuteMachine),
    /// To be replaced by what its operands' automata make of it.
    Unresolved(Operation),
}

/// An operation on languages over bytes.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    And(Vec<NodeId>),
    Not(NodeId),
    Look(NodeId, Polarity),
}

#[derive(Debug)]
pub(super) struct AutomatonMachine {
    pub(super) dfa: Dfa,
    /// State by local state.
    states: Vec<StateId>,
}

impl AutomatonMachine {
    pub(super) fn new(dfa: Dfa) -> Self {
        let states = std::iter::once(StateId::DEAD).chain(dfa.live_states()).collect();
        Self { dfa, states }
    }
}

/// All machines of a grammar.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) machines: Vec<Machine>,
    pub(super) root: NodeId,
    pub(super) looks: Vec<(Dfa, Polarity)>,
}

impl Program {
    /// Lowers a grammar.
    pub(super) fn new(
        grammar: &Grammar,
        vocabulary: &Vocabulary,
        limits: &Limits,
        fuel: &mut Fuel,
    ) -> Result<Self, OracleError> {
        let mut roots: FxHashMap<RuleId, NodeId> = FxHashMap::default();
        let mut bodies = Vec::new();
        let mut first = 0;
        for rule in grammar.lower_all(limits)? {
            let body = grammar.body(rule).map_err(formwork_grammar::GrammarError::from)?;
            roots.insert(rule, nth_node(first, body.root()));
            bodies.push((first, body.clone()));
            first += body.nodes().len();
        }
        let mut machines = Vec::with_capacity(first);
        for (first, body) in &bodies {
            let node = |expr: ExprId| nth_node(*first, expr);
            for construct in body.nodes() {
                machines.push(machine(construct, node, &roots, vocabulary)?);
            }
        }
        let root = roots[&grammar.root()];
        let mut program = Self { machines, root, looks: Vec::new() };
        operands::resolve(&mut program, fuel)?;
        Ok(program)
    }

    pub(super) fn machine(&self, node: NodeId) -> &Machine {
        &self.machines[node.0 as usize]
    }

    /// Whether anything here counts tokens.
    pub(super) fn counts_tokens(&self) -> bool {
        self.machines.iter().any(|machine| matches!(machine, Machine::Limit { .. }))
    }

    /// Whether futures are only known between two bounds.
    pub(super) fn has_many_keys(&self) -> bool {
        let many = |machine: &Machine| matches!(machine, Machine::Permute(p) if p.has_many_keys());
        self.machines.iter().any(many)
    }

    pub(super) fn start(&self, node: NodeId) -> Local {
        match self.machine(node) {
            Machine::Automaton(automaton) => local(automaton.dfa.start().index()),
            _ => Local::ZERO,
        }
    }

    /// Whether the machine may be done in this state.
    pub(super) fn returns(&self, node: NodeId, at: Local) -> bool {
        match self.machine(node) {
            Machine::Never | Machine::Unresolved(_) => false,
            Machine::Bytes(sets) => at.0 as usize == sets.len(),
            Machine::Seq(parts) => at.0 as usize == parts.len(),
            Machine::Repeat { min, .. } => at.0 >= *min,
            Machine::Automaton(automaton) => {
                automaton.dfa.is_accepting(automaton.states[at.0 as usize])
            }
            Machine::Permute(permute) => permute.returns(at),
            Machine::Alt(_) | Machine::Tokens(_) | Machine::Look(_) | Machine::Limit { .. } => {
                at == Local::DONE
            }
        }
    }

    /// Appends what the machine may do without reading.
    pub(super) fn steps(
        &mut self,
        node: NodeId,
        at: Local,
        horizon: Horizon,
        steps: &mut Vec<Step>,
    ) {
        match &mut self.machines[node.0 as usize] {
            Machine::Seq(parts) => {
                let child = parts.get(at.0 as usize).copied();
                steps.extend(child.map(|child| Step::Call { child, after: Local(at.0 + 1) }));
            }
            Machine::Alt(choices) if at == Local::ZERO => {
                let call = |&child: &NodeId| Step::Call { child, after: Local::DONE };
                steps.extend(choices.iter().map(call));
            }
            Machine::Repeat { child, min, max } if max.is_none_or(|max| at.0 < max) => {
                // Without a greatest number, what exceeds the least is all the same.
                let count = if max.is_none() { (at.0 + 1).min(*min) } else { at.0 + 1 };
                steps.push(Step::Call { child: *child, after: Local(count) });
            }
            Machine::Look(look) if at == Local::ZERO => steps.push(Step::Look(*look)),
            Machine::Limit { child, max } if at == Local::ZERO => {
                steps.push(Step::Limit { child: *child, max: *max });
            }
            Machine::Permute(permute) => permute.steps(at, horizon, steps),
            _ => {}
        }
    }

    /// The bytes that the machine itself may read.
    pub(super) fn bytes(&self, node: NodeId, at: Local) -> ByteSet {
        match self.machine(node) {
            Machine::Bytes(sets) => sets.get(at.0 as usize).copied().unwrap_or_default(),
            Machine::Automaton(automaton) => {
                automaton.dfa.out_bytes(automaton.states[at.0 as usize])
            }
            Machine::Permute(permute) => permute.bytes(at),
            _ => ByteSet::EMPTY,
        }
    }

    /// The state after a byte.
    pub(super) fn read(
        &mut self,
        node: NodeId,
        at: Local,
        byte: u8,
        horizon: Horizon,
    ) -> Option<Local> {
        match &mut self.machines[node.0 as usize] {
            Machine::Bytes(sets) => {
                let set = sets.get(at.0 as usize)?;
                set.contains(byte).then_some(Local(at.0 + 1))
            }
            Machine::Automaton(automaton) => {
                let next = automaton.dfa.next(automaton.states[at.0 as usize], byte);
                (!next.is_dead()).then(|| local(next.index()))
            }
            Machine::Permute(permute) => permute.read(at, byte, horizon),
            _ => None,
        }
    }

    /// The token symbols that the machine may read, and the state after one.
    pub(super) fn symbols(&self, node: NodeId, at: Local) -> Option<(&[TokenId], Local)> {
        match self.machine(node) {
            Machine::Tokens(tokens) if at == Local::ZERO => Some((tokens, Local::DONE)),
            _ => None,
        }
    }

    /// The state after a look-ahead was opened.
    pub(super) fn after_look() -> Local {
        Local::DONE
    }

    /// What a limit's machine waits in, by whether the limit came into force.
    pub(super) fn limit_waits(in_force: bool) -> Local {
        if in_force { Local::LIMITED } else { Local::DONE }
    }

    /// Where a machine goes on when a child has returned, and whether a limit is lifted.
    pub(super) fn resumes(&self, node: NodeId, after: Local) -> (Local, Lift) {
        match self.machine(node) {
            Machine::Limit { .. } if after == Local::LIMITED => (Local::DONE, Lift::Limit),
            _ => (after, Lift::Nothing),
        }
    }

    /// The machines that a machine may call.
    pub(super) fn children(&self, node: NodeId) -> Vec<NodeId> {
        match self.machine(node) {
            Machine::Seq(children)
            | Machine::Alt(children)
            | Machine::Unresolved(Operation::And(children)) => children.clone(),
            Machine::Repeat { child, .. }
            | Machine::Limit { child, .. }
            | Machine::Unresolved(Operation::Not(child) | Operation::Look(child, _)) => {
                vec![*child]
            }
            Machine::Permute(permute) => permute.children(),
            _ => Vec::new(),
        }
    }
}

/// What ends when a child returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lift {
    Limit,
    Nothing,
}

fn local(index: usize) -> Local {
    Local(u32::try_from(index).expect("local states are u32"))
}

fn nth_node(first: usize, expr: ExprId) -> NodeId {
    NodeId(u32::try_from(first + expr.index()).expect("nodes are u32"))
}

/// The machine of one construct.
fn machine(
    construct: &Node,
    node: impl Fn(ExprId) -> NodeId + Copy,
    roots: &FxHashMap<RuleId, NodeId>,
    vocabulary: &Vocabulary,
) -> Result<Machine, OracleError> {
    let nodes = |exprs: &[ExprId]| exprs.iter().map(|&expr| node(expr)).collect();
    Ok(match construct {
        Node::Never => Machine::Never,
        Node::Empty => Machine::Bytes(Vec::new()),
        Node::Literal(bytes) => {
            Machine::Bytes(bytes.iter().map(|&byte| ByteSet::single(byte)).collect())
        }
        Node::Bytes(set) => Machine::Bytes(vec![*set]),
        Node::Seq(parts) => Machine::Seq(nodes(parts)),
        Node::Alt(choices) => Machine::Alt(nodes(choices)),
        Node::Repeat(Repeat { expr, min, max }) => {
            Machine::Repeat { child: node(*expr), min: *min, max: *max }
        }
        Node::Rule(rule) => Machine::Seq(vec![roots[rule]]),
        Node::Annotated { expr, .. } => Machine::Seq(vec![node(*expr)]),
        Node::Automaton(dfa) => Machine::Automaton(AutomatonMachine::new((**dfa).clone())),
        Node::And(operands) => Machine::Unresolved(Operation::And(nodes(operands))),
        Node::Not(operand) => Machine::Unresolved(Operation::Not(node(*operand))),
        Node::Tokens(set) => Machine::Tokens(tokens_of(set, vocabulary)?),
        Node::LookAhead(LookAhead { expr, polarity }) => {
            Machine::Unresolved(Operation::Look(node(*expr), *polarity))
        }
        Node::Permute(permute) => Machine::Permute(PermuteMachine::new(permute, node)),
        Node::TokenLimit { expr, max } => Machine::Limit { child: node(*expr), max: *max },
        // A construct that this oracle does not know must not pass for something else.
        _ => return Err(OracleError::Construct),
    })
}

/// The emittable tokens of a set, ascending.
pub(crate) fn tokens_of(
    set: &TokenSet,
    vocabulary: &Vocabulary,
) -> Result<Vec<TokenId>, OracleError> {
    let mut ranges = Vec::with_capacity(set.tokens.len());
    for token in &set.tokens {
        ranges.push(match token {
            TokenRef::Ids(first, last) => *first..=*last,
            TokenRef::Name(name) => {
                let unknown = || OracleError::UnknownToken { name: name.clone() };
                let id = vocabulary.by_name(name).ok_or_else(unknown)?.as_u32();
                id..=id
            }
        });
    }
    let known = u32::try_from(vocabulary.tokenizer_len()).expect("ids are u32");
    let ids = (0..known).map(TokenId::new).filter(|&id| vocabulary.is_emittable(id));
    let listed = |id: TokenId| ranges.iter().any(|range| range.contains(&id.as_u32()));
    Ok(match set.negated {
        false => ids.filter(|&id| listed(id)).collect(),
        true => ids.filter(|&id| !listed(id) && !vocabulary.eos().contains(&id)).collect(),
    })
}
