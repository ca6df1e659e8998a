//! Data files: what they state is checked, and stale skips are found.

use formwork_conformance::{
    sample::SampleBackend,
    suite::{Law, Options, Report, run},
};
use std::{fs, path::PathBuf};

/// A folder of its own, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("suite")).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const CASE: &str = r#"
[[case]]
name = "choice"
choice = ["ab", "ac"]
every_byte = true
vocabulary = ["a", "b", "c", "<|end|>"]
"#;

fn report(test: &str, case: &str, skips: &str) -> Report {
    let folder = Folder::new(test);
    fs::write(folder.0.join("suite/file.toml"), case).unwrap();
    fs::write(folder.0.join("skips.toml"), skips).unwrap();
    run(
        &SampleBackend,
        &Options {
            data: Some(folder.0.join("suite")),
            skips: Some(folder.0.join("skips.toml")),
            grammars: Vec::new(),
            ..Options::default()
        },
    )
}

#[test]
fn what_a_case_states_is_checked() {
    let right = format!(
        "{CASE}accepts = ['ab']\nrejects = ['a']\n[[case.mask]]\nafter = 'a'\nallows = ['b', 'c']"
    );
    let report_of_right = report("right", &right, "");
    assert!(report_of_right.is_clean(), "{report_of_right}");
    let wrong = [
        "accepts = ['a']",
        "rejects = ['ab']",
        "[[case.mask]]\nafter = 'a'\nallows = ['b']",
        "[[case.mask]]\nafter = 'b'\nallows = ['b']",
        "[[case.mask]]\nafter = ''\nforced = 'b'",
    ];
    for (number, stated) in wrong.into_iter().enumerate() {
        let report = report(&format!("wrong{number}"), &format!("{CASE}{stated}"), "");
        let violation = report.failures.first().and_then(|failure| failure.violation.as_ref());
        assert_eq!(violation.map(|v| v.law), Some(Law::Data), "{stated}: {report}");
    }
    let report = report("unsatisfiable", &format!("{CASE}unsatisfiable = true"), "");
    assert!(!report.is_clean(), "{report}");
}

#[test]
fn a_skip_needs_a_failing_case() {
    let failing = format!("{CASE}accepts = ['a']");
    let skip = "[[skip]]\nbackend = 'sample'\ncase = 'file/choice'\nreason = 'a test'";
    let skipped = report("skipped", &failing, skip);
    assert!(skipped.is_clean() && skipped.skipped.len() == 1, "{skipped}");
    let stale = report("stale", CASE, skip);
    assert_eq!(stale.failures.len(), 1, "{stale}");
    let unknown = report("unknown", CASE, &skip.replace("choice", "other"));
    assert_eq!(unknown.failures.len(), 1, "{unknown}");
    let others = report("others", CASE, &skip.replace("sample", "dfa"));
    assert!(others.is_clean(), "{others}");
}

#[test]
fn a_file_that_cannot_be_read_is_a_failure() {
    let report = report("unreadable", "[[case]]\nname = 'x'\nregexp = 'a'\nvocabulary = []", "");
    assert_eq!(report.failures.len(), 1, "{report}");
}
