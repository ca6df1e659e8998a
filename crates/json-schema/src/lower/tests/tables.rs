//! Keyword by keyword.

use super::*;
use crate::{Fixed, json_object};
use formwork_automata::CancellationToken;
use formwork_grammar::regular::{self, BytesOnly};
use formwork_grammar::{GrammarError, Location, LowerError};

#[test]
fn types() {
    let all = ["null", "true", "1", "-0", "1.5", "1e5", r#""a""#, "[]", "{}"];
    check("true", &all, &["", "nul", "1 ", "NaN", "[1,]", "{\"a\"}"]);
    check("{}", &all, &[]);
    check(r#"{"type":"integer"}"#, &["0", "-12"], &["1.0", "1e5", "01", "null"]);
    check(r#"{"type":["null","boolean"]}"#, &["null", "true", "false"], &["1", "{}"]);
    check(r#"{"type":["number","integer"]}"#, &["1", "1.5"], &["null"]);
    check("{\"title\":\"annotations alone\"}", &all, &[]);
    assert!(is_unsatisfiable("false"));
}

#[test]
fn nested_values_of_any_type() {
    let values = [r#"[[],[{"a":[1,{"b":null}]}],"x"]"#, r#"{"a":{"a":{}},"":[0.5]}"#];
    check("{}", &values, &[r#"[[]"#, r#"{"a":{}"#, "[1,,2]"]);
}

#[test]
fn properties_in_declared_order() {
    let schema = r#"{"type":"object","properties":{"b":{"type":"null"},"a":{"type":"boolean"}},
        "required":["a"],"additionalProperties":false}"#;
    let accepted = [r#"{"a":true}"#, r#"{"b":null,"a":false}"#];
    let refused = [
        "{}",
        r#"{"b":null}"#,
        r#"{"a":true,"b":null}"#,
        r#"{"a":true,"a":true}"#,
        r#"{"a":null}"#,
        r#"{"a":true,"c":1}"#,
        r#"{,"a":true}"#,
        r#"{"b":null,}"#,
    ];
    check(schema, &accepted, &refused);
}

#[test]
fn what_nothing_satisfies_is_not_taken_for_evident() {
    let unsatisfiable = [
        r#"{"type":"object","properties":{"a":false},"required":["a"]}"#,
        r#"{"type":"object","required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","required":["a","b"],"maxProperties":1}"#,
        r#"{"type":"object","required":["a"],"patternProperties":{"^a":false}}"#,
        r#"{"type":"object","required":["a"],"propertyNames":{"maxLength":0}}"#,
        r#"{"type":"object","required":["a"],"dependentRequired":{"a":["b"]},
            "properties":{"b":false}}"#,
        r#"{"type":"object","properties":{"a":{"enum":["x"],"type":"null"}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"a":{"const":"x","maxLength":0}},"required":["a"]}"#,
        r##"{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}"##,
        r#"{"type":"string","minLength":2,"maxLength":1}"#,
        r#"{"type":"array","minItems":1,"items":false}"#,
        r#"{"type":"array","contains":false}"#,
        r#"{"type":"integer","minimum":0.2,"maximum":0.8}"#,
    ];
    for schema in unsatisfiable {
        assert!(is_unsatisfiable(schema), "{schema}");
    }
}

#[test]
fn patterns_may_look_ahead() {
    let schema = r#"{"type":"object","patternProperties":{"^(?!x)[a-z]+$":{"const":1}},
        "additionalProperties":{"type":"string","pattern":"^(?!.*--)[a-z-]*$"}}"#;
    let accepted = [r#"{"a":1}"#, r#"{"x":"a-b"}"#, r#"{"B":"-"}"#];
    let refused = [r#"{"a":"b"}"#, r#"{"x":1}"#, r#"{"x":"a--b"}"#];
    check(schema, &accepted, &refused);
}

#[test]
fn what_composition_declares_comes_where_it_is_written() {
    let schema = r##"{"definitions":{"base":{"properties":{"b":{},"c":{}}}},
        "allOf":[{"$ref":"#/definitions/base"},{"properties":{"a":{}}}],
        "properties":{"z":{}},
        "anyOf":[{"properties":{"y":{}}},{"required":["a"]}]}"##;
    let accepted = [r#"{"b":1,"c":2,"a":3,"z":4,"y":5,"x":6}"#, r#"{"c":2,"z":4}"#];
    let refused = [r#"{"a":3,"b":1}"#, r#"{"z":4,"a":3}"#, r#"{"y":5,"z":4}"#];
    check(schema, &accepted, &refused);
}

#[test]
fn optional_properties_alone() {
    let schema = r#"{"type":"object","properties":{"a":{"const":1},"b":{"const":2},"c":{"const":3}},
        "additionalProperties":{"const":0}}"#;
    let accepted = [
        "{}",
        r#"{"a":1}"#,
        r#"{"c":3}"#,
        r#"{"a":1,"c":3}"#,
        r#"{"b":2,"c":3,"d":0}"#,
        r#"{"d":0,"e":0,"d":0}"#,
        r#"{"a":1,"b":2,"c":3,"":0,"aa":0}"#,
    ];
    let refused = [
        r#"{"b":2,"a":1}"#,
        r#"{"d":0,"a":1}"#,
        r#"{"a":0}"#,
        r#"{"d":1}"#,
        r#"{"a":1"c":3}"#,
        r#"{"d":0,}"#,
    ];
    check(schema, &accepted, &refused);
}

#[test]
fn undeclared_keys_never_disguise_declared_ones() {
    let schema =
        r#"{"type":"object","properties":{"a\"é":{"const":1}},"additionalProperties":{"const":0}}"#;
    let accepted = [r#"{"a\"é":1}"#, r#"{"a":0}"#, r#"{"a\"éx":0}"#, r#"{"a\\":0,"\n\u001f":0}"#];
    let refused = [
        r#"{"a\"é":0}"#,
        r#"{"a\u0022é":0}"#,
        r#"{"a\"\u00e9":0}"#,
        r#"{"\u0061":0}"#,
        r#"{"\/":0}"#,
    ];
    check(schema, &accepted, &refused);
}

#[test]
fn required_names_without_declaration_come_next() {
    let schema = r#"{"type":"object","properties":{"b":true},"required":["z","y","b","z"],
        "additionalProperties":{"type":"integer"}}"#;
    let accepted = [r#"{"b":null,"z":1,"y":2}"#, r#"{"b":0,"z":1,"y":2,"a":3}"#];
    let refused = [
        r#"{"b":null,"y":1,"z":2}"#,
        r#"{"b":null,"z":1}"#,
        r#"{"b":0,"z":"","y":2}"#,
        r#"{"b":0,"z":1,"y":2,"z":3}"#,
    ];
    check(schema, &accepted, &refused);
    assert!(is_unsatisfiable(r#"{"type":"object","required":["a"],"additionalProperties":false}"#));
}

#[test]
fn impossible_properties_are_left_out() {
    let schema = r#"{"type":"object","properties":{"a":false,"b":{"type":"integer","minimum":1.2,"maximum":1.8},
        "c":{"const":1}},"additionalProperties":false}"#;
    check(schema, &["{}", r#"{"c":1}"#], &[r#"{"a":1}"#, r#"{"b":1}"#]);
    let open = r#"{"type":"object","properties":{"a":false}}"#;
    check(open, &["{}", r#"{"b":1}"#], &[r#"{"a":1}"#]);
    assert!(is_unsatisfiable(r#"{"type":"object","properties":{"a":false},"required":["a"]}"#));
}

#[test]
fn arrays() {
    let schema = r#"{"type":"array","items":{"type":"null"},"minItems":1,"maxItems":3}"#;
    check(
        schema,
        &["[null]", "[null,null,null]"],
        &["[]", "[null,null,null,null]", "[1]", "[null,]"],
    );
    let tuple = r#"{"type":"array","prefixItems":[{"const":1},{"const":2},{"const":3}],"items":{"const":0}}"#;
    check(tuple, &["[]", "[1]", "[1,2]", "[1,2,3]", "[1,2,3,0,0]"], &["[2]", "[1,2,0]", "[1,3]"]);
    let tuple = r#"{"type":"array","prefixItems":[{"const":1},{"const":2},{"const":3}],"items":{"const":0},"minItems":2,"maxItems":4}"#;
    check(tuple, &["[1,2]", "[1,2,3]", "[1,2,3,0]"], &["[]", "[1]", "[1,2,3,0,0]"]);
    let tuple =
        r#"{"type":"array","prefixItems":[{"const":1},{"const":2},{"const":3}],"maxItems":1}"#;
    check(tuple, &["[]", "[1]"], &["[1,2]"]);
    let old = r#"{"type":"array","items":[{"const":1}],"additionalItems":false}"#;
    check(old, &["[]", "[1]"], &["[1,1]", "[2]"]);
    let open = r#"{"type":"array","prefixItems":[{"const":1}],"minItems":3}"#;
    check(open, &["[1,{},[]]", "[1,2,3,4]"], &["[1,2]"]);
    check(r#"{"type":"array","maxItems":0}"#, &["[]"], &["[1]"]);
    check(r#"{"type":"array","items":false}"#, &["[]"], &["[1]"]);
}

#[test]
fn arrays_end_before_what_nothing_can_be() {
    let schema = r#"{"type":"array","prefixItems":[{"const":1},false,{"const":3}]}"#;
    check(schema, &["[]", "[1]"], &["[1,3]", "[1,2,3]"]);
    assert!(is_unsatisfiable(r#"{"type":"array","prefixItems":[true,false],"minItems":2}"#));
    assert!(is_unsatisfiable(r#"{"type":"array","items":false,"minItems":1}"#));
    assert!(is_unsatisfiable(r#"{"type":"array","minItems":2,"maxItems":1}"#));
}

#[test]
fn strings() {
    let any = r#"{"type":"string"}"#;
    check(
        any,
        &[r#""""#, r#""\/\u00e9\ud83d\ude00\b""#, "\"é\u{7f}\""],
        &[r#""\ud83d""#, "\"\n\"", "'a'"],
    );
    let short = r#"{"type":"string","minLength":1,"maxLength":2}"#;
    check(
        short,
        &[r#""a""#, r#""\ud83d\ude00é""#, r#""\n\/""#, "\"😀😀\""],
        &[r#""""#, r#""abc""#],
    );
    let pattern = r#"{"type":"string","pattern":"^a+$"}"#;
    check(pattern, &[r#""a""#, r#""aaa""#], &[r#""""#, r#""\u0061""#, r#""ab""#]);
    let inside = r#"{"type":"string","pattern":"[\"\\n]"}"#;
    check(inside, &[r#""x\"y""#, r#""\n""#, r#""\u0000\n""#], &[r#""x""#, r#""\\n""#]);
    let both = r#"{"type":"string","pattern":"^(a|bbb)*$","minLength":2,"maxLength":3}"#;
    check(both, &[r#""aa""#, r#""bbb""#], &[r#""a""#, r#""bb""#, r#""abbb""#]);
    assert!(is_unsatisfiable(
        r#"{"type":"string","pattern":"^(aaa)*$","minLength":4,"maxLength":5}"#
    ));
    assert!(is_unsatisfiable(r#"{"type":"string","minLength":3,"maxLength":2}"#));
}

#[test]
fn long_strings_stay_counted() {
    let grammar = grammar(r#"{"type":"string","maxLength":4000000000}"#);
    let body = grammar.body(grammar.root()).expect("lowered");
    assert!(body.nodes().len() < 10);
}

#[test]
fn numbers() {
    check(r#"{"type":"number"}"#, &["1", "-0.5", "1E+5"], &["1.", "NaN"]);
    let bounded = r#"{"type":"number","minimum":0,"exclusiveMaximum":1.5}"#;
    check(bounded, &["0", "-0.0", "1.49999", "1"], &["1.5", "1.50", "-0.1", "1e0"]);
    check(r#"{"type":"integer","minimum":-3,"maximum":12}"#, &["-3", "12"], &["-4", "13", "1.0"]);
    let draft4 = r#"{"type":"integer","minimum":5,"exclusiveMinimum":true}"#;
    check(draft4, &["6", "10"], &["5", "4"]);
    let large = r#"{"type":"integer","minimum":9007199254740993}"#;
    check(large, &["9007199254740993"], &["9007199254740992"]);
    assert!(is_unsatisfiable(r#"{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}"#));
}

#[test]
fn listed_values() {
    let schema = r#"{"enum":["a\n",1.50,1e2,null,[1, {"b":2,"a":[]}],{},true]}"#;
    let accepted =
        [r#""a\n""#, "1.50", "1.5", "1e2", "100", "null", r#"[1,{"b":2,"a":[]}]"#, "{}", "true"];
    let refused = ["false", "1.500", "1E2", r#"[1,{"a":[],"b":2}]"#, "[]", r#""a""#];
    check(schema, &accepted, &refused);
    check(r#"{"const":{"a":[]}}"#, &[r#"{"a":[]}"#], &[r#"{"a":{}}"#]);
    check(r#"{"enum":[1.0,1]}"#, &["1", "1.0"], &["1.00"]);
    check(r#"{"const":-0.0}"#, &["0", "-0.0"], &["-0"]);
    assert!(is_unsatisfiable(r#"{"enum":[]}"#));
}

#[test]
fn listed_values_obey_what_stands_beside_them() {
    check(
        r#"{"type":"integer","enum":[1,1.5,"a",2.0,null]}"#,
        &["1", "2.0", "2"],
        &["1.5", "null"],
    );
    check(
        r#"{"minLength":2,"pattern":"b","enum":["b","ab","aa",7]}"#,
        &[r#""ab""#, "7"],
        &[r#""b""#, r#""aa""#],
    );
    check(r#"{"enum":[1,2,3],"minimum":2,"exclusiveMaximum":3}"#, &["2"], &["1", "3"]);
    let objects = r#"{"enum":[{"a":1},{"a":"x"},{"b":1},{"a":1,"b":1}],"properties":{"a":{"type":"integer"}},
        "required":["a"],"additionalProperties":false}"#;
    check(objects, &[r#"{"a":1}"#], &[r#"{"a":"x"}"#, r#"{"b":1}"#, r#"{"a":1,"b":1}"#]);
    check(
        r#"{"enum":[[1],[1,2],["a"]],"items":{"type":"integer"},"maxItems":1}"#,
        &["[1]"],
        &["[1,2]", "[\"a\"]"],
    );
    check(r#"{"enum":[1,2],"const":2.0}"#, &["2", "2.0"], &["1"]);
    check(r#"{"enum":[1,"a"],"anyOf":[{"type":"string"},{"const":3}]}"#, &[r#""a""#], &["1", "3"]);
    let twice = r##"{"enum":[{"x":[1,2.0]},5],"$ref":"#/$defs/a","$defs":{"a":{"enum":[{"x":[1.0,2]},6]}}}"##;
    check(twice, &[r#"{"x":[1,2]}"#], &["5", "6"]);
    assert!(is_unsatisfiable(r#"{"type":"string","enum":[1,2]}"#));
    assert!(is_unsatisfiable(r#"{"const":1,"enum":[2]}"#));
}

#[test]
fn alternatives() {
    let schema =
        r#"{"anyOf":[{"type":"string","maxLength":1},{"type":"integer","minimum":5},false]}"#;
    check(schema, &[r#""a""#, "5"], &["4", "\"ab\"", "null"]);
    let untyped = r#"{"anyOf":[{"maxLength":1},{"minimum":5}]}"#;
    check(untyped, &["4", "null", "\"ab\"", "{}"], &["nul"]);
    let merged = r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],
        "anyOf":[{"properties":{"a":{"minimum":5},"b":{"const":1}},"required":["b"]},{"properties":{"a":{"maximum":1}}}],
        "additionalProperties":{"type":"integer"}}"#;
    let accepted = [r#"{"a":7,"b":1}"#, r#"{"a":1}"#, r#"{"a":0,"c":3}"#, r#"{"a":-1,"b":2}"#];
    check(merged, &accepted, &[r#"{"a":3}"#, r#"{"a":7}"#, r#"{"a":7,"b":2}"#, r#"{"b":1,"a":7}"#]);
    assert!(is_unsatisfiable(
        r#"{"type":"string","anyOf":[{"type":"null"},{"minLength":2}],"maxLength":1}"#
    ));
}

#[test]
fn additional_properties_look_at_their_own_schema_alone() {
    let schema = r#"{"type":"object","properties":{"a":true},"additionalProperties":false,
        "anyOf":[{"properties":{"b":{"const":1}},"additionalProperties":{"type":"integer"}}]}"#;
    check(schema, &["{}", r#"{"a":2}"#], &[r#"{"b":1}"#, r#"{"a":null}"#, r#"{"c":1}"#]);
}

#[test]
fn references() {
    let list = r##"{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#"}},
        "required":["v"],"additionalProperties":false}"##;
    check(
        list,
        &[r#"{"v":1}"#, r#"{"v":1,"next":{"v":2,"next":{"v":3}}}"#],
        &[r#"{"v":1,"next":null}"#, "{}"],
    );
    let siblings =
        r##"{"$ref":"#/$defs/a","minimum":3,"$defs":{"a":{"type":"integer","maximum":5}}}"##;
    check(siblings, &["3", "5"], &["2", "6", "null"]);
    let grammar = grammar(list);
    grammar.lower_all(&Limits::default()).expect("finite");
    assert_eq!(grammar.rule_count(), 2, "the recursion comes back to the root");
}

#[test]
fn what_needs_itself_has_no_value() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"type":"object","$ref":"#"}"##,
        r##"{"anyOf":[{"$ref":"#"}]}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}"##,
        r##"{"type":"array","items":{"$ref":"#"},"minItems":1}"##,
        r##"{"type":"object","required":["a","b"],"properties":{"b":{"$ref":"#"},"a":{"type":"object","required":["x"],"properties":{"x":{"const":1}}}}}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"title":"x","$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##,
        r##"{"type":"array","prefixItems":[{"$ref":"#/$defs/a"}],"minItems":1,"$defs":{"a":{"type":"array","items":{"$ref":"#"},"minItems":1}}}"##,
    ] {
        assert!(is_unsatisfiable(schema), "{schema}");
    }
    let (one_way_out, text) = (r##"{"anyOf":[{"$ref":"#"},{"type":"null"}]}"##, "null");
    check(one_way_out, &[text], &["1"]);
    let tree = r##"{"type":"array","items":{"$ref":"#"},"maxItems":2}"##;
    check(tree, &["[]", "[[],[[]]]"], &["[[],[],[]]", "[1]"]);
    let escape = r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"const":1}]}},"required":["a"],"additionalProperties":false}"##;
    check(escape, &[r#"{"a":1}"#, r#"{"a":{"a":1}}"#], &["{}", r#"{"a":{}}"#]);
}

#[test]
fn two_members_that_hold_because_of_each_other_do_not_hold() {
    let schema = r##"{"type":"array","items":{"anyOf":[{"const":1},{"$ref":"#/$defs/a"}]},
        "$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}],"title":"a"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##;
    check(schema, &["[]", "[1,1]"], &["[2]"]);
}

#[test]
fn json_mode() {
    let grammar = json_object(&Options::default(), &Limits::default()).expect("satisfiable");
    for text in ["{}", "{ \"a\" :\n[1 ,2 ] }", r#"{"a":{"b":{}}}"#] {
        assert!(accepts(&grammar, text.as_bytes()), "{text}");
    }
    for text in ["[]", " {}", "{} ", "1"] {
        assert!(!accepts(&grammar, text.as_bytes()), "{text}");
    }
}

fn with(white_space: WhiteSpace) -> Options {
    Options::default().with_white_space(white_space)
}

#[test]
fn white_space() {
    let schema =
        r#"{"type":"object","properties":{"a":{"const":[1,{}]}},"additionalProperties":false}"#;
    let accepted = |options: &Options, text: &str| {
        let grammar = compile(schema, options, &Limits::default()).expect("satisfiable");
        accepts(&grammar, text.as_bytes())
    };
    let bounded = with(WhiteSpace::Bounded { max: 2 });
    assert!(accepted(&bounded, "{  \"a\"\t\n:\r [  1  ,  {  }  ]  }"));
    assert!(!accepted(&bounded, "{   \"a\":[1,{}]}") && !accepted(&bounded, "{\"a\":[1,{   }]}"));
    assert!(
        !accepted(&bounded, " {}") && accepted(&bounded, "{  }") && !accepted(&bounded, "{   }")
    );
    assert!(!accepted(&compact(), "{ }") && accepted(&compact(), r#"{"a":[1,{}]}"#));
    assert!(accepted(&with(WhiteSpace::Unbounded), &format!("{{{}}}", " ".repeat(1_000))));
    let pattern = with(WhiteSpace::Pattern(" ?".into()));
    assert!(accepted(&pattern, r#"{ "a" : [1, { } ] }"#) && !accepted(&pattern, "{  }"));
    let fixed = with(WhiteSpace::Fixed(Fixed::default()));
    assert!(accepted(&fixed, r#"{"a": [1, {}]}"#) && accepted(&fixed, "{}"));
    assert!(!accepted(&fixed, r#"{"a":[1, {}]}"#) && !accepted(&fixed, "{ }"));
    let indented = with(WhiteSpace::Fixed(Fixed {
        item_separator: ",".into(),
        indent: Some("  ".into()),
        ..Fixed::default()
    }));
    assert!(
        accepted(&indented, "{\n  \"a\": [\n    1,\n    {}\n  ]\n}") && accepted(&indented, "{}")
    );
    assert!(!accepted(&indented, "{\n  \"a\": [\n  1,\n    {}\n  ]\n}"));
}

#[test]
fn indentation_follows_the_depth_of_rules_too() {
    let options = with(WhiteSpace::Fixed(Fixed {
        item_separator: ",".into(),
        indent: Some("\t".into()),
        ..Fixed::default()
    }));
    let grammar = compile("{}", &options, &Limits::default()).expect("satisfiable");
    assert!(accepts(
        &grammar,
        b"[\n\t1,\n\t{\n\t\t\"a\": [],\n\t\t\"b\": [\n\t\t\t2\n\t\t]\n\t}\n]"
    ));
    assert!(!accepts(&grammar, b"[\n\t1,\n\t{\n\t\"a\": []\n\t}\n]"));
    let mut limits = Limits::default();
    limits.nesting = 5;
    let grammar = compile("{}", &options, &limits).expect("satisfiable");
    match grammar.lower_all(&limits) {
        Err(GrammarError::Lower(LowerError { source, .. })) => {
            let kind = source.downcast_ref::<SchemaErrorKind>().expect("from here");
            assert_eq!(*kind, SchemaErrorKind::Nesting { limit: 5 });
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn white_space_is_nothing_else() {
    let fixed = |item: &str, key: &str, indent: Option<&str>| {
        with(WhiteSpace::Fixed(Fixed {
            item_separator: item.into(),
            key_separator: key.into(),
            indent: indent.map(Into::into),
        }))
    };
    for options in [
        with(WhiteSpace::Pattern("x".into())),
        with(WhiteSpace::Pattern("[]".into())),
        fixed(";", ":", None),
        fixed(",,", ":", None),
        fixed(",", ",", None),
        fixed(",", ":", Some("--")),
    ] {
        let error = compile("{}", &options, &Limits::default()).expect_err("refused");
        assert!(matches!(error.kind, SchemaErrorKind::NotWhiteSpace { .. }), "{options:?}");
    }
    let broken = compile("{}", &with(WhiteSpace::Pattern("(".into())), &Limits::default());
    assert!(matches!(broken.expect_err("refused").kind, SchemaErrorKind::Pattern(_)));
}

#[test]
fn patterns_are_checked_at_once() {
    let error = refusal(r#"{"properties":{"a":{"items":{"pattern":"a("}}}}"#);
    assert!(matches!(error.kind, SchemaErrorKind::Pattern(_)));
    assert_eq!(error.location.to_string(), "/properties/a/items/pattern");
    assert!(
        error
            .to_string()
            .starts_with("/properties/a/items/pattern (line 1, column 40): bad pattern")
    );
}

#[test]
fn a_grammar_without_recursion_is_one_automaton() {
    let grammar = grammar(
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":3},"b":{"enum":["x","y"]},
        "c":{"type":"array","items":{"type":"string","maxLength":3,"pattern":"^a"},"maxItems":2}},
        "required":["b"],"additionalProperties":false}"#,
    );
    let token = CancellationToken::new();
    let dfa = regular::dfa(&grammar, &BytesOnly, &Limits::default(), &token).expect("regular");
    for text in [
        r#"{"b":"x"}"#,
        r#"{"a":3,"b":"y","c":["a","abc"]}"#,
        r#"{"a":2,"b":"y"}"#,
        r#"{"b":"x","c":["b"]}"#,
        r#"{"a":33,"b":"x","c":[]}"#,
        r#"{"a":3}"#,
        "{}",
    ] {
        assert_eq!(dfa.accepts(text.as_bytes()), accepts(&grammar, text.as_bytes()), "{text}");
    }
    assert!(dfa.accepts(br#"{"a":3,"b":"y","c":["a","abc"]}"#));
}

#[test]
fn a_prefix_of_no_items_says_nothing() {
    let schema = r#"{"type":"array","prefixItems":[],"items":{"const":1},"minItems":1}"#;
    check(schema, &["[1]", "[1,1]"], &["[]", "[2]"]);
}

#[test]
fn a_reference_that_stands_alone_comes_with_a_warning() {
    let schema = r##"{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a",
        "maxLength":1,"definitions":{"a":{"type":"string"}}}"##;
    check(schema, &[r#""ab""#], &["1"]);
    let warnings = |schema: &str| {
        let grammar = compile(schema, &Options::default(), &Limits::default());
        grammar.expect("a grammar").warnings().to_vec()
    };
    let [warning] = &warnings(schema)[..] else { panic!("one warning") };
    assert_eq!(warning.location, Location::Pointer("/maxLength".into()));
    assert!(warning.message.starts_with("`maxLength`"), "{}", warning.message);
    let latest = schema.replace("draft-07", "draft/2020-12");
    check(&latest, &[r#""a""#], &[r#""ab""#]);
    assert!(warnings(&latest).is_empty());
}
