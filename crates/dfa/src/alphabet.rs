//! Token sets as letters: the atoms of all sets of a grammar.
//!
//! Two tokens that are in the same sets need no two letters. An atom is a class of tokens with the
//! same membership; its index is its mark.

use formwork_automata::Mark;
use formwork_core::{CompileError, TokenId, Vocabulary};
use formwork_grammar::{
    Node, TokenRef, TokenSet,
    passes::Rules,
    regular::{RegularError, TokenAlphabet},
};
use rustc_hash::FxHashMap;

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
    /// The atoms of all token sets of `rules`. Cost: sets times vocabulary.
    pub(crate) fn new(rules: &Rules, vocabulary: &Vocabulary) -> Result<Self, CompileError> {
        let mut sets: Vec<TokenSet> = Vec::new();
        for node in rules.bodies.iter().flat_map(|body| body.nodes()) {
            if let Node::Tokens(set) = node
                && !sets.contains(set)
            {
                sets.push(set.clone());
            }
        }
        if sets.is_empty() {
            return Ok(Self::default());
        }
        let mut membership: FxHashMap<TokenId, Vec<usize>> = FxHashMap::default();
        for (index, set) in sets.iter().enumerate() {
            for token in resolve(set, vocabulary)? {
                membership.entry(token).or_default().push(index);
            }
        }
        let mut tokens: Vec<(TokenId, Vec<usize>)> = membership.into_iter().collect();
        tokens.sort_unstable();
        let mut alphabet = Self {
            sets: sets.iter().map(|set| (set.clone(), Vec::new())).collect(),
            ..Self::default()
        };
        let mut atoms: FxHashMap<Vec<usize>, Mark> = FxHashMap::default();
        for (token, members) in tokens {
            let next = Mark(u32::try_from(alphabet.atoms.len()).expect("fewer than tokens"));
            let mark = *atoms.entry(members).or_insert_with_key(|members| {
                alphabet.atoms.push(Vec::new());
                for &index in members {
                    alphabet.sets.get_mut(&sets[index]).expect("inserted above").push(next);
                }
                next
            });
            alphabet.atoms[mark.0 as usize].push(token);
            alphabet.atom_of.insert(token, mark);
        }
        Ok(alphabet)
    }

    /// The tokens of an atom.
    pub(crate) fn tokens(&self, mark: Mark) -> &[TokenId] {
        &self.atoms[mark.0 as usize]
    }

    /// The atom a token is in.
    pub(crate) fn mark(&self, token: TokenId) -> Option<Mark> {
        self.atom_of.get(&token).copied()
    }

    /// Tokens that are in an atom and have bytes too: those with two readings.
    pub(crate) fn ambiguous<'a>(
        &'a self,
        vocabulary: &'a Vocabulary,
    ) -> impl Iterator<Item = TokenId> + 'a {
        self.atoms.iter().flatten().copied().filter(|&id| vocabulary.bytes(id).is_some())
    }

    /// Whether the grammar names no token.
    pub(crate) fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Heap bytes held, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.atom_of.len() * 20
    }
}

impl TokenAlphabet for Alphabet {
    fn marks(&self, set: &TokenSet) -> Result<Vec<Mark>, RegularError> {
        Ok(self.sets.get(set).cloned().unwrap_or_default())
    }
}

/// The emittable tokens of a set.
fn resolve(set: &TokenSet, vocabulary: &Vocabulary) -> Result<Vec<TokenId>, CompileError> {
    let known = u32::try_from(vocabulary.tokenizer_len()).expect("ids are u32");
    let mut listed: Vec<TokenId> = Vec::new();
    for token in &set.tokens {
        match token {
            TokenRef::Name(name) => listed.push(
                vocabulary
                    .by_name(name)
                    .ok_or_else(|| CompileError::UnknownToken { name: name.clone() })?,
            ),
            TokenRef::Ids(first, last) => {
                listed.extend((*first..=*last).take_while(|&id| id < known).map(TokenId::new));
            }
        }
    }
    listed.sort_unstable();
    listed.dedup();
    let mut tokens = match set.negated {
        false => listed,
        true => (0..known)
            .map(TokenId::new)
            .filter(|id| listed.binary_search(id).is_err() && !vocabulary.eos().contains(id))
            .collect(),
    };
    tokens.retain(|&id| vocabulary.is_emittable(id));
    Ok(tokens)
}
