//! Cases and results, as JSON lines.
//!
//! A case is a schema with instances of it, each as tokens of the vocabulary. A result repeats the
//! case's id and says how long every mask took and what became of every instance. Times are in
//! microseconds.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One line of input. Other keys are passed over.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    /// Its name, unique among the cases.
    pub(crate) id: String,
    /// The collection it is of.
    #[serde(default)]
    pub(crate) split: String,
    /// The schema, as its text, so that numbers keep all their digits.
    pub(crate) schema: Box<RawValue>,
    pub(crate) tests: Vec<Test>,
}

/// An instance.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Test {
    /// Whether the schema admits it.
    pub(crate) valid: bool,
    pub(crate) tokens: Vec<u32>,
}

/// One line of output.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// What was measured: the same in all lines of a run.
    pub(crate) engine: String,
    pub(crate) id: String,
    pub(crate) split: String,
    pub(crate) status: Status,
    /// Why the status is not [`Status::Ok`].
    pub(crate) error: Option<String>,
    /// From the schema's text to a matcher that is ready for its first mask; the limit, when that
    /// took longer.
    pub(crate) compile_us: f64,
    /// The first mask of the first test, or of no test when there is none.
    pub(crate) first_mask_us: f64,
    /// How many masks there were, those after a last token excepted.
    pub(crate) tokens: usize,
    /// Each mask, the one that refuses included.
    pub(crate) mask_us: Vec<f64>,
    /// Each commit; 0 after a mask that refuses.
    pub(crate) commit_us: Vec<f64>,
    /// Making a fresh matcher, per test.
    pub(crate) reset_us: Vec<f64>,
    pub(crate) tests: Vec<Verdict>,
    /// Where a case was that took too long or ended badly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<Phase>,
}

/// What became of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// It ran to its end, whatever the verdicts.
    #[default]
    Ok,
    /// The schema was refused.
    CompileError,
    /// It took longer than it may.
    Timeout,
    /// Something panicked.
    Crash,
    /// Anything else.
    Error,
}

/// A part of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// Up to the matcher that is ready for its first mask.
    Compile,
    /// After that.
    Match,
}

/// What became of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// Whether the schema admits it.
    pub(crate) valid: bool,
    /// Whether every token was allowed.
    pub(crate) accepted_prefix: bool,
    /// Whether the output may end after the last token; `None` when that was not reached.
    pub(crate) eos_allowed: Option<bool>,
    /// Tokens committed.
    pub(crate) tokens_done: usize,
    /// Masks made, and timed.
    pub(crate) masks: usize,
    /// What went wrong with the test itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Verdict {
    /// Whether the instance was accepted, its end included.
    pub(crate) fn accepted(&self) -> bool {
        self.accepted_prefix && self.eos_allowed == Some(true)
    }
}

/// A line between a case and its result: the schema has been compiled.
#[derive(Debug, Serialize)]
pub(crate) struct Compiled<'a> {
    /// The case's id.
    pub(crate) compiled: &'a str,
    pub(crate) compile_us: f64,
}

/// The first line of a worker.
#[derive(Debug, Serialize)]
pub(crate) struct Ready<'a> {
    /// The name that stands in [`Outcome::engine`].
    pub(crate) ready: &'a str,
    pub(crate) info: Info<'a>,
}

/// What a worker says of itself.
#[derive(Debug, Serialize)]
pub(crate) struct Info<'a> {
    /// Of this program.
    pub(crate) version: &'a str,
    pub(crate) backend: &'a str,
    /// Ids of the vocabulary.
    pub(crate) vocabulary: usize,
    /// Bits of a row.
    pub(crate) row_bits: usize,
    /// Computing once what all cases share; in no other figure.
    pub(crate) prepare_us: f64,
    /// The mean of an empty timed region: every reported time contains it.
    pub(crate) timer_baseline_ns: f64,
    pub(crate) threads: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_keeps_the_digits_of_its_schema_and_may_have_more_keys() {
        let line = r#"{"id":"a","split":"s","meta":{},
            "schema":{"maximum":1.000000000000000000000001},
            "tests":[{"valid":true,"tokens":[1,2],"note":"x"}]}"#;
        let case: Case = serde_json::from_str(line).unwrap();
        assert_eq!(case.schema.get(), r#"{"maximum":1.000000000000000000000001}"#);
        assert_eq!((case.tests[0].valid, &*case.tests[0].tokens), (true, &[1, 2][..]));
        assert!(serde_json::from_str::<Case>(r#"{"id":"a","schema":{}}"#).is_err());
    }

    #[test]
    fn a_result_has_the_keys_that_readers_look_for() {
        let outcome = Outcome {
            engine: "e".into(),
            id: "a".into(),
            status: Status::CompileError,
            error: Some("no".into()),
            tests: vec![Verdict::default()],
            ..Outcome::default()
        };
        let expected = serde_json::json!({
            "engine": "e", "id": "a", "split": "", "status": "compile_error", "error": "no",
            "compile_us": 0.0, "first_mask_us": 0.0, "tokens": 0,
            "mask_us": [], "commit_us": [], "reset_us": [],
            "tests": [{"valid": false, "accepted_prefix": false, "eos_allowed": null,
                       "tokens_done": 0, "masks": 0}]
        });
        assert_eq!(serde_json::to_value(outcome).unwrap(), expected);
        let late =
            Outcome { status: Status::Timeout, phase: Some(Phase::Match), ..Outcome::default() };
        let late = serde_json::to_value(late).unwrap();
        assert_eq!((&late["status"], &late["phase"]), (&"timeout".into(), &"match".into()));
        let compiled = Compiled { compiled: "a", compile_us: 1.5 };
        assert_eq!(
            serde_json::to_string(&compiled).unwrap(),
            r#"{"compiled":"a","compile_us":1.5}"#
        );
    }
}
