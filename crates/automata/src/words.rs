//! Words of a language: shortest, forced, counted, listed.
//!
//! Everything here relies on trimmed automata: from every live state something can be completed, so
//! a cycle means infinitely many words, and one single edge out of a state that does not accept is
//! forced.

use crate::{Dfa, Mark, StateId};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A letter of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// A byte.
    Byte(u8),
    /// A mark.
    Mark(Mark),
}

impl Dfa {
    /// A shortest word of the language, the first in order among those (bytes before marks); none
    /// when the language is empty. Linear in the table.
    #[must_use]
    pub fn shortest_word(&self) -> Option<Vec<Letter>> {
        let representatives = self.classes.representatives();
        self.shortest_from(self.start, self.columns()).map(|columns| {
            let letter = |column: usize| match representatives.get(column) {
                Some(&byte) => Letter::Byte(byte),
                None => Letter::Mark(self.marks[column - representatives.len()]),
            };
            columns.into_iter().map(letter).collect()
        })
    }

    /// A shortest byte string that is accepted from a state, the first in order among those; none
    /// when every word from there has a mark. Linear in the table.
    #[must_use]
    pub fn shortest_bytes(&self, from: StateId) -> Option<Vec<u8>> {
        let representatives = self.classes.representatives();
        let columns = self.shortest_from(from, representatives.len())?;
        Some(columns.into_iter().map(|column| representatives[column]).collect())
    }

    /// The columns of a shortest word that uses columns below `limit` only: breadth first search
    /// with a link back to where each state was first reached from.
    fn shortest_from(&self, from: StateId, limit: usize) -> Option<Vec<usize>> {
        let mut reached: FxHashMap<StateId, (StateId, usize)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            if self.is_accepting(state) {
                let mut word = Vec::new();
                let mut at = state;
                while at != from {
                    let (source, column) = reached[&at];
                    word.push(column);
                    at = source;
                }
                word.reverse();
                return Some(word);
            }
            for (column, target) in self.edges(state).take_while(|edge| edge.0 < limit) {
                if target != from && !reached.contains_key(&target) {
                    reached.insert(target, (state, column));
                    queue.push_back(target);
                }
            }
        }
        None
    }

    /// Whether the language is finite. Linear in the table.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.children_first(self.start).is_some()
    }

    /// The number of letters of a longest word: none when there is no longest, 0 for the empty
    /// language. Linear in the table.
    #[must_use]
    pub fn longest_word_len(&self) -> Option<usize> {
        let order = self.children_first(self.start)?;
        let mut longest: FxHashMap<StateId, usize> = FxHashMap::default();
        for &state in &order {
            let len = self.edges(state).map(|(_, target)| longest[&target] + 1).max();
            longest.insert(state, len.unwrap_or(0));
        }
        Some(longest.get(&self.start).copied().unwrap_or(0))
    }

    /// How many words are accepted from a state, at most `cap`; infinitely many count as `cap`.
    /// Letters count, not classes: `[a-z]` has 26 words. A mark is one letter. Linear in the part
    /// of the table that the state reaches.
    #[must_use]
    pub fn count_words(&self, from: StateId, cap: u64) -> u64 {
        let Some(order) = self.children_first(from) else { return cap };
        let mut sizes = vec![1_u64; self.columns()];
        sizes[..self.classes.count()].fill(0);
        for byte in 0..=255 {
            sizes[self.classes.class(byte)] += 1;
        }
        let mut counts: FxHashMap<StateId, u64> = FxHashMap::default();
        for &state in &order {
            let through =
                self.edges(state).map(|(c, target)| sizes[c].saturating_mul(counts[&target]));
            let count = through.fold(u64::from(self.is_accepting(state)), u64::saturating_add);
            counts.insert(state, count.min(cap));
        }
        counts.get(&from).copied().unwrap_or(0)
    }

    /// The live states that a state reaches, itself included, every one after all that it leads
    /// to; none when there is a cycle. Depth first with an explicit stack.
    fn children_first(&self, from: StateId) -> Option<Vec<StateId>> {
        let mut order = Vec::new();
        if from.is_dead() {
            return Some(order);
        }
        // True while the state is on the stack.
        let mut open: FxHashMap<StateId, bool> = FxHashMap::default();
        let mut stack = vec![(from, self.edges(from))];
        open.insert(from, true);
        while let Some((state, edges)) = stack.last_mut() {
            let Some((_, target)) = edges.next() else {
                open.insert(*state, false);
                order.push(*state);
                stack.pop();
                continue;
            };
            match open.get(&target) {
                Some(true) => return None,
                Some(false) => {}
                None => {
                    open.insert(target, true);
                    stack.push((target, self.edges(target)));
                }
            }
        }
        Some(order)
    }

    /// Appends to `out` the longest byte string that every word from a state begins with, but no
    /// more than `limit` bytes. It ends where a word may end, where a mark may stand, and where two
    /// bytes are possible. Cost: one row and 256 steps a byte.
    pub fn forced_bytes(&self, from: StateId, limit: usize, out: &mut Vec<u8>) {
        let mut state = from;
        for _ in 0..limit {
            if self.is_accepting(state) {
                return;
            }
            let mut edges = self.edges(state);
            let (Some((column, target)), None) = (edges.next(), edges.next()) else { return };
            let Some(byte) = self.only_byte(column) else { return };
            out.push(byte);
            state = target;
        }
    }

    /// The byte of a column that is a class of one byte.
    fn only_byte(&self, column: usize) -> Option<u8> {
        if column >= self.classes.count() {
            return None;
        }
        let mut members = (0..=255).filter(|&byte| self.classes.class(byte) == column);
        match (members.next(), members.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    /// Words of the language, shortest first, equal lengths in order (bytes before marks), at most
    /// `limit` of them. Meant for small languages: a word costs its length times 256 plus the number
    /// of marks, a length that is looked at costs one pass over the table and a byte a state.
    pub fn words(&self, limit: usize) -> impl Iterator<Item = Vec<Letter>> + '_ {
        Words::new(self).take(limit)
    }

    /// The states that accept a word of exactly one letter more than those given.
    fn one_letter_before(&self, completable: &[bool]) -> Vec<bool> {
        let states = self.live_states();
        let before = states.map(|s| self.edges(s).any(|(_, target)| completable[target.index()]));
        std::iter::once(false).chain(before).collect()
    }
}

/// Lists words length by length. For each length the prefixes are walked depth first, and only
/// those that can be completed to exactly this length.
struct Words<'a> {
    dfa: &'a Dfa,
    /// No word is longer, if there is a longest.
    longest: Option<usize>,
    /// By n: which states accept some word of exactly n letters.
    exactly: Vec<Vec<bool>>,
    /// Length of the words being listed.
    length: usize,
    /// The prefix being walked: each state with the letter to try next, as an index into the bytes
    /// and then the marks.
    path: Vec<(StateId, usize)>,
    word: Vec<Letter>,
}

impl<'a> Words<'a> {
    fn new(dfa: &'a Dfa) -> Self {
        Self {
            dfa,
            longest: dfa.longest_word_len(),
            exactly: vec![dfa.accepting.to_vec()],
            length: 0,
            path: if dfa.is_empty() { Vec::new() } else { vec![(dfa.start, 0)] },
            word: Vec::new(),
        }
    }

    /// The letter at an index and where it leads; none past the last letter.
    fn edge(&self, state: StateId, index: usize) -> Option<(Letter, StateId)> {
        match u8::try_from(index) {
            Ok(byte) => Some((Letter::Byte(byte), self.dfa.next(state, byte))),
            Err(_) => {
                let mark = *self.dfa.marks.get(index - 256)?;
                Some((Letter::Mark(mark), self.dfa.next_mark_index(state, index - 256)))
            }
        }
    }

    /// The next word of the current length.
    fn next_of_length(&mut self) -> Option<Vec<Letter>> {
        while let Some(&(state, index)) = self.path.last() {
            let left = self.length - self.word.len();
            if left == 0 || !self.exactly[left][state.index()] {
                let found = (left == 0 && self.dfa.is_accepting(state)).then(|| self.word.clone());
                self.path.pop();
                self.word.pop();
                if found.is_some() {
                    return found;
                }
                continue;
            }
            let Some((letter, target)) = self.edge(state, index) else {
                self.path.pop();
                self.word.pop();
                continue;
            };
            self.path.last_mut().expect("looked at above").1 += 1;
            if self.exactly[left - 1][target.index()] {
                self.word.push(letter);
                self.path.push((target, 0));
            }
        }
        None
    }
}

impl Iterator for Words<'_> {
    type Item = Vec<Letter>;

    fn next(&mut self) -> Option<Vec<Letter>> {
        loop {
            if let Some(word) = self.next_of_length() {
                return Some(word);
            }
            if self.dfa.is_empty() || self.longest.is_some_and(|longest| self.length >= longest) {
                return None;
            }
            self.length += 1;
            self.exactly.push(self.dfa.one_letter_before(&self.exactly[self.length - 1]));
            self.path.push((self.dfa.start, 0));
        }
    }
}
