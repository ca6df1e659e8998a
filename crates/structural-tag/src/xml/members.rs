//! Objects and arrays whose members and items are written one by one.

use super::{
    Key, Writer,
    shape::{Array, Child, Object},
    text,
};
use crate::{Error, StructuralTagErrorKind as Kind, document::ValueId};
use formwork_automata::{BooleanOp, Dfa};
use formwork_grammar::{BodyBuilder, ExprId, Member, Permute, Rest, Uniqueness};
use formwork_json_schema::PropertyOrder;
use formwork_regex::{Dialect, MatchMode, Options as RegexOptions};
use std::sync::Arc;

/// Keys that no schema speaks of.
const IDENTIFIER: &str = "[A-Za-z_][A-Za-z0-9_]*";

/// Keys that a pattern speaks of: whatever does not end a key.
const KEY: &str = r#"[^\u0000-\u001f"<>]+"#;

/// Keys where entities stand for what would end a key.
const ESCAPED_KEY: &str = r"[^\u0000-\u001f]+";

impl Writer<'_> {
    pub(super) fn members(
        &mut self,
        object: &Object,
        body: &mut BodyBuilder,
    ) -> Result<ExprId, Error> {
        let names = match object.names {
            None => None,
            Some(names) => match self.strings(names)? {
                Some(names) => Some(names),
                None => Some(Dfa::never()),
            },
        };
        let excludes = self.task.excludes.clone();
        let mut members = Vec::new();
        for (key, required, child) in &object.members {
            let is_allowed = names.as_ref().is_none_or(|names| names.accepts(key.as_bytes()))
                && !excludes.iter().any(|text| key.contains(text));
            let choices = match is_allowed {
                true => self.parameters(Key::Named(key), *child, body)?,
                false => Vec::new(),
            };
            let expr = body.alt(&choices);
            members.push(Member { expr, required: *required });
        }
        let others = self.others(object, names.as_ref(), body)?;
        let space = self.white_space(body);
        let required = members.iter().filter(|member| member.required).count();
        let most = others.is_empty().then_some(members.len());
        let is_counted = object.min as usize > required
            || object.max.is_some_and(|max| most.is_none_or(|most| (max as usize) < most));
        if is_counted || self.options.property_order == PropertyOrder::Any {
            let rest = self.rest(&others, is_counted, body)?;
            let permute = Permute {
                members: members.into(),
                rest,
                separator: space,
                min: object.min,
                max: object.max,
            };
            let permute = body.permute(permute);
            return Ok(body.seq(&[space, permute, space]));
        }
        let mut parts = vec![space];
        for member in members {
            let spaced = body.seq(&[member.expr, space]);
            parts.push(if member.required { spaced } else { body.optional(spaced) });
        }
        let others: Vec<ExprId> =
            others.iter().map(|(key, tail)| body.seq(&[*key, *tail])).collect();
        let other = body.alt(&others);
        let other = body.seq(&[other, space]);
        parts.push(body.repeat(other, 0, None));
        Ok(body.seq(&parts))
    }

    /// Other members in any order.
    fn rest(
        &self,
        others: &[(ExprId, ExprId)],
        is_counted: bool,
        body: &mut BodyBuilder,
    ) -> Result<Option<Rest>, Error> {
        Ok(match (others, is_counted) {
            ([], _) => None,
            (&[(key, tail)], true) => Some(Rest { key, tail, uniqueness: Uniqueness::Distinct }),
            (_, true) => {
                let (style, what) =
                    (self.task.style.name(), "a number of members with several kinds of keys");
                return Err(self.task.document.error(self.task.value, Kind::Style { style, what }));
            }
            (others, false) => {
                let all: Vec<ExprId> =
                    others.iter().map(|(key, tail)| body.seq(&[*key, *tail])).collect();
                let (key, tail) = (body.alt(&all), body.empty());
                Some(Rest { key, tail, uniqueness: Uniqueness::Any })
            }
        })
    }

    /// The members that are not declared: the key with what stands before it, and the rest.
    fn others(
        &mut self,
        object: &Object,
        names: Option<&Dfa>,
        body: &mut BodyBuilder,
    ) -> Result<Vec<(ExprId, ExprId)>, Error> {
        if object.patterns.is_empty() && object.others.is_none() {
            return Ok(Vec::new());
        }
        if self.wire.after_second_key.is_some() {
            let (style, what) = (self.task.style.name(), "keys that are not declared");
            return Err(self.task.document.error(self.task.value, Kind::Style { style, what }));
        }
        let kinds = self.kinds(object, names)?;
        let mut others = Vec::new();
        for (keys, child) in kinds {
            let keys = text::with_entities(&keys, self.wire.entities, &mut self.fuel);
            let keys = keys.map_err(|error| self.exhausted(error))?;
            if keys.is_empty() {
                continue;
            }
            let before = body.literal(self.wire.before_key.as_bytes());
            let keys = body.automaton(Arc::new(keys));
            let key = body.seq(&[before, keys]);
            let tails = self.parameters(Key::Written, child, body)?;
            if !tails.is_empty() {
                others.push((key, body.alt(&tails)));
            }
        }
        Ok(others)
    }

    /// Keys that are not declared, by what their values have to satisfy.
    fn kinds(&mut self, object: &Object, names: Option<&Dfa>) -> Result<Vec<(Dfa, Child)>, Error> {
        let mut declared: Vec<&str> = object.members.iter().map(|member| &*member.0).collect();
        declared.sort_unstable();
        let is_free = object.patterns.is_empty() && names.is_none();
        let base = match (self.wire.entities.len() > 2, is_free) {
            (true, _) => ESCAPED_KEY,
            (false, true) => IDENTIFIER,
            (false, false) => KEY,
        };
        let mut left = self.language(base, self.task.value, MatchMode::Whole)?;
        if let Some(names) = names {
            left = self.combined(&left, names, BooleanOp::Intersection)?;
        }
        if !self.task.excludes.is_empty() {
            let excluded = self.task.excludes.iter().cloned().collect();
            let free = self.texts.without(excluded, &mut self.fuel);
            let free = free.map_err(|error| self.exhausted(error))?;
            left = self.combined(&left, &free, BooleanOp::Intersection)?;
        }
        left = left
            .without_words(&declared, &mut self.fuel)
            .map_err(|error| self.exhausted(error))?
            .canonical();
        let mut kinds = Vec::new();
        let mut taken = Dfa::never();
        for (place, pattern, child) in &object.patterns {
            let keys = self.language(pattern, *place, MatchMode::Search)?;
            let overlap = self.combined(&keys, &taken, BooleanOp::Intersection)?;
            if !overlap.is_empty() || declared.iter().any(|key| keys.accepts(key.as_bytes())) {
                let (style, what) = (self.task.style.name(), "patterns that speak of one key");
                return Err(self.task.document.error(*place, Kind::Style { style, what }));
            }
            taken = self.combined(&taken, &keys, BooleanOp::Union)?;
            kinds.push((self.combined(&left, &keys, BooleanOp::Intersection)?, *child));
        }
        if let Some(child) = object.others {
            kinds.push((self.combined(&left, &taken, BooleanOp::Difference)?, child));
        }
        Ok(kinds)
    }

    fn combined(&mut self, left: &Dfa, right: &Dfa, op: BooleanOp) -> Result<Dfa, Error> {
        let combined = left.combine(right, op, &mut self.fuel);
        Ok(combined.map_err(|error| self.exhausted(error))?.canonical())
    }

    fn language(&mut self, pattern: &str, place: ValueId, mode: MatchMode) -> Result<Dfa, Error> {
        let options = RegexOptions::default().with_dialect(Dialect::Ecma262).with_mode(mode);
        formwork_regex::language(pattern, &options, &self.task.limits, &mut self.fuel)
            .map_err(|error| self.task.document.error(place, Kind::Regex(Box::new(error))))
    }

    pub(super) fn items(&mut self, array: &Array, body: &mut BodyBuilder) -> Result<ExprId, Error> {
        let space = self.white_space(body);
        let count = u32::try_from(array.first.len()).expect("offsets are 32 bits wide");
        let mut items = Vec::new();
        for child in &array.first {
            let choices = self.parameters(Key::None, *child, body)?;
            let item = body.alt(&choices);
            items.push(body.seq(&[item, space]));
        }
        let mut tail = match array.others {
            Some(child) if array.max.is_none_or(|max| max > count) => {
                let choices = self.parameters(Key::None, child, body)?;
                let item = body.alt(&choices);
                let item = body.seq(&[item, space]);
                body.repeat(item, array.min.saturating_sub(count), array.max.map(|max| max - count))
            }
            _ if array.min > count => body.never(),
            _ => body.empty(),
        };
        for (index, item) in (0..count).zip(items).rev() {
            let more = match array.max.is_none_or(|max| index < max) {
                true => body.seq(&[item, tail]),
                false => body.never(),
            };
            tail = if index >= array.min { body.optional(more) } else { more };
        }
        Ok(body.seq(&[space, tail]))
    }
}
