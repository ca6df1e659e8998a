//! Token sets over a vocabulary: which tokens they mean.

use crate::CompileError;
use formwork_grammar::{TokenRef, TokenSet};
use formwork_vocab::{TokenId, Vocabulary};

/// The emittable tokens of a set, ascending. Cost: the tokens listed; for a negated set those of the
/// vocabulary.
///
/// # Errors
/// [`CompileError::UnknownToken`] for a name that the vocabulary does not have.
pub fn tokens_of(set: &TokenSet, vocabulary: &Vocabulary) -> Result<Vec<TokenId>, CompileError> {
    let known = u32::try_from(vocabulary.tokenizer_len()).expect("ids are u32");
    let mut ranges: Vec<(u32, u32)> = Vec::with_capacity(set.tokens.len());
    for token in &set.tokens {
        ranges.push(match token {
            TokenRef::Name(name) => {
                let id = vocabulary.by_name(name);
                let id = id.ok_or_else(|| CompileError::UnknownToken { name: name.clone() })?;
                (id.as_u32(), id.as_u32())
            }
            TokenRef::Ids(first, last) => (*first, *last),
        });
    }
    // Ascending and merged as they are read, so that overlapping ranges cost nothing.
    ranges.sort_unstable();
    let mut listed: Vec<TokenId> = Vec::new();
    let mut next = 0;
    for (first, last) in ranges {
        let end = last.saturating_add(1).min(known);
        listed.extend((first.max(next)..end).map(TokenId::new));
        next = next.max(end);
    }
    let mut tokens = match set.negated {
        false => listed,
        true => (0..known)
            .map(TokenId::new)
            .filter(|id| listed.binary_search(id).is_err() && !vocabulary.eos().contains(id))
            .collect(),
    };
    tokens.retain(|&id| vocabulary.is_emittable(id));
    Ok(tokens)
}
