//! The contract's side of this backend.

use crate::{
    bases::Bases,
    boolean::fold,
    empty::has_empty_items,
    fixed::FixedIslands,
    pour::unsupported,
    program::Program,
    resolve::{has_look_ahead, without_look_ahead},
    session::Matcher,
    tables::Tables,
};
use formwork_automata::{ByteSet, Exhausted};
use formwork_core::{
    Assessment, CompileError, CompileRequest, CompiledGrammar, Counter, Estimate, Grammar, Limits,
    Machine, RowId, StartError, StartOptions, Stats, StepError, StructuredOutputBackend,
    StructuredOutputGrammar, Unsupported, Vocabulary, Warning, tokens_of,
};
use formwork_grammar::{
    Body, BodyBuilder, GrammarBuilder, GrammarError, Location, Node,
    passes::{self, Rules},
    regular::RegularError,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering};

/// Heap bytes of tables after which new ones are begun.
const TABLE_BYTES: usize = 64 << 20;

/// The backend `earley`.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarleyBackend;

impl StructuredOutputBackend for EarleyBackend {
    fn name(&self) -> &str {
        "earley"
    }

    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        let checked = passes::reach(grammar, limits).map_err(CompileError::from);
        match checked.and_then(|rules| check(&rules, vocabulary)) {
            Err(CompileError::Unsupported(reason)) => Assessment::Unsupported(reason),
            // What is wrong with the grammar itself is for the compile to say in full.
            _ => Assessment::Supported(Estimate::default()),
        }
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        let CompileRequest { grammar, vocabulary, limits, cancellation } = request;
        if let Some(reason) = cancellation.reason() {
            return Err(reason.into());
        }
        // A lazy grammar is productive as it comes; looking at all of it would be the wait that this
        // backend is there to avoid.
        let grammar = match grammar.is_lazy() && vocabulary.is_byte_complete() {
            true => grammar.clone(),
            false => {
                let rules = passes::reach(grammar, limits)?;
                check(&rules, vocabulary)?;
                let rules = without_empty_sets(&rules, vocabulary)?;
                let rules = match has_look_ahead(&rules) {
                    true => without_look_ahead(&rules, limits, cancellation).map_err(budget)?,
                    false => rules,
                };
                let unfolded = of_rules(&rules)?;
                let islands = FixedIslands::of(vocabulary);
                let rules =
                    fold(&rules, &unfolded, limits, cancellation, &islands).map_err(regular)?;
                if has_empty_items(&rules) {
                    let construct = "unordered items that can be empty";
                    let location = Location::default();
                    return Err(Unsupported::Construct { construct, location }.into());
                }
                let mut fuel = limits.fuel(cancellation);
                let rules = passes::prune_unproductive(&rules, &mut fuel)?;
                if matches!(rules.bodies[0].nodes(), [Node::Never]) {
                    return Err(CompileError::Unsatisfiable);
                }
                Arc::new(of_rules(&rules)?.with_warnings(grammar.warnings().to_vec()))
            }
        };
        let program = Arc::new(Program::new(grammar, vocabulary.clone(), limits.clone()));
        let tables = Arc::new(Tables::new(program, Arc::new(Bases::new())));
        let start = tables.first().map_err(refusal)?;
        if !tables.is_accepting(start) && !tables.may_continue(start) {
            return Err(CompileError::Unsatisfiable);
        }
        let grammar = tables.program.grammar.clone();
        let vocabulary = vocabulary.clone();
        Ok(Arc::new(Compiled { grammar, vocabulary, tables: Mutex::new(tables) }))
    }
}

/// Why a boolean node is no automaton.
pub(crate) fn regular(error: RegularError) -> CompileError {
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

/// A budget that is used up is this backend's own.
fn budget(error: CompileError) -> CompileError {
    match error {
        CompileError::Exhausted(reason) => regular(reason.into()),
        error => error,
    }
}

/// What the first closure found wrong.
fn refusal(error: StepError) -> CompileError {
    match error {
        StepError::MaskSteps { limit } => {
            Unsupported::OverBudget(Exhausted::Steps { limit }).into()
        }
        StepError::Memory { limit } => Unsupported::OverBytes { estimate: limit, limit }.into(),
        error => GrammarError::from(formwork_grammar::LowerError {
            location: Location::default(),
            source: Arc::new(error),
        })
        .into(),
    }
}

/// Refuses what this backend lacks, by name.
fn check(rules: &Rules, vocabulary: &Vocabulary) -> Result<(), CompileError> {
    let unspellable: ByteSet = vocabulary.unspellable_bytes().iter().collect();
    for body in &rules.bodies {
        for node in emitted(body) {
            let construct = unsupported(node).or_else(|| {
                let spelt = bytes(node).intersection(&unspellable).is_empty();
                (!spelt).then_some("bytes that are no tokens of the vocabulary by themselves")
            });
            if let Some(construct) = construct {
                let location = Location::default();
                return Err(Unsupported::Construct { construct, location }.into());
            }
        }
    }
    Ok(())
}

/// The nodes that can stand for output: all but those of look-aheads.
fn emitted(body: &Body) -> impl Iterator<Item = &Node> {
    let mut is_emitted = vec![false; body.nodes().len()];
    is_emitted[body.root().index()] = true;
    for (id, node) in body.iter().rev() {
        if is_emitted[id.index()] && !matches!(node, Node::LookAhead(_)) {
            node.for_each_child(|child| is_emitted[child.index()] = true);
        }
    }
    body.nodes().iter().zip(is_emitted).filter(|node| node.1).map(|node| node.0)
}

/// The same rules without token sets that hold no token.
fn without_empty_sets(rules: &Rules, vocabulary: &Vocabulary) -> Result<Rules, CompileError> {
    rules.try_map(|body| {
        let mut builder = BodyBuilder::new();
        let root = builder.try_rebuild(body, |builder, _, node| match &node {
            Node::Tokens(set) if tokens_of(set, vocabulary)?.is_empty() => Ok(builder.never()),
            _ => Ok::<_, CompileError>(builder.renormalize(node)),
        })?;
        Ok(builder.finish(root))
    })
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

/// Rules as a grammar, numbered as they are.
pub(crate) fn of_rules(rules: &Rules) -> Result<Grammar, GrammarError> {
    let mut builder = GrammarBuilder::new();
    let ids: Vec<_> = rules.names.iter().map(|name| builder.declare(name)).collect();
    for (&id, body) in ids.iter().zip(&rules.bodies) {
        builder.define(id, (**body).clone())?;
    }
    builder.finish(ids[0])
}

/// A grammar ready for this backend.
#[derive(Debug)]
pub struct Compiled {
    grammar: Arc<Grammar>,
    vocabulary: Arc<Vocabulary>,
    tables: Mutex<Arc<Tables>>,
}

impl Compiled {
    fn lock(&self) -> MutexGuard<'_, Arc<Tables>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tables that new matchers use.
    pub(crate) fn tables(&self) -> Arc<Tables> {
        self.lock().clone()
    }

    /// Whether tables have outgrown their budget.
    pub(crate) fn is_full(&self, tables: &Tables) -> bool {
        tables.bytes() + tables.program.registers.memory_bytes()
            > TABLE_BYTES.min(tables.program.limits.compiled_bytes)
    }

    /// Begins new tables, unless somebody has.
    pub(crate) fn replace(&self, old: &Arc<Tables>) {
        let mut tables = self.lock();
        if Arc::ptr_eq(&tables, old) {
            let program = &old.program;
            let renewed = Program::new(
                program.grammar.clone(),
                program.vocabulary.clone(),
                program.limits.clone(),
            );
            *tables = Arc::new(Tables::new(Arc::new(renewed), old.bases.clone()));
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

    fn base_row(&self, row: RowId, words: &mut [i32]) -> bool {
        match row {
            RowId::ZEROS => words.fill(0),
            RowId::UNCONSTRAINED => words.fill(-1),
            _ => match self.tables().bases.row(row) {
                Some(base) => words.copy_from_slice(base),
                None => return false,
            },
        }
        true
    }

    fn memory_bytes(&self) -> usize {
        self.tables().memory_bytes()
    }

    fn warnings(&self) -> &[Warning] {
        self.grammar.warnings()
    }

    fn stats(&self) -> Stats {
        let tables = self.tables();
        let program = &tables.program;
        let count = |name, value: usize| Counter { name, value: value as u64 };
        let read = |name, value: u64| Counter { name, value };
        Stats {
            counters: vec![
                count("islands", program.island_count()),
                count("states", program.state_count()),
                count("frames", tables.activation_count()),
                count("configurations", tables.configuration_count()),
                read("masks", tables.work.masks.load(Ordering::Relaxed)),
                read("trie nodes visited", tables.work.nodes.load(Ordering::Relaxed)),
                count("table bytes", tables.bytes()),
            ],
        }
    }
}
