//! What can go wrong around a backend.

use crate::Explanation;
use formwork::{
    AcceptError, CompilationError, CompileError, ConstraintError, Exhausted, OptionError,
    RollbackError, StartError, StepError,
};
use std::sync::Arc;

/// Why a constraint is not ready for a request.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The constraint is at fault, or one backend that was asked for by name refused it, or the
    /// work was cancelled, or its deadline passed.
    #[error(transparent)]
    Compilation(#[from] CompilationError),
    /// An option of the request or of the configuration is unknown.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// No backend is registered under this name.
    #[error("there is no backend named {name:?}; there are {known}")]
    UnknownBackend {
        /// The name that was asked for.
        name: Box<str>,
        /// The names there are, as a list for people.
        known: Box<str>,
    },
    /// No backend could compile the constraint.
    #[error("no backend can compile the constraint\n{explanation}")]
    NoBackend {
        /// What each of them said.
        explanation: Arc<Explanation>,
    },
    /// A matcher could not start behind the bytes that the prompt fixed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Compiling ended in a panic, which is a fault of the backend or of a front end.
    #[error("compiling failed inside: {message}")]
    Panicked {
        /// What the panic said.
        message: Box<str>,
    },
    /// Too many compiles are waiting.
    #[error("{limit} compiles are waiting already")]
    Overloaded {
        /// The configured length of the queue.
        limit: usize,
    },
    /// A thread could not be started.
    #[error("the engine cannot start its threads")]
    Threads,
}

impl EngineError {
    pub(crate) fn stopped(reason: Exhausted) -> Self {
        Self::Compilation(CompilationError::Compile(CompileError::Exhausted(reason)))
    }

    /// Whether the work stopped because its deadline passed.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        matches!(self, Self::Compilation(error) if error.is_deadline())
    }

    /// Whether the work was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            Self::Compilation(CompilationError::Compile(CompileError::Exhausted(
                Exhausted::Cancelled
            )))
        )
    }

    /// Whether the same constraint would fail in the same way again, so that the failure is kept.
    pub(crate) fn is_lasting(&self) -> bool {
        let passing = matches!(
            self,
            Self::Panicked { .. } | Self::Overloaded { .. } | Self::Threads | Self::Start(_)
        );
        !passing && !self.is_deadline() && !self.is_cancelled()
    }
}

impl From<ConstraintError> for EngineError {
    fn from(error: ConstraintError) -> Self {
        Self::Compilation(error.into())
    }
}

impl From<CompileError> for EngineError {
    fn from(error: CompileError) -> Self {
        Self::Compilation(error.into())
    }
}

/// Why a request could not take a step. No other request is touched.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// Its constraint is still being compiled.
    #[error("the constraint is not compiled yet")]
    Waiting,
    /// Its constraint could not be compiled.
    #[error(transparent)]
    Failed(#[from] EngineError),
    /// A limit was hit.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The tokens are not allowed; the state is as before.
    #[error(transparent)]
    Accept(#[from] AcceptError),
    /// More tokens than there are; the state is as before.
    #[error(transparent)]
    Rollback(#[from] RollbackError),
    /// The matcher panicked, which is a fault of the backend. The request takes no further step.
    #[error("the matcher failed inside")]
    Panicked,
    /// The parents of a draft tree are not in order: each must come before its children.
    #[error("node {node} of the draft tree has no parent before it")]
    DraftTree {
        /// The node.
        node: usize,
    },
}
