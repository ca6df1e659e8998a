//! Speculative decoding: how much of a draft would be accepted, and the state afterwards.

use formwork::{Compiler, Constraint, StartOptions, TokenId, Vocabulary};
use formwork_examples::say;
use std::sync::Arc;

fn main() -> anyhow::Result<()> {
    let words = ["the ", "cat ", "dog ", "sat", "ran"];
    let ids = (0..).map(TokenId::new);
    let builder = ids
        .zip(words)
        .fold(Vocabulary::builder(6), |builder, (id, word)| builder.token(id, word.as_bytes()));
    let end = TokenId::new(5);
    let vocabulary = Arc::new(builder.special(end, "<end>").eos(end).build()?);
    let compiled =
        Compiler::new(vocabulary).compile(&Constraint::Regex("the (cat|dog) (sat|ran)".into()))?;
    let mut matcher = compiled.start(&StartOptions::default())?;

    let draft = [0, 2, 1, 3].map(TokenId::new);
    let good = matcher.validate_tokens(&draft);
    say(format_args!("of the draft, {good} tokens fit; the state is as before"))?;
    matcher.accept_tokens(&draft[..good])?;
    say(format_args!("after them, {} tokens are processed", matcher.num_processed_tokens()))?;
    matcher.rollback(1)?;
    say(format_args!(
        "one rolled back: may `cat ` follow? {}",
        matcher.check_token(TokenId::new(1))
    ))?;
    Ok(())
}
