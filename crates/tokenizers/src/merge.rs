//! Byte-pair encoding of one piece, where the rank of a merge is that of the string it makes.
//!
//! Of all neighbours whose concatenation has a rank the pair of the lowest rank is merged, the
//! leftmost of equals, until none is left (Sennrich et al., "Neural machine translation of rare
//! words with subword units", 2016). tiktoken starts from bytes, SentencePiece from characters. A
//! queue holds the pairs, so that a piece of n bytes takes O(n log n) steps; entries that later
//! merges made void are recognised by the length they would make.

use std::{cmp::Reverse, collections::BinaryHeap, ops::Range};

/// A stretch of the text that is one symbol.
#[derive(Debug)]
struct Symbol {
    start: usize,
    /// 0 once it was merged into its left neighbour; no symbol is empty.
    end: usize,
    /// Index of the left neighbour; its own for the first.
    previous: usize,
    frozen: bool,
}

/// A symbol to begin with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    /// Byte length; at least 1.
    pub(crate) len: usize,
    /// Whether it takes part in no merge.
    pub(crate) frozen: bool,
}

type Queue = BinaryHeap<Reverse<(u32, usize, usize)>>;

struct Merger<'a, R> {
    text: &'a [u8],
    symbols: Vec<Symbol>,
    /// Rank of the merged string, index of the left symbol, length of the merged string.
    queue: Queue,
    rank: R,
    longest: usize,
}

/// The symbols that are left of `text`, which the seeds cover. `rank` is asked about strings of at
/// most `longest` bytes.
pub(crate) fn merge(
    text: &[u8],
    seeds: impl Iterator<Item = Seed>,
    longest: usize,
    rank: impl Fn(&[u8]) -> Option<u32>,
) -> Vec<Range<usize>> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut start = 0;
    for (index, seed) in seeds.enumerate() {
        let end = start + seed.len;
        let previous = index.saturating_sub(1);
        symbols.push(Symbol { start, end, previous, frozen: seed.frozen });
        start = end;
    }
    let mut merger = Merger { text, symbols, queue: Queue::new(), rank, longest };
    merger.run();
    let left = merger.symbols.iter().filter(|symbol| symbol.end != 0);
    left.map(|symbol| symbol.start..symbol.end).collect()
}

impl<R: Fn(&[u8]) -> Option<u32>> Merger<'_, R> {
    fn run(&mut self) {
        // Symbols are found by the place they start at: the right neighbour starts where the left
        // one ends.
        let starts: Vec<usize> = self.symbols.iter().map(|symbol| symbol.start).collect();
        let at = |start: usize| starts.binary_search(&start).ok();
        for left in 0..self.symbols.len().saturating_sub(1) {
            self.consider(left, left + 1);
        }
        while let Some(Reverse((_, left, len))) = self.queue.pop() {
            let Some(right) = at(self.symbols[left].end) else { continue };
            let end = self.symbols[right].end;
            if self.symbols[left].end == 0 || end != self.symbols[left].start + len {
                continue;
            }
            self.symbols[left].end = end;
            self.symbols[right].end = 0;
            if let Some(next) = at(end) {
                self.symbols[next].previous = left;
                self.consider(left, next);
            }
            if left > 0 {
                self.consider(self.symbols[left].previous, left);
            }
        }
    }

    fn consider(&mut self, left: usize, right: usize) {
        let (left_symbol, right_symbol) = (&self.symbols[left], &self.symbols[right]);
        let merged = left_symbol.start..right_symbol.end;
        if left_symbol.frozen || right_symbol.frozen || merged.len() > self.longest {
            return;
        }
        let len = merged.len();
        if let Some(rank) = (self.rank)(&self.text[merged]) {
            self.queue.push(Reverse((rank, left, len)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition: look at all pairs, merge the best, again.
    fn slow(text: &str, seeds: &[Seed], rank: impl Fn(&str) -> Option<u32>) -> Vec<String> {
        let mut rest = text;
        let mut parts: Vec<(String, bool)> = Vec::new();
        for seed in seeds {
            let (part, after) = rest.split_at(seed.len);
            parts.push((part.to_owned(), seed.frozen));
            rest = after;
        }
        loop {
            let best = (0..parts.len().saturating_sub(1))
                .filter(|&at| !parts[at].1 && !parts[at + 1].1)
                .filter_map(|at| Some((rank(&format!("{}{}", parts[at].0, parts[at + 1].0))?, at)))
                .min();
            let Some((_, at)) = best else { break };
            let right = parts.remove(at + 1).0;
            parts[at].0.push_str(&right);
        }
        parts.into_iter().map(|part| part.0).collect()
    }

    proptest! {
        #[test]
        fn merging_is_what_the_definition_says(
            text in "[ab]{0,16}",
            frozen in prop::collection::vec(prop::bool::weighted(0.1), 16),
            ranked in prop::collection::vec(("[ab]{2,5}", 0_u32..6), 0..12),
        ) {
            let rank = |string: &str| {
                ranked.iter().find(|(other, _)| other == string).map(|&(_, rank)| rank)
            };
            let seeds: Vec<Seed> =
                frozen[..text.len()].iter().map(|&frozen| Seed { len: 1, frozen }).collect();
            let parts = merge(text.as_bytes(), seeds.iter().copied(), 5, |bytes| {
                rank(std::str::from_utf8(bytes).unwrap())
            });
            let parts: Vec<&str> = parts.into_iter().map(|range| &text[range]).collect();
            prop_assert_eq!(parts, slow(&text, &seeds, rank));
        }
    }
}
