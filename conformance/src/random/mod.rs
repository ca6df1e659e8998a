//! Random grammars, vocabularies and walks, as proptest strategies that shrink.
//!
//! # Idea
//! What is drawn are *shapes* ([`Shape`], [`GrammarShape`], [`VocabularyShape`]): plain trees that
//! proptest can shrink and print, in which every number is taken modulo what it may be, so that
//! each shape means some grammar. Operands that must be regular over bytes are drawn from a
//! narrower strategy.
//!
//! # Reading order
//! `shape` (what is drawn, and what it means), `vocabulary`, this file (what is drawn how often).

mod shape;
mod vocabulary;

pub use shape::{GrammarShape, PermuteShape, RestShape, Shape, TokensShape};
pub use vocabulary::{Completeness, TokenShape, VocabularyShape};

use formwork_core::StopPolicy;
use formwork_grammar::{Grammar, Polarity, Uniqueness};
use formwork_vocab::{TokenId, Vocabulary};
use proptest::{collection::vec, option, prelude::*, strategy::Union};
use std::sync::Arc;

/// A construct that random grammars may contain beside literals, byte sets, sequences, choices and
/// repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Construct {
    /// Unordered items.
    Permute,
    /// Unordered items with distinct keys.
    Distinct,
    /// Token symbols.
    Tokens,
    /// Look-ahead.
    LookAhead,
    /// Intersection, complement, and ready-made automata.
    Languages,
    /// Token limits.
    TokenLimit,
}

impl Construct {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Permute,
        Self::Distinct,
        Self::Tokens,
        Self::LookAhead,
        Self::Languages,
        Self::TokenLimit,
    ];
}

/// Which references between rules random grammars may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Recursion {
    /// None that lead back.
    None,
    /// All at the very end of bodies, or all at their very begin.
    Linear,
    /// Any: left, right, in the middle, mutual, through empty rules, without a base case.
    Any,
}

/// What random grammars may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarOptions {
    /// Constructs beside the basic ones.
    pub constructs: Vec<Construct>,
    /// References between rules.
    pub recursion: Recursion,
    /// Greatest number of rules that may refer to each other.
    pub rules: usize,
    /// Depth of nesting within a body.
    pub depth: u32,
}

impl GrammarOptions {
    /// Everything there is.
    #[must_use]
    pub fn everything() -> Self {
        Self { constructs: Construct::ALL.to_vec(), recursion: Recursion::Any, rules: 3, depth: 3 }
    }

    /// Grammars that are one automaton.
    #[must_use]
    pub fn regular() -> Self {
        Self { recursion: Recursion::Linear, ..Self::everything() }
    }

    /// Grammars of the basic constructs, with any recursion.
    #[must_use]
    pub fn context_free() -> Self {
        Self { constructs: Vec::new(), ..Self::everything() }
    }

    fn has(&self, construct: Construct) -> bool {
        self.constructs.contains(&construct)
    }
}

/// A grammar, a vocabulary, and what to do with them.
#[derive(Clone, Debug)]
pub struct Case {
    /// The grammar.
    pub grammar: GrammarShape,
    /// The vocabulary.
    pub vocabulary: VocabularyShape,
    /// Which of some ids are stop ids; taken modulo the vocabulary.
    pub stops: StopShape,
    /// Bytes fixed by the prompt.
    pub fixed_bytes: Vec<u8>,
    /// Which of the allowed tokens is taken in each step, taken modulo their number.
    pub choices: Vec<u16>,
}

/// A stop policy. Numbers stand for tokens, the greatest one for an id that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopShape {
    /// The vocabulary's end-of-sequence ids.
    Vocabulary,
    /// Those and one more id.
    And(u16),
    /// One id alone.
    Only(u16),
    /// No stop id.
    None,
}

impl Case {
    /// The grammar.
    #[must_use]
    pub fn grammar(&self) -> Grammar {
        self.grammar.grammar()
    }

    /// The vocabulary.
    #[must_use]
    pub fn vocabulary(&self) -> Arc<Vocabulary> {
        Arc::new(self.vocabulary.vocabulary())
    }

    /// The stop policy.
    #[must_use]
    pub fn stop_policy(&self) -> StopPolicy {
        // One past the last id is no token: it must be passed over.
        let id = |number: u16| match number {
            u16::MAX => TokenId::new(self.vocabulary.len()),
            _ => self.vocabulary.token(number),
        };
        match self.stops {
            StopShape::Vocabulary => StopPolicy::Vocabulary,
            StopShape::And(more) => StopPolicy::VocabularyAnd(vec![id(more)]),
            StopShape::Only(only) => StopPolicy::Only(vec![id(only)]),
            StopShape::None => StopPolicy::Only(Vec::new()),
        }
    }
}

/// Whole cases.
pub fn case(options: &GrammarOptions) -> impl Strategy<Value = Case> + use<> {
    let stops = prop_oneof![
        4 => Just(StopShape::Vocabulary),
        1 => any::<u16>().prop_map(StopShape::And),
        1 => any::<u16>().prop_map(StopShape::Only),
        1 => Just(StopShape::And(u16::MAX)),
        1 => Just(StopShape::None),
    ];
    let fixed_bytes = prop_oneof![4 => Just(Vec::new()), 1 => word(3)];
    (grammar(options), vocabulary(), stops, fixed_bytes, vec(any::<u16>(), 8)).prop_map(
        |(grammar, vocabulary, stops, fixed_bytes, choices)| Case {
            grammar,
            vocabulary,
            stops,
            fixed_bytes,
            choices,
        },
    )
}

/// Vocabularies of about twenty tokens over the bytes that random grammars use.
pub fn vocabulary() -> impl Strategy<Value = VocabularyShape> {
    let token = prop_oneof![
        12 => word(3).prop_map(TokenShape::Text),
        // A piece of a character: begins or ends inside it.
        2 => prop::sample::select(vec![vec![0xc3], vec![0xa9], vec![0xa9, b'a'], vec![b'a', 0xc3]])
            .prop_map(TokenShape::Text),
        1 => Just(TokenShape::Special),
        1 => Just(TokenShape::Nothing),
    ];
    let completeness = prop_oneof![
        2 => Just(Completeness::AllBytes),
        6 => Just(Completeness::UsedBytes),
        4 => Just(Completeness::AsDrawn),
    ];
    (vec(token, 2..14), completeness, vec(any::<u16>(), 0..3), -3_i8..40).prop_map(
        |(tokens, completeness, eos, extra)| VocabularyShape { tokens, completeness, eos, extra },
    )
}

/// Grammars.
pub fn grammar(options: &GrammarOptions) -> impl Strategy<Value = GrammarShape> + use<> {
    let body = shape(options);
    let plain = plain_shape(2);
    let left_linear = any::<bool>();
    let recursion = options.recursion;
    (vec((body.clone(), body, any::<u8>()), 1..=options.rules), vec(plain, 2), left_linear)
        .prop_map(move |(rules, plain, left_linear)| GrammarShape {
            rules,
            plain,
            recursion,
            left_linear,
        })
}

/// Byte strings over the bytes that random grammars use.
fn word(longest: usize) -> impl Strategy<Value = Vec<u8>> + Clone {
    let unit = prop_oneof![
        4 => Just("a"), 4 => Just("b"), 1 => Just("c"), 1 => Just("é"), 1 => Just("ê"),
    ];
    vec(unit, 1..=longest).prop_map(|units| units.concat().into_bytes())
}

fn byte_set() -> impl Strategy<Value = Vec<u8>> + Clone {
    vec(prop::sample::select(vec![b'a', b'b', b'c']), 1..3)
}

/// Constructs without children that are regular over bytes.
fn leaf() -> impl Strategy<Value = Shape> + Clone {
    prop_oneof![
        6 => word(3).prop_map(Shape::Literal),
        6 => byte_set().prop_map(Shape::Bytes),
        1 => Just(Shape::Empty),
        1 => any::<u8>().prop_map(Shape::Plain),
    ]
}

/// Bodies that are regular over bytes.
fn plain_shape(depth: u32) -> BoxedStrategy<Shape> {
    let branch = |inner: BoxedStrategy<Shape>| Union::new_weighted(basic(&inner)).boxed();
    leaf().prop_recursive(depth, 8, 3, branch).boxed()
}

/// Bodies with all that the options allow.
fn shape(options: &GrammarOptions) -> BoxedStrategy<Shape> {
    let mut leaves = vec![
        (8, leaf().boxed()),
        (3, any::<u8>().prop_map(Shape::Rule).boxed()),
        (1, Just(Shape::Never).boxed()),
    ];
    if options.has(Construct::Tokens) {
        leaves.push((3, tokens().prop_map(Shape::Tokens).boxed()));
    }
    let options = options.clone();
    Union::new_weighted(leaves)
        .prop_recursive(options.depth, 12, 3, move |inner| branch(&options, &inner))
        .boxed()
}

fn branch(options: &GrammarOptions, inner: &BoxedStrategy<Shape>) -> BoxedStrategy<Shape> {
    let mut choices = basic(inner);
    let operand = plain_shape(2);
    if options.has(Construct::Languages) {
        let and = vec(operand.clone(), 2..4).prop_map(Shape::And);
        let not = operand.clone().prop_map(|operand| {
            // Complements alone hold nearly everything: mostly within something.
            Shape::Not(Box::new(operand))
        });
        let within = (operand.clone(), operand.clone())
            .prop_map(|(all, but)| Shape::And(vec![all, Shape::Not(Box::new(but))]));
        let words = vec(word(3), 1..4).prop_map(Shape::Automaton);
        choices.extend([
            (1, and.boxed()),
            (1, not.boxed()),
            (1, within.boxed()),
            (1, words.boxed()),
            (2, counted_text(&operand).boxed()),
        ]);
    }
    if options.has(Construct::LookAhead) {
        let polarity = prop_oneof![Just(Polarity::Required), Just(Polarity::Forbidden)];
        let look =
            (operand.clone(), polarity, inner.clone()).prop_map(|(operand, polarity, next)| {
                Shape::Seq(vec![Shape::LookAhead(Box::new(operand), polarity), next])
            });
        choices.push((3, look.boxed()));
    }
    if options.has(Construct::TokenLimit) {
        let limit =
            (inner.clone(), 0_u32..4).prop_map(|(e, max)| Shape::TokenLimit(Box::new(e), max));
        choices.push((2, limit.boxed()));
    }
    if options.has(Construct::Permute) || options.has(Construct::Distinct) {
        choices.push((3, permute(options, inner).prop_map(Shape::Permute).boxed()));
    }
    Union::new_weighted(choices).boxed()
}

/// Symbols between two marks, counted, in some language: strings with a pattern and a length.
fn counted_text(operand: &BoxedStrategy<Shape>) -> impl Strategy<Value = Shape> + use<> {
    let mark = || Shape::Literal(b"c".to_vec());
    let symbols = prop::sample::select(vec![
        vec!["a", "b"],
        vec!["a", "bb", "é"],
        vec!["ab", "b", "é", "ê"],
        vec!["a", "c"],
    ]);
    let between = move |text: Shape| Shape::Seq(vec![mark(), text, mark()]);
    let pattern = prop_oneof![
        4 => operand.clone().prop_map(between),
        2 => (operand.clone(), operand.clone()).prop_map(move |(one, other)| {
            let many = |shape| Shape::Repeat(Box::new(shape), 0, None);
            between(Shape::Seq(vec![many(one), many(other)]))
        }),
        1 => operand.clone().prop_map(|but| Shape::Not(Box::new(but))),
    ];
    (pattern, symbols, 0_u32..4, option::of(0_u32..6)).prop_map(
        move |(pattern, words, min, more)| {
            let words = words.into_iter().map(|word| word.as_bytes().to_vec()).collect();
            let symbol = Box::new(Shape::Automaton(words));
            let text = Shape::Repeat(symbol, min, more.map(|more| min + more));
            Shape::And(vec![pattern, between(text)])
        },
    )
}

/// Sequences, choices, repetition.
fn basic(inner: &BoxedStrategy<Shape>) -> Vec<(u32, BoxedStrategy<Shape>)> {
    let many = vec(inner.clone(), 2..4);
    let repeat = (inner.clone(), 0_u32..3, option::of(0_u32..3))
        .prop_map(|(e, min, more)| Shape::Repeat(Box::new(e), min, more.map(|more| min + more)));
    let annotated = inner.clone().prop_map(|e| Shape::Annotated(Box::new(e)));
    vec![
        (6, many.clone().prop_map(Shape::Seq).boxed()),
        (5, many.prop_map(Shape::Alt).boxed()),
        (5, repeat.boxed()),
        (1, annotated.boxed()),
    ]
}

fn tokens() -> impl Strategy<Value = TokensShape> {
    let negated = prop_oneof![3 => Just(false), 1 => Just(true)];
    (vec((any::<u8>(), 0_u8..3), 1..3), any::<bool>(), negated)
        .prop_map(|(ids, special, negated)| TokensShape { ids, names_special: special, negated })
}

fn permute(
    options: &GrammarOptions,
    inner: &BoxedStrategy<Shape>,
) -> impl Strategy<Value = PermuteShape> + use<> {
    let mut uniqueness = Vec::new();
    if options.has(Construct::Permute) {
        uniqueness.push(Just(Uniqueness::Any));
    }
    if options.has(Construct::Distinct) {
        uniqueness.push(Just(Uniqueness::Distinct));
    }
    let rest = (plain_shape(1), inner.clone(), Union::new(uniqueness))
        .prop_map(|(key, tail, uniqueness)| RestShape { key, tail, uniqueness });
    let separator = prop_oneof![
        2 => Just(Shape::Literal(b",".to_vec())),
        1 => Just(Shape::Empty),
        1 => inner.clone(),
    ];
    let members = vec((inner.clone(), any::<bool>()), 0..3);
    (members, option::of(rest), separator, 0_u32..3, option::of(0_u32..3)).prop_map(
        |(members, rest, separator, min, more)| PermuteShape {
            members,
            rest: rest.map(Box::new),
            separator: Box::new(separator),
            min,
            max: more.map(|more| min + more),
        },
    )
}
