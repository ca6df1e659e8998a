//! Values of keywords, checked: lists, objects, counts, bounds.

use super::Reader;
use crate::{
    SchemaErrorKind,
    document::{Member, Text, Value, ValueId},
    model::{Bound, Count, Read, SchemaId},
};
use std::collections::HashSet;

impl Reader<'_> {
    pub(super) fn members(&self, value: ValueId, keyword: &'static str) -> Read<&[Member]> {
        match self.document.value(value) {
            Value::Object(children) => Ok(self.document.members(children)),
            _ => self.ill_typed(value, keyword, "an object"),
        }
    }

    pub(super) fn items(&self, value: ValueId, keyword: &'static str) -> Read<&[ValueId]> {
        match self.document.value(value) {
            Value::Array(children) => Ok(self.document.items(children)),
            _ => self.ill_typed(value, keyword, "a list"),
        }
    }

    pub(super) fn text(&self, value: ValueId, keyword: &'static str) -> Read<Text> {
        match self.document.value(value) {
            Value::String(text) => Ok(text),
            _ => self.ill_typed(value, keyword, "a string"),
        }
    }

    /// A list of at least one schema.
    pub(super) fn schemas(
        &mut self,
        value: ValueId,
        keyword: &'static str,
    ) -> Read<Box<[SchemaId]>> {
        let items = self.items(value, keyword)?.to_vec();
        if items.is_empty() {
            return self.ill_typed(value, keyword, "a list of at least one schema");
        }
        Ok(items.into_iter().map(|item| self.schema(item)).collect())
    }

    /// An object of schemas.
    pub(super) fn named_schemas(
        &mut self,
        value: ValueId,
        keyword: &'static str,
    ) -> Read<Box<[(Text, SchemaId)]>> {
        let members = self.members(value, keyword)?.to_vec();
        Ok(members.into_iter().map(|member| (member.key, self.schema(member.value))).collect())
    }

    /// A list of strings, each once.
    pub(super) fn names(&self, value: ValueId, keyword: &'static str) -> Read<Vec<Text>> {
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for &item in self.items(value, keyword)? {
            let Value::String(name) = self.document.value(item) else {
                return self.ill_typed(item, keyword, "a list of strings");
            };
            if seen.insert(self.document.text(name)) {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// An inclusive and an exclusive bound; in draft 4 the second is a boolean on the first.
    pub(super) fn bounds(
        &self,
        inclusive: &'static str,
        exclusive: &'static str,
    ) -> Read<(Option<Bound>, Option<Bound>)> {
        let bound = |keyword: &'static str, inclusive: bool| -> Read<Option<Bound>> {
            let Some(at) = self.get(keyword) else { return Ok(None) };
            let value = self.decimal(at, keyword)?;
            Ok(Some(Bound { value, inclusive }))
        };
        let flag = self.get(exclusive).map(|at| self.document.value(at));
        match flag {
            Some(Value::Boolean(excluded)) => Ok((bound(inclusive, !excluded)?, None)),
            _ => Ok((bound(inclusive, true)?, bound(exclusive, false)?)),
        }
    }

    /// A least and a greatest number.
    pub(super) fn count(&self, min: &'static str, max: &'static str) -> Read<Count> {
        let count = |keyword: &'static str| -> Read<Option<(ValueId, u64)>> {
            let Some(at) = self.get(keyword) else { return Ok(None) };
            let expected = "an integer that is not negative";
            let Value::Number(_) = self.document.value(at) else {
                return self.ill_typed(at, keyword, expected);
            };
            match self.decimal(at, keyword)?.as_count() {
                Some(count) => Ok(Some((at, count))),
                None => self.ill_typed(at, keyword, expected),
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
}
