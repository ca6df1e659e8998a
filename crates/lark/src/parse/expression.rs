//! Bodies: one loop, a stack of open groups.

use super::{Parser, new_module};
use crate::{
    ast::{Node, NodeId, Span},
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    token::TokenKind,
};

/// What is open: a group, an optional group, or the body itself.
struct Frame {
    /// The bracket that closes it; none for the body.
    close: Option<TokenKind>,
    start: Span,
    alternatives: Vec<NodeId>,
    conjuncts: Vec<NodeId>,
    sequence: Vec<NodeId>,
    /// Complements waiting for their operand.
    negations: Vec<Span>,
    guard: Option<crate::parameter::Condition>,
}

impl Frame {
    fn new(close: Option<TokenKind>, start: Span) -> Self {
        Self {
            close,
            start,
            alternatives: Vec::new(),
            conjuncts: Vec::new(),
            sequence: Vec::new(),
            negations: Vec::new(),
            guard: None,
        }
    }
}

impl Parser<'_> {
    /// Everything up to what cannot belong to an expression.
    pub(super) fn expression(&mut self) -> Result<NodeId, Fault> {
        let mut open: Vec<Frame> = Vec::new();
        let mut frame = Frame::new(None, self.span());
        loop {
            let kind = self.kind();
            self.check_guard(&frame)?;
            match kind {
                TokenKind::Open | TokenKind::OpenSquare => {
                    let (close, start) = self.open_group(open.len())?;
                    open.push(std::mem::replace(&mut frame, Frame::new(Some(close), start)));
                }
                _ if Some(kind) == frame.close => {
                    self.at += 1;
                    let inner = self.finish(&mut frame)?;
                    let span = self.since(frame.start);
                    frame = open.pop().expect("a closing bracket has an open group");
                    let node = match kind {
                        TokenKind::Close => inner,
                        _ => {
                            self.ast.push(Node::Repeat { node: inner, min: 0, max: Some(1) }, span)
                        }
                    };
                    self.operand(node, &mut frame)?;
                }
                TokenKind::Bar => {
                    self.at += 1;
                    self.alternative(&mut frame)?;
                }
                TokenKind::And => {
                    self.at += 1;
                    self.conjunct(&mut frame)?;
                }
                TokenKind::Tilde => frame.negations.push(self.advance()),
                TokenKind::Arrow => {
                    self.at += 1;
                    match self.kind() {
                        TokenKind::Rule | TokenKind::Terminal => self.at += 1,
                        _ => return self.unexpected("the name of the alias"),
                    }
                }
                TokenKind::Directive if self.word() == "%if" => {
                    self.at += 1;
                    frame.guard = Some(self.condition()?);
                }
                _ if self.begins_atom() => {
                    let node = self.atom()?;
                    self.operand(node, &mut frame)?;
                }
                _ => break,
            }
        }
        match open.is_empty() {
            true => self.finish(&mut frame),
            false => self.unexpected("something to match, or the end of the group"),
        }
    }

    /// Behind a condition, an alternative is over.
    fn check_guard(&self, frame: &Frame) -> Result<(), Fault> {
        let kind = self.kind();
        let is_over = Some(kind) == frame.close
            || matches!(
                kind,
                TokenKind::Bar | TokenKind::Arrow | TokenKind::LineEnd | TokenKind::End
            );
        match frame.guard.is_none() || is_over {
            true => Ok(()),
            false => self.unexpected("`|` or the end of the alternative"),
        }
    }

    /// Takes an opening bracket; returns what closes it, and where it stands.
    fn open_group(&mut self, depth: usize) -> Result<(TokenKind, Span), Fault> {
        if depth >= self.limits.nesting {
            return Err(fault(Kind::Nesting { limit: self.limits.nesting }, self.span()));
        }
        let close = match self.kind() {
            TokenKind::Open => TokenKind::Close,
            _ => TokenKind::CloseSquare,
        };
        Ok((close, self.advance()))
    }

    fn begins_atom(&self) -> bool {
        match self.kind() {
            TokenKind::String
            | TokenKind::Regex
            | TokenKind::Rule
            | TokenKind::Terminal
            | TokenKind::Special
            | TokenKind::Named => true,
            TokenKind::Directive => matches!(self.word(), "%json" | "%lark" | "%regex"),
            _ => false,
        }
    }

    /// Adds an operand: complements first, then what repeats it.
    fn operand(&mut self, node: NodeId, frame: &mut Frame) -> Result<(), Fault> {
        let mut node = node;
        while let Some(span) = frame.negations.pop() {
            let span = self.since(span);
            node = self.ast.push(Node::Not(node), span);
        }
        let span = self.ast.span(node);
        while let Some((min, max)) = self.repetition()? {
            let span = self.since(span);
            node = self.ast.push(Node::Repeat { node, min, max }, span);
        }
        frame.sequence.push(node);
        Ok(())
    }

    /// A repetition, if one stands here.
    fn repetition(&mut self) -> Result<Option<(u32, Option<u32>)>, Fault> {
        let counts = match self.kind() {
            TokenKind::Star => (0, None),
            TokenKind::Plus => (1, None),
            TokenKind::Question => (0, Some(1)),
            TokenKind::Tilde if self.kind_at(self.at + 1) == TokenKind::Number => {
                return self.counts_after_tilde().map(Some);
            }
            TokenKind::OpenBrace => return self.counts_in_braces().map(Some),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(counts))
    }

    /// `~2` or `~2..4`.
    fn counts_after_tilde(&mut self) -> Result<(u32, Option<u32>), Fault> {
        let start = self.advance();
        let min = self.count()?;
        let max = match self.take(TokenKind::DotDot) {
            true => self.count()?,
            false => min,
        };
        self.ordered(min, Some(max), start)
    }

    /// `{2}`, `{2,}`, `{,4}` or `{2,4}`.
    fn counts_in_braces(&mut self) -> Result<(u32, Option<u32>), Fault> {
        let start = self.advance();
        if matches!(self.kind(), TokenKind::Rule | TokenKind::Terminal) {
            return Err(fault(Kind::Template, self.span()));
        }
        let least = match self.kind() {
            TokenKind::Comma => None,
            _ => Some(self.count()?),
        };
        let max = match self.take(TokenKind::Comma) {
            false => least,
            true if self.kind() == TokenKind::CloseBrace && least.is_some() => None,
            true => Some(self.count()?),
        };
        self.expect(TokenKind::CloseBrace, "`}`")?;
        self.ordered(least.unwrap_or(0), max, start)
    }

    fn count(&mut self) -> Result<u32, Fault> {
        let expected = "a count below 2^32";
        match self.kind() {
            TokenKind::Number => {
                let span = self.span();
                let count = self.integer(expected)?;
                u32::try_from(count).map_err(|_| fault(Kind::Number { expected }, span))
            }
            _ => self.unexpected("a count"),
        }
    }

    fn ordered(
        &self,
        min: u32,
        max: Option<u32>,
        start: Span,
    ) -> Result<(u32, Option<u32>), Fault> {
        match max {
            Some(max) if max < min => {
                Err(fault(Kind::ReversedRepeat { min, max }, self.since(start)))
            }
            _ => Ok((min, max)),
        }
    }

    /// Ends a sequence: it is one operand of an intersection.
    fn conjunct(&mut self, frame: &mut Frame) -> Result<(), Fault> {
        if let Some(&span) = frame.negations.last() {
            return Err(fault(
                Kind::Expected { expected: "something to complement", found: "nothing".into() },
                span,
            ));
        }
        let parts = std::mem::take(&mut frame.sequence);
        let node = match parts[..] {
            [only] => only,
            _ => {
                let span = match (parts.first(), parts.last()) {
                    (Some(&first), Some(_)) => self.since(self.ast.span(first)),
                    _ => frame.start,
                };
                self.ast.push(Node::Seq(parts.into()), span)
            }
        };
        frame.conjuncts.push(node);
        Ok(())
    }

    fn alternative(&mut self, frame: &mut Frame) -> Result<(), Fault> {
        self.conjunct(frame)?;
        let conjuncts = std::mem::take(&mut frame.conjuncts);
        let mut node = match conjuncts[..] {
            [only] => only,
            _ => {
                let span = self.since(self.ast.span(conjuncts[0]));
                self.ast.push(Node::And(conjuncts.into()), span)
            }
        };
        if let Some(condition) = frame.guard.take() {
            let span = self.ast.span(node);
            node = self.ast.push(Node::Guarded { node, condition }, span);
        }
        frame.alternatives.push(node);
        Ok(())
    }

    fn finish(&mut self, frame: &mut Frame) -> Result<NodeId, Fault> {
        self.alternative(frame)?;
        let alternatives = std::mem::take(&mut frame.alternatives);
        let span = self.since(frame.start);
        Ok(match alternatives[..] {
            [only] => only,
            _ => self.ast.push(Node::Alt(alternatives.into()), span),
        })
    }

    fn atom(&mut self) -> Result<NodeId, Fault> {
        let span = self.span();
        let node = match self.kind() {
            TokenKind::String => return self.string_or_range(),
            TokenKind::Regex => self.regex()?,
            TokenKind::Special => self.special()?,
            TokenKind::Named => {
                let name = self.word()[1..].into();
                self.at += 1;
                Node::Named(name)
            }
            TokenKind::Directive => return self.inner_directive(),
            _ => {
                let name = self.word().into();
                self.at += 1;
                let argument = match self.take(TokenKind::DoubleColon) {
                    true => Some(self.reference_argument()?),
                    false => None,
                };
                Node::Name { name, argument }
            }
        };
        let span = self.since(span);
        Ok(self.ast.push(node, span))
    }

    /// `%lark { … }`: a module of its own, read later.
    pub(super) fn inner_module(&mut self) -> Result<Node, Fault> {
        let start = self.advance();
        self.at += usize::from(self.kind() == TokenKind::LineEnd);
        let open = self.at;
        self.expect(TokenKind::OpenBrace, "`{`")?;
        let close = self.tokens[open].partner as usize;
        self.at = close + 1;
        let span = self.since(start);
        let module = new_module(self.ast, span);
        self.inner.push((module, open + 1..close));
        Ok(Node::Module(module))
    }
}
