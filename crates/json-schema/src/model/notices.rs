//! What the author of a schema may not have meant.
//!
//! There is one warning for each cause, with the first place, however many places there are: a
//! pointer can be as long as the schema.

use crate::{
    document::{Document, ValueId},
    options::Draft,
};
use formwork_grammar::{Location, Warning};
use std::collections::{BTreeMap, BTreeSet};

/// So many names of the author's choice are quoted at most, and of each so many characters.
const QUOTED: (usize, usize) = (8, 40);

/// Why something in a schema has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// It stands beside `$ref`, and the draft is 7 or an earlier one.
    BesideReference,
    /// The draft does not have the keyword.
    NotInDraft(Draft),
    /// The metaschema leaves out the vocabulary of the keyword.
    NotInVocabulary,
    /// Where it would have been refused, the option `lenient` has it dropped.
    Relaxed,
    /// The format is not known.
    UnknownFormat,
    /// `$schema` names something that is not known: the default draft counts.
    UnknownDialect,
    /// A reference leads nowhere from the resource that it stands in, but somewhere from the
    /// outermost schema.
    OutermostMeant,
    /// `$schema` names draft 3, which is read as draft 4.
    Draft3,
}

#[derive(Debug)]
struct Notice {
    /// The first place.
    value: ValueId,
    /// The names concerned, as far as they are quoted.
    names: BTreeSet<String>,
    /// How many places there are.
    count: usize,
}

/// The warnings about one schema, by cause.
#[derive(Debug, Default)]
pub(super) struct Notices(BTreeMap<Cause, Notice>);

impl Notices {
    pub(super) fn add(&mut self, cause: Cause, value: ValueId, name: &str) {
        let first = || Notice { value, names: BTreeSet::new(), count: 0 };
        let notice = self.0.entry(cause).or_insert_with(first);
        notice.count += 1;
        // The names of keywords are few and short; others are cut.
        let (names, characters) = match cause {
            Cause::UnknownFormat
            | Cause::UnknownDialect
            | Cause::OutermostMeant
            | Cause::Draft3 => QUOTED,
            _ => (usize::MAX, usize::MAX),
        };
        if notice.names.len() < names {
            notice.names.insert(name.chars().take(characters).collect());
        }
    }

    pub(super) fn into_warnings(self, document: &Document) -> Vec<Warning> {
        let notices = self.0.into_iter();
        let warnings = notices.map(|(cause, Notice { value, names, count })| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            let why = match cause {
                Cause::BesideReference => {
                    "no effect: before draft 2019-09 whatever stands beside `$ref` is ignored"
                        .into()
                }
                Cause::NotInDraft(draft) => format!("no effect: {draft} has no such keyword"),
                Cause::NotInVocabulary => {
                    "no effect: the metaschema leaves out its vocabulary".into()
                }
                Cause::Relaxed => "not enforced wherever it would have been refused".into(),
                Cause::UnknownFormat => "not enforced: an unknown format is an annotation".into(),
                Cause::UnknownDialect => "unknown as a metaschema: the default draft counts".into(),
                Cause::OutermostMeant => {
                    "leads nowhere from its own resource: read from the outermost schema".into()
                }
                Cause::Draft3 => "read as draft 4".into(),
            };
            Warning {
                location: Location::Pointer(document.pointer(value)),
                message: format!("{names}: {why} (places in this schema: {count})"),
            }
        });
        warnings.collect()
    }
}
