//! What is computed once per vocabulary: the token trie and the rows of token classes.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use formwork_benches::{fresh, vocabulary};
use formwork_slices::Slices;

fn preparation(criterion: &mut Criterion) {
    let vocabulary = vocabulary().expect("a vocabulary");
    let unprepared = || fresh(&vocabulary).expect("the same tokens");
    criterion.bench_function("trie build", |bencher| {
        bencher.iter_batched_ref(
            unprepared,
            |vocabulary| vocabulary.trie().node_count(),
            BatchSize::PerIteration,
        );
    });
    let with_trie = || {
        let vocabulary = unprepared();
        vocabulary.trie();
        vocabulary
    };
    criterion.bench_function("slices build", |bencher| {
        bencher.iter_batched_ref(
            with_trie,
            |vocabulary| Slices::of(vocabulary),
            BatchSize::PerIteration,
        );
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(3));
    targets = preparation
}
criterion_main!(benches);
