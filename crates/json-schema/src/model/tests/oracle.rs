//! A validator that is slow and obviously right: the words of the specification, one after another,
//! on the keywords as they were read. It knows no formats.

use super::*;
use crate::document::Value;
use formwork_regex::MatchMode;
use std::collections::BTreeSet;

/// What a schema has said about: keys of an object, or indices of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Evaluated {
    keys: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Evaluated {
    fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
        self.items.extend(other.items);
    }
}

/// Judges values of one document by the schemas of a model.
struct Oracle<'m> {
    model: &'m Model,
    instance: Document,
    /// The questions that are being answered.
    open: Vec<(SchemaId, ValueId)>,
}

/// Whether a JSON text satisfies a schema.
pub(super) fn is_valid(model: &Model, instance: &str) -> bool {
    let instance = document::parse(instance.as_bytes(), &Limits::default()).expect("JSON");
    let mut oracle = Oracle { model, instance, open: Vec::new() };
    oracle.judge(model.root(), ValueId::ROOT).is_some()
}

fn decimal(document: &Document, value: ValueId) -> Option<Decimal> {
    match document.value(value) {
        Value::Number(text) => Some(Decimal::parse(document.text(text)).expect("in range")),
        _ => None,
    }
}

/// Whether two values are equal.
fn equal(left: (&Document, ValueId), right: (&Document, ValueId)) -> bool {
    let ((l, left), (r, right)) = (left, right);
    match (l.value(left), r.value(right)) {
        (Value::Number(_), Value::Number(_)) => decimal(l, left) == decimal(r, right),
        (Value::String(a), Value::String(b)) => l.text(a) == r.text(b),
        (Value::Array(a), Value::Array(b)) => {
            let mut pairs = l.items(a).iter().zip(r.items(b));
            a.len == b.len && pairs.all(|(&a, &b)| equal((l, a), (r, b)))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len == b.len
                && l.members(a).iter().all(|member| {
                    let other = r.member(right, l.text(member.key));
                    other.is_some_and(|other| equal((l, member.value), (r, other)))
                })
        }
        (a, b) => a == b,
    }
}

impl ObjectKeywords {
    /// The schema of a declared property.
    pub(super) fn property(&self, document: &Document, name: &str) -> Option<SchemaId> {
        let mut named = self.properties.iter().filter(|(key, _)| document.text(*key) == name);
        named.next().map(|&(_, schema)| schema)
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let mut options = formwork_regex::Options::default();
    options.mode = MatchMode::Search;
    options.dialect = formwork_regex::Dialect::Ecma262;
    let limits = Limits::default();
    let mut fuel = limits.fuel(&CancellationToken::new());
    let language = formwork_regex::language(pattern, &options, &limits, &mut fuel);
    language.expect("a pattern").accepts(text.as_bytes())
}

impl Oracle<'_> {
    /// What a schema says about a value; none when the value does not satisfy it.
    fn judge(&mut self, schema: SchemaId, value: ValueId) -> Option<Evaluated> {
        let model = self.model;
        let question = (model.canonical(schema), value);
        let keywords = match model.schema(schema) {
            Schema::Always => return Some(Evaluated::default()),
            Schema::Never | Schema::Alias(_) => return None,
            Schema::Keywords(keywords) => keywords,
        };
        // What holds because it holds, does not hold.
        if self.open.contains(&question) {
            return None;
        }
        self.open.push(question);
        let evaluated = self.keywords(keywords, value);
        self.open.pop();
        evaluated
    }

    fn keywords(&mut self, keywords: &Keywords, value: ValueId) -> Option<Evaluated> {
        let model = self.model;
        let types = match self.instance.value(value) {
            Value::Null => Types::NULL,
            Value::Boolean(_) => Types::BOOLEAN,
            Value::Number(_) => match decimal(&self.instance, value)?.is_integer() {
                true => Types::INTEGER,
                false => Types::FRACTION,
            },
            Value::String(_) => Types::STRING,
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        };
        let same = |&listed: &ValueId| equal((&model.document, listed), (&self.instance, value));
        let holds = keywords.types.intersects(types)
            && keywords.constant.as_ref().is_none_or(same)
            && keywords.enumeration.as_ref().is_none_or(|values| values.iter().any(same));
        let is_plain = |text: &str| !text.contains(['.', 'e', 'E']);
        let is_written_so = match self.instance.value(value) {
            Value::Number(text) => !keywords.written_whole || is_plain(self.instance.text(text)),
            _ => true,
        };
        if !holds || !is_written_so {
            return None;
        }
        let mut evaluated = Evaluated::default();
        for &schema in keywords.reference.iter().chain(&keywords.all_of) {
            evaluated.add(self.judge(schema, value)?);
        }
        let mut branches = |oracle: &mut Self, schemas: &[SchemaId]| {
            let found = schemas.iter().filter_map(|&schema| oracle.judge(schema, value));
            found.map(|found| evaluated.add(found)).count()
        };
        if !keywords.any_of.is_empty() && branches(self, &keywords.any_of) == 0 {
            return None;
        }
        if !keywords.one_of.is_empty() && branches(self, &keywords.one_of) != 1 {
            return None;
        }
        if keywords.not.is_some_and(|schema| self.judge(schema, value).is_some()) {
            return None;
        }
        if let Some(Conditional { condition, then, otherwise }) = keywords.conditional {
            let condition = self.judge(condition, value);
            let branch = if condition.is_some() { then } else { otherwise };
            evaluated.add(condition.unwrap_or_default());
            if let Some(branch) = branch {
                evaluated.add(self.judge(branch, value)?);
            }
        }
        match self.instance.value(value) {
            Value::Object(_) => self.object(keywords.object.as_ref(), value, evaluated),
            Value::Array(_) => self.array(keywords.array.as_ref(), value, evaluated),
            Value::String(text) => {
                let text = self.instance.text(text);
                let holds = keywords.string.as_ref().is_none_or(|part| {
                    let pattern = part.pattern.map(|pattern| model.document.text(pattern));
                    part.length.contains(text.chars().count())
                        && pattern.is_none_or(|pattern| matches(pattern, text))
                });
                holds.then_some(evaluated)
            }
            Value::Number(_) => {
                let number = decimal(&self.instance, value)?;
                let part = keywords.number.as_ref();
                let holds = part.is_none_or(|part| {
                    let divisor = part.multiple_of.as_ref();
                    part.interval.contains(&number)
                        && divisor.is_none_or(|divisor| is_multiple(&number, divisor))
                });
                holds.then_some(evaluated)
            }
            _ => Some(evaluated),
        }
    }

    fn object(
        &mut self,
        part: Option<&ObjectKeywords>,
        value: ValueId,
        mut evaluated: Evaluated,
    ) -> Option<Evaluated> {
        let (Some(part), document) = (part, &self.model.document) else { return Some(evaluated) };
        let Value::Object(children) = self.instance.value(value) else { return None };
        let members = self.instance.members(children).to_vec();
        let name = |oracle: &Self, text: Text| oracle.instance.text(text).to_owned();
        let has = |oracle: &Self, text: Text| {
            oracle.instance.member(value, document.text(text)).is_some()
        };
        if !part.count.contains(members.len())
            || !part.required.iter().all(|&name| has(self, name))
            || part.dependent_required.iter().any(|&(a, b)| has(self, a) && !has(self, b))
        {
            return None;
        }
        for &(present, schema) in &part.dependent_schemas {
            if has(self, present) {
                evaluated.add(self.judge(schema, value)?);
            }
        }
        for member in &members {
            let key = name(self, member.key);
            let mut schemas: Vec<SchemaId> = part.property(document, &key).into_iter().collect();
            let found = part.patterns.iter();
            let found = found.filter(|(pattern, _)| matches(document.text(*pattern), &key));
            schemas.extend(found.map(|&(_, schema)| schema));
            if schemas.is_empty() {
                schemas.extend(part.additional);
            }
            for &schema in &schemas {
                self.judge(schema, member.value)?;
            }
            if !schemas.is_empty() {
                evaluated.keys.insert(key.clone());
            }
            if let Some(names) = part.names
                && !self.name_satisfies(&key, names)
            {
                return None;
            }
        }
        if let Some(schema) = part.unevaluated {
            for member in &members {
                let key = name(self, member.key);
                if !evaluated.keys.contains(&key) {
                    self.judge(schema, member.value)?;
                }
                evaluated.keys.insert(key);
            }
        }
        Some(evaluated)
    }

    fn name_satisfies(&self, name: &str, schema: SchemaId) -> bool {
        let text = serde_json::to_string(name).expect("text");
        let instance = document::parse(text.as_bytes(), &Limits::default()).expect("JSON");
        let mut oracle = Oracle { model: self.model, instance, open: Vec::new() };
        oracle.judge(schema, ValueId::ROOT).is_some()
    }

    fn array(
        &mut self,
        part: Option<&ArrayKeywords>,
        value: ValueId,
        mut evaluated: Evaluated,
    ) -> Option<Evaluated> {
        let Some(part) = part else { return Some(evaluated) };
        let Value::Array(children) = self.instance.value(value) else { return None };
        let items = self.instance.items(children).to_vec();
        let document = &self.instance;
        let repeats = |(at, &item): (usize, &ValueId)| {
            items[..at].iter().any(|&other| equal((document, other), (document, item)))
        };
        if !part.count.contains(items.len()) || part.unique && items.iter().enumerate().any(repeats)
        {
            return None;
        }
        for (index, &item) in items.iter().enumerate() {
            if let Some(schema) = part.item_schema(index) {
                self.judge(schema, item)?;
                evaluated.items.insert(index);
            }
        }
        if let Some(Contains { schema, count, evaluates }) = part.contains {
            let mut found = 0;
            for (index, &item) in items.iter().enumerate() {
                if self.judge(schema, item).is_some() {
                    found += 1;
                    evaluated.items.extend(evaluates.then_some(index));
                }
            }
            if !count.contains(found) {
                return None;
            }
        }
        if let Some(schema) = part.unevaluated {
            for (index, &item) in items.iter().enumerate() {
                if evaluated.items.insert(index) {
                    self.judge(schema, item)?;
                }
            }
        }
        Some(evaluated)
    }
}

/// For the small numbers of tests only.
fn is_multiple(number: &Decimal, divisor: &Decimal) -> bool {
    let scaled = |number: &Decimal| {
        let text = number.plain();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        format!("{whole}{fraction:0<12}").parse::<i128>().expect("a small number")
    };
    scaled(number) % scaled(divisor) == 0
}
