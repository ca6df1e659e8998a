//! What is measured, as data: one TOML file per definition under `data/`.

use anyhow::{Context, Result, ensure};
use formwork::Constraint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A constraint, a text to follow, and what must come of it.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The name in the benches' output: the file's own.
    pub name: String,
    /// What it stands for, and why it is measured.
    pub about: String,
    /// What is compiled.
    pub constraint: Constraint,
    /// What is followed, from the beginning.
    pub text: String,
    /// What must come of it.
    pub expect: Expect,
    /// Where masks are filled.
    pub places: Vec<Place>,
}

/// A definition as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    about: String,
    constraint: WrittenConstraint,
    text: String,
    expect: Expect,
    #[serde(default, rename = "place")]
    places: Vec<Place>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum WrittenConstraint {
    /// A JSON Schema's text.
    Json(String),
    /// A file with a JSON Schema, named from the folder of the definition.
    JsonFile(PathBuf),
    Regex(String),
    Choice(Vec<String>),
    /// So many of [`random_choices`].
    RandomChoices(usize),
}

/// What must come of following the text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Whether the text is in the language.
    pub outcome: Outcome,
    /// How many bytes of the text are taken: all, unless the file says otherwise.
    pub bytes_taken: Option<usize>,
    /// Backends that cannot do it and say so. One that can is an error: the list is stale.
    #[serde(default)]
    pub unsupported_by: Vec<String>,
    /// Counts of the compiled grammar.
    #[serde(default, rename = "count")]
    pub counts: Vec<Count>,
}

/// Whether a text is in the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is.
    Accepted,
    /// It is not: a byte is not taken, or the end may not follow.
    Refused,
}

/// A count of a backend's compiled grammar, give or take: so that a construction that grew is
/// noticed where times are too noisy to tell.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The backend.
    pub backend: String,
    /// The counter's name.
    pub counter: String,
    /// Its value.
    pub about: u64,
    /// How far it may be off.
    #[serde(default)]
    pub give_or_take: u64,
}

/// A state whose mask is worth measuring.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Its name in the benches' output.
    pub name: String,
    /// The output so far.
    pub after: String,
}

/// Every definition under the crate's `data/`, by name.
///
/// # Errors
/// When a file cannot be read, is no definition, or names a file that cannot be read.
pub fn definitions() -> Result<Vec<Definition>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("cannot list {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    ensure!(!paths.is_empty(), "there are no definitions in {}", folder.display());
    paths.iter().map(|path| read(path).with_context(|| path.display().to_string())).collect()
}

fn read(path: &Path) -> Result<Definition> {
    let written: Written = toml::from_str(&fs::read_to_string(path)?)?;
    let name = path.file_stem().and_then(|name| name.to_str()).context("a name in UTF-8")?;
    let constraint = match written.constraint {
        WrittenConstraint::Json(schema) => Constraint::JsonSchema(schema),
        WrittenConstraint::JsonFile(file) => {
            let file = path.parent().unwrap_or(Path::new("")).join(file);
            let schema = fs::read_to_string(&file);
            let context = || format!("cannot read {}", file.display());
            Constraint::JsonSchema(schema.with_context(context)?)
        }
        WrittenConstraint::Regex(regex) => Constraint::Regex(regex),
        WrittenConstraint::Choice(choices) => Constraint::Choice(choices),
        WrittenConstraint::RandomChoices(count) => Constraint::Choice(random_choices(count)),
    };
    Ok(Definition {
        name: name.to_owned(),
        about: written.about,
        constraint,
        text: written.text,
        expect: written.expect,
        places: written.places,
    })
}

/// Random strings of 14 letters and digits, always the same: the large finite set of the literature
/// on choices.
#[must_use]
fn random_choices(count: usize) -> Vec<String> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut random = StdRng::seed_from_u64(14);
    let mut word =
        || (0..14).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect();
    (0..count).map(|_| word()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = r#"
        about = "x"
        text = "a"
        constraint.regex = "a+"
        expect.outcome = "accepted"
    "#;

    #[test]
    fn what_a_file_leaves_out_has_a_meaning_and_what_it_misspells_has_none() {
        let written: Written = toml::from_str(MINIMAL).unwrap();
        assert_eq!(written.expect.bytes_taken, None);
        assert!(written.places.is_empty());
        for line in ["plaice = []", "expect.bytes = 1", "[[expect.count]]\nbackend = \"dfa\""] {
            assert!(toml::from_str::<Written>(&format!("{MINIMAL}\n{line}")).is_err(), "{line}");
        }
    }

    #[test]
    fn random_choices_are_always_the_same_and_distinct() {
        let mut choices = random_choices(1_000);
        assert_eq!(choices, random_choices(2_000)[..1_000]);
        assert!(choices.iter().all(|choice| choice.len() == 14));
        choices.sort();
        choices.dedup();
        assert_eq!(choices.len(), 1_000);
    }

    #[test]
    fn a_schema_in_a_file_is_read_with_the_definition() {
        let all = definitions().unwrap();
        let order = all.iter().find(|definition| definition.name == "order").unwrap();
        let Constraint::JsonSchema(text) = &order.constraint else { panic!("a schema") };
        assert!(text.contains("\"Order\""));
    }
}
