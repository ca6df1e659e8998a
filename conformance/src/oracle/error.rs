//! What the oracle cannot do, by name.

use formwork_automata::Exhausted;
use formwork_grammar::GrammarError;

/// Why the oracle has no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// The grammar itself is at fault.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// The grammar names a token that the vocabulary does not have.
    #[error("the vocabulary has no special token named {name:?}")]
    UnknownToken {
        /// The name.
        name: Box<str>,
    },
    /// An operand that must be regular over bytes is not.
    #[error("an operand that must be regular over bytes {why}")]
    Operand {
        /// What is wrong with it, in a few words.
        why: &'static str,
    },
    /// The grammar has a construct that the oracle does not know.
    #[error("the grammar has a construct that the oracle does not know")]
    Construct,
    /// An automaton of an operand grew too large.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// Whether some state can be completed was not decided.
    #[error("not decided: {why}")]
    Undecided {
        /// Why, in a few words.
        why: &'static str,
    },
    /// More work than allowed.
    #[error("more than {limit} elementary steps")]
    Steps {
        /// The limit that was hit.
        limit: u64,
    },
    /// Nothing satisfies the grammar with this vocabulary.
    #[error("nothing satisfies the grammar with this vocabulary")]
    Unsatisfiable,
    /// The fixed bytes are not a prefix of anything in the language.
    #[error("the fixed bytes are refused")]
    FixedBytes {
        /// Offset of the first refused byte, where that has one definite meaning: when every byte
        /// is a token and nothing counts tokens.
        offset: Option<usize>,
    },
}
