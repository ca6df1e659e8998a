//! What a caller may choose.

/// How JSON is spelled. The default is what suits a language model: white space anywhere, but never
/// more than 64 bytes of it in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// White space between tokens.
    pub white_space: WhiteSpace,
}

impl Options {
    /// The same options with this white space.
    #[must_use]
    pub fn with_white_space(mut self, white_space: WhiteSpace) -> Self {
        self.white_space = white_space;
        self
    }
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
    /// Between two tokens, a string that matches this regular expression (ECMA-262) as a whole; the
    /// expression may match nothing but white space.
    Pattern(String),
    /// The same everywhere, as a serialiser writes it.
    Fixed(Fixed),
}

impl Default for WhiteSpace {
    fn default() -> Self {
        Self::Bounded { max: 64 }
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
