//! A tiny corpus through the whole of it.

use super::{
    arguments::Arguments,
    baseline::Baseline,
    corpus::{Case, Corpora},
    counts::{Asked, Counts, RowKey, Table},
    failures, guarded,
    judge::{Judge, Judged, Outcome, Why},
    options::{UnknownOptions, front_end_options},
    pool, problem,
    problem::{Problem, Stale},
    skips::{self, Skips},
};
use clap::Parser;
use formwork::json_schema::{Fixed, Separators, WhiteSpace};
use serde_json::{Value, json};
use std::{num::NonZeroUsize, time::Duration};

/// A case of a source `made`, with the given fields over some that suit most.
fn case(fields: &Value) -> Value {
    let mut case = json!({ "source": "made/test", "frontend": "json_schema", "options": {} });
    let fields = fields.as_object().unwrap().clone();
    case.as_object_mut().unwrap().extend(fields);
    case
}

fn corpora(cases: &[Value]) -> Corpora {
    let lines: Vec<String> = cases.iter().map(|fields| case(fields).to_string()).collect();
    let mut corpora = Corpora::default();
    corpora.add(&lines.join("\n")).unwrap();
    corpora
}

fn all(corpora: &Corpora) -> Vec<&Case> {
    corpora.cases.iter().collect()
}

fn judge_within(cases: &[&Case], limit: Duration) -> Vec<Judged> {
    let judge = Judge::new("earley", limit, UnknownOptions::Skip).unwrap();
    pool::judge_all(&judge, cases, NonZeroUsize::new(2).unwrap()).unwrap()
}

fn judge(cases: &[&Case]) -> Vec<Judged> {
    judge_within(cases, Duration::from_secs(60))
}

fn outcomes(cases: &[Value]) -> Vec<Outcome> {
    judge(&all(&corpora(cases))).into_iter().map(|judged| judged.outcome).collect()
}

const INTEGER: &str = r#"{"type": "integer"}"#;

fn integer(input: &str, accept: bool) -> Value {
    let spec: Value = serde_json::from_str(INTEGER).unwrap();
    json!({ "spec": spec, "input": input, "accept": accept })
}

#[test]
fn every_outcome_is_told_from_the_others() {
    use Outcome::{RefusedToCompile, Right, Skipped, WronglyAccepted, WronglyRefused};
    let never = |accept: bool| json!({ "spec": false, "input": "1", "accept": accept });
    let regex = |spec: &str, compiles: bool| json!({ "frontend": "regex", "spec": spec, "compiles": compiles });
    let cases = [
        (integer("17", true), Right),
        (integer("1x", false), Right),
        (integer("17", false), WronglyAccepted),
        (integer("1x", true), WronglyRefused),
        (json!({ "spec": INTEGER, "input": "17", "accept": true }), Right),
        (json!({ "spec": { "type": 7 }, "input": "17", "accept": false }), RefusedToCompile),
        (never(false), Right),
        (never(true), WronglyRefused),
        (json!({ "frontend": "verse", "spec": "x", "input": "17", "accept": false }), Skipped),
        (
            json!({ "frontend": "structural_tag", "spec": {}, "input": "17", "accept": false }),
            RefusedToCompile,
        ),
        (json!({ "spec": {}, "options": { "sonnet": 1 }, "input": "17", "accept": true }), Skipped),
        (regex("a+", true), Right),
        (regex("a+", false), WronglyAccepted),
        (regex(r"(a)\1", false), Right),
        (regex(r"(a)\1", true), RefusedToCompile),
        (json!({ "frontend": "regex", "spec": 7, "compiles": true }), RefusedToCompile),
    ];
    let (cases, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    assert_eq!(outcomes(&cases), expected);
}

#[test]
fn a_prefix_need_not_be_complete_but_must_go_on() {
    let prefix = |input: &str, accept: bool| {
        json!({ "spec": { "type": "array" }, "options": { "mode": "prefix" }, "input": input,
            "accept": accept })
    };
    let whole = json!({ "spec": { "type": "array" }, "input": "[1", "accept": false });
    let cases = [prefix("[1", true), prefix("[1]", true), prefix("[x", false), whole];
    assert_eq!(outcomes(&cases), [Outcome::Right; 4]);
}

#[test]
fn what_takes_too_long_is_refused_for_that() {
    let fields = [
        integer("17", true),
        integer("x", false),
        json!({ "frontend": "regex", "spec": "a", "compiles": false }),
    ];
    let corpora = corpora(&fields);
    for judged in judge_within(&all(&corpora), Duration::ZERO) {
        assert_eq!(judged.outcome, Outcome::RefusedToCompile);
        assert_eq!(judged.why, Why::Text("deadline".to_owned()));
    }
}

#[test]
fn panics_are_caught_and_fail_the_run_whatever_the_baseline_says() {
    let caught = guarded::guarded(|| -> u8 { panic!("at the disco {}", 1) });
    assert!(caught.as_ref().unwrap_err().ends_with(": at the disco 1"), "{caught:?}");
    assert_eq!(guarded::guarded(|| 7), Ok(7));

    let corpora = corpora(&[integer("17", true)]);
    let panicked = Judged { outcome: Outcome::Panicked, why: Why::Text("oh".to_owned()) };
    let mut judged = vec![panicked.clone()];
    let skips = "[[skip]]\nsource = 'made'\nfrontend = 'json_schema'\ntag = 't'\nreason = 'r'\n";
    let skips = Skips::parse(skips).unwrap();
    skips.apply(&all(&corpora), &mut judged, |_| true);
    assert_eq!(judged, [panicked]);
    let expected = Problem::Panicked { source_name: "made/test".into(), text: "oh".into() };
    assert_eq!(problem::panics(&all(&corpora), &judged), [expected]);
}

fn options_of(fields: &Value) -> Result<WhiteSpace, Vec<String>> {
    let corpora = corpora(std::slice::from_ref(fields));
    let options = front_end_options(&corpora.cases[0], UnknownOptions::Skip);
    options
        .map(|options| options.json_schema.white_space)
        .map_err(|names| names.into_iter().collect())
}

#[test]
fn words_of_a_source_mean_options_of_ours() {
    let of = |source: &str, options: Value| {
        let source = format!("{source}/test");
        options_of(&json!({ "source": source, "spec": {}, "options": options, "compiles": true }))
    };
    let fixed = |item: &str, key: &str, indent: Option<&str>| {
        let (item_separator, key_separator) = (item.into(), key.into());
        let indent = indent.map(str::to_owned);
        Ok(WhiteSpace::Fixed(Fixed { item_separator, key_separator, indent }))
    };
    let any = || Ok(WhiteSpace::default());
    let fixed_words = |words: Value| {
        let mut all = json!({ "any_whitespace": false, "strict_mode": false, "any_order": false });
        all.as_object_mut().unwrap().extend(words.as_object().unwrap().clone());
        of("xgrammar", all)
    };
    assert_eq!(fixed_words(json!({ "separators": null, "indent": null })), fixed(", ", ": ", None));
    assert_eq!(fixed_words(json!({ "separators": [",", ":"] })), fixed(",", ":", None));
    assert_eq!(fixed_words(json!({ "indent": 2 })), fixed(",", ": ", Some("  ")));
    assert_eq!(fixed_words(json!({ "any_whitespace": true, "separators": null })), any());
    let bounded = fixed_words(json!({ "any_whitespace": true, "max_whitespace_cnt": 3 }));
    assert_eq!(bounded, Ok(WhiteSpace::Bounded { max: 3 }));
    let styled = fixed_words(json!({ "json_format": "cohere_xml" }));
    assert_eq!(styled, fixed(", ", ": ", None));
    let missing = fixed_words(json!({ "json_format": "sonnet" }));
    assert_eq!(missing, Err(vec!["style".to_owned()]));

    let separators = |flexible: bool, item: &str, key: &str| {
        of(
            "llguidance",
            json!({ "whitespace_flexible": flexible, "item_separator": item, "key_separator": key }),
        )
    };
    assert_eq!(separators(true, ",", ":"), any());
    let patterns = |item: &str, key: &str| {
        let (item, key) = (item.into(), key.into());
        Ok(WhiteSpace::Separators(Separators { item, key, ..Separators::default() }))
    };
    assert_eq!(separators(false, ", ", ": "), patterns(", ", ": "));
    assert_eq!(separators(false, r"\s*,", ":"), patterns(r"\s*,", ":"));
    let both = separators(true, ", ", ": ");
    assert!(both.unwrap_err().contains(&"item_separator".to_owned()));
    assert_eq!(of("llguidance", json!({ "whitespace_flexible": false })), patterns(",", ":"));

    let pattern = of("outlines", json!({ "whitespace_pattern": "[ ]?" }));
    assert_eq!(pattern, Ok(WhiteSpace::Pattern("[ ]?".into())));
    assert_eq!(of("outlines", json!({ "property_order": "declared" })), any());
    // A word belongs to its source.
    let foreign = of("llama.cpp", json!({ "whitespace_pattern": "[ ]?" }));
    assert_eq!(foreign, Err(vec!["whitespace_pattern".to_owned()]));
}

#[test]
fn options_that_we_do_not_have_may_be_left_out_but_words_without_a_counterpart_not() {
    let options = |source: &str, options: Value| {
        let fields = json!({ "spec": {}, "source": source, "options": options, "compiles": true });
        let corpora = corpora(&[fields]);
        front_end_options(&corpora.cases[0], UnknownOptions::LeaveOut).is_ok()
    };
    assert!(options("xgrammar/t", json!({ "root_rule_name": { "no": "such value" } })));
    assert!(!options("llguidance/t", json!({ "coerce_one_of": true })));
}

#[test]
fn lines_that_are_no_cases_are_told_with_their_number() {
    let refused = |line: &str| {
        let good = case(&integer("1", true)).to_string();
        format!("{:#}", Corpora::default().add(&format!("{good}\n\n{line}\n")).unwrap_err())
    };
    let without_slash = json!({ "source": "made", "spec": {}, "compiles": true });
    let both = json!({ "spec": {}, "compiles": true, "input": "1", "accept": true });
    let mode = json!({ "spec": {}, "compiles": true, "options": { "mode": "sideways" } });
    let neither = json!({ "spec": {}, "input": "1" });
    for fields in [without_slash, both, mode, neither] {
        let error = refused(&case(&fields).to_string());
        assert!(error.starts_with("line 3: "), "{error}");
    }
    assert!(refused("{").starts_with("line 3: "));
}

fn row(frontend: &str, asked: Asked) -> RowKey {
    RowKey { source: "made".into(), frontend: frontend.into(), asked }
}

#[test]
fn counts_are_per_source_front_end_and_question() {
    let agreeing = |mut case: Value, valid: bool| {
        case["schema_valid"] = valid.into();
        case
    };
    let corpora = corpora(&[
        agreeing(integer("17", true), true),
        agreeing(integer("1x", true), true),
        agreeing(integer("17", false), true),
        json!({ "spec": {}, "options": { "sonnet": 1 }, "input": "1", "accept": true,
            "schema_valid": true }),
        json!({ "spec": {}, "compiles": true }),
    ]);
    let cases = all(&corpora);
    let table = Table::of(&cases, &judge(&cases));
    let inputs = Counts {
        cases: 4,
        right: 1,
        wrongly_accepted: 1,
        wrongly_refused: 1,
        skipped: 1,
        agree_right: 1,
        agree_total: 2,
        ..Counts::default()
    };
    let compiling = Counts { cases: 1, right: 1, ..Counts::default() };
    assert_eq!(table.rows[&row("json_schema", Asked::Input)], inputs);
    assert_eq!(table.rows[&row("json_schema", Asked::Compile)], compiling);
    let text = table.to_string();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = text.lines().map(words).collect();
    assert_eq!(lines[1][2..], ["4", "1", "1", "1", "0", "0", "1", "1/2"]);
    assert_eq!(lines[3][1..], ["5", "2", "1", "1", "0", "0", "1", "1/2"]);
    assert_eq!(lines[4], ["skipped:", "1", "option", "sonnet"]);
}

#[test]
fn a_failure_says_where_and_what_could_have_stood_there() {
    let corpora = corpora(&[
        integer("-1.5", true),
        json!({ "spec": { "type": 7 }, "input": "é", "accept": true }),
        integer("", true),
    ]);
    let cases = all(&corpora);
    let judged = judge(&cases);
    let line = |index: usize| -> Value {
        serde_json::from_str(&failures::line(cases[index], &judged[index])).unwrap()
    };
    let first = line(0);
    assert_eq!(first["outcome"], "wrongly_refused");
    let place = json!({ "offset": 2, "before": "-1", "found": ".5", "legal": "'0'-'9'",
        "could_end": true });
    assert_eq!(first["refused"], place);
    assert_eq!(first["record"]["input"], "-1.5");
    assert_eq!(first["case"], cases[0].digest()[..16]);
    assert_eq!(line(1)["outcome"], "refused_to_compile");
    assert!(line(1)["error"].as_str().unwrap().contains("`type`"));
    let place = json!({ "offset": 0, "before": "", "found": "", "legal": "'-' '0'-'9'",
        "could_end": false });
    assert_eq!(line(2)["refused"], place);
}

fn skip_of(matcher: &str) -> String {
    format!("[[skip]]\nsource = 'made'\nfrontend = 'json_schema'\n{matcher}\nreason = 'ours'\n")
}

#[test]
fn a_skip_excuses_wrong_cases_and_goes_stale() {
    let tagged = |mut case: Value| {
        case["tags"] = json!(["odd"]);
        case
    };
    let corpora =
        corpora(&[tagged(integer("1x", true)), tagged(integer("17", true)), integer("17", false)]);
    let cases = all(&corpora);
    let apply = |list: &str| {
        let mut judged = judge(&cases);
        let problems = Skips::parse(list).unwrap().apply(&cases, &mut judged, |_| true);
        (judged.into_iter().map(|judged| judged.outcome).collect::<Vec<_>>(), problems)
    };
    use Outcome::{Right, Skipped, WronglyAccepted, WronglyRefused};
    assert_eq!(apply(&skip_of("tag = 'odd'")), (vec![Skipped, Right, WronglyAccepted], vec![]));
    let by_digest = skip_of(&format!("case = '{}'", &cases[2].digest()[..10]));
    assert_eq!(apply(&by_digest), (vec![WronglyRefused, Right, Skipped], vec![]));

    let stale = |number, stale| Problem::StaleSkip { number, stale };
    let nothing = apply(&skip_of("tag = 'even'")).1;
    assert_eq!(nothing, [stale(1, Stale::MatchesNothing)]);
    let right = format!("case = '{}'", &cases[1].digest()[..10]);
    // Two cases with one digest differ in what is expected of them.
    assert_eq!(cases[1].digest(), cases[2].digest());
    assert_eq!(apply(&skip_of(&right)).1, []);
    let twice = format!("{}{}", skip_of("tag = 'odd'"), skip_of("tag = 'odd'"));
    assert_eq!(apply(&twice).1, [stale(2, Stale::ExcusesNothing)]);
    // A run that is not about the entry cannot tell.
    let even = Skips::parse(&skip_of("tag = 'even'")).unwrap();
    assert_eq!(even.apply(&cases, &mut judge(&cases), |_| false), []);
}

#[test]
fn a_skip_of_a_case_that_is_right_is_stale() {
    let corpora = corpora(&[integer("17", true)]);
    let cases = all(&corpora);
    let skips = Skips::parse(&skip_of(&format!("case = '{}'", cases[0].digest()))).unwrap();
    let problems = skips.apply(&cases, &mut judge(&cases), |_| true);
    assert_eq!(problems, [Problem::StaleSkip { number: 1, stale: Stale::ExcusesNothing }]);
}

#[test]
fn skips_need_a_reason_and_enough_digits() {
    assert!(Skips::parse(&skip_of("tag = 'odd'").replace("ours", " ")).is_err());
    assert!(Skips::parse(&skip_of("case = '0123456'")).is_err());
    assert!(Skips::parse(&skip_of("case = '01234567'")).is_ok());
    assert!(Skips::parse(&skip_of("")).is_err(), "neither tag nor case");
}

#[test]
fn at_most_one_case_in_a_hundred_may_be_skipped() {
    let with_wrong = |wrong: usize| -> Vec<Value> {
        let right = (0..100 - wrong).map(|number| integer(&number.to_string(), true));
        let wrong = (0..wrong).map(|number| {
            let mut case = integer(&format!("{number}x"), true);
            case["tags"] = json!(["odd"]);
            case
        });
        right.chain(wrong).collect()
    };
    let problems = |wrong| {
        let corpora = corpora(&with_wrong(wrong));
        let cases = all(&corpora);
        let mut judged = judge(&cases);
        Skips::parse(&skip_of("tag = 'odd'")).unwrap().apply(&cases, &mut judged, |_| true);
        skips::too_many(&corpora, &cases, &judged)
    };
    assert_eq!(problems(1), []);
    let expected = Problem::TooManySkips { corpus: "made".into(), skipped: 2, cases: 100 };
    assert_eq!(problems(2), [expected]);
}

/// A table of one row.
fn table(counts: Counts) -> Table {
    let mut table = Table::default();
    table.rows.insert(row("regex", Asked::Input), counts);
    table
}

const REACHED: Counts = Counts {
    cases: 20,
    right: 10,
    wrongly_accepted: 1,
    wrongly_refused: 2,
    refused_to_compile: 3,
    panicked: 0,
    skipped: 4,
    agree_right: 8,
    agree_total: 9,
};

#[test]
fn the_baseline_only_improves() {
    let mut baseline = Baseline::default();
    baseline.improve(&table(REACHED));
    let is_fine = |counts| baseline.compare(&table(counts), |_| true).is_empty();
    assert!(is_fine(REACHED));
    let fine = [
        Counts { right: 11, refused_to_compile: 2, ..REACHED },
        // What was skipped may turn out to be anything.
        Counts { skipped: 3, wrongly_accepted: 2, ..REACHED },
        // One goes down, another goes up past the same rank.
        Counts { right: 11, wrongly_refused: 1, ..REACHED },
    ];
    assert!(fine.into_iter().all(is_fine));
    let worse = [
        Counts { right: 9, refused_to_compile: 4, ..REACHED },
        Counts { refused_to_compile: 2, wrongly_refused: 3, ..REACHED },
        Counts { right: 12, refused_to_compile: 0, wrongly_accepted: 2, ..REACHED },
        Counts { wrongly_accepted: 0, skipped: 5, ..REACHED },
        Counts { agree_right: 7, ..REACHED },
    ];
    for counts in worse {
        let problems = baseline.compare(&table(counts), |_| true);
        assert!(matches!(problems[..], [Problem::Worse { .. }]), "{problems:?}");
        assert!(problems[0].to_string().starts_with("made regex: worse than the baseline: "));
        let mut after = baseline.clone();
        after.improve(&table(counts));
        assert_eq!(after, baseline);
    }
    for counts in fine {
        let mut after = baseline.clone();
        after.improve(&table(counts));
        assert_ne!(after, baseline);
    }
}

#[test]
fn a_baseline_about_other_cases_says_so() {
    let mut baseline = Baseline::default();
    baseline.improve(&table(REACHED));
    let more = Counts { cases: 21, right: 11, ..REACHED };
    let other = |is| {
        let key = row("regex", Asked::Input);
        [Problem::OtherCases { key, was: 20, is }]
    };
    assert_eq!(baseline.compare(&table(more), |_| true), other(21));
    assert_eq!(baseline.compare(&Table::default(), |_| true), other(0));
    assert_eq!(baseline.compare(&Table::default(), |_| false), []);
    assert_eq!(Baseline::default().compare(&table(REACHED), |_| true), [], "a new row is none");
}

#[test]
fn the_baseline_is_read_as_it_was_written() {
    let mut baseline = Baseline::default();
    baseline.improve(&table(REACHED));
    let text = baseline.text().unwrap();
    assert_eq!(Baseline::parse(&text).unwrap(), baseline, "{text}");
    assert_eq!(Baseline::parse("").unwrap(), Baseline::default());
}

#[test]
fn arguments_select_and_say_what_is_comparable() {
    let parse = |words: &[&str]| {
        Arguments::try_parse_from(["cases", "--dir", "d"].iter().chain(words)).unwrap()
    };
    let corpora = corpora(&[integer("1", true)]);
    let selects = |words: &[&str]| parse(words).selects(&corpora.cases[0]);
    assert!(selects(&[]) && selects(&["--source", "made", "--frontend", "json_schema"]));
    assert!(!selects(&["--source", "other"]) && !selects(&["--frontend", "regex"]));
    assert!(parse(&["--limit", "0.5"]).is_comparable());
    assert!(!parse(&["--backend", "dfa"]).is_comparable());
    assert!(!parse(&["--leave-out-unknown-options"]).is_comparable());
    assert_eq!(parse(&["--limit", "0.5"]).limit, Duration::from_millis(500));
    assert!(Arguments::try_parse_from(["cases", "--dir", "d", "--limit", "-1"]).is_err());
    assert!(Arguments::try_parse_from(["cases"]).is_err());
}

#[test]
fn the_list_of_skips_of_the_tree_can_be_read() {
    let data = crate::root().unwrap().join(super::DATA);
    Skips::read(&data.join("skips.toml")).unwrap();
    Baseline::read(&data.join("baseline.toml")).unwrap();
}
