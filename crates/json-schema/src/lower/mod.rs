//! From schemas to rules.
//!
//! # Idea
//! A rule stands for a *set* of values: a formula over schemas that a value must, or must not,
//! satisfy. What a property must be is again a set, and so a rule. There are as many rules as sets
//! that an output can reach; each is lowered when it is first asked for.
//!
//! ```text
//! set         formula over schemas, `not` pushed down to them        sets, compose, evaluated
//!  | for each type of JSON: references followed, keywords looked up  meaning, own
//!  v
//! language of strings or numbers, or formula over facts about the    scalars, facts
//! members of an object, the items of an array
//!  | one clause at a time where these are few                        listed
//!  v
//! states: what is left to satisfy after so many members              states, order, keys
//!  |
//!  v
//! bodies: slots, forks, repetitions                                  object, others, array, unique
//! ```
//! Nothing is ever multiplied out: a conjunction, a disjunction or a negation is taken apart when an
//! output gets there. What can be completed is known before anything is offered: `satisfy` finds the
//! least fixpoint over what is needed, once, and remembers.
//!
//! # Reading order
//! `formula`, `names`, `sets`, `facts`, `keys`, `meaning`, `own`, `compose`, `evaluated`; `order`,
//! `states`, `satisfy`, `judge` (is a listed value in a set); then the languages: `text`, `formats`,
//! `scalars`; then the bodies: `layout`, `body`, `object`, `others`, `array`, `unique`, `listed`.

mod array;
mod body;
mod compose;
mod evaluated;
mod evident;
mod facts;
mod formats;
mod formula;
mod judge;
mod keys;
mod languages;
mod layout;
mod listed;
mod meaning;
mod names;
mod object;
mod order;
mod others;
mod own;
mod same;
mod satisfy;
mod scalars;
mod sets;
mod states;
mod text;
mod unique;
mod unordered;

use crate::{
    DistinctKeys, SchemaError, SchemaErrorKind, Spelling,
    document::ValueId,
    model::{Model, SchemaId},
};
use body::Lowering;
use facts::{Fact, Facts, FactsId};
pub(crate) use formats::Format;
use formwork_automata::Fuel;
use formwork_grammar::{BodyBuilder, ExprId, Limits, LowerError, LowerRule, RuleAllocator, RuleId};
use keys::KeyTable;
pub(crate) use languages::pattern_options;
pub(crate) use layout::Layout;
use meaning::{Kind, Meaning};
use names::Names;
use order::Orders;
use rustc_hash::{FxHashMap, FxHashSet};
use satisfy::{Alternative, Goal};
use scalars::{Scalars, Writing};
use sets::{Literal, SetId, Sets, Sign};
use states::{ArrayState, ObjectState, States};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What the parts of the lowering answer; the place is added at the end.
type Lowered<T> = Result<T, SchemaErrorKind>;

/// What is known about sets of values; grows as they are asked about.
#[derive(Debug)]
struct Analysis {
    model: Arc<Model>,
    /// For the constraint as a whole, however many rules are lowered.
    fuel: Fuel,
    /// How scalars are written where nothing else is said.
    writing: Writing,
    sets: Sets,
    names: Names,
    facts: Facts,
    scalars: Scalars,
    keys: KeyTable,
    orders: Orders,
    states: States,
    known: Known,
    /// Of schemas that say the same as another one: that one.
    same: FxHashMap<SchemaId, SchemaId>,
}

/// Answers, by question.
#[derive(Debug, Default)]
struct Known {
    meanings: FxHashMap<(SetId, Kind), Meaning>,
    compositions: FxHashMap<(SchemaId, Kind), SetId>,
    alternatives: FxHashMap<(SetId, Kind), Arc<[Alternative]>>,
    possible: FxHashMap<Goal, bool>,
    /// Whether a value of the document is in a set.
    answers: FxHashMap<(ValueId, SetId), bool>,
    /// The canonical texts of the values that a schema lists.
    enumerations: FxHashMap<SchemaId, Arc<HashSet<Box<[u8]>>>>,
    /// Which branches can hold together: what is being asked at the moment.
    asking: FxHashSet<(SetId, Kind)>,
    /// How deep such questions are nested at the moment.
    depth: usize,
}

/// Whether something was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Position {
    /// Nothing in this container, and something must be.
    First,
    /// Something, and nothing more need be.
    Later,
}

/// What a rule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target {
    /// A whole value.
    Value(SetId),
    /// The members of an object from here on.
    Members(ObjectState, Position),
    /// The items of an array from here on.
    Items(ArrayState, Position),
}

/// What identifies a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RuleKey {
    target: Target,
    /// Open containers around it, where that changes the indentation; else 0.
    depth: u32,
}

#[derive(Debug)]
struct State {
    analysis: Analysis,
    ids: FxHashMap<RuleKey, RuleId>,
    keys: FxHashMap<RuleId, RuleKey>,
    /// Nodes of all bodies so far.
    nodes: usize,
}

/// Lowers a model, rule by rule.
#[derive(Debug)]
pub(crate) struct Lowerer {
    model: Arc<Model>,
    layout: Layout,
    limits: Limits,
    root: SetId,
    may_refuse: bool,
    state: Mutex<State>,
}

impl Lowerer {
    /// Prepares to lower a model, and makes sure that something satisfies it.
    ///
    /// # Errors
    /// [`SchemaErrorKind::Unsatisfiable`], or what is found wrong on the way to knowing.
    pub(crate) fn new(
        model: Model,
        layout: Layout,
        limits: Limits,
        fuel: Fuel,
    ) -> Result<Self, SchemaError> {
        let model = Arc::new(model);
        let mut analysis = Analysis::new(model.clone(), &limits, fuel);
        let root = analysis
            .compare_schemas()
            .map(|()| analysis.set_of(model.root(), Sign::Positive))
            .and_then(|root| match analysis.is_satisfiable(root)? {
                true => Ok(root),
                false => Err(SchemaErrorKind::Unsatisfiable),
            })
            .map_err(|kind| model.error_at(model.root(), kind))?;
        let may_refuse = analysis.may_refuse();
        let (ids, keys) = (FxHashMap::default(), FxHashMap::default());
        let state = Mutex::new(State { analysis, ids, keys, nodes: 0 });
        Ok(Self { model, layout, limits, root, may_refuse, state })
    }

    /// Whether some rule could have to be refused for a keyword in it. Then it is better to lower
    /// all rules than to find out in the middle of an output.
    pub(crate) fn may_refuse(&self) -> bool {
        self.may_refuse
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Analysis {
    fn new(model: Arc<Model>, limits: &Limits, fuel: Fuel) -> Self {
        let writing = match model.choices.spelling {
            Spelling::Minimal => Writing::Minimal,
            Spelling::Any => Writing::Any,
        };
        Self {
            model,
            fuel,
            writing,
            sets: Sets::new(),
            names: Names::default(),
            facts: Facts::new(),
            scalars: Scalars::new(limits.clone()),
            keys: KeyTable::default(),
            orders: Orders::new(),
            states: States::default(),
            known: Known::default(),
            same: FxHashMap::default(),
        }
    }

    /// Whether some schema, taken by itself, has a keyword that is refused there.
    fn may_refuse(&mut self) -> bool {
        let model = self.model.clone();
        let everywhere = model.choices.distinct_keys == DistinctKeys::Everywhere;
        model.all_keywords().any(|(schema, keywords)| {
            let keys = keywords.object.as_ref().is_some_and(|object| {
                (everywhere || object.count.min > 1) && model.has_key_patterns()
            });
            let items = keywords.array.as_ref().is_some_and(|array| array.unique);
            keys || items && {
                let set = self.set_of(schema, Sign::Positive);
                let found = self.is_satisfiable_as(set, Kind::Array);
                matches!(found, Err(SchemaErrorKind::Unsupported { .. }))
            }
        })
    }

    /// The schemas that a set is a formula over.
    fn schemas(&self, set: SetId) -> Vec<(SchemaId, Sign)> {
        let schema = |&(_, literal): &(SetId, Literal)| match literal {
            Literal::Schema(schema, sign) => Some((schema, sign)),
            _ => None,
        };
        self.sets.atoms(set).iter().filter_map(schema).collect()
    }

    /// A schema that has to do with a rule, for errors.
    fn place_of(&self, target: Target) -> Option<SchemaId> {
        let facts: FactsId = match target {
            Target::Value(set) => return self.schemas(set).first().map(|&(schema, _)| schema),
            Target::Members(state, _) => state.facts,
            Target::Items(state, _) => state.facts,
        };
        self.facts.atoms(facts).iter().copied().find_map(|(_, fact)| match fact {
            Fact::Declared(schema) | Fact::Items(schema) | Fact::Among(schema) => Some(schema),
            _ => None,
        })
    }

    /// A set for people, in some `enough` bytes: the pointers of the schemas.
    fn describe(&self, set: SetId, enough: usize) -> String {
        let mut text = String::new();
        for (schema, sign) in self.schemas(set) {
            if !text.is_empty() {
                text.push_str(" and ");
            }
            if sign == Sign::Negative {
                text.push_str("not ");
            }
            text.push('#');
            text.push_str(&self.model.pointer(schema));
            if text.len() > enough {
                break;
            }
        }
        if text.is_empty() {
            text.push_str(if set == SetId::TRUE { "any value" } else { "a listed value" });
        }
        text
    }
}

impl LowerRule for Lowerer {
    fn lower(
        &self,
        rule: RuleId,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, LowerError> {
        let mut state = self.lock();
        let state = &mut *state;
        // The first rule ever asked for is the root: all others come from its body.
        let root = RuleKey { target: Target::Value(self.root), depth: 0 };
        let key = *state.keys.entry(rule).or_insert(root);
        state.ids.entry(key).or_insert(rule);
        Lowering::new(self, state, body, rules, key.depth)
            .and_then(|mut lowering| lowering.rule(key))
            .map_err(|kind| {
                let error = match state.analysis.place_of(key.target) {
                    Some(schema) => self.model.error_at(schema, kind),
                    None => SchemaError::whole(kind),
                };
                LowerError { location: error.location, source: Arc::new(error.kind) }
            })
    }
}

#[cfg(test)]
mod tests;
