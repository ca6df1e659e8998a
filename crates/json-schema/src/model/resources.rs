//! Which schema a reference means: resources with their base URIs, drafts and anchors.
//!
//! # Idea
//! A *resource* is a document, or a schema in one that has an identifier of its own. A document is
//! searched for identifiers and anchors when it is loaded, wherever a keyword of its draft has a
//! schema and nowhere else: an `$id` in an `enum` is no identifier. Documents are loaded when a
//! reference first leads there: those of the caller, then the metaschemas. Nothing is fetched.
//!
//! # Cost
//! Linear in a document that has identifiers below its root; one search for their names in the text
//! of one that has none.

use super::{
    Read, error_at, metaschemas,
    notices::{Cause, Notices},
};
use crate::{
    Draft, FormatMode, Options, SchemaErrorKind,
    document::{self, Children, Document, Value, ValueId},
    keywords::{Holds, Keyword, keyword},
    uri,
};
use formwork_automata::Fuel;
use formwork_grammar::Limits;
use rustc_hash::{FxHashMap, FxHashSet};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// A resource of [`Resources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResourceId(u32);

impl ResourceId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The name of a dynamic anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NameId(u32);

impl NameId {
    /// `$recursiveAnchor`, which has no name.
    pub(super) const RECURSIVE: Self = Self(0);
}

/// Which keywords count, and what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) draft: Draft,
    pub(super) format: FormatMode,
    /// The vocabularies that can be left out (from 2019-09 on).
    validation: bool,
    applicator: bool,
    unevaluated: bool,
    /// Whether the options for what is not mentioned count: not in metaschemas.
    pub(super) is_users: bool,
}

impl Dialect {
    fn of(draft: Draft, options: &Options) -> Self {
        Self {
            draft,
            format: options.format,
            validation: true,
            applicator: true,
            unevaluated: true,
            is_users: true,
        }
    }

    /// Why a keyword has no effect, if so.
    pub(super) fn exclusion(&self, row: &Keyword) -> Option<Cause> {
        if !row.is_in(self.draft) {
            return Some(Cause::NotInDraft(self.draft));
        }
        let included = if row.is_validation() {
            self.validation
        } else if row.holds == Holds::Nothing || !row.decides() {
            true
        } else if row.name.starts_with("unevaluated") {
            self.unevaluated
        } else {
            self.applicator
        };
        (!included).then_some(Cause::NotInVocabulary)
    }

    /// Whether a reference is all that counts in its schema.
    pub(super) fn references_stand_alone(&self) -> bool {
        self.draft <= Draft::Draft7
    }
}

#[derive(Clone, Copy, Debug)]
struct Anchor {
    value: ValueId,
    /// Its name, when it is a dynamic one.
    dynamic: Option<NameId>,
}

#[derive(Debug)]
struct Resource {
    root: ValueId,
    /// The base of its references.
    uri: String,
    dialect: Dialect,
    anchors: HashMap<Box<str>, Anchor>,
    dynamic: Vec<(NameId, ValueId)>,
    /// Whether its document has identifiers below the root, or anchors.
    has_identifiers: bool,
}

/// What a reference leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) value: ValueId,
    pub(super) resource: ResourceId,
    /// The name of the dynamic anchor, when that is how the reference found it.
    pub(super) dynamic: Option<NameId>,
}

/// All resources that are loaded, and the documents that can be.
#[derive(Debug)]
pub(super) struct Resources<'o> {
    options: &'o Options,
    limits: &'o Limits,
    fuel: &'o mut Fuel,
    resources: Vec<Resource>,
    /// The resource that begins at a value.
    at: FxHashMap<ValueId, ResourceId>,
    by_uri: HashMap<String, ResourceId>,
    names: HashMap<Box<str>, NameId>,
    /// Documents of the caller that are not loaded: their names as given, and their texts.
    waiting: BTreeMap<String, (&'o str, &'o Arc<str>)>,
    /// The schemas searched for identifiers, in documents that have some.
    searched: FxHashSet<ValueId>,
}

/// Where a place can be an identifier or an anchor.
const IDENTIFIERS: [&str; 5] = ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];

impl<'o> Resources<'o> {
    /// Those of a document alone.
    ///
    /// # Errors
    /// A metaschema that is not JSON, or needs a vocabulary that is not known.
    pub(super) fn new(
        document: &mut Document,
        options: &'o Options,
        (limits, fuel): (&'o Limits, &'o mut Fuel),
        notices: &mut Notices,
    ) -> Read<Self> {
        let documents = options.documents.iter().map(|(name, text)| {
            let (name_alone, _) = uri::split_fragment(name);
            (uri::resolve("", name_alone), (name.as_str(), text))
        });
        let mut resources = Self {
            options,
            limits,
            fuel,
            resources: Vec::new(),
            at: FxHashMap::default(),
            by_uri: HashMap::new(),
            names: HashMap::new(),
            waiting: documents.collect(),
            searched: FxHashSet::default(),
        };
        let dialect = resources.dialect_of_document(document, ValueId::ROOT, notices)?;
        resources.add_document(document, ValueId::ROOT, String::new(), dialect)?;
        Ok(resources)
    }

    /// Spends steps for something at a value.
    pub(super) fn spend(&mut self, document: &Document, at: ValueId, steps: usize) -> Read<()> {
        self.fuel.steps(steps).map_err(|exhausted| error_at(document, at, exhausted))
    }

    /// That of the schema itself.
    pub(super) fn root(&self) -> ResourceId {
        self.at[&ValueId::ROOT]
    }

    /// Which keywords count in a resource.
    pub(super) fn dialect(&self, resource: ResourceId) -> &Dialect {
        &self.resources[resource.index()].dialect
    }

    /// The dynamic anchors of a resource.
    pub(super) fn dynamic_anchors(&self, resource: ResourceId) -> &[(NameId, ValueId)] {
        &self.resources[resource.index()].dynamic
    }

    /// The resource of a schema that stands inside another one of `resource`.
    pub(super) fn within(&self, resource: ResourceId, value: ValueId) -> ResourceId {
        match self.resources[resource.index()].has_identifiers {
            true => self.at.get(&value).copied().unwrap_or(resource),
            false => resource,
        }
    }

    /// The outermost schema of a resource, and whether it has `$recursiveAnchor`.
    pub(super) fn recursive_target(&self, resource: ResourceId) -> Target {
        let Resource { root, dynamic, .. } = &self.resources[resource.index()];
        let is_recursive = dynamic.iter().any(|&(name, _)| name == NameId::RECURSIVE);
        let dynamic = is_recursive.then_some(NameId::RECURSIVE);
        Target { value: *root, resource, dynamic }
    }

    /// What a reference leads to that stands in a resource.
    ///
    /// # Errors
    /// That it leads nowhere, or what is wrong with a document on the way.
    pub(super) fn resolve(
        &mut self,
        document: &mut Document,
        (at, resource): (ValueId, ResourceId),
        reference: &str,
        notices: &mut Notices,
    ) -> Read<Target> {
        let (uri, fragment) = uri::split_fragment(reference);
        let fail = |document: &Document, kind: fn(String) -> SchemaErrorKind| {
            Err(error_at(document, at, kind(reference.to_owned())))
        };
        let unresolvable = |reference| SchemaErrorKind::UnresolvableReference { reference };
        let remote = |reference| SchemaErrorKind::RemoteReference { reference };
        let resource = if uri.is_empty() {
            resource
        } else {
            let base = self.resources[resource.index()].uri.len();
            self.spend(document, at, base + uri.len())?;
            let uri = uri::resolve(&self.resources[resource.index()].uri, uri);
            match self.load(document, &uri, notices)? {
                Some(resource) => resource,
                None => return fail(document, remote),
            }
        };
        let Some(fragment) = uri::percent_decoded(fragment.unwrap_or_default()) else {
            return fail(document, unresolvable);
        };
        let Resource { root, ref anchors, .. } = self.resources[resource.index()];
        let target = if fragment.is_empty() {
            Some(Target { value: root, resource, dynamic: None })
        } else if let Some(pointer) = fragment.strip_prefix('/') {
            match self.pointed(document, resource, pointer)? {
                Some(target) => Some(target),
                None => {
                    let target = self.pointed_from_outermost(document, root, pointer)?;
                    if target.is_some() {
                        notices.add(Cause::OutermostMeant, at, reference);
                    }
                    target
                }
            }
        } else {
            anchors.get(fragment.as_str()).map(|&Anchor { value, dynamic }| Target {
                value,
                resource,
                dynamic,
            })
        };
        target.map_or_else(|| fail(document, unresolvable), Ok)
    }

    /// The value at a JSON pointer into the document of a resource that lies inside it. In draft 4,
    /// whose authors give identifiers to everything, that is what is meant by a pointer that leads
    /// nowhere from the resource.
    fn pointed_from_outermost(
        &mut self,
        document: &Document,
        root: ValueId,
        pointer: &str,
    ) -> Read<Option<Target>> {
        let outermost = document.root_of(root);
        match self.at.get(&outermost) {
            Some(&resource) if outermost != root => self.pointed(document, resource, pointer),
            _ => Ok(None),
        }
    }

    /// The value at a JSON pointer (RFC 6901) into a resource.
    fn pointed(
        &mut self,
        document: &Document,
        resource: ResourceId,
        pointer: &str,
    ) -> Read<Option<Target>> {
        let Resource { root, has_identifiers, .. } = self.resources[resource.index()];
        let (mut value, mut inside) = (root, resource);
        for token in pointer.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            let Some(child) = document.child(value, &token) else { return Ok(None) };
            value = child;
            inside = self.within(inside, value);
        }
        // Behind a keyword that is not known there may be schemas that nobody has seen yet.
        if has_identifiers && !self.searched.contains(&value) {
            self.search(document, value, inside)?;
            inside = self.within(inside, value);
        }
        Ok(Some(Target { value, resource: inside, dynamic: None }))
    }

    /// The resource that a URI names, if there is one.
    fn load(
        &mut self,
        document: &mut Document,
        uri: &str,
        notices: &mut Notices,
    ) -> Read<Option<ResourceId>> {
        if let Some(&known) = self.by_uri.get(uri) {
            return Ok(Some(known));
        }
        if self.waiting.contains_key(uri) {
            return self.load_waiting(document, uri, notices).map(Some);
        }
        if let Some(text) = metaschemas::text(uri) {
            let root = document::append(document, uri, text.as_bytes(), self.limits)?;
            let draft = metaschemas::draft(uri).or_else(|| stated_draft(document, root));
            let draft = draft.unwrap_or(self.options.default_draft);
            let dialect = Dialect { is_users: false, ..Dialect::of(draft, self.options) };
            return self.add_document(document, root, uri.to_owned(), dialect).map(Some);
        }
        // A document may hold resources with names of their own.
        while let Some(next) = self.waiting.keys().next().cloned() {
            self.load_waiting(document, &next, notices)?;
        }
        Ok(self.by_uri.get(uri).copied())
    }

    fn load_waiting(
        &mut self,
        document: &mut Document,
        uri: &str,
        notices: &mut Notices,
    ) -> Read<ResourceId> {
        let (name, text) = self.waiting.remove(uri).expect("a document that waits");
        let root = document::append(document, name, text.as_bytes(), self.limits)?;
        let dialect = self.dialect_of_document(document, root, notices)?;
        self.add_document(document, root, uri.to_owned(), dialect)
    }

    /// The dialect that the root of a document states.
    fn dialect_of_document(
        &mut self,
        document: &mut Document,
        root: ValueId,
        notices: &mut Notices,
    ) -> Read<Dialect> {
        let default = Dialect::of(self.options.default_draft, self.options);
        let Some(at) = document.member(root, "$schema") else { return Ok(default) };
        let Value::String(text) = document.value(at) else { return Ok(default) };
        let stated = document.text(text).to_owned();
        let uri = uri::resolve("", uri::split_fragment(&stated).0);
        if let Some(draft) = metaschemas::draft(&uri) {
            if uri.contains("draft-03") {
                notices.add(Cause::Draft3, at, &stated);
            }
            return Ok(Dialect::of(draft, self.options));
        }
        // A metaschema of the caller's is of the draft that it states itself; going no further, a
        // chain of metaschemas costs nothing.
        let metaschema = match self.by_uri.get(&uri) {
            Some(known) => self.resources[known.index()].root,
            None if self.waiting.contains_key(&uri) => {
                let (name, text) = self.waiting.remove(&uri).expect("just seen");
                let root = document::append(document, name, text.as_bytes(), self.limits)?;
                let draft = stated_draft(document, root).unwrap_or(self.options.default_draft);
                let dialect = Dialect { is_users: false, ..Dialect::of(draft, self.options) };
                self.add_document(document, root, uri, dialect)?;
                root
            }
            None => {
                if uri != "http://json-schema.org/schema" {
                    notices.add(Cause::UnknownDialect, at, &stated);
                }
                return Ok(default);
            }
        };
        let draft = stated_draft(document, metaschema).unwrap_or(self.options.default_draft);
        self.with_vocabularies(document, metaschema, Dialect::of(draft, self.options))
    }

    /// A dialect as the `$vocabulary` of its metaschema restricts it.
    fn with_vocabularies(
        &self,
        document: &Document,
        metaschema: ValueId,
        mut dialect: Dialect,
    ) -> Read<Dialect> {
        let vocabularies = document.member(metaschema, "$vocabulary");
        let Some(Value::Object(children)) = vocabularies.map(|at| document.value(at)) else {
            return Ok(dialect);
        };
        if dialect.draft < Draft::Draft201909 {
            return Ok(dialect);
        }
        (dialect.validation, dialect.applicator, dialect.unevaluated) = (false, false, false);
        for member in document.members(children) {
            let name = document.text(member.key);
            let is_required = document.value(member.value) == Value::Boolean(true);
            match known_vocabulary(name) {
                Some("validation") => dialect.validation = true,
                Some("applicator") => {
                    dialect.applicator = true;
                    dialect.unevaluated |= dialect.draft == Draft::Draft201909;
                }
                Some("unevaluated") => dialect.unevaluated = true,
                Some("format-assertion") => dialect.format = FormatMode::Assert,
                Some("format") if is_required => dialect.format = FormatMode::Assert,
                Some(_) => {}
                None if is_required => {
                    let kind = SchemaErrorKind::UnknownVocabulary { vocabulary: name.to_owned() };
                    return Err(error_at(document, member.value, kind));
                }
                None => {}
            }
        }
        Ok(dialect)
    }

    fn add_document(
        &mut self,
        document: &Document,
        root: ValueId,
        uri: String,
        dialect: Dialect,
    ) -> Read<ResourceId> {
        let has_identifiers = IDENTIFIERS.iter().any(|name| document.mentions(root, name));
        let own = identifier(document, root, &dialect).map(|id| uri::split_fragment(id).0);
        let own = own.filter(|own| !own.is_empty()).map(|own| uri::resolve(&uri, own));
        let resource = id(self.resources.len());
        self.by_uri.entry(uri.clone()).or_insert(resource);
        self.add_resource(root, own.unwrap_or(uri), dialect, has_identifiers);
        if has_identifiers {
            self.search(document, root, resource)?;
        }
        Ok(resource)
    }

    fn add_resource(
        &mut self,
        root: ValueId,
        uri: String,
        dialect: Dialect,
        has_identifiers: bool,
    ) -> ResourceId {
        let resource = id(self.resources.len());
        self.by_uri.entry(uri.clone()).or_insert(resource);
        self.at.insert(root, resource);
        let (anchors, dynamic) = (HashMap::new(), Vec::new());
        self.resources.push(Resource { root, uri, dialect, anchors, dynamic, has_identifiers });
        resource
    }

    /// Looks for identifiers and anchors in a schema of a resource, and in those inside it.
    fn search(&mut self, document: &Document, value: ValueId, resource: ResourceId) -> Read<()> {
        let mut pending = vec![(value, resource)];
        while let Some((value, resource)) = pending.pop() {
            let Value::Object(children) = document.value(value) else { continue };
            if !self.searched.insert(value) {
                continue;
            }
            let resource = self.identify(document, value, resource)?;
            self.inside(document, children, resource, &mut pending);
        }
        Ok(())
    }

    /// The resource of a schema: a new one when the schema has an identifier.
    fn identify(
        &mut self,
        document: &Document,
        value: ValueId,
        outer: ResourceId,
    ) -> Read<ResourceId> {
        let Resource { uri: base, dialect, .. } = &self.resources[outer.index()];
        let mut dialect = *dialect;
        if let Some(draft) = stated_draft(document, value) {
            dialect.draft = draft;
        }
        let identifier = identifier(document, value, &dialect);
        let (own, fragment) = identifier.map_or(("", None), uri::split_fragment);
        let is_begun = self.at.contains_key(&value);
        let resource = if own.is_empty() || is_begun {
            outer
        } else {
            // Bases are inherited, so that many of them may be longer than the document.
            let steps = base.len() + own.len();
            self.spend(document, value, steps)?;
            let uri = uri::resolve(&self.resources[outer.index()].uri, own);
            self.add_resource(value, uri, dialect, true)
        };
        let stand_alone = dialect.references_stand_alone();
        if stand_alone && document.member(value, "$ref").is_some() {
            return Ok(resource);
        }
        let draft = self.resources[resource.index()].dialect.draft;
        let mut anchor = |name: &str, dynamic| {
            let anchors = &mut self.resources[resource.index()].anchors;
            anchors.entry(name.into()).or_insert(Anchor { value, dynamic });
        };
        // A pointer as a fragment is what it points to in any case.
        if let Some(name) = fragment.filter(|name| !name.is_empty() && !name.starts_with('/')) {
            anchor(name, None);
        }
        if draft >= Draft::Draft201909
            && let Some(name) = string(document, value, "$anchor")
        {
            anchor(name, None);
        }
        self.identify_dynamic(document, value, resource);
        Ok(resource)
    }

    fn identify_dynamic(&mut self, document: &Document, value: ValueId, resource: ResourceId) {
        let Resource { root, dialect, .. } = self.resources[resource.index()];
        let name = match dialect.draft {
            Draft::Draft202012 => {
                let Some(name) = string(document, value, "$dynamicAnchor") else { return };
                let next = u32::try_from(self.names.len() + 1).expect("fewer names than values");
                let id = *self.names.entry(name.into()).or_insert(NameId(next));
                let anchors = &mut self.resources[resource.index()].anchors;
                // The same name as a plain anchor is the same place, or a mistake.
                anchors.insert(name.into(), Anchor { value, dynamic: Some(id) });
                id
            }
            Draft::Draft201909 => {
                let anchor = document.member(value, "$recursiveAnchor");
                let anchor = anchor.map(|anchor| document.value(anchor));
                if anchor != Some(Value::Boolean(true)) || value != root {
                    return;
                }
                NameId::RECURSIVE
            }
            _ => return,
        };
        let dynamic = &mut self.resources[resource.index()].dynamic;
        if dynamic.iter().all(|&(known, _)| known != name) {
            dynamic.push((name, value));
        }
    }

    /// The schemas right inside a schema.
    fn inside(
        &self,
        document: &Document,
        members: Children,
        resource: ResourceId,
        into: &mut Vec<(ValueId, ResourceId)>,
    ) {
        let draft = self.resources[resource.index()].dialect.draft;
        for member in document.members(members).iter().rev() {
            let Some(row) = keyword(document.text(member.key)) else { continue };
            let children = match document.value(member.value) {
                _ if !row.is_in(draft) => continue,
                Value::Object(_) if matches!(row.holds, Holds::Schema | Holds::SchemaOrList) => {
                    into.push((member.value, resource));
                    continue;
                }
                Value::Array(children)
                    if matches!(row.holds, Holds::List | Holds::SchemaOrList) =>
                {
                    into.extend(document.items(children).iter().map(|&item| (item, resource)));
                    continue;
                }
                Value::Object(children) if row.holds == Holds::Map => children,
                _ => continue,
            };
            let members = document.members(children).iter();
            into.extend(members.map(|member| (member.value, resource)));
        }
    }
}

fn id(index: usize) -> ResourceId {
    ResourceId(u32::try_from(index).expect("fewer resources than values"))
}

/// The identifier that a schema has in a draft.
fn identifier<'d>(document: &'d Document, value: ValueId, dialect: &Dialect) -> Option<&'d str> {
    if dialect.references_stand_alone() && document.member(value, "$ref").is_some() {
        return None;
    }
    let keyword = if dialect.draft == Draft::Draft4 { "id" } else { "$id" };
    string(document, value, keyword)
}

/// The value of a member that is a string.
fn string<'d>(document: &'d Document, object: ValueId, key: &str) -> Option<&'d str> {
    match document.value(document.member(object, key)?) {
        Value::String(text) => Some(document.text(text)),
        _ => None,
    }
}

/// The draft whose metaschema a schema names, if it is one of those that are known.
fn stated_draft(document: &Document, schema: ValueId) -> Option<Draft> {
    metaschemas::draft(uri::split_fragment(string(document, schema, "$schema")?).0)
}

/// The name of a vocabulary of drafts 2019-09 and 2020-12.
fn known_vocabulary(uri: &str) -> Option<&str> {
    let rest = uri.strip_prefix("https://json-schema.org/draft/")?;
    let name =
        rest.strip_prefix("2019-09/vocab/").or_else(|| rest.strip_prefix("2020-12/vocab/"))?;
    let known = [
        "core",
        "applicator",
        "unevaluated",
        "validation",
        "meta-data",
        "format",
        "format-annotation",
        "format-assertion",
        "content",
    ];
    known.contains(&name).then_some(name)
}
