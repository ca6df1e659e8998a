//! Dynamic scopes: which schema a dynamic anchor means where.
//!
//! The scope of a schema is the chain of resources through which it was reached, and all that
//! matters of it is, for each name of a dynamic anchor, the outermost resource that has one of that
//! name. Such bindings are interned; where nothing has a dynamic anchor there is one scope, and it
//! costs nothing.

use super::resources::{NameId, ResourceId, Resources};
use crate::document::ValueId;
use rustc_hash::FxHashMap;

/// An interned scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(u32);

impl ScopeId {
    /// No name is bound.
    pub(super) const EMPTY: Self = Self(0);
}

/// A name, and the schema that it means with the resource of that.
type Binding = (NameId, (ValueId, ResourceId));

/// All scopes met so far, their bindings sorted by name.
#[derive(Debug)]
pub(super) struct Scopes {
    bindings: Vec<Box<[Binding]>>,
    ids: FxHashMap<Box<[Binding]>, ScopeId>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        let nothing: Box<[Binding]> = [].into();
        let ids = FxHashMap::from_iter([(nothing.clone(), ScopeId::EMPTY)]);
        Self { bindings: vec![nothing], ids }
    }

    /// The scope inside a resource that is entered from a scope.
    pub(super) fn enter(
        &mut self,
        scope: ScopeId,
        resource: ResourceId,
        resources: &Resources<'_>,
    ) -> ScopeId {
        let anchors = resources.dynamic_anchors(resource);
        if anchors.iter().all(|&(name, _)| self.binding(scope, name).is_some()) {
            return scope;
        }
        let mut bindings = self.bindings[scope.0 as usize].to_vec();
        for &(name, value) in anchors {
            if let Err(at) = bindings.binary_search_by_key(&name, |&(name, _)| name) {
                bindings.insert(at, (name, (value, resource)));
            }
        }
        let bindings: Box<[Binding]> = bindings.into();
        let next = ScopeId(u32::try_from(self.bindings.len()).expect("fewer scopes than schemas"));
        *self.ids.entry(bindings).or_insert_with_key(|bindings| {
            self.bindings.push(bindings.clone());
            next
        })
    }

    /// The schema that a name means in a scope.
    pub(super) fn binding(&self, scope: ScopeId, name: NameId) -> Option<(ValueId, ResourceId)> {
        let bindings = &self.bindings[scope.0 as usize];
        let at = bindings.binary_search_by_key(&name, |&(name, _)| name).ok()?;
        Some(bindings[at].1)
    }
}
