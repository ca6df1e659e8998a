//! JSON texts as one flat arena that forgets nothing a schema could mean.
//!
//! # Layout
//! Values stand in the order in which they begin, so the root is value 0 and offsets ascend.
//! `buffer` is the source text followed by the decoded form of every string that has an escape;
//! a [`Text`] is a stretch of it. Further texts are appended to the same arena, so that a value or
//! a text is found by its id alone, whichever document it is of. Numbers are kept as text. Members of an object keep their order,
//! and stand a second time sorted by key: that finds duplicates without a hash that hostile keys
//! could flood, and finds a member in logarithmic time.
//!
//! # Cost
//! One pass over the text with an explicit stack; 16 bytes a value, 20 a member.

mod parse;
#[cfg(test)]
mod tests;
mod walk;

use formwork_grammar::SourcePosition;
pub(crate) use parse::{append, parse};
pub(crate) use walk::{Event, Order, Walk};

/// A value of a [`Document`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ValueId(u32);

impl ValueId {
    /// The outermost value.
    pub(crate) const ROOT: Self = Self(0);

    /// Position in tables indexed by value.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A stretch of a document's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Text {
    start: u32,
    len: u32,
}

/// A stretch of the list of items or of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Children {
    start: u32,
    /// How many.
    pub(crate) len: u32,
}

impl Children {
    fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// As written.
    Number(Text),
    /// Decoded.
    String(Text),
    Array(Children),
    Object(Children),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Of the first byte of the value.
    offset: u32,
    value: Value,
}

/// A key and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) key: Text,
    pub(crate) value: ValueId,
    /// Of the key's quotation mark.
    offset: u32,
}

/// Where one source text is in a [`Document`].
#[derive(Debug)]
struct Source {
    /// Its outermost value.
    root: ValueId,
    /// What it is called; nothing for the first.
    name: Box<str>,
    /// Its stretch of the buffer.
    start: usize,
    end: usize,
}

/// Parsed JSON texts: the first, and those appended to it.
#[derive(Debug)]
pub(crate) struct Document {
    buffer: String,
    sources: Vec<Source>,
    entries: Vec<Entry>,
    items: Vec<ValueId>,
    members: Vec<Member>,
    /// Indices into `members`: each object's stretch sorted by key.
    by_key: Vec<u32>,
}

impl Document {
    /// What a value is.
    pub(crate) fn value(&self, id: ValueId) -> Value {
        self.entries[id.index()].value
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many items or members a value has.
    pub(crate) fn children(&self, id: ValueId) -> usize {
        match self.value(id) {
            Value::Array(children) | Value::Object(children) => children.len as usize,
            _ => 0,
        }
    }

    /// The characters of a text.
    pub(crate) fn text(&self, text: Text) -> &str {
        &self.buffer[text.start as usize..(text.start + text.len) as usize]
    }

    /// The items of an array.
    pub(crate) fn items(&self, children: Children) -> &[ValueId] {
        &self.items[children.range()]
    }

    /// The members of an object in the order in which they are written.
    pub(crate) fn members(&self, children: Children) -> &[Member] {
        &self.members[children.range()]
    }

    /// Positions in [`Self::members`], sorted by key.
    pub(crate) fn by_key(&self, children: Children) -> impl Iterator<Item = u32> {
        self.by_key[children.range()].iter().map(move |&index| index - children.start)
    }

    /// The value of the member of this name.
    pub(crate) fn member(&self, object: ValueId, key: &str) -> Option<ValueId> {
        let Value::Object(children) = self.value(object) else { return None };
        let sorted = &self.by_key[children.range()];
        let key_at = |index: &u32| self.text(self.members[*index as usize].key);
        let at = sorted.binary_search_by(|index| key_at(index).cmp(key)).ok()?;
        Some(self.members[sorted[at] as usize].value)
    }

    /// The text that a value is of.
    fn source(&self, id: ValueId) -> &Source {
        &self.sources[self.sources.partition_point(|source| source.root <= id) - 1]
    }

    /// The outermost value of the text that a value is of.
    pub(crate) fn root_of(&self, id: ValueId) -> ValueId {
        self.source(id).root
    }

    /// Whether some string of a text may be this one: if not, it need not be looked for value by
    /// value.
    pub(crate) fn mentions(&self, root: ValueId, string: &str) -> bool {
        let at = self.sources.partition_point(|source| source.root <= root) - 1;
        let (source, next) = (&self.sources[at], self.sources.get(at + 1));
        let decoded = &self.buffer[source.end..next.map_or(self.buffer.len(), |next| next.start)];
        let written = &self.buffer[source.start..source.end];
        decoded.contains(string) || written.contains(&format!("\"{string}\""))
    }

    /// The item or member that a token of a JSON pointer (RFC 6901) names.
    pub(crate) fn child(&self, value: ValueId, token: &str) -> Option<ValueId> {
        match self.value(value) {
            Value::Object(_) => self.member(value, token),
            Value::Array(children) => {
                let canonical = token == "0" || !token.starts_with(['0', '+']);
                let index: usize = token.parse().ok().filter(|_| canonical)?;
                self.items(children).get(index).copied()
            }
            _ => None,
        }
    }

    /// Where a value begins in its source text. Linear in the text: for errors.
    pub(crate) fn position(&self, id: ValueId) -> SourcePosition {
        let source = self.source(id);
        let offset = self.entries[id.index()].offset as usize - source.start;
        SourcePosition::in_text(&self.buffer[source.start..source.end], offset, 0)
    }

    /// The JSON pointer of a value, behind the name of its text and `#` where it is not of the first
    /// one. A search by offset from the root down, logarithmic in the number of children at each
    /// level.
    pub(crate) fn pointer(&self, id: ValueId) -> String {
        let source = self.source(id);
        let mut pointer = String::new();
        if source.root != ValueId::ROOT {
            pointer.push_str(&source.name);
            pointer.push('#');
        }
        let mut at = source.root;
        while at != id {
            // Values are numbered as they begin: the last child not after `id` contains it.
            match self.value(at) {
                Value::Array(children) => {
                    let items = self.items(children);
                    let index = items.partition_point(|&item| item <= id) - 1;
                    push_token(&mut pointer, &index.to_string());
                    at = items[index];
                }
                Value::Object(children) => {
                    let members = self.members(children);
                    let index = members.partition_point(|member| member.value <= id) - 1;
                    push_token(&mut pointer, self.text(members[index].key));
                    at = members[index].value;
                }
                _ => unreachable!("a scalar contains no value"),
            }
        }
        pointer
    }
}

/// Appends a reference token to a JSON pointer (RFC 6901).
fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}
