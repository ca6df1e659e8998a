//! What of a trie is saved: the order of its tokens.
//!
//! Sorting is what a trie costs; laying out the nodes of tokens that are in order is one pass. So
//! the order is all that is saved, and a file cannot say anything wrong about nodes, because it says
//! nothing about them. That the order is the right one is a comparison of neighbours.

use super::TokenTrie;
use crate::{TokenId, Vocabulary};

/// Why a list of tokens is not the order of a vocabulary's trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderFault {
    /// The token here has no place in the trie.
    NotText { position: usize },
    /// The token here does not come after the one before it.
    NotAscending { position: usize },
    /// Some tokens are left out.
    Missing { found: usize, expected: usize },
}

impl TokenTrie {
    /// The tokens by their bytes, those of the same bytes by id.
    pub(crate) fn order(&self) -> &[TokenId] {
        &self.tokens
    }

    /// The trie of a vocabulary from the order of its tokens. Cost: linear in their bytes.
    pub(crate) fn from_order(
        vocabulary: &Vocabulary,
        order: &[TokenId],
    ) -> Result<Self, OrderFault> {
        let text = |id| vocabulary.bytes(id).filter(|_| vocabulary.is_emittable(id));
        // All looked up before any is read: looking up is quick where nothing waits for a branch.
        let words: Vec<(&[u8], TokenId)> =
            order.iter().map(|&id| (text(id).unwrap_or_default(), id)).collect();
        if let Some(position) = words.iter().position(|word| word.0.is_empty()) {
            return Err(OrderFault::NotText { position });
        }
        let ids = (0..).take(vocabulary.tokenizer_len()).map(TokenId::new);
        let (found, expected) = (words.len(), ids.filter(|&id| text(id).is_some()).count());
        let trie = Self::try_of_sorted_words(words.into_iter())
            .map_err(|position| OrderFault::NotAscending { position })?;
        // All are different and all belong here, so there is nothing to compare but their number.
        match found == expected {
            true => Ok(trie),
            false => Err(OrderFault::Missing { found, expected }),
        }
    }
}
