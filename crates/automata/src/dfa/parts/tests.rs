//! Parts make the automaton they came from; other parts make an automaton or an error.

use super::*;
use crate::{ByteSet, Fuel, NfaBuilder, determinize};
use proptest::prelude::*;

/// Random automata over two letters, their classes and two marks.
fn automata() -> impl Strategy<Value = Dfa> {
    let edge = (0_usize..8, 0_u8..4, 0_usize..8);
    (prop::collection::vec(edge, 0..24), 1_usize..4).prop_map(|(edges, accepting)| {
        let mut fuel = Fuel::unlimited();
        let mut builder = NfaBuilder::new(&mut fuel);
        let states: Vec<_> = (0..8).map(|_| builder.state().unwrap()).collect();
        for (from, letter, to) in edges {
            match letter {
                0 => builder.byte(states[from], ByteSet::single(b'a'), states[to]),
                1 => builder.byte(states[from], ByteSet::range(b'a'..=b'k'), states[to]),
                letter => builder.mark(states[from], Mark(u32::from(letter) * 7), states[to]),
            }
            .unwrap();
        }
        for &state in &states[..accepting] {
            builder.empty(state, states[7]).unwrap();
        }
        let nfa = builder.finish(states[4], states[7]);
        determinize(&nfa, &mut fuel).unwrap()
    })
}

/// One number of one list replaced, doubled or left out.
#[derive(Clone, Debug)]
struct Change {
    list: u8,
    at: prop::sample::Index,
    value: u32,
    how: u8,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let value = prop_oneof![0..8_u32, Just(u32::MAX)];
    let change = (0..7_u8, any::<prop::sample::Index>(), value, 0..4_u8)
        .prop_map(|(list, at, value, how)| Change { list, at, value, how });
    prop::collection::vec(change, 1..4)
}

impl Change {
    fn apply(&self, parts: &mut DfaParts) {
        match self.list {
            0 => parts.classes[self.at.index(256)] = self.value as u8,
            1 => parts.start = self.value,
            2 => self.list(&mut parts.marks, self.value),
            3 => self.list(&mut parts.accepting, self.value % 2 == 1),
            4 => self.list(&mut parts.edge_counts, self.value),
            5 => self.list(&mut parts.columns, self.value),
            _ => self.list(&mut parts.targets, self.value),
        }
    }

    fn list<T: Copy>(&self, list: &mut Vec<T>, value: T) {
        if list.is_empty() {
            return list.push(value);
        }
        let at = self.at.index(list.len());
        match self.how {
            0 => drop(list.remove(at)),
            1 => list.insert(at, value),
            _ => list[at] = value,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn parts_make_the_automaton_they_came_from(dfa in automata()) {
        prop_assert_eq!(&Dfa::from_parts(dfa.to_parts()).unwrap(), &dfa);
    }

    #[test]
    fn other_parts_make_an_automaton_or_an_error(dfa in automata(), changes in changes()) {
        let mut parts = dfa.to_parts();
        changes.iter().for_each(|change| change.apply(&mut parts));
        if let Ok(made) = Dfa::from_parts(parts.clone()) {
            prop_assert_eq!(made.trimmed().len(), made.len(), "nothing is useless");
            prop_assert_eq!(made.to_parts(), parts);
            prop_assert!(!made.is_accepting(StateId::DEAD));
            prop_assert_eq!(made.edges(StateId::DEAD).count(), 0);
        }
    }
}

#[test]
fn a_sparse_table_stays_sparse() {
    let words = (0..4_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    let dfa = Dfa::from_strings(words, &mut Fuel::unlimited()).unwrap();
    let loaded = Dfa::from_parts(dfa.to_parts()).unwrap();
    assert_eq!(loaded, dfa);
    assert_eq!(loaded.memory_bytes(), dfa.memory_bytes());
    assert!(dfa.len() * dfa.columns() * 4 > dfa.memory_bytes(), "it is sparse");
}

#[test]
fn what_is_wrong_is_named() {
    // 1 -a-> 2, accepting.
    let good = || DfaParts {
        classes: std::array::from_fn(|byte| u8::from(byte == usize::from(b'a'))),
        marks: vec![3, 5],
        start: 1,
        accepting: vec![false, false, true],
        edge_counts: vec![0, 1, 0],
        columns: vec![1],
        targets: vec![2],
    };
    let dfa = Dfa::from_parts(good()).unwrap();
    assert!(dfa.accepts(b"a") && !dfa.accepts(b"b") && !dfa.accepts(b""));
    let error = |change: fn(&mut DfaParts)| {
        let mut parts = good();
        change(&mut parts);
        Dfa::from_parts(parts).unwrap_err()
    };
    assert_eq!(error(|parts| parts.classes[0] = 1), PartsError::Classes { byte: 0 });
    assert_eq!(error(|parts| parts.classes[98] = 3), PartsError::Classes { byte: 98 });
    assert_eq!(error(|parts| parts.marks[1] = 3), PartsError::Marks { position: 1 });
    assert_eq!(error(|parts| parts.accepting.clear()), PartsError::Lengths);
    assert_eq!(error(|parts| parts.edge_counts[2] = u32::MAX), PartsError::Lengths);
    assert_eq!(error(|parts| parts.accepting[0] = true), PartsError::State { state: 0 });
    assert_eq!(error(|parts| parts.start = 3), PartsError::State { state: 3 });
    assert_eq!(error(|parts| parts.columns[0] = 4), PartsError::Edge { edge: 0 });
    assert_eq!(error(|parts| parts.targets[0] = 3), PartsError::Edge { edge: 0 });
    assert_eq!(error(|parts| parts.targets[0] = 0), PartsError::Edge { edge: 0 });
    assert_eq!(error(|parts| parts.targets[0] = 1), PartsError::Useless { state: 1 });
    assert_eq!(error(|parts| parts.start = 2), PartsError::Useless { state: 1 });
    assert_eq!(error(|parts| parts.start = 0), PartsError::Useless { state: 1 });
}
