//! A vocabulary, options and a backend, ready to compile constraints.

use crate::{ConstraintError, FrontEndOptions, SharedBackend, backends, lower};
use formwork_core::{
    CancellationToken, CompileError, CompileRequest, CompiledGrammar, Constraint, Exhausted,
    Limits, Vocabulary,
};
use std::sync::Arc;

/// Compiles constraints for one vocabulary. Cheap to clone, shared between threads.
#[derive(Clone, Debug)]
pub struct Compiler {
    vocabulary: Arc<Vocabulary>,
    backend: SharedBackend,
    options: FrontEndOptions,
    limits: Limits,
}

/// Why a constraint could not be compiled: the constraint, or the backend.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompilationError {
    /// The constraint is not a grammar.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// The grammar could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
}

impl CompilationError {
    /// Whether the constraint may be sound but uses what is not supported here, by this backend or
    /// by any; otherwise it is at fault itself, or a budget was used up in reading it, or the work
    /// was cancelled.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Constraint(error) => error.is_unsupported(),
            Self::Compile(error) => matches!(error, CompileError::Unsupported(_)),
        }
    }

    /// Whether the work stopped because its deadline passed.
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        matches!(self, Self::Compile(CompileError::Exhausted(Exhausted::DeadlinePassed)))
    }
}

impl Compiler {
    /// A compiler with the first of the [`backends()`](backends()), default options and default limits.
    #[must_use]
    pub fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            vocabulary,
            backend: backends()[0].clone(),
            options: FrontEndOptions::default(),
            limits: Limits::default(),
        }
    }

    /// The same with another backend.
    #[must_use]
    pub fn with_backend(mut self, backend: SharedBackend) -> Self {
        self.backend = backend;
        self
    }

    /// The same with other options of the front ends.
    #[must_use]
    pub fn with_options(mut self, options: FrontEndOptions) -> Self {
        self.options = options;
        self
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> &SharedBackend {
        &self.backend
    }

    /// Compiles on the calling thread.
    ///
    /// # Errors
    /// [`CompilationError`].
    pub fn compile(
        &self,
        constraint: &Constraint,
    ) -> Result<Arc<dyn CompiledGrammar>, CompilationError> {
        self.compile_cancellable(constraint, CancellationToken::new())
    }

    /// Compiles on the calling thread, until told to stop. The front end is bounded by the limits
    /// alone: the token is asked from the backend's first step on.
    ///
    /// # Errors
    /// [`CompilationError`]; once `cancellation` is cancelled or its deadline passes,
    /// [`CompileError::Exhausted`].
    pub fn compile_cancellable(
        &self,
        constraint: &Constraint,
        cancellation: CancellationToken,
    ) -> Result<Arc<dyn CompiledGrammar>, CompilationError> {
        let grammar = Arc::new(lower(constraint, &self.options, &self.limits)?);
        let request = CompileRequest {
            grammar,
            vocabulary: self.vocabulary.clone(),
            limits: self.limits.clone(),
            cancellation,
        };
        Ok(self.backend.compile_blocking(&request)?)
    }
}
