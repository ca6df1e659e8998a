//! From what is written to the grammar: names resolved, attributes and assertions applied, and
//! whether anything is left.

use crate::{
    EbnfError, EbnfErrorKind as Kind, Leniency, Options, keywords, machines,
    parse::{Definition, Parsed, Rule},
};
use formwork_automata::{Dfa, Exhausted, Fuel};
use formwork_grammar::{
    Body, BodyBuilder, ExprId, Grammar, GrammarBuilder, GrammarError, Limits, Location, Node,
    Polarity, RuleId, SourcePosition, Warning,
    passes::{self, Analysis, Rules},
    regular::{self, BytesOnly, RegularError},
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Makes the grammar.
pub(crate) fn finish(
    text: &str,
    parsed: Parsed<'_>,
    options: &Options,
    limits: &Limits,
) -> Result<Grammar, EbnfError> {
    let Parsed { mut grammar, rules: mentioned, names, operands, fuel, .. } = parsed;
    let mut definitions = Vec::with_capacity(mentioned.len());
    let (mut ids, mut rule_names) = (Vec::new(), Vec::new());
    for Rule { id, name, mentioned, definition } in mentioned {
        let Some(definition) = definition else {
            let kind = Kind::Undefined { name: name.into() };
            return Err(error_at(text, (mentioned, name.len()), kind));
        };
        ids.push(id);
        rule_names.push(name);
        definitions.push(definition);
    }
    let Some(&root) = names.get(&*options.root_rule) else {
        return Err(error_at(text, (0, 0), Kind::NoRoot { name: options.root_rule.clone() }));
    };
    let rules = as_rules(&rule_names, &definitions);
    let mut refiner = Refiner { text, limits, fuel, rules, lenient: options.lenient };
    let analysis = passes::analyze(&refiner.rules);
    if let Some(operand) = operands.iter().find(|operand| !analysis.regular[operand.rule]) {
        let kind = Kind::NotRegular { construct: operand.construct, why: RECURSION };
        return Err(error_at(text, (operand.at, operand.length), kind));
    }
    let trusted = refiner.refine(&definitions, &analysis)?;
    for (&id, body) in ids.iter().zip(&refiner.rules.bodies) {
        grammar.define(id, Body::clone(body)).map_err(|error| of_grammar(text, &error))?;
    }
    let grammar = grammar.finish(ids[root]).map_err(|error| of_grammar(text, &error))?;
    let used = refiner.used(&grammar, &definitions[root], rule_names[root])?;
    let unused = (0..definitions.len()).filter(|&rule| !used.contains(rule_names[rule]));
    let unused: Vec<usize> = unused.map(|rule| definitions[rule].at).collect();
    Ok(grammar.with_warnings(warnings(text, &unused, &trusted)))
}

const RECURSION: &str = "it is recursive in a way that is not regular";

fn error_at(text: &str, (at, length): (usize, usize), kind: Kind) -> EbnfError {
    EbnfError { kind, position: SourcePosition::in_text(text, at, length) }
}

/// An error that is nowhere in particular.
fn of_grammar(text: &str, error: &GrammarError) -> EbnfError {
    let kind = match error {
        GrammarError::Rules { limit } => Kind::Rules { limit: *limit },
        GrammarError::Nodes { limit } => Kind::Nodes { limit: *limit },
        other => unreachable!("all rules are defined, once and for all: {other}"),
    };
    error_at(text, (0, text.len()), kind)
}

fn as_rules(names: &[&str], definitions: &[Definition]) -> Rules {
    Rules {
        bodies: definitions.iter().map(|definition| Arc::new(definition.body.clone())).collect(),
        names: names.iter().map(|&name| name.into()).collect(),
    }
}

/// In the order of the text.
fn warnings(text: &str, unused: &[usize], trusted: &[usize]) -> Vec<Warning> {
    const UNUSED: &str = "the rule takes part in no output";
    const TRUSTED: &str = "the assertion refers to rules that are not regular, and is believed \
                           from there on";
    let mut places: Vec<(usize, &str)> = unused.iter().map(|&at| (at, UNUSED)).collect();
    places.extend(trusted.iter().map(|&at| (at, TRUSTED)));
    places.sort_unstable();
    let mut positions = Positions { text, offset: 0, line: 1, line_start: 0 };
    let warning = |(at, message): (usize, &str)| Warning {
        location: Location::Text(positions.next(at)),
        message: message.to_owned(),
    };
    places.into_iter().map(warning).collect()
}

/// Positions at ascending offsets, in one pass over the text.
struct Positions<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
    line_start: usize,
}

impl Positions<'_> {
    fn next(&mut self, offset: usize) -> SourcePosition {
        for (at, _) in self.text[self.offset..offset].match_indices('\n') {
            self.line += 1;
            self.line_start = self.offset + at + 1;
        }
        self.offset = offset;
        let column = self.text[self.line_start..offset].chars().count() + 1;
        SourcePosition { offset, length: 0, line: self.line, column }
    }
}

/// Applies what rules say about themselves, callees first.
struct Refiner<'t, 'p> {
    text: &'t str,
    limits: &'p Limits,
    fuel: Fuel,
    /// As they are so far.
    rules: Rules,
    lenient: Leniency,
}

impl Refiner<'_, '_> {
    /// Returns the offsets of the assertions that are not checked in full.
    fn refine(
        &mut self,
        definitions: &[Definition],
        analysis: &Analysis,
    ) -> Result<Vec<usize>, EbnfError> {
        for &rule in analysis.components.iter().flatten() {
            let definition = &definitions[rule.index()];
            if definition.attributes.change_language() {
                self.restrict(rule, definition, analysis)?;
            }
            self.annotate(rule, definition);
        }
        // What is asserted is about rules without their own assertions.
        let plain = self.rules.clone();
        let mut trusted = Vec::new();
        for (rule, definition) in definitions.iter().enumerate() {
            if let Some((at, asserted)) = &definition.assertion
                && !self.assert(rule, (*at, asserted), &plain, analysis)?
            {
                trusted.push(*at);
            }
        }
        Ok(trusted)
    }

    /// `lazy` and `max_chars`.
    fn restrict(
        &mut self,
        rule: RuleId,
        definition: &Definition,
        analysis: &Analysis,
    ) -> Result<(), EbnfError> {
        let attributes = &definition.attributes;
        let construct = if attributes.lazy.is_some() { "`lazy`" } else { "`max_chars`" };
        let place = (attributes.at, 1);
        let fail = |kind| error_at(self.text, place, kind);
        if !analysis.regular[rule.index()] {
            return Err(fail(Kind::NotRegular { construct, why: RECURSION }));
        }
        if analysis.is_recursive(rule) {
            let why = "it refers to itself";
            return Err(fail(Kind::NotRegular { construct, why }));
        }
        let mut dfa = self.language(&definition.body, None, (construct, place))?;
        if attributes.lazy.is_some() {
            dfa = machines::shortest_words(&dfa, &mut self.fuel)
                .map_err(|error| error_at(self.text, place, error.into()))?;
        }
        let mut body = BodyBuilder::new();
        let least = machines::least_characters(&dfa);
        let mut root = body.automaton(Arc::new(dfa));
        if let Some(max) = attributes.max_chars {
            root = match least.is_some_and(|least| least <= max as usize) {
                false => body.never(),
                true => {
                    let character = body.characters(&crate::characters::ANY);
                    let bounded = body.repeat(character, 0, Some(max));
                    body.and(&[root, bounded])
                }
            };
        }
        self.rules.bodies[rule.index()] = Arc::new(body.finish(root));
        Ok(())
    }

    /// `max_tokens`, `capture` and `temperature`.
    fn annotate(&mut self, rule: RuleId, definition: &Definition) {
        let attributes = &definition.attributes;
        let annotation = attributes.annotation.clone();
        if attributes.max_tokens.is_none() && annotation == Default::default() {
            return;
        }
        self.wrap(rule.index(), |body, mut root| {
            if let Some(max) = attributes.max_tokens {
                root = body.token_limit(root, max);
            }
            body.annotate(root, annotation)
        });
    }

    /// Rebuilds a rule's body with something around it.
    fn wrap(&mut self, rule: usize, around: impl FnOnce(&mut BodyBuilder, ExprId) -> ExprId) {
        let mut body = BodyBuilder::new();
        let root = body.rebuild(&self.rules.bodies[rule], |body, _, node| body.renormalize(node));
        let root = around(&mut body, root);
        self.rules.bodies[rule] = Arc::new(body.finish(root));
    }

    /// `(= …)` at the end of a rule. Whether all of it is checked.
    fn assert(
        &mut self,
        rule: usize,
        (at, asserted): (usize, &Body),
        plain: &Rules,
        analysis: &Analysis,
    ) -> Result<bool, EbnfError> {
        let place = (at, 2);
        const CONSTRUCT: &str = "a look-ahead assertion";
        let whole = asserted.references().iter().all(|rule| analysis.regular[rule.index()]);
        if !whole && self.lenient == Leniency::Refuse {
            let kind = Kind::NotRegular { construct: CONSTRUCT, why: RECURSION };
            return Err(error_at(self.text, place, kind));
        }
        let current = std::mem::replace(&mut self.rules, plain.clone());
        let dfa = self.language(asserted, Some(analysis), (CONSTRUCT, place));
        self.rules = current;
        let dfa = dfa?;
        let against = machines::contradictions(&dfa, &mut self.fuel)
            .map_err(|error| error_at(self.text, place, error.into()))?;
        if dfa.is_empty() {
            self.wrap(rule, |body, _| body.never());
            return Ok(whole);
        }
        self.wrap(rule, |body, root| {
            let against = body.automaton(Arc::new(against));
            let condition = body.look_ahead(against, Polarity::Forbidden);
            body.seq(&[root, condition])
        });
        Ok(whole)
    }

    /// The language of a body. With an analysis, rules that are not regular stand for any text.
    fn language(
        &mut self,
        body: &Body,
        any_for_irregular: Option<&Analysis>,
        (construct, place): (&'static str, (usize, usize)),
    ) -> Result<Dfa, EbnfError> {
        let fail = |kind| error_at(self.text, place, kind);
        let is_any = |rule: RuleId| {
            any_for_irregular.is_some_and(|analysis| !analysis.regular[rule.index()])
        };
        let any = Arc::new(keywords::any_text(&mut self.fuel).map_err(|error| fail(error.into()))?);
        let mut grammar = GrammarBuilder::new();
        let root = grammar.declare("");
        let mut ids: FxHashMap<RuleId, RuleId> = FxHashMap::default();
        let mut reached: Vec<RuleId> = Vec::new();
        let mut next = 0;
        let mut current = (root, body.clone());
        loop {
            for rule in current.1.references() {
                if !is_any(rule) && !ids.contains_key(&rule) {
                    ids.insert(rule, grammar.declare(&self.rules.names[rule.index()]));
                    reached.push(rule);
                }
            }
            self.fuel.steps(current.1.nodes().len()).map_err(|error| fail(error.into()))?;
            let mut copy = BodyBuilder::new();
            let root = copy.rebuild(&current.1, |copy, _, node| match node {
                Node::Rule(rule) if is_any(rule) => copy.automaton(any.clone()),
                Node::Rule(rule) => copy.rule(ids[&rule]),
                other => copy.renormalize(other),
            });
            grammar
                .define(current.0, copy.finish(root))
                .map_err(|error| of_grammar(self.text, &error))?;
            let Some(&rule) = reached.get(next) else { break };
            next += 1;
            current = (ids[&rule], Body::clone(&self.rules.bodies[rule.index()]));
        }
        let grammar = grammar.finish(root).map_err(|error| of_grammar(self.text, &error))?;
        let rules =
            passes::reach(&grammar, self.limits).map_err(|error| of_grammar(self.text, &error))?;
        match regular::dfa_of_rules(&rules, &BytesOnly, &mut self.fuel) {
            Ok(dfa) if dfa.marks().is_empty() => Ok(dfa),
            Ok(_) => {
                Err(error_at(self.text, place, Kind::NotRegular { construct, why: "tokens count" }))
            }
            Err(error) => Err(error_at(self.text, place, of_regular(construct, &error))),
        }
    }

    /// The names of the rules that take part in some output.
    fn used(
        &mut self,
        grammar: &Grammar,
        root: &Definition,
        root_name: &str,
    ) -> Result<FxHashSet<Box<str>>, EbnfError> {
        let whole = |error: Exhausted| error_at(self.text, (0, self.text.len()), error.into());
        let rules =
            passes::reach(grammar, self.limits).map_err(|error| of_grammar(self.text, &error))?;
        let rules = passes::prune_unproductive(&rules, &mut self.fuel).map_err(whole)?;
        match rules.bodies[0].nodes() {
            [Node::Never] => {
                Err(error_at(self.text, (root.at, root_name.len()), Kind::Unsatisfiable))
            }
            _ => Ok(rules.names.into_iter().collect()),
        }
    }
}

fn of_regular(construct: &'static str, error: &RegularError) -> Kind {
    match error {
        RegularError::NotRegular { why, .. } => Kind::NotRegular { construct, why },
        RegularError::Exhausted(exhausted) => Kind::Exhausted(exhausted.clone()),
        RegularError::Grammar(GrammarError::Nodes { limit }) => Kind::Nodes { limit: *limit },
        RegularError::Grammar(GrammarError::Rules { limit }) => Kind::Rules { limit: *limit },
        _ => Kind::NotRegular { construct, why: "it names tokens" },
    }
}
