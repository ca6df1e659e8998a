//! Arrays: the first items one by one, then a counted repetition.
//!
//! Where more is said than what the items of each place are and how many there are, they are read one
//! by one, and each thing that can be left to satisfy is a rule; items that change nothing are a
//! repetition.

use super::{
    Analysis, Lowered, Position, Target,
    body::Lowering,
    facts::{Fact, FactsId},
    formula::{Connective, Id, Node},
    layout::Content,
    satisfy::Goal,
    sets::SetId,
    states::ArrayState,
};
use crate::model::Count;
use formwork_grammar::ExprId;

/// An array of which nothing is said but what each item is and how many there are.
#[derive(Clone, Debug)]
pub(super) struct ArrayShape {
    /// The first items, one by one.
    pub(super) prefix: Vec<SetId>,
    /// All others.
    pub(super) rest: SetId,
    pub(super) count: Count,
}

impl Analysis {
    /// The shape of the arrays that satisfy a formula, where they have one.
    pub(super) fn array_shape(&mut self, facts: FactsId) -> Lowered<Option<ArrayShape>> {
        let mut count = Count::default();
        let mut each = Vec::new();
        for part in self.facts.parts(Connective::And, facts) {
            match *self.facts.node(part) {
                Node::Atom(Fact::AtLeast(min)) => {
                    count = count.intersect(Count { min, max: None });
                }
                Node::Atom(Fact::AtMost(max)) => {
                    count = count.intersect(Count { min: 0, max: Some(max) });
                }
                Node::Atom(Fact::Items(_) | Fact::EveryItem(..)) => each.push(part),
                _ => return Ok(None),
            }
        }
        let each = self.facts.and(each);
        let last = self.last_place(each);
        let mut prefix = Vec::new();
        let mut rest = SetId::TRUE;
        for place in 0..=last {
            let derivative = self.after_item(each, place)?;
            let values = self.facts.parts(Connective::And, derivative).into_iter();
            let values: Vec<SetId> = values
                .filter_map(|id| match *self.facts.node(id) {
                    Node::Atom(Fact::Value(set)) => Some(set),
                    Node::False => Some(SetId::FALSE),
                    _ => None,
                })
                .collect();
            rest = self.sets.and(values);
            prefix.push(rest);
        }
        prefix.pop();
        Ok(Some(ArrayShape { prefix, rest, count }))
    }
}

impl Lowering<'_> {
    /// The arrays that satisfy a formula.
    pub(super) fn array(&mut self, facts: FactsId) -> Lowered<ExprId> {
        let facts = self.analysis.without_idle_unique(facts)?;
        if let Some(unique) = self.analysis.unique(facts)? {
            return self.unique(&unique);
        }
        if let Some(shape) = self.analysis.array_shape(facts)? {
            return self.shaped(&shape);
        }
        let state = self.analysis.array_start(facts);
        if !self.analysis.is_possible(Goal::Array(state))? {
            return Ok(self.body.never());
        }
        let items = self.list_of_items(state, Position::First)?;
        let content = match (items, self.analysis.holds_at_end(facts, 0)) {
            (Some(items), true) => Content::Optional(items),
            (Some(items), false) => Content::Items(items),
            (None, true) => Content::Empty,
            (None, false) => return Ok(self.body.never()),
        };
        Ok(self.pieces.container(self.body, *b"[]", content))
    }

    /// The body of a rule for the items from a state on.
    pub(super) fn items(&mut self, state: ArrayState, position: Position) -> Lowered<ExprId> {
        let items = self.list_of_items(state, position)?;
        Ok(items.unwrap_or_else(|| self.body.never()))
    }

    /// The items from a state on: at the beginning one at least, behind others each with its
    /// separator before it. None when there is no way to go on.
    fn list_of_items(&mut self, state: ArrayState, position: Position) -> Lowered<Option<ExprId>> {
        let separator = self.pieces.item_separator;
        let (mut same, mut exits) = (Vec::new(), Vec::new());
        for &(value, next) in self.analysis.item_ways(state)?.iter() {
            if !self.analysis.is_satisfiable(value)? {
                continue;
            }
            if next == state {
                same.push(self.reference(value)?);
            } else if self.analysis.is_possible(Goal::Array(next))? {
                let item = self.reference(value)?;
                let rest = match next.facts == Id::TRUE {
                    true => {
                        let any = self.reference(SetId::TRUE)?;
                        let more = self.body.seq(&[separator, any]);
                        self.body.repeat(more, 0, None)
                    }
                    false => self.rest(Target::Items(next, Position::Later))?,
                };
                exits.push(self.body.seq(&[item, rest]));
                self.check_nodes(self.body.len())?;
            }
        }
        let item = self.body.alt(&same);
        let more = self.body.seq(&[separator, item]);
        let more = self.body.repeat(more, 0, None);
        let exit = self.body.alt(&exits);
        let behind = self.body.seq(&[separator, exit]);
        let ends = self.analysis.holds_at_end(state.facts, state.place);
        let end = if ends { self.body.optional(behind) } else { behind };
        let later = self.body.seq(&[more, end]);
        let list = match position {
            Position::Later => later,
            Position::First => {
                let first = self.body.seq(&[item, later]);
                self.body.alt(&[first, exit])
            }
        };
        Ok((!self.is_never(list)).then_some(list))
    }

    fn shaped(&mut self, shape: &ArrayShape) -> Lowered<ExprId> {
        let mut prefix = Vec::with_capacity(shape.prefix.len());
        let (min, mut max) = (shape.count.min, shape.count.max);
        let mut rest = None;
        // The first item that nothing can be is where the array ends at the latest.
        let mut ended = false;
        for &set in &shape.prefix {
            if max.is_some_and(|max| prefix.len() >= max as usize) {
                break;
            }
            if !self.analysis.is_satisfiable(set)? {
                ended = true;
                break;
            }
            prefix.push(self.reference(set)?);
            self.check_nodes(self.body.len())?;
        }
        let fixed = u32::try_from(prefix.len()).expect("fewer items than 2^32");
        if ended || !self.analysis.is_satisfiable(shape.rest)? {
            max = Some(max.unwrap_or(fixed).min(fixed));
        } else if max.is_none_or(|max| max > fixed) {
            rest = Some(self.reference(shape.rest)?);
        }
        if max.is_some_and(|max| max < min) {
            return Ok(self.body.never());
        }
        let content = match self.sequence(&prefix, rest, (min, max)) {
            None => Content::Empty,
            Some(items) if min == 0 => Content::Optional(items),
            Some(items) => Content::Items(items),
        };
        Ok(self.pieces.container(self.body, *b"[]", content))
    }

    /// At least one item, and `min` of them; none when there can be no item. Not more than `prefix`
    /// without `rest`.
    fn sequence(
        &mut self,
        prefix: &[ExprId],
        rest: Option<ExprId>,
        (min, max): (u32, Option<u32>),
    ) -> Option<ExprId> {
        let separator = self.pieces.item_separator;
        let Some((&first, further)) = prefix.split_first() else {
            let rest = rest?;
            let more = self.body.seq(&[separator, rest]);
            let more =
                self.body.repeat(more, min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
            return Some(self.body.seq(&[rest, more]));
        };
        // From the end: what may follow, an option inside the option before it.
        let fixed = u32::try_from(prefix.len()).expect("fewer items than 2^32");
        let mut tail = match rest {
            Some(rest) => {
                let more = self.body.seq(&[separator, rest]);
                self.body.repeat(more, min.saturating_sub(fixed), max.map(|max| max - fixed))
            }
            None => self.body.empty(),
        };
        let mandatory = (min as usize).saturating_sub(1).min(further.len());
        for &item in further[mandatory..].iter().rev() {
            let more = self.body.seq(&[separator, item, tail]);
            tail = self.body.optional(more);
        }
        let mut parts = vec![first];
        for &item in &further[..mandatory] {
            parts.extend([separator, item]);
        }
        parts.push(tail);
        Some(self.body.seq(&parts))
    }
}
