//! The constructs, and what each of them means.
//!
//! The language of a node is a set of sequences over bytes and token symbols, in which token ends
//! may stand between any two symbols, before the first and after the last. Where a definition below
//! speaks of bytes, it ignores token ends.

use crate::Permute;
use formwork_automata::{ByteSet, Dfa};
use std::sync::Arc;

/// A node of one [`Body`](crate::Body): an index into its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub(crate) u32);

/// A rule of a [`Grammar`](crate::Grammar).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleId(pub(crate) u32);

impl ExprId {
    /// Position in the body's arena.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RuleId {
    /// Position in tables indexed by rule.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One construct. Built by [`BodyBuilder`](crate::BodyBuilder) only, whose normal form is stated
/// with each variant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Node {
    /// Nothing at all: the empty set. Only ever the root of a body.
    Never,
    /// The empty sequence.
    Empty,
    /// These bytes in this order; two or more.
    Literal(Box<[u8]>),
    /// One byte of a set that is not empty.
    Bytes(ByteSet),
    /// One after the other; two or more, none of them `Empty` or `Seq`, no two neighbours literal.
    Seq(Box<[ExprId]>),
    /// One of them; two or more different ones, none of them `Alt`, at most one a byte set.
    Alt(Box<[ExprId]>),
    /// Between `min` and `max` times in a row.
    Repeat(Repeat),
    /// What the rule generates.
    Rule(RuleId),
    /// The words of an automaton over bytes (no marks), trimmed and not empty.
    Automaton(Arc<Dfa>),
    /// The byte strings in all of these languages; two or more. Every operand must be regular over
    /// bytes: see [`regular`](crate::regular).
    And(Box<[ExprId]>),
    /// The byte strings (valid UTF-8 or not) outside this language, which must be regular over
    /// bytes. To stay inside text, intersect with a language of text.
    Not(ExprId),
    /// One token symbol `<t>` with `t` in the set: a whole token, whatever its bytes.
    Tokens(TokenSet),
    /// Nothing; but what follows, up to the end of the output and across the ends of rules, must
    /// begin with (or must not begin with) a string of a language regular over bytes. A token
    /// symbol matches no byte.
    LookAhead(LookAhead),
    /// Items in any order: see [`Permute`]. Covers the unordered and the distinct.
    Permute(Arc<Permute>),
    /// What `expr` generates, to which at most `max` tokens contribute. A token contributes when at
    /// least one symbol of the sequence (a byte of the token, or the token itself as a symbol)
    /// belongs to it, so tokens that straddle the begin or the end count.
    TokenLimit {
        /// What is limited.
        expr: ExprId,
        /// The most tokens that may contribute.
        max: u32,
    },
    /// What `expr` generates, with a note for the caller.
    Annotated {
        /// What the note is on.
        expr: ExprId,
        /// The note.
        annotation: Arc<Annotation>,
    },
}

/// Counted repetition: a register, never unrolled here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repeat {
    /// What is repeated; not `Empty`.
    pub expr: ExprId,
    /// The least number of times.
    pub min: u32,
    /// The greatest, at least 1 and at least `min`; `None` for no bound. Never both 1.
    pub max: Option<u32>,
}

/// A condition on what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LookAhead {
    /// A language regular over bytes.
    pub expr: ExprId,
    /// Whether it must or must not follow.
    pub polarity: Polarity,
}

/// Sign of a look-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Polarity {
    /// A string of the language must follow.
    Required,
    /// No string of the language may follow.
    Forbidden,
}

/// A set of tokens, as a front end can name them: it never sees a vocabulary.
///
/// A set that is `negated` holds every emittable token except those listed and except the
/// vocabulary's end-of-sequence ids (which can be taken as terminals only where they are listed in
/// a plain set).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenSet {
    /// What is listed.
    pub tokens: Box<[TokenRef]>,
    /// Whether the set is all but the listed ones.
    pub negated: bool,
}

/// How a front end names tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TokenRef {
    /// A special token, by the name the tokenizer gives it.
    Name(Box<str>),
    /// Ids from the first to the last, both included.
    Ids(u32, u32),
}

impl TokenSet {
    /// The tokens listed.
    #[must_use]
    pub fn of(tokens: impl IntoIterator<Item = TokenRef>) -> Self {
        Self { tokens: tokens.into_iter().collect(), negated: false }
    }

    /// Every token except those listed and the end-of-sequence ids.
    #[must_use]
    pub fn all_except(tokens: impl IntoIterator<Item = TokenRef>) -> Self {
        Self { tokens: tokens.into_iter().collect(), negated: true }
    }
}

/// A note for the caller; it changes no language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Annotation {
    /// The name under which the matched bytes are wanted.
    pub capture: Option<Box<str>>,
    /// The sampling temperature wanted here.
    pub temperature: Option<Temperature>,
}

/// A sampling temperature; a finite number, compared and hashed by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Temperature(u32);

impl Temperature {
    /// `None` for what is negative or not finite.
    #[must_use]
    pub fn new(value: f32) -> Option<Self> {
        (value.is_finite() && value >= 0.0).then(|| Self(value.to_bits()))
    }

    /// The number.
    #[must_use]
    pub fn value(self) -> f32 {
        f32::from_bits(self.0)
    }
}

impl Node {
    /// Calls `visit` with every child.
    pub fn for_each_child(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Self::Never
            | Self::Empty
            | Self::Literal(_)
            | Self::Bytes(_)
            | Self::Rule(_)
            | Self::Automaton(_)
            | Self::Tokens(_) => {}
            Self::Seq(children) | Self::Alt(children) | Self::And(children) => {
                children.iter().copied().for_each(visit);
            }
            Self::Repeat(Repeat { expr, .. })
            | Self::Not(expr)
            | Self::LookAhead(LookAhead { expr, .. })
            | Self::TokenLimit { expr, .. }
            | Self::Annotated { expr, .. } => visit(*expr),
            Self::Permute(permute) => permute.for_each_child(visit),
        }
    }
}
