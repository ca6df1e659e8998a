//! The pda backend under every law.

use formwork_conformance::{
    random::{Construct, GrammarOptions},
    suite::{Law, Options, Report, run},
};
use formwork_pda::{PdaBackend, Precompute};
use std::thread;

/// The data cases, and random grammars over the whole grammar representation.
#[test]
fn the_pda_backend_obeys_every_law() {
    let report = run(&PdaBackend::default(), &Options { cases: 1_000, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 900, "{report}");
}

/// The same with all masks made in advance.
#[test]
fn the_pda_backend_obeys_every_law_with_all_masks_made_in_advance() {
    let backend = PdaBackend::new(Precompute::Everything);
    let report = run(&backend, &Options { cases: 500, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 400, "{report}");
}

/// Random context-free grammars, in number.
#[test]
fn the_pda_backend_obeys_every_law_on_many_context_free_grammars() {
    let report = on_many(&GrammarOptions::context_free());
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 2_000, "{report}");
    assert!(report.checks[&Law::Mask] >= 18_000, "{report}");
}

/// The same with intersections and complements.
#[test]
fn the_pda_backend_obeys_every_law_on_many_grammars_with_languages() {
    let constructs = vec![Construct::Languages];
    let report = on_many(&GrammarOptions { constructs, ..GrammarOptions::everything() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 1_500, "{report}");
}

/// The same with tokens as symbols and a few items in any order.
#[test]
fn the_pda_backend_obeys_every_law_on_many_grammars_with_tokens() {
    let constructs = vec![Construct::Tokens, Construct::Languages, Construct::Permute];
    let report = on_many(&GrammarOptions { constructs, ..GrammarOptions::everything() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 1_500, "{report}");
}

fn on_many(grammars: &GrammarOptions) -> Report {
    let of_seed = |seed| {
        let grammars = vec![grammars.clone()];
        let options = Options { data: None, skips: None, grammars, seed, ..Options::default() };
        run(&PdaBackend::default(), &Options { cases: 2_000, ..options })
    };
    let mut report = Report::default();
    thread::scope(|scope| {
        let runs: Vec<_> = (1..=2).map(|seed| scope.spawn(move || of_seed(seed))).collect();
        runs.into_iter().for_each(|run| report.merge(run.join().expect("a run does not panic")));
    });
    report
}
