//! Languages less some listed texts.
//!
//! The keys of an object that are none of its names are the most frequent language of all. A list of
//! texts is taken out of an automaton by splitting the states on their paths, which costs what the
//! list has of bytes; a product with its complement would cost a determinisation and a minimisation.

use super::{
    Polarity, TextAtom, Writing,
    formula::{Node, NodeId},
    strings::{Strings, Texts},
};
use crate::lower::{
    Lowered,
    text::{PLAIN_STRING, quote},
};
use formwork_automata::{Dfa, Fuel};
use std::sync::Arc;

/// A conjunction, its parts by what they are.
#[derive(Default)]
pub(super) struct Split {
    /// Atoms: lists of texts none of which may be.
    pub(super) excluded: Vec<usize>,
    pub(super) others: Vec<NodeId>,
}

impl Split {
    /// The parts of a formula; it is its only part when it is no conjunction.
    pub(super) fn new(texts: &Texts, id: NodeId) -> Self {
        let mut split = Self::default();
        let parts = match texts.node(id) {
            Node::And(parts) => parts.to_vec(),
            _ => vec![id],
        };
        for part in parts {
            match texts.node(part) {
                Node::Atom(atom, Polarity::Fails)
                    if matches!(texts.atoms()[*atom], TextAtom::Values(_)) =>
                {
                    split.excluded.push(*atom);
                }
                _ => split.others.push(part),
            }
        }
        split
    }

    /// Whether the formula excludes listed texts and says nothing else.
    pub(super) fn is_list_of_others(&self) -> bool {
        self.others.is_empty() && !self.excluded.is_empty()
    }

    /// The excluded texts as strings in plain spelling, ascending.
    fn strings(&self, texts: &Texts, fuel: &mut Fuel) -> Lowered<Vec<Vec<u8>>> {
        let mut strings = Vec::new();
        for &atom in &self.excluded {
            let TextAtom::Values(values) = &texts.atoms()[atom] else { continue };
            for value in values.iter() {
                fuel.steps(1 + value.len())?;
                let mut string = Vec::with_capacity(value.len() + 2);
                quote(value, &mut string);
                strings.push(string);
            }
        }
        strings.sort_unstable();
        strings.dedup();
        Ok(strings)
    }
}

impl Strings {
    /// The plain language of a conjunction that excludes listed texts; none when it does not, or
    /// when strings may be spelt in more than one way.
    pub(super) fn less_listed(
        &mut self,
        texts: &Texts,
        id: NodeId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Option<Arc<Dfa>>> {
        if writing == Writing::Any {
            return Ok(None);
        }
        let split = Split::new(texts, id);
        if split.excluded.is_empty() {
            return Ok(None);
        }
        let base = match split.others[..] {
            [] => PLAIN_STRING.clone(),
            [other] => self.language(texts, other, Writing::Canonical, fuel)?,
            _ => self.plain_conjunction(texts, &split.others, fuel)?,
        };
        let strings = split.strings(texts, fuel)?;
        Ok(Some(Arc::new(base.without_words(&strings, fuel)?)))
    }
}
