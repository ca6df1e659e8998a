//! Cases, as their files have them: a JSON object a line.

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, fs, path::Path};

/// All cases of a folder.
#[derive(Debug, Default)]
pub(super) struct Corpora {
    pub(super) cases: Vec<Case>,
}

/// A constraint, and what is expected of it.
#[derive(Debug)]
pub(super) struct Case {
    /// Where the expectation comes from: the corpus, a slash, a file and a test.
    pub(super) source: String,
    pub(super) frontend: String,
    /// The constraint: a string is its text, anything else is JSON to be read as it stands.
    pub(super) spec: Box<RawValue>,
    /// What else the source was told, in its own words.
    pub(super) options: Map<String, Value>,
    pub(super) mode: Mode,
    pub(super) expectation: Expectation,
    /// What an unrelated JSON Schema validator says of the input, where it can say.
    pub(super) schema_valid: Option<bool>,
    pub(super) tags: Vec<String>,
    /// The line.
    pub(super) line: Box<RawValue>,
}

/// What is asked of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mode {
    /// Whether it satisfies the constraint.
    Whole,
    /// Whether it can be completed.
    Prefix,
}

/// What should come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// Whether an input is accepted.
    Input {
        /// The input.
        text: String,
        /// The expected verdict.
        accept: bool,
    },
    /// Whether the constraint compiles.
    Compiles(bool),
}

/// A line, unchecked.
#[derive(Deserialize)]
struct Line {
    source: String,
    frontend: String,
    spec: Box<RawValue>,
    options: Map<String, Value>,
    input: Option<String>,
    accept: Option<bool>,
    compiles: Option<bool>,
    schema_valid: Option<bool>,
    #[serde(default)]
    tags: Vec<String>,
}

impl Corpora {
    /// Reads every `*.jsonl` of a folder, in the order of their names.
    ///
    /// # Errors
    /// When a file cannot be read, or a line of it is no case.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let listing = fs::read_dir(folder)
            .with_context(|| format!("cannot list the folder {}", folder.display()))?;
        let paths = listing.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let mut paths: Vec<_> = paths
            .into_iter()
            .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
            .collect();
        paths.sort();
        let mut corpora = Self::default();
        for path in paths {
            let text = fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            corpora.add(&text).with_context(|| path.display().to_string())?;
        }
        Ok(corpora)
    }

    /// Adds the cases of a file.
    ///
    /// # Errors
    /// When a line is no case.
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        for (index, line) in text.lines().enumerate() {
            if !line.trim().is_empty() {
                let case = Case::read(line).with_context(|| format!("line {}", index + 1))?;
                self.cases.push(case);
            }
        }
        Ok(())
    }

    /// How many cases each source has.
    pub(super) fn sizes(&self) -> BTreeMap<&str, usize> {
        let mut sizes = BTreeMap::new();
        for case in &self.cases {
            *sizes.entry(case.corpus()).or_default() += 1;
        }
        sizes
    }
}

impl Case {
    fn read(text: &str) -> Result<Self> {
        let line: Line = serde_json::from_str(text)?;
        let mut options = line.options;
        let mode = options.remove("mode").map(serde_json::from_value).transpose()?;
        let expectation = match (line.input, line.accept, line.compiles) {
            (Some(text), Some(accept), None) => Expectation::Input { text, accept },
            (None, None, Some(compiles)) => Expectation::Compiles(compiles),
            _ => bail!("a case has either `input` and `accept`, or `compiles`"),
        };
        ensure!(line.source.contains('/'), "no slash in the source {:?}", line.source);
        Ok(Self {
            source: line.source,
            frontend: line.frontend,
            spec: line.spec,
            options,
            mode: mode.unwrap_or(Mode::Whole),
            expectation,
            schema_valid: line.schema_valid,
            tags: line.tags,
            line: RawValue::from_string(text.to_owned())?,
        })
    }

    /// The source by its short name.
    pub(super) fn corpus(&self) -> &str {
        self.source.split_once('/').map_or(&self.source, |(corpus, _)| corpus)
    }

    /// What tells it from others: SHA-256, in hexadecimal digits, of the spec's JSON text, a NUL and
    /// the input.
    pub(super) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.spec.get());
        hash.update([0]);
        if let Expectation::Input { text, .. } = &self.expectation {
            hash.update(text);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the expectation is what JSON Schema itself says.
    pub(super) fn agrees_with_json_schema(&self) -> bool {
        match self.expectation {
            Expectation::Input { accept, .. } => self.schema_valid == Some(accept),
            Expectation::Compiles(_) => false,
        }
    }
}
