//! `// LONG: reason`: which item such a comment excuses, and whether it was needed.

use super::SizeFault;
use crate::source::{Comment, Item, Lexed};
use std::collections::HashSet;

const MARK: &str = "// LONG:";

/// The excuses of one file.
#[derive(Debug)]
pub(super) struct Excuses {
    given: Vec<Excuse>,
    /// Lines on which nothing but comments stand.
    comment_lines: HashSet<usize>,
    /// Line of the first token.
    first_code: usize,
}

#[derive(Debug)]
struct Excuse {
    line: usize,
    has_reason: bool,
    used: bool,
}

impl Excuses {
    /// Finds them.
    pub(super) fn new(lexed: &Lexed<'_>) -> Self {
        let code: HashSet<usize> =
            lexed.tokens.iter().flat_map(|token| token.line..=token.last_line).collect();
        let lines = lexed.comments.iter().flat_map(|comment| comment.line..=comment.last_line);
        Self {
            given: lexed.comments.iter().filter_map(excuse).collect(),
            comment_lines: lines.filter(|line| !code.contains(line)).collect(),
            first_code: lexed.tokens.first().map_or(usize::MAX, |token| token.line),
        }
    }

    /// Whether the file is excused: by a comment before its first token.
    pub(super) fn excuse_file(&mut self) -> bool {
        let first_code = self.first_code;
        self.take(|line| line < first_code)
    }

    /// Whether an item is excused: by a comment between its beginning and its keyword, or in the
    /// run of comment lines above.
    pub(super) fn excuse_item(&mut self, item: &Item<'_>) -> bool {
        let mut first = item.first_line;
        while self.comment_lines.contains(&(first - 1)) {
            first -= 1;
        }
        self.take(|line| (first..=item.line).contains(&line))
    }

    fn take(&mut self, applies: impl Fn(usize) -> bool) -> bool {
        let mut found = false;
        for excuse in self.given.iter_mut().filter(|excuse| applies(excuse.line)) {
            excuse.used = true;
            found |= excuse.has_reason;
        }
        found
    }

    /// What is wrong with the excuses themselves, now that every item has been measured.
    pub(super) fn into_faults(self) -> impl Iterator<Item = (usize, SizeFault)> {
        self.given.into_iter().filter_map(|excuse| match (excuse.used, excuse.has_reason) {
            (_, false) => Some((excuse.line, SizeFault::NoReason)),
            (false, true) => Some((excuse.line, SizeFault::StaleExcuse)),
            (true, true) => None,
        })
    }
}

fn excuse(comment: &Comment<'_>) -> Option<Excuse> {
    let reason = comment.text.strip_prefix(MARK)?;
    Some(Excuse { line: comment.line, has_reason: !reason.trim().is_empty(), used: false })
}
