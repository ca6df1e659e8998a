//! Rules with parameters.

use crate::check;
use formwork_grammar::{Grammar, Limits, Node};
use formwork_lark::{LarkErrorKind, Options, compile};

#[test]
fn parameters_count_and_remember() {
    let text = "start: p::0x0 \"X\"\np::_: \"\" %if is_ones([0:3])\n\
                | \"a\" p::set_bit(0) %if bit_clear(0)\n| \"b\" p::set_bit(1) %if bit_clear(1)\n\
                | \"c\" p::set_bit(2) %if bit_clear(2)";
    check(text, &["abcX", "cbaX", "bcaX"], &["X", "abX", "aabcX", "abcaX"]);
    let text = "start: l::0\nl::_: \"a\" l::incr([0:2]) %if lt([0:2], 3)\n\
                | \"b\" l::incr([2:4]) %if and(lt([2:4], 2), not(eq([0:2], 1))) | \"X\"";
    check(text, &["X", "aaaX", "bbaX", "aabbX"], &["aaaaX", "abX", "bbbX"]);
}

#[test]
fn fields_do_not_run_over() {
    let text = "start: l::3\nl::_: \"a\" l::incr([0:2]) | \"b\" l::decr([0:2]) | \"X\" %if ge(_, 4)\n\
                | \"Y\" %if eq([0:2], 3) | \"Z\" %if or(eq(_, 0), bit_count_eq([0:2], 7))";
    check(text, &["aaY", "bbbbZ", "bbbaaaaY"], &["aX", "bbbaZ", "bY"]);
}

#[test]
fn a_rule_that_can_never_end_is_left_out() {
    let text = "start: p::0 \"X\" | \"Y\"\np::_: \"a\" p::incr([0:3]) %if lt([0:3], 5)";
    check(text, &["Y"], &["X", "aX"]);
}

/// Reads a word in the first way that its rules allow: enough for grammars that look ahead by one.
fn walk(grammar: &Grammar, word: &str) -> bool {
    let mut rule = grammar.root();
    let mut rest = word.as_bytes();
    loop {
        let body = grammar.body(rule).expect("within limits");
        let choices: Vec<_> = match &body[body.root()] {
            Node::Alt(choices) => choices.to_vec(),
            _ => vec![body.root()],
        };
        let mut next = None;
        for choice in choices {
            let parts: Vec<_> = match &body[choice] {
                Node::Seq(parts) => parts.to_vec(),
                _ => vec![choice],
            };
            match (&body[parts[0]], parts.get(1).map(|&part| &body[part])) {
                (Node::Bytes(set), tail) if rest.first().is_some_and(|&b| set.contains(b)) => {
                    match tail {
                        Some(Node::Rule(tail)) => next = Some(*tail),
                        _ => return rest.len() == 1,
                    }
                }
                (Node::Rule(only), None) => {
                    next = Some(*only);
                    rest = &[&[0], rest].concat().leak()[..];
                }
                _ => {}
            }
        }
        match next {
            Some(tail) => (rule, rest) = (tail, &rest[1..]),
            None => return false,
        }
    }
}

#[test]
fn more_values_than_can_be_written_out_are_made_as_they_are_needed() {
    let letters = ('a'..='g').enumerate();
    let choices: String = letters
        .map(|(index, letter)| {
            let bits = format!("[{}:{}]", index * 8, index * 8 + 8);
            format!("| \"{letter}\" l::incr({bits}) %if lt({bits}, 50)\n")
        })
        .collect();
    let text = format!("start: l::0\nl::_: \"X\"\n{choices}");
    let grammar = compile(&text, &Options::default(), &Limits::default()).unwrap();
    assert!(grammar.is_lazy());
    assert!(walk(&grammar, &format!("{}X", "abcdefg".repeat(50))));
    assert!(!walk(&grammar, &format!("{}X", "abcdefga".repeat(50))));
}

#[test]
fn what_needs_too_many_values_to_be_known_is_refused() {
    let text = "start: p::0\np::_: \"a\" p::incr(_) | \"b\" p::incr([32:64])";
    let mut limits = Limits::default();
    limits.rules = 5_000;
    let error = compile(text, &Options::default(), &limits).unwrap_err();
    assert!(matches!(error.kind, LarkErrorKind::Rules { limit: 5_000 }), "{error}");
}
