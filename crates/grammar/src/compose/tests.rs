//! A composition generates what the same rules generate in one grammar.

use super::*;
use crate::GrammarBuilder;
use proptest::prelude::*;
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
};

/// A rule of a described grammar, as a tree over its own rules and the other grammars.
#[derive(Clone, Debug)]
enum Expr {
    Text(&'static str),
    Seq(Vec<Expr>),
    Alt(Vec<Expr>),
    Rule(usize),
    /// The whole of another grammar.
    Hole(usize),
}

/// Rules; the first is the root.
type Description = Vec<Expr>;

fn build(expr: &Expr, body: &mut BodyBuilder, rules: &[RuleId], holes: &[RuleId]) -> ExprId {
    let each = |list: &[Expr], body: &mut BodyBuilder| -> Vec<ExprId> {
        list.iter().map(|expr| build(expr, body, rules, holes)).collect()
    };
    match expr {
        Expr::Text(text) => body.literal(text.as_bytes()),
        Expr::Seq(list) => {
            let list = each(list, body);
            body.seq(&list)
        }
        Expr::Alt(list) => {
            let list = each(list, body);
            body.alt(&list)
        }
        Expr::Rule(rule) => body.rule(rules[rule % rules.len()]),
        Expr::Hole(_) if holes.is_empty() => body.empty(),
        Expr::Hole(hole) => body.rule(holes[hole % holes.len()]),
    }
}

/// An eager grammar, and its rules that stand for others.
fn eager(description: &Description, hole_count: usize) -> (Grammar, Vec<RuleId>) {
    let mut builder = GrammarBuilder::new();
    let holes: Vec<_> = (0..hole_count).map(|_| builder.declare("hole")).collect();
    let rules: Vec<_> = description.iter().map(|_| builder.declare("rule")).collect();
    for &hole in &holes {
        let mut body = BodyBuilder::new();
        let root = body.literal(b"never looked at");
        builder.define(hole, body.finish(root)).expect("once");
    }
    for (&rule, expr) in rules.iter().zip(description) {
        let mut body = BodyBuilder::new();
        let root = build(expr, &mut body, &rules, &holes);
        builder.define(rule, body.finish(root)).expect("once");
    }
    (builder.finish(rules[0]).expect("defined"), holes)
}

/// The same rules, each lowered when it is asked for.
#[derive(Debug)]
struct Late {
    description: Description,
    rules: RwLock<Vec<Option<RuleId>>>,
}

impl LowerRule for Late {
    fn lower(
        &self,
        rule: RuleId,
        body: &mut BodyBuilder,
        rules: &RuleAllocator<'_>,
    ) -> Result<ExprId, LowerError> {
        let mut known = self.rules.write().expect("not poisoned");
        known[0] = known[0].or(Some(rule));
        for slot in known.iter_mut() {
            slot.get_or_insert_with(|| rules.rule("late rule"));
        }
        let known: Vec<RuleId> = known.iter().flatten().copied().collect();
        let at = known.iter().position(|&id| id == rule).expect("one of these");
        Ok(build(&self.description[at], body, &known, &[]))
    }
}

fn lazy(description: &Description) -> Grammar {
    let rules = RwLock::new(vec![None; description.len()]);
    Grammar::lazy("late", Arc::new(Late { description: description.clone(), rules }))
}

/// All the grammars as one, in which a hole is the first rule of a grammar.
fn glued(outer: &Description, parts: &[Description]) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let all: Vec<&Description> = std::iter::once(outer).chain(parts).collect();
    let rules: Vec<Vec<RuleId>> =
        all.iter().map(|one| one.iter().map(|_| builder.declare("rule")).collect()).collect();
    let roots: Vec<RuleId> = rules[1..].iter().map(|rules| rules[0]).collect();
    for (which, description) in all.iter().enumerate() {
        let holes: &[RuleId] = if which == 0 { &roots } else { &[] };
        for (&rule, expr) in rules[which].iter().zip(description.iter()) {
            let mut body = BodyBuilder::new();
            let root = build(expr, &mut body, &rules[which], holes);
            builder.define(rule, body.finish(root)).expect("once");
        }
    }
    builder.finish(rules[0][0]).expect("defined")
}

const LONGEST: usize = 5;

type Words = BTreeSet<Vec<u8>>;

fn joined(left: &Words, right: &Words) -> Words {
    let pairs = left.iter().flat_map(|a| right.iter().map(move |b| [&a[..], &b[..]].concat()));
    pairs.filter(|word| word.len() <= LONGEST).collect()
}

/// The short words of a grammar: the least sets that its bodies allow.
fn words(grammar: &Grammar) -> Words {
    let rules = grammar.lower_all(&Limits::default()).expect("few rules");
    let mut of: FxHashMap<RuleId, Words> = FxHashMap::default();
    loop {
        let before = of.clone();
        for &rule in &rules {
            let body = grammar.body(rule).expect("lowered");
            let mut nodes: Vec<Words> = Vec::new();
            for node in body.nodes() {
                nodes.push(match node {
                    Node::Never => Words::new(),
                    Node::Empty => [vec![]].into(),
                    Node::Literal(bytes) => [bytes.to_vec()].into(),
                    Node::Bytes(set) => set.iter().map(|byte| vec![byte]).collect(),
                    Node::Seq(parts) => parts
                        .iter()
                        .fold([vec![]].into(), |words, part| joined(&words, &nodes[part.index()])),
                    Node::Alt(choices) => {
                        choices.iter().flat_map(|part| nodes[part.index()].clone()).collect()
                    }
                    Node::Repeat(repeat) => {
                        assert_eq!((repeat.min, repeat.max), (0, Some(1)));
                        let mut words = nodes[repeat.expr.index()].clone();
                        words.insert(vec![]);
                        words
                    }
                    Node::Rule(rule) => of.get(rule).cloned().unwrap_or_default(),
                    other => unreachable!("no {other:?} here"),
                });
            }
            of.insert(rule, nodes.pop().expect("a root"));
        }
        if of == before {
            return of[&grammar.root()].clone();
        }
    }
}

/// Whether some rule of the grammar generates nothing.
fn has_dead_rules(grammar: &Grammar) -> bool {
    let rules = passes::reach(grammar, &Limits::default()).expect("few rules");
    let mut fuel = Limits::default().fuel(&CancellationToken::new());
    without_unproductive(&rules, &mut fuel).expect("few rules").is_some()
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        3 => prop::sample::select(vec!["", "a", "b", "ab"]).prop_map(Expr::Text),
        2 => (0..4usize).prop_map(Expr::Rule),
        2 => (0..4usize).prop_map(Expr::Hole),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(Expr::Seq),
            prop::collection::vec(inner, 1..3).prop_map(Expr::Alt),
        ]
    })
}

fn description() -> impl Strategy<Value = Description> {
    prop::collection::vec(expr(), 1..4)
}

/// Every rule with a way out.
fn with_base_cases(description: &Description) -> Description {
    let with = |expr: &Expr| Expr::Alt(vec![expr.clone(), Expr::Text("b")]);
    description.iter().map(with).collect()
}

proptest! {
    #[test]
    fn eager_grammars_compose_to_what_their_rules_are_together(
        outer in description(),
        parts in prop::collection::vec(description(), 1..3),
    ) {
        let (grammar, holes) = eager(&outer, parts.len());
        let filled = holes.into_iter().zip(&parts).map(|(hole, part)| (hole, Part::of(eager(part, 0).0)));
        let composed = compose(grammar, filled, &Limits::default()).unwrap();
        prop_assert!(!composed.is_lazy());
        prop_assert_eq!(words(&composed), words(&glued(&outer, &parts)));
    }

    #[test]
    fn lazy_and_late_parts_compose_the_same_and_leave_nothing_that_cannot_be_completed(
        outer in description(),
        parts in prop::collection::vec((description(), 0..3u8), 1..4),
    ) {
        let (grammar, holes) = eager(&outer, parts.len());
        let parts: Vec<(Description, u8)> = parts
            .into_iter()
            .map(|(part, kind)| if kind == 0 { (part, kind) } else { (with_base_cases(&part), kind) })
            .collect();
        let filled = holes.into_iter().zip(&parts).map(|(hole, (part, kind))| {
            let part = match kind {
                0 => Part::of(eager(part, 0).0),
                1 => Part::of(lazy(part)),
                _ => {
                    let part = part.clone();
                    Part::late(move || Ok(lazy(&part)))
                }
            };
            (hole, part)
        });
        let composed = compose(grammar, filled, &Limits::default()).unwrap();
        let descriptions: Vec<Description> = parts.iter().map(|(part, _)| part.clone()).collect();
        let expected = glued(&outer, &descriptions);
        prop_assert_eq!(words(&composed), words(&expected));
        let alone = composed.body(composed.root()).unwrap().nodes() == [Node::Never];
        prop_assert!(alone || !composed.is_lazy() || !has_dead_rules(&composed));
    }

    #[test]
    fn a_rule_has_one_body_in_whatever_order_rules_are_asked_for(part in description()) {
        let (grammar, holes) = eager(&vec![Expr::Seq(vec![Expr::Hole(0), Expr::Hole(0)])], 1);
        let part = Part::of(lazy(&with_base_cases(&part)));
        let composed = compose(grammar, [(holes[0], part)], &Limits::default()).unwrap();
        let rules = composed.lower_all(&Limits::default()).unwrap();
        let first: Vec<_> = rules.iter().map(|&rule| composed.body(rule).unwrap()).collect();
        let again: Vec<_> = rules.iter().rev().map(|&rule| composed.body(rule).unwrap()).collect();
        prop_assert!(first.iter().eq(again.iter().rev()));
        prop_assert!(rules.len() <= 2 + 4, "no rule has two numbers");
    }
}

fn one_hole() -> (Grammar, RuleId) {
    let (grammar, holes) =
        eager(&vec![Expr::Alt(vec![Expr::Text("ab"), Expr::Hole(0)]), Expr::Text("")], 1);
    (grammar, holes[0])
}

fn warning(pointer: &str) -> Warning {
    Warning { location: Location::Pointer(pointer.into()), message: "m".into() }
}

#[test]
fn a_late_part_is_made_once_and_only_when_its_rule_is_asked_for() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let (outer, hole) = one_hole();
    let part = Part::late(|| {
        MADE.fetch_add(1, Ordering::Relaxed);
        Ok(eager(&vec![Expr::Text("a")], 0).0)
    });
    let composed = compose(outer, [(hole, part)], &Limits::default()).unwrap();
    let root = composed.body(composed.root()).unwrap();
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
    for rule in root.references() {
        composed.body(rule).unwrap();
    }
    assert_eq!(words(&composed), [b"a".to_vec(), b"ab".to_vec()].into());
    assert_eq!(MADE.load(Ordering::Relaxed), 1);
}

#[test]
fn errors_and_warnings_of_parts_are_located_in_the_text_around_them() {
    let (outer, hole) = one_hole();
    let outer = outer.with_warnings(vec![warning("/x")]);
    let base = || Location::Pointer("/a".into());
    let failing = Part::late(|| {
        Err(LowerError {
            location: Location::Pointer("/b".into()),
            source: Arc::new(Unsatisfiable),
        })
    });
    let composed = compose(outer, [(hole, failing.at(base()))], &Limits::default()).unwrap();
    assert_eq!(composed.warnings(), [warning("/x")]);
    let error = composed.lower_all(&Limits::default()).unwrap_err();
    assert!(
        matches!(&error, GrammarError::Lower(error) if error.location == Location::Pointer("/a/b".into())),
        "{error}"
    );

    let (outer, hole) = one_hole();
    let warned = eager(&vec![Expr::Text("a")], 0).0.with_warnings(vec![warning("/b")]);
    let composed =
        compose(outer, [(hole, Part::of(warned).at(base()))], &Limits::default()).unwrap();
    assert_eq!(composed.warnings(), [warning("/a/b")]);
}

#[test]
fn a_late_part_that_generates_nothing_is_an_error_of_its_rule() {
    let (outer, hole) = one_hole();
    let part =
        Part::late(|| Ok(eager(&vec![Expr::Rule(0)], 0).0)).at(Location::Pointer("/a".into()));
    let composed = compose(outer, [(hole, part)], &Limits::default()).unwrap();
    let Err(GrammarError::Lower(error)) = composed.lower_all(&Limits::default()) else {
        panic!("nothing satisfies the part")
    };
    assert_eq!(error.location, Location::Pointer("/a".into()));
    assert!(error.source.is::<Unsatisfiable>());
}

#[test]
fn limits_hold_for_what_is_copied() {
    let (outer, hole) = one_hole();
    let part = eager(&vec![Expr::Rule(1), Expr::Text("a")], 0).0;
    let limits = Limits { rules: 1, ..Limits::default() };
    let error = compose(outer, [(hole, Part::of(part))], &limits).unwrap_err();
    assert!(matches!(error, GrammarError::Rules { limit: 1 }), "{error}");
}
