//! A grammar as a text that people, and the EBNF front end, can read.
//!
//! # Idea
//! A body is printed node by node, children first, so that nothing recurses. A node that is used
//! more than once, or that would be nested too deep, becomes a rule of its own: the text is then
//! about as long as the grammar. So does what EBNF can say of rules alone: token limits, notes, and
//! the operands of intersections, complements, look-aheads and unordered items. An automaton is a
//! right-linear rule per state.
//!
//! # What it means
//! The dialect is GBNF with the calls that the EBNF front end adds (`Bytes`, `And`, `Not`,
//! `Followed`, `NotFollowed`, `Permute`, `Token`, `ExcludeToken`) and with XGrammar's attributes.
//! It reads back to the same language; the rules may be others.

mod characters;
mod names;

use crate::{
    Annotation, Body, ExprId, Grammar, GrammarError, Limits, Node, Permute, Polarity, Repeat,
    TokenRef, TokenSet, Uniqueness,
    passes::{self, Rules},
};
use characters::{byte_set, class, ranges_of, text};
use formwork_automata::{ByteSet, Dfa};
use names::Names;
use std::fmt::Write as _;

/// The grammar as EBNF, the root first and under the name `root`. Lowers what is not yet lowered.
/// Cost: linear in the grammar, but for automata, whose every edge is printed.
///
/// # Errors
/// A lowering error, or the limit on rules or nodes.
pub fn ebnf(grammar: &Grammar, limits: &Limits) -> Result<String, GrammarError> {
    Ok(of_rules(&passes::reach(grammar, limits)?))
}

/// As [`ebnf`], for a grammar that has been lowered.
#[must_use]
pub fn of_rules(rules: &Rules) -> String {
    let names = Names::new(&rules.names);
    let mut printer = Printer { names, output: String::new() };
    for rule in rules.ids() {
        let name = printer.names.rule(rule).to_owned();
        BodyPrinter::new(rules.body(rule), name, &mut printer).print();
    }
    printer.output
}

/// Nested deeper, a node becomes a rule of its own: every level copies what is inside.
const DEEPEST: usize = 30;
/// Longer than this, a node that is used twice becomes a rule of its own.
const SHORT: usize = 24;

/// What all bodies share.
struct Printer {
    names: Names,
    output: String,
}

impl Printer {
    fn rule(&mut self, name: &str, attributes: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.output, "{name}{attributes} ::= {text}");
    }
}

/// How tightly a text holds together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    Alternatives,
    Sequence,
    Repetition,
    Element,
}

/// A node, printed.
#[derive(Clone)]
struct Piece {
    text: String,
    bond: Bond,
    depth: usize,
}

impl Piece {
    fn element(text: impl Into<String>) -> Self {
        Self { text: text.into(), bond: Bond::Element, depth: 0 }
    }

    /// In parentheses unless it holds together at least like `bond`.
    fn push_to(&self, bond: Bond, output: &mut String) {
        if self.bond >= bond {
            output.push_str(&self.text);
        } else {
            output.push('(');
            output.push_str(&self.text);
            output.push(')');
        }
    }
}

struct BodyPrinter<'b, 'p> {
    body: &'b Body,
    name: String,
    printer: &'p mut Printer,
    /// By node: how often it is used, 0 for those that are printed with their parents.
    uses: Vec<usize>,
    /// By node, what is printed so far.
    pieces: Vec<Option<Piece>>,
}

impl<'b, 'p> BodyPrinter<'b, 'p> {
    fn new(body: &'b Body, name: String, printer: &'p mut Printer) -> Self {
        let mut uses = vec![0; body.nodes().len()];
        uses[body.root().index()] = 1;
        for (id, node) in body.iter().rev() {
            if uses[id.index()] > 0 && ranges_of(body, id).is_none() {
                node.for_each_child(|child| uses[child.index()] += 1);
            }
        }
        let pieces = vec![None; uses.len()];
        Self { body, name, printer, uses, pieces }
    }

    fn print(mut self) {
        // The root's line comes before those of its parts.
        let parts = self.printer.output.len();
        let body = self.body;
        for (id, node) in body.iter() {
            let uses = self.uses[id.index()];
            if uses == 0 {
                continue;
            }
            let mut piece = match ranges_of(body, id) {
                Some(ranges) => Piece::element(class(&ranges)),
                None => self.piece(node),
            };
            let is_long = uses > 1 && piece.text.len() > SHORT;
            if id != body.root() && (is_long || piece.depth > DEEPEST) {
                piece = Piece::element(self.outlined("", &piece.text));
            }
            self.pieces[id.index()] = Some(piece);
        }
        let root = self.take(body.root());
        let own = format!("{} ::= {}\n", self.name, root.text);
        self.printer.output.insert_str(parts, &own);
    }

    /// The printed node: a copy, unless this is its only use.
    fn take(&mut self, id: ExprId) -> Piece {
        let piece = &mut self.pieces[id.index()];
        let piece = if self.uses[id.index()] > 1 { piece.clone() } else { piece.take() };
        piece.expect("children are printed before their parents, once a use")
    }

    /// A new rule with this text; its name.
    fn outlined(&mut self, attributes: &str, text: &str) -> String {
        let name = self.printer.names.fresh(&self.name);
        self.printer.rule(&name, attributes, text);
        name
    }

    /// The name of a rule that generates what the node does.
    fn operand(&mut self, id: ExprId) -> String {
        let piece = self.take(id);
        match self.body[id] {
            Node::Rule(_) => piece.text,
            _ => self.outlined("", &piece.text),
        }
    }

    fn operands(&mut self, ids: &[ExprId]) -> String {
        let names: Vec<String> = ids.iter().map(|&id| self.operand(id)).collect();
        names.join(", ")
    }

    fn piece(&mut self, node: &Node) -> Piece {
        match node {
            Node::Never => {
                let name = self.printer.names.fresh("never");
                self.printer.rule(&name, "", &name.clone());
                Piece::element(name)
            }
            Node::Empty => Piece::element("\"\""),
            Node::Literal(bytes) => {
                let text = text(bytes);
                let bond = if text.contains(' ') { Bond::Sequence } else { Bond::Element };
                Piece { text, bond, depth: 0 }
            }
            Node::Bytes(set) => Piece::element(byte_set(set)),
            Node::Seq(parts) => self.joined(parts, " ", Bond::Sequence),
            Node::Alt(choices) => self.joined(choices, " | ", Bond::Alternatives),
            Node::Repeat(repeat) => self.repeat(*repeat),
            Node::Rule(rule) => Piece::element(self.printer.names.rule(*rule)),
            Node::Automaton(dfa) => Piece::element(self.automaton(dfa)),
            Node::And(operands) => Piece::element(format!("And({})", self.operands(operands))),
            Node::Not(operand) => Piece::element(format!("Not({})", self.operand(*operand))),
            Node::Tokens(set) => Piece::element(tokens(set)),
            Node::LookAhead(look) => {
                let call = match look.polarity {
                    Polarity::Required => "Followed",
                    Polarity::Forbidden => "NotFollowed",
                };
                Piece::element(format!("{call}({})", self.operand(look.expr)))
            }
            Node::Permute(permute) => Piece::element(self.permute(permute)),
            Node::TokenLimit { expr, max } => {
                let piece = self.take(*expr);
                Piece::element(self.outlined(&format!("[max_tokens={max}]"), &piece.text))
            }
            Node::Annotated { expr, annotation } => {
                let piece = self.take(*expr);
                Piece::element(self.outlined(&attributes(annotation), &piece.text))
            }
        }
    }

    fn joined(&mut self, ids: &[ExprId], separator: &str, bond: Bond) -> Piece {
        let mut joined = Piece { text: String::new(), bond, depth: 0 };
        for (index, &id) in ids.iter().enumerate() {
            let piece = self.take(id);
            if index > 0 {
                joined.text.push_str(separator);
            }
            piece.push_to(bond, &mut joined.text);
            joined.depth = joined.depth.max(piece.depth + 1);
        }
        joined
    }

    fn repeat(&mut self, Repeat { expr, min, max }: Repeat) -> Piece {
        let inner = self.take(expr);
        let mut text = String::new();
        inner.push_to(Bond::Element, &mut text);
        // Writing to a string cannot fail.
        let _ = match (min, max) {
            (0, None) => write!(text, "*"),
            (1, None) => write!(text, "+"),
            (0, Some(1)) => write!(text, "?"),
            (min, None) => write!(text, "{{{min},}}"),
            (min, Some(max)) if min == max => write!(text, "{{{min}}}"),
            (min, Some(max)) => write!(text, "{{{min},{max}}}"),
        };
        Piece { text, bond: Bond::Repetition, depth: inner.depth + 1 }
    }

    /// A rule for each state; the name of the first.
    fn automaton(&mut self, dfa: &Dfa) -> String {
        let base = format!("{}-state", self.name);
        let names: Vec<String> =
            dfa.live_states().map(|_| self.printer.names.fresh(&base)).collect();
        for state in dfa.live_states() {
            let mut choices: Vec<(usize, ByteSet)> = Vec::new();
            for (class, target) in dfa.byte_edges(state) {
                let bytes = dfa.classes().members(class);
                match choices.iter_mut().find(|(other, _)| *other == target.index()) {
                    Some((_, set)) => *set = set.union(&bytes),
                    None => choices.push((target.index(), bytes)),
                }
            }
            let choices = choices
                .into_iter()
                .map(|(target, bytes)| format!("{} {}", byte_set(&bytes), names[target - 1]));
            let end = dfa.is_accepting(state).then(|| "\"\"".to_owned());
            let text: Vec<String> = choices.chain(end).collect();
            self.printer.rule(&names[state.index() - 1], "", &text.join(" | "));
        }
        names[dfa.start().index() - 1].clone()
    }

    fn permute(&mut self, permute: &Permute) -> String {
        let mut parts = Vec::new();
        for (name, required) in [("required", true), ("optional", false)] {
            let members = permute.members.iter().filter(|member| member.required == required);
            let members: Vec<ExprId> = members.map(|member| member.expr).collect();
            if !members.is_empty() {
                parts.push(format!("{name}=({})", self.operands(&members)));
            }
        }
        if let Some(rest) = permute.rest {
            parts.push(format!("rest=({})", self.operands(&[rest.key, rest.tail])));
            if rest.uniqueness == Uniqueness::Distinct {
                parts.push("distinct=true".to_owned());
            }
        }
        parts.push(format!("separator={}", self.operand(permute.separator)));
        parts.push(format!("min={}", permute.min));
        parts.extend(permute.max.map(|max| format!("max={max}")));
        format!("Permute({})", parts.join(", "))
    }
}

fn attributes(annotation: &Annotation) -> String {
    let capture =
        annotation.capture.as_ref().map(|name| format!("capture={}", text(name.as_bytes())));
    let temperature = annotation.temperature.map(|t| format!("temperature={}", t.value()));
    let parts: Vec<String> = capture.into_iter().chain(temperature).collect();
    format!("[{}]", parts.join(", "))
}

fn tokens(set: &TokenSet) -> String {
    let listed: Vec<String> = set
        .tokens
        .iter()
        .map(|token| match token {
            TokenRef::Name(name) => text(name.as_bytes()),
            TokenRef::Ids(first, last) if first == last => first.to_string(),
            TokenRef::Ids(first, last) => format!("({first}, {last})"),
        })
        .collect();
    let call = if set.negated { "ExcludeToken" } else { "Token" };
    format!("{call}({})", listed.join(", "))
}

#[cfg(test)]
mod tests;
