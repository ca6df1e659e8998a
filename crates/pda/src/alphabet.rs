//! Letters besides bytes: atoms of token sets, and calls.
//!
//! Two tokens that are in the same sets need no two letters: an atom is a class of tokens with the
//! same membership, and its index is its mark. Calls are marks too, far above the atoms, so that the
//! construction of automata need not know of them: a call is written as a token set that no
//! vocabulary has.

use formwork_automata::{Fuel, Mark};
use formwork_core::{CompileError, TokenId, Vocabulary, tokens_of};
use formwork_grammar::{
    Node, TokenRef, TokenSet,
    passes::Rules,
    regular::{RegularError, TokenAlphabet},
};
use rustc_hash::FxHashMap;

/// Marks of calls begin here.
const FIRST_CALL: u32 = 1 << 28;

/// The name in the token sets that stand for calls.
const CALL: &str = "\0call";

/// The letters of a grammar over a vocabulary.
#[derive(Debug, Default)]
pub(crate) struct Alphabet {
    sets: FxHashMap<TokenSet, Vec<Mark>>,
    atoms: Vec<Vec<TokenId>>,
    atom_of: FxHashMap<TokenId, Mark>,
}

impl Alphabet {
    /// The atoms of all token sets of `rules`. Cost: the tokens of every set.
    ///
    /// # Errors
    /// An unknown name, or the budget.
    pub(crate) fn new(
        rules: &Rules,
        vocabulary: &Vocabulary,
        fuel: &mut Fuel,
    ) -> Result<Self, CompileError> {
        let mut alphabet = Self::default();
        let nodes = rules.bodies.iter().flat_map(|body| body.nodes());
        let mut classes: FxHashMap<TokenId, Vec<u32>> = FxHashMap::default();
        for node in nodes {
            let Node::Tokens(set) = node else { continue };
            let number = u32::try_from(alphabet.sets.len()).expect("nodes are limited");
            if alphabet.sets.insert(set.clone(), Vec::new()).is_some() {
                continue;
            }
            let tokens = tokens_of(set, vocabulary)?;
            fuel.steps(tokens.len() + 1)?;
            tokens.iter().for_each(|&token| classes.entry(token).or_default().push(number));
        }
        // Sets are numbered as they were met; map each number back to its set.
        let mut marks: Vec<Vec<Mark>> = vec![Vec::new(); alphabet.sets.len()];
        let mut tokens: Vec<(Vec<u32>, TokenId)> =
            classes.into_iter().map(|(token, sets)| (sets, token)).collect();
        tokens.sort_unstable();
        for group in tokens.chunk_by(|a, b| a.0 == b.0) {
            let mark = Mark(u32::try_from(alphabet.atoms.len()).expect("fewer than tokens"));
            fuel.steps(group.len() + group[0].0.len())?;
            group[0].0.iter().for_each(|&set| marks[set as usize].push(mark));
            alphabet.atoms.push(group.iter().map(|member| member.1).collect());
            alphabet.atom_of.extend(group.iter().map(|member| (member.1, mark)));
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut next = 0;
        for node in rules.bodies.iter().flat_map(|body| body.nodes()) {
            if let Node::Tokens(set) = node
                && seen.insert(set)
            {
                *alphabet.sets.get_mut(set).expect("inserted above") =
                    std::mem::take(&mut marks[next]);
                next += 1;
            }
        }
        Ok(alphabet)
    }

    /// The atoms alone, as a program needs them. Every token is in one of them at most.
    pub(crate) fn of_atoms(atoms: Vec<Vec<TokenId>>) -> Self {
        let marks = (0..).map(Mark).zip(&atoms);
        let atom_of = marks.flat_map(|(mark, tokens)| tokens.iter().map(move |&id| (id, mark)));
        Self { atom_of: atom_of.collect(), atoms, sets: FxHashMap::default() }
    }

    /// How many atoms there are.
    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The tokens of an atom, ascending.
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

impl TokenAlphabet for Alphabet {
    fn marks(&self, set: &TokenSet) -> Result<Vec<Mark>, RegularError> {
        Ok(match (self.sets.get(set), call_of(set)) {
            (Some(marks), _) => marks.clone(),
            (None, Some(call)) => vec![Mark(FIRST_CALL + call)],
            (None, None) => Vec::new(),
        })
    }
}

/// The set that stands for a call.
pub(crate) fn call_set(call: u32) -> TokenSet {
    TokenSet::of([TokenRef::Name(CALL.into()), TokenRef::Ids(call, call)])
}

fn call_of(set: &TokenSet) -> Option<u32> {
    match &*set.tokens {
        [TokenRef::Name(name), TokenRef::Ids(call, _)] if **name == *CALL => Some(*call),
        _ => None,
    }
}

/// The call that a mark stands for, if it is not an atom.
pub(crate) fn call(mark: Mark) -> Option<u32> {
    mark.0.checked_sub(FIRST_CALL)
}
