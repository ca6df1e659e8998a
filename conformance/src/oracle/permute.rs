//! Items in any order as a local machine: which members occurred, how many items, which keys.
//!
//! Keys are read by this machine itself, byte by byte, since their text must be known. While the
//! input is known, keys are kept in full. For futures that is impossible when there are many keys:
//! then only their number is kept, and a key yet to be begun is one step of its own
//! ([`Step::FreshKey`]), about which `futures` knows a lower and an upper bound.

use super::program::{Horizon, Local, NodeId, Step};
use formwork_automata::{ByteSet, Dfa, StateId};
use formwork_grammar::{Permute, Uniqueness};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Up to so many keys are kept in full in futures too: `2^8` sets of them.
const FEW_KEYS: u64 = 8;

/// A permutation, with the states it has been in so far.
#[derive(Debug)]
pub(super) struct PermuteMachine {
    members: Vec<(NodeId, Required)>,
    rest: Option<RestMachine>,
    separator: NodeId,
    min: u32,
    max: Option<u32>,
    states: Vec<State>,
    ids: FxHashMap<State, Local>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Required {
    Yes,
    No,
}

#[derive(Debug)]
struct RestMachine {
    key: NodeId,
    tail: NodeId,
    distinct: bool,
    /// The language of distinct keys, once it is known.
    keys: Option<Dfa>,
    many_keys: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    seen: Vec<bool>,
    /// Items so far; without a greatest number, capped at what still matters.
    count: u32,
    keys: Keys,
    phase: Phase,
}

/// The keys of the rest items so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Keys {
    Written(BTreeSet<Vec<u8>>),
    /// At least so many, when the future began.
    Number(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Start,
    BeforeItem,
    InKey(StateId, Text),
    BeforeTail,
    AfterItem,
}

/// The key being written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Text {
    Written(Vec<u8>),
    /// It differs from every key already.
    Fresh,
}

impl PermuteMachine {
    /// `node` gives the machine of each child.
    pub(super) fn new(
        permute: &Permute,
        node: impl Fn(formwork_grammar::ExprId) -> NodeId,
    ) -> Self {
        let required = |required| if required { Required::Yes } else { Required::No };
        let members: Vec<_> =
            permute.members.iter().map(|m| (node(m.expr), required(m.required))).collect();
        let rest = permute.rest.map(|rest| RestMachine {
            key: node(rest.key),
            tail: node(rest.tail),
            distinct: rest.uniqueness == Uniqueness::Distinct,
            keys: None,
            many_keys: false,
        });
        let separator = node(permute.separator);
        let (min, max) = (permute.min, permute.max);
        let (states, ids) = (Vec::new(), FxHashMap::default());
        let start = State {
            seen: vec![false; members.len()],
            count: 0,
            keys: Keys::Written(BTreeSet::new()),
            phase: Phase::Start,
        };
        let mut machine = Self { members, rest, separator, min, max, states, ids };
        machine.intern(start);
        machine
    }

    /// The key's machine, where keys are distinct and their language is not known yet.
    pub(super) fn unresolved_key(&self) -> Option<NodeId> {
        let rest = self.rest.as_ref()?;
        (rest.distinct && rest.keys.is_none()).then_some(rest.key)
    }

    pub(super) fn resolve_keys(&mut self, keys: Dfa) {
        let rest = self.rest.as_mut().expect("only a rest has keys");
        rest.many_keys = keys.count_words(keys.start(), FEW_KEYS + 1) > FEW_KEYS;
        rest.keys = Some(keys);
    }

    /// The language of distinct keys.
    pub(super) fn keys(&self) -> Option<&Dfa> {
        self.rest.as_ref()?.keys.as_ref()
    }

    /// Whether there are too many distinct keys to keep them all in futures.
    pub(super) fn has_many_keys(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.many_keys)
    }

    pub(super) fn children(&self) -> Vec<NodeId> {
        let members = self.members.iter().map(|member| member.0);
        let rest = self.rest.iter().flat_map(|rest| [rest.key, rest.tail]);
        members.chain(rest).chain([self.separator]).collect()
    }

    fn intern(&mut self, state: State) -> Local {
        if let Some(&id) = self.ids.get(&state) {
            return id;
        }
        let id = Local(u32::try_from(self.states.len()).expect("local states are u32"));
        self.states.push(state.clone());
        self.ids.insert(state, id);
        id
    }

    fn state(&self, local: Local) -> &State {
        &self.states[local.0 as usize]
    }

    pub(super) fn returns(&self, local: Local) -> bool {
        let state = self.state(local);
        let between_items = matches!(state.phase, Phase::Start | Phase::AfterItem);
        let complete =
            self.members.iter().zip(&state.seen).all(|(m, seen)| *seen || m.1 == Required::No);
        between_items && complete && state.count >= self.min
    }

    /// One item more; what exceeds the least is all the same where there is no greatest number.
    fn counted(&self, count: u32) -> u32 {
        match self.max {
            Some(_) => count + 1,
            None => (count + 1).min(self.min),
        }
    }

    pub(super) fn steps(&mut self, local: Local, horizon: Horizon, steps: &mut Vec<Step>) {
        let state = self.state(local).clone();
        let another = self.max.is_none_or(|max| state.count < max);
        match &state.phase {
            Phase::Start | Phase::BeforeItem if another => {
                self.members_to_come(&state, steps);
                self.rest_to_come(&state, horizon, steps);
            }
            Phase::AfterItem if another => {
                let after = self.intern(State { phase: Phase::BeforeItem, ..state });
                steps.push(Step::Call { child: self.separator, after });
            }
            Phase::InKey(at, text) => {
                let (at, text) = (*at, text.clone());
                if self.keys().expect("resolved").is_accepting(at) {
                    steps.extend(self.key_done(state, &text, horizon).map(Step::Move));
                }
            }
            Phase::BeforeTail => {
                let tail = self.rest.as_ref().expect("a tail belongs to a rest").tail;
                let after = self.intern(State { phase: Phase::AfterItem, ..state });
                steps.push(Step::Call { child: tail, after });
            }
            _ => {}
        }
    }

    fn members_to_come(&mut self, state: &State, steps: &mut Vec<Step>) {
        let count = self.counted(state.count);
        for index in (0..self.members.len()).filter(|&index| !state.seen[index]) {
            let mut next = State { count, phase: Phase::AfterItem, ..state.clone() };
            next.seen[index] = true;
            let after = self.intern(next);
            steps.push(Step::Call { child: self.members[index].0, after });
        }
    }

    fn rest_to_come(&mut self, state: &State, horizon: Horizon, steps: &mut Vec<Step>) {
        let Some(rest) = &self.rest else { return };
        let key = rest.key;
        let count = self.counted(state.count);
        let next = State { count, phase: Phase::BeforeTail, ..state.clone() };
        let Some(keys) = rest.keys.as_ref() else {
            let after = self.intern(next);
            steps.push(Step::Call { child: key, after });
            return;
        };
        if horizon == Horizon::Future && self.has_many_keys() {
            let written = state.keys.number();
            let enough = self.items_left(state).map(|left| left + written);
            let after = self.intern(State { keys: Keys::Number(written), ..next });
            steps.push(Step::FreshKey { enough, after });
        } else {
            let phase = Phase::InKey(keys.start(), Text::Written(Vec::new()));
            steps.push(Step::Move(self.intern(State { count, phase, ..state.clone() })));
        }
    }

    /// How many more items may follow, as far as that is bounded: by the greatest number, or while
    /// the least is not reached.
    fn items_left(&self, state: &State) -> Option<usize> {
        match self.max {
            Some(max) => Some(max as usize),
            None => (state.count < self.min).then_some(self.min as usize),
        }
    }

    /// The state after a key that ends here, if it differs from all before it.
    fn key_done(&mut self, state: State, text: &Text, horizon: Horizon) -> Option<Local> {
        let keys = match (state.keys, text) {
            (Keys::Written(keys), Text::Written(text)) if keys.contains(text) => return None,
            (Keys::Written(mut keys), Text::Written(text))
                if horizon == Horizon::Written || !self.has_many_keys() =>
            {
                keys.insert(text.clone());
                Keys::Written(keys)
            }
            (keys, _) => Keys::Number(keys.number() + 1),
        };
        Some(self.intern(State { keys, phase: Phase::BeforeTail, ..state }))
    }

    /// The bytes of a key that may come next.
    pub(super) fn bytes(&self, local: Local) -> ByteSet {
        match (&self.state(local).phase, self.keys()) {
            (Phase::InKey(at, _), Some(keys)) => keys.out_bytes(*at),
            _ => ByteSet::EMPTY,
        }
    }

    pub(super) fn read(&mut self, local: Local, byte: u8, horizon: Horizon) -> Option<Local> {
        let state = self.state(local).clone();
        let Phase::InKey(at, text) = state.phase else { return None };
        let at = self.keys().expect("resolved").next(at, byte);
        if at.is_dead() {
            return None;
        }
        let text = match text {
            Text::Fresh => Text::Fresh,
            Text::Written(mut text) => {
                text.push(byte);
                let forget = horizon == Horizon::Future
                    && self.has_many_keys()
                    && !state.keys.has_key_beginning_with(&text);
                if forget { Text::Fresh } else { Text::Written(text) }
            }
        };
        Some(self.intern(State { phase: Phase::InKey(at, text), ..state }))
    }
}

impl Keys {
    fn number(&self) -> usize {
        match self {
            Self::Written(keys) => keys.len(),
            Self::Number(number) => *number,
        }
    }

    fn has_key_beginning_with(&self, text: &[u8]) -> bool {
        match self {
            Self::Written(keys) => keys.iter().any(|key| key.starts_with(text)),
            Self::Number(_) => false,
        }
    }
}
