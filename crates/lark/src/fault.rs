//! Errors before their place is known in lines and columns.

use crate::{LarkError, LarkErrorKind, ast::Span};
use formwork_grammar::SourcePosition;
use std::sync::Arc;

/// What is wrong, and in which stretch of which text.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: Box<LarkErrorKind>,
    pub(crate) span: Span,
}

pub(crate) fn fault(kind: impl Into<LarkErrorKind>, span: Span) -> Fault {
    Fault { kind: Box::new(kind.into()), span }
}

/// The texts of a grammar: the one given, and the named ones that it uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    pub(crate) texts: Vec<(Option<Box<str>>, Arc<str>)>,
}

impl Sources {
    pub(crate) fn position(&self, span: Span) -> SourcePosition {
        let text = self.texts.get(span.source as usize).map_or("", |(_, text)| text);
        SourcePosition::in_text(text, span.start as usize, span.len as usize)
    }

    pub(crate) fn error(&self, fault: Fault) -> LarkError {
        let grammar = self.texts.get(fault.span.source as usize).and_then(|(name, _)| name.clone());
        LarkError { kind: *fault.kind, position: self.position(fault.span), grammar }
    }
}
