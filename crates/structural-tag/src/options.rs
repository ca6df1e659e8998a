//! What a caller may choose.

/// How what is embedded in a structural tag is read. The default suits a language model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// For JSON Schemas. A format's own `any_order` and `max_whitespace_cnt` take precedence.
    pub json_schema: formwork_json_schema::Options,
    /// For regular expressions, which match as a whole.
    pub regex: formwork_regex::Options,
    /// For grammars in EBNF.
    pub ebnf: formwork_ebnf::Options,
    /// When embedded schemas are compiled.
    pub schemas: Schemas,
}

/// When embedded JSON Schemas are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Schemas {
    /// When an output first needs them, where a look shows that they cannot fail; all others at
    /// once. Either way every error is found before there is a grammar.
    #[default]
    WhenNeeded,
    /// All at once.
    AtOnce,
}
