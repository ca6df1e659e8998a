//! With which conditions a part of a body can end that begins under one.
//!
//! # Idea
//! Look-aheads are eliminated before anything is read: what a part generates under a condition is
//! split by the condition that it leaves (`resolve`), as in the intersection of a context-free
//! grammar with an automaton (Bar-Hillel, Perles and Shamir, 1961). So an output never carries a
//! condition, what cannot be completed under one is dropped like every rule without a base case, and
//! grammars without look-ahead are read as they are.
//!
//! # Construction
//! A *unit* is a part of a body and a condition that it begins under; its *outs* are the conditions
//! it can leave: a least fixpoint, by a worklist. Parts without look-ahead, under no condition,
//! leave none and are not looked into.
//!
//! # Cost
//! Parts times conditions, where any are open; paid from the fuel.

use crate::{
    conditions::{Condition, Conditions},
    texts::{Sizes, Texts},
};
use formwork_automata::{ByteSet, Dfa, Exhausted, Fuel};
use formwork_core::{CompileError, Unsupported};
use formwork_grammar::{
    ExprId, Location, LookAhead, Node, Permute, Repeat, RuleId, Uniqueness, regular::RegularError,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a unit is a unit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Site {
    Node(ExprId),
    /// A sequence from this part on.
    Rest(ExprId, u32),
    /// A repetition after so many turns; without a bound above, those past the least are not told
    /// apart.
    Turns(ExprId, u32),
    /// A list of unordered items, in a state of its own.
    Items(u32),
}

/// Where a list of unordered items stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Items {
    pub(crate) expr: ExprId,
    pub(crate) phase: Phase,
    /// Members that have not occurred.
    pub(crate) left: Box<[u32]>,
    pub(crate) count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// An item begins.
    Before,
    /// The key of another item has been read.
    Tail,
    After,
}

/// A part of the body of a rule.
pub(crate) type Part = (RuleId, Site);

/// One way through a part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Nothing,
    One(Part),
    Two(Part, Part),
}

/// What a part without parts becomes.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    Empty,
    /// The node as it is.
    Same,
    Bytes(ByteSet),
    Text(Arc<Dfa>),
}

/// What a part without parts becomes, by the condition that is left.
type Leaves = Box<[(Condition, Leaf)]>;

#[derive(Debug)]
struct Unit {
    part: Part,
    condition: Condition,
    outs: Vec<Condition>,
    leaves: Option<Leaves>,
    dependents: Vec<u32>,
    is_pending: bool,
}

/// All units of one grammar.
pub(crate) struct Units<'a> {
    pub(crate) texts: Texts<'a>,
    pub(crate) conditions: Conditions,
    pub(crate) fuel: Fuel,
    /// By rule and node: whether there is a look-ahead in it.
    looks: Vec<Box<[bool]>>,
    sizes: Sizes,
    units: Vec<Unit>,
    numbers: FxHashMap<(Part, Condition), u32>,
    items: Vec<Items>,
    item_numbers: FxHashMap<Items, u32>,
    pending: Vec<u32>,
}

impl<'a> Units<'a> {
    pub(crate) fn new(
        texts: Texts<'a>,
        conditions: Conditions,
        looks: Vec<Box<[bool]>>,
        sizes: Sizes,
        fuel: Fuel,
    ) -> Self {
        Self {
            texts,
            conditions,
            fuel,
            looks,
            sizes,
            units: Vec::new(),
            numbers: FxHashMap::default(),
            items: Vec::new(),
            item_numbers: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// The body of a rule as a part.
    pub(crate) fn body(&self, rule: RuleId) -> Part {
        (rule, Site::Node(self.texts.rules.body(rule).root()))
    }

    pub(crate) fn node(&self, rule: RuleId, expr: ExprId) -> &'a Node {
        &self.texts.rules.body(rule)[expr]
    }

    pub(crate) fn items(&self, items: u32) -> &Items {
        &self.items[items as usize]
    }

    pub(crate) fn part(&self, unit: u32) -> (Part, Condition) {
        let unit = &self.units[unit as usize];
        (unit.part, unit.condition)
    }

    /// What the unit becomes for each of its outs, if it has no parts.
    pub(crate) fn leaves(&self, unit: u32) -> Option<&[(Condition, Leaf)]> {
        self.units[unit as usize].leaves.as_deref()
    }

    /// Whether a node is to be copied with all that is in it.
    pub(crate) fn is_plain(&self, (rule, site): Part, condition: Condition) -> bool {
        match site {
            Site::Node(expr) => {
                condition == Condition::NONE && !self.looks[rule.index()][expr.index()]
            }
            _ => false,
        }
    }

    /// The unit of a part, made now if it is new.
    pub(crate) fn unit(&mut self, part: Part, condition: Condition) -> Result<u32, CompileError> {
        if let Some(&known) = self.numbers.get(&(part, condition)) {
            return Ok(known);
        }
        self.fuel.steps(1)?;
        let is_plain = self.is_plain(part, condition);
        let leaves = if is_plain { None } else { self.leaf(part, condition)? };
        let outs = match &leaves {
            Some(leaves) => leaves.iter().map(|leaf| leaf.0).collect(),
            None if is_plain => vec![Condition::NONE],
            None => Vec::new(),
        };
        let is_pending = leaves.is_none() && !is_plain;
        let unit = Unit { part, condition, outs, leaves, dependents: Vec::new(), is_pending };
        let number = u32::try_from(self.units.len()).expect("bounded by fuel");
        self.units.push(unit);
        self.numbers.insert((part, condition), number);
        if is_pending {
            self.pending.push(number);
        }
        Ok(number)
    }

    /// The conditions that a part can leave, as far as they are known.
    pub(crate) fn outs(
        &mut self,
        part: Part,
        condition: Condition,
    ) -> Result<&[Condition], CompileError> {
        let unit = self.unit(part, condition)?;
        Ok(&self.units[unit as usize].outs)
    }

    /// Finds the outs of all units that have been asked for, and of those that they need.
    pub(crate) fn settle(&mut self) -> Result<(), CompileError> {
        while let Some(unit) = self.pending.pop() {
            self.units[unit as usize].is_pending = false;
            let found = self.look(unit)?;
            let outs = &mut self.units[unit as usize].outs;
            let before = outs.len();
            for out in found {
                if !outs.contains(&out) {
                    outs.push(out);
                }
            }
            if outs.len() > before {
                for dependent in self.units[unit as usize].dependents.clone() {
                    let waiting = &mut self.units[dependent as usize].is_pending;
                    if !std::mem::replace(waiting, true) {
                        self.pending.push(dependent);
                    }
                }
            }
        }
        Ok(())
    }

    /// The outs of a unit from those of its parts.
    fn look(&mut self, unit: u32) -> Result<Vec<Condition>, CompileError> {
        let (part, condition) = self.part(unit);
        if let Some(same) = self.same(part) {
            let mut any = false;
            let mut is_settled = true;
            for part in same {
                for out in self.read(unit, part, condition)? {
                    any |= out == condition;
                    is_settled &= out == condition;
                }
            }
            if is_settled {
                let ways = self.ways(part)?;
                let ends = ways.iter().any(|way| matches!(way, Way::Nothing));
                return Ok(if any || ends { vec![condition] } else { Vec::new() });
            }
        }
        let mut outs = Vec::new();
        for way in self.ways(part)? {
            match way {
                Way::Nothing => outs.push(condition),
                Way::One(part) => outs.extend(self.read(unit, part, condition)?),
                Way::Two(first, then) => {
                    for between in self.read(unit, first, condition)? {
                        outs.extend(self.read(unit, then, between)?);
                    }
                }
            }
        }
        Ok(outs)
    }

    /// The outs of a part, for a unit that is to be told when there are more.
    fn read(
        &mut self,
        reader: u32,
        part: Part,
        condition: Condition,
    ) -> Result<Vec<Condition>, CompileError> {
        let number = self.unit(part, condition)?;
        let unit = &mut self.units[number as usize];
        self.fuel.steps(1 + unit.outs.len())?;
        if unit.leaves.is_none() && !unit.dependents.contains(&reader) {
            self.fuel.steps(unit.dependents.len())?;
            unit.dependents.push(reader);
        }
        Ok(unit.outs.clone())
    }

    /// The parts of a repetition or a list, which stays one where none of them changes the
    /// condition.
    pub(crate) fn same(&self, (rule, site): Part) -> Option<Vec<Part>> {
        let part = |expr: ExprId| (rule, Site::Node(expr));
        match site {
            Site::Turns(expr, done) => match self.node(rule, expr) {
                Node::Repeat(repeat) if repeat.max.is_none_or(|max| done < max) => {
                    Some(vec![part(repeat.expr)])
                }
                _ => None,
            },
            Site::Items(number) => {
                let Items { expr, phase, left, .. } = self.items(number);
                let Node::Permute(permute) = self.node(rule, *expr) else { return None };
                if *phase != Phase::Before {
                    return None;
                }
                let members = left.iter().map(|&member| permute.members[member as usize].expr);
                let rest = permute.rest.iter().flat_map(|rest| [rest.key, rest.tail]);
                Some(members.chain(rest).chain([permute.separator]).map(part).collect())
            }
            _ => None,
        }
    }

    /// The ways through a part that is not a leaf.
    pub(crate) fn ways(&mut self, (rule, site): Part) -> Result<Vec<Way>, CompileError> {
        let part = |expr: ExprId| (rule, Site::Node(expr));
        match site {
            Site::Node(expr) => Ok(match self.node(rule, expr) {
                Node::Alt(choices) => choices.iter().map(|&c| Way::One(part(c))).collect(),
                Node::Seq(_) => vec![Way::One((rule, Site::Rest(expr, 0)))],
                Node::Repeat(_) => vec![Way::One((rule, Site::Turns(expr, 0)))],
                Node::Rule(callee) => vec![Way::One(self.body(*callee))],
                Node::Annotated { expr, .. } | Node::TokenLimit { expr, .. } => {
                    vec![Way::One(part(*expr))]
                }
                Node::Permute(permute) => {
                    let left = (0..).zip(&permute.members).map(|(number, _)| number).collect();
                    let first = Items { expr, phase: Phase::Before, left, count: 0 };
                    let mut ways = vec![Way::One((rule, self.number(first)?))];
                    ways.extend((permute.min == 0).then_some(Way::Nothing));
                    ways
                }
                _ => Vec::new(),
            }),
            Site::Rest(expr, at) => {
                let Node::Seq(parts) = self.node(rule, expr) else { return Ok(Vec::new()) };
                let at = at as usize;
                Ok(vec![match at + 1 == parts.len() {
                    true => Way::One(part(parts[at])),
                    false => Way::Two(part(parts[at]), (rule, Site::Rest(expr, at as u32 + 1))),
                }])
            }
            Site::Turns(expr, done) => {
                let Node::Repeat(Repeat { expr: turn, min, max }) = *self.node(rule, expr) else {
                    return Ok(Vec::new());
                };
                let mut ways = Vec::new();
                ways.extend((done >= min).then_some(Way::Nothing));
                if max.is_none_or(|max| done < max) {
                    let next = if max.is_none() { (done + 1).min(min) } else { done + 1 };
                    ways.push(Way::Two(part(turn), (rule, Site::Turns(expr, next))));
                }
                Ok(ways)
            }
            Site::Items(number) => self.ways_of_items(rule, number),
        }
    }

    fn number(&mut self, items: Items) -> Result<Site, CompileError> {
        self.fuel.steps(1 + items.left.len())?;
        let next = u32::try_from(self.items.len()).expect("bounded by fuel");
        let number = *self.item_numbers.entry(items.clone()).or_insert(next);
        if number == next {
            self.items.push(items);
        }
        Ok(Site::Items(number))
    }

    fn ways_of_items(&mut self, rule: RuleId, number: u32) -> Result<Vec<Way>, CompileError> {
        let Items { expr, phase, left, count } = self.items(number).clone();
        let Node::Permute(permute) = self.node(rule, expr) else { return Ok(Vec::new()) };
        let part = |expr: ExprId| (rule, Site::Node(expr));
        let mut ways = Vec::new();
        match phase {
            Phase::Before => {
                for at in 0..left.len() {
                    let mut others = left.to_vec();
                    let member = &permute.members[others.remove(at) as usize];
                    let counted = counted(permute, count);
                    let after = Items { left: others.into(), count: counted, ..after(expr) };
                    let after = (rule, self.number(after)?);
                    ways.push(Way::Two(part(member.expr), after));
                }
                if let Some(rest) = permute.rest {
                    if rest.uniqueness == Uniqueness::Distinct {
                        // Which keys have been written cannot be split off.
                        let construct = "look-ahead past an item whose key must differ from others";
                        let location = Location::default();
                        return Err(Unsupported::Construct { construct, location }.into());
                    }
                    let count = counted(permute, count);
                    let tail = Items { expr, phase: Phase::Tail, left, count };
                    let tail = (rule, self.number(tail)?);
                    ways.push(Way::Two(part(rest.key), tail));
                }
            }
            Phase::Tail => {
                let after = (rule, self.number(Items { left, count, ..after(expr) })?);
                ways.extend(permute.rest.map(|rest| Way::Two(part(rest.tail), after)));
            }
            Phase::After => {
                let is_required = |&member: &u32| permute.members[member as usize].required;
                if count >= permute.min && !left.iter().any(is_required) {
                    ways.push(Way::Nothing);
                }
                let has_more = !left.is_empty() || permute.rest.is_some();
                if has_more && permute.max.is_none_or(|max| count < max) {
                    let before = Items { expr, phase: Phase::Before, left, count };
                    let before = (rule, self.number(before)?);
                    ways.push(Way::Two(part(permute.separator), before));
                }
            }
        }
        Ok(ways)
    }

    /// What a part without parts becomes under a condition; and text, which becomes automata.
    fn leaf(
        &mut self,
        (rule, site): Part,
        condition: Condition,
    ) -> Result<Option<Leaves>, CompileError> {
        let Site::Node(expr) = site else { return Ok(None) };
        let same = |after: Option<Condition>| after.map(|after| (after, Leaf::Same));
        Ok(Some(match self.node(rule, expr) {
            Node::Never => Box::default(),
            Node::Empty => [(condition, Leaf::Empty)].into(),
            Node::Literal(bytes) => {
                let after = self.conditions.after(condition, bytes, &mut self.fuel)?;
                same(after).into_iter().collect()
            }
            Node::Bytes(bytes) => {
                let parts = self.conditions.parts(condition, &mut self.fuel)?;
                let both = parts.iter().map(|part| (part.1, part.0.intersection(bytes)));
                let some = both.filter(|both| !both.1.is_empty());
                some.map(|(after, bytes)| (after, Leaf::Bytes(bytes))).collect()
            }
            Node::Tokens(_) => {
                let may_follow = self.conditions.may_end(condition);
                same(may_follow.then_some(Condition::NONE)).into_iter().collect()
            }
            Node::LookAhead(LookAhead { .. }) => {
                let look = self.texts.looks[&(rule, expr)];
                let after = self.conditions.opened(condition, look);
                after.map(|after| (after, Leaf::Empty)).into_iter().collect()
            }
            node => {
                let is_leaf = matches!(node, Node::Automaton(_) | Node::And(_) | Node::Not(_));
                if !is_leaf && self.sizes[rule.index()][expr.index()].is_none() {
                    return Ok(None);
                }
                match self.texts.text((rule, expr), condition, &mut self.conditions) {
                    Ok(texts) => {
                        texts.into_iter().map(|(after, dfa)| (after, Leaf::Text(dfa))).collect()
                    }
                    Err(RegularError::Exhausted(
                        Exhausted::States { .. } | Exhausted::Steps { .. },
                    )) if !is_leaf => return Ok(None),
                    Err(error) => return Err(crate::backend::regular(error)),
                }
            }
        }))
    }
}

fn after(expr: ExprId) -> Items {
    Items { expr, phase: Phase::After, left: Box::default(), count: 0 }
}

/// The number of items with one more; without a bound above, those past the least are not told
/// apart.
fn counted(permute: &Permute, count: u32) -> u32 {
    match permute.max {
        None => count.saturating_add(1).min(permute.min),
        Some(_) => count.saturating_add(1),
    }
}
