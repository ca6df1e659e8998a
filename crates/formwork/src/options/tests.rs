//! Names and values lead to the options they say, and faults say what there is.

use super::*;
use serde_json::json;

fn set(name: &str, value: &Value) -> FrontEndOptions {
    let mut options = FrontEndOptions::default();
    options.set(name, value).unwrap();
    options
}

#[test]
fn white_space_has_a_value_for_every_kind() {
    let white_space = |value| set("white_space", &value).json_schema.white_space;
    assert_eq!(white_space(json!("any")), WhiteSpace::default());
    assert_eq!(white_space(json!({"bounded": 3})), WhiteSpace::Bounded { max: 3 });
    assert_eq!(white_space(json!("compact")), WhiteSpace::Compact);
    assert_eq!(white_space(json!("unbounded")), WhiteSpace::Unbounded);
    assert_eq!(white_space(json!({"pattern": " ?"})), WhiteSpace::Pattern(" ?".into()));
    assert_eq!(white_space(json!({"fixed": {}})), WhiteSpace::Fixed(Fixed::default()));
    let separators = Separators { item: ", ?".into(), ..Separators::default() };
    let value = json!({"separators": {"item": ", ?"}});
    assert_eq!(white_space(value), WhiteSpace::Separators(separators));
    let fixed = Fixed {
        item_separator: ",".into(),
        key_separator: " : ".into(),
        indent: Some("  ".into()),
    };
    let value = json!({"fixed": {"item_separator": ",", "key_separator": " : ", "indent": "  "}});
    assert_eq!(white_space(value), WhiteSpace::Fixed(fixed));
}

#[test]
fn words_set_the_options_of_patterns() {
    assert_eq!(set("match", &json!("search")).regex.mode, MatchMode::Search);
    assert_eq!(set("dialect", &json!("ecma262")).regex.dialect, Dialect::Ecma262);
    assert_eq!(set("case", &json!("insensitive")).regex.case, Case::Insensitive);
    assert_eq!(set("dot", &json!("any")).regex.dot, Dot::Any);
    assert_eq!(set("classes", &json!("ascii")).regex.classes, Classes::Ascii);
}

#[test]
fn words_set_the_options_of_schemas() {
    let schema = |name: &str, value: &str| set(name, &json!(value)).json_schema;
    assert_eq!(schema("spelling", "any").spelling, Spelling::Any);
    assert_eq!(schema("property_order", "any").property_order, PropertyOrder::Any);
    let closed = Unmentioned::ForbiddenBesideOthers;
    let name = "additional_properties_default";
    assert_eq!(schema(name, "forbidden_beside_others").additional_properties_default, closed);
    let closed = Unmentioned::Forbidden;
    assert_eq!(schema("additional_items_default", "forbidden").additional_items_default, closed);
    assert_eq!(schema("distinct_keys", "everywhere").distinct_keys, DistinctKeys::Everywhere);
    assert_eq!(schema("format", "annotate").format, FormatMode::Annotate);
    assert_eq!(schema("lenient", "relax").lenient, Leniency::Relax);
    assert_eq!(schema("default_draft", "draft7").default_draft, Draft::Draft7);
    let documents = set("documents", &json!({"urn:a": {"type": "null"}})).json_schema.documents;
    assert_eq!(&*documents["urn:a"], "{\"type\":\"null\"}");
}

#[test]
fn the_first_value_listed_is_the_default_and_every_plain_word_listed_is_taken() {
    let default = format!("{:?}", FrontEndOptions::default());
    for option in FrontEndOptions::known() {
        let (first, _) = option.values.split_once(", ").unwrap();
        let value = serde_json::from_str(first).unwrap();
        assert_eq!(format!("{:?}", set(option.name, &value)), default, "{}", option.name);
        let words = option.values.split(", ").filter(|word| word.starts_with('"'));
        for word in words.filter_map(|word| serde_json::from_str::<String>(word).ok()) {
            set(option.name, &json!(word));
        }
    }
}

#[test]
fn every_option_is_in_the_table_of_the_documentation() {
    let source = include_str!("../options.rs");
    for option in FrontEndOptions::known() {
        let row = format!("    /// | `{}` |", option.name);
        assert_eq!(source.matches(&row).count(), 1, "{row}");
    }
}

#[test]
fn faults_name_what_there_is() {
    let mut options = FrontEndOptions::default();
    let error = options.set("whitespace", &json!("any")).unwrap_err().to_string();
    assert!(
        error.starts_with("unknown option \"whitespace\"; known are `white_space`, "),
        "{error}"
    );
    for (name, value) in [
        ("match", json!("all")),
        ("match", json!(1)),
        ("white_space", json!({"bounded": -1})),
        ("white_space", json!({"fixed": {"indentation": " "}})),
        ("white_space", json!({"bounded": 1, "pattern": ""})),
        ("white_space", json!("fixed")),
    ] {
        let error = options.set(name, &value).unwrap_err();
        assert!(matches!(error, OptionError::Value { .. }), "{error}");
        assert!(error.to_string().contains(&value.to_string()), "{error}");
    }
    let long = options.set("dot", &json!("é".repeat(1_000))).unwrap_err().to_string();
    assert!(long.chars().count() < 200, "{long}");
    assert_eq!(format!("{options:?}"), format!("{:?}", FrontEndOptions::default()));
}
