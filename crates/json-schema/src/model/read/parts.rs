//! The parts of a schema: what it says of any value, of objects, arrays, strings and numbers.

use super::{Cause, Reader};
use crate::{
    Draft, FormatMode, SchemaErrorKind, Unmentioned,
    decimal::Decimal,
    document::{Text, Value, ValueId},
    lower::Format,
    model::{
        ArrayKeywords, Conditional, Contains, Interval, Keywords, NumberKeywords, ObjectKeywords,
        Read, SchemaId, StringKeywords, Types,
    },
};

/// What a list of names says about each of some names, taken apart.
type Dependencies = (Vec<(Text, Text)>, Vec<(Text, SchemaId)>);

impl Reader<'_> {
    pub(super) fn any(&mut self, keywords: &mut Keywords) -> Read<()> {
        if let Some(value) = self.get("type") {
            keywords.types = self.types(value)?;
            let integers_only = keywords.types.intersects(Types::INTEGER)
                && !keywords.types.intersects(Types::FRACTION);
            keywords.written_whole = integers_only && self.dialect().draft == Draft::Draft4;
        }
        if let Some(value) = self.get("enum") {
            keywords.enumeration = Some(self.items(value, "enum")?.into());
        }
        keywords.constant = self.get("const");
        Ok(())
    }

    fn types(&self, value: ValueId) -> Read<Types> {
        let one = |value: ValueId| match self.document.value(value) {
            Value::String(text) => Types::named(self.document.text(text)),
            _ => None,
        };
        let types = match self.document.value(value) {
            Value::Array(children) if children.len > 0 => {
                let mut items = self.document.items(children).iter();
                items.try_fold(Types::NONE, |types, &item| Some(types.union(one(item)?)))
            }
            _ => one(value),
        };
        match types {
            Some(types) => Ok(types),
            None => self.ill_typed(value, "type", "the name of a type of JSON, or a list of such"),
        }
    }

    pub(super) fn composition(&mut self, keywords: &mut Keywords) -> Read<()> {
        if let Some(value) = self.get("allOf") {
            let further = std::mem::take(&mut keywords.all_of);
            let listed = self.schemas(value, "allOf")?;
            keywords.all_of = further.into_iter().chain(listed).collect();
        }
        if let Some(value) = self.get("anyOf") {
            keywords.any_of = self.schemas(value, "anyOf")?;
        }
        if let Some(value) = self.get("oneOf") {
            keywords.one_of = self.schemas(value, "oneOf")?;
        }
        keywords.not = self.get("not").map(|value| self.schema(value));
        if let Some(condition) = self.get("if") {
            let condition = self.schema(condition);
            let then = self.get("then").map(|value| self.schema(value));
            let otherwise = self.get("else").map(|value| self.schema(value));
            keywords.conditional = Some(Conditional { condition, then, otherwise });
        }
        Ok(())
    }

    pub(super) fn object(&mut self) -> Read<ObjectKeywords> {
        let mut object = ObjectKeywords {
            count: self.count("minProperties", "maxProperties")?,
            ..ObjectKeywords::default()
        };
        if let Some(value) = self.get("properties") {
            object.properties = self.named_schemas(value, "properties")?;
            if let Value::Object(children) = self.document.value(value) {
                object.by_name = self.document.by_key(children).collect();
            }
        }
        if let Some(value) = self.get("patternProperties") {
            object.patterns = self.named_schemas(value, "patternProperties")?;
        }
        if let Some(value) = self.get("required") {
            object.required = self.names(value, "required")?.into();
        }
        object.additional = self.get("additionalProperties").map(|value| self.schema(value));
        object.names = self.get("propertyNames").map(|value| self.schema(value));
        object.unevaluated = self.get("unevaluatedProperties").map(|value| self.schema(value));
        let (required, schemas) = self.dependencies()?;
        object.dependent_required = required.into();
        object.dependent_schemas = schemas.into();
        let is_closed = match self.options.additional_properties_default {
            Unmentioned::Allowed => false,
            Unmentioned::ForbiddenBesideOthers => {
                self.get("properties").is_some() || !object.patterns.is_empty()
            }
            Unmentioned::Forbidden => true,
        };
        let says = object.additional.is_some() || object.unevaluated.is_some();
        if is_closed && !says && self.dialect().is_users {
            object.additional = Some(self.never());
        }
        Ok(object)
    }

    /// What depends on the presence of a name, in both spellings of the drafts.
    fn dependencies(&mut self) -> Read<Dependencies> {
        let (mut required, mut schemas) = Dependencies::default();
        if let Some(at) = self.get("dependentSchemas") {
            schemas.extend(self.named_schemas(at, "dependentSchemas")?);
        }
        if let Some(at) = self.get("dependentRequired") {
            for member in self.members(at, "dependentRequired")? {
                let names = self.names(member.value, "dependentRequired")?;
                required.extend(names.into_iter().map(|name| (member.key, name)));
            }
        }
        if let Some(at) = self.get("dependencies") {
            for member in self.members(at, "dependencies")?.to_vec() {
                if let Value::Array(_) = self.document.value(member.value) {
                    let names = self.names(member.value, "dependencies")?;
                    required.extend(names.into_iter().map(|name| (member.key, name)));
                } else {
                    schemas.push((member.key, self.schema(member.value)));
                }
            }
        }
        Ok((required, schemas))
    }

    pub(super) fn array(&mut self) -> Read<ArrayKeywords> {
        let mut array = ArrayKeywords {
            count: self.count("minItems", "maxItems")?,
            contains: self.contains()?,
            ..ArrayKeywords::default()
        };
        if let Some(value) = self.get("uniqueItems") {
            match self.document.value(value) {
                Value::Boolean(unique) => array.unique = unique,
                _ => return self.ill_typed(value, "uniqueItems", "true or false"),
            }
        }
        array.unevaluated = self.get("unevaluatedItems").map(|value| self.schema(value));
        let items = self.get("items");
        let list = items.filter(|&items| matches!(self.document.value(items), Value::Array(_)));
        let (prefix, rest) = match (self.get("prefixItems"), list) {
            // The specification wants one at least, but none is just as clear.
            (Some(prefix), _) => (self.items(prefix, "prefixItems")?.to_vec(), items),
            // Up to 2019-09 a list of schemas stands under `items`, what follows under
            // `additionalItems`.
            (None, Some(list)) => {
                (self.items(list, "items")?.to_vec(), self.get("additionalItems"))
            }
            (None, None) => (Vec::new(), items),
        };
        array.prefix = prefix.into_iter().map(|item| self.schema(item)).collect();
        array.items = rest.map(|value| self.schema(value));
        let is_closed = match self.options.additional_items_default {
            Unmentioned::Allowed => false,
            Unmentioned::ForbiddenBesideOthers => !array.prefix.is_empty(),
            Unmentioned::Forbidden => true,
        };
        let says = array.items.is_some() || array.unevaluated.is_some();
        if is_closed && !says && self.dialect().is_users {
            array.items = Some(self.never());
        }
        Ok(array)
    }

    fn contains(&mut self) -> Read<Option<Contains>> {
        let Some(schema) = self.get("contains") else { return Ok(None) };
        let mut count = self.count("minContains", "maxContains")?;
        if self.get("minContains").is_none() {
            count.min = 1;
        }
        let evaluates = self.dialect().draft >= Draft::Draft202012;
        Ok(Some(Contains { schema: self.schema(schema), count, evaluates }))
    }

    pub(super) fn string(&mut self) -> Read<StringKeywords> {
        let length = self.count("minLength", "maxLength")?;
        let pattern = self.get("pattern").map(|value| self.text(value, "pattern")).transpose()?;
        let mut format = None;
        if let Some(value) = self.get("format") {
            let name = self.text(value, "format")?;
            if self.dialect().format == FormatMode::Assert {
                let name = self.document.text(name);
                format = Format::named(name);
                if format.is_none() {
                    self.notices.add(Cause::UnknownFormat, value, name);
                }
            }
        }
        Ok(StringKeywords { length, pattern, format })
    }

    pub(super) fn number(&self) -> Read<Option<NumberKeywords>> {
        let mut interval = Interval::default();
        let (bound, excluded) = self.bounds("minimum", "exclusiveMinimum")?;
        interval.raise(bound);
        interval.raise(excluded);
        let (bound, excluded) = self.bounds("maximum", "exclusiveMaximum")?;
        interval.reduce(bound);
        interval.reduce(excluded);
        let mut multiple_of = None;
        if let Some(at) = self.get("multipleOf") {
            let value = self.decimal(at, "multipleOf")?;
            if value.is_negative() || value.is_zero() {
                return self.ill_typed(at, "multipleOf", "a number greater than zero");
            }
            multiple_of = Some(value);
        }
        let says = interval != Interval::default() || multiple_of.is_some();
        Ok(says.then_some(NumberKeywords { interval, multiple_of }))
    }

    pub(super) fn decimal(&self, at: ValueId, keyword: &'static str) -> Read<Decimal> {
        let Value::Number(text) = self.document.value(at) else {
            return self.ill_typed(at, keyword, "a number");
        };
        match Decimal::parse(self.document.text(text)) {
            Some(value) => Ok(value),
            None => self.error(at, SchemaErrorKind::ExponentTooLarge),
        }
    }
}
