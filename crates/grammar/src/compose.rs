//! Grammars inside grammars: a rule of one stands for the whole of another.
//!
//! # Idea
//! A rule's number means something only in its own grammar. [`Parts`] holds the grammars that are
//! embedded in one and gives each of their rules a number there when a body first refers to it; a
//! body is copied when it is asked for, with its references renumbered. So a lazy part stays lazy,
//! and a part given as a closure ([`Part::late`]) is not even made before its first rule is needed.
//!
//! Who lowers rules of their own beside those of parts holds [`Parts`] in their [`LowerRule`]. Who
//! has a whole grammar with holes calls [`compose`].
//!
//! # What can be completed
//! A lazy grammar must refer to nothing that generates nothing. Parts whose bodies are all known are
//! therefore pruned when they are added, and [`Parts::is_productive`] says whether anything is left;
//! lazy parts keep that promise themselves, and a late part that breaks it is an error of its rule.

use crate::{
    Body, BodyBuilder, ExprId, Grammar, GrammarError, Limits, Location, LowerError, LowerRule,
    Node, RuleAllocator, RuleId, Warning,
    passes::{self, Rules, as_grammar, without_unproductive},
};
use formwork_automata::CancellationToken;
use rustc_hash::FxHashMap;
use std::{
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

/// Makes a part when it is first needed.
type Make = Box<dyn Fn() -> Result<Grammar, LowerError> + Send + Sync>;

/// A grammar to be embedded in another.
pub struct Part {
    origin: Origin,
    location: Location,
}

enum Origin {
    Known(Grammar),
    Late(Make),
}

impl Part {
    /// This grammar.
    #[must_use]
    pub fn of(grammar: Grammar) -> Self {
        Self { origin: Origin::Known(grammar), location: Location::Whole }
    }

    /// The grammar that `make` gives, which is called when the part's first rule is needed, at most
    /// once. Its warnings are not known to the grammar around it. An error of `make` is the error of
    /// every rule that stands for the part; by then outputs may have been led there, so `make` should
    /// be known to succeed but for limits.
    #[must_use]
    pub fn late(make: impl Fn() -> Result<Grammar, LowerError> + Send + Sync + 'static) -> Self {
        Self { origin: Origin::Late(Box::new(make)), location: Location::Whole }
    }

    /// The same, standing at this place of the text around it: errors and warnings of the part are
    /// located there ([`Location::within`]).
    #[must_use]
    pub fn at(mut self, location: Location) -> Self {
        self.location = location;
        self
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut part = f.debug_struct("Part");
        match &self.origin {
            Origin::Known(grammar) => part.field("grammar", grammar),
            Origin::Late(_) => part.field("late", &true),
        };
        part.field("location", &self.location).finish()
    }
}

/// A part of a [`Parts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartId(u32);

/// A late part that generates nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing satisfies what is embedded here")]
pub struct Unsatisfiable;

/// Rules that stand for parts; `None` where the part generates nothing.
type Holes = FxHashMap<RuleId, Option<PartId>>;

/// A part whose grammar is there.
enum Source {
    /// All bodies, pruned; rule 0 is the root.
    Eager(Rules),
    Lazy(Grammar),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eager(rules) => rules.fmt(f),
            Self::Lazy(grammar) => grammar.fmt(f),
        }
    }
}

impl Source {
    /// `holes` are rules of `grammar` that will be something else; those in the result are numbered
    /// as its rules are.
    fn new(
        grammar: Grammar,
        holes: &Holes,
        limits: &Limits,
    ) -> Result<(Self, Holes), GrammarError> {
        if grammar.is_lazy() {
            return Ok((Self::Lazy(grammar), holes.clone()));
        }
        let reached = grammar.lower_all(limits)?;
        let mut rules = passes::reach(&grammar, limits)?;
        let mut kept = Holes::default();
        for (number, rule) in reached.into_iter().enumerate() {
            let Some(&part) = holes.get(&rule) else { continue };
            let mut body = BodyBuilder::new();
            let root = if part.is_some() { body.empty() } else { body.never() };
            rules.bodies[number] = Arc::new(body.finish(root));
            let number = RuleId(u32::try_from(number).expect("rules are u32"));
            kept.insert(number, part);
        }
        let mut fuel = limits.fuel(&CancellationToken::new());
        let rules = without_unproductive(&rules, &mut fuel)?.unwrap_or(rules);
        Ok((Self::Eager(rules), kept))
    }

    fn root(&self) -> RuleId {
        match self {
            Self::Eager(_) => RuleId(0),
            Self::Lazy(grammar) => grammar.root(),
        }
    }

    fn name(&self, rule: RuleId) -> String {
        match self {
            Self::Eager(rules) => rules.names[rule.index()].to_string(),
            Self::Lazy(grammar) => grammar.name(rule),
        }
    }

    fn body(&self, rule: RuleId) -> Result<Arc<Body>, LowerError> {
        match self {
            Self::Eager(rules) => Ok(rules.bodies[rule.index()].clone()),
            Self::Lazy(grammar) => grammar.body(rule),
        }
    }

    fn is_productive(&self) -> bool {
        match self {
            Self::Eager(rules) => rules.bodies[0].nodes() != [Node::Never],
            Self::Lazy(_) => true,
        }
    }
}

struct Entry {
    make: Option<Make>,
    source: OnceLock<Result<Source, LowerError>>,
    /// Rules of the source that stand for other parts.
    holes: Holes,
    warnings: Vec<Warning>,
    location: Location,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("source", &self.source)
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

/// What a rule of the grammar around stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Home {
    /// The whole of a part. Known by this alone, since a late part's root has no number yet.
    Root(PartId),
    /// Another rule of it.
    Rule(PartId, RuleId),
}

/// The two directions of the renumbering.
#[derive(Debug, Default)]
struct Numbers {
    outer: FxHashMap<Home, RuleId>,
    home: FxHashMap<RuleId, Home>,
}

/// The grammars that are embedded in one, and which of its rules are theirs.
#[derive(Debug)]
pub struct Parts {
    entries: Vec<Entry>,
    numbers: RwLock<Numbers>,
    limits: Limits,
}

impl Parts {
    /// No parts yet. The limits are those of pruning parts whose bodies are all known.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { entries: Vec::new(), numbers: RwLock::default(), limits }
    }

    /// Adds a part. Linear in a part whose bodies are all known, constant for others.
    ///
    /// # Errors
    /// Limits on rules, nodes or steps that such a part exceeds.
    pub fn add(&mut self, part: Part) -> Result<PartId, GrammarError> {
        self.add_with_holes(part, &Holes::default())
    }

    fn add_with_holes(&mut self, part: Part, holes: &Holes) -> Result<PartId, GrammarError> {
        let mut entry = Entry {
            make: None,
            source: OnceLock::new(),
            holes: Holes::default(),
            warnings: Vec::new(),
            location: part.location,
        };
        match part.origin {
            Origin::Late(make) => entry.make = Some(make),
            Origin::Known(grammar) => {
                entry.warnings = grammar.warnings().to_vec();
                let (source, holes) = Source::new(grammar, holes, &self.limits)
                    .map_err(|error| located(error, &entry.location))?;
                entry.source = OnceLock::from(Ok(source));
                entry.holes = holes;
            }
        }
        let id = PartId(u32::try_from(self.entries.len()).expect("fewer than 2^32 parts"));
        self.entries.push(entry);
        Ok(id)
    }

    /// Whether the part generates anything, as far as that can be said before it is needed. One that
    /// does not must be left out of all bodies.
    #[must_use]
    pub fn is_productive(&self, part: PartId) -> bool {
        match self.entry(part).source.get() {
            Some(Ok(source)) => source.is_productive(),
            _ => true,
        }
    }

    /// The warnings of the parts, each located in the text around it; not those of late parts.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let of = |entry: &Entry| {
            let located = entry.warnings.iter().map(|warning| Warning {
                location: warning.location.within(&entry.location),
                message: warning.message.clone(),
            });
            located.collect::<Vec<_>>()
        };
        self.entries.iter().flat_map(of).collect()
    }

    /// The rule that stands for the part, made now if there is none yet. The name is for people.
    pub fn rule(&self, part: PartId, name: &str, rules: &RuleAllocator<'_>) -> RuleId {
        self.number(Home::Root(part), rules, || name.to_owned())
    }

    /// The body of a rule of a part; `None` when the rule is of none.
    ///
    /// # Errors
    /// The part's own, located in the text around it.
    pub fn lower(
        &self,
        rule: RuleId,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Option<Result<ExprId, LowerError>> {
        let home = self.read(|numbers| numbers.home.get(&rule).copied())?;
        let (Home::Root(part) | Home::Rule(part, _)) = home;
        let location = &self.entry(part).location;
        Some(self.copy(home, body, rules).map_err(|error| LowerError {
            location: error.location.within(location),
            source: error.source,
        }))
    }

    /// Builds the body of a rule of a part, references renumbered.
    fn copy(
        &self,
        home: Home,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, LowerError> {
        let (Home::Root(part) | Home::Rule(part, _)) = home;
        let source = self.source(part)?;
        let rule = match home {
            Home::Root(_) => source.root(),
            Home::Rule(_, rule) => rule,
        };
        let holes = &self.entry(part).holes;
        let original = source.body(rule)?;
        Ok(body.rebuild(&original, |body, _, node| match node {
            Node::Rule(rule) => {
                let home = match holes.get(&rule) {
                    Some(&Some(part)) => Home::Root(part),
                    Some(None) => return body.never(),
                    None if rule == source.root() => Home::Root(part),
                    None => Home::Rule(part, rule),
                };
                let rule = self.number(home, rules, || source.name(rule));
                body.rule(rule)
            }
            other => body.renormalize(other),
        }))
    }

    fn source(&self, part: PartId) -> Result<&Source, LowerError> {
        let entry = self.entry(part);
        let made = entry.source.get_or_init(|| {
            let make = entry.make.as_ref().expect("a part without a grammar can make one");
            let (source, _) = Source::new(make()?, &Holes::default(), &self.limits)
                .map_err(|error| lower_error(Location::Whole, error))?;
            match source.is_productive() {
                true => Ok(source),
                false => Err(lower_error(Location::Whole, Unsatisfiable)),
            }
        });
        made.as_ref().map_err(Clone::clone)
    }

    fn entry(&self, part: PartId) -> &Entry {
        &self.entries[part.0 as usize]
    }

    /// The number of a part's rule in the grammar around it.
    fn number(
        &self,
        home: Home,
        rules: &RuleAllocator<'_>,
        name: impl FnOnce() -> String,
    ) -> RuleId {
        if let Some(rule) = self.read(|numbers| numbers.outer.get(&home).copied()) {
            return rule;
        }
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        let Numbers { outer, home: homes } = &mut *numbers;
        *outer.entry(home).or_insert_with(|| {
            let rule = rules.rule(&name());
            homes.insert(rule, home);
            rule
        })
    }

    fn read<T>(&self, look: impl FnOnce(&Numbers) -> T) -> T {
        look(&self.numbers.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A grammar in which some rules, the holes, stand for other grammars. What body a hole has in
/// `outer` does not matter.
///
/// The result is eager when all of them are, so that passes see it whole. Otherwise it is lazy, and
/// alternatives of an eager `outer` that could never be completed are left out; a lazy one must be
/// able to do without holes that generate nothing. Its warnings are those of `outer` and of the parts
/// that are not late. Linear in what is eager.
///
/// # Errors
/// Limits on rules, nodes or steps that an eager grammar exceeds.
pub fn compose(
    outer: Grammar,
    holes: impl IntoIterator<Item = (RuleId, Part)>,
    limits: &Limits,
) -> Result<Grammar, GrammarError> {
    let mut parts = Parts::new(limits.clone());
    let mut filled = Holes::default();
    let mut is_lazy = outer.is_lazy();
    for (hole, part) in holes {
        is_lazy |= match &part.origin {
            Origin::Known(grammar) => grammar.is_lazy(),
            Origin::Late(_) => true,
        };
        let part = parts.add(part)?;
        filled.insert(hole, parts.is_productive(part).then_some(part));
    }
    let name = outer.name(outer.root());
    let mut warnings = outer.warnings().to_vec();
    warnings.extend(parts.warnings());
    let root_hole = filled.get(&outer.root()).copied();
    let whole = parts.add_with_holes(Part::of(outer), &filled)?;
    // A hole at the root leaves nothing of the outer grammar.
    let whole = match root_hole {
        Some(part) => part.filter(|_| parts.is_productive(whole)),
        None => Some(whole),
    };
    let Some(whole) = whole.filter(|&whole| parts.is_productive(whole)) else {
        let mut body = BodyBuilder::new();
        let root = body.never();
        return Ok(Grammar::of_body(body.finish(root)).with_warnings(warnings));
    };
    let root = (RuleId(0), Home::Root(whole));
    let numbers = parts.numbers.get_mut().unwrap_or_else(PoisonError::into_inner);
    numbers.home.insert(root.0, root.1);
    numbers.outer.insert(root.1, root.0);
    let grammar = Grammar::lazy(&name, Arc::new(Composed { parts }));
    let grammar = match is_lazy {
        true => grammar,
        false => as_grammar(passes::reach(&grammar, limits)?),
    };
    Ok(grammar.with_warnings(warnings))
}

/// A grammar all of whose rules are of parts.
#[derive(Debug)]
struct Composed {
    parts: Parts,
}

impl LowerRule for Composed {
    fn lower(
        &self,
        rule: RuleId,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, LowerError> {
        self.parts.lower(rule, body, rules).expect("every rule is of a part")
    }
}

fn lower_error(
    location: Location,
    source: impl std::error::Error + Send + Sync + 'static,
) -> LowerError {
    LowerError { location, source: Arc::new(source) }
}

fn located(error: GrammarError, base: &Location) -> GrammarError {
    match error {
        GrammarError::Lower(LowerError { location, source }) => {
            LowerError { location: location.within(base), source }.into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
