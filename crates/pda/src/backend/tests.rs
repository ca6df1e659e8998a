//! What the construction does with bounds, left recursion and what it lacks.

use super::*;
use formwork_core::{RowId, TokenId};
use formwork_grammar::{BodyBuilder, GrammarBuilder, Polarity};

/// All bytes, and some words.
fn vocabulary() -> Arc<Vocabulary> {
    let words = ["ab", "abc", "a+a", "+a", "aa", "bb"];
    let mut builder = Vocabulary::builder(256 + words.len() + 1);
    for byte in 0..=255_u8 {
        builder = builder.token(TokenId::new(byte.into()), &[byte]);
    }
    for (id, word) in (256..).zip(words) {
        builder = builder.token(TokenId::new(id), word.as_bytes());
    }
    let end = TokenId::new(256 + 6);
    Arc::new(builder.special(end, "<end>").eos(end).build().expect("a vocabulary"))
}

fn compile(grammar: Grammar) -> Result<Arc<dyn CompiledGrammar>, CompileError> {
    let request = CompileRequest::new(Arc::new(grammar), vocabulary());
    PdaBackend::default().compile_blocking(&request)
}

fn regex(pattern: &str) -> Grammar {
    formwork_regex::compile(pattern, &Default::default(), &Limits::default()).expect("a pattern")
}

/// The tokens allowed after some bytes, but for bytes.
fn words_after(compiled: &Arc<dyn CompiledGrammar>, bytes: &[u8]) -> Vec<u32> {
    let options = StartOptions { fixed_bytes: bytes.to_vec(), ..StartOptions::default() };
    let mut matcher = compiled.clone().start(&options).expect("a prefix");
    let mut row = vec![0; matcher.vocabulary().row_words()];
    matcher.fill_bitmask(&mut row, RowId::NONE).expect("within the limits");
    (256..263).filter(|id| row[id / 32] >> (id % 32) & 1 == 1).map(|id| id as u32).collect()
}

#[test]
fn bounds_cost_no_states() {
    let states = |pattern| compile(regex(pattern)).unwrap().stats().value("states").unwrap();
    assert_eq!(states("x[a-z]{1,50}y"), states("x[a-z]{1,5000000}y"));
    let compiled = compile(regex("x[a-z]{1,50}y")).unwrap();
    let all = [256, 257, 260, 261];
    assert_eq!(words_after(&compiled, b"x"), all);
    let text = |count| [&b"x"[..], &b"a".repeat(count)].concat();
    assert_eq!(words_after(&compiled, &text(47)), all);
    assert_eq!(words_after(&compiled, &text(48)), [256, 260, 261]);
    assert_eq!(words_after(&compiled, &text(49)), [0; 0]);
}

/// `sum = sum "+" term | term`, where a term is `a` or a sum in brackets.
fn sums() -> Grammar {
    let mut rules = GrammarBuilder::new();
    let (sum, term) = (rules.declare("sum"), rules.declare("term"));
    let mut body = BodyBuilder::new();
    let (left, plus, right) = (body.rule(sum), body.literal(b"+"), body.rule(term));
    let more = body.seq(&[left, plus, right]);
    let root = body.alt(&[more, right]);
    rules.define(sum, body.finish(root)).unwrap();
    let mut body = BodyBuilder::new();
    let (leaf, open, inner) = (body.literal(b"a"), body.literal(b"("), body.rule(sum));
    let close = body.literal(b")");
    let brackets = body.seq(&[open, inner, close]);
    let root = body.alt(&[leaf, brackets]);
    rules.define(term, body.finish(root)).unwrap();
    rules.finish(sum).unwrap()
}

#[test]
fn left_recursion_is_rewritten() {
    let grammar = sums();
    let assessment = PdaBackend::default().assess(&grammar, &vocabulary(), &Limits::default());
    assert!(matches!(assessment, Assessment::Supported(_)));
    let compiled = compile(grammar).unwrap();
    assert_eq!(words_after(&compiled, b""), [258]);
    assert_eq!(words_after(&compiled, b"((a+a)"), [259]);
    assert_eq!(words_after(&compiled, b"((a+a)+a)"), [259, 262]);
}

#[test]
fn left_recursion_between_called_rules_is_refused_by_name() {
    // Each embeds itself, so both are called; and each begins with the other.
    let mut rules = GrammarBuilder::new();
    let names = [rules.declare("a"), rules.declare("b")];
    for (own, other, open, close) in [(0, 1, b"(", b")"), (1, 0, b"[", b"]")] {
        let mut body = BodyBuilder::new();
        let (open, close) = (body.literal(open), body.literal(close));
        let (inner, before) = (body.rule(names[own]), body.rule(names[other]));
        let embeds = body.seq(&[open, inner, close]);
        let begins = body.seq(&[before, close]);
        let leaf = body.literal(b"a");
        let root = body.alt(&[embeds, begins, leaf]);
        rules.define(names[own], body.finish(root)).unwrap();
    }
    let grammar = rules.finish(names[0]).unwrap();
    let assessment = PdaBackend::default().assess(&grammar, &vocabulary(), &Limits::default());
    let Assessment::Unsupported(reason) = assessment else { panic!("{assessment:?}") };
    assert!(matches!(reason, Unsupported::Construct { construct: "left recursion", .. }));
    assert!(matches!(compile(grammar), Err(CompileError::Unsupported(found)) if found == reason));
}

#[test]
fn what_it_lacks_is_refused_by_name() {
    let look_ahead = |body: &mut BodyBuilder| {
        let text = body.literal(b"ab");
        let ahead = body.look_ahead(text, Polarity::Required);
        body.seq(&[ahead, text])
    };
    let limit = |body: &mut BodyBuilder| {
        let text = body.literal(b"ab");
        body.token_limit(text, 1)
    };
    type Make = fn(&mut BodyBuilder) -> formwork_grammar::ExprId;
    let cases: [(&str, Make); 2] = [("look-ahead", look_ahead), ("token limits", limit)];
    for (name, make) in cases {
        let mut body = BodyBuilder::new();
        let root = make(&mut body);
        let grammar = Grammar::of_body(body.finish(root));
        let assessment = PdaBackend::default().assess(&grammar, &vocabulary(), &Limits::default());
        let Assessment::Unsupported(Unsupported::Construct { construct, .. }) = assessment else {
            panic!("{assessment:?}")
        };
        assert_eq!(construct, name);
    }
}
