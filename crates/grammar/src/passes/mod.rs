//! Passes over a grammar whose bodies are all lowered, in the order in which they run.
//!
//! | pass | rewrites | after it |
//! |---|---|---|
//! | [`reach`] | lowers and keeps what the root needs | every rule is reachable; rules are numbered in the order they were reached |
//! | [`prune_unproductive`] | drops alternatives that generate nothing | no node is [`Node::Never`](crate::Node::Never) but the root of the grammar |
//! | [`factor`] | `x a \| x b` to `x (a \| b)` | no two alternatives of one node begin with the same node |
//! | [`analyze`] | nothing | strongly connected components, linearity, references counted |
//!
//! Each pass returns a new [`Rules`] and checks its postcondition in debug builds. Emptiness of
//! intersections is decided where automata are built ([`regular`](crate::regular)), not here.

mod analyze;
mod factor;
mod productive;
mod reach;

pub use analyze::{Analysis, Linearity, analyze};
pub use factor::factor;
pub use productive::prune_unproductive;
pub(crate) use productive::{as_grammar, without_unproductive};
pub use reach::{Rules, reach};
