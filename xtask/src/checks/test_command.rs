//! README.md tells newcomers the very command that `.ci/run` tests with.

use crate::{finding::Finding, tree::Tree};

const SCRIPT: &str = ".ci/run";
const PAGE: &str = "README.md";
const VARIABLE: &str = "TEST_COMMAND=";

/// How the two differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum TestCommandFault {
    /// The script does not state its command in the variable.
    #[error("does not say `{VARIABLE}\"...\"`, or is missing")]
    NotStated,
    /// The page does not have the command.
    #[error("does not have `{command}`, the test command of {SCRIPT}, on a line or in backquotes")]
    NotInReadme {
        /// The command.
        command: String,
    },
}

/// Compares the two files.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(command) = tree.file(SCRIPT).and_then(|script| stated(&script.text)) else {
        return vec![Finding::new(SCRIPT, 1, TestCommandFault::NotStated)];
    };
    let quoted = format!("`{command}`");
    let names_it = |line: &str| line.trim() == command || line.contains(&quoted);
    match tree.file(PAGE).is_some_and(|page| page.text.lines().any(names_it)) {
        true => Vec::new(),
        false => {
            let fault = TestCommandFault::NotInReadme { command: command.to_owned() };
            vec![Finding::new(PAGE, 1, fault)]
        }
    }
}

/// The command that a script assigns to the variable.
fn stated(script: &str) -> Option<&str> {
    let command = script.lines().find_map(assigned)?.trim().trim_matches(['"', '\'']);
    (!command.is_empty()).then_some(command)
}

fn assigned(line: &str) -> Option<&str> {
    line.strip_prefix("readonly ").unwrap_or(line).strip_prefix(VARIABLE)
}

#[cfg(test)]
mod tests {
    //! Scripts and pages that agree, and that do not.

    use super::*;
    use crate::tree::tests::files;

    const RUN: &str = "set -e\nreadonly TEST_COMMAND=\"cargo test --all\"\n$TEST_COMMAND\n";

    #[test]
    fn the_command_stands_on_a_line_or_in_backquotes() {
        for page in ["# A\n```sh\ncargo test --all\n```\n", "Run `cargo test --all` first.\n"] {
            assert_eq!(check(&files(&[(SCRIPT, RUN), (PAGE, page)])), []);
        }
    }

    #[test]
    fn another_command_or_no_page_is_found() {
        let fault = TestCommandFault::NotInReadme { command: "cargo test --all".to_owned() };
        let expected = [Finding::new(PAGE, 1, fault)];
        let longer = files(&[(SCRIPT, RUN), (PAGE, "cargo test --all-features\n")]);
        assert_eq!(check(&longer), expected);
        assert_eq!(check(&files(&[(SCRIPT, RUN)])), expected);
    }

    #[test]
    fn the_script_must_state_it() {
        let expected = [Finding::new(SCRIPT, 1, TestCommandFault::NotStated)];
        assert_eq!(check(&files(&[(SCRIPT, "cargo test\n")])), expected);
        assert_eq!(check(&files(&[(SCRIPT, "TEST_COMMAND=\"\"\n")])), expected);
        assert_eq!(check(&files(&[])), expected);
    }
}
