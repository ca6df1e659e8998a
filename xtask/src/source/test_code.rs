//! Which code is tests: what stands behind `#[cfg(test)]` or `#[test]`, and files of tests.

use super::{groups::Tokens, lex::Kind};
use std::ops::Range;

/// The test code of one file.
#[derive(Debug, Default)]
pub(crate) struct TestCode {
    /// Ranges of tokens, in order.
    ranges: Vec<Range<usize>>,
    /// Names of test modules that stand in files of their own.
    pub(crate) modules: Vec<String>,
}

impl TestCode {
    /// Finds it. One pass.
    pub(crate) fn find(tokens: &Tokens<'_>) -> Self {
        let mut found = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let attribute = Attribute::at(tokens, at);
            at = match attribute {
                Some(attribute) if is_test(tokens, &attribute) => {
                    let item = behind_attributes(tokens, attribute.end);
                    let end = match attribute.inner {
                        // `#![cfg(test)]`: the rest of the module or file.
                        true => tokens.enclosing(at).map_or(tokens.len(), |o| tokens.partner(o)),
                        false => end_of_item(tokens, item),
                    };
                    found.modules.extend(outside_module(tokens, item));
                    found.ranges.push(at..end);
                    end.max(at + 1)
                }
                Some(attribute) => attribute.end,
                None => at + 1,
            };
        }
        found
    }

    /// Whether a token is test code.
    pub(crate) fn contains(&self, index: usize) -> bool {
        let next = self.ranges.partition_point(|range| range.end <= index);
        self.ranges.get(next).is_some_and(|range| range.start <= index)
    }

    /// How many of the lines of a file's code are test code.
    pub(crate) fn code_lines(&self, tokens: &Tokens<'_>) -> usize {
        self.ranges.iter().map(|range| tokens.code_lines(range.clone())).sum()
    }
}

struct Attribute {
    /// Index of the opening bracket.
    open: usize,
    /// Index behind the closing one.
    end: usize,
    /// Whether it is about what it stands in: `#![...]`.
    inner: bool,
}

impl Attribute {
    fn at(tokens: &Tokens<'_>, index: usize) -> Option<Self> {
        if !tokens.is(index, "#") {
            return None;
        }
        let inner = tokens.is(index + 1, "!");
        let open = index + 1 + usize::from(inner);
        tokens.is(open, "[").then(|| Self { open, end: tokens.behind(open), inner })
    }
}

/// `test`, `cfg(test)`, or `cfg(all(test, ...))`. Code that `any` or `not` governs is built without
/// tests too.
fn is_test(tokens: &Tokens<'_>, attribute: &Attribute) -> bool {
    let starts = |expected: &[&str]| {
        expected.iter().enumerate().all(|(i, text)| tokens.is(attribute.open + 1 + i, text))
    };
    starts(&["test", "]"])
        || starts(&["cfg", "(", "test", ")"])
        || starts(&["cfg", "(", "all", "(", "test", ","])
}

fn behind_attributes(tokens: &Tokens<'_>, mut index: usize) -> usize {
    while let Some(attribute) = Attribute::at(tokens, index) {
        index = attribute.end;
    }
    index
}

/// Index behind the visibility that may stand at an index.
fn behind_visibility(tokens: &Tokens<'_>, index: usize) -> usize {
    match (tokens.is(index, "pub"), tokens.is(index + 1, "(")) {
        (true, true) => tokens.behind(index + 1),
        (true, false) => index + 1,
        _ => index,
    }
}

/// The name in `mod name;`.
fn outside_module(tokens: &Tokens<'_>, item: usize) -> Option<String> {
    let keyword = behind_visibility(tokens, item);
    let outside = tokens.is(keyword, "mod") && tokens.is(keyword + 2, ";");
    outside.then(|| tokens.at(keyword + 1).text.to_owned())
}

/// Index behind the item, field, arm or statement that begins at an index.
fn end_of_item(tokens: &Tokens<'_>, start: usize) -> usize {
    let keyword = behind_visibility(tokens, start);
    let first = if keyword < tokens.len() { tokens.at(keyword).text } else { "" };
    // `const fn` and its like have a body, `const X` has not.
    let is_function = || (keyword..keyword + 5).any(|at| tokens.is(at, "fn"));
    let (ends_with_braces, ends_with_comma) = match first {
        "use" | "static" | "type" | "let" => (false, false),
        "const" | "extern" => (is_function(), false),
        "mod" | "fn" | "impl" | "struct" | "enum" | "union" | "trait" | "async" | "unsafe"
        | "macro_rules" => (true, false),
        _ => (false, true),
    };
    let mut at = start;
    while at < tokens.len() && !tokens.is_kind(at, Kind::Close) {
        let last = tokens.is(at, ";")
            || ends_with_braces && tokens.is(at, "{")
            || ends_with_comma && tokens.is(at, ",");
        at = tokens.behind(at);
        if last {
            break;
        }
    }
    at
}

/// Whether a path is a file of tests by its place: below a directory `tests`, or `tests.rs`.
pub(crate) fn is_test_path(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    name == "tests.rs" || directories.split('/').any(|directory| directory == "tests")
}

/// The path, less `.rs`, of a module that a file declares as `mod name;`.
pub(crate) fn module_path(path: &str, name: &str) -> String {
    let (directory, file) = path.rsplit_once('/').unwrap_or(("", path));
    match file.strip_suffix(".rs") {
        Some("lib" | "main" | "mod") | None => format!("{directory}/{name}"),
        Some(stem) => format!("{directory}/{stem}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    //! Which tokens of small texts are test code.

    use super::*;
    use crate::source::lex::lex;

    /// The text's tokens outside tests.
    fn outside(text: &str) -> String {
        let lexed = lex(text);
        let tokens = Tokens::new(&lexed.tokens);
        let tests = TestCode::find(&tokens);
        let outside = (0..tokens.len()).filter(|&at| !tests.contains(at));
        outside.map(|at| tokens.at(at).text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_item_behind_the_attribute_is_test_code() {
        assert_eq!(outside("a #[cfg(test)] mod t { fn f() {} } b"), "a b");
        assert_eq!(outside("a #[cfg(test)] #[path = \"x\"] pub(crate) mod t; b"), "a b");
        assert_eq!(outside("a #[cfg(test)] use x::{y, z}; b"), "a b");
        assert_eq!(outside("a #[test] fn f<A, B>(x: [A; 1]) -> B where A: C { } b"), "a b");
        assert_eq!(outside("a #[cfg(all(test, unix))] const X: Y = Y { z: 1 }; b"), "a b");
        assert_eq!(outside("a #[cfg(test)] const fn f() { } b"), "a b");
        assert_eq!(outside("S { #[cfg(test)] x: Map<u8>, y: u8 }"), "S { y : u8 }");
        assert_eq!(outside("S { y: u8, #[cfg(test)] x: u8 }"), "S { y : u8 , }");
        assert_eq!(outside("#![cfg(test)] a b"), "");
        assert_eq!(outside("mod m { #![cfg(test)] a } b"), "mod m { } b");
    }

    #[test]
    fn what_is_built_without_tests_is_not_test_code() {
        for text in ["# [ cfg ( any ( test , x ) ) ] mod a { }", "# [ cfg ( not ( test ) ) ] fn f"]
        {
            assert_eq!(outside(text), text);
        }
    }

    #[test]
    fn modules_in_files_are_named_and_found() {
        let lexed = lex("#[cfg(test)] mod one; mod two; #[cfg(test)] mod three { }");
        let tests = TestCode::find(&Tokens::new(&lexed.tokens));
        assert_eq!(tests.modules, ["one"]);
        assert_eq!(module_path("crates/a/src/lib.rs", "one"), "crates/a/src/one");
        assert_eq!(module_path("crates/a/src/b.rs", "one"), "crates/a/src/b/one");
        assert_eq!(module_path("crates/a/src/b/mod.rs", "one"), "crates/a/src/b/one");
        assert!(is_test_path("crates/a/src/b/tests.rs") && is_test_path("crates/a/tests/c.rs"));
        assert!(!is_test_path("crates/a/src/tests_of.rs") && !is_test_path("crates/a/src/test.rs"));
    }
}
