//! References of every kind, by the instances that schemas with them accept.

use super::{oracle::is_valid, *};

fn options(documents: &[(&str, &str)]) -> Options {
    documents
        .iter()
        .fold(Options::default(), |options, &(uri, text)| options.with_document(uri, text))
}

/// Whether each of some instances is valid, as `1` and `0`.
fn verdicts(text: &str, options: &Options, instances: &[&str]) -> String {
    let model = try_model(text, options).expect("a schema");
    instances.iter().map(|instance| if is_valid(&model, instance) { '1' } else { '0' }).collect()
}

#[test]
fn references_lead_somewhere_or_are_refused() {
    for reference in
        ["#/$defs/b", "#/$defs/a/00", "#/$defs/a/2", "#/title/x", "#/%zz", "#/%ff", "#anchor"]
    {
        let text = format!(r#"{{"$ref":"{reference}","$defs":{{"a":[true]}},"title":"t"}}"#);
        let kind = SchemaErrorKind::UnresolvableReference { reference: reference.to_owned() };
        assert_eq!(fault(&text), ("/$ref".to_owned(), kind));
    }
    for reference in ["other.json", "https://example.com/s#/a", "urn:x#y"] {
        let kind = SchemaErrorKind::RemoteReference { reference: reference.to_owned() };
        assert_eq!(fault(&format!(r#"{{"$ref":"{reference}"}}"#)), ("/$ref".to_owned(), kind));
    }
    let found = model(
        r##"{"$ref":"#/$defs/a~1b%20%C3%A9/anyOf/0","$defs":{"a/b é":{"anyOf":[{"type":"null"}]}}}"##,
    );
    assert_eq!(found.pointer(found.root()), "/$defs/a~1b é/anyOf/0");
    assert_eq!(found.keywords(found.root()).expect("keywords").types, Types::NULL);
    let anywhere = r##"{"$ref":"#/x-own/0","x-own":[{"type":"null"}]}"##;
    assert_eq!(verdicts(anywhere, &Options::default(), &["null", "1"]), "10");
    let itself = r#"{"items":{"$ref":""},"type":"array"}"#;
    assert_eq!(verdicts(itself, &Options::default(), &["[[]]", "[1]"]), "10");
}

#[test]
fn identifiers_move_the_base() {
    let text = r##"{
        "$id": "http://example.com/root.json",
        "items": { "$ref": "folder/item.json" },
        "$defs": {
            "item": {
                "$id": "/folder/item.json",
                "anyOf": [{ "$ref": "#/$defs/here" }, { "$ref": "other.json" },
                          { "$ref": "#there" }],
                "$defs": { "here": { "const": 1 }, "there": { "$anchor": "there", "const": 3 } }
            },
            "other": { "$id": "http://example.com/folder/other.json", "const": 2 },
            "there": { "$anchor": "there", "const": 4 }
        },
        "enum": [{ "$id": "folder/item.json", "const": 5 }, [1], [2], [3], [4], [5]]
    }"##;
    let instances = ["[1]", "[2]", "[3]", "[4]", "[5]"];
    assert_eq!(verdicts(text, &Options::default(), &instances), "11100");
}

#[test]
fn older_drafts_have_other_identifiers() {
    let text = |dialect: &str, id: &str| {
        format!(
            r##"{{"$schema":"http://json-schema.org/{dialect}/schema#","{id}":"http://a/b",
            "items":[{{"$ref":"#name"}},{{"$ref":"c"}},{{"$ref":"c#inner"}}],
            "definitions":{{
                "x":{{"{id}":"#name","enum":[1]}},
                "y":{{"{id}":"c","type":"integer",
                      "definitions":{{"z":{{"{id}":"#inner","enum":[3]}}}}}},
                "q":{{"{id}":"d","$ref":"#/definitions/x"}}}}}}"##
        )
    };
    for (dialect, id) in [("draft-04", "id"), ("draft-06", "$id"), ("draft-07", "$id")] {
        let text = text(dialect, id);
        let instances = ["[1,5,3]", "[2]", "[1,true]", "[1,1,1]"];
        assert_eq!(verdicts(&text, &Options::default(), &instances), "1000", "{dialect}");
        // Beside a reference an identifier is none.
        let text = text.replace(r##""#name"}"##, r#""d"}"#);
        let kind = SchemaErrorKind::RemoteReference { reference: "d".to_owned() };
        assert_eq!(fault(&text), ("/items/0/$ref".to_owned(), kind));
    }
}

#[test]
fn other_documents_are_those_that_are_given() {
    let given = options(&[
        ("http://example.com/a.json", r##"{"properties":{"b":{"$ref":"b.json#/$defs/c"}}}"##),
        ("http://example.com/b.json#", r##"{"$defs":{"c":{"type":"integer"},"d":{"$id":"e"}}}"##),
        ("relative.json", r##"{"$ref":"#/$defs/f","$defs":{"f":{"const":"f"}}}"##),
    ]);
    let text = r#"{"$ref":"http://example.com/a.json"}"#;
    assert_eq!(verdicts(text, &given, &[r#"{"b":1}"#, r#"{"b":"c"}"#]), "10");
    assert_eq!(verdicts(r#"{"$ref":"./relative.json"}"#, &given, &["\"f\"", "1"]), "10");
    // Also by a name that only the document itself has.
    assert_eq!(verdicts(r#"{"$ref":"http://example.com/e"}"#, &given, &["1"]), "1");

    let broken = options(&[("a", "{\"x\": [\n1,, 2]}")]);
    let error = try_model(r#"{"$ref":"a"}"#, &broken).expect_err("not JSON");
    assert_eq!(error.location, Location::Pointer("a#/x/1".to_owned()));
    assert!(matches!(error.kind, SchemaErrorKind::Syntax(SyntaxError::Unexpected { .. })));
    let position = error.position.expect("in that document");
    assert_eq!((position.line, position.column), (2, 3));

    let wrong = options(&[("a", "{\"not\":1,\n\"$defs\":{\"b\":{\"type\":7}}}")]);
    let (pointer, kind) = fault_with(r#"{"$ref":"a#/$defs/b"}"#, &wrong);
    assert_eq!(pointer, "a#/$defs/b/type");
    assert!(matches!(kind, SchemaErrorKind::IllTyped { keyword: "type", .. }));
}

#[test]
fn metaschemas_are_there() {
    for uri in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let text = format!(r#"{{"$ref":"{uri}"}}"#);
        let instances = [
            r#"{"type":"object"}"#,
            r#"{"properties":{"a":{"items":{"minLength":1}}}}"#,
            r#"{"type":1}"#,
            r#"{"properties":{"a":{"items":{"minLength":-1}}}}"#,
            r#"{"additionalProperties":{"type":"objekt"}}"#,
        ];
        let options = Options { format: FormatMode::Annotate, ..Options::default() };
        assert_eq!(verdicts(&text, &options, &instances), "11000", "{uri}");
    }
}

#[test]
fn dynamic_references_lead_to_the_outermost_anchor() {
    // A tree whose nodes may have any data, and one that extends it.
    let tree = r##"{"$id":"http://example.com/tree","$dynamicAnchor":"node","type":"object",
        "properties":{"data":true,"children":{"items":{"$dynamicRef":"#node"}}}}"##;
    let strict = r##"{"$id":"http://example.com/strict","$dynamicAnchor":"node","$ref":"tree",
        "unevaluatedProperties":false}"##;
    let given = options(&[("http://example.com/tree", tree)]);
    let (typo, right) = (r#"{"children":[{"daat":1}]}"#, r#"{"children":[{"data":1}]}"#);
    assert_eq!(verdicts(tree, &given, &[typo, right]), "11");
    assert_eq!(verdicts(strict, &given, &[typo, right]), "01");

    // The same anchor, from two sides.
    let text = r##"{"$id":"http://example.com/two","properties":{
            "number":{"$id":"number","$ref":"list",
                      "$defs":{"x":{"$dynamicAnchor":"item","type":"number"}}},
            "string":{"$id":"string","$ref":"list",
                      "$defs":{"x":{"$dynamicAnchor":"item","type":"string"}}},
            "plain":{"$ref":"list"}},
        "$defs":{"list":{"$id":"list","items":{"$dynamicRef":"#item"},
            "$defs":{"x":{"$dynamicAnchor":"item","type":"null"}}}}}"##;
    let instances = [
        r#"{"number":[1],"string":["a"],"plain":[null]}"#,
        r#"{"number":["a"]}"#,
        r#"{"string":[1]}"#,
        r#"{"plain":[1]}"#,
    ];
    assert_eq!(verdicts(text, &Options::default(), &instances), "1000");

    // What is found as a plain anchor is a plain reference.
    let text = r##"{"$dynamicAnchor":"other","properties":{"a":{"$dynamicRef":"#plain"}},
        "$defs":{"p":{"$anchor":"plain","type":"null"}}}"##;
    assert_eq!(verdicts(text, &Options::default(), &[r#"{"a":null}"#, r#"{"a":{}}"#]), "10");
}

#[test]
fn recursive_references_lead_to_the_outermost_recursive_anchor() {
    let dialect = r#""$schema":"https://json-schema.org/draft/2019-09/schema""#;
    let tree = |anchor: &str| {
        format!(
            r##"{{{dialect},"$id":"http://example.com/tree",{anchor}"type":"object",
            "properties":{{"data":true,"children":{{"items":{{"$recursiveRef":"#"}}}}}}}}"##
        )
    };
    let strict = format!(
        r##"{{{dialect},"$id":"http://example.com/strict","$recursiveAnchor":true,"$ref":"tree",
        "unevaluatedProperties":false}}"##
    );
    let typo = r#"{"children":[{"daat":1}]}"#;
    let with = tree(r#""$recursiveAnchor":true,"#);
    let given = options(&[("http://example.com/tree", &with)]);
    assert_eq!(verdicts(&strict, &given, &[typo]), "0");
    let without = tree("");
    let given = options(&[("http://example.com/tree", &without)]);
    assert_eq!(verdicts(&strict, &given, &[typo]), "1");
}

#[test]
fn scopes_without_end_are_a_limit() {
    // Each resource leads to every other one, and which comes first of each pair is remembered.
    let mut text = String::from("{\"$id\":\"http://example.com/\",\"$defs\":{");
    let count = 14;
    for index in 0..count {
        for side in ["a", "b"] {
            let next: Vec<String> = (0..count)
                .flat_map(|next| ["a", "b"].map(|side| format!(r#"{{"$ref":"{side}{next}"}}"#)))
                .collect();
            text.push_str(&format!(
                r##""{side}{index}":{{"$id":"{side}{index}","$dynamicAnchor":"n{index}",
                "items":{{"anyOf":[{},{{"$dynamicRef":"#n{index}"}}]}}}},"##,
                next.join(",")
            ));
        }
    }
    text.push_str(r#""z":true},"$ref":"a0"}"#);
    let mut limits = Limits::default();
    limits.nodes = 10_000;
    let document = document::parse(text.as_bytes(), &limits).expect("JSON");
    let mut fuel = limits.fuel(&CancellationToken::new());
    let error = read(document, &Options::default(), &limits, &mut fuel).expect_err("too many");
    assert_eq!(error.kind, SchemaErrorKind::Nodes { limit: 10_000 });
}

#[test]
fn metaschemas_of_the_caller_choose_draft_and_vocabularies() {
    let metaschema = |vocabularies: &str| {
        format!(
            r#"{{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"urn:own",
            "$vocabulary":{{{vocabularies}}}}}"#
        )
    };
    let vocabulary = |name: &str, required: bool| {
        format!(r#""https://json-schema.org/draft/2019-09/vocab/{name}":{required}"#)
    };
    let text = r#"{"$schema":"urn:own","properties":{"a":{"minimum":5}},"prefixItems":[false]}"#;
    let both = [vocabulary("applicator", true), vocabulary("validation", true)].join(",");
    let some = [vocabulary("applicator", true), r#""urn:optional":false"#.into()].join(",");
    for (vocabularies, expected) in [(&both, "01"), (&some, "11")] {
        let given = options(&[("urn:own", &metaschema(vocabularies))]);
        assert_eq!(verdicts(text, &given, &[r#"{"a":1}"#, "[1]"]), expected, "{vocabularies}");
    }
    let given = options(&[("urn:own", &metaschema(r#""urn:needed":true"#))]);
    let (pointer, kind) = fault_with(text, &given);
    assert_eq!(pointer, "urn:own#/$vocabulary/urn:needed");
    assert_eq!(kind, SchemaErrorKind::UnknownVocabulary { vocabulary: "urn:needed".to_owned() });
}

#[test]
fn pointers_that_lead_nowhere_from_their_resource_are_meant_from_the_outermost() {
    let text = r##"{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://a/b","items":
        {"id":"c","items":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"null"}}}"##;
    assert_eq!(verdicts(text, &Options::default(), &["[[null]]", "[[1]]"]), "10");
    let expected = "/items/items/$ref `#/definitions/n`: leads nowhere from its own resource: \
        read from the outermost schema (places in this schema: 1)";
    assert_eq!(warnings(text, &Options::default()), [expected]);
    let kind = SchemaErrorKind::UnresolvableReference { reference: "#/definitions/m".to_owned() };
    let text = text.replace("#/definitions/n", "#/definitions/m");
    assert_eq!(fault(&text), ("/items/items/$ref".to_owned(), kind));
}

#[test]
fn long_bases_that_are_inherited_cost_steps() {
    let start = format!(r#"{{"$id":"http://example.com/{}/","#, "a".repeat(100_000));
    let embedded: Vec<_> = (0..1_000).map(|index| format!(r#"{{"$id":"{index}"}}"#)).collect();
    let references = vec![r#"{"$ref":"b"}"#; 1_000];
    let cases = [
        format!(r#"{start}"anyOf":[{}]}}"#, embedded.join(",")),
        format!(r#"{start}"anyOf":[{}],"$defs":{{"b":{{"$id":"b"}}}}}}"#, references.join(",")),
    ];
    for text in cases {
        let mut limits = Limits::default();
        limits.automaton_steps = 10_000_000;
        let document = document::parse(text.as_bytes(), &limits).expect("JSON");
        let mut fuel = limits.fuel(&CancellationToken::new());
        let error = read(document, &Options::default(), &limits, &mut fuel).expect_err("too much");
        assert!(matches!(error.kind, SchemaErrorKind::Exhausted(_)), "{error}");
    }
}
