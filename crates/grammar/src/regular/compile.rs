//! Pours rules into automata, callees first.

use super::{RegularError, TOKEN_END, TokenAlphabet, layers, look_ahead::Looks, permute};
use crate::{
    ExprId, LookAhead, Node, Repeat, RuleId,
    passes::{Analysis, Linearity, Rules},
};
use formwork_automata::{
    BooleanOp, Dfa, Fuel, Letter, Mark, Nfa, NfaBuilder, NfaStateId, determinize,
};
use rustc_hash::FxHashMap;
use std::{ops::Range, sync::Arc};

/// Compiles the rules of one grammar.
pub(super) struct Compiler<'a> {
    pub(super) rules: &'a Rules,
    analysis: &'a Analysis,
    alphabet: &'a dyn TokenAlphabet,
    pub(super) fuel: &'a mut Fuel,
    /// Automata of rules that are embedded rather than inlined.
    rule_automata: FxHashMap<RuleId, Arc<Dfa>>,
    /// Automata of nodes that need a deterministic operand, by body and node.
    node_automata: FxHashMap<(RuleId, ExprId), Operand>,
    looks: Looks,
    /// Whether token ends are letters at all: only where something limits tokens.
    token_ends: bool,
}

/// What a node that needs a deterministic operand became.
#[derive(Clone)]
enum Operand {
    /// The automaton of the node itself.
    Automaton(Arc<Dfa>),
    /// The look-ahead's mark.
    Look(Mark),
    /// The keys of a permutation's distinct rest, all of them.
    Keys(Arc<[Vec<u8>]>),
}

/// Pour `expr` of `rule` between two states.
pub(super) struct Task {
    pub(super) rule: RuleId,
    pub(super) expr: ExprId,
    pub(super) from: NfaStateId,
    pub(super) to: NfaStateId,
}

/// One NFA under construction.
pub(super) struct Build<'f> {
    pub(super) nfa: NfaBuilder<'f>,
    pub(super) tasks: Vec<Task>,
    recursion: Option<Recursion>,
    /// States embedded from automata that read token ends themselves: index ranges.
    reads_token_ends: Vec<Range<usize>>,
}

/// How references inside the component being built are wired.
struct Recursion {
    component: usize,
    linearity: Linearity,
    start: NfaStateId,
    accept: NfaStateId,
    /// Right-linear: where a rule begins. Left-linear: where it ends.
    anchors: FxHashMap<RuleId, NfaStateId>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(
        rules: &'a Rules,
        analysis: &'a Analysis,
        alphabet: &'a dyn TokenAlphabet,
        fuel: &'a mut Fuel,
    ) -> Self {
        Self {
            rules,
            analysis,
            alphabet,
            fuel,
            rule_automata: FxHashMap::default(),
            node_automata: FxHashMap::default(),
            looks: Looks::default(),
            token_ends: rules.bodies.iter().any(|body| {
                body.nodes().iter().any(|node| matches!(node, Node::TokenLimit { .. }))
            }),
        }
    }

    /// The minimal automaton of rule 0.
    pub(super) fn grammar(mut self) -> Result<Dfa, RegularError> {
        check_recursion(self.rules, self.analysis)?;
        for component in &self.analysis.components {
            for &rule in component {
                self.operands_of(rule)?;
            }
            for &rule in component {
                let shared = self.analysis.references[rule.index()] > 1;
                if rule.index() != 0 && (shared || self.analysis.is_recursive(rule)) {
                    let automaton = Arc::new(self.rule_automaton(rule)?);
                    self.rule_automata.insert(rule, automaton);
                }
            }
        }
        let root = self.rules.ids().next().expect("there is a root");
        let nfa = self.rule_nfa(root)?;
        let nfa = match self.looks.is_empty() {
            true => nfa,
            false => self.looks.resolve(&nfa, self.fuel)?,
        };
        Ok(determinize(&nfa, self.fuel)?.minimized())
    }

    fn rule_automaton(&mut self, rule: RuleId) -> Result<Dfa, RegularError> {
        let nfa = self.rule_nfa(rule)?;
        Ok(determinize(&nfa, self.fuel)?.minimized())
    }

    fn rule_nfa(&mut self, rule: RuleId) -> Result<Nfa, RegularError> {
        self.nfa(rule, self.rules.body(rule).root())
    }

    /// The automaton of one node of a rule's body.
    fn expr_automaton(&mut self, rule: RuleId, expr: ExprId) -> Result<Dfa, RegularError> {
        let nfa = self.nfa(rule, expr)?;
        Ok(determinize(&nfa, self.fuel)?.minimized())
    }

    fn nfa(&mut self, rule: RuleId, expr: ExprId) -> Result<Nfa, RegularError> {
        // The builder borrows the fuel; the compiler needs it back when the NFA is done.
        let mut fuel = std::mem::replace(self.fuel, Fuel::unlimited());
        let nfa = self.pour(rule, expr, &mut fuel);
        *self.fuel = fuel;
        nfa
    }

    fn pour(&self, rule: RuleId, expr: ExprId, fuel: &mut Fuel) -> Result<Nfa, RegularError> {
        let mut nfa = NfaBuilder::new(fuel);
        let start = nfa.state()?;
        let accept = nfa.state()?;
        let linearity = self.analysis.linearity[rule.index()];
        let whole = expr == self.rules.body(rule).root();
        let recursion = (whole && linearity != Linearity::NonRecursive).then(|| {
            let own = if linearity == Linearity::Right { start } else { accept };
            Recursion {
                component: self.analysis.component_of[rule.index()],
                linearity,
                start,
                accept,
                anchors: FxHashMap::from_iter([(rule, own)]),
            }
        });
        let tasks = vec![Task { rule, expr, from: start, to: accept }];
        let mut build = Build { nfa, tasks, recursion, reads_token_ends: Vec::new() };
        while let Some(task) = build.tasks.pop() {
            // Charged by itself: a node may come out empty and cost nothing else.
            build.nfa.fuel().steps(1)?;
            self.node(&mut build, &task)?;
        }
        if self.token_ends {
            build.ignore_token_ends()?;
        }
        Ok(build.nfa.finish(start, accept))
    }

    fn node(&self, build: &mut Build<'_>, task: &Task) -> Result<(), RegularError> {
        let &Task { rule, expr, from, to } = task;
        match &self.rules.body(rule)[expr] {
            Node::Never => {}
            Node::Empty => build.nfa.empty(from, to)?,
            Node::Literal(bytes) => build.nfa.literal(from, bytes, to)?,
            Node::Bytes(set) => build.nfa.byte(from, *set, to)?,
            Node::Seq(parts) => build.sequence(rule, parts, from, to)?,
            Node::Alt(choices) => {
                build.tasks.extend(choices.iter().map(|&expr| Task { rule, expr, from, to }));
            }
            Node::Repeat(repeat) => build.repeat(rule, *repeat, from, to)?,
            Node::Rule(reference) => self.reference(build, *reference, from, to)?,
            Node::Automaton(dfa) => build.embed(dfa, from, to)?,
            Node::Tokens(set) => {
                for mark in self.alphabet.marks(set)? {
                    build.nfa.mark(from, mark, to)?;
                }
            }
            Node::Annotated { expr, .. } => {
                build.tasks.push(Task { rule, expr: *expr, from, to });
            }
            Node::And(_) | Node::Not(_) | Node::TokenLimit { .. } | Node::LookAhead(_) => {
                match &self.node_automata[&(rule, expr)] {
                    Operand::Automaton(dfa) => build.embed(dfa, from, to)?,
                    Operand::Look(mark) => build.nfa.mark(from, *mark, to)?,
                    Operand::Keys(_) => unreachable!("keys belong to permutations"),
                }
            }
            Node::Permute(permute) => {
                let keys: &[Vec<u8>] = match self.node_automata.get(&(rule, expr)) {
                    Some(Operand::Keys(keys)) => keys,
                    _ => &[],
                };
                if permute.members.len() + keys.len() > permute::MAX_ITEMS {
                    return Err(self.not_regular(rule, "too many unordered items"));
                }
                permute::unroll(build, rule, permute, keys, (from, to))?;
            }
        }
        Ok(())
    }

    fn reference(
        &self,
        build: &mut Build<'_>,
        rule: RuleId,
        from: NfaStateId,
        to: NfaStateId,
    ) -> Result<(), RegularError> {
        if let Some(recursion) = &mut build.recursion
            && self.analysis.component_of[rule.index()] == recursion.component
        {
            let body = self.rules.body(rule).root();
            let known = recursion.anchors.get(&rule).copied();
            let anchor = match known {
                Some(anchor) => anchor,
                None => build.nfa.state()?,
            };
            recursion.anchors.insert(rule, anchor);
            let right = recursion.linearity == Linearity::Right;
            if known.is_none() {
                let (from, to) = match right {
                    true => (anchor, recursion.accept),
                    false => (recursion.start, anchor),
                };
                build.tasks.push(Task { rule, expr: body, from, to });
            }
            return match right {
                true => Ok(build.nfa.empty(from, anchor)?),
                false => Ok(build.nfa.empty(anchor, to)?),
            };
        }
        match self.rule_automata.get(&rule) {
            Some(automaton) => build.embed(automaton, from, to)?,
            None => {
                let expr = self.rules.body(rule).root();
                build.tasks.push(Task { rule, expr, from, to });
            }
        }
        Ok(())
    }

    /// Makes the automata that the nodes of one body need, children first.
    fn operands_of(&mut self, rule: RuleId) -> Result<(), RegularError> {
        let body = self.rules.bodies[rule.index()].clone();
        for (expr, node) in body.iter() {
            let operand = match node {
                Node::And(operands) => {
                    let mut all = self.byte_language(rule, operands[0])?;
                    for &operand in &operands[1..] {
                        let next = self.byte_language(rule, operand)?;
                        all = all.combine(&next, BooleanOp::Intersection, self.fuel)?;
                    }
                    Operand::Automaton(Arc::new(all.minimized()))
                }
                Node::Not(operand) => {
                    let language = self.byte_language(rule, *operand)?;
                    let outside =
                        Dfa::any().combine(&language, BooleanOp::Difference, self.fuel)?;
                    Operand::Automaton(Arc::new(outside.minimized()))
                }
                Node::LookAhead(LookAhead { expr, polarity }) => {
                    let language = self.byte_language(rule, *expr)?;
                    Operand::Look(self.looks.add(language, *polarity))
                }
                Node::TokenLimit { expr, max } => {
                    let inner = self.expr_automaton(rule, *expr)?;
                    let nfa = layers::limit_tokens(&inner, *max, self.fuel)?;
                    Operand::Automaton(Arc::new(determinize(&nfa, self.fuel)?.minimized()))
                }
                Node::Permute(permute) => match permute.rest {
                    Some(rest) if rest.uniqueness == crate::Uniqueness::Distinct => {
                        let keys = self.byte_language(rule, rest.key)?;
                        if !keys.is_finite() {
                            let why = "distinct keys of an infinite language";
                            return Err(self.not_regular(rule, why));
                        }
                        // More keys than there is fuel for states cannot be unrolled anyway.
                        let keys: Vec<Vec<u8>> =
                            keys.words(permute::MAX_KEYS + 1).map(bytes_of).collect();
                        if keys.len() > permute::MAX_KEYS {
                            return Err(self.not_regular(rule, "too many distinct keys"));
                        }
                        Operand::Keys(keys.into())
                    }
                    _ => continue,
                },
                _ => continue,
            };
            self.node_automata.insert((rule, expr), operand);
        }
        Ok(())
    }

    /// The automaton of an operand that must be over bytes alone.
    fn byte_language(&mut self, rule: RuleId, expr: ExprId) -> Result<Dfa, RegularError> {
        let language = self.expr_automaton(rule, expr)?;
        let ignores_ends =
            language.live_states().all(|state| language.next_mark(state, TOKEN_END) == state);
        let reads_bytes = language
            .live_states()
            .flat_map(|state| language.mark_edges(state))
            .all(|(mark, _)| mark == TOKEN_END);
        match language.marks() {
            [] => Ok(language),
            // The words without any token end: with loops only, that is the language itself.
            _ if reads_bytes && (ignores_ends || !counts_tokens(&language)) => {
                Ok(language.combine(&Dfa::any(), BooleanOp::Intersection, self.fuel)?.minimized())
            }
            _ => {
                let why = "an operand that must be over bytes names, counts or foresees tokens";
                Err(self.not_regular(rule, why))
            }
        }
    }

    fn not_regular(&self, rule: RuleId, why: &'static str) -> RegularError {
        RegularError::NotRegular { rule: self.rules.names[rule.index()].clone(), why }
    }
}

/// The bytes of a word of an automaton without marks.
fn bytes_of(word: Vec<Letter>) -> Vec<u8> {
    let bytes = word.into_iter().filter_map(|letter| match letter {
        Letter::Byte(byte) => Some(byte),
        Letter::Mark(_) => None,
    });
    bytes.collect()
}

/// Finds the first rule whose recursion is not strongly regular.
pub(super) fn check_recursion(rules: &Rules, analysis: &Analysis) -> Result<(), RegularError> {
    let bad = rules.ids().find(|rule| !analysis.linearity[rule.index()].is_regular());
    match bad {
        Some(rule) => Err(RegularError::NotRegular {
            rule: rules.names[rule.index()].clone(),
            why: "it contains itself other than at its very begin or very end",
        }),
        None => Ok(()),
    }
}

impl Build<'_> {
    fn embed(
        &mut self,
        automaton: &Dfa,
        from: NfaStateId,
        to: NfaStateId,
    ) -> Result<(), RegularError> {
        let first = self.nfa.len();
        self.nfa.automaton(from, automaton, to)?;
        if counts_tokens(automaton) {
            self.reads_token_ends.push(first..self.nfa.len());
        }
        Ok(())
    }

    /// A token end may stand anywhere: a loop at every state that does not read it otherwise.
    fn ignore_token_ends(&mut self) -> Result<(), RegularError> {
        self.reads_token_ends.sort_unstable_by_key(|range| range.start);
        let mut ranges = self.reads_token_ends.iter().peekable();
        for (index, state) in self.nfa.state_ids().enumerate() {
            while ranges.peek().is_some_and(|range| range.end <= index) {
                ranges.next();
            }
            if !ranges.peek().is_some_and(|range| range.contains(&index)) {
                self.nfa.mark(state, TOKEN_END, state)?;
            }
        }
        Ok(())
    }

    pub(super) fn sequence(
        &mut self,
        rule: RuleId,
        parts: &[ExprId],
        from: NfaStateId,
        to: NfaStateId,
    ) -> Result<(), RegularError> {
        let Some((&last, init)) = parts.split_last() else { return Ok(self.nfa.empty(from, to)?) };
        let mut at = from;
        for &expr in init {
            let next = self.nfa.state()?;
            self.tasks.push(Task { rule, expr, from: at, to: next });
            at = next;
        }
        self.tasks.push(Task { rule, expr: last, from: at, to });
        Ok(())
    }

    fn repeat(
        &mut self,
        rule: RuleId,
        repeat: Repeat,
        from: NfaStateId,
        to: NfaStateId,
    ) -> Result<(), RegularError> {
        let Repeat { expr, min, max } = repeat;
        if (min, max) == (0, Some(1)) {
            self.nfa.empty(from, to)?;
            self.tasks.push(Task { rule, expr, from, to });
            return Ok(());
        }
        let mut at = from;
        for count in 1..=max.unwrap_or(min) {
            if count > min {
                self.nfa.empty(at, to)?;
            }
            let next = self.nfa.state()?;
            self.tasks.push(Task { rule, expr, from: at, to: next });
            at = next;
        }
        if max.is_none() {
            let again = self.nfa.state()?;
            self.nfa.empty(at, again)?;
            self.tasks.push(Task { rule, expr, from: again, to: again });
            at = again;
        }
        Ok(self.nfa.empty(at, to)?)
    }
}

/// Whether an automaton reads token ends. That the mark is among its letters is not enough: a
/// product keeps the letters of both operands, used or not.
pub(super) fn counts_tokens(dfa: &Dfa) -> bool {
    dfa.live_states().any(|state| !dfa.next_mark(state, TOKEN_END).is_dead())
}
