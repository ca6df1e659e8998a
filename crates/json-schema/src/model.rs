//! A schema as typed nodes: one struct per subject, one arena, references resolved.
//!
//! # Idea
//! Only what the root can reach is read: a definition that nothing refers to may say what it likes.
//! Every place in the document that is used as a schema is one [`Schema`], however many references
//! lead there. A schema that is nothing but a reference is an alias and vanishes; references alone
//! that lead in a circle constrain nothing and are satisfied by nothing (least fixpoint).
//!
//! # Cost
//! Linear in the reachable part of the document, with an explicit worklist.

mod read;
#[cfg(test)]
mod tests;

use crate::{
    SchemaError, SchemaErrorKind,
    decimal::Decimal,
    document::{Document, Text, ValueId},
};
use formwork_grammar::Location;
pub(crate) use read::read;

/// A schema of a [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SchemaId(u32);

impl SchemaId {
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

/// The keywords of one schema object.
#[derive(Debug, Default)]
pub(crate) struct Keywords {
    pub(crate) types: Types,
    pub(crate) reference: Option<SchemaId>,
    /// Empty when absent: the keyword itself must list at least one schema.
    pub(crate) any_of: Box<[SchemaId]>,
    pub(crate) enumeration: Option<Box<[ValueId]>>,
    pub(crate) constant: Option<ValueId>,
    pub(crate) object: Option<ObjectKeywords>,
    pub(crate) array: Option<ArrayKeywords>,
    pub(crate) string: Option<StringKeywords>,
    pub(crate) number: Option<NumberKeywords>,
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
    pub(crate) additional: Option<SchemaId>,
}

impl ObjectKeywords {
    /// The schema of a declared property.
    pub(crate) fn property(&self, document: &Document, name: &str) -> Option<SchemaId> {
        let name_at = |index: &u32| document.text(self.properties[*index as usize].0);
        let at = self.by_name.binary_search_by(|index| name_at(index).cmp(name)).ok()?;
        Some(self.properties[self.by_name[at] as usize].1)
    }

    /// The schema that the value of a key must satisfy, if any.
    pub(crate) fn value_schema(&self, document: &Document, name: &str) -> Option<SchemaId> {
        self.property(document, name).or(self.additional)
    }
}

/// Keywords that constrain arrays.
#[derive(Debug, Default)]
pub(crate) struct ArrayKeywords {
    /// The first items, one by one.
    pub(crate) prefix: Box<[SchemaId]>,
    /// All further items.
    pub(crate) items: Option<SchemaId>,
    pub(crate) count: Count,
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
}

/// Keywords that constrain numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberKeywords {
    pub(crate) interval: Interval,
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
    /// What is in both.
    pub(crate) fn intersect(self, other: &Self) -> Self {
        let mut both = self;
        both.raise(other.lower.clone());
        both.reduce(other.upper.clone());
        both
    }

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

    /// The six types of JSON, of which every set of types is a union (but for integers).
    pub(crate) const KINDS: [Self; 6] =
        [Self::NULL, Self::BOOLEAN, Self::NUMBER, Self::STRING, Self::ARRAY, Self::OBJECT];

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

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
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
    root: SchemaId,
    ignored: Option<Ignored>,
}

/// Keywords that have no effect, because before draft 2019-09 a reference stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ignored {
    /// The first of them.
    pub(crate) value: ValueId,
    pub(crate) keyword: &'static str,
    /// How many there are.
    pub(crate) count: usize,
}

impl Model {
    /// Keywords that would decide something if a reference did not stand beside them.
    pub(crate) fn ignored(&self) -> Option<Ignored> {
        self.ignored
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

    /// What a schema says, aliases resolved.
    pub(crate) fn schema(&self, id: SchemaId) -> &Schema {
        &self.schemas[self.canonical(id).index()]
    }

    /// The keywords of a schema; none when it is satisfied always or never.
    pub(crate) fn keywords(&self, id: SchemaId) -> Option<&Keywords> {
        match self.schema(id) {
            Schema::Keywords(keywords) => Some(keywords),
            _ => None,
        }
    }

    /// All patterns with the place where they stand, each as often as it occurs.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (ValueId, Text)> {
        self.schemas.iter().zip(&self.values).filter_map(|(schema, &value)| match schema {
            Schema::Keywords(keywords) => {
                let pattern = keywords.string.as_ref()?.pattern?;
                Some((self.document.member(value, "pattern")?, pattern))
            }
            _ => None,
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
