//! What is printed, construct by construct.

use super::*;
use crate::{BodyBuilder, GrammarBuilder};

/// The text of a grammar of one rule.
fn printed(build: impl FnOnce(&mut BodyBuilder) -> ExprId) -> String {
    let mut body = BodyBuilder::new();
    let root = build(&mut body);
    ebnf(&Grammar::of_body(body.finish(root)), &Limits::default()).expect("small")
}

#[test]
fn ordinary_grammars_look_as_people_write_them() {
    let text = printed(|body| {
        let digit = body.characters(&[('0', '9')]);
        let digits = body.repeat(digit, 1, None);
        let sign = body.literal(b"-");
        let sign = body.optional(sign);
        let number = body.seq(&[sign, digits]);
        let word = body.literal("caf\u{e9}\n".as_bytes());
        body.alt(&[number, word])
    });
    assert_eq!(text, "root ::= [\\-]? [0-9]+ | \"caf\u{e9}\\n\"\n");
}

#[test]
fn a_class_of_characters_is_a_class_again() {
    let text = printed(|body| body.characters(&[(' ', '!'), ('#', char::MAX)]));
    assert_eq!(text, "root ::= [ -!#-\\U0010FFFF]\n");
}

#[test]
fn what_is_no_text_is_bytes() {
    let text = printed(|body| {
        let bytes = body.literal(b"ab\xff");
        let set = body.bytes(ByteSet::range(0x80..=0xbf));
        body.seq(&[bytes, set])
    });
    assert_eq!(text, "root ::= \"ab\" Bytes(\"ff\") Bytes(\"80-bf\")\n");
}

#[test]
fn a_long_part_that_is_used_twice_is_printed_once() {
    let text = printed(|body| {
        let words = [body.literal(b"a long word"), body.literal(b"another long word")];
        let words = body.alt(&words);
        let comma = body.literal(b",");
        body.seq(&[words, comma, words])
    });
    let expected =
        "root ::= root-1 [,] root-1\nroot-1 ::= \"a long word\" | \"another long word\"\n";
    assert_eq!(text, expected);
}

#[test]
fn nested_nodes_do_not_make_nested_text() {
    let text = printed(|body| {
        let mut inner = body.literal(b"a");
        for _ in 0..10_000 {
            let end = body.literal(b"b");
            let more = body.seq(&[inner, end]);
            inner = body.repeat(more, 0, Some(2));
        }
        inner
    });
    let deepest = text.lines().map(|line| line.matches('(').count()).max();
    assert!(deepest.is_some_and(|deepest| deepest <= DEEPEST + 2), "{deepest:?}");
}

#[test]
fn names_are_made_readable_and_different() {
    let mut grammar = GrammarBuilder::new();
    let root = grammar.declare("start");
    let others = ["root", "a b", "a-b", "Token", "true", "9"];
    let rules: Vec<_> = others.iter().map(|name| grammar.declare(name)).collect();
    let mut body = BodyBuilder::new();
    let references: Vec<_> = rules.iter().map(|&rule| body.rule(rule)).collect();
    let all = body.seq(&references);
    grammar.define(root, body.finish(all)).expect("once");
    for rule in rules {
        let mut body = BodyBuilder::new();
        let empty = body.empty();
        grammar.define(rule, body.finish(empty)).expect("once");
    }
    let grammar = grammar.finish(root).expect("all defined");
    let text = ebnf(&grammar, &Limits::default()).expect("small");
    let first = text.lines().next();
    assert_eq!(first, Some("root ::= root-1 a-b a-b-1 r-Token r-true r-9"));
}
