//! Rules to bodies.
//!
//! # Idea
//! A rule becomes one rule of the grammar for each way in which it is used: by the value of its
//! parameter, by the lexemes that compete with what it begins with and with what it goes on with,
//! and by its [`Form`]. The forms put ignored text in its place: it stands before every lexeme but
//! the first of the output, which needs no facts about what is empty:
//!
//! ```text
//! spaced(a b) = spaced(a) spaced(b)                  spaced(t) = skip t
//! bare(a b)   = bare(a) spaced(b) | nothing(a) bare(b)     bare(t) = t
//! nothing(a b) = nothing(a) nothing(b)               nothing(t) = {}, or {""} if t can be empty
//! ```
//!
//! where `t` is without its empty word. Rules that come out as nothing at all are pruned later.

use crate::{
    Ending, Ignored, Options,
    ast::{Ast, Attributes, DefId, ModuleId, Node, NodeId, PartIndex, Span},
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    flow::{Fact, Flow, SetId, Sets},
    lexeme::{Empty, LexemeId, Lexemes, Workshop},
    rules::Rules,
};
use formwork_automata::Fuel;
use formwork_grammar::{Annotation, BodyBuilder, ExprId, Limits, RuleId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How a rule stands to ignored text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// Ignored text before every lexeme.
    Spaced = 0,
    /// At least one lexeme, nothing ignored before the first.
    Bare = 1,
    /// No lexeme.
    Nothing = 2,
}

const FORMS: [Form; 3] = [Form::Spaced, Form::Bare, Form::Nothing];

/// What a rule of the grammar stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Rule(Use),
    /// All of a module.
    Start {
        module: ModuleId,
        starts: SetId,
        ends: SetId,
    },
    Part(PartIndex),
}

/// A rule, and how it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Use {
    definition: DefId,
    parameter: u64,
    form: Form,
    /// What could begin where the rule begins.
    starts: SetId,
    /// What could begin where it ends.
    ends: SetId,
}

/// What a node has to be built for.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    starts: SetId,
    ends: SetId,
    needs: [bool; 3],
}

/// A node in its forms, as far as they are needed.
type Forms = [Option<ExprId>; 3];

/// Makes bodies.
#[derive(Debug)]
pub(crate) struct Lowering {
    pub(crate) ast: Ast,
    pub(crate) limits: Limits,
    pub(crate) fuel: Fuel,
    pub(crate) rules: Rules,
    pub(crate) keys: FxHashMap<RuleId, Key>,
    /// Rules that were declared and not lowered yet.
    pub(crate) waiting: Vec<RuleId>,
    ids: FxHashMap<Key, RuleId>,
    lexemes: Lexemes,
    flow: Flow,
    ignored: Ignored,
    ending: Ending,
}

impl Lowering {
    pub(crate) fn new(
        ast: Ast,
        options: &Options,
        limits: &Limits,
        mut fuel: Fuel,
    ) -> Result<Self, Fault> {
        let order = crate::resolve::terminal_order(&ast)?;
        let mut rules = Rules::default();
        let mut workshop = Workshop { rules: &mut rules, fuel: &mut fuel, limits };
        let lexemes = Lexemes::new(&ast, &order, options, &mut workshop)?;
        let whole = ast.module(0).span;
        let flow = Flow::new(&ast, &lexemes, limits.nodes, &mut fuel)
            .map_err(|exhausted| fault(exhausted, whole))?;
        Ok(Self {
            ast,
            limits: limits.clone(),
            fuel,
            rules,
            keys: FxHashMap::default(),
            waiting: Vec::new(),
            ids: FxHashMap::default(),
            lexemes,
            flow,
            ignored: options.ignored,
            ending: options.ending,
        })
    }

    /// The rule of the whole.
    pub(crate) fn root(&mut self) -> Result<RuleId, Fault> {
        let starts = self.first_of_module(0);
        self.rule(Key::Start { module: 0, starts, ends: SetId::EMPTY }, Span::default())
    }

    /// The place in the text that a rule comes from.
    pub(crate) fn span(&self, rule: RuleId) -> Span {
        match self.keys.get(&rule) {
            Some(Key::Rule(usage)) => self.ast.definition(usage.definition).span,
            Some(Key::Start { module, .. }) => self.ast.module(*module).span,
            Some(Key::Part(part)) => self.ast.parts[*part as usize].1,
            None => Span::default(),
        }
    }

    fn rule(&mut self, key: Key, span: Span) -> Result<RuleId, Fault> {
        if let Some(&known) = self.ids.get(&key) {
            return Ok(known);
        }
        let name = match key {
            Key::Rule(Use { definition, .. }) => &self.ast.definition(definition).name,
            Key::Start { .. } => "start",
            Key::Part(_) => "embedded",
        };
        let rule = self.rules.declare(name, &self.limits).map_err(|kind| fault(kind, span))?;
        self.ids.insert(key, rule);
        self.keys.insert(rule, key);
        self.waiting.push(rule);
        Ok(rule)
    }

    /// Gives a rule its body. What it refers to is declared, and waits.
    pub(crate) fn lower(&mut self, rule: RuleId) -> Result<(), Fault> {
        let span = self.span(rule);
        let mut builder = BodyBuilder::new();
        let root = match self.keys[&rule] {
            Key::Part(_) => builder.never(),
            Key::Start { module, starts, ends } => {
                self.start(module, starts, ends, &mut builder)?
            }
            Key::Rule(usage) => self.usage(usage, &mut builder)?,
        };
        self.check_weight(&builder, span)?;
        if self.flow.sets.is_exceeded() {
            return Err(fault(Kind::Nodes { limit: self.limits.nodes }, span));
        }
        self.rules.define(rule, Arc::new(builder.finish(root)));
        Ok(())
    }

    fn check_weight(&self, builder: &BodyBuilder, span: Span) -> Result<(), Fault> {
        match builder.weight() > self.limits.nodes {
            true => Err(fault(Kind::Nodes { limit: self.limits.nodes }, span)),
            false => Ok(()),
        }
    }

    /// Refuses a bare sequence that would be copied too often: once for each part that can be first.
    fn check_sequence(&self, parts: &[Forms], place: Place, id: NodeId) -> Result<(), Fault> {
        let firsts = parts.iter().take_while(|part| part[Form::Nothing as usize].is_some()).count();
        match place.needs[Form::Bare as usize] && firsts * parts.len() > self.limits.nodes {
            true => Err(fault(Kind::Nodes { limit: self.limits.nodes }, self.ast.span(id))),
            false => Ok(()),
        }
    }

    /// Whether forms have to be told apart in a module.
    fn has_forms(&self, module: ModuleId) -> bool {
        let module = self.ast.module(module);
        !module.ignored.is_empty() && !module.initial_skip
    }

    fn first_of_module(&mut self, module: ModuleId) -> SetId {
        let start = self.ast.module(module).start;
        match self.ast.definition(start).is_lexeme() {
            true => SetId::EMPTY,
            false => self
                .flow
                .facts(&self.ast, &self.lexemes, start)
                .last()
                .map_or(SetId::EMPTY, |fact| fact.first),
        }
    }

    fn start(
        &mut self,
        module: ModuleId,
        starts: SetId,
        ends: SetId,
        builder: &mut BodyBuilder,
    ) -> Result<ExprId, Fault> {
        let start = self.ast.module(module).start;
        let needs = match self.has_forms(module) {
            true => [false, true, true],
            false => [true, false, false],
        };
        let place = Place { starts, ends, needs };
        let span = self.ast.definition(start).span;
        let forms = self.reference(start, 0, place, span, builder)?;
        let choices: Vec<ExprId> = forms.into_iter().flatten().collect();
        let mut whole = builder.alt(&choices);
        if let Some(begins) = self.cut_off(module, builder)? {
            whole = builder.alt(&[whole, begins]);
        }
        if self.ignored == Ignored::Between || self.ast.module(module).ignored.is_empty() {
            return Ok(whole);
        }
        let skip = self.skip(module, builder)?;
        Ok(builder.seq(&[whole, skip]))
    }

    /// What the output may be without the end of the lazy rule that it is, where that may be.
    fn cut_off(
        &mut self,
        module: ModuleId,
        builder: &mut BodyBuilder,
    ) -> Result<Option<ExprId>, Fault> {
        if self.ending == Ending::Required || module != 0 {
            return Ok(None);
        }
        let Some(lexeme) = self.lone_lazy() else { return Ok(None) };
        let mut workshop =
            Workshop { rules: &mut self.rules, fuel: &mut self.fuel, limits: &self.limits };
        let begins = self.lexemes.begins(lexeme, &mut workshop)?;
        let begins = builder.automaton(Arc::new(begins));
        let character = builder.characters(&[('\0', char::MAX)]);
        let text = builder.repeat(character, 0, None);
        Ok(Some(builder.and(&[begins, text])))
    }

    /// The lazy rule that stands for the whole output.
    fn lone_lazy(&self) -> Option<LexemeId> {
        let mut at = self.ast.module(0).start;
        // A chain longer than that is a ring.
        for _ in 0..self.ast.definitions.len() {
            let definition = self.ast.definition(at);
            if definition.attributes.lazy.is_some() {
                return Some(self.lexemes.of_definition(at));
            }
            at = match self.ast.node(definition.root) {
                Node::Reference { definition, .. } => *definition,
                _ => return None,
            };
        }
        None
    }

    /// Ignored text, or none.
    fn skip(&mut self, module: ModuleId, builder: &mut BodyBuilder) -> Result<ExprId, Fault> {
        let ignored = self.ast.module(module).ignored.clone();
        let mut choices = Vec::with_capacity(ignored.len());
        for definition in ignored {
            let lexeme = self.lexemes.of_definition(definition);
            choices.push(self.occurrence(lexeme, SetId::EMPTY, Empty::Dropped, builder)?);
        }
        let choice = builder.alt(&choices);
        Ok(match self.ast.module(module).ignore_once {
            true => builder.optional(choice),
            false => builder.repeat(choice, 0, None),
        })
    }

    fn occurrence(
        &mut self,
        lexeme: LexemeId,
        starts: SetId,
        empty: Empty,
        builder: &mut BodyBuilder,
    ) -> Result<ExprId, Fault> {
        let rivals = self.flow.sets.members(starts);
        let mut workshop =
            Workshop { rules: &mut self.rules, fuel: &mut self.fuel, limits: &self.limits };
        Ok(self.lexemes.occurrence(lexeme, &rivals, empty, &mut workshop)?.place(builder))
    }

    /// A rule as it is used, attributes included.
    fn usage(&mut self, usage: Use, builder: &mut BodyBuilder) -> Result<ExprId, Fault> {
        let facts = self.flow.facts(&self.ast, &self.lexemes, usage.definition);
        let places = self.places(usage, &facts);
        let exhausted = |exhausted| fault(exhausted, self.ast.definition(usage.definition).span);
        self.fuel.steps(facts.len()).map_err(exhausted)?;
        let definition = self.ast.definition(usage.definition);
        let (first, module) = (definition.first, definition.module);
        let mut done: Vec<Forms> = Vec::with_capacity(facts.len());
        for id in definition.nodes() {
            let place = places[(id - first) as usize];
            let of = |child: NodeId| done[(child - first) as usize];
            let forms = match self.ast.node(id) {
                Node::Seq(parts) => {
                    let parts: Vec<Forms> = parts.iter().map(|&part| of(part)).collect();
                    self.check_sequence(&parts, place, id)?;
                    sequence(&parts, place.needs, builder)
                }
                Node::Alt(parts) => {
                    let parts: Vec<Forms> = parts.iter().map(|&part| of(part)).collect();
                    FORMS.map(|form| {
                        let form = form as usize;
                        let choices: Vec<_> = parts.iter().filter_map(|part| part[form]).collect();
                        place.needs[form].then(|| builder.alt(&choices))
                    })
                }
                Node::Repeat { node, min, max } => {
                    repeat(of(*node), (*min, *max), place.needs, builder)
                }
                Node::Guarded { node, condition } => match condition.holds(usage.parameter) {
                    true => of(*node),
                    false => place.needs.map(|needed| needed.then(|| builder.never())),
                },
                _ => self.leaf(id, module, usage.parameter, place, builder)?,
            };
            self.check_weight(builder, self.ast.span(id))?;
            done.push(forms);
        }
        let root = done.last().and_then(|forms| forms[usage.form as usize]);
        let root = root.unwrap_or_else(|| builder.never());
        let attributes = &self.ast.definition(usage.definition).attributes;
        Ok(match usage.form {
            Form::Nothing => root,
            _ => with_attributes(root, attributes, Chars::Bounded, builder),
        })
    }

    fn leaf(
        &mut self,
        id: NodeId,
        module: ModuleId,
        parameter: u64,
        place: Place,
        builder: &mut BodyBuilder,
    ) -> Result<Forms, Fault> {
        let span = self.ast.span(id);
        let item = match self.ast.node(id).clone() {
            Node::Reference { definition, argument } => {
                let parameter = argument.map_or(0, |argument| argument.value(parameter));
                return self.reference(definition, parameter, place, span, builder);
            }
            Node::Tokens(set) => builder.tokens(set),
            Node::Part(part) => {
                let rule = self.rule(Key::Part(part), span)?;
                builder.rule(rule)
            }
            Node::Module(inner) => {
                let Place { starts, ends, .. } = place;
                let rule = self.rule(Key::Start { module: inner, starts, ends }, span)?;
                builder.rule(rule)
            }
            _ => {
                let lexeme = self.lexemes.of_node(&self.ast, id).expect("all atoms are lexemes");
                return self.lexeme(lexeme, None, module, place, builder);
            }
        };
        self.spaced(item, module, place.needs, builder)
    }

    /// Something that is never empty, in its forms.
    fn spaced(
        &mut self,
        item: ExprId,
        module: ModuleId,
        needs: [bool; 3],
        builder: &mut BodyBuilder,
    ) -> Result<Forms, Fault> {
        let mut forms = [None, needs[1].then_some(item), needs[2].then(|| builder.never())];
        if needs[0] {
            let has_skip = !self.ast.module(module).ignored.is_empty();
            forms[0] = Some(match has_skip {
                true => {
                    let skip = self.skip(module, builder)?;
                    builder.seq(&[skip, item])
                }
                false => item,
            });
        }
        Ok(forms)
    }

    fn reference(
        &mut self,
        definition: DefId,
        parameter: u64,
        place: Place,
        span: Span,
        builder: &mut BodyBuilder,
    ) -> Result<Forms, Fault> {
        let module = self.ast.definition(definition).module;
        if self.ast.definition(definition).is_lexeme() {
            let lexeme = self.lexemes.of_definition(definition);
            return self.lexeme(lexeme, Some(definition), module, place, builder);
        }
        let mut forms = Forms::default();
        for form in FORMS.into_iter().filter(|&form| place.needs[form as usize]) {
            let Place { starts, ends, .. } = match form {
                Form::Nothing => Place::default(),
                _ => place,
            };
            let key = Key::Rule(Use { definition, parameter, form, starts, ends });
            let rule = self.rule(key, span)?;
            forms[form as usize] = Some(builder.rule(rule));
        }
        Ok(forms)
    }

    fn lexeme(
        &mut self,
        lexeme: LexemeId,
        definition: Option<DefId>,
        module: ModuleId,
        place: Place,
        builder: &mut BodyBuilder,
    ) -> Result<Forms, Fault> {
        let is_nullable = self.lexemes.is_nullable(lexeme);
        let has_skip = !self.ast.module(module).ignored.is_empty();
        let empty = if has_skip { Empty::Dropped } else { Empty::Kept };
        let mut item = self.occurrence(lexeme, place.starts, empty, builder)?;
        if let Some(definition) = definition {
            let attributes = &self.ast.definition(definition).attributes;
            item = with_attributes(item, attributes, Chars::Done, builder);
        }
        let mut forms = self.spaced(item, module, place.needs, builder)?;
        if is_nullable && has_skip {
            let nothing = builder.empty();
            forms[0] = forms[0].map(|spaced| builder.alt(&[spaced, nothing]));
            forms[2] = forms[2].map(|_| nothing);
        }
        Ok(forms)
    }

    /// What every node of a rule has to be built for, from the root down.
    fn places(&mut self, usage: Use, facts: &[Fact]) -> Vec<Place> {
        let definition = self.ast.definition(usage.definition);
        let first = definition.first;
        let mut places = vec![Place::default(); facts.len()];
        let mut needs = [false; 3];
        needs[usage.form as usize] = true;
        *places.last_mut().expect("a body has a root") =
            Place { starts: usage.starts, ends: usage.ends, needs };
        let sets = &mut self.flow.sets;
        for id in definition.nodes().rev() {
            let place = places[(id - first) as usize];
            let index = |child: NodeId| (child - first) as usize;
            match self.ast.node(id) {
                Node::Alt(parts) => parts.iter().for_each(|&part| places[index(part)] = place),
                Node::Guarded { node, .. } => places[index(*node)] = place,
                Node::Repeat { node, min, max } => {
                    let fact = facts[index(*node)];
                    let mut inner = place;
                    if !matches!(max, Some(0 | 1)) {
                        inner.ends = sets.union(inner.ends, fact.first);
                        inner.starts = sets.union(inner.starts, fact.inside);
                        inner.starts = sets.union(inner.starts, inner.ends);
                        inner.needs[0] |= inner.needs[1];
                    }
                    inner.needs[2] &= *min > 0;
                    places[index(*node)] = inner;
                }
                Node::Seq(parts) => {
                    let parts: Vec<usize> = parts.iter().map(|&part| index(part)).collect();
                    place_sequence(&parts, place, facts, &mut places, sets);
                }
                _ => {}
            }
        }
        places
    }
}

/// What the parts of a sequence have to be built for: what could begin before each comes from those
/// before it and from those behind it.
fn place_sequence(
    parts: &[usize],
    place: Place,
    facts: &[Fact],
    places: &mut [Place],
    sets: &mut Sets,
) {
    let mut ahead = place.ends;
    for &part in parts.iter().rev() {
        let fact = facts[part];
        places[part].ends = ahead;
        ahead = match fact.may_vanish {
            true => sets.union(ahead, fact.first),
            false => fact.first,
        };
        places[part].starts = ahead;
    }
    let mut behind = place.starts;
    let mut all_vanish = true;
    for (number, &part) in parts.iter().enumerate() {
        let fact = facts[part];
        let slot = &mut places[part];
        slot.starts = sets.union(slot.starts, behind);
        slot.needs[0] = place.needs[0] || place.needs[1] && number > 0;
        slot.needs[1] = place.needs[1] && all_vanish;
        slot.needs[2] = place.needs[2] || place.needs[1] && all_vanish && fact.may_vanish;
        all_vanish &= fact.may_vanish;
        let before = match fact.may_vanish {
            true => sets.union(behind, fact.first),
            false => SetId::EMPTY,
        };
        behind = sets.union(before, fact.inside);
    }
}

/// One after the other, in the forms that are needed.
fn sequence(parts: &[Forms], needs: [bool; 3], builder: &mut BodyBuilder) -> Forms {
    let mut all = |form: Form| {
        let parts: Option<Vec<ExprId>> = parts.iter().map(|part| part[form as usize]).collect();
        parts.map(|parts| builder.seq(&parts))
    };
    let spaced = needs[0].then(|| all(Form::Spaced)).flatten();
    let nothing = needs[2].then(|| all(Form::Nothing)).flatten();
    let mut forms = [spaced, None, nothing];
    if needs[1] {
        // The part with the first lexeme, and all behind it; those before it come to nothing.
        let mut choices = Vec::new();
        let mut before = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let Some(bare) = part[Form::Bare as usize] else { break };
            let behind = parts[index + 1..].iter().filter_map(|part| part[Form::Spaced as usize]);
            let word: Vec<ExprId> = before.iter().copied().chain([bare]).chain(behind).collect();
            choices.push(builder.seq(&word));
            match part[Form::Nothing as usize] {
                Some(nothing) => before.push(nothing),
                None => break,
            }
        }
        forms[1] = Some(builder.alt(&choices));
    }
    forms
}

/// Between `min` and `max` times, in the forms that are needed.
fn repeat(
    inner: Forms,
    (min, max): (u32, Option<u32>),
    needs: [bool; 3],
    builder: &mut BodyBuilder,
) -> Forms {
    let [spaced, bare, nothing] = inner;
    let mut forms = Forms::default();
    if needs[0] {
        forms[0] = spaced.map(|spaced| builder.repeat(spaced, min, max));
    }
    if needs[1] {
        forms[1] = Some(match (bare, max) {
            (_, Some(0)) | (None, _) => builder.never(),
            (Some(bare), Some(1)) => bare,
            (Some(bare), _) => {
                // Rounds without lexemes may as well come later.
                let spaced = spaced.unwrap_or_else(|| builder.never());
                let max = max.map(|max| max - 1);
                let others = builder.repeat(spaced, min.saturating_sub(1), max);
                builder.seq(&[bare, others])
            }
        });
    }
    if needs[2] {
        forms[2] = match min {
            0 => Some(builder.empty()),
            _ => nothing,
        };
    }
    forms
}

/// Whether a bound on characters is still to be put on.
#[derive(Clone, Copy, PartialEq)]
enum Chars {
    Bounded,
    Done,
}

fn with_attributes(
    expr: ExprId,
    attributes: &Attributes,
    chars: Chars,
    builder: &mut BodyBuilder,
) -> ExprId {
    let mut expr = expr;
    if let Some(max) = attributes.max_chars.filter(|_| chars == Chars::Bounded) {
        let any = builder.characters(&[('\0', char::MAX)]);
        let bounded = builder.repeat(any, 0, Some(max));
        expr = builder.and(&[expr, bounded]);
    }
    let annotation =
        Annotation { capture: attributes.capture.clone(), temperature: attributes.temperature };
    expr = builder.annotate(expr, annotation);
    match attributes.max_tokens {
        None => expr,
        Some(0) => builder.empty(),
        Some(max) => builder.token_limit(expr, max),
    }
}
