//! Look-ahead, removed: the automaton runs together with the conditions that are still open.
//!
//! A look-ahead is poured as a mark. When the whole grammar is one NFA, its product with the set of
//! open conditions (look-ahead, state of its automaton) has no such marks any more: reading a byte
//! moves every open condition; a required one is met when its automaton accepts and fails when it
//! dies, a forbidden one the other way round. At the end of the output no required one may be open.
//!
//! Cost: NFA states times the sets of open conditions that really occur, paid from the fuel.

use super::{MAX_TOKEN_MARK, TOKEN_END, layers::is_token};
use crate::Polarity;
use formwork_automata::{
    ByteSet, Dfa, Edge, Exhausted, Fuel, Mark, Nfa, NfaBuilder, NfaStateId, StateId,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The look-aheads of one grammar.
#[derive(Debug, Default)]
pub(super) struct Looks {
    conditions: Vec<(Dfa, Polarity)>,
}

/// Open conditions: look-ahead and state of its automaton, sorted, each once.
type Open = SmallVec<[(u32, StateId); 2]>;

impl Looks {
    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The mark that stands for a look-ahead; equal ones share it.
    pub(super) fn add(&mut self, language: Dfa, polarity: Polarity) -> Mark {
        let known =
            self.conditions.iter().position(|(dfa, sign)| *sign == polarity && *dfa == language);
        let index = known.unwrap_or_else(|| {
            self.conditions.push((language, polarity));
            self.conditions.len() - 1
        });
        let index = u32::try_from(index).expect("one look-ahead a node");
        Mark(MAX_TOKEN_MARK.0 + index)
    }

    /// The NFA without look-ahead marks.
    pub(super) fn resolve(&self, nfa: &Nfa, fuel: &mut Fuel) -> Result<Nfa, Exhausted> {
        let mut product =
            Product { nfa: NfaBuilder::new(fuel), ids: FxHashMap::default(), pending: Vec::new() };
        let accept = product.nfa.state()?;
        let start = product.id(nfa.start(), Open::new())?;
        while let Some((state, open)) = product.pending.pop() {
            let from = product.ids[&(state, open.clone())];
            if state == nfa.accept() && open.iter().all(|entry| self.may_stay_open(*entry)) {
                product.nfa.empty(from, accept)?;
            }
            for (edge, target) in nfa.edges(state) {
                match edge {
                    Edge::Empty => {
                        let to = product.id(target, open.clone())?;
                        product.nfa.empty(from, to)?;
                    }
                    Edge::Byte(set) => {
                        product.nfa.fuel().steps(set.len() * open.len())?;
                        for (part, after) in self.after_bytes(&open, set) {
                            let to = product.id(target, after)?;
                            product.nfa.byte(from, part, to)?;
                        }
                    }
                    Edge::Mark(mark) if mark == TOKEN_END => {
                        let to = product.id(target, open.clone())?;
                        product.nfa.mark(from, mark, to)?;
                    }
                    // A token symbol is no byte: it fails what is required and meets what is not.
                    Edge::Mark(mark) if is_token(mark) => {
                        if open.iter().all(|entry| self.may_stay_open(*entry)) {
                            let to = product.id(target, Open::new())?;
                            product.nfa.mark(from, mark, to)?;
                        }
                    }
                    Edge::Mark(mark) => {
                        if let Some(after) = self.opened(&open, mark.0 - MAX_TOKEN_MARK.0) {
                            let to = product.id(target, after)?;
                            product.nfa.empty(from, to)?;
                        }
                    }
                }
            }
        }
        Ok(product.nfa.finish(start, accept))
    }

    /// Whether a condition is met by nothing more following.
    fn may_stay_open(&self, (index, _): (u32, StateId)) -> bool {
        self.conditions[index as usize].1 == Polarity::Forbidden
    }

    /// The open conditions once this look-ahead has been passed, or `None` when it cannot hold.
    fn opened(&self, open: &Open, index: u32) -> Option<Open> {
        let start = self.conditions[index as usize].0.start();
        let mut open = open.clone();
        if let Some(state) = self.settle(index, start)? {
            open.push((index, state));
            open.sort_unstable();
            open.dedup();
        }
        Some(open)
    }

    /// A condition in some state of its automaton: still open, met (`Some(None)`), or failed.
    fn settle(&self, index: u32, state: StateId) -> Option<Option<StateId>> {
        let (dfa, polarity) = &self.conditions[index as usize];
        match (dfa.is_accepting(state), state.is_dead(), polarity) {
            (true, _, Polarity::Required) | (_, true, Polarity::Forbidden) => Some(None),
            (true, _, Polarity::Forbidden) | (_, true, Polarity::Required) => None,
            _ => Some(Some(state)),
        }
    }

    /// The bytes of `set`, grouped by what they make of the open conditions; failing ones left out.
    fn after_bytes(&self, open: &Open, set: ByteSet) -> Vec<(ByteSet, Open)> {
        if open.is_empty() {
            return vec![(set, Open::new())];
        }
        let mut parts: FxHashMap<Open, ByteSet> = FxHashMap::default();
        for byte in set.iter() {
            let mut after = Open::new();
            let holds = open.iter().all(|&(index, state)| {
                let next = self.conditions[index as usize].0.next(state, byte);
                match self.settle(index, next) {
                    Some(Some(state)) => {
                        after.push((index, state));
                        true
                    }
                    Some(None) => true,
                    None => false,
                }
            });
            if holds {
                after.sort_unstable();
                after.dedup();
                parts.entry(after).or_default().insert(byte);
            }
        }
        let mut parts: Vec<_> = parts.into_iter().map(|(open, set)| (set, open)).collect();
        parts.sort_unstable();
        parts
    }
}

struct Product<'f> {
    nfa: NfaBuilder<'f>,
    ids: FxHashMap<(NfaStateId, Open), NfaStateId>,
    pending: Vec<(NfaStateId, Open)>,
}

impl Product<'_> {
    fn id(&mut self, state: NfaStateId, open: Open) -> Result<NfaStateId, Exhausted> {
        let key = (state, open);
        if let Some(&id) = self.ids.get(&key) {
            return Ok(id);
        }
        let id = self.nfa.state()?;
        self.ids.insert(key.clone(), id);
        self.pending.push(key);
        Ok(id)
    }
}
