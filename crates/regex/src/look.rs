//! Look-ahead, resolved in the automaton.
//!
//! # Idea
//! A look-ahead matches nothing and asks something of all that follows, to the end of the output: to
//! be in a regular language. In the automaton of the pattern it is a mark. Reading on from a mark,
//! the automaton of what it asks for reads along; at the end, all that read along must accept. So a
//! state of the result is a state of the pattern with a set of states of conditions: alternation in
//! the sense of Chandra, Kozen and Stockmeyer (JACM 28(1), 1981), with the pattern itself left
//! nondeterministic for the subset construction that follows. A condition that can no longer fail
//! is dropped, and the whole state with one that can no longer be met.
//!
//! # Cost
//! Doubly exponential at worst, as the language then needs; for the look-aheads that people write,
//! which are settled within some characters, about the product of their automata. Paid in fuel.

use formwork_automata::{
    ByteClasses, ByteSet, Dfa, Exhausted, Fuel, Mark, NfaBuilder, NfaStateId, StateId, determinize,
};
use formwork_grammar::{ExprId, Polarity};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What the look-aheads of a pattern ask for, by number.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    /// Of all that follows; canonical, without marks. By number.
    languages: Vec<Dfa>,
    numbers: FxHashMap<ExprId, u32>,
}

impl Conditions {
    pub(crate) fn is_empty(&self) -> bool {
        self.languages.is_empty()
    }

    /// Adds that of a look-ahead: what follows is in a language, or it is not.
    pub(crate) fn add(&mut self, look_ahead: ExprId, language: Dfa, polarity: Polarity) {
        let language = match polarity {
            Polarity::Required => language,
            Polarity::Forbidden => language.complement().expect("resolved").canonical(),
        };
        let number = u32::try_from(self.languages.len()).expect("fewer than nodes");
        self.languages.push(language);
        self.numbers.insert(look_ahead, number);
    }

    /// What stands for a look-ahead in an automaton that is not resolved yet.
    pub(crate) fn mark(&self, look_ahead: ExprId) -> Mark {
        Mark(self.numbers[&look_ahead])
    }

    /// The canonical automaton of the words of `marked` whose marks are met.
    pub(crate) fn resolve(&self, marked: Dfa, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
        if marked.marks().is_empty() {
            return Ok(marked);
        }
        let meet = |classes: ByteClasses, dfa: &Dfa| classes.meet(dfa.classes());
        let classes = self.languages.iter().fold(marked.classes().clone(), meet);
        let representatives = classes.representatives();
        let mut nfa = NfaBuilder::new(fuel);
        let accept = nfa.state()?;
        let mut points = Points { ids: FxHashMap::default(), list: Vec::new() };
        let start = points.id(Point { state: marked.start(), asked: Vec::new() }, &mut nfa)?;
        let mut done = 0;
        while let Some((point, id)) = points.list.get(done).cloned() {
            done += 1;
            let Point { state, asked } = point;
            nfa.fuel().steps((1 + asked.len()) * (1 + representatives.len()))?;
            let accepts = |&(condition, at): &Asked| self.dfa(condition).is_accepting(at);
            if marked.is_accepting(state) && asked.iter().all(accepts) {
                nfa.empty(id, accept)?;
            }
            for (Mark(condition), state) in marked.mark_edges(state) {
                let first = (condition, self.dfa(condition).start());
                if let Some(asked) = self.open(asked.iter().copied().chain([first])) {
                    let to = points.id(Point { state, asked }, &mut nfa)?;
                    nfa.empty(id, to)?;
                }
            }
            let mut targets: BTreeMap<NfaStateId, ByteSet> = BTreeMap::new();
            for (class, &byte) in representatives.iter().enumerate() {
                let state = marked.next(state, byte);
                let next =
                    |&(condition, at): &Asked| (condition, self.dfa(condition).next(at, byte));
                if !state.is_dead()
                    && let Some(asked) = self.open(asked.iter().map(next))
                {
                    let to = points.id(Point { state, asked }, &mut nfa)?;
                    let set = targets.entry(to).or_insert(ByteSet::EMPTY);
                    *set = set.union(&classes.members(class));
                }
            }
            for (to, set) in targets {
                nfa.byte(id, set, to)?;
            }
        }
        let nfa = nfa.finish(start, accept);
        Ok(determinize(&nfa, fuel)?.canonical())
    }

    fn dfa(&self, condition: u32) -> &Dfa {
        &self.languages[condition as usize]
    }

    /// What is still open of what is asked; none when something can no longer be met.
    fn open(&self, asked: impl Iterator<Item = Asked>) -> Option<Vec<Asked>> {
        let mut open = Vec::new();
        for (condition, at) in asked {
            if at.is_dead() {
                return None;
            }
            let dfa = self.dfa(condition);
            // Minimal: what accepts everything is one state.
            let settled = dfa.is_accepting(at)
                && (0..dfa.classes().count()).all(|class| dfa.next_class(at, class) == at);
            if !settled {
                open.push((condition, at));
            }
        }
        open.sort_unstable();
        open.dedup();
        Some(open)
    }
}

/// A condition, and how far its automaton has read.
type Asked = (u32, StateId);

/// A state of the pattern, and what was asked on the way there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Point {
    state: StateId,
    /// Ascending.
    asked: Vec<Asked>,
}

struct Points {
    ids: FxHashMap<Point, NfaStateId>,
    list: Vec<(Point, NfaStateId)>,
}

impl Points {
    fn id(&mut self, point: Point, nfa: &mut NfaBuilder<'_>) -> Result<NfaStateId, Exhausted> {
        if let Some(&id) = self.ids.get(&point) {
            return Ok(id);
        }
        let id = nfa.state()?;
        self.ids.insert(point.clone(), id);
        self.list.push((point, id));
        Ok(id)
    }
}
