//! The oracle against whole outputs, and by hand.

use super::*;
use crate::{
    membership::Membership,
    random::{Case, Completeness, GrammarOptions, TokenShape, VocabularyShape, case},
};
use formwork_grammar::{BodyBuilder, Permute, Polarity, Rest, TokenRef, TokenSet, Uniqueness};
use proptest::prelude::*;
use std::collections::VecDeque;

/// A vocabulary of these text tokens.
fn vocabulary(tokens: &[&str]) -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder(tokens.len());
    for (id, token) in (0..).map(TokenId::new).zip(tokens) {
        builder = match token.strip_prefix('<') {
            Some(_) => builder.special(id, token),
            None => builder.token(id, token.as_bytes()),
        };
    }
    Arc::new(builder.build().unwrap())
}

fn grammar(build: impl FnOnce(&mut BodyBuilder) -> formwork_grammar::ExprId) -> Grammar {
    let mut body = BodyBuilder::new();
    let root = build(&mut body);
    Grammar::of_body(body.finish(root))
}

/// What may come after these tokens, as texts; `$` where the output may end.
fn next(grammar: &Grammar, tokens: &[&str], read: &[&str]) -> Result<Vec<String>, OracleError> {
    let mut oracle = Oracle::new(grammar, vocabulary(tokens), &OracleLimits::default())?;
    let mut prefix = oracle.start(&[])?;
    for token in read {
        let id = tokens.iter().position(|text| text == token).unwrap();
        let id = TokenId::new(u32::try_from(id).unwrap());
        prefix = oracle.step(&prefix, id)?.expect("the token is allowed");
    }
    let allowed = oracle.allowed(&prefix)?;
    let mut texts: Vec<String> = allowed.iter().map(|id| tokens[id.index()].to_owned()).collect();
    texts.extend(prefix.is_complete().then(|| "$".to_owned()));
    Ok(texts)
}

#[test]
fn a_token_that_cannot_be_completed_is_not_offered() {
    // Without a token for `c` the second choice is a dead end.
    let grammar = grammar(|body| {
        let texts = [b"ab".as_slice(), b"ac"].map(|text| body.literal(text));
        body.alt(&texts)
    });
    assert_eq!(next(&grammar, &["a", "b", "ac"], &[]).unwrap(), ["a", "ac"]);
    assert_eq!(next(&grammar, &["a", "b", "ac"], &["a"]).unwrap(), ["b"]);
    assert_eq!(next(&grammar, &["a", "ac"], &[]).unwrap(), ["ac"]);
    assert!(matches!(next(&grammar, &["a"], &[]), Err(OracleError::Unsatisfiable)));
}

#[test]
fn tokens_that_straddle_a_token_limit_count_on_both_sides() {
    let grammar = grammar(|body| {
        let a = body.bytes(formwork_automata::ByteSet::single(b'a'));
        let many = body.repeat(a, 0, None);
        let limited = body.token_limit(many, 1);
        let b = body.literal(b"b");
        body.seq(&[b, limited, b])
    });
    let tokens = ["a", "b", "ba", "ab", "aa", "aab"];
    assert_eq!(next(&grammar, &tokens, &["b"]).unwrap(), ["a", "b", "ab", "aa", "aab"]);
    assert_eq!(next(&grammar, &tokens, &["ba"]).unwrap(), ["b"]);
    assert_eq!(next(&grammar, &tokens, &["b", "aa"]).unwrap(), ["b"]);
    assert_eq!(next(&grammar, &tokens, &["b", "aab"]).unwrap(), ["$"]);
}

#[test]
fn a_limit_begun_within_a_counted_token_counts_that_token_too() {
    let grammar = grammar(|body| {
        let (a, b) = (body.literal(b"a"), body.literal(b"b"));
        let many = body.repeat(b, 0, None);
        let inner = body.token_limit(many, 1);
        let outer = body.seq(&[a, inner]);
        body.token_limit(outer, 2)
    });
    let tokens = ["a", "b", "ab"];
    assert_eq!(next(&grammar, &tokens, &["a"]).unwrap(), ["b", "$"]);
    assert_eq!(next(&grammar, &tokens, &["a", "b"]).unwrap(), ["$"]);
    assert_eq!(next(&grammar, &tokens, &["ab"]).unwrap(), ["$"]);
}

#[test]
fn look_ahead_reaches_across_what_follows() {
    let grammar = grammar(|body| {
        let ab = body.literal(b"ab");
        let look = body.look_ahead(ab, Polarity::Forbidden);
        let letter = body.bytes(formwork_automata::ByteSet::range(b'a'..=b'c'));
        let two = body.repeat(letter, 2, Some(2));
        body.seq(&[look, two])
    });
    assert_eq!(next(&grammar, &["a", "b", "c", "ab"], &[]).unwrap(), ["a", "b", "c"]);
    assert_eq!(next(&grammar, &["a", "b", "c", "ab"], &["a"]).unwrap(), ["a", "c"]);
}

#[test]
fn distinct_keys_run_out() {
    let keys = |max| {
        grammar(|body| {
            let key = body.bytes(formwork_automata::ByteSet::range(b'a'..=b'b'));
            let (tail, separator) = (body.literal(b"="), body.literal(b","));
            body.distinct(key, tail, separator, (max, None))
        })
    };
    let tokens = ["a", "b", "=", ","];
    assert_eq!(next(&keys(2), &tokens, &["a", "="]).unwrap(), [","]);
    assert_eq!(next(&keys(2), &tokens, &["a", "=", ","]).unwrap(), ["b"]);
    assert_eq!(next(&keys(2), &tokens, &["a", "=", ",", "b", "="]).unwrap(), ["$"]);
    assert!(matches!(next(&keys(3), &tokens, &[]), Err(OracleError::Unsatisfiable)));
}

#[test]
fn many_distinct_keys_are_decided_between_two_bounds() {
    let keys = grammar(|body| {
        let letter = body.bytes(formwork_automata::ByteSet::range(b'a'..=b'b'));
        let key = body.repeat(letter, 1, None);
        let (tail, separator) = (body.literal(b"="), body.literal(b","));
        body.distinct(key, tail, separator, (2, None))
    });
    let tokens = ["a", "b", "=", ","];
    assert_eq!(next(&keys, &tokens, &["a", "="]).unwrap(), [","]);
    // `a` is taken, so the second key is longer or other.
    assert_eq!(next(&keys, &tokens, &["a", "=", ",", "a"]).unwrap(), ["a", "b"]);
    // Every key is a run of `a`; still there is always a longer one.
    let tokens = ["a", "=", ","];
    assert_eq!(next(&keys, &tokens, &["a", "=", ",", "a"]).unwrap(), ["a"]);
}

#[test]
fn bounds_that_differ_are_reported() {
    // Only one token may be a key: how many keys there are depends on the limit.
    let grammar = grammar(|body| {
        let letter = body.bytes(formwork_automata::ByteSet::range(b'a'..=b'z'));
        let key = body.repeat(letter, 1, None);
        let (tail, separator) = (body.literal(b"="), body.literal(b","));
        let rest = Some(Rest { key, tail, uniqueness: Uniqueness::Distinct });
        let (min, max) = (3, None);
        let items = body.permute(Permute { members: [].into(), rest, separator, min, max });
        body.token_limit(items, 5)
    });
    let tokens = ["a=", "b=", ","];
    let undecided = next(&grammar, &tokens, &[]);
    assert!(matches!(undecided, Err(OracleError::Undecided { .. })), "{undecided:?}");
}

#[test]
fn a_named_token_is_read_either_way() {
    let grammar = grammar(|body| {
        let symbol = body.tokens(TokenSet::of([TokenRef::Ids(0, 0), TokenRef::Name("<s>".into())]));
        let (b, text) = (body.literal(b"b"), body.literal(b"ac"));
        let named = body.seq(&[symbol, b]);
        body.alt(&[named, text])
    });
    let tokens = ["a", "b", "c", "<s>"];
    assert_eq!(next(&grammar, &tokens, &[]).unwrap(), ["a", "<s>"]);
    assert_eq!(next(&grammar, &tokens, &["a"]).unwrap(), ["b", "c"]);
    assert_eq!(next(&grammar, &tokens, &["<s>"]).unwrap(), ["b"]);
}

#[test]
fn recursion_of_every_kind_ends() {
    let mut builder = formwork_grammar::GrammarBuilder::new();
    let [list, empty, cycle] = ["list", "empty", "cycle"].map(|name| builder.declare(name));
    let mut define = |rule, build: &dyn Fn(&mut BodyBuilder) -> formwork_grammar::ExprId| {
        let mut body = BodyBuilder::new();
        let root = build(&mut body);
        builder.define(rule, body.finish(root)).unwrap();
    };
    // list: empty list 'a' list | ''    empty: empty empty | ''    cycle: cycle
    define(list, &|body| {
        let (e, l) = (body.rule(empty), body.rule(list));
        let a = body.literal(b"a");
        let long = body.seq(&[e, l, a, l]);
        let cycle = body.rule(cycle);
        body.alt(&[long, cycle, e])
    });
    define(empty, &|body| {
        let e = body.rule(empty);
        let twice = body.seq(&[e, e]);
        let nothing = body.empty();
        body.alt(&[twice, nothing])
    });
    define(cycle, &|body| body.rule(cycle));
    let grammar = builder.finish(list).unwrap();
    assert_eq!(next(&grammar, &["a", "aa"], &["aa", "a"]).unwrap(), ["a", "aa", "$"]);
}

#[test]
fn forced_bytes_end_where_the_output_may_or_a_symbol_stands() {
    let force = |build: &dyn Fn(&mut BodyBuilder) -> formwork_grammar::ExprId| {
        let grammar = grammar(build);
        let tokens = vocabulary(&["a", "ab", "b", "c", "<s>"]);
        let mut oracle = Oracle::new(&grammar, tokens, &OracleLimits::default()).unwrap();
        let prefix = oracle.start(&[]).unwrap();
        oracle.forced_bytes(&prefix, 10).unwrap()
    };
    let optional = |body: &mut BodyBuilder| {
        let (ab, c) = (body.literal(b"abab"), body.literal(b"c"));
        let c = body.optional(c);
        body.seq(&[ab, c])
    };
    assert_eq!(force(&optional), b"abab");
    let symbol = |body: &mut BodyBuilder| {
        let ab = body.literal(b"ab");
        let symbol = body.tokens(TokenSet::of([TokenRef::Name("<s>".into())]));
        let symbol = body.optional(symbol);
        body.seq(&[ab, symbol, ab])
    };
    assert_eq!(force(&symbol), b"ab");
    // No token spells `d`, so the choice is none.
    let unspellable = |body: &mut BodyBuilder| {
        let choices = [b"ad".as_slice(), b"abc"].map(|text| body.literal(text));
        body.alt(&choices)
    };
    assert_eq!(force(&unspellable), b"abc");
}

/// Cases small enough to try every sequence of three tokens.
fn small_case() -> impl Strategy<Value = Case> {
    let options = GrammarOptions { depth: 2, rules: 2, ..GrammarOptions::everything() };
    let texts = prop::sample::select(vec!["a", "b", "ab", "aa", "ba", "c", "é", ",", "a,", "abc"]);
    let token = prop_oneof![
        8 => texts.prop_map(|text| TokenShape::Text(text.into())),
        1 => Just(TokenShape::Special),
    ];
    (case(&options), prop::collection::vec(token, 2..6)).prop_map(|(mut case, tokens)| {
        let completeness = Completeness::AsDrawn;
        case.vocabulary = VocabularyShape { tokens, completeness, eos: vec![1], extra: 0 };
        case
    })
}

/// Every sequence of up to `longest` tokens, shorter ones first.
fn sequences(tokens: u32, longest: usize) -> Vec<Vec<TokenId>> {
    let mut all: Vec<Vec<TokenId>> = vec![Vec::new()];
    let mut done = 0;
    while all[done].len() < longest {
        for id in (0..tokens).map(TokenId::new) {
            all.push(all[done].iter().copied().chain([id]).collect());
        }
        done += 1;
    }
    all
}

/// How a search for a completion went.
#[derive(Debug, PartialEq)]
enum Search {
    Found(Vec<TokenId>),
    NothingMore,
    TooFar,
}

/// Breadth first, by what the oracle itself allows.
fn completion(oracle: &mut Oracle, prefix: &Prefix) -> Result<Search, OracleError> {
    let mut queue = VecDeque::from([(prefix.clone(), Vec::new())]);
    let mut looked_at = 0;
    while let Some((prefix, read)) = queue.pop_front() {
        if prefix.is_complete() {
            return Ok(Search::Found(read));
        }
        looked_at += 1;
        if looked_at > 60 {
            return Ok(Search::TooFar);
        }
        for token in oracle.allowed(&prefix)? {
            let next = oracle.step(&prefix, token)?.expect("the mask allows it");
            let read = read.iter().copied().chain([token]).collect();
            queue.push_back((next, read));
        }
    }
    Ok(Search::NothingMore)
}

/// What became of a case.
#[derive(Debug, PartialEq, Eq, Hash, Clone, Copy, PartialOrd, Ord)]
enum Outcome {
    Checked,
    Unsatisfiable,
    Undecided,
}

/// Every sequence of up to three tokens: the oracle allows its tokens one by one exactly when it is
/// the begin of an output, and calls it complete exactly when it is an output.
fn check(case: &Case, searched_too_far: &mut usize) -> Result<Outcome, TestCaseError> {
    let (grammar, vocabulary) = (case.grammar(), case.vocabulary());
    let limits = OracleLimits::default();
    let membership = Membership::new(&grammar, vocabulary.clone(), &limits.grammar).unwrap();
    let mut oracle = Oracle::new(&grammar, vocabulary, &limits).unwrap();
    let all = sequences(case.vocabulary.len(), 3);
    let complete: Vec<bool> =
        all.iter().map(|tokens| membership.contains(tokens).unwrap()).collect();
    let start = match oracle.start(&[]) {
        Ok(start) => start,
        Err(OracleError::Undecided { .. }) => return Ok(Outcome::Undecided),
        Err(OracleError::Unsatisfiable) => {
            prop_assert!(!complete.contains(&true), "there is an output");
            return Ok(Outcome::Unsatisfiable);
        }
        Err(error) => panic!("{error}"),
    };
    let mut prefixes: FxHashMap<Vec<TokenId>, Prefix> = FxHashMap::default();
    prefixes.insert(Vec::new(), start);
    for (tokens, complete) in all.iter().zip(complete) {
        let Some(prefix) = prefixes.get(tokens).cloned() else {
            prop_assert!(!complete, "refused, but an output: {tokens:?}");
            continue;
        };
        prop_assert_eq!(prefix.is_complete(), complete, "complete: {:?}", tokens);
        let allowed = match oracle.allowed(&prefix) {
            Ok(allowed) => allowed,
            Err(_) => return Ok(Outcome::Undecided),
        };
        match completion(&mut oracle, &prefix) {
            Ok(Search::Found(read)) => {
                let output: Vec<TokenId> = tokens.iter().copied().chain(read).collect();
                if output.len() < 6 {
                    prop_assert!(membership.contains(&output).unwrap(), "{output:?}");
                }
            }
            Ok(Search::TooFar) => *searched_too_far += 1,
            Ok(Search::NothingMore) => prop_assert!(false, "a dead end: {:?}", tokens),
            Err(_) => return Ok(Outcome::Undecided),
        }
        for token in (0..case.vocabulary.len()).map(TokenId::new) {
            let Ok(next) = oracle.step(&prefix, token) else { return Ok(Outcome::Undecided) };
            prop_assert_eq!(next.is_some(), allowed.contains(&token), "{:?} {}", tokens, token);
            if let Some(next) = next {
                let longer = tokens.iter().copied().chain([token]).collect();
                prefixes.insert(longer, next);
            }
        }
    }
    Ok(Outcome::Checked)
}

/// How many cases, from the variable that proptest itself reads.
fn cases() -> u32 {
    let chosen = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    chosen.unwrap_or(300)
}

#[test]
fn agrees_with_whole_outputs() {
    let config =
        ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcomes = std::cell::RefCell::new(std::collections::BTreeMap::new());
    let too_far = std::cell::Cell::new(0);
    runner
        .run(&small_case(), |case| {
            let mut far = 0;
            let outcome = check(&case, &mut far)?;
            too_far.set(too_far.get() + far);
            *outcomes.borrow_mut().entry(outcome).or_insert(0) += 1;
            Ok(())
        })
        .unwrap();
    let outcomes = outcomes.into_inner();
    let checked = outcomes.get(&Outcome::Checked).copied().unwrap_or_default();
    let undecided = outcomes.get(&Outcome::Undecided).copied().unwrap_or_default();
    assert!(checked >= cases() / 3, "{outcomes:?}, {too_far:?} searches too far");
    assert!(undecided <= cases() / 50, "{outcomes:?}");
}
