//! Regular expressions with intersection and complement: random ones, their automata, and a naive
//! matcher.

use formwork_automata::{BooleanOp, ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId};
use proptest::prelude::*;

/// Letters that expressions and words are made of.
pub(crate) const LETTERS: &[u8] = b"abc";

#[derive(Clone, Debug)]
pub(crate) enum Expression {
    Never,
    Empty,
    /// One byte of LETTERS whose bit is set.
    Set(u8),
    Concat(Box<Self>, Box<Self>),
    Union(Box<Self>, Box<Self>),
    Star(Box<Self>),
    /// Between the first and the second number of repetitions.
    Counted(Box<Self>, u32, Option<u32>),
    And(Box<Self>, Box<Self>),
    Not(Box<Self>),
}

use Expression as E;

/// Expressions of all kinds.
pub(crate) fn expressions() -> impl Strategy<Value = Expression> {
    leaves().prop_recursive(5, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => pair.clone().prop_map(|(a, b)| E::Concat(a.into(), b.into())),
            3 => pair.clone().prop_map(|(a, b)| E::Union(a.into(), b.into())),
            2 => boxed.clone().prop_map(E::Star),
            1 => counted(inner),
            1 => pair.prop_map(|(a, b)| E::And(a.into(), b.into())),
            1 => boxed.prop_map(E::Not),
        ]
    })
}

/// Expressions without intersection and complement.
pub(crate) fn plain_expressions() -> impl Strategy<Value = Expression> {
    leaves().prop_recursive(4, 16, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            3 => pair.clone().prop_map(|(a, b)| E::Concat(a.into(), b.into())),
            3 => pair.prop_map(|(a, b)| E::Union(a.into(), b.into())),
            1 => inner.clone().prop_map(|a| E::Star(a.into())),
            1 => counted(inner),
        ]
    })
}

fn leaves() -> impl Strategy<Value = Expression> {
    prop_oneof![
        1 => Just(E::Never),
        2 => Just(E::Empty),
        12 => (1_u8..8).prop_map(E::Set),
    ]
}

fn counted(inner: impl Strategy<Value = Expression>) -> impl Strategy<Value = Expression> {
    (inner, 0_u32..3, proptest::option::of(0_u32..3))
        .prop_map(|(a, min, more)| E::Counted(a.into(), min, more.map(|more| min + more)))
}

impl Expression {
    pub(crate) fn matches(&self, word: &[u8]) -> bool {
        self.ends(word, 0) >> word.len() & 1 == 1
    }

    /// Bit j: the expression matches `word[start..j]`.
    fn ends(&self, word: &[u8], start: usize) -> u32 {
        match self {
            E::Never => 0,
            E::Empty => 1 << start,
            E::Set(set) => match word.get(start) {
                Some(byte) if byte_set(*set).contains(*byte) => 2 << start,
                _ => 0,
            },
            E::Concat(a, b) => b.ends_from(word, a.ends(word, start)),
            E::Union(a, b) => a.ends(word, start) | b.ends(word, start),
            E::Star(a) => a.star_ends(word, 1 << start),
            E::Counted(a, min, max) => {
                let after_min = (0..*min).fold(1 << start, |from, _| a.ends_from(word, from));
                match max {
                    None => a.star_ends(word, after_min),
                    Some(max) => {
                        (*min..*max).fold(after_min, |from, _| after_min | a.ends_from(word, from))
                    }
                }
            }
            E::And(a, b) => a.ends(word, start) & b.ends(word, start),
            E::Not(a) => !a.ends(word, start) & ((2 << word.len()) - (1 << start)),
        }
    }

    fn ends_from(&self, word: &[u8], starts: u32) -> u32 {
        let starts = (0..=word.len()).filter(|start| starts >> start & 1 == 1);
        starts.fold(0, |ends, start| ends | self.ends(word, start))
    }

    fn star_ends(&self, word: &[u8], mut reached: u32) -> u32 {
        loop {
            let next = reached | self.ends_from(word, reached);
            if next == reached {
                return reached;
            }
            reached = next;
        }
    }

    /// Its automaton, not minimised; none when the fuel for tests does not suffice.
    pub(crate) fn dfa(&self) -> Option<Dfa> {
        self.compile(&mut Fuel::new(3_000, 300_000)).ok()
    }

    fn compile(&self, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        match self {
            E::And(a, b) => {
                let (a, b) = (a.compile(fuel)?, b.compile(fuel)?);
                a.combine(&b, BooleanOp::Intersection, fuel)
            }
            E::Not(a) => Ok(a.compile(fuel)?.complement().expect("no marks in expressions")),
            _ => {
                let mut builder = NfaBuilder::new(fuel);
                let (start, accept) = (builder.state()?, builder.state()?);
                self.add(&mut builder, start, accept)?;
                let nfa = builder.finish(start, accept);
                formwork_automata::determinize(&nfa, fuel)
            }
        }
    }

    /// Adds it between two states of a nondeterministic automaton.
    pub(crate) fn add(
        &self,
        builder: &mut NfaBuilder<'_>,
        from: NfaStateId,
        to: NfaStateId,
    ) -> Result<(), Exhausted> {
        match self {
            E::Never => Ok(()),
            E::Empty => builder.empty(from, to),
            E::Set(set) => builder.byte(from, byte_set(*set), to),
            E::Concat(a, b) => {
                let middle = builder.state()?;
                a.add(builder, from, middle)?;
                b.add(builder, middle, to)
            }
            E::Union(a, b) => {
                a.add(builder, from, to)?;
                b.add(builder, from, to)
            }
            E::Star(a) => a.add_star(builder, from, to),
            E::Counted(a, min, max) => {
                let mut at = from;
                for _ in 0..*min {
                    let next = builder.state()?;
                    a.add(builder, at, next)?;
                    at = next;
                }
                let Some(max) = max else { return a.add_star(builder, at, to) };
                for _ in *min..*max {
                    builder.empty(at, to)?;
                    let next = builder.state()?;
                    a.add(builder, at, next)?;
                    at = next;
                }
                builder.empty(at, to)
            }
            E::And(..) | E::Not(_) => {
                let dfa = self.compile(builder.fuel())?;
                builder.automaton(from, &dfa, to)
            }
        }
    }

    fn add_star(
        &self,
        builder: &mut NfaBuilder<'_>,
        from: NfaStateId,
        to: NfaStateId,
    ) -> Result<(), Exhausted> {
        // A state of its own: `from` and `to` may have other edges.
        let hub = builder.state()?;
        builder.empty(from, hub)?;
        self.add(builder, hub, hub)?;
        builder.empty(hub, to)
    }
}

fn byte_set(set: u8) -> ByteSet {
    LETTERS
        .iter()
        .enumerate()
        .filter(|(bit, _)| set >> bit & 1 == 1)
        .map(|(_, &byte)| byte)
        .collect()
}

/// All words over LETTERS up to a length, shortest first.
pub(crate) fn all_words(longest: usize) -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    let mut done = 0;
    while words[done].len() < longest {
        for &letter in LETTERS {
            let mut word = words[done].clone();
            word.push(letter);
            words.push(word);
        }
        done += 1;
    }
    words
}
