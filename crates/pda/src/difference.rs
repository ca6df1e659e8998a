//! What an island lacks of another one.
//!
//! # Idea
//! The keys that an object does not declare are all strings but a few. Away from the few, a state of
//! their automaton is free text that ends where the key ends, the same for all objects; on the way
//! to one of them it lacks the tokens that lead there, which are found by following it and the free
//! text together as long as they differ. So the rows of free text serve every object.
//!
//! # Construction
//! The *core* of an automaton is what its commonest state of free text leads to. The pairs of states
//! that the automaton and its core reach together are explored. A pair *differs* if a byte or two are
//! read in the core alone, or if it leads to a pair that differs; it is of no use if more are, or any
//! in the other one alone, if just one of its states accepts, if it leads to such a pair, or if it
//! differs for words of any length.

use crate::texts::texts;
use formwork_automata::{
    ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId, StateId, determinize,
};
use formwork_vocab::{NodeId, TokenId, TokenTrie};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Bytes that a state may lack, itself.
const MAX_LACKING: usize = 2;
/// States of a core at most.
const MAX_CORE: usize = 64;

/// A state of the greater automaton, and whether it is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counterpart {
    pub(crate) state: StateId,
    pub(crate) is_same: bool,
}

/// The counterparts of the states of an automaton in a greater one.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    counterparts: FxHashMap<StateId, Counterpart>,
}

/// What becomes of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Same,
    Less,
    Useless,
}

impl Difference {
    /// The difference of an automaton and a greater one, from some pairs of states on. Cost: the
    /// pairs, times the classes of bytes that the two tell apart.
    pub(crate) fn new(less: &Dfa, more: &Dfa, begin: Vec<(StateId, StateId)>) -> Self {
        let mut classes = [(0_usize, 0_usize, 0_u8); 256];
        for (byte, class) in (0..=255_u8).zip(&mut classes) {
            *class = (less.classes().class(byte), more.classes().class(byte), byte);
        }
        classes.sort_unstable();
        let bytes: Vec<(u8, usize)> = classes
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .map(|class| (class[0].2, class.len()))
            .collect();
        let limit = 2 * (less.len() + more.len());
        let mut pairs = begin;
        let mut numbers: FxHashMap<_, _> = pairs.iter().copied().zip(0_usize..).collect();
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut verdicts: Vec<Verdict> = Vec::new();
        while let Some(&(a, b)) = pairs.get(verdicts.len()) {
            let at = verdicts.len();
            let mut verdict = match less.is_accepting(a) == more.is_accepting(b) {
                true => Verdict::Same,
                false => Verdict::Useless,
            };
            let mut lacking = 0;
            for &(byte, count) in &bytes {
                let after = (less.next(a, byte), more.next(b, byte));
                match (after.0.is_dead(), after.1.is_dead()) {
                    (true, true) => {}
                    (true, false) => lacking += count,
                    (false, true) => verdict = Verdict::Useless,
                    (false, false) => {
                        let next = pairs.len();
                        let number = *numbers.entry(after).or_insert(next);
                        if number == next {
                            pairs.push(after);
                        }
                        edges.push((number, at));
                    }
                }
            }
            verdicts.push(match lacking {
                0 => verdict,
                1..=MAX_LACKING => verdict.max(Verdict::Less),
                _ => Verdict::Useless,
            });
            if pairs.len() > limit {
                return Self::default();
            }
        }
        spread(&mut verdicts, edges);
        let mut counterparts = FxHashMap::default();
        for (&(a, b), verdict) in pairs.iter().zip(verdicts) {
            let counterpart = Counterpart { state: b, is_same: verdict == Verdict::Same };
            match (verdict, counterparts.get(&a)) {
                (Verdict::Useless, _) | (Verdict::Less, Some(_)) => {}
                _ => {
                    counterparts.insert(a, counterpart);
                }
            }
        }
        Self { counterparts }
    }

    /// The counterpart of a state, if it has one.
    pub(crate) fn of(&self, state: StateId) -> Option<Counterpart> {
        self.counterparts.get(&state).copied()
    }

    /// Whether it is of any use.
    pub(crate) fn is_empty(&self) -> bool {
        self.counterparts.is_empty()
    }

    /// The tokens that the greater automaton may read from a counterpart and the smaller one may not,
    /// each with the bytes of it that it takes to tell. Ascending. Cost: the nodes at which they
    /// differ.
    pub(crate) fn lacking(
        &self,
        (less, more): (&Dfa, &Dfa),
        (state, counterpart): (StateId, StateId),
        trie: &TokenTrie,
    ) -> Vec<(TokenId, usize)> {
        let mut lacking = Vec::new();
        let mut pending = vec![(NodeId::ROOT, state, counterpart)];
        while let Some((node, a, b)) = pending.pop() {
            for (byte, child) in trie.children(node) {
                let (a, b) = (less.next(a, byte), more.next(b, byte));
                if b.is_dead() {
                    continue;
                }
                if a.is_dead() {
                    let depth = trie.depth(child);
                    lacking.extend(trie.tokens_below(child).iter().map(|&token| (token, depth)));
                    continue;
                }
                let is_same = Some(Counterpart { state: b, is_same: true }) == self.of(a);
                if !is_same {
                    pending.push((child, a, b));
                }
            }
        }
        lacking.sort_unstable();
        lacking
    }
}

/// What a pair leads to, it may be as well.
fn spread(verdicts: &mut [Verdict], mut edges: Vec<(usize, usize)>) {
    edges.sort_unstable();
    edges.dedup();
    let before = |at: usize| {
        let first = edges.partition_point(|edge| edge.0 < at);
        edges[first..].iter().take_while(move |edge| edge.0 == at).map(|edge| edge.1)
    };
    let worsen = |verdicts: &mut [Verdict], verdict: Verdict| {
        let mut pending: Vec<usize> =
            (0..verdicts.len()).filter(|&at| verdicts[at] == verdict).collect();
        while let Some(at) = pending.pop() {
            for from in before(at) {
                if verdicts[from] < verdict {
                    verdicts[from] = verdict;
                    pending.push(from);
                }
            }
        }
    };
    worsen(verdicts, Verdict::Less);
    worsen(verdicts, Verdict::Useless);
    // Pairs that differ and lead to no further such ones are taken away, until none is left or all
    // that are left are in circles or lead there.
    let mut onward = vec![0_usize; verdicts.len()];
    let differ = |verdicts: &[Verdict], at: usize| verdicts[at] == Verdict::Less;
    for &(to, from) in &edges {
        onward[from] += usize::from(differ(verdicts, to) && differ(verdicts, from));
    }
    let mut ends: Vec<usize> =
        (0..verdicts.len()).filter(|&at| differ(verdicts, at) && onward[at] == 0).collect();
    let mut is_finite = vec![false; verdicts.len()];
    while let Some(at) = ends.pop() {
        is_finite[at] = true;
        for from in before(at).filter(|&from| differ(verdicts, from)) {
            onward[from] -= 1;
            if onward[from] == 0 {
                ends.push(from);
            }
        }
    }
    for (verdict, is_finite) in verdicts.iter_mut().zip(is_finite) {
        if *verdict == Verdict::Less && !is_finite {
            *verdict = Verdict::Useless;
        }
    }
}

/// The core of an automaton, and the states of free text in it, if there is more to it than its core.
pub(crate) fn core(dfa: &Dfa) -> Option<(Dfa, Vec<StateId>)> {
    let texts: Vec<StateId> = texts(dfa).into_iter().map(|text| text.0).collect();
    let mut uses: FxHashMap<StateId, usize> = FxHashMap::default();
    for &state in &texts {
        for (_, target) in dfa.edges(state) {
            *uses.entry(target).or_default() += 1;
        }
    }
    let common = texts.iter().filter_map(|&text| Some((*uses.get(&text)?, Reverse(text))));
    let Reverse(start) = common.max()?.1;
    let mut images: FxHashMap<StateId, usize> = FxHashMap::from_iter([(start, 0)]);
    let mut reached = vec![start];
    let mut at = 0;
    while at < reached.len() {
        for (_, target) in dfa.edges(reached[at]) {
            images.entry(target).or_insert_with(|| {
                reached.push(target);
                reached.len() - 1
            });
        }
        at += 1;
        if reached.len() > MAX_CORE {
            return None;
        }
    }
    // The dead state is none of those reached.
    (reached.len() + 1 < dfa.len()).then_some(())?;
    let members: Vec<ByteSet> =
        (0..dfa.classes().count()).map(|class| dfa.classes().members(class)).collect();
    let mut fuel = Fuel::unlimited();
    let mut nfa = NfaBuilder::new(&mut fuel);
    let build = |nfa: &mut NfaBuilder<'_>| -> Result<(NfaStateId, NfaStateId), Exhausted> {
        let accept = nfa.state()?;
        let states: Vec<NfaStateId> =
            reached.iter().map(|_| nfa.state()).collect::<Result<_, _>>()?;
        for (&state, &image) in reached.iter().zip(&states) {
            for (class, target) in dfa.byte_edges(state) {
                nfa.byte(image, members[class], states[images[&target]])?;
            }
            if dfa.is_accepting(state) {
                nfa.empty(image, accept)?;
            }
        }
        Ok((states[0], accept))
    };
    let (first, accept) = build(&mut nfa).ok()?;
    let nfa = nfa.finish(first, accept);
    Some((determinize(&nfa, &mut fuel).ok()?.minimized(), texts))
}

#[cfg(test)]
mod tests {
    //! Against all words up to a length.

    use super::*;
    use formwork_automata::CancellationToken;
    use formwork_core::Limits;
    use formwork_grammar::regular::{self, BytesOnly};
    use formwork_vocab::Vocabulary;

    fn dfa(pattern: &str) -> Dfa {
        let limits = Limits::default();
        let grammar =
            formwork_regex::compile(pattern, &Default::default(), &limits).expect("a pattern");
        regular::dfa(&grammar, &BytesOnly, &limits, &CancellationToken::new()).expect("regular")
    }

    /// All words over `ab"` of at most five letters.
    fn vocabulary() -> Vocabulary {
        let mut words: Vec<Vec<u8>> = vec![vec![]];
        let mut at = 0;
        while words[at].len() < 5 {
            for letter in *b"ab\"" {
                let word = [&words[at][..], &[letter]].concat();
                words.push(word);
            }
            at += 1;
        }
        let mut builder = Vocabulary::builder(words.len());
        for (id, word) in (0..).zip(&words).skip(1) {
            builder = builder.token(TokenId::new(id), word);
        }
        builder.build().expect("a vocabulary")
    }

    #[test]
    fn what_is_lacking_is_what_only_the_greater_one_reads() {
        let more = dfa("\"[ab]*\"");
        let less = dfa("\"(a|b|aa|bb|ba|[ab]{3}[ab]*)?\"");
        let vocabulary = vocabulary();
        let begin = vec![(less.start(), more.start())];
        let difference = Difference::new(&less, &more, begin);
        let mut unequal = 0;
        for state in less.live_states() {
            let Some(counterpart) = difference.of(state) else { continue };
            let lacking =
                difference.lacking((&less, &more), (state, counterpart.state), vocabulary.trie());
            let expected: Vec<TokenId> = (0..vocabulary.tokenizer_len())
                .map(|id| TokenId::new(id as u32))
                .filter(|&token| {
                    let bytes = vocabulary.bytes(token).unwrap_or_default();
                    !more.next_bytes(counterpart.state, bytes).is_dead()
                        && less.next_bytes(state, bytes).is_dead()
                })
                .collect();
            // Some of those lacking are read by neither, since they are told as early as can be.
            let found: Vec<TokenId> = lacking
                .iter()
                .map(|lacking| lacking.0)
                .filter(|&token| {
                    let bytes = vocabulary.bytes(token).unwrap_or_default();
                    !more.next_bytes(counterpart.state, bytes).is_dead()
                })
                .collect();
            assert_eq!(found, expected);
            assert_eq!(counterpart.is_same, expected.is_empty());
            unequal += usize::from(!counterpart.is_same);
        }
        assert_eq!(
            unequal, 4,
            "the start, the begin of the text, and on the way to the missing word"
        );
    }

    #[test]
    fn what_reads_more_has_no_counterpart() {
        let (less, more) = (dfa("[ab]*"), dfa("a*"));
        let difference = Difference::new(&less, &more, vec![(less.start(), more.start())]);
        assert!(difference.is_empty());
    }
}
