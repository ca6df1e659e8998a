//! Facts about small constraints.

use super::*;
use formwork::json_schema::WhiteSpace;
use formwork::{Constraint, FrontEndOptions, backend};

fn grammar(constraint: &Constraint) -> Grammar {
    let mut options = FrontEndOptions::default();
    options.json_schema.white_space = WhiteSpace::Compact;
    lower(constraint, &options, &Limits::default()).unwrap()
}

fn facts_of(constraint: &Constraint) -> GrammarFacts {
    grammar_facts(&grammar(constraint), &Limits::default(), &mut Times::default()).unwrap()
}

#[test]
fn a_regular_grammar_is_one_island_and_a_recursive_one_is_not() {
    let regular = facts_of(&Constraint::Regex("a+b".into()));
    assert!(regular.one_island);
    assert_eq!((regular.recursive_rules, regular.regular_rules), (0, regular.rules));
    let tree = r##"{"type": "object", "properties": {"child": {"$ref": "#"}},
                   "additionalProperties": false}"##;
    let recursive = facts_of(&Constraint::JsonSchema(tree.into()));
    assert!(!recursive.one_island && recursive.recursive_rules > 0);
    assert!(recursive.rule.iter().any(|rule| rule.recursion == facts::Recursion::Embedding));
    assert_eq!(recursive.rule.iter().map(|rule| rule.nodes).sum::<usize>(), recursive.nodes);
}

#[test]
fn the_walk_counts_what_was_forced() {
    let vocabulary = crate::vocabularies::cl100k_base();
    let compiled_facts = |choices: &[&str]| {
        let constraint = Constraint::Choice(choices.iter().map(|&choice| choice.into()).collect());
        let request = CompileRequest::new(Arc::new(grammar(&constraint)), vocabulary.clone());
        let arguments = arguments();
        let backend = backend("dfa").unwrap();
        super::compiled_facts(&backend, &request, &arguments, &mut Times::default()).unwrap()
    };
    let forced = compiled_facts(&["always the same"]);
    assert_eq!((forced.walk.bytes, forced.walk.forced_share), (15, 1.0));
    assert!(forced.counts.value("states").is_some_and(|states| states == 16), "{forced}");
    let free = compiled_facts(&["xa", "ya", "za"]);
    assert!(free.walk.forced_share < 1.0);
}

fn arguments() -> Inspect {
    use clap::Parser;
    let line = ["formwork", "inspect", "--regex", "a"];
    match crate::args::Args::parse_from(line).command {
        crate::args::Command::Inspect(arguments) => arguments,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_refusal_says_why_and_stands_where_the_numbers_would() {
    let refused: Outcome<AutomatonFacts> = Outcome::new(Err("because"));
    assert_eq!(serde_json::to_string(&refused).unwrap(), r#"{"refused":"because"}"#);
    let done = Outcome::<_>::new(Ok::<_, String>(automaton_facts(&graph::tests::dfa("ab?"))));
    let done = serde_json::to_value(done).unwrap();
    assert_eq!((&done["states"], &done["accepting_states"]), (&3.into(), &2.into()));
}
