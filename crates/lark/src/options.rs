//! What a caller may choose.

use formwork_regex::Folding;
use std::{collections::BTreeMap, sync::Arc};

/// How a grammar is read. Start from [`Options::default`] and set what differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Where a terminal may end.
    pub lexer: Lexer,
    /// Where ignored text may stand.
    pub ignored: Ignored,
    /// Whether a lazy rule that is the whole output must come to its end.
    pub ending: Ending,
    /// Which letters differ from others by their case alone, for the flag `i`.
    pub folding: Folding,
    /// The grammars that `@name` refers to.
    pub grammars: BTreeMap<String, SubGrammar>,
    /// How the schemas of `%json`, and named ones, are read.
    pub json: formwork_json_schema::Options,
}

impl Options {
    /// The same options with one more grammar that `@name` refers to.
    #[must_use]
    pub fn with_grammar(mut self, name: impl Into<String>, grammar: SubGrammar) -> Self {
        self.grammars.insert(name.into(), grammar);
        self
    }

    /// The same options with another lexer.
    #[must_use]
    pub fn with_lexer(mut self, lexer: Lexer) -> Self {
        self.lexer = lexer;
        self
    }

    /// The same options with another word about lazy rules that are the whole output.
    #[must_use]
    pub fn with_ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// The same options with another meaning of the flag `i`.
    #[must_use]
    pub fn with_folding(mut self, folding: Folding) -> Self {
        self.folding = folding;
        self
    }

    /// The same options with ignored text elsewhere.
    #[must_use]
    pub fn with_ignored(mut self, ignored: Ignored) -> Self {
        self.ignored = ignored;
        self
    }
}

/// Where a terminal may end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lexer {
    /// Wherever its language allows.
    #[default]
    Exact,
    /// Where the next byte continues neither it nor any other terminal that could have begun in its
    /// place: maximal munch, without a way back to a shorter match. Ends of a lazy terminal are not
    /// concerned. Costs a product of automata for each place where terminals can begin.
    Greedy,
}

/// Where ignored text may stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ignored {
    /// Between two terminals.
    #[default]
    Between,
    /// Between two terminals and after the last.
    BetweenAndAfter,
}

/// Whether a lazy rule that is the whole output (`start: text` with `text[stop="…"]: …`) must come to
/// the text that ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// It must.
    #[default]
    Required,
    /// The end of the output, between two characters, ends it too.
    Optional,
}

/// A grammar that `@name` refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SubGrammar {
    /// A Lark grammar, which may refer to all named grammars in turn.
    Lark(Arc<str>),
    /// A JSON Schema.
    JsonSchema(Arc<str>),
    /// A regular expression that must match all of the text.
    Regex(Arc<str>),
}
