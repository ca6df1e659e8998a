//! Forced bytes: what every completion begins with.
//!
//! Where tokens complete whatever bytes complete, this is the run of single outgoing bytes of the
//! automaton. Otherwise the spellings matter too, and pairs of (automaton state, trie node) are
//! followed: a pair counts while some token below its node leads to a state that can be completed.

use crate::{
    liveness::Liveness,
    machine::{DfaMachine, Position},
};
use formwork_automata::StateId;
use formwork_grammar::regular::TOKEN_END;
use formwork_vocab::NodeId;

/// Appends at most `limit` bytes.
pub(crate) fn forced_bytes(
    machine: &DfaMachine,
    position: Position,
    limit: usize,
    bytes: &mut Vec<u8>,
) {
    let members = machine.members(position);
    match (&machine.liveness, &members[..]) {
        (Liveness::All, &[state]) => machine.automaton.dfa.forced_bytes(state, limit, bytes),
        _ => {
            let start = members.iter().map(|&state| (state, NodeId::ROOT)).collect();
            forced_spellings(machine, start, limit, bytes);
        }
    }
}

fn forced_spellings(
    machine: &DfaMachine,
    mut at: Vec<(StateId, NodeId)>,
    limit: usize,
    bytes: &mut Vec<u8>,
) {
    let automaton = &machine.automaton;
    for _ in 0..limit {
        let open = at.iter().any(|&(state, node)| {
            node == NodeId::ROOT
                && (automaton.dfa.is_accepting(state) || begins_with_a_symbol(machine, state))
        });
        if open {
            return;
        }
        let mut next: Vec<(u8, StateId, NodeId)> = Vec::new();
        for &(state, node) in &at {
            for (byte, child) in automaton.vocabulary.trie().children(node) {
                let target = automaton.dfa.next(state, byte);
                if !target.is_dead() && leads_on(machine, target, child) {
                    next.push((byte, target, child));
                }
            }
        }
        let Some(&(byte, ..)) = next.first() else { return };
        if next.iter().any(|&(other, ..)| other != byte) {
            return;
        }
        bytes.push(byte);
        at.clear();
        for (_, state, node) in next {
            at.push((state, node));
            let ended = automaton.end(state);
            if !automaton.vocabulary.trie().tokens(node).is_empty()
                && machine.liveness.is_live(ended)
            {
                at.push((ended, NodeId::ROOT));
            }
        }
        at.sort_unstable();
        at.dedup();
    }
}

/// Whether a token symbol may come next, which no byte can stand for.
fn begins_with_a_symbol(machine: &DfaMachine, state: StateId) -> bool {
    machine.automaton.dfa.mark_edges(state).any(|(mark, target)| {
        mark != TOKEN_END && machine.liveness.is_live(machine.automaton.end(target))
    })
}

/// Whether some token at or below `node`, begun so that `state` is reached here, can be ended in a
/// state that can be completed.
fn leads_on(machine: &DfaMachine, state: StateId, node: NodeId) -> bool {
    let automaton = &machine.automaton;
    let trie = automaton.vocabulary.trie();
    let mut pending = vec![(state, node)];
    while let Some((state, node)) = pending.pop() {
        if !trie.tokens(node).is_empty() && machine.liveness.is_live(automaton.end(state)) {
            return true;
        }
        for (byte, child) in trie.children(node) {
            let target = automaton.dfa.next(state, byte);
            if !target.is_dead() {
                pending.push((target, child));
            }
        }
    }
    false
}
