//! Every package takes the workspace's lints: without the two lines in its manifest, `unsafe` and
//! missing documentation would pass unseen.

use crate::{finding::Finding, tree::Tree};

/// How a manifest leaves the lints out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum LintFault {
    /// It has not `workspace = true` under `[lints]`.
    #[error("does not take the workspace's lints: `[lints]`, then `workspace = true`")]
    NotInherited,
}

/// Looks at every package's manifest.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.packages.iter().map(|package| package.manifest());
    manifests
        .filter(|path| tree.file(path).is_none_or(|file| !inherits(&file.text)))
        .map(|path| Finding::new(&path, 1, LintFault::NotInherited))
        .collect()
}

fn inherits(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
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
        assert_eq!(check(&tree), expected);
    }
}
