//! Reads a document into a [`Model`]. Formats nest, so that what is still to be read is a list.

mod fields;

use crate::{
    Error, StructuralTagErrorKind as Kind,
    document::{Document, Value, ValueId},
    model::{
        AtLeast, Branch, Delimiter, Dispatch, Format, FormatId, FreeText, Model, OtherTokens,
        Outside, Role, Schema, Separated, Tag, Then,
    },
    patterns::Patterns,
    style::Style,
};
use fields::{Fields, boolean, count, list, nonempty_list, nonempty_string, string, strings};
use formwork_automata::Fuel;
use formwork_grammar::{TokenRef, Warning};

/// A format that has a number but has not been read.
struct Task {
    format: FormatId,
    value: ValueId,
    /// The ends of the tag around it.
    around: Option<u32>,
}

struct Reader<'d, 'f> {
    document: &'d Document,
    model: Model,
    tasks: Vec<Task>,
    warnings: Vec<Warning>,
    fuel: &'f mut Fuel,
}

/// Reads the tag: the current form, or the older one of `structures` and `triggers`.
///
/// # Errors
/// What is missing, unknown or of the wrong kind, and where.
pub(crate) fn read(document: &Document, fuel: &mut Fuel) -> Result<(Model, Vec<Warning>), Error> {
    let (model, tasks, warnings) = Default::default();
    let mut reader = Reader { document, model, tasks, warnings, fuel };
    let mut root = Fields::of(document, ValueId::ROOT)?;
    if let Some(id) = root.take("type") {
        let name = string(document, id)?;
        if name != "structural_tag" {
            return Err(document.error(id, Kind::UnknownName { what: "type", name: name.into() }));
        }
    }
    match root.take("structures") {
        None => {
            let format = root.need("format")?;
            root.finish()?;
            reader.later(format, None);
        }
        Some(structures) => {
            let triggers = root.need("triggers")?;
            root.finish()?;
            let id = reader.slot(ValueId::ROOT);
            let tags = nonempty_list(document, structures)?;
            reader.model.formats[id.index()] = reader.triggered(tags, triggers, None)?;
        }
    }
    while let Some(task) = reader.tasks.pop() {
        reader.model.formats[task.format.index()] = reader.format(&task)?;
    }
    Ok((reader.model, reader.warnings))
}

impl Reader<'_, '_> {
    fn slot(&mut self, value: ValueId) -> FormatId {
        let id = FormatId(u32::try_from(self.model.formats.len()).expect("fewer than values"));
        self.model.formats.push(Format::Text(String::new()));
        self.model.places.push(value);
        id
    }

    /// A number for a format that is read when its turn comes.
    fn later(&mut self, value: ValueId, around: Option<u32>) -> FormatId {
        let format = self.slot(value);
        self.tasks.push(Task { format, value, around });
        format
    }

    fn all_later(&mut self, list: &[ValueId], around: Option<u32>) -> Vec<FormatId> {
        list.iter().map(|&value| self.later(value, around)).collect()
    }

    fn format(&mut self, task: &Task) -> Result<Format, Error> {
        let mut fields = Fields::of(self.document, task.value)?;
        let id = fields.need("type")?;
        let name = string(self.document, id)?;
        let format = match &*name {
            "const_string" => Format::Text(string(self.document, fields.need("value")?)?),
            "json_schema" => self.schema(&mut fields)?,
            "qwen_xml_parameter" => self.qwen_parameters(&mut fields)?,
            "grammar" => Format::Grammar(self.text_of(fields.need("grammar")?)?),
            "regex" => Format::Regex(self.text_of(fields.need("pattern")?)?),
            "any_text" => self.any_text(&mut fields, task)?,
            "token" => Format::Token([self.token(fields.need("token")?)?].into()),
            "exclude_token" => self.other_tokens(&mut fields, task, (1, Some(1)))?,
            "any_tokens" => {
                let max = self.optional_count(&mut fields, "max_tokens")?;
                self.other_tokens(&mut fields, task, (0, max))?
            }
            "sequence" => {
                let elements = nonempty_list(self.document, fields.need("elements")?)?;
                Format::Sequence(self.all_later(elements, task.around))
            }
            "or" => {
                let elements = nonempty_list(self.document, fields.need("elements")?)?;
                Format::Choice(self.all_later(elements, task.around))
            }
            "optional" => self.repeat(&mut fields, task, (0, Some(1)))?,
            "plus" => self.repeat(&mut fields, task, (1, None))?,
            "star" => self.repeat(&mut fields, task, (0, None))?,
            "repeat" => {
                let counts = self.counts(&mut fields)?;
                self.repeat(&mut fields, task, counts)?
            }
            "tag" => Format::Tag(self.tag(&mut fields)?),
            "triggered_tags" => self.triggered_tags(&mut fields, task)?,
            "token_triggered_tags" => self.token_triggered_tags(&mut fields, task)?,
            "tags_with_separator" => self.separated(&mut fields)?,
            "dispatch" => self.dispatch(&mut fields, task)?,
            "token_dispatch" => self.token_dispatch(&mut fields, task)?,
            _ => {
                return Err(self
                    .document
                    .error(id, Kind::UnknownName { what: "format", name: name.into() }));
            }
        };
        fields.finish()?;
        Ok(format)
    }

    /// A value that has to be a string and is looked at later.
    fn text_of(&self, id: ValueId) -> Result<ValueId, Error> {
        string(self.document, id).map(|_| id)
    }

    fn optional_count(
        &self,
        fields: &mut Fields<'_>,
        field: &'static str,
    ) -> Result<Option<u32>, Error> {
        match fields.take(field).filter(|&id| *self.document.value(id) != Value::Null) {
            None => Ok(None),
            Some(id) => count(self.document, id).map(Some),
        }
    }

    fn optional_strings(
        &self,
        fields: &mut Fields<'_>,
        field: &'static str,
    ) -> Result<Vec<String>, Error> {
        fields.take(field).map_or(Ok(Vec::new()), |id| strings(self.document, id))
    }

    fn flag(&self, fields: &mut Fields<'_>, field: &'static str) -> Result<bool, Error> {
        fields.take(field).map_or(Ok(false), |id| boolean(self.document, id))
    }

    fn shape(&self, fields: &mut Fields<'_>) -> Result<(AtLeast, Then), Error> {
        let at_least = match self.flag(fields, "at_least_one")? {
            true => AtLeast::One,
            false => AtLeast::None,
        };
        let then = match self.flag(fields, "stop_after_first")? {
            true => Then::Nothing,
            false => Then::More,
        };
        Ok((at_least, then))
    }

    fn schema(&mut self, fields: &mut Fields<'_>) -> Result<Format, Error> {
        let value = self.schema_value(fields)?;
        let style = match fields.take("style") {
            None => Style::Json,
            Some(id) => {
                let name = string(self.document, id)?;
                let unknown = || {
                    self.document
                        .error(id, Kind::UnknownName { what: "style", name: name.as_str().into() })
                };
                Style::named(&name).ok_or_else(unknown)?
            }
        };
        Ok(Format::Schema(Schema {
            value,
            style,
            any_order: self.flag(fields, "any_order")?,
            max_white_space: self.optional_count(fields, "max_whitespace_cnt")?,
            excludes: self.optional_strings(fields, "excludes")?,
        }))
    }

    fn qwen_parameters(&mut self, fields: &mut Fields<'_>) -> Result<Format, Error> {
        let value = self.schema_value(fields)?;
        let (style, any_order) = (Style::QwenXml, self.flag(fields, "any_order")?);
        let max_white_space = self.optional_count(fields, "max_whitespace_cnt")?;
        let excludes = self.optional_strings(fields, "excludes")?;
        Ok(Format::Schema(Schema { value, style, any_order, max_white_space, excludes }))
    }

    fn schema_value(&self, fields: &mut Fields<'_>) -> Result<ValueId, Error> {
        let value = fields.need("json_schema")?;
        match self.document.value(value) {
            Value::Object(_) | Value::Boolean(_) => Ok(value),
            _ => Err(self.document.error(value, Kind::Expected { expected: "a JSON Schema" })),
        }
    }

    fn any_text(&mut self, fields: &mut Fields<'_>, task: &Task) -> Result<Format, Error> {
        Ok(Format::FreeText(FreeText {
            excludes: self.optional_strings(fields, "excludes")?,
            around: task.around,
            max_tokens: self.optional_count(fields, "max_tokens")?,
            max_characters: self.optional_count(fields, "max_chars")?,
        }))
    }

    fn token(&self, id: ValueId) -> Result<TokenRef, Error> {
        match self.document.value(id) {
            Value::String => Ok(TokenRef::Name(nonempty_string(self.document, id)?.into())),
            Value::Number => count(self.document, id).map(|id| TokenRef::Ids(id, id)),
            _ => Err(self.document.error(id, Kind::Expected { expected: "a token id or name" })),
        }
    }

    fn tokens(&self, id: ValueId) -> Result<Vec<TokenRef>, Error> {
        list(self.document, id)?.iter().map(|&id| self.token(id)).collect()
    }

    fn excluded_tokens(&self, fields: &mut Fields<'_>) -> Result<Vec<TokenRef>, Error> {
        fields.take("exclude_tokens").map_or(Ok(Vec::new()), |id| self.tokens(id))
    }

    fn other_tokens(
        &mut self,
        fields: &mut Fields<'_>,
        task: &Task,
        (min, max): (u32, Option<u32>),
    ) -> Result<Format, Error> {
        let excludes = self.excluded_tokens(fields)?;
        Ok(Format::OtherTokens(OtherTokens { excludes, around: task.around, min, max }))
    }

    /// `min` and `max` of a repetition; a `max` of -1 is none.
    fn counts(&self, fields: &mut Fields<'_>) -> Result<(u32, Option<u32>), Error> {
        let (min, max) = (fields.need("min")?, fields.need("max")?);
        let least = count(self.document, min)?;
        if self.document.raw(max) == "-1" {
            return Ok((least, None));
        }
        let most = count(self.document, max)?;
        match most < least {
            true => Err(self.document.error(max, Kind::ReversedRepeat { min: least, max: most })),
            false => Ok((least, Some(most))),
        }
    }

    fn repeat(
        &mut self,
        fields: &mut Fields<'_>,
        task: &Task,
        (min, max): (u32, Option<u32>),
    ) -> Result<Format, Error> {
        let content = self.later(fields.need("content")?, task.around);
        Ok(Format::Repeat { content, min, max })
    }

    fn delimiter(&self, id: ValueId) -> Result<Delimiter, Error> {
        if *self.document.value(id) == Value::String {
            return string(self.document, id).map(Delimiter::Text);
        }
        let wrong = || self.document.error(id, Kind::Expected { expected: "a string or a token" });
        let mut fields = Fields::of(self.document, id).map_err(|_| wrong())?;
        let name = fields.need("type")?;
        if string(self.document, name)? != "token" {
            return Err(wrong());
        }
        let token = self.token(fields.need("token")?)?;
        fields.finish()?;
        Ok(Delimiter::Token(token))
    }

    /// The ends of a tag: one, or a list of strings.
    fn ends(&mut self, id: ValueId) -> Result<u32, Error> {
        let ends = match self.document.value(id) {
            Value::Array(_) => {
                let list = nonempty_list(self.document, id)?;
                let text = |&id: &ValueId| string(self.document, id).map(Delimiter::Text);
                list.iter().map(text).collect::<Result<_, _>>()?
            }
            _ => vec![self.delimiter(id)?],
        };
        let number = u32::try_from(self.model.ends.len()).expect("fewer than values");
        self.model.ends.push(ends);
        Ok(number)
    }

    fn tag(&mut self, fields: &mut Fields<'_>) -> Result<Tag, Error> {
        let begin = self.delimiter(fields.need("begin")?)?;
        let content = fields.need("content")?;
        let ends = self.ends(fields.need("end")?)?;
        let content = self.later(content, Some(ends));
        Ok(Tag { begin, content, ends })
    }

    /// A tag in a list of tags, whose type need not be said; in the older form of structural tags
    /// it has a schema for its content.
    fn listed_tag(&mut self, value: ValueId) -> Result<(FormatId, Delimiter), Error> {
        let mut fields = Fields::of(self.document, value)?;
        if let Some(id) = fields.take("type") {
            let name = string(self.document, id)?;
            if name != "tag" {
                return Err(self.document.error(id, Kind::Expected { expected: "a tag" }));
            }
        }
        let id = self.slot(value);
        let tag = match fields.take("schema") {
            None => self.tag(&mut fields)?,
            Some(schema) => {
                let begin = self.delimiter(fields.need("begin")?)?;
                let ends = self.ends(fields.need("end")?)?;
                let content = self.slot(schema);
                if !matches!(self.document.value(schema), Value::Object(_) | Value::Boolean(_)) {
                    let kind = Kind::Expected { expected: "a JSON Schema" };
                    return Err(self.document.error(schema, kind));
                }
                self.model.formats[content.index()] = Format::Schema(Schema {
                    value: schema,
                    style: Style::Json,
                    any_order: false,
                    max_white_space: None,
                    excludes: Vec::new(),
                });
                Tag { begin, content, ends }
            }
        };
        fields.finish()?;
        let begin = tag.begin.clone();
        self.model.formats[id.index()] = Format::Tag(tag);
        Ok((id, begin))
    }

    fn triggered_tags(&mut self, fields: &mut Fields<'_>, task: &Task) -> Result<Format, Error> {
        let triggers = fields.need("triggers")?;
        let tags = nonempty_list(self.document, fields.need("tags")?)?;
        let mut format = self.triggered(tags, triggers, task.around)?;
        let (more, shape) = (self.optional_strings(fields, "excludes")?, self.shape(fields)?);
        if let Format::Dispatch(dispatch) = &mut format {
            (dispatch.at_least, dispatch.then) = shape;
            if let Outside::Text { excludes, .. } = &mut dispatch.outside {
                *excludes = more;
            }
        }
        Ok(format)
    }

    /// Tags by the one trigger that each begins with.
    fn triggered(
        &mut self,
        tags: &[ValueId],
        triggers: ValueId,
        around: Option<u32>,
    ) -> Result<Format, Error> {
        let places = nonempty_list(self.document, triggers)?;
        let triggers = strings(self.document, triggers)?;
        let patterns = Patterns::new(&triggers, self.fuel)
            .map_err(|error| self.document.error(ValueId::ROOT, error))?;
        let mut branches = Vec::with_capacity(tags.len());
        let mut used = vec![false; triggers.len()];
        for &value in tags {
            let (content, begin) = self.listed_tag(value)?;
            let Delimiter::Text(text) = &begin else {
                let expected = "a begin that is a string";
                return Err(self.document.error(value, Kind::Expected { expected }));
            };
            let mut leading = patterns.prefixes(text);
            let Some(trigger) = leading.next() else {
                return Err(self.document.error(value, Kind::NoTrigger));
            };
            if let Some(second) = leading.next() {
                let [first, second] = [trigger, second].map(|at| triggers[at].as_str().into());
                return Err(self.document.error(value, Kind::SeveralTriggers { first, second }));
            }
            drop(leading);
            used[trigger] = true;
            branches.push(Branch { begin, trigger, content, role: Role::Tag });
        }
        for (&place, _) in places.iter().zip(used).filter(|(_, used)| !used) {
            // A repeated trigger is used by its first mention.
            self.warnings.push(Warning {
                location: self.document.location(place),
                message: "no tag begins with this trigger, so it is never written".into(),
            });
        }
        let outside = Outside::Text { triggers, excludes: Vec::new(), around };
        let (at_least, then) = (AtLeast::None, Then::More);
        Ok(Format::Dispatch(Dispatch { outside, branches, at_least, then }))
    }

    fn token_triggered_tags(
        &mut self,
        fields: &mut Fields<'_>,
        task: &Task,
    ) -> Result<Format, Error> {
        let place = fields.need("trigger_tokens")?;
        nonempty_list(self.document, place)?;
        let triggers = self.tokens(place)?;
        let mut branches = Vec::new();
        for &value in nonempty_list(self.document, fields.need("tags")?)? {
            let (content, begin) = self.listed_tag(value)?;
            match &begin {
                Delimiter::Token(token) if triggers.contains(token) => {}
                Delimiter::Token(_) => return Err(self.document.error(value, Kind::NoTrigger)),
                Delimiter::Text(_) => {
                    let expected = "a begin that is a token";
                    return Err(self.document.error(value, Kind::Expected { expected }));
                }
            }
            branches.push(Branch { begin, trigger: 0, content, role: Role::Tag });
        }
        let mut excludes = self.excluded_tokens(fields)?;
        excludes.extend(triggers);
        let (at_least, then) = self.shape(fields)?;
        let outside = Outside::Tokens { excludes, around: task.around };
        Ok(Format::Dispatch(Dispatch { outside, branches, at_least, then }))
    }

    fn separated(&mut self, fields: &mut Fields<'_>) -> Result<Format, Error> {
        let separator = string(self.document, fields.need("separator")?)?;
        let (at_least, then) = self.shape(fields)?;
        let list = nonempty_list(self.document, fields.need("tags")?)?;
        let tags = list.iter().map(|&value| self.listed_tag(value).map(|(id, _)| id));
        let tags = tags.collect::<Result<_, _>>()?;
        Ok(Format::Separated(Separated { tags, separator, at_least, then }))
    }

    /// A rule of a dispatch: what leads to it, and what follows.
    fn dispatch_rule(&mut self, rule: ValueId) -> Result<(ValueId, ValueId), Error> {
        match *list(self.document, rule)? {
            [pattern, format] => Ok((pattern, format)),
            _ => {
                let expected = "a list of a pattern and a format";
                Err(self.document.error(rule, Kind::Expected { expected }))
            }
        }
    }

    fn loops(&self, fields: &mut Fields<'_>) -> Result<Then, Error> {
        let loops = fields.take("loop").map_or(Ok(true), |id| boolean(self.document, id))?;
        Ok(if loops { Then::More } else { Then::Nothing })
    }

    fn dispatch(&mut self, fields: &mut Fields<'_>, task: &Task) -> Result<Format, Error> {
        let (mut triggers, mut branches) = (Vec::new(), Vec::new());
        for &rule in nonempty_list(self.document, fields.need("rules")?)? {
            let (pattern, format) = self.dispatch_rule(rule)?;
            let text = nonempty_string(self.document, pattern)?;
            let begin = Delimiter::Text(text.clone());
            let content = self.later(format, task.around);
            branches.push(Branch { begin, trigger: triggers.len(), content, role: Role::Rest });
            triggers.push(text);
        }
        let (then, at_least) = (self.loops(fields)?, AtLeast::None);
        let excludes = self.optional_strings(fields, "excludes")?;
        let outside = Outside::Text { triggers, excludes, around: task.around };
        Ok(Format::Dispatch(Dispatch { outside, branches, at_least, then }))
    }

    fn token_dispatch(&mut self, fields: &mut Fields<'_>, task: &Task) -> Result<Format, Error> {
        let (mut excludes, mut branches) = (Vec::new(), Vec::new());
        for &rule in nonempty_list(self.document, fields.need("rules")?)? {
            let (pattern, format) = self.dispatch_rule(rule)?;
            let token = self.token(pattern)?;
            excludes.push(token.clone());
            let content = self.later(format, task.around);
            branches.push(Branch {
                begin: Delimiter::Token(token),
                trigger: 0,
                content,
                role: Role::Rest,
            });
        }
        let (then, at_least) = (self.loops(fields)?, AtLeast::None);
        excludes.extend(self.excluded_tokens(fields)?);
        let outside = Outside::Tokens { excludes, around: task.around };
        Ok(Format::Dispatch(Dispatch { outside, branches, at_least, then }))
    }
}
