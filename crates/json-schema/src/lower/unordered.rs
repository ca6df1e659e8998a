//! Objects whose members may come in any order.
//!
//! # Idea
//! A register of the grammar keeps which names were met, so that nothing is multiplied out for the
//! order. But it keeps no more than that: what depends on a member must be known before it is read.
//! So a formula is split into cases in which nothing depends on anything: each name has one set of
//! values and is required or not, all other keys have theirs. Cases that are impossible are dropped
//! as soon as that shows.
//!
//! # Cost
//! As many cases as the formula has after that, each as large as the object has names; the fuel is
//! the limit.

use super::{
    Analysis, Lowered,
    body::Lowering,
    facts::{Fact, FactsId, Key},
    formula::{Connective, Id, Node},
    keys::KeysId,
    layout::Content,
    order::OrderId,
    satisfy::Goal,
    scalars::{TextId, Writing},
    sets::SetId,
    states::ObjectState,
};
use crate::{DistinctKeys, SchemaErrorKind};
use formwork_grammar::{ExprId, Member, Permute, Rest, Uniqueness};

/// Fuel for each case beside that for its parts.
const CASE_STEPS: usize = 200;

/// One way to satisfy a formula in which no member depends on another.
#[derive(Clone, Debug)]
struct Case {
    /// A conjunction of facts, without those wanted of other keys.
    facts: FactsId,
    /// Members that must occur under keys that are no names: of all these keys, all these sets.
    wanted: Vec<Vec<(KeysId, SetId)>>,
}

impl Analysis {
    fn cases_of_members(&mut self, facts: FactsId) -> Lowered<Vec<Case>> {
        let mut cases = Vec::new();
        let mut pending = vec![Case { facts, wanted: Vec::new() }];
        while let Some(case) = pending.pop() {
            let parts = self.facts.parts(Connective::And, case.facts);
            self.fuel.steps(CASE_STEPS + parts.len())?;
            let choice = parts.iter().copied().find(|&part| match self.facts.node(part) {
                Node::Or(_) => true,
                Node::Atom(fact) => matches!(fact, Fact::SomeMember(..)),
                _ => false,
            });
            let Some(choice) = choice else {
                cases.push(case);
                continue;
            };
            let rest: Vec<FactsId> = parts.into_iter().filter(|&part| part != choice).collect();
            let node = self.facts.node(choice).clone();
            let ways = match node {
                Node::Atom(Fact::SomeMember(keys, set)) => {
                    let (order, _) = self.order(case.facts)?;
                    self.members_that(keys, set, order, &case.wanted)?
                }
                _ => {
                    let parts = self.facts.parts(Connective::Or, choice).into_iter();
                    parts.map(|part| (part, case.wanted.clone())).collect()
                }
            };
            for (way, wanted) in ways.into_iter().rev() {
                let facts = self.facts.and(rest.iter().copied().chain([way]));
                if facts == Id::FALSE {
                    continue;
                }
                let (order, _) = self.order(facts)?;
                if self.is_possible(Goal::Object(ObjectState { facts, order, at: 0 }))? {
                    pending.push(Case { facts, wanted });
                }
            }
        }
        Ok(cases)
    }

    /// The ways in which one of some keys can have such a value: one of the names, a key that is
    /// none and that something else is wanted of, another one.
    #[expect(clippy::type_complexity, reason = "a list of cases")]
    fn members_that(
        &mut self,
        keys: KeysId,
        set: SetId,
        order: OrderId,
        wanted: &[Vec<(KeysId, SetId)>],
    ) -> Lowered<Vec<(FactsId, Vec<Vec<(KeysId, SetId)>>)>> {
        let mut ways = Vec::new();
        for &name in self.orders.names(order).iter() {
            self.fuel.steps(1)?;
            if self.has_key(keys, Key::Name(name))? == Some(true) {
                let fact = self.has_under(name, set);
                ways.push((fact, wanted.to_vec()));
            }
        }
        for at in 0..wanted.len() {
            let mut joined = wanted.to_vec();
            joined[at].push((keys, set));
            ways.push((Id::TRUE, joined));
        }
        let mut more = wanted.to_vec();
        more.push(vec![(keys, set)]);
        ways.push((Id::TRUE, more));
        Ok(ways)
    }
}

impl Lowering<'_> {
    /// The objects that satisfy a formula, members in any order.
    pub(super) fn unordered(&mut self, facts: FactsId) -> Lowered<ExprId> {
        let mut choices = Vec::new();
        for case in self.analysis.cases_of_members(facts)? {
            choices.push(self.case(&case)?);
            self.check_nodes(self.body.len())?;
        }
        Ok(self.body.alt(&choices))
    }

    fn case(&mut self, case: &Case) -> Lowered<ExprId> {
        let (order, _) = self.analysis.order(case.facts)?;
        let facts = self.without_counts(case.facts);
        let mut members = Vec::new();
        for &name in self.analysis.orders.names(order).iter() {
            let present = self.analysis.after_member(facts, Key::Name(name))?;
            let required = self.analysis.after_no_member(facts, name)? == Id::FALSE;
            let ways = self.analysis.ways(present)?;
            let value = ways.first().map_or(SetId::FALSE, |way| way.0);
            if self.analysis.is_satisfiable(value)? {
                members.push(Member { expr: self.member(name, value)?, required });
            } else if required {
                return Ok(self.body.never());
            }
        }
        for wanted in &case.wanted {
            members.push(Member { expr: self.witness(facts, order, wanted)?, required: true });
        }
        let (min, max) = self.counts(case.facts);
        let required = members.iter().filter(|member| member.required).count();
        let counted = min as usize > required || max.is_some();
        let rest = self.rest_of_case(facts, order, (min as usize > required, counted))?;
        let list = |lowering: &mut Self, min: u32| {
            lowering.body.permute(Permute {
                members: members.clone().into(),
                rest,
                separator: lowering.pieces.item_separator,
                min,
                max,
            })
        };
        let some = list(self, min.max(1));
        let content = match (self.is_never(some), min == 0 && required == 0) {
            (true, true) => Content::Empty,
            (true, false) => return Ok(self.body.never()),
            (false, true) => Content::Optional(some),
            (false, false) => Content::Items(some),
        };
        Ok(self.pieces.container(self.body, *b"{}", content))
    }

    /// How many members at least and at most.
    fn counts(&self, facts: FactsId) -> (u32, Option<u32>) {
        let (mut min, mut max) = (0, None::<u32>);
        for (_, fact) in self.analysis.facts.atoms(facts).iter().copied() {
            match fact {
                Fact::AtLeast(least) => min = min.max(least),
                Fact::AtMost(most) => max = Some(max.map_or(most, |max| max.min(most))),
                _ => {}
            }
        }
        (min, max)
    }

    /// A member that must occur, under a key that is no name.
    fn witness(
        &mut self,
        facts: FactsId,
        order: OrderId,
        wanted: &[(KeysId, SetId)],
    ) -> Lowered<ExprId> {
        let mut items = Vec::new();
        let all = wanted.iter().map(|&(keys, set)| {
            // Only so are the keys told apart as the formula asks.
            self.analysis.facts.atom(Fact::SomeMember(keys, set))
        });
        let all: Vec<FactsId> = all.collect();
        let asked = self.analysis.facts.and(all.into_iter().chain([facts]));
        for &class in self.analysis.classes(asked, order)?.iter() {
            let key = Key::Class(class);
            let mut sets = Vec::new();
            for &(keys, set) in wanted {
                if self.analysis.has_key(keys, key)? == Some(true) {
                    sets.push(set);
                }
            }
            if sets.len() < wanted.len() {
                continue;
            }
            let derivative = self.analysis.after_member(facts, key)?;
            for (value, _) in self.analysis.ways(derivative)? {
                let value = self.analysis.sets.and(sets.iter().copied().chain([value]));
                if self.analysis.is_satisfiable(value)? {
                    let text = self.analysis.keys.class(class).text;
                    items.push(self.items_of(&[(text, value)])?);
                }
            }
        }
        Ok(self.body.alt(&items))
    }

    /// All other members; `distinct` says whether they must have distinct keys, and whether that
    /// would be wanted.
    fn rest_of_case(
        &mut self,
        facts: FactsId,
        order: OrderId,
        (must, counted): (bool, bool),
    ) -> Lowered<Option<Rest>> {
        let mut groups: Vec<(TextId, SetId)> = Vec::new();
        for &(text, value, _) in self.analysis.other_ways(facts, order)?.iter() {
            if self.analysis.is_satisfiable(value)? {
                groups.push((text, value));
            }
        }
        let everywhere = self.analysis.model.choices.distinct_keys == DistinctKeys::Everywhere;
        let (key, tail, uniqueness) = match groups[..] {
            [] => return Ok(None),
            [(texts, value)] if must || counted || everywhere => {
                let key = self.keys_of(texts, Writing::Canonical)?;
                let value = self.reference(value)?;
                let tail = self.body.seq(&[self.pieces.key_separator, value]);
                (key, tail, Uniqueness::Distinct)
            }
            _ if (must || everywhere) && !self.analysis.is_relaxed() => {
                return Err(SchemaErrorKind::Unsupported { keyword: "minProperties" });
            }
            _ => (self.items_of(&groups)?, self.body.empty(), Uniqueness::Any),
        };
        Ok(Some(Rest { key, tail, uniqueness }))
    }
}
