//! Regular languages over bytes.
//!
//! # Idea
//! A language is written down as an [`Nfa`] (through [`NfaBuilder`]), turned into a [`Dfa`] by
//! subset construction, and combined there: union, intersection, difference and complement are
//! products of automata, minimisation and the canonical form make equal languages equal objects.
//!
//! # Alphabet
//! Letters are the 256 byte values and *marks* ([`Mark`]): further letters whose meaning belongs to
//! the caller (a token of a vocabulary, the end of a token). Marks are never bytes, and no operation
//! here gives them a meaning.
//!
//! # Cost
//! Determinisation is exponential in the worst case, so every construction spends [`Fuel`] and
//! stops with a typed error when it is used up; [`LazyDfa`] pays only for the states that are
//! visited. Bytes are grouped into equivalence classes first ([`ByteClasses`]): JSON needs about
//! twenty columns, not 256.
//!
//! # Why not regex-automata
//! It has neither complement nor intersection, no letters besides bytes, no minimal canonical
//! form that could serve as a key, and no counters. All four are needed here; see ARCHITECTURE.md.
//!
//! # Reading order
//! `byte_set`, `classes`, `fuel`, `nfa`, `table`, `dfa`, `dfa/parts`, `interner`, `subsets`,
//! `determinize`, `boolean`, `partition`, `refinement`, `minimize`, `words`, `strings`, `counting`,
//! `exclusion`, `formula`, `lazy`.

mod boolean;
mod byte_set;
mod classes;
mod counting;
mod determinize;
mod dfa;
mod exclusion;
mod formula;
mod fuel;
mod interner;
mod lazy;
mod minimize;
mod nfa;
mod partition;
mod refinement;
mod strings;
mod subsets;
mod table;
mod words;

pub use boolean::{BooleanOp, MarksPresent};
pub use byte_set::ByteSet;
pub use classes::ByteClasses;
pub use counting::{Counted, CountedState, CountsReversed, Remaining};
pub use determinize::determinize;
pub use dfa::{Dfa, DfaParts, PartsError, StateId};
pub use formula::Formula;
pub use fuel::{CancellationToken, Exhausted, Fuel};
pub use lazy::{LazyDfa, LazyError, LazyState};
pub use nfa::{Edge, Mark, Nfa, NfaBuilder, NfaStateId};
pub use strings::{InsertError, StringsBuilder};
pub use table::Edges;
pub use words::Letter;
