//! Backend `dfa`: the whole language as one minimal automaton, every mask precomputed.
//!
//! # Idea
//! 1. The grammar becomes one minimal byte automaton ([`formwork_grammar::regular`]).
//! 2. Every state in which a token may begin is walked over the vocabulary's trie; the tokens that
//!    survive are its row. Where the state takes any text of some class, the vocabulary's row of that
//!    class ([`formwork_slices`]) is taken whole and only the other tokens are walked.
//! 3. Equal rows are stored once, each in its smallest form.
//!
//! A step is then an index: the mask of a state is a stored row, a token moves the state by one
//! look-up per byte.
//!
//! # When to use it
//! For regular constraints of moderate size that are used more than a few times: choices, regular
//! expressions, schemas without recursion. Not for recursive schemas, large counted repetitions or
//! schemas seen once; those belong to `pda` and `earley`.
//!
//! # Cost
//! Compile: determinisation, then a trie walk per state, spread over the cores. A state in a
//! structural position walks a few hundred trie nodes, one inside free text some thousand, or the
//! whole trie where it fits no class. Fill: a copy of 16 KB and at most a few hundred single bits. Advance: one look-up per byte. Memory:
//! the table and the distinct rows; [`CompiledGrammar::memory_bytes`] adds up what they
//! hold, the allocator's own overhead left out.
//!
//! # What it cannot do
//! Recursion that embeds, distinct items of an infinite language, anything whose automaton or rows
//! exceed the limits. `assess` and `compile` say so by name.
//!
//! # Invariants
//! 1. Every live automaton state can be completed by bytes; every state a session is ever in can be
//!    completed by emittable tokens (`liveness`).
//! 2. A stored row is free of stop ids and of padding, and no two stored rows are equal.
//! 3. A token that has two readings (its bytes, and itself where the grammar names it) can lead to
//!    two states at once; such sets are closed and interned at compile time (`ambiguity`).
//!
//! # Reading order
//! `alphabet`, `compile`, `walk`, `liveness`, `ambiguity`, `rows`, `text`, `numbering`, `machine`,
//! `forced`, `backend`; then `artifact`, `artifact/load`, `rows/saved`.

mod alphabet;
mod ambiguity;
mod artifact;
mod backend;
mod compile;
mod forced;
mod liveness;
mod machine;
mod numbering;
mod rows;
mod text;
mod walk;

pub use artifact::{ArtifactError, ArtifactTable, SaveError};
pub use backend::{Compiled, DfaBackend};
pub use machine::DfaMachine;

#[cfg(doc)]
use formwork_core::CompiledGrammar;
