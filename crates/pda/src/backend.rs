//! The contract's side of this backend.

use crate::{
    alphabet::Alphabet,
    cut::{Cuts, mutual_left_recursion},
    fill::Shared,
    fixed::FixedIslands,
    islands::Islands,
    machine::{Core, PrecomputeError, Tables},
    parts::{Source, fold},
    program::{Program, left_recursion},
    session::Matcher,
    texts::Texts,
};
use formwork_automata::{ByteSet, CancellationToken, Exhausted};
use formwork_core::{
    Assessment, CompileError, CompileRequest, CompiledGrammar, Counter, Estimate, Grammar, Limits,
    Machine, StartError, StartOptions, Stats, StepError, StructuredOutputBackend,
    StructuredOutputGrammar, Unsupported, Vocabulary, Warning,
};
use formwork_grammar::{
    Location, Node, Uniqueness,
    passes::{self, Rules},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering};

/// Heap bytes of stacks after which new ones are begun.
const STACK_BYTES: usize = 32 << 20;
/// States of all islands together.
const MAX_STATES: usize = 400_000;
/// Unordered members that are unrolled: `2^members` states.
const MAX_MEMBERS: usize = 6;

/// When masks are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precompute {
    /// When an output first comes to a position.
    #[default]
    Nothing,
    /// All positions at compile time, in parallel, and those that depend on the stack for every
    /// place that can be on top of it; as far as a bound on the work, where there are very many.
    Everything,
}

/// The backend `pda`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PdaBackend {
    precompute: Precompute,
}

impl PdaBackend {
    /// A backend that makes masks at this time. Whichever it is, the masks are the same.
    #[must_use]
    pub fn new(precompute: Precompute) -> Self {
        Self { precompute }
    }
}

impl StructuredOutputBackend for PdaBackend {
    fn name(&self) -> &str {
        match self.precompute {
            Precompute::Nothing => "pda",
            Precompute::Everything => "pda-eager",
        }
    }

    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        let reason = passes::reach(grammar, limits).map_err(CompileError::from).and_then(|rules| {
            check(&rules, vocabulary)?;
            let source = Source::new(rules);
            match mutual_left_recursion(&source, &Cuts::new(&source)) {
                true => Err(left_recursion().into()),
                false => Ok(()),
            }
        });
        match reason {
            Err(CompileError::Unsupported(reason)) => Assessment::Unsupported(reason),
            // What is wrong with the grammar itself is for the compile to say in full.
            _ => Assessment::Supported(Estimate::default()),
        }
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        Ok(Arc::new(self.compile(request)?))
    }
}

impl PdaBackend {
    /// What [`StructuredOutputBackend::compile_blocking`] gives, known by its type, so that it can
    /// be [saved](Compiled::save).
    ///
    /// # Errors
    /// The same.
    pub fn compile(&self, request: &CompileRequest) -> Result<Compiled, CompileError> {
        let CompileRequest { grammar, limits, cancellation, .. } = request;
        let settings = Settings {
            warnings: grammar.warnings().to_vec(),
            mask_steps: limits.mask_steps,
            compiled_bytes: limits.compiled_bytes,
        };
        self.finish(program(request)?, settings, Some(cancellation))
    }

    /// A program with the masks that are made in advance.
    pub(crate) fn finish(
        &self,
        program: Program,
        settings: Settings,
        cancellation: Option<&CancellationToken>,
    ) -> Result<Compiled, CompileError> {
        let vocabulary = program.vocabulary.clone();
        let shared = Shared { fixed: FixedIslands::of(&vocabulary), texts: Texts::new(&program) };
        let core = Core::new(program, shared, settings.mask_steps);
        let limit = settings.compiled_bytes;
        if self.precompute == Precompute::Everything {
            let never = CancellationToken::new();
            core.precompute(cancellation.unwrap_or(&never)).map_err(|error| match error {
                PrecomputeError::Step(StepError::MaskSteps { limit }) => {
                    Unsupported::OverBudget(Exhausted::Steps { limit }).into()
                }
                PrecomputeError::Step(_) => {
                    CompileError::from(Unsupported::OverBytes { estimate: limit, limit })
                }
                PrecomputeError::Exhausted(reason) => reason.into(),
            })?;
        }
        let tables = Tables::new(Arc::new(core));
        // What others have made known does not count against this grammar.
        let estimate = tables.own_bytes();
        if estimate > limit {
            return Err(Unsupported::OverBytes { estimate, limit }.into());
        }
        Ok(Compiled { vocabulary, settings, tables: Mutex::new(Arc::new(tables)) })
    }
}

/// From a grammar to the automaton.
fn program(request: &CompileRequest) -> Result<Program, CompileError> {
    let CompileRequest { grammar, vocabulary, limits, cancellation } = request;
    if let Some(reason) = cancellation.reason() {
        return Err(reason.into());
    }
    let rules = passes::reach(grammar, limits)?;
    check(&rules, vocabulary)?;
    let mut limits = limits.clone();
    limits.automaton_states = limits.automaton_states.min(MAX_STATES);
    let mut fuel = limits.fuel(cancellation);
    let folded = fold(Source::new(rules), vocabulary, &mut fuel)?;
    let rules = passes::prune_unproductive(&folded.rules, &mut fuel).map_err(over_budget)?;
    if matches!(rules.bodies[0].nodes(), [Node::Never]) {
        return Err(CompileError::Unsatisfiable);
    }
    let source = Source::new(rules);
    let cuts = Cuts::new(&source);
    let alphabet = Alphabet::new(&source.rules, vocabulary, &mut fuel)?;
    let islands = Islands::build(&source, &cuts, &alphabet, &mut fuel)?;
    if islands[0].dfa.is_empty() {
        return Err(CompileError::Unsatisfiable);
    }
    Program::new(islands, alphabet, vocabulary.clone())
}

fn over_budget(reason: Exhausted) -> CompileError {
    match reason {
        Exhausted::States { .. } | Exhausted::Steps { .. } => {
            Unsupported::OverBudget(reason).into()
        }
        reason => reason.into(),
    }
}

/// Refuses what this backend lacks, by name.
fn check(rules: &Rules, vocabulary: &Vocabulary) -> Result<(), CompileError> {
    let unspellable: ByteSet = vocabulary.unspellable_bytes().iter().collect();
    for node in rules.bodies.iter().flat_map(|body| body.nodes()) {
        let construct = unsupported(node).or_else(|| {
            if unspellable.is_empty() {
                return None;
            }
            let spelt = bytes(node).intersection(&unspellable).is_empty();
            (!spelt).then_some("bytes that are no tokens of the vocabulary by themselves")
        });
        if let Some(construct) = construct {
            let location = Location::default();
            return Err(Unsupported::Construct { construct, location }.into());
        }
    }
    Ok(())
}

fn unsupported(node: &Node) -> Option<&'static str> {
    match node {
        Node::LookAhead(_) => Some("look-ahead"),
        Node::TokenLimit { .. } => Some("token limits"),
        Node::Permute(permute) => {
            let uniqueness = permute.rest.map(|rest| rest.uniqueness);
            match uniqueness {
                Some(Uniqueness::Distinct) => Some("items whose keys must differ"),
                _ if permute.members.len() > MAX_MEMBERS => Some("many unordered items"),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Bytes that may stand in what a node generates, its children aside.
fn bytes(node: &Node) -> ByteSet {
    match node {
        Node::Literal(bytes) => bytes.iter().copied().collect(),
        Node::Bytes(bytes) => *bytes,
        Node::Automaton(dfa) => {
            let states = dfa.live_states();
            states.fold(ByteSet::EMPTY, |all, state| all.union(&dfa.out_bytes(state)))
        }
        // A complement has what its operand lacks.
        Node::Not(_) => ByteSet::FULL,
        _ => ByteSet::EMPTY,
    }
}

/// What a grammar brings with it besides its program.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) warnings: Vec<Warning>,
    /// Steps that a mask may take.
    pub(crate) mask_steps: u64,
    /// Bytes that everything together may have.
    pub(crate) compiled_bytes: usize,
}

/// A grammar ready for this backend.
#[derive(Debug)]
pub struct Compiled {
    vocabulary: Arc<Vocabulary>,
    settings: Settings,
    tables: Mutex<Arc<Tables>>,
}

impl Compiled {
    fn lock(&self) -> MutexGuard<'_, Arc<Tables>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stacks that new matchers use.
    pub(crate) fn tables(&self) -> Arc<Tables> {
        self.lock().clone()
    }

    /// Whether stacks have outgrown their budget.
    pub(crate) fn is_full(&self, tables: &Tables) -> bool {
        tables.frames.bytes() > STACK_BYTES.min(self.settings.compiled_bytes)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Begins new stacks, unless somebody has.
    pub(crate) fn replace(&self, old: &Arc<Tables>) {
        let mut tables = self.lock();
        if Arc::ptr_eq(&tables, old) {
            *tables = Arc::new(Tables::new(old.core.clone()));
        }
    }
}

impl CompiledGrammar for Compiled {
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError> {
        let tables = self.tables();
        if self.is_full(&tables) {
            self.replace(&tables);
        }
        Ok(Box::new(Matcher::start(self, options)?))
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    fn memory_bytes(&self) -> usize {
        self.tables().memory_bytes()
    }

    fn warnings(&self) -> &[Warning] {
        &self.settings.warnings
    }

    fn stats(&self) -> Stats {
        let tables = self.tables();
        let core = &tables.core;
        let count = |name, value: usize| Counter { name, value: value as u64 };
        let mut counters = vec![
            count("islands", core.program.islands.len()),
            count("states", core.program.states.len() - core.program.islands.len()),
            count("positions", core.nodes.len()),
            count("frames", tables.frames.len()),
            count("automaton bytes", core.program.memory_bytes()),
            count("position bytes", core.nodes.bytes()),
            count("row bytes", core.nodes.row_bytes()),
            count("shared bytes", core.shared_bytes()),
            Counter {
                name: "trie nodes visited",
                value: core.nodes.visited.load(Ordering::Relaxed),
            },
        ];
        if let Some(value) = core.decided() {
            counters.push(Counter { name: "context-free tokens per million", value });
        }
        Stats { counters }
    }
}

#[cfg(test)]
mod tests;
