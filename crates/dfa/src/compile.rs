//! From a grammar to the machine: automaton, liveness, sets, rows.

use crate::{
    alphabet::Alphabet,
    ambiguity::Sets,
    liveness::Liveness,
    machine::{DfaMachine, NO_ROW, TokenAutomaton},
    rows::{Draft, RowsBuilder},
    walk::{Edges, Scratch, for_each_token},
};
use formwork_automata::{CancellationToken, Exhausted, StateId};
use formwork_core::{CompileError, CompileRequest, StopSets, Unsupported};
use formwork_grammar::{
    passes,
    regular::{self, RegularError},
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// How the construction went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Trie nodes visited for rows.
    pub(crate) trie_nodes: u64,
}

/// States whose rows are built between two looks at the byte budget.
const BATCH: usize = 1_024;

/// Compiles a grammar.
pub(crate) fn compile(request: &CompileRequest) -> Result<(DfaMachine, Work), CompileError> {
    let CompileRequest { grammar, vocabulary, limits, cancellation } = request;
    let rules = passes::reach(grammar, limits)?;
    let alphabet = Alphabet::new(&rules, vocabulary)?;
    let dfa = regular::dfa(grammar, &alphabet, limits, cancellation).map_err(refusal)?;
    if dfa.is_empty() {
        return Err(CompileError::Unsatisfiable);
    }
    let automaton = TokenAutomaton::new(dfa, alphabet, vocabulary.clone());
    let edges = Edges::new(&automaton);
    let liveness = Liveness::new(&automaton, &edges, cancellation)?;
    if !liveness.is_live(automaton.dfa.start()) {
        return Err(CompileError::Unsatisfiable);
    }
    let max_sets = limits.automaton_states;
    let sets = Sets::new(&automaton, &edges, &liveness, max_sets, cancellation)
        .map_err(|reason| refusal(reason.into()))?;
    let mut machine = DfaMachine {
        row_of: vec![NO_ROW; automaton.dfa.len() + sets.len()],
        rows: RowsBuilder::new(vocabulary.model_len()).finish(),
        zero_row: None,
        stop_sets: StopSets::default(),
        warnings: grammar.warnings().to_vec(),
        automaton,
        liveness,
        sets,
    };
    let work = fill_rows(&mut machine, &edges, limits.compiled_bytes, cancellation)?;
    Ok((machine, work))
}

/// Another backend may do what this one refuses; only a cancelled compile is final.
fn refusal(error: RegularError) -> CompileError {
    match error {
        RegularError::NotRegular { rule, why } => Unsupported::NotRegular { rule, why }.into(),
        RegularError::UnknownToken { name } => CompileError::UnknownToken { name },
        RegularError::Grammar(error) => error.into(),
        RegularError::Exhausted(reason @ (Exhausted::States { .. } | Exhausted::Steps { .. })) => {
            Unsupported::OverBudget(reason).into()
        }
        RegularError::Exhausted(reason) => reason.into(),
        other => unreachable!("every refusal is named above: {other}"),
    }
}

fn fill_rows(
    machine: &mut DfaMachine,
    edges: &Edges,
    max_bytes: usize,
    cancellation: &CancellationToken,
) -> Result<Work, CompileError> {
    let model_len = machine.automaton.vocabulary.model_len();
    let boundary: Vec<StateId> = machine
        .automaton
        .boundary_states()
        .into_iter()
        .filter(|&state| machine.liveness.is_live(state))
        .collect();
    let trie_nodes = AtomicU64::new(0);
    let mut rows = RowsBuilder::new(model_len);
    let fixed_bytes = machine.automaton.dfa.memory_bytes();
    for (batch, states) in boundary.chunks(BATCH).enumerate() {
        let drafts = drafts(machine, edges, states, &trie_nodes, cancellation)?;
        for (state, draft) in states.iter().zip(drafts) {
            let zero = draft.is_zero();
            let number = rows.add(draft);
            machine.row_of[state.index()] = number;
            if zero {
                machine.zero_row = Some(number);
            }
        }
        let so_far = fixed_bytes + rows.bytes();
        if so_far > max_bytes {
            let done = batch * BATCH + states.len();
            let estimate = fixed_bytes + rows.bytes() / done * boundary.len();
            return Err(Unsupported::OverBytes { estimate, limit: max_bytes }.into());
        }
    }
    let mut set_drafts = Vec::with_capacity(machine.sets.len());
    for set in 0..machine.sets.len() {
        let members = machine.sets.members(set);
        let ids = members.iter().flat_map(|&state| {
            let number = machine.row_of[state.index()];
            rows.draft(number).ids(model_len)
        });
        set_drafts.push(Draft::new(ids.collect(), model_len));
    }
    for (set, draft) in set_drafts.into_iter().enumerate() {
        machine.row_of[machine.automaton.dfa.len() + set] = rows.add(draft);
    }
    machine.rows = rows.finish();
    Ok(Work { trie_nodes: trie_nodes.into_inner() })
}

/// The rows of some states, side by side.
fn drafts(
    machine: &DfaMachine,
    edges: &Edges,
    states: &[StateId],
    trie_nodes: &AtomicU64,
    cancellation: &CancellationToken,
) -> Result<Vec<Draft>, Exhausted> {
    let model_len = machine.automaton.vocabulary.model_len();
    let draft = |scratch: &mut Scratch, state: StateId| {
        if let Some(reason) = cancellation.reason() {
            return Err(reason);
        }
        let mut ids = Vec::new();
        let visited =
            for_each_token(&machine.automaton, edges, state, scratch, &mut |token, target| {
                if machine.liveness.is_live(target) {
                    ids.push(token.as_u32());
                }
            });
        trie_nodes.fetch_add(visited as u64, Ordering::Relaxed);
        Ok(Draft::new(ids, model_len))
    };
    states.par_iter().map_init(Scratch::default, |scratch, &state| draft(scratch, state)).collect()
}
