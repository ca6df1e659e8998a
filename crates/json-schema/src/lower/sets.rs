//! What a rule stands for: a conjunction of signed schemas, interned.

use crate::model::{Model, Schema, SchemaId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Whether a schema must be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Sign {
    /// It must.
    Positive,
}

/// A schema with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Signed {
    pub(crate) sign: Sign,
    pub(crate) schema: SchemaId,
}

impl Signed {
    /// The schema must be satisfied.
    pub(crate) fn positive(schema: SchemaId) -> Self {
        Self { sign: Sign::Positive, schema }
    }
}

/// An interned conjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SetId(u32);

impl SetId {
    /// The empty conjunction: every value.
    pub(crate) const ANY: Self = Self(0);
    /// No value.
    pub(crate) const NEVER: Self = Self(1);
}

/// All conjunctions met so far. Members are sorted, without repeats, aliases and what is always
/// satisfied; a conjunction with a member that never is, is [`SetId::NEVER`].
#[derive(Debug)]
pub(crate) struct Sets {
    members: Vec<Arc<[Signed]>>,
    ids: FxHashMap<Arc<[Signed]>, SetId>,
}

impl Sets {
    pub(crate) fn new() -> Self {
        let none: Arc<[Signed]> = [].into();
        // The contents of `NEVER` are never looked at; its place is taken.
        Self {
            members: vec![none.clone(), none.clone()],
            ids: FxHashMap::from_iter([(none, SetId::ANY)]),
        }
    }

    /// The conjunction of these.
    pub(crate) fn intern(
        &mut self,
        model: &Model,
        members: impl IntoIterator<Item = Signed>,
    ) -> SetId {
        let mut set: Vec<Signed> = Vec::new();
        for Signed { sign, schema } in members {
            let schema = model.canonical(schema);
            match model.schema(schema) {
                Schema::Always => {}
                Schema::Never => return SetId::NEVER,
                Schema::Keywords(_) | Schema::Alias(_) => set.push(Signed { sign, schema }),
            }
        }
        set.sort_unstable();
        set.dedup();
        if let Some(&id) = self.ids.get(&*set) {
            return id;
        }
        let id = SetId(u32::try_from(self.members.len()).expect("fewer than 2^32 sets"));
        let set: Arc<[Signed]> = set.into();
        self.members.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    /// What a conjunction consists of.
    pub(crate) fn members(&self, id: SetId) -> Arc<[Signed]> {
        self.members[id.0 as usize].clone()
    }
}
