//! A loaded grammar is the one that was saved; whatever else a file says, it can be run or is an
//! error.

use formwork_archive::ArchiveError;
use formwork_automata::ByteSet;
use formwork_conformance::{
    Options,
    random::{Case, GrammarOptions, case},
    run,
};
use formwork_core::{
    Assessment, CompileError, CompileRequest, CompiledGrammar, DeltaForm, Filled, Grammar, Limits,
    Location, MaskDelta, RowId, StartOptions, StopPolicy, StructuredOutputBackend,
    StructuredOutputGrammar, TokenId, Vocabulary, Warning,
};
use formwork_dfa::{ArtifactError, ArtifactTable, Compiled, DfaBackend};
use formwork_grammar::{BodyBuilder, ExprId, SourcePosition, TokenRef, TokenSet};
use formwork_mask::Row;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::{collections::HashMap, sync::Arc};

/// Bytes before the payload.
const HEADER: usize = 60;

fn saved(compiled: &Compiled) -> Vec<u8> {
    let mut bytes = Vec::new();
    compiled.save(&mut bytes).unwrap();
    bytes
}

fn compile(
    vocabulary: &Arc<Vocabulary>,
    build: impl FnOnce(&mut BodyBuilder) -> ExprId,
) -> Compiled {
    let mut builder = BodyBuilder::new();
    let root = build(&mut builder);
    let grammar = Arc::new(Grammar::of_body(builder.finish(root)));
    Compiled::new(&CompileRequest::new(grammar, vocabulary.clone())).unwrap()
}

/// Tokens 0.. in order, then `<end>`, which ends the output.
fn vocabulary<T: AsRef<[u8]>>(tokens: impl IntoIterator<Item = T>) -> Arc<Vocabulary> {
    let tokens: Vec<T> = tokens.into_iter().collect();
    let end = TokenId::new(tokens.len() as u32);
    let builder = Vocabulary::builder(tokens.len() + 1).special(end, "<end>").eos(end);
    let tokens = (0..).map(TokenId::new).zip(&tokens);
    let builder = tokens.fold(builder, |builder, (id, token)| builder.token(id, token.as_ref()));
    Arc::new(builder.build().unwrap())
}

/// All letters, all pairs of letters, and two more: 705 ids, so that the last word has padding.
fn letters() -> Arc<Vocabulary> {
    let pairs = (b'a'..=b'z').flat_map(|a| (b'a'..=b'z').map(move |b| vec![a, b]));
    vocabulary(
        (b'a'..=b'z')
            .map(|letter| vec![letter])
            .chain(pairs)
            .chain([b";", b"!"].map(|mark| mark.to_vec())),
    )
}

/// Rows of all three forms.
fn of_every_form() -> Compiled {
    compile(&letters(), |b| {
        let letter = b.bytes(ByteSet::range(b'a'..=b'z'));
        let (any, two) = (b.repeat(letter, 0, None), b.repeat(letter, 2, Some(2)));
        let mark = b.literal(b";");
        b.seq(&[any, mark, any, mark, two])
    })
}

/// Tokens with two readings, hence sets of states.
fn of_two_readings() -> Compiled {
    compile(&vocabulary(["ab", "x", "y", "a", "b"]), |b| {
        let symbol = b.tokens(TokenSet::of([TokenRef::Ids(0, 0), TokenRef::Ids(2, 2)]));
        let many = b.repeat(symbol, 1, None);
        let (x, y) = (b.literal(b"x"), b.literal(b"aby"));
        let first = b.seq(&[many, x]);
        b.alt(&[first, y])
    })
}

/// What the vocabulary cannot spell, hence states that only bytes can complete.
fn of_unspellable() -> Compiled {
    compile(&vocabulary(["a", "b", "bc"]), |b| {
        let texts = [&b"ac"[..], b"bc", b"b", b"bcbd"].map(|text| b.literal(text));
        b.alt(&texts)
    })
}

fn samples() -> [Compiled; 3] {
    [of_every_form(), of_two_readings(), of_unspellable()]
}

/// Two matchers side by side, and which row of the one is which row of the other.
struct Pair {
    compiled: [Arc<dyn CompiledGrammar>; 2],
    matchers: [Box<dyn StructuredOutputGrammar>; 2],
    held: [RowId; 2],
    rows: [Vec<i32>; 2],
    known: HashMap<RowId, RowId>,
}

impl Pair {
    /// Starts both, if the options let them.
    fn start(compiled: [Arc<dyn CompiledGrammar>; 2], options: &StartOptions) -> Option<Self> {
        let [first, second] = compiled.clone().map(|compiled| compiled.start(options));
        assert_eq!(first.as_ref().err(), second.as_ref().err());
        let words = compiled[0].vocabulary().row_words();
        Some(Self {
            compiled,
            matchers: [first.ok()?, second.ok()?],
            held: [RowId::NONE; 2],
            rows: [vec![0x5555_5555; words], vec![0x5555_5555; words]],
            known: HashMap::new(),
        })
    }

    fn both<T: PartialEq + std::fmt::Debug>(
        &mut self,
        mut ask: impl FnMut(&mut dyn StructuredOutputGrammar) -> T,
    ) -> T {
        let [first, second] = &mut self.matchers;
        let (first, second) = (ask(&mut **first), ask(&mut **second));
        assert_eq!(first, second);
        first
    }

    /// Compares everything that can be asked; gives the allowed tokens.
    fn compare(&mut self) -> Vec<TokenId> {
        let [first, second] = &mut self.matchers;
        let filled = [
            first.fill_bitmask(&mut self.rows[0], self.held[0]).unwrap(),
            second.fill_bitmask(&mut self.rows[1], self.held[1]).unwrap(),
        ];
        assert_eq!(filled[0] == Filled::Unchanged, filled[1] == Filled::Unchanged);
        assert_eq!(self.rows[0], self.rows[1], "the masks are the same, bit for bit");
        self.held = [filled[0].row(self.held[0]), filled[1].row(self.held[1])];
        assert_eq!(*self.known.entry(self.held[0]).or_insert(self.held[1]), self.held[1]);
        self.compare_deltas();
        let model_len = self.compiled[0].vocabulary().model_len();
        let allowed: Vec<TokenId> = (0..)
            .take(model_len + 2)
            .map(TokenId::new)
            .filter(|&id| self.both(|matcher| matcher.check_token(id)))
            .collect();
        self.both(|matcher| (matcher.is_accepting(), matcher.is_terminated()));
        for limit in [1, 20] {
            self.both(|matcher| {
                let mut bytes = Vec::new();
                matcher.forced_bytes(limit, &mut bytes);
                bytes
            });
        }
        allowed
    }

    fn compare_deltas(&mut self) {
        let [first, second] = &mut self.matchers;
        let mut rows = self.rows.clone();
        let mut deltas = [MaskDelta::default(), MaskDelta::default()];
        let forms = [
            first.fill_delta(&mut rows[0], &mut deltas[0]).unwrap(),
            second.fill_delta(&mut rows[1], &mut deltas[1]).unwrap(),
        ];
        assert_eq!(rows[0], rows[1]);
        let is_delta = forms.map(|form| form == DeltaForm::Delta);
        assert_eq!(is_delta[0], is_delta[1]);
        if is_delta[0] {
            assert_eq!((&deltas[0].add, &deltas[0].remove), (&deltas[1].add, &deltas[1].remove));
            for (row, (compiled, delta)) in rows.iter_mut().zip(self.compiled.iter().zip(&deltas)) {
                assert!(compiled.base_row(delta.base, row));
            }
            assert_eq!(rows[0], rows[1]);
        }
    }
}

/// Follows the choices in both, refused tokens and roll-backs among them.
fn compare(compiled: [Arc<dyn CompiledGrammar>; 2], options: &StartOptions, choices: &[u16]) {
    assert_eq!(compiled[0].stats(), compiled[1].stats());
    assert_eq!(compiled[0].warnings(), compiled[1].warnings());
    let Some(mut pair) = Pair::start(compiled, options) else { return };
    for &choice in choices {
        let allowed = pair.compare();
        let model_len = pair.compiled[0].vocabulary().model_len();
        let any = TokenId::new(u32::from(choice) % (model_len as u32 + 2));
        pair.both(|matcher| matcher.accept_tokens(&[any]).map_err(|error| error.to_string()).err());
        pair.compare();
        let processed = pair.both(|matcher| matcher.num_processed_tokens());
        if choice % 5 == 0 && processed > 0 {
            pair.both(|matcher| matcher.rollback(1).is_ok());
        }
        if let Some(&token) = allowed.get(usize::from(choice) % allowed.len().max(1)) {
            pair.both(|matcher| matcher.validate_tokens(&[token, any]));
            pair.both(|matcher| matcher.accept_tokens(&[token]).is_ok());
        }
    }
    pair.compare();
}

fn reload(compiled: &Compiled) -> Arc<Compiled> {
    let bytes = saved(compiled);
    let loaded = DfaBackend::load(&bytes, compiled.vocabulary().clone()).unwrap();
    assert_eq!(saved(&loaded), bytes);
    loaded
}

/// Small limits, since a random grammar that needs more is not worth the wait.
fn compile_case(case: &Case) -> Option<Compiled> {
    let mut request = CompileRequest::new(Arc::new(case.grammar()), case.vocabulary());
    request.limits = small_limits();
    Compiled::new(&request).ok()
}

fn small_limits() -> Limits {
    let mut limits = Limits::default();
    (limits.automaton_states, limits.automaton_steps) = (2_000, 200_000);
    limits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn a_loaded_grammar_behaves_as_the_saved_one(case in case(&GrammarOptions::regular())) {
        let Some(compiled) = compile_case(&case) else { return Ok(()) };
        let loaded = reload(&compiled);
        let fixed_bytes = case.fixed_bytes.clone();
        let options = StartOptions { stop_ids: case.stop_policy(), fixed_bytes };
        compare([Arc::new(compiled), loaded], &options, &case.choices);
    }

    #[test]
    fn a_meddled_file_is_an_error_or_can_be_run(
        case in case(&GrammarOptions::regular()),
        meddled in prop::collection::vec((any::<prop::sample::Index>(), 0..6_u8), 1..4),
    ) {
        let Some(compiled) = compile_case(&case) else { return Ok(()) };
        let mut bytes = saved(&compiled);
        for (at, value) in meddled {
            let at = HEADER + at.index(bytes.len() - HEADER);
            bytes[at] = value.wrapping_sub(1);
        }
        if let Ok(loaded) = DfaBackend::load(&sealed(bytes), compiled.vocabulary().clone()) {
            run_about(&loaded);
        }
    }
}

/// The backend with a file in between.
#[derive(Debug)]
struct Reloading;

impl StructuredOutputBackend for Reloading {
    fn name(&self) -> &str {
        DfaBackend.name()
    }

    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        DfaBackend.assess(grammar, vocabulary, limits)
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        Ok(reload(&Compiled::new(request)?))
    }
}

#[test]
fn loaded_grammars_obey_every_law() {
    let report = run(&Reloading, &Options { cases: 100, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 200, "{report}");
}

#[test]
fn every_form_of_row_comes_back() {
    let compiled = of_every_form();
    for form in ["sparse rows", "delta rows", "dense rows"] {
        assert_ne!(compiled.stats().value(form), Some(0), "{form}");
    }
    assert_ne!(of_two_readings().stats().value("state sets"), Some(0));
    for compiled in samples() {
        let loaded = reload(&compiled);
        let choices: Vec<u16> = (0..200_u16).map(|step| step.wrapping_mul(40_503)).collect();
        let stop_ids = StopPolicy::Only(vec![]);
        let without = StartOptions { stop_ids, ..StartOptions::default() };
        let both: [Arc<dyn CompiledGrammar>; 2] = [Arc::new(compiled), loaded];
        compare(both.clone(), &StartOptions::default(), &choices);
        compare(both, &without, &choices);
    }
}

#[test]
fn rows_of_a_loaded_grammar_are_its_own() {
    let compiled = of_every_form();
    let [one, other] = [reload(&compiled), reload(&compiled)];
    let mut matchers = [one, other].map(|c| c.start(&StartOptions::default()).unwrap());
    let mut row = vec![0; letters().row_words()];
    let held = matchers[0].fill_bitmask(&mut row, RowId::NONE).unwrap().row(RowId::NONE);
    assert!(matches!(matchers[1].fill_bitmask(&mut row, held), Ok(Filled::Written(_))));
}

#[test]
fn warnings_come_back() {
    let text = SourcePosition { offset: 7, length: 2, line: 1, column: 8 };
    let places = [Location::Whole, Location::Text(text), Location::Pointer("/a/ä".to_owned())];
    let warning = |location| Warning { location, message: "has no effect".to_owned() };
    let warnings: Vec<Warning> = places.into_iter().map(warning).collect();
    let mut body = BodyBuilder::new();
    let root = body.literal(b"a");
    let grammar = Grammar::of_body(body.finish(root)).with_warnings(warnings.clone());
    let request = CompileRequest::new(Arc::new(grammar), vocabulary(["a"]));
    let loaded = reload(&Compiled::new(&request).unwrap());
    assert_eq!(loaded.warnings(), warnings);
}

#[test]
fn another_vocabulary_is_an_error_that_names_both() {
    let bytes = saved(&of_unspellable());
    let other = vocabulary(["a", "b", "bd"]);
    let given_print = other.fingerprint();
    let error = DfaBackend::load(&bytes, other).unwrap_err();
    let ArtifactError::OtherVocabulary { compiled_for, given } = error else { panic!("{error}") };
    assert_eq!(given, given_print);
    assert_eq!(compiled_for, of_unspellable().vocabulary().fingerprint());
}

#[test]
fn a_stream_is_taken_up_to_a_limit() {
    let compiled = of_unspellable();
    let bytes = saved(&compiled);
    let load = |limit| DfaBackend::load_from(&*bytes, limit, compiled.vocabulary().clone());
    assert_eq!(load(bytes.len() as u64).unwrap().stats(), compiled.stats());
    let error = load(bytes.len() as u64 - 1).unwrap_err();
    assert!(matches!(error, ArtifactError::Archive(ArchiveError::TooLong { .. })), "{error}");
}

#[test]
fn every_truncation_and_every_flipped_bit_is_an_error() {
    let compiled = of_two_readings();
    let mut bytes = saved(&compiled);
    let load = |bytes: &[u8]| DfaBackend::load(bytes, compiled.vocabulary().clone());
    for len in 0..bytes.len() {
        assert!(load(&bytes[..len]).is_err(), "{len}");
    }
    for at in 0..bytes.len() * 8 {
        bytes[at / 8] ^= 1 << (at % 8);
        assert!(load(&bytes).is_err(), "bit {at}");
        bytes[at / 8] ^= 1 << (at % 8);
    }
    assert!(load(&bytes).is_ok());
}

/// With lengths and a checksum that fit, as somebody would write it on purpose.
fn sealed(mut archive: Vec<u8>) -> Vec<u8> {
    let len = (archive.len() - HEADER) as u64;
    archive[20..28].copy_from_slice(&len.to_le_bytes());
    let digest = Sha256::new().chain_update(&archive[..28]).chain_update(&archive[HEADER..]);
    archive[28..HEADER].copy_from_slice(&digest.finalize());
    archive
}

/// Asks for everything along some ways. What the answers are does not matter, only that they come,
/// and that no row allows what cannot be emitted.
fn run_about(compiled: &Arc<Compiled>) {
    let vocabulary = compiled.vocabulary().clone();
    let model_len = vocabulary.model_len();
    let mut row = vec![0; vocabulary.row_words()];
    let mut delta = MaskDelta::default();
    let mut bytes = Vec::new();
    assert!(compiled.memory_bytes() > 0 && !compiled.stats().counters.is_empty());
    for first in 0..3_usize {
        let mut matcher = compiled.clone().start(&StartOptions::default()).unwrap();
        for step in 0..6 {
            matcher.fill_bitmask(&mut row, RowId::NONE).unwrap();
            if matcher.is_terminated() {
                break;
            }
            let allowed: Vec<TokenId> = Row::new(&row, model_len)
                .ones()
                .map(|id| TokenId::new(u32::try_from(id).unwrap()))
                .collect();
            assert!(allowed.iter().all(|&id| vocabulary.is_emittable(id)));
            if matcher.fill_delta(&mut row, &mut delta) == Ok(DeltaForm::Delta) {
                assert!(compiled.base_row(delta.base, &mut row));
            }
            bytes.clear();
            matcher.forced_bytes(30, &mut bytes);
            assert!(bytes.len() <= 30);
            for id in (0..).take(model_len.min(40)).map(TokenId::new) {
                matcher.check_token(id);
                matcher.validate_tokens(&[id, id]);
            }
            // Masks and steps need not agree any more, so some of these are refused.
            let any = TokenId::new((first + step) as u32 % 8);
            let next = allowed.get((first * 7 + step) % allowed.len().max(1)).copied();
            if matcher.accept_tokens(&[next.unwrap_or(any)]).is_err() {
                matcher.accept_tokens(&[any]).ok();
            }
        }
        matcher.rollback(matcher.num_processed_tokens()).unwrap();
        matcher.fill_bitmask(&mut row, RowId::NONE).unwrap();
    }
}

/// Every byte of the payload, changed in a few ways.
#[test]
fn whatever_one_byte_says_the_file_is_an_error_or_can_be_run() {
    for compiled in [of_two_readings(), of_unspellable()] {
        let bytes = saved(&compiled);
        let (mut run, mut refused) = (0, 0);
        for at in HEADER..bytes.len() {
            let was = bytes[at];
            for value in [0, 1, 2, 5, u8::MAX, was.wrapping_add(1), was.wrapping_sub(1), was ^ 0x80]
            {
                let mut meddled = bytes.clone();
                meddled[at] = value;
                match DfaBackend::load(&sealed(meddled), compiled.vocabulary().clone()) {
                    Ok(loaded) => {
                        run_about(&loaded);
                        run += usize::from(value != was);
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(run > 10 && refused > 1_000, "{run} ran, {refused} were refused");
    }
}

/// The sections of an artifact as lists of numbers, cut and joined by hand.
struct Sections(Vec<Vec<u8>>);

/// Sections in order: bytes of an element, and how many elements where the reader knows it.
const LAYOUT: [(usize, Option<usize>); 21] = [
    (32, Some(1)),
    (4, Some(1)),
    (8, Some(2)),
    (256, Some(1)),
    (4, None),
    (4, Some(1)),
    (1, None),
    (4, None),
    (4, None),
    (4, None),
    (4, None),
    (4, None),
    (1, None),
    (4, None),
    (4, None),
    (1, None),
    (4, None),
    (4, None),
    (4, None),
    (4, None),
    (4, None),
];

const ACCEPTING: usize = 6;
const MARKS: usize = 4;
const ATOM_TOKENS: usize = 11;
const LIVE: usize = 12;
const SETS: usize = 14;
const FORMS: usize = 15;
const ROW_IDS: usize = 17;
const BASES: usize = 18;
const WORDS: usize = 19;
const ROW_NUMBERS: usize = 20;

impl Sections {
    fn of(compiled: &Compiled) -> Self {
        let bytes = saved(compiled);
        let mut rest = &bytes[HEADER..];
        let sections = LAYOUT.map(|(size, known)| {
            let count = known.unwrap_or_else(|| {
                let (count, after) = rest.split_first_chunk().unwrap();
                rest = after;
                u64::from_le_bytes(*count) as usize
            });
            let (section, after) = rest.split_at(count * size);
            rest = after;
            section.to_vec()
        });
        assert!(rest.is_empty(), "the layout is what was written");
        Self(sections.into())
    }

    fn numbers(&mut self, section: usize, change: impl FnOnce(&mut Vec<u32>)) {
        let (numbers, _) = self.0[section].as_chunks();
        let mut numbers: Vec<u32> = numbers.iter().map(|&n| u32::from_le_bytes(n)).collect();
        change(&mut numbers);
        self.0[section] = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    }

    fn load(self, compiled: &Compiled) -> ArtifactError {
        let mut bytes = saved(compiled)[..HEADER].to_vec();
        for (section, (size, known)) in self.0.iter().zip(LAYOUT) {
            if known.is_none() {
                bytes.extend_from_slice(&((section.len() / size) as u64).to_le_bytes());
            }
            bytes.extend_from_slice(section);
        }
        DfaBackend::load(&sealed(bytes), compiled.vocabulary().clone()).unwrap_err()
    }
}

/// The table and entry of the error of an artifact in which one list of numbers was changed.
fn fault_of(
    compiled: &Compiled,
    section: usize,
    change: impl FnOnce(&mut Vec<u32>),
) -> (ArtifactTable, Option<usize>) {
    let mut sections = Sections::of(compiled);
    sections.numbers(section, change);
    match sections.load(compiled) {
        ArtifactError::Inconsistent { table, entry } => (table, Some(entry)),
        ArtifactError::Lengths { table } => (table, None),
        error => panic!("{error}"),
    }
}

#[test]
fn what_is_wrong_is_named() {
    use ArtifactTable as Table;
    let two = of_two_readings();
    let every = of_every_form();
    let fault = |section, change: fn(&mut Vec<u32>)| fault_of(&two, section, change);
    assert_eq!(fault(MARKS, |marks| marks[0] = 77), (Table::Marks, Some(0)));
    assert_eq!(fault(ATOM_TOKENS, |tokens| tokens[0] = 99), (Table::Atoms, Some(0)));
    assert_eq!(fault(SETS, |states| states[0] = 0), (Table::Sets, Some(0)));
    assert_eq!(fault(SETS, |states| states.swap(0, 1)), (Table::Sets, Some(0)));
    assert_eq!(fault(SETS, |states| states[1] = u32::MAX), (Table::Sets, Some(0)));
    assert_eq!(fault(ROW_NUMBERS, |rows| rows[1] = u32::MAX), (Table::RowNumbers, Some(1)));
    assert_eq!(fault(ROW_NUMBERS, |rows| rows[0] = 0), (Table::RowNumbers, Some(0)));
    assert_eq!(fault(ROW_NUMBERS, |rows| rows.push(0)), (Table::RowNumbers, None));
    let last = |section, change: fn(&mut Vec<u32>)| fault_of(&every, section, change);
    assert_eq!(last(BASES, |bases| bases[0] = 9).0, Table::Rows);
    assert_eq!(last(BASES, |bases| bases.push(0)), (Table::Rows, None));
    assert_eq!(last(ROW_IDS, |ids| ids[0] = 10_000).0, Table::Rows);
    assert_eq!(last(WORDS, |words| *words.last_mut().unwrap() = u32::MAX), (Table::Rows, Some(0)));
    assert_eq!(last(WORDS, |words| words.fill(0)), (Table::Rows, Some(0)), "few are sparse");
    let bytes = |compiled: &Compiled, section: usize, at: usize, value: u8| {
        let mut sections = Sections::of(compiled);
        sections.0[section][at] = value;
        match sections.load(compiled) {
            ArtifactError::Inconsistent { table, entry } => (table, entry),
            error => panic!("{error}"),
        }
    };
    assert_eq!(bytes(&two, ACCEPTING, 1, 2), (Table::Accepting, 1));
    assert_eq!(bytes(&every, FORMS, 1, 3), (Table::Rows, 1));
    let unspellable = of_unspellable();
    assert_eq!(bytes(&unspellable, LIVE, 0, 1), (Table::Live, 0));
    assert_eq!(bytes(&unspellable, LIVE, 1, 0), (Table::Live, 1));
}
