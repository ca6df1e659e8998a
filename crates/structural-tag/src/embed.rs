//! What is embedded in a tag: JSON Schemas and grammars, as parts of the grammar around them.

use crate::{
    Error, Options, Schemas, StructuralTagError, StructuralTagErrorKind as Kind, Style,
    document::{Document, ValueId},
    model::Schema,
    plain, xml,
};
use formwork_grammar::{Grammar, Limits, LowerError, Part, SourcePosition};
use formwork_json_schema::{
    Options as JsonOptions, PropertyOrder, SchemaError, SchemaErrorKind, WhiteSpace,
};
use std::sync::Arc;

/// What stands for an embedded text.
pub(crate) enum Embedded {
    Part(Part),
    /// Nothing satisfies it.
    Nothing,
}

/// A schema in its style.
pub(crate) fn schema(
    document: &Arc<Document>,
    schema: &Schema,
    options: &Options,
    limits: &Limits,
) -> Result<Embedded, Error> {
    let task = Task {
        document: document.clone(),
        value: schema.value,
        style: schema.style,
        excludes: schema.excludes.clone(),
        options: json_options(schema, options),
        limits: limits.clone(),
    };
    let unmentioned = task.options.additional_properties_default;
    let late = options.schemas == Schemas::WhenNeeded
        && schema.excludes.is_empty()
        && plain::cannot_fail(document, schema.value, schema.style, unmentioned, limits);
    if late {
        // Locations of errors are those of the whole tag already.
        return Ok(Embedded::Part(Part::late(move || task.grammar().map_err(lower_error))));
    }
    match task.grammar() {
        Ok(grammar) if schema.style == Style::Json => {
            let location = document.location(schema.value);
            Ok(Embedded::Part(Part::of(grammar).at(location)))
        }
        Ok(grammar) => Ok(Embedded::Part(Part::of(grammar))),
        Err(error) if is_unsatisfiable(&error) => Ok(Embedded::Nothing),
        Err(error) => Err(error),
    }
}

/// A grammar in EBNF.
pub(crate) fn grammar(
    document: &Arc<Document>,
    text: ValueId,
    options: &Options,
    limits: &Limits,
) -> Result<Embedded, Error> {
    let source = document.string(text).expect("read as a string");
    let grammar = formwork_ebnf::compile(&source, &options.ebnf, limits)
        .map_err(|error| document.error(text, Kind::Ebnf(Box::new(error))))?;
    Ok(Embedded::Part(Part::of(grammar).at(document.location(text))))
}

/// Whether an error says that nothing satisfies a schema.
pub(crate) fn is_unsatisfiable(error: &Error) -> bool {
    matches!(&error.kind, Kind::Schema(error) if error.kind == SchemaErrorKind::Unsatisfiable)
}

fn lower_error(error: Error) -> LowerError {
    LowerError { location: error.location.clone(), source: Arc::new(error) }
}

/// The options of a schema: what its format says comes before what the caller says.
fn json_options(schema: &Schema, options: &Options) -> JsonOptions {
    let mut json = options.json_schema.clone();
    if schema.any_order {
        json.property_order = PropertyOrder::Any;
    }
    if let Some(max) = schema.max_white_space {
        json.white_space = WhiteSpace::Bounded { max };
    }
    json
}

/// All that compiling a schema takes.
pub(crate) struct Task {
    pub(crate) document: Arc<Document>,
    pub(crate) value: ValueId,
    pub(crate) style: Style,
    pub(crate) excludes: Vec<String>,
    pub(crate) options: JsonOptions,
    pub(crate) limits: Limits,
}

impl Task {
    fn grammar(&self) -> Result<Grammar, Error> {
        match self.style {
            Style::Json if self.excludes.is_empty() => {
                let text = self.document.raw(self.value);
                formwork_json_schema::compile(text, &self.options, &self.limits)
                    .map_err(|error| self.error(error))
            }
            Style::Json => xml::json_without(self),
            _ => xml::grammar(self),
        }
    }

    /// An error of the schema as one of the tag.
    pub(crate) fn error(&self, error: SchemaError) -> StructuralTagError {
        let source = self.document.source();
        let start = self.document.span(self.value).start;
        StructuralTagError {
            location: error.location.within(&self.document.location(self.value)),
            position: error.position.map(|position| {
                SourcePosition::in_text(source, start + position.offset, position.length)
            }),
            kind: Kind::Schema(Box::new(error)),
        }
    }
}
