//! Backend `earley`: any context-free grammar, the first mask at once.
//!
//! # Idea
//! The grammar is not compiled. It is a set of *islands* that call each other: the bodies of rules,
//! determinised as far as an output visits them, and automata. A *thread* is a state of an island
//! and a frame that says what happens when the island is left; an output is the set of all threads
//! it can be read by. That is Earley's algorithm (1970) with the items of one rule and origin as one
//! automaton state, and the origins as hash-consed frames.
//!
//! A mask is a walk over the vocabulary's trie by these threads. Where a thread stands in an
//! automaton, which is where masks are large, the tokens that stay inside are known from an earlier
//! walk, for all grammars of the vocabulary, and only what is left of the others is walked.
//!
//! # When to use it
//! For constraints that nobody has seen before, and for those that no other backend does.
//!
//! # Cost
//! Compile: the first closure, microseconds. Mask: a few hundred trie nodes at a structural position;
//! inside an automaton a row and what is left of the tokens that leave it; once made, a copy. Step:
//! the bytes of the token times the threads. Memory: what outputs have visited, up to a budget.
//!
//! # What it cannot do yet
//! Token limits, unordered items that can be empty, look-ahead that is still open past a key which
//! must differ from others; vocabularies that lack a byte which the grammar has. They are refused by
//! name. Look-ahead is resolved when a grammar is compiled, so not in rules that are lowered late.
//!
//! # Invariants
//! 1. Every thread can be completed: rules are productive, automata trimmed.
//! 2. A thread's frame is older than the thread: stacks are acyclic but for left recursion, which is
//!    within one activation.
//! 3. Whatever is in the tables never changes.
//!
//! # Reading order
//! `conditions`, `texts`, `units`, `resolve`; then `place`, `states`, `boolean`, `symbols`, `counted`, `unordered`, `closed`, `pour`, `program`,
//! `closure`, `walker`, `items`, `tables`; then `fixed`, `walks`, `difference`, `inside`, `fill`; then
//! `bases`, `mask`, `machine`, `session`, `empty`, `backend`.

mod backend;
mod bases;
mod boolean;
mod closed;
mod closure;
mod conditions;
mod counted;
mod difference;
mod empty;
mod fill;
mod fixed;
mod inside;
mod items;
mod machine;
mod mask;
mod place;
mod pour;
mod program;
mod resolve;
mod session;
mod states;
mod symbols;
mod tables;
mod texts;
mod units;
mod unordered;
mod walker;
mod walks;

pub use backend::{Compiled, EarleyBackend};
