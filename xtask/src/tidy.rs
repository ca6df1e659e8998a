//! The list of checks, and the report of a run.

use crate::{
    checks::{
        code_map, edges, headers, lints,
        sizes::{self, SoftCounts},
        test_command, unsafe_code, words,
    },
    finding::Finding,
    tree::Tree,
};
use std::fmt;

/// What a run of all checks found.
#[derive(Debug)]
pub(crate) struct Report {
    /// Broken rules, by place.
    pub(crate) findings: Vec<Finding>,
    /// How much lies over the soft limits, which are counted and never fail.
    pub(crate) soft: SoftCounts,
}

/// Runs every check.
pub(crate) fn run(tree: &Tree) -> Report {
    let mut findings = Vec::new();
    findings.extend(edges::check(tree, edges::LAW));
    findings.extend(code_map::check(tree));
    findings.extend(lints::check(tree, unsafe_code::ALLOWED));
    findings.extend(headers::check(tree, headers::EXCEPTIONS));
    findings.extend(unsafe_code::check(tree, unsafe_code::ALLOWED));
    findings.extend(words::check(tree));
    findings.extend(test_command::check(tree));
    let sizes = sizes::check(tree);
    findings.extend(sizes.findings);
    findings.sort();
    Report { findings, soft: sizes.soft }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        writeln!(f, "tidy: {} findings; over a soft limit: {}", self.findings.len(), self.soft)
    }
}

#[cfg(test)]
mod tests {
    //! The rules hold for this very tree, and a report says what it found.

    use super::*;
    use crate::checks::headers::HeaderFault;

    #[test]
    fn the_tree_is_tidy() {
        let tree = Tree::load(crate::root().unwrap()).unwrap();
        assert!(tree.file("xtask/src/tidy.rs").is_some() && tree.packages.len() > 1);
        let report = run(&tree);
        assert!(report.findings.is_empty(), "\n{report}");
    }

    #[test]
    fn a_report_has_one_line_per_finding() {
        let report = Report {
            findings: vec![Finding::new("crates/mask/src/lib.rs", 1, HeaderFault::Missing)],
            soft: SoftCounts { files: 1, functions: 2, ..SoftCounts::default() },
        };
        let text = report.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("crates/mask/src/lib.rs:1: "));
        assert!(lines[1].starts_with("tidy: 1 findings; over a soft limit: 1 files, 2 functions"));
    }
}
