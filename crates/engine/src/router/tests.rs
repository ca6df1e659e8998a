//! Names, costs and refusals lead where they should.

use super::*;
use formwork::{Constraint, FrontEndOptions, TokenId, backend, lower};
use formwork_conformance::minimal::MinimalBackend;

fn matter(constraint: &Constraint, demand: Demand) -> Matter {
    let limits = Limits::default();
    let grammar = lower(constraint, &FrontEndOptions::default(), &limits).unwrap();
    let tokens = (0..=255_u8).map(|byte| (TokenId::new(byte.into()), [byte]));
    let builder = tokens.fold(Vocabulary::builder(257), |it, (id, byte)| it.token(id, &byte));
    let vocabulary = builder.special(TokenId::new(256), "<e>").eos(TokenId::new(256)).build();
    Matter {
        grammar: Arc::new(grammar),
        vocabulary: Arc::new(vocabulary.unwrap()),
        limits,
        source_bytes: 1_000,
        demand,
    }
}

const SCHEMA: &str = r##"{"type":"array","items":{"$ref":"#"}}"##;

fn auto(constraint: &Constraint, demand: Demand, first: Option<&str>) -> Explanation {
    let matter = matter(constraint, demand);
    let route = Route::auto(&Backends::new(), first, &matter);
    route.compile(&matter, &CancellationToken::new()).unwrap().1
}

fn chosen(explanation: &Explanation) -> &str {
    explanation.chosen.as_deref().unwrap()
}

#[test]
fn a_name_is_taken_at_its_word() {
    let backends = Backends::new().with(Arc::new(MinimalBackend), None);
    let matter = matter(&Constraint::JsonSchema(SCHEMA.into()), Demand::default());
    let route = Route::named(&backends, "minimal", &matter).unwrap();
    let error = route.compile(&matter, &CancellationToken::new()).unwrap_err();
    assert!(matches!(error, EngineError::Compilation(_)), "nobody else is asked: {error}");
    let error = Route::named(&backends, "maximal", &matter).unwrap_err().to_string();
    assert!(error.contains("`dfa`") && error.contains("`minimal`"), "{error}");
}

#[test]
fn cost_decides_and_demand_decides_cost() {
    let schema = Constraint::JsonSchema(SCHEMA.into());
    let once = auto(&schema, Demand { uses: 1, tokens: 10 }, None);
    let often = auto(&schema, Demand { uses: 100_000, tokens: 1_000 }, None);
    assert_eq!(chosen(&once), "earley");
    assert!(chosen(&often).starts_with("pda"), "{often}");
    let regular = Constraint::Regex("[a-c]{3}".into());
    let often = auto(&regular, Demand { uses: 100_000, tokens: 1_000 }, None);
    assert_eq!(chosen(&often), "dfa");
}

#[test]
fn the_first_tier_comes_first_where_it_can() {
    let regular = Constraint::Regex("[a-c]{3}".into());
    let demand = Demand { uses: 100_000, tokens: 1_000 };
    assert_eq!(chosen(&auto(&regular, demand, Some("earley"))), "earley");
    let nested = Constraint::JsonSchema(SCHEMA.into());
    let explanation = auto(&nested, demand, Some("dfa"));
    assert_ne!(chosen(&explanation), "dfa", "it does regular grammars only");
    assert!(explanation.to_string().contains("dfa: not supported"), "{explanation}");
}

#[test]
fn what_a_backend_cannot_do_goes_to_the_next_and_what_nobody_can_is_told() {
    let regular = Constraint::Regex("[a-c]{3000}".into());
    let demand = Demand { uses: 100_000, tokens: 1_000 };
    let mut matter = matter(&regular, demand);
    matter.limits.automaton_states = 100;
    let only = |name| Backends::none().with(backend(name).unwrap(), None);
    let both = only("dfa").with(backend("earley").unwrap(), None);
    let compile = |backends: &Backends| {
        Route::auto(backends, None, &matter).compile(&matter, &CancellationToken::new())
    };
    let (_, explanation) = compile(&both).unwrap();
    assert_eq!(chosen(&explanation), "earley", "{explanation}");
    let error = compile(&only("dfa")).unwrap_err();
    assert!(
        matches!(&error, EngineError::NoBackend { explanation }
        if explanation.chosen.is_none() && explanation.candidates.len() == 1),
        "{error}"
    );
}

#[test]
fn what_is_wrong_with_the_grammar_ends_the_search() {
    let regular = Constraint::Regex("[a-c]{3}".into());
    let matter = matter(&regular, Demand::default());
    let token = CancellationToken::new();
    token.cancel();
    let error = Route::auto(&Backends::new(), None, &matter).compile(&matter, &token).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
}

#[test]
fn only_what_is_better_is_left_of_a_route() {
    let regular = Constraint::Regex("[a-c]{3}".into());
    let matter = matter(&regular, Demand { uses: 100_000, tokens: 1_000 });
    let route = Route::auto(&Backends::new(), None, &matter).better_than("dfa");
    assert!(route.attempts.is_empty(), "nothing is better for a regular grammar in demand");
    let route = Route::auto(&Backends::new(), None, &matter).better_than("earley");
    assert!(route.attempts.iter().all(|attempt| attempt.backend.name() != "earley"));
    assert_eq!(route.attempts[0].backend.name(), "dfa");
}
