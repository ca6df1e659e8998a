//! Reads JSON text (RFC 8259) into a [`Document`], with a stack of its own instead of recursion.
//!
//! Stricter than RFC 8259 in two points: keys must not repeat, and an escaped surrogate needs its
//! partner.

use super::{Document, Entry, Member, Value, ValueId, decoded};
use crate::{StructuralTagError, StructuralTagErrorKind};
use formwork_grammar::{Limits, Location, SourcePosition};

/// Offsets are 32 bits wide.
const MAX_BYTES: usize = (1 << 32) - 2;

/// Objects with more members have their keys sorted to find repeated ones.
const FEW: usize = 12;

impl Document {
    /// Parses one JSON value.
    ///
    /// # Errors
    /// What is no JSON, a repeated key, or a limit on bytes or nesting.
    pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Self, StructuralTagError> {
        let limit = limits.source_bytes.min(MAX_BYTES);
        if text.len() > limit {
            return Err(StructuralTagError::whole(StructuralTagErrorKind::SourceBytes { limit }));
        }
        let mut parser = Parser {
            text,
            at: 0,
            stack: Vec::new(),
            open_items: Vec::new(),
            open_members: Vec::new(),
            nesting: limits.nesting,
            entries: Vec::new(),
            items: Vec::new(),
            members: Vec::new(),
        };
        match parser.run() {
            Ok(()) => Ok(Self {
                text: text.into(),
                entries: parser.entries,
                items: parser.items,
                members: parser.members,
            }),
            Err((kind, at)) => Err(StructuralTagError {
                kind,
                location: Location::Whole,
                position: Some(SourcePosition::in_text(text, at, 0)),
            }),
        }
    }
}

/// An error and its byte offset.
type Fault = (StructuralTagErrorKind, usize);

/// An open container.
struct Frame {
    id: ValueId,
    /// Where its children begin in the list of open items or members.
    base: usize,
    is_object: bool,
    /// The key whose value is being read.
    key: (u32, u32),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    stack: Vec<Frame>,
    /// Children of open containers, innermost last.
    open_items: Vec<ValueId>,
    open_members: Vec<Member>,
    nesting: usize,
    entries: Vec<Entry>,
    items: Vec<ValueId>,
    members: Vec<Member>,
}

fn expected(expected: &'static str, at: usize) -> Fault {
    (StructuralTagErrorKind::Syntax { expected }, at)
}

/// Positions fit because the text does.
fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("texts are below 4 GiB")
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        loop {
            self.skip_white_space();
            if let Some(id) = self.begin_value()?
                && self.attach(id)?
            {
                break;
            }
        }
        self.skip_white_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(expected("the end of the text", self.at)),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn add(&mut self, start: usize, value: Value) -> ValueId {
        let id = ValueId(narrow(self.entries.len()));
        let parent = self.stack.last().map_or(id, |frame| frame.id);
        let (start, end) = (narrow(start), narrow(self.at));
        self.entries.push(Entry { start, end, parent, value });
        id
    }

    /// Reads one token, which must begin a value; nothing when it opened a container.
    fn begin_value(&mut self) -> Result<Option<ValueId>, Fault> {
        let start = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') => return self.open(),
            Some(b'"') => {
                self.string()?;
                Value::String
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Value::Number
            }
            Some(b't') => self.word("true", Value::Boolean(true))?,
            Some(b'f') => self.word("false", Value::Boolean(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return Err(expected("a value", start)),
        };
        Ok(Some(self.add(start, value)))
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, Fault> {
        if !self.text[self.at..].starts_with(word) {
            return Err(expected(word, self.at));
        }
        self.at += word.len();
        Ok(value)
    }

    fn open(&mut self) -> Result<Option<ValueId>, Fault> {
        if self.stack.len() >= self.nesting {
            return Err((StructuralTagErrorKind::Nesting { limit: self.nesting }, self.at));
        }
        let is_object = self.peek() == Some(b'{');
        let value = if is_object { Value::Object(0..0) } else { Value::Array(0..0) };
        let id = self.add(self.at, value);
        self.at += 1;
        self.skip_white_space();
        if self.peek() == Some(if is_object { b'}' } else { b']' }) {
            self.at += 1;
            self.entries[id.0 as usize].end = narrow(self.at);
            return Ok(Some(id));
        }
        let base = if is_object { self.open_members.len() } else { self.open_items.len() };
        self.stack.push(Frame { id, base, is_object, key: (0, 0) });
        if is_object {
            self.key()?;
        }
        Ok(None)
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<(), Fault> {
        if self.peek() != Some(b'"') {
            return Err(expected("a key", self.at));
        }
        let start = narrow(self.at + 1);
        self.string()?;
        let key = (start, narrow(self.at - 1));
        self.stack.last_mut().expect("inside an object").key = key;
        self.skip_white_space();
        if self.peek() != Some(b':') {
            return Err(expected("a colon", self.at));
        }
        self.at += 1;
        Ok(())
    }

    /// Hands a finished value to its container, closing those that end here. Whether the outermost
    /// value is complete.
    fn attach(&mut self, mut id: ValueId) -> Result<bool, Fault> {
        loop {
            let Some(frame) = self.stack.last() else { return Ok(true) };
            let is_object = frame.is_object;
            match is_object {
                true => {
                    let (start, end) = frame.key;
                    self.open_members.push(Member { start, end, value: id });
                }
                false => self.open_items.push(id),
            }
            self.skip_white_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    if is_object {
                        self.skip_white_space();
                        self.key()?;
                    }
                    return Ok(false);
                }
                Some(b'}') if is_object => {}
                Some(b']') if !is_object => {}
                _ => return Err(expected("a comma or a closing bracket", self.at)),
            }
            self.at += 1;
            id = self.close()?;
        }
    }

    /// Moves the children of the innermost container to their place.
    fn close(&mut self) -> Result<ValueId, Fault> {
        let Frame { id, base, is_object, .. } = self.stack.pop().expect("a container is open");
        let value = if is_object {
            self.distinct(base)?;
            let start = narrow(self.members.len());
            self.members.extend(self.open_members.drain(base..));
            Value::Object(start..narrow(self.members.len()))
        } else {
            let start = narrow(self.items.len());
            self.items.extend(self.open_items.drain(base..));
            Value::Array(start..narrow(self.items.len()))
        };
        let entry = &mut self.entries[id.0 as usize];
        entry.value = value;
        entry.end = narrow(self.at);
        Ok(id)
    }

    /// Checks that the members of the innermost object differ.
    fn distinct(&self, base: usize) -> Result<(), Fault> {
        let members = &self.open_members[base..];
        let key = |member: &Member| decoded(&self.text[member.start as usize..member.end as usize]);
        let repeated = if members.len() <= FEW {
            let earlier = |at: usize| {
                let of = key(&members[at]);
                members[..at].iter().any(|member| key(member) == of)
            };
            (1..members.len()).find(|&at| earlier(at)).map(|at| &members[at])
        } else {
            let mut sorted: Vec<_> = members.iter().map(|member| (key(member), member)).collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            let twice = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0);
            twice.map(|pair| pair[1].1)
        };
        match repeated {
            None => Ok(()),
            Some(member) => {
                let key = key(member).into_owned();
                Err((StructuralTagErrorKind::DuplicateKey { key }, member.start as usize))
            }
        }
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(expected("a digit", self.at));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// A string, from quotation mark to quotation mark.
    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let plain = rest.iter().position(|&byte| byte < 0x20 || matches!(byte, b'"' | b'\\'));
            self.at += plain.unwrap_or(rest.len());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => match escape(&self.text[self.at..]) {
                    Some((_, used)) => self.at += used,
                    None => return Err(expected("a valid escape", self.at)),
                },
                _ => return Err(expected("a closing quotation mark", self.at)),
            }
        }
        self.at += 1;
        Ok(())
    }
}

/// What the escape at the begin of a text stands for, and how long it is.
pub(super) fn escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(text),
        _ => return None,
    };
    Some((character, 2))
}

fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
    };
    let first = unit(2)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first).map(|character| (character, 6));
    }
    let second = unit(8).filter(|second| (0xDC00..0xE000).contains(second))?;
    if text.get(6..8) != Some("\\u") {
        return None;
    }
    let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    char::from_u32(code).map(|character| (character, 12))
}
