//! Whether a whole output is in the language: the definition of each construct, read literally.
//!
//! This shares nothing with the oracle's charts and futures, so that each can be held to the other.
//! For every construct and every place of the output it computes the set of places where the
//! construct may end, over and over until nothing changes. What is not monotone (complement,
//! look-ahead) waits until its operand no longer changes. Cost: all readings of all tokens, times
//! the size of the grammar, times the square of the length; for short outputs.

use crate::oracle::{OracleError, tokens_of};
use formwork_grammar::{
    Body, ExprId, Grammar, GrammarError, Limits, LookAhead, Node, Permute, Polarity, Repeat,
    RuleId, Uniqueness,
};
use formwork_vocab::{TokenId, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{collections::BTreeSet, sync::Arc};

/// A grammar against which whole outputs are checked.
#[derive(Debug)]
pub struct Membership {
    bodies: Vec<(RuleId, Arc<Body>)>,
    index: FxHashMap<RuleId, usize>,
    /// Emittable tokens of each token set.
    sets: FxHashMap<NodeKey, Vec<TokenId>>,
    vocabulary: Arc<Vocabulary>,
}

/// A node, by rule and position.
type NodeKey = (usize, usize);
/// Places in an output.
type Places = BTreeSet<usize>;

/// One letter of an output, and which token it belongs to.
#[derive(Clone, Copy, Debug)]
struct Letter {
    symbol: Symbol,
    token: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Byte(u8),
    Token(TokenId),
}

impl Membership {
    /// Lowers a grammar.
    ///
    /// # Errors
    /// What is wrong with the grammar.
    pub fn new(
        grammar: &Grammar,
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Self, OracleError> {
        let mut bodies = Vec::new();
        let mut sets = FxHashMap::default();
        for (number, rule) in grammar.lower_all(limits)?.into_iter().enumerate() {
            let body = grammar.body(rule).map_err(GrammarError::from)?;
            for (expr, node) in body.iter() {
                if let Node::Tokens(set) = node {
                    sets.insert((number, expr.index()), tokens_of(set, &vocabulary)?);
                }
            }
            bodies.push((rule, body));
        }
        let index = bodies.iter().enumerate().map(|(number, (rule, _))| (*rule, number)).collect();
        Ok(Self { bodies, index, sets, vocabulary })
    }

    /// Whether some reading of these tokens, all of them emittable, is in the language.
    ///
    /// # Errors
    /// When an operation on languages contains itself, so that it has no meaning.
    pub fn contains(&self, tokens: &[TokenId]) -> Result<bool, OracleError> {
        if !tokens.iter().all(|&token| self.vocabulary.is_emittable(token)) {
            return Ok(false);
        }
        let mut readings: Vec<Vec<Letter>> = vec![Vec::new()];
        for (number, &token) in tokens.iter().enumerate() {
            let letter = |symbol| Letter { symbol, token: number };
            let mut next = Vec::new();
            for reading in readings {
                if let Some(bytes) = self.vocabulary.bytes(token) {
                    let bytes = bytes.iter().map(|&byte| letter(Symbol::Byte(byte)));
                    next.push(reading.iter().copied().chain(bytes).collect());
                }
                let symbol = letter(Symbol::Token(token));
                next.push(reading.into_iter().chain([symbol]).collect());
            }
            readings = next;
        }
        for reading in readings {
            if Tables::new(self, &reading).whole()? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// For every node and every place, where the node may end.
struct Tables<'m> {
    grammar: &'m Membership,
    letters: &'m [Letter],
    ends: FxHashMap<(NodeKey, usize), Places>,
    /// Complements and look-aheads whose operand is final.
    open: FxHashSet<NodeKey>,
}

impl<'m> Tables<'m> {
    fn new(grammar: &'m Membership, letters: &'m [Letter]) -> Self {
        Self { grammar, letters, ends: FxHashMap::default(), open: FxHashSet::default() }
    }

    /// Whether the root may begin at the begin and end at the end.
    fn whole(mut self) -> Result<bool, OracleError> {
        loop {
            self.saturate();
            let waiting: Vec<NodeKey> = self
                .nodes()
                .filter(|(key, node)| waits(node) && !self.open.contains(key))
                .map(|(key, _)| key)
                .collect();
            if waiting.is_empty() {
                let root = self.grammar.bodies[0].1.root().index();
                return Ok(self.at((0, root), 0).contains(&self.letters.len()));
            }
            let ready: Vec<NodeKey> =
                waiting.iter().copied().filter(|&key| self.is_ready(key)).collect();
            if ready.is_empty() {
                return Err(OracleError::Operand { why: "contains itself" });
            }
            self.open.extend(ready);
        }
    }

    fn nodes(&self) -> impl Iterator<Item = (NodeKey, &'m Node)> + use<'m> {
        let bodies = self.grammar.bodies.iter().enumerate();
        bodies.flat_map(|(rule, (_, body))| {
            body.nodes().iter().enumerate().map(move |(expr, node)| ((rule, expr), node))
        })
    }

    /// Whether nothing below a node still waits.
    fn is_ready(&self, key: NodeKey) -> bool {
        let mut seen = FxHashSet::default();
        let mut pending = vec![key];
        while let Some((rule, expr)) = pending.pop() {
            let node = &self.grammar.bodies[rule].1.nodes()[expr];
            node.for_each_child(|child| pending.push((rule, child.index())));
            if let Node::Rule(callee) = node {
                let callee = self.grammar.index[callee];
                pending.push((callee, self.grammar.bodies[callee].1.root().index()));
            }
            pending.retain(|&below| seen.insert(below));
        }
        seen.into_iter().all(|(rule, expr)| {
            let node = &self.grammar.bodies[rule].1.nodes()[expr];
            !waits(node) || self.open.contains(&(rule, expr))
        })
    }

    /// Recomputes everything until nothing changes.
    fn saturate(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for (key, node) in self.nodes() {
                for from in 0..=self.letters.len() {
                    let ends = self.ends_of(key, node, from);
                    if *self.at(key, from) != ends {
                        self.ends.insert((key, from), ends);
                        changed = true;
                    }
                }
            }
        }
    }

    fn at(&self, key: NodeKey, from: usize) -> &Places {
        static NOWHERE: Places = Places::new();
        self.ends.get(&(key, from)).unwrap_or(&NOWHERE)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        match self.letters.get(at)?.symbol {
            Symbol::Byte(byte) => Some(byte),
            Symbol::Token(_) => None,
        }
    }

    /// Places that can be reached by bytes alone, the first included.
    fn by_bytes(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        let bytes = (from..self.letters.len()).take_while(|&at| self.byte(at).is_some());
        std::iter::once(from).chain(bytes.map(|at| at + 1))
    }

    fn after(&self, rule: usize, expr: ExprId, from: &Places) -> Places {
        from.iter().flat_map(|&from| self.at((rule, expr.index()), from)).copied().collect()
    }

    fn ends_of(&self, key: NodeKey, node: &Node, from: usize) -> Places {
        let rule = key.0;
        let here = Places::from([from]);
        let child = |expr: ExprId| self.at((rule, expr.index()), from);
        match node {
            Node::Never => Places::new(),
            Node::Empty => here,
            Node::Literal(bytes) => {
                let read = bytes.iter().enumerate().all(|(n, &b)| self.byte(from + n) == Some(b));
                if read { Places::from([from + bytes.len()]) } else { Places::new() }
            }
            Node::Bytes(set) => match self.byte(from) {
                Some(byte) if set.contains(byte) => Places::from([from + 1]),
                _ => Places::new(),
            },
            Node::Seq(parts) => {
                parts.iter().fold(here, |from, &part| self.after(rule, part, &from))
            }
            Node::Alt(choices) => choices.iter().flat_map(|&c| child(c)).copied().collect(),
            Node::Repeat(repeat) => self.repeat(rule, *repeat, here),
            Node::Rule(callee) => {
                let callee = self.grammar.index[callee];
                let root = self.grammar.bodies[callee].1.root();
                self.at((callee, root.index()), from).clone()
            }
            Node::Automaton(dfa) => {
                let bytes = |to: &usize| (from..*to).filter_map(|at| self.byte(at)).collect();
                self.by_bytes(from)
                    .filter(|to| dfa.accepts(&Vec::from_iter::<Vec<u8>>(bytes(to))))
                    .collect()
            }
            Node::And(operands) => self
                .by_bytes(from)
                .filter(|to| operands.iter().all(|&operand| child(operand).contains(to)))
                .collect(),
            Node::Not(_) | Node::LookAhead(_) if !self.open.contains(&key) => Places::new(),
            Node::Not(operand) => {
                self.by_bytes(from).filter(|to| !child(*operand).contains(to)).collect()
            }
            Node::LookAhead(LookAhead { expr, polarity }) => {
                let follows = !child(*expr).is_empty();
                let holds = follows == (*polarity == Polarity::Required);
                if holds { here } else { Places::new() }
            }
            Node::Tokens(_) => self.token(key, from),
            Node::Permute(permute) => self.permute(rule, permute, from),
            Node::TokenLimit { expr, max } => {
                let contributing = |to: usize| {
                    let tokens = self.letters[from..to].iter().map(|letter| letter.token);
                    tokens.collect::<FxHashSet<_>>().len()
                };
                let within = |to: &&usize| contributing(**to) <= *max as usize;
                child(*expr).iter().filter(within).copied().collect()
            }
            Node::Annotated { expr, .. } => child(*expr).clone(),
            _ => Places::new(),
        }
    }

    fn token(&self, key: NodeKey, from: usize) -> Places {
        match self.letters.get(from).map(|letter| letter.symbol) {
            Some(Symbol::Token(token)) if self.grammar.sets[&key].contains(&token) => {
                Places::from([from + 1])
            }
            _ => Places::new(),
        }
    }

    fn repeat(&self, rule: usize, repeat: Repeat, from: Places) -> Places {
        let mut ends = Places::new();
        let mut now = from;
        let mut times = 0;
        loop {
            if times >= repeat.min {
                let before = ends.len();
                ends.extend(&now);
                // Once a round adds nothing, the rounds after it begin where others began.
                if ends.len() == before {
                    return ends;
                }
            }
            if repeat.max == Some(times) || now.is_empty() {
                return ends;
            }
            now = self.after(rule, repeat.expr, &now);
            times += 1;
        }
    }

    fn permute(&self, rule: usize, permute: &Permute, from: usize) -> Places {
        let mut ends = Places::new();
        let start =
            Items { at: from, seen: vec![false; permute.members.len()], ..Items::default() };
        let mut seen = FxHashSet::default();
        let mut pending = vec![start];
        while let Some(items) = pending.pop() {
            if !seen.insert(items.clone()) {
                continue;
            }
            let required = permute
                .members
                .iter()
                .zip(&items.seen)
                .all(|(member, seen)| *seen || !member.required);
            if required && items.count >= permute.min {
                ends.insert(items.at);
            }
            // Empty items could be written for ever; so many more than the least change nothing.
            let most = permute.min as usize + permute.members.len() + self.letters.len() + 1;
            let most = permute.max.map_or(most, |max| most.min(max as usize));
            if items.count as usize >= most {
                continue;
            }
            let begins = match items.count {
                0 => Places::from([items.at]),
                _ => self.at((rule, permute.separator.index()), items.at).clone(),
            };
            for begin in begins {
                self.items_from(rule, permute, &items, begin, &mut pending);
            }
        }
        ends
    }

    /// The lists of items with one more that begins here.
    fn items_from(
        &self,
        rule: usize,
        permute: &Permute,
        items: &Items,
        begin: usize,
        longer: &mut Vec<Items>,
    ) {
        for (number, member) in permute.members.iter().enumerate().filter(|m| !items.seen[m.0]) {
            for &at in self.at((rule, member.expr.index()), begin) {
                let mut next = Items { at, count: items.count + 1, ..items.clone() };
                next.seen[number] = true;
                longer.push(next);
            }
        }
        let Some(rest) = &permute.rest else { return };
        for &middle in self.at((rule, rest.key.index()), begin) {
            let key: Vec<u8> = (begin..middle).filter_map(|at| self.byte(at)).collect();
            let distinct = rest.uniqueness == Uniqueness::Distinct;
            if distinct && items.keys.contains(&key) {
                continue;
            }
            for &at in self.at((rule, rest.tail.index()), middle) {
                let mut next = Items { at, count: items.count + 1, ..items.clone() };
                if distinct {
                    next.keys.insert(key.clone());
                }
                longer.push(next);
            }
        }
    }
}

/// Whether a construct must wait for its operand to be final.
fn waits(node: &Node) -> bool {
    matches!(node, Node::Not(_) | Node::LookAhead(_))
}

/// A list of items of a permutation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Items {
    at: usize,
    seen: Vec<bool>,
    count: u32,
    keys: BTreeSet<Vec<u8>>,
}
