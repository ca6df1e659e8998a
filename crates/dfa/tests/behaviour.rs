//! What a caller sees, by hand: small vocabularies, small grammars, exact masks.

use formwork_core::{
    AcceptErrorKind, CancellationToken, CompileError, CompileRequest, CompiledGrammar, Exhausted,
    Filled, Limits, RowId, StartError, StartOptions, StopPolicy, StructuredOutputBackend,
    StructuredOutputGrammar, TokenId, Unsupported, Vocabulary,
};
use formwork_dfa::DfaBackend;
use formwork_grammar::{BodyBuilder, ExprId, Grammar, TokenRef, TokenSet};
use formwork_mask::Row;
use std::sync::Arc;

/// Tokens 0.. in order; `<name>` makes a special token, and `<end>` the end of sequence too.
fn vocabulary(tokens: &[&str]) -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder(tokens.len());
    for (id, token) in (0..).map(TokenId::new).zip(tokens) {
        builder = match token.starts_with('<') && token.len() > 1 {
            true => builder.special(id, token),
            false => builder.token(id, token.as_bytes()),
        };
        if *token == "<end>" {
            builder = builder.eos(id);
        }
    }
    Arc::new(builder.build().unwrap())
}

fn grammar(build: impl FnOnce(&mut BodyBuilder) -> ExprId) -> Arc<Grammar> {
    let mut builder = BodyBuilder::new();
    let root = build(&mut builder);
    Arc::new(Grammar::of_body(builder.finish(root)))
}

fn try_compile(
    vocabulary: &Arc<Vocabulary>,
    build: impl FnOnce(&mut BodyBuilder) -> ExprId,
) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
    DfaBackend.compile_blocking(&CompileRequest::new(grammar(build), vocabulary.clone()))
}

fn start(
    vocabulary: &Arc<Vocabulary>,
    build: impl FnOnce(&mut BodyBuilder) -> ExprId,
) -> Box<dyn StructuredOutputGrammar> {
    try_compile(vocabulary, build).unwrap().start(&StartOptions::default()).unwrap()
}

fn allowed(matcher: &mut dyn StructuredOutputGrammar) -> Vec<usize> {
    let mut row = vec![0x5555_5555; matcher.vocabulary().row_words()];
    matcher.fill_bitmask(&mut row, RowId::NONE).unwrap();
    Row::new(&row, matcher.vocabulary().model_len()).ones().collect()
}

fn ids(tokens: &[u32]) -> Vec<TokenId> {
    tokens.iter().copied().map(TokenId::new).collect()
}

fn choice(builder: &mut BodyBuilder, texts: &[&str]) -> ExprId {
    let texts: Vec<ExprId> = texts.iter().map(|text| builder.literal(text.as_bytes())).collect();
    builder.alt(&texts)
}

#[test]
fn stop_ids_end_what_is_complete() {
    let vocabulary = vocabulary(&["a", "b", "ab", "<end>", "<other>"]);
    let mut matcher = start(&vocabulary, |b| choice(b, &["a", "ab"]));
    assert_eq!(allowed(&mut *matcher), [0, 2]);
    matcher.accept_tokens(&ids(&[0])).unwrap();
    assert_eq!(allowed(&mut *matcher), [1, 3]);
    assert!(matcher.is_accepting() && !matcher.is_terminated());
    matcher.accept_tokens(&ids(&[1])).unwrap();
    assert_eq!(allowed(&mut *matcher), [3], "nothing may follow: the stop id alone");
    matcher.accept_tokens(&ids(&[3, 0, 4])).unwrap();
    assert!(matcher.is_terminated());
    assert_eq!(matcher.num_processed_tokens(), 3, "what comes after the end does not count");
    assert_eq!(matcher.validate_tokens(&ids(&[3])), 0);
    let mut row = vec![0; 1];
    assert_eq!(
        matcher.fill_bitmask(&mut row, RowId::NONE),
        Ok(Filled::Written(RowId::UNCONSTRAINED))
    );
    assert_eq!(row, [-1]);
    matcher.rollback(2).unwrap();
    assert_eq!(allowed(&mut *matcher), [1, 3]);
    assert_eq!(matcher.rollback(2).unwrap_err().processed, 1);
}

#[test]
fn accept_is_all_or_nothing_and_names_the_index() {
    let vocabulary = vocabulary(&["a", "b", "<end>"]);
    let mut matcher = start(&vocabulary, |b| choice(b, &["aab"]));
    let error = matcher.accept_tokens(&ids(&[0, 0, 0])).unwrap_err();
    assert_eq!((error.index, error.kind), (2, AcceptErrorKind::NotAllowed));
    assert_eq!(matcher.num_processed_tokens(), 0);
    let error = matcher.accept_tokens(&ids(&[0, 99])).unwrap_err();
    assert_eq!((error.index, error.kind), (1, AcceptErrorKind::Unknown));
    assert_eq!(matcher.validate_tokens(&ids(&[0, 0, 1, 2, 0])), 4, "a stop id counts");
    assert_eq!(allowed(&mut *matcher), [0]);
}

#[test]
fn without_stop_ids_a_matcher_ends_by_itself() {
    let vocabulary = vocabulary(&["a", "<end>"]);
    let options = StartOptions { stop_ids: StopPolicy::Only(vec![]), ..StartOptions::default() };
    let compiled = try_compile(&vocabulary, |b| choice(b, &["a"])).unwrap();
    let mut matcher = compiled.start(&options).unwrap();
    assert!(!matcher.is_terminated());
    matcher.accept_tokens(&ids(&[0])).unwrap();
    assert!(matcher.is_terminated());
}

#[test]
fn a_stop_id_that_the_grammar_takes_is_that_terminal() {
    // The end of sequence is a terminal inside: <end> "a" <end>.
    let vocabulary = vocabulary(&["a", "<end>"]);
    let mut matcher = start(&vocabulary, |b| {
        let end = b.tokens(TokenSet::of([TokenRef::Name("<end>".into())]));
        let a = b.literal(b"a");
        b.seq(&[end, a, end])
    });
    assert_eq!(allowed(&mut *matcher), [1]);
    matcher.accept_tokens(&ids(&[1, 0, 1])).unwrap();
    assert!(matcher.is_terminated(), "it is a stop id, and nothing may follow");
}

#[test]
fn a_token_with_two_readings_is_read_both_ways() {
    // <ab> "x" | "ab" "y", and the token "ab" is named by its id.
    let vocabulary = vocabulary(&["ab", "x", "y", "a", "b", "<end>"]);
    let mut matcher = start(&vocabulary, |b| {
        let symbol = b.tokens(TokenSet::of([TokenRef::Ids(0, 0)]));
        let (x, y) = (b.literal(b"x"), b.literal(b"aby"));
        let first = b.seq(&[symbol, x]);
        b.alt(&[first, y])
    });
    assert_eq!(allowed(&mut *matcher), [0, 3]);
    matcher.accept_tokens(&ids(&[0])).unwrap();
    assert_eq!(allowed(&mut *matcher), [1, 2]);
    matcher.rollback(1).unwrap();
    matcher.accept_tokens(&ids(&[3, 4])).unwrap();
    assert_eq!(allowed(&mut *matcher), [2], "spelt in two tokens it is not the symbol");
}

#[test]
fn what_the_vocabulary_cannot_spell_is_never_offered() {
    // "ac" needs a "c" that only "bc" has; "b" | "bc" can be spelt.
    let vocabulary = vocabulary(&["a", "b", "bc", "<end>"]);
    let mut matcher = start(&vocabulary, |b| choice(b, &["ac", "bc", "b"]));
    assert_eq!(allowed(&mut *matcher), [1, 2]);
    matcher.accept_tokens(&ids(&[1])).unwrap();
    assert_eq!(allowed(&mut *matcher), [3], "after the token b no c can come");
    let error = try_compile(&vocabulary, |b| choice(b, &["ac", "d"])).unwrap_err();
    assert!(matches!(error, CompileError::Unsatisfiable), "{error}");
    let error = try_compile(&vocabulary, BodyBuilder::never).unwrap_err();
    assert!(matches!(error, CompileError::Unsatisfiable), "{error}");
}

#[test]
fn fixed_bytes_come_before_the_first_token() {
    let vocabulary = vocabulary(&["a", "b", "bc", "c", "<end>"]);
    let compiled = try_compile(&vocabulary, |b| choice(b, &["abc", "acb"])).unwrap();
    let after = |bytes: &[u8]| {
        let options = StartOptions { fixed_bytes: bytes.into(), ..StartOptions::default() };
        compiled.clone().start(&options)
    };
    let mut matcher = after(b"a").unwrap();
    assert_eq!(allowed(&mut *matcher), [1, 2, 3]);
    assert_eq!(matcher.rollback(1).unwrap_err().processed, 0);
    assert_eq!(after(b"aa").unwrap_err(), StartError::FixedBytes { offset: 1 });
}

#[test]
fn forced_bytes_stop_where_there_is_a_choice() {
    let vocabulary = vocabulary(&["a", "b", "c", "ab", "<end>"]);
    let mut matcher = start(&vocabulary, |b| choice(b, &["abca", "abcb"]));
    let mut forced = Vec::new();
    matcher.forced_bytes(100, &mut forced);
    assert_eq!(forced, b"abc");
    forced.clear();
    matcher.forced_bytes(2, &mut forced);
    assert_eq!(forced, b"ab");
}

#[test]
fn unchanged_means_the_row_was_right() {
    let vocabulary = vocabulary(&["a", "b", "<end>"]);
    let mut matcher = start(&vocabulary, |b| {
        let a = b.literal(b"a");
        let many = b.repeat(a, 3, None);
        let end = b.literal(b"b");
        b.seq(&[many, end])
    });
    let mut row = vec![0; 1];
    let held = matcher.fill_bitmask(&mut row, RowId::NONE).unwrap().row(RowId::NONE);
    matcher.accept_tokens(&ids(&[0])).unwrap();
    row[0] = 77;
    assert_eq!(matcher.fill_bitmask(&mut row, held), Ok(Filled::Unchanged));
    assert_eq!(row, [77], "an unchanged row is not touched");
    matcher.accept_tokens(&ids(&[0, 0])).unwrap();
    assert!(matches!(matcher.fill_bitmask(&mut row, held), Ok(Filled::Written(_))));
    assert_eq!(row, [0b011]);
}

#[test]
fn recursion_that_embeds_is_refused_by_name() {
    let vocabulary = vocabulary(&["(", ")", "<end>"]);
    let mut rules = formwork_grammar::GrammarBuilder::new();
    let root = rules.declare("nest");
    let mut body = BodyBuilder::new();
    let (open, inner, close) = (body.literal(b"("), body.rule(root), body.literal(b")"));
    let nested = body.seq(&[open, inner, close]);
    let expr = body.optional(nested);
    rules.define(root, body.finish(expr)).unwrap();
    let grammar = Arc::new(rules.finish(root).unwrap());
    let error = DfaBackend.compile_blocking(&CompileRequest::new(grammar, vocabulary)).unwrap_err();
    let CompileError::Unsupported(Unsupported::NotRegular { rule, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(&*rule, "nest");
}

#[test]
fn a_compile_is_a_future_too_and_stops_when_cancelled() {
    let vocabulary = vocabulary(&["a", "<end>"]);
    let request = |cancellation| CompileRequest {
        cancellation,
        ..CompileRequest::new(grammar(|b| choice(b, &["a", "aaaa"])), vocabulary.clone())
    };
    let compiled = pollster::block_on(DfaBackend.compile(request(CancellationToken::new())));
    assert_eq!(compiled.unwrap().stats().value("states"), Some(5));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let error = pollster::block_on(DfaBackend.compile(request(cancelled))).unwrap_err();
    assert!(matches!(error, CompileError::Exhausted(Exhausted::Cancelled)), "{error}");
    let late = CancellationToken::with_deadline(std::time::Instant::now());
    let error = pollster::block_on(DfaBackend.compile(request(late))).unwrap_err();
    assert!(matches!(error, CompileError::Exhausted(Exhausted::DeadlinePassed)), "{error}");
}

#[test]
fn budgets_are_refusals_that_name_the_limit() {
    let vocabulary = vocabulary(&["a", "b", "<end>"]);
    let compile = |change: fn(&mut Limits)| {
        let build = |b: &mut BodyBuilder| {
            let (a, other) = (b.literal(b"a"), b.literal(b"b"));
            let letter = b.alt(&[a, other]);
            let tail = b.repeat(letter, 12, Some(12));
            let any = b.repeat(letter, 0, None);
            b.seq(&[any, a, tail])
        };
        let mut request = CompileRequest::new(grammar(build), vocabulary.clone());
        change(&mut request.limits);
        DfaBackend.compile_blocking(&request).map(|compiled| compiled.memory_bytes())
    };
    assert!(compile(|_| {}).is_ok());
    let states = compile(|limits| limits.automaton_states = 1_000).unwrap_err();
    assert!(
        matches!(
            states,
            CompileError::Unsupported(Unsupported::OverBudget(Exhausted::States { limit: 1_000 }))
        ),
        "{states}"
    );
    let bytes = compile(|limits| limits.compiled_bytes = 10_000).unwrap_err();
    assert!(
        matches!(
            bytes,
            CompileError::Unsupported(Unsupported::OverBytes { limit: 10_000, estimate })
                if estimate > 10_000
        ),
        "{bytes}"
    );
}
