//! Which states of an automaton no word tells apart.
//!
//! # Algorithm
//! First some rounds in the manner of Moore ("Gedanken-experiments on sequential machines", 1956):
//! two states stay together while they are alike and lead to states that were together. A round is
//! linear, reads memory in order, and most automata that people write down are done after a few.
//!
//! Where they are not (a cycle of 20,000 states needs 20,000 rounds) Hopcroft's refinement goes on,
//! in the form of Valmari ("Fast brief practical DFA minimization", Information Processing Letters
//! 112(6), 2012). Two partitions refine each other: blocks of states, and *cords* of edges (edges of
//! one cord read the same column and lead into one block).
//! ```text
//! blocks: as the rounds left them;  cords: edges by column
//! for each cord: split every block by "has an edge in this cord"
//!     for each new block: split every cord by "leads into this block"
//! ```
//! O(m log n) for m live edges and n states, whatever the number of columns; the dead state takes
//! no part. Memory: a few bytes a state, and about 32 bytes an edge when Valmari's part is needed.
//!
//! # Why the rounds are sound
//! A round compares 64-bit hashes. Different hashes mean different rows, so no two states that
//! belong together are ever separated; a collision leaves states together that do not belong
//! together, which the exact check at the end finds, and Valmari's part then repairs.

use crate::{Dfa, StateId, partition::Partition};
use rustc_hash::FxHashMap;

/// Rounds before the asymptotically better algorithm takes over: about the log n of its bound.
const ROUNDS: usize = 16;

/// By state: the number of its class. The dead state has 0 and is alone there; the others are
/// numbered from 1 in the order of their first members.
pub(crate) fn indistinguishable(dfa: &Dfa) -> Vec<u32> {
    let mut classes: Vec<u32> = vec![0; dfa.len()];
    let mut count = renumber(dfa, &mut classes, |state, _| u64::from(dfa.is_accepting(state)));
    for _ in 0..ROUNDS {
        let mut refined = classes.clone();
        let next = renumber(dfa, &mut refined, |state, _| row_hash(dfa, &classes, state));
        classes = refined;
        // All apart: nothing is left to refine, whatever the hashes were.
        if next + 1 == dfa.len() || (next == count && is_stable(dfa, &classes, count)) {
            return classes;
        }
        count = next;
    }
    let blocks = Refinement::new(dfa, count, &classes).run();
    renumber(dfa, &mut classes, |_, element| u64::from(blocks.set_of[element]));
    classes
}

/// Gives states with equal keys equal numbers, from 1; how many there are. The key is asked for by
/// state and by its position among the live ones.
fn renumber(dfa: &Dfa, classes: &mut [u32], key: impl Fn(StateId, usize) -> u64) -> usize {
    let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
    for (element, state) in dfa.live_states().enumerate() {
        let next = u32::try_from(numbers.len() + 1).expect("no more classes than states");
        classes[state.index()] = *numbers.entry(key(state, element)).or_insert(next);
    }
    numbers.len()
}

fn row_hash(dfa: &Dfa, classes: &[u32], state: StateId) -> u64 {
    // Multiply and rotate; the constant is 2^64 divided by the golden ratio.
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let own = mix(0, u64::from(classes[state.index()]));
    let hash = dfa.edges(state).fold(own, |hash, (column, target)| {
        mix(hash, (column as u64) << 32 | u64::from(classes[target.index()]))
    });
    hash ^ hash >> 32
}

/// Whether all members of a class have the same row of classes, and accept alike.
fn is_stable(dfa: &Dfa, classes: &[u32], count: usize) -> bool {
    let mut first = vec![StateId::DEAD; count + 1];
    dfa.live_states().all(|state| {
        let first = &mut first[classes[state.index()] as usize];
        if first.is_dead() {
            *first = state;
            return true;
        }
        let image = |(column, target): (usize, StateId)| (column, classes[target.index()]);
        dfa.is_accepting(state) == dfa.is_accepting(*first)
            && dfa.edges(state).map(image).eq(dfa.edges(*first).map(image))
    })
}

/// The two partitions while they refine each other.
struct Refinement {
    /// State s of the automaton is element s - 1.
    blocks: Partition,
    cords: Partition,
    /// Source of each edge, as an element of `blocks`.
    tails: Vec<u32>,
    /// Edges by target; those of target t are `incoming[first[t]..first[t + 1]]`.
    incoming: Vec<u32>,
    first: Vec<u32>,
}

impl Refinement {
    /// Begins with given classes, numbered from 1: coarser than the result, and finer than
    /// "accepting or not".
    fn new(dfa: &Dfa, count: usize, classes: &[u32]) -> Self {
        let states = dfa.len() - 1;
        let (mut tails, mut heads, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for state in dfa.live_states() {
            for (column, target) in dfa.edges(state) {
                tails.push(state.0 - 1);
                heads.push(target.0 - 1);
                columns.push(u32::try_from(column).expect("columns are u32"));
            }
        }
        let keys: Vec<u32> = classes[1..].iter().map(|class| class - 1).collect();
        let (first, incoming) = by_target(states, &heads);
        Self {
            blocks: Partition::by_key(count, &keys),
            cords: Partition::by_key(dfa.columns(), &columns),
            tails,
            incoming,
            first,
        }
    }

    fn run(mut self) -> Partition {
        // Cords by column alone already respect "leads into any block at all", so one block need
        // not be looked at; each later split leaves the larger part behind for the same reason.
        let (mut block, mut cord) = (1, 0);
        loop {
            while block < self.blocks.count() {
                for at in self.blocks.range(block) {
                    let state = self.blocks.elements[at] as usize;
                    for &edge in
                        &self.incoming[self.first[state] as usize..self.first[state + 1] as usize]
                    {
                        self.cords.mark(edge);
                    }
                }
                self.cords.split();
                block += 1;
            }
            if cord == self.cords.count() {
                return self.blocks;
            }
            for at in self.cords.range(cord) {
                self.blocks.mark(self.tails[self.cords.elements[at] as usize]);
            }
            self.blocks.split();
            cord += 1;
        }
    }
}

/// Edges sorted by target: where each target's begin, and the edges.
fn by_target(states: usize, heads: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0_u32; states + 1];
    for &head in heads {
        first[head as usize + 1] += 1;
    }
    for state in 1..=states {
        first[state] += first[state - 1];
    }
    let mut fill = first.clone();
    let mut incoming = vec![0; heads.len()];
    for (edge, &head) in (0..).zip(heads) {
        let slot = &mut fill[head as usize];
        incoming[*slot as usize] = edge;
        *slot += 1;
    }
    (first, incoming)
}

#[cfg(test)]
mod tests;
