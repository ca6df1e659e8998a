//! Every package takes the workspace's lints: without the two lines in its manifest, `unsafe` and
//! missing documentation would pass unseen.
//!
//! A package that may have `unsafe` cannot take them, because they forbid it. It writes them out, all
//! the same but for `unsafe_code`, which it denies, so that every module that needs it says so.

use crate::{finding::Finding, tree::Tree};
use toml::{Table, Value};

/// How a manifest leaves the lints out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum LintFault {
    /// It has not `workspace = true` under `[lints]`.
    #[error("does not take the workspace's lints: `[lints]`, then `workspace = true`")]
    NotInherited,
    /// It writes the lints out, and one is missing or weaker.
    #[error("has `unsafe` and must write the workspace's lints out: {lint} is not {level}")]
    NotWritten {
        /// The lint, after its tool.
        lint: String,
        /// Its level, as TOML.
        level: String,
    },
}

const ROOT: &str = "Cargo.toml";
const UNSAFE_CODE: &str = "unsafe_code";

/// Looks at every package's manifest; `own` are the packages that write the lints out.
pub(crate) fn check(tree: &Tree, own: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        let path = package.manifest();
        let text = tree.file(&path).map_or("", |file| &file.text);
        let faults = match own.contains(&package.name.as_str()) {
            true => unwritten(tree, text),
            false if inherits(text) => Vec::new(),
            false => vec![LintFault::NotInherited],
        };
        findings.extend(faults.into_iter().map(|fault| Finding::new(&path, 1, fault)));
    }
    findings
}

fn inherits(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
}

/// The workspace's lints that a manifest does not repeat.
fn unwritten(tree: &Tree, manifest: &str) -> Vec<LintFault> {
    // Cargo itself refuses manifests that are no TOML.
    let root: Table = tree.file(ROOT).and_then(|file| file.text.parse().ok()).unwrap_or_default();
    let manifest: Table = manifest.parse().unwrap_or_default();
    let demanded = root.get("workspace").and_then(|table| table.get("lints"));
    let mut faults = Vec::new();
    for (tool, lints) in demanded.and_then(Value::as_table).into_iter().flatten() {
        for (name, level) in lints.as_table().into_iter().flatten() {
            let denied = Value::from("deny");
            let level = if name == UNSAFE_CODE { &denied } else { level };
            let written = manifest.get("lints").and_then(|lints| lints.get(tool)?.get(name));
            if written != Some(level) {
                let lint = format!("{tool}::{name}");
                faults.push(LintFault::NotWritten { lint, level: level.to_string() });
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    //! Manifests with and without lints.

    use super::*;
    use crate::tree::tests::{files, package};

    #[test]
    fn a_manifest_must_take_them() {
        let mut tree = files(&[
            ("a/Cargo.toml", "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"),
            ("b/Cargo.toml", "[package]\nname = \"b\"\n"),
            ("c/Cargo.toml", "[lints]\n[dependencies]\nworkspace = true\n"),
        ]);
        tree.packages = ["a", "b", "c", "d"].map(|name| package(name, name)).to_vec();
        let expected = ["b/Cargo.toml", "c/Cargo.toml", "d/Cargo.toml"]
            .map(|path| Finding::new(path, 1, LintFault::NotInherited));
        assert_eq!(check(&tree, &[]), expected);
    }

    #[test]
    fn a_manifest_with_lints_of_its_own_repeats_them_all() {
        let root = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nmissing_docs = \"warn\"\n";
        let good =
            "[lints.rust]\nunsafe_code = \"deny\"\nmissing_docs = \"warn\"\nmore = \"deny\"\n";
        let bad = "[lints.rust]\nunsafe_code = \"allow\"\n";
        let mut tree =
            files(&[("Cargo.toml", root), ("a/Cargo.toml", good), ("b/Cargo.toml", bad)]);
        tree.packages = ["a", "b"].map(|name| package(name, name)).to_vec();
        let fault = |lint: &str, level: &str| {
            let (lint, level) = (lint.to_owned(), level.to_owned());
            Finding::new("b/Cargo.toml", 1, LintFault::NotWritten { lint, level })
        };
        let mut findings = check(&tree, &["a", "b"]);
        findings.sort();
        let expected =
            [fault("rust::missing_docs", "\"warn\""), fault("rust::unsafe_code", "\"deny\"")];
        assert_eq!(findings, expected);
    }
}
