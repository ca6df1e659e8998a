//! `%import`, `%ignore`, `%json` and the like.

use super::Parser;
use crate::{
    ast::{Attributes, Definition, Kind as DefinitionKind, Node, NodeId, Span},
    common,
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    guidance, substring,
    token::TokenKind,
};
use serde_json::Value;

impl Parser<'_> {
    /// A directive on a line of its own.
    pub(super) fn top_directive(&mut self) -> Result<(), Fault> {
        let span = self.span();
        let name = &self.word()[1..];
        self.at += 1;
        match name {
            "import" => self.import()?,
            "ignore" => self.ignore(span)?,
            "llguidance" | "grammar_options" => self.grammar_options()?,
            _ => return Err(fault(Kind::Directive { name: name.into() }, span)),
        }
        match self.kind() {
            TokenKind::LineEnd | TokenKind::End => Ok(()),
            _ => self.unexpected("the end of the line"),
        }
    }

    /// A directive that stands for something to match.
    pub(super) fn inner_directive(&mut self) -> Result<NodeId, Fault> {
        let span = self.span();
        let node = match self.word() {
            "%lark" => self.inner_module()?,
            "%json" => {
                self.at += 1;
                let schema = self.expect(TokenKind::Json, "a JSON Schema")?;
                let schema = self.text_of(schema);
                let span = self.since(span);
                let grammar = guidance::schema(schema, self.json, self.limits)
                    .map_err(|kind| fault(kind, span))?;
                let part = u32::try_from(self.ast.parts.len()).expect("fewer parts than bytes");
                self.ast.parts.push((grammar, span));
                Node::Part(part)
            }
            _ => {
                self.at += 1;
                let at = self.expect(TokenKind::Json, "an object")?;
                let chunks = substring::chunks(self.text_of(at)).map_err(|kind| fault(kind, at))?;
                Node::Substring(chunks)
            }
        };
        let span = self.since(span);
        Ok(self.ast.push(node, span))
    }

    /// `common.NAME`, `common.NAME -> ALIAS` or `common (A, B)`.
    fn import(&mut self) -> Result<(), Fault> {
        let library = self.word();
        let span = self.expect(TokenKind::Rule, "`common`")?;
        if library != "common" {
            return Err(fault(Kind::Import { name: library.into() }, span));
        }
        if self.take(TokenKind::Dot) {
            let (name, span) = (self.word(), self.span());
            if !matches!(self.kind(), TokenKind::Terminal | TokenKind::Rule) {
                return self.unexpected("the name of a terminal");
            }
            self.at += 1;
            let alias = match self.take(TokenKind::Arrow) {
                true => {
                    let alias = self.word();
                    self.expect(TokenKind::Terminal, "the name of a terminal")?;
                    alias
                }
                false => name,
            };
            return self.imported(name, alias, span);
        }
        self.expect(TokenKind::Open, "`.` or `(`")?;
        loop {
            let name = self.word();
            let span = self.expect(TokenKind::Terminal, "the name of a terminal")?;
            self.imported(name, name, span)?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Close, "`,` or `)`")?;
        Ok(())
    }

    fn imported(&mut self, name: &str, alias: &str, span: Span) -> Result<(), Fault> {
        let pattern =
            common::pattern(name).ok_or_else(|| fault(Kind::Import { name: name.into() }, span))?;
        let node = Node::Regex { pattern: pattern.into(), flags: "".into() };
        let node = self.ast.push(node, span);
        self.define(terminal(alias, span, self.module, (node, node)))?;
        Ok(())
    }

    /// `%ignore` and a terminal without a name.
    fn ignore(&mut self, span: Span) -> Result<(), Fault> {
        let body = self.body()?;
        let id = self.define(terminal("", span, self.module, body))?;
        self.ast.modules[self.module as usize].ignored.push(id);
        Ok(())
    }

    fn grammar_options(&mut self) -> Result<(), Fault> {
        let at = self.expect(TokenKind::Json, "an object")?;
        let malformed = || fault(Kind::Json { what: "options must be a JSON object" }, at);
        let value: Value = serde_json::from_str(self.text_of(at)).map_err(|_| malformed())?;
        let options = value.as_object().ok_or_else(malformed)?;
        for (name, value) in options {
            let unsupported = || fault(Kind::Option { name: name.as_str().into() }, at);
            let what = "options of grammars are true or false";
            let on = value.as_bool().ok_or_else(|| fault(Kind::Json { what }, at))?;
            let module = &mut self.ast.modules[self.module as usize];
            match name.as_str() {
                "allow_initial_skip" => module.initial_skip = on,
                "ignore_once" => module.ignore_once = on,
                // Forcing is what a caller asks for or does not; no mask depends on it.
                "no_forcing" => {}
                "allow_invalid_utf8" if !on => {}
                _ => return Err(unsupported()),
            }
        }
        Ok(())
    }
}

/// A terminal with a body that is there.
fn terminal(name: &str, span: Span, module: u32, (first, root): (NodeId, NodeId)) -> Definition {
    Definition {
        name: name.into(),
        span,
        module,
        kind: DefinitionKind::Terminal,
        is_parametric: false,
        attributes: Attributes::default(),
        first,
        root,
    }
}
