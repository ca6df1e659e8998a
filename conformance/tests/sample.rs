//! The sample backend passes the suite: so the suite can be passed, and shows where to begin.

use formwork_conformance::{
    minimal::MinimalBackend,
    sample::SampleBackend,
    suite::{Options, run},
};

#[test]
fn the_sample_backend_obeys_every_law() {
    let report = run(&SampleBackend, &Options { cases: 300, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 100, "{report}");
}

#[test]
fn the_minimal_backend_obeys_every_law() {
    let report = run(&MinimalBackend, &Options { cases: 1_000, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 100, "{report}");
}
