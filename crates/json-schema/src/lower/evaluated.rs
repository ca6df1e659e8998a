//! `unevaluatedProperties` and `unevaluatedItems`.
//!
//! # Idea
//! Which keys are evaluated depends on which of the schemas that are applied to the same object hold.
//! So what `unevaluatedProperties` says is a disjunction over *cases*: some of these schemas hold,
//! and whatever they and the schema itself do not evaluate is as the keyword says. A case need
//! not rely on all that holds; relying on less evaluates less, and so asks for more. That is why
//! nothing is ever asked to fail, and yet the disjunction is exact.
//!
//! # Cost
//! As many cases as there are ways to choose from alternatives; a thousand steps of fuel for each.

use super::{
    Analysis, Lowered,
    formula::Id,
    keys::{Keys, KeysId},
    meaning::Kind,
    names::NameId,
    scalars::{Polarity, TextAtom},
    sets::{Literal, SetId, Sign},
};
use crate::{
    SchemaErrorKind,
    model::{Keywords, SchemaId},
};
use rustc_hash::FxHashMap;
use std::{collections::BTreeSet, sync::Arc};

/// Schemas applied to the same value, one inside the other, deeper than this are refused.
const MAX_DEPTH: usize = 200;

/// Fuel for each case.
const CASE_STEPS: usize = 1_000;

/// What is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Cover {
    everything: bool,
    names: BTreeSet<NameId>,
    patterns: BTreeSet<KeysId>,
    /// So many first items.
    items: u32,
    /// Items of these sets.
    matching: BTreeSet<SetId>,
}

impl Cover {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn union(&self, other: &Self) -> Self {
        if self.everything || other.everything {
            return Self { everything: true, ..Self::default() };
        }
        Self {
            everything: false,
            names: &self.names | &other.names,
            patterns: &self.patterns | &other.patterns,
            items: self.items.max(other.items),
            matching: &self.matching | &other.matching,
        }
    }
}

/// What is evaluated where this holds.
type Case = (SetId, Cover);

/// The cases of a schema that holds, and those being looked for.
#[derive(Default)]
struct Search {
    known: FxHashMap<SchemaId, Vec<Case>>,
    open: Vec<SchemaId>,
}

impl Analysis {
    /// What a schema says about what nothing in it evaluates, if it says something.
    pub(super) fn unevaluated(
        &mut self,
        schema: SchemaId,
        keywords: &Keywords,
        kind: Kind,
    ) -> Lowered<Option<SetId>> {
        let others = match kind {
            Kind::Object => keywords.object.as_ref().and_then(|object| object.unevaluated),
            Kind::Array => keywords.array.as_ref().and_then(|array| array.unevaluated),
            _ => None,
        };
        let Some(others) = others else { return Ok(None) };
        let others = self.set_of(others, Sign::Positive);
        if others == SetId::TRUE {
            return Ok(None);
        }
        let mut search = Search { open: vec![schema], ..Search::default() };
        let own = self.own_cover(keywords, kind)?;
        let cases = self.cases(keywords, kind, own, &mut search)?;
        let mut choices = Vec::with_capacity(cases.len());
        for (holds, cover) in cases {
            let rest = self.outside(&cover, others, kind);
            choices.push(self.sets.and([holds, rest]));
        }
        Ok(Some(self.sets.or(choices)))
    }

    /// What is outside a cover is in the set.
    fn outside(&mut self, cover: &Cover, set: SetId, kind: Kind) -> SetId {
        if cover.everything {
            return Id::TRUE;
        }
        if kind == Kind::Array {
            let set = self.sets.or(cover.matching.iter().copied().chain([set]));
            return self.sets.literal(Literal::EveryItem(cover.items, set));
        }
        let names = cover.names.iter().map(|&name| Box::from(&*self.names.text(name)));
        let names: BTreeSet<Box<str>> = names.collect();
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        if !names.is_empty() {
            let atom = TextAtom::Values(Arc::new(names));
            inside.push(self.scalars.text(atom.clone(), Polarity::Fails));
            outside.push(self.scalars.text(atom, Polarity::Holds));
        }
        for &keys in &cover.patterns {
            let keys = self.keys_of(keys);
            inside.push(keys.outside);
            outside.push(keys.inside);
        }
        let inside = self.scalars.text_and(&inside);
        let outside = self.scalars.text_or(&outside);
        let keys = self.keys(Keys { inside, outside });
        self.sets.literal(Literal::EveryMember(keys, set))
    }

    /// What a schema evaluates by itself, but for `unevaluatedProperties` and `unevaluatedItems`.
    fn own_cover(&mut self, keywords: &Keywords, kind: Kind) -> Lowered<Cover> {
        let model = self.model.clone();
        let mut cover = Cover::default();
        match (kind, &keywords.object, &keywords.array) {
            (Kind::Object, Some(object), _) => {
                self.fuel.steps(object.properties.len())?;
                cover.everything = object.additional.is_some();
                for (name, _) in &object.properties {
                    cover.names.insert(self.names.intern(model.document.text(*name)));
                }
                for (pattern, _) in &object.patterns {
                    cover.patterns.insert(self.pattern_keys(model.document.text(*pattern)));
                }
            }
            (Kind::Array, _, Some(array)) => {
                cover.everything = array.items.is_some();
                cover.items = u32::try_from(array.prefix.len()).expect("fewer than 2^32");
                if let Some(contains) = array.contains.filter(|contains| contains.evaluates) {
                    let set = self.set_of(contains.schema, Sign::Positive);
                    cover.matching.insert(set);
                    cover.everything |= set == SetId::TRUE;
                }
            }
            _ => {}
        }
        Ok(cover)
    }

    /// The cases of a schema that holds. The recursion is as deep as [`MAX_DEPTH`].
    fn cases_of(
        &mut self,
        schema: SchemaId,
        kind: Kind,
        search: &mut Search,
    ) -> Lowered<Vec<Case>> {
        let model = self.model.clone();
        let schema = model.canonical(schema);
        let Some(keywords) = model.keywords(schema) else {
            return Ok(vec![(Id::TRUE, Cover::default())]);
        };
        if let Some(known) = search.known.get(&schema) {
            return Ok(known.clone());
        }
        if search.open.contains(&schema) {
            // What holds because it holds does not: there is no such case.
            return Ok(Vec::new());
        }
        if search.open.len() >= MAX_DEPTH {
            return Err(SchemaErrorKind::Nesting { limit: MAX_DEPTH });
        }
        let mut own = self.own_cover(keywords, kind)?;
        own.everything |= match kind {
            Kind::Object => keywords.object.as_ref().is_some_and(|part| part.unevaluated.is_some()),
            _ => keywords.array.as_ref().is_some_and(|part| part.unevaluated.is_some()),
        };
        search.open.push(schema);
        let cases = self.cases(keywords, kind, own, search)?;
        search.open.pop();
        search.known.insert(schema, cases.clone());
        Ok(cases)
    }

    /// The cases of a schema with these keywords that holds, beyond what it evaluates by itself.
    fn cases(
        &mut self,
        keywords: &Keywords,
        kind: Kind,
        own: Cover,
        search: &mut Search,
    ) -> Lowered<Vec<Case>> {
        if own.everything {
            return Ok(vec![(Id::TRUE, Cover { everything: true, ..Cover::default() })]);
        }
        let mut cases = vec![(Id::TRUE, own)];
        for &schema in keywords.reference.iter().chain(&keywords.all_of) {
            let more = self.cases_of(schema, kind, search)?;
            cases = self.product(&cases, &more)?;
        }
        if !keywords.any_of.is_empty() {
            let more = self.any_cases(&keywords.any_of, kind, search)?;
            cases = self.product(&cases, &more)?;
        }
        if !keywords.one_of.is_empty() {
            let mut more = Vec::new();
            for &schema in &keywords.one_of {
                more.extend(self.cases_where(schema, kind, search)?);
            }
            let more = self.joined_cases(more);
            cases = self.product(&cases, &more)?;
        }
        if let Some(conditional) = keywords.conditional {
            let mut more = self.cases_where(conditional.condition, kind, search)?;
            if let Some(then) = conditional.then {
                let then = self.cases_of(then, kind, search)?;
                more = self.product(&more, &then)?;
            }
            let fails = self.set_of(conditional.condition, Sign::Negative);
            let mut otherwise = vec![(fails, Cover::default())];
            if let Some(schema) = conditional.otherwise {
                let covers = self.cases_of(schema, kind, search)?;
                otherwise = self.product(&otherwise, &covers)?;
            }
            more.extend(otherwise);
            let more = self.joined_cases(more);
            cases = self.product(&cases, &more)?;
        }
        if let (Some(object), Kind::Object) = (&keywords.object, kind) {
            let model = self.model.clone();
            for &(name, schema) in &object.dependent_schemas {
                let name = self.names.intern(model.document.text(name));
                let present = self.sets.literal(Literal::Key(name, Sign::Positive));
                let covers = self.cases_of(schema, kind, search)?;
                let mut more = self.product(&[(present, Cover::default())], &covers)?;
                more.push((Id::TRUE, Cover::default()));
                let more = self.joined_cases(more);
                cases = self.product(&cases, &more)?;
            }
        }
        Ok(cases)
    }

    /// The cases of a schema that may hold or not, where it holds.
    fn cases_where(
        &mut self,
        schema: SchemaId,
        kind: Kind,
        search: &mut Search,
    ) -> Lowered<Vec<Case>> {
        let holds = self.set_of(schema, Sign::Positive);
        let cases = self.cases_of(schema, kind, search)?;
        self.product(&[(holds, Cover::default())], &cases)
    }

    /// The cases of `anyOf`, which holds: any of the branches, those that evaluate nothing left out
    /// beside others.
    fn any_cases(
        &mut self,
        branches: &[SchemaId],
        kind: Kind,
        search: &mut Search,
    ) -> Lowered<Vec<Case>> {
        let mut some: Vec<Case> = Vec::new();
        let mut all = vec![(Id::TRUE, Cover::default())];
        for &schema in branches {
            let cases = self.cases_where(schema, kind, search)?;
            if cases.iter().all(|(_, cover)| cover.is_empty()) {
                some.extend(cases);
                continue;
            }
            let mut optional = cases;
            optional.push((Id::TRUE, Cover::default()));
            all = self.product(&all, &optional)?;
        }
        // Something holds: nothing need be asked of what evaluates nothing, but that it may be it.
        all.retain(|(holds, _)| *holds != SetId::TRUE);
        some.extend(all);
        Ok(self.joined_cases(some))
    }

    /// One of the first with one of the second.
    fn product(&mut self, first: &[Case], second: &[Case]) -> Lowered<Vec<Case>> {
        if let [(SetId::TRUE, cover)] = second
            && cover.is_empty()
        {
            return Ok(first.to_vec());
        }
        let mut both = Vec::new();
        for (one, cover) in first {
            for (other, more) in second {
                self.fuel.steps(CASE_STEPS)?;
                let holds = self.sets.and([*one, *other]);
                if holds != SetId::FALSE {
                    both.push((holds, cover.union(more)));
                }
            }
        }
        Ok(self.joined_cases(both))
    }

    /// Cases that evaluate the same are one.
    fn joined_cases(&mut self, cases: Vec<Case>) -> Vec<Case> {
        let mut joined: Vec<(Vec<SetId>, Cover)> = Vec::new();
        let mut index: FxHashMap<Cover, usize> = FxHashMap::default();
        for (holds, cover) in cases {
            match index.get(&cover) {
                Some(&at) => joined[at].0.push(holds),
                None => {
                    index.insert(cover.clone(), joined.len());
                    joined.push((vec![holds], cover));
                }
            }
        }
        joined.into_iter().map(|(holds, cover)| (self.sets.or(holds), cover)).collect()
    }
}
