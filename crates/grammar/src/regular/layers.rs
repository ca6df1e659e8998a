//! Token limits as layers: the automaton once per number of tokens counted.
//!
//! A state of the result is (state of the inner automaton, tokens counted, whether the token at
//! hand has been counted). The first symbol after a token end counts its token; a token end only
//! forgets that one has been counted. So tokens that straddle either end are counted once, and a
//! token end that stands at the very end counts nothing.
//!
//! Cost: at most `2 (max + 1)` copies of the inner automaton, paid from the fuel.

use super::{MAX_TOKEN_MARK, TOKEN_END, compile::counts_tokens};
use formwork_automata::{Dfa, Exhausted, Fuel, Mark, Nfa, NfaBuilder, NfaStateId, StateId};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Layered {
    state: StateId,
    counted: u32,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// No symbol of the token at hand has been read.
    Fresh,
    /// The token at hand has been counted.
    Counted,
}

struct Layers<'f> {
    nfa: NfaBuilder<'f>,
    ids: FxHashMap<Layered, NfaStateId>,
    pending: Vec<Layered>,
}

impl Layers<'_> {
    fn id(&mut self, at: Layered) -> Result<NfaStateId, Exhausted> {
        if let Some(&id) = self.ids.get(&at) {
            return Ok(id);
        }
        let id = self.nfa.state()?;
        self.ids.insert(at, id);
        self.pending.push(at);
        Ok(id)
    }
}

/// The words of `inner` to which at most `max` tokens contribute. `inner` may have the token end
/// among its letters; the result has.
pub(super) fn limit_tokens(inner: &Dfa, max: u32, fuel: &mut Fuel) -> Result<Nfa, Exhausted> {
    let mut layers =
        Layers { nfa: NfaBuilder::new(fuel), ids: FxHashMap::default(), pending: Vec::new() };
    let accept = layers.nfa.state()?;
    let first = Layered { state: inner.start(), counted: 0, phase: Phase::Fresh };
    let start = layers.id(first)?;
    let members: Vec<_> =
        (0..inner.classes().count()).map(|class| inner.classes().members(class)).collect();
    while let Some(at) = layers.pending.pop() {
        let from = layers.ids[&at];
        if inner.is_accepting(at.state) {
            layers.nfa.empty(from, accept)?;
        }
        let ended = match counts_tokens(inner) {
            true => inner.next_mark(at.state, TOKEN_END),
            false => at.state,
        };
        if !ended.is_dead() {
            let to = layers.id(Layered { state: ended, phase: Phase::Fresh, ..at })?;
            layers.nfa.mark(from, TOKEN_END, to)?;
        }
        let after_symbol = match at.phase {
            Phase::Counted => Some(at),
            Phase::Fresh => (at.counted < max).then(|| Layered {
                counted: at.counted + 1,
                phase: Phase::Counted,
                ..at
            }),
        };
        if let Some(after) = after_symbol {
            for (class, &set) in members.iter().enumerate() {
                let state = inner.next_class(at.state, class);
                if !state.is_dead() {
                    let to = layers.id(Layered { state, ..after })?;
                    layers.nfa.byte(from, set, to)?;
                }
            }
        }
        for (index, &mark) in inner.marks().iter().enumerate() {
            let state = inner.next_mark_index(at.state, index);
            // A look-ahead reads nothing, so it leaves the count alone.
            let after = if is_token(mark) { after_symbol } else { Some(at) };
            if let Some(after) = after
                && mark != TOKEN_END
                && !state.is_dead()
            {
                let to = layers.id(Layered { state, ..after })?;
                layers.nfa.mark(from, mark, to)?;
            }
        }
    }
    Ok(layers.nfa.finish(start, accept))
}

/// Whether a mark stands for tokens, rather than for something of this module.
pub(super) fn is_token(mark: Mark) -> bool {
    mark < MAX_TOKEN_MARK
}
