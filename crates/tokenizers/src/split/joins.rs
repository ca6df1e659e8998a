//! Between which neighbouring characters a match of a pattern can go on.
//!
//! The positions of a regular expression and which of them may follow which (Glushkov, "The abstract
//! theory of automata", 1961), kept as pairs of classes of characters. Every path that the pattern
//! engine tries, whether it ends in a match or not, reads neighbours that are a pair; so where two
//! neighbours are no pair, no attempt from before goes on, and none sees more than the character
//! after, by looking ahead. The pairs are those of the pattern without its possessive marks and its
//! look-ahead, which only take paths away.
//!
//! Look-ahead is kept apart: `looks` has the characters behind which a pattern looks ahead. Of
//! look-ahead only that at one character is understood.

use fancy_regex::{Assertion, Expr, LookAround};
use regex_syntax::{
    ParserBuilder,
    hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind},
};

/// What a pattern can read one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Joins {
    pairs: Vec<(ClassUnicode, ClassUnicode)>,
    looks: ClassUnicode,
}

/// A part of the pattern.
struct Part {
    first: ClassUnicode,
    last: ClassUnicode,
    /// Whether it can match nothing.
    nullable: bool,
    /// Whether it may look ahead before it has read anything.
    looks: bool,
}

/// How many pairs a pattern may have: each is looked at for each place in a text.
const MAX_PAIRS: usize = 1024;

impl Joins {
    /// The pairs of a pattern; `None` when it has parts that are not understood, or can match
    /// nothing.
    pub(crate) fn of(pattern: &str) -> Option<Self> {
        let tree = Expr::parse_tree(pattern).ok()?;
        let mut joins = Self { pairs: Vec::new(), looks: ClassUnicode::empty() };
        let part = joins.part(&tree.expr)?;
        (!part.nullable && joins.pairs.len() <= MAX_PAIRS).then_some(joins)
    }

    /// Whether a match, or an attempt at one, may read `before` and go on with `after` or look at
    /// it.
    pub(crate) fn may_cross(&self, before: char, after: char) -> bool {
        contains(&self.looks, before)
            || self.pairs.iter().any(|(a, b)| contains(a, before) && contains(b, after))
    }

    fn follow(&mut self, last: &ClassUnicode, first: &ClassUnicode) {
        if !last.ranges().is_empty() && !first.ranges().is_empty() && self.pairs.len() <= MAX_PAIRS
        {
            self.pairs.push((last.clone(), first.clone()));
        }
    }

    /// Recursion is bounded: the parser refuses nesting deeper than a few dozen.
    fn part(&mut self, expr: &Expr) -> Option<Part> {
        match expr {
            Expr::Empty => Some(Part::empty(false)),
            Expr::Any { .. } => Some(Part::one(everything())),
            Expr::Assertion(assertion) => Some(Part::empty(looks_ahead(assertion)?)),
            Expr::Literal { val, casei } => self.literal(val, *casei),
            Expr::Delegate { inner, casei } => Some(Part::one(class(inner, *casei)?)),
            Expr::Concat(parts) => self.concatenation(parts),
            Expr::Alt(parts) => self.alternatives(parts),
            Expr::Group(inner) => self.part(inner),
            Expr::AtomicGroup(inner) => self.part(inner),
            Expr::LookAround(inner, LookAround::LookAhead | LookAround::LookAheadNeg) => {
                is_one_character(inner).then(|| Part::empty(true))
            }
            Expr::Repeat { child, lo, hi, .. } => self.repetition(child, *lo, *hi),
            _ => None,
        }
    }

    fn literal(&mut self, text: &str, ignores_case: bool) -> Option<Part> {
        let mut whole = Part::empty(false);
        for character in text.chars() {
            let escaped = regex_syntax::escape(character.encode_utf8(&mut [0; 4]));
            whole = self.then(whole, Part::one(class(&escaped, ignores_case)?));
        }
        Some(whole)
    }

    fn concatenation(&mut self, parts: &[Expr]) -> Option<Part> {
        parts.iter().try_fold(Part::empty(false), |whole, part| {
            let part = self.part(part)?;
            Some(self.then(whole, part))
        })
    }

    fn then(&mut self, mut left: Part, right: Part) -> Part {
        self.follow(&left.last, &right.first);
        if right.looks {
            self.looks.union(&left.last);
        }
        if left.nullable {
            left.first.union(&right.first);
        }
        let mut last = right.last;
        if right.nullable {
            last.union(&left.last);
        }
        Part {
            first: left.first,
            last,
            nullable: left.nullable && right.nullable,
            looks: left.looks || left.nullable && right.looks,
        }
    }

    fn alternatives(&mut self, parts: &[Expr]) -> Option<Part> {
        let mut whole = Part::empty(false);
        whole.nullable = false;
        for part in parts {
            let part = self.part(part)?;
            whole.first.union(&part.first);
            whole.last.union(&part.last);
            whole.nullable |= part.nullable;
            whole.looks |= part.looks;
        }
        Some(whole)
    }

    fn repetition(&mut self, child: &Expr, lo: usize, hi: usize) -> Option<Part> {
        let mut part = self.part(child)?;
        if hi > 1 {
            self.follow(&part.last, &part.first);
            if part.looks {
                self.looks.union(&part.last);
            }
        }
        part.nullable |= lo == 0;
        Some(part)
    }
}

impl Part {
    fn empty(looks: bool) -> Self {
        Self { first: ClassUnicode::empty(), last: ClassUnicode::empty(), nullable: true, looks }
    }

    fn one(class: ClassUnicode) -> Self {
        Self { first: class.clone(), last: class, nullable: false, looks: false }
    }
}

/// Whether an assertion looks at the next character; `None` where it looks further.
fn looks_ahead(assertion: &Assertion) -> Option<bool> {
    match assertion {
        Assertion::StartText | Assertion::StartLine { crlf: false } => Some(false),
        Assertion::EndTextIgnoreTrailingNewlines { .. }
        | Assertion::StartLineOniguruma { .. }
        | Assertion::StartLine { crlf: true }
        | Assertion::EndLine { crlf: true } => None,
        _ => Some(true),
    }
}

fn is_one_character(expr: &Expr) -> bool {
    match expr {
        Expr::Delegate { .. } | Expr::Any { .. } => true,
        Expr::Literal { val, .. } => val.chars().count() == 1,
        _ => false,
    }
}

fn everything() -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)])
}

/// The characters of an expression that matches exactly one.
fn class(expr: &str, ignores_case: bool) -> Option<ClassUnicode> {
    let hir = ParserBuilder::new().case_insensitive(ignores_case).build().parse(expr).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Class(Class::Bytes(class)) => class.to_unicode_class(),
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let character = characters.next().filter(|_| characters.next().is_none())?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(character, character)]))
        }
        _ => None,
    }
}

fn contains(class: &ClassUnicode, character: char) -> bool {
    let ranges = class.ranges();
    let at = ranges.partition_point(|range| range.end() < character);
    ranges.get(at).is_some_and(|range| range.start() <= character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{CL100K_PATTERN, GPT2_PATTERN, LLAMA3_PATTERN};

    #[test]
    fn the_pairs_of_the_usual_patterns_are_what_reading_them_says() {
        for pattern in [CL100K_PATTERN, LLAMA3_PATTERN, tiktoken_rs::O200K_BASE_PAT_STR] {
            let joins = Joins::of(pattern).unwrap();
            for (before, after) in [('a', ' '), ('a', '1'), ('1', 'a'), ('"', '1'), ('1', '"')] {
                assert!(!joins.may_cross(before, after), "{before:?} {after:?} in {pattern}");
            }
            for (before, after) in [('a', 'b'), (' ', 'a'), (' ', '{'), ('\'', 's'), ('{', '\n')] {
                assert!(joins.may_cross(before, after), "{before:?} {after:?} in {pattern}");
            }
            // Behind white space they look ahead.
            assert!(joins.may_cross(' ', '1') && joins.may_cross('\n', 'x'));
        }
        assert!(!Joins::of(LLAMA3_PATTERN).unwrap().may_cross('a', '"'));
        assert!(!Joins::of(GPT2_PATTERN).unwrap().may_cross('{', '\n'));
        // A contraction ends a word of o200k_base.
        assert!(Joins::of(tiktoken_rs::O200K_BASE_PAT_STR).unwrap().may_cross('a', '\''));
    }

    #[test]
    fn what_is_not_understood_gives_no_pairs() {
        let patterns =
            [r"(a)\1", r"(?<=a)b", r"a(?=bc)", r"a*", r"\R", r"a\Z", r"(?=a)", "", r"(?:a|)"];
        for pattern in patterns {
            assert!(Joins::of(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn loops_case_and_groups_are_followed() {
        let joins = Joins::of(r"(?:a(?i:bc)d?)+(?!x)|\p{N}").unwrap();
        for pair in [('a', 'B'), ('b', 'C'), ('C', 'a'), ('c', 'd'), ('d', 'a')] {
            assert!(joins.may_cross(pair.0, pair.1), "{pair:?}");
        }
        assert!(joins.may_cross('d', '\u{1f600}') && joins.may_cross('c', '!'), "looks ahead");
        for pair in [('a', 'd'), ('a', 'a'), ('1', '2'), ('b', 'd')] {
            assert!(!joins.may_cross(pair.0, pair.1), "{pair:?}");
        }
    }
}
