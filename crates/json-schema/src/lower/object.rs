//! Objects: declared names first, in declared order, then all other keys.
//!
//! # Separators
//! Members are optional, so it is not known which one is the first. Where some member is required,
//! it anchors the list: those before it bring their separator behind them, those after it before
//! them, and the body is linear in their number. Where none is, the first member that occurs is
//! chosen by halves:
//! ```text
//! some(a..b) = some(a..m) (separator some(m..b))? | some(m..b)
//! ```
//! Each half is one node however often it is used, so that is linear as well.
//!
//! # Forks
//! A name on which the rest depends ends the list of slots; each way to go on is a rule of its own.
//!
//! # Other keys
//! A key that is declared never comes a second time in disguise: the declared ones are taken out of
//! the language of other keys, by what they mean.

use super::{
    Lowered, Position, Target,
    body::Lowering,
    facts::FactsId,
    formula::Node,
    layout::Content,
    names::NameId,
    order::Agreement,
    satisfy::Goal,
    sets::SetId,
    states::{ObjectState, Step},
};
use crate::PropertyOrder;
use formwork_grammar::ExprId;

/// What can be a member, in the order in which they come.
#[derive(Clone, Copy)]
struct Slot {
    expr: ExprId,
    required: bool,
}

/// What can follow the slots.
pub(super) struct Tail {
    /// Behind other members: nothing, or members each with its separator before it.
    pub(super) later: Option<ExprId>,
    /// At the beginning: one member at least.
    pub(super) first: Option<ExprId>,
    /// Whether `later` is just that nothing, or a separator and `first`, may come.
    pub(super) plain: bool,
}

impl Lowering<'_> {
    /// The objects that satisfy a formula.
    pub(super) fn object(&mut self, facts: FactsId) -> Lowered<ExprId> {
        if self.analysis.model.choices.property_order == PropertyOrder::Any {
            return self.unordered(facts);
        }
        let (order, agreement) = self.analysis.order(facts)?;
        if agreement == Agreement::Contradictory
            && let Node::Or(parts) = self.analysis.facts.node(facts)
        {
            // Each has its own order, then. They have fewer parts.
            let parts = parts.to_vec();
            let choices: Lowered<Vec<ExprId>> =
                parts.into_iter().map(|part| self.object(part)).collect();
            return Ok(self.body.alt(&choices?));
        }
        let state = self.analysis.object_start(facts, order)?;
        if !self.analysis.is_possible(Goal::Object(state))? {
            return Ok(self.body.never());
        }
        let empty = self.analysis.holds_without_members(facts)?;
        let members = self.list(state, Position::First)?;
        let content = match (members, empty) {
            (Some(members), true) => Content::Optional(members),
            (Some(members), false) => Content::Items(members),
            (None, true) => Content::Empty,
            (None, false) => return Ok(self.body.never()),
        };
        Ok(self.pieces.container(self.body, *b"{}", content))
    }

    /// The body of a rule for the members from a state on.
    pub(super) fn members(&mut self, state: ObjectState, position: Position) -> Lowered<ExprId> {
        let members = self.list(state, position)?;
        Ok(members.unwrap_or_else(|| self.body.never()))
    }

    /// The members from a state on: at the beginning one at least, behind others each with its
    /// separator before it. None when there is no way to go on.
    fn list(&mut self, mut state: ObjectState, position: Position) -> Lowered<Option<ExprId>> {
        let mut slots = Vec::new();
        let step = loop {
            let step = self.analysis.step(state)?;
            let Step::Slot { name, value, required } = step else { break step };
            if self.analysis.is_satisfiable(value)? {
                let expr = self.member(name, value)?;
                slots.push(Slot { expr, required });
                self.check_nodes(self.body.len())?;
            } else if required {
                return Ok(None);
            }
            state.at += 1;
        };
        let tail = match step {
            Step::Fork { name, ways, without } => self.fork(name, &ways, without, position)?,
            _ => self.others(state)?,
        };
        Ok(match position {
            Position::Later => tail.later.map(|later| {
                let mut parts = self.behind(&slots);
                parts.push(later);
                self.body.seq(&parts)
            }),
            Position::First => match slots.iter().position(|slot| slot.required) {
                Some(anchor) => tail.later.map(|later| self.anchored(&slots, anchor, later)),
                None => self.some(&slots, &tail),
            },
        })
    }

    /// A member with one of the names.
    pub(super) fn member(&mut self, name: NameId, value: SetId) -> Lowered<ExprId> {
        let text = self.analysis.names.text(name);
        let key = self.key(&text)?;
        let value = self.reference(value)?;
        Ok(self.body.seq(&[key, self.pieces.key_separator, value]))
    }

    /// Each with its separator before it.
    fn behind(&mut self, slots: &[Slot]) -> Vec<ExprId> {
        let separator = self.pieces.item_separator;
        let mut parts = Vec::with_capacity(slots.len() + 1);
        for slot in slots {
            let member = self.body.seq(&[separator, slot.expr]);
            parts.push(if slot.required { member } else { self.body.optional(member) });
        }
        parts
    }

    /// A list with a member that is there in any case.
    fn anchored(&mut self, slots: &[Slot], anchor: usize, later: ExprId) -> ExprId {
        let separator = self.pieces.item_separator;
        let mut parts = Vec::with_capacity(slots.len() + 1);
        for slot in &slots[..anchor] {
            let member = self.body.seq(&[slot.expr, separator]);
            parts.push(self.body.optional(member));
        }
        parts.push(slots[anchor].expr);
        parts.extend(self.behind(&slots[anchor + 1..]));
        parts.push(later);
        self.body.seq(&parts)
    }

    /// A list of at least one member, none of the slots required; none when there can be no member.
    fn some(&mut self, slots: &[Slot], tail: &Tail) -> Option<ExprId> {
        let mut level: Vec<ExprId> = slots.iter().map(|slot| slot.expr).collect();
        if tail.plain {
            level.extend(tail.first);
            return self.halves(level);
        }
        let some = self.halves(level);
        let with_slots = some.zip(tail.later).map(|(some, later)| self.body.seq(&[some, later]));
        let choices: Vec<ExprId> = with_slots.into_iter().chain(tail.first).collect();
        (!choices.is_empty()).then(|| self.body.alt(&choices))
    }

    fn halves(&mut self, mut level: Vec<ExprId>) -> Option<ExprId> {
        let separator = self.pieces.item_separator;
        while level.len() > 1 {
            let mut halves = Vec::with_capacity(level.len().div_ceil(2));
            for pair in level.chunks(2) {
                halves.push(match *pair {
                    [left, right] => {
                        let then = self.body.seq(&[separator, right]);
                        let then = self.body.optional(then);
                        let both = self.body.seq(&[left, then]);
                        self.body.alt(&[both, right])
                    }
                    _ => pair[0],
                });
            }
            level = halves;
        }
        level.pop()
    }

    /// A name on which the rest depends.
    fn fork(
        &mut self,
        name: NameId,
        ways: &[(SetId, ObjectState)],
        without: Option<ObjectState>,
        position: Position,
    ) -> Lowered<Tail> {
        let separator = self.pieces.item_separator;
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for &(value, next) in ways {
            if self.analysis.is_satisfiable(value)?
                && self.analysis.is_possible(Goal::Object(next))?
            {
                let member = self.member(name, value)?;
                let rest = self.rest_of_members(next, Position::Later)?;
                first.push(self.body.seq(&[member, rest]));
                later.push(self.body.seq(&[separator, member, rest]));
                self.check_nodes(self.body.len())?;
            }
        }
        if let Some(next) = without
            && self.analysis.is_possible(Goal::Object(next))?
        {
            later.push(self.rest_of_members(next, Position::Later)?);
            if position == Position::First && self.has_member(next)? {
                first.push(self.rest_of_members(next, Position::First)?);
            }
        }
        let choice = |lowering: &mut Self, choices: &[ExprId]| {
            (!choices.is_empty()).then(|| lowering.body.alt(choices))
        };
        Ok(Tail { later: choice(self, &later), first: choice(self, &first), plain: false })
    }

    /// Whether an object can be completed with at least one more member.
    fn has_member(&mut self, state: ObjectState) -> Lowered<bool> {
        let one = self.analysis.at_least(1);
        let facts = self.analysis.facts.and([state.facts, one]);
        self.analysis.is_possible(Goal::Object(ObjectState { facts, ..state }))
    }

    fn rest_of_members(&mut self, state: ObjectState, position: Position) -> Lowered<ExprId> {
        if matches!(self.analysis.step(state)?, Step::Others) {
            let tail = self.others(state)?;
            let rest = match position {
                Position::First => tail.first,
                Position::Later => tail.later,
            };
            return Ok(rest.unwrap_or_else(|| self.body.never()));
        }
        self.rest(Target::Members(state, position))
    }
}
