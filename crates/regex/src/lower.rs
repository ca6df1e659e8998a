//! Tree to grammar: anchors are resolved.
//!
//! # Idea
//! `^` matches nothing, and only where nothing stands before; `$` likewise with what stands after.
//! So a construct has not one language but four, one for each *need*: the words it matches anywhere,
//! those it matches only at the very start of the output, only at the very end, only as the whole of
//! it. They are computed bottom up; at the top it is known what stands around the pattern, and the
//! four are put together.
//!
//! # Laws
//! With `L[n]` for the language under need `n`, a set of {start, end}, and e, f, … constructs:
//! ```text
//! ^        L[start] = {empty}
//! $        L[end] = {empty}
//! e|f      L[n] = L(e)[n] | L(f)[n]
//! ef       of L(e)[a] and L(f)[b] under need a|b:
//!            all of L(e)[a] L(f)[b]   if a has no end and b has no start,
//!            L(e)[a], if f may be empty under b      if a has an end and b no start,
//!            L(f)[b], if e may be empty under a      if b has a start and a no end,
//!            empty, if both may be                   otherwise
//! e{m,n}   see `repeat`
//! ```
//!
//! # Cost
//! A construct without anchors below it has one language only, and is built as it stands. Sequences
//! with anchors are put together in pairs, then pairs of pairs, since a sequence is copied whenever
//! it is extended. What is copied is paid in steps of fuel, and nodes are counted.

use crate::{
    MatchMode, RegexErrorKind as Kind, characters, language,
    look::Conditions,
    tree::{NodeId, Ranges, SetId, Tree, TreeNode},
};
use formwork_automata::{Dfa, Fuel};
use formwork_grammar::{BodyBuilder, ExprId, Limits, Node, Polarity};
use regex_syntax::utf8::Utf8Sequences;
use std::sync::Arc;

/// What a match needs around it: a set of [`START`] and [`END`].
type Need = usize;

const NOTHING: Need = 0;
const START: Need = 1;
const END: Need = 2;
const BOTH: Need = START | END;
const NEEDS: [Need; 4] = [NOTHING, START, END, BOTH];

fn has(need: Need, part: Need) -> bool {
    need & part != 0
}

/// The languages of one construct, by need.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    /// `None` for no word at all.
    languages: [Option<ExprId>; 4],
    /// Whether the empty word is among them.
    nullable: [bool; 4],
    /// Whether there is a look-ahead below.
    looks: bool,
}

impl Parts {
    /// A construct without anchors.
    fn plain(language: ExprId, nullable: bool) -> Self {
        let mut parts = Self::default();
        parts.languages[NOTHING] = Some(language);
        parts.nullable[NOTHING] = nullable;
        parts
    }

    fn is_plain(&self) -> bool {
        NEEDS[1..].iter().all(|&need| self.languages[need].is_none())
    }
}

/// Lowers one tree.
pub(crate) struct Lowering<'a> {
    body: &'a mut BodyBuilder,
    limits: &'a Limits,
    fuel: &'a mut Fuel,
    /// By number of the set, once it was needed.
    sets: Vec<Option<ExprId>>,
    /// What the look-aheads ask for.
    conditions: Conditions,
}

/// Byte sequences of two or more bytes up to which a set is written out as alternatives. JSON's
/// `[^"\\]` has eight, `.` has nine or ten; tables of Unicode, with hundreds, become automata.
const MAX_SEQUENCES: usize = 12;

impl<'a> Lowering<'a> {
    pub(crate) fn new(body: &'a mut BodyBuilder, limits: &'a Limits, fuel: &'a mut Fuel) -> Self {
        Self { body, limits, fuel, sets: Vec::new(), conditions: Conditions::default() }
    }

    /// The language of outputs that the pattern matches.
    pub(crate) fn pattern(mut self, tree: &Tree, mode: MatchMode) -> Result<ExprId, Kind> {
        self.sets = vec![None; tree.sets.len()];
        let parts = self.tree(tree)?;
        let around = match mode {
            MatchMode::Whole => self.body.empty(),
            MatchMode::Search => self.anything(),
        };
        let nothing = self.body.empty();
        let mut choices = Vec::new();
        for need in NEEDS {
            if let Some(language) = parts.languages[need] {
                let before = if has(need, START) { nothing } else { around };
                let after = if has(need, END) { nothing } else { around };
                choices.push(self.seq(&[before, language, after])?);
            }
        }
        let root = self.alt(&choices)?;
        if self.conditions.is_empty() {
            return Ok(root);
        }
        let language = self.resolved(root)?;
        Ok(self.body.automaton(Arc::new(language)))
    }

    /// Any text.
    fn anything(&mut self) -> ExprId {
        let any = self.body.characters(&[('\0', char::MAX)]);
        self.body.repeat(any, 0, None)
    }

    /// The language of an expression with the look-aheads in it taken at their word.
    fn resolved(&mut self, expr: ExprId) -> Result<Dfa, Kind> {
        let (body, conditions) = (&*self.body, &self.conditions);
        let marked = language::automaton(|expr| body.node(expr), expr, conditions, self.fuel)?;
        Ok(self.conditions.resolve(marked, self.fuel)?)
    }

    /// A look-ahead: it stands as such in the language, and is resolved when what follows is known.
    fn look(&mut self, inner: Parts, polarity: Polarity) -> Result<Parts, Kind> {
        if [START, BOTH].iter().any(|&need| inner.languages[need].is_some()) {
            return Err(Kind::LookAhead);
        }
        let mut choices: Vec<ExprId> = inner.languages[END].into_iter().collect();
        if let Some(begin) = inner.languages[NOTHING] {
            let rest = self.anything();
            choices.push(self.seq(&[begin, rest])?);
        }
        let begins = self.alt(&choices)?;
        let begins = self.resolved(begins)?;
        let expr = self.body.automaton(Arc::new(begins.clone()));
        let look_ahead = self.body.look_ahead(expr, polarity);
        match self.body.node(look_ahead) {
            Node::Never => return Ok(Parts::default()),
            Node::Empty => return Ok(Parts::plain(look_ahead, true)),
            _ => {}
        }
        self.conditions.add(look_ahead, begins, polarity);
        Ok(Parts { looks: true, ..Parts::plain(look_ahead, false) })
    }

    /// The languages of the root.
    fn tree(&mut self, tree: &Tree) -> Result<Parts, Kind> {
        let spliced = splice(tree);
        let mut done: Vec<Parts> = Vec::with_capacity(tree.nodes.len());
        for (index, node) in tree.nodes.iter().enumerate() {
            let parts = match node {
                // Its children are taken by the sequence or alternative around it.
                _ if spliced[index] => Parts::default(),
                TreeNode::Text(range) => {
                    self.fuel.steps(range.len())?;
                    Parts::plain(self.body.literal(tree.text[range.clone()].as_bytes()), false)
                }
                TreeNode::Set(set) => self.set(*set, &tree.sets[*set as usize])?,
                TreeNode::Start => self.anchor(START),
                TreeNode::End => self.anchor(END),
                TreeNode::Look(node, look) => self.look(done[*node as usize], *look)?,
                TreeNode::Seq(_) => self.concat(&leaves(tree, &spliced, index, &done))?,
                TreeNode::Alt(_) => self.choice(&leaves(tree, &spliced, index, &done))?,
                TreeNode::Repeat { node, min, max } => {
                    self.repeat(done[*node as usize], *min, *max)?
                }
            };
            self.check_nodes()?;
            done.push(parts);
        }
        Ok(*done.last().expect("a tree has a root"))
    }

    fn anchor(&mut self, need: Need) -> Parts {
        let mut parts = Parts::default();
        parts.languages[need] = Some(self.body.empty());
        parts.nullable[need] = true;
        parts
    }

    fn set(&mut self, id: SetId, ranges: &Ranges) -> Result<Parts, Kind> {
        if ranges.is_empty() {
            return Ok(Parts::default());
        }
        let known = self.sets[id as usize];
        let expr = match known {
            Some(expr) => expr,
            None => self.new_set(ranges)?,
        };
        self.sets[id as usize] = Some(expr);
        Ok(Parts::plain(expr, false))
    }

    fn new_set(&mut self, ranges: &Ranges) -> Result<ExprId, Kind> {
        self.fuel.steps(ranges.len())?;
        let sequences = ranges.iter().flat_map(|&(start, end)| Utf8Sequences::new(start, end));
        let long = sequences.filter(|sequence| sequence.as_slice().len() > 1);
        if long.take(MAX_SEQUENCES + 1).count() <= MAX_SEQUENCES {
            return Ok(self.body.characters(ranges));
        }
        let dfa = characters::automaton(ranges, self.fuel)?;
        Ok(self.body.automaton(Arc::new(dfa)))
    }

    fn choice(&mut self, alternatives: &[Parts]) -> Result<Parts, Kind> {
        let mut parts = Parts::default();
        for need in NEEDS {
            let choices: Vec<ExprId> =
                alternatives.iter().filter_map(|choice| choice.languages[need]).collect();
            if !choices.is_empty() {
                parts.languages[need] = Some(self.alt(&choices)?);
            }
            parts.nullable[need] = alternatives.iter().any(|choice| choice.nullable[need]);
        }
        parts.looks = alternatives.iter().any(|choice| choice.looks);
        Ok(parts)
    }

    fn concat(&mut self, sequence: &[Parts]) -> Result<Parts, Kind> {
        let mut level = Vec::new();
        for run in sequence.chunk_by(|left, right| left.is_plain() && right.is_plain()) {
            level.push(match run {
                [only] => *only,
                _ => self.concat_plain(run)?,
            });
        }
        while level.len() > 1 {
            for index in 0..level.len().div_ceil(2) {
                level[index] = match level[2 * index..] {
                    [left, right, ..] => self.pair(left, right)?,
                    _ => level[2 * index],
                };
            }
            level.truncate(level.len().div_ceil(2));
            self.check_nodes()?;
        }
        Ok(level.pop().unwrap_or_else(|| Parts::plain(self.body.empty(), true)))
    }

    fn concat_plain(&mut self, run: &[Parts]) -> Result<Parts, Kind> {
        let languages: Option<Vec<ExprId>> = run.iter().map(|p| p.languages[NOTHING]).collect();
        let Some(languages) = languages else { return Ok(Parts::default()) };
        let nullable = run.iter().all(|parts| parts.nullable[NOTHING]);
        let looks = run.iter().any(|parts| parts.looks);
        Ok(Parts { looks, ..Parts::plain(self.seq(&languages)?, nullable) })
    }

    /// One after the other, at least one with anchors.
    fn pair(&mut self, left: Parts, right: Parts) -> Result<Parts, Kind> {
        let mut choices: [Vec<ExprId>; 4] = Default::default();
        let mut nullable = [false; 4];
        for (a, first) in NEEDS.map(|need| (need, left.languages[need])) {
            for (b, second) in NEEDS.map(|need| (need, right.languages[need])) {
                let (Some(first), Some(second)) = (first, second) else { continue };
                // The other side would have to be empty, and a look-ahead is so without being gone.
                if has(a, END) && right.looks || has(b, START) && left.looks {
                    return Err(Kind::LookAhead);
                }
                let (left_empty, right_empty) = (left.nullable[a], right.nullable[b]);
                nullable[a | b] |= left_empty && right_empty;
                let word = match (has(a, END), has(b, START)) {
                    (false, false) => Some(self.seq(&[first, second])?),
                    (true, false) => right_empty.then_some(first),
                    (false, true) => left_empty.then_some(second),
                    (true, true) => (left_empty && right_empty).then(|| self.body.empty()),
                };
                choices[a | b].extend(word);
            }
        }
        let looks = left.looks || right.looks;
        let mut parts = Parts { languages: [None; 4], nullable, looks };
        for need in NEEDS {
            if !choices[need].is_empty() {
                parts.languages[need] = Some(self.alt(&choices[need])?);
            }
        }
        Ok(parts)
    }

    /// Between `min` and `max` times.
    ///
    /// Once a byte was matched no further round may need the start, and none before the last byte
    /// the end. So a match is: rounds that match nothing; a round that may need the start; rounds
    /// that need nothing; a round that may need the end; rounds that match nothing. Rounds that
    /// match nothing can be had in any number as soon as their need is met, so that then the least
    /// number of rounds no longer matters.
    fn repeat(&mut self, inner: Parts, min: u32, max: Option<u32>) -> Result<Parts, Kind> {
        if max == Some(0) {
            return Ok(Parts::plain(self.body.empty(), true));
        }
        let never = self.body.never();
        let plain = inner.languages[NOTHING];
        let around = plain.unwrap_or(never);
        let mut parts = Parts { looks: inner.looks, ..Parts::default() };
        // With no round, there is the empty word even where there is no other.
        if plain.is_some() || min == 0 {
            parts.languages[NOTHING] = Some(self.body.repeat(around, min, max));
        }
        parts.nullable[NOTHING] = min == 0 || inner.nullable[NOTHING];
        if inner.is_plain() {
            return Ok(parts);
        }
        if inner.looks {
            return Err(Kind::LookAhead);
        }
        let fills = |need: Need| {
            let mut met = NEEDS[..BOTH].iter().filter(|&&other| other & need == other);
            met.any(|&other| inner.nullable[other])
        };
        let least = |need: Need, taken: u32| {
            if fills(need) { 0 } else { min.saturating_sub(taken) }
        };
        let rest = |taken: u32| max.map(|max| max - taken);
        let several = max != Some(1);
        if let Some(first) = inner.languages[START] {
            let others = self.body.repeat(around, least(START, 1), rest(1));
            parts.languages[START] = self.some_seq(&[first, others])?;
        }
        if let Some(last) = inner.languages[END] {
            let others = self.body.repeat(around, least(END, 1), rest(1));
            parts.languages[END] = self.some_seq(&[others, last])?;
        }
        let mut both = Vec::new();
        if let Some(only) = inner.languages[BOTH] {
            match min <= 1 || fills(BOTH) {
                true => both.push(only),
                // More rounds are needed, and all of them can only match nothing.
                false if inner.nullable[BOTH] => both.push(self.body.empty()),
                false => {}
            }
        }
        if let (Some(first), Some(last), true) =
            (inner.languages[START], inner.languages[END], several)
        {
            let others = self.body.repeat(around, least(BOTH, 2), rest(2));
            both.extend(self.some_seq(&[first, others, last])?);
        }
        if !both.is_empty() {
            parts.languages[BOTH] = Some(self.alt(&both)?);
        }
        parts.nullable[START] = inner.nullable[START];
        parts.nullable[END] = inner.nullable[END];
        parts.nullable[BOTH] =
            inner.nullable[BOTH] || several && inner.nullable[START] && inner.nullable[END];
        Ok(parts)
    }

    /// One after the other; `None` for no word at all.
    fn some_seq(&mut self, sequence: &[ExprId]) -> Result<Option<ExprId>, Kind> {
        let expr = self.seq(sequence)?;
        Ok((*self.body.node(expr) != Node::Never).then_some(expr))
    }

    fn seq(&mut self, sequence: &[ExprId]) -> Result<ExprId, Kind> {
        self.pay_for(sequence)?;
        Ok(self.body.seq(sequence))
    }

    fn alt(&mut self, choices: &[ExprId]) -> Result<ExprId, Kind> {
        self.pay_for(choices)?;
        Ok(self.body.alt(choices))
    }

    /// Pays for what a constructor that flattens is going to copy.
    fn pay_for(&mut self, children: &[ExprId]) -> Result<(), Kind> {
        for &child in children {
            let copied = match self.body.node(child) {
                Node::Literal(bytes) => bytes.len(),
                Node::Seq(nested) | Node::Alt(nested) => {
                    let literals = nested.iter().map(|&part| match self.body.node(part) {
                        Node::Literal(bytes) => bytes.len(),
                        _ => 0,
                    });
                    nested.len() + literals.sum::<usize>()
                }
                _ => 1,
            };
            self.fuel.steps(copied)?;
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), Kind> {
        match self.body.len() > self.limits.nodes {
            true => Err(Kind::Nodes { limit: self.limits.nodes }),
            false => Ok(()),
        }
    }
}

/// Which sequences stand directly in a sequence, and which alternatives in alternatives: they are
/// never built by themselves, or nesting would copy the innermost once a level.
fn splice(tree: &Tree) -> Vec<bool> {
    let mut spliced = vec![false; tree.nodes.len()];
    for node in &tree.nodes {
        let (TreeNode::Seq(children) | TreeNode::Alt(children)) = node else { continue };
        for &child in children {
            let same = std::mem::discriminant(&tree.nodes[child as usize]);
            spliced[child as usize] = same == std::mem::discriminant(node);
        }
    }
    spliced
}

/// The children of a node, those of spliced children in their place.
fn leaves(tree: &Tree, spliced: &[bool], index: usize, done: &[Parts]) -> Vec<Parts> {
    let children = |index: usize| match &tree.nodes[index] {
        TreeNode::Seq(children) | TreeNode::Alt(children) => &children[..],
        _ => &[],
    };
    let mut found = Vec::new();
    let mut waiting: Vec<NodeId> = children(index).iter().rev().copied().collect();
    while let Some(node) = waiting.pop() {
        match spliced[node as usize] {
            true => waiting.extend(children(node as usize).iter().rev()),
            false => found.push(done[node as usize]),
        }
    }
    found
}
