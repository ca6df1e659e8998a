//! The earley backend on what is long, deep, wide or shared: work is counted, never timed.
//!
//! Nodes of tries are what a cold mask costs, configurations what an output leaves behind. The
//! bounds are what was found when they were written, and some room: a lost optimisation breaks them.

use formwork_core::{
    CompileRequest, CompiledGrammar, Grammar, Limits, RowId, StartOptions, StructuredOutputBackend,
    StructuredOutputGrammar, TokenId, Vocabulary,
};
use formwork_earley::EarleyBackend;
use formwork_grammar::{BodyBuilder, GrammarBuilder};
use std::{
    sync::{Arc, LazyLock},
    thread,
};

static VOCABULARY: LazyLock<Arc<Vocabulary>> =
    LazyLock::new(|| formwork_tokenizers::cl100k_base().expect("it is embedded"));

fn compile(grammar: Grammar, vocabulary: &Arc<Vocabulary>) -> Arc<dyn CompiledGrammar> {
    let request = CompileRequest::new(Arc::new(grammar), vocabulary.clone());
    EarleyBackend.compile_blocking(&request).expect("it is in order")
}

fn schema(text: &str) -> Grammar {
    formwork_json_schema::compile(text, &Default::default(), &Limits::default()).expect("a schema")
}

fn regex(pattern: &str) -> Grammar {
    formwork_regex::compile(pattern, &Default::default(), &Limits::default()).expect("a pattern")
}

fn counter(compiled: &Arc<dyn CompiledGrammar>, name: &str) -> u64 {
    let counters = compiled.stats().counters;
    counters.iter().find(|counter| counter.name == name).expect("a counter").value
}

/// Makes a grammar anew, so that nothing is left in it of an earlier one.
type Make = fn() -> Grammar;

/// A matcher after some bytes.
fn after(compiled: &Arc<dyn CompiledGrammar>, bytes: &[u8]) -> Box<dyn StructuredOutputGrammar> {
    let options = StartOptions { fixed_bytes: bytes.to_vec(), ..StartOptions::default() };
    compiled.clone().start(&options).expect("a prefix")
}

fn row(matcher: &mut dyn StructuredOutputGrammar) -> Vec<i32> {
    let mut row = vec![0; matcher.vocabulary().row_words()];
    matcher.fill_bitmask(&mut row, RowId::NONE).expect("within the limits");
    row
}

/// Nodes visited for the mask after a prefix, once the vocabulary knows its strings; and the states
/// that the grammar then has.
fn work(grammar: Make, prefix: &str) -> (u64, u64) {
    let visited = || {
        let compiled = compile(grammar(), &VOCABULARY);
        let mut matcher = after(&compiled, prefix.as_bytes());
        let before = counter(&compiled, "trie nodes visited");
        row(&mut *matcher);
        let nodes = counter(&compiled, "trie nodes visited") - before;
        (nodes, counter(&compiled, "states"))
    };
    visited();
    visited()
}

const PERSON: &str = r#"{"type": "object", "additionalProperties": false,
    "required": ["name", "age"], "properties": {
    "name": {"type": "string"}, "age": {"type": "integer"}, "tags": {"type": "array",
    "items": {"type": "string"}}, "note": {"type": "string", "maxLength": 20}}}"#;

#[test]
fn ten_states_cost_what_they_should() {
    let person = || schema(PERSON);
    let open = || schema(r#"{"type": "object", "properties": {"name": {"type": "null"}}}"#);
    let states: [(&str, Make, &str, (u64, u64)); 10] = [
        ("before anything", person, "", (12, 6)),
        ("after a bracket", person, "{", (8, 11)),
        ("in a declared key", person, "{\"na", (3, 11)),
        ("in free text", person, "{\"name\": \"ab", (3, 25)),
        ("in a number", person, "{\"name\": \"\", \"age\": 1", (13, 42)),
        ("after a member", person, "{\"name\": \"\", \"age\": 1,", (6, 44)),
        ("in an array", person, "{\"name\": \"\", \"age\": 1, \"tags\": [\"a\",", (14, 62)),
        (
            "near a bound",
            person,
            "{\"name\": \"\", \"age\": 1, \"note\": \"0123456789abcdefgh",
            (6, 58),
        ),
        ("in a key that is not declared", open, "{\"other", (30, 27)),
        ("in a run of a pattern", || regex("[a-z]{1,5000} [0-9]+"), "abc", (2, 6)),
    ];
    for (name, grammar, prefix, (nodes, states)) in states {
        let work = work(grammar, prefix);
        assert!(work.0 <= nodes && work.1 <= states, "{name}: nodes and states {work:?}");
    }
}

#[test]
fn bounds_cost_nothing_however_large() {
    let schemas: [(Make, Make, &str); 3] = [
        (
            || schema(r#"{"type": "string", "maxLength": 1000}"#),
            || schema(r#"{"type": "string", "maxLength": 1000000}"#),
            "\"abc",
        ),
        (
            || schema(r#"{"type": "array", "maxItems": 1000, "items": {"type": "string"}}"#),
            || schema(r#"{"type": "array", "maxItems": 100000, "items": {"type": "string"}}"#),
            "[\"a\", \"b\",",
        ),
        (|| regex("[a-z0-9 ]{1,1000}!"), || regex("[a-z0-9 ]{1,1000000}!"), "abc "),
    ];
    for (small, large, prefix) in schemas {
        assert_eq!(work(small, prefix), work(large, prefix), "after {prefix}");
        let compiled = compile(large(), &VOCABULARY);
        row(&mut *after(&compiled, prefix.as_bytes()));
        let states = counter(&compiled, "states");
        assert!(states < 100, "{states} states");
    }
}

/// Tokens `a`, `,`, `[`, `]`, and a stop id.
fn small() -> Arc<Vocabulary> {
    let words = ["a", ",", "[", "]", "<end>"];
    let mut builder = Vocabulary::builder(words.len());
    for (id, word) in (0..).zip(&words[..4]) {
        builder = builder.token(TokenId::new(id), word.as_bytes());
    }
    let builder = builder.special(TokenId::new(4), words[4]).eos(TokenId::new(4));
    Arc::new(builder.build().expect("a vocabulary"))
}

/// `list = "a" | "a" "," list`, right-recursive.
fn list() -> Grammar {
    let mut rules = GrammarBuilder::new();
    let list = rules.declare("list");
    let mut body = BodyBuilder::new();
    let (item, separator, rest) = (body.literal(b"a"), body.literal(b","), body.rule(list));
    let more = body.seq(&[item, separator, rest]);
    let root = body.alt(&[item, more]);
    rules.define(list, body.finish(root)).expect("defined once");
    rules.finish(list).expect("defined")
}

/// `value = "a" | "[" value "]"`.
fn nested() -> Grammar {
    let mut rules = GrammarBuilder::new();
    let value = rules.declare("value");
    let mut body = BodyBuilder::new();
    let (leaf, open, close) = (body.literal(b"a"), body.literal(b"["), body.literal(b"]"));
    let inner = body.rule(value);
    let list = body.seq(&[open, inner, close]);
    let root = body.alt(&[leaf, list]);
    rules.define(value, body.finish(root)).expect("defined once");
    rules.finish(value).expect("defined")
}

#[test]
fn a_right_recursive_list_leaves_nothing_behind() {
    let compiled = compile(list(), &small());
    let mut matcher = after(&compiled, b"");
    for _ in 0..100_000 {
        matcher.accept_tokens(&[TokenId::new(0), TokenId::new(1)]).expect("an item");
    }
    assert_eq!(row(&mut *matcher), [0b0_0001]);
    matcher.accept_tokens(&[TokenId::new(0)]).expect("the last one");
    assert_eq!(row(&mut *matcher), [0b1_0010]);
    assert!(counter(&compiled, "configurations") < 10);
    assert!(counter(&compiled, "frames") < 10);
    matcher.rollback(200_001).expect("to the begin");
    assert_eq!(row(&mut *matcher), [0b0_0001]);
}

#[test]
fn nesting_goes_deep_and_back() {
    const DEPTH: usize = 10_000;
    let compiled = compile(nested(), &small());
    let mut matcher = after(&compiled, b"");
    for _ in 0..DEPTH {
        assert_eq!(row(&mut *matcher), [0b0_0101]);
        matcher.accept_tokens(&[TokenId::new(2)]).expect("one more level");
    }
    matcher.accept_tokens(&[TokenId::new(0)]).expect("the innermost");
    for _ in 0..DEPTH {
        assert_eq!(row(&mut *matcher), [0b0_1000]);
        matcher.accept_tokens(&[TokenId::new(3)]).expect("one level less");
    }
    assert_eq!(row(&mut *matcher), [0b1_0000]);
    matcher.rollback(DEPTH + 1).expect("down again");
    assert_eq!(row(&mut *matcher), [0b0_0101]);
    assert!(counter(&compiled, "configurations") < 3 * DEPTH as u64);
}

/// Matchers of one grammar on several threads see what one alone sees.
#[test]
fn threads_share_one_grammar() {
    let outputs: Vec<String> = (0..40)
        .map(|n| {
            let note = "x".repeat(n % 20);
            format!(r#"{{"name": "n{n}", "age": {n}, "tags": ["{note}", "b"], "note": "{note}"}}"#)
        })
        .collect();
    let rows = |compiled: &Arc<dyn CompiledGrammar>, output: &str| -> Vec<Vec<i32>> {
        let mut matcher = after(compiled, b"");
        let mut rows = Vec::new();
        for at in 0..output.len() {
            let token = VOCABULARY.tokens_with_bytes(&output.as_bytes()[at..=at]).next();
            rows.push(row(&mut *matcher));
            matcher.accept_tokens(&[token.expect("every byte is a token")]).expect("it is valid");
        }
        rows
    };
    let alone = compile(schema(PERSON), &VOCABULARY);
    let expected: Vec<_> = outputs.iter().map(|output| rows(&alone, output)).collect();
    let shared = compile(schema(PERSON), &VOCABULARY);
    thread::scope(|scope| {
        for first in 0..4 {
            let (shared, outputs, expected, rows) = (&shared, &outputs, &expected, &rows);
            scope.spawn(move || {
                for at in 0..outputs.len() {
                    let at = (at * 7 + first * 11) % outputs.len();
                    assert!(rows(shared, &outputs[at]) == expected[at], "{}", outputs[at]);
                }
            });
        }
    });
}

/// Thirty rules, each of which may begin with any later one: what is open at the start are hundreds
/// of frames, of which none leads back to itself.
#[test]
fn frames_that_many_rules_share_are_no_circle() {
    const RULES: usize = 30;
    let mut grammar = GrammarBuilder::new();
    let rules: Vec<_> = (0..RULES).map(|rule| grammar.declare(&format!("rule-{rule}"))).collect();
    for (at, &rule) in rules.iter().enumerate() {
        let mut body = BodyBuilder::new();
        let mut choices = vec![body.literal(b"z")];
        for &later in &rules[at + 1..] {
            let (later, end) = (body.rule(later), body.literal(b"a"));
            choices.push(body.seq(&[later, end]));
        }
        let root = body.alt(&choices);
        grammar.define(rule, body.finish(root)).expect("once");
    }
    let compiled = compile(grammar.finish(rules[0]).expect("defined"), &VOCABULARY);
    assert!(after(&compiled, b"zaaa").is_accepting());
}
