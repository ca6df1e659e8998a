//! The main job: what is generated satisfies its schema, by an independent validator.

use super::*;
use formwork::{Compiler, Constraint};
use std::sync::LazyLock;

const ORDER: &str = include_str!("../../../../examples/schemas/order.json");

static COMPILED: LazyLock<Arc<dyn CompiledGrammar>> = LazyLock::new(|| {
    let vocabulary = formwork_tokenizers::o200k_base().unwrap();
    Compiler::new(vocabulary).compile(&Constraint::JsonSchema(ORDER.into())).unwrap()
});

fn generate(seed: u64, max_tokens: usize) -> (String, Summary) {
    let mut matcher = COMPILED.clone().start(&StartOptions::default()).unwrap();
    let mut sampler = Sampler::new(matcher.vocabulary(), seed);
    let (mut text, mut summary) = (Vec::new(), Summary::default());
    decode(&mut *matcher, &mut sampler, max_tokens, &mut text, &mut summary).unwrap();
    (String::from_utf8(text).unwrap(), summary)
}

#[test]
fn two_hundred_seeds_give_two_hundred_valid_orders() {
    let schema = serde_json::from_str(ORDER).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut texts = std::collections::HashSet::new();
    for seed in 0..200 {
        let (text, summary) = generate(seed, 2_000);
        assert_eq!(summary.ended, Ended::Complete, "seed {seed}: {text}");
        let value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("seed {seed} is no JSON: {error}\n{text}"));
        if let Err(error) = validator.validate(&value) {
            panic!("seed {seed}: {error}\n{text}");
        }
        texts.insert(text);
    }
    assert!(texts.len() > 190, "different seeds give different texts: {}", texts.len());
}

#[test]
fn a_seed_gives_the_same_text_again_and_a_small_limit_cuts_it() {
    let (text, summary) = generate(7, 2_000);
    assert_eq!(generate(7, 2_000).0, text);
    assert!(summary.forced_tokens > 0 && summary.forced_tokens < summary.tokens);
    let (cut, summary) = generate(7, 10);
    assert_eq!((summary.ended, summary.tokens), (Ended::Cut, 10));
    assert!(text.starts_with(&cut) && cut.len() < text.len());
    assert!(summary.to_string().starts_with("cut:"), "{summary}");
}
