//! Formwork itself, one engine per backend.

use crate::{
    engine::{Compiled, Engine, Matcher, SchemaForm, Source},
    vocabulary::Vocabularies,
};
use anyhow::{Result, bail};
use formwork::{
    CompiledGrammar, Compiler, Constraint, RowId, SharedBackend, StartOptions,
    StructuredOutputBackend, StructuredOutputGrammar, TokenId,
};
use std::sync::Arc;

/// The engine's name for a backend.
pub(super) fn name(backend: &dyn StructuredOutputBackend) -> String {
    format!("formwork-{}", backend.name())
}

/// One backend with default options and limits.
#[derive(Debug)]
pub(super) struct Own {
    name: String,
    compiler: Compiler,
}

impl Own {
    /// The backend over a vocabulary, which is prepared here: once, as a server does when it loads
    /// the model.
    pub(super) fn new(vocabularies: &Vocabularies, backend: SharedBackend) -> Self {
        let vocabulary = vocabularies.own.clone();
        formwork::prepare(&vocabulary);
        let name = name(&*backend);
        Self { name, compiler: Compiler::new(vocabulary).with_backend(backend) }
    }
}

impl Engine for Own {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> String {
        "default options and limits; from the schema's text; every fill writes the row".into()
    }

    fn reads(&self) -> SchemaForm {
        SchemaForm::Text
    }

    fn compile(&self, source: Source) -> Result<Box<dyn Compiled>> {
        let constraint = match source {
            Source::SchemaText(text) => Constraint::JsonSchema(text),
            Source::Regex(regex) => Constraint::Regex(regex),
            Source::Ebnf(text) => Constraint::Grammar(text),
            Source::StructuralTag(text) => Constraint::StructuralTag(text),
            Source::SchemaValue(_) | Source::Lark(_) => bail!("asked for text"),
        };
        Ok(Box::new(OwnCompiled(self.compiler.compile(&constraint)?)))
    }
}

#[derive(Debug)]
struct OwnCompiled(Arc<dyn CompiledGrammar>);

impl Compiled for OwnCompiled {
    fn start(&self) -> Result<Box<dyn Matcher>> {
        Ok(Box::new(OwnMatcher(self.0.clone().start(&StartOptions::default())?)))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let stats = self.0.stats();
        stats.counters.iter().map(|counter| (counter.name, counter.value)).collect()
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.memory_bytes())
    }
}

#[derive(Debug)]
struct OwnMatcher(Box<dyn StructuredOutputGrammar>);

impl Matcher for OwnMatcher {
    fn mask(&mut self, row: &mut [i32]) -> Result<()> {
        // Nothing is claimed to be held: the short cut of an unchanged row is not taken.
        self.0.fill_bitmask(row, RowId::NONE)?;
        Ok(())
    }

    fn commit(&mut self, token: u32) -> Result<()> {
        Ok(self.0.accept_tokens(&[TokenId::new(token)])?)
    }
}
