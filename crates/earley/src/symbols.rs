//! Automata whose words are symbols between two marks, the symbols counted.
//!
//! # Idea
//! A string that must match a pattern and have so many characters is an intersection; as one
//! automaton it has a copy of the pattern for every count. Instead the automaton of the pattern
//! stays as it is, its frame counts the characters, and what a state has left to say is which
//! numbers of characters can still follow ([`Symbols::fits`]).
//!
//! # Exactness
//! The numbers of symbols on the ways from a state to the end are a set between a least and a
//! greatest. A set without a greatest has no gap wider than the number of states: a longer word can
//! be shortened by a loop. Only windows narrower than that need more than these two numbers; for
//! those the states are found that have exactly `k` symbols left, `k` by `k`.

use formwork_automata::{Dfa, Exhausted, Fuel, NfaBuilder, StateId, determinize};
use std::sync::{Arc, PoisonError, RwLock};

/// Bytes of the sets of states by symbols left; what would need more is not done this way.
const MAX_LAYER_BYTES: usize = 8 << 20;

/// What counts, and between which marks it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks<'a> {
    pub(crate) before: &'a [u8],
    /// An automaton of short words, none empty, none the begin of another.
    pub(crate) symbol: &'a Dfa,
    pub(crate) after: &'a [u8],
}

/// Where in a word of marks and symbols a state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Before(usize),
    /// In a symbol, or between two: at its start.
    Symbol(StateId),
    After(usize),
}

impl Marks<'_> {
    fn first(&self) -> Phase {
        match self.before.is_empty() {
            true => Phase::Symbol(self.symbol.start()),
            false => Phase::Before(0),
        }
    }

    fn is_end(&self, phase: Phase) -> bool {
        match phase {
            Phase::Before(_) => false,
            Phase::Symbol(state) => self.after.is_empty() && state == self.symbol.start(),
            Phase::After(at) => at == self.after.len(),
        }
    }

    /// The phase after a byte, and whether that ends a symbol.
    fn next(&self, phase: Phase, byte: u8) -> Option<(Phase, bool)> {
        match phase {
            Phase::Before(at) if self.before[at] == byte => Some(match at + 1 {
                all if all == self.before.len() => (Phase::Symbol(self.symbol.start()), false),
                at => (Phase::Before(at), false),
            }),
            Phase::Symbol(state) => {
                let next = self.symbol.next(state, byte);
                if !next.is_dead() {
                    return Some(match self.symbol.is_accepting(next) {
                        true => (Phase::Symbol(self.symbol.start()), true),
                        false => (Phase::Symbol(next), false),
                    });
                }
                let ends = state == self.symbol.start() && self.after.first() == Some(&byte);
                ends.then_some((Phase::After(1), false))
            }
            Phase::After(at) if self.after.get(at) == Some(&byte) => {
                Some((Phase::After(at + 1), false))
            }
            Phase::Before(_) | Phase::After(_) => None,
        }
    }
}

/// The symbols of an automaton.
#[derive(Debug)]
pub(crate) struct Symbols {
    /// By state: whether a byte read there belongs to a symbol.
    inside: Box<[bool]>,
    /// By state: whether it stands before a symbol.
    between: Box<[bool]>,
    /// By state: the least number of symbols to the end,
    least: Box<[u32]>,
    /// and the greatest, if there is one.
    most: Box<[Option<u32>]>,
    edges: Box<[Edge]>,
    accepting: Box<[bool]>,
    /// By number of symbols left: the states that can have so many. Grows.
    layers: RwLock<Arc<Vec<Arc<[bool]>>>>,
}

/// An edge between two states, by any byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: u32,
    to: u32,
    counts: bool,
}

impl Symbols {
    /// The symbols of an automaton; none where a word of it has another form, or a state can stand
    /// at different places of a word.
    pub(crate) fn new(dfa: &Dfa, marks: Marks<'_>) -> Option<Self> {
        let mut phases: Vec<Option<Phase>> = vec![None; dfa.len()];
        let mut pending = vec![dfa.start()];
        phases[dfa.start().index()] = Some(marks.first());
        let mut edges = Vec::new();
        while let Some(state) = pending.pop() {
            let phase = phases[state.index()]?;
            if dfa.is_accepting(state) && !marks.is_end(phase) {
                return None;
            }
            for byte in dfa.out_bytes(state).iter() {
                let to = dfa.next(state, byte);
                let (after, counts) = marks.next(phase, byte)?;
                match phases[to.index()] {
                    Some(known) if known != after => return None,
                    Some(_) => {}
                    None => {
                        phases[to.index()] = Some(after);
                        pending.push(to);
                    }
                }
                edges.push(Edge { from: state.as_u32(), to: to.as_u32(), counts });
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let accepting: Box<[bool]> = std::iter::once(false)
            .chain(dfa.live_states().map(|state| dfa.is_accepting(state)))
            .collect();
        let is_in = |phase: &Option<Phase>| matches!(phase, Some(Phase::Symbol(_)));
        let start = Some(Phase::Symbol(marks.symbol.start()));
        let least = least(&edges, &accepting);
        let most = most(&edges, dfa.len());
        Some(Self {
            inside: phases.iter().map(is_in).collect(),
            between: phases.iter().map(|&phase| phase == start).collect(),
            least,
            most,
            edges: edges.into(),
            accepting,
            layers: RwLock::default(),
        })
    }

    /// Whether the byte between two states ends a symbol.
    #[inline]
    pub(crate) fn counts(&self, from: StateId, to: StateId) -> bool {
        self.inside[from.index()] && self.between[to.index()]
    }

    /// The least number of symbols from a state to the end.
    pub(crate) fn least(&self, state: StateId) -> u32 {
        self.least[state.index()]
    }

    /// The greatest, if there is one.
    pub(crate) fn most(&self, state: StateId) -> Option<u32> {
        self.most[state.index()]
    }

    /// Whether the bounds can be asked for within reason.
    pub(crate) fn can_count(&self, min: u32, max: Option<u32>) -> bool {
        let is_narrow = max.is_some_and(|max| ((max - min) as usize) < self.least.len());
        let layers = max.unwrap_or(min) as usize;
        min == 0 || !is_narrow || layers.saturating_mul(self.least.len()) <= MAX_LAYER_BYTES
    }

    /// Whether so many symbols, from `min` to `max`, can follow from a state to the end.
    pub(crate) fn fits(&self, state: StateId, min: u32, max: Option<u32>) -> bool {
        let least = self.least(state);
        if max.is_some_and(|max| max < least.max(min)) {
            return false;
        }
        if min <= least {
            return true;
        }
        let last = match (self.most(state), max) {
            (Some(most), _) if most < min => return false,
            (Some(most), max) => max.map_or(most, |max| max.min(most)),
            (None, Some(max)) if ((max - min) as usize) < self.least.len() => max,
            (None, _) => return true,
        };
        self.has_exactly(state, min, last)
    }

    /// Whether a state stands in a symbol or between two.
    pub(crate) fn is_inside(&self, state: StateId) -> bool {
        self.inside[state.index()]
    }

    /// Whether windows so wide are decided by the least number alone, in symbols and between them.
    pub(crate) fn is_wide(&self, min: u32, max: Option<u32>) -> bool {
        let states = self.least.len();
        let is_endless = |state: usize| !self.inside[state] || self.most[state].is_none();
        max.is_none_or(|max| (max - min) as usize >= states) && (1..states).all(is_endless)
    }

    fn has_exactly(&self, state: StateId, min: u32, max: u32) -> bool {
        let layers = self.layers(max);
        let mut layers = layers[min as usize..=max as usize].iter();
        layers.any(|layer| layer[state.index()])
    }

    /// The states by number of symbols left, up to a number.
    fn layers(&self, most: u32) -> Arc<Vec<Arc<[bool]>>> {
        let layers = self.layers.read().unwrap_or_else(PoisonError::into_inner);
        if layers.len() > most as usize {
            return layers.clone();
        }
        drop(layers);
        let mut layers = self.layers.write().unwrap_or_else(PoisonError::into_inner);
        let mut more = Vec::clone(&layers);
        while more.len() <= most as usize {
            let layer = self.layer(more.last().map(|layer| &**layer));
            more.push(layer.into());
        }
        *layers = Arc::new(more);
        layers.clone()
    }

    /// The states with one symbol more to come than those of a layer.
    fn layer(&self, after: Option<&[bool]>) -> Box<[bool]> {
        let mut layer = match after {
            None => self.accepting.clone(),
            Some(_) => vec![false; self.accepting.len()].into(),
        };
        if let Some(after) = after {
            for edge in self.edges.iter().filter(|edge| edge.counts) {
                layer[edge.from as usize] |= after[edge.to as usize];
            }
        }
        // Bytes inside a symbol and marks: few in a row.
        loop {
            let mut changed = false;
            for edge in self.edges.iter().rev().filter(|edge| !edge.counts) {
                if layer[edge.to as usize] && !layer[edge.from as usize] {
                    layer[edge.from as usize] = true;
                    changed = true;
                }
            }
            if !changed {
                return layer;
            }
        }
    }
}

/// The least number of symbols from each state to the end: a search by distance, where only the
/// edges that end a symbol have a length.
fn least(edges: &[Edge], accepting: &[bool]) -> Box<[u32]> {
    let mut into: Vec<Vec<(u32, bool)>> = vec![Vec::new(); accepting.len()];
    edges.iter().for_each(|edge| into[edge.to as usize].push((edge.from, edge.counts)));
    let mut least = vec![u32::MAX; accepting.len()];
    let mut queue: std::collections::VecDeque<(usize, u32)> =
        (0..accepting.len()).filter(|&state| accepting[state]).map(|state| (state, 0)).collect();
    while let Some((state, distance)) = queue.pop_front() {
        if least[state] <= distance {
            continue;
        }
        least[state] = distance;
        for &(from, counts) in &into[state] {
            match counts {
                true => queue.push_back((from as usize, distance + 1)),
                false => queue.push_front((from as usize, distance)),
            }
        }
    }
    least.into()
}

/// The greatest number of symbols from each state to the end, where the automaton, being trimmed,
/// leads into no circle: states whose successors are all done are done.
fn most(edges: &[Edge], states: usize) -> Box<[Option<u32>]> {
    let mut open = vec![0_usize; states];
    let mut into: Vec<Vec<(u32, bool)>> = vec![Vec::new(); states];
    for edge in edges {
        open[edge.from as usize] += 1;
        into[edge.to as usize].push((edge.from, edge.counts));
    }
    let mut longest = vec![0_u32; states];
    let mut most = vec![None; states];
    let mut done: Vec<usize> = (0..states).filter(|&state| open[state] == 0).collect();
    while let Some(state) = done.pop() {
        most[state] = Some(longest[state]);
        for &(from, counts) in &into[state] {
            let from = from as usize;
            longest[from] = longest[from].max(longest[state] + u32::from(counts));
            open[from] -= 1;
            if open[from] == 0 {
                done.push(from);
            }
        }
    }
    most.into()
}

/// The automaton of all words of marks and symbols, of any number.
pub(crate) fn marked(marks: Marks<'_>, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, between, end) = (nfa.state()?, nfa.state()?, nfa.state()?);
    nfa.literal(start, marks.before, between)?;
    nfa.automaton(between, marks.symbol, between)?;
    nfa.literal(between, marks.after, end)?;
    let nfa = nfa.finish(start, end);
    determinize(&nfa, fuel)
}
