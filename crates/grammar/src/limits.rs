//! What one constraint may cost. Every limit counts operations or bytes, never time; a deadline is
//! the business of the cancellation token beside it.

use formwork_automata::{CancellationToken, Fuel};

/// Bounds on one constraint, from its text to its masks. All are inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of source text a front end reads. Default 16 MiB; parsing reads about 100 MB/s.
    pub source_bytes: usize,
    /// Depth of nesting in the source text. Default 2,000: deeper text is refused, though nothing
    /// here recurses.
    pub nesting: usize,
    /// Rules of one grammar, those lowered late included. Default 250,000.
    pub rules: usize,
    /// Nodes over all bodies. Default 4,000,000, about 40 bytes each.
    pub nodes: usize,
    /// States of automata built for one constraint, intermediate ones included. Default 2,000,000:
    /// a choice of 100,000 strings of 14 random letters has 1,100,000.
    pub automaton_states: usize,
    /// Elementary steps (edges and set members visited) of such constructions. Default
    /// 200,000,000, about ten million a second.
    pub automaton_steps: u64,
    /// Heap bytes a compiled constraint may hold, rows included. Default 512 MiB.
    pub compiled_bytes: usize,
    /// Elementary steps (trie nodes, items) one mask may take, in backends that make masks when they
    /// are asked for. Default 20,000,000; a whole walk of
    /// a 128,000-token trie is 275,000.
    pub mask_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            source_bytes: 16 << 20,
            nesting: 2_000,
            rules: 250_000,
            nodes: 4_000_000,
            automaton_states: 2_000_000,
            automaton_steps: 200_000_000,
            compiled_bytes: 512 << 20,
            mask_steps: 20_000_000,
        }
    }
}

impl Limits {
    /// The part that automaton constructions spend.
    #[must_use]
    pub fn fuel(&self, cancellation: &CancellationToken) -> Fuel {
        Fuel::new(self.automaton_states, self.automaton_steps)
            .with_cancellation(cancellation.clone())
    }
}
