//! The backend `dfa` under every law.

use formwork_conformance::suite::{Options, run};
use formwork_dfa::DfaBackend;

#[test]
fn the_dfa_backend_obeys_every_law() {
    let report = run(&DfaBackend, &Options { cases: 600, ..Options::default() });
    assert!(report.is_clean(), "{report}");
    assert!(report.passed > 200, "{report}");
}
