//! The contract between inference engines and structured-output backends.
//!
//! # Idea
//! Two traits after the pair that engines already use, and the immutable thing between them:
//!
//! - [`StructuredOutputBackend`]: turns a grammar and a vocabulary into a compiled grammar;
//! - [`CompiledGrammar`]: shared by all requests with the same constraint, starts matchers;
//! - [`StructuredOutputGrammar`]: one request's state: fill a mask, accept tokens, roll back.
//!
//! # The law
//! A token is allowed exactly when one of its readings (its bytes, or itself as a symbol where the
//! grammar names it) keeps the output a prefix of some sequence of the language that the
//! vocabulary's emittable tokens can complete. So the mask of a state is one definite bit vector,
//! and every backend gives the same one, bit for bit. The conformance crate holds backends to it.
//!
//! # Writing a backend
//! Implement the required methods; everything that can be derived has a default. A backend whose
//! state is small and copyable implements [`Machine`] alone and leaves stop ids, termination,
//! atomic accept, rollback, fork and row identities to [`Session`].
//!
//! # Reading order
//! `backend`, `compiled`, `matcher` (the contract); `row_id`, `delta`, `error`, `constraint` (its
//! vocabulary); `machine`, `token_set`, `session`, `stop_ids`, `history` (the ready-made half of a backend).

mod backend;
mod compiled;
mod constraint;
mod delta;
mod error;
mod history;
mod machine;
mod matcher;
mod row_id;
mod session;
mod stop_ids;
mod token_set;

pub use backend::{Assessment, CompileRequest, Estimate, StructuredOutputBackend, Unsupported};
pub use compiled::{CompiledGrammar, Counter, StartOptions, Stats, StopPolicy};
pub use constraint::Constraint;
pub use delta::{DeltaForm, MaskDelta};
pub use error::{AcceptError, AcceptErrorKind, CompileError, RollbackError, StartError, StepError};
pub use formwork_automata::{CancellationToken, Exhausted};
pub use formwork_grammar::{Grammar, Limits, Location, Warning};
pub use formwork_mask::BatchBitmask;
pub use formwork_vocab::{TokenId, Vocabulary};
pub use history::History;
pub use machine::Machine;
pub use matcher::StructuredOutputGrammar;
pub use row_id::{Filled, RowId, TableId};
pub use session::Session;
pub use stop_ids::{StopSet, StopSets};
pub use token_set::tokens_of;
