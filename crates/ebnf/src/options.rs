//! What a grammar text means where dialects and callers differ.

/// How a grammar text is read. Start from [`Options::default`] and set what differs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Options {
    /// The rule that stands for the whole output. Default `root`.
    pub root_rule: Box<str>,
    /// Whose grammar language this is.
    pub dialect: Dialect,
    /// What becomes of assertions that cannot be enforced.
    pub lenient: Leniency,
}

impl Default for Options {
    fn default() -> Self {
        Self { root_rule: "root".into(), dialect: Dialect::default(), lenient: Leniency::default() }
    }
}

impl Options {
    /// These options with another dialect.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// These options with another leniency.
    #[must_use]
    pub fn with_leniency(mut self, lenient: Leniency) -> Self {
        self.lenient = lenient;
        self
    }

    /// These options with another root.
    #[must_use]
    pub fn with_root_rule(mut self, name: &str) -> Self {
        self.root_rule = name.into();
        self
    }
}

/// What becomes of an assertion `(= …)` that refers to rules which are not regular.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Leniency {
    /// It is refused, by name and place.
    #[default]
    Refuse,
    /// Those rules stand for any text there, and a warning says so.
    Relax,
}

/// Whose grammar language a text is in. All constructs are read in every dialect; the dialect
/// decides only what the crate documentation lists under "Dialects".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// What both mean alike; what they read differently is refused.
    #[default]
    Shared,
    /// llama.cpp's GBNF.
    Gbnf,
    /// XGrammar's EBNF.
    XGrammar,
}
