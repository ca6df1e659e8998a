//! outlines-core: schema to regular expression to an index of tokens by state, and that index's
//! entry written as a row, as its own binding writes it.

use crate::{
    engine::{Compiled, Engine, Matcher, SchemaForm, Source},
    vocabulary::Vocabularies,
};
use anyhow::{Context, Result, bail, ensure};
use outlines_core::{index::Index, json_schema::regex_from_value, vocabulary::Vocabulary};
use std::sync::Arc;

/// The engine's name.
pub(super) const NAME: &str = "outlines-core";

/// The engine.
pub(super) struct Outlines(Vocabulary);

impl Outlines {
    /// # Errors
    /// When its vocabulary does not give every token's bytes back.
    pub(super) fn new(vocabularies: &Vocabularies) -> Result<Self> {
        let mut vocabulary = Vocabulary::new(vocabularies.eos);
        // Special tokens stay out, as they do when it loads a vocabulary itself.
        for (id, bytes) in vocabularies.tokens() {
            vocabulary.try_insert(bytes, id)?;
        }
        for (id, bytes) in vocabularies.tokens() {
            let ids = vocabulary.token_ids(bytes);
            ensure!(ids.is_some_and(|ids| ids.contains(&id)), "other bytes of token {id}");
        }
        Ok(Self(vocabulary))
    }
}

impl Engine for Outlines {
    fn name(&self) -> &str {
        NAME
    }

    fn about(&self) -> String {
        "outlines-core 0.2.14, default white space and recursion depth; from a parsed schema".into()
    }

    fn reads(&self) -> SchemaForm {
        SchemaForm::Value
    }

    fn compile(&self, source: Source) -> Result<Box<dyn Compiled>> {
        let regex = match source {
            Source::SchemaValue(value) => regex_from_value(&value, None, None)?,
            Source::Regex(regex) => regex,
            Source::SchemaText(_) => bail!("asked for a value"),
            Source::Ebnf(_) | Source::StructuralTag(_) | Source::Lark(_) => {
                bail!("reads no grammars")
            }
        };
        Ok(Box::new(Compilation(Arc::new(Index::new(&regex, &self.0)?))))
    }
}

struct Compilation(Arc<Index>);

impl Compiled for Compilation {
    fn start(&self) -> Result<Box<dyn Matcher>> {
        Ok(Box::new(State { at: self.0.initial_state(), index: self.0.clone() }))
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let transitions = self.0.transitions();
        let edges: usize = transitions.values().map(|edges| edges.len()).sum();
        vec![("states", transitions.len() as u64), ("edges", edges as u64)]
    }
}

struct State {
    at: u32,
    index: Arc<Index>,
}

impl Matcher for State {
    fn mask(&mut self, row: &mut [i32]) -> Result<()> {
        row.fill(0);
        for &token in self.index.allowed_tokens_iter(&self.at).into_iter().flatten() {
            row[token as usize / 32] |= 1 << (token % 32);
        }
        Ok(())
    }

    fn commit(&mut self, token: u32) -> Result<()> {
        self.at =
            self.index.next_state(&self.at, &token).context("an allowed token leads nowhere")?;
        Ok(())
    }
}
