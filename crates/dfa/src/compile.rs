//! From a grammar to the machine: automaton, liveness, sets, rows.

use crate::{
    alphabet::Alphabet,
    ambiguity::Sets,
    liveness::Liveness,
    machine::{DfaMachine, NO_ROW, TokenAutomaton},
    rows::{Drafts, RowsBuilder},
    walk::{Edges, Scratch, for_each_token},
};
use formwork_automata::{CancellationToken, Exhausted, StateId};
use formwork_core::{CompileError, CompileRequest, StopSets, TokenId, Unsupported};
use formwork_grammar::{
    passes,
    regular::{self, RegularError},
};
use rayon::prelude::*;

/// How the construction went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Trie nodes visited for rows.
    pub(crate) trie_nodes: u64,
}

/// States whose rows one task builds: few, because text states cost a thousand times what others
/// do and stand side by side.
const CHUNK: usize = 64;
/// Tasks between two looks at the byte budget.
const BATCH: usize = 64;
/// Trie nodes between two looks at the cancellation token: a few milliseconds.
const CHECK_EVERY: u64 = 1 << 19;

/// Compiles a grammar.
pub(crate) fn compile(request: &CompileRequest) -> Result<(DfaMachine, Work), CompileError> {
    let CompileRequest { grammar, vocabulary, limits, cancellation } = request;
    let rules = passes::reach(grammar, limits)?;
    let alphabet = Alphabet::new(&rules, vocabulary)?;
    let mut fuel = limits.fuel(cancellation);
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
    let mut machine = DfaMachine {
        row_of: vec![NO_ROW; automaton.dfa.len() + sets.len()],
        accepting: accepting(&automaton, &sets),
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

/// By position: an automaton state, then a set, which is complete when a member is.
fn accepting(automaton: &TokenAutomaton, sets: &Sets) -> Vec<bool> {
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
    let mut work = Work::default();
    let mut rows = RowsBuilder::new(model_len);
    let fixed_bytes = machine.automaton.dfa.memory_bytes();
    for (batch, states) in boundary.chunks(BATCH * CHUNK).enumerate() {
        let drafts: Vec<(Drafts, Work)> = states
            .par_chunks(CHUNK)
            .map_init(Scratch::default, |scratch, states| {
                drafts(machine, edges, states, scratch, cancellation)
            })
            .collect::<Result<_, _>>()?;
        let numbered = drafts.iter().flat_map(|(drafts, _)| drafts.iter());
        for (state, draft) in states.iter().zip(numbered) {
            let number = rows.add(draft);
            machine.row_of[state.index()] = number;
            if draft.is_zero() {
                machine.zero_row = Some(number);
            }
        }
        work.trie_nodes += drafts.iter().map(|(_, work)| work.trie_nodes).sum::<u64>();
        if fixed_bytes + rows.bytes() > max_bytes {
            let done = batch * BATCH * CHUNK + states.len();
            let estimate = fixed_bytes + rows.bytes() / done * boundary.len();
            return Err(Unsupported::OverBytes { estimate, limit: max_bytes }.into());
        }
    }
    let mut drafts = Drafts::default();
    for set in 0..machine.sets.len() {
        let members = machine.sets.members(set).iter();
        let mut ids: Vec<u32> =
            members.flat_map(|state| rows.ids(machine.row_of[state.index()])).collect();
        drafts.push(&mut ids, model_len);
    }
    for (set, draft) in drafts.iter().enumerate() {
        machine.row_of[machine.automaton.dfa.len() + set] = rows.add(draft);
    }
    machine.rows = rows.finish();
    Ok(work)
}

/// The rows of some states.
fn drafts(
    machine: &DfaMachine,
    edges: &Edges,
    states: &[StateId],
    scratch: &mut Scratch,
    cancellation: &CancellationToken,
) -> Result<(Drafts, Work), Exhausted> {
    let model_len = machine.automaton.vocabulary.model_len();
    let (mut drafts, mut work) = (Drafts::default(), Work::default());
    let mut ids = Vec::new();
    let mut next_check = 0;
    for &state in states {
        if work.trie_nodes >= next_check {
            next_check = work.trie_nodes + CHECK_EVERY;
            if let Some(reason) = cancellation.reason() {
                return Err(reason);
            }
        }
        let told = &mut |token: TokenId, target| {
            if machine.liveness.is_live(target) {
                ids.push(token.as_u32());
            }
        };
        let visited = for_each_token(&machine.automaton, edges, state, scratch, told);
        work.trie_nodes += visited as u64;
        drafts.push(&mut ids, model_len);
    }
    Ok((drafts, work))
}
