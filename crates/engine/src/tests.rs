//! The engine as a whole: who compiles, who waits, who moves, and that nobody harms anybody.

use crate::{
    testing::{
        END, THOUGHT, allowed, config, engine, ids, nested, pick, ready, row, schema, vocabulary,
    },
    *,
};
use formwork::{
    Assessment, CompileError, CompileRequest, CompiledGrammar, Constraint, Exhausted, Grammar,
    Limits, RollbackError, RowId, StartError, StartOptions, StopPolicy, StructuredOutputBackend,
    StructuredOutputGrammar, TokenId, Vocabulary,
};
use formwork_conformance::minimal::MinimalBackend;
use proptest::prelude::*;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// A backend of mishaps: what it does is the text of the constraint, a regular expression.
#[derive(Debug, Default)]
struct Mishaps {
    compiles: AtomicUsize,
    gate: Mutex<()>,
}

#[derive(Debug)]
struct PanickingGrammar(Arc<dyn CompiledGrammar>);

#[derive(Debug)]
struct PanickingMatcher(Box<dyn StructuredOutputGrammar>);

impl StructuredOutputBackend for Mishaps {
    fn name(&self) -> &str {
        "mishaps"
    }

    fn assess(&self, grammar: &Grammar, vocabulary: &Vocabulary, limits: &Limits) -> Assessment {
        MinimalBackend.assess(grammar, vocabulary, limits)
    }

    fn compile_blocking(
        &self,
        request: &CompileRequest,
    ) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
        self.compiles.fetch_add(1, Ordering::Relaxed);
        drop(self.gate.lock());
        let inner = MinimalBackend.compile_blocking(request)?;
        let mut matcher = inner.clone().start(&StartOptions::default()).unwrap();
        match () {
            () if matcher.check_token(ids("P")[0]) => panic!("while compiling"),
            () if matcher.check_token(ids("S")[0]) => loop {
                if let Some(reason) = request.cancellation.reason() {
                    return Err(reason.into());
                }
                std::thread::yield_now();
            },
            () if matcher.check_token(ids("M")[0]) => Ok(Arc::new(PanickingGrammar(inner))),
            () => Ok(inner),
        }
    }
}

impl CompiledGrammar for PanickingGrammar {
    fn start(
        self: Arc<Self>,
        options: &StartOptions,
    ) -> Result<Box<dyn StructuredOutputGrammar>, StartError> {
        Ok(Box::new(PanickingMatcher(self.0.clone().start(options)?)))
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.0.vocabulary()
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}

impl StructuredOutputGrammar for PanickingMatcher {
    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.0.vocabulary()
    }

    fn stop_ids(&self) -> &[TokenId] {
        self.0.stop_ids()
    }

    fn fill_bitmask(
        &mut self,
        row: &mut [i32],
        _held: RowId,
    ) -> Result<formwork::Filled, formwork::StepError> {
        row.fill(0x0f0f);
        panic!("while stepping")
    }

    fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<(), formwork::AcceptError> {
        self.0.accept_tokens(tokens)
    }

    fn rollback(&mut self, tokens: usize) -> Result<(), RollbackError> {
        self.0.rollback(tokens)
    }

    fn fork(&self) -> Box<dyn StructuredOutputGrammar> {
        self.0.fork()
    }

    fn is_accepting(&self) -> bool {
        self.0.is_accepting()
    }

    fn is_terminated(&self) -> bool {
        self.0.is_terminated()
    }

    fn processed_tokens(&self) -> Vec<TokenId> {
        self.0.processed_tokens()
    }
}

fn mishaps(text: &str) -> (Engine, Arc<Mishaps>) {
    let backend = Arc::new(Mishaps::default());
    let backends = Backends::new().with(backend.clone(), None);
    let config = config(&format!("backend = \"mishaps\"\n{text}"));
    (Engine::with_backends(config, vocabulary(), backends).unwrap(), backend)
}

fn regex(text: &str) -> Constraint {
    Constraint::Regex(text.into())
}

#[test]
fn a_backend_of_others_is_chosen_by_its_name() {
    let backends = Backends::new().with(Arc::new(MinimalBackend), None);
    let named = config("backend = \"minimal\"");
    let engine = Engine::with_backends(named.clone(), vocabulary(), backends).unwrap();
    let request = ready(&engine, regex("ab*"));
    assert_eq!(request.explain().unwrap().chosen.as_deref(), Some("minimal"));
    let mut spec = RequestSpec::new(regex("ab*"));
    spec.backend = Some(BackendChoice::Named("pda".into()));
    let mut request = engine.request(spec);
    request.wait().unwrap();
    assert_eq!(request.explain().unwrap().chosen.as_deref(), Some("pda"));
    assert!(Engine::new(named, vocabulary()).is_err(), "nobody has registered it");
    assert!(Engine::new(config("[options]\nwhitespace = 1"), vocabulary()).is_err());
}

#[test]
fn equal_constraints_are_compiled_once_and_different_ones_are_not_confused() {
    let (engine, backend) = mishaps("");
    let held = backend.gate.lock().unwrap();
    let mut requests: Vec<Request> =
        (0..50).map(|_| engine.request(RequestSpec::new(regex("a+")))).collect();
    assert!(requests.iter_mut().all(|it| matches!(it.poll(), Status::Waiting)));
    drop(held);
    requests.iter_mut().for_each(|request| request.wait().unwrap());
    assert_eq!(backend.compiles.load(Ordering::Relaxed), 1);
    let stats = engine.stats().cache;
    assert_eq!((stats.misses, stats.joins, stats.entries), (1, 49, 1));
    let mut other = ready(&engine, regex("b+"));
    assert!(!other.check_token(ids("a")[0]).unwrap());
    let mut spec = RequestSpec::new(regex("A"));
    spec.options.insert("case".into(), "insensitive".into());
    let mut insensitive = engine.request(spec);
    insensitive.wait().unwrap();
    assert!(insensitive.check_token(ids("a")[0]).unwrap());
    assert!(!ready(&engine, regex("A")).check_token(ids("a")[0]).unwrap());
}

#[test]
fn what_fails_fails_alone_and_is_kept() {
    let (engine, backend) = mishaps("");
    let mut bad = engine.request(RequestSpec::new(regex("(")));
    let error = bad.wait().unwrap_err();
    assert!(error.is_constraints(), "{error}");
    assert!(engine.request(RequestSpec::new(regex("("))).wait().is_err());
    assert_eq!(engine.stats().cache.hits, 1);
    for _ in 0..2 {
        let error = engine.request(RequestSpec::new(regex("P"))).wait().unwrap_err();
        assert!(matches!(error, EngineError::Panicked { .. }), "{error}");
    }
    assert_eq!(backend.compiles.load(Ordering::Relaxed), 2, "a panic is not kept");
    assert!(ready(&engine, regex("a")).check_token(ids("a")[0]).unwrap());
    assert_eq!(engine.stats().failed_requests, 4);
}

#[test]
fn a_compile_ends_at_its_deadline_and_when_nobody_waits() {
    let (engine, _) = mishaps("[pool]\ndeadline_ms = 30\nthreads = 1");
    assert!(engine.request(RequestSpec::new(regex("S"))).wait().unwrap_err().is_deadline());
    let (engine, _) = mishaps("[pool]\nthreads = 1");
    for number in 0..1_000 {
        drop(engine.request(RequestSpec::new(regex(&format!("S{number}")))));
    }
    // With one thread, this comes after whatever is still under way.
    assert!(ready(&engine, regex("a")).check_token(ids("a")[0]).unwrap());
    assert_eq!(engine.stats().cache.entries, 1, "what was given up is not kept");
}

#[test]
fn every_way_to_wait_sees_the_same() {
    let engine = engine("");
    let mut awaited = engine.request(RequestSpec::new(nested()));
    pollster::block_on(awaited.ready()).unwrap();
    assert!(matches!(awaited.poll(), Status::Ready));
    let called = engine.request(RequestSpec::new(regex("[a-z]{40}")));
    let (sender, receiver) = std::sync::mpsc::channel();
    called.on_ready(move || sender.send(()).unwrap());
    receiver.recv().unwrap();
    let engine = self::engine("[pool]\nmode = \"synchronous\"");
    let mut at_once = engine.request(RequestSpec::new(nested()));
    assert!(matches!(at_once.poll(), Status::Ready));
}

#[test]
fn validation_says_what_compiling_would() {
    let engine = engine("");
    let verdict = |constraint| engine.validate(constraint, OptionValues::new()).wait();
    for bad in
        [regex("("), schema(r#"{"type":"strin"}"#), schema(r#"{"type":"integer","enum":["a"]}"#)]
    {
        let compiled = engine.request(RequestSpec::new(bad.clone())).wait().unwrap_err();
        assert_eq!(verdict(bad).unwrap_err().to_string(), compiled.to_string());
    }
    assert!(verdict(nested()).is_ok());
    let named = Constraint::Grammar("start: <nobody_knows>".into());
    assert!(verdict(named.clone()).is_ok(), "some vocabulary may have it");
    assert!(engine.request(RequestSpec::new(named)).wait().is_err());
    let options = OptionValues::from([("dott".to_owned(), "any".into())]);
    let error = engine.validate(regex("."), options).wait().unwrap_err();
    assert!(matches!(error, EngineError::Option(_)));
}

#[test]
fn a_batch_is_rows_in_order_and_trouble_stays_in_its_row() {
    for text in ["", "[step]\nparallel_rows = 1\nthreads = 2"] {
        let (engine, _) = mishaps(text);
        let width = engine.vocabulary().row_words();
        let mut kinds: Vec<Option<Request>> = (0..40)
            .map(|number| match number % 4 {
                0 => None,
                1 => Some(ready(&engine, regex("M"))),
                _ => Some(ready(&engine, regex(&format!("{number}x")))),
            })
            .collect();
        kinds.push(Some(engine.request(RequestSpec::unconstrained())));
        let mut step = Step::new(0);
        let mut words = vec![0x1234; kinds.len() * width];
        for _ in 0..2 {
            let mut slots: Vec<Slot<'_>> =
                kinds.iter_mut().map(|it| Slot { request: it.as_mut(), draft: &[] }).collect();
            engine.fill_batch(&mut slots, &mut words, &mut step);
            for (number, words) in words.chunks(width).enumerate() {
                let (needs, error) = (step.needs_apply()[number], &step.outcomes()[number].error);
                match number % 4 {
                    0 => assert!(!needs && words.iter().all(|&word| word == -1)),
                    1 => {
                        assert_eq!(allowed(words), [END.as_u32()]);
                        assert!(needs && matches!(error, Some(RequestError::Panicked)));
                    }
                    _ => {
                        let first = number.to_string().as_bytes()[0];
                        assert!(allowed(words).contains(&first.into()) && error.is_none());
                        assert!(allowed(words).len() <= 2, "the digit, and `12`");
                    }
                }
            }
        }
        let held = words.clone();
        words[5 * width..6 * width].fill(0);
        step.forget();
        let mut slots: Vec<Slot<'_>> =
            kinds.iter_mut().map(|it| Slot { request: it.as_mut(), draft: &[] }).collect();
        engine.fill_batch(&mut slots, &mut words, &mut step);
        assert_eq!(words, held, "forgotten rows are written again");
    }
}

#[test]
fn who_waits_has_a_row_that_goes_nowhere() {
    let (engine, backend) = mishaps("");
    let held = backend.gate.lock().unwrap();
    let mut request = engine.request(RequestSpec::new(regex("a+")));
    let mut words = vec![-1; engine.vocabulary().row_words()];
    assert!(matches!(request.fill(&mut words, RowId::NONE), Err(RequestError::Waiting)));
    assert_eq!(allowed(&words), [END.as_u32()]);
    assert!(matches!(request.accept_tokens(&ids("a")), Err(RequestError::Waiting)));
    drop(held);
    request.wait().unwrap();
    request.accept_tokens(&ids("aa")).unwrap();
}

/// Walks two engines side by side with masks that must be equal at every step.
fn side_by_side(one: &mut Request, other: &mut Request, numbers: &[u16]) {
    for &number in numbers {
        one.step();
        other.step();
        let (mask, same) = (row(one), row(other));
        assert_eq!(mask, same);
        if one.is_terminated() {
            break;
        }
        let token = pick(&mask, number);
        one.accept_tokens(&[token]).unwrap();
        other.accept_tokens(&[token]).unwrap();
        if number % 5 == 0 {
            let back = usize::from(number % 3).min(one.num_tokens());
            one.rollback(back).unwrap();
            other.rollback(back).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn moving_to_a_second_compile_changes_no_mask(
        numbers in prop::collection::vec(any::<u16>(), 1..60),
        constraint in prop::sample::select(vec![nested(), regex("(ab|aaa|[0-9]{2,5},)*x?")]),
    ) {
        let tiered = engine("[tiers]\nuses = 1000\ntokens = 6\n[demand]\nuses = 100000");
        let plain = engine("backend = \"earley\"");
        let mut one = ready(&tiered, constraint.clone());
        let mut other = ready(&plain, constraint.clone());
        let half = numbers.len() / 2;
        side_by_side(&mut one, &mut other, &numbers[..half]);
        // The second compile, if there is one by now, is awaited, so that the move is in the middle.
        tiered.shared.finish_promotions();
        side_by_side(&mut one, &mut other, &numbers[half..]);
        if tiered.stats().promotions > 0 {
            tiered.shared.finish_promotions();
            let request = ready(&tiered, constraint);
            prop_assert_ne!(request.explain().unwrap().chosen.as_deref(), Some("earley"));
        }
    }
}

#[test]
fn hot_constraints_move_up_and_running_requests_with_them() {
    let engine = engine("[tiers]\nuses = 1000\ntokens = 5\n[demand]\nuses = 100000");
    let chosen = |request: &Request| request.explain().unwrap().chosen.clone().unwrap();
    let mut request = ready(&engine, nested());
    assert_eq!(&*chosen(&request), "earley");
    request.accept_tokens(&ids("{ \"a\":")).unwrap();
    assert_eq!(engine.stats().promotions, 1);
    engine.shared.finish_promotions();
    assert_eq!(&*chosen(&request), "earley", "not in the middle of a step");
    let before = row(&mut request);
    request.step();
    assert!(chosen(&request).starts_with("pda"));
    assert_eq!((row(&mut request), engine.stats().moved_requests), (before, 1));
    request.rollback(6).unwrap();
    assert_eq!(row(&mut request), row(&mut ready(&engine, nested())));
    assert!(chosen(&ready(&engine, nested())).starts_with("pda"));
}

#[test]
fn tiers_can_be_off_and_deterministic() {
    let off =
        engine("[tiers]\nmode = \"off\"\nuses = 1\ntokens = 1\n[demand]\nuses = 1\ntokens = 1");
    let mut request = ready(&off, nested());
    request.accept_tokens(&ids("{")).unwrap();
    assert_eq!(off.stats().promotions, 0);

    let ranks = ["", ""].map(|_| engine("[tiers]\nmode = \"deterministic\"\nuses = 3"));
    for rank in ranks {
        let mut requests: Vec<Request> =
            (0..5).map(|_| rank.request(RequestSpec::new(nested()))).collect();
        for request in &mut requests {
            request.accept_tokens(&ids("{ \"a\":")).unwrap();
            request.step();
        }
        let on = |request: &Request| request.explain().unwrap().chosen.clone().unwrap();
        let start: Vec<bool> = requests.iter().map(|it| &*on(it) == "earley").collect();
        assert_eq!(start, [true, true, false, false, false]);
    }
}

#[test]
fn nothing_is_constrained_before_the_thinking_ends() {
    let (engine, backend) = mishaps("");
    let held = backend.gate.lock().unwrap();
    let mut spec = RequestSpec::new(regex("a"));
    let marks = [EndMark::Text("</think>".into())];
    spec.reasoning = Some(ReasoningEnd::new(&marks).unwrap());
    let mut request = engine.request(spec.clone());
    assert!(row(&mut request).iter().all(|&word| word == -1), "though it waits");
    request.accept_tokens(&ids("zz</thi")).unwrap();
    assert!(request.is_thinking());
    drop(held);
    request.wait().unwrap();
    let error = request.accept_tokens(&ids("nk>x")).unwrap_err();
    assert!(matches!(&error, RequestError::Accept(error) if error.index == 3), "{error}");
    assert!(request.is_thinking(), "all or none");
    request.accept_tokens(&ids("nk>a")).unwrap();
    assert!(request.is_accepting());
    request.rollback(1).unwrap();
    assert_eq!(allowed(&row(&mut request)), [u32::from(b'a')]);
    request.rollback(2).unwrap();
    assert!(request.is_thinking() && !request.is_accepting());
    request.accept_tokens(&[THOUGHT]).unwrap();
    assert_eq!(allowed(&row(&mut request)), [u32::from(b'a')], "a special token is its name");

    spec.thought = vec![THOUGHT];
    let mut request = engine.request(spec);
    request.wait().unwrap();
    assert!(!request.is_thinking() && request.num_tokens() == 0, "the prompt has ended it");
}

#[test]
fn what_the_prompt_holds_is_fixed_and_what_its_tokens_lost_is_healed() {
    let engine = engine("backend = \"earley\"");
    let begin = |fixed: &str, healed_bytes| {
        let mut spec = RequestSpec::new(regex("abc|abca+|abd"));
        spec.start.fixed_bytes = fixed.into();
        spec.healed_bytes = healed_bytes;
        let mut request = engine.request(spec);
        request.wait().map(|()| request)
    };
    let texts = |request: &mut Request| -> Vec<String> {
        let text = |id| match engine.vocabulary().bytes(TokenId::new(id)) {
            Some(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            None => "end".to_owned(),
        };
        allowed(&row(request)).into_iter().map(text).collect()
    };
    let mut fixed = begin("ab", 0).unwrap();
    assert_eq!(texts(&mut fixed), ["c", "d"]);
    let mut healed = begin("ab", 1).unwrap();
    assert_eq!(texts(&mut healed), ["b", "bc"]);
    assert!(healed.check_token(ids("b")[0]).unwrap());
    assert!(!healed.check_token(ids("c")[0]).unwrap());
    assert_eq!(healed.validate_tokens(&ids("bcaab")).unwrap(), 4);
    let mut all = begin("abc", 3).unwrap();
    assert_eq!(texts(&mut all), ["a", "ab", "abc"]);
    all.accept_tokens(&ids("ab")).unwrap();
    assert_eq!(texts(&mut all), ["c"], "not `d`: the prompt says otherwise");
    let error = all.accept_tokens(&ids("d")).unwrap_err();
    assert!(matches!(error, RequestError::Accept(_)));
    all.accept_tokens(&ids("c")).unwrap();
    assert_eq!(texts(&mut all), ["a", "aa", "aaa", "end"]);
    all.rollback(2).unwrap();
    assert_eq!(texts(&mut all), ["b", "bc"]);
    assert!(matches!(begin("x", 0), Err(EngineError::Start(_))));
    assert!(matches!(begin("ax", 1), Err(EngineError::Start(_))), "what is healed counts too");
}

/// Encodes every byte by itself.
#[derive(Debug)]
struct Bytewise;

impl formwork::vocab::Encoder for Bytewise {
    fn encode(&self, text: &[u8]) -> Result<Vec<TokenId>, formwork::vocab::EncodeError> {
        Ok(text.iter().map(|&byte| TokenId::new(byte.into())).collect())
    }

    fn encode_prefix(&self, text: &[u8]) -> Result<Vec<TokenId>, formwork::vocab::EncodeError> {
        // As if the last one could still merge.
        self.encode(&text[..text.len().saturating_sub(1)])
    }
}

#[test]
fn forced_tokens_are_jumped_over() {
    let vocabulary = Arc::into_inner(vocabulary()).unwrap().with_encoder(Arc::new(Bytewise));
    let engine = Engine::new(config("backend = \"dfa\""), Arc::new(vocabulary)).unwrap();
    let mut request = ready(&engine, regex("name: [a-z]+"));
    assert_eq!(request.forced_tokens(100).unwrap(), ids("name:"));
    assert_eq!(request.num_tokens(), 0);
    assert_eq!(request.jump_forward(100).unwrap(), ids("name:"), "the last one is held back");
    assert_eq!((request.num_tokens(), engine.stats().jumped_tokens), (5, 5));
    request.accept_tokens(&ids(" x")).unwrap();
    assert_eq!(request.jump_forward(100).unwrap(), []);
}

#[test]
fn what_ends_is_free_again_and_stop_ids_are_the_requests_own() {
    let engine = engine("backend = \"dfa\"");
    let mut spec = RequestSpec::new(regex("a?"));
    spec.start.stop_ids = StopPolicy::VocabularyAnd(vec![THOUGHT]);
    let mut request = engine.request(spec);
    request.wait().unwrap();
    assert!(request.check_token(THOUGHT).unwrap());
    request.accept_tokens(&[THOUGHT]).unwrap();
    assert!(request.is_terminated());
    assert!(row(&mut request).iter().all(|&word| word == -1));
    assert_eq!(request.validate_tokens(&ids("a")).unwrap(), 0);
    request.rollback(1).unwrap();
    assert!(!request.is_terminated() && request.check_token(ids("a")[0]).unwrap());
    assert!(matches!(request.rollback(1), Err(RequestError::Rollback(_))));
}

#[test]
fn a_stream_of_distinct_schemas_stays_within_the_bytes() {
    let engine = engine("[cache]\nbytes = 300000\n[tiers]\nuses = 1");
    for number in 0..600 {
        let text =
            format!(r#"{{"type":"object","properties":{{"p{number}":{{"minimum":{number}}}}}}}"#);
        ready(&engine, schema(&text));
        let stats = engine.stats().cache;
        assert!(stats.bytes <= 300_000, "{stats:?}");
    }
    assert!(engine.stats().cache.evictions > 0);
    let stopped = EngineError::stopped(Exhausted::Cancelled);
    assert!(!stopped.is_lasting());
}
