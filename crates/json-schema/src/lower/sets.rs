//! What a rule stands for: a set of values, as a formula over schemas.
//!
//! # Idea
//! A literal is one condition on a value: a schema that it must or must not satisfy, a value that it
//! must or must not equal, a key that it must or must not have. A set is a monotone formula over
//! literals, interned, so that two places that ask for the same are one rule. What a literal says is
//! looked up when the set is taken apart (`meaning`), one type of JSON at a time: nothing is written
//! out before.

use super::{
    formula::{Atom, Atoms, Formulas, Id, Node},
    keys::KeysId,
    names::NameId,
};
use crate::{
    document::ValueId,
    model::{Model, Schema, SchemaId},
};
use rustc_hash::FxHashMap;

/// Whether a literal must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Sign {
    /// It must.
    Positive,
    /// It must not.
    Negative,
}

impl Sign {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
        }
    }
}

/// One condition on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Literal {
    /// It satisfies a schema, no alias, neither always nor never satisfied.
    Schema(SchemaId, Sign),
    /// It equals a value of the document.
    Equals(ValueId, Sign),
    /// It is an object with this key; negative: it is none, or lacks the key.
    Key(NameId, Sign),
    /// If it is an object: what stands under each of these keys is in the set.
    EveryMember(KeysId, Id<Self>),
    /// It is an object, and what stands under one of these keys is in the set.
    SomeMember(KeysId, Id<Self>),
    /// If it is an array: each item from this place on is in the set.
    EveryItem(u32, Id<Self>),
    /// It is an array, and one of the items from this place on is in the set.
    SomeItem(u32, Id<Self>),
}

impl Atom for Literal {
    fn complement(&self) -> Option<Self> {
        Some(match *self {
            Self::Schema(schema, sign) => Self::Schema(schema, sign.opposite()),
            Self::Equals(value, sign) => Self::Equals(value, sign.opposite()),
            Self::Key(name, sign) => Self::Key(name, sign.opposite()),
            _ => return None,
        })
    }
}

/// A set of values.
pub(super) type SetId = Id<Literal>;

/// All sets met so far.
#[derive(Debug)]
pub(super) struct Sets {
    formulas: Formulas<Literal>,
    negations: FxHashMap<SetId, SetId>,
}

impl Sets {
    pub(super) fn new() -> Self {
        Self { formulas: Formulas::new(), negations: FxHashMap::default() }
    }

    pub(super) fn node(&self, id: SetId) -> &Node<Literal> {
        self.formulas.node(id)
    }

    pub(super) fn atoms(&self, id: SetId) -> Atoms<Literal> {
        self.formulas.atoms(id)
    }

    /// The values that satisfy a schema, or do not.
    pub(super) fn schema(&mut self, model: &Model, schema: SchemaId, sign: Sign) -> SetId {
        let schema = model.canonical(schema);
        match model.schema(schema) {
            Schema::Always => Id::of(sign == Sign::Positive),
            Schema::Never | Schema::Alias(_) => Id::of(sign == Sign::Negative),
            Schema::Keywords(_) => self.formulas.atom(Literal::Schema(schema, sign)),
        }
    }

    /// The values that a literal other than a schema stands for.
    pub(super) fn literal(&mut self, literal: Literal) -> SetId {
        match literal {
            Literal::EveryMember(_, SetId::TRUE) | Literal::EveryItem(_, SetId::TRUE) => Id::TRUE,
            Literal::SomeMember(_, SetId::FALSE) | Literal::SomeItem(_, SetId::FALSE) => Id::FALSE,
            _ => self.formulas.atom(literal),
        }
    }

    pub(super) fn and(&mut self, parts: impl IntoIterator<Item = SetId>) -> SetId {
        self.formulas.and(parts)
    }

    pub(super) fn or(&mut self, parts: impl IntoIterator<Item = SetId>) -> SetId {
        self.formulas.or(parts)
    }

    /// All other values. What literals are about is turned round as well, first what is innermost.
    pub(super) fn negate(&mut self, root: SetId) -> SetId {
        let mut pending = vec![root];
        while let Some(&root) = pending.last() {
            if self.negations.contains_key(&root) {
                pending.pop();
                continue;
            }
            let below = self.formulas.below(&[root]);
            let inner = below.iter().filter_map(|&id| match *self.node(id) {
                Node::Atom(
                    Literal::EveryMember(_, set)
                    | Literal::SomeMember(_, set)
                    | Literal::EveryItem(_, set)
                    | Literal::SomeItem(_, set),
                ) => Some(set).filter(|set| !self.negations.contains_key(set)),
                _ => None,
            });
            let inner: Vec<SetId> = inner.collect();
            if inner.is_empty() {
                for id in below {
                    let negation = self.negated(id);
                    self.negations.insert(id, negation);
                }
            }
            pending.extend(inner);
        }
        self.negations[&root]
    }

    /// The negation of a formula the parts of which have theirs.
    fn negated(&mut self, id: SetId) -> SetId {
        let node = self.node(id).clone();
        match node {
            Node::True => Id::FALSE,
            Node::False => Id::TRUE,
            Node::And(parts) => {
                let parts: Vec<SetId> = parts.iter().map(|part| self.negations[part]).collect();
                self.or(parts)
            }
            Node::Or(parts) => {
                let parts: Vec<SetId> = parts.iter().map(|part| self.negations[part]).collect();
                self.and(parts)
            }
            Node::Atom(literal) => {
                let negated = match literal {
                    Literal::EveryMember(keys, set) => {
                        Literal::SomeMember(keys, self.negations[&set])
                    }
                    Literal::SomeMember(keys, set) => {
                        Literal::EveryMember(keys, self.negations[&set])
                    }
                    Literal::EveryItem(from, set) => Literal::SomeItem(from, self.negations[&set]),
                    Literal::SomeItem(from, set) => Literal::EveryItem(from, self.negations[&set]),
                    _ => literal.complement().expect("has a sign"),
                };
                self.literal(negated)
            }
        }
    }
}
