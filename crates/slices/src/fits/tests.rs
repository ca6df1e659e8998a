//! Fits against a search that goes forward, one character at a time.

use super::{Fit, Fits};
use crate::{
    CharacterClass,
    slice::{Signature, Slice},
    utf8::Utf8,
};
use formwork_automata::{Dfa, Fuel, NfaBuilder, StateId, determinize};
use formwork_vocab::{NodeId, TokenId, Vocabulary, WalkScratch};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A run of characters: which, and how many.
type Part = (Vec<(char, char)>, usize, Option<usize>);

fn automaton(parts: &[Part]) -> Dfa {
    let mut fuel = Fuel::unlimited();
    let mut builder = NfaBuilder::new(&mut fuel);
    let start = builder.state().unwrap();
    let mut at = start;
    let end = builder.state().unwrap();
    for (ranges, min, more) in parts {
        for index in 0..min + more.unwrap_or_default() {
            let next = builder.state().unwrap();
            builder.characters(at, ranges, next).unwrap();
            if index >= *min {
                builder.empty(at, next).unwrap();
            }
            at = next;
        }
        if more.is_none() {
            builder.characters(at, ranges, at).unwrap();
        }
        let next = builder.state().unwrap();
        builder.empty(at, next).unwrap();
        at = next;
    }
    builder.literal(at, b"\"", end).unwrap();
    let nfa = builder.finish(start, end);
    determinize(&nfa, &mut Fuel::unlimited()).unwrap().minimized()
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let range = prop_oneof![
        Just(('a', 'z')),
        Just(('a', 'f')),
        Just(('0', '9')),
        Just(('A', 'Z')),
        Just((' ', ' ')),
        Just(('_', '_')),
        Just(('\u{80}', '\u{d7ff}')),
        Just(('\u{80}', '\u{10ffff}')),
        Just(('\u{e000}', '\u{10ffff}')),
        Just(('\u{e9}', '\u{e9}')),
    ];
    let ranges = prop::collection::vec(range, 1..6);
    prop::collection::vec((ranges, 0..4_usize, prop::option::weighted(0.7, 0..5_usize)), 1..4)
}

fn classes() -> Vec<CharacterClass> {
    let lower = CharacterClass::ascii(|byte| byte.is_ascii_lowercase());
    let word = CharacterClass::ascii(|byte| byte.is_ascii_alphanumeric());
    let hex = CharacterClass::ascii(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    vec![lower, word, hex, lower.with_all_beyond_ascii(), word.with_all_beyond_ascii()]
}

/// Reads class texts from `state`, all at once, a character a round.
fn slow_fit(dfa: &Dfa, class: CharacterClass, state: StateId) -> Fit {
    let mut seen = vec![BTreeSet::from([state])];
    loop {
        let now = seen.last().unwrap().clone();
        let mut open: Vec<(Utf8, StateId)> =
            now.iter().map(|&state| (Utf8::Boundary, state)).collect();
        let mut after = BTreeSet::new();
        let (mut died, mut lived, mut cut) = (false, false, false);
        while let Some((utf8, state)) = open.pop() {
            for byte in 0..=255 {
                let Some(next) = class.next(utf8, byte) else { continue };
                let target = dfa.next(state, byte);
                if target.is_dead() {
                    died = true;
                    cut |= utf8 != Utf8::Boundary;
                } else {
                    lived = true;
                    if next == Utf8::Boundary {
                        after.insert(target);
                    } else if !open.contains(&(next, target)) {
                        open.push((next, target));
                    }
                }
            }
        }
        let count = seen.len() - 1;
        if died {
            return match (count, lived || cut) {
                (0, _) => Fit::No,
                (_, true) => Fit::AtLeast(count),
                (_, false) => Fit::Exactly(count),
            };
        }
        if seen.contains(&after) {
            return Fit::Any;
        }
        seen.push(after);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn fits_are_what_reading_finds(parts in parts()) {
        let dfa = automaton(&parts);
        for class in classes() {
            let fits = Fits::new(&dfa, class, dfa.live_states());
            for state in dfa.live_states() {
                let expected = slow_fit(&dfa, class, state);
                prop_assert_eq!(fits.fit(state), expected, "{:?} {:?}", state, class);
            }
        }
    }

    #[test]
    fn a_slice_and_the_walk_over_others_find_what_a_full_walk_finds(
        parts in parts(),
        words in prop::collection::vec("[a-f0-9A-Gz _\u{e9}\u{4e2d}\"]{1,6}", 1..80),
        cuts in prop::collection::vec(1..4_usize, 80),
    ) {
        let dfa = automaton(&parts);
        let mut builder = Vocabulary::builder(words.len() + 3);
        for (id, (word, cut)) in words.iter().zip(cuts).enumerate() {
            // Some tokens end, and some begin, inside a character.
            let bytes = word.as_bytes();
            let bytes = match id % 3 {
                0 => &bytes[..cut.min(bytes.len())],
                1 => &bytes[(cut - 1).min(bytes.len() - 1)..],
                _ => bytes,
            };
            builder = builder.token(TokenId::new(id as u32), bytes);
        }
        let vocabulary = builder.build().unwrap();
        let signatures: Vec<_> = (0..words.len() as u32 + 3)
            .map(|id| {
                let bytes = vocabulary.bytes(TokenId::new(id))?;
                let (class, characters) = CharacterClass::of_text(bytes)?;
                Some(Signature { class, characters: characters as u16 })
            })
            .collect();
        let step = |state: StateId, byte| {
            let next = dfa.next(state, byte);
            (!next.is_dead()).then_some(next)
        };
        let mut scratch = WalkScratch::default();
        for class in classes() {
            let slice = Slice::new(&vocabulary, &signatures, class);
            let fits = Fits::new(&dfa, class, dfa.live_states());
            for state in dfa.live_states() {
                let Some(row) = slice.row(fits.fit(state)) else { continue };
                let mut expected = BTreeSet::new();
                vocabulary.trie().walk_states(state, &mut scratch, step, |token, after| {
                    expected.insert((token, after));
                });
                let mut others = BTreeSet::new();
                slice.walk_others(vocabulary.trie(), state, &mut scratch, step, |token, after| {
                    assert!(others.insert((token, after)));
                });
                prop_assert!(others.is_subset(&expected));
                let mut found: BTreeSet<TokenId> = others.into_iter().map(|other| other.0).collect();
                found.extend(row.tokens());
                let expected: BTreeSet<TokenId> = expected.into_iter().map(|told| told.0).collect();
                prop_assert_eq!(&found, &expected, "{:?} {:?}", class, fits.fit(state));
                let mut words = vec![-1; vocabulary.row_words()];
                row.write(&mut words);
                let written = formwork_mask::Row::new(&words, vocabulary.model_len());
                let ids: BTreeSet<_> = written.ones().map(|id| TokenId::new(id as u32)).collect();
                prop_assert_eq!(ids, row.tokens().collect::<BTreeSet<_>>());
                prop_assert_eq!(row.count(), row.tokens().count());
            }
        }
        prop_assert_eq!(vocabulary.trie().tokens_below(NodeId::ROOT).is_empty(), false);
    }
}
