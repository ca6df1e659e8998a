//! From a constraint's text to a compiled grammar, front end and all.

use criterion::{Criterion, criterion_group, criterion_main};
use formwork_benches::{subjects, vocabulary};

fn compile(criterion: &mut Criterion) {
    let vocabulary = vocabulary().expect("a vocabulary");
    for subject in subjects(&vocabulary).expect("definitions that hold") {
        let constraint = &subject.definition.constraint;
        criterion.bench_function(&format!("compile/{}", subject.name), |bencher| {
            bencher.iter(|| subject.compiler.compile(constraint).expect("it compiled before"));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = compile
}
criterion_main!(benches);
