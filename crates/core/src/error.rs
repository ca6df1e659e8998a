//! What can go wrong, by act: compiling, starting, stepping, accepting, rolling back.

use crate::{TokenId, Unsupported};
use formwork_automata::Exhausted;
use formwork_grammar::GrammarError;

/// Why a grammar could not be compiled.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// This backend cannot do this grammar; another may.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The grammar itself is at fault.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    /// Nothing satisfies the constraint, so no output could ever be completed.
    #[error("nothing satisfies the constraint: no output of this vocabulary can complete it")]
    Unsatisfiable,
    /// The grammar names a token that the vocabulary does not have.
    #[error("the vocabulary has no special token named {name:?}")]
    UnknownToken {
        /// The name.
        name: Box<str>,
    },
    /// A budget was used up, or the work was cancelled.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

/// Why a matcher could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The bytes fixed by the prompt are not a prefix of anything in the language.
    #[error("the fixed bytes are refused at offset {offset}")]
    FixedBytes {
        /// Offset of the first byte that cannot be taken; the length of the bytes when all can be
        /// taken but no token may follow them.
        offset: usize,
    },
    /// A limit was hit on the way.
    #[error(transparent)]
    Step(#[from] StepError),
}

/// Why a step failed. The matcher has then failed for good: its row allows the stop ids alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// One mask took more elementary steps than allowed.
    #[error("a step took more than {limit} elementary steps")]
    MaskSteps {
        /// The limit that was hit.
        limit: u64,
    },
    /// A part of the constraint that was looked at only now is at fault, or too large.
    #[error("the constraint cannot be followed further: {reason}")]
    Constraint {
        /// What is wrong, and where.
        reason: Box<str>,
    },
    /// More memory than allowed.
    #[error("the matcher takes more than {limit} bytes")]
    Memory {
        /// The limit that was hit.
        limit: usize,
    },
}

/// Why tokens were not accepted. None of them was: the state is as before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("token {token} at index {index} {kind}")]
pub struct AcceptError {
    /// Index of the first refused token in the slice that was passed.
    pub index: usize,
    /// That token.
    pub token: TokenId,
    /// What is wrong with it.
    pub kind: AcceptErrorKind,
}

/// What is wrong with a refused token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptErrorKind {
    /// The mask of the state before it does not allow it.
    #[error("is not allowed here")]
    NotAllowed,
    /// The vocabulary has no such token.
    #[error("is not in the vocabulary")]
    Unknown,
    /// The matcher has failed.
    #[error("cannot be taken: {0}")]
    Failed(#[from] StepError),
}

/// Why a rollback was refused; the state is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot roll back {requested} tokens: only {processed} were processed")]
pub struct RollbackError {
    /// How many were asked for.
    pub requested: usize,
    /// How many there are.
    pub processed: usize,
}
