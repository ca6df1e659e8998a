//! The pushdown automaton: the states of all islands in one numbering, and what is known of each
//! before anything is read.
//!
//! # Meaning
//! A state reads bytes by its island's automaton. A *call* begins another island and goes on at
//! `back` when that ends; a call that is the last thing of its island has no `back` of its own (Leo,
//! 1991), so that right recursion does not grow the stack. Where a callee can end without a byte, the
//! state is also where `back` is, on the same frame: `same` lists those states, and everything else
//! that is said of a state counts them in.

use crate::{
    alphabet::{Alphabet, call},
    fixed::{FixedIsland, FixedIslands, Window},
    islands::{Island, Turns},
    walker::Thread,
};
use formwork_automata::{ByteSet, Exhausted, Mark, StateId};
use formwork_core::{CompileError, Unsupported, Vocabulary};
use formwork_grammar::Location;
use std::sync::Arc;

/// States on the same frame, over all states: what may be empty often in a row has many.
const MAX_SAME: usize = 2_000_000;

/// A call that is the last thing of its island.
pub(crate) const TAIL: u32 = u32::MAX;

/// The automaton, ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) alphabet: Alphabet,
    pub(crate) islands: Vec<Island>,
    /// The number of an island's dead state, by island; its other states follow.
    bases: Vec<u32>,
    pub(crate) states: Vec<State>,
    /// By island: bytes that may follow its end, wherever it is called.
    pub(crate) follow: Vec<ByteSet>,
    /// By island: where callers go on, ascending.
    pub(crate) returns: Vec<Vec<u32>>,
    /// By island: whether anything calls it.
    pub(crate) is_called: Vec<bool>,
    /// By island: what the vocabulary knows of it, if it calls nothing.
    pub(crate) fixed: Vec<Option<Arc<FixedIsland>>>,
    /// Turns that are as many as any number, for the length of a token.
    far: u32,
}

/// Atoms of tokens that can be read, and the states after them.
pub(crate) type Symbols = Box<[(Mark, u32)]>;

/// What is known of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) island: u32,
    pub(crate) local: Local,
    /// Bytes read by the island's own automaton.
    pub(crate) out: ByteSet,
    /// Bytes read in any way, but for those that follow the island.
    pub(crate) first: ByteSet,
    /// Bytes read by calls, or in `same` states.
    pub(crate) indirect: ByteSet,
    pub(crate) calls: Box<[Call]>,
    pub(crate) same: Box<[u32]>,
    pub(crate) symbols: Symbols,
    /// Whether the island can end here. In a loop: whether it is between two turns.
    pub(crate) ends: bool,
    /// Whether the island can do nothing but end here.
    pub(crate) only_ends: bool,
    /// Whether a token can be read as a symbol, in whatever way but by what follows.
    pub(crate) reads_tokens: bool,
    /// Callers have greater numbers than what they begin with.
    pub(crate) order: u32,
}

/// A state, dead by default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local(pub(crate) StateId);

impl Default for Local {
    fn default() -> Self {
        Self(StateId::DEAD)
    }
}

/// A call that a state can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    /// The first state of the callee.
    pub(crate) start: u32,
    /// Where it goes on, or [`TAIL`].
    pub(crate) back: u32,
}

impl Program {
    /// The program of islands, the first of which is the root's.
    pub(crate) fn new(
        islands: Vec<Island>,
        alphabet: Alphabet,
        vocabulary: Arc<Vocabulary>,
    ) -> Result<Self, CompileError> {
        let known = FixedIslands::of(&vocabulary);
        let fixed = islands.iter().map(|island| {
            let is_fixed = island.dfa.marks().is_empty();
            is_fixed.then(|| known.get(&island.dfa, island.turns.is_some()))
        });
        let fixed = fixed.collect();
        let far = u32::try_from(vocabulary.longest_token() + 1).expect("tokens are short");
        let mut program = Self {
            vocabulary,
            alphabet,
            bases: Vec::with_capacity(islands.len()),
            states: Vec::new(),
            follow: vec![ByteSet::EMPTY; islands.len()],
            returns: vec![Vec::new(); islands.len()],
            is_called: vec![false; islands.len()],
            fixed,
            far,
            islands,
        };
        program.number();
        program.same()?;
        program.find_left_recursion()?;
        program.first();
        program.follow();
        Ok(program)
    }

    /// The first state of an island.
    pub(crate) fn start(&self, island: u32) -> u32 {
        self.global(island, self.islands[island as usize].dfa.start())
    }

    fn global(&self, island: u32, state: StateId) -> u32 {
        self.bases[island as usize] + state.as_u32()
    }

    pub(crate) fn state(&self, state: u32) -> &State {
        &self.states[state as usize]
    }

    pub(crate) fn island(&self, state: u32) -> &Island {
        &self.islands[self.state(state).island as usize]
    }

    /// The state after a byte that the island itself reads.
    #[inline]
    pub(crate) fn next(&self, state: u32, byte: u8) -> Option<u32> {
        let State { island, local, .. } = self.state(state);
        let next = self.islands[*island as usize].dfa.next(local.0, byte);
        (!next.is_dead()).then(|| self.global(*island, next))
    }

    /// The bounds of the loop that a state is in.
    pub(crate) fn turns(&self, state: u32) -> Option<Turns> {
        self.island(state).turns
    }

    /// Whether an island calls nothing.
    pub(crate) fn is_fixed(&self, island: u32) -> bool {
        self.fixed[island as usize].is_some()
    }

    /// The turns that a thread's loop needs and may take: bounds matter within the length of a
    /// token.
    pub(crate) fn window(&self, thread: Thread) -> Window {
        self.turns(thread.state).map_or(Window::default(), |turns| Window {
            least: turns.min.saturating_sub(thread.count).min(self.far),
            most: turns.max.map_or(self.far, |max| (max - thread.count).min(self.far)),
        })
    }

    /// Whether a thread's island can end where it is.
    #[inline]
    pub(crate) fn can_end(&self, thread: Thread) -> bool {
        self.state(thread.state).ends
            && self.turns(thread.state).is_none_or(|turns| thread.count >= turns.min)
    }

    /// Whether a thread may read a byte by its own automaton.
    #[inline]
    pub(crate) fn can_read(&self, thread: Thread) -> bool {
        let Some(turns) = self.turns(thread.state) else { return true };
        !self.state(thread.state).ends || turns.max.is_none_or(|max| thread.count < max)
    }

    /// A thread of a loop after a byte: a turn that has ended is where the next one begins.
    #[inline]
    pub(crate) fn turned(&self, thread: Thread) -> Thread {
        let state = self.state(thread.state);
        let Island { dfa, turns: Some(turns) } = &self.islands[state.island as usize] else {
            return thread;
        };
        if !dfa.is_accepting(state.local.0) {
            return thread;
        }
        let count = match turns.max {
            Some(_) => thread.count + 1,
            // Without a greatest, all that counts is whether the least is reached.
            None => (thread.count + 1).min(turns.min),
        };
        Thread { state: self.start(state.island), count, ..thread }
    }

    /// Numbers the states, and finds what is said of each by its automaton alone.
    fn number(&mut self) {
        for (island, shape) in (0..).zip(&self.islands) {
            let base = u32::try_from(self.states.len()).expect("states are limited");
            self.bases.push(base);
            self.states.push(State { island, ..State::default() });
            let dfa = &shape.dfa;
            let members: Vec<ByteSet> =
                (0..dfa.classes().count()).map(|class| dfa.classes().members(class)).collect();
            for state in dfa.live_states() {
                let is_loop = shape.turns.is_some();
                let ends = if is_loop { state == dfa.start() } else { dfa.is_accepting(state) };
                self.states.push(State {
                    island,
                    local: Local(state),
                    out: dfa
                        .byte_edges(state)
                        .fold(ByteSet::EMPTY, |out, (class, _)| out.union(&members[class])),
                    ends,
                    only_ends: !is_loop && ends && dfa.edges(state).next().is_none(),
                    ..State::default()
                });
            }
        }
        for state in 0..self.states.len() {
            let State { island, local, .. } = self.states[state];
            let dfa = self.islands[island as usize].dfa.clone();
            let (mut calls, mut symbols) = (Vec::new(), Vec::new());
            for (mark, target) in dfa.mark_edges(local.0) {
                let target = self.global(island, target);
                match call(mark) {
                    Some(callee) => {
                        let is_tail = self.state(target).only_ends;
                        let back = if is_tail { TAIL } else { target };
                        calls.push(Call { start: self.start(callee), back });
                    }
                    None => symbols.push((mark, target)),
                }
            }
            self.states[state].calls = calls.into();
            self.states[state].symbols = symbols.into();
        }
    }

    /// Whether an island can end without a byte, by its first state; loops that need no turn too.
    fn is_nullable(&self, start: u32) -> bool {
        let turns = self.turns(start);
        self.state(start).ends && turns.is_none_or(|turns| turns.min == 0)
    }

    /// Which states can end by calls that can be empty.
    fn ends(&mut self) {
        // As long as there are more of them.
        loop {
            let mut changed = false;
            // Backwards, since states are numbered from the start on: chains then take one round.
            for state in (0..self.states.len()).rev() {
                if self.states[state].ends {
                    continue;
                }
                let through = self.states[state].calls.iter().any(|call| {
                    self.is_nullable(call.start)
                        && (call.back == TAIL || self.state(call.back).ends)
                });
                changed |= through;
                self.states[state].ends |= through;
            }
            if !changed {
                break;
            }
        }
    }

    /// States on the same frame, by calls that can be empty; each state first in its own list.
    fn closed(&self) -> Result<Vec<Vec<u32>>, CompileError> {
        let mut closed: Vec<Vec<u32>> = Vec::with_capacity(self.states.len());
        let mut seen = vec![u32::MAX; self.states.len()];
        let mut total = 0;
        for state in 0..u32::try_from(self.states.len()).expect("states are u32") {
            let mut same = vec![state];
            seen[state as usize] = state;
            let mut at = 0;
            while at < same.len() {
                for call in &self.state(same[at]).calls {
                    let passes = call.back != TAIL && self.is_nullable(call.start);
                    if passes && seen[call.back as usize] != state {
                        seen[call.back as usize] = state;
                        same.push(call.back);
                    }
                }
                at += 1;
            }
            total += same.len();
            if total > MAX_SAME {
                return Err(Unsupported::OverBudget(Exhausted::States { limit: MAX_SAME }).into());
            }
            closed.push(same);
        }
        Ok(closed)
    }

    /// Makes everything that is said of a state count those on the same frame in.
    fn same(&mut self) -> Result<(), CompileError> {
        self.ends();
        let closed = self.closed()?;
        let mut calls: Vec<Option<Box<[Call]>>> = vec![None; closed.len()];
        let mut symbols: Vec<Option<Symbols>> = vec![None; closed.len()];
        for (state, same) in closed.iter().enumerate().filter(|(_, same)| same.len() > 1) {
            let all = same.iter().flat_map(|&same| self.state(same).calls.iter().copied());
            let mut all: Vec<Call> = all.collect();
            all.sort_unstable();
            all.dedup();
            calls[state] = Some(all.into());
            let all = same.iter().flat_map(|&same| self.state(same).symbols.iter().copied());
            let mut all: Vec<(Mark, u32)> = all.collect();
            all.sort_unstable();
            all.dedup();
            symbols[state] = Some(all.into());
        }
        for (state, same) in closed.into_iter().enumerate() {
            let entry = &mut self.states[state];
            entry.same = same[1..].into();
            if let Some(calls) = calls[state].take() {
                entry.calls = calls;
            }
            if let Some(symbols) = symbols[state].take() {
                entry.symbols = symbols;
            }
        }
        Ok(())
    }

    /// Refuses islands that begin with themselves: their stacks would never end.
    fn find_left_recursion(&mut self) -> Result<(), CompileError> {
        #[derive(Clone, Copy, PartialEq)]
        enum Color {
            New,
            Open,
            Done,
        }
        let mut colors = vec![Color::New; self.states.len()];
        let mut order = 0;
        for root in 0..self.states.len() {
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            while let Some((state, next)) = path.last_mut() {
                let at = *state;
                if *next == 0 {
                    if colors[at] == Color::Done {
                        path.pop();
                        continue;
                    }
                    colors[at] = Color::Open;
                }
                match self.states[at].calls.get(*next) {
                    Some(call) => {
                        *next += 1;
                        match colors[call.start as usize] {
                            Color::Open => return Err(left_recursion().into()),
                            Color::New => path.push((call.start as usize, 0)),
                            Color::Done => {}
                        }
                    }
                    None => {
                        colors[at] = Color::Done;
                        self.states[at].order = order;
                        order += 1;
                        path.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// What can be read, calls counted in; callees first.
    fn first(&mut self) {
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_unstable_by_key(|&state| self.states[state].order);
        for at in order {
            let state = &self.states[at];
            let mut indirect = ByteSet::EMPTY;
            let mut reads_tokens = !state.symbols.is_empty();
            for &same in &state.same {
                indirect = indirect.union(&self.state(same).out);
            }
            for call in &state.calls {
                let callee = self.state(call.start);
                indirect = indirect.union(&callee.first);
                reads_tokens |= callee.reads_tokens;
            }
            let first = state.out.union(&indirect);
            let state = &mut self.states[at];
            (state.first, state.indirect) = (first, indirect);
            state.reads_tokens = reads_tokens;
        }
    }

    /// What may follow each island, and where its callers go on.
    fn follow(&mut self) {
        let mut tails: Vec<(usize, usize)> = Vec::new();
        for at in 0..self.states.len() {
            for call in self.states[at].calls.clone() {
                let callee = self.state(call.start).island as usize;
                self.is_called[callee] = true;
                match call.back {
                    TAIL => tails.push((self.states[at].island as usize, callee)),
                    back => {
                        let first = self.state(back).first;
                        self.follow[callee] = self.follow[callee].union(&first);
                        self.returns[callee].push(back);
                        if self.state(back).ends {
                            tails.push((self.states[at].island as usize, callee));
                        }
                    }
                }
            }
        }
        tails.sort_unstable();
        tails.dedup();
        self.returns.iter_mut().for_each(|returns| {
            returns.sort_unstable();
            returns.dedup();
        });
        loop {
            let mut changed = false;
            for &(caller, callee) in &tails {
                let all = self.follow[callee].union(&self.follow[caller]);
                changed |= all != self.follow[callee];
                self.follow[callee] = all;
            }
            if !changed {
                return;
            }
        }
    }

    /// Heap bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        let automata: usize = self.islands.iter().map(|island| island.dfa.memory_bytes()).sum();
        let states: usize = self
            .states
            .iter()
            .map(|state| {
                size_of::<State>()
                    + size_of_val(&*state.calls)
                    + size_of_val(&*state.same)
                    + size_of_val(&*state.symbols)
            })
            .sum();
        automata + states + self.islands.len() * 96 + self.alphabet.memory_bytes()
    }
}

/// What cannot be done.
pub(crate) fn left_recursion() -> Unsupported {
    Unsupported::Construct { construct: "left recursion", location: Location::default() }
}
