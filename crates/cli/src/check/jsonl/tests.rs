//! Every line has its answer, whatever stands in it.

use super::*;
use serde_json::json;

fn judge(time_limit: Duration) -> Judge {
    let vocabulary = crate::vocabularies::load("bytes").unwrap();
    Judge::new(Compiler::new(vocabulary), FrontEndOptions::default(), time_limit)
}

fn answers(lines: &str) -> Vec<Value> {
    let mut output = Vec::new();
    serve(&mut judge(Duration::from_secs(60)), lines.as_bytes(), &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn answer(request: &Value) -> Value {
    answers(&request.to_string()).remove(0)
}

/// The text of the error that a request gets.
fn error(request: &Value) -> String {
    let answer = answer(request);
    assert_eq!(answer["ok"], false, "{answer}");
    answer["error"].as_str().unwrap().to_owned()
}

#[test]
fn each_front_end_judges() {
    let accept = |frontend: &str, spec: Value, input: &str| {
        let answer =
            answer(&json!({"frontend": frontend, "spec": spec, "options": {}, "input": input}));
        assert_eq!(answer["ok"], true, "{answer}");
        answer["accept"].as_bool().unwrap()
    };
    assert!(accept("json_schema", json!({"type": "integer"}), "7"));
    assert!(!accept("json_schema", json!({"type": "integer"}), "\"7\""));
    assert!(accept("json_schema", json!("{\"enum\": [\"a\"]}"), "\"a\""));
    assert!(accept("json_schema", json!({"enum": [1.0]}), "1.0"), "the spec keeps its digits");
    assert!(accept("regex", json!("[é]+"), "éé"));
    assert!(!accept("regex", json!("[é]+"), "e"));
    assert!(accept("choice", json!(["yes", "no"]), "no"));
    assert!(!accept("choice", json!("[\"yes\"]"), "no"));
}

#[test]
fn a_prefix_is_asked_for_in_either_place_and_told_in_either_mode() {
    let spec = "ab+c";
    let whole = json!({"frontend": "regex", "spec": spec, "input": "ab"});
    assert_eq!(answer(&whole), json!({"ok": true, "accept": false, "prefix": true}));
    let inside =
        json!({"frontend": "regex", "spec": spec, "options": {"mode": "prefix"}, "input": "ab"});
    let beside = json!({"frontend": "regex", "spec": spec, "mode": "prefix", "input": "ab"});
    for request in [inside, beside] {
        assert_eq!(answer(&request), json!({"ok": true, "accept": true, "prefix": true}));
    }
    let none = json!({"frontend": "regex", "spec": spec, "mode": "prefix", "input": "ac"});
    assert_eq!(answer(&none), json!({"ok": true, "accept": false, "prefix": false}));
}

#[test]
fn without_an_input_the_question_is_whether_it_compiles() {
    for input in [
        json!({"frontend": "regex", "spec": "a"}),
        json!({"frontend": "regex", "spec": "a", "input": null}),
    ] {
        assert_eq!(answer(&input), json!({"ok": true, "accept": true}));
    }
    error(&json!({"frontend": "regex", "spec": "(a"}));
}

#[test]
fn bad_lines_get_errors_and_the_next_line_its_answer() {
    let good = json!({"frontend": "choice", "spec": ["a"], "input": "a"}).to_string();
    let bad = [
        "{",
        "[]",
        "7",
        "\u{0}",
        r#"{"spec": "a", "input": "a"}"#,
        r#"{"frontend": "regex", "input": "a"}"#,
        r#"{"frontend": "regex", "spec": "a", "input": 7}"#,
        r#"{"frontend": "regex", "spec": "a", "options": [], "input": "a"}"#,
        r#"{"frontend": "regex", "spec": {"a": 1}, "input": "a"}"#,
        r#"{"frontend": "regex", "spec": "a", "inputs": "a"}"#,
        r#"{"frontend": "regex", "spec": "a", "mode": "suffix", "input": "a"}"#,
        r#"{"frontend": "regex", "spec": "a", "mode": "prefix", "options": {"mode": "prefix"}}"#,
        r#"{"frontend": "choice", "spec": "a", "input": "a"}"#,
        r#"{"frontend": "json_schema", "spec": {"type": 1}, "input": "a"}"#,
    ];
    for line in bad {
        let given = answers(&format!("{line}\n\n{good}\n"));
        assert_eq!(given.len(), 2, "{line}: {given:?}");
        assert_eq!(given[0]["ok"], false, "{line}");
        assert!(given[0]["error"].as_str().is_some_and(|error| !error.is_empty()), "{line}");
        assert_eq!(given[1]["accept"], true, "{line}");
    }
    let mut output = Vec::new();
    serve(&mut judge(Duration::from_secs(60)), &b"\xff\xfe\n"[..], &mut output).unwrap();
    assert!(output.starts_with(b"{\"ok\":false,"));
}

#[test]
fn unknown_names_are_told_with_those_there_are() {
    let front_end = error(&json!({"frontend": "yacc", "spec": "a", "input": "a"}));
    assert!(front_end.starts_with("unsupported: no front end is named \"yacc\""), "{front_end}");
    for (name, _) in FRONT_ENDS {
        assert!(front_end.contains(name), "{front_end}");
    }
    let option =
        error(&json!({"frontend": "regex", "spec": "a", "options": {"space": 1}, "input": "a"}));
    assert!(option.contains("\"space\"") && option.contains("`white_space`"), "{option}");
}

#[test]
fn errors_tell_what_is_unsupported_from_what_is_wrong() {
    let spec_error =
        |frontend: &str, spec: Value| error(&json!({"frontend": frontend, "spec": spec}));
    assert!(spec_error("regex", json!("a(?<=b)")).starts_with("unsupported: "));
    assert!(!spec_error("regex", json!("a(")).starts_with("unsupported"));
    let recursive = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
    assert!(spec_error("json_schema", recursive).starts_with("unsupported: "));
}

#[test]
fn options_reach_the_front_end_and_make_another_constraint() {
    let line = |white_space: &str| {
        let spec = json!({"type": "array", "items": {"type": "integer"}});
        let options = json!({"white_space": white_space});
        json!({"frontend": "json_schema", "spec": spec, "options": options, "input": "[ 1]"})
            .to_string()
    };
    let lines = [line("any"), line("compact"), line("any")].join("\n");
    let accepted: Vec<Value> =
        answers(&lines).iter().map(|answer| answer["accept"].clone()).collect();
    assert_eq!(accepted, [true, false, true]);
}

#[test]
fn the_last_constraint_is_kept_a_failed_one_too() {
    let mut judge = judge(Duration::from_secs(60));
    // Kept alive, so that no address is used twice.
    let mut alive = Vec::new();
    let mut ask = |spec: &str| {
        let line = json!({"frontend": "regex", "spec": spec, "input": "a"}).to_string();
        let answer = judge.answer(Line::Whole(line.as_bytes())).map_err(|error| error.to_string());
        let kept = judge
            .last
            .as_ref()
            .map(|kept| kept.compiled.clone().map(|c| Arc::as_ptr(&c).cast::<u8>()));
        alive.extend(judge.last.as_ref().map(|kept| kept.compiled.clone()));
        (answer, kept)
    };
    let (_, first) = ask("a");
    let (_, again) = ask("a");
    assert_eq!(first, again);
    let (_, other) = ask("b");
    assert_ne!(again, other);
    let (failed, _) = ask("(");
    assert_eq!(ask("(").0, failed);
}

#[test]
fn a_request_that_takes_too_long_gets_an_error() {
    let mut judge = judge(Duration::from_nanos(1));
    let line = json!({"frontend": "regex", "spec": "[a-z]{1,500}", "input": "a"}).to_string();
    let error = judge.answer(Line::Whole(line.as_bytes())).unwrap_err().to_string();
    assert_eq!(error, TIMEOUT_COMPILING);
    assert!(judge.last.is_none(), "the next request has a time of its own");
}
