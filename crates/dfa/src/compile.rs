//! From a grammar to the machine: automaton, liveness, sets, rows.

use crate::{
    alphabet::Alphabet,
    ambiguity::Sets,
    liveness::Liveness,
    machine::{DfaMachine, TokenAutomaton},
    numbering::{Ground, Work, number_rows},
    text::ClassRows,
    walk::Edges,
};
use formwork_automata::{Exhausted, StateId};
use formwork_core::{CompileError, CompileRequest, Machine, StopSets, Unsupported};
use formwork_grammar::{
    passes,
    regular::{self, RegularError},
};
use formwork_slices::Slices;

/// Compiles a grammar.
pub(crate) fn compile(request: &CompileRequest) -> Result<(DfaMachine, Work), CompileError> {
    let CompileRequest { grammar, vocabulary, limits, cancellation } = request;
    let rules = passes::reach(grammar, limits)?;
    let mut fuel = limits.fuel(cancellation);
    let alphabet = Alphabet::new(&rules, vocabulary, &mut fuel)?;
    let dfa = regular::dfa_of_rules(&rules, &alphabet, &mut fuel).map_err(refusal)?;
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
    let slices = Slices::of(vocabulary);
    let class_rows = ClassRows::new(&automaton, &edges, &liveness, &slices);
    let ground = Ground {
        automaton: &automaton,
        edges: &edges,
        liveness: &liveness,
        class_rows: &class_rows,
        cancellation,
    };
    let numbering = number_rows(&ground, &sets, limits.compiled_bytes)?;
    let machine = DfaMachine {
        row_of: numbering.row_of,
        accepting: accepting(&automaton, &sets),
        rows: numbering.rows.finish(),
        zero_row: numbering.zero_row,
        stop_sets: StopSets::default(),
        warnings: grammar.warnings().to_vec(),
        automaton,
        liveness,
        sets,
    };
    let (estimate, limit) = (machine.memory_bytes(), limits.compiled_bytes);
    if estimate > limit {
        return Err(Unsupported::OverBytes { estimate, limit }.into());
    }
    Ok((machine, numbering.work))
}

/// By position: an automaton state, then a set, which is complete when a member is.
pub(crate) fn accepting(automaton: &TokenAutomaton, sets: &Sets) -> Vec<bool> {
    let is_accepting = |&state: &StateId| automaton.dfa.is_accepting(state);
    let states = std::iter::once(false).chain(automaton.states.iter().map(is_accepting));
    let sets = (0..sets.len()).map(|set| sets.members(set).iter().any(is_accepting));
    states.chain(sets).collect()
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
