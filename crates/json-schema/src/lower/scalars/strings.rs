//! Languages of strings.
//!
//! # Idea
//! A length cuts texts by the number of their characters, everything else is an automaton. So the
//! language of a formula is a list of *slices*: from so many characters on, the texts are those of
//! this automaton, up to where the next slice begins. Formulas combine slice by slice, and a length is
//! never unrolled: `minLength` 100,000 is two slices.
//!
//! ```text
//! length in [min, max]:   0: nothing    min: any text    max + 1: nothing
//! pattern p:              0: p
//! a and b, a or b:        cut where either is cut; combine the automata
//! ```
//!
//! A formula with a list of values that must hold is a finite set: its candidates are asked one by
//! one, and no automaton is combined with that of a large list.

use super::{
    Polarity, TextAtom, Writing,
    evident::is_evidently_inhabited,
    excluded::Split,
    formula::{Formulas, Node, NodeId},
};
use crate::{
    SchemaErrorKind,
    lower::{
        Lowered, pattern_options,
        text::{
            ANY_CHARACTER, ANY_STRING, ANY_TEXT, PLAIN_CHARACTER, PLAIN_STRING, escaped,
            has_length, has_only_lengths, quote, quoted, unrolled, words,
        },
    },
    model::Count,
};
use formwork_automata::{BooleanOp, ByteSet, Dfa, Exhausted, Fuel, Letter};
use formwork_grammar::{BodyBuilder, ExprId, Limits};
use rustc_hash::FxHashMap;
use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

/// No text.
static NO_TEXT: LazyLock<Arc<Dfa>> = LazyLock::new(|| Arc::new(Dfa::never()));

/// Several slices are made one automaton when unrolling them gives about so many states at most.
const SMALL: usize = 1_000;

/// How many texts are kept to be tried on formulas, and how long they may be.
const MAX_WITNESSES: usize = 32;
const MAX_WITNESS_BYTES: usize = 256;

/// Texts by their number of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slice {
    /// The fewest characters; the next slice begins beyond the most. The first begins with 0.
    from: u32,
    texts: Arc<Dfa>,
}

/// Ascending, neighbours differ.
type Slices = Arc<[Slice]>;

pub(super) type Texts = Formulas<TextAtom>;

/// What is known of formulas about strings.
#[derive(Debug)]
pub(super) struct Strings {
    limits: Limits,
    /// By index of the atom.
    patterns: FxHashMap<usize, Arc<Dfa>>,
    slices: FxHashMap<NodeId, Slices>,
    /// Whether a formula is a finite set because lists of values in it must hold.
    finite: FxHashMap<NodeId, bool>,
    inhabited: FxHashMap<NodeId, bool>,
    /// Texts that satisfied some formula: likely to satisfy the next one.
    witnesses: Vec<Box<str>>,
    languages: FxHashMap<(NodeId, Writing), Arc<Dfa>>,
}

/// A slice with its last length, none when there is no last; only those with texts.
fn windows(slices: &[Slice]) -> impl Iterator<Item = (Count, &Arc<Dfa>)> {
    let ends = slices.iter().skip(1).map(|next| Some(next.from - 1)).chain([None]);
    let windows = slices.iter().zip(ends);
    windows
        .map(|(slice, max)| (Count { min: slice.from, max }, &slice.texts))
        .filter(|(_, texts)| !texts.is_empty())
}

impl Strings {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            patterns: FxHashMap::default(),
            slices: FxHashMap::default(),
            finite: FxHashMap::default(),
            inhabited: FxHashMap::default(),
            witnesses: Vec::new(),
            languages: FxHashMap::default(),
        }
    }

    pub(super) fn is_inhabited(
        &mut self,
        texts: &Texts,
        id: NodeId,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        if let Some(&known) = self.inhabited.get(&id) {
            return Ok(known);
        }
        let inhabited = if self.is_finite(texts, id, fuel)? {
            !self.members(texts, id, 1, fuel)?.is_empty()
        } else if is_evidently_inhabited(texts, id, &self.limits)?
            || self.has_known_witness(texts, id, fuel)?
        {
            true
        } else {
            let slices = self.slices(texts, id, fuel)?;
            let mut found = false;
            for (count, slice) in windows(&slices) {
                let all = Arc::ptr_eq(slice, &ANY_TEXT);
                if all || has_length(slice, (count.min, count.max), fuel)? {
                    found = true;
                    self.remember_witness(slice);
                    break;
                }
            }
            found
        };
        self.inhabited.insert(id, inhabited);
        Ok(inhabited)
    }

    /// Whether a text that satisfied another formula satisfies this one: no automaton is combined
    /// to find that out, and of the formulas about one kind of string most share one.
    fn has_known_witness(&mut self, texts: &Texts, id: NodeId, fuel: &mut Fuel) -> Lowered<bool> {
        let order = texts.below(id);
        let positions = positions(&order);
        for at in (0..self.witnesses.len()).rev() {
            let witness = std::mem::take(&mut self.witnesses[at]);
            let holds = self.holds_in(texts, (&order, &positions), &witness, fuel);
            self.witnesses[at] = witness;
            if holds? {
                // What helped last is asked first.
                self.witnesses[at..].rotate_left(1);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn remember_witness(&mut self, texts: &Dfa) {
        let word = texts.shortest_word();
        let Some(text) = word.and_then(|word| text_of(&word)) else { return };
        if text.len() <= MAX_WITNESS_BYTES && !self.witnesses.contains(&text) {
            if self.witnesses.len() == MAX_WITNESSES {
                self.witnesses.remove(0);
            }
            self.witnesses.push(text);
        }
    }

    pub(super) fn holds(
        &mut self,
        texts: &Texts,
        id: NodeId,
        text: &str,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        let order = texts.below(id);
        let positions = positions(&order);
        self.holds_in(texts, (&order, &positions), text, fuel)
    }

    /// Whether a text satisfies the last formula of a list that has all parts of it.
    fn holds_in(
        &mut self,
        texts: &Texts,
        (order, positions): (&[NodeId], &FxHashMap<NodeId, usize>),
        text: &str,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        let length = text.chars().count();
        fuel.steps(order.len() + text.len())?;
        let mut truths: Vec<bool> = Vec::with_capacity(order.len());
        for &id in order {
            let truth = |part: &NodeId| truths[positions[part]];
            let truth = match texts.node(id) {
                Node::True => true,
                Node::False => false,
                Node::And(parts) => parts.iter().all(truth),
                Node::Or(parts) => parts.iter().any(truth),
                Node::Atom(atom, polarity) => {
                    let holds = match &texts.atoms()[*atom] {
                        TextAtom::Length(count) => count.contains(length),
                        TextAtom::Values(values) => values.contains(text),
                        TextAtom::Pattern(pattern) => {
                            self.pattern(*atom, pattern, fuel)?.accepts(text.as_bytes())
                        }
                        TextAtom::Format(format) => {
                            let format = format.texts(*polarity);
                            format.length.contains(length) && format.dfa.accepts(text.as_bytes())
                        }
                    };
                    holds == (*polarity == Polarity::Holds)
                }
            };
            truths.push(truth);
        }
        Ok(truths.last() == Some(&true))
    }

    pub(super) fn listed(
        &mut self,
        texts: &Texts,
        id: NodeId,
        limit: usize,
        fuel: &mut Fuel,
    ) -> Lowered<Option<Vec<Box<str>>>> {
        if self.is_finite(texts, id, fuel)? {
            let members = self.members(texts, id, limit.saturating_add(1), fuel)?;
            return Ok((members.len() <= limit).then_some(members));
        }
        let slices = self.slices(texts, id, fuel)?;
        // A window with so many characters has more texts than anybody lists.
        let long = |count: Count| count.max.is_none_or(|max| max as usize > limit);
        if windows(&slices).any(|(count, texts)| long(count) && !texts.is_finite()) {
            return Ok(None);
        }
        let all = flattened(&slices, fuel)?;
        let cap = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
        if !all.is_finite() || all.count_words(all.start(), cap) >= cap {
            return Ok(None);
        }
        let mut members: Vec<Box<str>> =
            all.words(limit).filter_map(|word| text_of(&word)).collect();
        fuel.steps(members.len())?;
        members.sort_unstable();
        Ok(Some(members))
    }

    pub(super) fn expression(
        &mut self,
        (texts, id): (&Texts, NodeId),
        writing: Writing,
        body: &mut BodyBuilder,
        fuel: &mut Fuel,
    ) -> Lowered<ExprId> {
        if self.is_finite(texts, id, fuel)? || id == NodeId::TRUE {
            return Ok(body.automaton(self.language(texts, id, writing, fuel)?));
        }
        if writing != Writing::Any && Split::new(texts, id).is_list_of_others() {
            return Ok(body.automaton(self.language(texts, id, writing, fuel)?));
        }
        let slices = self.slices(texts, id, fuel)?;
        let spelling = Spelling::new(&slices, writing);
        let mut choices = Vec::new();
        for (count, slice) in windows(&slices) {
            if count == Count::default() || has_only_lengths(slice, (count.min, count.max), fuel)? {
                choices.push(body.automaton(self.spelled(slice, spelling, fuel)?));
                continue;
            }
            if choices.is_empty() && windows(&slices).count() > 1 && is_small(&slices) {
                return Ok(body.automaton(self.language(texts, id, writing, fuel)?));
            }
            let character = body.automaton(spelling.character());
            let text = body.repeat(character, count.min, count.max);
            let mark = body.bytes(ByteSet::single(b'"'));
            let counted = body.seq(&[mark, text, mark]);
            choices.push(if Arc::ptr_eq(slice, &ANY_TEXT) {
                counted
            } else {
                let automaton = body.automaton(self.spelled(slice, spelling, fuel)?);
                body.and(&[counted, automaton])
            });
        }
        Ok(body.alt(&choices))
    }

    pub(super) fn language(
        &mut self,
        texts: &Texts,
        id: NodeId,
        writing: Writing,
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        if let Some(known) = self.languages.get(&(id, writing)) {
            return Ok(known.clone());
        }
        let language = if self.is_finite(texts, id, fuel)? {
            let members = self.members(texts, id, usize::MAX, fuel)?;
            Arc::new(strings_of(&members, writing, fuel)?)
        } else if let Some(language) = self.less_listed(texts, id, writing, fuel)? {
            language
        } else {
            let slices = self.slices(texts, id, fuel)?;
            let all = flattened(&slices, fuel)?;
            self.spelled(&all, Spelling::new(&slices, writing), fuel)?
        };
        self.languages.insert((id, writing), language.clone());
        Ok(language)
    }

    /// The plain strings that satisfy all of some formulas.
    pub(super) fn plain_conjunction(
        &mut self,
        texts: &Texts,
        parts: &[NodeId],
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        let slices: Lowered<Vec<Slices>> =
            parts.iter().map(|&part| self.slices(texts, part, fuel)).collect();
        let all = combine_all(&slices?, BooleanOp::Intersection, fuel)?;
        let all = flattened(&all, fuel)?;
        self.spelled(&all, Spelling::Plain, fuel)
    }

    /// The strings of an automaton of texts.
    fn spelled(&self, texts: &Arc<Dfa>, spelling: Spelling, fuel: &mut Fuel) -> Lowered<Arc<Dfa>> {
        let all = Arc::ptr_eq(texts, &ANY_TEXT);
        Ok(match spelling {
            Spelling::Plain if all => PLAIN_STRING.clone(),
            Spelling::Any if all => ANY_STRING.clone(),
            Spelling::Plain => Arc::new(quoted(texts, fuel)?),
            Spelling::Any => Arc::new(escaped(texts, fuel)?),
        })
    }

    fn pattern(&mut self, atom: usize, pattern: &str, fuel: &mut Fuel) -> Lowered<Arc<Dfa>> {
        if let Some(known) = self.patterns.get(&atom) {
            return Ok(known.clone());
        }
        let language = formwork_regex::language(pattern, &pattern_options(), &self.limits, fuel)
            .map_err(|error| SchemaErrorKind::Pattern(Box::new(error)))?;
        let language = Arc::new(language);
        self.patterns.insert(atom, language.clone());
        Ok(language)
    }

    /// Whether a formula allows only what is listed in it.
    fn is_finite(&mut self, texts: &Texts, id: NodeId, fuel: &mut Fuel) -> Lowered<bool> {
        if let Some(&known) = self.finite.get(&id) {
            return Ok(known);
        }
        let order = texts.below(id);
        fuel.steps(order.len())?;
        for id in order {
            let finite = |part: &NodeId| self.finite[part];
            let finite = match texts.node(id) {
                Node::True => false,
                Node::False => true,
                Node::And(parts) => parts.iter().any(finite),
                Node::Or(parts) => parts.iter().all(finite),
                Node::Atom(atom, polarity) => {
                    *polarity == Polarity::Holds
                        && matches!(texts.atoms()[*atom], TextAtom::Values(_))
                }
            };
            self.finite.insert(id, finite);
        }
        Ok(self.finite[&id])
    }

    /// Up to `limit` texts that satisfy a finite formula, in order.
    fn members(
        &mut self,
        texts: &Texts,
        id: NodeId,
        limit: usize,
        fuel: &mut Fuel,
    ) -> Lowered<Vec<Box<str>>> {
        let mut candidates: BTreeSet<&str> = BTreeSet::new();
        let mut pending = vec![id];
        let mut plain = true;
        while let Some(id) = pending.pop() {
            match texts.node(id) {
                Node::Or(parts) => pending.extend(parts),
                Node::And(parts) => {
                    plain = false;
                    // One finite part bounds them all.
                    pending.extend(parts.iter().find(|part| self.finite[part]));
                }
                Node::Atom(atom, _) => {
                    if let TextAtom::Values(values) = &texts.atoms()[*atom] {
                        fuel.steps(values.len())?;
                        candidates.extend(values.iter().map(|value| &**value));
                    }
                }
                Node::True | Node::False => {}
            }
        }
        let order = texts.below(id);
        let positions = positions(&order);
        let mut members = Vec::new();
        for candidate in candidates {
            if members.len() == limit {
                break;
            }
            if plain || self.holds_in(texts, (&order, &positions), candidate, fuel)? {
                members.push(candidate.into());
            }
        }
        Ok(members)
    }

    /// The slices of a formula.
    fn slices(&mut self, texts: &Texts, id: NodeId, fuel: &mut Fuel) -> Lowered<Slices> {
        let mut pending = vec![id];
        while let Some(&id) = pending.last() {
            if self.slices.contains_key(&id) {
                pending.pop();
                continue;
            }
            let before = pending.len();
            if !self.is_finite(texts, id, fuel)?
                && let Node::And(parts) | Node::Or(parts) = texts.node(id)
            {
                let open = parts.iter().filter(|part| !self.slices.contains_key(part));
                pending.extend(open);
            }
            if pending.len() == before {
                let slices = self.slices_of(texts, id, fuel)?;
                self.slices.insert(id, slices);
                pending.pop();
            }
        }
        Ok(self.slices[&id].clone())
    }

    /// The slices of a formula whose parts have theirs.
    fn slices_of(&mut self, texts: &Texts, id: NodeId, fuel: &mut Fuel) -> Lowered<Slices> {
        if self.is_finite(texts, id, fuel)? {
            let members = self.members(texts, id, usize::MAX, fuel)?;
            let all = words(members.iter().map(|member| member.as_bytes()), fuel)?;
            return Ok(uniform(Arc::new(all)));
        }
        Ok(match texts.node(id) {
            Node::True => uniform(ANY_TEXT.clone()),
            Node::False => uniform(NO_TEXT.clone()),
            Node::And(parts) => {
                let parts: Vec<Slices> =
                    parts.iter().map(|part| self.slices[part].clone()).collect();
                combine_all(&parts, BooleanOp::Intersection, fuel)?
            }
            Node::Or(parts) => {
                let parts: Vec<Slices> =
                    parts.iter().map(|part| self.slices[part].clone()).collect();
                combine_all(&parts, BooleanOp::Union, fuel)?
            }
            Node::Atom(atom, polarity) => self.slices_of_atom(texts, *atom, *polarity, fuel)?,
        })
    }

    fn slices_of_atom(
        &mut self,
        texts: &Texts,
        atom: usize,
        polarity: Polarity,
        fuel: &mut Fuel,
    ) -> Lowered<Slices> {
        let (inside, count) = match &texts.atoms()[atom] {
            TextAtom::Length(count) => (ANY_TEXT.clone(), *count),
            TextAtom::Pattern(pattern) => (self.pattern(atom, pattern, fuel)?, Count::default()),
            TextAtom::Format(format) => {
                let format = format.texts(polarity);
                (format.dfa, format.length)
            }
            TextAtom::Values(values) => {
                let values = values.iter().map(|value| value.as_bytes());
                (Arc::new(words(values, fuel)?), Count::default())
            }
        };
        let (inside, outside) = match polarity {
            Polarity::Holds => (inside, NO_TEXT.clone()),
            Polarity::Fails if Arc::ptr_eq(&inside, &ANY_TEXT) => {
                (NO_TEXT.clone(), ANY_TEXT.clone())
            }
            Polarity::Fails => {
                let others = ANY_TEXT.combine(&inside, BooleanOp::Difference, fuel)?;
                (Arc::new(others.canonical()), ANY_TEXT.clone())
            }
        };
        if count.is_empty() {
            return Ok(uniform(outside));
        }
        let mut slices = Slicing::default();
        slices.push(0, if count.min > 0 { &outside } else { &inside });
        slices.push(count.min, &inside);
        if let Some(beyond) = count.max.and_then(|max| max.checked_add(1)) {
            slices.push(beyond, &outside);
        }
        Ok(slices.done())
    }
}

/// How the strings of some slices are spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Plain,
    Any,
}

impl Spelling {
    /// Where nothing but lengths counts, minimal writing allows any escape.
    fn new(slices: &[Slice], writing: Writing) -> Self {
        let lengths_only = || windows(slices).all(|(_, texts)| Arc::ptr_eq(texts, &ANY_TEXT));
        match writing {
            Writing::Any => Self::Any,
            Writing::Minimal if lengths_only() => Self::Any,
            Writing::Minimal | Writing::Canonical => Self::Plain,
        }
    }

    fn character(self) -> Arc<Dfa> {
        match self {
            Self::Plain => PLAIN_CHARACTER.clone(),
            Self::Any => ANY_CHARACTER.clone(),
        }
    }
}

/// Slices while they are listed, in order: of those with the same beginning the last counts.
#[derive(Default)]
struct Slicing(Vec<Slice>);

impl Slicing {
    fn push(&mut self, from: u32, texts: &Arc<Dfa>) {
        self.0.pop_if(|last| last.from == from);
        let same = |last: &Slice| Arc::ptr_eq(&last.texts, texts) || last.texts == *texts;
        if !self.0.last().is_some_and(same) {
            self.0.push(Slice { from, texts: texts.clone() });
        }
    }

    fn done(self) -> Slices {
        self.0.into()
    }
}

fn uniform(texts: Arc<Dfa>) -> Slices {
    [Slice { from: 0, texts }].into()
}

fn positions(order: &[NodeId]) -> FxHashMap<NodeId, usize> {
    order.iter().copied().zip(0..).collect()
}

fn combine_all(parts: &[Slices], op: BooleanOp, fuel: &mut Fuel) -> Result<Slices, Exhausted> {
    let mut all = parts[0].clone();
    for part in &parts[1..] {
        all = combine(&all, part, op, fuel)?;
    }
    Ok(all)
}

/// Slice by slice, cut where either is cut.
fn combine(
    left: &[Slice],
    right: &[Slice],
    op: BooleanOp,
    fuel: &mut Fuel,
) -> Result<Slices, Exhausted> {
    let mut slices = Slicing::default();
    let mut known: FxHashMap<(*const Dfa, *const Dfa), Arc<Dfa>> = FxHashMap::default();
    let (mut at_left, mut at_right) = (0, 0);
    let mut from = 0;
    loop {
        fuel.steps(1)?;
        let (first, second) = (&left[at_left].texts, &right[at_right].texts);
        let key = (Arc::as_ptr(first), Arc::as_ptr(second));
        let texts = match known.get(&key) {
            Some(texts) => texts.clone(),
            None => combine_texts(first, second, op, fuel)?,
        };
        slices.push(from, &texts);
        known.insert(key, texts);
        let next = |slices: &[Slice], at: usize| slices.get(at + 1).map(|slice| slice.from);
        let cuts = [next(left, at_left), next(right, at_right)];
        let Some(cut) = cuts.into_iter().flatten().min() else { return Ok(slices.done()) };
        at_left += usize::from(cuts[0] == Some(cut));
        at_right += usize::from(cuts[1] == Some(cut));
        from = cut;
    }
}

fn combine_texts(
    left: &Arc<Dfa>,
    right: &Arc<Dfa>,
    op: BooleanOp,
    fuel: &mut Fuel,
) -> Result<Arc<Dfa>, Exhausted> {
    let all = |texts: &Arc<Dfa>| Arc::ptr_eq(texts, &ANY_TEXT);
    let both = op == BooleanOp::Intersection;
    let absorbing = |texts: &Arc<Dfa>| if both { texts.is_empty() } else { all(texts) };
    let neutral = |texts: &Arc<Dfa>| if both { all(texts) } else { texts.is_empty() };
    for (one, other) in [(left, right), (right, left)] {
        if absorbing(one) || neutral(other) || Arc::ptr_eq(one, other) {
            return Ok(one.clone());
        }
    }
    let combined = left.combine(right, op, fuel)?.canonical();
    // All texts are recognised by their address.
    Ok(if combined == **ANY_TEXT { ANY_TEXT.clone() } else { Arc::new(combined) })
}

/// Whether unrolling the lengths is cheap.
fn is_small(slices: &[Slice]) -> bool {
    let cut = slices.last().map_or(0, |slice| slice.from as usize);
    let states: usize = slices.iter().map(|slice| slice.texts.len()).sum();
    cut.saturating_mul(states) <= SMALL
}

/// All slices as one automaton of texts, lengths unrolled.
fn flattened(slices: &[Slice], fuel: &mut Fuel) -> Result<Arc<Dfa>, Exhausted> {
    if let [all] = slices {
        return Ok(all.texts.clone());
    }
    let mut texts = NO_TEXT.clone();
    for (count, slice) in windows(slices) {
        let part = Arc::new(unrolled(count, fuel)?);
        let part = combine_texts(&part, slice, BooleanOp::Intersection, fuel)?;
        texts = combine_texts(&texts, &part, BooleanOp::Union, fuel)?;
    }
    Ok(texts)
}

/// The strings of a list of texts.
fn strings_of(texts: &[Box<str>], writing: Writing, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    if writing == Writing::Any {
        let texts = words(texts.iter().map(|text| text.as_bytes()), fuel)?;
        return escaped(&texts, fuel);
    }
    let mut strings = Vec::with_capacity(texts.len());
    for text in texts {
        fuel.steps(text.len())?;
        let mut string = Vec::with_capacity(text.len() + 2);
        quote(text, &mut string);
        strings.push(string);
    }
    words(strings, fuel)
}

fn text_of(word: &[Letter]) -> Option<Box<str>> {
    let bytes = word.iter().map(|letter| match letter {
        Letter::Byte(byte) => Some(*byte),
        Letter::Mark(_) => None,
    });
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    Some(String::from_utf8(bytes).ok()?.into())
}
