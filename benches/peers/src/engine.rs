//! What is asked of an engine: as little as one decode step needs, so that nothing but the engine
//! itself is measured.

use anyhow::{Result, anyhow};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An engine, ready with its vocabulary.
pub(crate) trait Engine {
    /// The name in tables and on the command line.
    fn name(&self) -> &str;

    /// Version and settings, for the reader of the report.
    fn about(&self) -> String;

    /// In which form it takes a schema.
    fn reads(&self) -> SchemaForm;

    /// From the source to something whose matchers are ready for their first mask. Timed whole.
    fn compile(&self, source: Source) -> Result<Box<dyn Compiled>>;
}

/// A compiled constraint.
pub(crate) trait Compiled {
    /// A matcher at the beginning. Not timed.
    fn start(&self) -> Result<Box<dyn Matcher>>;

    /// Counts of work done so far, which no noise touches. Not timed.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Heap bytes held, where the engine knows. Not timed.
    fn memory_bytes(&self) -> Option<usize> {
        None
    }
}

/// The state of one output.
pub(crate) trait Matcher {
    /// Makes the mask: in `row`, or where the engine keeps its own when its interface hands one out
    /// (the copy into `row` is then not charged to it). Timed.
    fn mask(&mut self, row: &mut [i32]) -> Result<()>;

    /// Whether the mask just made allows a token. Not timed.
    fn allows(&self, row: &[i32], token: u32) -> bool {
        row_allows(row, token)
    }

    /// Takes a token that the mask allows. Timed.
    fn commit(&mut self, token: u32) -> Result<()>;
}

/// Whether a row of words allows a token.
pub(crate) fn row_allows(row: &[i32], token: u32) -> bool {
    let word = row.get(token as usize / 32).copied().unwrap_or(0);
    word & (1 << (token % 32)) != 0
}

/// The form in which an engine's own interface takes a schema, and with it whether grammars are
/// given to it as our front ends read them or in Lark. Reading the text is part of the
/// compile of those that take text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaForm {
    /// Its text.
    Text,
    /// A parsed JSON value.
    Value,
}

/// A constraint as one engine takes it.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A JSON Schema's text.
    SchemaText(String),
    /// A JSON Schema as a value.
    SchemaValue(Value),
    /// A regular expression for the whole output.
    Regex(String),
    /// A grammar in GBNF or EBNF.
    Ebnf(String),
    /// A structural tag's text.
    StructuralTag(String),
    /// A grammar in Lark.
    Lark(String),
}

/// A constraint in all forms.
#[derive(Clone, Debug)]
pub(crate) enum Constraint {
    /// A JSON Schema.
    Schema {
        /// As it was written.
        text: String,
        /// As it was read.
        value: Value,
    },
    /// A regular expression for the whole output.
    Regex(String),
    /// A grammar, in two languages.
    Grammar {
        /// In GBNF or EBNF.
        ebnf: String,
        /// In Lark.
        lark: String,
    },
    /// Tools that may be called in free text.
    Tools {
        /// As a structural tag.
        tag: String,
        /// In Lark.
        lark: String,
    },
}

impl Constraint {
    /// A copy in the form an engine takes.
    pub(crate) fn source(&self, form: SchemaForm) -> Source {
        match (self, form) {
            (Self::Schema { text, .. }, SchemaForm::Text) => Source::SchemaText(text.clone()),
            (Self::Schema { value, .. }, SchemaForm::Value) => Source::SchemaValue(value.clone()),
            (Self::Regex(regex), _) => Source::Regex(regex.clone()),
            (Self::Grammar { ebnf, .. }, SchemaForm::Text) => Source::Ebnf(ebnf.clone()),
            (Self::Tools { tag, .. }, SchemaForm::Text) => Source::StructuralTag(tag.clone()),
            (Self::Grammar { lark, .. } | Self::Tools { lark, .. }, SchemaForm::Value) => {
                Source::Lark(lark.clone())
            }
        }
    }

    /// Bytes of the text.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Schema { text, .. } => text.len(),
            Self::Regex(text)
            | Self::Grammar { ebnf: text, .. }
            | Self::Tools { tag: text, .. } => text.len(),
        }
    }
}

/// Runs `action` and makes an error of a panic.
pub(crate) fn guarded<T>(action: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(anyhow!("panic: {}", text.unwrap_or("without words")))
    })
}
