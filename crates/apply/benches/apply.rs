//! Masks onto a batch of logits, beside the memory traffic that nobody can avoid.
//!
//! For each masked fraction there are two masks: one token at a time at random, and in stretches of
//! 256 tokens. `floor` is, in the same run, a memset of the bytes that must be written and one read
//! of the mask: for stretches the refused logits themselves, for single tokens the cache lines that
//! hold one.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use formwork_apply::{Cpu, Level, Logits, LogitsMut, Masks};
use formwork_mask::words_for;
use std::hint::black_box;

const ROWS: usize = 64;
const TOKENS: usize = 128_256;
const STRETCH: usize = 256;
const LINE: usize = 16;

struct Shape {
    words: Vec<i32>,
    /// Logits in cache lines that are written.
    written: usize,
}

/// Masks that refuse `fraction` of the tokens, in stretches of `stretch`.
fn shape(fraction: f64, stretch: usize) -> Shape {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut words = vec![-1; ROWS * words_for(TOKENS)];
    let mut lines = std::collections::HashSet::new();
    for begin in (0..ROWS * TOKENS).step_by(stretch) {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        if (state >> 11) as f64 / (1_u64 << 53) as f64 >= fraction {
            continue;
        }
        for at in begin..begin + stretch {
            words[at / 32] &= !(1_i32 << (at % 32));
            lines.insert(at / LINE);
        }
    }
    Shape { words, written: lines.len() * LINE }
}

fn apply(criterion: &mut Criterion) {
    let mut data = vec![0.5_f32; ROWS * TOKENS];
    for (name, stretch) in [("single", 1), ("stretches", STRETCH)] {
        let mut group = criterion.benchmark_group(format!("apply/f32/64x128256/{name}"));
        for percent in [0.1, 15.0, 50.0, 98.0, 99.9] {
            let shape = shape(percent / 100.0, stretch);
            group.throughput(Throughput::Bytes((shape.written * 4 + shape.words.len() * 4) as u64));
            group.bench_function(BenchmarkId::new("floor", percent), |bencher| {
                bencher.iter(|| {
                    let ones: i32 = shape.words.iter().fold(0, |all, word| all ^ word);
                    black_box(&mut data[..shape.written]).fill(black_box(f32::NEG_INFINITY));
                    ones
                });
            });
            for level in Level::available() {
                let cpu = Cpu::with_level(level).expect("it is available");
                let cpu = cpu.with_parallel_from(usize::MAX);
                let id = BenchmarkId::new(format!("{level:?}"), percent);
                group.bench_function(id, |bencher| {
                    let masks = Masks::new(&shape.words, ROWS, TOKENS, words_for(TOKENS));
                    let masks = masks.expect("the masks fit");
                    bencher.iter(|| {
                        let logits = LogitsMut::new(&mut data, ROWS, TOKENS, TOKENS);
                        cpu.apply(&mut logits.expect("the logits fit"), black_box(&masks))
                    });
                });
            }
        }
        group.finish();
    }
}

fn argmax(criterion: &mut Criterion) {
    let data: Vec<f32> = (0..ROWS * TOKENS).map(|at| (at * 7919 % 65_537) as f32).collect();
    let mut group = criterion.benchmark_group("argmax/f32/64x128256/stretches");
    for percent in [0.1, 50.0, 98.0] {
        let shape = shape(percent / 100.0, STRETCH);
        let masks = Masks::new(&shape.words, ROWS, TOKENS, words_for(TOKENS)).expect("they fit");
        let logits = Logits::new(&data, ROWS, TOKENS, TOKENS).expect("they fit");
        for level in Level::available() {
            let cpu = Cpu::with_level(level).expect("it is available");
            let cpu = cpu.with_parallel_from(usize::MAX);
            let mut chosen = vec![None; ROWS];
            group.bench_function(BenchmarkId::new(format!("{level:?}"), percent), |bencher| {
                bencher.iter(|| cpu.argmax(&logits, black_box(&masks), &mut chosen));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, apply, argmax);
criterion_main!(benches);
