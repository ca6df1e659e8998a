//! A backend: grammar and vocabulary in, compiled grammar out.

use crate::{CompileError, CompiledGrammar};
use async_trait::async_trait;
use formwork_automata::CancellationToken;
use formwork_grammar::{Grammar, Limits, Location};
use formwork_mask::BatchBitmask;
use formwork_vocab::Vocabulary;
use std::{fmt, sync::Arc};

/// Compiles grammars. One value serves any number of vocabularies and threads.
#[async_trait]
pub trait StructuredOutputBackend: fmt::Debug + Send + Sync {
    /// The key by which configuration selects this backend.
    fn name(&self) -> &str;

    /// Whether this backend can do the grammar, and at about what cost; without compiling it. A
    /// grammar assessed as supported may still exceed a limit when it is compiled.
    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment;

    /// Compiles on the calling thread, however long it takes.
    ///
    /// # Errors
    /// [`CompileError`]; the work stops at its next check after the request's token is cancelled.
    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError>;

    /// Compiles as a future. The default does all the work in its first poll: give it to a thread
    /// that may block. Dropping the future does not stop the work, the token does.
    ///
    /// # Errors
    /// As [`Self::compile_blocking`].
    async fn compile(
        &self,
        request: CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        self.compile_blocking(&request)
    }

    /// Rows for a batch, unconstrained, for callers without a tensor of their own.
    fn allocate_bitmask(&self, rows: usize, vocabulary: &Vocabulary) -> BatchBitmask {
        BatchBitmask::new(rows, vocabulary.model_len())
    }
}

/// Everything a compile needs.
#[derive(Clone, Debug)]
pub struct CompileRequest {
    /// What to compile.
    pub grammar: Arc<Grammar>,
    /// For which tokens.
    pub vocabulary: Arc<Vocabulary>,
    /// What it may cost.
    pub limits: Limits,
    /// How it is told to stop.
    pub cancellation: CancellationToken,
}

impl CompileRequest {
    /// A request with default limits that nobody cancels.
    #[must_use]
    pub fn new(grammar: Arc<Grammar>, vocabulary: Arc<Vocabulary>) -> Self {
        Self {
            grammar,
            vocabulary,
            limits: Limits::default(),
            cancellation: CancellationToken::new(),
        }
    }
}

/// Whether a backend can do a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assessment {
    /// It can.
    Supported(Estimate),
    /// It cannot.
    Unsupported(Unsupported),
}

/// About what a compile will cost; what is not known is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Automaton states, or what the backend has in their place.
    pub states: Option<usize>,
    /// Heap bytes of the compiled grammar.
    pub bytes: Option<usize>,
}

/// Why a backend cannot do a grammar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The grammar is not regular, and the backend does regular ones only.
    #[error("not supported by this backend: rule `{rule}` is not regular: {why}")]
    NotRegular {
        /// The first rule found not to be regular.
        rule: Box<str>,
        /// What makes it so, in a few words.
        why: &'static str,
    },
    /// A construct the backend lacks.
    #[error("not supported by this backend: {construct} (at {location})")]
    Construct {
        /// The construct's name.
        construct: &'static str,
        /// Where it stands.
        location: Location,
    },
    /// The construction exceeds a budget.
    #[error("too large for this backend: {0}")]
    OverBudget(formwork_automata::Exhausted),
    /// The compiled form exceeds the byte budget.
    #[error("too large for this backend: about {estimate} bytes needed, {limit} allowed")]
    OverBytes {
        /// Bytes needed, as far as the construction got.
        estimate: usize,
        /// Bytes allowed.
        limit: usize,
    },
}
