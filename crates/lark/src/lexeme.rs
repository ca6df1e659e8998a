//! Terminals: what the lexer of other implementations would cut a text into.
//!
//! # Idea
//! A terminal, a string or expression in a rule, and a rule that is lazy are *lexemes*. Each becomes
//! a body of its own, copied where it is used unless it is large, and an automaton only where its
//! words are needed: for intersections and complements, and where one competes with a lazy one.
//!
//! # Lazy lexemes
//! A lazy lexeme ends as soon as it can: of its words, those remain that begin with no other. And
//! where it could begin, a text that begins with one of its words is that: other lexemes that could
//! begin there lose every word that begins so. (Of another lazy one, the words remain that end
//! together.) `flow` says which lexemes could begin where.

use crate::{
    Lexer, Options,
    ast::{Ast, DefId, Marker, Node, NodeId, Span},
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    pattern,
    rules::{Rules, import},
    substring, words,
};
use formwork_automata::{BooleanOp, Dfa, Fuel};
use formwork_grammar::{Body, BodyBuilder, ExprId, Limits, Polarity, RuleId};
use formwork_regex::Folding;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A lexeme of [`Lexemes`].
pub(crate) type LexemeId = u32;

/// Bodies heavier than this are rules of their own.
const LIGHT: usize = 64;

/// What an intersection or complement may cost to become an automaton; beyond, it stays as it is.
const SMALL_STATES: usize = 50_000;
const SMALL_STEPS: u64 = 20_000_000;

/// A body, by itself or as a rule.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    body: Arc<Body>,
    rule: Option<RuleId>,
}

impl Shared {
    /// The body, or a reference to it, in a body that is being built.
    pub(crate) fn place(&self, builder: &mut BodyBuilder) -> ExprId {
        match self.rule {
            Some(rule) => builder.rule(rule),
            None => import(builder, &self.body),
        }
    }
}

#[derive(Debug)]
struct Lexeme {
    plain: Shared,
    is_lazy: bool,
    is_nullable: bool,
    span: Span,
}

/// All lexemes, and what is known of them.
#[derive(Debug)]
pub(crate) struct Lexemes {
    lexemes: Vec<Lexeme>,
    of_definition: FxHashMap<DefId, LexemeId>,
    of_node: FxHashMap<NodeId, LexemeId>,
    /// The automaton of each, of a lazy one already shortened.
    automata: FxHashMap<LexemeId, Arc<Dfa>>,
    occurrences: FxHashMap<(LexemeId, Vec<LexemeId>, Empty), Shared>,
    lexer: Lexer,
    folding: Folding,
}

/// Whether the empty word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Empty {
    Kept,
    Dropped,
}

/// What making automata needs.
pub(crate) struct Workshop<'a> {
    pub(crate) rules: &'a mut Rules,
    pub(crate) fuel: &'a mut Fuel,
    pub(crate) limits: &'a Limits,
}

impl Lexemes {
    /// Lowers all terminals, in this order, then what stands in rules.
    pub(crate) fn new(
        ast: &Ast,
        order: &[DefId],
        options: &Options,
        workshop: &mut Workshop<'_>,
    ) -> Result<Self, Fault> {
        let mut lexemes = Self {
            lexemes: Vec::new(),
            of_definition: FxHashMap::default(),
            of_node: FxHashMap::default(),
            automata: FxHashMap::default(),
            occurrences: FxHashMap::default(),
            lexer: options.lexer,
            folding: options.folding,
        };
        for &id in order {
            lexemes.add_definition(ast, id, workshop)?;
        }
        for id in (0..).take(ast.definitions.len()) {
            let definition = ast.definition(id);
            if definition.attributes.lazy.is_some() {
                lexemes.add_definition(ast, id, workshop)?;
            } else if !definition.is_lexeme() {
                for node in definition.nodes().filter(|&node| is_atom(ast.node(node))) {
                    lexemes.add_atom(ast, node, workshop)?;
                }
            }
        }
        Ok(lexemes)
    }

    /// The lexeme of a node of a rule, if it is one.
    pub(crate) fn of_node(&self, ast: &Ast, node: NodeId) -> Option<LexemeId> {
        match ast.node(node) {
            Node::Reference { definition, .. } => self.of_definition.get(definition).copied(),
            _ => self.of_node.get(&node).copied(),
        }
    }

    pub(crate) fn of_definition(&self, definition: DefId) -> LexemeId {
        self.of_definition[&definition]
    }

    pub(crate) fn is_nullable(&self, lexeme: LexemeId) -> bool {
        self.lexemes[lexeme as usize].is_nullable
    }

    /// Whether others that begin in the same place have to mind it.
    pub(crate) fn competes(&self, lexeme: LexemeId) -> bool {
        self.lexer == Lexer::Greedy || self.lexemes[lexeme as usize].is_lazy
    }

    /// Whether any lexeme competes with others.
    pub(crate) fn any_competes(&self) -> bool {
        self.lexer == Lexer::Greedy || self.lexemes.iter().any(|lexeme| lexeme.is_lazy)
    }

    fn add_atom(
        &mut self,
        ast: &Ast,
        node: NodeId,
        workshop: &mut Workshop<'_>,
    ) -> Result<(), Fault> {
        let span = ast.span(node);
        let mut builder = BodyBuilder::new();
        let (root, is_nullable) = self.atom(ast, node, &mut builder, workshop)?;
        let body = Arc::new(builder.finish(root));
        let plain = share(body, workshop).map_err(|kind| fault(kind, span))?;
        let id = self.push(Lexeme { plain, is_lazy: false, is_nullable, span });
        self.of_node.insert(node, id);
        Ok(())
    }

    fn push(&mut self, lexeme: Lexeme) -> LexemeId {
        self.lexemes.push(lexeme);
        u32::try_from(self.lexemes.len() - 1).expect("fewer lexemes than nodes")
    }

    /// A terminal, or a rule that is lazy.
    fn add_definition(
        &mut self,
        ast: &Ast,
        id: DefId,
        workshop: &mut Workshop<'_>,
    ) -> Result<(), Fault> {
        let definition = ast.definition(id);
        let span = definition.span;
        let mut builder = BodyBuilder::new();
        let (mut root, mut is_nullable) =
            self.expression(ast, definition, &mut builder, workshop)?;
        let has_boolean =
            definition.nodes().any(|node| matches!(ast.node(node), Node::And(_) | Node::Not(_)));
        if let Some(Marker::Node(marker)) = definition.attributes.lazy {
            let (marker, may_be_empty) = self.atom(ast, marker, &mut builder, workshop)?;
            root = builder.seq(&[root, marker]);
            is_nullable &= may_be_empty;
        }
        if let Some(max) = definition.attributes.max_chars.filter(|_| definition.is_lexeme()) {
            let any = builder.characters(&[('\0', char::MAX)]);
            let bounded = builder.repeat(any, 0, Some(max));
            root = builder.and(&[root, bounded]);
        }
        let mut body = Arc::new(builder.finish(root));
        if has_boolean {
            body = small_automaton(&body, workshop).map_err(|kind| fault(kind, span))?;
        }
        let is_lazy = definition.attributes.lazy.is_some();
        let plain = share(body, workshop).map_err(|kind| fault(kind, span))?;
        let lexeme = self.push(Lexeme { plain, is_lazy, is_nullable, span });
        self.of_definition.insert(id, lexeme);
        Ok(())
    }

    /// The nodes of a terminal's body; whether the empty word is in it.
    fn expression(
        &self,
        ast: &Ast,
        definition: &crate::ast::Definition,
        builder: &mut BodyBuilder,
        workshop: &mut Workshop<'_>,
    ) -> Result<(ExprId, bool), Fault> {
        let mut done: Vec<(ExprId, bool)> = Vec::with_capacity(definition.nodes().len());
        let first = definition.first;
        for id in definition.nodes() {
            let of = |child: NodeId| done[(child - first) as usize];
            let exprs = |children: &[NodeId]| -> Vec<ExprId> {
                children.iter().map(|&child| of(child).0).collect()
            };
            let built = match ast.node(id) {
                Node::Seq(parts) => {
                    (builder.seq(&exprs(parts)), parts.iter().all(|&part| of(part).1))
                }
                Node::Alt(parts) => {
                    (builder.alt(&exprs(parts)), parts.iter().any(|&part| of(part).1))
                }
                Node::And(parts) => {
                    (builder.and(&exprs(parts)), parts.iter().all(|&part| of(part).1))
                }
                Node::Not(node) => (builder.not(of(*node).0), !of(*node).1),
                Node::Repeat { node, min, max } => {
                    (builder.repeat(of(*node).0, *min, *max), *min == 0 || of(*node).1)
                }
                _ => self.atom(ast, id, builder, workshop)?,
            };
            if builder.weight() > workshop.limits.nodes {
                let limit = workshop.limits.nodes;
                return Err(fault(Kind::Nodes { limit }, ast.span(id)));
            }
            done.push(built);
        }
        Ok(*done.last().expect("a body has a root"))
    }

    /// A node without children; whether the empty word is in it.
    fn atom(
        &self,
        ast: &Ast,
        id: NodeId,
        builder: &mut BodyBuilder,
        workshop: &mut Workshop<'_>,
    ) -> Result<(ExprId, bool), Fault> {
        let at = |kind: Kind| fault(kind, ast.span(id));
        Ok(match ast.node(id) {
            Node::Text { text, insensitive: false } => {
                (builder.literal(text.as_bytes()), text.is_empty())
            }
            Node::Text { text, insensitive: true } => {
                let body = pattern::insensitive(text, self.folding, workshop.limits).map_err(at)?;
                (import(builder, &body), text.is_empty())
            }
            Node::Regex { pattern, flags } => {
                let body = pattern::lower(pattern, flags, self.folding, workshop.limits);
                let body = body.map_err(at)?;
                (import(builder, &body), pattern::is_nullable(&body))
            }
            Node::Range(low, high) => (builder.characters(&[(*low, *high)]), false),
            Node::Substring(chunks) => {
                let dfa = substring::automaton(chunks, workshop.fuel).map_err(|e| at(e.into()))?;
                (builder.automaton(Arc::new(dfa)), true)
            }
            Node::Reference { definition, .. } => {
                let lexeme = &self.lexemes[self.of_definition[definition] as usize];
                (lexeme.plain.place(builder), lexeme.is_nullable)
            }
            _ => return Err(at(Kind::NotInTerminal { what: "this" })),
        })
    }

    /// What a lexeme generates where these could begin as well.
    pub(crate) fn occurrence(
        &mut self,
        lexeme: LexemeId,
        rivals: &[LexemeId],
        empty: Empty,
        workshop: &mut Workshop<'_>,
    ) -> Result<Shared, Fault> {
        let Lexeme { is_lazy, is_nullable, span, .. } = self.lexemes[lexeme as usize];
        workshop.fuel.steps(rivals.len()).map_err(|exhausted| fault(exhausted, span))?;
        let is_rival = |&other: &LexemeId| {
            other != lexeme && (self.lexer == Lexer::Greedy || self.lexemes[other as usize].is_lazy)
        };
        let rivals: Vec<LexemeId> = rivals.iter().copied().filter(is_rival).collect();
        let empty = if is_nullable { empty } else { Empty::Kept };
        let is_greedy = self.lexer == Lexer::Greedy && !is_lazy;
        if !is_lazy && !is_greedy && rivals.is_empty() && empty == Empty::Kept {
            return Ok(self.lexemes[lexeme as usize].plain.clone());
        }
        let key = (lexeme, rivals, empty);
        if let Some(known) = self.occurrences.get(&key) {
            return Ok(known.clone());
        }
        let made = self.contend(lexeme, &key.1, empty, workshop);
        let shared =
            made.and_then(|body| share(body, workshop)).map_err(|kind| fault(kind, span))?;
        self.occurrences.insert(key, shared.clone());
        Ok(shared)
    }

    /// What the words of a lexeme begin with.
    pub(crate) fn begins(
        &mut self,
        lexeme: LexemeId,
        workshop: &mut Workshop<'_>,
    ) -> Result<Dfa, Fault> {
        let span = self.lexemes[lexeme as usize].span;
        let dfa = self.automaton(lexeme, workshop).map_err(|kind| fault(kind, span))?;
        words::begins(&dfa, workshop.fuel).map_err(|exhausted| fault(exhausted, span))
    }

    /// The words that rivals leave to a lexeme.
    fn contend(
        &mut self,
        lexeme: LexemeId,
        rivals: &[LexemeId],
        empty: Empty,
        workshop: &mut Workshop<'_>,
    ) -> Result<Arc<Body>, Kind> {
        let is_lazy = self.lexemes[lexeme as usize].is_lazy;
        let mut dfa = self.automaton(lexeme, workshop)?;
        for &rival in rivals {
            if self.lexemes[rival as usize].is_lazy {
                let taken = self.automaton(rival, workshop)?;
                let least = if is_lazy { 1 } else { 0 };
                let taken = words::extensions(&taken, least, workshop.fuel)?;
                dfa = Arc::new(dfa.combine(&taken, BooleanOp::Difference, workshop.fuel)?);
            }
        }
        if empty == Empty::Dropped {
            dfa = Arc::new(words::without_empty(&dfa, workshop.fuel)?);
        }
        let mut builder = BodyBuilder::new();
        let root = match self.lexer == Lexer::Greedy && !is_lazy {
            false => builder.automaton(Arc::new(dfa.minimized())),
            true => {
                // A lexer cuts no empty words out: a lexeme that may be empty may be left out.
                let some = words::without_empty(&dfa, workshop.fuel)?;
                let some = self.munch(&some, lexeme, rivals, &mut builder, workshop)?;
                match dfa.is_accepting(dfa.start()) {
                    true => builder.optional(some),
                    false => some,
                }
            }
        };
        Ok(Arc::new(builder.finish(root)))
    }

    /// The words of a lexeme, each with the bytes that would not let it end there forbidden behind
    /// it.
    fn munch(
        &mut self,
        dfa: &Dfa,
        lexeme: LexemeId,
        rivals: &[LexemeId],
        builder: &mut BodyBuilder,
        workshop: &mut Workshop<'_>,
    ) -> Result<ExprId, Kind> {
        let mut all = (*self.automaton(lexeme, workshop)?).clone();
        for &rival in rivals {
            let other = self.automaton(rival, workshop)?;
            all = all.combine(&other, BooleanOp::Union, workshop.fuel)?;
        }
        let all = all.minimized();
        let mut choices = Vec::new();
        for (live, ending) in words::by_live_bytes(&all, workshop.fuel)? {
            let part = dfa.combine(&ending, BooleanOp::Intersection, workshop.fuel)?.minimized();
            let part = builder.automaton(Arc::new(part));
            let next = builder.bytes(live);
            let not_next = builder.look_ahead(next, Polarity::Forbidden);
            choices.push(builder.seq(&[part, not_next]));
        }
        Ok(builder.alt(&choices))
    }

    /// The automaton of a lexeme, of a lazy one only the words that begin with no other.
    fn automaton(
        &mut self,
        lexeme: LexemeId,
        workshop: &mut Workshop<'_>,
    ) -> Result<Arc<Dfa>, Kind> {
        if let Some(known) = self.automata.get(&lexeme) {
            return Ok(known.clone());
        }
        let Lexeme { plain, is_lazy, .. } = &self.lexemes[lexeme as usize];
        let mut dfa = workshop.rules.dfa(&plain.body, workshop.fuel)?;
        if *is_lazy {
            dfa = Arc::new(words::shortest(&dfa, workshop.fuel)?);
        }
        self.automata.insert(lexeme, dfa.clone());
        Ok(dfa)
    }
}

/// Whether a node is a lexeme by itself.
fn is_atom(node: &Node) -> bool {
    matches!(node, Node::Text { .. } | Node::Regex { .. } | Node::Range(..) | Node::Substring(_))
}

/// A heavy body becomes a rule.
fn share(body: Arc<Body>, workshop: &mut Workshop<'_>) -> Result<Shared, Kind> {
    let mut weight = 0;
    for node in body.nodes() {
        weight += match node {
            formwork_grammar::Node::Literal(bytes) => bytes.len() / 8 + 1,
            _ => 1,
        };
        node.for_each_child(|_| weight += 1);
    }
    let rule = match weight > LIGHT {
        true => {
            let rule = workshop.rules.declare("terminal", workshop.limits)?;
            workshop.rules.define(rule, body.clone());
            Some(rule)
        }
        false => None,
    };
    Ok(Shared { body, rule })
}

/// The body as an automaton, unless that is large: then as it is.
fn small_automaton(body: &Arc<Body>, workshop: &mut Workshop<'_>) -> Result<Arc<Body>, Kind> {
    let states = SMALL_STATES.min(workshop.limits.automaton_states);
    let mut probe = Fuel::new(states, SMALL_STEPS.min(workshop.limits.automaton_steps));
    let made = workshop.rules.dfa(body, &mut probe);
    workshop.fuel.steps(usize::try_from(probe.steps_spent()).unwrap_or(usize::MAX))?;
    match made {
        Ok(dfa) => {
            let mut builder = BodyBuilder::new();
            let root = builder.automaton(dfa);
            Ok(Arc::new(builder.finish(root)))
        }
        Err(Kind::Exhausted(_)) => Ok(body.clone()),
        Err(other) => Err(other),
    }
}
