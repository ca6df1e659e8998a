//! The decode loop: a mask per step, a token per step, until the constraint is satisfied.
//!
//! A real engine applies the row to the model's logits and samples; this example takes the first
//! allowed token that has bytes, which is as good as any for showing the calls.

use formwork::{Compiler, Constraint, RowId, StartOptions, TokenId, mask::Row};
use formwork_examples::say;

fn main() -> anyhow::Result<()> {
    let compiler = Compiler::new(formwork_tokenizers::o200k_base()?);
    let compiled =
        compiler.compile(&Constraint::Regex("v[0-9]+\\.[0-9]+(-(alpha|beta))?".into()))?;

    let mut matcher = compiled.start(&StartOptions::default())?;
    let vocabulary = matcher.vocabulary().clone();
    let mut row = vec![0; vocabulary.row_words()];
    let mut held = RowId::NONE;
    let mut text = Vec::new();
    while !matcher.is_terminated() && text.len() < 12 {
        held = matcher.fill_bitmask(&mut row, held)?.row(held);
        let allowed = Row::new(&row, vocabulary.model_len());
        let Some(first) = allowed.ones().next() else { break };
        let token = TokenId::new(u32::try_from(first)?);
        let bytes = vocabulary.bytes(token).unwrap_or_default();
        say(format_args!(
            "{:>7} allowed, took {:?}",
            allowed.count(),
            bytes.escape_ascii().to_string()
        ))?;
        text.extend_from_slice(bytes);
        matcher.accept_tokens(&[token])?;
    }
    say(format_args!("{}", String::from_utf8_lossy(&text)))?;
    Ok(())
}
