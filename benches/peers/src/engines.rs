//! The engines there are.

mod llguidance;
mod outlines;
mod own;

use crate::{engine::Engine, vocabulary::Vocabularies};
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

/// An engine, and how long it took to get ready with the vocabulary.
pub(crate) struct Ready {
    /// The engine.
    pub(crate) engine: Box<dyn Engine>,
    /// Time for what is done once per vocabulary. What engines share, the first one pays for.
    pub(crate) preparation: Duration,
}

/// Builds the engines: all of them, or those named, in the order of this list.
///
/// # Errors
/// When a name is unknown or an engine cannot read the vocabulary.
pub(crate) fn build(vocabularies: &Vocabularies, wanted: &[String]) -> Result<Vec<Ready>> {
    let mut known = Vec::new();
    let mut engines = Vec::new();
    let mut add = |name: &str, by_default: bool, make: &dyn Fn() -> Result<Box<dyn Engine>>| {
        known.push(name.to_owned());
        let is_wanted = match wanted.is_empty() {
            true => by_default,
            false => wanted.iter().any(|wanted| wanted == name),
        };
        if is_wanted {
            let start = Instant::now();
            let engine = make()?;
            engines.push(Ready { engine, preparation: start.elapsed() });
        }
        anyhow::Ok(())
    };
    for backend in formwork::backends() {
        let make = || Ok(Box::new(own::Own::new(vocabularies, backend.clone())) as Box<_>);
        add(&own::name(&**backend), true, &make)?;
    }
    for tokenizer in [llguidance::Tokenizer::Real, llguidance::Tokenizer::TrieAlone] {
        let make = || Ok(Box::new(llguidance::LlGuidance::new(vocabularies, tokenizer)?) as Box<_>);
        // Without the tokenizer it is another reading of the same engine: only when asked for.
        add(tokenizer.engine_name(), tokenizer == llguidance::Tokenizer::Real, &make)?;
    }
    add(outlines::NAME, true, &|| Ok(Box::new(outlines::Outlines::new(vocabularies)?) as Box<_>))?;
    for name in wanted {
        ensure!(
            known.contains(name),
            "there is no engine `{name}`: there are {}",
            known.join(", ")
        );
    }
    Ok(engines)
}
