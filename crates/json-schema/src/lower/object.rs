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
//! # Other keys
//! A key that is declared never comes a second time in disguise: other keys are written in plain
//! spelling, in which a text has one spelling, and the declared ones are taken out of that language.

use super::{
    Analysis, Clause, Lowered, body::Lowering, layout::Content, shapes::ObjectShape, text::quote,
};
use formwork_grammar::ExprId;

/// What can be a member, in the order in which they come.
struct Slot {
    expr: ExprId,
    required: bool,
}

impl Lowering<'_> {
    /// The objects that satisfy a clause.
    pub(super) fn object(&mut self, clause: &Clause) -> Lowered<ExprId> {
        let shape = self.analysis.object_shape(clause)?;
        let Some(slots) = self.declared(&shape)? else { return Ok(self.body.never()) };
        let others = self.others(&shape)?;
        let content = match slots.iter().position(|slot| slot.required) {
            Some(anchor) => Content::Items(self.anchored(&slots, anchor, others)),
            None => match self.some(&slots, others) {
                Some(some) => Content::Optional(some),
                None => Content::Empty,
            },
        };
        Ok(self.pieces.container(self.body, *b"{}", content))
    }

    /// The declared members that can occur; none when a required one cannot.
    fn declared(&mut self, shape: &ObjectShape) -> Lowered<Option<Vec<Slot>>> {
        let model = self.analysis.model.clone();
        let mut slots = Vec::with_capacity(shape.properties.len());
        let mut key = Vec::new();
        for property in &shape.properties {
            if !self.analysis.is_satisfiable(property.set)? {
                if property.required {
                    return Ok(None);
                }
                continue;
            }
            key.clear();
            quote(model.document.text(property.name), &mut key);
            let key = self.body.literal(&key);
            let value = self.reference(property.set)?;
            let expr = self.body.seq(&[key, self.pieces.key_separator, value]);
            slots.push(Slot { expr, required: property.required });
            self.check_nodes(self.body.len())?;
        }
        Ok(Some(slots))
    }

    /// A member with a key that is not declared, if there can be one.
    fn others(&mut self, shape: &ObjectShape) -> Lowered<Option<ExprId>> {
        if !self.analysis.is_satisfiable(shape.rest)? {
            return Ok(None);
        }
        let model = self.analysis.model.clone();
        let names = shape.properties.iter().map(|property| model.document.text(property.name));
        let Analysis { languages, fuel, .. } = &mut *self.analysis;
        let keys = languages.keys_except(names, fuel)?;
        let key = self.body.automaton(keys);
        let value = self.reference(shape.rest)?;
        Ok(Some(self.body.seq(&[key, self.pieces.key_separator, value])))
    }

    /// A list with a member that is there in any case.
    fn anchored(&mut self, slots: &[Slot], anchor: usize, others: Option<ExprId>) -> ExprId {
        let separator = self.pieces.item_separator;
        let mut parts = Vec::with_capacity(slots.len() + 1);
        for slot in &slots[..anchor] {
            let member = self.body.seq(&[slot.expr, separator]);
            parts.push(self.body.optional(member));
        }
        parts.push(slots[anchor].expr);
        for slot in &slots[anchor + 1..] {
            let member = self.body.seq(&[separator, slot.expr]);
            parts.push(if slot.required { member } else { self.body.optional(member) });
        }
        if let Some(other) = others {
            let member = self.body.seq(&[separator, other]);
            parts.push(self.body.repeat(member, 0, None));
        }
        self.body.seq(&parts)
    }

    /// A list of at least one member, none of them required; none when there is no member.
    fn some(&mut self, slots: &[Slot], others: Option<ExprId>) -> Option<ExprId> {
        let separator = self.pieces.item_separator;
        let mut level: Vec<ExprId> = slots.iter().map(|slot| slot.expr).collect();
        if let Some(other) = others {
            let more = self.body.seq(&[separator, other]);
            let more = self.body.repeat(more, 0, None);
            level.push(self.body.seq(&[other, more]));
        }
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
}
