//! Automata of finite sets, and the sparse form of the table.

use formwork_automata::{
    BooleanOp, Dfa, Exhausted, Fuel, InsertError, Letter, NfaBuilder, StringsBuilder, determinize,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn short_words() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![4 => b'a'..=b'c', 1 => any::<u8>()];
    proptest::collection::vec(proptest::collection::vec(byte, 0..6), 0..30)
}

/// Words that share little: many states, few edges, so that the table is sparse.
fn scattered(count: u64) -> Vec<[u8; 12]> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut letter = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b'0' + (state >> 58) as u8
    };
    (0..count).map(|_| std::array::from_fn(|_| letter())).collect()
}

fn determinized(words: &[Vec<u8>]) -> Dfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let (start, accept) = (builder.state().unwrap(), builder.state().unwrap());
    for word in words {
        builder.literal(start, word, accept).unwrap();
    }
    let nfa = builder.finish(start, accept);
    determinize(&nfa, &mut fuel).unwrap()
}

proptest! {
    #[test]
    fn is_the_minimal_automaton_of_the_set(words in short_words(), others in short_words()) {
        let dfa = Dfa::from_strings(&words, &mut Fuel::unlimited()).unwrap();
        let set: BTreeSet<&Vec<u8>> = words.iter().collect();
        for word in words.iter().chain(&others) {
            prop_assert_eq!(dfa.accepts(word), set.contains(word));
        }
        prop_assert_eq!(dfa.count_words(dfa.start(), u64::MAX), set.len() as u64);
        let union = determinized(&words);
        prop_assert_eq!(dfa.canonical(), union.canonical());
        prop_assert_eq!(dfa.len(), union.canonical().len());
    }
}

#[test]
fn many_scattered_words() {
    let words = scattered(2_000);
    let dfa = Dfa::from_strings(&words, &mut Fuel::unlimited()).unwrap();
    // The dense table would have more cells than this has bytes: it is the sparse form.
    assert!(dfa.memory_bytes() < dfa.len() * dfa.columns());
    let set: BTreeSet<Vec<u8>> = words.iter().map(|word| word.to_vec()).collect();
    assert_eq!(dfa.count_words(dfa.start(), u64::MAX), set.len() as u64);
    for word in &words {
        assert!(dfa.accepts(word) && !dfa.accepts(&word[..11]));
        let mut other = *word;
        other[7] ^= 1;
        assert_eq!(dfa.accepts(&other), set.contains(&other[..]));
    }
    let listed: BTreeSet<Vec<u8>> = dfa
        .words(usize::MAX)
        .map(|word| {
            let byte = |letter| match letter {
                Letter::Byte(byte) => byte,
                Letter::Mark(_) => panic!("no marks here"),
            };
            word.into_iter().map(byte).collect()
        })
        .collect();
    assert_eq!(listed, set);
}

#[test]
fn sparse_tables_go_through_every_operation() {
    let words = scattered(2_000);
    let (some, others) = words.split_at(1_200);
    let fuel = &mut Fuel::unlimited();
    let all = Dfa::from_strings(&words, fuel).unwrap();
    let some = Dfa::from_strings(some, fuel).unwrap();
    let others = Dfa::from_strings(others, fuel).unwrap();
    let union = some.combine(&others, BooleanOp::Union, fuel).unwrap();
    assert_eq!(union.canonical(), all.canonical());
    assert_eq!(all.minimized().len(), all.len());
    let rest = all.combine(&some, BooleanOp::Difference, fuel).unwrap();
    assert!(rest.equivalent(&others, fuel).unwrap());
    let complement = all.complement().unwrap();
    assert!(complement.intersection_is_empty(&all, fuel).unwrap());
    assert_eq!(complement.complement().unwrap().canonical(), all.canonical());
    assert_eq!(all.trimmed().len(), all.len());
    for state in all.live_states().step_by(97) {
        let bytes = all.out_bytes(state);
        for byte in 0..=255 {
            assert_eq!(bytes.contains(byte), !all.next(state, byte).is_dead());
        }
    }
}

#[test]
fn edge_cases_of_the_builder() {
    let fuel = &mut Fuel::unlimited();
    assert!(Dfa::from_strings::<&[u8]>([], fuel).unwrap().is_empty());
    let only_empty = Dfa::from_strings([b""], fuel).unwrap();
    assert!(only_empty.accepts(b"") && !only_empty.accepts(b"a"));
    let every_byte = Dfa::from_strings((0..=255_u8).map(|byte| [byte]), fuel).unwrap();
    assert_eq!((every_byte.count_words(every_byte.start(), 999), every_byte.len()), (256, 3));
    let mut builder = StringsBuilder::new();
    builder.insert(b"b", fuel).unwrap();
    builder.insert(b"b", fuel).unwrap();
    assert_eq!(builder.insert(b"a", fuel), Err(InsertError::OutOfOrder { index: 2 }));
    builder.insert(b"bc", fuel).unwrap();
    let dfa = builder.finish(fuel).unwrap();
    assert!(dfa.accepts(b"b") && dfa.accepts(b"bc") && !dfa.accepts(b"a"));
}

#[test]
fn states_of_the_minimal_automaton_are_paid_for() {
    let words: Vec<String> = (0..1_000).map(|n| format!("{n:03}")).collect();
    let fuel = &mut Fuel::unlimited();
    let dfa = Dfa::from_strings(&words, fuel).unwrap();
    assert_eq!((dfa.len(), fuel.states_spent()), (5, 4));
    let error = Dfa::from_strings(&words, &mut Fuel::new(3, u64::MAX)).unwrap_err();
    assert_eq!(error, Exhausted::States { limit: 3 });
    let error = Dfa::from_strings(&words, &mut Fuel::new(99, 100)).unwrap_err();
    assert_eq!(error, Exhausted::Steps { limit: 100 });
}
