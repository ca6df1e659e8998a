//! Regular languages that many rules ask for, each built once.

use super::{
    Lowered,
    number::{Digits, numbers},
    text::{PLAIN_STRING, has_length, quote, quoted},
};
use crate::{
    SchemaErrorKind,
    model::{Count, Interval},
};
use formwork_automata::{BooleanOp, Dfa, Fuel};
use formwork_grammar::{Body, BodyBuilder, ExprId, Limits, Node, Repeat};
use formwork_regex::{Dialect, MatchMode};
use rustc_hash::FxHashMap;
use std::{collections::BTreeMap, sync::Arc};

/// How patterns are read: ECMA-262, and somewhere in the string is enough.
pub(crate) fn pattern_options() -> formwork_regex::Options {
    let mut options = formwork_regex::Options::default();
    options.mode = MatchMode::Search;
    options.dialect = Dialect::Ecma262;
    options
}

/// Automata by what they accept. Keys that a schema chooses are looked up in trees, which no choice
/// of keys can slow down.
#[derive(Debug, Default)]
pub(super) struct Languages {
    limits: Limits,
    /// Texts that match one pattern.
    patterns: BTreeMap<Box<str>, Arc<Dfa>>,
    /// Texts that match all of several patterns.
    texts: BTreeMap<Box<[Box<str>]>, Arc<Dfa>>,
    /// The same as JSON strings in plain spelling.
    strings: BTreeMap<Box<[Box<str>]>, Arc<Dfa>>,
    numbers: FxHashMap<(Interval, Digits), Arc<Dfa>>,
    /// Keys in plain spelling but for some, by the sorted spellings of those.
    other_keys: BTreeMap<Box<[Vec<u8>]>, Arc<Dfa>>,
}

impl Languages {
    /// Nothing built yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The texts that match a pattern.
    pub(super) fn pattern(&mut self, pattern: &str, fuel: &mut Fuel) -> Lowered<Arc<Dfa>> {
        if let Some(known) = self.patterns.get(pattern) {
            return Ok(known.clone());
        }
        let language = formwork_regex::language(pattern, &pattern_options(), &self.limits, fuel)
            .map_err(|error| SchemaErrorKind::Pattern(Box::new(error)))?;
        let language = Arc::new(language);
        self.patterns.insert(pattern.into(), language.clone());
        Ok(language)
    }

    /// The texts that match all of at least one pattern.
    fn texts(&mut self, patterns: &[Box<str>], fuel: &mut Fuel) -> Lowered<Arc<Dfa>> {
        if let Some(known) = self.texts.get(patterns) {
            return Ok(known.clone());
        }
        let mut all = self.pattern(&patterns[0], fuel)?;
        for pattern in &patterns[1..] {
            let next = self.pattern(pattern, fuel)?;
            let both = all.combine(&next, BooleanOp::Intersection, fuel)?;
            all = Arc::new(both.canonical());
        }
        self.texts.insert(patterns.into(), all.clone());
        Ok(all)
    }

    /// The JSON strings, in plain spelling, that match all of at least one pattern.
    pub(super) fn strings(&mut self, patterns: &[Box<str>], fuel: &mut Fuel) -> Lowered<Arc<Dfa>> {
        if let Some(known) = self.strings.get(patterns) {
            return Ok(known.clone());
        }
        let texts = self.texts(patterns, fuel)?;
        let strings = Arc::new(quoted(&texts, fuel)?);
        self.strings.insert(patterns.into(), strings.clone());
        Ok(strings)
    }

    /// Whether some text matches all patterns and has so many characters.
    pub(super) fn has_text(
        &mut self,
        patterns: &[Box<str>],
        length: Count,
        fuel: &mut Fuel,
    ) -> Lowered<bool> {
        if length.is_empty() || patterns.is_empty() {
            return Ok(!length.is_empty());
        }
        if let [pattern] = patterns
            && !self.texts.contains_key(patterns)
            && surely_has_text(pattern, length, &self.limits)?
        {
            return Ok(true);
        }
        let texts = self.texts(patterns, fuel)?;
        if length == Count::default() {
            return Ok(!texts.is_empty());
        }
        Ok(has_length(&texts, (length.min, length.max), fuel)?)
    }

    /// The numbers of an interval.
    pub(super) fn numbers(
        &mut self,
        interval: &Interval,
        digits: Digits,
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        let key = (interval.clone(), digits);
        if let Some(known) = self.numbers.get(&key) {
            return Ok(known.clone());
        }
        let language = Arc::new(numbers(interval, digits, fuel)?);
        self.numbers.insert(key, language.clone());
        Ok(language)
    }

    /// Every key in plain spelling, quotation marks included, but the given ones.
    pub(super) fn keys_except<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str>,
        fuel: &mut Fuel,
    ) -> Lowered<Arc<Dfa>> {
        let mut spelled = Vec::new();
        for name in names {
            fuel.steps(1 + name.len())?;
            let mut key = Vec::with_capacity(name.len() + 2);
            quote(name, &mut key);
            spelled.push(key);
        }
        if spelled.is_empty() {
            return Ok(PLAIN_STRING.clone());
        }
        spelled.sort_unstable();
        let spelled = spelled.into_boxed_slice();
        if let Some(known) = self.other_keys.get(&spelled) {
            return Ok(known.clone());
        }
        let others = Arc::new(PLAIN_STRING.without_words(&spelled, fuel)?);
        self.other_keys.insert(spelled, others.clone());
        Ok(others)
    }
}

/// Whether a text of so many characters certainly matches a pattern; false where only its automaton
/// can tell. Looks at the pattern's grammar alone, in which nothing is that cannot match.
fn surely_has_text(pattern: &str, length: Count, limits: &Limits) -> Lowered<bool> {
    let mut builder = BodyBuilder::new();
    let root = formwork_regex::lower(pattern, &pattern_options(), limits, &mut builder)
        .map_err(|error| SchemaErrorKind::Pattern(Box::new(error)))?;
    let body = builder.finish(root);
    if matches!(body.nodes(), [Node::Never]) {
        return Ok(false);
    }
    let Some(shortest) = shortest(&body) else { return Ok(false) };
    // A character has at least one byte, so the shortest text has at most so many characters, and
    // a repetition of single characters makes it longer one by one.
    let can_grow = match &body.nodes()[body.root().index()] {
        Node::Seq(parts) => parts.iter().any(|&part| repeats_characters(&body, part)),
        _ => repeats_characters(&body, body.root()),
    };
    let least = shortest.max(length.min as usize);
    Ok((length.min == 0 || can_grow) && length.max.is_none_or(|max| least <= max as usize))
}

/// Bytes of the shortest word of a body without rules.
fn shortest(body: &Body) -> Option<usize> {
    let mut lengths: Vec<usize> = Vec::with_capacity(body.nodes().len());
    for node in body.nodes() {
        let of = |expr: &ExprId| lengths[expr.index()];
        lengths.push(match node {
            Node::Empty => 0,
            Node::Literal(bytes) => bytes.len(),
            Node::Bytes(_) => 1,
            Node::Seq(parts) => parts.iter().map(of).fold(0, usize::saturating_add),
            Node::Alt(choices) => choices.iter().map(of).min()?,
            Node::Repeat(repeat) => of(&repeat.expr).saturating_mul(repeat.min as usize),
            Node::Automaton(dfa) => dfa.shortest_bytes(dfa.start())?.len(),
            _ => return None,
        });
    }
    lengths.pop()
}

/// Whether a node is an unbounded repetition of something that can be one character of ASCII.
fn repeats_characters(body: &Body, expr: ExprId) -> bool {
    let Node::Repeat(Repeat { expr, max: None, .. }) = body.nodes()[expr.index()] else {
        return false;
    };
    let is_ascii = |expr: ExprId| match &body.nodes()[expr.index()] {
        Node::Bytes(bytes) => bytes.iter().any(|byte| byte.is_ascii()),
        Node::Automaton(dfa) => (0..0x80).any(|byte| dfa.is_accepting(dfa.next(dfa.start(), byte))),
        _ => false,
    };
    match &body.nodes()[expr.index()] {
        Node::Alt(choices) => choices.iter().any(|&choice| is_ascii(choice)),
        _ => is_ascii(expr),
    }
}
