//! From a constraint to a compiled grammar, front end and all rows included.

use criterion::{Criterion, criterion_group, criterion_main};
use formwork::Constraint;
use formwork_benches::{ORDER, compile, random_choices, vocabulary};

fn compiles(criterion: &mut Criterion) {
    let vocabulary = vocabulary().expect("a vocabulary");
    let constraints = [
        ("order schema", Constraint::JsonSchema(ORDER.into())),
        ("date", Constraint::Regex("[0-9]{4}-[0-9]{2}-[0-9]{2}".into())),
        ("words", Constraint::Regex("([a-z]+ ?){1,20}".into())),
        ("10,000 choices", Constraint::Choice(random_choices(10_000))),
    ];
    for (name, constraint) in constraints {
        criterion.bench_function(&format!("compile/{name}"), |bencher| {
            bencher.iter(|| compile(&vocabulary, &constraint).expect("compiles"));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(3));
    targets = compiles
}
criterion_main!(benches);
