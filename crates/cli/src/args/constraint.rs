//! The constraint, and how its front end reads it.

use anyhow::{Context, Result, bail};
use clap::{ArgGroup, Args as ClapArgs, ValueEnum};
use formwork::{Constraint, FrontEndOptions};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the group of arguments that say what the constraint is.
pub(crate) const KIND: &str = "constraint_kind";

/// The group for commands that cannot do without a constraint.
pub(crate) fn required() -> ArgGroup {
    ArgGroup::new("required_constraint").required(true).args([
        "schema",
        "regex",
        "choice",
        "json_object",
        "grammar",
        "structural_tag",
    ])
}

#[derive(Debug, ClapArgs)]
#[group(multiple = false, id = KIND)]
pub(crate) struct Kind {
    /// A file that holds a JSON Schema.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// A regular expression for the whole text.
    #[arg(long, value_name = "REGEX")]
    regex: Option<String>,
    /// One of these strings (repeat the option, or give several).
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    choice: Option<Vec<String>>,
    /// Any JSON object.
    #[arg(long)]
    json_object: bool,
    /// A file that holds a grammar, in GBNF, EBNF or Lark; `--option grammar=…` says in which where
    /// that does not show.
    #[arg(long, value_name = "FILE")]
    grammar: Option<PathBuf>,
    /// A file that holds a structural tag.
    #[arg(long, value_name = "FILE")]
    structural_tag: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConstraintArgs {
    #[command(flatten)]
    kind: Kind,
    #[command(flatten)]
    options: OptionArgs,
}

/// Options of the front ends.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct OptionArgs {
    /// White space between JSON tokens.
    #[arg(long, value_enum)]
    white_space: Option<Spacing>,
    /// Any option of a front end by its name (repeat for several). VALUE is JSON, or a plain word.
    #[arg(long, value_name = "NAME=VALUE", value_parser = named_value)]
    option: Vec<(String, Value)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Spacing {
    /// Any, in runs of bounded length.
    Any,
    /// None.
    Compact,
    /// Any, in runs of any length.
    Unbounded,
}

impl ConstraintArgs {
    /// The constraint that was asked for; files are read now.
    pub(crate) fn constraint(&self) -> Result<Constraint> {
        let kind = &self.kind;
        if let Some(path) = &kind.schema {
            return Ok(Constraint::JsonSchema(text_of(path, "schema")?));
        }
        if let Some(path) = &kind.grammar {
            return Ok(Constraint::Grammar(text_of(path, "grammar")?));
        }
        if let Some(path) = &kind.structural_tag {
            return Ok(Constraint::StructuralTag(text_of(path, "structural tag")?));
        }
        if let Some(pattern) = &kind.regex {
            return Ok(Constraint::Regex(pattern.clone()));
        }
        if let Some(choices) = &kind.choice {
            return Ok(Constraint::Choice(choices.clone()));
        }
        match kind.json_object {
            true => Ok(Constraint::JsonObject),
            false => bail!(
                "a constraint is needed: --schema, --regex, --choice, --json-object, --grammar or \
                 --structural-tag"
            ),
        }
    }

    /// The options of the front ends.
    pub(crate) fn options(&self) -> Result<FrontEndOptions> {
        self.options.options()
    }
}

impl OptionArgs {
    /// The options; of two settings of one option the last holds, `--option` after `--white-space`.
    pub(crate) fn options(&self) -> Result<FrontEndOptions> {
        let mut options = FrontEndOptions::default();
        if let Some(spacing) = self.white_space {
            let name = match spacing {
                Spacing::Any => "any",
                Spacing::Compact => "compact",
                Spacing::Unbounded => "unbounded",
            };
            options.set("white_space", &name.into())?;
        }
        for (name, value) in &self.option {
            options.set(name, value)?;
        }
        Ok(options)
    }
}

fn text_of(path: &Path, what: &str) -> Result<String> {
    std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the {what} {}", path.display()))
}

/// `NAME=VALUE`; what is not JSON is a string.
fn named_value(text: &str) -> Result<(String, Value), &'static str> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok((name.into(), value))
}
