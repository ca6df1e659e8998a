//! Stop ids: the tokens that may end an output.

use crate::StopPolicy;
use formwork_vocab::{TokenId, Vocabulary};
use std::sync::{Arc, Mutex, PoisonError};

/// One matcher's stop ids, and the number of that set among all sets of its compiled grammar.
#[derive(Clone, Debug)]
pub struct StopSet {
    ids: Arc<[TokenId]>,
    number: u32,
}

impl StopSet {
    /// The ids, ascending, each once.
    #[must_use]
    pub fn ids(&self) -> &[TokenId] {
        &self.ids
    }

    /// The set's number, for [`RowId::with_stops`](crate::RowId::with_stops).
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether the id is one of them.
    #[must_use]
    pub fn contains(&self, id: TokenId) -> bool {
        self.ids.binary_search(&id).is_ok()
    }
}

/// The distinct stop sets that the matchers of one compiled grammar use: equal sets have equal
/// numbers, so that their rows have equal identities.
#[derive(Debug, Default)]
pub struct StopSets {
    sets: Mutex<Vec<Arc<[TokenId]>>>,
}

impl StopSets {
    /// The set a policy means for a vocabulary. Cost: linear in the sets seen so far.
    #[must_use]
    pub fn resolve(&self, policy: &StopPolicy, vocabulary: &Vocabulary) -> StopSet {
        let (from_vocabulary, added): (&[TokenId], &[TokenId]) = match policy {
            StopPolicy::Vocabulary => (vocabulary.eos(), &[]),
            StopPolicy::VocabularyAnd(ids) => (vocabulary.eos(), ids),
            StopPolicy::Only(ids) => (&[], ids),
        };
        let known = vocabulary.tokenizer_len().min(vocabulary.model_len());
        let mut ids: Vec<TokenId> =
            from_vocabulary.iter().chain(added).copied().filter(|id| id.index() < known).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        let position = sets.iter().position(|set| **set == *ids).unwrap_or_else(|| {
            sets.push(ids.into());
            sets.len() - 1
        });
        let number = u32::try_from(position).expect("fewer than 2^32 stop sets");
        StopSet { ids: sets[position].clone(), number }
    }
}
