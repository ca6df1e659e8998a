//! What the benches share: the vocabulary they run on, and the constraints.
//!
//! `FORMWORK_VOCAB` names a raw vocabulary table (see `formwork_tokenizers::raw_table`); without
//! it the benches run on the embedded o200k_base.

use anyhow::{Context, Result};
use formwork::{CompiledGrammar, Compiler, Constraint, Vocabulary};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{fs::File, io::BufReader, sync::Arc};

/// The vocabulary named by `FORMWORK_VOCAB`, or o200k_base; its trie built.
///
/// # Errors
/// When the file cannot be read or is no vocabulary.
pub fn vocabulary() -> Result<Arc<Vocabulary>> {
    let vocabulary = match std::env::var_os("FORMWORK_VOCAB") {
        Some(path) => {
            let file = File::open(&path).with_context(|| format!("cannot open {path:?}"))?;
            Arc::new(formwork_tokenizers::raw_table(BufReader::new(file))?)
        }
        None => formwork_tokenizers::o200k_base()?,
    };
    vocabulary.trie();
    Ok(vocabulary)
}

/// The schema of the example order, without white space so that its automaton is small.
pub const ORDER: &str = include_str!("../../examples/schemas/order.json");

/// Random strings of 14 letters and digits: the large finite set of the literature on choices.
#[must_use]
pub fn random_choices(count: usize) -> Vec<String> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = StdRng::seed_from_u64(14);
    (0..count)
        .map(|_| {
            (0..14).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
        })
        .collect()
}

/// Compiles with defaults.
///
/// # Errors
/// What the compiler says.
pub fn compile(
    vocabulary: &Arc<Vocabulary>,
    constraint: &Constraint,
) -> Result<Arc<dyn CompiledGrammar>> {
    Ok(Compiler::new(vocabulary.clone()).compile(constraint)?)
}
