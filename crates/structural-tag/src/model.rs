//! A structural tag as a tree of formats.

use crate::{document::ValueId, style::Style};
use formwork_grammar::TokenRef;

/// A format of a [`Model`]. Contents have greater numbers than what they are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FormatId(pub(crate) u32);

impl FormatId {
    /// The outermost format.
    pub(crate) const ROOT: Self = Self(0);

    /// Position in tables indexed by format.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All formats of a tag, and where each stands.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) formats: Vec<Format>,
    /// By format.
    pub(crate) places: Vec<ValueId>,
    /// Free texts exclude what ends the tag around them: the ends of all tags, by number.
    pub(crate) ends: Vec<Vec<Delimiter>>,
}

/// What an output consists of.
#[derive(Debug)]
pub(crate) enum Format {
    /// This text.
    Text(String),
    /// What satisfies a JSON Schema.
    Schema(Schema),
    /// What a grammar in another language generates: the string with it.
    Grammar(ValueId),
    /// What a regular expression matches: the string with it.
    Regex(ValueId),
    /// Any text.
    FreeText(FreeText),
    /// One of these tokens.
    Token(Box<[TokenRef]>),
    /// A token outside these, or any number of them.
    OtherTokens(OtherTokens),
    /// One after the other.
    Sequence(Vec<FormatId>),
    /// One of them.
    Choice(Vec<FormatId>),
    /// Between `min` and `max` times.
    Repeat { content: FormatId, min: u32, max: Option<u32> },
    /// Begin, content, end.
    Tag(Tag),
    /// Tags with a separator between each two.
    Separated(Separated),
    /// Free text with tags in it.
    Dispatch(Dispatch),
}

#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) value: ValueId,
    pub(crate) style: Style,
    pub(crate) any_order: bool,
    pub(crate) max_white_space: Option<u32>,
    pub(crate) excludes: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct FreeText {
    pub(crate) excludes: Vec<String>,
    pub(crate) around: Option<u32>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) max_characters: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct OtherTokens {
    pub(crate) excludes: Vec<TokenRef>,
    pub(crate) around: Option<u32>,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

/// What marks the begin or the end of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Text(String),
    Token(TokenRef),
}

#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) begin: Delimiter,
    pub(crate) content: FormatId,
    /// Position in [`Model::ends`]; one of those ends it.
    pub(crate) ends: u32,
}

#[derive(Debug)]
pub(crate) struct Separated {
    pub(crate) tags: Vec<FormatId>,
    pub(crate) separator: String,
    pub(crate) at_least: AtLeast,
    pub(crate) then: Then,
}

/// Text or tokens outside of tags, and the tags.
#[derive(Debug)]
pub(crate) struct Dispatch {
    pub(crate) outside: Outside,
    pub(crate) branches: Vec<Branch>,
    pub(crate) at_least: AtLeast,
    pub(crate) then: Then,
}

/// What stands outside of tags.
#[derive(Debug)]
pub(crate) enum Outside {
    /// Text in which no trigger stands.
    Text { triggers: Vec<String>, excludes: Vec<String>, around: Option<u32> },
    /// Tokens that are no triggers.
    Tokens { excludes: Vec<TokenRef>, around: Option<u32> },
}

/// One of the things that a trigger leads to.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) begin: Delimiter,
    /// Position in the list of triggers; nothing for tokens.
    pub(crate) trigger: usize,
    pub(crate) content: FormatId,
    pub(crate) role: Role,
}

/// What the content of a [`Branch`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A tag, whose own begin is that of the branch.
    Tag,
    /// What follows the begin.
    Rest,
}

/// How many tags there have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtLeast {
    None,
    /// One, at the very begin.
    One,
}

/// What may follow the first tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// More of the same.
    More,
    Nothing,
}
