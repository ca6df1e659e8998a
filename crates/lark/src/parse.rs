//! Tokens to definitions.
//!
//! # Idea
//! Line by line: a definition or a directive. The body of a definition is read by one loop with a
//! stack of open groups (`expression`), so that no nesting recurses. A grammar inside a grammar is
//! put aside and read when the one around it is done.
//!
//! # Why no parser generator
//! What a token means depends on where it stands: a line end ends a definition or does not, `{`
//! begins a repetition, a template or a grammar, `~` a complement or a count. All that is one `match`
//! by hand, and errors can say what was expected in words.

mod attributes;
mod conditions;
mod directives;
mod expression;
mod literals;

use crate::{
    ast::{Ast, Attributes, DefId, Definition, Kind as DefinitionKind, Module, ModuleId, Span},
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    token::{Token, TokenKind, found, scan},
};
use formwork_grammar::Limits;
use std::ops::Range;

/// Reads a text, given by its number, as a module and those inside it; returns the first.
pub(crate) fn parse(
    text: &str,
    source: u32,
    ast: &mut Ast,
    json: &formwork_json_schema::Options,
    limits: &Limits,
) -> Result<ModuleId, Fault> {
    let whole = Span { source, start: 0, len: u32::try_from(text.len()).unwrap_or(u32::MAX) };
    if text.len() > limits.source_bytes.min(u32::MAX as usize / 2) {
        return Err(fault(Kind::SourceBytes { limit: limits.source_bytes }, whole));
    }
    let tokens = scan(text, source)?;
    let first = new_module(ast, whole);
    let mut waiting = vec![(first, 0..tokens.len() - 1)];
    while let Some((module, range)) = waiting.pop() {
        let mut parser = Parser {
            text,
            tokens: &tokens,
            at: range.start,
            end: range.end,
            module,
            ast,
            json,
            limits,
            inner: Vec::new(),
        };
        parser.module()?;
        waiting.append(&mut parser.inner);
    }
    Ok(first)
}

fn new_module(ast: &mut Ast, span: Span) -> ModuleId {
    let id = u32::try_from(ast.modules.len()).expect("fewer modules than bytes");
    ast.modules.push(Module { span, ..Module::default() });
    id
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    /// Where the module's tokens end.
    end: usize,
    module: ModuleId,
    ast: &'a mut Ast,
    json: &'a formwork_json_schema::Options,
    limits: &'a Limits,
    /// Grammars found inside, and their tokens.
    inner: Vec<(ModuleId, Range<usize>)>,
}

impl<'a> Parser<'a> {
    /// The kind of the token in hand; the end of the module is [`TokenKind::End`].
    fn kind(&self) -> TokenKind {
        self.kind_at(self.at)
    }

    fn kind_at(&self, at: usize) -> TokenKind {
        if at < self.end { self.tokens[at].kind } else { TokenKind::End }
    }

    fn span(&self) -> Span {
        self.tokens[self.at.min(self.tokens.len() - 1)].span
    }

    fn text_of(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..(span.start + span.len) as usize]
    }

    fn word(&self) -> &'a str {
        self.text_of(self.span())
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at += 1;
        span
    }

    /// Takes a token of this kind, if it is there.
    fn take(&mut self, kind: TokenKind) -> bool {
        let is_there = self.kind() == kind;
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Result<Span, Fault> {
        match self.kind() == kind {
            true => Ok(self.advance()),
            false => self.unexpected(expected),
        }
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, Fault> {
        let span = self.span();
        let found = found(self.text, span.start as usize);
        Err(fault(Kind::Expected { expected, found }, span))
    }

    /// From `start` to the end of the last token taken.
    fn since(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        let len = (last.start + last.len).saturating_sub(start.start).max(start.len);
        Span { len, ..start }
    }

    fn module(&mut self) -> Result<(), Fault> {
        loop {
            match self.kind() {
                TokenKind::End => break,
                TokenKind::LineEnd => self.at += 1,
                TokenKind::Directive => self.top_directive()?,
                TokenKind::Rule | TokenKind::Terminal | TokenKind::Question | TokenKind::Bang => {
                    self.definition()?;
                }
                _ => return self.unexpected("a rule, a terminal or a directive"),
            }
        }
        let module = &self.ast.modules[self.module as usize];
        match module.by_name.get("start") {
            Some(&start) => self.ast.modules[self.module as usize].start = start,
            None => return Err(fault(Kind::NoStart, module.span)),
        }
        Ok(())
    }

    /// `?name::_[attributes].1: body`.
    fn definition(&mut self) -> Result<(), Fault> {
        while self.take(TokenKind::Question) || self.take(TokenKind::Bang) {}
        let kind = match self.kind() {
            TokenKind::Rule => DefinitionKind::Rule,
            TokenKind::Terminal => DefinitionKind::Terminal,
            _ => return self.unexpected("the name of a rule or terminal"),
        };
        let name = self.word();
        let span = self.advance();
        let is_parametric = self.take(TokenKind::DoubleColon);
        if is_parametric {
            self.expect(TokenKind::Underscore, "`_` for the parameter")?;
            if kind == DefinitionKind::Terminal {
                return Err(fault(Kind::NotInTerminal { what: "a parameter" }, span));
            }
        }
        if self.kind() == TokenKind::OpenBrace {
            return Err(fault(Kind::Template, self.span()));
        }
        let mut attributes = Attributes::default();
        if self.kind() == TokenKind::OpenSquare {
            attributes = self.attributes(name)?;
            if kind == DefinitionKind::Terminal {
                return Err(fault(Kind::NotInTerminal { what: "an attribute" }, span));
            }
        }
        // Priorities say which of several readings a parser prefers; the language is the same.
        if self.take(TokenKind::Dot) {
            self.expect(TokenKind::Number, "a priority")?;
        }
        self.expect(TokenKind::Colon, "`:`")?;
        let definition = Definition {
            name: name.into(),
            span,
            module: self.module,
            kind,
            is_parametric,
            attributes,
            first: 0,
            root: 0,
        };
        let (first, root) = self.body()?;
        self.define(Definition { first, root, ..definition })?;
        Ok(())
    }

    /// The nodes of a body, to the end of its line.
    fn body(&mut self) -> Result<(u32, u32), Fault> {
        let first = u32::try_from(self.ast.nodes.len()).expect("fewer nodes than bytes");
        let root = self.expression()?;
        match self.kind() {
            TokenKind::LineEnd | TokenKind::End => Ok((first, root)),
            _ => self.unexpected("the end of the line"),
        }
    }

    fn define(&mut self, definition: Definition) -> Result<DefId, Fault> {
        let id = u32::try_from(self.ast.definitions.len()).expect("fewer definitions than bytes");
        let module = &mut self.ast.modules[self.module as usize];
        let name = definition.name.clone();
        if !name.is_empty() && module.by_name.insert(name.clone(), id).is_some() {
            return Err(fault(Kind::Duplicate { name }, definition.span));
        }
        module.definitions.push(id);
        self.ast.definitions.push(definition);
        Ok(id)
    }
}
