//! Sizes: how long files and functions may be, how many parameters, fields and features there are.
//!
//! Tests and comments are not counted. What exceeds a hard limit is a finding, unless a comment
//! `// LONG: reason` stands right above the item (above or among its attributes and
//! documentation), or, for a file, before its first item. Such a comment that excuses nothing is a
//! finding too. What exceeds a soft limit is counted.

mod excuses;

use crate::{
    finding::Finding,
    source::{
        Function, Item, Lexed, Struct, TestCode, Tokens, functions, is_test_path, lex, module_path,
        structs,
    },
    tree::{File, Package, Tree},
};
use excuses::Excuses;
use std::{collections::HashSet, fmt};

/// A limit that is reported and one that is enforced. Both are inclusive.
#[derive(Clone, Copy, Debug)]
struct Limit {
    soft: usize,
    hard: usize,
}

/// Lines of code of a file, tests left out.
const FILE_LINES: Limit = Limit { soft: 400, hard: 700 };
/// Lines of code between the braces of a function.
const BODY_LINES: Limit = Limit { soft: 40, hard: 60 };
/// Parameters of a function besides `self`.
const PARAMETERS: Limit = Limit { soft: 4, hard: 5 };
/// Fields of a struct.
const FIELDS: Limit = Limit { soft: 10, hard: 15 };
/// Features of a package.
const FEATURES: Limit = Limit { soft: 3, hard: 6 };

/// What is too large.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum SizeFault {
    /// A file.
    #[error("{lines} lines of code, at most {} are allowed", FILE_LINES.hard)]
    File {
        /// How many it has.
        lines: usize,
    },
    /// A function's body.
    #[error("the body of `{function}` has {lines} lines, at most {} are allowed", BODY_LINES.hard)]
    Body {
        /// Whose body.
        function: String,
        /// How many it has.
        lines: usize,
    },
    /// A function's parameters.
    #[error("`{function}` has {count} parameters, at most {} are allowed", PARAMETERS.hard)]
    Parameters {
        /// Whose parameters.
        function: String,
        /// How many it has.
        count: usize,
    },
    /// A public function that is steered by a flag.
    #[error(
        "parameter `{parameter}` of public `{function}` is a bool: make it an enum, or two \
             functions"
    )]
    BoolParameter {
        /// Whose parameter.
        function: String,
        /// Which.
        parameter: String,
    },
    /// A struct.
    #[error("struct `{name}` has {count} fields, at most {} are allowed", FIELDS.hard)]
    Fields {
        /// Its name.
        name: String,
        /// How many it has.
        count: usize,
    },
    /// A package.
    #[error("{package} has {count} features, at most {} are allowed", FEATURES.hard)]
    Features {
        /// Its name.
        package: String,
        /// How many it has.
        count: usize,
    },
    /// An excuse without a reason.
    #[error("`LONG:` without a reason")]
    NoReason,
    /// An excuse for nothing.
    #[error("`LONG:` excuses nothing: remove it")]
    StaleExcuse,
}

/// How many things lie over a soft limit, excused ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SoftCounts {
    /// Files with too many lines of code.
    pub(crate) files: usize,
    /// Functions with long bodies.
    pub(crate) functions: usize,
    /// Functions with many parameters.
    pub(crate) parameters: usize,
    /// Structs with many fields.
    pub(crate) structs: usize,
    /// Packages with many features.
    pub(crate) packages: usize,
}

impl fmt::Display for SoftCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} files, {} functions by length and {} by parameters, {} structs, {} packages",
            self.files, self.functions, self.parameters, self.structs, self.packages
        )
    }
}

/// Findings, and counts beside them.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    /// What exceeds a hard limit.
    pub(crate) findings: Vec<Finding>,
    /// What exceeds a soft limit.
    pub(crate) soft: SoftCounts,
}

/// Measures everything.
pub(crate) fn check(tree: &Tree) -> Sizes {
    let mut sizes = Sizes::default();
    let sources: Vec<(&File, Lexed<'_>)> =
        tree.rust_files().map(|file| (file, lex(&file.text))).collect();
    let tests = test_files(&sources);
    for (file, lexed) in &sources {
        sizes.measure_file(file, lexed, tests.contains(file.path.as_str()));
    }
    for package in &tree.packages {
        sizes.measure_package(package);
    }
    sizes
}

/// The paths of files of tests: by their place, or as modules that another file has for tests only.
fn test_files<'t>(sources: &[(&'t File, Lexed<'_>)]) -> HashSet<&'t str> {
    let mut modules = HashSet::new();
    for (file, lexed) in sources {
        let found = TestCode::find(&Tokens::new(&lexed.tokens)).modules;
        modules.extend(found.iter().map(|name| module_path(&file.path, name)));
    }
    let is_test = |path: &str| {
        let module = path.strip_suffix(".rs").unwrap_or(path);
        let mut above = module.match_indices('/').map(|(at, _)| &module[..at]);
        is_test_path(path) || modules.contains(module) || above.any(|path| modules.contains(path))
    };
    sources.iter().map(|(file, _)| file.path.as_str()).filter(|path| is_test(path)).collect()
}

impl Sizes {
    fn measure_file(&mut self, file: &File, lexed: &Lexed<'_>, is_test: bool) {
        let tokens = Tokens::new(&lexed.tokens);
        let tests = TestCode::find(&tokens);
        let mut excuses = Excuses::new(lexed);
        if !is_test {
            let lines = tokens.code_lines(0..tokens.len()) - tests.code_lines(&tokens);
            self.soft.files += usize::from(lines > FILE_LINES.soft);
            if lines > FILE_LINES.hard && !excuses.excuse_file() {
                self.findings.push(Finding::new(&file.path, 1, SizeFault::File { lines }));
            }
            let counted = |item: &Item<'_>| !tests.contains(item.index);
            for function in functions(&tokens).iter().filter(|f| counted(&f.item)) {
                self.measure_function(file, function, &mut excuses);
            }
            for subject in structs(&tokens).iter().filter(|s| counted(&s.item)) {
                self.measure_struct(file, subject, &mut excuses);
            }
        }
        let faults = excuses.into_faults();
        self.findings.extend(faults.map(|(line, fault)| Finding::new(&file.path, line, fault)));
    }

    fn measure_function(&mut self, file: &File, function: &Function<'_>, excuses: &mut Excuses) {
        let (lines, count) = (function.body_lines, function.parameters);
        self.soft.functions += usize::from(lines > BODY_LINES.soft);
        self.soft.parameters += usize::from(count > PARAMETERS.soft);
        let name = || function.item.name.to_owned();
        let mut faults = Vec::new();
        if lines > BODY_LINES.hard {
            faults.push(SizeFault::Body { function: name(), lines });
        }
        if count > PARAMETERS.hard {
            faults.push(SizeFault::Parameters { function: name(), count });
        }
        if function.public {
            let flags = function.bool_parameters.iter().cloned();
            faults.extend(
                flags.map(|parameter| SizeFault::BoolParameter { function: name(), parameter }),
            );
        }
        self.find(file, &function.item, faults, excuses);
    }

    fn measure_struct(&mut self, file: &File, subject: &Struct<'_>, excuses: &mut Excuses) {
        let count = subject.fields;
        self.soft.structs += usize::from(count > FIELDS.soft);
        if count > FIELDS.hard {
            let fault = SizeFault::Fields { name: subject.item.name.to_owned(), count };
            self.find(file, &subject.item, vec![fault], excuses);
        }
    }

    fn measure_package(&mut self, package: &Package) {
        let count = package.features.len();
        self.soft.packages += usize::from(count > FEATURES.soft);
        if count > FEATURES.hard {
            let fault = SizeFault::Features { package: package.name.clone(), count };
            self.findings.push(Finding::new(&package.manifest(), 1, fault));
        }
    }

    fn find(
        &mut self,
        file: &File,
        item: &Item<'_>,
        faults: Vec<SizeFault>,
        excuses: &mut Excuses,
    ) {
        if !faults.is_empty() && !excuses.excuse_item(item) {
            let found = faults.into_iter().map(|fault| Finding::new(&file.path, item.line, fault));
            self.findings.extend(found);
        }
    }
}

#[cfg(test)]
mod tests;
