//! `[capture, max_tokens=10]` behind the name of a rule.

use super::Parser;
use crate::{
    ast::{Attributes, Marker, Node, NodeId},
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    token::TokenKind,
};
use formwork_grammar::Temperature;

const NUMBER: &str = "a count below 2^32";
const CAPTURE: &str = "a name without white space, in quotes";
const STOP: &str = "a string, a regular expression or a terminal";

impl Parser<'_> {
    /// The attributes of the rule `rule`.
    pub(super) fn attributes(&mut self, rule: &str) -> Result<Attributes, Fault> {
        let start = self.advance();
        let mut attributes = Attributes::default();
        let mut seen: Vec<&str> = Vec::new();
        while self.kind() != TokenKind::CloseSquare {
            let (name, span) = (self.word(), self.expect(TokenKind::Rule, "an attribute")?);
            if seen.contains(&name) {
                return Err(fault(Kind::DuplicateAttribute { name: name.into() }, span));
            }
            // No more than there are names, since unknown ones are refused at once.
            seen.push(name);
            let has_value = self.take(TokenKind::Equals);
            self.attribute(name, rule, has_value, &mut attributes)
                .map_err(|error| Fault { span: self.since(span), ..error })?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::CloseSquare, "`,` or `]`")?;
        let conflict = |what| Err(fault(Kind::AttributeConflict { what }, self.since(start)));
        if seen.contains(&"stop") && seen.contains(&"suffix") {
            return conflict("`stop` and `suffix` exclude each other");
        }
        if seen.contains(&"stop_capture") && !seen.contains(&"stop") && !seen.contains(&"suffix") {
            return conflict("`stop_capture` needs `stop` or `suffix`");
        }
        Ok(attributes)
    }

    fn attribute(
        &mut self,
        name: &str,
        rule: &str,
        has_value: bool,
        attributes: &mut Attributes,
    ) -> Result<(), Fault> {
        let wrong = |name, expected| fault(Kind::AttributeValue { name, expected }, self.span());
        match name {
            "capture" if !has_value => attributes.capture = Some(rule.into()),
            "capture" => attributes.capture = Some(self.capture_name("capture")?),
            "stop_capture" => attributes.stop_capture = Some(self.capture_name("stop_capture")?),
            "lazy" if has_value => return Err(wrong("lazy", "no value")),
            "lazy" => attributes.lazy = attributes.lazy.or(Some(Marker::None)),
            "stop" => {
                if let Some(marker) = self.marker("stop")? {
                    attributes.lazy = Some(Marker::Node(marker));
                }
            }
            "suffix" => {
                let marker = self.marker("suffix")?;
                let empty = || wrong_value("suffix", "a string that is not empty", self);
                attributes.lazy = Some(Marker::Node(marker.ok_or_else(empty)?));
            }
            "max_tokens" => attributes.max_tokens = Some(self.small("max_tokens")?),
            "max_chars" => attributes.max_chars = Some(self.small("max_chars")?),
            "temperature" => attributes.temperature = Some(self.temperature()?),
            _ => {
                return Err(fault(Kind::UnknownAttribute { name: name.into() }, self.span()));
            }
        }
        Ok(())
    }

    fn capture_name(&mut self, name: &'static str) -> Result<Box<str>, Fault> {
        if self.kind() != TokenKind::String {
            return Err(wrong_value(name, CAPTURE, self));
        }
        let (text, insensitive) = self.string()?;
        match text.is_empty() || insensitive || text.contains(char::is_whitespace) {
            true => Err(wrong_value(name, CAPTURE, self)),
            false => Ok(text),
        }
    }

    /// What ends the rule; `None` for the empty string.
    fn marker(&mut self, name: &'static str) -> Result<Option<NodeId>, Fault> {
        let span = self.span();
        let node = match self.kind() {
            TokenKind::String => {
                let (text, insensitive) = self.string()?;
                if text.is_empty() {
                    return Ok(None);
                }
                Node::Text { text, insensitive }
            }
            TokenKind::Regex => self.regex()?,
            TokenKind::Terminal => {
                let name = self.word().into();
                self.at += 1;
                Node::Name { name, argument: None }
            }
            _ => return Err(wrong_value(name, STOP, self)),
        };
        Ok(Some(self.ast.push(node, span)))
    }

    fn small(&mut self, name: &'static str) -> Result<u32, Fault> {
        let number = self.integer(NUMBER).map_err(|_| wrong_value(name, NUMBER, self))?;
        u32::try_from(number).map_err(|_| wrong_value(name, NUMBER, self))
    }

    fn temperature(&mut self) -> Result<Temperature, Fault> {
        let number = match self.kind() {
            TokenKind::Number => self.word().parse().ok(),
            _ => None,
        };
        let temperature = number.and_then(Temperature::new);
        let temperature = temperature
            .ok_or_else(|| wrong_value("temperature", "a number that is not negative", self))?;
        self.at += 1;
        Ok(temperature)
    }
}

fn wrong_value(name: &'static str, expected: &'static str, parser: &Parser<'_>) -> Fault {
    fault(Kind::AttributeValue { name, expected }, parser.span())
}
