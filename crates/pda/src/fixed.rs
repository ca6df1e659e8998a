//! Islands that call nothing: what is known of their states is the vocabulary's.
//!
//! # Idea
//! The mask of a state of such an island, and what is left of the tokens that leave it, depend on
//! the automaton and on the bytes that may follow, and on nothing else of a grammar. Equal automata
//! are one here, whichever grammars they are in: the text of a string, a number, white space. A
//! string in the middle of a schema then costs what its surroundings add: the tokens that run past
//! its end.
//!
//! # Memory
//! Islands that a grammar holds stay; of the others, as much as [`KEPT_BYTES`] and [`KEPT`] allow.

use crate::{
    difference::{Counterpart, Difference, core},
    loops::Loop,
    mask::{Mask, MaskBuilder, SharedRows},
    texts::{Classes, classes, texts},
};
use dashmap::DashMap;
use formwork_automata::{ByteSet, Dfa, StateId};
use formwork_mask::words_for;
use formwork_slices::Slices;
use formwork_vocab::{NodeId, TokenId, TokenTrie, Vocabulary, WalkScratch};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Bytes of islands past which those that no grammar holds are dropped.
const KEPT_BYTES: usize = 64 << 20;
/// The same by their number.
const KEPT: usize = 4_096;

/// The rest of a token, and the token.
pub(crate) type Word<'v> = (&'v [u8], TokenId);

/// The islands of a vocabulary that call nothing.
#[derive(Debug)]
pub(crate) struct FixedIslands {
    pub(crate) slices: Arc<Slices>,
    pub(crate) rows: Arc<SharedRows>,
    known: Mutex<FxHashMap<Shape, Arc<FixedIsland>>>,
    bytes: Arc<AtomicUsize>,
}

/// An automaton, and whether its words may follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shape {
    dfa: Arc<Dfa>,
    is_loop: bool,
}

impl FixedIslands {
    pub(crate) fn of(vocabulary: &Vocabulary) -> Arc<Self> {
        vocabulary.derived(|vocabulary| Self {
            slices: Slices::of(vocabulary),
            rows: SharedRows::of(vocabulary),
            known: Mutex::default(),
            bytes: Arc::default(),
        })
    }

    /// The island of an automaton without marks; as a loop, if its words may follow each other.
    pub(crate) fn get(&self, dfa: &Arc<Dfa>, is_loop: bool) -> Arc<FixedIsland> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT || self.bytes.load(Ordering::Relaxed) > KEPT_BYTES {
            known.retain(|_, island| Arc::strong_count(island) > 1);
        }
        let shape = Shape { dfa: dfa.clone(), is_loop };
        let make = || {
            Arc::new(FixedIsland {
                dfa: dfa.clone(),
                difference: OnceLock::new(),
                in_loop: is_loop.then(|| Loop::new(dfa.clone())),
                classes: OnceLock::new(),
                bases: DashMap::with_capacity_and_hasher_and_shard_amount(0, FxBuildHasher, 4),
                own_bytes: AtomicUsize::new(0),
                all_bytes: self.bytes.clone(),
            })
        };
        known.entry(shape).or_insert_with(make).clone()
    }
}

/// One of them.
#[derive(Debug)]
pub(crate) struct FixedIsland {
    dfa: Arc<Dfa>,
    /// What it lacks of its core, if that is little; found when it is first asked for.
    difference: OnceLock<Option<(Arc<Self>, Difference)>>,
    in_loop: Option<Loop>,
    classes: OnceLock<Classes>,
    bases: DashMap<Position, Arc<Base>, FxBuildHasher>,
    own_bytes: AtomicUsize,
    all_bytes: Arc<AtomicUsize>,
}

impl Drop for FixedIsland {
    fn drop(&mut self) {
        self.all_bytes.fetch_sub(self.bytes(), Ordering::Relaxed);
    }
}

/// A state of an island, and what may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    pub(crate) state: StateId,
    pub(crate) window: Window,
    /// Bytes that may follow the end of the island.
    pub(crate) follow: ByteSet,
}

/// How many more turns a loop needs and may take, as far as tokens are long; elsewhere nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Window {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

/// An island that reads at least as much, what is lacking of it, and a state in it.
type Lesser<'i> = (&'i Arc<FixedIsland>, &'i Difference, Counterpart);

/// What is known of a position; by default one that nothing can be read from.
#[derive(Debug, Default)]
pub(crate) struct Base {
    /// The tokens that stay inside.
    pub(crate) mask: Mask,
    /// What is left of those that leave, after at least one byte, and go on with one that may follow.
    pub(crate) exits: Option<Arc<TokenTrie>>,
    /// Nodes visited when it was made.
    visited: usize,
}

impl FixedIsland {
    /// What is known of a position, and how many nodes were visited to know it.
    pub(crate) fn base(
        &self,
        islands: &FixedIslands,
        vocabulary: &Vocabulary,
        position: Position,
    ) -> (Arc<Base>, usize) {
        if let Some(known) = self.bases.get(&position) {
            return (known.clone(), 0);
        }
        let base = match (&self.in_loop, self.counterpart(islands, position.state)) {
            (Some(in_loop), _) => looped(in_loop, islands, vocabulary, position),
            (None, Some((greater, _, counterpart))) if counterpart.is_same => {
                let position = Position { state: counterpart.state, ..position };
                return greater.base(islands, vocabulary, position);
            }
            (None, Some(lesser)) => self.less(lesser, islands, vocabulary, position),
            (None, None) => self.plain(islands, vocabulary, position),
        };
        let visited = base.visited;
        let bytes = base.mask.memory_bytes()
            + base.exits.as_ref().map_or(0, |exits| exits.memory_bytes())
            + size_of::<(Position, Base)>();
        let mut is_new = false;
        let base = self.bases.entry(position).or_insert_with(|| {
            is_new = true;
            Arc::new(base)
        });
        if is_new {
            self.own_bytes.fetch_add(bytes, Ordering::Relaxed);
            self.all_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        (base.clone(), visited)
    }

    /// Heap bytes of what is known.
    pub(crate) fn bytes(&self) -> usize {
        self.own_bytes.load(Ordering::Relaxed)
    }

    /// What a state corresponds to in an island that reads at least as much.
    fn counterpart(&self, islands: &FixedIslands, state: StateId) -> Option<Lesser<'_>> {
        if self.in_loop.is_some() {
            return None;
        }
        let found = self.difference.get_or_init(|| {
            let (core, texts) = core(&self.dfa)?;
            let core = islands.get(&Arc::new(core), false);
            let begin = texts.into_iter().map(|state| (state, core.dfa.start())).collect();
            let difference = Difference::new(&self.dfa, &core.dfa, begin);
            (!difference.is_empty()).then_some((core, difference))
        });
        let (greater, difference) = found.as_ref()?;
        Some((greater, difference, difference.of(state)?))
    }

    /// What is known of a state that lacks a little of what another one reads.
    fn less(
        &self,
        (greater, difference, counterpart): Lesser<'_>,
        islands: &FixedIslands,
        vocabulary: &Vocabulary,
        position: Position,
    ) -> Base {
        let automata = (&*self.dfa, &*greater.dfa);
        let states = (position.state, counterpart.state);
        let lacking = difference.lacking(automata, states, vocabulary.trie());
        let position = Position { state: counterpart.state, ..position };
        let (base, visited) = greater.base(islands, vocabulary, position);
        let ids: Vec<u32> = lacking.iter().map(|lacking| lacking.0.as_u32()).collect();
        let mask = base.mask.without(&ids, &islands.rows);
        let is_left = |word: &[u8], token: TokenId| {
            let at = lacking.binary_search_by_key(&token, |lacking| lacking.0);
            let len = vocabulary.bytes(token).unwrap_or_default().len();
            // What leaves before the two differ, leaves.
            at.is_err() || len - word.len() < lacking[at.unwrap_or_default()].1
        };
        let exits = base.exits.as_ref().and_then(|exits| {
            let words: Vec<Word<'_>> = words_of(vocabulary, exits).collect();
            let count = words.len();
            let left: Vec<Word<'_>> =
                words.into_iter().filter(|&(word, token)| is_left(word, token)).collect();
            match left.len() {
                0 => None,
                len if len == count => Some(exits.clone()),
                _ => Some(Arc::new(TokenTrie::of_words(left))),
            }
        });
        Base { mask, exits, visited }
    }

    fn plain(
        &self,
        islands: &FixedIslands,
        vocabulary: &Vocabulary,
        Position { state, follow, .. }: Position,
    ) -> Base {
        let dfa = &*self.dfa;
        let mut mask = MaskBuilder::default();
        let mut words: Vec<Word<'_>> = Vec::new();
        let step = |state, byte| {
            let next = dfa.next(state, byte);
            (!next.is_dead()).then_some(next)
        };
        let mut visit = |trie: &TokenTrie, node: NodeId, state: StateId| {
            mask.ids.extend(trie.tokens(node).iter().map(|token| token.as_u32()));
            if dfa.is_accepting(state) {
                for (byte, child) in trie.children(node) {
                    if follow.contains(byte) {
                        words_below(vocabulary, trie, (node, child), |word| words.push(word));
                    }
                }
            }
        };
        let mut scratch = WalkScratch::default();
        let trie = vocabulary.trie();
        let row = self.class_row(islands, state);
        let visited = match row {
            Some(row) => row.slice().walk_other_nodes(trie, state, &mut scratch, step, visit),
            None => {
                let visit = |node, state| visit(trie, node, state);
                trie.walk_nodes_from(NodeId::ROOT, state, &mut scratch, step, visit).nodes
            }
        };
        if let Some(row) = row {
            let mut words = vec![0; words_for(vocabulary.model_len())];
            row.write(&mut words);
            mask.row(islands.rows.intern(&words));
        }
        finish(islands, vocabulary, (mask, words), visited)
    }

    /// The row of the largest class of tokens that a state takes.
    fn class_row<'s>(
        &self,
        islands: &'s FixedIslands,
        state: StateId,
    ) -> Option<formwork_slices::SliceRow<'s>> {
        let slices = &islands.slices;
        let classes = self.classes.get_or_init(|| classes(&self.dfa, slices, texts(&self.dfa)));
        let (slice, fit) = classes.get(&state)?;
        slices.all()[*slice].row(*fit)
    }
}

/// What is known of a position in a loop, whose walks are kept whatever the bounds.
fn looped(
    in_loop: &Loop,
    islands: &FixedIslands,
    vocabulary: &Vocabulary,
    Position { state, window, follow }: Position,
) -> Base {
    let Window { least, most } = window;
    let inside = in_loop.inside(state, vocabulary);
    let mut mask = MaskBuilder::default();
    match inside.row(most as usize) {
        Some(row) => mask.row(islands.rows.intern(&row)),
        None => mask.ids.extend(inside.tokens(most as usize)),
    }
    let mut words: Vec<Word<'_>> = Vec::new();
    for byte in follow.iter() {
        let trie = in_loop.exits(state, byte, vocabulary);
        let (node, children) = (NodeId::ROOT, trie.children(NodeId::ROOT));
        for (_, child) in children {
            words_below(vocabulary, trie, (node, child), |(word, token)| {
                let bytes = vocabulary.bytes(token).unwrap_or_default();
                let count = in_loop.count(state, &bytes[..bytes.len() - word.len()]);
                if (least..=most).contains(&count) {
                    words.push((word, token));
                }
            });
        }
    }
    finish(islands, vocabulary, (mask, words), 0)
}

fn finish(
    islands: &FixedIslands,
    vocabulary: &Vocabulary,
    (mask, mut words): (MaskBuilder, Vec<Word<'_>>),
    visited: usize,
) -> Base {
    let mask = mask.finish(&islands.rows, vocabulary.model_len());
    words.retain(|word| !mask.contains(word.1.as_u32()));
    let exits = (!words.is_empty()).then(|| Arc::new(TokenTrie::of_words(words)));
    Base { mask, exits, visited }
}

/// The words of a trie of rests.
pub(crate) fn words_of<'v>(
    vocabulary: &'v Vocabulary,
    trie: &TokenTrie,
) -> impl Iterator<Item = Word<'v>> {
    trie.subtree(NodeId::ROOT).flat_map(move |node| {
        let left = trie.depth(node);
        trie.tokens(node).iter().map(move |&token| {
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            (&bytes[bytes.len() - left..], token)
        })
    })
}

/// Tells what is left, behind a node, of the tokens at and below one of its children.
pub(crate) fn words_below<'v>(
    vocabulary: &'v Vocabulary,
    trie: &TokenTrie,
    (node, child): (NodeId, NodeId),
    mut visit: impl FnMut(Word<'v>),
) {
    let depth = trie.depth(node);
    for below in trie.subtree(child) {
        for &token in trie.tokens(below) {
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            let left = trie.depth(below) - depth;
            visit((&bytes[bytes.len() - left..], token));
        }
    }
}
