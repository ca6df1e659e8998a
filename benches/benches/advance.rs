//! Everything about tokens that is not a mask: taking them, asking about them, going back, forking.

use criterion::{Criterion, criterion_group, criterion_main};
use formwork_benches::{Outcome, Subject, subjects, vocabulary};
use std::hint::black_box;

fn advance(criterion: &mut Criterion) {
    let vocabulary = vocabulary().expect("a vocabulary");
    let subjects = subjects(&vocabulary).expect("definitions that hold");
    let accepted = |subject: &&Subject| subject.definition.expect.outcome == Outcome::Accepted;
    for subject in subjects.iter().filter(accepted) {
        let (mut matcher, tokens) =
            subject.after(&subject.definition.text).expect("checked before");
        let count = tokens.len();
        let name = &subject.name;
        criterion.bench_function(&format!("advance/{name}, {count} tokens"), |bencher| {
            bencher.iter(|| {
                matcher.rollback(count).expect("just accepted");
                matcher.accept_tokens(black_box(&tokens)).expect("accepted before");
            });
        });
        let Some(&last) = tokens.last() else { continue };
        matcher.rollback(1).expect("just accepted");
        criterion.bench_function(&format!("check one token/{name}"), |bencher| {
            bencher.iter(|| matcher.check_token(black_box(last)));
        });
        criterion.bench_function(&format!("validate one token/{name}"), |bencher| {
            bencher.iter(|| matcher.validate_tokens(black_box(&[last])));
        });
        criterion
            .bench_function(&format!("fork/{name}"), |bencher| bencher.iter(|| matcher.fork()));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = advance
}
criterion_main!(benches);
