//! Real constraints over a real vocabulary: the backends on the schemas and patterns of `real/`, with
//! cl100k_base (100,277 ids).
//!
//! # Idea
//! Seeded walks, random in the beginning and then homing, so that every one of them ends. Compared
//! at every state, bit for bit, padding and stop ids included: the row of each backend with what
//! trying every token byte by byte gives ([`Plain`]). That shares the construction of the automaton
//! with `dfa`, and nothing else; so at some states the [`Oracle`] judges too, over the whole
//! vocabulary. Inside free text its mask takes half a second and more, so there it is asked less
//! often and once for each state of the automaton.
//!
//! Whether an output is complete is asked of others at every state: of the jsonschema crate for
//! schemas, of regex-automata for patterns.

use formwork_automata::{CancellationToken, Dfa, StateId};
use formwork_conformance::oracle::{Oracle, OracleLimits, Prefix};
use formwork_core::{
    CompileRequest, CompiledGrammar, Filled, Grammar, Limits, RowId, StartOptions,
    StructuredOutputBackend, StructuredOutputGrammar, TokenId, Vocabulary,
};
use formwork_dfa::DfaBackend;
use formwork_earley::EarleyBackend;
use formwork_grammar::regular::{self, BytesOnly};
use formwork_mask::RowMut;
use formwork_pda::PdaBackend;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use rustc_hash::FxHashSet;
use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

/// Walks over each constraint.
const WALKS: u64 = 8;
/// Tokens after which a walk goes the shortest way home.
const RANDOM_TOKENS: usize = 60;
/// Where more tokens than this are allowed, the output is in free text.
const FREE_TEXT: usize = 2_000;

static VOCABULARY: LazyLock<Arc<Vocabulary>> =
    LazyLock::new(|| formwork_tokenizers::cl100k_base().expect("it is embedded"));

/// A constraint, and what says independently whether an output is complete.
struct Constraint {
    name: String,
    grammar: Arc<Grammar>,
    judge: Judge,
}

enum Judge {
    Schema(Box<jsonschema::Validator>),
    Pattern(Box<regex_automata::meta::Regex>),
}

impl Judge {
    fn is_complete(&self, output: &[u8]) -> bool {
        match self {
            // White space around a value is JSON's, but no part of the language here.
            Self::Schema(_) if output.last().is_some_and(u8::is_ascii_whitespace) => false,
            Self::Schema(schema) => {
                serde_json::from_slice(output).is_ok_and(|v| schema.is_valid(&v))
            }
            Self::Pattern(pattern) => pattern.is_match(output),
        }
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("real").join(name)
}

fn schemas() -> Vec<Constraint> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(file("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let constraint = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let grammar = formwork_json_schema::compile(&text, &Default::default(), &Limits::default());
        let schema = jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap();
        Constraint {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            grammar: Arc::new(grammar.unwrap_or_else(|error| panic!("{path:?}: {error}"))),
            judge: Judge::Schema(Box::new(schema)),
        }
    };
    paths.into_iter().map(constraint).collect()
}

fn patterns() -> Vec<Constraint> {
    let text = fs::read_to_string(file("patterns.toml")).unwrap();
    let patterns: BTreeMap<String, String> = toml::from_str(&text).unwrap();
    let constraint = |(name, pattern): (String, String)| {
        let grammar = formwork_regex::compile(&pattern, &Default::default(), &Limits::default());
        let whole = format!(r"\A(?:{pattern})\z");
        Constraint {
            name,
            grammar: Arc::new(grammar.unwrap()),
            judge: Judge::Pattern(Box::new(regex_automata::meta::Regex::new(&whole).unwrap())),
        }
    };
    patterns.into_iter().map(constraint).collect()
}

/// The automaton of a grammar, and every token tried on it byte by byte.
struct Plain {
    dfa: Dfa,
    /// By state: the least number of bytes to a complete output.
    way_home: Vec<usize>,
}

impl Plain {
    fn new(grammar: &Grammar) -> Self {
        let dfa = regular::dfa(grammar, &BytesOnly, &Limits::default(), &CancellationToken::new())
            .unwrap();
        let mut before: Vec<Vec<StateId>> = vec![Vec::new(); dfa.len()];
        let mut way_home = vec![usize::MAX; dfa.len()];
        let mut found = VecDeque::new();
        for state in dfa.live_states() {
            dfa.byte_edges(state).for_each(|(_, next)| before[next.index()].push(state));
            if dfa.is_accepting(state) {
                way_home[state.index()] = 0;
                found.push_back(state);
            }
        }
        while let Some(state) = found.pop_front() {
            for &earlier in &before[state.index()] {
                if way_home[earlier.index()] == usize::MAX {
                    way_home[earlier.index()] = way_home[state.index()] + 1;
                    found.push_back(earlier);
                }
            }
        }
        Self { dfa, way_home }
    }

    fn after(&self, state: StateId, bytes: &[u8]) -> Option<StateId> {
        let step = |state: StateId, &byte: &u8| {
            let next = self.dfa.next(state, byte);
            (!next.is_dead()).then_some(next)
        };
        bytes.iter().try_fold(state, step)
    }

    /// The tokens that may come next, stop ids apart, each with the state it leads to.
    fn allowed(&self, state: StateId) -> Vec<(TokenId, StateId)> {
        let known = u32::try_from(VOCABULARY.tokenizer_len()).unwrap();
        let next = |id| Some((id, self.after(state, VOCABULARY.bytes(id)?)?));
        (0..known).map(TokenId::new).filter_map(next).collect()
    }

    fn row(&self, state: StateId, allowed: &[(TokenId, StateId)]) -> Vec<i32> {
        let mut words = vec![0; VOCABULARY.row_words()];
        let mut row = RowMut::new(&mut words, VOCABULARY.model_len());
        let stops = if self.dfa.is_accepting(state) { VOCABULARY.eos() } else { &[] };
        let allowed = allowed.iter().map(|(token, _)| token);
        allowed.chain(stops).for_each(|token| row.set(token.index()));
        words
    }
}

/// What was compared.
#[derive(Debug, Default)]
struct Counts {
    states: usize,
    free_text: usize,
    oracle_masks: usize,
    oracle_masks_in_free_text: usize,
    forks: usize,
    rollbacks: usize,
    outputs: usize,
}

/// A backend's matcher, and the row it writes into.
struct Contender {
    backend: String,
    matcher: Box<dyn StructuredOutputGrammar>,
    row: Vec<i32>,
    held: RowId,
}

/// One walk over a constraint.
struct Walk<'c> {
    constraint: &'c Constraint,
    plain: &'c Plain,
    oracle: &'c mut Oracle,
    counts: &'c mut Counts,
    random: StdRng,
    contenders: Vec<Contender>,
    tokens: Vec<TokenId>,
    output: Vec<u8>,
    /// The right row of each state so far.
    rows: Vec<Vec<i32>>,
    asked: &'c mut FxHashSet<StateId>,
}

impl Walk<'_> {
    fn run(mut self) {
        let mut state = self.plain.dfa.start();
        let mut prefix = self.oracle.start(b"").unwrap();
        loop {
            let allowed = self.plain.allowed(state);
            self.check(state, &allowed);
            self.ask_the_oracle(state, &prefix, &allowed);
            if self.random.random_ratio(1, 6) {
                self.fork(&allowed);
            }
            if self.random.random_ratio(1, 6) {
                self.roll_back();
            }
            let accepting = self.plain.dfa.is_accepting(state);
            let homing = self.tokens.len() >= RANDOM_TOKENS;
            if allowed.is_empty() || accepting && (homing || self.random.random_ratio(1, 3)) {
                return self.end();
            }
            let (token, next) = self.choose(&allowed);
            self.each(|matcher| matcher.accept_tokens(&[token]).unwrap());
            prefix = self.oracle.step(&prefix, token).unwrap().expect("this token may come next");
            self.tokens.push(token);
            self.output.extend_from_slice(VOCABULARY.bytes(token).unwrap());
            state = next;
        }
    }

    /// A token that brings the end nearest, or any; the former always when it gets late.
    fn choose(&mut self, allowed: &[(TokenId, StateId)]) -> (TokenId, StateId) {
        if self.tokens.len() < RANDOM_TOKENS && self.random.random_ratio(2, 3) {
            // Most tokens that may stand between two tokens of JSON are white space: draw again.
            let blank =
                |token| VOCABULARY.bytes(token).unwrap().iter().all(u8::is_ascii_whitespace);
            let drawn: Vec<_> = allowed.choose_multiple(&mut self.random, 4).copied().collect();
            let drawn = drawn.iter().find(|&&(token, _)| !blank(token)).unwrap_or(&drawn[0]);
            return *drawn;
        }
        let way = |next: StateId| self.plain.way_home[next.index()];
        let least = allowed.iter().map(|&(_, next)| way(next)).min().unwrap();
        let nearest: Vec<_> =
            allowed.iter().copied().filter(|&(_, next)| way(next) == least).collect();
        *nearest.choose(&mut self.random).unwrap()
    }

    /// The row, and whether the output is complete.
    fn check(&mut self, state: StateId, allowed: &[(TokenId, StateId)]) {
        let expected = self.plain.row(state, allowed);
        self.compare(&expected, "in passing");
        self.rows.push(expected);
        let complete = self.plain.dfa.is_accepting(state);
        for Contender { backend, matcher, .. } in &self.contenders {
            assert_eq!(complete, matcher.is_accepting(), "{backend}: {}", self.place());
        }
        assert_eq!(complete, self.constraint.judge.is_complete(&self.output), "{}", self.place());
        self.counts.states += 1;
        self.counts.free_text += usize::from(allowed.len() > FREE_TEXT);
    }

    fn compare(&mut self, expected: &[i32], during: &str) {
        let place = self.place();
        for Contender { backend, matcher, row, held } in &mut self.contenders {
            if let Filled::Written(id) = matcher.fill_bitmask(row, *held).unwrap() {
                *held = id;
            }
            assert!(row == expected, "{backend} {during}: {place}");
        }
    }

    fn each(&mut self, act: impl Fn(&mut dyn StructuredOutputGrammar)) {
        self.contenders.iter_mut().for_each(|contender| act(&mut *contender.matcher));
    }

    fn place(&self) -> String {
        let Constraint { name, .. } = self.constraint;
        format!("{name} after {} ({:?})", self.output.escape_ascii(), self.tokens)
    }

    /// Now and then: the oracle's mask over the whole vocabulary.
    fn ask_the_oracle(&mut self, state: StateId, prefix: &Prefix, allowed: &[(TokenId, StateId)]) {
        let free_text = allowed.len() > FREE_TEXT;
        let due = match free_text {
            true => self.random.random_ratio(1, 4) && self.asked.insert(state),
            false => self.random.random_ratio(1, 2),
        };
        if due {
            let found = self.oracle.allowed(prefix).unwrap();
            assert!(found.iter().eq(allowed.iter().map(|(token, _)| token)), "{}", self.place());
            self.counts.oracle_masks += 1;
            self.counts.oracle_masks_in_free_text += usize::from(free_text);
        }
    }

    /// A fork goes its own way, there and back.
    fn fork(&mut self, allowed: &[(TokenId, StateId)]) {
        let here = self.rows.last().unwrap().clone();
        let mut ahead = Vec::new();
        let mut choices = allowed.to_vec();
        while let Some(&(token, state)) = choices.choose(&mut self.random)
            && ahead.len() < 4
        {
            choices = self.plain.allowed(state);
            ahead.push((token, self.plain.row(state, &choices)));
        }
        let mut row = vec![-1; here.len()];
        for contender in &mut self.contenders {
            let mut fork = contender.matcher.fork();
            for (token, there) in &ahead {
                fork.accept_tokens(&[*token]).unwrap();
                fork.fill_bitmask(&mut row, RowId::NONE).unwrap();
                assert!(row == *there, "{} ahead: {}", contender.backend, self.constraint.name);
            }
            fork.rollback(ahead.len()).unwrap();
            fork.fill_bitmask(&mut row, RowId::NONE).unwrap();
            assert!(row == here, "a fork of {}: {}", contender.backend, self.constraint.name);
            contender.held = RowId::NONE;
        }
        self.compare(&here, "beside a fork");
        self.counts.forks += 1;
    }

    /// Back by some tokens, and forth again.
    fn roll_back(&mut self) {
        let left = self.random.random_range(0..=self.tokens.len());
        let tokens = self.tokens.clone();
        self.each(|matcher| matcher.rollback(tokens.len() - left).unwrap());
        let (there, here) = (self.rows[left].clone(), self.rows[self.tokens.len()].clone());
        self.compare(&there, "rolled back");
        self.each(|matcher| matcher.accept_tokens(&tokens[left..]).unwrap());
        self.compare(&here, "replayed");
        self.counts.rollbacks += 1;
    }

    /// The stop id, and out of the end again.
    fn end(&mut self) {
        let here = self.rows[self.tokens.len()].clone();
        self.each(|matcher| {
            matcher.accept_tokens(&VOCABULARY.eos()[..1]).unwrap();
            assert!(matcher.is_terminated());
        });
        self.compare(&vec![-1; here.len()], "at the end");
        self.each(|matcher| matcher.rollback(1).unwrap());
        self.compare(&here, "back from the end");
        self.counts.outputs += 1;
    }
}

fn contender((backend, compiled): &(String, Arc<dyn CompiledGrammar>)) -> Contender {
    Contender {
        backend: backend.clone(),
        matcher: compiled.clone().start(&StartOptions::default()).unwrap(),
        row: vec![0x5555; VOCABULARY.row_words()],
        held: RowId::NONE,
    }
}

/// All walks over some constraints.
fn walk(constraints: &[Constraint]) -> Counts {
    let mut counts = Counts::default();
    for constraint in constraints {
        let request = CompileRequest::new(constraint.grammar.clone(), VOCABULARY.clone());
        let pda = PdaBackend::default();
        let backends: [&dyn StructuredOutputBackend; 3] = [&DfaBackend, &EarleyBackend, &pda];
        let compiled = backends.map(|backend| {
            let compiled = backend.compile_blocking(&request);
            let compiled = compiled.unwrap_or_else(|error| panic!("{}: {error}", constraint.name));
            (backend.name().to_owned(), compiled)
        });
        let plain = Plain::new(&constraint.grammar);
        let limits = OracleLimits { steps: u64::MAX, ..OracleLimits::default() };
        let mut oracle = Oracle::new(&constraint.grammar, VOCABULARY.clone(), &limits).unwrap();
        let mut asked = FxHashSet::default();
        for seed in 0..WALKS {
            let walk = Walk {
                constraint,
                plain: &plain,
                oracle: &mut oracle,
                asked: &mut asked,
                counts: &mut counts,
                random: StdRng::seed_from_u64(seed),
                contenders: compiled.iter().map(contender).collect(),
                tokens: Vec::new(),
                output: Vec::new(),
                rows: Vec::new(),
            };
            walk.run();
        }
    }
    assert_eq!(counts.outputs as u64, WALKS * constraints.len() as u64);
    counts
}

#[test]
fn schemas_have_exact_masks() {
    let counts = walk(&schemas());
    assert!(counts.states > 2_000 && counts.free_text > 100, "{counts:?}");
    assert!(counts.oracle_masks > 1_000 && counts.oracle_masks_in_free_text > 10, "{counts:?}");
    assert!(counts.forks > 300 && counts.rollbacks > 300, "{counts:?}");
}

#[test]
fn patterns_have_exact_masks() {
    let counts = walk(&patterns());
    assert!(counts.states > 1_000 && counts.free_text > 200, "{counts:?}");
    assert!(counts.oracle_masks > 400 && counts.oracle_masks_in_free_text > 10, "{counts:?}");
    assert!(counts.forks > 150 && counts.rollbacks > 150, "{counts:?}");
}
