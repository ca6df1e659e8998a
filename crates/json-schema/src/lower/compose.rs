//! What a schema says of a value by applying other schemas to the value itself, as a set.
//!
//! # `oneOf`
//! Exactly one branch holds. Written out, a branch holds and all others do not; but most branches
//! exclude each other anyway, and then "one of them" says it all. So for arrays and objects, whose
//! negations are not cheap, it is found out first which branches can hold together. While that is
//! being found out, and deep inside such questions, two branches are assumed to: then the set is
//! written at greater length, but it is the same.

use super::{
    Analysis, Lowered,
    formula::Id,
    meaning::Kind,
    sets::{Literal, SetId, Sign},
};
use crate::model::{Keywords, SchemaId};

/// Questions about branches that are asked while others are being answered, at most.
const MAX_DEPTH: usize = 24;

impl Analysis {
    /// What a schema says of a value of a type through others. Remembered.
    pub(super) fn composition(&mut self, schema: SchemaId, kind: Kind) -> Lowered<SetId> {
        if let Some(&known) = self.known.compositions.get(&(schema, kind)) {
            return Ok(known);
        }
        let model = self.model.clone();
        let set = match model.keywords(schema) {
            None => Id::TRUE,
            Some(keywords) => {
                let mut parts = self.applied(keywords, kind)?;
                parts.extend(self.unevaluated(schema, keywords, kind)?);
                self.sets.and(parts)
            }
        };
        self.known.compositions.insert((schema, kind), set);
        Ok(set)
    }

    /// What each applicator says.
    fn applied(&mut self, keywords: &Keywords, kind: Kind) -> Lowered<Vec<SetId>> {
        let model = self.model.clone();
        let mut parts = Vec::new();
        for &schema in keywords.reference.iter().chain(&keywords.all_of) {
            parts.push(self.set_of(schema, Sign::Positive));
        }
        self.fuel.steps(keywords.all_of.len() + keywords.any_of.len())?;
        if !keywords.any_of.is_empty() {
            let branches = self.branches(&keywords.any_of);
            parts.push(self.sets.or(branches));
        }
        if !keywords.one_of.is_empty() {
            let branches = self.branches(&keywords.one_of);
            parts.push(self.exactly_one(&branches, kind)?);
        }
        if let Some(schema) = keywords.not {
            parts.push(self.set_of(schema, Sign::Negative));
        }
        if let Some(conditional) = keywords.conditional
            && (conditional.then.is_some() || conditional.otherwise.is_some())
        {
            let mut when = |sign: Sign, schema: Option<SchemaId>| {
                let condition = self.set_of(conditional.condition, sign);
                let then = match schema {
                    Some(schema) => self.set_of(schema, Sign::Positive),
                    None => Id::TRUE,
                };
                self.sets.and([condition, then])
            };
            let cases = [
                when(Sign::Positive, conditional.then),
                when(Sign::Negative, conditional.otherwise),
            ];
            parts.push(self.sets.or(cases));
        }
        if let (Some(object), Kind::Object) = (&keywords.object, kind) {
            self.fuel.steps(object.dependent_schemas.len())?;
            for &(name, schema) in &object.dependent_schemas {
                let name = self.names.intern(model.document.text(name));
                let absent = self.sets.literal(Literal::Key(name, Sign::Negative));
                let then = self.set_of(schema, Sign::Positive);
                parts.push(self.sets.or([absent, then]));
            }
        }
        Ok(parts)
    }

    pub(super) fn branches(&mut self, schemas: &[SchemaId]) -> Vec<SetId> {
        let branches = schemas.iter();
        branches.map(|&schema| self.set_of(schema, Sign::Positive)).collect()
    }

    /// The values of a type that are in exactly one of these sets.
    fn exactly_one(&mut self, branches: &[SetId], kind: Kind) -> Lowered<SetId> {
        let mut live = Vec::with_capacity(branches.len());
        let deep = self.known.depth >= MAX_DEPTH;
        for &branch in branches {
            // What is asked here can lead back here; the answer then is "perhaps".
            if deep || !self.asked(|analysis| analysis.meaning(branch, kind))?.is_never() {
                live.push(branch);
            }
        }
        if matches!(kind, Kind::Array | Kind::Object) && live.len() > 1 {
            return self.one_of_some(&live, kind);
        }
        // None of those so far, exactly one of those so far.
        let (mut none, mut one) = (Id::TRUE, Id::FALSE);
        self.fuel.steps(live.len())?;
        for branch in live {
            let other = self.sets.negate(branch);
            let (still_one, first) = (self.sets.and([one, other]), self.sets.and([none, branch]));
            one = self.sets.or([still_one, first]);
            none = self.sets.and([none, other]);
        }
        Ok(one)
    }

    /// The same, with those that exclude each other left alone.
    fn one_of_some(&mut self, live: &[SetId], kind: Kind) -> Lowered<SetId> {
        let mut choices: Vec<Vec<SetId>> = live.iter().map(|&branch| vec![branch]).collect();
        for at in 0..live.len() {
            for other in at + 1..live.len() {
                self.fuel.steps(1)?;
                if self.can_both_hold(live[at], live[other], kind)? {
                    let negations = [live[at], live[other]].map(|branch| self.sets.negate(branch));
                    choices[at].push(negations[1]);
                    choices[other].push(negations[0]);
                }
            }
        }
        let choices: Vec<SetId> = choices.into_iter().map(|parts| self.sets.and(parts)).collect();
        Ok(self.sets.or(choices))
    }

    fn can_both_hold(&mut self, one: SetId, other: SetId, kind: Kind) -> Lowered<bool> {
        let both = self.sets.and([one, other]);
        if both == Id::FALSE {
            return Ok(false);
        }
        if self.known.depth >= MAX_DEPTH || !self.known.asking.insert((both, kind)) {
            return Ok(true);
        }
        let answer = self.asked(|analysis| analysis.is_satisfiable_as(both, kind));
        self.known.asking.remove(&(both, kind));
        answer
    }

    fn asked<T>(&mut self, question: impl FnOnce(&mut Self) -> T) -> T {
        self.known.depth += 1;
        let answer = question(self);
        self.known.depth -= 1;
        answer
    }
}
