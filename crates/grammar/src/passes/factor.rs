//! Pass 3: take common beginnings out of alternatives.
//!
//! Rewrites `x a | x b` to `x (a | b)`, for literals byte by byte: `foo | foobar` to `foo (bar)?`.
//! It keeps the language and spares a recogniser from reading the same beginning twice.
//!
//! Before: no `Never`. After: within one alternative node no two choices begin with the same node
//! or with literals that share a first byte, unless nesting went deeper than [`MAX_DEPTH`].
//! Cost: n log n in the choices of a node; at most `MAX_DEPTH` rounds.

use super::Rules;
use crate::{BodyBuilder, ExprId, Node};
use rustc_hash::FxHashMap;

/// How deep common beginnings are followed.
const MAX_DEPTH: usize = 64;

/// Factors every alternative node.
#[must_use]
pub fn factor(rules: &Rules) -> Rules {
    rules.map(|body| {
        let mut builder = BodyBuilder::new();
        let root = builder.rebuild(body, |builder, _, node| match node {
            Node::Alt(choices) => factor_choices(builder, choices.into_vec(), MAX_DEPTH),
            other => builder.renormalize(other),
        });
        builder.finish(root)
    })
}

/// What a choice begins with: its first byte where that is a literal, its first node otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Head {
    Byte(u8),
    Node(ExprId),
}

fn head(builder: &BodyBuilder, choice: ExprId) -> Head {
    let first = match builder.node(choice) {
        Node::Seq(parts) => parts[0],
        _ => choice,
    };
    match builder.node(first) {
        Node::Literal(bytes) => Head::Byte(bytes[0]),
        _ => Head::Node(first),
    }
}

fn factor_choices(builder: &mut BodyBuilder, choices: Vec<ExprId>, depth: usize) -> ExprId {
    let mut order: Vec<Head> = Vec::new();
    let mut groups: FxHashMap<Head, Vec<ExprId>> = FxHashMap::default();
    for choice in choices {
        let head = head(builder, choice);
        groups
            .entry(head)
            .or_insert_with(|| {
                order.push(head);
                Vec::new()
            })
            .push(choice);
    }
    let mut factored = Vec::with_capacity(order.len());
    for head in order {
        let group = groups.remove(&head).expect("grouped above");
        match group[..] {
            [only] => factored.push(only),
            _ if depth == 0 => factored.extend(group),
            _ => factored.push(factor_group(builder, head, &group, depth)),
        }
    }
    builder.alt(&factored)
}

/// Choices with one head: the longest common beginning, then what differs.
fn factor_group(builder: &mut BodyBuilder, head: Head, group: &[ExprId], depth: usize) -> ExprId {
    let (shared, skip) = match head {
        Head::Node(first) => (first, None),
        Head::Byte(_) => {
            let length = common_literal(builder, group);
            let literal = leading_literal(builder, group[0])[..length].to_vec();
            (builder.literal(&literal), Some(length))
        }
    };
    let rests: Vec<ExprId> =
        group.iter().map(|&choice| without_head(builder, choice, skip)).collect();
    let rests: Vec<ExprId> = {
        let choice = builder.alt(&rests);
        vec![match builder.node(choice).clone() {
            Node::Alt(choices) => factor_choices(builder, choices.into_vec(), depth - 1),
            _ => choice,
        }]
    };
    builder.seq(&[shared, rests[0]])
}

fn leading_literal(builder: &BodyBuilder, choice: ExprId) -> &[u8] {
    let first = match builder.node(choice) {
        Node::Seq(parts) => parts[0],
        _ => choice,
    };
    match builder.node(first) {
        Node::Literal(bytes) => bytes,
        _ => &[],
    }
}

fn common_literal(builder: &BodyBuilder, group: &[ExprId]) -> usize {
    let first = leading_literal(builder, group[0]);
    let shared = |choice: &ExprId| {
        let bytes = leading_literal(builder, *choice);
        first.iter().zip(bytes).take_while(|(a, b)| a == b).count()
    };
    group.iter().map(shared).min().unwrap_or_default()
}

/// The choice without its first node, or without the first `skip` bytes of its leading literal.
fn without_head(builder: &mut BodyBuilder, choice: ExprId, skip: Option<usize>) -> ExprId {
    let parts: Vec<ExprId> = match builder.node(choice) {
        Node::Seq(parts) => parts.to_vec(),
        _ => vec![choice],
    };
    let mut rest = Vec::with_capacity(parts.len());
    if let Some(skip) = skip {
        let tail = leading_literal(builder, choice)[skip..].to_vec();
        rest.push(builder.literal(&tail));
    }
    rest.extend_from_slice(&parts[1..]);
    builder.seq(&rest)
}

/// The rewriting of one body, for tests.
#[cfg(test)]
pub(super) fn factor_body(body: &crate::Body) -> crate::Body {
    let rules = Rules { bodies: vec![std::sync::Arc::new(body.clone())], names: vec!["r".into()] };
    (*factor(&rules).bodies[0]).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Body, Grammar, Limits,
        regular::{self, BytesOnly},
    };
    use formwork_automata::{ByteSet, CancellationToken};
    use proptest::prelude::*;

    #[test]
    fn common_beginnings_are_taken_out() {
        let mut builder = BodyBuilder::new();
        let texts = [b"foo".as_slice(), b"foobar", b"fob", b"bar"];
        let choices = texts.map(|text| builder.literal(text));
        let root = builder.alt(&choices);
        let factored = factor_body(&builder.finish(root));
        let mut literals: Vec<&[u8]> = factored
            .nodes()
            .iter()
            .filter_map(|node| match node {
                Node::Literal(bytes) => Some(&**bytes),
                _ => None,
            })
            .collect();
        literals.sort_unstable();
        // What follows `fo` is `o`, `obar` or `b`; the single bytes are one set.
        assert_eq!(literals, [b"bar".as_slice(), b"fo", b"obar"], "{factored:?}");
    }

    proptest! {
        #[test]
        fn the_language_stays_the_same(
            texts in prop::collection::vec(prop::collection::vec(0..3_u8, 0..6), 1..12),
            tail in prop::collection::vec(0..3_u8, 0..2),
        ) {
            let mut builder = BodyBuilder::new();
            let letter = builder.bytes(ByteSet::range(0..=1));
            let many = builder.repeat(letter, 0, None);
            let tail = builder.literal(&tail);
            let choices: Vec<ExprId> = texts
                .iter()
                .map(|text| {
                    // Every second choice begins with a node, not with a literal.
                    let literal = builder.literal(text);
                    match text.len() % 2 {
                        0 => builder.seq(&[literal, many]),
                        _ => builder.seq(&[many, literal, tail]),
                    }
                })
                .collect();
            let root = builder.alt(&choices);
            let body = builder.finish(root);
            let factored = factor_body(&body);
            let language = |body: Body| {
                let grammar = Grammar::of_body(body);
                let limits = Limits::default();
                let dfa = regular::dfa(&grammar, &BytesOnly, &limits, &CancellationToken::new());
                dfa.unwrap().canonical()
            };
            prop_assert_eq!(language(body), language(factored));
        }
    }
}
