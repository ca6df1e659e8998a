//! `enum` and `const`: values written in the schema.
//!
//! A listed value is written as the schema writes it, but for white space and the spelling of
//! strings, which is plain: members in the schema's order. A number may be written as the schema
//! writes it, and plainly: `1.50` as `1.50` or as `1.5`. All scalars of a list are one automaton.

use super::{
    Analysis, Lowered, SetId, body::Lowering, judge::decimal, layout::Pieces, text::quote,
};
use crate::{
    document::{Document, Event, Order, Text, Value, ValueId, Walk},
    model::{Keywords, Types},
};
use formwork_automata::{Dfa, Exhausted};
use formwork_grammar::ExprId;
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Analysis {
    /// The values that a set lists and that satisfy it, in the order of the document.
    pub(super) fn listed(&mut self, set: SetId) -> Lowered<Arc<[ValueId]>> {
        if let Some(known) = self.listed.get(&set) {
            return Ok(known.clone());
        }
        let model = self.model.clone();
        let members = self.sets.members(set);
        let mut seen = FxHashSet::default();
        let mut values = Vec::new();
        for kind in Types::KINDS {
            for clause in self.clauses(set, kind)? {
                let Some(schema) = clause.values else { continue };
                let keywords = model.keywords(schema).expect("a schema that lists values");
                for value in candidates(keywords) {
                    self.fuel.steps(1)?;
                    if seen.insert(value) && self.satisfies(value, &members)? {
                        values.push(value);
                    }
                }
            }
        }
        values.sort_unstable();
        let values: Arc<[ValueId]> = values.into();
        self.listed.insert(set, values.clone());
        Ok(values)
    }
}

fn candidates(keywords: &Keywords) -> impl Iterator<Item = ValueId> {
    let listed = match keywords.constant {
        Some(_) => None,
        None => keywords.enumeration.as_ref(),
    };
    keywords.constant.into_iter().chain(listed.into_iter().flatten().copied())
}

impl Lowering<'_> {
    /// Any of these values.
    pub(super) fn listed(&mut self, values: &[ValueId]) -> Lowered<ExprId> {
        let model = self.analysis.model.clone();
        let document = &model.document;
        let mut scalars = Vec::new();
        let mut choices = Vec::new();
        for &value in values {
            match document.value(value) {
                Value::Array(_) | Value::Object(_) => {
                    choices.push(self.container(document, value)?);
                    self.check_nodes(self.body.len())?;
                }
                scalar => self.spellings(document, scalar, &mut scalars)?,
            }
        }
        if !scalars.is_empty() {
            choices.push(self.any_of(scalars)?);
        }
        Ok(self.body.alt(&choices))
    }

    fn any_of(&mut self, texts: Vec<Vec<u8>>) -> Lowered<ExprId> {
        if let [text] = &texts[..] {
            return Ok(self.body.literal(text));
        }
        let words = Dfa::from_strings(texts, &mut self.analysis.fuel)?;
        Ok(self.body.automaton(Arc::new(words.canonical())))
    }

    /// The ways to write a scalar.
    fn spellings(
        &mut self,
        document: &Document,
        scalar: Value,
        out: &mut Vec<Vec<u8>>,
    ) -> Lowered<()> {
        match scalar {
            Value::Null => out.push(b"null".to_vec()),
            Value::Boolean(true) => out.push(b"true".to_vec()),
            Value::Boolean(false) => out.push(b"false".to_vec()),
            Value::String(text) => {
                let mut quoted = Vec::new();
                quote(document.text(text), &mut quoted);
                out.push(quoted);
            }
            Value::Number(text) => self.number_spellings(document, text, out)?,
            Value::Array(_) | Value::Object(_) => unreachable!("not a scalar"),
        }
        Ok(())
    }

    fn number_spellings(
        &mut self,
        document: &Document,
        text: Text,
        out: &mut Vec<Vec<u8>>,
    ) -> Lowered<()> {
        let written = document.text(text);
        let value = decimal(written)?;
        // As a word of an automaton it would have a state for each digit.
        let limit = self.limits.automaton_states;
        let len = usize::try_from(value.plain_len()).unwrap_or(usize::MAX);
        if len > limit {
            return Err(Exhausted::States { limit }.into());
        }
        self.analysis.fuel.steps(len)?;
        let plain = value.plain();
        if plain != written {
            out.push(written.as_bytes().to_vec());
        }
        out.push(plain.into_bytes());
        Ok(())
    }

    /// An array or object as it is written, with white space between its tokens. One flat sequence:
    /// nested ones would be copied once for each level they are flattened through.
    fn container(&mut self, document: &Document, value: ValueId) -> Lowered<ExprId> {
        let mut parts = Vec::new();
        let mut open = 0_u32;
        for event in Walk::new(document, value, Order::Written) {
            // Indentation, where there is one, is written out for every piece.
            self.analysis.fuel.steps(1 + self.layout.levels(open) as usize)?;
            let is_open = matches!(event, Event::Open { .. });
            // A container's own brackets are laid out like its items.
            let depth = self.depth + if is_open { open } else { open.saturating_sub(1) };
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
                let mut quoted = Vec::new();
                quote(document.text(key), &mut quoted);
                parts.extend([self.body.literal(&quoted), pieces.key_separator]);
            }
            Event::Scalar(scalar) => {
                let mut texts = Vec::new();
                self.spellings(document, document.value(scalar), &mut texts)?;
                let texts: Vec<_> = texts.iter().map(|text| self.body.literal(text)).collect();
                parts.push(self.body.alt(&texts));
            }
            Event::Close { value, empty } => {
                parts.extend((!empty).then_some(pieces.after_items));
                parts.push(self.body.literal(brackets(value)[1]));
            }
        }
        Ok(())
    }
}
