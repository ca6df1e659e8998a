//! Random schemas and random values against an independent validator.
//!
//! The validator knows no order of members, so the law is: a value is valid exactly when the
//! grammar accepts its members in *some* order.

use super::*;
use formwork_automata::CancellationToken;
use formwork_grammar::{Node, passes, regular};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const DEFINITIONS: usize = 3;

fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..8_i64).prop_map(Value::from),
        prop::sample::select(&[0.5, -1.5, 2.25][..]).prop_map(Value::from),
        prop::sample::select(&["", "a", "ab", "ba", "abc", "é", "\"", "\n"][..])
            .prop_map(Value::from),
    ]
    .boxed()
}

fn instance() -> BoxedStrategy<Value> {
    let entry = |value: BoxedStrategy<Value>| (prop::sample::select(&NAMES[..]), value);
    scalar()
        .prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(entry(inner.boxed()), 0..4).prop_map(|entries| {
                    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
                }),
            ]
        })
        .boxed()
}

/// A reference to a definition from `first` on. References in place lead to later definitions only,
/// so that no circle of them arises, which validators do not survive.
fn reference(first: usize) -> BoxedStrategy<Value> {
    match first < DEFINITIONS {
        true => {
            (first..DEFINITIONS).prop_map(|at| json!({"$ref": format!("#/$defs/{at}")})).boxed()
        }
        false => Just(json!(true)).boxed(),
    }
}

type Keyword = (&'static str, Value);

fn scalar_keyword() -> BoxedStrategy<Keyword> {
    let types = prop::sample::subsequence(
        vec!["null", "boolean", "integer", "number", "string", "array", "object"],
        1..5,
    );
    prop_oneof![
        3 => types.prop_map(|types| ("type", json!(types))),
        1 => (0..3_u32).prop_map(|count| ("minLength", json!(count))),
        1 => (0..4_u32).prop_map(|count| ("maxLength", json!(count))),
        1 => prop::sample::select(&["^a", "b$", "a", "^(ab)*$", "é"][..]).prop_map(|p| ("pattern", json!(p))),
        1 => (-2..6_i64).prop_map(|bound| ("minimum", json!(bound))),
        1 => (-2..6_i64).prop_map(|bound| ("exclusiveMinimum", json!(bound as f64 + 0.25))),
        1 => (0..8_i64).prop_map(|bound| ("maximum", json!(bound))),
        1 => (0..8_i64).prop_map(|bound| ("exclusiveMaximum", json!(bound))),
        1 => (0..3_u32).prop_map(|count| ("minItems", json!(count))),
        1 => (0..4_u32).prop_map(|count| ("maxItems", json!(count))),
        1 => prop::sample::subsequence(NAMES.to_vec(), 0..3).prop_map(|names| ("required", json!(names))),
    ]
    .boxed()
}

/// A schema; `first` is the first definition that may be referred to in place.
fn schema(depth: u32, first: usize) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        6 => Just(json!({})),
        1 => Just(json!(true)),
        1 => Just(json!(false)),
        2 => reference(first),
        1 => scalar().prop_map(|value| json!({"const": value})),
        2 => prop::collection::vec(instance(), 1..5).prop_map(|values| json!({"enum": values})),
    ];
    let scalars = prop::collection::vec(scalar_keyword(), 0..4);
    if depth == 0 {
        return (leaf, scalars)
            .prop_map(|(schema, keywords)| with_keywords(schema, keywords))
            .boxed();
    }
    let inner = || schema(depth - 1, 0);
    let properties = prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner(), 0..4)
        .prop_map(|map| json!(map));
    let keyword = prop_oneof![
        3 => properties.prop_map(|value| ("properties", value)),
        1 => inner().prop_map(|value| ("additionalProperties", value)),
        1 => inner().prop_map(|value| ("items", value)),
        1 => prop::collection::vec(inner(), 1..3).prop_map(|value| ("prefixItems", json!(value))),
        2 => prop::collection::vec(schema(depth - 1, first), 1..4).prop_map(|value| ("anyOf", json!(value))),
    ];
    (leaf, scalars, prop::collection::vec(keyword, 0..4))
        .prop_map(|(schema, scalars, keywords)| {
            with_keywords(with_keywords(schema, scalars), keywords)
        })
        .boxed()
}

fn with_keywords(schema: Value, keywords: Vec<Keyword>) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    members.extend(keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)));
    Value::Object(members)
}

fn document() -> BoxedStrategy<Value> {
    (schema(3, 0), schema(2, 1), schema(2, 2), schema(1, 3))
        .prop_map(|(root, a, b, c)| {
            let Value::Object(mut members) = root else { return root };
            members.insert("$defs".to_owned(), json!({"0": a, "1": b, "2": c}));
            Value::Object(members)
        })
        .boxed()
}

/// A value that a schema might accept: what it says is taken as far as `choices` go.
fn guided(schema: &Value, root: &Value, choices: &mut Vec<u8>, depth: u32) -> Value {
    let mut choose = |count: usize| choices.pop().map_or(0, |choice| usize::from(choice) % count);
    let Value::Object(keywords) = schema else { return json!(choose(9)) };
    if depth == 0 {
        return Value::Null;
    }
    let list =
        |name: &str| keywords.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    let (listed, branches) = (list("enum"), list("anyOf"));
    if !listed.is_empty() {
        return listed[choose(listed.len())].clone();
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str)
        && choose(2) == 0
        && let Some(target) = root.pointer(&reference[1..])
    {
        return guided(target, root, choices, depth - 1);
    }
    if !branches.is_empty() && choose(2) == 0 {
        return guided(&branches[choose(branches.len())], root, choices, depth - 1);
    }
    let types = list("type");
    let any = ["object", "array", "string", "integer", "number", "null", "boolean"];
    let name = match types.is_empty() {
        true => any[choose(any.len())].to_owned(),
        false => types[choose(types.len())].as_str().expect("a name").to_owned(),
    };
    let count = |name: &str, otherwise: u64| {
        keywords.get(name).and_then(Value::as_u64).unwrap_or(otherwise)
    };
    match name.as_str() {
        "object" => {
            let properties = keywords.get("properties").and_then(Value::as_object);
            let required = list("required");
            let additional = keywords.get("additionalProperties").unwrap_or(&Value::Null);
            let mut members = Map::new();
            for name in NAMES {
                let schema =
                    properties.and_then(|properties| properties.get(name)).unwrap_or(additional);
                let wanted = choices.pop().is_some_and(|choice| choice % 3 == 0);
                if required.iter().any(|required| required == name) || wanted {
                    members.insert(name.to_owned(), guided(schema, root, choices, depth - 1));
                }
            }
            Value::Object(members)
        }
        "array" => {
            let prefix = list("prefixItems");
            let items = keywords.get("items").unwrap_or(&Value::Null);
            let len = count("minItems", choose(3) as u64) as usize;
            (0..len)
                .map(|at| guided(prefix.get(at).unwrap_or(items), root, choices, depth - 1))
                .collect()
        }
        "string" => json!(["", "a", "ab", "abc", "abab", "é"][choose(6)]),
        "integer" => {
            json!(keywords.get("minimum").and_then(Value::as_i64).unwrap_or(3) + choose(4) as i64)
        }
        "number" => json!(count("maximum", 5) as f64 - 0.5),
        "boolean" => json!(choose(2) == 0),
        _ => Value::Null,
    }
}

/// The value as compact text, in every order of members; none when there are too many.
pub(super) fn orders(value: &Value) -> Option<Vec<String>> {
    const MOST: usize = 3_000;
    let texts = match value {
        Value::Array(items) => {
            let mut texts = vec![String::new()];
            for item in items {
                texts = combine(&texts, ",", &orders(item)?);
            }
            texts.iter().map(|text| format!("[{text}]")).collect()
        }
        Value::Object(members) => {
            let mut all: Vec<(Vec<&String>, String)> = vec![(Vec::new(), String::new())];
            for _ in 0..members.len() {
                let mut longer = Vec::new();
                for (used, text) in &all {
                    for (key, value) in members.iter().filter(|(key, _)| !used.contains(key)) {
                        let member: Vec<String> = orders(value)?
                            .iter()
                            .map(|value| format!("{}:{value}", Value::from(key.as_str())))
                            .collect();
                        for text in combine(std::slice::from_ref(text), ",", &member) {
                            longer.push(([used.as_slice(), &[key]].concat(), text));
                        }
                        if longer.len() > MOST {
                            return None;
                        }
                    }
                }
                all = longer;
            }
            all.into_iter().map(|(_, text)| format!("{{{text}}}")).collect()
        }
        scalar => vec![scalar.to_string()],
    };
    (texts.len() <= MOST).then_some(texts)
}

fn combine(left: &[String], separator: &str, right: &[String]) -> Vec<String> {
    let join = |a: &String, b: &String| match a.is_empty() {
        true => b.clone(),
        false => format!("{a}{separator}{b}"),
    };
    left.iter().flat_map(|a| right.iter().map(move |b| join(a, b))).collect()
}

/// The grammar of a schema, or none when nothing satisfies it.
fn compiled(schema: &Value) -> Option<Grammar> {
    match compile(schema.to_string(), &compact(), &Limits::default()) {
        Ok(grammar) => Some(grammar),
        Err(SchemaError { kind: SchemaErrorKind::Unsatisfiable, .. }) => None,
        Err(error) => panic!("{schema} {error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, max_shrink_iters: 20_000, ..ProptestConfig::default() })]
    #[test]
    fn accepts_exactly_the_valid_values(
        schema in document(),
        random in prop::collection::vec(instance(), 3),
        choices in prop::collection::vec(prop::collection::vec(any::<u8>(), 30), 4),
    ) {
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let grammar = compiled(&schema);
        let guided = choices.into_iter().map(|mut choices| guided(&schema, &schema, &mut choices, 6));
        for value in guided.chain(random) {
            let Some(texts) = orders(&value) else { continue };
            let valid = validator.is_valid(&value);
            let accepted = grammar.as_ref().is_some_and(|grammar| {
                texts.iter().any(|text| accepts(grammar, text.as_bytes()))
            });
            prop_assert_eq!(accepted, valid, "{} {}", schema, value);
        }
    }

    #[test]
    fn nothing_is_offered_that_cannot_be_completed(schema in document()) {
        let Some(grammar) = compiled(&schema) else { return Ok(()) };
        let rules = passes::reach(&grammar, &Limits::default()).expect("within limits");
        for rule in rules.ids() {
            prop_assert!(rules.body(rule).nodes().iter().all(|node| *node != Node::Never), "{}", schema);
        }
        let pruned = passes::prune_unproductive(&rules, &mut formwork_automata::Fuel::unlimited())
            .expect("unlimited");
        prop_assert_eq!(pruned.len(), rules.len(), "{}", schema);
        prop_assert_eq!(&pruned.bodies, &rules.bodies, "{}", schema);
    }

    #[test]
    fn a_regular_grammar_is_the_same_as_one_automaton(
        schema in document(),
        choices in prop::collection::vec(prop::collection::vec(any::<u8>(), 30), 4),
    ) {
        let Some(grammar) = compiled(&schema) else { return Ok(()) };
        let token = CancellationToken::new();
        let mut limits = Limits::default();
        limits.automaton_states = 100_000;
        let Ok(dfa) = regular::dfa(&grammar, &regular::BytesOnly, &limits, &token) else {
            return Ok(());
        };
        prop_assert!(!dfa.is_empty());
        for mut choices in choices {
            let value = guided(&schema, &schema, &mut choices, 6);
            for text in orders(&value).unwrap_or_default().iter().take(20) {
                prop_assert_eq!(dfa.accepts(text.as_bytes()), accepts(&grammar, text.as_bytes()));
            }
        }
    }
}
