//! Every keyword of JSON Schema, from draft 4 to 2020-12, with its outcome. One table, no
//! exceptions elsewhere; what is not in it is not JSON Schema, and so an annotation.
//!
//! | outcome | meaning |
//! |---|---|
//! | [`Outcome::Enforced`] | exactly what the specification says |
//! | [`Outcome::Annotation`] | by the specification it decides about no instance |
//! | [`Outcome::Partly`] | that, or an error that names it where it cannot be: the note says where |
//!
//! A draft that does not have a keyword ignores it, as it ignores every other name; where that is a
//! keyword that decides something, the compiled grammar carries a warning.

use crate::options::Draft;

/// What becomes of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Enforced; which part of a schema it belongs to.
    Enforced(Subject),
    /// Of no effect on validity.
    Annotation,
    /// Enforced where that can be done exactly, else refused by name.
    Partly(Subject),
}

/// The part of a schema that a keyword belongs to: all keywords of a subject are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// References and definitions.
    Core,
    /// What applies to every type.
    Any,
    /// Schemas made of schemas.
    Composition,
    Object,
    Array,
    String,
    Number,
}

/// Where a keyword has schemas in its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Nowhere.
    Nothing,
    /// It is one.
    Schema,
    /// It is a list of them.
    List,
    /// It is one or a list of them.
    SchemaOrList,
    /// It is an object with one in each member (where that is an object or a boolean).
    Map,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keyword {
    pub(crate) name: &'static str,
    /// The first and the last draft in which it has effect.
    pub(crate) drafts: (Draft, Draft),
    pub(crate) outcome: Outcome,
    pub(crate) holds: Holds,
    /// For people: what a reader of the specification might not expect.
    pub(crate) note: &'static str,
}

impl Keyword {
    /// Whether a draft has it.
    pub(crate) fn is_in(&self, draft: Draft) -> bool {
        (self.drafts.0..=self.drafts.1).contains(&draft)
    }

    /// Whether it belongs to the vocabulary for validation of drafts 2019-09 and later.
    pub(crate) fn is_validation(&self) -> bool {
        self.decides() && self.holds == Holds::Nothing && self.name != "format"
    }

    /// Whether it decides something about an instance.
    pub(crate) fn decides(&self) -> bool {
        match self.outcome {
            Outcome::Enforced(Subject::Core) | Outcome::Annotation => false,
            Outcome::Enforced(_) | Outcome::Partly(_) => true,
        }
    }
}

use Draft::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
use Holds::{List, Map, Nothing, Schema, SchemaOrList};
use Outcome::{Annotation, Enforced, Partly};
use Subject::{Any, Array, Composition, Core, Number, Object, String};

const ALL: (Draft, Draft) = (Draft4, Draft202012);
const SINCE_6: (Draft, Draft) = (Draft6, Draft202012);
const SINCE_7: (Draft, Draft) = (Draft7, Draft202012);
const SINCE_2019: (Draft, Draft) = (Draft201909, Draft202012);
const ONLY_2019: (Draft, Draft) = (Draft201909, Draft201909);
const ONLY_2020: (Draft, Draft) = (Draft202012, Draft202012);

const fn row(
    name: &'static str,
    drafts: (Draft, Draft),
    outcome: Outcome,
    holds: Holds,
    note: &'static str,
) -> Keyword {
    Keyword { name, drafts, outcome, holds, note }
}

/// Sorted by name.
#[rustfmt::skip]
pub(crate) const KEYWORDS: &[Keyword] = &[
    row("$anchor", SINCE_2019, Enforced(Core), Nothing, ""),
    row("$comment", SINCE_7, Annotation, Nothing, ""),
    row("$defs", SINCE_2019, Enforced(Core), Map, "a place for schemas; references reach it in every draft"),
    row("$dynamicAnchor", ONLY_2020, Enforced(Core), Nothing, ""),
    row("$dynamicRef", ONLY_2020, Enforced(Core), Nothing, "resolved exactly, for each chain of resources that leads there"),
    row("$id", SINCE_6, Enforced(Core), Nothing, "`id` in draft 4; up to draft 7, a fragment alone is an anchor"),
    row("$recursiveAnchor", ONLY_2019, Enforced(Core), Nothing, ""),
    row("$recursiveRef", ONLY_2019, Enforced(Core), Nothing, "as `$dynamicRef`"),
    row("$ref", ALL, Enforced(Core), Nothing, "to any place of the schema, of documents given beside it and of the metaschemas; nothing is fetched. Up to draft 7, keywords beside it have no effect"),
    row("$schema", ALL, Annotation, Nothing, "selects the draft, of embedded resources too"),
    row("$vocabulary", SINCE_2019, Annotation, Nothing, "heeded in metaschemas that are given as documents"),
    row("additionalItems", ALL, Enforced(Array), Schema, "beside a list under `items`"),
    row("additionalProperties", ALL, Enforced(Object), Schema, ""),
    row("allOf", ALL, Enforced(Composition), List, ""),
    row("anyOf", ALL, Enforced(Composition), List, ""),
    row("const", SINCE_6, Enforced(Any), Nothing, ""),
    row("contains", SINCE_6, Enforced(Array), Schema, ""),
    row("contentEncoding", SINCE_7, Annotation, Nothing, ""),
    row("contentMediaType", SINCE_7, Annotation, Nothing, ""),
    row("contentSchema", SINCE_2019, Annotation, Nothing, ""),
    row("default", ALL, Annotation, Nothing, ""),
    row("definitions", ALL, Enforced(Core), Map, "a place for schemas"),
    row("dependencies", ALL, Enforced(Object), Map, "in every draft, though replaced in 2019-09"),
    row("dependentRequired", SINCE_2019, Enforced(Object), Nothing, ""),
    row("dependentSchemas", SINCE_2019, Enforced(Object), Map, ""),
    row("deprecated", SINCE_2019, Annotation, Nothing, ""),
    row("description", ALL, Annotation, Nothing, ""),
    row("else", SINCE_7, Enforced(Composition), Schema, ""),
    row("enum", ALL, Enforced(Any), Nothing, ""),
    row("examples", SINCE_6, Annotation, Nothing, ""),
    row("exclusiveMaximum", ALL, Enforced(Number), Nothing, "a boolean beside `maximum`, as in draft 4, or a number"),
    row("exclusiveMinimum", ALL, Enforced(Number), Nothing, "a boolean beside `minimum`, as in draft 4, or a number"),
    row("format", ALL, Enforced(String), Nothing, "known formats; an unknown one is an annotation with a warning"),
    row("id", (Draft4, Draft4), Enforced(Core), Nothing, "`$id` in later drafts"),
    row("if", SINCE_7, Enforced(Composition), Schema, ""),
    row("items", ALL, Enforced(Array), SchemaOrList, "a list, as up to 2019-09, is `prefixItems`"),
    row("maxContains", SINCE_2019, Enforced(Array), Nothing, ""),
    row("maxItems", ALL, Enforced(Array), Nothing, ""),
    row("maxLength", ALL, Enforced(String), Nothing, "in characters"),
    row("maxProperties", ALL, Enforced(Object), Nothing, ""),
    row("maximum", ALL, Enforced(Number), Nothing, "exact to the last digit"),
    row("minContains", SINCE_2019, Enforced(Array), Nothing, ""),
    row("minItems", ALL, Enforced(Array), Nothing, ""),
    row("minLength", ALL, Enforced(String), Nothing, "in characters"),
    row("minProperties", ALL, Partly(Object), Nothing, "refused where keys of several undeclared kinds must be counted as distinct"),
    row("minimum", ALL, Enforced(Number), Nothing, "exact to the last digit"),
    row("multipleOf", ALL, Enforced(Number), Nothing, "exact, of decimal fractions too"),
    row("not", ALL, Enforced(Composition), Schema, ""),
    row("oneOf", ALL, Enforced(Composition), List, ""),
    row("pattern", ALL, Enforced(String), Nothing, "ECMA-262 without references to groups"),
    row("patternProperties", ALL, Enforced(Object), Map, ""),
    row("prefixItems", ONLY_2020, Enforced(Array), List, ""),
    row("properties", ALL, Enforced(Object), Map, ""),
    row("propertyNames", SINCE_6, Enforced(Object), Schema, ""),
    row("readOnly", SINCE_7, Annotation, Nothing, ""),
    row("required", ALL, Enforced(Object), Nothing, ""),
    row("then", SINCE_7, Enforced(Composition), Schema, ""),
    row("title", ALL, Annotation, Nothing, ""),
    row("type", ALL, Enforced(Any), Nothing, "an integer is a number without fraction, `1.0` too"),
    row("unevaluatedItems", SINCE_2019, Enforced(Array), Schema, ""),
    row("unevaluatedProperties", SINCE_2019, Enforced(Object), Schema, ""),
    row("uniqueItems", ALL, Partly(Array), Nothing, "by value, of scalars and of arrays and objects that the schema lists; refused over others"),
    row("writeOnly", SINCE_7, Annotation, Nothing, ""),
];

/// A keyword of JSON Schema, of whichever draft. None for any other name.
pub(crate) fn keyword(name: &str) -> Option<&'static Keyword> {
    let at = KEYWORDS.binary_search_by(|keyword| keyword.name.cmp(name)).ok()?;
    Some(&KEYWORDS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_in() {
        assert!(KEYWORDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for row in KEYWORDS {
            assert_eq!(keyword(row.name), Some(row));
        }
        assert_eq!(keyword("type").map(|row| row.outcome), Some(Enforced(Any)));
        assert_eq!(keyword("x-order"), None);
        assert_eq!(keyword(""), None);
    }

    #[test]
    fn drafts_have_the_keywords_of_their_metaschemas() {
        let has = |name: &str, draft| keyword(name).is_some_and(|row| row.is_in(draft));
        assert!(!has("const", Draft4) && has("const", Draft6));
        assert!(!has("if", Draft6) && has("if", Draft7));
        assert!(!has("dependentRequired", Draft7) && has("dependentRequired", Draft201909));
        assert!(!has("prefixItems", Draft201909) && has("prefixItems", Draft202012));
        assert!(has("$recursiveRef", Draft201909) && !has("$recursiveRef", Draft202012));
        assert!(has("id", Draft4) && !has("id", Draft6));
    }
}
