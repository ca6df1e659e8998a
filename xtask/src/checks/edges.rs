//! Dependency edges: which package of the workspace may use which.
//!
//! [`LAW`] is the direction of dependencies, in one place. It lists what is allowed, not what is
//! used: an edge that no manifest asks for is no finding. A package without a row is one, and so is
//! a row without a package.

use crate::{
    finding::Finding,
    tree::{Package, Tree, Usage},
};
use Allowed::{Anything, Only};

/// What one package may depend on within the workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The package.
    package: &'static str,
    /// What it may use.
    normal: Allowed,
    /// What its tests may use besides.
    development: Allowed,
}

/// Packages of the workspace that may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowed {
    /// Every one.
    Anything,
    /// These.
    Only(&'static [&'static str]),
}

const NOTHING: Allowed = Only(&[]);

/// What a backend is made of.
const BACKEND: &[&str] = &[
    "formwork-core",
    "formwork-grammar",
    "formwork-vocab",
    "formwork-mask",
    "formwork-automata",
    "formwork-slices",
    "formwork-archive",
];

/// What the judges of backends are made of: what backends see, and the front ends.
const CORE_AND_FRONT_ENDS: &[&str] = &[
    "formwork-core",
    "formwork-grammar",
    "formwork-vocab",
    "formwork-mask",
    "formwork-automata",
    "formwork-choice",
    "formwork-json-schema",
    "formwork-regex",
];

/// What the facade gathers.
const LIBRARIES: &[&str] = &[
    "formwork-core",
    "formwork-grammar",
    "formwork-vocab",
    "formwork-mask",
    "formwork-automata",
    "formwork-choice",
    "formwork-ebnf",
    "formwork-json-schema",
    "formwork-lark",
    "formwork-regex",
    "formwork-slices",
    "formwork-structural-tag",
    "formwork-dfa",
    "formwork-earley",
    "formwork-pda",
    "formwork-tokenizers",
];

/// What a backend's tests may use: the suite that judges it, and front ends to write grammars with.
const SUITE: Allowed =
    Only(&["formwork-conformance", "formwork-choice", "formwork-json-schema", "formwork-regex"]);

/// What a front end's tests may use: the oracle, which needs a vocabulary.
const MEMBERSHIP: Allowed = Only(&["formwork-conformance", "formwork-vocab"]);

/// The direction of dependencies.
pub(crate) const LAW: &[Row] = &[
    row("formwork-mask", NOTHING, NOTHING),
    row("formwork-apply", Only(&["formwork-mask"]), NOTHING),
    row("formwork-automata", NOTHING, NOTHING),
    row("formwork-archive", NOTHING, NOTHING),
    row("formwork-vocab", Only(&["formwork-mask", "formwork-archive"]), NOTHING),
    row(
        "formwork-slices",
        Only(&["formwork-mask", "formwork-vocab", "formwork-automata"]),
        NOTHING,
    ),
    row("formwork-grammar", Only(&["formwork-automata"]), NOTHING),
    row("formwork-choice", Only(&["formwork-grammar", "formwork-automata"]), NOTHING),
    row("formwork-regex", Only(&["formwork-grammar", "formwork-automata"]), NOTHING),
    row(
        "formwork-json-schema",
        Only(&["formwork-grammar", "formwork-automata", "formwork-regex"]),
        NOTHING,
    ),
    row(
        "formwork-ebnf",
        Only(&["formwork-grammar", "formwork-automata", "formwork-regex"]),
        MEMBERSHIP,
    ),
    row(
        "formwork-lark",
        Only(&["formwork-grammar", "formwork-automata", "formwork-regex", "formwork-json-schema"]),
        MEMBERSHIP,
    ),
    row(
        "formwork-structural-tag",
        Only(&[
            "formwork-grammar",
            "formwork-automata",
            "formwork-regex",
            "formwork-json-schema",
            "formwork-ebnf",
        ]),
        MEMBERSHIP,
    ),
    row(
        "formwork-core",
        Only(&["formwork-grammar", "formwork-vocab", "formwork-mask", "formwork-automata"]),
        NOTHING,
    ),
    row("formwork-dfa", Only(BACKEND), SUITE),
    row("formwork-earley", Only(BACKEND), SUITE),
    row("formwork-pda", Only(BACKEND), SUITE),
    row("formwork-tokenizers", Only(&["formwork-vocab", "formwork-archive"]), NOTHING),
    row("formwork", Only(LIBRARIES), Only(&["formwork-conformance"])),
    row("formwork-engine", Only(&["formwork"]), Only(&["formwork-conformance"])),
    row("formwork-cli", Only(&["formwork", "formwork-tokenizers"]), NOTHING),
    // The suite knows no backend; its own tests hold every backend against it.
    row(
        "formwork-conformance",
        Only(CORE_AND_FRONT_ENDS),
        Only(&["formwork-dfa", "formwork-earley", "formwork-pda", "formwork-tokenizers"]),
    ),
    row("formwork-benches", Anything, Anything),
    row("formwork-examples", Anything, Anything),
    row("xtask", Only(&["formwork"]), NOTHING),
];

const fn row(package: &'static str, normal: Allowed, development: Allowed) -> Row {
    Row { package, normal, development }
}

/// How a manifest breaks the law.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum EdgeFault {
    /// An edge that the law does not have.
    #[error("{from} may not depend on {to}: {LAW_STANDS}")]
    Forbidden {
        /// The package.
        from: String,
        /// What it asks for.
        to: String,
    },
    /// An edge that the law does not have even for tests.
    #[error("tests of {from} may not depend on {to}: {LAW_STANDS}")]
    ForbiddenInTests {
        /// The package.
        from: String,
        /// What it asks for.
        to: String,
    },
    /// A package the law does not know.
    #[error("{package} has no row: {LAW_STANDS}")]
    NoRow {
        /// The package.
        package: String,
    },
    /// A row about nothing.
    #[error("the row of {package} has no package: {LAW_STANDS}")]
    NoPackage {
        /// The row's package.
        package: String,
    },
}

const LAW_STANDS: &str = "the law is the table in xtask/src/checks/edges.rs";

/// Compares the packages' edges within the workspace with a law.
pub(crate) fn check(tree: &Tree, law: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &tree.packages {
        match law.iter().find(|row| row.package == package.name) {
            Some(row) => check_package(tree, package, row, &mut findings),
            None => {
                let fault = EdgeFault::NoRow { package: package.name.clone() };
                findings.push(Finding::new(&package.manifest(), 1, fault));
            }
        }
    }
    for row in law {
        if !tree.packages.iter().any(|package| package.name == row.package) {
            let fault = EdgeFault::NoPackage { package: row.package.to_owned() };
            findings.push(Finding::new("xtask/src/checks/edges.rs", 1, fault));
        }
    }
    findings
}

fn check_package(tree: &Tree, package: &Package, row: &Row, findings: &mut Vec<Finding>) {
    for dependency in &package.dependencies {
        let name = &dependency.name;
        if !tree.packages.iter().any(|member| member.name == *name) {
            continue;
        }
        let in_tests = dependency.usage == Usage::Development;
        if row.normal.allows(name) || in_tests && row.development.allows(name) {
            continue;
        }
        let (from, to) = (package.name.clone(), name.clone());
        let fault = match dependency.usage {
            Usage::Normal => EdgeFault::Forbidden { from, to },
            Usage::Development => EdgeFault::ForbiddenInTests { from, to },
        };
        let manifest = package.manifest();
        let line = tree.file(&manifest).map_or(1, |file| {
            file.line_where(|line| {
                line.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
            })
        });
        findings.push(Finding::new(&manifest, line, fault));
    }
}

impl Allowed {
    fn allows(self, package: &str) -> bool {
        match self {
            Anything => true,
            Only(packages) => packages.contains(&package),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Made-up workspaces against a made-up law, and the law against itself.

    use super::*;
    use crate::tree::tests::{files, package, with_dependency};

    const SMALL: &[Row] = &[
        row("low", NOTHING, NOTHING),
        row("high", Only(&["low"]), Only(&["suite"])),
        row("suite", Anything, Anything),
    ];

    fn workspace(high: &[(&str, Usage)]) -> Tree {
        let mut tree = files(&[(
            "crates/high/Cargo.toml",
            "[dependencies]\nlow-level = \"1\"\nlow.workspace = true\nsuite = \"1\"\n",
        )]);
        let start = package("high", "crates/high");
        let high = high
            .iter()
            .fold(start, |package, &(name, usage)| with_dependency(package, name, usage));
        tree.packages = vec![high, package("low", "crates/low"), package("suite", "suite")];
        tree
    }

    #[test]
    fn allowed_edges_and_other_workspaces_packages_pass() {
        let tree = workspace(&[
            ("low", Usage::Normal),
            ("low", Usage::Development),
            ("suite", Usage::Development),
            ("serde", Usage::Normal),
        ]);
        assert_eq!(check(&tree, SMALL), []);
    }

    #[test]
    fn an_edge_for_tests_is_not_one_for_the_library() {
        let fault = EdgeFault::Forbidden { from: "high".to_owned(), to: "suite".to_owned() };
        let expected = [Finding::new("crates/high/Cargo.toml", 4, fault)];
        assert_eq!(check(&workspace(&[("suite", Usage::Normal)]), SMALL), expected);
    }

    #[test]
    fn an_edge_that_nobody_may_have_is_found_in_tests_too() {
        let mut tree = workspace(&[]);
        tree.packages[1] =
            with_dependency(package("low", "crates/low"), "high", Usage::Development);
        let fault = EdgeFault::ForbiddenInTests { from: "low".to_owned(), to: "high".to_owned() };
        assert_eq!(check(&tree, SMALL), [Finding::new("crates/low/Cargo.toml", 1, fault)]);
    }

    #[test]
    fn packages_and_rows_match_one_to_one() {
        let mut tree = workspace(&[]);
        tree.packages[1] = package("new", "crates/new");
        let faults: Vec<EdgeFault> = vec![
            EdgeFault::NoRow { package: "new".to_owned() },
            EdgeFault::NoPackage { package: "low".to_owned() },
        ];
        let expected: Vec<_> = faults.into_iter().map(crate::finding::Fault::from).collect();
        let found: Vec<_> = check(&tree, SMALL).into_iter().map(|finding| finding.fault).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_law_names_only_packages_that_have_a_row_and_has_no_cycle() {
        let mut placed: Vec<&str> = Vec::new();
        let mut left: Vec<&'static Row> = LAW.iter().collect();
        while !left.is_empty() {
            let before = left.len();
            let (ready, waiting): (Vec<&Row>, Vec<&Row>) = left.into_iter().partition(|row| {
                matches!(row.normal, Only(below) if below.iter().all(|name| placed.contains(name)))
                    || matches!(row.normal, Anything)
            });
            placed.extend(ready.iter().map(|row| row.package));
            left = waiting;
            assert!(left.len() < before, "a cycle, or a name without a row, among {left:?}");
        }
        for row in LAW {
            if let Only(names) = row.development {
                assert!(names.iter().all(|name| placed.contains(name)), "{row:?}");
            }
        }
    }
}
