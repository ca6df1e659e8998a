//! A compiled grammar: what all requests with the same constraint share.

use crate::{RowId, StartError, StructuredOutputGrammar};
use formwork_grammar::Warning;
use formwork_vocab::{TokenId, Vocabulary};
use std::{fmt, sync::Arc};

/// A grammar compiled for a vocabulary. Immutable in meaning; caches may grow inside.
pub trait CompiledGrammar: fmt::Debug + Send + Sync {
    /// A matcher for one request.
    ///
    /// # Errors
    /// [`StartError`] when the fixed bytes are not a prefix of anything in the language.
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError>;

    /// The vocabulary it was compiled for.
    fn vocabulary(&self) -> &Arc<Vocabulary>;

    /// Heap bytes held, the vocabulary's own excluded.
    fn memory_bytes(&self) -> usize;

    /// What the user should know of the constraint.
    fn warnings(&self) -> &[Warning] {
        &[]
    }

    /// Counts that say how it is built and how it has been used.
    fn stats(&self) -> Stats {
        Stats::default()
    }

    /// Writes a base row that a [`MaskDelta`](crate::MaskDelta) of this grammar may name, and says
    /// whether there is such a row. The well-known rows are everybody's.
    fn base_row(&self, row: RowId, words: &mut [i32]) -> bool {
        let word = match row {
            RowId::ZEROS => 0,
            RowId::UNCONSTRAINED => -1,
            _ => return false,
        };
        words.fill(word);
        true
    }
}

/// How a matcher starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartOptions {
    /// Which ids may end the output.
    pub stop_ids: StopPolicy,
    /// Bytes of the output that the prompt already holds. They are read like one token that has
    /// ended, whether or not the vocabulary could spell them; they cannot be rolled back. They do
    /// not make a grammar satisfiable that this vocabulary cannot spell from its beginning.
    pub fixed_bytes: Vec<u8>,
}

/// Which ids may end the output. Ids past the tokenizer's last token or past the model's logits are
/// passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StopPolicy {
    /// The vocabulary's end-of-sequence ids.
    #[default]
    Vocabulary,
    /// Those and these.
    VocabularyAnd(Vec<TokenId>),
    /// These alone. With none, a matcher terminates by itself once nothing may follow.
    Only(Vec<TokenId>),
}

/// Named counts of a compiled grammar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The counts, in an order that makes sense to read.
    pub counters: Vec<Counter>,
}

/// One count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// What is counted, with its unit where it has one.
    pub name: &'static str,
    /// How many.
    pub value: u64,
}

impl Stats {
    /// The value of a counter.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<u64> {
        self.counters.iter().find(|counter| counter.name == name).map(|counter| counter.value)
    }
}
