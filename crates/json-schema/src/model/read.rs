//! Reads the reachable part of a document as schemas.

use super::{
    ArrayKeywords, Bound, Count, Ignored, Interval, Keywords, Model, NumberKeywords,
    ObjectKeywords, Schema, SchemaId, StringKeywords, Types, error_at,
};
use crate::{
    SchemaError, SchemaErrorKind,
    decimal::Decimal,
    document::{Children, Document, Member, Text, Value, ValueId},
    keywords::{Outcome, Subject, keyword},
};
use std::collections::HashSet;

/// Reads the schema at the root of the document, and all that it refers to.
///
/// # Errors
/// The first thing found wrong, with its place: a keyword refused or ill-typed, a reference that
/// leads nowhere.
pub(crate) fn read(document: Document) -> Result<Model, SchemaError> {
    let mut reader = Reader {
        ids: vec![None; document.len()],
        schemas: Vec::new(),
        values: Vec::new(),
        references_stand_alone: references_stand_alone(&document),
        ignored: None,
        document,
    };
    let root = reader.schema(ValueId::ROOT);
    while let Some(&value) = reader.values.get(reader.schemas.len()) {
        let schema = reader.read(value)?;
        reader.schemas.push(schema);
    }
    let Reader { document, mut schemas, values, ignored, .. } = reader;
    resolve_aliases(&mut schemas);
    Ok(Model { document, schemas, values, root, ignored })
}

/// Whether a reference is all that counts in its schema: so it was up to draft 7. A schema without
/// `$schema` is of the latest draft.
fn references_stand_alone(document: &Document) -> bool {
    let Some(dialect) = document.member(ValueId::ROOT, "$schema") else { return false };
    let Value::String(dialect) = document.value(dialect) else { return false };
    let dialect = document.text(dialect);
    let draft = ["http://json-schema.org/draft-0", "https://json-schema.org/draft-0"]
        .iter()
        .find_map(|start| dialect.strip_prefix(start));
    let draft = draft.map(|rest| rest.strip_suffix('#').unwrap_or(rest));
    draft.is_some_and(|rest| ["3/schema", "4/schema", "6/schema", "7/schema"].contains(&rest))
}

struct Reader {
    document: Document,
    /// The schema at each value that is used as one.
    ids: Vec<Option<SchemaId>>,
    /// Those read so far; the worklist is what `values` has beyond.
    schemas: Vec<Schema>,
    values: Vec<ValueId>,
    /// Whether what stands beside a reference is without effect.
    references_stand_alone: bool,
    /// What was without effect for that reason.
    ignored: Option<Ignored>,
}

type Read<T> = Result<T, SchemaError>;

impl Reader {
    /// The schema at a value, to be read if it has not been.
    fn schema(&mut self, value: ValueId) -> SchemaId {
        let next = u32::try_from(self.values.len()).expect("fewer schemas than values");
        *self.ids[value.index()].get_or_insert_with(|| {
            self.values.push(value);
            SchemaId(next)
        })
    }

    fn error<T>(&self, value: ValueId, kind: impl Into<SchemaErrorKind>) -> Read<T> {
        Err(error_at(&self.document, value, kind))
    }

    fn ill_typed<T>(&self, at: ValueId, keyword: &'static str, expected: &'static str) -> Read<T> {
        self.error(at, SchemaErrorKind::IllTyped { keyword, expected })
    }

    fn read(&mut self, value: ValueId) -> Read<Schema> {
        let children = match self.document.value(value) {
            Value::Boolean(true) => return Ok(Schema::Always),
            Value::Boolean(false) => return Ok(Schema::Never),
            Value::Object(children) => children,
            _ => return self.error(value, SchemaErrorKind::NotASchema),
        };
        if self.references_stand_alone
            && let Some(reference) = self.document.member(value, "$ref")
        {
            self.ignore(children);
            return Ok(Schema::Alias(self.reference(reference)?));
        }
        let subjects = self.subjects(self.document.members(children))?;
        let mut keywords = Keywords::default();
        let has = |subject: Subject| subjects.contains(&Some(subject));
        if has(Subject::Core) {
            keywords.reference = self.core(value)?;
        }
        if has(Subject::Any) {
            self.any(value, &mut keywords)?;
        }
        if has(Subject::Object) {
            keywords.object = Some(self.object(value)?);
        }
        if has(Subject::Array) {
            keywords.array = Some(self.array(value)?);
        }
        if has(Subject::String) {
            keywords.string = Some(self.string(value)?);
        }
        if has(Subject::Number) {
            keywords.number = self.number(value)?;
        }
        let others = subjects.iter().flatten().any(|&subject| subject != Subject::Core);
        Ok(match keywords.reference {
            Some(target) if !others => Schema::Alias(target),
            None if !others => Schema::Always,
            _ => Schema::Keywords(Box::new(keywords)),
        })
    }

    /// The subjects that a schema has keywords of.
    fn subjects(&self, members: &[Member]) -> Read<[Option<Subject>; 6]> {
        let mut subjects = [None; 6];
        for member in members {
            match keyword(self.document.text(member.key)) {
                Some((keyword, Outcome::Refused)) => {
                    return self.error(member.value, SchemaErrorKind::Unsupported { keyword });
                }
                Some((_, Outcome::Enforced(subject))) => subjects[subject as usize] = Some(subject),
                Some((_, Outcome::Annotation)) | None => {}
            }
        }
        Ok(subjects)
    }

    fn core(&mut self, schema: ValueId) -> Read<Option<SchemaId>> {
        if let Some(id) = self.document.member(schema, "$id")
            && schema != ValueId::ROOT
        {
            return self.error(id, SchemaErrorKind::Unsupported { keyword: "$id" });
        }
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = self.document.member(schema, keyword) {
                self.members(definitions, keyword)?;
            }
        }
        let reference = self.document.member(schema, "$ref");
        reference.map(|reference| self.reference(reference)).transpose()
    }

    /// The schema that a `$ref` leads to.
    fn reference(&mut self, reference: ValueId) -> Read<SchemaId> {
        let Value::String(text) = self.document.value(reference) else {
            return self.ill_typed(reference, "$ref", "a string");
        };
        let target = self.resolve(reference, self.document.text(text))?;
        Ok(self.schema(target))
    }

    /// Takes note of what has no effect in a schema that is a reference.
    fn ignore(&mut self, children: Children) {
        for member in self.document.members(children) {
            let Some((keyword, outcome)) = keyword(self.document.text(member.key)) else {
                continue;
            };
            if matches!(outcome, Outcome::Annotation | Outcome::Enforced(Subject::Core)) {
                continue;
            }
            match &mut self.ignored {
                Some(ignored) => ignored.count += 1,
                first => *first = Some(Ignored { value: member.value, keyword, count: 1 }),
            }
        }
    }

    /// The value that a reference leads to: a JSON pointer (RFC 6901) as a URI fragment.
    fn resolve(&self, at: ValueId, reference: &str) -> Read<ValueId> {
        let pointer = match reference.strip_prefix('#') {
            Some("") => return Ok(ValueId::ROOT),
            Some(fragment) if fragment.starts_with('/') => &fragment[1..],
            _ => {
                let reference = reference.to_owned();
                return self.error(at, SchemaErrorKind::RemoteReference { reference });
            }
        };
        let target = pointer.split('/').try_fold(ValueId::ROOT, |value, token| {
            let token = percent_decoded(token)?.replace("~1", "/").replace("~0", "~");
            match self.document.value(value) {
                Value::Object(_) => self.document.member(value, &token),
                Value::Array(children) => {
                    let canonical = token == "0" || !token.starts_with(['0', '+']);
                    let index: usize = token.parse().ok().filter(|_| canonical)?;
                    self.document.items(children).get(index).copied()
                }
                _ => None,
            }
        });
        match target {
            Some(target) => Ok(target),
            None => {
                let reference = reference.to_owned();
                self.error(at, SchemaErrorKind::UnresolvableReference { reference })
            }
        }
    }

    fn any(&mut self, schema: ValueId, keywords: &mut Keywords) -> Read<()> {
        if let Some(value) = self.document.member(schema, "type") {
            keywords.types = self.types(value)?;
        }
        if let Some(value) = self.document.member(schema, "enum") {
            keywords.enumeration = Some(self.items(value, "enum")?.into());
        }
        keywords.constant = self.document.member(schema, "const");
        if let Some(value) = self.document.member(schema, "anyOf") {
            keywords.any_of = self.schemas(value, "anyOf")?;
        }
        Ok(())
    }

    fn types(&self, value: ValueId) -> Read<Types> {
        let one = |value: ValueId| match self.document.value(value) {
            Value::String(text) => Types::named(self.document.text(text)),
            _ => None,
        };
        let types = match self.document.value(value) {
            Value::Array(children) if children.len > 0 => {
                let mut items = self.document.items(children).iter();
                items.try_fold(Types::NONE, |types, &item| Some(types.union(one(item)?)))
            }
            _ => one(value),
        };
        match types {
            Some(types) => Ok(types),
            None => self.ill_typed(value, "type", "the name of a type of JSON, or a list of such"),
        }
    }

    fn object(&mut self, schema: ValueId) -> Read<ObjectKeywords> {
        let mut object = ObjectKeywords::default();
        if let Some(value) = self.document.member(schema, "properties") {
            let members = self.members(value, "properties")?.to_vec();
            let properties = members.iter().map(|member| (member.key, self.schema(member.value)));
            object.properties = properties.collect();
            let count = u32::try_from(members.len()).expect("fewer than 2^32 members");
            let mut by_name: Vec<u32> = (0..count).collect();
            let name = |index: u32| self.document.text(members[index as usize].key);
            by_name.sort_unstable_by(|&a, &b| name(a).cmp(name(b)));
            object.by_name = by_name.into();
        }
        if let Some(value) = self.document.member(schema, "required") {
            object.required = self.required(value)?;
        }
        let additional = self.document.member(schema, "additionalProperties");
        object.additional = additional.map(|value| self.schema(value));
        Ok(object)
    }

    fn required(&self, value: ValueId) -> Read<Box<[Text]>> {
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for &item in self.items(value, "required")? {
            let Value::String(name) = self.document.value(item) else {
                return self.ill_typed(item, "required", "a list of strings");
            };
            if seen.insert(self.document.text(name)) {
                names.push(name);
            }
        }
        Ok(names.into())
    }

    fn array(&mut self, schema: ValueId) -> Read<ArrayKeywords> {
        let mut array = ArrayKeywords {
            count: self.count(schema, "minItems", "maxItems")?,
            ..ArrayKeywords::default()
        };
        if let Some(value) = self.document.member(schema, "uniqueItems") {
            match self.document.value(value) {
                Value::Boolean(false) => {}
                Value::Boolean(true) => {
                    let keyword = "uniqueItems";
                    return self.error(value, SchemaErrorKind::Unsupported { keyword });
                }
                _ => return self.ill_typed(value, "uniqueItems", "true or false"),
            }
        }
        let items = self.document.member(schema, "items");
        if let Some(prefix) = self.document.member(schema, "prefixItems") {
            // The specification wants one at least, but none is just as clear.
            let prefix = self.items(prefix, "prefixItems")?.to_vec();
            array.prefix = prefix.into_iter().map(|item| self.schema(item)).collect();
        } else if let Some(items) = items
            && let Value::Array(children) = self.document.value(items)
        {
            // Up to 2019-09 a list of schemas stands under `items`, what follows under
            // `additionalItems`.
            let prefix = self.document.items(children).to_vec();
            array.prefix = prefix.into_iter().map(|item| self.schema(item)).collect();
            let additional = self.document.member(schema, "additionalItems");
            array.items = additional.map(|value| self.schema(value));
            return Ok(array);
        }
        array.items = items.map(|value| self.schema(value));
        Ok(array)
    }

    fn string(&self, schema: ValueId) -> Read<StringKeywords> {
        let length = self.count(schema, "minLength", "maxLength")?;
        let pattern = match self.document.member(schema, "pattern") {
            None => None,
            Some(value) => match self.document.value(value) {
                Value::String(text) => Some(text),
                _ => return self.ill_typed(value, "pattern", "a string"),
            },
        };
        Ok(StringKeywords { length, pattern })
    }

    fn number(&self, schema: ValueId) -> Read<Option<NumberKeywords>> {
        let mut interval = Interval::default();
        let (bound, excluded) = self.bounds(schema, "minimum", "exclusiveMinimum")?;
        interval.raise(bound);
        interval.raise(excluded);
        let (bound, excluded) = self.bounds(schema, "maximum", "exclusiveMaximum")?;
        interval.reduce(bound);
        interval.reduce(excluded);
        Ok((interval != Interval::default()).then_some(NumberKeywords { interval }))
    }

    /// An inclusive and an exclusive bound; in draft 4 the second is a boolean on the first.
    fn bounds(
        &self,
        schema: ValueId,
        inclusive: &'static str,
        exclusive: &'static str,
    ) -> Read<(Option<Bound>, Option<Bound>)> {
        let bound = |keyword: &'static str, inclusive: bool| -> Read<Option<Bound>> {
            let Some(at) = self.document.member(schema, keyword) else { return Ok(None) };
            let Value::Number(text) = self.document.value(at) else {
                return self.ill_typed(at, keyword, "a number");
            };
            match Decimal::parse(self.document.text(text)) {
                Some(value) => Ok(Some(Bound { value, inclusive })),
                None => self.error(at, SchemaErrorKind::ExponentTooLarge),
            }
        };
        let flag = self.document.member(schema, exclusive).map(|at| self.document.value(at));
        match flag {
            Some(Value::Boolean(excluded)) => Ok((bound(inclusive, !excluded)?, None)),
            _ => Ok((bound(inclusive, true)?, bound(exclusive, false)?)),
        }
    }

    fn count(&self, schema: ValueId, min: &'static str, max: &'static str) -> Read<Count> {
        let count = |keyword: &'static str| -> Read<Option<(ValueId, u64)>> {
            let Some(at) = self.document.member(schema, keyword) else { return Ok(None) };
            let Value::Number(text) = self.document.value(at) else {
                return self.ill_typed(at, keyword, "an integer that is not negative");
            };
            match Decimal::parse(self.document.text(text)) {
                None => self.error(at, SchemaErrorKind::ExponentTooLarge),
                Some(value) => match value.as_count() {
                    Some(count) => Ok(Some((at, count))),
                    None => self.ill_typed(at, keyword, "an integer that is not negative"),
                },
            }
        };
        let least = match count(min)? {
            None => 0,
            Some((at, least)) => match u32::try_from(least) {
                Ok(least) => least,
                Err(_) => return self.error(at, SchemaErrorKind::CountTooLarge { keyword: min }),
            },
        };
        let most = count(max)?.and_then(|(_, most)| u32::try_from(most).ok());
        Ok(Count { min: least, max: most })
    }

    fn members(&self, value: ValueId, keyword: &'static str) -> Read<&[Member]> {
        match self.document.value(value) {
            Value::Object(children) => Ok(self.document.members(children)),
            _ => self.ill_typed(value, keyword, "an object"),
        }
    }

    fn items(&self, value: ValueId, keyword: &'static str) -> Read<&[ValueId]> {
        match self.document.value(value) {
            Value::Array(children) => Ok(self.document.items(children)),
            _ => self.ill_typed(value, keyword, "a list"),
        }
    }

    /// A list of at least one schema.
    fn schemas(&mut self, value: ValueId, keyword: &'static str) -> Read<Box<[SchemaId]>> {
        let items = self.items(value, keyword)?.to_vec();
        if items.is_empty() {
            return self.ill_typed(value, keyword, "a list of at least one schema");
        }
        Ok(items.into_iter().map(|item| self.schema(item)).collect())
    }
}

/// Undoes percent-encoding (RFC 3986); none when that is not UTF-8 or not an encoding.
fn percent_decoded(token: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            u8::try_from(high * 16 + low).expect("two digits")
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
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
