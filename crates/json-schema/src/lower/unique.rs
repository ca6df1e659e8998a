//! `uniqueItems`.
//!
//! # Idea
//! Scalars are told apart by their texts when each value has one spelling; so items that must differ
//! are spelled canonically, and a register of the grammar keeps the texts that were written. Arrays
//! and objects that are listed in the schema are items that may occur once each. Other arrays and
//! objects have no spelling by which an automaton could know them: there the keyword is refused.

use super::{
    Analysis, Lowered,
    body::Lowering,
    facts::{Fact, FactsId},
    formula::{Connective, Node},
    layout::Content,
    meaning::{Kind, Meaning},
    satisfy::Alternative,
    scalars::Writing,
    sets::SetId,
};
use crate::{Leniency, SchemaErrorKind, document::ValueId, model::Count};
use formwork_automata::{BooleanOp, Dfa};
use formwork_grammar::{ExprId, Member, Permute, Rest, Uniqueness};
use std::sync::Arc;

/// Arrays no two items of which are equal.
#[derive(Clone, Debug)]
pub(super) struct Unique {
    /// The scalars there can be, each with one text.
    scalars: Arc<Dfa>,
    /// Arrays and objects.
    values: Arc<[ValueId]>,
    count: Count,
}

/// What is said for arrays whose items must be distinct.
const REFUSED: SchemaErrorKind = SchemaErrorKind::Unsupported { keyword: "uniqueItems" };

impl Analysis {
    /// The formula without `uniqueItems` where there cannot be two items.
    pub(super) fn without_idle_unique(&mut self, facts: FactsId) -> Lowered<FactsId> {
        let parts = self.facts.parts(Connective::And, facts);
        let is_unique = |id: &FactsId| *self.facts.node(*id) == Node::Atom(Fact::Unique);
        if !parts.iter().any(is_unique) {
            return Ok(facts);
        }
        let others: Vec<FactsId> = parts.into_iter().filter(|id| !is_unique(id)).collect();
        let others = self.facts.and(others);
        let Some(shape) = self.array_shape(others)? else { return Ok(facts) };
        let end = shape.prefix.iter().chain([&shape.rest]).position(|&set| set == SetId::FALSE);
        let one = end.is_some_and(|end| end <= 1) || shape.count.max.is_some_and(|max| max <= 1);
        Ok(if one { others } else { facts })
    }

    /// What a formula says about arrays with distinct items, if that is what it does. Relaxed, none
    /// where it would have to be refused.
    pub(super) fn unique(&mut self, facts: FactsId) -> Lowered<Option<Unique>> {
        match self.unique_items(facts) {
            Err(REFUSED) if self.is_relaxed() => Ok(None),
            other => other,
        }
    }

    /// Whether keywords that would have to be refused are dropped.
    pub(super) fn is_relaxed(&self) -> bool {
        self.model.choices.lenient == Leniency::Relax
    }

    fn unique_items(&mut self, facts: FactsId) -> Lowered<Option<Unique>> {
        let parts = self.facts.parts(Connective::And, facts);
        let is_unique = |id: &FactsId| *self.facts.node(*id) == Node::Atom(Fact::Unique);
        if !parts.iter().any(is_unique) {
            return Ok(None);
        }
        let others: Vec<FactsId> = parts.into_iter().filter(|id| !is_unique(id)).collect();
        let others = self.facts.and(others);
        let shape = self.array_shape(others)?.ok_or(REFUSED)?;
        if !shape.prefix.is_empty() {
            return Err(REFUSED);
        }
        let scalars = self.scalar_texts(shape.rest)?;
        let mut values = Vec::new();
        for kind in [Kind::Array, Kind::Object] {
            for alternative in self.alternatives(shape.rest, kind)?.iter() {
                match alternative {
                    Alternative::Listed(listed) => values.extend(listed.iter().copied()),
                    Alternative::Facts(_) => return Err(REFUSED),
                }
            }
        }
        let mut distinct = Vec::with_capacity(values.len());
        let mut seen = std::collections::HashSet::new();
        for value in values {
            if seen.insert(self.canonical_text(value)?) {
                distinct.push(value);
            }
        }
        Ok(Some(Unique { scalars, values: distinct.into(), count: shape.count }))
    }

    /// The scalars of a set, one text for each value.
    fn scalar_texts(&mut self, set: SetId) -> Lowered<Arc<Dfa>> {
        let mut all: Option<Arc<Dfa>> = None;
        for kind in [Kind::Null, Kind::Boolean, Kind::Number, Kind::String] {
            let texts = match self.meaning(set, kind)? {
                Meaning::Constants(bits) => {
                    let words = kind.constants().iter().filter(|(bit, _)| bits & bit != 0);
                    let words: Vec<&str> = words.map(|(_, word)| *word).collect();
                    Arc::new(Dfa::from_strings(words, &mut self.fuel)?.canonical())
                }
                Meaning::Text(id) => {
                    self.scalars.string_language(id, Writing::Canonical, &mut self.fuel)?
                }
                Meaning::Number(id) => {
                    self.scalars.number_language(id, Writing::Canonical, &mut self.fuel)?
                }
                Meaning::Facts(_) => continue,
            };
            all = Some(match all {
                None => texts,
                Some(all) if texts.is_empty() => all,
                Some(all) if all.is_empty() => texts,
                Some(all) => {
                    let both = all.combine(&texts, BooleanOp::Union, &mut self.fuel)?;
                    Arc::new(both.canonical())
                }
            });
        }
        Ok(all.unwrap_or_else(|| Arc::new(Dfa::never())))
    }

    /// Whether there are as many items as it takes.
    pub(super) fn has_unique(&self, unique: &Unique) -> bool {
        let Count { min, max } = unique.count;
        let scalars = unique.scalars.count_words(unique.scalars.start(), u64::from(min));
        let values = unique.values.len() as u64;
        max.is_none_or(|max| max >= min) && scalars + values >= u64::from(min)
    }
}

impl Lowering<'_> {
    /// Arrays with distinct items.
    pub(super) fn unique(&mut self, unique: &Unique) -> Lowered<ExprId> {
        if !self.analysis.has_unique(unique) {
            return Ok(self.body.never());
        }
        let mut members = Vec::with_capacity(unique.values.len());
        for &value in &*unique.values {
            let expr = self.written(value, 1)?;
            members.push(Member { expr, required: false });
        }
        let key = self.body.automaton(unique.scalars.clone());
        let tail = self.body.empty();
        let rest = Some(Rest { key, tail, uniqueness: Uniqueness::Distinct });
        let Count { min, max } = unique.count;
        let items = self.body.permute(Permute {
            members: members.into(),
            rest,
            separator: self.pieces.item_separator,
            min: min.max(1),
            max,
        });
        let content = match (self.is_never(items), min == 0) {
            (true, _) => Content::Empty,
            (_, true) => Content::Optional(items),
            (_, false) => Content::Items(items),
        };
        Ok(self.pieces.container(self.body, *b"[]", content))
    }
}
