//! Masks onto a batch of logits, beside the memory traffic that nobody can avoid.
//!
//! For each masked fraction there are two masks: one token at a time at random, and in stretches of
//! 256 tokens. Two floors are measured in the same run, each with one read of the mask:
//!
//! - `memset` writes as many bytes as are refused, in one piece: what a batch costs whose refused
//!   logits lie together;
//! - `lines` writes one logit to each cache line that holds a refused one, where it lies, from a
//!   list made before: a processor moves whole lines, so that scattered logits cannot cost less.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use formwork_apply::{Cpu, Level, Logits, LogitsMut, Masks};
use formwork_mask::words_for;
use std::hint::black_box;

const ROWS: usize = 64;
const TOKENS: usize = 128_256;
const STRETCH: usize = 256;
const LINE: usize = 16;

struct Shape {
    words: Vec<i32>,
    /// Refused logits.
    refused: usize,
    /// A refused logit of each cache line that has one.
    lines: Vec<u32>,
}

/// Masks that refuse `fraction` of the tokens, in stretches of `stretch`.
fn shape(fraction: f64, stretch: usize) -> Shape {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut words = vec![-1; ROWS * words_for(TOKENS)];
    let (mut refused, mut lines) = (0, Vec::new());
    for begin in (0..ROWS * TOKENS).step_by(stretch) {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        if (state >> 11) as f64 / (1_u64 << 53) as f64 >= fraction {
            continue;
        }
        for at in begin..begin + stretch {
            words[at / 32] &= !(1_i32 << (at % 32));
            lines.push(at as u32);
        }
        refused += stretch;
    }
    lines.dedup_by_key(|at| *at as usize / LINE);
    Shape { words, refused, lines }
}

fn read(words: &[i32]) -> i32 {
    words.iter().fold(0, |all, word| all ^ word)
}

/// Logits that begin at a cache line, as those of tensor libraries do.
fn aligned(data: &mut [f32]) -> &mut [f32] {
    let offset = data.as_ptr().align_offset(64);
    &mut data[offset..][..ROWS * TOKENS]
}

fn apply(criterion: &mut Criterion) {
    let mut data = vec![0.5_f32; ROWS * TOKENS + LINE];
    let data = aligned(&mut data);
    for (name, stretch) in [("single", 1), ("stretches", STRETCH)] {
        let mut group = criterion.benchmark_group(format!("apply/f32/64x128256/{name}"));
        for percent in [0.1, 15.0, 50.0, 98.0, 99.9] {
            let shape = shape(percent / 100.0, stretch);
            group.bench_function(BenchmarkId::new("memset", percent), |bencher| {
                bencher.iter(|| {
                    black_box(&mut data[..shape.refused]).fill(black_box(f32::NEG_INFINITY));
                    read(&shape.words)
                });
            });
            group.bench_function(BenchmarkId::new("lines", percent), |bencher| {
                bencher.iter(|| {
                    shape.lines.iter().for_each(|&at| data[at as usize] = f32::NEG_INFINITY);
                    read(&shape.words)
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
                        let logits = LogitsMut::new(data, ROWS, TOKENS, TOKENS);
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
