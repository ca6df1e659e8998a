//! Which backend, over which vocabulary.

use crate::vocabularies;
use anyhow::Result;
use clap::Args as ClapArgs;
use formwork::{SharedBackend, Vocabulary, backend};
use std::sync::Arc;

#[derive(Debug, Default, ClapArgs)]
pub(crate) struct EngineArgs {
    /// The vocabulary: `o200k_base`, `cl100k_base`, `bytes` (one token per byte), or a file that
    /// holds a table of tokens.
    #[arg(long, value_name = "NAME|FILE")]
    vocab: Option<String>,
    /// The backend, by its name.
    #[arg(long, value_name = "NAME")]
    backend: Option<String>,
}

impl EngineArgs {
    /// The vocabulary asked for, or the one of this name.
    pub(crate) fn vocabulary(&self, default: &str) -> Result<Arc<Vocabulary>> {
        vocabularies::load(self.vocab.as_deref().unwrap_or(default))
    }

    /// The backend asked for, or the first there is.
    pub(crate) fn backend(&self) -> Result<SharedBackend> {
        match &self.backend {
            Some(name) => Ok(backend(name)?),
            None => Ok(formwork::backends()[0].clone()),
        }
    }
}
