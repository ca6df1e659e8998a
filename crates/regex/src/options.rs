//! What a pattern means where dialects and callers differ.

/// How a pattern is read. Start from [`Options::default`] and set what differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Options {
    /// Which part of the output the pattern must match.
    pub mode: MatchMode,
    /// Whose regular expressions these are.
    pub dialect: Dialect,
    /// What letters match, until a flag in the pattern says otherwise.
    pub case: Case,
    /// Which letters differ from others by their case alone.
    pub folding: Folding,
    /// What `.` matches, until a flag in the pattern says otherwise.
    pub dot: Dot,
    /// What `\d`, `\w` and `\s` match.
    pub classes: Classes,
}

impl Options {
    /// These options with another mode.
    #[must_use]
    pub fn with_mode(mut self, mode: MatchMode) -> Self {
        self.mode = mode;
        self
    }

    /// These options with another dialect.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }
}

/// Which part of the output a pattern must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatchMode {
    /// All of it.
    #[default]
    Whole,
    /// Some part of it, anywhere; what stands around that part is any text. This is what JSON
    /// Schema's `pattern` means.
    Search,
}

/// Whose regular expressions these are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// What ECMA-262, Python's `re` and Rust's `regex` have in common, and what only one of them
    /// has but no other reads differently. Where they contradict each other, the pattern is refused
    /// as far as the difference can be seen in it; the crate documentation lists what remains.
    #[default]
    Shared,
    /// ECMA-262 with the `u` flag, and what its Annex B reads without ambiguity: identity escapes
    /// of punctuation, lone brackets, `-` beside a class.
    Ecma262,
}

/// What letters match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Case {
    /// Themselves.
    #[default]
    Sensitive,
    /// Themselves, and what differs from them by its case alone: see [`Folding`].
    Insensitive,
}

/// What differs by its case alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Folding {
    /// Characters with the same simple case folding.
    #[default]
    Unicode,
    /// The letters `A` to `Z` and `a` to `z`; all other characters are themselves.
    Ascii,
}

/// What `.` matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dot {
    /// Any character but `\n`, and in [`Dialect::Ecma262`] but `\r`, U+2028 and U+2029 either.
    #[default]
    ExceptLineBreaks,
    /// Any character.
    Any,
}

/// What `\d`, `\w` and `\s` (and their negations) match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Classes {
    /// As [`Classes::Unicode`] in [`Dialect::Shared`]. In [`Dialect::Ecma262`] `\d` and `\w` are
    /// ASCII, and `\s` is that standard's white space and line terminators, U+FEFF included.
    #[default]
    Dialect,
    /// `[0-9]`, `[0-9A-Za-z_]`, and the six ASCII white-space characters.
    Ascii,
    /// `\p{Nd}`, the word characters of Unicode Technical Standard 18, and `\p{White_Space}`.
    Unicode,
}
