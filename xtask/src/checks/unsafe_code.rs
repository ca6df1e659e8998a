//! `unsafe` stands only in packages that are named here.

use crate::{
    finding::Finding,
    source::lex,
    tree::{File, Tree},
};

/// The packages that may: where instructions of a processor or addresses of a device are used.
pub(crate) const ALLOWED: &[&str] = &["formwork-apply"];

/// How `unsafe` is misplaced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum UnsafeFault {
    /// It stands in a package that may not have it.
    #[error("`unsafe` in a package that is not on the list in xtask/src/checks/unsafe_code.rs")]
    NotAllowed,
    /// A package may have it and has none, or is not there.
    #[error("{package} is on the list and has no `unsafe`: strike it")]
    Stale {
        /// The package.
        package: String,
    },
}

/// Looks for the keyword in every Rust file.
pub(crate) fn check(tree: &Tree, allowed: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used = Vec::new();
    for file in tree.rust_files() {
        let lines = unsafe_lines(file);
        if lines.is_empty() {
            continue;
        }
        let owner = tree.package_of(&file.path).map(|package| package.name.as_str());
        match owner.filter(|owner| allowed.contains(owner)) {
            Some(owner) => used.push(owner),
            None => findings.extend(
                lines.iter().map(|&line| Finding::new(&file.path, line, UnsafeFault::NotAllowed)),
            ),
        }
    }
    for package in allowed.iter().filter(|package| !used.contains(package)) {
        let fault = UnsafeFault::Stale { package: (*package).to_owned() };
        findings.push(Finding::new("xtask/src/checks/unsafe_code.rs", 1, fault));
    }
    findings
}

fn unsafe_lines(file: &File) -> Vec<usize> {
    // Most files lack the very letters, and need no splitting.
    if !file.text.contains("unsafe") {
        return Vec::new();
    }
    let lexed = lex(&file.text);
    let mut lines: Vec<usize> = lexed
        .tokens
        .iter()
        .filter(|token| token.text == "unsafe")
        .map(|token| token.line)
        .collect();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    //! The keyword in code, in comments, in strings, and within names.

    use super::*;
    use crate::tree::tests::{files, package};

    fn tree() -> Tree {
        let mut tree = files(&[
            ("a/src/lib.rs", "// unsafe\nconst A: &str = \"unsafe\";\nunsafe_code!();\n"),
            ("b/src/lib.rs", "fn f() {\n    unsafe { g() }\n}\n"),
        ]);
        tree.packages = vec![package("a", "a"), package("b", "b")];
        tree
    }

    #[test]
    fn only_the_keyword_counts() {
        let expected = [Finding::new("b/src/lib.rs", 2, UnsafeFault::NotAllowed)];
        assert_eq!(check(&tree(), &[]), expected);
    }

    #[test]
    fn the_list_allows_and_goes_stale() {
        assert_eq!(check(&tree(), &["b"]), []);
        let fault = UnsafeFault::Stale { package: "a".to_owned() };
        let expected = [Finding::new("xtask/src/checks/unsafe_code.rs", 1, fault)];
        assert_eq!(check(&tree(), &["a", "b"]), expected);
    }
}
