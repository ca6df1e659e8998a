//! The grammar representation: what every front end lowers to and every backend reads.
//!
//! # Idea
//! A [`Grammar`] is a set of rules, one of them the root. A rule's [`Body`] is an arena of
//! [`Node`]s in which children stand before their parents, so that every pass is a loop and no
//! depth of nesting can overflow a stack. Nodes are built by [`BodyBuilder`] alone, whose
//! constructors keep them in normal form and share equal ones.
//!
//! Bodies may be lowered late: a front end gives a [`LowerRule`], and a rule gets its body when a
//! backend first asks for it. What is known up front is the root.
//!
//! # Meaning
//! The language of a grammar is a set of sequences over bytes, token symbols `<t>` and token ends;
//! `node` defines it construct by construct. Token ends may stand anywhere between two symbols and
//! nothing but [`Node::TokenLimit`] looks at them.
//!
//! # Reading order
//! `node`, `permute`, `body`, `grammar`, `compose`, `limits`, `location`, then `passes` (in the order in which
//! they run), `regular` (a regular grammar as one automaton) and `print` (a grammar as EBNF).

mod body;
mod compose;
mod grammar;
mod limits;
mod location;
mod node;
pub mod passes;
mod permute;
pub mod print;
pub mod regular;

pub use body::{Body, BodyBuilder};
pub use compose::{Part, PartId, Parts, Unsatisfiable, compose};
pub use grammar::{
    Grammar, GrammarBuilder, GrammarError, LowerError, LowerRule, RuleAllocator, Warning,
};
pub use limits::Limits;
pub use location::{Location, SourcePosition};
pub use node::{
    Annotation, ExprId, LookAhead, Node, Polarity, Repeat, RuleId, Temperature, TokenRef, TokenSet,
};
pub use permute::{Member, Permute, Rest, Uniqueness};
