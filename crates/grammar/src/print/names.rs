//! Names that the EBNF front end reads as names, all different.

use crate::RuleId;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) struct Names {
    /// By rule.
    rules: Vec<String>,
    taken: FxHashSet<String>,
    /// By base, the last number given to it.
    last: FxHashMap<String, usize>,
}

impl Names {
    /// Names for these rules, of which the first is the root.
    pub(super) fn new(rules: &[Box<str>]) -> Self {
        let mut names =
            Self { rules: Vec::new(), taken: FxHashSet::default(), last: FxHashMap::default() };
        names.taken.insert("root".to_owned());
        names.rules.push("root".to_owned());
        for rule in rules.iter().skip(1) {
            let base = readable(rule);
            let name = match names.taken.insert(base.clone()) {
                true => base,
                false => names.fresh(&base),
            };
            names.rules.push(name);
        }
        names
    }

    pub(super) fn rule(&self, rule: RuleId) -> &str {
        &self.rules[rule.index()]
    }

    /// A name that begins with `base` and is not taken yet.
    pub(super) fn fresh(&mut self, base: &str) -> String {
        loop {
            let last = self.last.entry(base.to_owned()).or_insert(0);
            *last += 1;
            let name = format!("{base}-{last}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Longest part of a rule's own name that is kept, in bytes.
const LONGEST: usize = 40;

/// A name in lower case at its start, so that it is none of the front end's own.
fn readable(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut readable: String = name.chars().map(allowed).take(LONGEST).collect();
    let is_fine = readable.starts_with(|first: char| first.is_ascii_lowercase());
    if !is_fine || matches!(&*readable, "true" | "false") {
        readable.insert_str(0, "r-");
    }
    readable
}
