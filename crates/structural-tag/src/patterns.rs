//! Texts in which none of some strings stands: an Aho-Corasick automaton (Aho and Corasick,
//! "Efficient String Matching", 1975) as a minimal [`Dfa`].
//!
//! # Cost
//! The trie is linear in the strings. An automaton takes its nodes times the different bytes in
//! them, paid from the fuel.

use formwork_automata::{
    BooleanOp, ByteClasses, ByteSet, Dfa, DfaParts, Exhausted, Fuel, NfaBuilder, determinize,
};
use rustc_hash::FxHashMap;
use std::{collections::BTreeSet, sync::Arc};

/// Steps that an edge of an automaton costs: its memory is what counts.
const EDGE_STEPS: usize = 8;

const ROOT: usize = 0;

#[derive(Debug, Default)]
struct Node {
    /// Ascending by byte.
    children: Vec<(u8, usize)>,
    /// The first string that ends here.
    word: Option<usize>,
    /// Where the longest proper suffix of this prefix that is itself a prefix stands.
    fail: usize,
    /// Whether a string ends here, or at some suffix.
    matches: bool,
}

impl Node {
    fn child(&self, byte: u8) -> Option<usize> {
        let at = self.children.binary_search_by_key(&byte, |child| child.0).ok()?;
        Some(self.children[at].1)
    }
}

/// Strings, none of them empty, as a trie with failure links.
#[derive(Debug)]
pub(crate) struct Patterns {
    nodes: Vec<Node>,
    /// Nodes, parents before children.
    order: Vec<usize>,
}

impl Patterns {
    pub(crate) fn new(words: &[String], fuel: &mut Fuel) -> Result<Self, Exhausted> {
        let mut patterns = Self { nodes: vec![Node::default()], order: Vec::new() };
        for (index, word) in words.iter().enumerate() {
            debug_assert!(!word.is_empty(), "an empty string stands everywhere");
            let mut at = ROOT;
            for &byte in word.as_bytes() {
                at = match patterns.nodes[at].child(byte) {
                    Some(child) => child,
                    None => patterns.add(at, byte, fuel)?,
                };
            }
            let node = &mut patterns.nodes[at];
            node.word = node.word.or(Some(index));
            node.matches = true;
        }
        patterns.link(fuel)?;
        Ok(patterns)
    }

    fn add(&mut self, parent: usize, byte: u8, fuel: &mut Fuel) -> Result<usize, Exhausted> {
        fuel.state()?;
        let new = self.nodes.len();
        let children = &mut self.nodes[parent].children;
        let place = children.partition_point(|child| child.0 < byte);
        children.insert(place, (byte, new));
        self.nodes.push(Node::default());
        Ok(new)
    }

    fn link(&mut self, fuel: &mut Fuel) -> Result<(), Exhausted> {
        self.order.push(ROOT);
        let mut done = 0;
        while done < self.order.len() {
            let at = self.order[done];
            done += 1;
            for (byte, child) in self.nodes[at].children.clone() {
                fuel.steps(1)?;
                self.order.push(child);
                if at == ROOT {
                    continue;
                }
                let mut suffix = self.nodes[at].fail;
                while suffix != ROOT && self.nodes[suffix].child(byte).is_none() {
                    fuel.steps(1)?;
                    suffix = self.nodes[suffix].fail;
                }
                let fail = self.nodes[suffix].child(byte).unwrap_or(ROOT);
                self.nodes[child].fail = fail;
                self.nodes[child].matches |= self.nodes[fail].matches;
            }
        }
        Ok(())
    }

    /// The strings that `text` begins with, shortest first, each by its first mention.
    pub(crate) fn prefixes(&self, text: &str) -> impl Iterator<Item = usize> {
        let mut at = Some(ROOT);
        let nodes = text.bytes().map_while(move |byte| {
            at = self.nodes[at?].child(byte);
            at
        });
        nodes.filter_map(|node| self.nodes[node].word)
    }

    /// By string: whether another one, or itself, can end inside it after having begun before it.
    /// Such a string may be complete earlier than a reader who waits for it would think.
    pub(crate) fn overlapped(&self, words: &[String]) -> Vec<bool> {
        // Proper suffixes of strings that are prefixes of strings.
        let mut is_border = vec![false; self.nodes.len()];
        for &at in self.order.iter().filter(|&&at| self.nodes[at].word.is_some()) {
            let mut suffix = self.nodes[at].fail;
            while suffix != ROOT && !is_border[suffix] {
                is_border[suffix] = true;
                suffix = self.nodes[suffix].fail;
            }
        }
        let of = |word: &String| {
            let (_, init) = word.as_bytes().split_last().expect("not empty");
            let mut at = ROOT;
            init.iter().any(|&byte| {
                at = self.nodes[at].child(byte).expect("a prefix of a string");
                is_border[at] || self.nodes[at].matches
            })
        };
        words.iter().map(of).collect()
    }

    /// The byte strings in which none of the strings stands.
    pub(crate) fn avoiding(&self, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        let letters: BTreeSet<u8> =
            self.nodes.iter().flat_map(|node| node.children.iter().map(|child| child.0)).collect();
        let sets: Vec<ByteSet> = letters.iter().map(|&letter| ByteSet::single(letter)).collect();
        let classes = ByteClasses::from_sets(&sets);
        let representatives = classes.representatives();
        // States are the nodes that no match leads to; state 0 is dead.
        let mut number = vec![0u32; self.nodes.len()];
        let mut states = Vec::new();
        for &at in &self.order {
            if at == ROOT || number[at] != 0 {
                states.push(at);
                number[at] = u32::try_from(states.len()).expect("budgeted by the fuel");
                let children = self.nodes[at].children.iter().map(|child| child.1);
                children
                    .filter(|&child| !self.nodes[child].matches)
                    .for_each(|child| number[child] = 1);
            }
        }
        let mut rows: Vec<u32> = Vec::new();
        let (mut edge_counts, mut columns, mut targets) = (vec![0], Vec::new(), Vec::new());
        for &at in &states {
            fuel.steps(EDGE_STEPS * representatives.len())?;
            let node = &self.nodes[at];
            let before = targets.len();
            for (column, &byte) in (0u32..).zip(&representatives) {
                let target = match node.child(byte) {
                    Some(child) => number[child],
                    None if at == ROOT => number[ROOT],
                    None => {
                        let row = number[node.fail] as usize - 1;
                        rows[row * representatives.len() + column as usize]
                    }
                };
                rows.push(target);
                if target != 0 {
                    columns.push(column);
                    targets.push(target);
                }
            }
            edge_counts.push(u32::try_from(targets.len() - before).expect("at most 256"));
        }
        let mut accepting = vec![true; states.len() + 1];
        accepting[0] = false;
        let marks = Vec::new();
        let parts = DfaParts {
            classes: *classes.map(),
            marks,
            start: 1,
            accepting,
            edge_counts,
            columns,
            targets,
        };
        Ok(Dfa::from_parts(parts).expect("a prefix of a string leads to every state"))
    }
}

/// Free texts by what must not stand in them, each made once.
#[derive(Debug, Default)]
pub(crate) struct FreeTexts {
    utf8: Option<Dfa>,
    made: FxHashMap<BTreeSet<String>, Arc<Dfa>>,
}

impl FreeTexts {
    /// UTF-8 text in which none of these strings stands.
    pub(crate) fn without(
        &mut self,
        excluded: BTreeSet<String>,
        fuel: &mut Fuel,
    ) -> Result<Arc<Dfa>, Exhausted> {
        if let Some(dfa) = self.made.get(&excluded) {
            return Ok(dfa.clone());
        }
        let utf8 = match self.utf8.take() {
            Some(dfa) => dfa,
            None => utf8(fuel)?,
        };
        let words: Vec<String> = excluded.iter().cloned().collect();
        let avoiding = Patterns::new(&words, fuel)?.avoiding(fuel)?;
        let dfa = Arc::new(avoiding.combine(&utf8, BooleanOp::Intersection, fuel)?.canonical());
        self.utf8 = Some(utf8);
        self.made.insert(excluded, dfa.clone());
        Ok(dfa)
    }

    /// What ends with the first of `triggers` to be complete, which is `trigger`, and is before it
    /// a word of `text`.
    pub(crate) fn up_to(
        &mut self,
        text: &Dfa,
        triggers: &Patterns,
        trigger: &str,
        fuel: &mut Fuel,
    ) -> Result<Dfa, Exhausted> {
        let avoiding = triggers.avoiding(fuel)?;
        let mut nfa = NfaBuilder::new(fuel);
        let (start, between, end) = (nfa.state()?, nfa.state()?, nfa.state()?);
        nfa.automaton(start, &avoiding, between)?;
        nfa.byte(between, ByteSet::FULL, end)?;
        let nfa = nfa.finish(start, end);
        let first = determinize(&nfa, fuel)?;
        let mut nfa = NfaBuilder::new(fuel);
        let (start, between, end) = (nfa.state()?, nfa.state()?, nfa.state()?);
        nfa.automaton(start, text, between)?;
        nfa.literal(between, trigger.as_bytes(), end)?;
        let nfa = nfa.finish(start, end);
        let ending = determinize(&nfa, fuel)?;
        Ok(first.combine(&ending, BooleanOp::Intersection, fuel)?.canonical())
    }
}

/// All UTF-8 text.
fn utf8(fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let state = nfa.state()?;
    nfa.characters(state, &[('\0', char::MAX)], state)?;
    let nfa = nfa.finish(state, state);
    Ok(determinize(&nfa, fuel)?.canonical())
}

#[cfg(test)]
mod tests;
