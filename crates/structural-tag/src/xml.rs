//! Arguments in the styles of models that write them as elements.
//!
//! # Meaning
//! An object is its members, each a parameter in the style's wrapping, white space between them. What
//! a value looks like follows from its type: strings are their characters, without quotation marks
//! and without the end of a parameter in them; other values are JSON with white space around it, and
//! objects and arrays in the nested styles are parameters in turn. An attribute that names the type
//! names that of the value that follows. So every alternative of a value is the schema together with
//! some types, which [`formwork_json_schema`] turns into a grammar; what nothing satisfies is left out.
//!
//! Members come in declared order, then others, unless any order is asked for or members are counted.
//! Other keys are identifiers, or what patterns and `propertyNames` say.
//!
//! # What is refused
//! Where members or items are written one by one, their schema must be readable as such:
//! alternatives and references are, several schemas about one object are not.
//!
//! # Strings
//! The automaton of a string's JSON text becomes that of its characters (`text`).

mod members;
mod shape;
mod text;
mod wire;

use crate::{
    Error, StructuralTagErrorKind as Kind,
    embed::{Task, is_unsatisfiable},
    patterns::FreeTexts,
};
use formwork_automata::{BooleanOp, ByteSet, CancellationToken, Dfa, Fuel};
use formwork_grammar::{
    BodyBuilder, ExprId, Grammar, GrammarBuilder, Location, Part, RuleId, compose, regular,
};
use formwork_json_schema::{Options as JsonOptions, Unmentioned, WhiteSpace};
use rustc_hash::FxHashMap;
use shape::{Child, Shape, types};
use std::{collections::BTreeSet, sync::Arc};
use wire::{Form, Group, Type, Wire};

/// What the schema around a part of it is called when the part is compiled.
const SCHEMA: &str = "structural-tag:schema";

/// What the schema is called that knows which strings there must not be.
const EXCLUDES: &str = "structural-tag:excludes";

/// White space where the options speak of JSON alone.
const MAX_WHITE_SPACE: u32 = 64;

/// The grammar of a schema in JSON whose strings and keys must not have some strings in them.
///
/// # Errors
/// As compiling the schema.
pub(crate) fn json_without(task: &Task) -> Result<Grammar, Error> {
    match Writer::new(task).compiled(Child::Schema(task.value), None)? {
        Some(grammar) => Ok(grammar),
        None => Ok(never()),
    }
}

/// The grammar of a schema in a style of elements.
///
/// # Errors
/// What is wrong with the schema, or what the style cannot write.
pub(crate) fn grammar(task: &Task) -> Result<Grammar, Error> {
    let document = &task.document;
    if let Some(excluded) = task.excludes.iter().find(|text| text.trim().len() != text.len()) {
        debug_assert!(!excluded.is_empty(), "excluded strings are not empty");
        let what = "excluded strings with white space at an end: it may stand around a value";
        let style = task.style.name();
        return Err(document.error(task.value, Kind::Style { style, what }));
    }
    let mut writer = Writer::new(task);
    let root = Child::Schema(task.value);
    let rule = writer.builder.declare(task.style.name());
    let mut body = BodyBuilder::new();
    let mut choices = Vec::new();
    for (of, form) in [(Type::Object, Form::Members), (Type::Array, Form::Items)] {
        // Arrays are arguments only where items are written one by one.
        let is_written = form == Form::Members
            || writer.wire.groups.iter().any(|group| group.form == Form::Items);
        if is_written && writer.json(root, &[of])?.is_some() {
            let values = writer.builder.declare("values");
            writer.work.push((root, form, values));
            choices.push(body.rule(values));
        }
    }
    let alternatives = body.alt(&choices);
    writer.builder.define(rule, body.finish(alternatives)).expect("each rule is defined once");
    while let Some((child, form, rule)) = writer.work.pop() {
        writer.write(child, form, rule)?;
    }
    let grammar = writer.builder.finish(rule).expect("all rules are defined");
    compose(grammar, writer.holes, &task.limits).map_err(|error| document.error(task.value, error))
}

fn never() -> Grammar {
    let mut body = BodyBuilder::new();
    let root = body.never();
    Grammar::of_body(body.finish(root))
}

/// Writes the rules of one schema.
struct Writer<'t> {
    task: &'t Task,
    wire: Wire,
    options: JsonOptions,
    builder: GrammarBuilder,
    holes: Vec<(RuleId, Part)>,
    /// Values by what they satisfy and how they are written; `None` where nothing does.
    values: FxHashMap<(Child, usize), Option<RuleId>>,
    /// Rules whose values are written one by one, to be defined.
    work: Vec<(Child, Form, RuleId)>,
    texts: FreeTexts,
    fuel: Fuel,
}

/// The key of a parameter.
#[derive(Clone, Copy)]
enum Key<'k> {
    Named(&'k str),
    /// It has been written already.
    Written,
    /// An item has none.
    None,
}

impl<'t> Writer<'t> {
    fn new(task: &'t Task) -> Self {
        let mut options = task.options.clone().with_document(SCHEMA, task.document.raw(task.value));
        if !task.excludes.is_empty() {
            options = options.with_document(EXCLUDES, excludes_schema(&task.excludes));
        }
        Self {
            task,
            wire: Wire::of(task.style),
            options,
            builder: GrammarBuilder::new(),
            holes: Vec::new(),
            values: FxHashMap::default(),
            work: Vec::new(),
            texts: FreeTexts::default(),
            fuel: task.limits.fuel(&CancellationToken::new()),
        }
    }

    fn exhausted(&self, error: impl Into<Kind>) -> Error {
        self.task.document.error(self.task.value, error)
    }

    /// The JSON texts of the values of these types that satisfy something; `None` where there are
    /// none.
    fn json(&mut self, child: Child, types: &[Type]) -> Result<Option<Grammar>, Error> {
        self.compiled(child, Some(types))
    }

    fn compiled(&self, child: Child, types: Option<&[Type]>) -> Result<Option<Grammar>, Error> {
        let document = &self.task.document;
        let mut all = Vec::new();
        match child {
            Child::Any => {}
            Child::Constant(value) => all.push(format!("{{\"enum\":[{}]}}", document.raw(value))),
            Child::Schema(value) => {
                let pointer = document.pointer(value);
                let inner = &pointer[document.pointer(self.task.value).len()..];
                all.push(format!("{{\"$ref\":\"{SCHEMA}#{}\"}}", percent_encoded(inner)));
            }
        }
        if let Some(types) = types {
            let names: Vec<_> = types.iter().map(|of| format!("\"{}\"", of.name())).collect();
            all.push(format!("{{\"type\":[{}]}}", names.join(",")));
        }
        if !self.task.excludes.is_empty() {
            all.push(format!("{{\"$ref\":\"{EXCLUDES}\"}}"));
        }
        let text = format!("{{\"allOf\":[{}]}}", all.join(","));
        match formwork_json_schema::compile(text, &self.options, &self.task.limits) {
            Ok(grammar) => Ok(Some(grammar)),
            Err(mut error) => {
                let inside = match &error.location {
                    Location::Pointer(pointer) => {
                        pointer.strip_prefix(SCHEMA).and_then(|rest| rest.strip_prefix('#'))
                    }
                    _ => None,
                };
                match inside {
                    Some(pointer) => error.location = Location::Pointer(pointer.to_owned()),
                    None => (error.location, error.position) = (Location::Whole, None),
                }
                let error = self.task.error(error);
                if is_unsatisfiable(&error) { Ok(None) } else { Err(error) }
            }
        }
    }

    /// What members a schema does not mention are, beside others that it does.
    fn unmentioned(&self, mentions: bool) -> Option<Child> {
        unmentioned(self.options.additional_properties_default, mentions)
    }

    fn unmentioned_items(&self, mentions: bool) -> Option<Child> {
        unmentioned(self.options.additional_items_default, mentions)
    }

    fn white_space(&self, body: &mut BodyBuilder) -> ExprId {
        let bytes: ByteSet = b" \t\n\r".iter().copied().collect();
        let byte = body.bytes(bytes);
        match self.options.white_space {
            WhiteSpace::Bounded { max } => body.repeat(byte, 0, Some(max)),
            WhiteSpace::Unbounded => body.repeat(byte, 0, None),
            _ => body.repeat(byte, 0, Some(MAX_WHITE_SPACE)),
        }
    }

    /// The strings that satisfy something, as they are.
    fn strings(&mut self, child: Child) -> Result<Option<Dfa>, Error> {
        let Some(grammar) = self.json(child, &[Type::String])? else { return Ok(None) };
        let place = match child {
            Child::Schema(value) | Child::Constant(value) => value,
            Child::Any => self.task.value,
        };
        let cancellation = CancellationToken::new();
        let quoted = regular::dfa(&grammar, &regular::BytesOnly, &self.task.limits, &cancellation);
        let quoted = quoted.map_err(|_| {
            let what = "strings with so many states";
            let style = self.task.style.name();
            self.task.document.error(place, Kind::Style { style, what })
        })?;
        let strings = text::unquoted(&quoted, &mut self.fuel);
        strings.map(Some).map_err(|error| self.exhausted(error))
    }

    /// Text that neither ends a parameter nor has in it what is excluded.
    fn free_text(&mut self) -> Result<Arc<Dfa>, Error> {
        let end = self.wire.end_of_text().to_owned();
        let excluded: BTreeSet<String> = self.task.excludes.iter().cloned().chain([end]).collect();
        let text = self.texts.without(excluded, &mut self.fuel);
        text.map_err(|error| self.exhausted(error))
    }

    /// The strings that satisfy something, as they may be written; `None` where there are none.
    fn text(&mut self, child: Child) -> Result<Option<Arc<Dfa>>, Error> {
        let free = self.free_text()?;
        if self.is_any_string(child) {
            return Ok(Some(free));
        }
        let Some(strings) = self.strings(child)? else { return Ok(None) };
        let text = strings.combine(&free, BooleanOp::Intersection, &mut self.fuel);
        let text = text.map_err(|error| self.exhausted(error))?.canonical();
        Ok(Some(Arc::new(text)).filter(|text| !Dfa::is_empty(text)))
    }

    /// Whether every string satisfies something, as far as one look tells.
    fn is_any_string(&self, child: Child) -> bool {
        let Child::Schema(schema) = child else { return child == Child::Any };
        let document = &self.task.document;
        let members = document.members(schema);
        !members.is_empty()
            && members.iter().all(|member| {
                matches!(&*document.key(member), "type" | "description" | "title" | "default")
            })
            && types(document, child).contains(&Type::String)
    }

    /// The rule of the values of a group that satisfy something; `None` where there are none.
    fn value(&mut self, child: Child, index: usize) -> Result<Option<RuleId>, Error> {
        if let Some(&known) = self.values.get(&(child, index)) {
            return Ok(known);
        }
        let Group { types: of, form, .. } = self.wire.groups[index];
        let possible = types(&self.task.document, child);
        let of: Vec<Type> = of.iter().copied().filter(|of| possible.contains(of)).collect();
        let rule = if of.is_empty() { None } else { self.new_value(child, form, &of)? };
        self.values.insert((child, index), rule);
        Ok(rule)
    }

    fn new_value(
        &mut self,
        child: Child,
        form: Form,
        types: &[Type],
    ) -> Result<Option<RuleId>, Error> {
        let mut body = BodyBuilder::new();
        let root = match form {
            Form::Text => {
                let Some(text) = self.text(child)? else { return Ok(None) };
                body.automaton(text)
            }
            Form::Json => {
                let Some(grammar) = self.json(child, types)? else { return Ok(None) };
                let hole = self.builder.declare("value");
                let mut empty = BodyBuilder::new();
                let root = empty.empty();
                self.builder.define(hole, empty.finish(root)).expect("once");
                let location = match child {
                    Child::Schema(value) | Child::Constant(value) => {
                        self.task.document.location(value)
                    }
                    Child::Any => self.task.document.location(self.task.value),
                };
                // What is wrong inside is located by where the value's schema stands.
                self.holes.push((hole, Part::of(grammar.with_warnings(Vec::new())).at(location)));
                let (space, value) = (self.white_space(&mut body), body.rule(hole));
                body.seq(&[space, value, space])
            }
            Form::Members | Form::Items => {
                if self.json(child, types)?.is_none() {
                    return Ok(None);
                }
                let rule = self.builder.declare("values");
                self.work.push((child, form, rule));
                return Ok(Some(rule));
            }
        };
        let rule = self.builder.declare("text");
        self.builder.define(rule, body.finish(root)).expect("each rule is defined once");
        Ok(Some(rule))
    }

    /// All ways to write a parameter; nothing where no value satisfies it.
    fn parameters(
        &mut self,
        key: Key<'_>,
        child: Child,
        body: &mut BodyBuilder,
    ) -> Result<Vec<ExprId>, Error> {
        let mut choices = Vec::new();
        for index in 0..self.wire.groups.len() {
            if let Some(value) = self.value(child, index)? {
                choices.push(self.parameter(key, (child, index), value, body));
            }
        }
        Ok(choices)
    }

    fn parameter(
        &self,
        key: Key<'_>,
        (child, group): (Child, usize),
        value: RuleId,
        body: &mut BodyBuilder,
    ) -> ExprId {
        let wire = &self.wire;
        let mut parts = self.key(key, body);
        if let Some(after) = wire.after_attribute {
            let group = wire.groups[group];
            let attribute = body.literal(group.attribute.as_bytes());
            let other = group.other_attribute.filter(|_| child == Child::Any);
            let other = other.map(|other| body.literal(other.as_bytes()));
            let choices: Vec<ExprId> = [attribute].into_iter().chain(other).collect();
            parts.push(body.alt(&choices));
            parts.push(body.literal(after.as_bytes()));
        }
        if !wire.before_value.is_empty() {
            parts.push(self.white_space(body));
            parts.push(body.literal(wire.before_value.as_bytes()));
        }
        parts.push(body.rule(value));
        parts.push(body.literal(wire.after_value.as_bytes()));
        if let Some(after) = wire.after_second_key {
            let key = match key {
                Key::Named(key) => key,
                _ => "item",
            };
            parts.push(body.literal(format!("{key}{after}").as_bytes()));
        }
        body.seq(&parts)
    }

    /// A parameter up to its attribute or value.
    fn key(&self, key: Key<'_>, body: &mut BodyBuilder) -> Vec<ExprId> {
        let wire = &self.wire;
        let named = |key: &str| [wire.before_key, &wire.key(key), wire.after_key].concat();
        match key {
            Key::Named(key) => vec![body.literal(named(key).as_bytes())],
            Key::Written => vec![body.literal(wire.after_key.as_bytes())],
            Key::None if wire.after_second_key.is_some() => {
                vec![body.literal(named("item").as_bytes())]
            }
            Key::None => vec![body.literal(wire.unnamed.as_bytes())],
        }
    }

    /// Defines the rule of values that are written one by one.
    fn write(&mut self, child: Child, form: Form, rule: RuleId) -> Result<(), Error> {
        let wanted = if form == Form::Items { Type::Array } else { Type::Object };
        let mut body = BodyBuilder::new();
        let mut choices = Vec::new();
        for shape in self.shapes(child, wanted)? {
            choices.push(match shape {
                Shape::Object(object) => self.members(&object, &mut body)?,
                Shape::Array(array) => self.items(&array, &mut body)?,
            });
        }
        let root = body.alt(&choices);
        self.builder.define(rule, body.finish(root)).expect("each rule is defined once");
        Ok(())
    }
}

fn unmentioned(default: Unmentioned, mentions: bool) -> Option<Child> {
    let is_closed = match default {
        Unmentioned::Forbidden => true,
        Unmentioned::ForbiddenBesideOthers => mentions,
        _ => false,
    };
    (!is_closed).then_some(Child::Any)
}

/// A schema of all values in whose strings and keys none of these texts stands.
fn excludes_schema(excludes: &[String]) -> String {
    let mut pattern = String::new();
    for text in excludes {
        if !pattern.is_empty() {
            pattern.push('|');
        }
        for character in text.chars() {
            match character.is_ascii_alphanumeric() || !character.is_ascii() {
                true => pattern.push(character),
                false => pattern.push_str(&format!("\\u{:04x}", u32::from(character))),
            }
        }
    }
    // A JSON string of the pattern: it has nothing to be escaped but backslashes, as everything
    // else that would have to be is escaped in the pattern already.
    let not = format!("{{\"pattern\":\"{}\"}}", pattern.replace('\\', "\\\\"));
    format!(
        "{{\"anyOf\":[{{\"type\":[\"null\",\"boolean\",\"number\"]}},\
         {{\"type\":\"string\",\"not\":{not}}},\
         {{\"type\":\"array\",\"items\":{{\"$ref\":\"#\"}}}},\
         {{\"type\":\"object\",\"propertyNames\":{{\"not\":{not}}},\
         \"additionalProperties\":{{\"$ref\":\"#\"}}}}]}}"
    )
}

/// A JSON pointer as the fragment of a URI.
fn percent_encoded(pointer: &str) -> String {
    let mut encoded = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests;
