//! The body of one rule.

use super::{
    Analysis, Clause, Context, Lowered, Lowerer, RuleKey, SetId, State,
    layout::{Layout, Pieces},
    text::{ANY_CHARACTER, ANY_STRING, PLAIN_CHARACTER},
};
use crate::{SchemaErrorKind, model::Types};
use formwork_automata::ByteSet;
use formwork_grammar::{BodyBuilder, ExprId, Limits, RuleAllocator, RuleId};
use rustc_hash::FxHashMap;

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
        let Context::Value = key.context;
        let expr = self.value(key.set)?;
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

    /// The values that satisfy a set.
    fn value(&mut self, set: SetId) -> Lowered<ExprId> {
        let mut choices = Vec::new();
        let mut lists = false;
        for kind in Types::KINDS {
            for clause in self.analysis.clauses(set, kind)? {
                if clause.values.is_some() {
                    lists = true;
                    continue;
                }
                choices.push(self.clause(&clause)?);
                self.check_nodes(self.body.len())?;
            }
        }
        if lists {
            let values = self.analysis.listed(set)?;
            choices.push(self.listed(&values)?);
        }
        Ok(self.body.alt(&choices))
    }

    /// The values of one type that satisfy a clause.
    fn clause(&mut self, clause: &Clause) -> Lowered<ExprId> {
        match clause.types {
            Types::NULL => Ok(self.body.literal(b"null")),
            Types::BOOLEAN => {
                let (yes, no) = (self.body.literal(b"true"), self.body.literal(b"false"));
                Ok(self.body.alt(&[yes, no]))
            }
            Types::STRING => self.string(clause),
            Types::ARRAY => self.array(clause),
            Types::OBJECT => self.object(clause),
            _ => {
                let (interval, digits) = self.analysis.number_shape(clause);
                let Analysis { languages, fuel, .. } = &mut *self.analysis;
                let numbers = languages.numbers(&interval, digits, fuel)?;
                Ok(self.body.automaton(numbers))
            }
        }
    }

    /// Strings: in any spelling where nothing but the length counts, in plain spelling where a
    /// pattern looks at the text. Lengths stay counted repetitions of characters.
    fn string(&mut self, clause: &Clause) -> Lowered<ExprId> {
        if !self.analysis.has_string(clause)? {
            return Ok(self.body.never());
        }
        let shape = self.analysis.string_shape(clause);
        let counts = shape.length != crate::model::Count::default();
        if shape.patterns.is_empty() && !counts {
            return Ok(self.body.automaton(ANY_STRING.clone()));
        }
        let mut conditions = Vec::new();
        if counts {
            let character =
                if shape.patterns.is_empty() { &ANY_CHARACTER } else { &PLAIN_CHARACTER };
            let character = self.body.automaton((*character).clone());
            let text = self.body.repeat(character, shape.length.min, shape.length.max);
            let mark = self.body.bytes(ByteSet::single(b'"'));
            conditions.push(self.body.seq(&[mark, text, mark]));
        }
        if !shape.patterns.is_empty() {
            let Analysis { languages, fuel, .. } = &mut *self.analysis;
            let strings = languages.strings(&shape.patterns, fuel)?;
            conditions.push(self.body.automaton(strings));
        }
        Ok(self.body.and(&conditions))
    }

    /// A reference to the rule of a set, for a value inside the container at hand.
    pub(super) fn reference(&mut self, set: SetId) -> Lowered<ExprId> {
        let depth = self.depth + self.layout.levels(1);
        let key = RuleKey { set, context: Context::Value, depth };
        let rule = match self.ids.get(&key) {
            Some(&rule) => rule,
            None => {
                let limit = self.limits.rules;
                if self.ids.len() >= limit {
                    return Err(SchemaErrorKind::Rules { limit });
                }
                let rule = self.rules.rule(&self.name(set));
                self.ids.insert(key, rule);
                self.keys.insert(rule, key);
                rule
            }
        };
        Ok(self.body.rule(rule))
    }

    /// A name for people: the pointers of the schemas.
    fn name(&self, set: SetId) -> String {
        let members = self.analysis.sets.members(set);
        if members.is_empty() {
            return "any value".to_owned();
        }
        let mut name = String::new();
        for member in &*members {
            if !name.is_empty() {
                name.push_str(" and ");
            }
            name.push('#');
            name.push_str(&self.analysis.model.pointer(member.schema));
            if name.len() > NAME_BYTES {
                let end = (0..=NAME_BYTES).rev().find(|&at| name.is_char_boundary(at));
                name.truncate(end.unwrap_or(0));
                name.push_str("...");
                break;
            }
        }
        name
    }
}
