//! What is computed once per vocabulary, taken out of the first compile.

use formwork_slices::Slices;
use formwork_vocab::Vocabulary;
use std::time::{Duration, Instant};

/// What [`prepare`] built, and in what time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prepared {
    /// Nodes of the token trie.
    pub trie_nodes: usize,
    /// Heap bytes of the token trie.
    pub trie_bytes: usize,
    /// Rows of token classes.
    pub class_rows: usize,
    /// Heap bytes of those rows and of the tries beside them.
    pub class_row_bytes: usize,
    /// Time for the trie; next to nothing when it was there.
    pub trie_time: Duration,
    /// Time for the class rows; likewise.
    pub class_row_time: Duration,
}

/// Builds what every compile for this vocabulary needs, unless it is there: the trie of its tokens
/// and the rows of token classes. Takes a few hundred milliseconds for a vocabulary of 128,000
/// tokens, which the first compile would take otherwise. The vocabulary keeps both.
pub fn prepare(vocabulary: &Vocabulary) -> Prepared {
    let started = Instant::now();
    let trie = vocabulary.trie();
    let trie_time = started.elapsed();
    let started = Instant::now();
    let slices = Slices::of(vocabulary);
    Prepared {
        trie_nodes: trie.node_count(),
        trie_bytes: trie.memory_bytes(),
        class_rows: slices.all().len(),
        class_row_bytes: slices.memory_bytes(),
        trie_time,
        class_row_time: started.elapsed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use formwork_vocab::TokenId;

    #[test]
    fn the_vocabulary_keeps_what_was_prepared() {
        let vocabulary = Vocabulary::builder(2)
            .token(TokenId::new(0), b"yes")
            .token(TokenId::new(1), b"you")
            .build()
            .unwrap();
        let prepared = prepare(&vocabulary);
        assert_eq!(prepared.trie_nodes, 6, "the root, y, ye, yes, yo, you");
        assert_eq!(prepared.trie_bytes, vocabulary.trie().memory_bytes());
        let derived = vocabulary.derived(|_| -> Slices { unreachable!("it is there") });
        assert_eq!(derived.all().len(), prepared.class_rows);
    }
}
