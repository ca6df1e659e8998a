//! Schemas within the profile, and each way to leave it.

use super::*;

fn departures(text: &str) -> Vec<(String, DepartureKind)> {
    let found = strict_departures(text, &Limits::default()).expect("JSON");
    let place = |departure: Departure| match departure.location {
        Location::Pointer(pointer) => (pointer, departure.kind),
        other => panic!("{other:?}"),
    };
    found.into_iter().map(place).collect()
}

#[test]
fn what_is_within_has_no_departures() {
    let text = r##"{"type":"object","title":"t","properties":{
            "a":{"type":["string","null"],"pattern":"^a","description":"d"},
            "b":{"anyOf":[{"type":"integer","minimum":1},{"$ref":"#/$defs/c"},{"$ref":"#"}]},
            "title":{"enum":["x","y"]},
            "e":{"type":"array","items":{"type":"string","format":"date"},"maxItems":3}},
        "required":["e","title","a","b"],"additionalProperties":false,
        "$defs":{"c":{"type":"object","properties":{},"required":[],
                      "additionalProperties":false}}}"##;
    assert_eq!(departures(text), []);
}

#[test]
fn each_departure_is_named_with_its_place() {
    use DepartureKind::*;
    let inside = |schema: &str| {
        format!(
            r#"{{"type":"object","properties":{{"a":{schema}}},"required":["a"],
            "additionalProperties":false}}"#
        )
    };
    let keyword = |name: &str| Keyword { keyword: name.to_owned() };
    for (schema, pointer, kind) in [
        ("{}", "", NoType),
        ("true", "", BooleanSchema),
        (r#"{"type":"object"}"#, "", OpenObject),
        (r#"{"type":"object","additionalProperties":true}"#, "/additionalProperties", OpenObject),
        (
            r#"{"type":["object","null"],"properties":{"b":{"type":"null"}},
            "additionalProperties":false}"#,
            "/properties/b",
            OptionalProperty { name: "b".to_owned() },
        ),
        (r#"{"type":"null","allOf":[]}"#, "/allOf", keyword("allOf")),
        (r#"{"type":"string","minLength":1}"#, "/minLength", keyword("minLength")),
        (r#"{"type":"string","x":1}"#, "/x", keyword("x")),
        (r#"{"type":"string","format":"uri"}"#, "/format", Format { format: "uri".to_owned() }),
        (r#"{"$ref":"other.json"}"#, "/$ref", Reference),
        (r#"{"anyOf":[{"type":"null"},{}]}"#, "/anyOf/1", NoType),
        (r#"{"type":"array","items":{}}"#, "/items", NoType),
    ] {
        let expected = (format!("/properties/a{pointer}"), kind);
        assert_eq!(departures(&inside(schema)), [expected], "{schema}");
    }
    assert_eq!(departures(r#"{"type":"array"}"#), [(String::new(), Root)]);
    let root = departures(r#"{"type":"object","anyOf":[],"additionalProperties":false}"#);
    assert_eq!(root, [(String::new(), Root)]);
    assert!(strict_departures("{", &Limits::default()).is_err());
}

#[test]
fn all_departures_are_listed_in_order() {
    let text = r#"{"properties":{"a":{"oneOf":[]},"b":{}}}"#;
    let pointers: Vec<_> = departures(text).into_iter().map(|(pointer, _)| pointer).collect();
    let expected = [
        "",
        "",
        "",
        "/properties/a",
        "/properties/a",
        "/properties/a/oneOf",
        "/properties/b",
        "/properties/b",
    ];
    assert_eq!(pointers, expected);
}

#[test]
fn what_is_counted_is_reported_once() {
    let object = |properties: &str, required: &str| {
        format!(
            r#"{{"type":"object","additionalProperties":false,"properties":{{{properties}}},
            "required":[{required}]}}"#
        )
    };
    let many = |what| vec![DepartureKind::TooMany { what, limit: Counted::limit(what) }];
    let kinds =
        |text: &str| -> Vec<_> { departures(text).into_iter().map(|(_, kind)| kind).collect() };

    let names = |count: usize, length: usize| -> (String, String) {
        let names = (0..count).map(|index| format!("{index:0length$}"));
        let names: Vec<_> = names.collect();
        let properties = names.iter().map(|name| format!(r#""{name}":{{"type":"null"}}"#));
        let required = names.iter().map(|name| format!(r#""{name}""#));
        let (properties, required): (Vec<_>, Vec<_>) = (properties.collect(), required.collect());
        (properties.join(","), required.join(","))
    };
    for (count, length, expected) in [
        (5_000, 4, vec![]),
        (5_001, 4, many(Counted::Properties)),
        (10, 12_000, vec![]),
        (10, 12_001, many(Counted::Characters)),
    ] {
        let (properties, required) = names(count, length);
        assert_eq!(kinds(&object(&properties, &required)), expected, "{count} {length}");
    }

    let values = |count: usize, length: usize| {
        let values: Vec<_> = (0..count).map(|index| format!(r#""{index:0length$}""#)).collect();
        object(&format!(r#""a":{{"enum":[{}]}}"#, values.join(",")), r#""a""#)
    };
    assert_eq!(kinds(&values(1_000, 15)), []);
    assert_eq!(kinds(&values(1_001, 4)), many(Counted::EnumValues));
    assert_eq!(kinds(&values(250, 61)), []);
    assert_eq!(kinds(&values(251, 60)), many(Counted::EnumCharacters));

    let nested = |levels: usize| {
        let inner = r#"{"type":"null"}"#.to_owned();
        (0..levels).fold(inner, |inner, _| object(&format!(r#""a":{inner}"#), r#""a""#))
    };
    assert_eq!(kinds(&nested(10)), []);
    assert_eq!(kinds(&nested(11)), many(Counted::Levels));
}
