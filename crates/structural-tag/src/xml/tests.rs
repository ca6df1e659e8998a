//! What each style writes, by examples; and strings without quotation marks, by their definition.

use super::*;
use crate::{Options, Style, compile_schema, tests::accepts};
use formwork_automata::Fuel;
use formwork_grammar::Limits;
use proptest::prelude::*;

fn check(style: Style, schema: &str, good: &[&str], bad: &[&str]) {
    let mut options = Options::default();
    options.json_schema.additional_properties_default = Unmentioned::ForbiddenBesideOthers;
    let grammar = compile_schema(schema, style, &options, &Limits::default())
        .unwrap_or_else(|error| panic!("{schema}: {error}"));
    for text in good {
        assert!(accepts(&grammar, text), "{style:?} of {schema} should take {text:?}");
    }
    for text in bad {
        assert!(!accepts(&grammar, text), "{style:?} of {schema} should not take {text:?}");
    }
}

const PERSON: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}"#;

#[test]
fn flat_styles_differ_in_what_is_around_a_value() {
    check(
        Style::QwenXml,
        PERSON,
        &[
            "<parameter=name>B\"<ob</parameter><parameter=age>\t3\n</parameter>",
            "\n<parameter=name></parameter>\n",
        ],
        &[
            "<parameter=age>3</parameter>",
            "<parameter=name>a</parameter>b</parameter>",
            "<parameter=name>a</parameter><parameter=age>x</parameter>",
        ],
    );
    check(
        Style::MinimaxXml,
        PERSON,
        &["<parameter name=\"name\">Bob</parameter>"],
        &[
            "<parameter=name>Bob</parameter>",
            "<parameter name=\"name\">Bob</parameter><parameter name=\"x\">1</parameter>",
        ],
    );
    check(
        Style::GlmXml,
        PERSON,
        &["<arg_key>name</arg_key>\n<arg_value>Bob</arg_value>"],
        &["<arg_key>name</arg_key><arg_value>Bob</arg_key>"],
    );
    let deepseek = |marker: &str, flag: &str| {
        format!("<{marker}parameter name=\"name\" string=\"{flag}\">Bob</{marker}parameter>")
    };
    check(
        Style::DeepseekXml,
        PERSON,
        &[&deepseek("｜DSML｜", "true")],
        &[&deepseek("｜DSML｜", "false"), &deepseek("｜DSML｜ ", "true")],
    );
    check(
        Style::DeepseekV41Xml,
        PERSON,
        &[&deepseek("｜DSML｜ ", "true")],
        &[&deepseek("｜DSML｜", "true")],
    );
    let kimi = |key: &str, of: &str, value: &str| {
        format!(
            "<|open|>argument key=\"{key}\" type=\"{of}\"<|sep|>{value}<|close|>argument<|sep|>"
        )
    };
    let name = kimi("name", "string", "Bob");
    check(
        Style::KimiK3Xml,
        PERSON,
        &[&name, &[&*name, &kimi("age", "number", "3")].concat()],
        &[&kimi("name", "null", "null"), &[&*name, &kimi("age", "integer", "3")].concat()],
    );
    check(
        Style::KimiK3Xml,
        r#"{"type":"object","properties":{"a\"&":true},"required":["a\"&"]}"#,
        &[&kimi("a&quot;&amp;", "array", "[1]"), &kimi("a&quot;&amp;", "string", "[1]")],
        &[&kimi("a\"&", "array", "[1]"), &kimi("a&quot;&amp;", "boolean", "[1]")],
    );
}

#[test]
fn a_value_is_written_as_the_type_that_it_has() {
    let value = |flag: &str, value: &str| {
        format!("<｜DSML｜parameter name=\"v\" string=\"{flag}\">{value}</｜DSML｜parameter>")
    };
    let of = |schema: &str| {
        format!(
            r##"{{"$defs":{{"D":{{"anyOf":[{{"const":"x"}},{{"$ref":"#/$defs/E"}}]}},"E":{{"type":"integer","minimum":2}}}},"type":"object","properties":{{"v":{schema}}},"required":["v"]}}"##
        )
    };
    for schema in [r#"{"enum":["x",2,3]}"#, r##"{"$ref":"#/$defs/D"}"##] {
        check(
            Style::DeepseekXml,
            &of(schema),
            &[&value("true", "x"), &value("false", " 2")],
            &[
                &value("true", "2"),
                &value("false", "\"x\""),
                &value("false", "1"),
                &value("true", " x"),
            ],
        );
    }
    check(
        Style::DeepseekXml,
        &of(r#"{"type":"string","pattern":"^a.*\\n$","maxLength":4}"#),
        &[&value("true", "a\"\\\n"), &value("true", "aé\n")],
        &[&value("true", "a\\n"), &value("true", "abcd\n"), &value("true", "b\n")],
    );
}

#[test]
fn undeclared_and_counted_members() {
    let of = |key: &str, value: &str| format!("<parameter={key}>{value}</parameter>");
    let open = r#"{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"boolean"}}"#;
    check(
        Style::QwenXml,
        open,
        &["", &of("b", "true"), &[of("a", "1"), of("b", "true"), of("c", "false")].concat()],
        &[&of("a", "true"), &[of("b", "true"), of("a", "1")].concat(), &of("1b", "true")],
    );
    let counted =
        r#"{"type":"object","minProperties":2,"additionalProperties":{"type":"integer"}}"#;
    check(
        Style::QwenXml,
        counted,
        &[&[of("a", "1"), of("b", "1")].concat()],
        &[&of("a", "1"), &[of("a", "1"), of("a", "1")].concat()],
    );
    let names = r#"{"type":"object","propertyNames":{"pattern":"^x"},"patternProperties":{"y$":{"type":"null"}}}"#;
    check(
        Style::QwenXml,
        names,
        &[&of("xy", "null")],
        &[&of("y", "null"), &of("xy", "1"), &of("x", "1")],
    );
}

#[test]
fn nested_styles_write_members_and_items_one_by_one() {
    let schema = r##"{"type":"object","properties":{
        "n":{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":2},
        "child":{"$ref":"#"}},"additionalProperties":false}"##;
    let value = |name: &str, of: &str, value: &str| {
        let name = if name.is_empty() { String::new() } else { format!(" name=\"{name}\"") };
        format!("<cofl:value{name} type=\"{of}\">{value}</cofl:value>")
    };
    let one = value("", "json", "1");
    let list = value("n", "list", &one);
    check(
        Style::CohereXml,
        schema,
        &["", &list, &value("child", "dict", &list), &value("n", "list", &one.repeat(2))],
        &[
            &value("n", "list", ""),
            &value("n", "list", &one.repeat(3)),
            &value("n", "json", "[1]"),
            &value("child", "dict", "{}"),
        ],
    );
    let m3 =
        |name: &str, value: &str| format!("]<]minimax[>[<{name}>{value}]<]minimax[>[</{name}>");
    check(
        Style::MinimaxM3Xml,
        schema,
        &["", &m3("n", &m3("item", "1")), &m3("child", &m3("n", &m3("item", "1")))],
        &[&m3("n", "[1]"), &m3("n", "")],
    );
}

#[test]
fn what_a_style_cannot_write_is_refused() {
    for (style, schema) in [
        (Style::QwenXml, r#"{"type":"object","not":{"required":["a"]}}"#),
        (Style::MinimaxM3Xml, r#"{"type":"object","additionalProperties":true}"#),
        (
            Style::QwenXml,
            r#"{"type":"object","properties":{"a":true},"patternProperties":{"a":true}}"#,
        ),
        (
            Style::QwenXml,
            r#"{"type":"object","properties":{"a":true},"anyOf":[{"required":["a"]}]}"#,
        ),
    ] {
        let error = compile_schema(schema, style, &Options::default(), &Limits::default());
        let error = error.unwrap_err();
        assert!(matches!(error.kind, Kind::Style { .. }), "{schema}: {error}");
    }
}

#[test]
fn excluded_strings_stand_in_no_string_and_no_key() {
    let tag = |style: &str| {
        format!(
            r#"{{"format":{{"type":"json_schema","style":"{style}","excludes":["<|x|>","a\\\""],
            "json_schema":{{"type":"object","properties":{{"k":true}},"additionalProperties":true}}}}}}"#
        )
    };
    let grammar =
        |style: &str| crate::compile(&tag(style), &Options::default(), &Limits::default()).unwrap();
    let json = grammar("json");
    assert!(accepts(&json, r#"{"k": "<|x", "b": [true, 1.5]}"#));
    for text in [r#"{"k": "<|x|>"}"#, r#"{"<|x|>": 1}"#, r#"{"k": [{"b": "a\\\""}]}"#] {
        assert!(!accepts(&json, text), "{text}");
    }
    let qwen = grammar("qwen_xml");
    assert!(accepts(&qwen, "<parameter=k>a</parameter>"));
    assert!(accepts(&qwen, "<parameter=k>{\"a\": \"b\"}</parameter>"));
    assert!(!accepts(&qwen, "<parameter=k><|x|></parameter>"));
}

proptest! {
    #[test]
    fn unquoted_strings_are_those_whose_json_texts_are_words(
        words in prop::collection::vec("[ab\"\\\\\n\u{1}é]{0,3}", 0..6),
        text in "[ab\"\\\\\n\u{1}é]{0,3}",
    ) {
        let mut fuel = Fuel::unlimited();
        let quoted: BTreeSet<String> =
            words.iter().map(|word| serde_json::Value::from(word.as_str()).to_string()).collect();
        let json = Dfa::from_strings(quoted, &mut fuel).unwrap();
        let strings = text::unquoted(&json, &mut fuel).unwrap();
        prop_assert_eq!(strings.accepts(text.as_bytes()), words.contains(&text));
        for word in &words {
            prop_assert!(strings.accepts(word.as_bytes()));
        }
    }

    #[test]
    fn entities_stand_for_their_characters(
        words in prop::collection::vec("[a&<é]{0,3}", 0..6),
        text in "(a|&amp;|&|<|&lt;|é){0,3}",
    ) {
        let mut fuel = Fuel::unlimited();
        let wire = Wire::of(Style::CohereXml);
        let sorted: BTreeSet<String> = words.iter().cloned().collect();
        let dfa = Dfa::from_strings(sorted, &mut fuel).unwrap();
        let written = text::with_entities(&dfa, wire.entities, &mut fuel).unwrap();
        let expected = words.iter().any(|word| wire.key(word) == text);
        prop_assert_eq!(written.accepts(text.as_bytes()), expected);
    }
}
