//! Hostile patterns: typed errors, no deep stacks, no unrolling.

use crate::language_of;
use formwork_automata::{Exhausted, Fuel};
use formwork_grammar::{BodyBuilder, Limits, Node};
use formwork_regex::{MatchMode, Options, RegexErrorKind as Kind, compile, language, lower};

fn kind_of(pattern: &str, limits: &Limits) -> Option<Kind> {
    compile(pattern, &Options::default(), limits).err().map(|error| error.kind)
}

#[test]
fn source_bytes() {
    let mut limits = Limits::default();
    limits.source_bytes = 3;
    assert_eq!(kind_of("aé", &limits), None);
    assert_eq!(kind_of("aéb", &limits), Some(Kind::SourceBytes { limit: 3 }));
}

#[test]
fn nesting() {
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    let limits = Limits::default();
    assert_eq!(kind_of(&nested(2_000), &limits), None);
    let error = compile(&nested(30_000), &Options::default(), &limits).expect_err("too deep");
    assert_eq!(error.kind, Kind::Nesting { limit: 2_000 });
    assert_eq!(error.position.column, 2_001);

    // Without the limit, depth is no problem either.
    let mut deep = Limits::default();
    deep.nesting = usize::MAX;
    let pattern = format!("{}a{}", "(?:".repeat(100_000), "b|c)*".repeat(100_000));
    assert_eq!(kind_of(&pattern, &deep), None);
}

#[test]
fn nodes() {
    let mut limits = Limits::default();
    limits.nodes = 100;
    assert_eq!(kind_of(&"a*".repeat(200), &limits), Some(Kind::Nodes { limit: 100 }));
    // One literal, however long.
    assert_eq!(kind_of(&"a".repeat(200), &limits), None);

    // What the body holds already counts.
    let mut body = BodyBuilder::new();
    for number in 0..100_u32 {
        body.literal(&number.to_be_bytes());
    }
    let error = lower("a", &Options::default(), &limits, &mut body).expect_err("a full body");
    assert_eq!(error.kind, Kind::Nodes { limit: 100 });
}

#[test]
fn counted_repetition_is_not_unrolled() {
    let mut body = BodyBuilder::new();
    let root = lower("(a{1,1000}){1,1000}", &Options::default(), &Limits::default(), &mut body);
    let body = body.finish(root.expect("small"));
    assert_eq!(body.nodes().len(), 3, "{body:?}");
    let Node::Repeat(outer) = body[body.root()] else { panic!("{body:?}") };
    assert_eq!((outer.min, outer.max), (1, Some(1_000)));
    let Node::Repeat(inner) = body[outer.expr] else { panic!("{body:?}") };
    assert_eq!((inner.min, inner.max), (1, Some(1_000)));
}

#[test]
fn unrolling_spends_the_fuel_of_the_caller() {
    let mut fuel = Fuel::new(10_000, 1_000_000);
    let limits = Limits::default();
    let error = language("(a{1,1000}){1,1000}", &Options::default(), &limits, &mut fuel)
        .expect_err("a million states");
    assert_eq!(error.kind, Kind::Exhausted(Exhausted::States { limit: 10_000 }));
    assert_eq!(fuel.states_spent(), 10_000);
}

#[test]
fn exponential_patterns_stop() {
    let options = Options::default().with_mode(MatchMode::Search);
    let limits = Limits::default();
    let mut fuel = Fuel::new(10_000, 10_000_000);
    let error = language("a.{100}b$", &options, &limits, &mut fuel).expect_err("2^100 states");
    assert!(matches!(error.kind, Kind::Exhausted(_)), "{error}");
}

#[test]
fn classes_by_the_thousand_stop() {
    let limits = Limits::default();
    // The same table over and over is the same set; in a class it is joined as it comes.
    assert_eq!(kind_of(&r"\p{L}".repeat(100_000), &limits), None);
    assert_eq!(kind_of(&format!("[{}]", r"\p{L}".repeat(10_000)), &limits), None);
    // Sets of their own are paid for.
    let own = (0..200_000).map(|n| format!(r"[\p{{L}}\u{{{n:x}}}]"));
    let pattern: String = own.filter(|class| !class.contains("{d")).collect();
    assert!(matches!(kind_of(&pattern, &limits), Some(Kind::Exhausted(_))));
}

#[test]
fn copies_of_copies_stop() {
    // Each level is a sequence of its own once the anchor is resolved, and holds all that is below.
    let depth = 1_900;
    let pattern =
        format!("{}{}{}", "(^|".repeat(depth), "x".repeat(2_000_000), "a)b".repeat(depth));
    assert!(matches!(kind_of(&pattern, &Limits::default()), Some(Kind::Exhausted(_))));
}

#[test]
fn many_anchors_stay_small() {
    // Quadratic if sequences with anchors were extended one by one.
    let pattern = "(?:^|a)".repeat(20_000);
    let mut body = BodyBuilder::new();
    let root = lower(&pattern, &Options::default(), &Limits::default(), &mut body);
    assert!(root.is_ok());
    assert!(body.len() < 200_000, "{} nodes", body.len());

    let dfa = language_of(&"(?:^|a|$)".repeat(50), &Options::default()).expect("fifty letters");
    assert_eq!(dfa.longest_word_len(), Some(50));
}

#[test]
fn what_cannot_match_is_never() {
    for pattern in ["a^b", "[]", r"$a", "(?:a$){2}", r"[^\x00-\u{10FFFF}]"] {
        let grammar =
            compile(pattern, &Options::default(), &Limits::default()).expect("well formed");
        let body = grammar.body(grammar.root()).expect("defined");
        assert_eq!(body[body.root()], Node::Never, "{pattern}");
    }
}
