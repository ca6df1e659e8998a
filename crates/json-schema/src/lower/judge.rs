//! Whether a value of the document satisfies a set of schemas: how listed values are filtered by
//! the keywords beside the list.
//!
//! # Idea
//! A question is a pair of a value and a schema. It holds when all of its *groups* do, and a group
//! (a reference, a choice, a property, an item) when one of its questions does. All questions
//! that the first one can lead to are written down, then truth is spread from those without groups:
//! the least fixpoint, without recursion however deep the value or the references are.
//!
//! # Cost
//! One step of fuel for each question and each group.

use super::{Analysis, Lowered, Signed};
use crate::{
    SchemaErrorKind,
    decimal::Decimal,
    document::{Document, Event, Order, Value, ValueId, Walk},
    model::{Keywords, Model, Schema, SchemaId, StringKeywords, Types},
};
use rustc_hash::FxHashMap;
use std::{collections::HashSet, sync::Arc};

type Question = (ValueId, SchemaId);

#[derive(Default)]
struct Questions {
    list: Vec<Question>,
    index: FxHashMap<Question, usize>,
    /// By question: the groups it is in.
    member_of: Vec<Vec<usize>>,
    /// By group: the question it is a part of, and whether it holds already.
    groups: Vec<(usize, bool)>,
    /// By question: groups that do not hold yet; none when it fails in any case.
    open_groups: Vec<Option<usize>>,
}

impl Questions {
    fn add(&mut self, question: Question) -> usize {
        let next = self.list.len();
        *self.index.entry(question).or_insert_with(|| {
            self.list.push(question);
            self.member_of.push(Vec::new());
            self.open_groups.push(None);
            next
        })
    }

    /// Spreads truth; by question, whether it holds.
    fn solve(mut self) -> Vec<bool> {
        let mut holds = vec![false; self.list.len()];
        let mut pending: Vec<usize> =
            (0..holds.len()).filter(|&at| self.open_groups[at] == Some(0)).collect();
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut holds[at], true) {
                continue;
            }
            for &group in &self.member_of[at] {
                let (owner, held) = &mut self.groups[group];
                if !std::mem::replace(held, true)
                    && let Some(open) = &mut self.open_groups[*owner]
                {
                    *open -= 1;
                    if *open == 0 {
                        pending.push(*owner);
                    }
                }
            }
        }
        holds
    }
}

impl Analysis {
    /// Whether a value satisfies all of these.
    pub(super) fn satisfies(&mut self, value: ValueId, members: &[Signed]) -> Lowered<bool> {
        let model = self.model.clone();
        let mut questions = Questions::default();
        for member in members {
            questions.add((value, model.canonical(member.schema)));
        }
        let mut done = 0;
        while let Some(&question) = questions.list.get(done) {
            self.fuel.steps(1)?;
            let groups = self.groups(&model, question)?;
            questions.open_groups[done] = groups.as_ref().map(Vec::len);
            for group in groups.into_iter().flatten() {
                self.fuel.steps(1 + group.len())?;
                let number = questions.groups.len();
                questions.groups.push((done, false));
                for (value, schema) in group {
                    let question = questions.add((value, model.canonical(schema)));
                    questions.member_of[question].push(number);
                }
            }
            done += 1;
        }
        Ok(questions.solve().into_iter().take(members.len()).all(|holds| holds))
    }

    /// The groups of a question; none when it fails by itself.
    fn groups(
        &mut self,
        model: &Model,
        (value, schema): Question,
    ) -> Lowered<Option<Vec<Vec<Question>>>> {
        let keywords = match model.schema(schema) {
            Schema::Always => return Ok(Some(Vec::new())),
            Schema::Never | Schema::Alias(_) => return Ok(None),
            Schema::Keywords(keywords) => keywords,
        };
        if !self.lists(model, schema, keywords, value)? {
            return Ok(None);
        }
        let mut groups = Vec::new();
        groups.extend(keywords.reference.map(|target| vec![(value, target)]));
        if !keywords.any_of.is_empty() {
            groups.push(keywords.any_of.iter().map(|&branch| (value, branch)).collect());
        }
        let holds = self.inside(model, keywords, value, &mut groups)?;
        Ok(holds.then_some(groups))
    }

    /// Whether what a schema says of a value holds but for the values in it, whose groups are added.
    fn inside(
        &mut self,
        model: &Model,
        keywords: &Keywords,
        value: ValueId,
        groups: &mut Vec<Vec<Question>>,
    ) -> Lowered<bool> {
        let document = &model.document;
        let (types, holds) = match document.value(value) {
            Value::Null => (Types::NULL, true),
            Value::Boolean(_) => (Types::BOOLEAN, true),
            Value::Number(text) => {
                let number = decimal(document.text(text))?;
                let part = keywords.number.as_ref();
                let types = if number.is_integer() { Types::INTEGER } else { Types::FRACTION };
                (types, part.is_none_or(|part| part.interval.contains(&number)))
            }
            Value::String(text) => {
                let part = keywords.string.as_ref();
                (Types::STRING, self.text_holds(model, part, document.text(text))?)
            }
            Value::Array(children) => {
                let items = document.items(children);
                let part = keywords.array.as_ref();
                for (index, &item) in items.iter().enumerate() {
                    let schema = part.and_then(|part| part.item_schema(index));
                    groups.extend(schema.map(|schema| vec![(item, schema)]));
                }
                (Types::ARRAY, part.is_none_or(|part| part.count.contains(items.len())))
            }
            Value::Object(children) => {
                let part = keywords.object.as_ref();
                for member in document.members(children) {
                    let name = document.text(member.key);
                    let schema = part.and_then(|part| part.value_schema(document, name));
                    groups.extend(schema.map(|schema| vec![(member.value, schema)]));
                }
                let mut required = part.into_iter().flat_map(|part| &part.required);
                let present = |name| document.member(value, document.text(name)).is_some();
                (Types::OBJECT, required.all(|&name| present(name)))
            }
        };
        Ok(holds && keywords.types.intersects(types))
    }

    fn text_holds(
        &mut self,
        model: &Model,
        part: Option<&StringKeywords>,
        text: &str,
    ) -> Lowered<bool> {
        let Some(part) = part else { return Ok(true) };
        self.fuel.steps(text.len())?;
        if !part.length.contains(text.chars().count()) {
            return Ok(false);
        }
        let Some(pattern) = part.pattern else { return Ok(true) };
        let pattern = model.document.text(pattern);
        Ok(self.languages.pattern(pattern, &mut self.fuel)?.accepts(text.as_bytes()))
    }

    /// Whether a value is among those that a schema lists, if it lists any.
    fn lists(
        &mut self,
        model: &Model,
        schema: SchemaId,
        keywords: &Keywords,
        value: ValueId,
    ) -> Lowered<bool> {
        if let Some(constant) = keywords.constant
            && constant != value
            && self.canonical_text(&model.document, constant)?
                != self.canonical_text(&model.document, value)?
        {
            return Ok(false);
        }
        let Some(values) = &keywords.enumeration else { return Ok(true) };
        // Values are numbered as they stand in the text, so a list of them is sorted.
        if values.binary_search(&value).is_ok() {
            return Ok(true);
        }
        let known = match self.enumerations.get(&schema) {
            Some(known) => known.clone(),
            None => {
                let mut texts = HashSet::new();
                for &value in values {
                    texts.insert(self.canonical_text(&model.document, value)?);
                }
                let texts = Arc::new(texts);
                self.enumerations.insert(schema, texts.clone());
                texts
            }
        };
        Ok(known.contains(&self.canonical_text(&model.document, value)?))
    }

    /// A text that equal values, and only they, share: members sorted, numbers by value.
    fn canonical_text(&mut self, document: &Document, value: ValueId) -> Lowered<Box<[u8]>> {
        let mut text = Vec::new();
        for event in Walk::new(document, value, Order::Sorted) {
            match event {
                Event::Open { value, .. } => text.push(match document.value(value) {
                    Value::Object(_) => b'{',
                    _ => b'[',
                }),
                Event::Item { .. } => text.push(b','),
                Event::Key(key) => super::text::quote(document.text(key), &mut text),
                Event::Close { .. } => text.push(b'}'),
                Event::Scalar(scalar) => match document.value(scalar) {
                    Value::Null => text.push(b'n'),
                    Value::Boolean(truth) => text.push(if truth { b't' } else { b'f' }),
                    Value::Number(number) => {
                        let number = decimal(document.text(number))?;
                        text.extend_from_slice(number.key().as_bytes());
                    }
                    Value::String(string) => super::text::quote(document.text(string), &mut text),
                    Value::Array(_) | Value::Object(_) => unreachable!("containers are opened"),
                },
            }
        }
        self.fuel.steps(text.len())?;
        Ok(text.into())
    }
}

/// The value of a number of the document.
pub(super) fn decimal(text: &str) -> Lowered<Decimal> {
    Decimal::parse(text).ok_or(SchemaErrorKind::ExponentTooLarge)
}
