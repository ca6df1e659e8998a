//! Shapes of grammars, and the grammars that they mean.

use super::Recursion;
use formwork_automata::{ByteSet, Dfa, Fuel, NfaBuilder, determinize};
use formwork_grammar::{
    Annotation, BodyBuilder, ExprId, Grammar, GrammarBuilder, Member, Permute, Polarity, Rest,
    RuleId, TokenRef, TokenSet, Uniqueness,
};
use std::sync::Arc;

/// The shape of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing at all.
    Never,
    /// The empty sequence.
    Empty,
    /// Some bytes.
    Literal(Vec<u8>),
    /// One of some bytes.
    Bytes(Vec<u8>),
    /// One after the other.
    Seq(Vec<Shape>),
    /// One of them.
    Alt(Vec<Shape>),
    /// Between so many times and so many.
    Repeat(Box<Shape>, u32, Option<u32>),
    /// Some rule, as far as the recursion allows it.
    Rule(u8),
    /// One of the rules that are regular over bytes.
    Plain(u8),
    /// A ready-made automaton of these words.
    Automaton(Vec<Vec<u8>>),
    /// In all of these.
    And(Vec<Shape>),
    /// Not in this.
    Not(Box<Shape>),
    /// Token symbols.
    Tokens(TokensShape),
    /// A condition on what follows.
    LookAhead(Box<Shape>, Polarity),
    /// Items in any order.
    Permute(PermuteShape),
    /// At most so many tokens.
    TokenLimit(Box<Shape>, u32),
    /// With a note.
    Annotated(Box<Shape>),
}

/// The shape of a token set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokensShape {
    /// First id, and how many ids more.
    pub ids: Vec<(u8, u8)>,
    /// Whether the vocabulary's first special token is listed by name.
    pub names_special: bool,
    /// Whether the set is all but the listed ones.
    pub negated: bool,
}

/// The shape of a permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermuteShape {
    /// Items, each with whether it is required.
    pub members: Vec<(Shape, bool)>,
    /// What else may occur.
    pub rest: Option<Box<RestShape>>,
    /// Between two items.
    pub separator: Box<Shape>,
    /// Least number of items.
    pub min: u32,
    /// Greatest number of items.
    pub max: Option<u32>,
}

/// The shape of what else may occur in a permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestShape {
    /// Regular over bytes.
    pub key: Shape,
    /// What follows a key.
    pub tail: Shape,
    /// Whether keys may repeat.
    pub uniqueness: Uniqueness,
}

/// The shape of a grammar: rules that may refer to each other, and two that are regular over
/// bytes, the second of them recursive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarShape {
    /// Body, alternative, and (where recursion is linear) the rule that follows the body.
    pub rules: Vec<(Shape, Shape, u8)>,
    /// Two bodies that are regular over bytes.
    pub plain: Vec<Shape>,
    /// Which references lead where.
    pub recursion: Recursion,
    /// Whether linear references come first rather than last.
    pub left_linear: bool,
}

/// The special token that every random vocabulary has.
pub(super) const SPECIAL_NAME: &str = "<s0>";

impl GrammarShape {
    /// The grammar.
    #[must_use]
    pub fn grammar(&self) -> Grammar {
        let mut builder = GrammarBuilder::new();
        let declare = |builder: &mut GrammarBuilder, prefix: &str, count: usize| -> Vec<RuleId> {
            (0..count).map(|index| builder.declare(&format!("{prefix}{index}"))).collect()
        };
        let rules = declare(&mut builder, "rule", self.rules.len());
        let plain = declare(&mut builder, "plain", self.plain.len());
        for (index, (shape, other, next)) in self.rules.iter().enumerate() {
            let visible = match self.recursion {
                Recursion::None => &rules[index + 1..],
                Recursion::Linear => &[],
                Recursion::Any => &rules[..],
            };
            let mut lowering = Lowering { body: BodyBuilder::new(), rules: visible, plain: &plain };
            let shape = lowering.expr(shape);
            let other = lowering.expr(other);
            let mut body = lowering.body;
            let first = match self.recursion {
                Recursion::Linear => {
                    let next = body.rule(rules[usize::from(*next) % rules.len()]);
                    linear(&mut body, shape, next, self.left_linear)
                }
                Recursion::None | Recursion::Any => shape,
            };
            let root = body.alt(&[first, other]);
            builder.define(rules[index], body.finish(root)).expect("each rule is defined once");
        }
        for (index, shape) in self.plain.iter().enumerate() {
            let mut lowering = Lowering { body: BodyBuilder::new(), rules: &[], plain: &[] };
            let shape = lowering.expr(shape);
            let mut body = lowering.body;
            let own = body.rule(plain[index]);
            let root = match index {
                0 => shape,
                _ => {
                    let a = body.bytes(ByteSet::single(b'a'));
                    let again = linear(&mut body, a, own, self.left_linear);
                    body.alt(&[again, shape])
                }
            };
            builder.define(plain[index], body.finish(root)).expect("each rule is defined once");
        }
        builder.finish(rules[0]).expect("every rule is defined")
    }
}

fn linear(body: &mut BodyBuilder, shape: ExprId, next: ExprId, left: bool) -> ExprId {
    if left { body.seq(&[next, shape]) } else { body.seq(&[shape, next]) }
}

struct Lowering<'r> {
    body: BodyBuilder,
    rules: &'r [RuleId],
    plain: &'r [RuleId],
}

impl Lowering<'_> {
    /// Recurses: shapes are as deep as the strategy drew them.
    fn expr(&mut self, shape: &Shape) -> ExprId {
        match shape {
            Shape::Never => self.body.never(),
            Shape::Empty => self.body.empty(),
            Shape::Literal(bytes) => self.body.literal(bytes),
            Shape::Bytes(bytes) => self.body.bytes(bytes.iter().copied().collect()),
            Shape::Seq(parts) => {
                let parts = self.exprs(parts);
                self.body.seq(&parts)
            }
            Shape::Alt(choices) => {
                let choices = self.exprs(choices);
                self.body.alt(&choices)
            }
            Shape::Repeat(expr, min, max) => {
                let expr = self.expr(expr);
                self.body.repeat(expr, *min, *max)
            }
            Shape::Rule(rule) => self.reference(*rule),
            Shape::Plain(rule) => self.plain(*rule),
            Shape::Automaton(words) => self.body.automaton(Arc::new(automaton(words))),
            Shape::And(operands) => {
                let operands = self.exprs(operands);
                self.body.and(&operands)
            }
            Shape::Not(operand) => {
                let operand = self.expr(operand);
                self.body.not(operand)
            }
            Shape::Tokens(set) => self.body.tokens(set.tokens()),
            Shape::LookAhead(expr, polarity) => {
                let expr = self.expr(expr);
                self.body.look_ahead(expr, *polarity)
            }
            Shape::Permute(permute) => self.permute(permute),
            Shape::TokenLimit(expr, max) => {
                let expr = self.expr(expr);
                self.body.token_limit(expr, *max)
            }
            Shape::Annotated(expr) => {
                let expr = self.expr(expr);
                let note = Annotation { capture: Some("note".into()), temperature: None };
                self.body.annotate(expr, note)
            }
        }
    }

    fn exprs(&mut self, shapes: &[Shape]) -> Vec<ExprId> {
        shapes.iter().map(|shape| self.expr(shape)).collect()
    }

    fn reference(&mut self, rule: u8) -> ExprId {
        match self.rules.len() {
            0 => self.plain(rule),
            count => self.body.rule(self.rules[usize::from(rule) % count]),
        }
    }

    fn plain(&mut self, rule: u8) -> ExprId {
        match self.plain.len() {
            0 => self.body.bytes(ByteSet::single(b'b')),
            count => self.body.rule(self.plain[usize::from(rule) % count]),
        }
    }

    fn permute(&mut self, permute: &PermuteShape) -> ExprId {
        let members: Vec<Member> = permute
            .members
            .iter()
            .map(|(shape, required)| Member { expr: self.expr(shape), required: *required })
            .collect();
        let rest = permute.rest.as_ref().map(|rest| Rest {
            key: self.expr(&rest.key),
            tail: self.expr(&rest.tail),
            uniqueness: rest.uniqueness,
        });
        let separator = self.expr(&permute.separator);
        let (min, max) = (permute.min, permute.max);
        self.body.permute(Permute { members: members.into(), rest, separator, min, max })
    }
}

impl TokensShape {
    fn tokens(&self) -> TokenSet {
        let ids = self.ids.iter().map(|&(first, more)| {
            let first = u32::from(first) % 24;
            TokenRef::Ids(first, first + u32::from(more))
        });
        let name = self.names_special.then(|| TokenRef::Name(SPECIAL_NAME.into()));
        let tokens = ids.chain(name);
        if self.negated { TokenSet::all_except(tokens) } else { TokenSet::of(tokens) }
    }
}

/// The automaton of some words.
fn automaton(words: &[Vec<u8>]) -> Dfa {
    let mut fuel = Fuel::unlimited();
    let mut build = || {
        let mut nfa = NfaBuilder::new(&mut fuel);
        let (start, accept) = (nfa.state()?, nfa.state()?);
        for word in words {
            nfa.literal(start, word, accept)?;
        }
        let nfa = nfa.finish(start, accept);
        determinize(&nfa, &mut fuel)
    };
    build().expect("the fuel is unlimited")
}
