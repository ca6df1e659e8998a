//! What is refused, and where.

use crate::refusal;
use formwork_lark::LarkErrorKind as Kind;

/// Asserts kind, line and column of the refusal of a text.
macro_rules! refused {
    ($text:expr, $line:expr, $column:expr, $kind:pat) => {
        let (kind, line, column) = refusal($text);
        assert!(matches!(kind, $kind), "{:?}: {kind:?}", $text);
        assert_eq!((line, column), ($line, $column), "{:?}: {kind}", $text);
    };
}

#[test]
fn syntax() {
    refused!("start \"a\"", 1, 7, Kind::Expected { expected: "`:`", .. });
    refused!("start: (\"a\"", 1, 8, Kind::Unclosed);
    refused!("start: \"a\")", 1, 11, Kind::Expected { .. });
    refused!("start: (\"a\"]", 1, 8, Kind::Unclosed);
    refused!("start: $", 1, 8, Kind::UnexpectedCharacter { character: '$' });
    refused!("start: \"a\" ->", 1, 14, Kind::Expected { .. });
    refused!("start: \"abc", 1, 8, Kind::UnterminatedString);
    refused!("start: \"\\q\"", 1, 8, Kind::InvalidEscape);
    refused!("start: /abc", 1, 8, Kind::UnterminatedRegex);
    refused!("start: /[abc/", 1, 8, Kind::Regex(_));
    refused!("start: /a/l", 1, 8, Kind::Flag { flag: 'l' });
    refused!("start: <bad token>", 1, 8, Kind::MalformedToken);
    refused!("start: <[1-2-3]>", 1, 8, Kind::Number { .. });
    refused!("start: <[3-1]>", 1, 8, Kind::ReversedRange { start: 3, end: 1 });
    refused!("start: @", 1, 8, Kind::Expected { .. });
    refused!("start: \"ab\"..\"c\"", 1, 8, Kind::RangeEnd);
    refused!("start: \"d\"..\"a\"", 1, 8, Kind::ReversedRange { .. });
    refused!("start: \"a\"{3,2}", 1, 11, Kind::ReversedRepeat { min: 3, max: 2 });
    refused!("start: \"a\"{-1,}", 1, 12, Kind::UnexpectedCharacter { character: '-' });
    refused!("start: \"a\"{99999999999999999999}", 1, 12, Kind::Number { .. });
    refused!("start: Foo", 1, 8, Kind::MixedCase { .. });
    refused!("start: ~", 1, 8, Kind::Expected { .. });
    refused!("start: \"a\"\n  \"b\"", 2, 3, Kind::Expected { .. });
}

#[test]
fn names() {
    refused!("root: \"a\"", 1, 1, Kind::NoStart);
    refused!("start: a\n\na: \"a\"\na: \"b\"", 4, 1, Kind::Duplicate { .. });
    refused!("start: a\na: \"é\" b", 2, 8, Kind::Undefined { .. });
    refused!("start: A\nA: B\nB: \"b\" A", 3, 8, Kind::RecursiveTerminal { .. });
    refused!("start: A\nA: b\nb: \"b\"", 2, 4, Kind::NotInTerminal { what: "a rule" });
    refused!("start: @other", 1, 8, Kind::UnknownGrammar { .. });
    refused!("%import common.NONE\nstart: NONE", 1, 16, Kind::Import { .. });
    refused!("%import python.INT\nstart: INT", 1, 9, Kind::Import { .. });
    refused!("%import common.INT\nINT: \"x\"\nstart: INT", 2, 1, Kind::Duplicate { .. });
    refused!("%ignore MISSING\nstart: \"a\"", 1, 9, Kind::Undefined { .. });
    refused!("%declare A\nstart: A", 1, 1, Kind::Directive { .. });
    refused!("start{x}: x", 1, 6, Kind::Template);
    refused!("start: a{x}\na: \"a\"", 1, 10, Kind::Template);
}

#[test]
fn what_terminals_and_rules_cannot_have() {
    refused!("start: A\nA: <[1]>", 2, 4, Kind::NotInTerminal { .. });
    refused!("start: A\nA: %json {}", 2, 4, Kind::NotInTerminal { .. });
    refused!("start: A\nA: %lark { start: \"a\" }", 2, 4, Kind::NotInTerminal { .. });
    refused!("A[lazy]: /a/\nstart: A", 1, 1, Kind::NotInTerminal { what: "an attribute" });
    refused!("start: A & A\nA: \"a\"", 1, 8, Kind::NotInRule { what: "`&`" });
    refused!("start: ~/a/", 1, 8, Kind::NotInRule { what: "`~`" });
    refused!("start: a\na[lazy]: \"a\" a | \"b\"", 2, 14, Kind::NotInTerminal { .. });
    refused!("start: /a(?=b)/", 1, 8, Kind::Regex(_));
    refused!("start: /(?P<stop>a)/", 1, 8, Kind::StopGroup);
}

#[test]
fn attributes() {
    refused!("start[budget=10]: \"a\"", 1, 7, Kind::UnknownAttribute { .. });
    refused!("start[lazy, lazy]: \"a\"", 1, 13, Kind::DuplicateAttribute { .. });
    refused!("start[capture=\"\"]: \"a\"", 1, 7, Kind::AttributeValue { name: "capture", .. });
    refused!("start[capture=\"a b\"]: \"a\"", 1, 7, Kind::AttributeValue { .. });
    refused!("start[max_tokens=\"x\"]: \"a\"", 1, 7, Kind::AttributeValue { .. });
    refused!("start[suffix=\"\"]: \"a\"", 1, 7, Kind::AttributeValue { name: "suffix", .. });
    refused!("start[stop=end]: \"a\"", 1, 7, Kind::AttributeValue { name: "stop", .. });
    refused!("start[stop=\"x\", suffix=\"y\"]: \"a\"", 1, 6, Kind::AttributeConflict { .. });
    refused!("start[stop_capture=\"x\"]: \"a\"", 1, 6, Kind::AttributeConflict { .. });
}

#[test]
fn parameters() {
    refused!("start: a\na:: \"a\"", 2, 5, Kind::Expected { .. });
    refused!("start: a::1\na: \"a\"", 1, 8, Kind::Parameter { .. });
    refused!("start: a\na::_: \"a\"", 1, 8, Kind::Parameter { .. });
    refused!("start: a::_\na::_: a::_", 1, 8, Kind::Parameter { .. });
    refused!("start::_: \"a\"", 1, 1, Kind::Parameter { .. });
    refused!("start: a::0\na::_: \"a\" %if eq([3:3], 0)", 2, 18, Kind::Bits);
    refused!("start: a::0\na::_: \"a\" %if eq([0:65], 0)", 2, 18, Kind::Bits);
    refused!("start: a::0\na::_: \"a\" %if eq(0, 0)", 2, 18, Kind::Expected { .. });
    refused!("start: a::0\na::_: \"a\" %if foo([0:1], 0)", 2, 15, Kind::UnknownFunction { .. });
    refused!("start: a::0\na::_[lazy]: \"a\"", 2, 1, Kind::AttributeConflict { .. });
    refused!("start: A\nA: \"a\" %if true", 2, 4, Kind::NotInTerminal { .. });
}

#[test]
fn json() {
    refused!("start: %json {", 1, 14, Kind::Json { .. });
    refused!("start: %json []", 1, 8, Kind::Schema(_));
    refused!("start: %json {\"type\": 1}", 1, 8, Kind::Schema(_));
    refused!("start: %regex {\"a\": \"b\"}", 1, 15, Kind::Json { .. });
    refused!("%llguidance {\"bogus\": true}\nstart: \"a\"", 1, 13, Kind::Option { .. });
    refused!(
        "%llguidance {\"allow_invalid_utf8\": true}\nstart: \"a\"",
        1,
        13,
        Kind::Option { .. }
    );
}
