//! One decode step of a compiled constraint: fill, `Unchanged`, advance, and the cheap questions.

use criterion::{Criterion, criterion_group, criterion_main};
use formwork::{Constraint, Filled, RowId, StartOptions, StructuredOutputGrammar, TokenId};
use formwork_benches::{ORDER, compile, random_choices, vocabulary};
use std::hint::black_box;

/// A matcher after the greedy tokens of `text`.
fn after(
    compiled: &std::sync::Arc<dyn formwork::CompiledGrammar>,
    text: &str,
) -> (Box<dyn StructuredOutputGrammar>, Vec<TokenId>) {
    let mut matcher = compiled.clone().start(&StartOptions::default()).expect("starts");
    let vocabulary = matcher.vocabulary().clone();
    let mut rest = text.as_bytes();
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let length = (1..=rest.len().min(24))
            .rev()
            .find(|&length| vocabulary.tokens_with_bytes(&rest[..length]).next().is_some())
            .expect("single bytes are tokens");
        let token = vocabulary.tokens_with_bytes(&rest[..length]).next().expect("found");
        tokens.push(token);
        rest = &rest[length..];
    }
    matcher.accept_tokens(&tokens).expect("the text fits");
    (matcher, tokens)
}

fn step(criterion: &mut Criterion) {
    let vocabulary = vocabulary().expect("a vocabulary");
    let order = compile(&vocabulary, &Constraint::JsonSchema(ORDER.into())).expect("compiles");
    let text = r#"{"id":"ORD-123456","customer":{"name":"Ada"#;
    let places = [
        ("structure", r#"{"id":"ORD-123456","customer":{"#),
        ("in a string", text),
        ("in a pattern", r#"{"id":"ORD-12"#),
    ];
    let mut row = vec![0; vocabulary.row_words()];
    for (name, text) in places {
        let (mut matcher, _) = after(&order, text);
        criterion.bench_function(&format!("fill/{name}"), |bencher| {
            bencher.iter(|| matcher.fill_bitmask(black_box(&mut row), RowId::NONE));
        });
        let held = matcher.fill_bitmask(&mut row, RowId::NONE).expect("fills").row(RowId::NONE);
        assert_eq!(matcher.fill_bitmask(&mut row, held), Ok(Filled::Unchanged));
        criterion.bench_function(&format!("unchanged/{name}"), |bencher| {
            bencher.iter(|| matcher.fill_bitmask(black_box(&mut row), held));
        });
    }
    let (mut matcher, tokens) = after(&order, text);
    criterion.bench_function(
        &format!("advance {} tokens and roll back", tokens.len()),
        |bencher| {
            bencher.iter(|| {
                matcher.rollback(tokens.len()).expect("just accepted");
                matcher.accept_tokens(black_box(&tokens)).expect("accepted before");
            });
        },
    );
    let last = *tokens.last().expect("there are tokens");
    criterion.bench_function("advance one token and roll back", |bencher| {
        bencher.iter(|| {
            matcher.rollback(1).expect("just accepted");
            matcher.accept_tokens(black_box(&[last])).expect("accepted before");
        });
    });
    criterion.bench_function("check one token", |bencher| {
        bencher.iter(|| matcher.check_token(black_box(last)));
    });
    criterion.bench_function("fork", |bencher| bencher.iter(|| matcher.fork()));

    let choices = random_choices(10_000);
    let first = choices[0].clone();
    let choice = compile(&vocabulary, &Constraint::Choice(choices)).expect("compiles");
    let (mut matcher, _) = after(&choice, &first[..1]);
    criterion.bench_function("fill/10,000 choices", |bencher| {
        bencher.iter(|| matcher.fill_bitmask(black_box(&mut row), RowId::NONE));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = step
}
criterion_main!(benches);
