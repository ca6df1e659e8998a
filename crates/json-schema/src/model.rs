//! A schema as typed nodes: one struct per subject, one arena, references resolved.
//!
//! # Idea
//! Only what the root can reach is read: a definition that nothing refers to may say what it likes.
//! Every place in a document that is used as a schema is one [`Schema`], however many references
//! lead there; where dynamic references make its meaning depend on how it was reached, one for each
//! of its dynamic scopes (`scopes`). A schema that is nothing but a reference is an alias and
//! vanishes; references alone that lead in a circle constrain nothing and are satisfied by nothing
//! (least fixpoint).
//!
//! What the drafts say in different words is the same here: `dependencies` is taken apart,
//! `additionalItems` is `items`, a boolean `exclusiveMinimum` is a bound.
//!
//! # Cost
//! Linear in the reachable part of the documents, with an explicit worklist; times the number of
//! scopes, where there are several.
//!
//! # Reading order
//! `metaschemas`, `resources` (what a reference means), `scopes`, `notices`, `read`.

mod metaschemas;
mod notices;
mod read;
mod resources;
mod scopes;
mod sequence;
#[cfg(test)]
mod tests;

use crate::{
    DistinctKeys, Leniency, Options, PropertyOrder, SchemaError, SchemaErrorKind, Spelling,
    decimal::Decimal,
    document::{Document, Text, ValueId},
    lower::Format,
};
use formwork_grammar::{Location, Warning};
pub(crate) use read::read;

/// A schema of a [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SchemaId(u32);

impl SchemaId {
    fn of(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer than 2^32 schemas"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a schema says.
#[derive(Debug)]
pub(crate) enum Schema {
    /// Everything satisfies it: `true`, `{}`, annotations only.
    Always,
    /// Nothing does: `false`, or references in a circle.
    Never,
    /// The same as another one: a reference and nothing else.
    Alias(SchemaId),
    /// A conjunction of keywords.
    Keywords(Box<Keywords>),
}

/// The keywords of one schema object, all of which one value must satisfy.
#[derive(Debug, Default)]
pub(crate) struct Keywords {
    pub(crate) types: Types,
    /// Whether an integer must be written without point and exponent: draft 4 takes `integer` so.
    pub(crate) written_whole: bool,
    pub(crate) reference: Option<SchemaId>,
    /// Also further references of the same schema: it may have a dynamic one beside the plain one.
    pub(crate) all_of: Box<[SchemaId]>,
    /// Empty when absent: the keyword itself must list at least one schema.
    pub(crate) any_of: Box<[SchemaId]>,
    /// Empty when absent, as above.
    pub(crate) one_of: Box<[SchemaId]>,
    pub(crate) not: Option<SchemaId>,
    pub(crate) conditional: Option<Conditional>,
    pub(crate) enumeration: Option<Box<[ValueId]>>,
    pub(crate) constant: Option<ValueId>,
    pub(crate) object: Option<ObjectKeywords>,
    pub(crate) array: Option<ArrayKeywords>,
    pub(crate) string: Option<StringKeywords>,
    pub(crate) number: Option<NumberKeywords>,
}

/// `if` with what stands beside it. Without both branches it still evaluates: what it says of keys
/// and items counts for `unevaluatedProperties` and `unevaluatedItems`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conditional {
    pub(crate) condition: SchemaId,
    /// Of values that satisfy the condition.
    pub(crate) then: Option<SchemaId>,
    /// Of all others.
    pub(crate) otherwise: Option<SchemaId>,
}

/// Keywords that constrain objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectKeywords {
    /// In declared order.
    pub(crate) properties: Box<[(Text, SchemaId)]>,
    /// Indices into `properties`, sorted by name.
    pub(crate) by_name: Box<[u32]>,
    /// In the order listed, each name once.
    pub(crate) required: Box<[Text]>,
    /// Of each key that neither `properties` nor `patterns` of this schema speak of.
    pub(crate) additional: Option<SchemaId>,
    /// `patternProperties`: of each key in which the pattern is found, declared ones too.
    pub(crate) patterns: Box<[(Text, SchemaId)]>,
    /// `propertyNames`: of each key, as a string.
    pub(crate) names: Option<SchemaId>,
    /// `minProperties` and `maxProperties`.
    pub(crate) count: Count,
    /// Where the first of a pair occurs, the second must; each pair once. Also what `dependencies`
    /// says in this form.
    pub(crate) dependent_required: Box<[(Text, Text)]>,
    /// Where the name occurs, the whole object must satisfy the schema. Also what `dependencies`
    /// says in this form.
    pub(crate) dependent_schemas: Box<[(Text, SchemaId)]>,
    /// `unevaluatedProperties`.
    pub(crate) unevaluated: Option<SchemaId>,
}

/// Keywords that constrain arrays.
#[derive(Debug, Default)]
pub(crate) struct ArrayKeywords {
    /// The first items, one by one.
    pub(crate) prefix: Box<[SchemaId]>,
    /// All further items.
    pub(crate) items: Option<SchemaId>,
    pub(crate) count: Count,
    pub(crate) contains: Option<Contains>,
    /// Whether no two items may be equal, as values.
    pub(crate) unique: bool,
    /// `unevaluatedItems`.
    pub(crate) unevaluated: Option<SchemaId>,
}

/// `contains` with what stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contains {
    pub(crate) schema: SchemaId,
    /// How many items satisfy the schema: one at least, unless `minContains` says otherwise.
    pub(crate) count: Count,
    /// Whether those items count as evaluated for `unevaluatedItems`: not before draft 2020-12.
    pub(crate) evaluates: bool,
}

impl ArrayKeywords {
    /// The schema that the item at `index` must satisfy, if any.
    pub(crate) fn item_schema(&self, index: usize) -> Option<SchemaId> {
        self.prefix.get(index).copied().or(self.items)
    }
}

/// Keywords that constrain strings.
#[derive(Debug, Default)]
pub(crate) struct StringKeywords {
    /// Unicode scalar values.
    pub(crate) length: Count,
    pub(crate) pattern: Option<Text>,
    /// A format that is enforced; all others are annotations.
    pub(crate) format: Option<Format>,
}

/// Keywords that constrain numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberKeywords {
    pub(crate) interval: Interval,
    /// Greater than zero.
    pub(crate) multiple_of: Option<Decimal>,
}

/// How many: from `min` to `max`, both included. A maximum beyond `u32` is no maximum: an output
/// with so many items would be larger than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Count {
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

impl Count {
    /// What satisfies both.
    pub(crate) fn intersect(self, other: Self) -> Self {
        let max = [self.max, other.max].into_iter().flatten().min();
        Self { min: self.min.max(other.min), max }
    }

    /// Whether so many are allowed.
    pub(crate) fn contains(self, count: usize) -> bool {
        count >= self.min as usize && self.max.is_none_or(|max| count <= max as usize)
    }

    /// Whether no number is allowed.
    pub(crate) fn is_empty(self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }
}

/// One end of an [`Interval`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bound {
    pub(crate) value: Decimal,
    /// Whether the value itself is inside.
    pub(crate) inclusive: bool,
}

/// Numbers between two bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Interval {
    pub(crate) lower: Option<Bound>,
    pub(crate) upper: Option<Bound>,
}

impl Interval {
    /// Adds a lower bound: of two the greater one counts, of equal ones the one that excludes.
    pub(crate) fn raise(&mut self, bound: Option<Bound>) {
        let Some(bound) = bound else { return };
        let tighter = |old: &Bound| (&bound.value, !bound.inclusive) > (&old.value, !old.inclusive);
        if self.lower.as_ref().is_none_or(tighter) {
            self.lower = Some(bound);
        }
    }

    /// Adds an upper bound.
    pub(crate) fn reduce(&mut self, bound: Option<Bound>) {
        let Some(bound) = bound else { return };
        let tighter = |old: &Bound| (&bound.value, bound.inclusive) < (&old.value, old.inclusive);
        if self.upper.as_ref().is_none_or(tighter) {
            self.upper = Some(bound);
        }
    }

    /// Whether a number is inside.
    pub(crate) fn contains(&self, value: &Decimal) -> bool {
        let above =
            |bound: &Bound| *value > bound.value || bound.inclusive && *value == bound.value;
        let below =
            |bound: &Bound| *value < bound.value || bound.inclusive && *value == bound.value;
        self.lower.as_ref().is_none_or(above) && self.upper.as_ref().is_none_or(below)
    }
}

/// A set of types, where `number` is split into integers and all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const FRACTION: Self = Self(8);
    pub(crate) const NUMBER: Self = Self(12);
    pub(crate) const STRING: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    /// The types of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Default for Types {
    fn default() -> Self {
        Self::ALL
    }
}

impl std::fmt::Debug for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Types({:#09b})", self.0)
    }
}

/// A schema document, read.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) document: Document,
    /// Never [`Schema::Alias`] of an alias.
    schemas: Vec<Schema>,
    /// Where each schema stands.
    values: Vec<ValueId>,
    /// By schema: its place in the order of declaration.
    sequence: Vec<u32>,
    root: SchemaId,
    pub(crate) choices: Choices,
    /// What the author may not have meant.
    warnings: Vec<Warning>,
}

/// What the caller chose about the meaning of a schema as a whole, beyond white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choices {
    pub(crate) spelling: Spelling,
    pub(crate) property_order: PropertyOrder,
    pub(crate) distinct_keys: DistinctKeys,
    pub(crate) lenient: Leniency,
}

impl Choices {
    /// Those of the options that outlive the reading of the schema.
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            spelling: options.spelling,
            property_order: options.property_order,
            distinct_keys: options.distinct_keys,
            lenient: options.lenient,
        }
    }
}

impl Model {
    /// What the author of the schema may not have meant.
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The schema as a whole, no alias.
    pub(crate) fn root(&self) -> SchemaId {
        self.canonical(self.root)
    }

    /// What an alias stands for; any other schema stands for itself.
    pub(crate) fn canonical(&self, id: SchemaId) -> SchemaId {
        match self.schemas[id.index()] {
            Schema::Alias(target) => target,
            _ => id,
        }
    }

    /// A number by which schemas that speak of the same object come in the order in which a reader
    /// meets what they declare.
    pub(crate) fn sequence(&self, id: SchemaId) -> u32 {
        self.sequence[self.canonical(id).index()]
    }

    /// What a schema says, aliases resolved.
    pub(crate) fn schema(&self, id: SchemaId) -> &Schema {
        &self.schemas[self.canonical(id).index()]
    }

    /// The keywords of a schema; none when it is satisfied always or never.
    /// Every schema that has keywords.
    pub(crate) fn all_keywords(&self) -> impl Iterator<Item = (SchemaId, &Keywords)> {
        self.schemas.iter().enumerate().filter_map(|(index, schema)| match schema {
            Schema::Keywords(keywords) => Some((SchemaId::of(index), keywords.as_ref())),
            _ => None,
        })
    }

    /// Whether some schema tells keys apart by patterns.
    pub(crate) fn has_key_patterns(&self) -> bool {
        let objects = self.all_keywords().filter_map(|(_, keywords)| keywords.object.as_ref());
        objects.into_iter().any(|object| !object.patterns.is_empty() || object.names.is_some())
    }

    pub(crate) fn keywords(&self, id: SchemaId) -> Option<&Keywords> {
        match self.schema(id) {
            Schema::Keywords(keywords) => Some(keywords),
            _ => None,
        }
    }

    /// All patterns with the place where they stand, each as often as it occurs.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (ValueId, Text)> {
        self.schemas.iter().zip(&self.values).flat_map(|(schema, &value)| {
            let keywords = match schema {
                Schema::Keywords(keywords) => Some(keywords),
                _ => None,
            };
            let string = keywords.and_then(|keywords| keywords.string.as_ref());
            let pattern = string.and_then(|string| string.pattern);
            let pattern = pattern
                .and_then(|pattern| Some((self.document.member(value, "pattern")?, pattern)));
            let object = keywords.and_then(|keywords| keywords.object.as_ref());
            let patterns = object.into_iter().flat_map(|object| &object.patterns);
            let patterns =
                patterns.map(|&(pattern, schema)| (self.values[schema.index()], pattern));
            pattern.into_iter().chain(patterns)
        })
    }

    /// The JSON pointer of a schema, for people.
    pub(crate) fn pointer(&self, id: SchemaId) -> String {
        self.document.pointer(self.values[id.index()])
    }

    /// An error at a schema.
    pub(crate) fn error_at(&self, id: SchemaId, kind: impl Into<SchemaErrorKind>) -> SchemaError {
        error_at(&self.document, self.values[id.index()], kind)
    }
}

/// What the reading of a schema answers.
type Read<T> = Result<T, SchemaError>;

/// An error at a value of the document.
pub(crate) fn error_at(
    document: &Document,
    value: ValueId,
    kind: impl Into<SchemaErrorKind>,
) -> SchemaError {
    SchemaError {
        kind: kind.into(),
        location: Location::Pointer(document.pointer(value)),
        position: Some(document.position(value)),
    }
}
