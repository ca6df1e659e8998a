//! Another order for the members of every object.
//!
//! # Idea
//! One pass finds the objects and where their members begin and end. The text is then written from
//! an explicit stack of ranges: a range without objects is copied; one with an object becomes the
//! text around the object's members and the members' own ranges, those in their new order.
//!
//! The order is that of a hash of seed and key, so that it depends on nothing else, and shuffling
//! again changes nothing. Members of one key keep their order: the last of them still counts.

use super::{hash, string_len};
use std::{cmp::Reverse, ops::Range};

/// An object of a text.
struct Object {
    /// From its opening bracket to behind its closing one.
    range: Range<usize>,
    /// Its members, in order, from the key to the end of the value.
    members: Vec<Member>,
}

struct Member {
    range: Range<usize>,
    /// Its rank in the new order.
    rank: u64,
}

/// The text, which is JSON, with the members of every object in the order that `seed` determines.
pub(super) fn shuffled(text: &str, seed: u64) -> String {
    let objects = objects(text, seed);
    let mut out = String::with_capacity(text.len());
    let whole = 0..text.len();
    let mut stack = Vec::from([whole]);
    let mut order: Vec<&Member> = Vec::new();
    while let Some(range) = stack.pop() {
        let next = objects.partition_point(|object| object.range.start < range.start);
        let Some(object) = objects.get(next).filter(|object| object.range.start < range.end) else {
            out.push_str(&text[range]);
            continue;
        };
        order.clear();
        order.extend(&object.members);
        order.sort_by_key(|member| member.rank);
        // Last first, since it is a stack. No object begins in what is between members.
        stack.push(object.range.end..range.end);
        let mut end = object.range.end;
        for (old, new) in object.members.iter().zip(&order).rev() {
            stack.push(old.range.end..end);
            stack.push(new.range.clone());
            end = old.range.start;
        }
        out.push_str(&text[range.start..object.range.start]);
        // The bracket, so that the same object is not found again.
        let inside = object.range.start + 1;
        out.push_str(&text[object.range.start..inside]);
        stack.push(inside..end.max(inside));
    }
    out
}

/// A container that is open.
struct Open {
    start: usize,
    /// For an object: its members so far, the last one without its end.
    members: Option<Vec<Member>>,
}

/// All objects of a text that is JSON, by where they begin.
fn objects(text: &str, seed: u64) -> Vec<Object> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    // End of the last token: of the member at hand when its separator comes.
    let mut end = 0;
    // Whether the next token is a key.
    let mut key = false;
    while at < bytes.len() {
        let len = if bytes[at] == b'"' { string_len(&bytes[at..]) } else { 1 };
        match bytes[at] {
            b'{' => open.push(Open { start: at, members: Some(Vec::new()) }),
            b'[' => open.push(Open { start: at, members: None }),
            b'"' if key => {
                let members = open.last_mut().and_then(|open| open.members.as_mut());
                let rank = rank(&text[at..at + len], seed);
                members.expect("a key is in an object").push(Member { range: at..at, rank });
            }
            b',' => end_member(&mut open, end),
            b'}' | b']' => {
                end_member(&mut open, end);
                let closed = open.pop().expect("brackets are balanced");
                if let Some(members) = closed.members {
                    found.push(Object { range: closed.start..at + 1, members });
                }
            }
            _ => {}
        }
        if !matches!(bytes[at], b' ' | b'\t' | b'\n' | b'\r') {
            key = match bytes[at] {
                b'{' => true,
                b',' => open.last().is_some_and(|open| open.members.is_some()),
                _ => false,
            };
            end = at + len;
        }
        at += len;
    }
    found.sort_by_key(|object| (object.range.start, Reverse(object.range.end)));
    found
}

/// The last member of the innermost object, if that is what is open, ends.
fn end_member(open: &mut [Open], end: usize) {
    let members = open.last_mut().and_then(|open| open.members.as_mut());
    if let Some(member) = members.and_then(|members| members.last_mut()) {
        member.range.end = end;
    }
}

/// Where a key comes in the order of a seed: by what it says, not by how it is spelled.
fn rank(literal: &str, seed: u64) -> u64 {
    let mixed = match serde_json::from_str::<String>(literal) {
        Ok(key) => hash(key.as_bytes(), seed),
        // A surrogate without its partner says nothing.
        Err(_) => hash(literal.as_bytes(), seed),
    };
    // The finaliser of MurmurHash3, so that keys that end alike do not come together.
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}
