//! Walks over fixed islands: which tokens stay inside, and what is left of those that leave.

use crate::{
    fixed::{FixedIsland, FixedIslands},
    symbols::Symbols,
};
use formwork_automata::{ByteSet, StateId};
use formwork_mask::{RowMut, words_for};
use formwork_slices::{Fits, SliceRow};
use formwork_vocab::{NodeId, TokenId, TokenTrie, Vocabulary, WalkScratch};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// More tokens than this are a row, fewer a list.
const LIST: usize = 256;
/// So many exits are kept together, whatever byte they go on with.
const MAX_EXITS: usize = 30_000;

/// The tokens that stay inside an island, or go through a run of its words.
#[derive(Debug)]
pub(crate) struct Walk {
    /// A number that no other walk of the process has.
    pub(crate) number: u64,
    pub(crate) inside: Inside,
    pub(crate) exits: ExitSets,
    /// Bytes that stay inside where the island can be left: exits by these are not listed.
    pub(crate) ambiguous: ByteSet,
    /// What is counted.
    counting: Counting,
    /// The most words that a token of a run takes, begun ones included; or the most symbols that it
    /// needs, those included that must follow. Else 0.
    pub(crate) longest: usize,
    /// How many tokens stay inside.
    pub(crate) tokens: usize,
    /// The tokens that do not, once somebody asks.
    others: OnceLock<Arc<TokenTrie>>,
    /// Where symbols are counted: what tokens lead to, once somebody asks.
    ends: OnceLock<Box<[End]>>,
    /// Trie nodes visited, until somebody has counted them.
    nodes: AtomicUsize,
}

/// What is counted on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    Nothing,
    /// Words of a run.
    Words,
    /// Symbols of an island.
    Symbols,
}

/// A token that stays inside an island whose symbols are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) token: u32,
    /// Symbols read.
    pub(crate) count: u16,
    pub(crate) state: StateId,
}

/// A node of a trie of tokens, or of what is left of some.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'t> {
    /// The trie's number: 0 is the vocabulary's, [`PRIVATE`] one of which nothing is remembered.
    pub(crate) number: u64,
    pub(crate) trie: &'t TokenTrie,
    pub(crate) node: NodeId,
}

/// The number of tries that belong to one state of one island: a walk over them is not met again.
/// Runs (white space, characters) and plain strings are few and everywhere, so what they leave has
/// numbers.
pub(crate) const PRIVATE: u64 = u64::MAX;

impl At<'_> {
    /// Whether walks from here are remembered.
    pub(crate) fn is_remembered(&self) -> bool {
        self.number != PRIVATE
    }

    /// Whether the trie is the vocabulary's.
    pub(crate) fn is_whole(&self) -> bool {
        self.number == 0
    }

    /// Whether all tokens are below.
    pub(crate) fn is_root(&self) -> bool {
        self.is_whole() && self.node == NodeId::ROOT
    }
}

/// Numbers of walks and tries.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Tokens.
#[derive(Debug)]
pub(crate) enum Inside {
    List(Box<[u32]>),
    Row(Arc<[i32]>),
    /// By the number of words or symbols, and rows made of them.
    Counted(Counted),
}

/// Tokens by the number of words of a run that they begin, or of symbols that they need.
#[derive(Debug)]
pub(crate) struct Counted {
    tokens: Box<[(u16, u32)]>,
    /// Tokens that end before the first symbol or after the last, which are not among those.
    pub(crate) outside: Box<[End]>,
    row: Arc<[i32]>,
    bounded: Box<[OnceLock<Arc<[i32]>>]>,
    model_len: usize,
}

/// Rows for bounds below this are kept.
const KEPT_BOUNDS: usize = 130;

/// What is left of tokens that leave an island.
#[derive(Debug)]
pub(crate) enum ExitSets {
    All(Arc<Exits>),
    /// Too many for one: by the first byte of what is left, made when asked for.
    ByByte {
        island: StateId,
        node: NodeId,
        sets: Box<[OnceLock<Arc<Exits>>; 256]>,
    },
}

/// What is left of some tokens, as a trie.
#[derive(Debug)]
pub(crate) struct Exits {
    /// The trie's number: [`At::number`].
    pub(crate) number: u64,
    pub(crate) trie: TokenTrie,
    /// For runs: words taken before the exit, by token, ascending.
    counts: Box<[(TokenId, u16)]>,
}

impl Exits {
    /// Words of the run that a token takes before it leaves.
    pub(crate) fn count(&self, token: TokenId) -> usize {
        let at = self.counts.binary_search_by_key(&token, |count| count.0);
        at.map_or(0, |at| usize::from(self.counts[at].1))
    }
}

impl Counted {
    /// The row of the tokens of at most so many words.
    pub(crate) fn row(&self, bound: usize, longest: usize) -> Arc<[i32]> {
        if bound >= longest {
            return self.row.clone();
        }
        match self.bounded.get(bound) {
            Some(row) => row.get_or_init(|| self.make(bound)).clone(),
            None => self.make(bound),
        }
    }

    /// Whether there are enough tokens for a row.
    pub(crate) fn is_long(&self) -> bool {
        self.tokens.len() > LIST
    }

    /// The tokens of at most so many words.
    pub(crate) fn tokens(&self, bound: usize) -> impl Iterator<Item = u32> + '_ {
        let end = self.tokens.partition_point(|token| usize::from(token.0) <= bound);
        self.tokens[..end].iter().map(|token| token.1)
    }

    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The tokens of more than so many words.
    pub(crate) fn tokens_past(&self, bound: usize) -> impl Iterator<Item = u32> + '_ {
        let end = self.tokens.partition_point(|token| usize::from(token.0) <= bound);
        self.tokens[end..].iter().map(|token| token.1)
    }

    fn make(&self, bound: usize) -> Arc<[i32]> {
        row_of(self.model_len, self.tokens(bound))
    }
}

/// The row of some tokens.
pub(crate) fn row_of(model_len: usize, tokens: impl Iterator<Item = u32>) -> Arc<[i32]> {
    let mut words = vec![0; words_for(model_len)];
    let mut bits = RowMut::new(&mut words, model_len);
    tokens.for_each(|token| bits.set(token as usize));
    words.into()
}

impl Walk {
    /// The trie nodes that were visited, told once: to the mask that needed them first.
    pub(crate) fn take_nodes(&self) -> usize {
        match self.nodes.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.nodes.swap(0, Ordering::Relaxed),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let exits = |exits: &Exits| exits.trie.memory_bytes() + exits.counts.len() * 8;
        let inside = match &self.inside {
            Inside::List(list) => list.len() * 4,
            Inside::Row(row) => row.len() * 4,
            Inside::Counted(counted) => counted.tokens.len() * 8 + counted.row.len() * 4,
        };
        inside
            + 512
            + match &self.exits {
                ExitSets::All(all) => exits(all),
                ExitSets::ByByte { .. } => 256 * 16,
            }
    }

    /// The tokens that do not stay inside, as a trie.
    pub(crate) fn others(&self, vocabulary: &Vocabulary) -> Arc<TokenTrie> {
        let make = || {
            let contains = |token: TokenId| match &self.inside {
                Inside::List(list) => list.contains(&token.as_u32()),
                Inside::Row(row) | Inside::Counted(Counted { row, .. }) => {
                    row[token.index() / 32] >> (token.index() % 32) & 1 == 1
                }
            };
            Arc::new(vocabulary.trie().subset(vocabulary, |token| !contains(token)))
        };
        self.others.get_or_init(make).clone()
    }

    /// What the tokens below a node lead to, where symbols are counted.
    pub(crate) fn ends(
        &self,
        island: &FixedIsland,
        state: StateId,
        At { trie, node, .. }: At<'_>,
    ) -> &[End] {
        self.ends.get_or_init(|| {
            let Some(symbols) = &island.symbols else { return Box::default() };
            let mut ends = Vec::new();
            let mut scratch = WalkScratch::default();
            let step = |at, byte| counted(island, symbols, at, byte);
            let on_node = |node, (state, count)| {
                let tokens = trie.tokens(node).iter();
                ends.extend(tokens.map(|token| End { token: token.as_u32(), count, state }));
            };
            trie.walk_nodes_from(node, (state, 0), &mut scratch, step, on_node);
            ends.into()
        })
    }

    /// The exits by bytes of a set; more may be among them.
    pub(crate) fn exits_by(
        &self,
        walks: &Walks<'_>,
        island: &FixedIsland,
        bytes: &ByteSet,
        mut visit: impl FnMut(&Arc<Exits>),
    ) {
        match &self.exits {
            ExitSets::All(all) => visit(all),
            ExitSets::ByByte { island: state, node, sets } => {
                let trie = walks.vocabulary.trie();
                let at = At { number: 0, trie, node: *node };
                for byte in bytes.iter() {
                    let set = &sets[usize::from(byte)];
                    visit(set.get_or_init(|| {
                        let only = ByteSet::single(byte);
                        let mut collected =
                            Collected::new(walks.vocabulary, (self.counting, only), at);
                        walks.collect(island, *state, at, &mut collected);
                        Arc::new(collected.exits())
                    }));
                }
            }
        }
    }
}

/// The same, by count: a bucket for each.
fn by_count(tokens: &[(u16, u32)], most: usize) -> Vec<(u16, u32)> {
    let mut ends = vec![0_usize; most + 2];
    tokens.iter().for_each(|token| ends[usize::from(token.0) + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    let mut sorted = vec![(0, 0); tokens.len()];
    for &token in tokens {
        let at = &mut ends[usize::from(token.0)];
        sorted[*at] = token;
        *at += 1;
    }
    sorted
}

/// What walks need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walks<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) islands: &'a FixedIslands,
}

impl Walks<'_> {
    /// The walk from a state at a node.
    pub(crate) fn within(&self, island: &FixedIsland, state: StateId, at: At<'_>) -> Walk {
        let counting = match island.symbols {
            Some(_) => Counting::Symbols,
            None => Counting::Nothing,
        };
        let mut collected = Collected::new(self.vocabulary, (counting, ByteSet::FULL), at);
        collected.is_common = island.may_be_base();
        let slices = &self.islands.slices;
        let has_row = counting == Counting::Nothing && at.is_root();
        let row = match has_row && island.out(state).len() >= 64 {
            true => {
                let candidates = slices.all().iter().filter(|s| s.is_candidate(island.out(state)));
                let fitting = candidates.map(|slice| {
                    let fits = Fits::new(&island.dfa, slice.class(), [state]);
                    slice.row(fits.fit(state)).filter(|row| row.count() == slice.len())
                });
                fitting.flatten().next()
            }
            false => None,
        };
        let nodes = match row {
            Some(row) => self.collect_beside(island, state, row, &mut collected),
            None => self.collect(island, state, at, &mut collected),
        };
        collected.walk(state, at, row, nodes)
    }

    /// The walk through any number of words, from a node.
    pub(crate) fn run(&self, island: &FixedIsland, at: At<'_>) -> Walk {
        let mut collected = Collected::new(self.vocabulary, (Counting::Words, ByteSet::FULL), at);
        let start = island.dfa.start();
        let nodes = self.collect(island, start, at, &mut collected);
        collected.walk(start, at, None, nodes)
    }

    /// Walks the tokens that a class row does not hold. The state takes the tokens of the class to
    /// their ends, so what leaves the island inside one leaves it by a byte that stays inside, and
    /// is not listed in any case.
    fn collect_beside(
        &self,
        island: &FixedIsland,
        state: StateId,
        row: SliceRow<'_>,
        collected: &mut Collected<'_>,
    ) -> usize {
        let trie = self.vocabulary.trie();
        let mut scratch = WalkScratch::default();
        let step = |state, byte| next(island, state, byte);
        let slice = row.slice();
        collected.ambiguous = island.accepting_out;
        slice.walk_other_nodes(trie, state, &mut scratch, step, |trie, node, state| {
            collected.visit(island, trie, node, (state, 0));
        })
    }

    fn collect(
        &self,
        island: &FixedIsland,
        state: StateId,
        At { trie, node, .. }: At<'_>,
        collected: &mut Collected<'_>,
    ) -> usize {
        match (collected.counting, &island.symbols) {
            (Counting::Words, _) => {}
            (_, None) => {
                let mut scratch = WalkScratch::default();
                let step = |state, byte| next(island, state, byte);
                let on_node = |node, state| collected.visit(island, trie, node, (state, 0));
                return trie.walk_nodes_from(node, state, &mut scratch, step, on_node).nodes;
            }
            (_, Some(symbols)) => {
                let mut scratch = WalkScratch::default();
                let step = |at, byte| counted(island, symbols, at, byte);
                let on_node = |node, at| collected.visit(island, trie, node, at);
                return trie.walk_nodes_from(node, (state, 0), &mut scratch, step, on_node).nodes;
            }
        }
        // States of a run: where in a word, and how many words have begun.
        let mut scratch = WalkScratch::default();
        let step = |(state, count): (StateId, u16), byte| {
            let (from, count) = match island.dfa.is_accepting(state) || count == 0 {
                true => (island.dfa.start(), count.saturating_add(1)),
                false => (state, count),
            };
            Some((next(island, from, byte)?, count))
        };
        let on_node = |node, at| collected.visit(island, trie, node, at);
        trie.walk_nodes_from(node, (state, 0), &mut scratch, step, on_node).nodes
    }
}

/// The state after a byte, and the symbols so far.
fn counted(
    island: &FixedIsland,
    symbols: &Symbols,
    (state, count): (StateId, u16),
    byte: u8,
) -> Option<(StateId, u16)> {
    let next = next(island, state, byte)?;
    Some((next, count.saturating_add(u16::from(symbols.counts(state, next)))))
}

fn next(island: &FixedIsland, state: StateId, byte: u8) -> Option<StateId> {
    let next = island.dfa.next(state, byte);
    (!next.is_dead()).then_some(next)
}

/// Tokens and exits while a walk goes on.
struct Collected<'v> {
    vocabulary: &'v Vocabulary,
    counting: Counting,
    /// Whether the island is in many grammars.
    is_common: bool,
    /// Whether the trie is the vocabulary's.
    is_whole: bool,
    /// Exits by other bytes are passed over.
    bytes: ByteSet,
    inside: Vec<(u16, u32)>,
    outside: Vec<End>,
    exits: Vec<(&'v [u8], TokenId, u16)>,
    too_many: bool,
    ambiguous: ByteSet,
    longest: u16,
}

impl<'v> Collected<'v> {
    fn new(vocabulary: &'v Vocabulary, (counting, bytes): (Counting, ByteSet), at: At<'_>) -> Self {
        Self {
            vocabulary,
            counting,
            is_common: counting == Counting::Words,
            is_whole: at.is_whole(),
            bytes,
            inside: Vec::new(),
            outside: Vec::new(),
            exits: Vec::new(),
            too_many: false,
            ambiguous: ByteSet::EMPTY,
            longest: 0,
        }
    }

    fn visit(
        &mut self,
        island: &FixedIsland,
        trie: &TokenTrie,
        node: NodeId,
        (state, count): (StateId, u16),
    ) {
        let tokens = trie.tokens(node).iter().map(|token| token.as_u32());
        let least = island.symbols.as_ref().map_or(0, |symbols| symbols.least(state));
        let needs = count.saturating_add(u16::try_from(least).unwrap_or(u16::MAX));
        self.longest = self.longest.max(needs);
        match &island.symbols {
            Some(symbols) if !symbols.is_inside(state) => {
                self.outside.extend(tokens.map(|token| End { token, count, state }));
            }
            _ => self.inside.extend(tokens.map(|token| (needs, token))),
        }
        if !island.dfa.is_accepting(state) {
            return;
        }
        let staying = match self.counting {
            Counting::Words => island.out(island.dfa.start()),
            Counting::Nothing | Counting::Symbols => island.out(state),
        };
        self.ambiguous = self.ambiguous.union(staying);
        if self.too_many {
            return;
        }
        let depth = trie.depth(node);
        for (byte, child) in trie.children(node) {
            if staying.contains(byte) || !self.bytes.contains(byte) {
                continue;
            }
            if !self.is_whole {
                self.exits_below(trie, child, depth, count);
                continue;
            }
            let below = trie.tokens_below(child);
            if self.bytes == ByteSet::FULL && self.exits.len() + below.len() > MAX_EXITS {
                self.too_many = true;
                self.exits = Vec::new();
                return;
            }
            for &token in below {
                let bytes = self.vocabulary.bytes(token).expect("tokens of a trie have bytes");
                self.exits.push((&bytes[depth..], token, count));
            }
        }
    }

    /// Exits where the words of the trie are ends of tokens.
    fn exits_below(&mut self, trie: &TokenTrie, child: NodeId, depth: usize, count: u16) {
        for node in trie.subtree(child) {
            let left = trie.depth(node) - depth;
            for &token in trie.tokens(node) {
                let bytes = self.vocabulary.bytes(token).expect("tokens of a trie have bytes");
                self.exits.push((&bytes[bytes.len() - left..], token, count));
            }
        }
    }

    fn exits(self) -> Exits {
        let words = self.exits.iter().map(|exit| (exit.0, exit.1)).collect();
        let trie = TokenTrie::of_words(words);
        let mut counts: Vec<(TokenId, u16)> = match self.counting {
            Counting::Nothing => Vec::new(),
            _ => self.exits.iter().map(|exit| (exit.1, exit.2)).collect(),
        };
        counts.sort_unstable();
        let number = if self.is_common { unique() } else { PRIVATE };
        Exits { number, trie, counts: counts.into() }
    }

    fn counted(&mut self, inside: &[(u16, u32)], longest: usize) -> Counted {
        let model_len = self.vocabulary.model_len();
        let tokens = by_count(inside, longest).into_boxed_slice();
        Counted {
            row: row_of(model_len, tokens.iter().map(|token| token.1)),
            bounded: (0..KEPT_BOUNDS.min(longest)).map(|_| OnceLock::new()).collect(),
            outside: std::mem::take(&mut self.outside).into(),
            tokens,
            model_len,
        }
    }

    fn walk(
        mut self,
        state: StateId,
        at: At<'_>,
        row_of_class: Option<SliceRow<'_>>,
        nodes: usize,
    ) -> Walk {
        let model_len = self.vocabulary.model_len();
        let inside = std::mem::take(&mut self.inside);
        let counting = self.counting;
        let is_counted = counting != Counting::Nothing;
        let tokens = inside.len() + row_of_class.map_or(0, |class| class.count());
        let longest = if is_counted { usize::from(self.longest).max(1) } else { 0 };
        let inside = if is_counted {
            Inside::Counted(self.counted(&inside, longest))
        } else if let Some(class) = row_of_class {
            let mut words = vec![0; words_for(model_len)];
            class.write(&mut words);
            let mut bits = RowMut::new(&mut words, model_len);
            inside.iter().for_each(|token| bits.set(token.1 as usize));
            Inside::Row(words.into())
        } else if inside.len() > LIST && self.is_whole {
            Inside::Row(row_of(model_len, inside.iter().map(|token| token.1)))
        } else {
            Inside::List(inside.iter().map(|token| token.1).collect())
        };
        let ambiguous = self.ambiguous;
        let exits = match self.too_many {
            true => ExitSets::ByByte {
                island: state,
                node: at.node,
                sets: Box::new([const { OnceLock::new() }; 256]),
            },
            false => ExitSets::All(Arc::new(self.exits())),
        };
        Walk {
            number: unique(),
            inside,
            exits,
            ambiguous,
            counting,
            longest,
            tokens,
            others: OnceLock::new(),
            ends: OnceLock::new(),
            nodes: AtomicUsize::new(nodes),
        }
    }
}
