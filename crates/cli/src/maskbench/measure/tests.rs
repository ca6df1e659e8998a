//! What is recorded of small cases.

use super::*;
use crate::vocabularies::cl100k_base;
use serde_json::json;

fn bench(variant: Variant) -> Bench {
    let compiler = Compiler::new(cl100k_base());
    Bench { compiler, engine: "e".into(), variant, time_limit: Duration::from_secs(600) }
}

fn case(bench: &Bench, schema: &serde_json::Value, tests: &[(bool, &str)]) -> Case {
    let encoder = bench.compiler.vocabulary().encoder().unwrap();
    let test = |&(valid, text): &(bool, &str)| {
        let tokens = encoder.encode(text.as_bytes()).unwrap();
        json!({"valid": valid, "tokens": tokens.iter().map(|id| id.as_u32()).collect::<Vec<_>>()})
    };
    let tests: Vec<_> = tests.iter().map(test).collect();
    let case = json!({"id": "a", "split": "s", "schema": schema, "tests": tests});
    serde_json::from_value(case).unwrap()
}

fn run(variant: Variant, schema: &serde_json::Value, tests: &[(bool, &str)]) -> Outcome {
    let bench = bench(variant);
    bench.run(&case(&bench, schema, tests), &mut |_| {})
}

fn schema() -> serde_json::Value {
    json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["name", "count"],
        "additionalProperties": false
    })
}

const VALID: &str = r#"{"name": "Zoë", "count": 3}"#;
const WRONG: &str = r#"{"name": "x", "count": "x"}"#;
const CUT: &str = r#"{"name": "x", "count": 3"#;

#[test]
fn every_mask_has_its_entry_and_a_refusal_ends_its_test() {
    let mut compiled = Vec::new();
    let bench = bench(Variant::Compact);
    let case = case(&bench, &schema(), &[(true, VALID), (false, WRONG), (false, CUT)]);
    let outcome = bench.run(&case, &mut |compile_us| compiled.push(compile_us));
    assert_eq!(outcome.status, Status::Ok);
    assert_eq!(compiled, [outcome.compile_us], "told once, before the tests");
    let [valid, wrong, cut] = &outcome.tests[..] else { panic!("{:?}", outcome.tests) };
    let len = |test: usize| case.tests[test].tokens.len();
    assert!(valid.accepted_prefix && valid.eos_allowed == Some(true));
    assert_eq!((valid.tokens_done, valid.masks), (len(0), len(0)));
    assert!(!wrong.accepted_prefix && wrong.eos_allowed.is_none());
    assert_eq!(wrong.masks, wrong.tokens_done + 1, "the mask that refuses counts");
    assert!(wrong.masks < len(1));
    assert!(cut.accepted_prefix && cut.eos_allowed == Some(false));
    let masks = valid.masks + wrong.masks + cut.masks;
    assert_eq!(
        (outcome.tokens, outcome.mask_us.len(), outcome.commit_us.len()),
        (masks, masks, masks)
    );
    let refusing = valid.masks + wrong.masks - 1;
    let uncommitted: Vec<usize> =
        (0..masks).filter(|&index| outcome.commit_us[index] == 0.0).collect();
    assert!(uncommitted.contains(&refusing), "{uncommitted:?}");
    assert_eq!(outcome.reset_us.len(), 3);
    assert_eq!(outcome.first_mask_us, outcome.mask_us[0]);
}

#[test]
fn other_spellings_are_other_tokens_with_the_same_verdicts() {
    let of = |variant, schema: &serde_json::Value| {
        run(variant, schema, &[(true, VALID), (false, WRONG)])
    };
    let compact = of(Variant::Compact, &schema());
    let pretty = of(Variant::Pretty, &schema());
    assert!(pretty.tests[0].accepted() && !pretty.tests[1].accepted_prefix);
    assert!(pretty.tests[0].tokens_done > compact.tests[0].tokens_done);
    let ascii = of(Variant::Ascii, &schema());
    assert!(ascii.tests[0].tokens_done > compact.tests[0].tokens_done, "an escape is longer");
    assert!(ascii.tests[0].accepted());
}

#[test]
fn without_tests_there_is_a_first_mask_all_the_same() {
    let outcome = run(Variant::Compact, &schema(), &[]);
    assert_eq!((outcome.status, outcome.tokens), (Status::Ok, 0));
    assert!(outcome.mask_us.is_empty() && outcome.first_mask_us > 0.0);
}

#[test]
fn a_schema_that_is_refused_is_an_error_of_its_case() {
    let outcome = run(Variant::Compact, &json!({"type": 7}), &[(true, VALID)]);
    assert_eq!((outcome.status, outcome.phase), (Status::CompileError, None));
    assert!(outcome.error.is_some_and(|error| error.contains("type")) && outcome.tests.is_empty());
}

#[test]
fn a_case_without_time_ends_where_it_was() {
    let mut bench = bench(Variant::Compact);
    bench.time_limit = Duration::from_nanos(1);
    let outcome = bench.run(&case(&bench, &schema(), &[(true, VALID)]), &mut |_| {});
    assert_eq!((outcome.status, outcome.phase), (Status::Timeout, Some(Phase::Compile)));
    assert_eq!(outcome.compile_us, microseconds(bench.time_limit));
    assert!(outcome.tests.is_empty() && outcome.error.is_some());
}

#[test]
fn tokens_that_the_vocabulary_does_not_have_are_refused() {
    let bench = bench(Variant::Compact);
    let mut case = case(&bench, &schema(), &[(true, VALID)]);
    case.tests[0].tokens[3] = u32::MAX;
    let outcome = bench.run(&case, &mut |_| {});
    assert_eq!((outcome.status, outcome.tests[0].tokens_done), (Status::Ok, 3));
}

#[test]
fn a_spelling_that_no_tokens_have_is_an_error_of_its_test() {
    // `\` is missing, so nothing can be escaped.
    let bytes = (0..=255_u8).filter(|&byte| byte != b'\\');
    let bytes = bytes.map(|byte| (TokenId::new(u32::from(byte)), [byte]));
    let vocabulary =
        bytes.fold(Vocabulary::builder(256), |builder, (id, byte)| builder.token(id, &byte));
    let compiler = Compiler::new(Arc::new(vocabulary.build().unwrap()));
    let bench = Bench { compiler, ..bench(Variant::Ascii) };
    let tokens: Vec<u32> = VALID.bytes().map(u32::from).collect();
    let schema = json!({"type": "integer"});
    let tests = json!([{"valid": true, "tokens": tokens}, {"valid": true, "tokens": [0x37]}]);
    let case = json!({"id": "a", "schema": schema, "tests": tests});
    let outcome = bench.run(&serde_json::from_value(case).unwrap(), &mut |_| {});
    assert!(outcome.tests[0].error.is_some() && outcome.tests[0].masks == 0);
    assert!(outcome.tests[1].accepted(), "a vocabulary without an end asks the matcher");
}
