//! From schemas to rules.
//!
//! # Idea
//! A rule stands for a *set* of schemas that one value must satisfy together: the empty set is any
//! value. The value of a property must satisfy what every member of the set says about that
//! property, which is again a set, and so a rule. There are as many rules as sets that an output
//! can reach; each is lowered when it is first asked for.
//!
//! # Lowering a set
//! ```text
//! for each type of JSON:
//!     for each clause of the set for that type (references followed, alternatives chosen):
//!         merge what its members say about objects, arrays, strings or numbers
//!         lower that, leaving out what can never be completed
//! ```
//! What can be completed is known before anything is offered: `satisfy` finds the least fixpoint
//! over the sets that are needed, once, and remembers.
//!
//! # Reading order
//! `sets`, `clauses`, `shapes`, `satisfy`, `judge` (does a listed value satisfy a set), then the
//! languages: `text`, `number`, `languages`; then the bodies: `layout`, `body`, `object`, `array`,
//! `listed`.

mod array;
mod body;
mod clauses;
mod judge;
mod languages;
mod layout;
mod listed;
mod number;
mod object;
mod satisfy;
mod sets;
mod shapes;
mod text;

use crate::{
    SchemaError, SchemaErrorKind,
    document::ValueId,
    model::{Model, SchemaId},
};
use body::Lowering;
use clauses::Clause;
use formwork_automata::Fuel;
use formwork_grammar::{BodyBuilder, ExprId, Limits, LowerError, LowerRule, RuleAllocator, RuleId};
use languages::Languages;
pub(crate) use languages::pattern_options;
pub(crate) use layout::Layout;
use rustc_hash::FxHashMap;
use sets::{SetId, Sets, Signed};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What the parts of the lowering answer; the place is added at the end.
type Lowered<T> = Result<T, SchemaErrorKind>;

/// What is known about sets of schemas; grows as they are asked about.
#[derive(Debug)]
struct Analysis {
    model: Arc<Model>,
    /// For the constraint as a whole, however many rules are lowered.
    fuel: Fuel,
    sets: Sets,
    languages: Languages,
    /// Whether some value satisfies a set.
    satisfiable: FxHashMap<SetId, bool>,
    /// For sets that list values: those of them that satisfy the set.
    listed: FxHashMap<SetId, Arc<[ValueId]>>,
    /// The canonical texts of the values that a schema lists.
    enumerations: FxHashMap<SchemaId, Arc<HashSet<Box<[u8]>>>>,
}

/// In which position a set is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Context {
    /// As a whole value.
    Value,
}

/// What a rule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RuleKey {
    set: SetId,
    context: Context,
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
        let mut analysis = Analysis {
            model: model.clone(),
            fuel,
            sets: Sets::new(),
            languages: Languages::new(limits.clone()),
            satisfiable: FxHashMap::default(),
            listed: FxHashMap::default(),
            enumerations: FxHashMap::default(),
        };
        let root = analysis.sets.intern(&model, [Signed::positive(model.root())]);
        match analysis.is_satisfiable(root) {
            Ok(true) => {}
            Ok(false) => {
                return Err(model.error_at(model.root(), SchemaErrorKind::Unsatisfiable));
            }
            Err(kind) => return Err(model.error_at(model.root(), kind)),
        }
        let (ids, keys) = (FxHashMap::default(), FxHashMap::default());
        let state = Mutex::new(State { analysis, ids, keys, nodes: 0 });
        Ok(Self { model, layout, limits, root, state })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let root = RuleKey { set: self.root, context: Context::Value, depth: 0 };
        let key = *state.keys.entry(rule).or_insert(root);
        state.ids.entry(key).or_insert(rule);
        Lowering::new(self, state, body, rules, key.depth)
            .and_then(|mut lowering| lowering.rule(key))
            .map_err(|kind| {
                let members = state.analysis.sets.members(key.set);
                let error = match members.first() {
                    Some(first) => self.model.error_at(first.schema, kind),
                    None => SchemaError::whole(kind),
                };
                LowerError { location: error.location, source: Arc::new(error.kind) }
            })
    }
}

#[cfg(test)]
mod tests;
