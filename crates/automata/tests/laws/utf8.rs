//! Ranges of characters read exactly their UTF-8 encodings.

use formwork_automata::{BooleanOp, Dfa, Fuel, NfaBuilder, determinize};
use proptest::prelude::*;

fn characters(ranges: &[(char, char)]) -> Dfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let (start, accept) = (builder.state().unwrap(), builder.state().unwrap());
    builder.characters(start, ranges, accept).unwrap();
    let nfa = builder.finish(start, accept);
    determinize(&nfa, &mut fuel).unwrap()
}

fn accepts(dfa: &Dfa, character: char) -> bool {
    dfa.accepts(character.encode_utf8(&mut [0; 4]).as_bytes())
}

proptest! {
    #[test]
    fn reads_the_characters_of_the_ranges(
        ends in proptest::collection::vec((any::<char>(), any::<char>()), 1..4),
        others in proptest::collection::vec(any::<char>(), 40),
    ) {
        let ranges: Vec<(char, char)> = ends.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        let dfa = characters(&ranges);
        let neighbours = ranges.iter().flat_map(|&(start, end)| {
            let around = [start as u32, end as u32];
            around.into_iter().flat_map(|at| [at.wrapping_sub(1), at, at + 1])
        });
        for character in neighbours.filter_map(char::from_u32).chain(others) {
            let expected = ranges.iter().any(|&(a, b)| (a..=b).contains(&character));
            prop_assert_eq!(accepts(&dfa, character), expected, "{:?}", character);
        }
        let mut union = ranges.clone();
        union.sort_unstable();
        let mut size = 0;
        let mut next = 0;
        for (start, end) in union {
            let scalars = (next.max(start as u32)..=end as u32).filter_map(char::from_u32).count();
            size += scalars as u64;
            next = next.max(end as u32 + 1);
        }
        prop_assert_eq!(dfa.count_words(dfa.start(), u64::MAX), size);
    }

    #[test]
    fn what_it_reads_is_valid_utf8(bytes in proptest::collection::vec(any::<u8>(), 0..5)) {
        let dfa = characters(&[('\0', char::MAX)]);
        let single = std::str::from_utf8(&bytes).is_ok_and(|text| text.chars().count() == 1);
        prop_assert_eq!(dfa.accepts(&bytes), single);
    }
}

#[test]
fn a_reversed_range_reads_nothing() {
    assert!(characters(&[('b', 'a')]).is_empty());
    assert!(characters(&[(char::MAX, '\0')]).is_empty());
    assert!(accepts(&characters(&[('b', 'a'), ('c', 'c')]), 'c'));
}

#[test]
fn a_range_and_the_rest_make_all_characters() {
    let fuel = &mut Fuel::unlimited();
    let some = characters(&[('é', '\u{20AC}')]);
    let rest = characters(&[('\0', 'è'), ('\u{20AD}', char::MAX)]);
    assert!(some.intersection_is_empty(&rest, fuel).unwrap());
    let union = some.combine(&rest, BooleanOp::Union, fuel).unwrap();
    assert_eq!(union.canonical(), characters(&[('\0', char::MAX)]).canonical());
}
