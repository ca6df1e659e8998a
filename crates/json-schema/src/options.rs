//! What a caller may choose.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// What a schema leaves open: how JSON is spelled, in which order keys come, and how strictly the
/// schema is read. The default is what suits a language model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// White space between tokens.
    pub white_space: WhiteSpace,
    /// Which spellings of a value are allowed.
    pub spelling: Spelling,
    /// In which order declared keys come.
    pub property_order: PropertyOrder,
    /// What a schema about objects means that has neither `additionalProperties` nor
    /// `unevaluatedProperties`.
    pub additional_properties_default: Unmentioned,
    /// What a schema about arrays means that says nothing about the items behind the first ones.
    pub additional_items_default: Unmentioned,
    /// Which keys must be distinct.
    pub distinct_keys: DistinctKeys,
    /// What `format` does.
    pub format: FormatMode,
    /// What becomes of keywords that are not enforced.
    pub lenient: Leniency,
    /// The draft of a schema without `$schema`.
    pub default_draft: Draft,
    /// Documents that the schema may refer to, by their URI. Nothing is ever fetched; the
    /// metaschemas of all drafts are there already.
    pub documents: BTreeMap<String, Arc<str>>,
}

impl Options {
    /// The same options with this white space.
    #[must_use]
    pub fn with_white_space(mut self, white_space: WhiteSpace) -> Self {
        self.white_space = white_space;
        self
    }

    /// The same options with one more document that the schema may refer to by this URI.
    #[must_use]
    pub fn with_document(mut self, uri: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        self.documents.insert(uri.into(), text.into());
        self
    }
}

/// One value has many spellings: `"a"` and `"\u0061"`, `1` and `1.0` and `1e0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spelling {
    /// Any escape in strings that nothing but a length constrains, and otherwise plain spelling.
    #[default]
    Minimal,
    /// Every JSON text of a valid value; constraints hold for what is meant.
    Any,
}

/// In which order the keys of an object come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PropertyOrder {
    /// Declared keys in declared order, then those that are only required, then all others.
    #[default]
    Declared,
    /// Any order.
    Any,
}

/// Whether what a schema does not mention is allowed, where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unmentioned {
    /// Allowed, as JSON Schema has it.
    #[default]
    Allowed,
    /// Forbidden where the schema mentions some: `properties` or `patternProperties`, or first
    /// items.
    ForbiddenBesideOthers,
    /// Forbidden wherever the schema is about objects, or arrays: it has a keyword about them, or
    /// names their type.
    Forbidden,
}

/// Which keys of an object must be distinct. Declared keys always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DistinctKeys {
    /// Others where a keyword counts them.
    #[default]
    WhereCounted,
    /// All of them.
    Everywhere,
}

/// What `format` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormatMode {
    /// Known formats are enforced; unknown ones are annotations, with a warning.
    #[default]
    Assert,
    /// Nothing: it is an annotation.
    Annotate,
}

/// What becomes of a keyword that would have to be refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Leniency {
    /// An error that names it.
    #[default]
    Refuse,
    /// It is dropped, with a warning in the compiled grammar.
    Relax,
}

/// A version of JSON Schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Draft {
    /// Draft 4 of 2013.
    Draft4,
    /// Draft 6 of 2017.
    Draft6,
    /// Draft 7 of 2018.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    #[default]
    Draft202012,
}

/// White space between the tokens of JSON. There is none before the first token and none after the
/// last: an output begins and ends with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhiteSpace {
    /// Any run of at most `max` of the four bytes space, tab, line feed, carriage return. Default,
    /// with `max` 64: models do loop on white space for ever. One counted repetition, no states.
    Bounded {
        /// The longest run, in bytes.
        max: u32,
    },
    /// None at all.
    Compact,
    /// Any run.
    Unbounded,
    /// Between two tokens, a string of JSON white space that matches this regular expression
    /// (ECMA-262) as a whole.
    Pattern(String),
    /// What matches three regular expressions.
    Separators(Separators),
    /// The same everywhere, as a serialiser writes it.
    Fixed(Fixed),
}

impl Default for WhiteSpace {
    fn default() -> Self {
        Self::Bounded { max: 64 }
    }
}

/// Separators as regular expressions (ECMA-262) that match as a whole. What they match that is not
/// JSON white space around the mark is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Separators {
    /// White space after an opening bracket, and again before the closing one of what is not empty.
    pub inside: String,
    /// Between two items or members: one comma, with white space around it.
    pub item: String,
    /// Between a key and its value: one colon, with white space around it.
    pub key: String,
}

impl Default for Separators {
    /// No white space.
    fn default() -> Self {
        Self { inside: String::new(), item: ",".into(), key: ":".into() }
    }
}

/// Fixed separators, in the manner of Python's `json.dumps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Between two items or members: a comma, with white space around it.
    pub item_separator: String,
    /// Between a key and its value: a colon, with white space around it.
    pub key_separator: String,
    /// When given: every item and member on a line of its own, indented by this white space once
    /// for each open container; empty containers stay `[]` and `{}`.
    ///
    /// How deep a value stands is then part of its rule, so that a recursive schema has rules
    /// without end. They are made as an output goes down, and one below the limit on nesting is
    /// refused with [`SchemaErrorKind::Nesting`](crate::SchemaErrorKind::Nesting).
    pub indent: Option<String>,
}

impl Default for Fixed {
    /// `, ` and `: ` on one line.
    fn default() -> Self {
        Self { item_separator: ", ".into(), key_separator: ": ".into(), indent: None }
    }
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft4 => "draft 4",
            Self::Draft6 => "draft 6",
            Self::Draft7 => "draft 7",
            Self::Draft201909 => "draft 2019-09",
            Self::Draft202012 => "draft 2020-12",
        })
    }
}
