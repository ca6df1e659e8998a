//! Stop ids: the tokens that may end an output.

use crate::StopPolicy;
use formwork_vocab::{TokenId, Vocabulary};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

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
///
/// Only the first [`StopSets::REMEMBERED`] sets are compared. One that comes later gets a number of
/// its own, so that what requests bring cannot make starts slow or memory grow; its rows are then
/// merely never `Unchanged` for another request.
#[derive(Debug, Default)]
pub struct StopSets {
    sets: Mutex<Vec<Arc<[TokenId]>>>,
    forgotten: AtomicU32,
}

impl StopSets {
    /// How many sets are remembered.
    pub const REMEMBERED: usize = 256;

    /// The set a policy means for a vocabulary. Cost: linear in the sets remembered.
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
        let number = |position| u32::try_from(position).expect("256 sets are remembered");
        if let Some(known) = sets.iter().position(|set| **set == *ids) {
            return StopSet { ids: sets[known].clone(), number: number(known) };
        }
        let ids: Arc<[TokenId]> = ids.into();
        if sets.len() < Self::REMEMBERED {
            sets.push(ids.clone());
            return StopSet { ids, number: number(sets.len() - 1) };
        }
        // Numbers wrap after four billion such requests on one compiled grammar.
        let own = self.forgotten.fetch_add(1, Ordering::Relaxed) % (u32::MAX - 1_000);
        StopSet { ids, number: number(Self::REMEMBERED) + own }
    }
}
