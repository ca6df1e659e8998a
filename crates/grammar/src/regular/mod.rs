//! A regular grammar as one automaton.
//!
//! # Idea
//! Every construct is poured between two states of an NFA, by a worklist rather than by recursion.
//! Rules that are recursive, and rules used more than once, become minimal automata of their own
//! first (callees before callers) and are embedded where they are used. Strongly regular recursion
//! is a graph: a right-linear rule is a state, a reference to it an empty edge (and mirrored for
//! left-linear ones). Operators that need a deterministic operand (intersection, complement,
//! look-ahead, token limits, distinct keys) get one, children first.
//!
//! # What is unrolled
//! `Repeat`, `Permute` and `TokenLimit` have registers elsewhere; an automaton has none, so here
//! they become states, as far as the fuel goes. Distinct keys must come from a finite language.
//!
//! # Marks
//! Token sets become marks that the caller chooses ([`TokenAlphabet`]); a token limit needs the mark
//! of the token end. A token end may stand anywhere, so every state has a loop of it, except inside
//! a token limit, where it says that the next symbol counts anew.

mod compile;
mod layers;
mod look_ahead;
mod permute;

use crate::{Grammar, GrammarError, Limits, Node, TokenSet, passes};
use compile::Compiler;
use formwork_automata::{CancellationToken, Dfa, Exhausted, Fuel, Mark};

/// The meaning of tokens as letters.
pub trait TokenAlphabet {
    /// The letters that stand for the tokens of a set: any one of them is one token of it. Marks
    /// are below [`MAX_TOKEN_MARK`].
    ///
    /// # Errors
    /// [`RegularError::UnknownToken`], or a refusal of token symbols as such.
    fn marks(&self, set: &TokenSet) -> Result<Vec<Mark>, RegularError>;
}

/// Marks for tokens are below this; those above are used here.
pub const MAX_TOKEN_MARK: Mark = Mark(1 << 30);

/// The mark of a token end. It is a letter of the result only when the grammar limits tokens.
pub const TOKEN_END: Mark = Mark(u32::MAX);

/// Why a grammar is not one automaton.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegularError {
    /// A rule is not regular, or not known to be.
    #[error("rule `{rule}` is not regular: {why}")]
    NotRegular {
        /// The rule.
        rule: Box<str>,
        /// What makes it so, in a few words.
        why: &'static str,
    },
    /// The vocabulary has no such token.
    #[error("the vocabulary has no special token named {name:?}")]
    UnknownToken {
        /// The name that was looked for.
        name: Box<str>,
    },
    /// A budget was used up, or the work was cancelled.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The grammar itself is at fault.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}

/// An alphabet without tokens: a grammar that names one is not over bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BytesOnly;

impl TokenAlphabet for BytesOnly {
    fn marks(&self, _set: &TokenSet) -> Result<Vec<Mark>, RegularError> {
        Err(RegularError::NotRegular { rule: "token set".into(), why: "it is over bytes alone" })
    }
}

/// The minimal automaton of a grammar over bytes and marks. Its start is dead exactly when nothing
/// satisfies the grammar.
///
/// # Errors
/// [`RegularError`].
pub fn dfa(
    grammar: &Grammar,
    alphabet: &dyn TokenAlphabet,
    limits: &Limits,
    cancellation: &CancellationToken,
) -> Result<Dfa, RegularError> {
    dfa_of_rules(&passes::reach(grammar, limits)?, alphabet, &mut limits.fuel(cancellation))
}

/// As [`dfa`], for a grammar that has been lowered.
///
/// # Errors
/// [`RegularError`].
pub fn dfa_of_rules(
    rules: &passes::Rules,
    alphabet: &dyn TokenAlphabet,
    fuel: &mut Fuel,
) -> Result<Dfa, RegularError> {
    if let [Node::Automaton(dfa)] = rules.bodies[0].nodes() {
        // Front ends give minimal automata; a large one must not be minimised again.
        for _ in dfa.live_states() {
            fuel.state()?;
        }
        return Ok((**dfa).clone());
    }
    let rules = passes::prune_unproductive(rules, fuel)?;
    let analysis = passes::analyze(&rules);
    Compiler::new(&rules, &analysis, alphabet, fuel).grammar()
}

/// Whether a grammar is regular as far as its recursion goes: quick, builds no automaton.
///
/// # Errors
/// [`RegularError::NotRegular`] with the first rule that is not, or a lowering error.
pub fn check(grammar: &Grammar, limits: &Limits) -> Result<(), RegularError> {
    let mut fuel = limits.fuel(&CancellationToken::new());
    let rules = passes::prune_unproductive(&passes::reach(grammar, limits)?, &mut fuel)?;
    let analysis = passes::analyze(&rules);
    compile::check_recursion(&rules, &analysis)
}

#[cfg(test)]
mod tests;
