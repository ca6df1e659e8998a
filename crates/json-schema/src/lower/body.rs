//! The body of one rule.

use super::{
    Analysis, Lowered, Lowerer, RuleKey, State, Target,
    layout::{Layout, Pieces},
    meaning::{Kind, Meaning},
    satisfy::Alternative,
    scalars::{Polarity, TextAtom, TextId, Writing},
    sets::SetId,
    text::quote,
};
use crate::{SchemaErrorKind, Spelling};
use formwork_grammar::{BodyBuilder, ExprId, Limits, Node, RuleAllocator, RuleId};
use rustc_hash::FxHashMap;
use std::{collections::BTreeSet, sync::Arc};

/// The longest name of a rule, in bytes: names are for people.
const NAME_BYTES: usize = 200;

/// One rule while it is lowered.
pub(super) struct Lowering<'a> {
    pub(super) analysis: &'a mut Analysis,
    pub(super) body: &'a mut BodyBuilder,
    pub(super) layout: &'a Layout,
    pub(super) limits: &'a Limits,
    /// Open containers around the value, where the layout asks.
    pub(super) depth: u32,
    /// White space of the containers of this rule.
    pub(super) pieces: Pieces,
    ids: &'a mut FxHashMap<RuleKey, RuleId>,
    keys: &'a mut FxHashMap<RuleId, RuleKey>,
    nodes: &'a mut usize,
    rules: &'a RuleAllocator<'a>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        lowerer: &'a Lowerer,
        state: &'a mut State,
        body: &'a mut BodyBuilder,
        rules: &'a RuleAllocator<'a>,
        depth: u32,
    ) -> Lowered<Self> {
        let limit = lowerer.limits.nesting;
        if depth as usize > limit {
            return Err(SchemaErrorKind::Nesting { limit });
        }
        let pieces = lowerer.layout.pieces(body, depth);
        let State { analysis, ids, keys, nodes } = state;
        let (layout, limits) = (&lowerer.layout, &lowerer.limits);
        Ok(Self { analysis, body, layout, limits, depth, pieces, ids, keys, nodes, rules })
    }

    /// The body of a rule.
    pub(super) fn rule(&mut self, key: RuleKey) -> Lowered<ExprId> {
        let expr = match key.target {
            Target::Value(set) => self.value(set)?,
            Target::Members(state, position) => self.members(state, position)?,
            Target::Items(state, position) => self.items(state, position)?,
        };
        *self.nodes += self.body.len();
        self.check_nodes(0)?;
        Ok(expr)
    }

    /// Refuses to go on when this body, with those before it, has too many nodes.
    pub(super) fn check_nodes(&self, more: usize) -> Lowered<()> {
        let limit = self.limits.nodes;
        if self.nodes.saturating_add(more) > limit {
            return Err(SchemaErrorKind::Nodes { limit });
        }
        Ok(())
    }

    /// Whether an expression generates nothing, at sight.
    pub(super) fn is_never(&self, expr: ExprId) -> bool {
        *self.body.node(expr) == Node::Never
    }

    /// The values of a set.
    fn value(&mut self, set: SetId) -> Lowered<ExprId> {
        let mut choices = Vec::new();
        for kind in Kind::ALL {
            match self.analysis.meaning(set, kind)? {
                Meaning::Facts(_) => {
                    for alternative in self.analysis.alternatives(set, kind)?.iter() {
                        choices.push(match alternative {
                            Alternative::Listed(values) => self.listed(values)?,
                            Alternative::Facts(facts) if kind == Kind::Array => {
                                self.array(*facts)?
                            }
                            Alternative::Facts(facts) => self.object(*facts)?,
                        });
                        self.check_nodes(self.body.len())?;
                    }
                }
                scalar => choices.push(self.scalar(scalar, kind)?),
            }
        }
        Ok(self.body.alt(&choices))
    }

    /// Scalars of a type.
    pub(super) fn scalar(&mut self, meaning: Meaning, kind: Kind) -> Lowered<ExprId> {
        let Analysis { scalars, fuel, writing, .. } = &mut *self.analysis;
        match meaning {
            Meaning::Text(id) => scalars.string(id, *writing, self.body, fuel),
            Meaning::Number(id) => {
                let numbers = scalars.number_language(id, *writing, fuel)?;
                Ok(self.body.automaton(numbers))
            }
            Meaning::Constants(bits) => {
                let texts = kind.constants().iter().filter(|(bit, _)| bits & bit != 0);
                let texts: Vec<ExprId> =
                    texts.map(|(_, text)| self.body.literal(text.as_bytes())).collect();
                Ok(self.body.alt(&texts))
            }
            Meaning::Facts(_) => unreachable!("containers have alternatives"),
        }
    }

    /// A key with this text.
    pub(super) fn key(&mut self, text: &str) -> Lowered<ExprId> {
        if self.analysis.model.choices.spelling == Spelling::Minimal {
            let mut key = Vec::with_capacity(text.len() + 2);
            quote(text, &mut key);
            return Ok(self.body.literal(&key));
        }
        let atom = TextAtom::Values(Arc::new(BTreeSet::from([text.into()])));
        let id = self.analysis.scalars.text(atom, Polarity::Holds);
        self.keys_of(id, Writing::Any)
    }

    /// Keys with these texts.
    pub(super) fn keys_of(&mut self, texts: TextId, writing: Writing) -> Lowered<ExprId> {
        let Analysis { scalars, fuel, .. } = &mut *self.analysis;
        let keys = scalars.string_language(texts, writing, fuel)?;
        Ok(self.body.automaton(keys))
    }

    /// A reference to the rule of a set, for a value inside the container at hand.
    pub(super) fn reference(&mut self, set: SetId) -> Lowered<ExprId> {
        self.refer(Target::Value(set), self.depth + self.layout.levels(1))
    }

    /// A reference to what follows in the container at hand.
    pub(super) fn rest(&mut self, target: Target) -> Lowered<ExprId> {
        self.refer(target, self.depth)
    }

    fn refer(&mut self, target: Target, depth: u32) -> Lowered<ExprId> {
        let key = RuleKey { target, depth };
        let rule = match self.ids.get(&key) {
            Some(&rule) => rule,
            None => {
                let limit = self.limits.rules;
                if self.ids.len() >= limit {
                    return Err(SchemaErrorKind::Rules { limit });
                }
                let rule = self.rules.rule(&self.name(target));
                self.ids.insert(key, rule);
                self.keys.insert(rule, key);
                rule
            }
        };
        Ok(self.body.rule(rule))
    }

    /// A name for people: the pointers of the schemas.
    fn name(&self, target: Target) -> String {
        let mut name = match target {
            Target::Value(set) => self.analysis.describe(set, NAME_BYTES),
            Target::Members(state, _) => format!("members from {} on", state.at),
            Target::Items(state, _) => format!("items from {} on", state.place),
        };
        if name.len() > NAME_BYTES {
            let end = (0..=NAME_BYTES).rev().find(|&at| name.is_char_boundary(at));
            name.truncate(end.unwrap_or(0));
            name.push_str("...");
        }
        name
    }
}
