//! The earley backend under every law.

use formwork_conformance::{
    random::{Construct, GrammarOptions},
    suite::{Law, Options, Report, run},
};
use formwork_earley::EarleyBackend;
use std::thread;

/// The data cases, and random grammars over the whole grammar representation.
#[test]
fn the_earley_backend_obeys_every_law() {
    let report = run(&EarleyBackend, &Options { cases: 1_000, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 100, "{report}");
}

/// Random context-free grammars, in number.
#[test]
fn the_earley_backend_obeys_every_law_on_many_context_free_grammars() {
    let report = on_many(&GrammarOptions::context_free());
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 4_000, "{report}");
    assert!(report.checks[&Law::Mask] >= 40_000, "{report}");
}

/// The same with intersections and complements, counted symbols among them.
#[test]
fn the_earley_backend_obeys_every_law_on_many_grammars_with_languages() {
    let constructs = vec![Construct::Languages];
    let report = on_many(&GrammarOptions { constructs, ..GrammarOptions::everything() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 3_000, "{report}");
}

/// The same with items in any order, with keys that must differ and with keys that may repeat.
#[test]
fn the_earley_backend_obeys_every_law_on_many_grammars_with_unordered_items() {
    let constructs = vec![Construct::Permute, Construct::Distinct];
    let report = on_many(&GrammarOptions { constructs, ..GrammarOptions::everything() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 3_000, "{report}");
}

/// The same with tokens as symbols, beside all that is above.
#[test]
fn the_earley_backend_obeys_every_law_on_many_grammars_with_tokens() {
    let constructs =
        vec![Construct::Tokens, Construct::Languages, Construct::Permute, Construct::Distinct];
    let report = on_many(&GrammarOptions { constructs, ..GrammarOptions::everything() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 3_000, "{report}");
}

/// The same with look-ahead: by itself, and beside all that is above.
#[test]
fn the_earley_backend_obeys_every_law_on_many_grammars_with_look_ahead() {
    let beside = [Construct::Tokens, Construct::Languages, Construct::Permute, Construct::Distinct];
    for constructs in [vec![], beside.to_vec()] {
        let constructs = [vec![Construct::LookAhead], constructs].concat();
        // The oracle takes seconds for some of them.
        let grammars = GrammarOptions { constructs, ..GrammarOptions::everything() };
        let report = on_cases(&grammars, 250);
        assert!(report.is_clean(), "{report}");
        assert!(report.passed >= 375, "{report}");
    }
}

fn on_many(grammars: &GrammarOptions) -> Report {
    on_cases(grammars, 2_000)
}

/// So many cases of each of four seeds.
fn on_cases(grammars: &GrammarOptions, cases: u32) -> Report {
    let of_seed = |seed| {
        let grammars = vec![grammars.clone()];
        let options = Options { data: None, skips: None, grammars, seed, ..Options::default() };
        run(&EarleyBackend, &Options { cases, ..options })
    };
    let mut report = Report::default();
    thread::scope(|scope| {
        let runs: Vec<_> = (1..=4).map(|seed| scope.spawn(move || of_seed(seed))).collect();
        runs.into_iter().for_each(|run| report.merge(run.join().expect("a run does not panic")));
    });
    report
}
