//! Every refusal, with its exact kind and place.

use crate::{language_of, options};
use formwork_regex::{
    Dialect::{self, Ecma262, Shared},
    MatchMode::Whole,
    RegexErrorKind as Kind,
};

const BOTH: &[Dialect] = &[Shared, Ecma262];

/// Dialects, pattern, what is wrong, and the column and length of the place.
type Row<'a> = (&'a [Dialect], &'a str, Kind, (usize, usize));

/// All lines are the first.
fn check(rows: &[Row<'_>]) {
    for (dialects, pattern, kind, place) in rows {
        for &dialect in *dialects {
            let error = language_of(pattern, &options(Whole, dialect)).expect_err(pattern);
            let found = (error.position.column, error.position.length);
            assert_eq!((&error.kind, found), (kind, *place), "{pattern} in {dialect:?}");
            assert_eq!(error.position.line, 1);
        }
    }
}

#[test]
fn what_is_not_supported() {
    check(&[
        (BOTH, "a(?<=a)", Kind::LookBehind, (2, 4)),
        (BOTH, "a(?<!a)", Kind::LookBehind, (2, 4)),
        (BOTH, r"(a)\1", Kind::Backreference, (4, 2)),
        (BOTH, r"(a)\12b", Kind::Backreference, (4, 3)),
        (BOTH, r"(?<n>a)\k<n>", Kind::Backreference, (8, 2)),
        (BOTH, "(?P<n>a)(?P=n)", Kind::Backreference, (9, 4)),
        (BOTH, r"a\b", Kind::WordBoundary, (2, 2)),
        (BOTH, r"a\B", Kind::WordBoundary, (2, 2)),
        (BOTH, "(?m)^a", Kind::MultiLineAnchor, (5, 1)),
        (BOTH, "(?m:a$)", Kind::MultiLineAnchor, (6, 1)),
        (BOTH, "(?>a)", Kind::AtomicGroup, (1, 3)),
        (BOTH, "a*+", Kind::PossessiveQuantifier, (2, 2)),
        (BOTH, "a{2}+", Kind::PossessiveQuantifier, (2, 4)),
        (BOTH, "(a)(?(1)b|c)", Kind::ConditionalGroup, (4, 3)),
        (BOTH, "(?1)", Kind::Recursion, (1, 3)),
        (BOTH, "(?&n)", Kind::Recursion, (1, 3)),
        (BOTH, "(?P>n)", Kind::Recursion, (1, 4)),
        (BOTH, "(?#c)", Kind::Comment, (1, 3)),
        (BOTH, "(?x)a", Kind::UnsupportedFlag { flag: 'x' }, (3, 1)),
        (BOTH, "(?i-u:a)", Kind::UnsupportedFlag { flag: 'u' }, (5, 1)),
        (BOTH, "(?R)", Kind::UnsupportedFlag { flag: 'R' }, (3, 1)),
    ]);
}

#[test]
fn groups() {
    check(&[
        (BOTH, "a(b(c)", Kind::UnclosedGroup, (2, 1)),
        (BOTH, "a)", Kind::UnopenedGroup, (2, 1)),
        (BOTH, "(?", Kind::UnknownGroup, (1, 2)),
        (BOTH, "(?)", Kind::UnknownGroup, (1, 3)),
        (BOTH, "(?i-)", Kind::UnknownGroup, (1, 5)),
        (BOTH, "(?'n'a)", Kind::UnknownGroup, (1, 3)),
        (BOTH, "(?<>a)", Kind::GroupName, (1, 3)),
        (BOTH, "(?<1>a)", Kind::GroupName, (1, 4)),
        (BOTH, "(?<n", Kind::GroupName, (1, 4)),
        (BOTH, "(?<n-m>a)", Kind::GroupName, (1, 4)),
    ]);
}

#[test]
fn classes() {
    let reversed = Kind::ReversedRange { start: 'b', end: 'a' };
    check(&[
        (BOTH, "é[a", Kind::UnclosedClass, (2, 1)),
        (BOTH, "[a-", Kind::UnclosedClass, (1, 1)),
        (BOTH, r"[\]", Kind::UnclosedClass, (1, 1)),
        (BOTH, "[xb-a]", reversed, (3, 3)),
        (&[Shared], r"[\d-z]", Kind::RangeOfClass, (2, 4)),
        (&[Shared], r"[a-\d]", Kind::RangeOfClass, (2, 4)),
        (&[Shared], "[[:alpha:]]", Kind::AmbiguousBrackets, (2, 1)),
        (&[Shared], "x[a[b]c]", Kind::AmbiguousBrackets, (4, 1)),
        (&[Shared], "[]a]", Kind::AmbiguousBrackets, (1, 1)),
        (&[Shared], "[^]a]", Kind::AmbiguousBrackets, (1, 2)),
        (&[Shared], "[a&&b]", Kind::SetOperation, (3, 2)),
        (&[Shared], "[a--b]", Kind::SetOperation, (3, 2)),
        (&[Shared], "[~~]", Kind::SetOperation, (2, 2)),
    ]);
}

#[test]
fn quantifiers() {
    check(&[
        (BOTH, "*a", Kind::DanglingQuantifier, (1, 1)),
        (BOTH, "a|+", Kind::DanglingQuantifier, (3, 1)),
        (BOTH, "^*", Kind::DanglingQuantifier, (2, 1)),
        (BOTH, "(?i)*", Kind::DanglingQuantifier, (5, 1)),
        (BOTH, "{2}", Kind::DanglingQuantifier, (1, 3)),
        (BOTH, "a**", Kind::RepeatedQuantifier, (3, 1)),
        (BOTH, "a{2}{3}", Kind::RepeatedQuantifier, (5, 3)),
        (BOTH, "a*??", Kind::RepeatedQuantifier, (4, 1)),
        (BOTH, "a{,5}", Kind::MalformedQuantifier, (2, 4)),
        (BOTH, "a{2", Kind::MalformedQuantifier, (2, 2)),
        (BOTH, "a{2,x}", Kind::MalformedQuantifier, (2, 3)),
        (BOTH, "a{3,2}", Kind::ReversedQuantifier { min: 3, max: 2 }, (2, 5)),
        (BOTH, "a{4294967296}", Kind::CountTooLarge, (2, 12)),
    ]);
}

#[test]
fn escapes() {
    let unknown = |character| Kind::UnknownEscape { character };
    let property = |name: &str| Kind::UnknownProperty { name: name.into() };
    check(&[
        (BOTH, "a\\", Kind::EscapeAtEnd, (2, 1)),
        (BOTH, r"\y", unknown('y'), (1, 2)),
        (BOTH, r"[\B]", unknown('B'), (2, 2)),
        (BOTH, r"[\A]", unknown('A'), (2, 2)),
        (&[Ecma262], r"\a", unknown('a'), (1, 2)),
        (&[Ecma262], r"^\S\Z", unknown('Z'), (4, 2)),
        (&[Ecma262], r"\U00000041", unknown('U'), (1, 2)),
        (BOTH, r"\01", Kind::OctalEscape, (1, 3)),
        (BOTH, r"[\1]", Kind::OctalEscape, (2, 2)),
        (BOTH, r"é\x4g", Kind::MalformedHex, (2, 3)),
        (&[Ecma262], r"\x{41}", Kind::MalformedHex, (1, 2)),
        (BOTH, r"\u004", Kind::MalformedHex, (1, 5)),
        (BOTH, r"\u{}", Kind::MalformedHex, (1, 3)),
        (BOTH, r"\u{41", Kind::MalformedHex, (1, 5)),
        (BOTH, r"\u{110000}", Kind::NotACharacter, (1, 10)),
        (BOTH, r"\u{1000000000}", Kind::NotACharacter, (1, 14)),
        (BOTH, r"\uD83D", Kind::NotACharacter, (1, 6)),
        (BOTH, r"\uDE00\uD83D", Kind::NotACharacter, (1, 6)),
        (BOTH, r"\uD83D\u0041", Kind::NotACharacter, (1, 6)),
        (BOTH, r"\uD83D\u{DE00}", Kind::NotACharacter, (1, 6)),
        (BOTH, r"\c1", Kind::MalformedControl, (1, 2)),
        (BOTH, r"a\p{Nope}", property("Nope"), (2, 8)),
        (BOTH, r"[\P{Nope}]", property("Nope"), (2, 8)),
        (BOTH, r"\p{L", property(""), (1, 3)),
        (BOTH, r"\p{}", property(""), (1, 4)),
        (BOTH, r"\p{^L}", property("^L"), (1, 6)),
        (&[Ecma262], r"\pL", property(""), (1, 2)),
    ]);
}

#[test]
fn places_are_lines_and_columns() {
    let error = language_of("a\né(?>b)", &options(Whole, Shared)).expect_err("an atomic group");
    assert_eq!((error.position.line, error.position.column), (2, 2));
    assert_eq!((error.position.offset, error.position.length), (4, 3));
    assert_eq!(error.to_string(), "line 2, column 2: atomic groups are not supported");
}
