//! Reads JSON text (RFC 8259) into a [`Document`], with a stack of its own instead of recursion.
//!
//! Stricter than RFC 8259 in two points, because a schema that leans on either means different
//! things to different readers: keys must not repeat, and an escaped surrogate needs its partner.

use super::{Children, Document, Entry, Member, Source, Text, Value, ValueId, push_token};
use crate::{SchemaError, SchemaErrorKind, SyntaxError};
use formwork_grammar::{Limits, Location, SourcePosition};

/// Offsets are 32 bits wide, and decoded strings, which are no longer than their sources, are stored
/// behind them.
const MAX_BUFFER_BYTES: usize = (1 << 32) - 2;

/// Parses one JSON value. Linear in the text but for sorting the keys of each object.
///
/// # Errors
/// [`SyntaxError`], or a limit on bytes or nesting; with position and pointer.
pub(crate) fn parse(source: &[u8], limits: &Limits) -> Result<Document, SchemaError> {
    let mut document = Document {
        buffer: String::new(),
        sources: Vec::new(),
        entries: Vec::new(),
        items: Vec::new(),
        members: Vec::new(),
        by_key: Vec::new(),
    };
    append(&mut document, "", source, limits)?;
    Ok(document)
}

/// Parses one more JSON value into a document: its outermost value. After an error the document is
/// of no use any more.
///
/// # Errors
/// As those of [`parse`].
pub(crate) fn append(
    document: &mut Document,
    name: &str,
    source: &[u8],
    limits: &Limits,
) -> Result<ValueId, SchemaError> {
    let limit = limits.source_bytes.min((MAX_BUFFER_BYTES - document.buffer.len()) / 2);
    if source.len() > limit {
        return Err(SchemaError::whole(SchemaErrorKind::SourceBytes { limit }));
    }
    let (text, is_utf8) = match std::str::from_utf8(source) {
        Ok(text) => (text, true),
        Err(error) => {
            let valid = &source[..error.valid_up_to()];
            (std::str::from_utf8(valid).expect("valid up to here"), false)
        }
    };
    let start = document.buffer.len();
    document.buffer.push_str(text);
    let end = document.buffer.len();
    let root = ValueId(narrow(document.entries.len()));
    document.sources.push(Source { root, name: name.into(), start, end });
    let mut parser = Parser {
        document,
        at: start,
        end,
        is_utf8,
        stack: Vec::new(),
        items: Vec::new(),
        members: Vec::new(),
        nesting: limits.nesting,
    };
    match parser.run() {
        Ok(()) => Ok(root),
        Err((kind, offset)) => Err(parser.error(kind, offset)),
    }
}

/// An error before it is known where in the document it stands: with its byte offset.
type Fault = (SchemaErrorKind, usize);

/// An open container.
struct Frame {
    id: ValueId,
    /// Where its children begin in the list of open items or members.
    base: usize,
    /// The key whose value is being read; none in an array.
    key: Option<(Text, u32)>,
}

struct Parser<'d> {
    document: &'d mut Document,
    at: usize,
    /// Where the source ends in the buffer.
    end: usize,
    /// Whether the source ends where the text ends, and not at bytes that are not UTF-8.
    is_utf8: bool,
    stack: Vec<Frame>,
    /// Children of open arrays, innermost last.
    items: Vec<ValueId>,
    /// Children of open objects, innermost last.
    members: Vec<Member>,
    nesting: usize,
}

/// What a token turned out to be.
enum Begun {
    /// A whole value.
    Whole(ValueId),
    /// A container whose first child comes next.
    Opened,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), Fault> {
        loop {
            self.skip_white_space();
            if let Begun::Whole(id) = self.begin_value()?
                && self.attach(id)?
            {
                break;
            }
        }
        self.skip_white_space();
        match self.peek() {
            None if self.is_utf8 => Ok(()),
            None => Err((SyntaxError::InvalidUtf8.into(), self.at)),
            Some(_) => Err((SyntaxError::TrailingText.into(), self.at)),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.document.buffer.as_bytes()[..self.end].get(self.at).copied()
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn end_of_text(&self) -> Fault {
        let error =
            if self.is_utf8 { SyntaxError::UnexpectedEnd } else { SyntaxError::InvalidUtf8 };
        (error.into(), self.at)
    }

    fn unexpected(&self, expected: &'static str) -> Fault {
        let source = &self.document.buffer[..self.end];
        match source.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => (SyntaxError::Unexpected { expected, found }.into(), self.at),
            None => self.end_of_text(),
        }
    }

    fn add(&mut self, offset: usize, value: Value) -> ValueId {
        let id = ValueId(narrow(self.document.entries.len()));
        self.document.entries.push(Entry { offset: narrow(offset), value });
        id
    }

    /// Reads one token, which must begin a value.
    fn begin_value(&mut self) -> Result<Begun, Fault> {
        let offset = self.at;
        let value = match self.peek() {
            Some(b'{' | b'[') => return self.open(),
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            Some(b't') => self.word("true", Value::Boolean(true))?,
            Some(b'f') => self.word("false", Value::Boolean(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Begun::Whole(self.add(offset, value)))
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, Fault> {
        for byte in word.bytes() {
            if self.peek() != Some(byte) {
                return Err(self.unexpected(word));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn open(&mut self) -> Result<Begun, Fault> {
        if self.stack.len() >= self.nesting {
            return Err((SchemaErrorKind::Nesting { limit: self.nesting }, self.at));
        }
        let is_object = self.peek() == Some(b'{');
        let nothing = Children { start: 0, len: 0 };
        let value = if is_object { Value::Object(nothing) } else { Value::Array(nothing) };
        let id = self.add(self.at, value);
        self.at += 1;
        self.skip_white_space();
        if self.peek() == Some(if is_object { b'}' } else { b']' }) {
            self.at += 1;
            return Ok(Begun::Whole(id));
        }
        let base = if is_object { self.members.len() } else { self.items.len() };
        self.stack.push(Frame { id, base, key: None });
        if is_object {
            self.key()?;
        }
        Ok(Begun::Opened)
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<(), Fault> {
        let offset = narrow(self.at);
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key"));
        }
        let key = self.string()?;
        self.stack.last_mut().expect("inside an object").key = Some((key, offset));
        self.skip_white_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("a colon"));
        }
        self.at += 1;
        Ok(())
    }

    /// Hands a finished value to its container, closing those that end here. Whether the outermost
    /// value is complete.
    fn attach(&mut self, mut id: ValueId) -> Result<bool, Fault> {
        loop {
            let Some(frame) = self.stack.last() else { return Ok(true) };
            match frame.key {
                Some((key, offset)) => self.members.push(Member { key, value: id, offset }),
                None => self.items.push(id),
            }
            let is_object = frame.key.is_some();
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
                _ if is_object => return Err(self.unexpected("a comma or a closing brace")),
                _ => return Err(self.unexpected("a comma or a closing bracket")),
            }
            self.at += 1;
            id = self.close()?;
        }
    }

    /// Moves the children of the innermost container to their place.
    fn close(&mut self) -> Result<ValueId, Fault> {
        let Frame { id, base, key } = self.stack.pop().expect("a container is open");
        let document = &mut *self.document;
        let value = if key.is_some() {
            let start = narrow(document.members.len());
            document.members.extend(self.members.drain(base..));
            let len = narrow(document.members.len()) - start;
            let children = Children { start, len };
            document.by_key.extend(start..start + len);
            let (members, texts) = (&document.members, &document.buffer);
            let key = |index: u32| {
                let Text { start, len } = members[index as usize].key;
                &texts[start as usize..(start + len) as usize]
            };
            let sorted = &mut document.by_key[children.range()];
            sorted.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b)));
            let twice = sorted.windows(2).filter(|pair| key(pair[0]) == key(pair[1]));
            if let Some(index) = twice.map(|pair| pair[1]).min() {
                let error = SyntaxError::DuplicateKey { key: key(index).to_owned() };
                let offset = members[index as usize].offset as usize;
                return Err((error.into(), offset));
            }
            Value::Object(children)
        } else {
            let start = narrow(document.items.len());
            document.items.extend(self.items.drain(base..));
            Value::Array(Children { start, len: narrow(document.items.len()) - start })
        };
        document.entries[id.index()].value = value;
        Ok(id)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return match self.peek() {
                Some(_) => Err((SyntaxError::MalformedNumber.into(), self.at)),
                None => Err(self.end_of_text()),
            };
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Text, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Err((SyntaxError::MalformedNumber.into(), self.at));
            }
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
        Ok(Text { start: narrow(start), len: narrow(self.at - start) })
    }

    /// A string, from quotation mark to quotation mark. One without escapes stays where it is.
    fn string(&mut self) -> Result<Text, Fault> {
        self.at += 1;
        let start = self.at;
        self.skip_plain_text();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Text { start: narrow(start), len: narrow(self.at - 1 - start) });
        }
        let decoded = self.document.buffer.len();
        self.document.buffer.extend_from_within(start..self.at);
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let character = self.escape()?;
                    self.document.buffer.push(character);
                }
                Some(control) => {
                    let character = char::from(control);
                    return Err((SyntaxError::ControlCharacter { character }.into(), self.at));
                }
                None => return Err(self.end_of_text()),
            }
            let start = self.at;
            self.skip_plain_text();
            self.document.buffer.extend_from_within(start..self.at);
        }
        self.at += 1;
        let len = self.document.buffer.len() - decoded;
        Ok(Text { start: narrow(decoded), len: narrow(len) })
    }

    /// Up to what cannot stand for itself in a string.
    fn skip_plain_text(&mut self) {
        let source = &self.document.buffer.as_bytes()[self.at..self.end];
        let plain = source.iter().position(|&byte| byte < 0x20 || matches!(byte, b'"' | b'\\'));
        self.at += plain.unwrap_or(source.len());
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let start = self.at;
        self.at += 1;
        let character = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(start);
            }
            Some(_) => return Err((SyntaxError::InvalidEscape.into(), start)),
            None => return Err(self.end_of_text()),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, Fault> {
        let lone = || Fault::from((SyntaxError::LoneSurrogate.into(), start));
        let unit = self.hexadecimal(start)?;
        if !(0xD800..0xE000).contains(&unit) {
            return char::from_u32(unit).ok_or_else(lone);
        }
        let source = &self.document.buffer.as_bytes()[..self.end];
        if unit >= 0xDC00 || source.get(self.at..self.at + 2) != Some(b"\\u") {
            return Err(lone());
        }
        self.at += 2;
        let low = self.hexadecimal(start)?;
        if !(0xDC00..0xE000).contains(&low) {
            return Err(lone());
        }
        char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)).ok_or_else(lone)
    }

    fn hexadecimal(&mut self, start: usize) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else { return Err(self.end_of_text()) };
            let digit = char::from(byte).to_digit(16);
            unit = unit * 16 + digit.ok_or((SyntaxError::InvalidEscape.into(), start))?;
            self.at += 1;
        }
        Ok(unit)
    }

    /// The pointer of the value that was being read, from the containers that are still open.
    fn error(&self, kind: SchemaErrorKind, offset: usize) -> SchemaError {
        let source = self.document.sources.last().expect("the one that is being read");
        let mut pointer = String::new();
        if source.root != ValueId::ROOT {
            pointer.push_str(&source.name);
            pointer.push('#');
        }
        for (depth, frame) in self.stack.iter().enumerate() {
            match frame.key {
                Some((key, _)) => push_token(&mut pointer, self.document.text(key)),
                None if matches!(self.document.value(frame.id), Value::Array(_)) => {
                    let next = self.stack[depth + 1..]
                        .iter()
                        .find(|inner| matches!(self.document.value(inner.id), Value::Array(_)));
                    let end = next.map_or(self.items.len(), |inner| inner.base);
                    push_token(&mut pointer, &(end - frame.base).to_string());
                }
                None => {}
            }
        }
        if let SchemaErrorKind::Syntax(SyntaxError::DuplicateKey { key }) = &kind {
            push_token(&mut pointer, key);
        }
        let (text, offset) = (&self.document.buffer[source.start..self.end], offset - source.start);
        SchemaError {
            kind,
            location: Location::Pointer(pointer),
            position: Some(SourcePosition::in_text(text, offset, 0)),
        }
    }
}

/// Positions fit into 32 bits because the buffer does.
fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("buffers are below 4 GiB")
}
