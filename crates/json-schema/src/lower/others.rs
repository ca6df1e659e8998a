//! Members with keys that are none of the names of an object.
//!
//! They come after the names, in any order. Where nothing but their number counts they are one
//! list, a counted one, of distinct keys where there must be two or the schema limits their number.
//! Where one of them must be of a certain kind, they are read one by one, until it has come.

use super::{
    Lowered, Position, Target,
    body::Lowering,
    facts::{Fact, FactsId},
    formula::{Connective, Id, Node},
    object::Tail,
    satisfy::Goal,
    scalars::{TextId, Writing},
    sets::SetId,
    states::{ObjectState, Others},
};
use crate::{DistinctKeys, SchemaErrorKind, Spelling};
use formwork_grammar::{ExprId, Permute, Rest, Uniqueness};

/// Keys and what their values must be.
type Group = (TextId, SetId);

impl Lowering<'_> {
    /// What may come when all names were read.
    pub(super) fn others(&mut self, state: ObjectState) -> Lowered<Tail> {
        let all = self.analysis.others(state.facts)?;
        let alone = all.len() == 1;
        let (mut first, mut later) = (Vec::new(), Vec::new());
        let mut plain = alone;
        for others in &all {
            let state = ObjectState { facts: others.facts, ..state };
            if !self.analysis.is_possible(Goal::Object(state))? {
                continue;
            }
            let tail = if others.wanted {
                self.wanted(state, others)?
            } else {
                self.counted(state, others)?
            };
            first.extend(tail.first);
            later.extend(tail.later);
            plain &= tail.plain;
        }
        let mut choice =
            |choices: Vec<ExprId>| (!choices.is_empty()).then(|| self.body.alt(&choices));
        Ok(Tail { later: choice(later), first: choice(first), plain })
    }

    /// As many as the counts say.
    fn counted(&mut self, state: ObjectState, others: &Others) -> Lowered<Tail> {
        let facts = self.without_counts(others.facts);
        let ways = self.analysis.other_ways(facts, state.order)?;
        let mut groups: Vec<Group> = Vec::with_capacity(ways.len());
        for &(texts, value, _) in ways.iter() {
            if self.analysis.is_satisfiable(value)? {
                groups.push((texts, value));
            }
        }
        let (min, max) = (others.min, others.max);
        let nothing = self.body.empty();
        if groups.is_empty() || max == Some(0) {
            let later = (min == 0).then_some(nothing);
            return Ok(Tail { later, first: None, plain: min == 0 });
        }
        let everywhere = self.analysis.model.choices.distinct_keys == DistinctKeys::Everywhere;
        let counts = min > 1 || max.is_some_and(|max| max > 1);
        if everywhere || counts && (min > 1 || groups.len() == 1) {
            match groups[..] {
                [(texts, value)] => return self.distinct((texts, value), (min, max)),
                _ if self.analysis.is_relaxed() => {}
                _ => return Err(SchemaErrorKind::Unsupported { keyword: "minProperties" }),
            }
        }
        let separator = self.pieces.item_separator;
        let item = self.items_of(&groups)?;
        let more = self.body.seq(&[separator, item]);
        let later = self.body.repeat(more, min, max);
        let rest = self.body.repeat(more, min.saturating_sub(1), max.map(|max| max - 1));
        let first = self.body.seq(&[item, rest]);
        Ok(Tail { later: Some(later), first: Some(first), plain: min == 0 })
    }

    /// A member of one of the groups.
    pub(super) fn items_of(&mut self, groups: &[Group]) -> Lowered<ExprId> {
        let mut items = Vec::with_capacity(groups.len());
        for &(texts, value) in groups {
            let key = self.keys_of(texts, self.key_writing())?;
            let value = self.reference(value)?;
            items.push(self.body.seq(&[key, self.pieces.key_separator, value]));
        }
        Ok(self.body.alt(&items))
    }

    pub(super) fn key_writing(&self) -> Writing {
        match self.analysis.model.choices.spelling {
            Spelling::Minimal => Writing::Canonical,
            Spelling::Any => Writing::Any,
        }
    }

    /// Members with distinct keys. These are spelled in one way.
    fn distinct(&mut self, (texts, value): Group, (min, max): (u32, Option<u32>)) -> Lowered<Tail> {
        let separator = self.pieces.item_separator;
        let key = self.keys_of(texts, Writing::Canonical)?;
        let value = self.reference(value)?;
        let tail = self.body.seq(&[self.pieces.key_separator, value]);
        let rest = Rest { key, tail, uniqueness: Uniqueness::Distinct };
        let mut list = |min: u32| {
            self.body.permute(Permute {
                members: [].into(),
                rest: Some(rest),
                separator,
                min: min.max(1),
                max,
            })
        };
        let first = list(min);
        let mut later = self.body.seq(&[separator, first]);
        if min == 0 {
            later = self.body.optional(later);
        }
        Ok(Tail { later: Some(later), first: Some(first), plain: min == 0 })
    }

    pub(super) fn without_counts(&mut self, facts: FactsId) -> FactsId {
        let parts = self.analysis.facts.parts(Connective::And, facts);
        let counts = |id: &FactsId| {
            matches!(self.analysis.facts.node(*id), Node::Atom(Fact::AtLeast(_) | Fact::AtMost(_)))
        };
        let others: Vec<FactsId> = parts.into_iter().filter(|id| !counts(id)).collect();
        self.analysis.facts.and(others)
    }

    /// One by one. Keys that change nothing are a repetition.
    fn wanted(&mut self, state: ObjectState, others: &Others) -> Lowered<Tail> {
        let everywhere = self.analysis.model.choices.distinct_keys == DistinctKeys::Everywhere;
        if (others.min > 1 || everywhere) && !self.analysis.is_relaxed() {
            // Two of a count could have the same key.
            return Err(SchemaErrorKind::Unsupported { keyword: "minProperties" });
        }
        let separator = self.pieces.item_separator;
        let mut same = Vec::new();
        let mut exits = Vec::new();
        for &(texts, value, facts) in self.analysis.other_ways(state.facts, state.order)?.iter() {
            let next = ObjectState { facts, ..state };
            if !self.analysis.is_satisfiable(value)? {
                continue;
            }
            if next == state {
                same.push((texts, value));
            } else if self.analysis.is_possible(Goal::Object(next))? {
                let member = self.items_of(&[(texts, value)])?;
                let rest = self.rest_of_others(next)?;
                exits.push(self.body.seq(&[member, rest]));
            }
        }
        let item = self.items_of(&same)?;
        let more = self.body.seq(&[separator, item]);
        let more = self.body.repeat(more, 0, None);
        let exit = self.body.alt(&exits);
        let behind = self.body.seq(&[separator, exit]);
        let end = if self.analysis.holds_at_end(state.facts, 0) {
            self.body.optional(behind)
        } else {
            behind
        };
        let later = self.body.seq(&[more, end]);
        let first = self.body.seq(&[item, later]);
        let first = self.body.alt(&[first, exit]);
        let some = |lowering: &Self, expr: ExprId| (!lowering.is_never(expr)).then_some(expr);
        Ok(Tail { later: some(self, later), first: some(self, first), plain: false })
    }

    fn rest_of_others(&mut self, state: ObjectState) -> Lowered<ExprId> {
        if state.facts == Id::TRUE {
            let tail = self.others(state)?;
            return Ok(tail.later.unwrap_or_else(|| self.body.never()));
        }
        self.rest(Target::Members(state, Position::Later))
    }
}
