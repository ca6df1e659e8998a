//! A grammar as islands that call each other, made as far as they are needed.
//!
//! # Islands
//! - The *body of a rule*, or of a counted repetition: [`States`], determinised as far as visited.
//! - A *fixed* island: an automaton that the grammar holds or that a boolean node stands for. It
//!   calls nothing, belongs to the vocabulary, and is shared by all grammars ([`FixedIsland`]).
//!
//! # Repetitions
//! Unbounded ones are cycles of positions, short ones are unrolled, all others are loops: a frame
//! that counts turns. Runs of single symbols (characters, white space) are loops over a fixed
//! island, whose masks are known in advance.

use crate::{
    boolean::language,
    closed::{Known, Part, parts},
    fixed::{FixedIsland, FixedIslands},
    place::{Callee, Place},
    pour::Pouring,
    states::States,
    symbols::Symbols,
    unordered::{Distinct, Registers, Unordered, words},
    walks::{Walks, row_of},
};
use formwork_automata::{ByteSet, CancellationToken, Dfa};
use formwork_core::{Limits, StepError, Vocabulary, tokens_of};
use formwork_grammar::{Body, ExprId, Grammar, Permute, Rest, RuleId, TokenSet, Uniqueness};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The islands and loops of a grammar.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) limits: Limits,
    pub(crate) fixed: Arc<FixedIslands>,
    islands: boxcar::Vec<Island>,
    loops: boxcar::Vec<Loop>,
    unordered: boxcar::Vec<Unordered>,
    pub(crate) registers: Registers,
    token_sets: boxcar::Vec<TokenIds>,
    numbers: Mutex<Numbers>,
}

/// What has been numbered so far.
#[derive(Debug, Default)]
struct Numbers {
    rules: FxHashMap<RuleId, u32>,
    fixed: FxHashMap<usize, u32>,
    token_sets: FxHashMap<TokenSet, u32>,
    loops: FxHashMap<Loop, u32>,
    parts: FxHashMap<(usize, ExprId), u32>,
    /// Which rules are regular.
    closed: Known,
}

/// The tokens of a set, ascending; and their row, where they are many.
#[derive(Debug)]
pub(crate) struct TokenIds {
    pub(crate) ids: Box<[u32]>,
    pub(crate) row: Option<Arc<[i32]>>,
}

/// More tokens than this are a row too.
const MAX_IDS: usize = 256;

/// An island.
#[derive(Debug)]
pub(crate) enum Island {
    Body(BodyIsland),
    Fixed(Arc<FixedIsland>),
    /// The key of items whose keys must differ.
    Key(Arc<FixedIsland>),
}

/// The body of a rule or of a loop.
#[derive(Debug)]
pub(crate) struct BodyIsland {
    source: Source,
    states: OnceLock<Result<Box<States>, StepError>>,
}

#[derive(Debug)]
enum Source {
    Rule(RuleId),
    Part(Arc<Body>, ExprId),
    /// Items: the parts of each.
    Items(Arc<Body>, Box<[Vec<ExprId>]>),
}

/// A counted repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Loop {
    /// What is repeated; or, where that is an island whose symbols are counted, what they are
    /// counted in.
    pub(crate) body: u32,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
}

impl Program {
    /// The program of a grammar; nothing is lowered yet. Island 0 is the root.
    pub(crate) fn new(grammar: Arc<Grammar>, vocabulary: Arc<Vocabulary>, limits: Limits) -> Self {
        let program = Self {
            fixed: FixedIslands::of(&vocabulary),
            grammar,
            vocabulary,
            limits,
            islands: boxcar::Vec::new(),
            loops: boxcar::Vec::new(),
            unordered: boxcar::Vec::new(),
            registers: Registers::new(),
            token_sets: boxcar::Vec::new(),
            numbers: Mutex::default(),
        };
        program.rule(program.grammar.root());
        program
    }

    pub(crate) fn island(&self, island: u32) -> &Island {
        &self.islands[island as usize]
    }

    pub(crate) fn repetition(&self, repetition: u32) -> Loop {
        self.loops[repetition as usize]
    }

    /// The walks over fixed islands.
    pub(crate) fn walks(&self) -> Walks<'_> {
        Walks { vocabulary: &self.vocabulary, islands: &self.fixed }
    }

    /// The symbols of an island, where they are counted.
    pub(crate) fn symbols(&self, island: u32) -> Option<&Symbols> {
        match self.island(island) {
            Island::Fixed(island) => island.symbols.as_ref(),
            Island::Body(_) | Island::Key(_) => None,
        }
    }

    /// Number of islands so far.
    pub(crate) fn island_count(&self) -> usize {
        self.islands.count()
    }

    /// States of bodies made so far.
    pub(crate) fn state_count(&self) -> usize {
        self.bodies().map(|states| states.len()).sum()
    }

    /// Heap bytes held, about; fixed islands are the vocabulary's.
    pub(crate) fn memory_bytes(&self) -> usize {
        let bodies = self.bodies().map(States::memory_bytes).sum::<usize>();
        bodies + self.islands.count() * 128 + self.registers.memory_bytes()
    }

    fn bodies(&self) -> impl Iterator<Item = &States> {
        self.islands.iter().filter_map(|(_, island)| match island {
            Island::Body(body) => body.states.get()?.as_deref().ok(),
            Island::Fixed(_) | Island::Key(_) => None,
        })
    }

    /// The states of a body, lowered now if it has not been.
    pub(crate) fn states<'p>(&'p self, body: &'p BodyIsland) -> Result<&'p States, StepError> {
        let states = body.states.get_or_init(|| self.lower(&body.source));
        states.as_deref().map_err(Clone::clone)
    }

    fn lower(&self, source: &Source) -> Result<Box<States>, StepError> {
        let positions = match source {
            Source::Rule(rule) => {
                let body = self.grammar.body(*rule).map_err(constraint)?;
                Pouring::new(self, &body).pour(body.root())?
            }
            Source::Part(body, root) => Pouring::new(self, body).pour(*root)?,
            Source::Items(body, items) => {
                // The first state is that of a register, made when it is met.
                let positions = Pouring::new(self, body).items(items)?;
                return Ok(Box::new(States::without_start(positions)));
            }
        };
        Ok(Box::new(States::new(positions)))
    }

    /// What is known about each node of a body.
    pub(crate) fn parts(&self, body: &Body) -> Vec<Part> {
        let mut known = std::mem::take(&mut self.numbers().closed);
        let parts = parts(&self.grammar, body, &mut known);
        self.numbers().closed = known;
        parts
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The island of a rule.
    pub(crate) fn rule(&self, rule: RuleId) -> u32 {
        *self.numbers().rules.entry(rule).or_insert_with(|| self.push_body(Source::Rule(rule)))
    }

    fn push_body(&self, source: Source) -> u32 {
        self.push(Island::Body(BodyIsland { source, states: OnceLock::new() }))
    }

    fn push(&self, island: Island) -> u32 {
        u32::try_from(self.islands.push(island)).expect("fewer islands than nodes")
    }

    /// The island of an automaton.
    pub(crate) fn automaton(&self, dfa: &Arc<Dfa>) -> u32 {
        self.fixed_island(self.fixed.island(dfa))
    }

    /// The number of a fixed island.
    pub(crate) fn fixed_island(&self, island: Arc<FixedIsland>) -> u32 {
        // The island lives as long as its entry in `islands`, so its address names it.
        let address = Arc::as_ptr(&island).addr();
        *self.numbers().fixed.entry(address).or_insert_with(|| self.push(Island::Fixed(island)))
    }

    /// The island of a set of bytes.
    pub(crate) fn bytes(&self, bytes: ByteSet) -> u32 {
        self.automaton(&self.fixed.single(bytes))
    }

    /// Whether an island is of single symbols.
    pub(crate) fn is_symbol(&self, island: u32) -> bool {
        matches!(self.island(island), Island::Fixed(island) if island.is_symbol)
    }

    /// A loop over an island.
    /// Equal loops are one, so that whatever may follow the blanks between two tokens waits for them
    /// together.
    pub(crate) fn loop_over(&self, body: u32, min: u32, max: Option<u32>) -> Callee {
        let shape = Loop { body, min, max };
        let number = *self.numbers().loops.entry(shape).or_insert_with(|| {
            u32::try_from(self.loops.push(shape)).expect("fewer loops than nodes")
        });
        Callee::Loop(number)
    }

    /// Items in any order.
    pub(crate) fn items(&self, body: &Arc<Body>, permute: &Permute) -> Result<Callee, StepError> {
        let mut items: Vec<Vec<ExprId>> =
            permute.members.iter().map(|member| vec![member.expr]).collect();
        let mut required = vec![0_u64; permute.members.len().div_ceil(64).max(1)];
        let members = permute.members.iter().enumerate();
        for (number, _) in members.filter(|(_, member)| member.required) {
            required[number / 64] |= 1 << (number % 64);
        }
        let mut distinct = None;
        let mut has_others = false;
        match permute.rest {
            Some(Rest { key, tail, uniqueness: Uniqueness::Distinct }) => {
                let cancellation = CancellationToken::new();
                let dfa = language(&self.grammar, body, &[key], &self.limits, &cancellation);
                let dfa = Arc::new(dfa.map_err(constraint)?);
                if !dfa.is_empty() {
                    let words = words(&dfa);
                    distinct = Some(Distinct {
                        all: words[dfa.start().index()],
                        words,
                        key: self.push(Island::Key(self.fixed.island(&dfa))),
                        tail: self.part(body, tail),
                    });
                }
            }
            Some(Rest { key, tail, uniqueness: Uniqueness::Any }) => {
                has_others = true;
                items.push(vec![key, tail]);
            }
            None => {}
        }
        let unordered = self.unordered.push(Unordered {
            items: self.push_body(Source::Items(body.clone(), items.into())),
            separator: self.part(body, permute.separator),
            distinct,
            members: u32::try_from(permute.members.len()).expect("fewer members than nodes"),
            required: required.into(),
            has_others,
            min: permute.min,
            max: permute.max,
        });
        Ok(Callee::Items(u32::try_from(unordered).expect("fewer permutations than nodes")))
    }

    pub(crate) fn unordered(&self, unordered: u32) -> &Unordered {
        &self.unordered[unordered as usize]
    }

    /// The place where the items begin that a register leaves.
    pub(crate) fn first_of_items(&self, register: u32) -> Result<Option<Place>, StepError> {
        let registers = &self.registers;
        let known = registers.get(register);
        let shape = self.unordered(known.unordered);
        let Island::Body(body) = self.island(shape.items) else { unreachable!("items are a body") };
        let states = self.states(body)?;
        let state = registers.start(register, || states.items(&shape.next(known)));
        Ok(state.map(|state| Place { island: shape.items, state }))
    }

    /// The number of a token set.
    pub(crate) fn token_set(&self, set: &TokenSet) -> Result<u32, StepError> {
        if let Some(&known) = self.numbers().token_sets.get(set) {
            return Ok(known);
        }
        let tokens = tokens_of(set, &self.vocabulary).map_err(constraint)?;
        if tokens.is_empty() {
            return Err(constraint("a token set holds no token that can be emitted"));
        }
        let ids: Box<[u32]> = tokens.iter().map(|token| token.as_u32()).collect();
        let model_len = self.vocabulary.model_len();
        let row = (ids.len() > MAX_IDS).then(|| row_of(model_len, ids.iter().copied()));
        let number = self.token_sets.push(TokenIds { ids, row });
        let number = u32::try_from(number).expect("fewer sets than nodes");
        self.numbers().token_sets.insert(set.clone(), number);
        Ok(number)
    }

    /// The tokens of a set.
    pub(crate) fn tokens(&self, set: u32) -> &TokenIds {
        &self.token_sets[set as usize]
    }

    /// Whether any token has been named so far.
    pub(crate) fn names_tokens(&self) -> bool {
        !self.token_sets.is_empty()
    }

    /// The island of a part of a body.
    pub(crate) fn part(&self, body: &Arc<Body>, root: ExprId) -> u32 {
        // The part holds the body, so the address names it.
        let key = (Arc::as_ptr(body).addr(), root);
        let push = || self.push_body(Source::Part(body.clone(), root));
        *self.numbers().parts.entry(key).or_insert_with(push)
    }
}

/// The error of a part of the constraint that is looked at late.
pub(crate) fn constraint(error: impl std::fmt::Display) -> StepError {
    StepError::Constraint { reason: error.to_string().into() }
}
