//! Cases: JSON lines of schemas with tokenized tests, or of regular expressions with texts.

use crate::{engine::Constraint, vocabulary::Vocabularies};
use anyhow::{Context, Result, ensure};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{collections::HashMap, fs, io::Cursor, path::Path};

/// A constraint and the outputs that are checked against it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Its name.
    pub(crate) id: String,
    /// The part of the collection it comes from.
    pub(crate) split: String,
    /// What is compiled.
    pub(crate) constraint: Constraint,
    /// What is followed.
    pub(crate) tests: Vec<Test>,
}

/// One output.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Test {
    /// Whether it satisfies the constraint.
    pub(crate) valid: bool,
    /// Its tokens, without an end of sequence.
    pub(crate) tokens: Vec<u32>,
}

/// Which cases of a file are measured, and in which order.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// All, as they stand.
    All,
    /// These ids, in this order.
    Ids(Vec<String>),
    /// The first ones whose ids begin so.
    First {
        /// At most so many.
        limit: usize,
        /// What their ids begin with.
        prefix: String,
    },
    /// A random sample.
    Sample {
        /// At most so many.
        limit: usize,
        /// What the sample and its order follow from.
        seed: u64,
    },
}

/// A line of a file of schemas. The schema and the tests are read only if the case is chosen.
#[derive(Deserialize)]
struct SchemaLine<'a> {
    id: String,
    split: String,
    #[serde(borrow)]
    schema: &'a RawValue,
    #[serde(borrow)]
    tests: &'a RawValue,
}

/// A line of a list of regular expressions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegexLine {
    id: String,
    regex: String,
    accept: Vec<String>,
    refuse: Vec<String>,
}

/// A line of a list of grammars.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrammarLine {
    id: String,
    ebnf: String,
    lark: String,
    accept: Vec<Output>,
    #[serde(default)]
    refuse: Vec<Output>,
}

/// A text that is checked.
#[derive(Deserialize)]
#[serde(untagged)]
enum Output {
    Text(String),
    File { file: String },
}

/// Reads cases `{"id","split","schema","tests":[{"valid","tokens"}]}`, one a line; a file whose name
/// ends in `.xz` is decompressed.
///
/// # Errors
/// When the file cannot be read, a line is no case, or a chosen id is not there.
pub(crate) fn schemas(path: &Path, choice: &Choice) -> Result<Vec<Case>> {
    let text = read(path)?;
    let lines = lines::<SchemaLine<'_>>(&text, path)?;
    choose(lines, choice, |line| &line.id)?
        .into_iter()
        .map(|line| {
            let context = || format!("case {}", line.id);
            let value = serde_json::from_str(line.schema.get()).with_context(context)?;
            let tests = serde_json::from_str(line.tests.get()).with_context(context)?;
            let constraint = Constraint::Schema { text: line.schema.get().to_owned(), value };
            Ok(Case { id: line.id, split: line.split, constraint, tests })
        })
        .collect()
}

/// Reads cases `{"id","regex","accept":[text],"refuse":[text]}`, one a line, and encodes the texts.
///
/// # Errors
/// As [`schemas`].
pub(crate) fn regexes(
    path: &Path,
    choice: &Choice,
    vocabularies: &Vocabularies,
) -> Result<Vec<Case>> {
    let text = read(path)?;
    let lines = choose(lines::<RegexLine>(&text, path)?, choice, |line| &line.id)?;
    let test = |text: &String, valid| Test { valid, tokens: vocabularies.encode(text) };
    Ok(lines
        .into_iter()
        .map(|line| {
            let accept = line.accept.iter().map(|text| test(text, true));
            let tests = accept.chain(line.refuse.iter().map(|text| test(text, false))).collect();
            let constraint = Constraint::Regex(line.regex);
            Case { id: line.id, split: "regex".into(), constraint, tests }
        })
        .collect())
}

/// Reads grammars `{"id","ebnf","lark","accept":[text],"refuse":[text]}`, one a line, and encodes the
/// texts. `ebnf` and `lark` are one grammar in two languages, or the names of files beside this one
/// where they end in `.ebnf` and `.lark`; a text `{"file":name}` is what stands in that file.
///
/// # Errors
/// As [`schemas`].
pub(crate) fn grammars(path: &Path, vocabularies: &Vocabularies) -> Result<Vec<Case>> {
    let text = read(path)?;
    let beside = |name: &str| read(&path.parent().unwrap_or(Path::new(".")).join(name));
    let source = |text: String, extension: &str| match text.ends_with(extension) {
        true => beside(&text),
        false => Ok(text),
    };
    let test = |output: &Output, valid| {
        let tokens = match output {
            Output::Text(text) => vocabularies.encode(text),
            Output::File { file } => vocabularies.encode(&beside(file)?),
        };
        anyhow::Ok(Test { valid, tokens })
    };
    let lines = lines::<GrammarLine>(&text, path)?.into_iter();
    lines
        .map(|line| {
            let accept = line.accept.iter().map(|output| test(output, true));
            let tests = accept.chain(line.refuse.iter().map(|output| test(output, false)));
            let tests = tests.collect::<Result<_>>()?;
            let (ebnf, lark) = (source(line.ebnf, ".ebnf")?, source(line.lark, ".lark")?);
            let constraint = Constraint::Grammar { ebnf, lark };
            Ok(Case { id: line.id, split: "grammar".into(), constraint, tests })
        })
        .collect()
}

/// Reads a list of ids, one a line; blank lines are passed over.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn ids(path: &Path) -> Result<Vec<String>> {
    let text = read(path)?;
    Ok(text.lines().map(str::trim).filter(|id| !id.is_empty()).map(str::to_owned).collect())
}

fn read(path: &Path) -> Result<String> {
    let context = || format!("cannot read {}", path.display());
    let bytes = fs::read(path).with_context(context)?;
    if path.extension().is_none_or(|extension| extension != "xz") {
        return String::from_utf8(bytes).with_context(context);
    }
    let mut plain = Vec::new();
    lzma_rs::xz_decompress(&mut Cursor::new(bytes), &mut plain).with_context(context)?;
    String::from_utf8(plain).with_context(context)
}

fn lines<'a, T: Deserialize<'a>>(text: &'a str, path: &Path) -> Result<Vec<T>> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("{}, line {number}", path.display()))
        })
        .collect()
}

fn choose<T>(mut items: Vec<T>, choice: &Choice, id: impl Fn(&T) -> &String) -> Result<Vec<T>> {
    match choice {
        Choice::All => Ok(items),
        Choice::First { limit, prefix } => {
            items.retain(|item| id(item).starts_with(prefix.as_str()));
            items.truncate(*limit);
            Ok(items)
        }
        Choice::Sample { limit, seed } => {
            items.shuffle(&mut StdRng::seed_from_u64(*seed));
            items.truncate(*limit);
            Ok(items)
        }
        Choice::Ids(ids) => {
            let place: HashMap<&str, usize> =
                ids.iter().enumerate().map(|(place, id)| (id.as_str(), place)).collect();
            items.retain(|item| place.contains_key(id(item).as_str()));
            items.sort_by_key(|item| place[id(item).as_str()]);
            ensure!(
                items.len() == place.len(),
                "{} ids are not in the file",
                place.len() - items.len()
            );
            Ok(items)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(choice: &Choice) -> Result<Vec<String>> {
        choose(["a", "b", "c", "d"].map(String::from).to_vec(), choice, |name| name)
    }

    #[test]
    fn ids_are_taken_in_their_own_order_and_must_be_there() {
        let choice = |ids: &[&str]| Choice::Ids(ids.iter().map(|&id| id.into()).collect());
        assert_eq!(names(&choice(&["d", "b"])).unwrap(), ["d", "b"]);
        assert!(names(&choice(&["d", "x"])).is_err());
    }

    #[test]
    fn a_sample_follows_from_its_seed_alone() {
        let sample = |seed| names(&Choice::Sample { limit: 3, seed }).unwrap();
        assert_eq!(sample(1), sample(1));
        assert_eq!(sample(1).len(), 3);
        assert!((0..50).any(|seed| sample(seed) != sample(1)));
    }

    #[test]
    fn a_schema_keeps_its_text() {
        let line = r#"{"id":"x","split":"s","schema":{"maximum": 1.0},"tests":[{"valid":true,"tokens":[1,2]}]}"#;
        let path =
            std::env::temp_dir().join(format!("formwork-peers-{}.jsonl", std::process::id()));
        fs::write(&path, line).unwrap();
        let cases = schemas(&path, &Choice::All).unwrap();
        fs::remove_file(&path).unwrap();
        let Constraint::Schema { text, value } = &cases[0].constraint else { panic!("a schema") };
        assert_eq!(text, r#"{"maximum": 1.0}"#);
        assert_eq!(value["maximum"], 1.0);
        assert!(cases[0].tests[0].valid);
        assert_eq!(cases[0].tests[0].tokens, [1, 2]);
    }
}
