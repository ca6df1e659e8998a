//! Strings and numbers: from boolean formulas over what schemas say of them to languages.
//!
//! # Idea
//! What is said about a string or a number is a monotone formula over *atoms* that must
//! hold or fail (a length, a pattern, a format, a list of texts; an interval, a divisor, being an
//! integer, a list of numbers). Formulas are interned (`formula`), so equal ones have equal ids, and
//! the language of a formula is built when it is first asked for, and once.
//!
//! ```text
//! let a = scalars.text(TextAtom::Pattern("^a".into()), Polarity::Holds);
//! let b = scalars.text(TextAtom::Length(Count { min: 3, max: None }), Polarity::Fails);
//! let both = scalars.text_and(&[a, b]);
//! if scalars.has_text(both, fuel)? { scalars.string(both, Writing::Minimal, body, fuel)? }
//! ```
//!
//! # Writing
//! The same texts and numbers can be written in several ways ([`Writing`]); which one is the
//! caller's choice, for each language asked for.
//!
//! # Polarity
//! Some formats have no regular language. Such a format stands for a language that is not larger
//! where it must hold, and for one that is not smaller where it must not: whatever is offered is
//! valid. All other atoms are exact.

mod divisor;
mod evident;
mod excluded;
mod exponent;
mod formula;
mod listed;
mod machine;
mod numbers;
mod strings;

use super::{Lowered, formats::Format};
use crate::{
    decimal::Decimal,
    model::{Count, Interval},
};
use formula::{Formulas, NodeId};
use formwork_automata::{Dfa, Fuel};
use formwork_grammar::{BodyBuilder, ExprId, Limits};
use numbers::Numbers;
use std::{collections::BTreeSet, sync::Arc};
use strings::Strings;

/// Whether an atom must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Polarity {
    /// It must.
    Holds,
    /// It must not.
    Fails,
}

impl Polarity {
    /// The other one.
    fn opposite(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
        }
    }
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Writing {
    /// The default of the front end. Strings of which nothing but the length matters: any escape;
    /// all others: plain. Numbers of which nothing matters: as RFC 8259 has them; all others:
    /// plainly, without exponent; where [`NumberAtom::Integer`] holds, without a point; listed
    /// ones as the schema writes them, too.
    Minimal,
    /// One text for each value. Strings: plain. Numbers: no exponent, no needless zero, no `-0`.
    /// For keys unless all spellings are allowed, and for items that must be distinct.
    Canonical,
    /// Every JSON text of the value. Of numbers with an exponent, those whose digits before the
    /// exponent an automaton can keep in mind: at most [`machine::EXPONENT_DIGITS`] before the
    /// point and as many behind it; none is left out where nothing matters.
    Any,
}

/// What a schema says about a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TextAtom {
    /// How many characters it has.
    Length(Count),
    /// It matches a pattern (ECMA-262, anywhere in the text).
    Pattern(Box<str>),
    /// It has a format.
    Format(Format),
    /// It is one of these.
    Values(Arc<BTreeSet<Box<str>>>),
}

/// What a schema says about a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum NumberAtom {
    /// It lies between two bounds.
    Interval(Interval),
    /// It is a multiple of this, which is not zero and has no sign.
    MultipleOf(Decimal),
    /// Its value is an integer: `1.0` is one.
    Integer,
    /// It is written without point and exponent: what `integer` means up to draft 4.
    WrittenWhole,
    /// It is one of these; beside each the text of the schema, which is one more way to write it.
    Values(Arc<BTreeSet<(Decimal, Box<str>)>>),
}

/// A formula about strings. Equal formulas (up to order and repetition) have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct TextId(NodeId);

impl TextId {
    /// Every string.
    pub(super) const ANY: Self = Self(NodeId::TRUE);
    /// No string.
    pub(super) const NEVER: Self = Self(NodeId::FALSE);
}

/// A formula about numbers. Equal formulas (up to order and repetition) have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NumberId(NodeId);

impl NumberId {
    /// Every number.
    pub(super) const ANY: Self = Self(NodeId::TRUE);
    /// No number.
    pub(super) const NEVER: Self = Self(NodeId::FALSE);
}

/// All formulas so far, and their languages as far as they were asked for.
#[derive(Debug)]
pub(super) struct Scalars {
    texts: Formulas<TextAtom>,
    strings: Strings,
    quantities: Formulas<NumberAtom>,
    numbers: Numbers,
}

impl Scalars {
    /// Nothing built yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            texts: Formulas::new(),
            strings: Strings::new(limits.clone()),
            quantities: Formulas::new(),
            numbers: Numbers::new(limits),
        }
    }

    /// The strings for which an atom holds, or fails. Nothing is built.
    pub(super) fn text(&mut self, atom: TextAtom, polarity: Polarity) -> TextId {
        TextId(self.texts.atom(atom, polarity))
    }

    /// The strings that satisfy all; without any, [`TextId::ANY`].
    pub(super) fn text_and(&mut self, parts: &[TextId]) -> TextId {
        TextId(self.texts.and(parts.iter().map(|part| part.0)))
    }

    /// The strings that satisfy at least one; without any, [`TextId::NEVER`].
    pub(super) fn text_or(&mut self, parts: &[TextId]) -> TextId {
        TextId(self.texts.or(parts.iter().map(|part| part.0)))
    }

    /// Whether some string satisfies the formula. Lengths are never unrolled for it.
    pub(super) fn has_text(&mut self, id: TextId, fuel: &mut Fuel) -> Lowered<bool> {
        self.strings.is_inhabited(&self.texts, id.0, fuel)
    }

    /// Whether a text satisfies the formula. Builds the automata of patterns and formats alone.
    pub(super) fn text_holds(&mut self, id: TextId, text: &str, fuel: &mut Fuel) -> Lowered<bool> {
        self.strings.holds(&self.texts, id.0, text, fuel)
    }

    /// All texts that satisfy the formula when there are no more than `limit` of them, in order.
    pub(super) fn listed_texts(
        &mut self,
        id: TextId,
        limit: usize,
        fuel: &mut Fuel,
    ) -> Lowered<Option<Vec<Box<str>>>> {
        self.strings.listed(&self.texts, id.0, limit, fuel)
    }

    /// The strings of the formula, quotation marks included, as an expression: one automaton, or
    /// for lengths a counted repetition of characters, never unrolled, beside an automaton. No
    /// string has two derivations, and [`TextId::NEVER`] is the expression that matches nothing.
    pub(super) fn string(
        &mut self,
        id: TextId,
        writing: Writing,
        body: &mut BodyBuilder,
        fuel: &mut Fuel,
    ) -> Lowered<ExprId> {
        self.strings.expression((&self.texts, id.0), writing, body, fuel)
    }

    /// The same as one canonical automaton. Lengths are unrolled, as far as the fuel goes.
    pub(super) fn string_language(
        &mut self,
        id: TextId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        self.strings.language(&self.texts, id.0, writing, fuel)
    }

    /// The numbers for which an atom holds, or fails. Nothing is built.
    pub(super) fn number(&mut self, atom: NumberAtom, polarity: Polarity) -> NumberId {
        NumberId(self.quantities.atom(atom, polarity))
    }

    /// The numbers that satisfy all; without any, [`NumberId::ANY`].
    pub(super) fn number_and(&mut self, parts: &[NumberId]) -> NumberId {
        NumberId(self.quantities.and(parts.iter().map(|part| part.0)))
    }

    /// The numbers that satisfy at least one; without any, [`NumberId::NEVER`].
    pub(super) fn number_or(&mut self, parts: &[NumberId]) -> NumberId {
        NumberId(self.quantities.or(parts.iter().map(|part| part.0)))
    }

    /// Whether some number satisfies the formula, written as asked.
    pub(super) fn has_number(
        &mut self,
        id: NumberId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        Ok(!self.number_language(id, writing, fuel)?.is_empty())
    }

    /// Whether a number, written as in `text`, satisfies the formula.
    pub(super) fn number_holds(
        &mut self,
        id: NumberId,
        text: &str,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        self.numbers.holds(&self.quantities, id.0, text, fuel)
    }

    /// The texts of the numbers of the formula, as one canonical automaton.
    pub(super) fn number_language(
        &mut self,
        id: NumberId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        self.numbers.language(&mut self.quantities, id.0, writing, fuel)
    }
}

#[cfg(test)]
mod tests;
