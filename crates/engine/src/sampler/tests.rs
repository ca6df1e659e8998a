//! Draws against the shares they should have, filters against their definitions.

use super::*;
use crate::testing::{END, engine, ids, ready, row, schema};
use formwork::Constraint;
use proptest::prelude::*;

fn counts(sampling: Sampling, logits: &[f32], row: Option<&[i32]>, draws: usize) -> Vec<usize> {
    let mut sampler = Sampler::new(sampling);
    let mut counts = vec![0; logits.len()];
    for _ in 0..draws {
        counts[sampler.sample(logits, row, &[]).unwrap().index()] += 1;
    }
    counts
}

/// Logits of these probabilities.
fn logits_of(shares: &[f32]) -> Vec<f32> {
    shares.iter().map(|share| share.ln()).collect()
}

#[test]
fn shares_are_those_of_the_softmax() {
    let logits = logits_of(&[0.5, 0.0, 0.25, 0.25]);
    let counts = counts(Sampling::default(), &logits, None, 20_000);
    assert_eq!(counts[1], 0);
    for (count, share) in counts.iter().zip([0.5, 0.0, 0.25, 0.25]) {
        assert!((*count as f64 / 20_000.0 - share).abs() < 0.02, "{counts:?}");
    }
}

#[test]
fn the_mask_comes_before_the_filters() {
    let logits = logits_of(&[0.6, 0.2, 0.1, 0.06, 0.04]);
    let row = Some(&[0b11100][..]);
    let filtered = |sampling| -> Vec<usize> {
        let counts = counts(sampling, &logits, row, 2_000);
        (0..5).filter(|&token| counts[token] > 0).collect()
    };
    let default = Sampling::default();
    assert_eq!(filtered(default), [2, 3, 4]);
    assert_eq!(filtered(Sampling { top_k: 1, ..default }), [2]);
    assert_eq!(filtered(Sampling { top_k: 2, ..default }), [2, 3]);
    assert_eq!(filtered(Sampling { top_p: 0.55, ..default }), [2, 3], "0.5 of the allowed is less");
    assert_eq!(filtered(Sampling { top_p: 0.0, ..default }), [2]);
    assert_eq!(filtered(Sampling { min_p: 0.5, ..default }), [2, 3]);
    assert_eq!(filtered(Sampling { min_p: 7.0, ..default }), [2]);
    assert_eq!(filtered(Sampling::greedy()), [2]);
    assert_eq!(Sampler::new(default).sample(&logits, Some(&[1 << 7]), &[]), None);
}

#[test]
fn what_was_there_is_penalised() {
    let sampling = Sampling { repetition_penalty: 2.0, ..Sampling::greedy() };
    let mut sampler = Sampler::new(sampling);
    let two = [TokenId::new(0), TokenId::new(0)];
    assert_eq!(sampler.sample(&[3.0, 2.0], None, &two), Some(TokenId::new(1)), "1.5 is less");
    assert_eq!(sampler.sample(&[5.0, 2.0], None, &two), Some(TokenId::new(0)), "once, not twice");
    assert_eq!(sampler.sample(&[-1.0, -1.5], None, &two), Some(TokenId::new(1)));
}

#[test]
fn odd_logits_are_no_danger() {
    let mut sampler = Sampler::new(Sampling::default());
    assert_eq!(sampler.sample(&[], None, &[]), None);
    assert_eq!(sampler.sample(&[f32::NAN, f32::NEG_INFINITY], None, &[]), None);
    assert_eq!(sampler.sample(&[0.0, f32::INFINITY], None, &[]), Some(TokenId::new(1)));
    let greedy = Sampler::new(Sampling::greedy()).sample(&[f32::NAN, 1.0, 1.0], None, &[]);
    assert_eq!(greedy, Some(TokenId::new(1)));
}

#[test]
fn the_quick_way_gives_the_same_shares() {
    let engine = engine("backend = \"dfa\"");
    let mut request = ready(&engine, Constraint::Regex("[abc]".into()));
    let mut logits = vec![f32::NEG_INFINITY; 290];
    for (text, share) in [("a", 0.1_f32), ("b", 0.3), ("x", 0.6)] {
        logits[ids(text)[0].index()] = share.ln();
    }
    let mut sampler = Sampler::new(Sampling::default());
    let mut drawn = [0, 0];
    for _ in 0..8_000 {
        match sampler.sample_request(&logits, &mut request, &[]).unwrap().unwrap() {
            token if token == ids("a")[0] => drawn[0] += 1,
            token if token == ids("b")[0] => drawn[1] += 1,
            token => panic!("{token} is not allowed"),
        }
    }
    assert!((f64::from(drawn[0]) / 8_000.0 - 0.25).abs() < 0.03, "{drawn:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_quick_way_is_greedy_too(
        logits in prop::collection::vec(-5.0_f32..5.0, 290),
        top_k in 0..3_usize,
    ) {
        let engine = engine("backend = \"dfa\"");
        let mut request = ready(&engine, schema(r#"{"enum":["abc",12,true]}"#));
        let sampling = Sampling { top_k, ..Sampling::greedy() };
        for _ in 0..40 {
            let row = row(&mut request);
            let plain = Sampler::new(sampling).sample(&logits, Some(&row), &[]).unwrap();
            let quick = Sampler::new(sampling).sample_request(&logits, &mut request, &[]);
            prop_assert_eq!(quick.unwrap(), Some(plain));
            request.accept_tokens(&[plain]).unwrap();
            if plain == END {
                break;
            }
        }
    }
}
