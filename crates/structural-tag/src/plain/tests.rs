//! What is called plain compiles, is satisfiable, and gives no warning.

use super::*;
use formwork_json_schema::{Options, PropertyOrder, Spelling};
use proptest::prelude::*;

fn is_plain_text(text: &str) -> bool {
    is_plain_under(text, Unmentioned::Allowed)
}

fn is_plain_under(text: &str, unmentioned: Unmentioned) -> bool {
    let limits = Limits::default();
    let document = Document::parse(text, &limits).unwrap();
    cannot_fail(&document, ValueId::ROOT, Style::Json, unmentioned, &limits)
}

/// Schemas around the border of what is plain.
fn schema() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::json;
    let leaf = prop::sample::select(vec![
        json!(true),
        json!(false),
        json!({}),
        json!({"type": "string"}),
        json!({"type": "integer", "description": "n"}),
        json!({"type": "text"}),
        json!({"type": ["string", "null"]}),
        json!({"type": []}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"type": "integer", "enum": ["a"]}),
        json!({"enum": ["a", "a"]}),
        json!({"enum": []}),
        json!({"type": "string", "minLength": 3, "maxLength": 2}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "integer", "minimum": 1, "maximum": 2}),
        json!({"type": "integer", "minimum": 3, "maximum": 2}),
        json!({"type": "number", "minimum": "1"}),
        json!({"type": "string", "format": "date"}),
        json!({"type": "string", "format": "phone"}),
        json!({"type": "string", "pattern": "("}),
        json!({"type": "array", "minItems": 2, "maxItems": 1}),
        json!({"type": "string", "const": 1}),
        json!({"const": "a"}),
        json!({"const": "a", "format": "date"}),
        json!({"enum": ["a"], "anyOf": [{"type": "integer"}]}),
        json!({"format": "uuid", "minLength": 2}),
        json!({"format": "email"}),
        json!({"unknown": 1}),
    ]);
    let keys = || prop::sample::select(vec!["a", "b", "c"]);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let properties = prop::collection::vec((keys(), inner.clone()), 0..3);
        prop_oneof![
            (properties, prop::collection::vec(keys(), 0..3), prop::option::of(inner.clone()))
                .prop_flat_map(move |all| {
                    let lists = prop::collection::vec(prop::collection::vec(keys(), 0..3), 0..4);
                    (
                        Just(all),
                        prop::option::of((lists, prop::sample::select(vec!["oneOf", "anyOf"]))),
                    )
                })
                .prop_map(|((properties, required, rest), choice)| {
                    let properties: serde_json::Map<_, _> =
                        properties.into_iter().map(|(key, schema)| (key.into(), schema)).collect();
                    let mut schema = json!({"type": "object", "properties": properties});
                    if !required.is_empty() {
                        schema["required"] = json!(required);
                    }
                    if let Some((lists, keyword)) = choice {
                        let branch = |list| json!({"required": list});
                        schema[keyword] = lists.into_iter().map(branch).collect();
                    }
                    if let Some(rest) = rest {
                        schema["additionalProperties"] = rest;
                    }
                    schema
                }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|list| json!({"anyOf": list})),
            inner.prop_map(|items| json!({"type": "array", "items": items, "minItems": 1})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_plain_schema_cannot_fail(schema in schema(), closed in any::<bool>(), any in any::<bool>()) {
        let text = schema.to_string();
        let unmentioned = if closed { Unmentioned::Forbidden } else { Unmentioned::Allowed };
        if is_plain_under(&text, unmentioned) {
            let mut options = Options::default();
            if closed {
                options.additional_properties_default = Unmentioned::Forbidden;
                options.additional_items_default = Unmentioned::Forbidden;
            }
            if any {
                options.property_order = PropertyOrder::Any;
                options.spelling = Spelling::Any;
            }
            let compiled = formwork_json_schema::compile(&text, &options, &Limits::default());
            let grammar = compiled.unwrap();
            prop_assert_eq!(grammar.warnings(), []);
            grammar.lower_all(&Limits::default()).unwrap();
        }
    }
}

#[test]
fn schemas_of_ordinary_tools_are_plain() {
    assert!(is_plain_text(
        r#"{"type":"object","properties":{
            "city":{"type":"string","description":"Where"},
            "unit":{"type":"string","enum":["c","f"]},
            "days":{"type":"integer","minimum":1,"maximum":10},
            "tags":{"type":"array","items":{"type":"string"},"minItems":1},
            "note":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},
            "day":{"type":"string","format":"date"},
            "where":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}},
            "required":["city","days"],"additionalProperties":false}"#
    ));
    assert!(is_plain_text(
        r#"{"type":"object","properties":{
            "shape":{"const":"box"},"a":{"type":"number"},"b":{"type":"number"}},
            "required":["shape"],"oneOf":[{"required":["a"]},{"required":["b","shape"]}]}"#
    ));
}
