//! What a grammar says: definitions, and one arena of nodes for all texts.
//!
//! Children stand before their parents, and the nodes of a definition side by side, so that every
//! walk over one is a loop.

use crate::parameter::{Argument, Condition};
use formwork_grammar::{Temperature, TokenSet};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A node of [`Ast::nodes`].
pub(crate) type NodeId = u32;
/// A definition of [`Ast::definitions`].
pub(crate) type DefId = u32;
/// A module of [`Ast::modules`].
pub(crate) type ModuleId = u32;
/// An embedded grammar of [`Ast::parts`].
pub(crate) type PartIndex = u32;

/// A stretch of one of the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Which text.
    pub(crate) source: u32,
    /// First byte.
    pub(crate) start: u32,
    /// Bytes.
    pub(crate) len: u32,
}

/// One construct.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A string.
    Text { text: Box<str>, insensitive: bool },
    /// A regular expression and its flags, each known.
    Regex { pattern: Box<str>, flags: Box<str> },
    /// One character, both ends included.
    Range(char, char),
    /// Any run of neighbouring chunks.
    Substring(Box<[Box<str>]>),
    /// A name that is not resolved yet.
    Name { name: Box<str>, argument: Option<Argument> },
    /// A rule or a terminal.
    Reference { definition: DefId, argument: Option<Argument> },
    /// One token.
    Tokens(TokenSet),
    /// A grammar of another kind.
    Part(PartIndex),
    /// A Lark grammar.
    Module(ModuleId),
    /// A named grammar that is not resolved yet.
    Named(Box<str>),
    /// One after the other.
    Seq(Box<[NodeId]>),
    /// One of them.
    Alt(Box<[NodeId]>),
    /// All of them.
    And(Box<[NodeId]>),
    /// What it is not.
    Not(NodeId),
    /// Between `min` and `max` times.
    Repeat { node: NodeId, min: u32, max: Option<u32> },
    /// Only for parameters that meet the condition.
    Guarded { node: NodeId, condition: Condition },
}

/// Rule or terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Rule,
    Terminal,
}

/// What follows a terminal-like body and belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    /// Nothing; the body itself ends as soon as it can.
    None,
    /// This.
    Node(NodeId),
}

/// The attributes of a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) capture: Option<Box<str>>,
    pub(crate) stop_capture: Option<Box<str>>,
    pub(crate) temperature: Option<Temperature>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) max_chars: Option<u32>,
    /// Set when the rule ends as soon as it can.
    pub(crate) lazy: Option<Marker>,
}

impl Attributes {
    /// Whether a text of its own ends the rule.
    pub(crate) fn has_marker(&self) -> bool {
        matches!(self.lazy, Some(Marker::Node(_)))
    }
}

/// A rule or a terminal.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: Box<str>,
    pub(crate) span: Span,
    pub(crate) module: ModuleId,
    pub(crate) kind: Kind,
    pub(crate) is_parametric: bool,
    pub(crate) attributes: Attributes,
    /// First node of the body.
    pub(crate) first: NodeId,
    /// Last node of the body: all of it.
    pub(crate) root: NodeId,
}

impl Definition {
    /// The nodes of the body, children first.
    pub(crate) fn nodes(&self) -> Range<NodeId> {
        self.first..self.root + 1
    }

    /// Whether the rule is one unit for the lexer.
    pub(crate) fn is_lexeme(&self) -> bool {
        self.kind == Kind::Terminal || self.attributes.lazy.is_some()
    }
}

/// A namespace: a text, or a `%lark` in one.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) span: Span,
    pub(crate) by_name: FxHashMap<Box<str>, DefId>,
    pub(crate) definitions: Vec<DefId>,
    /// What `%ignore` says: nameless terminals.
    pub(crate) ignored: Vec<DefId>,
    pub(crate) initial_skip: bool,
    pub(crate) ignore_once: bool,
    pub(crate) start: DefId,
}

/// Everything that was read.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    pub(crate) nodes: Vec<Node>,
    pub(crate) spans: Vec<Span>,
    pub(crate) definitions: Vec<Definition>,
    /// The first is that of the whole.
    pub(crate) modules: Vec<Module>,
    /// Embedded grammars, and where they stand.
    pub(crate) parts: Vec<(formwork_grammar::Grammar, Span)>,
}

impl Ast {
    pub(crate) fn push(&mut self, node: Node, span: Span) -> NodeId {
        let id = u32::try_from(self.nodes.len()).expect("fewer nodes than bytes of text");
        self.nodes.push(node);
        self.spans.push(span);
        id
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn span(&self, id: NodeId) -> Span {
        self.spans[id as usize]
    }

    pub(crate) fn definition(&self, id: DefId) -> &Definition {
        &self.definitions[id as usize]
    }

    pub(crate) fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id as usize]
    }
}
