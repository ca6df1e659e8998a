//! Whether the states of an automaton take every text of a class.
//!
//! # Construction
//! The product of the automaton with the class's own (texts of the class, as UTF-8) is explored from
//! the states asked for. A pair whose automaton dies on a byte that the class has is a *fault*. The
//! distance of a pair is the least number of characters that begin on a way to a fault, found by one
//! backward search (edges that begin a character cost one, others nothing). A state at distance
//! `d` takes every text of `d - 1` characters; one that has no distance takes every text.
//!
//! The bound is *exact* when also no text of `d` characters is taken: when all ways die at the same
//! distance, on the first byte of a character.
//!
//! Cost: linear in the explored pairs and their edges.

use crate::{CharacterClass, catalogue::begins, utf8::Utf8};
use formwork_automata::{Dfa, StateId};
use rustc_hash::FxHashMap;

/// How a state takes the texts of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Not even every single character.
    No,
    /// Every text of up to so many characters, and some longer ones.
    AtLeast(usize),
    /// Every text of up to so many characters, and none that begins another.
    Exactly(usize),
    /// Every text.
    Any,
}

/// The fit of states with one class.
#[derive(Debug)]
pub struct Fits {
    by_state: FxHashMap<StateId, Fit>,
}

impl Fits {
    /// Decides the fit of `states`, and of those they lead to by texts of the class. The automaton
    /// is trimmed, as all public ones are.
    #[must_use]
    pub fn new(
        dfa: &Dfa,
        class: CharacterClass,
        states: impl IntoIterator<Item = StateId>,
    ) -> Self {
        let mut product = Product::new(dfa, class);
        product.explore(states);
        let distances = product.distances();
        let exact = product.exact(&distances);
        let by_state = product
            .pairs
            .iter()
            .enumerate()
            .filter(|(_, pair)| pair.0 == Utf8::Boundary)
            .map(|(at, pair)| {
                let fit = match distances[at] {
                    UNREACHED => Fit::Any,
                    1 => Fit::No,
                    distance if exact[at] => Fit::Exactly(distance as usize - 1),
                    distance => Fit::AtLeast(distance as usize - 1),
                };
                (pair.1, fit)
            })
            .collect();
        Self { by_state }
    }

    /// The fit of a state that was asked for or reached.
    #[must_use]
    pub fn fit(&self, state: StateId) -> Fit {
        self.by_state.get(&state).copied().unwrap_or(Fit::No)
    }
}

/// No fault can be reached.
const UNREACHED: u32 = u32::MAX;

struct Product<'a> {
    dfa: &'a Dfa,
    class: CharacterClass,
    /// One byte for each class of bytes and state after it, by state of the UTF-8.
    steps: [Vec<(u8, Utf8)>; 8],
    pairs: Vec<(Utf8, StateId)>,
    numbers: FxHashMap<(Utf8, StateId), u32>,
    /// Pairs with a dying edge.
    faults: Vec<bool>,
    /// Pairs whose edges all die.
    dead_ends: Vec<bool>,
    /// Targets by pair: `edges[first[at]..first[at + 1]]`.
    first: Vec<u32>,
    edges: Vec<u32>,
}

impl<'a> Product<'a> {
    fn new(dfa: &'a Dfa, class: CharacterClass) -> Self {
        Self {
            dfa,
            class,
            steps: STATES.map(|state| steps(dfa, class, state)),
            pairs: Vec::new(),
            numbers: FxHashMap::default(),
            faults: Vec::new(),
            dead_ends: Vec::new(),
            first: vec![0],
            edges: Vec::new(),
        }
    }

    fn explore(&mut self, states: impl IntoIterator<Item = StateId>) {
        for state in states {
            self.number((Utf8::Boundary, state));
        }
        let mut at = 0;
        while at < self.pairs.len() {
            let (utf8, state) = self.pairs[at];
            // A state that cannot even begin every character ends the way: its distance is one.
            let ends = utf8 == Utf8::Boundary && !begins(self.class, &self.dfa.out_bytes(state));
            let steps = std::mem::take(&mut self.steps[utf8 as usize]);
            let mut fault = ends;
            let mut alive = false;
            for &(byte, after) in &steps {
                let target = self.dfa.next(state, byte);
                fault |= target.is_dead();
                alive |= !target.is_dead();
                if !target.is_dead() && !ends {
                    let target = self.number((after, target));
                    self.edges.push(target);
                }
            }
            self.steps[utf8 as usize] = steps;
            self.faults.push(fault);
            self.dead_ends.push(!alive);
            self.first.push(u32::try_from(self.edges.len()).expect("edges are bounded by states"));
            at += 1;
        }
    }

    fn number(&mut self, pair: (Utf8, StateId)) -> u32 {
        let next = u32::try_from(self.pairs.len()).expect("pairs are at most eight a state");
        *self.numbers.entry(pair).or_insert_with(|| {
            self.pairs.push(pair);
            next
        })
    }

    fn targets(&self, at: usize) -> &[u32] {
        &self.edges[self.first[at] as usize..self.first[at + 1] as usize]
    }

    /// What reading on from a pair costs: one where a character begins.
    fn cost(&self, at: usize) -> u32 {
        u32::from(self.pairs[at].0 == Utf8::Boundary)
    }

    /// Characters begun until a fault, by pair.
    fn distances(&self) -> Vec<u32> {
        let sources = self.sources();
        let mut distances = vec![UNREACHED; self.pairs.len()];
        // Pairs by distance: the level in hand, and the next.
        let (mut level, mut next): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for at in (0..self.pairs.len()).filter(|&at| self.faults[at]) {
            distances[at] = self.cost(at);
            if distances[at] == 0 { &mut level } else { &mut next }.push(at as u32);
        }
        let mut distance = 0;
        loop {
            while let Some(at) = level.pop() {
                for &source in sources.of(at as usize) {
                    let reached = distance + self.cost(source as usize);
                    if reached < distances[source as usize] {
                        distances[source as usize] = reached;
                        if reached == distance { &mut level } else { &mut next }.push(source);
                    }
                }
            }
            if next.is_empty() {
                return distances;
            }
            distance += 1;
            // A pair that was lowered meanwhile has been done at its lower distance.
            level = std::mem::take(&mut next);
            level.retain(|&at| distances[at as usize] == distance);
        }
    }

    /// Whether all texts die at the distance of a pair, each where a character begins. Falsity
    /// spreads backwards from the pairs where something is uneven.
    fn exact(&self, distances: &[u32]) -> Vec<bool> {
        let even = |at: usize| {
            let within = distances[at].wrapping_sub(self.cost(at));
            if distances[at] == UNREACHED {
                return false;
            }
            if self.faults[at] {
                return self.cost(at) == 1 && self.dead_ends[at];
            }
            self.targets(at).iter().all(|&target| distances[target as usize] == within)
        };
        let mut exact: Vec<bool> = (0..self.pairs.len()).map(even).collect();
        let sources = self.sources();
        let mut uneven: Vec<u32> =
            (0..).zip(&exact).filter(|&(_, &exact)| !exact).map(|(at, _)| at).collect();
        while let Some(at) = uneven.pop() {
            for &source in sources.of(at as usize) {
                if std::mem::take(&mut exact[source as usize]) {
                    uneven.push(source);
                }
            }
        }
        exact
    }

    /// The edges turned round.
    fn sources(&self) -> Sources {
        let mut first = vec![0_u32; self.pairs.len() + 1];
        self.edges.iter().for_each(|&target| first[target as usize + 1] += 1);
        for at in 1..first.len() {
            first[at] += first[at - 1];
        }
        let mut place = first.clone();
        let mut sources = vec![0; self.edges.len()];
        for at in 0..self.pairs.len() {
            for &target in self.targets(at) {
                let place = &mut place[target as usize];
                sources[*place as usize] = u32::try_from(at).expect("pairs are numbered in u32");
                *place += 1;
            }
        }
        Sources { first, sources }
    }
}

struct Sources {
    first: Vec<u32>,
    sources: Vec<u32>,
}

impl Sources {
    fn of(&self, at: usize) -> &[u32] {
        &self.sources[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

const STATES: [Utf8; 8] = [
    Utf8::Boundary,
    Utf8::OneMore,
    Utf8::TwoMore,
    Utf8::ThreeMore,
    Utf8::AfterE0,
    Utf8::AfterEd,
    Utf8::AfterF0,
    Utf8::AfterF4,
];

/// The bytes that can follow in a text of the class, one for each pair of byte class and next state.
fn steps(dfa: &Dfa, class: CharacterClass, state: Utf8) -> Vec<(u8, Utf8)> {
    let mut seen: Vec<(usize, Utf8)> = Vec::new();
    let mut steps = Vec::new();
    for byte in 0..=255 {
        let Some(after) = class.next(state, byte) else { continue };
        let key = (dfa.classes().class(byte), after);
        if !seen.contains(&key) {
            seen.push(key);
            steps.push((byte, after));
        }
    }
    steps
}

#[cfg(test)]
mod tests;
