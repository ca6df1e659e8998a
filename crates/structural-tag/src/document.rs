//! JSON text as a flat arena whose values know where they stand, so that an embedded schema is a
//! stretch of the text.
//!
//! # Layout
//! Values stand in the order in which they begin; the root is value 0. Strings and numbers stay in
//! the text and are decoded when they are asked for.
//!
//! # Cost
//! One pass over the text with an explicit stack. Sorting, for the keys of objects with many members.

mod parse;
#[cfg(test)]
mod tests;

use crate::{StructuralTagError, StructuralTagErrorKind};
use formwork_grammar::{Location, SourcePosition};
use std::{borrow::Cow, ops::Range, sync::Arc};

/// A value of a [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ValueId(u32);

impl ValueId {
    /// The outermost value.
    pub(crate) const ROOT: Self = Self(0);
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Number,
    String,
    /// Its stretch of the list of items.
    Array(Range<u32>),
    /// Its stretch of the list of members.
    Object(Range<u32>),
}

#[derive(Debug)]
struct Entry {
    /// First byte and the byte behind the last.
    start: u32,
    end: u32,
    /// The container; the root is its own.
    parent: ValueId,
    value: Value,
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The string between the quotation marks, as written.
    start: u32,
    end: u32,
    /// What it belongs to.
    pub(crate) value: ValueId,
}

/// A parsed JSON text.
#[derive(Debug)]
pub(crate) struct Document {
    text: Arc<str>,
    entries: Vec<Entry>,
    items: Vec<ValueId>,
    members: Vec<Member>,
}

impl Document {
    /// What a value is.
    pub(crate) fn value(&self, id: ValueId) -> &Value {
        &self.entry(id).value
    }

    fn entry(&self, id: ValueId) -> &Entry {
        &self.entries[id.0 as usize]
    }

    /// The whole text.
    pub(crate) fn source(&self) -> &Arc<str> {
        &self.text
    }

    /// Where in the text a value stands.
    pub(crate) fn span(&self, id: ValueId) -> Range<usize> {
        let entry = self.entry(id);
        entry.start as usize..entry.end as usize
    }

    /// A value as written.
    pub(crate) fn raw(&self, id: ValueId) -> &str {
        &self.text[self.span(id)]
    }

    /// The items of an array; none of anything else.
    pub(crate) fn items(&self, id: ValueId) -> &[ValueId] {
        match self.value(id) {
            Value::Array(range) => &self.items[range.start as usize..range.end as usize],
            _ => &[],
        }
    }

    /// The members of an object, as written; none of anything else.
    pub(crate) fn members(&self, id: ValueId) -> &[Member] {
        match self.value(id) {
            Value::Object(range) => &self.members[range.start as usize..range.end as usize],
            _ => &[],
        }
    }

    /// The decoded key of a member.
    pub(crate) fn key(&self, member: &Member) -> Cow<'_, str> {
        decoded(&self.text[member.start as usize..member.end as usize])
    }

    /// The value of a member of an object; linear in their number.
    pub(crate) fn get(&self, id: ValueId, key: &str) -> Option<ValueId> {
        let found = self.members(id).iter().find(|member| self.key(member) == key);
        found.map(|member| member.value)
    }

    /// A string, decoded; nothing when the value is none.
    pub(crate) fn string(&self, id: ValueId) -> Option<Cow<'_, str>> {
        let Value::String = self.value(id) else { return None };
        let raw = self.raw(id);
        Some(decoded(&raw[1..raw.len() - 1]))
    }

    /// The JSON pointer of a value.
    pub(crate) fn pointer(&self, id: ValueId) -> String {
        let mut tokens = Vec::new();
        let mut at = id;
        while at != ValueId::ROOT {
            let parent = self.entry(at).parent;
            let member = self.members(parent).iter().find(|member| member.value == at);
            tokens.push(match member {
                Some(member) => self.key(member).replace('~', "~0").replace('/', "~1"),
                None => {
                    let index = self.items(parent).iter().position(|&item| item == at);
                    index.unwrap_or_default().to_string()
                }
            });
            at = parent;
        }
        tokens.iter().rev().flat_map(|token| ["/", token]).collect()
    }

    /// The location of a value.
    pub(crate) fn location(&self, id: ValueId) -> Location {
        Location::Pointer(self.pointer(id))
    }

    /// An error at a value.
    pub(crate) fn error(
        &self,
        id: ValueId,
        kind: impl Into<StructuralTagErrorKind>,
    ) -> StructuralTagError {
        let span = self.span(id);
        StructuralTagError {
            kind: kind.into(),
            location: self.location(id),
            position: Some(SourcePosition::in_text(&self.text, span.start, span.len())),
        }
    }
}

/// A string as written, without its quotation marks. Escapes have been checked.
fn decoded(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let (character, used) = parse::escape(&rest[at..]).expect("checked when it was read");
        text.push(character);
        rest = &rest[at + used..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}
