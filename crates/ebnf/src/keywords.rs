//! Free text up to the first of some words: Aho-Corasick automata.
//!
//! # Idea
//! Aho and Corasick, "Efficient string matching: an aid to bibliographic search", Communications of
//! the ACM 18(6), 1975. A node is the longest suffix of the text that begins some word; the words
//! that end at a node are its own and those of the node its failure leads to. The automata wanted
//! here are this graph cut off where words end: an excluded word leads nowhere, any other ends the
//! text. Both are intersected with UTF-8, so that free text is text.
//!
//! # Cost
//! Nodes times the byte classes of the words, paid from the fuel.

use formwork_automata::{
    BooleanOp, ByteClasses, ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, determinize,
};

/// What a word does to the text it occurs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It must not occur.
    Excluded,
    /// It ends the text, and counts to the ends of this number.
    Ends(usize),
}

/// Fuel for a cell of the table: it takes four bytes, a step is meant to take less.
const CELL_STEPS: usize = 4;
const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

/// The graph of some words.
#[derive(Debug)]
pub(crate) struct Keywords {
    classes: ByteClasses,
    columns: usize,
    /// By node and class: the next node.
    next: Vec<u32>,
    /// By node: what the words that end there do.
    roles: Vec<Vec<Role>>,
}

impl Keywords {
    /// The graph of these words, none of which is empty.
    pub(crate) fn new(words: &[(&str, Role)], fuel: &mut Fuel) -> Result<Self, Exhausted> {
        let bytes: ByteSet = words.iter().flat_map(|(word, _)| word.bytes()).collect();
        let singles: Vec<ByteSet> = bytes.iter().map(ByteSet::single).collect();
        let classes = ByteClasses::from_sets(&singles);
        let columns = classes.count();
        let mut keywords = Self { classes, columns, next: Vec::new(), roles: Vec::new() };
        keywords.node(fuel)?;
        for &(word, role) in words {
            keywords.insert(word, role, fuel)?;
        }
        keywords.link(fuel)?;
        Ok(keywords)
    }

    fn node(&mut self, fuel: &mut Fuel) -> Result<u32, Exhausted> {
        fuel.state()?;
        fuel.steps(self.columns * CELL_STEPS)?;
        let node = u32::try_from(self.roles.len())
            .map_err(|_| Exhausted::States { limit: u32::MAX as usize })?;
        self.next.resize(self.next.len() + self.columns, NONE);
        self.roles.push(Vec::new());
        Ok(node)
    }

    fn cell(&self, node: u32, class: usize) -> usize {
        node as usize * self.columns + class
    }

    fn insert(&mut self, word: &str, role: Role, fuel: &mut Fuel) -> Result<(), Exhausted> {
        let mut at = ROOT;
        for byte in word.bytes() {
            let cell = self.cell(at, self.classes.class(byte));
            if self.next[cell] == NONE {
                self.next[cell] = self.node(fuel)?;
            }
            at = self.next[cell];
        }
        if !self.roles[at as usize].contains(&role) {
            self.roles[at as usize].push(role);
        }
        fuel.steps(self.roles[at as usize].len())
    }

    /// Completes the table along the failures, breadth first.
    fn link(&mut self, fuel: &mut Fuel) -> Result<(), Exhausted> {
        let mut failure = vec![ROOT; self.roles.len()];
        let mut queue = vec![ROOT];
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            done += 1;
            for class in 0..self.columns {
                let cell = self.cell(node, class);
                let fallback = match node {
                    ROOT => ROOT,
                    _ => self.next[self.cell(failure[node as usize], class)],
                };
                let child = self.next[cell];
                if child == NONE {
                    self.next[cell] = fallback;
                    continue;
                }
                failure[child as usize] = fallback;
                let inherited = self.roles[fallback as usize].clone();
                fuel.steps(inherited.len())?;
                self.roles[child as usize].extend(inherited);
                queue.push(child);
            }
        }
        Ok(())
    }

    /// Texts in which no word occurs.
    pub(crate) fn free(&self, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        self.automaton(None, fuel)
    }

    /// Texts in which the first word ends at their end, is not excluded, and counts to `ends`.
    pub(crate) fn until(&self, ends: usize, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        self.automaton(Some(ends), fuel)
    }

    fn automaton(&self, ends: Option<usize>, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        let mut nfa = NfaBuilder::new(fuel);
        let accept = nfa.state()?;
        let states: Vec<NfaStateId> =
            self.roles.iter().map(|_| nfa.state()).collect::<Result<_, _>>()?;
        for (node, &state) in states.iter().enumerate() {
            if !self.roles[node].is_empty() {
                continue;
            }
            if ends.is_none() {
                nfa.empty(state, accept)?;
            }
            let cells = &self.next[node * self.columns..][..self.columns];
            for (class, &target) in cells.iter().enumerate() {
                let roles = &self.roles[target as usize];
                let to = match ends {
                    _ if roles.is_empty() => states[target as usize],
                    Some(ends) if stops(roles, ends) => accept,
                    _ => continue,
                };
                nfa.byte(state, self.classes.members(class), to)?;
            }
        }
        let nfa = nfa.finish(states[ROOT as usize], accept);
        let words = determinize(&nfa, fuel)?;
        Ok(words.combine(&any_text(fuel)?, BooleanOp::Intersection, fuel)?.canonical())
    }
}

fn stops(roles: &[Role], ends: usize) -> bool {
    !roles.contains(&Role::Excluded) && roles.contains(&Role::Ends(ends))
}

/// Any text in UTF-8.
pub(crate) fn any_text(fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let state = nfa.state()?;
    nfa.characters(state, &crate::characters::ANY, state)?;
    let nfa = nfa.finish(state, state);
    Ok(determinize(&nfa, fuel)?.canonical())
}
