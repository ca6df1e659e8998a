//! The backend `dfa` under every law.

use formwork_conformance::{
    random::GrammarOptions,
    suite::{Law, Options, Report, run},
};
use formwork_dfa::DfaBackend;
use std::thread;

/// The data cases, and random grammars over the whole grammar representation.
#[test]
fn the_dfa_backend_obeys_every_law() {
    let report = run(&DfaBackend, &Options { cases: 1_000, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 1_500, "{report}");
}

/// Random regular grammars, in number. What counts is the cases compared with the oracle to their
/// end: not those drawn, nor those that nothing satisfies or that exceed a limit.
#[test]
fn the_dfa_backend_obeys_every_law_on_many_regular_grammars() {
    let of_seed = |seed| {
        let grammars = vec![GrammarOptions::regular()];
        let options = Options { data: None, skips: None, grammars, seed, ..Options::default() };
        run(&DfaBackend, &Options { cases: 8_000, ..options })
    };
    let mut report = Report::default();
    thread::scope(|scope| {
        let runs: Vec<_> = (1..=4).map(|seed| scope.spawn(move || of_seed(seed))).collect();
        runs.into_iter().for_each(|run| report.merge(run.join().expect("a run does not panic")));
    });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed >= 20_000, "{report}");
    assert!(report.checks[&Law::Mask] >= 200_000, "{report}");
}
