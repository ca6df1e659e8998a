//! Whether some value satisfies a set, and whether what was begun can be completed.
//!
//! # Idea
//! A goal (a set, a state of an object or array) is reached in one of several ways, and each way
//! needs other goals: what is required must have a value, and from the state behind it there must
//! be a way to the end. That is a system of alternatives of conjunctions, solved as a least fixpoint: a
//! schema that needs itself inside itself for ever has no value.
//!
//! # Cost
//! Goals are taken up depth first, the most promising way first, and left alone as soon as nobody
//! needs them: of 160 conditions that leave 2^160 states, one path is looked at. What is found is
//! remembered. Deciding whether some choice among many works is hard in general; the fuel is the limit.

use super::{
    Analysis, Lowered,
    array::ArrayShape,
    facts::FactsId,
    formula::{Connective, Id},
    meaning::{Kind, Meaning},
    scalars::{TextId, Writing},
    sets::SetId,
    states::{ArrayState, ObjectState, Others, Step},
};
use crate::{SchemaErrorKind, document::ValueId, model::Count};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Something that may or may not be possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Goal {
    /// A value of the set.
    Set(SetId),
    /// A value of the set, of a type.
    Kind(SetId, Kind),
    /// The rest of an object.
    Object(ObjectState),
    /// The rest of an object in which the next name is there.
    Member(ObjectState),
    /// The rest of an array.
    Array(ArrayState),
}

/// Fuel for a goal that is taken up, for the memory that it takes.
const GOAL_STEPS: usize = 100;

/// What a way needs: all of these.
type Needs = Vec<Goal>;

/// The part of the system that a question needs.
#[derive(Default)]
struct System {
    goals: Vec<Goal>,
    index: FxHashMap<Goal, usize>,
    /// By goal: the ways that need it.
    users: Vec<Vec<usize>>,
    /// By way: the goal it leads to, and how many of its needs are not proved yet.
    ways: Vec<(usize, usize)>,
    proved: Vec<bool>,
    /// Goals to take up, the next one last.
    pending: Vec<usize>,
}

impl System {
    fn goal(&mut self, goal: Goal) -> usize {
        let next = self.goals.len();
        let at = *self.index.entry(goal).or_insert(next);
        if at == next {
            self.goals.push(goal);
            self.users.push(Vec::new());
            self.proved.push(false);
            self.pending.push(next);
        }
        at
    }

    fn prove(&mut self, at: usize) {
        let mut pending = vec![at];
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut self.proved[at], true) {
                continue;
            }
            for &way in &self.users[at] {
                let (owner, missing) = &mut self.ways[way];
                *missing -= 1;
                if *missing == 0 {
                    pending.push(*owner);
                }
            }
        }
    }

    /// Whether some goal that is not proved could use this one.
    fn is_needed(&self, at: usize) -> bool {
        at == 0 || self.users[at].iter().any(|&way| !self.proved[self.ways[way].0])
    }

    fn way(&mut self, owner: usize, needs: Vec<usize>) {
        let way = self.ways.len();
        self.ways.push((owner, needs.len()));
        needs.into_iter().for_each(|need| self.users[need].push(way));
    }
}

/// One way to have a value of a set, of one container type.
#[derive(Clone, Debug)]
pub(super) enum Alternative {
    /// One of these, all of which satisfy the set.
    Listed(Arc<[ValueId]>),
    /// Whatever satisfies the formula.
    Facts(FactsId),
}

/// What the shortest arrays of a shape need, however long they are.
fn shape_needs(shape: &ArrayShape) -> Option<Needs> {
    let Count { min, max } = shape.count;
    if max.is_some_and(|max| max < min) {
        return None;
    }
    let first = shape.prefix.iter().take(min as usize);
    let rest = (min as usize > shape.prefix.len()).then_some(&shape.rest);
    Some(first.chain(rest).map(|&set| Goal::Set(set)).collect())
}

impl Analysis {
    /// Whether some value satisfies the set. Remembered.
    pub(super) fn is_satisfiable(&mut self, set: SetId) -> Lowered<bool> {
        self.is_possible(Goal::Set(set))
    }

    /// Whether some value of a type does.
    pub(super) fn is_satisfiable_as(&mut self, set: SetId, kind: Kind) -> Lowered<bool> {
        self.is_possible(Goal::Kind(set, kind))
    }

    /// Whether a goal can be reached. Remembered.
    pub(super) fn is_possible(&mut self, goal: Goal) -> Lowered<bool> {
        if let Some(known) = self.known(goal) {
            return Ok(known);
        }
        if self.is_evident(goal) {
            self.known.possible.insert(goal, true);
            return Ok(true);
        }
        let mut system = System::default();
        let question = system.goal(goal);
        while let Some(at) = system.pending.pop() {
            if system.proved[question] {
                break;
            }
            if !system.proved[at] && system.is_needed(at) {
                self.fuel.steps(GOAL_STEPS)?;
                self.take_up(&mut system, at)?;
            }
        }
        let complete = !system.proved[question];
        for (&goal, &proved) in system.goals.iter().zip(&system.proved) {
            // What is not proved is refuted only when everything that it needs was taken up.
            if proved || complete {
                self.known.possible.insert(goal, proved);
            }
        }
        Ok(system.proved[question])
    }

    fn known(&self, goal: Goal) -> Option<bool> {
        match goal {
            Goal::Set(SetId::TRUE) => Some(true),
            Goal::Set(SetId::FALSE) | Goal::Kind(SetId::FALSE, _) => Some(false),
            Goal::Object(state) if state.facts == Id::FALSE => Some(false),
            Goal::Array(state) if state.facts == Id::FALSE => Some(false),
            Goal::Object(state) if state.facts == Id::TRUE => Some(true),
            Goal::Array(state) if state.facts == Id::TRUE => Some(true),
            _ => self.known.possible.get(&goal).copied(),
        }
    }

    /// Adds the ways to a goal to the system.
    fn take_up(&mut self, system: &mut System, at: usize) -> Lowered<()> {
        if self.is_evident(system.goals[at]) {
            system.prove(at);
            return Ok(());
        }
        let mut ways = self.ways_to(system.goals[at])?;
        ways.retain(|needs| !needs.iter().any(|&need| self.known(need) == Some(false)));
        for needs in &mut ways {
            self.fuel.steps(1 + needs.len())?;
            needs.retain(|&need| self.known(need).is_none());
        }
        if ways.iter().any(Vec::is_empty) {
            system.prove(at);
            return Ok(());
        }
        // The first one is to be taken up first.
        for needs in ways.into_iter().rev() {
            let mut needs: Vec<usize> =
                needs.into_iter().rev().map(|need| system.goal(need)).collect();
            needs.sort_unstable();
            needs.dedup();
            needs.retain(|&need| !system.proved[need]);
            if needs.is_empty() {
                system.prove(at);
                return Ok(());
            }
            system.way(at, needs);
        }
        Ok(())
    }

    fn ways_to(&mut self, goal: Goal) -> Lowered<Vec<Needs>> {
        match goal {
            Goal::Set(set) => {
                for kind in [Kind::Null, Kind::Boolean, Kind::Number, Kind::String] {
                    if self.has_scalar(set, kind)? {
                        return Ok(vec![Vec::new()]);
                    }
                }
                let mut ways = Vec::new();
                for kind in [Kind::Array, Kind::Object] {
                    ways.extend(self.container_ways(set, kind)?);
                }
                Ok(ways)
            }
            Goal::Kind(set, kind @ (Kind::Array | Kind::Object)) => self.container_ways(set, kind),
            Goal::Kind(set, kind) => {
                Ok(self.has_scalar(set, kind)?.then(Vec::new).into_iter().collect())
            }
            Goal::Object(state) => self.object_ways(state),
            Goal::Member(state) => Ok(match self.step(state)? {
                Step::Slot { value, .. } => {
                    let next = ObjectState { at: state.at + 1, ..state };
                    vec![vec![Goal::Set(value), Goal::Object(next)]]
                }
                Step::Fork { ways, .. } => {
                    let way = |&(value, next)| vec![Goal::Set(value), Goal::Object(next)];
                    ways.iter().map(way).collect()
                }
                Step::Others => Vec::new(),
            }),
            Goal::Array(state) => {
                if self.holds_at_end(state.facts, state.place) {
                    return Ok(vec![Vec::new()]);
                }
                let ways = self.item_ways(state)?;
                let ways = ways.iter().filter(|(_, next)| *next != state);
                Ok(ways.map(|&(value, next)| vec![Goal::Set(value), Goal::Array(next)]).collect())
            }
        }
    }

    /// Whether there is no scalar in a set, and formulas about arrays and objects are false.
    pub(super) fn is_empty_at_sight(&mut self, set: SetId) -> Lowered<bool> {
        for kind in [Kind::Null, Kind::Boolean, Kind::Array, Kind::Object] {
            if !self.meaning(set, kind)?.is_never() {
                return Ok(false);
            }
        }
        Ok(!self.has_scalar(set, Kind::Number)? && !self.has_scalar(set, Kind::String)?)
    }

    fn has_scalar(&mut self, set: SetId, kind: Kind) -> Lowered<bool> {
        Ok(match self.meaning(set, kind)? {
            Meaning::Constants(bits) => bits != 0,
            Meaning::Text(id) => self.scalars.has_text(id, &mut self.fuel)?,
            Meaning::Number(id) => {
                let writing = self.writing;
                self.scalars.has_number(id, writing, &mut self.fuel)?
            }
            Meaning::Facts(_) => false,
        })
    }

    /// The ways to have an array or object of a set.
    fn container_ways(&mut self, set: SetId, kind: Kind) -> Lowered<Vec<Needs>> {
        let mut ways = Vec::new();
        for alternative in self.alternatives(set, kind)?.iter() {
            match *alternative {
                Alternative::Listed(ref values) => {
                    ways.extend((!values.is_empty()).then(Vec::new));
                }
                Alternative::Facts(facts) => {
                    for facts in self.facts.parts(Connective::Or, facts) {
                        ways.extend(self.container_goal(facts, kind)?);
                    }
                }
            }
        }
        Ok(ways)
    }

    fn container_goal(&mut self, facts: FactsId, kind: Kind) -> Lowered<Option<Needs>> {
        if kind == Kind::Object {
            let (order, _) = self.order(facts)?;
            let state = self.object_start(facts, order)?;
            return Ok(Some(vec![Goal::Object(state)]));
        }
        let facts = self.without_idle_unique(facts)?;
        if let Some(unique) = self.unique(facts)? {
            return Ok(self.has_unique(&unique).then(Vec::new));
        }
        if let Some(shape) = self.array_shape(facts)? {
            return Ok(shape_needs(&shape));
        }
        let state = self.array_start(facts);
        Ok(Some(vec![Goal::Array(state)]))
    }

    /// The ways to complete an object: slots up to the first fork cost what is required of them. How
    /// a fork goes on where its name is there is a goal of its own: it is seldom needed.
    fn object_ways(&mut self, mut state: ObjectState) -> Lowered<Vec<Needs>> {
        let mut needs = Vec::new();
        loop {
            self.fuel.steps(1)?;
            match self.slot(state)? {
                Some(Step::Slot { value, required, .. }) => {
                    if required {
                        needs.push(Goal::Set(value));
                    }
                    state.at += 1;
                }
                Some(_) => {
                    let mut all = Vec::new();
                    for others in self.others(state.facts)? {
                        for more in self.ways_of_others(&others, state)? {
                            all.push([&needs[..], &more].concat());
                        }
                    }
                    return Ok(all);
                }
                None => {
                    let without = self.without_next(state)?.map(Goal::Object);
                    let goals = without.into_iter().chain([Goal::Member(state)]);
                    return Ok(goals.map(|goal| [&needs[..], &[goal]].concat()).collect());
                }
            }
        }
    }

    /// The ways to complete an object all names of which were read.
    fn ways_of_others(&mut self, others: &Others, state: ObjectState) -> Lowered<Vec<Needs>> {
        if self.holds_at_end(others.facts, 0) {
            return Ok(vec![Vec::new()]);
        }
        let ways = self.other_ways(others.facts, state.order)?;
        if !others.wanted {
            let mut enough = Vec::new();
            for &(texts, value, _) in ways.iter() {
                if others.min <= 1 || self.count_keys(texts, others.min)? >= u64::from(others.min) {
                    enough.push(vec![Goal::Set(value)]);
                }
            }
            return Ok(enough);
        }
        let ways = ways.iter().filter(|way| way.2 != others.facts);
        Ok(ways
            .map(|&(_, value, facts)| {
                vec![Goal::Set(value), Goal::Object(ObjectState { facts, ..state })]
            })
            .collect())
    }

    /// How many keys there are, as far as it matters.
    fn count_keys(&mut self, texts: TextId, enough: u32) -> Lowered<u64> {
        let keys = self.scalars.string_language(texts, Writing::Canonical, &mut self.fuel)?;
        Ok(keys.count_words(keys.start(), u64::from(enough)))
    }

    /// The ways in which an array or object can be in a set. Remembered.
    pub(super) fn alternatives(&mut self, set: SetId, kind: Kind) -> Lowered<Arc<[Alternative]>> {
        if let Some(known) = self.known.alternatives.get(&(set, kind)) {
            return Ok(known.clone());
        }
        let Meaning::Facts(facts) = self.meaning(set, kind)? else {
            return Err(SchemaErrorKind::Unsatisfiable);
        };
        let alternatives: Arc<[Alternative]> = self.alternatives_of(facts, kind)?.into();
        self.known.alternatives.insert((set, kind), alternatives.clone());
        Ok(alternatives)
    }
}
