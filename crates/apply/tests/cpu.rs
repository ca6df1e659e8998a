//! The CPU's levels against the scalar twin.

mod support;

use formwork_apply::{
    ApplyError, Cpu, Extent, Level, Logits, LogitsMut, Masks, SampleKey, bf16, f16, scalar,
};
use formwork_mask::{Row, words_for};
use proptest::prelude::*;
use support::{Bits, Numbers};

const CASES: u32 = if cfg!(miri) { 2 } else { 24 };

fn tokens() -> impl Strategy<Value = usize> {
    if cfg!(miri) {
        return prop_oneof![Just(0_usize), Just(3), Just(33), Just(1100), 0..700_usize].boxed();
    }
    prop_oneof![
        Just(0_usize),
        Just(3),
        Just(33),
        Just(128_000),
        Just(151_936),
        Just(151_665),
        0..5000_usize,
    ]
    .boxed()
}

fn levels() -> Vec<Cpu> {
    let levels = Level::available().map(|level| Cpu::with_level(level).unwrap());
    levels.flat_map(|cpu| [cpu, cpu.with_around_from(0)]).collect()
}

fn same_bits<T: Bits>(left: &[T], right: &[T]) {
    let differs = left.iter().zip(right).position(|(a, b)| a.bits() != b.bits());
    assert_eq!(differs, None, "first difference");
}

fn check_row<T: Bits>(tokens: usize, seed: u64) {
    let mut numbers = Numbers(seed);
    // Off the allocation's alignment, and with neighbours that must stay.
    let offset = numbers.next() as usize % 9;
    let before: Vec<T> = (0..tokens + offset + 9).map(|_| numbers.logit()).collect();
    let words = numbers.words(tokens);
    let mask = Row::new(&words, tokens);
    let mut expected = before.clone();
    scalar::apply(&mut expected[offset..offset + tokens], mask);
    for (token, logit) in before[offset..offset + tokens].iter().enumerate() {
        let wanted = if mask.contains(token) { *logit } else { T::NEG_INFINITY };
        assert_eq!(expected[offset + token].bits(), wanted.bits());
    }
    let key = SampleKey::new(seed, 3, 4).with_temperature(0.8);
    let row = &before[offset..offset + tokens];
    for cpu in levels() {
        let mut logits = before.clone();
        cpu.apply_row(&mut logits[offset..offset + tokens], mask);
        same_bits(&logits, &expected);
        let logits = Logits::new(row, 1, tokens, tokens).unwrap();
        let masks = Masks::new(&words, 1, tokens, words.len()).unwrap();
        let mut chosen = [None];
        cpu.argmax(&logits, &masks, &mut chosen).unwrap();
        assert_eq!(chosen[0], scalar::argmax(row, Some(mask)), "argmax, {:?}", cpu.level());
        cpu.argmax(&logits, &masks.with_map(&[None]), &mut chosen).unwrap();
        assert_eq!(chosen[0], scalar::argmax(row, None), "argmax of all, {:?}", cpu.level());
        cpu.sample(&logits, &masks, &[key], &mut chosen).unwrap();
        assert_eq!(chosen[0], scalar::sample(row, Some(mask), &key), "sample");
        cpu.sample(&logits, &masks, &[key.with_temperature(0.0)], &mut chosen).unwrap();
        assert_eq!(chosen[0], scalar::argmax(row, Some(mask)), "greedy sample");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_level_is_the_twin(tokens in tokens(), seed: u64) {
        check_row::<f32>(tokens, seed);
        check_row::<f16>(tokens, seed);
        check_row::<bf16>(tokens, seed);
    }

    #[test]
    fn batches_are_their_rows(
        tokens in 0..300_usize,
        rows in 0..6_usize,
        padding in 0..5_usize,
        shared in prop::collection::vec(prop::option::of(0..3_u32), 6),
        seed: u64,
    ) {
        let mut numbers = Numbers(seed);
        let stride = tokens + padding;
        let mask_stride = words_for(tokens) + padding;
        let before: Vec<f32> = (0..rows * stride).map(|_| numbers.logit()).collect();
        let words: Vec<i32> = (0..3 * mask_stride).map(|_| numbers.next().cast_signed()).collect();
        let masks = Masks::new(&words, 3, tokens, mask_stride).unwrap().with_map(&shared);
        let mask = |row: usize| {
            let mask = shared[row]? as usize;
            Some(Row::new(&words[mask * mask_stride..][..words_for(tokens)], tokens))
        };
        let mut expected = before.clone();
        for row in 0..rows {
            if let Some(mask) = mask(row) {
                scalar::apply(&mut expected[row * stride..][..tokens], mask);
            }
        }
        for cpu in [Cpu::detect(), Cpu::detect().with_parallel_from(0)] {
            let mut data = before.clone();
            let mut logits = LogitsMut::new(&mut data, rows, tokens, stride).unwrap();
            cpu.apply(&mut logits, &masks).unwrap();
            same_bits(&data, &expected);
            let logits = Logits::new(&before, rows, tokens, stride).unwrap();
            let mut chosen = vec![Some(7); rows];
            cpu.argmax(&logits, &masks, &mut chosen).unwrap();
            for (row, chosen) in chosen.iter().enumerate() {
                let row_logits = &before[row * stride..][..tokens];
                prop_assert_eq!(*chosen, scalar::argmax(row_logits, mask(row)));
            }
        }
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused_and_nothing_is_written() {
    let mut data = [1.0_f32; 10];
    let short = ApplyError::Short { extent: Extent::Logits, needed: 11, len: 10 };
    assert_eq!(LogitsMut::new(&mut data, 2, 5, 6).unwrap_err(), short);
    let stride = ApplyError::Stride { extent: Extent::Logits, needed: 5, stride: 4 };
    assert_eq!(LogitsMut::new(&mut data, 2, 5, 4).unwrap_err(), stride);
    assert!(LogitsMut::new(&mut data, usize::MAX, 5, usize::MAX).is_err());

    let words = [0; 2];
    let cpu = Cpu::detect();
    let masks = Masks::new(&words, 2, 5, 1).unwrap();
    let mut logits = LogitsMut::new(&mut data, 2, 5, 5).unwrap();
    let other = Masks::new(&words, 2, 6, 1).unwrap();
    let error = cpu.apply(&mut logits, &other);
    assert_eq!(error, Err(ApplyError::Tokens { logits: 5, masks: 6 }));
    let error = cpu.apply(&mut logits, &masks.with_map(&[Some(0), Some(2)]));
    assert_eq!(error, Err(ApplyError::NoSuchMask { row: 1, mask: 2, masks: 2 }));
    let error = cpu.apply(&mut logits, &masks.with_map(&[None]));
    assert_eq!(error, Err(ApplyError::Short { extent: Extent::RowMap, needed: 2, len: 1 }));
    assert_eq!(data, [1.0; 10]);

    let logits = Logits::new(&data, 2, 5, 5).unwrap();
    let error = cpu.argmax(&logits, &masks, &mut [None]);
    assert_eq!(error, Err(ApplyError::Short { extent: Extent::Chosen, needed: 2, len: 1 }));
    let error = cpu.sample(&logits, &masks, &[SampleKey::new(0, 0, 0)], &mut [None, None]);
    assert_eq!(error, Err(ApplyError::Short { extent: Extent::Keys, needed: 2, len: 1 }));
}

#[test]
fn a_row_that_allows_something_gives_an_allowed_token() {
    let logits = [f32::NAN, f32::NEG_INFINITY, f32::NAN];
    for (word, expected) in [(0, None), (0b001, Some(0)), (0b101, Some(0)), (0b111, Some(1))] {
        let words = [word];
        let masks = Masks::new(&words, 1, 3, 1).unwrap();
        let rows = Logits::new(&logits, 1, 3, 3).unwrap();
        let mut chosen = [Some(9)];
        Cpu::detect().argmax(&rows, &masks, &mut chosen).unwrap();
        assert_eq!(chosen, [expected]);
        Cpu::detect().sample(&rows, &masks, &[SampleKey::new(1, 2, 3)], &mut chosen).unwrap();
        assert_eq!(chosen, [expected]);
    }
}
