//! What the benches share: the vocabulary they run on, and the definitions of what is measured.
//!
//! `FORMWORK_VOCAB` names a raw vocabulary table (see `formwork_tokenizers::raw_table`); without
//! it the benches run on the embedded o200k_base.
//!
//! # Reading order
//! `definition` (what a file under `data/` says), `subject` (a definition compiled and found to do
//! what the file says).

mod definition;
mod subject;

pub use definition::{Count, Definition, Expect, Outcome, Place, definitions};
pub use subject::{Subject, greedy_tokens, subjects};

use anyhow::{Context, Result};
use formwork::{TokenId, Vocabulary};
use std::{fs::File, io::BufReader, sync::Arc};

/// The vocabulary named by `FORMWORK_VOCAB`, or o200k_base, with what is computed once per
/// vocabulary.
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
    formwork::prepare(&vocabulary);
    Ok(vocabulary)
}

/// The same tokens in a vocabulary that has computed nothing yet.
///
/// # Errors
/// None for tokens that are a vocabulary already.
pub fn fresh(vocabulary: &Vocabulary) -> Result<Vocabulary> {
    let len = u32::try_from(vocabulary.tokenizer_len())?;
    let mut builder =
        Vocabulary::builder(vocabulary.tokenizer_len()).model_size(vocabulary.model_len());
    for id in (0..len).map(TokenId::new) {
        if let Some(name) = vocabulary.special_name(id) {
            builder = builder.special(id, name);
        } else if let Some(bytes) = vocabulary.bytes(id) {
            builder = builder.token(id, bytes);
        }
    }
    let builder = vocabulary.eos().iter().fold(builder, |builder, &id| builder.eos(id));
    Ok(builder.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_vocabulary_is_the_same_vocabulary() {
        let id = TokenId::new;
        let vocabulary = Vocabulary::builder(5)
            .token(id(0), b"ab")
            .token(id(1), b"a")
            .special(id(3), "<end>")
            .eos(id(3))
            .model_size(8)
            .build()
            .unwrap();
        assert_eq!(fresh(&vocabulary).unwrap().fingerprint(), vocabulary.fingerprint());
    }
}
