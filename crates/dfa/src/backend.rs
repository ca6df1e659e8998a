//! The contract's side of this backend.

use crate::{compile, machine::DfaMachine, numbering::Work};
use formwork_core::{
    Assessment, CompileError, CompileRequest, CompiledGrammar, Counter, Estimate, Grammar, Limits,
    Machine, RowId, Session, StartError, StartOptions, Stats, StructuredOutputBackend,
    StructuredOutputGrammar, Unsupported, Vocabulary, Warning,
};
use formwork_grammar::regular::{self, RegularError};
use std::sync::Arc;

/// The backend `dfa`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DfaBackend;

impl StructuredOutputBackend for DfaBackend {
    fn name(&self) -> &str {
        "dfa"
    }

    fn assess(&self, grammar: &Grammar, _vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        match regular::check(grammar, limits) {
            Ok(()) => Assessment::Supported(Estimate::default()),
            Err(RegularError::NotRegular { rule, why }) => {
                Assessment::Unsupported(Unsupported::NotRegular { rule, why })
            }
            Err(RegularError::Exhausted(reason)) => {
                Assessment::Unsupported(Unsupported::OverBudget(reason))
            }
            // What is wrong with the grammar itself is for the compile to say in full.
            Err(_) => Assessment::Supported(Estimate::default()),
        }
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        Ok(Arc::new(Compiled::new(request)?))
    }
}

/// A grammar compiled by this backend.
#[derive(Debug)]
pub struct Compiled {
    pub(crate) machine: Arc<DfaMachine>,
    pub(crate) work: Work,
}

impl Compiled {
    /// What [`StructuredOutputBackend::compile_blocking`] gives, known by its type, so that it can
    /// be [saved](Self::save).
    ///
    /// # Errors
    /// The same.
    pub fn new(request: &CompileRequest) -> Result<Self, CompileError> {
        let (machine, work) = compile::compile(request)?;
        Ok(Self { machine: Arc::new(machine), work })
    }
}

impl CompiledGrammar for Compiled {
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError> {
        Ok(Box::new(Session::start(self.machine.clone(), options)?))
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.machine.vocabulary()
    }

    fn memory_bytes(&self) -> usize {
        self.machine.memory_bytes()
    }

    fn warnings(&self) -> &[Warning] {
        Machine::warnings(&*self.machine)
    }

    fn stats(&self) -> Stats {
        let machine = &self.machine;
        let [sparse, delta, dense] = machine.rows.forms();
        let count = |name, value: usize| Counter { name, value: value as u64 };
        Stats {
            counters: vec![
                // The dead state is no place an output can be in.
                count("states", machine.automaton.dfa.len() - 1),
                count("state sets", machine.sets.len()),
                count("rows", machine.rows.len()),
                count("sparse rows", sparse),
                count("delta rows", delta),
                count("dense rows", dense),
                count("row bytes", machine.rows.bytes()),
                count("automaton bytes", machine.automaton.dfa.memory_bytes()),
                count("class rows", self.work.class_rows),
                Counter { name: "trie nodes visited", value: self.work.trie_nodes },
            ],
        }
    }

    fn base_row(&self, row: RowId, words: &mut [i32]) -> bool {
        match row {
            RowId::ZEROS => words.fill(0),
            RowId::UNCONSTRAINED => words.fill(-1),
            _ => match self.machine.rows.number(row) {
                Some(number) => self.machine.rows.write(number, words),
                None => return false,
            },
        }
        true
    }
}
