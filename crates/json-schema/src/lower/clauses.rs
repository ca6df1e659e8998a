//! A conjunction of schemas as a disjunction of clauses, one type of JSON at a time.
//!
//! # Idea
//! The references and alternatives of a schema speak of the same value as the schema itself. So a
//! set of schemas is closed over references, and wherever a member says `anyOf`, over one of its
//! branches: each way to choose is a *clause*, a set of schemas of which only the keywords about
//! the inside of a value are left to enforce. A clause is given up as soon as its members leave the
//! type in question no room, which is what keeps the number of clauses small: a choice between a
//! string and an object is no choice once the type is known.
//!
//! # Circles
//! A schema may lead back to itself without going into the value. The meaning is the least
//! fixpoint: what holds because it holds, does not hold. Every derivation then has an order, so a
//! clause is dropped when "is a member because of" has a circle; and if a value satisfies the
//! schema at all, some choice without a circle shows it.
//!
//! # Cost
//! One step of fuel for each member that is compared; exponential in nested alternatives that the
//! type does not decide.

use super::{Analysis, Lowered, SetId, Signed};
use crate::model::{Keywords, Model, Schema, SchemaId, Types};
use formwork_automata::Fuel;
use std::collections::HashSet;

/// One way to satisfy a conjunction with a value of one type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Clause {
    /// The type; for numbers, which of them.
    pub(crate) types: Types,
    /// The schemas with keywords about this type; empty where `values` is given.
    pub(crate) members: Box<[Signed]>,
    /// A schema that lists the values there can be at all.
    pub(crate) values: Option<SchemaId>,
}

#[derive(Clone, Debug)]
struct Partial {
    members: Vec<Signed>,
    /// Indices of members: (because of, member).
    edges: Vec<(u32, u32)>,
    /// Whether some member has two reasons: without that there is no circle.
    shared: bool,
    /// Members before this one are closed over references.
    closed: usize,
    /// Members whose alternatives are still to be chosen from.
    open: Vec<u32>,
    types: Types,
}

impl Partial {
    fn new(types: Types) -> Self {
        let (members, edges, open) = (Vec::new(), Vec::new(), Vec::new());
        Self { members, edges, shared: false, closed: 0, open, types }
    }

    /// Pushes what becomes of this for each alternative of a member, the first one last, so that it
    /// is taken first.
    fn choose(
        &self,
        model: &Model,
        index: u32,
        stack: &mut Vec<Self>,
        fuel: &mut Fuel,
    ) -> Lowered<()> {
        let member = self.members[index as usize];
        let branches = model.keywords(member.schema).map(|keywords| &keywords.any_of);
        for &schema in branches.into_iter().flatten().rev() {
            fuel.steps(1 + self.members.len() + self.edges.len())?;
            let mut choice = self.clone();
            if choice.add(model, Signed { schema, ..member }, Some(index), fuel)? {
                stack.push(choice);
            }
        }
        Ok(())
    }

    /// Adds a member; whether the clause is still possible.
    fn add(
        &mut self,
        model: &Model,
        member: Signed,
        reason: Option<u32>,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        fuel.steps(1 + self.members.len())?;
        let member = Signed { schema: model.canonical(member.schema), ..member };
        let keywords = match model.schema(member.schema) {
            Schema::Always => return Ok(true),
            Schema::Never | Schema::Alias(_) => return Ok(false),
            Schema::Keywords(keywords) => keywords,
        };
        let at = match self.members.iter().position(|&old| old == member) {
            Some(at) => {
                self.shared = true;
                at
            }
            None => {
                self.members.push(member);
                self.types = self.types.intersection(keywords.types);
                self.members.len() - 1
            }
        };
        let at = u32::try_from(at).expect("fewer members than schemas");
        self.edges.extend(reason.map(|reason| (reason, at)));
        Ok(self.types != Types::NONE)
    }

    /// Follows the references of all members; whether the clause is still possible.
    fn close(&mut self, model: &Model, fuel: &mut Fuel) -> Lowered<bool> {
        while let Some(&member) = self.members.get(self.closed) {
            let index = u32::try_from(self.closed).expect("fewer members than schemas");
            self.closed += 1;
            let Some(keywords) = model.keywords(member.schema) else { continue };
            if !keywords.any_of.is_empty() {
                self.open.push(index);
            }
            if let Some(target) = keywords.reference
                && !self.add(model, Signed { schema: target, ..member }, Some(index), fuel)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some member holds because of itself. Kahn's algorithm.
    fn is_circular(&self) -> bool {
        if !self.shared {
            return false;
        }
        let mut reasons = vec![0_u32; self.members.len()];
        let mut because: Vec<Vec<u32>> = vec![Vec::new(); self.members.len()];
        for &(reason, member) in &self.edges {
            reasons[member as usize] += 1;
            because[reason as usize].push(member);
        }
        let count = u32::try_from(self.members.len()).expect("fewer members than schemas");
        let mut free: Vec<u32> = (0..count).filter(|&at| reasons[at as usize] == 0).collect();
        let mut ordered = 0;
        while let Some(at) = free.pop() {
            ordered += 1;
            for &member in &because[at as usize] {
                reasons[member as usize] -= 1;
                if reasons[member as usize] == 0 {
                    free.push(member);
                }
            }
        }
        ordered < self.members.len()
    }

    fn into_clause(self, model: &Model) -> Clause {
        let keywords = |member: &Signed| model.keywords(member.schema);
        let values = self
            .members
            .iter()
            .filter_map(|member| Some((keywords(member).and_then(listed_values)?, member.schema)));
        let values = values.min().map(|(_, schema)| schema);
        let kind = self.types;
        let mut members = self.members;
        members.retain(|member| {
            values.is_none()
                && model.keywords(member.schema).is_some_and(|keywords| is_about(keywords, kind))
        });
        members.sort_unstable();
        Clause { types: self.types, members: members.into(), values }
    }
}

/// How many values a schema lists, if it does.
fn listed_values(keywords: &Keywords) -> Option<usize> {
    match keywords.constant {
        Some(_) => Some(1),
        None => keywords.enumeration.as_ref().map(|values| values.len()),
    }
}

/// Whether a schema constrains the inside of values of this type.
fn is_about(keywords: &Keywords, kind: Types) -> bool {
    kind.intersects(Types::OBJECT) && keywords.object.is_some()
        || kind.intersects(Types::ARRAY) && keywords.array.is_some()
        || kind.intersects(Types::STRING) && keywords.string.is_some()
        || kind.intersects(Types::NUMBER) && keywords.number.is_some()
}

impl Analysis {
    /// The clauses of a conjunction for one of [`Types::KINDS`], each once.
    pub(super) fn clauses(&mut self, set: SetId, kind: Types) -> Lowered<Vec<Clause>> {
        if set == SetId::NEVER {
            return Ok(Vec::new());
        }
        let model = self.model.clone();
        let mut first = Partial::new(kind);
        let members = self.sets.members(set);
        for &member in &*members {
            if !first.add(&model, member, None, &mut self.fuel)? {
                return Ok(Vec::new());
            }
        }
        let mut seen = HashSet::new();
        let mut clauses = Vec::new();
        let mut stack = vec![first];
        while let Some(mut partial) = stack.pop() {
            self.fuel.steps(1 + partial.members.len() + partial.edges.len())?;
            if !partial.close(&model, &mut self.fuel)? {
                continue;
            }
            if let Some(index) = partial.open.pop() {
                partial.choose(&model, index, &mut stack, &mut self.fuel)?;
            } else if !partial.is_circular() {
                let clause = partial.into_clause(&model);
                if seen.insert(clause.clone()) {
                    clauses.push(clause);
                }
            }
        }
        Ok(without_weaker(clauses, kind))
    }
}

/// A clause that asks for nothing but the type makes all others superfluous.
fn without_weaker(clauses: Vec<Clause>, kind: Types) -> Vec<Clause> {
    let asks_nothing = |clause: &&Clause| {
        clause.types == kind && clause.members.is_empty() && clause.values.is_none()
    };
    match clauses.iter().find(asks_nothing) {
        Some(clause) => vec![clause.clone()],
        None => clauses,
    }
}
