//! Open look-aheads: what the rest of an output must, or must not, begin with.
//!
//! # Data
//! A look-ahead is the automaton of "a word of its language, then anything". It is *open* in some
//! state of that automaton, until it is met (and forgotten) or fails. A *condition* is a set of open
//! look-aheads, interned. Of two of one automaton, one of which implies the other, only the stronger
//! is kept, so that look-aheads opened again and again stay few.
//!
//! # Meaning
//! A required one is met by the first word of its language and fails where none can follow any more;
//! a forbidden one is the other way round. A token as a symbol, and the end of the output, are no
//! byte: they fail what is required and meet what is forbidden.

use formwork_automata::{ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, StateId, determinize};
use formwork_grammar::Polarity;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Automata of so many states at most are looked at for what implies what.
const MAX_COMPARED: usize = 64;

/// A condition, interned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Condition(u32);

impl Condition {
    /// Nothing is open.
    pub(crate) const NONE: Self = Self(0);
}

/// A look-ahead that is open, by number, and the state of its automaton.
type Open = (u32, StateId);

/// What bytes make of a condition: those that it forbids are in no part.
pub(crate) type Parts = Rc<[(ByteSet, Condition)]>;

#[derive(Debug)]
struct Look {
    /// A word of the language, then anything.
    dfa: Dfa,
    polarity: Polarity,
    /// By pair of states, row by row: whether what one accepts, the other does. Empty if unknown.
    included: Box<[bool]>,
}

/// All conditions of one grammar.
#[derive(Debug)]
pub(crate) struct Conditions {
    looks: Vec<Look>,
    numbers_of_looks: FxHashMap<(Dfa, Polarity), u32>,
    sets: Vec<Rc<[Open]>>,
    numbers: FxHashMap<Rc<[Open]>, Condition>,
    parts: FxHashMap<Condition, Parts>,
}

impl Conditions {
    pub(crate) fn new() -> Self {
        let mut conditions = Self {
            looks: Vec::new(),
            numbers_of_looks: FxHashMap::default(),
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            parts: FxHashMap::default(),
        };
        conditions.number(Vec::new());
        conditions
    }

    /// The number of a look-ahead; equal ones are one.
    pub(crate) fn look(
        &mut self,
        language: &Dfa,
        polarity: Polarity,
        fuel: &mut Fuel,
    ) -> Result<u32, Exhausted> {
        let dfa = then_anything(language, fuel)?;
        if let Some(&known) = self.numbers_of_looks.get(&(dfa.clone(), polarity)) {
            return Ok(known);
        }
        let included = match dfa.len() <= MAX_COMPARED {
            true => included(&dfa, fuel)?,
            false => Box::default(),
        };
        let number = u32::try_from(self.looks.len()).expect("fewer look-aheads than nodes");
        self.numbers_of_looks.insert((dfa.clone(), polarity), number);
        self.looks.push(Look { dfa, polarity, included });
        Ok(number)
    }

    /// A condition with one more look-ahead; none if it fails at once.
    pub(crate) fn opened(&mut self, condition: Condition, look: u32) -> Option<Condition> {
        let start = self.looks[look as usize].dfa.start();
        let mut open = self.open(condition).to_vec();
        open.extend(self.settle(look, start)?.map(|state| (look, state)));
        Some(self.number(open))
    }

    /// Whether nothing more need follow: a token as a symbol may, or the end.
    pub(crate) fn may_end(&self, condition: Condition) -> bool {
        let forbids = |open: &Open| self.looks[open.0 as usize].polarity == Polarity::Forbidden;
        self.open(condition).iter().all(forbids)
    }

    /// What bytes make of a condition.
    pub(crate) fn parts(
        &mut self,
        condition: Condition,
        fuel: &mut Fuel,
    ) -> Result<Parts, Exhausted> {
        if let Some(known) = self.parts.get(&condition) {
            return Ok(known.clone());
        }
        let mut parts: Vec<(ByteSet, Condition)> = Vec::new();
        let open = self.open(condition).clone();
        fuel.steps(256 * open.len().max(1))?;
        for byte in 0..=u8::MAX {
            let after: Option<Vec<Option<Open>>> = open
                .iter()
                .map(|&(look, state)| {
                    let next = self.looks[look as usize].dfa.next(state, byte);
                    Some(self.settle(look, next)?.map(|state| (look, state)))
                })
                .collect();
            let Some(after) = after else { continue };
            let after = self.number(after.into_iter().flatten().collect());
            match parts.iter_mut().find(|part| part.1 == after) {
                Some(part) => {
                    part.0.insert(byte);
                }
                None => parts.push((ByteSet::single(byte), after)),
            }
        }
        let parts: Parts = parts.into();
        self.parts.insert(condition, parts.clone());
        Ok(parts)
    }

    /// The condition after some bytes; none if one of them is forbidden.
    pub(crate) fn after(
        &mut self,
        condition: Condition,
        bytes: &[u8],
        fuel: &mut Fuel,
    ) -> Result<Option<Condition>, Exhausted> {
        let mut at = condition;
        for &byte in bytes {
            if at == Condition::NONE {
                break;
            }
            let parts = self.parts(at, fuel)?;
            match parts.iter().find(|part| part.0.contains(byte)) {
                Some(part) => at = part.1,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    fn open(&self, condition: Condition) -> &Rc<[Open]> {
        &self.sets[condition.0 as usize]
    }

    /// A look-ahead in a state of its automaton: failed, met (`Some(None)`), or open.
    fn settle(&self, look: u32, state: StateId) -> Option<Option<StateId>> {
        let Look { dfa, polarity, .. } = &self.looks[look as usize];
        match (dfa.is_accepting(state), state.is_dead(), polarity) {
            (true, _, Polarity::Required) | (_, true, Polarity::Forbidden) => Some(None),
            (true, _, Polarity::Forbidden) | (_, true, Polarity::Required) => None,
            _ => Some(Some(state)),
        }
    }

    fn number(&mut self, mut open: Vec<Open>) -> Condition {
        open.sort_unstable();
        open.dedup();
        let all = open.clone();
        // Of different states of a minimal automaton, no two accept the same.
        open.retain(|&one| !all.iter().any(|&other| one != other && self.implies(other, one)));
        let open: Rc<[Open]> = open.into();
        if let Some(&known) = self.numbers.get(&open) {
            return known;
        }
        let number = u32::try_from(self.sets.len()).expect("bounded by steps");
        self.sets.push(open.clone());
        self.numbers.insert(open, Condition(number));
        Condition(number)
    }

    fn implies(&self, (look, one): Open, (other_look, other): Open) -> bool {
        let Look { dfa, polarity, included } = &self.looks[look as usize];
        if look != other_look || included.is_empty() {
            return false;
        }
        let is_in = |a: StateId, b: StateId| included[a.index() * dfa.len() + b.index()];
        match polarity {
            Polarity::Required => is_in(one, other),
            Polarity::Forbidden => is_in(other, one),
        }
    }
}

/// The minimal automaton of a word of a language, then anything.
fn then_anything(language: &Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let mut nfa = NfaBuilder::new(fuel);
    let (start, end) = (nfa.state()?, nfa.state()?);
    nfa.automaton(start, language, end)?;
    nfa.byte(end, ByteSet::FULL, end)?;
    let nfa = nfa.finish(start, end);
    Ok(determinize(&nfa, fuel)?.canonical())
}

/// By pair of states: whether what one accepts, the other does. A greatest fixpoint.
fn included(dfa: &Dfa, fuel: &mut Fuel) -> Result<Box<[bool]>, Exhausted> {
    let states: Vec<StateId> = std::iter::once(StateId::DEAD).chain(dfa.live_states()).collect();
    let len = states.len();
    let bytes = dfa.classes().representatives();
    let mut included = vec![true; len * len];
    for (a, &one) in states.iter().enumerate() {
        for (b, &other) in states.iter().enumerate() {
            included[a * len + b] = !dfa.is_accepting(one) || dfa.is_accepting(other);
        }
    }
    loop {
        fuel.steps(len * len * bytes.len())?;
        let mut changed = false;
        for (a, &one) in states.iter().enumerate() {
            for (b, &other) in states.iter().enumerate() {
                let holds = |&byte: &u8| {
                    let (one, other) = (dfa.next(one, byte), dfa.next(other, byte));
                    included[one.index() * len + other.index()]
                };
                if included[a * len + b] && !bytes.iter().all(holds) {
                    included[a * len + b] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(included.into());
        }
    }
}
