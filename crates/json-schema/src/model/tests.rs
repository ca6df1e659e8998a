//! Models of small schemas, and the errors of ill-formed ones, by hand.

mod oracle;
mod references;

use super::*;
use crate::{Draft, FormatMode, SchemaErrorKind, SyntaxError, Unmentioned, document};
use formwork_automata::CancellationToken;
use formwork_grammar::Limits;

fn try_model(text: &str, options: &Options) -> Result<Model, SchemaError> {
    let limits = Limits::default();
    let document = document::parse(text.as_bytes(), &limits).expect("JSON");
    read(document, options, &limits, &mut limits.fuel(&CancellationToken::new()))
}

fn model(text: &str) -> Model {
    try_model(text, &Options::default()).expect("a schema")
}

/// Pointer and kind of the error of a schema.
fn fault(text: &str) -> (String, SchemaErrorKind) {
    fault_with(text, &Options::default())
}

fn fault_with(text: &str, options: &Options) -> (String, SchemaErrorKind) {
    let error = try_model(text, options).expect_err("no schema");
    assert!(error.position.is_some());
    let Location::Pointer(pointer) = error.location else { panic!("no pointer") };
    (pointer, error.kind)
}

#[test]
fn what_may_be_dropped_is_announced() {
    let text = r#"{"items":{"uniqueItems":true,"minItems":1}}"#;
    assert!(warnings(text, &Options::default()).is_empty());
    let options = Options { lenient: Leniency::Relax, ..Options::default() };
    let expected = "/items/uniqueItems `uniqueItems`: not enforced wherever it would have been \
        refused (places in this schema: 1)";
    assert_eq!(warnings(text, &options), [expected]);
}

#[test]
fn what_the_root_does_not_reach_may_say_what_it_likes() {
    model(
        r#"{"$id":"x","$defs":{"a":{"allOf":3}},"title":7,"x-any":{"not":3},"uniqueItems":false}"#,
    );
}

#[test]
fn ill_typed_values_are_named() {
    for (text, pointer, name) in [
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
        (r#"{"$id":1}"#, "/$id", "$id"),
        (r#"{"$anchor":{}}"#, "/$anchor", "$anchor"),
        (r##"{"$dynamicRef":1}"##, "/$dynamicRef", "$dynamicRef"),
        (r#"{"uniqueItems":0}"#, "/uniqueItems", "uniqueItems"),
        (r#"{"multipleOf":0}"#, "/multipleOf", "multipleOf"),
        (r#"{"multipleOf":-0.5}"#, "/multipleOf", "multipleOf"),
        (r#"{"oneOf":[]}"#, "/oneOf", "oneOf"),
        (r#"{"allOf":{}}"#, "/allOf", "allOf"),
        (r#"{"format":true}"#, "/format", "format"),
        (r#"{"patternProperties":[]}"#, "/patternProperties", "patternProperties"),
        (r#"{"dependentRequired":{"a":"b"}}"#, "/dependentRequired/a", "dependentRequired"),
        (r#"{"contains":true,"maxContains":-1}"#, "/maxContains", "maxContains"),
    ] {
        let (at, kind) = fault(text);
        assert_eq!(at, pointer);
        assert!(
            matches!(kind, SchemaErrorKind::IllTyped { keyword: k, .. } if k == name),
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

/// The messages of the warnings about a schema, each behind its pointer.
fn warnings(text: &str, options: &Options) -> Vec<String> {
    let model = try_model(text, options).expect("a schema");
    let line = |warning: &Warning| {
        let Location::Pointer(pointer) = &warning.location else { panic!("no pointer") };
        format!("{pointer} {}", warning.message)
    };
    model.warnings().iter().map(line).collect()
}

#[test]
fn up_to_draft_7_nothing_counts_beside_a_reference() {
    let text = |dialect: &str| {
        format!(
            r##"{{"$schema":"{dialect}","definitions":{{"a":{{"type":"array"}}}},"properties":
               {{"x":{{"$ref":"#/definitions/a","title":"t","maxItems":2,"minItems":"?"}}}}}}"##
        )
    };
    for dialect in [
        "http://json-schema.org/draft-04/schema",
        "https://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/hyper-schema#",
    ] {
        let text = text(dialect);
        let model = model(&text);
        let expected = "/properties/x/maxItems `maxItems`, `minItems`: no effect: before draft \
            2019-09 whatever stands beside `$ref` is ignored (places in this schema: 2)";
        assert_eq!(warnings(&text, &Options::default()), [expected]);
        let object = model.keywords(model.root()).and_then(|keywords| keywords.object.as_ref());
        let x = object.and_then(|object| object.property(&model.document, "x")).expect("declared");
        let target = model.keywords(x).expect("the target");
        assert_eq!(target.types, Types::ARRAY);
        assert!(target.array.is_none(), "maxItems is not merged into the target");
    }
    for dialect in [
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/schema#",
    ] {
        assert_eq!(fault(&text(dialect)).0, "/properties/x/minItems", "{dialect}");
    }
}

#[test]
fn drafts_ignore_what_they_do_not_have_and_say_so() {
    let text = r#"{"$schema":"http://json-schema.org/draft-04/schema#","const":1,"items":
        {"if":3,"title":"t","x":1,"contentEncoding":"base64"}}"#;
    let expected = "/const `const`, `if`: no effect: draft 4 has no such keyword (places in this \
        schema: 2)";
    assert_eq!(warnings(text, &Options::default()), [expected]);
    let text = r#"{"const":1,"prefixItems":[true]}"#;
    let options = Options { default_draft: Draft::Draft201909, ..Options::default() };
    let expected = "/prefixItems `prefixItems`: no effect: draft 2019-09 has no such keyword \
        (places in this schema: 1)";
    assert_eq!(warnings(text, &options), [expected]);
    let text = r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#;
    let expected = "/$schema `http://json-schema.org/draft-03/schema#`: read as draft 4 (places \
        in this schema: 1)";
    assert_eq!(warnings(text, &Options::default()), [expected]);
    let text = r#"{"$schema":"urn:unknown"}"#;
    let expected = "/$schema `urn:unknown`: unknown as a metaschema: the default draft counts \
        (places in this schema: 1)";
    assert_eq!(warnings(text, &Options::default()), [expected]);
}

#[test]
fn what_is_not_mentioned_can_be_forbidden() {
    let closed = |text: &str, unmentioned: Unmentioned| {
        let options = Options {
            additional_properties_default: unmentioned,
            additional_items_default: unmentioned,
            ..Options::default()
        };
        let model = try_model(text, &options).expect("a schema");
        let keywords = model.keywords(model.root());
        let object = keywords.and_then(|keywords| keywords.object.as_ref());
        let array = keywords.and_then(|keywords| keywords.array.as_ref());
        let is_never =
            |id: Option<SchemaId>| id.is_some_and(|id| matches!(model.schema(id), Schema::Never));
        let object = object.is_some_and(|object| is_never(object.additional));
        let array = array.is_some_and(|array| is_never(array.items));
        (object, array)
    };
    use Unmentioned::{Allowed, Forbidden, ForbiddenBesideOthers};
    for (text, beside, always) in [
        (r#"{"properties":{"a":true}}"#, (true, false), (true, false)),
        (r#"{"properties":{}}"#, (true, false), (true, false)),
        (r#"{"type":"object"}"#, (false, false), (true, false)),
        (r#"{"type":["null","array"]}"#, (false, false), (false, true)),
        (r#"{"prefixItems":[true],"required":["a"]}"#, (false, true), (true, true)),
        (r#"{"minItems":1}"#, (false, false), (false, true)),
        (r#"{"properties":{},"additionalProperties":true}"#, (false, false), (false, false)),
        (r#"{"properties":{},"additionalProperties":{}}"#, (false, false), (false, false)),
        (r#"{"items":{}}"#, (false, false), (false, false)),
        (r#"{"type":"string"}"#, (false, false), (false, false)),
        ("{}", (false, false), (false, false)),
    ] {
        assert_eq!(closed(text, Allowed), (false, false), "{text}");
        assert_eq!(closed(text, ForbiddenBesideOthers), beside, "{text}");
        assert_eq!(closed(text, Forbidden), always, "{text}");
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

#[test]
fn formats_are_known_or_annotations() {
    let text = r#"{"prefixItems":[{"format":"date"},{"format":"colour"},{"format":"colour"}]}"#;
    let formats = |options: &Options| {
        let model = try_model(text, options).expect("a schema");
        let array = model.keywords(model.root()).and_then(|keywords| keywords.array.as_ref());
        let items = array.expect("about arrays").prefix.iter();
        let format = |&item: &SchemaId| model.keywords(item)?.string.as_ref()?.format;
        items.map(format).collect::<Vec<_>>()
    };
    assert_eq!(formats(&Options::default()), [Format::named("date"), None, None]);
    let expected = "/prefixItems/1/format `colour`: not enforced: an unknown format is an \
        annotation (places in this schema: 2)";
    assert_eq!(warnings(text, &Options::default()), [expected]);
    let options = Options { format: FormatMode::Annotate, ..Options::default() };
    assert_eq!(formats(&options), [None, None, None]);
    assert!(warnings(text, &options).is_empty());
}
