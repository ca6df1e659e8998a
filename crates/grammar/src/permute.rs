//! Items in any order, some required, some distinct.

use crate::{ExprId, Node};

/// A list of items, `separator` between each two: every [`Member`] at most once and in any order,
/// the required ones exactly once, and any number of [`Rest`] items among them. The number of items
/// in all is between `min` and `max`. No item at all is the empty sequence.
///
/// A register of a bit per member, a count, and (for distinct rest items) the set of keys written.
/// Unrolled it would take `2^members` states.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Permute {
    /// The items that may occur at most once each.
    pub members: Box<[Member]>,
    /// What else may occur.
    pub rest: Option<Rest>,
    /// Between two items.
    pub separator: ExprId,
    /// Least number of items, rest items included; at least the number of required members.
    pub min: u32,
    /// Greatest number of items; `None` for no bound.
    pub max: Option<u32>,
}

/// An item that occurs at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The item.
    pub expr: ExprId,
    /// Whether it must occur.
    pub required: bool,
}

/// Items that may occur any number of times: a key, then a tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rest {
    /// The part that identifies the item. Regular over bytes when keys are distinct.
    pub key: ExprId,
    /// What follows the key; `Empty` where the key is all there is.
    pub tail: ExprId,
    /// Whether two items may have the same key.
    pub uniqueness: Uniqueness,
}

/// Whether keys may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uniqueness {
    /// Keys may repeat.
    Any,
    /// The byte strings of the keys differ from each other.
    Distinct,
}

/// The greatest number of rest items, where that is known from the key alone: none without a rest;
/// of distinct keys, as many as an automaton has words. `nodes` are the body's.
pub(crate) fn most_others(permute: &Permute, nodes: &[Node]) -> Option<u32> {
    let Some(rest) = permute.rest else { return Some(0) };
    if rest.uniqueness == Uniqueness::Any {
        return None;
    }
    let words = match &nodes[rest.key.index()] {
        Node::Empty | Node::Literal(_) => 1,
        Node::Bytes(bytes) => bytes.len() as u64,
        Node::Automaton(dfa) => dfa.count_words(dfa.start(), u64::from(u32::MAX)),
        _ => return None,
    };
    u32::try_from(words).ok().filter(|&words| words < u32::MAX)
}

impl Permute {
    /// Number of required members.
    #[must_use]
    pub fn required(&self) -> usize {
        self.members.iter().filter(|member| member.required).count()
    }

    /// Calls `visit` with every child.
    pub fn for_each_child(&self, mut visit: impl FnMut(ExprId)) {
        self.members.iter().for_each(|member| visit(member.expr));
        if let Some(rest) = &self.rest {
            visit(rest.key);
            visit(rest.tail);
        }
        visit(self.separator);
    }

    /// The same with every child replaced.
    #[must_use]
    pub fn map(&self, mut replace: impl FnMut(ExprId) -> ExprId) -> Self {
        Self {
            members: self
                .members
                .iter()
                .map(|member| Member { expr: replace(member.expr), ..*member })
                .collect(),
            rest: self.rest.map(|rest| Rest {
                key: replace(rest.key),
                tail: replace(rest.tail),
                ..rest
            }),
            separator: replace(self.separator),
            ..*self
        }
    }
}
