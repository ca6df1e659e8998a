//! An automaton as a graph for people: states, and edges that carry sets of bytes.

use formwork::automata::{ByteSet, Dfa, StateId};
use std::{collections::BTreeMap, fmt};

/// A graph of an automaton. States keep their numbers.
#[derive(Debug)]
pub(super) struct Graph {
    /// Number of the start state; `None` when nothing is accepted.
    pub(super) start: Option<usize>,
    pub(super) states: Vec<State>,
    /// One edge at most between two states, by where they begin.
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) number: usize,
    pub(super) accepting: bool,
}

#[derive(Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: ByteSet,
}

/// An automaton is too large to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyStates {
    states: usize,
    limit: usize,
}

impl fmt::Display for TooManyStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, limit } = self;
        write!(f, "the automaton has {states} states, too many to draw: --max-states is {limit}")
    }
}

impl std::error::Error for TooManyStates {}

/// Bytes as ranges, ascending. Where most bytes are members, those that are not.
pub(super) struct Label(pub(super) ByteSet);

/// The most ranges that a label shows.
const SHOWN_RANGES: usize = 12;

impl Graph {
    /// The graph of an automaton over bytes.
    pub(super) fn new(dfa: &Dfa, max_states: usize) -> Result<Self, TooManyStates> {
        let states = dfa.live_states().count();
        if states > max_states {
            return Err(TooManyStates { states, limit: max_states });
        }
        let mut edges = Vec::new();
        for from in dfa.live_states() {
            let mut targets: BTreeMap<StateId, ByteSet> = BTreeMap::new();
            for (class, to) in dfa.byte_edges(from) {
                let bytes = targets.entry(to).or_default();
                *bytes = bytes.union(&dfa.classes().members(class));
            }
            edges.extend(targets.into_iter().map(|(to, bytes)| Edge {
                from: from.index(),
                to: to.index(),
                bytes,
            }));
        }
        let state =
            |state: StateId| State { number: state.index(), accepting: dfa.is_accepting(state) };
        Ok(Self {
            start: (!dfa.is_empty()).then(|| dfa.start().index()),
            states: dfa.live_states().map(state).collect(),
            edges,
        })
    }

    /// Graphviz text: accepting states are doubled, the start has an arrow from nowhere.
    pub(super) fn dot(&self) -> String {
        let mut out = String::from(
            "digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n  start [shape=point];\n",
        );
        for State { number, accepting } in &self.states {
            let shape = if *accepting { " [shape=doublecircle]" } else { "" };
            out += &format!("  q{number}{shape};\n");
        }
        if let Some(start) = self.start {
            out += &format!("  start -> q{start};\n");
        }
        for Edge { from, to, bytes } in &self.edges {
            let label = Label(*bytes).to_string().replace('\\', "\\\\").replace('"', "\\\"");
            out += &format!("  q{from} -> q{to} [label=\"{label}\"];\n");
        }
        out + "}\n"
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let complement = self.0.complement();
        if complement.is_empty() {
            return write!(f, "any byte");
        }
        let most_are_members = complement.len() < 64;
        let shown = if most_are_members { complement } else { self.0 };
        if most_are_members {
            write!(f, "not ")?;
        }
        let ranges = ranges(&shown);
        for (index, &(first, last)) in ranges.iter().take(SHOWN_RANGES).enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { " " }, name(first))?;
            match last - first {
                0 => {}
                1 => write!(f, " {}", name(last))?,
                _ => write!(f, "-{}", name(last))?,
            }
        }
        match ranges.len().checked_sub(SHOWN_RANGES) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more ranges"),
        }
    }
}

/// First and last byte of every run.
fn ranges(set: &ByteSet) -> Vec<(u8, u8)> {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in set.iter() {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == byte => *last = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    ranges
}

/// A byte as itself where that can be seen and mistaken for nothing else.
fn name(byte: u8) -> String {
    match byte {
        b' ' => "space".into(),
        b'-' => "'-'".into(),
        _ => byte.escape_ascii().to_string().replace("\\\"", "\"").replace("\\'", "'"),
    }
}

#[cfg(test)]
pub(super) mod tests;
