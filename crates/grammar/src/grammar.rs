//! A grammar: rules, one of them the root, lowered when first asked for.

use crate::{Body, BodyBuilder, ExprId, Limits, Location, RuleId};
use std::{
    fmt,
    sync::{Arc, OnceLock, RwLock},
};

/// Gives a rule its body when a reader first needs it.
///
/// Implemented by front ends whose constraints are large and mostly never visited. A rule must be
/// given the same body however often and in whatever order rules are asked for.
///
/// No pass ever sees such a grammar whole, so the front end sees to it that every body it gives can
/// be completed: what cannot be is left out, and every rule that a body refers to generates
/// something.
pub trait LowerRule: fmt::Debug + Send + Sync {
    /// Builds the body of `rule` in `body` and returns its root. Rules that it refers to and that
    /// do not exist yet come from `rules`.
    ///
    /// # Errors
    /// What is wrong with the constraint there.
    fn lower(
        &self,
        rule: RuleId,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, LowerError>;
}

/// Why a rule has no body: the front end's own error, and where.
#[derive(Clone, Debug, thiserror::Error)]
#[error("at {location}: {source}")]
pub struct LowerError {
    /// Where in the constraint.
    pub location: Location,
    /// The front end's error.
    pub source: Arc<dyn std::error::Error + Send + Sync>,
}

/// Why a grammar cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrammarError {
    /// A declared rule was never defined.
    #[error("rule `{name}` is used but never defined")]
    Undefined {
        /// The rule's name.
        name: Box<str>,
    },
    /// A rule was defined twice.
    #[error("rule `{name}` is defined twice")]
    DefinedTwice {
        /// The rule's name.
        name: Box<str>,
    },
    /// More rules than allowed.
    #[error("more than {limit} rules")]
    Rules {
        /// The limit that was hit.
        limit: usize,
    },
    /// More nodes than allowed.
    #[error("more than {limit} grammar nodes")]
    Nodes {
        /// The limit that was hit.
        limit: usize,
    },
    /// A rule could not be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A budget was used up while grammars were put together.
    #[error(transparent)]
    Exhausted(#[from] formwork_automata::Exhausted),
}

/// Something the user should know about a constraint that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warning {
    /// Where in the constraint.
    pub location: Location,
    /// What was relaxed or has no effect.
    pub message: String,
}

#[derive(Debug)]
struct Rule {
    name: Box<str>,
    body: OnceLock<Result<Arc<Body>, LowerError>>,
}

/// The rules of a grammar, growing while rules are lowered. Hands out new ones.
#[derive(Debug)]
pub struct RuleAllocator<'g> {
    rules: &'g RwLock<Vec<Arc<Rule>>>,
}

impl RuleAllocator<'_> {
    /// A new rule, to be lowered when it is first asked for. The name is for people.
    pub fn rule(&self, name: &str) -> RuleId {
        push_rule(self.rules, name)
    }
}

fn push_rule(rules: &RwLock<Vec<Arc<Rule>>>, name: &str) -> RuleId {
    let mut rules = rules.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    let id = RuleId(u32::try_from(rules.len()).expect("fewer than 2^32 rules"));
    rules.push(Arc::new(Rule { name: name.into(), body: OnceLock::new() }));
    id
}

/// A grammar. Shared, immutable in meaning; bodies appear as they are asked for.
pub struct Grammar {
    rules: RwLock<Vec<Arc<Rule>>>,
    root: RuleId,
    lower: Option<Arc<dyn LowerRule>>,
    warnings: Vec<Warning>,
}

impl Grammar {
    /// A grammar whose rules `lower` will give bodies, beginning with the root.
    #[must_use]
    pub fn lazy(root_name: &str, lower: Arc<dyn LowerRule>) -> Self {
        let rules = RwLock::new(Vec::new());
        let root = push_rule(&rules, root_name);
        Self { rules, root, lower: Some(lower), warnings: Vec::new() }
    }

    /// A grammar of one rule.
    #[must_use]
    pub fn of_body(body: Body) -> Self {
        let mut builder = GrammarBuilder::new();
        let root = builder.declare("root");
        builder.define(root, body).expect("defined once");
        builder.finish(root).expect("defined")
    }

    /// Whether rules are lowered when they are asked for.
    #[must_use]
    pub fn is_lazy(&self) -> bool {
        self.lower.is_some()
    }

    /// The same grammar with warnings attached.
    #[must_use]
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings;
        self
    }

    /// What the user should know.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The rule that stands for the whole.
    #[must_use]
    pub fn root(&self) -> RuleId {
        self.root
    }

    /// Rules known so far. Grows while rules are lowered.
    #[must_use]
    pub fn rule_count(&self) -> usize {
        self.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner).len()
    }

    /// The name of a rule, for people.
    #[must_use]
    pub fn name(&self, rule: RuleId) -> String {
        self.rule(rule).name.to_string()
    }

    /// The body of a rule, lowered now if it has not been.
    ///
    /// # Errors
    /// What the front end found wrong with the constraint there; the same error every time.
    pub fn body(&self, rule: RuleId) -> Result<Arc<Body>, LowerError> {
        let entry = self.rule(rule);
        // The lowering runs outside the lock on the table, since it may add rules.
        entry.body.get_or_init(|| self.lower(rule).map(Arc::new)).clone()
    }

    fn lower(&self, rule: RuleId) -> Result<Body, LowerError> {
        let lower = self.lower.as_ref().expect("an eager grammar has all its bodies");
        let mut body = BodyBuilder::new();
        let root = lower.lower(rule, &mut body, &RuleAllocator { rules: &self.rules })?;
        Ok(body.finish(root))
    }

    fn rule(&self, rule: RuleId) -> Arc<Rule> {
        let rules = self.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        rules[rule.index()].clone()
    }

    /// Lowers every rule that the root needs, and returns them in the order in which they were
    /// first reached, the root first.
    ///
    /// # Errors
    /// The first error of a front end, or the limit on rules or nodes.
    pub fn lower_all(&self, limits: &Limits) -> Result<Vec<RuleId>, GrammarError> {
        let mut reached = vec![self.root];
        let mut seen = rustc_hash::FxHashSet::from_iter([self.root]);
        let mut nodes = 0;
        let mut done = 0;
        while done < reached.len() {
            let body = self.body(reached[done])?;
            nodes += body.nodes().len();
            if nodes > limits.nodes {
                return Err(GrammarError::Nodes { limit: limits.nodes });
            }
            for rule in body.references() {
                if seen.insert(rule) {
                    reached.push(rule);
                }
            }
            if reached.len() > limits.rules {
                return Err(GrammarError::Rules { limit: limits.rules });
            }
            done += 1;
        }
        Ok(reached)
    }
}

impl fmt::Debug for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "root {:?}", self.root)?;
        let rules = self.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (id, rule) in rules.iter().enumerate() {
            writeln!(f, "{id} {}: {:?}", rule.name, rule.body.get())?;
        }
        Ok(())
    }
}

/// Builds a grammar whose bodies are all known.
#[derive(Debug, Default)]
pub struct GrammarBuilder {
    rules: Vec<(Box<str>, Option<Body>)>,
}

impl GrammarBuilder {
    /// A builder without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A new rule, to be defined later. The name is for people and need not be unique.
    pub fn declare(&mut self, name: &str) -> RuleId {
        let id = RuleId(u32::try_from(self.rules.len()).expect("fewer than 2^32 rules"));
        self.rules.push((name.into(), None));
        id
    }

    /// Gives a rule its body.
    ///
    /// # Errors
    /// [`GrammarError::DefinedTwice`].
    pub fn define(&mut self, rule: RuleId, body: Body) -> Result<(), GrammarError> {
        let (name, slot) = &mut self.rules[rule.index()];
        if slot.is_some() {
            return Err(GrammarError::DefinedTwice { name: name.clone() });
        }
        *slot = Some(body);
        Ok(())
    }

    /// The grammar with this root.
    ///
    /// # Errors
    /// [`GrammarError::Undefined`] for a rule that has no body.
    pub fn finish(self, root: RuleId) -> Result<Grammar, GrammarError> {
        let mut rules = Vec::with_capacity(self.rules.len());
        for (name, body) in self.rules {
            let Some(body) = body else { return Err(GrammarError::Undefined { name }) };
            let body = OnceLock::from(Ok(Arc::new(body)));
            rules.push(Arc::new(Rule { name, body }));
        }
        Ok(Grammar { rules: RwLock::new(rules), root, lower: None, warnings: Vec::new() })
    }
}
