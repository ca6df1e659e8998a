//! Models of small schemas, and the errors of ill-formed ones, by hand.

use super::*;
use crate::document;
use formwork_grammar::Limits;

fn model(text: &str) -> Model {
    let document = document::parse(text.as_bytes(), &Limits::default()).expect("JSON");
    read(document).expect("a schema")
}

/// Pointer and kind of the error of a schema.
fn fault(text: &str) -> (String, SchemaErrorKind) {
    let document = document::parse(text.as_bytes(), &Limits::default()).expect("JSON");
    let error = read(document).expect_err("no schema");
    assert!(error.position.is_some());
    let Location::Pointer(pointer) = error.location else { panic!("no pointer") };
    (pointer, error.kind)
}

#[test]
fn refused_keywords_are_named_wherever_the_root_leads() {
    for (text, pointer, keyword) in [
        (r#"{"allOf":[]}"#, "/allOf", "allOf"),
        (r#"{"properties":{"a":{"items":{"not":{}}}}}"#, "/properties/a/items/not", "not"),
        (
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[true,{"oneOf":[]}]}}}"##,
            "/$defs/a/anyOf/1/oneOf",
            "oneOf",
        ),
        (r#"{"format":"date"}"#, "/format", "format"),
        (r#"{"uniqueItems":true}"#, "/uniqueItems", "uniqueItems"),
        (r#"{"items":{"$id":"x"}}"#, "/items/$id", "$id"),
    ] {
        let expected = (pointer.to_owned(), SchemaErrorKind::Unsupported { keyword });
        assert_eq!(fault(text), expected, "{text}");
    }
}

#[test]
fn what_the_root_does_not_reach_may_say_what_it_likes() {
    model(
        r#"{"$id":"x","$defs":{"a":{"allOf":3}},"title":7,"x-any":{"not":{}},"uniqueItems":false}"#,
    );
}

#[test]
fn ill_typed_values_are_named() {
    for (text, pointer, keyword) in [
        (r#"{"type":"strin"}"#, "/type", "type"),
        (r#"{"type":[]}"#, "/type", "type"),
        (r#"{"type":["string",1]}"#, "/type", "type"),
        (r#"{"properties":[]}"#, "/properties", "properties"),
        (r#"{"required":"a"}"#, "/required", "required"),
        (r#"{"required":["a",1]}"#, "/required/1", "required"),
        (r#"{"required":true}"#, "/required", "required"),
        (r#"{"enum":{}}"#, "/enum", "enum"),
        (r#"{"anyOf":[]}"#, "/anyOf", "anyOf"),
        (r#"{"prefixItems":{}}"#, "/prefixItems", "prefixItems"),
        (r#"{"minItems":-1}"#, "/minItems", "minItems"),
        (r#"{"maxLength":1.5}"#, "/maxLength", "maxLength"),
        (r#"{"minimum":"1"}"#, "/minimum", "minimum"),
        (r#"{"exclusiveMaximum":null}"#, "/exclusiveMaximum", "exclusiveMaximum"),
        (r#"{"pattern":1}"#, "/pattern", "pattern"),
        (r#"{"$ref":1}"#, "/$ref", "$ref"),
        (r#"{"$defs":1}"#, "/$defs", "$defs"),
        (r#"{"uniqueItems":0}"#, "/uniqueItems", "uniqueItems"),
    ] {
        let (at, kind) = fault(text);
        assert_eq!(at, pointer);
        assert!(
            matches!(kind, SchemaErrorKind::IllTyped { keyword: k, .. } if k == keyword),
            "{text} {kind:?}"
        );
    }
    assert_eq!(fault("[]"), (String::new(), SchemaErrorKind::NotASchema));
    let not_a_schema = ("/properties/a".to_owned(), SchemaErrorKind::NotASchema);
    assert_eq!(fault(r#"{"properties":{"a":null}}"#), not_a_schema);
    let large = SchemaErrorKind::CountTooLarge { keyword: "minItems" };
    assert_eq!(fault(r#"{"minItems":4294967296}"#), ("/minItems".to_owned(), large));
    let exponent = ("/minimum".to_owned(), SchemaErrorKind::ExponentTooLarge);
    assert_eq!(fault(r#"{"minimum":1e99999999999999999999}"#), exponent);
}

#[test]
fn references_lead_somewhere_or_are_refused() {
    for reference in ["#/$defs/b", "#/$defs/a/00", "#/$defs/a/2", "#/title/x", "#/%zz", "#/%ff"] {
        let text = format!(r#"{{"$ref":"{reference}","$defs":{{"a":[true]}},"title":"t"}}"#);
        let kind = SchemaErrorKind::UnresolvableReference { reference: reference.to_owned() };
        assert_eq!(fault(&text), ("/$ref".to_owned(), kind));
    }
    for reference in ["other.json", "#anchor", "", "https://example.com/s#/a"] {
        let kind = SchemaErrorKind::RemoteReference { reference: reference.to_owned() };
        assert_eq!(fault(&format!(r#"{{"$ref":"{reference}"}}"#)), ("/$ref".to_owned(), kind));
    }
    let found = model(
        r##"{"$ref":"#/$defs/a~1b%20%C3%A9/anyOf/0","$defs":{"a/b é":{"anyOf":[{"type":"null"}]}}}"##,
    );
    assert_eq!(found.pointer(found.root()), "/$defs/a~1b é/anyOf/0");
    assert_eq!(found.keywords(found.root()).expect("keywords").types, Types::NULL);
}

#[test]
fn references_alone_in_a_circle_are_satisfied_by_nothing() {
    let circle = model(
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
    );
    assert!(matches!(circle.schema(circle.root()), Schema::Never));
    assert!(matches!(model(r##"{"$ref":"#"}"##).schema(SchemaId(0)), Schema::Never));
}

#[test]
fn long_chains_of_references_are_read() {
    let mut text = String::from(r##"{"$ref":"#/$defs/0","$defs":{"##);
    for index in 0..20_000 {
        text.push_str(&format!(r##""{index}":{{"$ref":"#/$defs/{}"}},"##, index + 1));
    }
    text.push_str(r#""20000":{"type":"null"}}}"#);
    let model = model(&text);
    assert_eq!(model.pointer(model.root()), "/$defs/20000");
}

#[test]
fn both_forms_of_tuples_and_of_exclusive_bounds() {
    let root = |text: &str| {
        let model = model(text);
        let keywords = model.keywords(model.root()).expect("keywords");
        let array = keywords.array.as_ref().map(|a| (a.prefix.len(), a.items.is_some()));
        (array, keywords.number.as_ref().map(|number| number.interval.clone()))
    };
    assert_eq!(root(r#"{"prefixItems":[true],"items":false}"#).0, Some((1, true)));
    assert_eq!(root(r#"{"items":[true,true],"additionalItems":false}"#).0, Some((2, true)));
    assert_eq!(root(r#"{"items":[true]}"#).0, Some((1, false)));
    assert_eq!(root(r#"{"items":true,"additionalItems":false}"#).0, Some((0, true)));
    assert_eq!(
        root(r#"{"minimum":3,"exclusiveMinimum":true}"#).1,
        root(r#"{"exclusiveMinimum":3.0}"#).1,
    );
    assert_eq!(
        root(r#"{"minimum":3,"exclusiveMinimum":false}"#).1,
        root(r#"{"minimum":3,"exclusiveMinimum":2}"#).1,
    );
    assert_eq!(
        root(r#"{"maximum":3,"exclusiveMaximum":3}"#).1,
        root(r#"{"exclusiveMaximum":3}"#).1,
    );
}

#[test]
fn five_megabytes_are_read() {
    let mut text = String::from(r#"{"properties":{"#);
    let mut index = 0;
    while text.len() < 5 << 20 {
        text.push_str(&format!(r#""property{index}":{{"type":"string","minLength":{index}}},"#));
        index += 1;
    }
    text.push_str(r#""last":false}}"#);
    let model = model(&text);
    let keywords = model.keywords(model.root()).expect("keywords");
    let object = keywords.object.as_ref().expect("about objects");
    assert_eq!(object.properties.len(), index + 1);
    let last = object.property(&model.document, "last").expect("declared");
    assert!(matches!(model.schema(last), Schema::Never));
    assert!(object.property(&model.document, "first").is_none());
}

#[test]
fn up_to_draft_7_nothing_counts_beside_a_reference() {
    let text = |dialect: &str| {
        format!(
            r##"{{"$schema":"{dialect}","definitions":{{"a":{{"type":"array"}}}},"properties":
               {{"x":{{"$ref":"#/definitions/a","title":"t","maxItems":2,"allOf":3,"$id":"y"}}}}}}"##
        )
    };
    for dialect in [
        "http://json-schema.org/draft-03/schema#",
        "http://json-schema.org/draft-04/schema",
        "https://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
    ] {
        let model = model(&text(dialect));
        let ignored = model.ignored().expect("two keywords");
        assert_eq!((ignored.keyword, ignored.count), ("maxItems", 2), "{dialect}");
        assert_eq!(model.document.pointer(ignored.value), "/properties/x/maxItems");
        let object = model.keywords(model.root()).and_then(|keywords| keywords.object.as_ref());
        let x = object.and_then(|object| object.property(&model.document, "x")).expect("declared");
        let target = model.keywords(x).expect("the target");
        assert_eq!(target.types, Types::ARRAY);
        assert!(target.array.is_none(), "maxItems is not merged into the target");
    }
    for dialect in [
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft-07/hyper-schema#",
        "http://json-schema.org/schema#",
    ] {
        assert_eq!(fault(&text(dialect)).0, "/properties/x/allOf", "{dialect}");
    }
}

#[test]
fn a_reference_that_stands_alone_may_be_the_root_or_a_circle() {
    let draft = r#""$schema":"http://json-schema.org/draft-04/schema#""#;
    let alone = format!(
        r##"{{{draft},"$ref":"#/definitions/a","type":"null","definitions":{{"a":{{"type":"string"}}}}}}"##
    );
    let read = model(&alone);
    assert_eq!(read.keywords(read.root()).expect("the target").types, Types::STRING);
    let circle = model(&format!(r##"{{{draft},"$ref":"#","type":"null"}}"##));
    assert!(matches!(circle.schema(circle.root()), Schema::Never));
}
