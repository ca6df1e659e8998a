//! Reads the reachable part of the documents as schemas.

mod parts;
mod values;

use super::{
    Choices, Keywords, Model, Read, Schema, SchemaId, error_at,
    notices::{Cause, Notices},
    resources::{Dialect, ResourceId, Resources, Target},
    scopes::{ScopeId, Scopes},
    sequence::sequence,
};
use crate::{
    Leniency, Options, SchemaErrorKind, Unmentioned,
    document::{Children, Document, Member, Value, ValueId},
    keywords::{Keyword, Outcome, Subject, keyword},
};
use formwork_automata::Fuel;
use formwork_grammar::Limits;
use rustc_hash::FxHashMap;

/// Reads the schema at the root of the document, and all that it refers to; documents that it
/// refers to are appended.
///
/// # Errors
/// The first thing found wrong, with its place: a keyword refused or ill-typed, a reference that
/// leads nowhere; or a limit.
pub(crate) fn read(
    mut document: Document,
    options: &Options,
    limits: &Limits,
    fuel: &mut Fuel,
) -> Read<Model> {
    let mut notices = Notices::default();
    let resources = Resources::new(&mut document, options, (limits, fuel), &mut notices)?;
    let root = resources.root();
    let place = Place { value: ValueId::ROOT, resource: root, scope: ScopeId::EMPTY };
    let mut reader = Reader {
        ids: vec![None; document.len()],
        scoped: FxHashMap::default(),
        schemas: Vec::new(),
        places: Vec::new(),
        never: None,
        scopes: Scopes::new(),
        resources,
        notices,
        options,
        place,
        present: Vec::new(),
        document,
    };
    let root = reader.enter(place, root);
    let root = reader.schema_at(root);
    while let Some(&place) = reader.places.get(reader.schemas.len()) {
        let at_place = |reader: &Reader<'_>, kind: SchemaErrorKind| {
            error_at(&reader.document, place.value, kind)
        };
        if reader.places.len() > limits.nodes {
            return Err(at_place(&reader, SchemaErrorKind::Nodes { limit: limits.nodes }));
        }
        reader.place = place;
        let steps = 1 + reader.document.children(place.value);
        reader.resources.spend(&reader.document, place.value, steps)?;
        let schema = reader.read()?;
        reader.schemas.push(schema);
    }
    let Reader { document, mut schemas, places, notices, .. } = reader;
    resolve_aliases(&mut schemas);
    let warnings = notices.into_warnings(&document);
    let values: Vec<ValueId> = places.into_iter().map(|place| place.value).collect();
    let sequence = sequence(&document, &schemas, &values);
    let choices = Choices::of(options);
    Ok(Model { document, schemas, values, sequence, root, choices, warnings })
}

/// A value that is used as a schema, and how it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    value: ValueId,
    /// The innermost resource around it.
    resource: ResourceId,
    scope: ScopeId,
}

struct Reader<'o> {
    document: Document,
    resources: Resources<'o>,
    scopes: Scopes,
    notices: Notices,
    options: &'o Options,
    /// The schema at each value that is used as one in the empty scope.
    ids: Vec<Option<SchemaId>>,
    /// Those in other scopes.
    scoped: FxHashMap<(ValueId, ScopeId), SchemaId>,
    /// Those read so far; the worklist is what `places` has beyond.
    schemas: Vec<Schema>,
    places: Vec<Place>,
    /// One that nothing satisfies, for what options forbid.
    never: Option<SchemaId>,
    /// What is being read.
    place: Place,
    /// The keywords that count there.
    present: Vec<(&'static Keyword, ValueId)>,
}

impl Reader<'_> {
    /// The schema at a value inside the one that is being read, to be read if it has not been.
    fn schema(&mut self, value: ValueId) -> SchemaId {
        let resource = self.resources.within(self.place.resource, value);
        let place = self.enter(Place { value, ..self.place }, resource);
        self.schema_at(place)
    }

    /// A place in a resource, with the scope there.
    fn enter(&mut self, place: Place, resource: ResourceId) -> Place {
        let scope = self.scopes.enter(place.scope, resource, &self.resources);
        Place { resource, scope, ..place }
    }

    fn schema_at(&mut self, place: Place) -> SchemaId {
        let next = self.next_id();
        let id = if place.scope == ScopeId::EMPTY {
            // Documents may have been appended.
            if place.value.index() >= self.ids.len() {
                self.ids.resize(self.document.len(), None);
            }
            *self.ids[place.value.index()].get_or_insert(next)
        } else {
            *self.scoped.entry((place.value, place.scope)).or_insert(next)
        };
        if id == next {
            self.places.push(place);
        }
        id
    }

    fn next_id(&self) -> SchemaId {
        SchemaId(u32::try_from(self.places.len()).expect("fewer schemas than 2^32"))
    }

    /// A schema that nothing satisfies.
    fn never(&mut self) -> SchemaId {
        let next = self.next_id();
        let id = *self.never.get_or_insert(next);
        if id == next {
            self.places.push(self.place);
        }
        id
    }

    fn error<T>(&self, value: ValueId, kind: impl Into<SchemaErrorKind>) -> Read<T> {
        Err(error_at(&self.document, value, kind))
    }

    fn ill_typed<T>(&self, at: ValueId, keyword: &'static str, expected: &'static str) -> Read<T> {
        self.error(at, SchemaErrorKind::IllTyped { keyword, expected })
    }

    fn dialect(&self) -> &Dialect {
        self.resources.dialect(self.place.resource)
    }

    /// The value of a keyword that counts in the schema that is being read.
    fn get(&self, name: &'static str) -> Option<ValueId> {
        let found = self.present.iter().find(|(row, _)| row.name == name);
        found.map(|&(_, value)| value)
    }

    fn read(&mut self) -> Read<Schema> {
        let value = self.place.value;
        if self.never.is_some_and(|never| never.index() == self.schemas.len()) {
            return Ok(Schema::Never);
        }
        let children = match self.document.value(value) {
            Value::Boolean(true) => return Ok(Schema::Always),
            Value::Boolean(false) => return Ok(Schema::Never),
            Value::Object(children) => children,
            _ => return self.error(value, SchemaErrorKind::NotASchema),
        };
        if self.dialect().references_stand_alone()
            && let Some(reference) = self.document.member(value, "$ref")
        {
            self.ignore(children);
            return Ok(Schema::Alias(self.reference(reference)?));
        }
        let subjects = self.subjects(children)?;
        let mut keywords = Keywords::default();
        if subjects.has(Subject::Core) {
            self.core(&mut keywords)?;
        }
        if subjects.has(Subject::Any) {
            self.any(&mut keywords)?;
        }
        if subjects.has(Subject::Composition) {
            self.composition(&mut keywords)?;
        }
        self.parts(subjects, &mut keywords)?;
        let others = subjects.without(Subject::Core) != Subjects::default()
            || !keywords.all_of.is_empty()
            || keywords.object.is_some()
            || keywords.array.is_some();
        Ok(match keywords.reference {
            Some(target) if !others => Schema::Alias(target),
            None if !others => Schema::Always,
            _ => Schema::Keywords(Box::new(keywords)),
        })
    }

    /// The parts about single types.
    fn parts(&mut self, subjects: Subjects, keywords: &mut Keywords) -> Read<()> {
        let names_type = |name: &str| match self.get("type").map(|at| self.document.value(at)) {
            Some(Value::String(text)) => self.document.text(text) == name,
            Some(Value::Array(items)) => self.document.items(items).iter().any(|&item| {
                matches!(self.document.value(item),
                    Value::String(text) if self.document.text(text) == name)
            }),
            _ => false,
        };
        let closed = |default| default == Unmentioned::Forbidden && self.dialect().is_users;
        let objects = subjects.has(Subject::Object)
            || closed(self.options.additional_properties_default) && names_type("object");
        let arrays = subjects.has(Subject::Array)
            || closed(self.options.additional_items_default) && names_type("array");
        if objects {
            keywords.object = Some(self.object()?);
        }
        if arrays {
            keywords.array = Some(self.array()?);
        }
        if subjects.has(Subject::String) {
            keywords.string = Some(self.string()?);
        }
        if subjects.has(Subject::Number) {
            keywords.number = self.number()?;
        }
        Ok(())
    }

    /// Takes note of the keywords that count in a schema: the subjects that it has some of.
    fn subjects(&mut self, children: Children) -> Read<Subjects> {
        let mut subjects = Subjects::default();
        self.present.clear();
        for index in 0..children.len as usize {
            let Member { key, value, .. } = self.document.members(children)[index];
            let Some(row) = keyword(self.document.text(key)) else { continue };
            if let Some(cause) = self.dialect().exclusion(row) {
                if row.decides() {
                    self.notices.add(cause, value, row.name);
                }
                continue;
            }
            match row.outcome {
                Outcome::Annotation => {}
                Outcome::Enforced(subject) | Outcome::Partly(subject) => {
                    subjects = subjects.with(subject);
                    self.present.push((row, value));
                    let is_partly = row.outcome == Outcome::Partly(subject);
                    if is_partly && self.options.lenient == Leniency::Relax {
                        self.notices.add(Cause::Relaxed, value, row.name);
                    }
                }
            }
        }
        Ok(subjects)
    }

    fn core(&mut self, keywords: &mut Keywords) -> Read<()> {
        for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
            if let Some(at) = self.get(keyword)
                && !matches!(self.document.value(at), Value::String(_))
            {
                return self.ill_typed(at, keyword, "a string");
            }
        }
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = self.get(keyword) {
                self.members(definitions, keyword)?;
            }
        }
        let mut targets = Vec::new();
        if let Some(at) = self.get("$ref") {
            targets.push(self.reference(at)?);
        }
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if let Some(at) = self.get(keyword) {
                targets.push(self.dynamic_reference(at, keyword)?);
            }
        }
        let mut targets = targets.into_iter();
        keywords.reference = targets.next();
        keywords.all_of = targets.collect();
        Ok(())
    }

    /// The schema that a `$ref` leads to.
    fn reference(&mut self, at: ValueId) -> Read<SchemaId> {
        let target = self.target(at, "$ref")?;
        Ok(self.target_schema(target))
    }

    /// The schema that a dynamic reference leads to: where a plain one would, unless that is a
    /// dynamic anchor; then to the outermost of that name.
    fn dynamic_reference(&mut self, at: ValueId, keyword: &'static str) -> Read<SchemaId> {
        let mut target = match keyword {
            "$recursiveRef" => {
                let is_whole = matches!(self.document.value(at),
                    Value::String(text) if self.document.text(text) == "#");
                if !is_whole {
                    return self.ill_typed(at, keyword, "\"#\"");
                }
                self.resources.recursive_target(self.place.resource)
            }
            _ => self.target(at, keyword)?,
        };
        if let Some(name) = target.dynamic
            && let Some((value, resource)) = self.scopes.binding(self.place.scope, name)
        {
            target = Target { value, resource, ..target };
        }
        Ok(self.target_schema(target))
    }

    fn target(&mut self, at: ValueId, keyword: &'static str) -> Read<Target> {
        let Value::String(text) = self.document.value(at) else {
            return self.ill_typed(at, keyword, "a string");
        };
        let reference = self.document.text(text).to_owned();
        let from = (at, self.place.resource);
        self.resources.resolve(&mut self.document, from, &reference, &mut self.notices)
    }

    fn target_schema(&mut self, target: Target) -> SchemaId {
        let place = Place { value: target.value, ..self.place };
        let place = self.enter(place, target.resource);
        self.schema_at(place)
    }

    /// Takes note of what has no effect in a schema that is a reference.
    fn ignore(&mut self, children: Children) {
        for member in self.document.members(children) {
            if let Some(row) = keyword(self.document.text(member.key))
                && row.decides()
            {
                self.notices.add(Cause::BesideReference, member.value, row.name);
            }
        }
    }
}

/// A set of subjects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Subjects(u8);

impl Subjects {
    fn has(self, subject: Subject) -> bool {
        self.0 & 1 << subject as u8 != 0
    }

    fn with(self, subject: Subject) -> Self {
        Self(self.0 | 1 << subject as u8)
    }

    fn without(self, subject: Subject) -> Self {
        Self(self.0 & !(1 << subject as u8))
    }
}

/// Makes every alias lead to what is no alias; those in a circle are satisfied by nothing.
fn resolve_aliases(schemas: &mut [Schema]) {
    let mut path = Vec::new();
    // Which path a schema was last met on, so that meeting it again is noticed.
    let mut met_from = vec![None; schemas.len()];
    for start in 0..schemas.len() {
        let mut at = start;
        let end = loop {
            let Schema::Alias(target) = schemas[at] else { break Some(at) };
            if met_from[at] == Some(start) {
                break None;
            }
            met_from[at] = Some(start);
            path.push(at);
            at = target.index();
        };
        for alias in path.drain(..) {
            schemas[alias] = match end {
                Some(end) => Schema::Alias(SchemaId(u32::try_from(end).expect("a schema"))),
                None => Schema::Never,
            };
        }
    }
}
