//! Which lexemes could begin where.
//!
//! # Idea
//! Two lexemes compete where either could begin. For every node three facts are needed: which
//! competing lexemes it can begin with (*first*); which could still begin inside it when it might
//! as well be over (*inside*: the next round of a loop); and whether it can be without any lexeme at
//! all. They are the least solution of equations over rules, found with a worklist. Conditions on
//! parameters are ignored, and contexts within a rule are not told apart: what could begin at a place
//! in any way, competes there.

use crate::{
    ast::{Ast, DefId, Node, NodeId},
    lexeme::{LexemeId, Lexemes},
};
use formwork_automata::{Exhausted, Fuel};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A set of lexemes in [`Sets`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    pub(crate) const EMPTY: Self = Self(0);
}

/// Sets of lexemes, equal ones kept once.
#[derive(Debug)]
pub(crate) struct Sets {
    sets: Vec<Arc<[LexemeId]>>,
    ids: FxHashMap<Arc<[LexemeId]>, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
    /// Members that may still be stored; none are once it was exceeded.
    left: Option<usize>,
}

impl Sets {
    fn new(most: usize) -> Self {
        let empty: Arc<[LexemeId]> = [].into();
        let ids = FxHashMap::from_iter([(empty.clone(), SetId::EMPTY)]);
        Self { sets: vec![empty], ids, unions: FxHashMap::default(), left: Some(most) }
    }

    /// Whether more members were asked for than may be stored: sets are then not what they seem.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.left.is_none()
    }

    pub(crate) fn members(&self, id: SetId) -> Arc<[LexemeId]> {
        self.sets[id.0 as usize].clone()
    }

    fn of(&mut self, members: Vec<LexemeId>) -> SetId {
        let members: Arc<[LexemeId]> = members.into();
        if let Some(&known) = self.ids.get(&members) {
            return known;
        }
        self.left = self.left.and_then(|left| left.checked_sub(members.len()));
        if self.left.is_none() {
            return SetId::EMPTY;
        }
        let id = SetId(u32::try_from(self.sets.len()).expect("fewer sets than steps"));
        self.sets.push(members.clone());
        self.ids.insert(members, id);
        id
    }

    pub(crate) fn union(&mut self, a: SetId, b: SetId) -> SetId {
        let (a, b) = (a.min_by_number(b), a.max_by_number(b));
        if a == SetId::EMPTY || a == b {
            return b;
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        let mut members: Vec<LexemeId> =
            self.members(a).iter().chain(self.members(b).iter()).copied().collect();
        members.sort_unstable();
        members.dedup();
        let id = self.of(members);
        self.unions.insert((a, b), id);
        id
    }
}

impl SetId {
    fn min_by_number(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    fn max_by_number(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

/// What is known of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) first: SetId,
    pub(crate) inside: SetId,
    /// Whether it may be without lexemes.
    pub(crate) may_vanish: bool,
}

/// The facts of all rules.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) sets: Sets,
    rules: Vec<Fact>,
    competes: bool,
}

impl Flow {
    /// Solves the equations. Sets may have `most` members, all together.
    pub(crate) fn new(
        ast: &Ast,
        lexemes: &Lexemes,
        most: usize,
        fuel: &mut Fuel,
    ) -> Result<Self, Exhausted> {
        let count = ast.definitions.len();
        let competes = lexemes.any_competes();
        let mut flow =
            Self { sets: Sets::new(most), rules: vec![Fact::default(); count], competes };
        let users = users(ast);
        let mut waiting: Vec<DefId> =
            (0..).take(count).filter(|&id| !ast.definition(id).is_lexeme()).collect();
        let mut is_waiting: FxHashSet<DefId> = waiting.iter().copied().collect();
        while let Some(id) = waiting.pop() {
            is_waiting.remove(&id);
            let facts = flow.facts(ast, lexemes, id);
            fuel.steps(facts.len())?;
            let fact = *facts.last().expect("a body has a root");
            if flow.rules[id as usize] != fact {
                flow.rules[id as usize] = fact;
                for &user in users.get(&id).map_or(&[][..], Vec::as_slice) {
                    if is_waiting.insert(user) {
                        waiting.push(user);
                    }
                }
            }
        }
        Ok(flow)
    }

    /// The facts of the nodes of a rule, in the order of its nodes.
    pub(crate) fn facts(&mut self, ast: &Ast, lexemes: &Lexemes, rule: DefId) -> Vec<Fact> {
        let definition = ast.definition(rule);
        let mut facts: Vec<Fact> = Vec::with_capacity(definition.nodes().len());
        for id in definition.nodes() {
            let of = |child: NodeId| facts[(child - definition.first) as usize];
            let fact = match ast.node(id) {
                Node::Seq(parts) => {
                    let parts: Vec<Fact> = parts.iter().map(|&part| of(part)).collect();
                    self.sequence(&parts)
                }
                Node::Alt(parts) => {
                    let parts: Vec<Fact> = parts.iter().map(|&part| of(part)).collect();
                    self.choice(&parts)
                }
                Node::Repeat { node, min, max } => {
                    let inner = of(*node);
                    let again = match max {
                        Some(0 | 1) => inner.inside,
                        _ => self.sets.union(inner.inside, inner.first),
                    };
                    let may_vanish = *min == 0 || inner.may_vanish;
                    Fact { inside: again, may_vanish, ..inner }
                }
                Node::Guarded { node, .. } => of(*node),
                _ => self.leaf(ast, lexemes, id),
            };
            facts.push(fact);
        }
        facts
    }

    fn leaf(&mut self, ast: &Ast, lexemes: &Lexemes, id: NodeId) -> Fact {
        if let Some(lexeme) = lexemes.of_node(ast, id) {
            let may_vanish = lexemes.is_nullable(lexeme);
            let competes = self.competes && lexemes.competes(lexeme);
            let first = if competes { self.sets.of(vec![lexeme]) } else { SetId::EMPTY };
            return Fact { first, inside: SetId::EMPTY, may_vanish };
        }
        match ast.node(id) {
            Node::Reference { definition, .. } => self.rules[*definition as usize],
            Node::Module(module) => {
                let start = ast.module(*module).start;
                let fact = match ast.definition(start).is_lexeme() {
                    true => Fact::default(),
                    false => self.rules[start as usize],
                };
                Fact { may_vanish: false, ..fact }
            }
            _ => Fact::default(),
        }
    }

    fn sequence(&mut self, parts: &[Fact]) -> Fact {
        let mut whole = Fact { may_vanish: true, ..Fact::default() };
        for part in parts {
            if whole.may_vanish {
                whole.first = self.sets.union(whole.first, part.first);
            }
            let kept = match part.may_vanish {
                true => self.sets.union(whole.inside, part.first),
                false => SetId::EMPTY,
            };
            whole.inside = self.sets.union(kept, part.inside);
            whole.may_vanish &= part.may_vanish;
        }
        whole
    }

    fn choice(&mut self, parts: &[Fact]) -> Fact {
        let (mut first, mut inside) = (Vec::new(), Vec::new());
        for part in parts {
            first.push(part.first);
            inside.push(part.inside);
        }
        Fact {
            first: self.union_of(first),
            inside: self.union_of(inside),
            may_vanish: parts.iter().any(|part| part.may_vanish),
        }
    }

    /// In one step, so that a long choice does not make a set for each of its alternatives.
    fn union_of(&mut self, mut sets: Vec<SetId>) -> SetId {
        sets.sort_unstable_by_key(|set| set.0);
        sets.dedup();
        match sets[..] {
            [] => SetId::EMPTY,
            [only] => only,
            _ => {
                let members = sets.iter().flat_map(|&set| self.sets.members(set).to_vec());
                let mut members: Vec<LexemeId> = members.collect();
                members.sort_unstable();
                members.dedup();
                self.sets.of(members)
            }
        }
    }
}

/// Who refers to a rule.
fn users(ast: &Ast) -> FxHashMap<DefId, Vec<DefId>> {
    let mut users: FxHashMap<DefId, Vec<DefId>> = FxHashMap::default();
    for user in (0..).take(ast.definitions.len()) {
        let definition = ast.definition(user);
        if definition.is_lexeme() {
            continue;
        }
        for node in definition.nodes() {
            let used = match ast.node(node) {
                Node::Reference { definition, .. } => *definition,
                Node::Module(module) => ast.module(*module).start,
                _ => continue,
            };
            users.entry(used).or_default().push(user);
        }
    }
    users
}
