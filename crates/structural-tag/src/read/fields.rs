//! Values of a certain kind, or an error that says where another one stands.

use crate::{
    Error, StructuralTagErrorKind as Kind,
    document::{Document, Value, ValueId},
};

/// The fields of an object, of which each may be asked for once.
pub(super) struct Fields<'d> {
    document: &'d Document,
    id: ValueId,
    taken: Vec<bool>,
}

impl<'d> Fields<'d> {
    pub(super) fn of(document: &'d Document, id: ValueId) -> Result<Self, Error> {
        match document.value(id) {
            Value::Object(_) => {
                Ok(Self { document, id, taken: vec![false; document.members(id).len()] })
            }
            _ => Err(document.error(id, Kind::Expected { expected: "an object" })),
        }
    }

    /// The value of a field.
    pub(super) fn take(&mut self, field: &str) -> Option<ValueId> {
        let members = self.document.members(self.id);
        let at = members.iter().position(|member| self.document.key(member) == field)?;
        self.taken[at] = true;
        Some(members[at].value)
    }

    /// The value of a field that has to be there.
    pub(super) fn need(&mut self, field: &'static str) -> Result<ValueId, Error> {
        self.take(field).ok_or_else(|| self.document.error(self.id, Kind::Missing { field }))
    }

    /// Refuses fields that nobody has asked for.
    pub(super) fn finish(self) -> Result<(), Error> {
        match self.taken.iter().position(|taken| !taken) {
            None => Ok(()),
            Some(at) => {
                let member = &self.document.members(self.id)[at];
                let field = self.document.key(member).into_owned();
                Err(self.document.error(member.value, Kind::UnknownField { field }))
            }
        }
    }
}

fn expected<T>(document: &Document, id: ValueId, expected: &'static str) -> Result<T, Error> {
    Err(document.error(id, Kind::Expected { expected }))
}

pub(super) fn string(document: &Document, id: ValueId) -> Result<String, Error> {
    match document.string(id) {
        Some(text) => Ok(text.into_owned()),
        None => expected(document, id, "a string"),
    }
}

pub(super) fn nonempty_string(document: &Document, id: ValueId) -> Result<String, Error> {
    match string(document, id)? {
        text if text.is_empty() => Err(document.error(id, Kind::EmptyString)),
        text => Ok(text),
    }
}

pub(super) fn list(document: &Document, id: ValueId) -> Result<&[ValueId], Error> {
    match document.value(id) {
        Value::Array(_) => Ok(document.items(id)),
        _ => expected(document, id, "a list"),
    }
}

pub(super) fn nonempty_list(document: &Document, id: ValueId) -> Result<&[ValueId], Error> {
    match list(document, id)? {
        [] => Err(document.error(id, Kind::EmptyList)),
        list => Ok(list),
    }
}

/// A list of strings that are not empty.
pub(super) fn strings(document: &Document, id: ValueId) -> Result<Vec<String>, Error> {
    list(document, id)?.iter().map(|&id| nonempty_string(document, id)).collect()
}

pub(super) fn boolean(document: &Document, id: ValueId) -> Result<bool, Error> {
    match document.value(id) {
        Value::Boolean(value) => Ok(*value),
        _ => expected(document, id, "true or false"),
    }
}

/// A count: an integer that fits into 31 bits.
pub(super) fn count(document: &Document, id: ValueId) -> Result<u32, Error> {
    let is_number = *document.value(id) == Value::Number;
    let value = document.raw(id).parse::<u32>().ok().filter(|&value| value <= i32::MAX as u32);
    match value.filter(|_| is_number) {
        Some(value) => Ok(value),
        None => expected(document, id, "an integer from 0 to 2147483647"),
    }
}
