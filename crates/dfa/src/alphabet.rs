//! Token sets as letters: the atoms of all sets of a grammar.
//!
//! Two tokens that are in the same sets need no two letters. An atom is a class of tokens with the
//! same membership; its index is its mark.

use formwork_automata::{Fuel, Mark};
use formwork_core::{CompileError, TokenId, Vocabulary, tokens_of};
use formwork_grammar::{
    Node, TokenSet,
    passes::Rules,
    regular::{RegularError, TokenAlphabet},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The atoms of a grammar over a vocabulary.
#[derive(Debug, Default)]
pub(crate) struct Alphabet {
    /// Marks by set.
    sets: FxHashMap<TokenSet, Vec<Mark>>,
    /// Tokens by atom, ascending; every token in at most one atom.
    atoms: Vec<Vec<TokenId>>,
    /// Atom by token, for the tokens that are in one.
    atom_of: FxHashMap<TokenId, Mark>,
}

impl Alphabet {
    /// The atoms of all token sets of `rules`: a partition of the tokens, refined by one set after
    /// the other. Cost: sets times vocabulary in steps, the vocabulary once in memory.
    ///
    /// # Errors
    /// An unknown name, or a budget.
    pub(crate) fn new(
        rules: &Rules,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Self, CompileError> {
        let nodes = rules.bodies.iter().flat_map(|body| body.nodes());
        let sets: FxHashSet<&TokenSet> = nodes
            .filter_map(|node| match node {
                Node::Tokens(set) => Some(set),
                _ => None,
            })
            .collect();
        if sets.is_empty() {
            return Ok(Self::default());
        }
        let known = vocabulary.tokenizer_len();
        // Class by token; class 0 is in no set.
        let mut class_of = vec![0_u32; known];
        // By class: the class it was split from, and the set that all its tokens are in.
        let mut origins: Vec<Origin<'_>> = vec![(0, None)];
        for set in sets {
            fuel.steps(known)?;
            let mut split: FxHashMap<u32, u32> = FxHashMap::default();
            for token in tokens_of(set, vocabulary)? {
                let class = &mut class_of[token.index()];
                *class = *split.entry(*class).or_insert_with(|| {
                    origins.push((*class, Some(set)));
                    u32::try_from(origins.len() - 1).expect("budgeted by the steps")
                });
            }
        }
        Self::of_classes(&class_of, &origins, fuel)
    }

    /// Classes that have tokens become atoms; the sets an atom is in are found along its origins.
    fn of_classes(
        class_of: &[u32],
        origins: &[Origin<'_>],
        fuel: &mut Fuel,
    ) -> Result<Self, CompileError> {
        let mut alphabet = Self::default();
        for set in origins.iter().filter_map(|origin| origin.1) {
            alphabet.sets.entry(set.clone()).or_default();
        }
        let mut atom_of_class: FxHashMap<u32, Mark> = FxHashMap::default();
        let named = (0..).map(TokenId::new).zip(class_of).filter(|&(_, &class)| class != 0);
        for (id, &class) in named {
            let next = Mark(u32::try_from(alphabet.atoms.len()).expect("fewer than tokens"));
            let mark = *atom_of_class.entry(class).or_insert(next);
            if mark == next {
                alphabet.atoms.push(Vec::new());
                let mut at = origins[class as usize];
                while let (origin, Some(set)) = at {
                    fuel.steps(1)?;
                    alphabet.sets.get_mut(set).expect("inserted above").push(mark);
                    at = origins[origin as usize];
                }
            }
            alphabet.atoms[mark.0 as usize].push(id);
            alphabet.atom_of.insert(id, mark);
        }
        Ok(alphabet)
    }

    /// Atoms that were found before; no token is in two of them. Their sets have no names any more.
    pub(crate) fn of_atoms(atoms: Vec<Vec<TokenId>>) -> Self {
        let members = (0..).map(Mark).zip(&atoms);
        let atom_of = members.flat_map(|(mark, tokens)| tokens.iter().map(move |&id| (id, mark)));
        Self { sets: FxHashMap::default(), atom_of: atom_of.collect(), atoms }
    }

    /// The tokens of all atoms, by mark.
    pub(crate) fn atoms(&self) -> &[Vec<TokenId>] {
        &self.atoms
    }

    /// The tokens of an atom.
    pub(crate) fn tokens(&self, mark: Mark) -> &[TokenId] {
        &self.atoms[mark.0 as usize]
    }

    /// The atom a token is in.
    pub(crate) fn mark(&self, token: TokenId) -> Option<Mark> {
        self.atom_of.get(&token).copied()
    }

    /// Whether the grammar names no token.
    pub(crate) fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let tokens: usize = self.atoms.iter().map(Vec::capacity).sum();
        let marks: usize = self.sets.values().map(Vec::capacity).sum();
        (tokens + marks) * 4 + self.atom_of.capacity() * 9
    }
}

/// The class that a class was split from, and the set that the split was by.
type Origin<'s> = (u32, Option<&'s TokenSet>);

impl TokenAlphabet for Alphabet {
    fn marks(&self, set: &TokenSet) -> Result<Vec<Mark>, RegularError> {
        Ok(self.sets.get(set).cloned().unwrap_or_default())
    }
}
