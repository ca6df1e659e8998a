//! A value as a sequence of tokens, without recursion.

use super::{Children, Document, Member, Text, Value, ValueId};

/// In which order the members of objects come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As written.
    Written,
    /// By key.
    Sorted,
}

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A container begins; whether there is nothing in it.
    Open { value: ValueId, empty: bool },
    /// The next item or member of the innermost container begins; whether it is the first.
    Item { first: bool },
    /// Its key, in an object.
    Key(Text),
    /// A value that is no container.
    Scalar(ValueId),
    /// A container ends; whether there was nothing in it.
    Close { value: ValueId, empty: bool },
}

/// Iterates over the events of one value.
#[derive(Debug)]
pub(crate) struct Walk<'d> {
    document: &'d Document,
    order: Order,
    stack: Vec<Open>,
    /// What to emit next, before looking at the stack.
    next: Option<Next>,
}

#[derive(Debug)]
struct Open {
    value: ValueId,
    done: usize,
}

#[derive(Clone, Copy, Debug)]
enum Next {
    Value(ValueId),
    Member(Member),
}

impl<'d> Walk<'d> {
    pub(crate) fn new(document: &'d Document, value: ValueId, order: Order) -> Self {
        Self { document, order, stack: Vec::new(), next: Some(Next::Value(value)) }
    }

    fn begin(&mut self, value: ValueId) -> Event {
        let (Value::Array(children) | Value::Object(children)) = self.document.value(value) else {
            return Event::Scalar(value);
        };
        self.stack.push(Open { value, done: 0 });
        Event::Open { value, empty: children.len == 0 }
    }

    fn member(&self, children: Children, index: usize) -> Member {
        match self.order {
            Order::Written => self.document.members(children)[index],
            Order::Sorted => {
                let at = self.document.by_key[children.range()][index];
                self.document.members[at as usize]
            }
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self.next.take() {
            Some(Next::Value(value)) => return Some(self.begin(value)),
            Some(Next::Member(member)) => {
                self.next = Some(Next::Value(member.value));
                return Some(Event::Key(member.key));
            }
            None => {}
        }
        let open = self.stack.last_mut()?;
        let (value, index) = (open.value, open.done);
        let (Value::Array(children) | Value::Object(children)) = self.document.value(value) else {
            unreachable!("only containers are open")
        };
        if index == children.len as usize {
            self.stack.pop();
            return Some(Event::Close { value, empty: index == 0 });
        }
        open.done += 1;
        self.next = Some(match self.document.value(value) {
            Value::Object(_) => Next::Member(self.member(children, index)),
            _ => Next::Value(self.document.items(children)[index]),
        });
        Some(Event::Item { first: index == 0 })
    }
}
