//! ARCHITECTURE.md names every package of the workspace, and only those.
//!
//! The section `## Code map` has an entry per package: a line that begins with its directory as in
//! ``- **`crates/mask`** ``. Packages of one kind may share an entry, whose line then begins with
//! all their directories: ``- **`crates/a`**, **`crates/b`** ``. Wherever else the page writes
//! `` `formwork-something` ``, that must be a package too.

use crate::{finding::Finding, tree::Tree};

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Code map";
const BULLET: &str = "- ";

/// How the page and the workspace differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum CodeMapFault {
    /// There is no page.
    #[error("is missing")]
    NoPage,
    /// The page has no such section.
    #[error("has no section `{HEADING}`")]
    NoSection,
    /// A package without an entry.
    #[error("the code map has no entry for {package}: a line beginning - **`{directory}`**")]
    NoEntry {
        /// The package.
        package: String,
        /// Its directory.
        directory: String,
    },
    /// An entry without a package.
    #[error("the code map's entry `{directory}` is no package's directory")]
    NoPackage {
        /// What the entry names.
        directory: String,
    },
    /// A second entry.
    #[error("the code map has `{directory}` twice")]
    Twice {
        /// What both name.
        directory: String,
    },
    /// A package's name that is none.
    #[error("`{name}` is no package of this workspace")]
    UnknownName {
        /// The name.
        name: String,
    },
}

/// Compares the page with the packages.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(PAGE) else {
        return vec![Finding::new(PAGE, 1, CodeMapFault::NoPage)];
    };
    let mut findings = unknown_names(tree, &page.text);
    let entries = entries(&page.text);
    match entries {
        Some(entries) => findings.extend(compare(tree, &entries)),
        None => findings.push(Finding::new(PAGE, 1, CodeMapFault::NoSection)),
    }
    findings
}

/// The directories that the code map names, with their lines.
fn entries(text: &str) -> Option<Vec<(usize, &str)>> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let mut section = numbered.skip_while(|(_, line)| line.trim_end() != HEADING);
    section.next()?;
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let entries = section.flat_map(|(number, line)| entry(line).map(move |named| (number, named)));
    Some(entries.collect())
}

/// The directories that a line begins with, if it is an entry.
fn entry(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line.strip_prefix(BULLET);
    std::iter::from_fn(move || {
        let (directory, behind) = rest?.strip_prefix("**`")?.split_once("`**")?;
        rest = behind.strip_prefix(", ");
        Some(directory)
    })
}

fn compare(tree: &Tree, entries: &[(usize, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (position, &(line, entry)) in entries.iter().enumerate() {
        let directory = entry.to_owned();
        if !tree.packages.iter().any(|package| package.directory == entry) {
            findings.push(Finding::new(PAGE, line, CodeMapFault::NoPackage { directory }));
        } else if entries[..position].iter().any(|&(_, earlier)| earlier == entry) {
            findings.push(Finding::new(PAGE, line, CodeMapFault::Twice { directory }));
        }
    }
    for package in &tree.packages {
        if !entries.iter().any(|&(_, entry)| entry == package.directory) {
            let (package, directory) = (package.name.clone(), package.directory.clone());
            findings.push(Finding::new(PAGE, 1, CodeMapFault::NoEntry { package, directory }));
        }
    }
    findings
}

/// Words in backquotes that look like packages of ours and are not.
fn unknown_names(tree: &Tree, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        // Every second part stands between backquotes.
        for name in line.split('`').skip(1).step_by(2) {
            let is_name = name.strip_prefix("formwork-").is_some_and(|rest| {
                rest.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            });
            if is_name && !tree.packages.iter().any(|package| package.name == name) {
                let fault = CodeMapFault::UnknownName { name: name.to_owned() };
                findings.push(Finding::new(PAGE, index + 1, fault));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    //! Pages about a workspace of two.

    use super::*;
    use crate::tree::tests::{files, package};

    fn check_page(text: &str) -> Vec<Finding> {
        let mut tree = files(&[(PAGE, text)]);
        tree.packages = vec![package("formwork-mask", "crates/mask"), package("xtask", "xtask")];
        check(&tree)
    }

    #[test]
    fn a_page_that_names_exactly_the_packages_passes() {
        let text = "# A\n- **`fill`** is no entry\n## Code map\n### Below\n\
            - **`crates/mask`** (`formwork-mask`) rows.\n\n- **`xtask`**: tasks.\n\
            ## Decisions\n- **`crates/gone`** was a mistake.\n";
        assert_eq!(check_page(text), []);
    }

    #[test]
    fn an_entry_may_name_several_packages() {
        assert_eq!(check_page("## Code map\n- **`crates/mask`**, **`xtask`** Both.\n"), []);
        let prose = "## Code map\n- **`crates/mask`** is seen by **`xtask`**.\n";
        assert_eq!(check_page(prose).len(), 1);
    }

    #[test]
    fn missing_unknown_and_doubled_entries_are_found() {
        let text = "## Code map\n- **`crates/mask`**\n- **`crates/gone`**\n- **`crates/mask`**\n";
        let directory = |directory: &str| directory.to_owned();
        let expected = [
            Finding::new(PAGE, 3, CodeMapFault::NoPackage { directory: directory("crates/gone") }),
            Finding::new(PAGE, 4, CodeMapFault::Twice { directory: directory("crates/mask") }),
            Finding::new(
                PAGE,
                1,
                CodeMapFault::NoEntry {
                    package: "xtask".to_owned(),
                    directory: directory("xtask"),
                },
            ),
        ];
        assert_eq!(check_page(text), expected);
    }

    #[test]
    fn a_name_in_prose_must_be_a_package() {
        let text = "see `formwork-gone` and `formwork-mask`\n## Code map\n- **`crates/mask`**\n- **`xtask`**\n";
        let fault = CodeMapFault::UnknownName { name: "formwork-gone".to_owned() };
        assert_eq!(check_page(text), [Finding::new(PAGE, 1, fault)]);
    }

    #[test]
    fn the_page_and_its_section_must_be_there() {
        let expected = [Finding::new(PAGE, 1, CodeMapFault::NoSection)];
        assert_eq!(check_page("# A\n"), expected);
        assert_eq!(check(&files(&[])), [Finding::new(PAGE, 1, CodeMapFault::NoPage)]);
    }
}
