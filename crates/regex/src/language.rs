//! The automaton of a lowered pattern.
//!
//! # Idea
//! Every construct is poured between two states of an NFA, by a worklist; subset construction and
//! minimisation do the rest. Everything is paid from one budget, the caller's.

use crate::look::Conditions;
use formwork_automata::{Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, determinize};
use formwork_grammar::{ExprId, Node, Repeat};

/// An expression to be poured between two states.
type Task = (ExprId, NfaStateId, NfaStateId);

/// The canonical automaton of an expression that [`crate::lower`] has made, by the nodes of its
/// body; look-aheads are marks in it.
pub(crate) fn automaton<'b>(
    node: impl Fn(ExprId) -> &'b Node,
    root: ExprId,
    conditions: &Conditions,
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, accept) = (nfa.state()?, nfa.state()?);
    let mut tasks = vec![(root, start, accept)];
    while let Some((expr, from, to)) = tasks.pop() {
        match node(expr) {
            Node::Never => {}
            Node::Empty => nfa.empty(from, to)?,
            Node::Literal(bytes) => nfa.literal(from, bytes, to)?,
            Node::Bytes(set) => nfa.byte(from, *set, to)?,
            Node::Automaton(dfa) => nfa.automaton(from, dfa, to)?,
            Node::Seq(parts) => sequence(parts, (from, to), &mut nfa, &mut tasks)?,
            Node::Alt(choices) => {
                nfa.fuel().steps(choices.len())?;
                tasks.extend(choices.iter().map(|&choice| (choice, from, to)));
            }
            Node::LookAhead(_) => nfa.mark(from, conditions.mark(expr), to)?,
            Node::Repeat(repeat) => repetition(*repeat, (from, to), &mut nfa, &mut tasks)?,
            other => unreachable!("lowering a pattern makes no {other:?}"),
        }
    }
    let nfa = nfa.finish(start, accept);
    Ok(determinize(&nfa, fuel)?.canonical())
}

fn sequence(
    parts: &[ExprId],
    (from, to): (NfaStateId, NfaStateId),
    nfa: &mut NfaBuilder<'_>,
    tasks: &mut Vec<Task>,
) -> Result<(), Exhausted> {
    let Some((&last, init)) = parts.split_last() else { return nfa.empty(from, to) };
    let mut at = from;
    for &part in init {
        let next = nfa.state()?;
        tasks.push((part, at, next));
        at = next;
    }
    tasks.push((last, at, to));
    Ok(())
}

fn repetition(
    Repeat { expr, min, max }: Repeat,
    (from, to): (NfaStateId, NfaStateId),
    nfa: &mut NfaBuilder<'_>,
    tasks: &mut Vec<Task>,
) -> Result<(), Exhausted> {
    let mut at = from;
    for count in 0..max.unwrap_or(min) {
        if count >= min {
            nfa.empty(at, to)?;
        }
        let next = nfa.state()?;
        tasks.push((expr, at, next));
        at = next;
    }
    if max.is_none() {
        // A state of its own: `at` may be where other paths go on.
        let again = nfa.state()?;
        nfa.empty(at, again)?;
        tasks.push((expr, again, again));
        at = again;
    }
    nfa.empty(at, to)
}
