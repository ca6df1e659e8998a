//! The mask of a state that has been visited before: written whole, found unchanged, and as a
//! difference from a base row. First visits are part of `formwork-peers`' cold figures.

use criterion::{Criterion, criterion_group, criterion_main};
use formwork::{Filled, MaskDelta, RowId};
use formwork_benches::{subjects, vocabulary};
use std::{
    hint::black_box,
    io::{Write, stderr},
};

fn fill(criterion: &mut Criterion) {
    let vocabulary = vocabulary().expect("a vocabulary");
    let mut row = vec![0; vocabulary.row_words()];
    let mut delta = MaskDelta::default();
    for subject in subjects(&vocabulary).expect("definitions that hold") {
        for place in &subject.definition.places {
            let name = format!("{}/{}", subject.name, place.name);
            let (mut matcher, _) = subject.after(&place.after).expect("checked before");
            let held = match matcher.fill_bitmask(&mut row, RowId::NONE) {
                Ok(filled) => filled.row(RowId::NONE),
                Err(error) => {
                    // A limit that a large vocabulary reaches; what is measured would be the error.
                    writeln!(stderr(), "fill/{name} is not measured: {error}").ok();
                    continue;
                }
            };
            criterion.bench_function(&format!("fill/{name}"), |bencher| {
                bencher.iter(|| matcher.fill_bitmask(black_box(&mut row), RowId::NONE));
            });
            // A state whose row has no identity is written every time.
            if matcher.fill_bitmask(&mut row, held) == Ok(Filled::Unchanged) {
                criterion.bench_function(&format!("unchanged/{name}"), |bencher| {
                    bencher.iter(|| matcher.fill_bitmask(black_box(&mut row), held));
                });
            }
            criterion.bench_function(&format!("delta/{name}"), |bencher| {
                bencher.iter(|| matcher.fill_delta(black_box(&mut row), &mut delta));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = fill
}
criterion_main!(benches);
