//! Every keyword of JSON Schema, from draft 4 to 2020-12, with its outcome. One table, no
//! exceptions elsewhere; what is not in it is not JSON Schema, and so an annotation.
//!
//! | outcome | meaning |
//! |---|---|
//! | [`Outcome::Enforced`] | exactly what the specification says |
//! | [`Outcome::Annotation`] | by the specification it decides about no instance |
//! | [`Outcome::Refused`] | it would decide, but is not enforced: an error that names it |

/// What becomes of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Enforced; which part of a schema it belongs to.
    Enforced(Subject),
    /// Of no effect on validity.
    Annotation,
    /// Refused by name.
    Refused,
}

/// The part of a schema that a keyword belongs to: all keywords of a subject are read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// References and definitions.
    Core,
    /// What applies to every type.
    Any,
    Object,
    Array,
    String,
    Number,
}

use Outcome::{Annotation, Enforced, Refused};

/// Sorted by name.
const KEYWORDS: &[(&str, Outcome)] = &[
    // Anchors decide nothing by themselves; a reference to one is refused where it stands.
    ("$anchor", Annotation),
    ("$comment", Annotation),
    ("$defs", Enforced(Subject::Core)),
    ("$dynamicAnchor", Annotation),
    ("$dynamicRef", Refused),
    // An identifier at the root changes nothing here; below it, it moves the base of references.
    ("$id", Enforced(Subject::Core)),
    ("$recursiveAnchor", Annotation),
    ("$recursiveRef", Refused),
    ("$ref", Enforced(Subject::Core)),
    ("$schema", Annotation),
    ("$vocabulary", Annotation),
    ("additionalItems", Enforced(Subject::Array)),
    ("additionalProperties", Enforced(Subject::Object)),
    ("allOf", Refused),
    ("anyOf", Enforced(Subject::Any)),
    ("const", Enforced(Subject::Any)),
    ("contains", Refused),
    ("contentEncoding", Annotation),
    ("contentMediaType", Annotation),
    ("contentSchema", Annotation),
    ("default", Annotation),
    ("definitions", Enforced(Subject::Core)),
    ("dependencies", Refused),
    ("dependentRequired", Refused),
    ("dependentSchemas", Refused),
    ("deprecated", Annotation),
    ("description", Annotation),
    ("else", Refused),
    ("enum", Enforced(Subject::Any)),
    ("examples", Annotation),
    ("exclusiveMaximum", Enforced(Subject::Number)),
    ("exclusiveMinimum", Enforced(Subject::Number)),
    ("format", Refused),
    ("if", Refused),
    ("items", Enforced(Subject::Array)),
    ("maxContains", Refused),
    ("maxItems", Enforced(Subject::Array)),
    ("maxLength", Enforced(Subject::String)),
    ("maxProperties", Refused),
    ("maximum", Enforced(Subject::Number)),
    ("minContains", Refused),
    ("minItems", Enforced(Subject::Array)),
    ("minLength", Enforced(Subject::String)),
    ("minProperties", Refused),
    ("minimum", Enforced(Subject::Number)),
    ("multipleOf", Refused),
    ("not", Refused),
    ("oneOf", Refused),
    ("pattern", Enforced(Subject::String)),
    ("patternProperties", Refused),
    ("prefixItems", Enforced(Subject::Array)),
    ("properties", Enforced(Subject::Object)),
    ("propertyNames", Refused),
    ("readOnly", Annotation),
    ("required", Enforced(Subject::Object)),
    ("then", Refused),
    ("title", Annotation),
    ("type", Enforced(Subject::Any)),
    ("unevaluatedItems", Refused),
    ("unevaluatedProperties", Refused),
    // False says nothing and is read as such; true is refused.
    ("uniqueItems", Enforced(Subject::Array)),
    ("writeOnly", Annotation),
];

/// A keyword of JSON Schema: its name, for errors, and its outcome. None for any other name.
pub(crate) fn keyword(name: &str) -> Option<(&'static str, Outcome)> {
    let at = KEYWORDS.binary_search_by(|(keyword, _)| (*keyword).cmp(name)).ok()?;
    Some(KEYWORDS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_in() {
        assert!(KEYWORDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(keyword("allOf"), Some(("allOf", Refused)));
        assert_eq!(keyword("type"), Some(("type", Enforced(Subject::Any))));
        assert_eq!(keyword("x-order"), None);
        assert_eq!(keyword(""), None);
    }
}
