//! What tags mean, by a slow parser; and that nothing hostile does harm.

use super::*;
use formwork_conformance::oracle::{Oracle, OracleError, OracleLimits};
use formwork_grammar::Location;
use formwork_vocab::{TokenId, Vocabulary};
use proptest::prelude::*;

const TOOL: u32 = 256;
const END: u32 = 257;
const EOS: u32 = 258;

fn vocabulary() -> Arc<Vocabulary> {
    let bytes = (0..=255u8).map(|byte| (TokenId::new(byte.into()), byte));
    let builder = bytes
        .fold(Vocabulary::builder(259), |builder, (id, byte)| builder.token(id, &[byte]))
        .special(TokenId::new(TOOL), "<|tool|>")
        .special(TokenId::new(END), "<|end|>")
        .special(TokenId::new(EOS), "<|eos|>")
        .eos(TokenId::new(EOS));
    Arc::new(builder.build().expect("a vocabulary"))
}

/// Whether the grammar takes these tokens and may end then; nothing satisfies some.
fn takes(grammar: &Grammar, tokens: &[u32]) -> bool {
    let mut oracle = match Oracle::new(grammar, vocabulary(), &OracleLimits::default()) {
        Err(OracleError::Unsatisfiable) => return false,
        oracle => oracle.expect("a grammar"),
    };
    let mut prefix = match oracle.start(&[]) {
        Err(OracleError::Unsatisfiable) => return false,
        prefix => prefix.expect("a start"),
    };
    for &token in tokens {
        match oracle.step(&prefix, TokenId::new(token)).expect("within limits") {
            Some(next) => prefix = next,
            None => return false,
        }
    }
    prefix.is_complete()
}

pub(crate) fn accepts(grammar: &Grammar, text: &str) -> bool {
    takes(grammar, &text.bytes().map(u32::from).collect::<Vec<_>>())
}

fn grammar(format: &str) -> Grammar {
    compiled(format).unwrap_or_else(|error| panic!("{format}: {error}"))
}

fn compiled(format: &str) -> Result<Grammar, StructuralTagError> {
    compile(&format!("{{\"format\":{format}}}"), &Options::default(), &Limits::default())
}

/// Checks a format against texts that it takes and texts that it does not.
fn check(format: &str, good: &[&str], bad: &[&str]) {
    let grammar = grammar(format);
    for text in good {
        assert!(accepts(&grammar, text), "{format} should take {text:?}");
    }
    for text in bad {
        assert!(!accepts(&grammar, text), "{format} should not take {text:?}");
    }
}

#[test]
fn formats_without_contents() {
    check(r#"{"type":"const_string","value":"né"}"#, &["né"], &["n", "", "nén"]);
    check(r#"{"type":"regex","pattern":"[a-c]+"}"#, &["abc"], &["", "d"]);
    check(r#"{"type":"grammar","grammar":"root ::= \"a\" root | \"b\""}"#, &["aab"], &["aa"]);
    check(r#"{"type":"json_schema","json_schema":{"type":"integer"}}"#, &["-12"], &["1.5", ""]);
    check(r#"{"type":"any_text","excludes":["ab","bc"]}"#, &["", "b é c"], &["xab", "abc", "xbcx"]);
    check(r#"{"type":"any_text","max_chars":2}"#, &["", "éé"], &["abc"]);
    check(r#"{"type":"any_text","max_chars":3,"excludes":["a"]}"#, &["", "ééé"], &["bbbb", "ba"]);
    check(r#"{"type":"any_text","max_tokens":2}"#, &["", "ab"], &["abc"]);
    check(r#"{"type":"any_text","max_tokens":0}"#, &[""], &["a"]);
}

#[test]
fn formats_made_of_others() {
    let text = |text: &str| format!(r#"{{"type":"const_string","value":"{text}"}}"#);
    let (a, b) = (text("a"), text("b"));
    check(&format!(r#"{{"type":"sequence","elements":[{a},{b}]}}"#), &["ab"], &["a", "ba"]);
    check(&format!(r#"{{"type":"or","elements":[{a},{b}]}}"#), &["a", "b"], &["", "ab"]);
    check(&format!(r#"{{"type":"optional","content":{a}}}"#), &["", "a"], &["aa"]);
    check(&format!(r#"{{"type":"plus","content":{a}}}"#), &["a", "aaa"], &["", "b"]);
    check(&format!(r#"{{"type":"star","content":{a}}}"#), &["", "aaa"], &["ab"]);
    let repeat = |min: i32, max: i32| {
        format!(r#"{{"type":"repeat","min":{min},"max":{max},"content":{a}}}"#)
    };
    check(&repeat(1, 2), &["a", "aa"], &["", "aaa"]);
    check(&repeat(2, -1), &["aa", "aaaaa"], &["a"]);
    check(&repeat(0, 0), &[""], &["a"]);
}

#[test]
fn tags_end_free_text() {
    check(
        r#"{"type":"tag","begin":"<b>","content":{"type":"any_text"},"end":["</b>","<br>"]}"#,
        &["<b></b>", "<b>x</b<br>"],
        &["<b>", "<b>x</b></b>", "x</b>", "<b>x<br></b>"],
    );
    check(
        r#"{"type":"tag","begin":"","content":{"type":"const_string","value":"x"},"end":["","!"]}"#,
        &["x", "x!"],
        &["", "!"],
    );
    // The nearest tag counts.
    check(
        r#"{"type":"tag","begin":"(","content":{"type":"sequence","elements":[
            {"type":"tag","begin":"[","content":{"type":"any_text"},"end":"]"},
            {"type":"any_text"}]},"end":")"}"#,
        &["([a)]b)", "([]])"],
        &["([a]b)c)", "([a]]"],
    );
}

fn triggered(more: &str) -> String {
    format!(
        r#"{{"type":"triggered_tags","triggers":["<f"],"tags":[
            {{"begin":"<f1>","content":{{"type":"const_string","value":"x"}},"end":"</f>"}},
            {{"type":"tag","begin":"<f2>","content":{{"type":"any_text"}},"end":"</f>"}}]{more}}}"#
    )
}

#[test]
fn triggers_begin_tags() {
    check(
        &triggered(""),
        &["", "a<b", "a<f1>x</f>", "<f2><f</f><f1>x</f>b"],
        &["<f", "<f3>", "a<f1>y</f>", "<f1>x"],
    );
    check(
        &triggered(r#","at_least_one":true"#),
        &["<f1>x</f>", "<f1>x</f>a<f1>x</f>b"],
        &["", "a<f1>x</f>"],
    );
    check(&triggered(r#","stop_after_first":true"#), &["", "a", "a<f1>x</f>"], &["<f1>x</f>a"]);
    check(
        &triggered(r#","at_least_one":true,"stop_after_first":true"#),
        &["<f1>x</f>"],
        &["", "a<f1>x</f>", "<f1>x</f><f1>x</f>"],
    );
    // What is excluded may stand in tags.
    check(&triggered(r#","excludes":["x"]"#), &["a<f1>x</f>", "<f2>x</f>"], &["x", "<f1>x</f>x"]);
    // An end of the tag around is excluded from the text between tags.
    let inner = triggered("");
    check(
        &format!(r#"{{"type":"tag","begin":"(","content":{inner},"end":")"}}"#),
        &["()", "(a<f2>)</f>b)"],
        &["(a)b)", "(<f1>x</f>"],
    );
}

#[test]
fn an_overlapped_trigger_is_complete_at_once() {
    let tag = r#"{"type":"triggered_tags","triggers":["aa"],"tags":[
        {"begin":"aab","content":{"type":"const_string","value":""},"end":"."}]}"#;
    check(tag, &["aab.", "xaab.", "ba"], &["aaab.", "aa", "xaaab."]);
}

#[test]
fn the_older_form_is_triggered_tags() {
    let tag = r#"{"type":"structural_tag","structures":[
        {"begin":"<f=a>","schema":{"type":"integer"},"end":"</f>"}],"triggers":["<f="]}"#;
    let grammar = compile(tag, &Options::default(), &Limits::default()).unwrap();
    assert!(accepts(&grammar, "hi <f=a>1</f> there"));
    assert!(!accepts(&grammar, "hi <f=b>1</f>"));
}

#[test]
fn lists_of_tags_have_nothing_else() {
    let list = |more: &str| {
        format!(
            r#"{{"type":"tags_with_separator","separator":",","tags":[
            {{"begin":"(","content":{{"type":"any_text"}},"end":")"}}]{more}}}"#
        )
    };
    check(&list(""), &["", "(a)", "(a),(,)"], &[",", "(a)(b)", "(a),"]);
    check(&list(r#","at_least_one":true"#), &["(a)"], &[""]);
    check(&list(r#","stop_after_first":true"#), &["", "(a)"], &["(a),(b)"]);
}

#[test]
fn dispatches_lead_to_formats() {
    let dispatch = |more: &str| {
        format!(
            r#"{{"type":"dispatch","rules":[["a1",{{"type":"const_string","value":"x"}}],
            ["b",{{"type":"any_text","excludes":["c"]}}]]{more}}}"#
        )
    };
    check(&dispatch(""), &["", "a", "a1xa1x", "bbb", "za1xz"], &["a1", "a1y"]);
    check(&dispatch(r#","loop":false"#), &["", "a1x", "ba1"], &["a1xz"]);
    check(&dispatch(r#","excludes":["z"]"#), &["a1x", "bz"], &["z", "a1xz"]);
    // What follows a pattern may be a tag, with a begin of its own.
    check(
        r#"{"type":"dispatch","rules":[["a",{"type":"tag","begin":"(","end":")",
            "content":{"type":"const_string","value":"x"}}]]}"#,
        &["a(x)", "b"],
        &["ax)", "a"],
    );
}

#[test]
fn tokens_are_tokens_and_never_text() {
    let text = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
    let token = grammar(r#"{"type":"token","token":"<|tool|>"}"#);
    assert!(takes(&token, &[TOOL]));
    assert!(!takes(&token, &text("<|tool|>")) && !takes(&token, &[END]));
    let by_id = grammar(r#"{"type":"token","token":257}"#);
    assert!(takes(&by_id, &[END]) && !takes(&by_id, &[TOOL]));
    let other = grammar(r#"{"type":"exclude_token","exclude_tokens":["<|tool|>", 97]}"#);
    assert!(takes(&other, &[END]) && takes(&other, &[98]));
    assert!(!takes(&other, &[TOOL]) && !takes(&other, &[97]) && !takes(&other, &[]));
    let any = grammar(r#"{"type":"any_tokens","exclude_tokens":["<|tool|>"],"max_tokens":2}"#);
    assert!(takes(&any, &[]) && takes(&any, &[END, 97]));
    assert!(!takes(&any, &[END, 97, 97]) && !takes(&any, &[TOOL]));
    let tag = grammar(
        r#"{"type":"tag","begin":{"type":"token","token":"<|tool|>"},
            "content":{"type":"any_tokens"},"end":{"type":"token","token":"<|end|>"}}"#,
    );
    assert!(takes(&tag, &[TOOL, 97, END]));
    assert!(!takes(&tag, &[TOOL, END, END]) && !takes(&tag, &[TOOL, 97]));
    let text_tag = grammar(
        r#"{"type":"tag","begin":"(","content":{"type":"any_text"},
            "end":{"type":"token","token":"<|end|>"}}"#,
    );
    assert!(takes(&text_tag, &[text("(<|end|>"), vec![END]].concat()));
    assert!(!takes(&text_tag, &text("(<|end|>")));
}

#[test]
fn tokens_trigger_tags() {
    let tags = |more: &str| {
        grammar(&format!(
            r#"{{"type":"token_triggered_tags","trigger_tokens":["<|tool|>"],"tags":[
            {{"begin":{{"type":"token","token":"<|tool|>"}},
             "content":{{"type":"const_string","value":"x"}},
             "end":{{"type":"token","token":"<|end|>"}}}}],"exclude_tokens":[97]{more}}}"#
        ))
    };
    let call = [TOOL, 120, END];
    let free = tags("");
    assert!(takes(&free, &[]) && takes(&free, &[98, TOOL, 120, END, 98]));
    assert!(!takes(&free, &[97]) && !takes(&free, &[TOOL, 98, END]));
    let forced = tags(r#","at_least_one":true,"stop_after_first":true"#);
    assert!(takes(&forced, &call));
    assert!(!takes(&forced, &[]) && !takes(&forced, &[TOOL, 120, END, 98]));
    let dispatch = grammar(
        r#"{"type":"token_dispatch","rules":[["<|tool|>",{"type":"const_string","value":"x"}]],
            "loop":false,"exclude_tokens":[97]}"#,
    );
    assert!(takes(&dispatch, &[98, TOOL, 120]) && takes(&dispatch, &[98]));
    assert!(!takes(&dispatch, &[TOOL, 120, 98]) && !takes(&dispatch, &[97]));
}

#[test]
fn what_is_wrong_is_said_with_a_place() {
    let at = |format: &str, pointer: &str| {
        let error = compiled(format).unwrap_err();
        assert_eq!(error.location, Location::Pointer(format!("/format{pointer}")), "{error}");
        assert!(error.position.is_some());
        error.kind
    };
    let text = r#"{"type":"any_text"}"#;
    use StructuralTagErrorKind as Kind;
    assert!(matches!(at(r#"{"type":"x"}"#, "/type"), Kind::UnknownName { what: "format", .. }));
    assert!(matches!(at("{}", ""), Kind::Missing { field: "type" }));
    assert!(matches!(at("3", ""), Kind::Expected { .. }));
    assert!(matches!(at(r#"{"type":"const_string","value":1}"#, "/value"), Kind::Expected { .. }));
    assert!(matches!(
        at(r#"{"type":"any_text","a/b":1}"#, "/a~1b"),
        Kind::UnknownField { field } if field == "a/b"
    ));
    assert!(matches!(at(r#"{"type":"or","elements":[]}"#, "/elements"), Kind::EmptyList));
    assert!(matches!(
        at(r#"{"type":"any_text","excludes":[""]}"#, "/excludes/0"),
        Kind::EmptyString
    ));
    for number in ["-1", "1.5", "2147483648", "\"1\"", "1e1"] {
        let format = format!(r#"{{"type":"any_text","max_chars":{number}}}"#);
        assert!(matches!(at(&format, "/max_chars"), Kind::Expected { .. }));
    }
    let repeat = format!(r#"{{"type":"repeat","min":2,"max":1,"content":{text}}}"#);
    assert!(matches!(at(&repeat, "/max"), Kind::ReversedRepeat { min: 2, max: 1 }));
    let tags = |triggers: &str, begin: &str| {
        format!(
            r#"{{"type":"triggered_tags","triggers":{triggers},
            "tags":[{{"begin":{begin},"content":{text},"end":"e"}}]}}"#
        )
    };
    assert!(matches!(at(&tags("[]", "\"a\""), "/triggers"), Kind::EmptyList));
    assert!(matches!(at(&tags("[\"b\"]", "\"ab\""), "/tags/0"), Kind::NoTrigger));
    let both = at(&tags("[\"ab\",\"a\"]", "\"abc\""), "/tags/0");
    assert!(matches!(both, Kind::SeveralTriggers { .. }));
    let token = r#"{"type":"token","token":1}"#;
    assert!(matches!(at(&tags("[\"b\"]", token), "/tags/0"), Kind::Expected { .. }));
    assert!(matches!(at(r#"{"type":"regex","pattern":"("}"#, "/pattern"), Kind::Regex(_)));
    assert!(matches!(at(r#"{"type":"grammar","grammar":"x"}"#, "/grammar"), Kind::Ebnf(_)));
    let schema = r#"{"type":"json_schema","json_schema":{"properties":{"a":{"type":"x"}}}}"#;
    assert!(matches!(at(schema, "/json_schema/properties/a/type"), Kind::Schema(_)));
}

#[test]
fn a_trigger_without_a_tag_is_warned_of() {
    let tag = r#"{"type":"triggered_tags","triggers":["<f","<g"],"tags":[
        {"begin":"<f>","content":{"type":"any_text"},"end":"e"}]}"#;
    let grammar = grammar(tag);
    assert_eq!(grammar.warnings().len(), 1);
    assert_eq!(grammar.warnings()[0].location, Location::Pointer("/format/triggers/1".into()));
    assert!(!accepts(&grammar, "<g>"));
}

#[test]
fn schemas_that_nothing_satisfies_are_left_out_and_bad_ones_are_refused_at_once() {
    let tags = |schema: &str| {
        format!(
            r#"{{"type":"triggered_tags","triggers":["<"],"tags":[
            {{"begin":"<a>","content":{{"type":"json_schema","json_schema":{schema}}},"end":"."}},
            {{"begin":"<b>","content":{{"type":"json_schema","json_schema":{{"type":"null"}}}},"end":"."}}]}}"#
        )
    };
    let nothing = tags(r#"{"type":"string","minLength":2,"maxLength":1}"#);
    check(&nothing, &["<b>null."], &["<a>\"\"."]);
    let mut oracle =
        Oracle::new(&grammar(&nothing), vocabulary(), &OracleLimits::default()).unwrap();
    let mut prefix = oracle.start(&[]).unwrap();
    prefix = oracle.step(&prefix, TokenId::new(b'<'.into())).unwrap().unwrap();
    assert_eq!(oracle.allowed(&prefix).unwrap(), [TokenId::new(b'b'.into())]);
    assert!(compiled(&tags(r#"{"type":"strin"}"#)).is_err());
    assert!(compiled(&tags(r#"{"pattern":"("}"#)).is_err());
    let unknown = grammar(&tags(r#"{"type":"string","format":"phone"}"#));
    assert_eq!(unknown.warnings().len(), 1, "nothing that is to be warned of is left for later");
}

#[test]
fn a_tag_can_be_validated_to_the_last_rule() {
    let tag = r#"{"format":{"type":"json_schema","json_schema":{"type":"object"}}}"#;
    assert!(validate(tag, &Options::default(), &Limits::default()).is_ok());
    let limits = {
        let mut limits = Limits::default();
        limits.rules = 2;
        limits
    };
    assert!(validate(tag, &Options::default(), &limits).is_err());
}

fn words() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab<]{1,2}", 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Triggered tags by definition: split the text at the first trigger, then at the tag's end.
    #[test]
    fn triggered_tags_are_what_they_say(
        excludes in words(),
        text in "(<f1>x;|<f|a|b|<|;){0,4}",
        at_least_one in any::<bool>(),
        stop_after_first in any::<bool>(),
    ) {
        let format = serde_json::json!({
            "type": "triggered_tags", "triggers": ["<f"], "excludes": excludes,
            "tags": [{"begin": "<f1>", "content": {"type": "const_string", "value": "x"}, "end": ";"}],
            "at_least_one": at_least_one, "stop_after_first": stop_after_first,
        });
        let expected = {
            let parts: Vec<&str> = text.split("<f").collect();
            let free = |part: &str| !excludes.iter().any(|word| part.contains(word.as_str()));
            let tails: Option<Vec<&str>> =
                parts[1..].iter().map(|part| part.strip_prefix("1>x;")).collect();
            let calls = parts.len() - 1;
            free(parts[0])
                && tails.is_some_and(|tails| tails.into_iter().all(free))
                && (!at_least_one || calls > 0 && parts[0].is_empty())
                && (!stop_after_first || calls <= 1 && (calls == 0 || text.ends_with("<f1>x;")))
        };
        let grammar = grammar(&format.to_string());
        prop_assert_eq!(accepts(&grammar, &text), expected, "{}", text);
    }
}

#[test]
fn deep_and_long_tags_do_no_harm() {
    let limits = Limits::default();
    let options = Options::default();
    for (before, after) in [
        (r#"{"type":"star","content":"#, "}"),
        (r#"{"type":"sequence","elements":["#, "]}"),
        (r#"{"type":"tag","begin":"(","end":")","content":"#, "}"),
    ] {
        for depth in [500, 100_000] {
            let tag = format!(
                r#"{{"format":{}{}{}}}"#,
                before.repeat(depth),
                r#"{"type":"any_text"}"#,
                after.repeat(depth)
            );
            match compile(&tag, &options, &limits) {
                Ok(grammar) => assert!(depth == 500 && grammar.lower_all(&limits).is_ok()),
                Err(error) => {
                    let is_deep = matches!(error.kind, StructuralTagErrorKind::Nesting { .. });
                    assert!(is_deep && depth == 100_000, "{error}");
                }
            }
        }
    }
    let tags: Vec<String> = (0..100_000)
        .map(|at| {
            format!(
                r#"{{"begin":"<f{at}>","content":{{"type":"const_string","value":"x"}},"end":""}}"#
            )
        })
        .collect();
    let tag = format!(
        r#"{{"format":{{"type":"triggered_tags","triggers":["<f"],"tags":[{}]}}}}"#,
        tags.join(",")
    );
    assert!(compile(&tag, &options, &limits).is_ok());
    let rules: Vec<String> = (0..100_000)
        .map(|at| format!(r#"["t{at:06}",{{"type":"const_string","value":"x"}}]"#))
        .collect();
    let tag = format!(r#"{{"format":{{"type":"dispatch","rules":[{}]}}}}"#, rules.join(","));
    match compile(&tag, &options, &limits) {
        Ok(_) => {}
        Err(error) => {
            assert!(matches!(error.kind, StructuralTagErrorKind::Exhausted(_)), "{error}")
        }
    }
}
