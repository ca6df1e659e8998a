//! Backend `pda`: any context-free grammar without left recursion, masks known by position.
//!
//! # Idea
//! The grammar becomes a few automata over bytes and calls, the *islands*: everything is inlined that
//! does not embed itself, so that nearly all that is read is a look-up in one table. A stack of
//! hash-consed frames says where to go on when an island ends. Of the tokens, nearly all are decided by
//! the state alone, wherever it was called from: those that stay inside the island, and those that die
//! there. What is left of the few others when they leave the island is kept beside the state's mask,
//! and decided once for each place that is met below it on a stack.
//!
//! # When to use it
//! For constraints that are recursive, or whose automaton would be too large, and that many outputs
//! are made with.
//!
//! # Cost
//! Compile: every rule lowered, and the automata; with [`Precompute::Everything`] a walk for each state
//! over what the vocabulary does not know already, in parallel. Mask: a copied row and some flipped
//! bits. Step: a look-up a byte, and a frame where the stack changes. Memory: a list or a few flips
//! per state, a row for each kind of free text, the stacks in use up to a budget; what is known of
//! text, numbers and white space is the vocabulary's, and other grammars use it too.
//!
//! # What it cannot do
//! Look-ahead, token limits, items whose keys must differ or that are many in any order; left
//! recursion by way of another called rule; vocabularies that lack a byte which the grammar has. They
//! are refused by name.
//!
//! # Invariants
//! 1. Every thread can be completed: rules are productive, automata trimmed.
//! 2. No island begins with itself, so that what can be read before the next byte ends.
//! 3. Frames refer to older frames only.
//! 4. What a node says does not depend on who asks first.
//! 5. The core of an automaton is smaller than the automaton.
//!
//! # Reading order
//! `alphabet`, `parts`, `cut`, `islands`, `program` (from a grammar to the automaton); `frames`,
//! `walker` (reading); `mask`, `loops`, `texts`, `fixed`, `fill`, `nodes` (masks); `machine`, `session`, `backend`,
//! `artifact`.

mod alphabet;
mod artifact;
mod backend;
mod cut;
mod difference;
mod fill;
mod fixed;
mod frames;
mod islands;
mod loops;
mod machine;
mod mask;
mod nodes;
mod parts;
mod program;
mod session;
mod texts;
mod walker;

pub use artifact::{ArtifactError, ArtifactTable, SaveError};
pub use backend::{Compiled, PdaBackend, Precompute};
