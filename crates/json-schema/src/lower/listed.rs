//! `enum` and `const`: arrays and objects written in the schema.
//!
//! A listed array or object is written as the schema writes it, but for white space and the spelling
//! of the scalars in it: members in the schema's order. Where members may come in any order, an
//! object is a set like any other.

use super::{
    Analysis, Lowered,
    body::Lowering,
    facts::{Fact, FactsId},
    formula::{Id, Node},
    layout::Pieces,
    meaning::Kind,
    satisfy::Alternative,
    sets::Sign,
};
use crate::{
    PropertyOrder,
    document::{Document, Event, Order, Value, ValueId, Walk},
    model::SchemaId,
};
use formwork_grammar::ExprId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Clauses beyond the parts of a formula into which it is still taken apart.
const FREE_CLAUSES: usize = 16;

impl Analysis {
    /// The ways to satisfy a formula. It is taken apart into clauses where these are no more than it
    /// has parts; otherwise it is read as a whole.
    pub(super) fn alternatives_of(
        &mut self,
        facts: FactsId,
        kind: Kind,
    ) -> Lowered<Vec<Alternative>> {
        let most = FREE_CLAUSES + self.facts.below(&[facts]).len();
        let Some(clauses) = self.facts.clauses(facts, most) else {
            return Ok(vec![Alternative::Facts(self.unlisted(facts, kind)?)]);
        };
        let mut alternatives = Vec::with_capacity(clauses.len());
        for clause in clauses {
            self.fuel.steps(1 + clause.len())?;
            let lists = clause.iter().filter_map(|&id| match *self.facts.node(id) {
                Node::Atom(Fact::Equals(value)) => Some(vec![value]),
                Node::Atom(Fact::Among(schema)) => Some(self.enumeration(schema, kind)),
                _ => None,
            });
            let shortest = lists.min_by_key(Vec::len);
            let facts = self.facts.and(clause);
            if facts == Id::FALSE {
                continue;
            }
            let Some(candidates) = shortest else {
                alternatives.push(Alternative::Facts(facts));
                continue;
            };
            let mut values = Vec::new();
            let mut seen = FxHashSet::default();
            for value in candidates {
                self.fuel.steps(1)?;
                if !seen.insert(value) || !self.facts_hold(value, facts)? {
                    continue;
                }
                if self.has_order_to_choose(value) {
                    let equals = self.facts.atom(Fact::Equals(value));
                    alternatives.push(Alternative::Facts(equals));
                } else {
                    values.push(value);
                }
            }
            alternatives.push(Alternative::Listed(values.into()));
        }
        Ok(alternatives)
    }

    /// The values of a type that a schema lists.
    fn enumeration(&self, schema: SchemaId, kind: Kind) -> Vec<ValueId> {
        let values = self.model.keywords(schema).and_then(|keywords| keywords.enumeration.as_ref());
        let of_kind = |value: &ValueId| Kind::of(self.model.document.value(*value)) == kind;
        values.into_iter().flatten().copied().filter(of_kind).collect()
    }

    /// The formula with lists written out.
    fn unlisted(&mut self, facts: FactsId, kind: Kind) -> Lowered<FactsId> {
        let mut table: FxHashMap<FactsId, FactsId> = FxHashMap::default();
        for (id, fact) in self.facts.atoms(facts).iter().copied() {
            if let Fact::Among(schema) = fact {
                let values = self.enumeration(schema, kind);
                self.fuel.steps(values.len())?;
                let equal: Vec<FactsId> =
                    values.into_iter().map(|value| self.facts.atom(Fact::Equals(value))).collect();
                table.insert(id, self.facts.or(equal));
            }
        }
        Ok(if table.is_empty() { facts } else { self.facts.replace(facts, &table) })
    }

    /// Whether a value has an object in it the members of which may come in several orders.
    fn has_order_to_choose(&self, value: ValueId) -> bool {
        let document = &self.model.document;
        self.model.choices.property_order == PropertyOrder::Any
            && Walk::new(document, value, Order::Written).any(|event| match event {
                Event::Open { value, .. } => match document.value(value) {
                    Value::Object(children) => children.len > 1,
                    _ => false,
                },
                _ => false,
            })
    }
}

impl Lowering<'_> {
    /// Any of these arrays and objects.
    pub(super) fn listed(&mut self, values: &[ValueId]) -> Lowered<ExprId> {
        let mut choices = Vec::new();
        for &value in values {
            choices.push(self.written(value, 0)?);
            self.check_nodes(self.body.len())?;
        }
        Ok(self.body.alt(&choices))
    }

    /// A value as it is written, with white space between its tokens. One flat sequence: nested
    /// ones would be copied once for each level they are flattened through.
    /// `inside` is how many containers of this rule are around it.
    pub(super) fn written(&mut self, value: ValueId, inside: u32) -> Lowered<ExprId> {
        let model = self.analysis.model.clone();
        let document = &model.document;
        let mut parts = Vec::new();
        let mut open = 0_u32;
        for event in Walk::new(document, value, Order::Written) {
            // Indentation, where there is one, is written out for every piece.
            self.analysis.fuel.steps(1 + self.layout.levels(open) as usize)?;
            let is_open = matches!(event, Event::Open { .. });
            // A container's own brackets are laid out like its items.
            let depth = inside + if is_open { open } else { open.saturating_sub(1) };
            let depth = self.depth + self.layout.levels(depth);
            let pieces = self.layout.pieces(self.body, depth);
            self.token(document, event, &pieces, &mut parts)?;
            match event {
                Event::Open { .. } => open += 1,
                Event::Close { .. } => open -= 1,
                _ => {}
            }
        }
        Ok(self.body.seq(&parts))
    }

    /// Appends what an event of a walk is written as.
    fn token(
        &mut self,
        document: &Document,
        event: Event,
        pieces: &Pieces,
        parts: &mut Vec<ExprId>,
    ) -> Lowered<()> {
        let brackets = |value| match document.value(value) {
            Value::Object(_) => [b"{", b"}"],
            _ => [b"[", b"]"],
        };
        match event {
            Event::Open { value, empty } => {
                parts.extend([self.body.literal(brackets(value)[0]), pieces.opened]);
                parts.extend((!empty).then_some(pieces.before_items));
            }
            Event::Item { first } => parts.extend((!first).then_some(pieces.item_separator)),
            Event::Key(key) => {
                let key = self.key(document.text(key))?;
                parts.extend([key, pieces.key_separator]);
            }
            Event::Scalar(scalar) => {
                let kind = Kind::of(document.value(scalar));
                let meaning = self.analysis.equals(scalar, Sign::Positive, kind)?;
                let scalar = self.scalar(meaning, kind)?;
                parts.push(scalar);
            }
            Event::Close { value, empty } => {
                parts.extend((!empty).then_some(pieces.after_items));
                parts.push(self.body.literal(brackets(value)[1]));
            }
        }
        Ok(())
    }
}
