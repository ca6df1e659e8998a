//! Grammars with look-ahead against the oracle, with next to no part read as text; and hostile ones.

use crate::EarleyBackend;
use formwork_automata::ByteSet;
use formwork_conformance::{
    random::{Construct, GrammarOptions},
    suite::{Options, run},
};
use formwork_core::{
    Assessment, CompileError, CompileRequest, Exhausted, Limits, StructuredOutputBackend, TokenId,
    Unsupported, Vocabulary,
};
use formwork_grammar::{
    BodyBuilder, ExprId, Grammar, GrammarBuilder, Member, Permute, Polarity, Rest, Uniqueness,
};
use std::sync::Arc;

fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder(257);
    for byte in 0..=u8::MAX {
        builder = builder.token(TokenId::new(byte.into()), &[byte]);
    }
    let end = TokenId::new(256);
    Arc::new(builder.special(end, "<end>").eos(end).build().expect("a vocabulary"))
}

fn grammar(body: impl FnOnce(&mut BodyBuilder) -> ExprId) -> Arc<Grammar> {
    let mut builder = BodyBuilder::new();
    let root = body(&mut builder);
    Arc::new(Grammar::of_body(builder.finish(root)))
}

/// The output that is taken, as far as it is; and whether it is then complete.
fn read(grammar: &Arc<Grammar>, text: &str) -> (String, bool) {
    let request = CompileRequest::new(grammar.clone(), vocabulary());
    let compiled = EarleyBackend.compile_blocking(&request).expect("it is in order");
    let mut matcher = compiled.start(&Default::default()).expect("it starts");
    let mut taken = String::new();
    for character in text.chars() {
        if matcher.accept_tokens(&[TokenId::new(character.into())]).is_err() {
            break;
        }
        taken.push(character);
    }
    (taken, matcher.is_accepting())
}

fn any_of(builder: &mut BodyBuilder, bytes: &[u8]) -> ExprId {
    builder.bytes(bytes.iter().copied().collect())
}

#[test]
fn random_grammars_agree_with_the_oracle() {
    for (seed, more) in [(11, vec![]), (12, vec![Construct::Permute, Construct::Tokens])] {
        let constructs = [vec![Construct::LookAhead], more].concat();
        let grammars = vec![GrammarOptions { constructs, ..GrammarOptions::everything() }];
        let options = Options { data: None, skips: None, grammars, seed, ..Options::default() };
        let report = run(&EarleyBackend, &Options { cases: 1_500, ..options });
        assert!(report.is_clean(), "{report}");
        assert!(report.passed > 900, "{report}");
    }
}

#[test]
fn a_condition_goes_past_the_end_of_its_rule() {
    let mut rules = GrammarBuilder::new();
    let (root, word) = (rules.declare("root"), rules.declare("word"));
    let mut body = BodyBuilder::new();
    let end = body.literal(b"end");
    let not_end = body.look_ahead(end, Polarity::Forbidden);
    let letter = any_of(&mut body, b"end");
    let text = body.seq(&[not_end, letter]);
    rules.define(word, body.finish(text)).expect("once");
    let mut body = BodyBuilder::new();
    let word = body.rule(word);
    let words = body.repeat(word, 0, None);
    rules.define(root, body.finish(words)).expect("once");
    let grammar = Arc::new(rules.finish(root).expect("defined"));
    assert_eq!(read(&grammar, "needendd"), ("needen".into(), true));
    assert_eq!(read(&grammar, "enenn"), ("enenn".into(), true));
}

#[test]
fn a_required_word_must_come_before_the_end() {
    let grammar = grammar(|body| {
        let (word, any) = (body.literal(b"ab"), any_of(body, b"abc"));
        let anything = body.repeat(any, 0, None);
        let somewhere = body.seq(&[anything, word]);
        let look = body.look_ahead(somewhere, Polarity::Required);
        let few = body.repeat(any, 0, Some(4));
        body.seq(&[look, few])
    });
    assert_eq!(read(&grammar, "ccab"), ("ccab".into(), true));
    // After three others there is no room for it.
    assert_eq!(read(&grammar, "ccc"), ("cc".into(), false));
    assert_eq!(read(&grammar, "abc"), ("abc".into(), true));
}

#[test]
fn long_repetitions_under_a_condition_stay_counted() {
    let grammar = grammar(|body| {
        let (word, any) = (body.literal(b"no"), any_of(body, b"nox"));
        let look = body.look_ahead(word, Polarity::Forbidden);
        let many = body.repeat(any, 3, Some(1_000_000));
        body.seq(&[look, many])
    });
    assert_eq!(read(&grammar, "nono"), ("n".into(), false));
    assert_eq!(read(&grammar, "xnono"), ("xnono".into(), true));
}

/// `(?!.*x.{n})` and the like, `n` of them: too many conditions are a typed error.
#[test]
fn too_many_conditions_are_refused_by_name() {
    let grammar = grammar(|body| {
        let (x, any) = (any_of(body, b"x"), any_of(body, b"xy"));
        let mut parts = Vec::new();
        for distance in 0..40 {
            let before = body.repeat(any, 0, None);
            let after = body.repeat(any, distance, Some(distance));
            let forbidden = body.seq(&[before, x, after, x]);
            let look = body.look_ahead(forbidden, Polarity::Forbidden);
            parts.extend([look, any]);
        }
        let turn = body.seq(&parts);
        body.repeat(turn, 0, None)
    });
    let mut request = CompileRequest::new(grammar.clone(), vocabulary());
    request.limits.automaton_steps = 3_000_000;
    let assessed = EarleyBackend.assess(&grammar, &request.vocabulary, &request.limits);
    assert!(matches!(assessed, Assessment::Supported(_)));
    let error = EarleyBackend.compile_blocking(&request).expect_err("it is too much");
    let is_budget =
        |reason: &Exhausted| matches!(reason, Exhausted::Steps { .. } | Exhausted::States { .. });
    let CompileError::Unsupported(Unsupported::OverBudget(reason)) = &error else {
        panic!("{error:?}")
    };
    assert!(is_budget(reason));
}

#[test]
fn thousands_of_look_aheads_under_recursion_are_one() {
    let mut rules = GrammarBuilder::new();
    let value = rules.declare("value");
    let mut body = BodyBuilder::new();
    let (open, close, leaf) =
        (any_of(&mut body, b"["), any_of(&mut body, b"]"), body.literal(b"ab"));
    let twice = body.literal(b"[[[");
    let look = body.look_ahead(twice, Polarity::Forbidden);
    let inner = body.rule(value);
    let nested = body.seq(&[look, open, inner, close]);
    let root = body.alt(&[leaf, nested]);
    rules.define(value, body.finish(root)).expect("once");
    let grammar = Arc::new(rules.finish(value).expect("defined"));
    assert_eq!(read(&grammar, "[[[a"), ("[[".into(), false));
    assert_eq!(read(&grammar, "[[ab]]"), ("[[ab]]".into(), true));
}

#[test]
fn conditions_past_distinct_keys_are_refused_by_name() {
    let grammar = grammar(|body| {
        let (a, any) = (any_of(body, b"a"), any_of(body, b"ab"));
        let long = body.literal(b"ab,ab");
        let look = body.look_ahead(long, Polarity::Forbidden);
        let key = body.repeat(any, 1, None);
        let (tail, separator) = (body.empty(), any_of(body, b","));
        let rest = Some(Rest { key, tail, uniqueness: Uniqueness::Distinct });
        let members = [Member { expr: a, required: false }].into();
        let list = body.permute(Permute { members, rest, separator, min: 1, max: None });
        body.seq(&[look, list])
    });
    let request = CompileRequest::new(grammar, vocabulary());
    let error = EarleyBackend.compile_blocking(&request).expect_err("it cannot be split");
    assert!(matches!(error, CompileError::Unsupported(Unsupported::Construct { .. })), "{error:?}");
}

#[test]
fn what_is_forbidden_need_not_be_spelt() {
    let mut builder = Vocabulary::builder(3);
    for (id, text) in [(0, "a"), (1, "b")] {
        builder = builder.token(TokenId::new(id), text.as_bytes());
    }
    let end = TokenId::new(2);
    let vocabulary = builder.special(end, "<end>").eos(end).build().expect("a vocabulary");
    let grammar = grammar(|body| {
        let z = body.bytes(ByteSet::single(b'z'));
        let look = body.look_ahead(z, Polarity::Forbidden);
        let any = any_of(body, b"ab");
        body.seq(&[look, any])
    });
    let limits = Limits::default();
    let assessed = EarleyBackend.assess(&grammar, &vocabulary, &limits);
    assert!(matches!(assessed, Assessment::Supported(_)));
    let request = CompileRequest::new(grammar, Arc::new(vocabulary));
    assert!(EarleyBackend.compile_blocking(&request).is_ok());
}
