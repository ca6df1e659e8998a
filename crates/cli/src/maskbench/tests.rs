//! Files and workers.

use super::*;
use serde_json::{Value, json};

fn bench() -> Bench {
    let compiler = Compiler::new(crate::vocabularies::load("bytes").unwrap());
    let time_limit = Duration::from_secs(600);
    Bench {
        engine: engine_name(&compiler, Variant::Compact),
        compiler,
        variant: Variant::Compact,
        time_limit,
    }
}

fn cases() -> String {
    let case = |id: &str, schema: Value| {
        json!({"id": id, "split": "s", "schema": schema,
               "tests": [{"valid": true, "tokens": [0x37]}]})
        .to_string()
    };
    let cases = [
        case("one", json!({"type": "integer"})),
        String::new(),
        case("two", json!({"type": 7})),
        case("three", json!({"enum": [7, 8]})),
    ];
    cases.join("\n") + "\n"
}

/// A file of this test's own.
fn path(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("formwork-maskbench-{}-{name}", std::process::id()))
}

fn run_file_with(name: &str, selection: &Selection) -> (Vec<Value>, Report) {
    let (input, output) = (path(&format!("{name}.jsonl")), path(&format!("{name}.out")));
    std::fs::write(&input, cases()).unwrap();
    let report = run_file(&bench(), &input, &output, selection).unwrap();
    let results = std::fs::read_to_string(&output).unwrap();
    std::fs::remove_file(input).unwrap();
    std::fs::remove_file(output).unwrap();
    (results.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), report)
}

fn ids(results: &[Value]) -> Vec<&str> {
    results.iter().map(|result| result["id"].as_str().unwrap()).collect()
}

#[test]
fn a_file_gives_a_result_a_case_and_the_figures_of_all() {
    let (results, report) = run_file_with("all", &Selection { ids: None, limit: usize::MAX });
    assert_eq!(ids(&results), ["one", "two", "three"]);
    assert_eq!(results[0]["engine"], "formwork-dfa");
    assert_eq!(results[1]["status"], "compile_error");
    assert_eq!(results[2]["tests"][0]["eos_allowed"], true);
    let report = report.to_string();
    assert!(report.contains("cases: ok 2, compile_error 1, timeout 0, failed 0"), "{report}");
    assert!(report.contains("steps 2:"), "{report}");
}

#[test]
fn ids_and_the_limit_select() {
    let (results, _) = run_file_with("limit", &Selection { ids: None, limit: 2 });
    assert_eq!(ids(&results), ["one", "two"]);
    let file = path("ids");
    std::fs::write(&file, "# chosen\nthree\n\n one \n").unwrap();
    let chosen = read_ids(&file).unwrap();
    std::fs::remove_file(file).unwrap();
    let mut selection = Selection { limit: chosen.len(), ids: Some(chosen) };
    let (results, report) = run_file_with("ids", &selection);
    assert_eq!(ids(&results), ["one", "three"]);
    selection.check(&report).unwrap();
    selection.limit = 3;
    assert_eq!(
        selection.check(&report).unwrap_err().to_string(),
        "only 2 cases of 3 that were chosen are there"
    );
}

#[test]
fn a_line_that_is_no_case_is_named() {
    let input = path("broken.jsonl");
    std::fs::write(&input, cases() + "{}\n").unwrap();
    let output = path("broken.out");
    let selection = Selection { ids: None, limit: usize::MAX };
    let error = format!("{:#}", run_file(&bench(), &input, &output, &selection).unwrap_err());
    std::fs::remove_file(input).unwrap();
    std::fs::remove_file(output).unwrap();
    assert!(error.starts_with("case file, line 5: missing field"), "{error}");
}

#[test]
fn a_worker_is_ready_first_then_answers_each_case() {
    let mut output = Vec::new();
    serve(&bench(), Duration::ZERO, cases().as_bytes(), &mut output).unwrap();
    let lines: Vec<Value> = std::str::from_utf8(&output)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["ready"], "formwork-dfa");
    assert_eq!(lines[0]["info"]["row_bits"], 256);
    let compiled: Vec<&Value> =
        lines.iter().filter(|line| line.get("compiled").is_some()).collect();
    assert_eq!(compiled.len(), 2, "the schema that is refused was not compiled");
    assert_eq!((&lines[1]["compiled"], &lines[2]["id"]), (&"one".into(), &"one".into()));
    assert_eq!(lines[1]["compile_us"], lines[2]["compile_us"]);
    let results: Vec<Value> =
        lines.into_iter().filter(|line| line.get("status").is_some()).collect();
    assert_eq!(ids(&results), ["one", "two", "three"]);
}

#[test]
fn variants_are_engines_of_their_own() {
    let compiler = bench().compiler;
    assert_eq!(engine_name(&compiler, Variant::Pretty), "formwork-dfa-pretty");
}
