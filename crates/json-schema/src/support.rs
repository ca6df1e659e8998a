//! What is supported, as a table for people, made from the tables that decide.

use crate::{
    Draft,
    keywords::{KEYWORDS, Outcome},
    lower::Format,
};
use std::fmt;

/// What becomes of a keyword or of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SupportOutcome {
    /// Enforced: no output breaks it, and what is allowed by it is not refused because of it.
    Enforced,
    /// Enforced, but what is allowed is a subset of what the specification allows: see the note.
    Restricted,
    /// Of no effect by the specification.
    Annotation,
    /// Enforced where that can be done exactly, and refused elsewhere with an error that names it:
    /// the note says where. With [`Leniency::Relax`](crate::Leniency::Relax), dropped there, with a
    /// warning.
    Partly,
}

impl fmt::Display for SupportOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Enforced => "enforced",
            Self::Restricted => "enforced, a subset",
            Self::Annotation => "annotation",
            Self::Partly => "enforced or refused",
        })
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Support {
    /// The keyword, or the name of the format.
    pub name: &'static str,
    /// The first and the last draft that have the keyword; formats count in all of them.
    pub drafts: (Draft, Draft),
    /// What becomes of it.
    pub outcome: SupportOutcome,
    /// What a reader of the specification might not expect; mostly empty.
    pub note: &'static str,
}

/// Every keyword of JSON Schema, from draft 4 to 2020-12, sorted by name. Any other name is an
/// annotation.
pub fn keyword_support() -> impl Iterator<Item = Support> {
    KEYWORDS.iter().map(|row| Support {
        name: row.name,
        drafts: row.drafts,
        outcome: match row.outcome {
            Outcome::Enforced(_) => SupportOutcome::Enforced,
            Outcome::Annotation => SupportOutcome::Annotation,
            Outcome::Partly(_) => SupportOutcome::Partly,
        },
        note: row.note,
    })
}

/// Every value of `format` that is enforced, sorted by name. Any other is an annotation, with a
/// warning in the compiled grammar.
pub fn format_support() -> impl Iterator<Item = Support> {
    Format::all().map(|format| Support {
        name: format.name(),
        drafts: (Draft::Draft4, Draft::Draft202012),
        outcome: match format.restriction() {
            Some(_) => SupportOutcome::Restricted,
            None => SupportOutcome::Enforced,
        },
        note: format.restriction().unwrap_or_default(),
    })
}

/// Both tables as Markdown, with a heading each.
#[must_use]
pub fn support_markdown() -> String {
    let mut text =
        String::from("## Keywords\n\n| keyword | drafts | outcome | note |\n|---|---|---|---|\n");
    for row in keyword_support() {
        let Support { name, drafts: (first, last), outcome, note } = row;
        let drafts = match (first, last) {
            (Draft::Draft4, Draft::Draft202012) => "all".to_owned(),
            (first, Draft::Draft202012) if first != last => format!("since {first}"),
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        };
        text.push_str(&format!("| `{name}` | {drafts} | {outcome} | {note} |\n"));
    }
    text.push_str("\n## Formats\n\n| format | outcome | note |\n|---|---|---|\n");
    for Support { name, outcome, note, .. } in format_support() {
        text.push_str(&format!("| `{name}` | {outcome} | {note} |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, SchemaErrorKind, compile};
    use formwork_grammar::Limits;

    /// Only what may be refused is, and what decides does so with every value that it may have.
    #[test]
    fn no_other_keyword_is_refused() {
        for row in keyword_support() {
            for value in ["true", "1", "\"date\"", "{}", "[]", "[true]", "[\"a\"]"] {
                let text = format!(r#"{{"{}":{value}}}"#, row.name);
                let options = Options { default_draft: row.drafts.1, ..Options::default() };
                if let Err(error) = compile(&text, &options, &Limits::default()) {
                    let unsupported = SchemaErrorKind::Unsupported { keyword: row.name };
                    assert!(error.kind != unsupported || row.outcome == SupportOutcome::Partly);
                    assert!(row.outcome != SupportOutcome::Annotation, "{text}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_table_has_a_line_for_each_row() {
        let text = support_markdown();
        let rows = keyword_support().chain(format_support());
        let names: Vec<_> = rows.map(|row| format!("| `{}` |", row.name)).collect();
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("| `")).collect();
        assert_eq!(lines.len(), names.len());
        assert!(lines.iter().zip(&names).all(|(line, name)| line.starts_with(name.as_str())));
        let page = include_str!("../../../docs/json-schema.md");
        assert!(page.ends_with(&text), "`formwork schema-support` has more to say than the page");
        assert!(text.contains("| `if` | since draft 7 | "));
        assert!(text.contains("| `id` | draft 4 | enforced | `$id` in later drafts |"));
    }
}
