//! Islands: called rules, and parts of rules, as automata whose letters are bytes, tokens and calls.
//!
//! # Construction
//! The body of a called rule, with everything inlined that is not called, is one regular language
//! over bytes and calls, so it has a minimal automaton. Of counted repetitions, those of single
//! symbols (words of which none begins another: characters, blanks) are called too, as *loops*: the
//! automaton of the symbol and two bounds. What else is repeated often becomes an island of its own,
//! so that a turn is a letter.
//!
//! # Left recursion
//! An island that begins with a call of itself, `A = A x | y`, is `y x*`: the edge of that call is
//! taken from the begin, and what was behind it goes on from every end. The begin is split off first,
//! should anything lead back to it.

use crate::{
    alphabet::{Alphabet, call, call_set},
    cut::{Cuts, UNROLLED},
    parts::{Part, Source, automaton, refusal},
};
use formwork_automata::{ByteSet, Dfa, Fuel, Mark, NfaBuilder, NfaStateId, StateId, determinize};
use formwork_core::CompileError;
use formwork_grammar::{BodyBuilder, ExprId, Node, Repeat, regular::RegularError};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Positions of a symbol at most: a class of characters has a few dozen.
const MAX_SYMBOL: usize = 512;
/// States of a finite automaton that is inlined.
const MAX_INLINED: usize = 64;
/// A part that is repeated is called when its turns together are larger than this.
const MAX_UNROLLED: usize = 64;

/// An automaton, and for loops how often its words follow each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Island {
    pub(crate) dfa: Arc<Dfa>,
    pub(crate) turns: Option<Turns>,
}

/// Bounds of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Turns {
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

/// All islands of a grammar; the first is the root's. A call is the number of an island.
#[derive(Debug)]
pub(crate) struct Islands<'a> {
    source: &'a Source,
    cuts: &'a Cuts,
    alphabet: &'a Alphabet,
    islands: Vec<Option<Island>>,
    parts: FxHashMap<Part, u32>,
    loops: FxHashMap<Island, u32>,
    /// By the address of an automaton that the grammar holds.
    automata: FxHashMap<usize, u32>,
    /// What is repeated, as the automaton of a symbol if it is one.
    symbols: FxHashMap<Part, Option<Arc<Dfa>>>,
    sizes: FxHashMap<usize, Vec<usize>>,
    pending: Vec<Part>,
}

impl<'a> Islands<'a> {
    /// The islands that the root needs.
    pub(crate) fn build(
        source: &'a Source,
        cuts: &'a Cuts,
        alphabet: &'a Alphabet,
        fuel: &mut Fuel,
    ) -> Result<Vec<Island>, CompileError> {
        let mut islands = Self {
            source,
            cuts,
            alphabet,
            islands: Vec::new(),
            parts: FxHashMap::default(),
            loops: FxHashMap::default(),
            automata: FxHashMap::default(),
            symbols: FxHashMap::default(),
            sizes: FxHashMap::default(),
            pending: Vec::new(),
        };
        let root = source.rules.ids().next().expect("there is a root");
        islands.part(source.whole(root));
        while let Some(part) = islands.pending.pop() {
            let number = islands.parts[&part];
            let dfa = islands.automaton(part, number, fuel)?;
            islands.islands[number as usize] = Some(Island { dfa: Arc::new(dfa), turns: None });
        }
        Ok(islands.islands.into_iter().map(|island| island.expect("built above")).collect())
    }

    /// The number of an island for a part, to be built if it is new.
    fn part(&mut self, part: Part) -> u32 {
        let next = u32::try_from(self.islands.len()).expect("nodes are limited");
        let number = *self.parts.entry(part).or_insert(next);
        if number == next {
            self.islands.push(None);
            self.pending.push(part);
        }
        number
    }

    fn repetition(&mut self, island: Island) -> u32 {
        let next = u32::try_from(self.islands.len()).expect("nodes are limited");
        let number = *self.loops.entry(island.clone()).or_insert(next);
        if number == next {
            self.islands.push(Some(island));
        }
        number
    }

    fn automaton(&mut self, part: Part, number: u32, fuel: &mut Fuel) -> Result<Dfa, CompileError> {
        let (source, alphabet) = (self.source, self.alphabet);
        let rules = source.extract(part, |place, builder| self.replace(place, builder, fuel));
        let dfa = automaton(&rules.map_err(refusal)?, alphabet, fuel).map_err(refusal)?;
        let own = dfa.marks().iter().copied().find(|&mark| call(mark) == Some(number));
        match own {
            Some(own) if !dfa.next_mark(dfa.start(), own).is_dead() => {
                Ok(without_left_recursion(&dfa, own, fuel)?)
            }
            _ => Ok(dfa),
        }
    }

    /// The letter that takes the place of a node, if one does.
    fn replace(
        &mut self,
        place: Part,
        builder: &mut BodyBuilder,
        fuel: &mut Fuel,
    ) -> Result<Option<ExprId>, RegularError> {
        let call = match self.source.node(place) {
            Node::Rule(rule) if self.cuts.called[rule.index()] => {
                Some(self.part(self.source.whole(*rule)))
            }
            Node::Repeat(repeat) => self.repeat(place, *repeat, fuel)?,
            Node::Automaton(dfa) if is_text(dfa) => Some(self.automaton_of(dfa)),
            _ => None,
        };
        if let Some(call) = call {
            return Ok(Some(builder.tokens(call_set(call))));
        }
        // A repetition whose turns are called.
        if let Node::Repeat(Repeat { expr, min, max }) = *self.source.node(place)
            && is_long(min, max)
            && self.is_worth_a_call(place, expr, max.unwrap_or(min))
        {
            let turn = self.part(Part { expr, ..place });
            let turn = builder.tokens(call_set(turn));
            return Ok(Some(builder.repeat(turn, min, max)));
        }
        Ok(None)
    }

    /// The island of an automaton as the grammar has it.
    fn automaton_of(&mut self, dfa: &Arc<Dfa>) -> u32 {
        let address = Arc::as_ptr(dfa).addr();
        if let Some(&known) = self.automata.get(&address) {
            return known;
        }
        let number = self.repetition(Island { dfa: dfa.clone(), turns: None });
        self.automata.insert(address, number);
        number
    }

    /// The loop that a repetition is, if it is one.
    fn repeat(
        &mut self,
        place: Part,
        Repeat { expr, min, max }: Repeat,
        fuel: &mut Fuel,
    ) -> Result<Option<u32>, RegularError> {
        if !is_long(min, max) {
            return Ok(None);
        }
        let part = Part { expr, ..place };
        let symbol = match self.symbols.get(&part) {
            Some(known) => known.clone(),
            None => {
                let symbol = self.symbol(part, fuel)?;
                self.symbols.insert(part, symbol.clone());
                symbol
            }
        };
        Ok(symbol.map(|dfa| self.repetition(Island { dfa, turns: Some(Turns { min, max }) })))
    }

    fn symbol(&mut self, part: Part, fuel: &mut Fuel) -> Result<Option<Arc<Dfa>>, RegularError> {
        if self.size(part) > MAX_SYMBOL || !self.is_closed(part) {
            return Ok(None);
        }
        let dfa = match self.source.bytes(part, fuel) {
            Ok(dfa) => dfa,
            Err(RegularError::NotRegular { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(is_symbol(&dfa).then(|| Arc::new(dfa)))
    }

    /// Whether a part calls no rule that is called, as far as a few rules show.
    fn is_closed(&self, part: Part) -> bool {
        let body = self.source.rules.body(part.rule);
        let mut is_inside = vec![false; body.nodes().len()];
        is_inside[part.expr.index()] = true;
        for (id, node) in body.iter().rev() {
            if !is_inside[id.index()] {
                continue;
            }
            match node {
                Node::Tokens(_) | Node::Permute(_) => return false,
                Node::Rule(rule) if self.cuts.called[rule.index()] => return false,
                node => node.for_each_child(|child| is_inside[child.index()] = true),
            }
        }
        true
    }

    fn size(&mut self, part: Part) -> usize {
        let (source, cuts) = (self.source, self.cuts);
        let body = || cuts.node_sizes(source.rules.body(part.rule));
        self.sizes.entry(part.rule.index()).or_insert_with(body)[part.expr.index()]
    }

    fn is_worth_a_call(&mut self, place: Part, expr: ExprId, turns: u32) -> bool {
        let size = self.size(Part { expr, ..place });
        size > 1 && size.saturating_mul(turns as usize) > MAX_UNROLLED
    }
}

/// Whether an automaton of the grammar is an island: text and numbers, of which the vocabulary knows
/// the masks. What is finite and small is read as fast where it stands.
pub(crate) fn is_text(dfa: &Dfa) -> bool {
    dfa.marks().is_empty() && (dfa.len() > MAX_INLINED || !dfa.is_finite())
}

/// Whether the words of an automaton can be counted as they are read: none is empty or the begin of
/// another, so that between two turns is the start, and only that.
pub(crate) fn is_symbol(dfa: &Dfa) -> bool {
    !dfa.is_empty()
        && !dfa.is_accepting(dfa.start())
        && dfa.live_states().all(|state| {
            let mut edges = dfa.edges(state);
            match dfa.is_accepting(state) {
                true => edges.next().is_none(),
                false => edges.all(|(_, target)| target != dfa.start()),
            }
        })
}

/// Whether a repetition has more turns than are unrolled.
fn is_long(min: u32, max: Option<u32>) -> bool {
    max.unwrap_or(min) > UNROLLED
}

fn without_left_recursion(dfa: &Dfa, own: Mark, fuel: &mut Fuel) -> Result<Dfa, CompileError> {
    let mut nfa = NfaBuilder::new(fuel);
    let start = nfa.state()?;
    let accept = nfa.state()?;
    let images: Vec<NfaStateId> =
        dfa.live_states().map(|_| nfa.state()).collect::<Result<_, _>>()?;
    let image = |state: StateId| images[state.index() - 1];
    let behind = image(dfa.next_mark(dfa.start(), own));
    let members: Vec<ByteSet> =
        (0..dfa.classes().count()).map(|class| dfa.classes().members(class)).collect();
    let from = dfa.live_states().map(|state| (image(state), state, false));
    for (at, state, is_begin) in from.chain([(start, dfa.start(), true)]) {
        for (class, target) in dfa.byte_edges(state) {
            nfa.byte(at, members[class], image(target))?;
        }
        for (mark, target) in dfa.mark_edges(state) {
            if !(is_begin && mark == own) {
                nfa.mark(at, mark, image(target))?;
            }
        }
        if dfa.is_accepting(state) {
            nfa.empty(at, accept)?;
        }
    }
    nfa.empty(accept, behind)?;
    let nfa = nfa.finish(start, accept);
    Ok(determinize(&nfa, fuel)?.minimized())
}
