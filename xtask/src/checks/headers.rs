//! Every Rust file begins with `//!` and its idea.

use crate::{finding::Finding, tree::Tree};

/// A file that needs no header, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exception {
    path: &'static str,
    /// Read by people only.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there to be read in the table"))]
    reason: &'static str,
}

/// The files that need none. There are none so far.
pub(crate) const EXCEPTIONS: &[Exception] = &[];

/// What is wrong with a file's beginning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum HeaderFault {
    /// It does not begin with a header.
    #[error("does not begin with a `//!` header that says its idea")]
    Missing,
    /// It is excused, and has a header, or is not there.
    #[error("is excused from having a header for no reason: strike it from the table")]
    StaleException,
}

/// Looks at the first line of every Rust file.
pub(crate) fn check(tree: &Tree, exceptions: &[Exception]) -> Vec<Finding> {
    let excused = |path: &str| exceptions.iter().any(|exception| exception.path == path);
    let mut findings: Vec<Finding> = tree
        .rust_files()
        .filter(|file| !has_header(&file.text) && !excused(&file.path))
        .map(|file| Finding::new(&file.path, 1, HeaderFault::Missing))
        .collect();
    for exception in exceptions {
        if tree.file(exception.path).is_none_or(|file| has_header(&file.text)) {
            findings.push(Finding::new(exception.path, 1, HeaderFault::StaleException));
        }
    }
    findings
}

fn has_header(text: &str) -> bool {
    let first = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    first.is_some_and(|idea| !idea.trim().is_empty())
}

#[cfg(test)]
mod tests {
    //! Files with and without headers.

    use super::*;
    use crate::tree::tests::files;

    #[test]
    fn the_first_line_must_say_something() {
        let tree = files(&[
            ("a.rs", "//! Rows.\nfn f() {}\n"),
            ("b.rs", "fn f() {}\n"),
            ("c.rs", "//!\n//! Rows.\n"),
            ("d.rs", ""),
            ("e.rs", "\n//! Rows.\n"),
            ("f.md", "text"),
        ]);
        let missing = ["b.rs", "c.rs", "d.rs", "e.rs"];
        let expected = missing.map(|path| Finding::new(path, 1, HeaderFault::Missing));
        assert_eq!(check(&tree, &[]), expected);
    }

    #[test]
    fn exceptions_excuse_and_go_stale() {
        let tree = files(&[("a.rs", "//! Rows.\n"), ("b.rs", "fn f() {}\n")]);
        let exceptions = ["a.rs", "b.rs", "c.rs"]
            .map(|path| Exception { path, reason: "included by another file's test" });
        assert!(exceptions.iter().all(|exception| !exception.reason.is_empty()));
        let stale = ["a.rs", "c.rs"];
        let expected = stale.map(|path| Finding::new(path, 1, HeaderFault::StaleException));
        assert_eq!(check(&tree, &exceptions), expected);
    }
}
