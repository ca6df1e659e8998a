//! A language less a few words.
//!
//! # Construction
//! The words are a trie laid over the automaton: a node stands for the state that its prefix leads
//! to, and reads what that state reads; only along the trie does it lead to nodes again, and a word
//! of the trie is not accepted. Nothing is determinised or minimised, as the result is nearly
//! minimal: nodes differ by the words that end below them.
//!
//! # Cost
//! Linear in the automaton and the bytes of the words, times the byte classes.

use crate::{ByteClasses, ByteSet, Dfa, Exhausted, Fuel, StateId, table::Rows};

/// A prefix of a word.
struct Node {
    state: StateId,
    is_word: bool,
    /// Ascending by byte.
    children: Vec<(u8, usize)>,
}

impl Dfa {
    /// The words of this language that are none of `words`, which ascend. There must be no marks.
    /// Equal languages and words give equal automata; the result is trimmed, not minimal.
    ///
    /// # Errors
    /// [`Exhausted`] when the fuel is used up.
    pub fn without_words<W: AsRef<[u8]>>(
        &self,
        words: &[W],
        fuel: &mut Fuel,
    ) -> Result<Self, Exhausted> {
        debug_assert!(self.marks.is_empty(), "no marks");
        let mut nodes = vec![Node { state: self.start, is_word: false, children: Vec::new() }];
        let mut letters = ByteSet::EMPTY;
        for word in words {
            fuel.steps(1 + word.as_ref().len())?;
            self.insert(word.as_ref(), &mut nodes, &mut letters);
        }
        let letters: Vec<ByteSet> = letters.iter().map(ByteSet::single).collect();
        let classes = self.classes.meet(&ByteClasses::from_sets(&letters));
        let representatives = classes.representatives();
        fuel.steps((nodes.len() + self.len()) * representatives.len())?;
        let mut rows = Rows::new();
        let mut accepting = vec![false];
        rows.finish_row();
        for state in self.live_states() {
            for (class, &byte) in representatives.iter().enumerate() {
                rows.push(class, self.next(state, byte));
            }
            rows.finish_row();
            accepting.push(self.is_accepting(state));
        }
        let number =
            |node: usize| StateId(u32::try_from(self.len() + node).expect("budgeted by the steps"));
        for node in &nodes {
            for (class, &byte) in representatives.iter().enumerate() {
                // The bytes of the trie are classes of their own.
                let child = node.children.binary_search_by_key(&byte, |child| child.0);
                let target = match child {
                    Ok(at) => number(node.children[at].1),
                    Err(_) => self.next(node.state, byte),
                };
                rows.push(class, target);
            }
            rows.finish_row();
            accepting.push(self.is_accepting(node.state) && !node.is_word);
        }
        Ok(Self::assemble(classes, [], rows, accepting, number(0)).trimmed())
    }

    /// Adds a word to the trie, as far as the automaton reads it.
    fn insert(&self, word: &[u8], nodes: &mut Vec<Node>, letters: &mut ByteSet) {
        let mut at = 0;
        for &byte in word {
            let state = self.next(nodes[at].state, byte);
            if state.is_dead() {
                return;
            }
            *letters = letters.union(&ByteSet::single(byte));
            at = match nodes[at].children.binary_search_by_key(&byte, |child| child.0) {
                Ok(found) => nodes[at].children[found].1,
                Err(place) => {
                    let new = nodes.len();
                    nodes[at].children.insert(place, (byte, new));
                    nodes.push(Node { state, is_word: false, children: Vec::new() });
                    new
                }
            };
        }
        nodes[at].is_word = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BooleanOp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_difference(
            language in prop::collection::vec("[ab]{0,4}", 0..12),
            mut words in prop::collection::vec("[abc]{0,4}", 0..8),
            everything in any::<bool>(),
        ) {
            let mut fuel = Fuel::unlimited();
            let language = match everything {
                true => Dfa::any(),
                false => {
                    let mut sorted = language;
                    sorted.sort_unstable();
                    Dfa::from_strings(sorted, &mut fuel).unwrap()
                }
            };
            words.sort_unstable();
            words.dedup();
            let without = language.without_words(&words, &mut fuel).unwrap();
            let words = Dfa::from_strings(words, &mut fuel).unwrap();
            let expected = language.combine(&words, BooleanOp::Difference, &mut fuel).unwrap();
            prop_assert!(without.equivalent(&expected, &mut fuel).unwrap());
            prop_assert!(without == without.trimmed());
        }
    }
}
