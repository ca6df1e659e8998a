//! Formats to rules. Every format that has contents is a rule, so that one that is used twice is
//! written once; embedded schemas and grammars are holes, filled by [`formwork_grammar::compose`].

use crate::{
    Error, Options, StructuralTagErrorKind as Kind,
    document::Document,
    embed::{self, Embedded},
    model::{
        AtLeast, Delimiter, Dispatch, Format, FormatId, FreeText, Model, OtherTokens, Outside,
        Role, Separated, Tag, Then,
    },
    patterns::{FreeTexts, Patterns},
};
use formwork_automata::{Dfa, Fuel};
use formwork_grammar::{
    BodyBuilder, ExprId, Grammar, GrammarBuilder, Limits, Part, RuleId, TokenRef, TokenSet,
};
use std::{collections::BTreeSet, sync::Arc};

/// What is being lowered, and what has been.
pub(crate) struct Lowering<'m, 'f> {
    document: &'m Arc<Document>,
    model: &'m Model,
    options: &'m Options,
    limits: &'m Limits,
    fuel: &'f mut Fuel,
    texts: FreeTexts,
    builder: GrammarBuilder,
    /// By format; nothing for what is written where it is used.
    rules: Vec<Option<RuleId>>,
    holes: Vec<(RuleId, Part)>,
}

/// The grammar around everything that is embedded, and what is.
pub(crate) type Lowered = (Grammar, Vec<(RuleId, Part)>);

/// Lowers a tag.
///
/// # Errors
/// What is wrong with what is embedded, or a limit.
pub(crate) fn lower(
    document: &Arc<Document>,
    model: &Model,
    options: &Options,
    limits: &Limits,
    fuel: &mut Fuel,
) -> Result<Lowered, Error> {
    let mut lowering = Lowering {
        document,
        model,
        options,
        limits,
        fuel,
        texts: FreeTexts::default(),
        builder: GrammarBuilder::new(),
        rules: vec![None; model.formats.len()],
        holes: Vec::new(),
    };
    lowering.declare();
    for (at, format) in model.formats.iter().enumerate() {
        let id = FormatId(u32::try_from(at).expect("as many as values"));
        if let Some(rule) = lowering.rules[at] {
            let mut body = BodyBuilder::new();
            let root = lowering.body(id, format, &mut body)?;
            lowering.define(rule, body, root);
        }
    }
    let root = lowering.rules[FormatId::ROOT.index()].expect("the root is a rule");
    let grammar = lowering.builder.finish(root).expect("all rules are defined");
    Ok((grammar, lowering.holes))
}

impl Lowering<'_, '_> {
    fn declare(&mut self) {
        let mut is_listed = vec![false; self.model.formats.len()];
        for format in &self.model.formats {
            match format {
                Format::Dispatch(dispatch) => {
                    for branch in &dispatch.branches {
                        is_listed[branch.content.index()] = branch.role == Role::Tag;
                    }
                }
                Format::Separated(separated) => {
                    separated.tags.iter().for_each(|tag| is_listed[tag.index()] = true);
                }
                _ => {}
            }
        }
        for (at, format) in self.model.formats.iter().enumerate() {
            let is_leaf = matches!(format, Format::Text(_) | Format::Token(_));
            if at == FormatId::ROOT.index() || !is_leaf && !is_listed[at] {
                self.rules[at] = Some(self.builder.declare(name(format)));
            }
        }
    }

    fn define(&mut self, rule: RuleId, body: BodyBuilder, root: ExprId) {
        self.builder.define(rule, body.finish(root)).expect("each rule is defined once");
    }

    fn format(&self, id: FormatId) -> &Format {
        &self.model.formats[id.index()]
    }

    fn exhausted<E: Into<Kind>>(&self, at: FormatId) -> impl FnOnce(E) -> Error {
        let (document, place) = (self.document.clone(), self.model.places[at.index()]);
        move |error| document.error(place, error)
    }

    fn body(
        &mut self,
        id: FormatId,
        format: &Format,
        body: &mut BodyBuilder,
    ) -> Result<ExprId, Error> {
        let place = self.model.places[id.index()];
        Ok(match format {
            Format::Text(_) | Format::Token(_) => leaf(format, body),
            Format::Schema(schema) => {
                let embedded = embed::schema(self.document, schema, self.options, self.limits)?;
                self.embedded(id, embedded, body)
            }
            Format::Grammar(text) => {
                let embedded = embed::grammar(self.document, *text, self.options, self.limits)?;
                self.embedded(id, embedded, body)
            }
            Format::Regex(pattern) => {
                let text = self.document.string(*pattern).expect("read as a string");
                formwork_regex::lower(&text, &self.options.regex, self.limits, body)
                    .map_err(|error| self.document.error(*pattern, Kind::Regex(Box::new(error))))?
            }
            Format::FreeText(text) => self.free_text(id, text, body)?,
            Format::OtherTokens(tokens) => self.other_tokens(tokens, body),
            Format::Sequence(list) => {
                let list: Vec<_> = list.iter().map(|&id| self.expr(id, body)).collect();
                body.seq(&list)
            }
            Format::Choice(list) => {
                let list: Vec<_> = list.iter().map(|&id| self.expr(id, body)).collect();
                body.alt(&list)
            }
            &Format::Repeat { content, min, max } => {
                let content = self.expr(content, body);
                body.repeat(content, min, max)
            }
            Format::Tag(tag) => self.tag(tag, body),
            Format::Separated(separated) => self.separated(separated, body),
            Format::Dispatch(dispatch) => {
                self.dispatch(dispatch, body).map_err(|error| self.document.error(place, error))?
            }
        })
    }

    /// A format where it is used.
    fn expr(&self, id: FormatId, body: &mut BodyBuilder) -> ExprId {
        match (self.rules[id.index()], self.format(id)) {
            (Some(rule), _) => body.rule(rule),
            (None, Format::Tag(tag)) => self.tag(tag, body),
            (None, leaf_format) => leaf(leaf_format, body),
        }
    }

    fn embedded(&mut self, id: FormatId, embedded: Embedded, body: &mut BodyBuilder) -> ExprId {
        match embedded {
            Embedded::Part(part) => {
                // The rule of the format itself may be the root, which is no hole.
                let hole = self.builder.declare(name(self.format(id)));
                let mut empty = BodyBuilder::new();
                let root = empty.empty();
                self.define(hole, empty, root);
                self.holes.push((hole, part));
                body.rule(hole)
            }
            Embedded::Nothing => body.never(),
        }
    }

    fn tag(&self, tag: &Tag, body: &mut BodyBuilder) -> ExprId {
        let begin = delimiter(&tag.begin, body);
        let content = self.expr(tag.content, body);
        let ends = &self.model.ends[tag.ends as usize];
        let ends: Vec<_> = ends.iter().map(|end| delimiter(end, body)).collect();
        let end = body.alt(&ends);
        body.seq(&[begin, content, end])
    }

    /// The texts that end the tag around something.
    fn text_ends(&self, around: Option<u32>) -> impl Iterator<Item = &String> {
        let ends = around.map_or(&[][..], |at| &self.model.ends[at as usize]);
        ends.iter().filter_map(|end| match end {
            Delimiter::Text(text) => Some(text).filter(|text| !text.is_empty()),
            Delimiter::Token(_) => None,
        })
    }

    /// The tokens that end the tag around something.
    fn token_ends(&self, around: Option<u32>) -> impl Iterator<Item = &TokenRef> {
        let ends = around.map_or(&[][..], |at| &self.model.ends[at as usize]);
        ends.iter().filter_map(|end| match end {
            Delimiter::Token(token) => Some(token),
            Delimiter::Text(_) => None,
        })
    }

    fn free_text(
        &mut self,
        id: FormatId,
        text: &FreeText,
        body: &mut BodyBuilder,
    ) -> Result<ExprId, Error> {
        let excluded: BTreeSet<String> =
            text.excludes.iter().chain(self.text_ends(text.around)).cloned().collect();
        let unlimited = excluded.is_empty();
        let dfa = self.texts.without(excluded, self.fuel).map_err(self.exhausted(id))?;
        let mut expr = body.automaton(dfa);
        if let Some(max) = text.max_characters {
            let character = body.characters(&[('\0', char::MAX)]);
            let characters = body.repeat(character, 0, Some(max));
            // Nothing is an intersection with anything, and no text of no characters has a bound.
            expr = match unlimited || max == 0 {
                true => characters,
                false => body.and(&[expr, characters]),
            };
        }
        Ok(match text.max_tokens {
            None => expr,
            Some(0) => body.empty(),
            Some(max) => body.token_limit(expr, max),
        })
    }

    fn other_tokens(&self, tokens: &OtherTokens, body: &mut BodyBuilder) -> ExprId {
        let excluded = tokens.excludes.iter().chain(self.token_ends(tokens.around)).cloned();
        let token = body.tokens(TokenSet::all_except(excluded));
        body.repeat(token, tokens.min, tokens.max)
    }

    /// Several things of which one is written, as a rule.
    fn choice_rule(
        &mut self,
        choices: impl FnOnce(&mut Self, &mut BodyBuilder) -> Vec<ExprId>,
    ) -> RuleId {
        let rule = self.builder.declare("tags");
        let mut body = BodyBuilder::new();
        let list = choices(self, &mut body);
        let root = body.alt(&list);
        self.define(rule, body, root);
        rule
    }

    fn separated(&mut self, separated: &Separated, body: &mut BodyBuilder) -> ExprId {
        let rule = self.choice_rule(|lowering, body| {
            separated.tags.iter().map(|&tag| lowering.expr(tag, body)).collect()
        });
        let tag = body.rule(rule);
        let separator = body.literal(separated.separator.as_bytes());
        let further = body.seq(&[separator, tag]);
        let further = match separated.then {
            Then::More => body.repeat(further, 0, None),
            Then::Nothing => body.empty(),
        };
        let tags = body.seq(&[tag, further]);
        match separated.at_least {
            AtLeast::One => tags,
            AtLeast::None => body.optional(tags),
        }
    }

    /// What branches begin and go on with, as choices.
    fn branches(
        &self,
        dispatch: &Dispatch,
        body: &mut BodyBuilder,
        mut begin: impl FnMut(&Delimiter, usize, &mut BodyBuilder) -> Option<ExprId>,
    ) -> Vec<ExprId> {
        let branches = dispatch.branches.iter().filter_map(|branch| {
            let begin = begin(&branch.begin, branch.trigger, body)?;
            let mut parts = vec![begin];
            match self.format(branch.content) {
                Format::Tag(tag) if branch.role == Role::Tag => {
                    parts.push(self.expr(tag.content, body));
                    let ends = &self.model.ends[tag.ends as usize];
                    let ends: Vec<_> = ends.iter().map(|end| delimiter(end, body)).collect();
                    parts.push(body.alt(&ends));
                }
                _ => parts.push(self.expr(branch.content, body)),
            }
            Some(body.seq(&parts))
        });
        branches.collect()
    }

    fn dispatch(&mut self, dispatch: &Dispatch, body: &mut BodyBuilder) -> Result<ExprId, Kind> {
        let whole =
            |begin: &Delimiter, _: usize, body: &mut BodyBuilder| Some(delimiter(begin, body));
        let tags = self.choice_rule(|lowering, body| lowering.branches(dispatch, body, whole));
        let (outside, step) = match &dispatch.outside {
            Outside::Tokens { excludes, around } => {
                let excluded = excludes.iter().chain(self.token_ends(*around)).cloned();
                let token = body.tokens(TokenSet::all_except(excluded));
                let outside = body.repeat(token, 0, None);
                let tag = body.rule(tags);
                (outside, body.seq(&[outside, tag]))
            }
            Outside::Text { triggers, excludes, around } => {
                let excluded = triggers.iter().chain(excludes).chain(self.text_ends(*around));
                let text = self.texts.without(excluded.cloned().collect(), self.fuel)?;
                let outside = body.automaton(text.clone());
                let step = self.step(dispatch, triggers, (&text, outside, tags), body)?;
                (outside, step)
            }
        };
        let steps = match dispatch.then {
            Then::More => body.repeat(step, 0, None),
            Then::Nothing => step,
        };
        let tag = body.rule(tags);
        Ok(match (dispatch.at_least, dispatch.then) {
            (AtLeast::One, Then::Nothing) => tag,
            (AtLeast::One, Then::More) => body.seq(&[tag, steps, outside]),
            (AtLeast::None, Then::More) => body.seq(&[steps, outside]),
            (AtLeast::None, Then::Nothing) => body.alt(&[steps, outside]),
        })
    }

    /// Text, then a tag, whose trigger is the first that is complete. That is text and a tag, but
    /// for triggers of which a part can be the end of another.
    fn step(
        &mut self,
        dispatch: &Dispatch,
        triggers: &[String],
        (text, outside, tags): (&Dfa, ExprId, RuleId),
        body: &mut BodyBuilder,
    ) -> Result<ExprId, Kind> {
        let patterns = Patterns::new(triggers, self.fuel)?;
        let overlapped = patterns.overlapped(triggers);
        if !overlapped.contains(&true) {
            let tag = body.rule(tags);
            return Ok(body.seq(&[outside, tag]));
        }
        let mut first: Vec<Option<ExprId>> = vec![None; triggers.len()];
        let used = dispatch.branches.iter().map(|branch| branch.trigger);
        for trigger in used.filter(|&trigger| overlapped[trigger]) {
            if first[trigger].is_none() {
                let word = &triggers[trigger];
                let dfa = self.texts.up_to(text, &patterns, word, self.fuel)?;
                first[trigger] = Some(body.automaton(Arc::new(dfa)));
            }
        }
        let choices = self.branches(dispatch, body, |begin, trigger, body| {
            let Delimiter::Text(begin) = begin else { return None };
            Some(match first[trigger] {
                None => {
                    let begin = body.literal(begin.as_bytes());
                    body.seq(&[outside, begin])
                }
                Some(first) => {
                    let rest = body.literal(&begin.as_bytes()[triggers[trigger].len()..]);
                    body.seq(&[first, rest])
                }
            })
        });
        Ok(body.alt(&choices))
    }
}

fn leaf(format: &Format, body: &mut BodyBuilder) -> ExprId {
    match format {
        Format::Text(text) => body.literal(text.as_bytes()),
        Format::Token(tokens) => body.tokens(TokenSet::of(tokens.iter().cloned())),
        other => unreachable!("a rule stands for {other:?}"),
    }
}

fn delimiter(delimiter: &Delimiter, body: &mut BodyBuilder) -> ExprId {
    match delimiter {
        Delimiter::Text(text) => body.literal(text.as_bytes()),
        Delimiter::Token(token) => body.tokens(TokenSet::of([token.clone()])),
    }
}

/// What a rule is called.
fn name(format: &Format) -> &'static str {
    match format {
        Format::Text(_) => "const_string",
        Format::Schema(_) => "json_schema",
        Format::Grammar(_) => "grammar",
        Format::Regex(_) => "regex",
        Format::FreeText(_) => "any_text",
        Format::Token(_) => "token",
        Format::OtherTokens(_) => "any_tokens",
        Format::Sequence(_) => "sequence",
        Format::Choice(_) => "or",
        Format::Repeat { .. } => "repeat",
        Format::Tag(_) => "tag",
        Format::Separated(_) => "tags_with_separator",
        Format::Dispatch(_) => "triggered_tags",
    }
}
