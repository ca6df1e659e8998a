//! The pda backend on what is deep, long or ambiguous, beside the earley backend.

use formwork_core::{
    CompileRequest, CompiledGrammar, Grammar, RowId, StartOptions, StructuredOutputBackend,
    StructuredOutputGrammar, TokenId, Vocabulary,
};
use formwork_earley::EarleyBackend;
use formwork_grammar::{BodyBuilder, GrammarBuilder};
use formwork_pda::{PdaBackend, Precompute};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::sync::Arc;

/// Tokens `a`, `,`, `[`, `]`, `]]`, `],`, `[[`, and a stop id.
fn vocabulary() -> Arc<Vocabulary> {
    let words = ["a", ",", "[", "]", "]]", "],", "[[", "<end>"];
    let mut builder = Vocabulary::builder(words.len());
    for (id, word) in (0..).zip(&words[..7]) {
        builder = builder.token(TokenId::new(id), word.as_bytes());
    }
    let builder = builder.special(TokenId::new(7), words[7]).eos(TokenId::new(7));
    Arc::new(builder.build().expect("a vocabulary"))
}

fn compile(backend: &dyn StructuredOutputBackend, grammar: Grammar) -> Arc<dyn CompiledGrammar> {
    let request = CompileRequest::new(Arc::new(grammar), vocabulary());
    backend.compile_blocking(&request).expect("it is in order")
}

fn counter(compiled: &Arc<dyn CompiledGrammar>, name: &str) -> u64 {
    compiled.stats().value(name).expect("a counter")
}

fn start(compiled: &Arc<dyn CompiledGrammar>) -> Box<dyn StructuredOutputGrammar> {
    compiled.clone().start(&StartOptions::default()).expect("nothing is fixed")
}

fn row(matcher: &mut dyn StructuredOutputGrammar) -> i32 {
    let mut row = [0x5555];
    matcher.fill_bitmask(&mut row, RowId::NONE).expect("within the limits");
    row[0]
}

/// `value = "a" | "[" value ("," value)* "]"`.
fn nested() -> Grammar {
    let mut rules = GrammarBuilder::new();
    let value = rules.declare("value");
    let mut body = BodyBuilder::new();
    let (leaf, open, close) = (body.literal(b"a"), body.literal(b"["), body.literal(b"]"));
    let (inner, comma) = (body.rule(value), body.literal(b","));
    let further = body.seq(&[comma, inner]);
    let further = body.repeat(further, 0, None);
    let list = body.seq(&[open, inner, further, close]);
    let root = body.alt(&[leaf, list]);
    rules.define(value, body.finish(root)).expect("defined once");
    rules.finish(value).expect("defined")
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

/// `s = "a" s "," | "a" s | "a"`: as many readings as there are ways to leave commas out.
fn ambiguous() -> Grammar {
    let mut rules = GrammarBuilder::new();
    let dangling = rules.declare("s");
    let mut body = BodyBuilder::new();
    let (item, comma, inner) = (body.literal(b"a"), body.literal(b","), body.rule(dangling));
    let long = body.seq(&[item, inner, comma]);
    let short = body.seq(&[item, inner]);
    let root = body.alt(&[long, short, item]);
    rules.define(dangling, body.finish(root)).expect("defined once");
    rules.finish(dangling).expect("defined")
}

#[test]
fn nesting_goes_deep_and_back() {
    const DEPTH: usize = 10_000;
    for precompute in [Precompute::Nothing, Precompute::Everything] {
        let compiled = compile(&PdaBackend::new(precompute), nested());
        let positions = counter(&compiled, "positions");
        let mut matcher = start(&compiled);
        for _ in 0..DEPTH {
            assert_eq!(row(&mut *matcher), 0b0100_0101);
            matcher.accept_tokens(&[TokenId::new(2)]).expect("one more level");
        }
        matcher.accept_tokens(&[TokenId::new(0)]).expect("the innermost");
        for left in (1..=DEPTH).rev() {
            let expected = match left {
                1 => 0b0000_1010,
                _ => 0b0011_1010,
            };
            assert_eq!(row(&mut *matcher), expected, "{left} levels");
            matcher.accept_tokens(&[TokenId::new(3)]).expect("one level less");
        }
        assert_eq!(row(&mut *matcher), 0b1000_0000);
        matcher.rollback(DEPTH + 1).expect("down again");
        assert_eq!(row(&mut *matcher), 0b0100_0101);
        assert!(counter(&compiled, "frames") < 2 * DEPTH as u64);
        assert!(counter(&compiled, "positions") < positions + 20, "depth adds no position");
    }
}

#[test]
fn a_right_recursive_list_leaves_nothing_behind() {
    let compiled = compile(&PdaBackend::default(), list());
    let mut matcher = start(&compiled);
    for _ in 0..100_000 {
        matcher.accept_tokens(&[TokenId::new(0), TokenId::new(1)]).expect("an item");
    }
    assert_eq!(row(&mut *matcher), 0b0000_0001);
    matcher.accept_tokens(&[TokenId::new(0)]).expect("the last one");
    assert_eq!(row(&mut *matcher), 0b1000_0010);
    assert!(counter(&compiled, "frames") < 10);
    matcher.rollback(200_001).expect("to the begin");
    assert_eq!(row(&mut *matcher), 0b0000_0001);
}

/// Walks with forks and rollbacks, beside the earley backend.
#[test]
fn walks_agree_with_earley() {
    let grammars: [fn() -> Grammar; 3] = [nested, list, ambiguous];
    for (number, grammar) in (0..).zip(grammars) {
        let one = compile(&PdaBackend::default(), grammar());
        let other = compile(&EarleyBackend, grammar());
        let mut random = StdRng::seed_from_u64(number);
        for _ in 0..20 {
            let (mut one, mut other) = (start(&one), start(&other));
            for _ in 0..60 {
                let mask = row(&mut *one);
                assert_eq!(mask, row(&mut *other), "grammar {number}");
                assert_eq!(one.is_accepting(), other.is_accepting());
                let allowed: Vec<u32> = (0..7).filter(|&id| mask >> id & 1 == 1).collect();
                if allowed.is_empty() {
                    break;
                }
                let token = TokenId::new(allowed[random.random_range(0..allowed.len())]);
                if random.random_ratio(1, 8) {
                    (one, other) = (one.fork(), other.fork());
                }
                one.accept_tokens(&[token]).expect("it is allowed");
                other.accept_tokens(&[token]).expect("it is allowed");
                if random.random_ratio(1, 8) {
                    let back = random.random_range(0..=one.num_processed_tokens());
                    one.rollback(back).expect("as many");
                    other.rollback(back).expect("as many");
                }
            }
        }
    }
}
