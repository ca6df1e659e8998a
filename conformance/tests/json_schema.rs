//! Random schemas over all keywords, against an unrelated validator.
//!
//! # Idea
//! The validator knows values and neither spelling nor the order of keys. So under `spelling: any`
//! and `property_order: any` a compact text is accepted exactly when its value is valid; under the
//! default options what is accepted must still be valid. And from the other side: whatever a random
//! walk through the masks writes must be a valid value, and no walk may ever be stuck.

use formwork_core::{
    AcceptErrorKind, CompileRequest, CompiledGrammar, Grammar, Limits, RowId, StartOptions,
    StructuredOutputBackend as _, StructuredOutputGrammar, TokenId, Vocabulary,
};
use formwork_earley::EarleyBackend;
use formwork_json_schema::{Options, PropertyOrder, SchemaErrorKind, Spelling, compile};
use formwork_mask::Row;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

const NAMES: [&str; 5] = ["a", "b", "ab", "c", "d"];
const DEFINITIONS: usize = 3;
/// Tokens after which a walk is given up.
const WALK_TOKENS: usize = 120;

/// Every byte, and some tokens that straddle what they stand between.
static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let pieces =
        ["{\"", "\":", ",\"", "\":{\"", "true", "null", "\"}", "[]", "{}", "1.5", "e0", "]}"];
    let mut builder = Vocabulary::builder(257 + pieces.len());
    for byte in 0..=255_u8 {
        builder = builder.token(TokenId::new(byte.into()), &[byte]);
    }
    for (id, piece) in (256..).zip(pieces) {
        builder = builder.token(TokenId::new(id), piece.as_bytes());
    }
    let end = TokenId::new(u32::try_from(256 + pieces.len()).unwrap());
    Arc::new(builder.special(end, "<end>").eos(end).build().expect("a vocabulary"))
});

fn scalar() -> BoxedStrategy<Value> {
    let texts = ["", "a", "ab", "ba", "é", "\"", "2024-02-29", "1.2.3.4"];
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => (-3..8_i64).prop_map(Value::from),
        1 => prop::sample::select(vec![0.5, -1.5, 2.25, 1e3]).prop_map(Value::from),
        3 => prop::sample::select(texts.to_vec()).prop_map(Value::from),
    ]
    .boxed()
}

fn instance() -> BoxedStrategy<Value> {
    scalar()
        .prop_recursive(3, 14, 4, |inner| {
            let entry = (prop::sample::select(NAMES.to_vec()), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Value::from),
                prop::collection::vec(entry, 0..4).prop_map(|entries| {
                    let entries = entries.into_iter().map(|(name, value)| (name.to_owned(), value));
                    Value::Object(entries.collect())
                }),
            ]
        })
        .boxed()
}

type Keyword = (&'static str, Value);

fn assertion() -> BoxedStrategy<Keyword> {
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let types = prop::sample::subsequence(types.to_vec(), 1..4);
    let names = || prop::sample::subsequence(NAMES.to_vec(), 0..3).prop_map(Value::from);
    let count = |name: &'static str, to: u32| (0..to).prop_map(move |n| (name, json!(n)));
    let bound = |name: &'static str| (-2..8_i64).prop_map(move |n| (name, json!(n)));
    let divisors = vec![json!(1), json!(2), json!(3), json!(0.5), json!(0.25)];
    prop_oneof![
        5 => types.prop_map(|types| ("type", json!(types))),
        1 => count("minLength", 3),
        1 => count("maxLength", 4),
        1 => prop::sample::select(vec!["^a", "b$", "a", "^(ab)*$", "é"]).prop_map(|p| ("pattern", json!(p))),
        1 => prop::sample::select(vec!["date", "ipv4"]).prop_map(|name| ("format", json!(name))),
        1 => bound("minimum"),
        1 => bound("maximum"),
        1 => bound("exclusiveMinimum"),
        1 => bound("exclusiveMaximum"),
        1 => prop::sample::select(divisors).prop_map(|by| ("multipleOf", by)),
        1 => count("minItems", 3),
        1 => count("maxItems", 4),
        1 => any::<bool>().prop_map(|unique| ("uniqueItems", json!(unique))),
        1 => count("minProperties", 3),
        1 => count("maxProperties", 4),
        2 => names().prop_map(|names| ("required", names)),
        1 => (prop::sample::select(NAMES.to_vec()), names())
            .prop_map(|(name, names)| ("dependentRequired", json!({ name: names }))),
        1 => instance().prop_map(|value| ("const", value)),
        1 => prop::collection::vec(instance(), 1..4).prop_map(|values| ("enum", json!(values))),
    ]
    .boxed()
}

/// Keywords that hold schemas; those that apply to the same value refer to later definitions only,
/// so that no schema is about itself.
fn applicator(depth: u32, first: usize) -> BoxedStrategy<Keyword> {
    let inner = || schema(depth - 1, 0);
    let same = || schema(depth - 1, first);
    let map = |keys: Vec<&'static str>| {
        prop::collection::btree_map(prop::sample::select(keys), inner(), 0..4)
            .prop_map(|map| json!(map))
    };
    let list = || prop::collection::vec(same(), 1..4).prop_map(Value::from);
    prop_oneof![
        4 => map(NAMES.to_vec()).prop_map(|value| ("properties", value)),
        1 => map(vec!["^a", "b$", "[bc]"]).prop_map(|value| ("patternProperties", value)),
        1 => inner().prop_map(|value| ("additionalProperties", value)),
        1 => prop::sample::select(vec![json!({"maxLength": 1}), json!({"pattern": "a"}), json!({"enum": ["a", "c"]})])
            .prop_map(|value| ("propertyNames", value)),
        1 => inner().prop_map(|value| ("items", value)),
        1 => prop::collection::vec(inner(), 1..3).prop_map(|value| ("prefixItems", json!(value))),
        1 => inner().prop_map(|value| ("contains", value)),
        1 => (0..3_u32).prop_map(|count| ("minContains", json!(count))),
        1 => (0..3_u32).prop_map(|count| ("maxContains", json!(count))),
        1 => inner().prop_map(|value| ("unevaluatedProperties", value)),
        1 => inner().prop_map(|value| ("unevaluatedItems", value)),
        1 => list().prop_map(|value| ("allOf", value)),
        2 => list().prop_map(|value| ("anyOf", value)),
        2 => list().prop_map(|value| ("oneOf", value)),
        1 => same().prop_map(|value| ("not", value)),
        1 => same().prop_map(|value| ("if", value)),
        1 => same().prop_map(|value| ("then", value)),
        1 => same().prop_map(|value| ("else", value)),
        1 => (prop::sample::select(NAMES.to_vec()), same())
            .prop_map(|(name, value)| ("dependentSchemas", json!({ name: value }))),
    ]
    .boxed()
}

/// A schema; `first` is the first definition that may be referred to in place.
fn schema(depth: u32, first: usize) -> BoxedStrategy<Value> {
    let reference = (first..DEFINITIONS.max(first + 1)).prop_map(|at| match at < DEFINITIONS {
        true => json!({"$ref": format!("#/$defs/{at}")}),
        false => json!(true),
    });
    let start = prop_oneof![
        8 => Just(json!({})),
        1 => any::<bool>().prop_map(Value::from),
        2 => reference,
    ];
    let assertions = prop::collection::vec(assertion(), 0..3);
    if depth == 0 {
        return (start, assertions).prop_map(|(start, all)| with_keywords(start, all)).boxed();
    }
    let applicators = prop::collection::vec(applicator(depth, first), 0..3);
    (start, assertions, applicators)
        .prop_map(|(start, some, more)| with_keywords(with_keywords(start, some), more))
        .boxed()
}

fn with_keywords(schema: Value, keywords: Vec<Keyword>) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    members.extend(keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)));
    Value::Object(members)
}

fn document() -> BoxedStrategy<Value> {
    (schema(2, 0), schema(1, 1), schema(1, 2), schema(1, 3))
        .prop_map(|(root, a, b, c)| {
            let mut members = match root {
                Value::Object(members) => members,
                _ => Map::new(),
            };
            members.insert("$defs".to_owned(), json!({"0": a, "1": b, "2": c}));
            Value::Object(members)
        })
        .boxed()
}

/// What became of a schema.
enum Verdict {
    Compiled(Arc<dyn CompiledGrammar>),
    Unsatisfiable,
    /// Refused by name, or beyond a limit.
    Refused,
}

fn compiled(schema: &Value, options: &Options) -> Verdict {
    let mut limits = Limits::default();
    limits.automaton_steps = 20_000_000;
    let grammar: Grammar = match compile(schema.to_string(), options, &limits) {
        Ok(grammar) => grammar,
        Err(error) if error.kind == SchemaErrorKind::Unsatisfiable => {
            return Verdict::Unsatisfiable;
        }
        Err(error) => {
            let named = matches!(
                error.kind,
                SchemaErrorKind::Unsupported { .. } | SchemaErrorKind::Exhausted(_)
            );
            assert!(named, "{error}");
            return Verdict::Refused;
        }
    };
    let mut request = CompileRequest::new(Arc::new(grammar), VOCABULARY.clone());
    request.limits = limits;
    match EarleyBackend.compile_blocking(&request) {
        Ok(compiled) => Verdict::Compiled(compiled),
        Err(_) => Verdict::Refused,
    }
}

/// Whether a text is accepted; none when the matcher failed for a limit or a keyword.
fn accepts(compiled: &Arc<dyn CompiledGrammar>, text: &str) -> Option<bool> {
    let mut matcher = compiled.clone().start(&StartOptions::default()).ok()?;
    for byte in text.bytes() {
        match matcher.accept_tokens(&[TokenId::new(byte.into())]) {
            Ok(()) => {}
            Err(error) if error.kind == AcceptErrorKind::NotAllowed => return Some(false),
            Err(_) => return None,
        }
    }
    Some(matcher.is_accepting())
}

/// What a walk writes that takes an allowed token at every step, as `choices` say; none when it does
/// not end, or fails for a limit.
fn walked(
    compiled: &Arc<dyn CompiledGrammar>,
    choices: &[u16],
) -> Result<Option<Vec<u8>>, TestCaseError> {
    let mut matcher: Box<dyn StructuredOutputGrammar> =
        compiled.clone().start(&StartOptions::default()).expect("it starts");
    let mut row = vec![0; VOCABULARY.row_words()];
    let mut text = Vec::new();
    for at in 0..WALK_TOKENS {
        if matcher.fill_bitmask(&mut row, RowId::NONE).is_err() {
            return Ok(None);
        }
        let mask = Row::new(&row, VOCABULARY.model_len());
        let allowed: Vec<u32> = mask.ones().map(|id| u32::try_from(id).unwrap()).collect();
        prop_assert!(!allowed.is_empty(), "nothing is allowed after {:?}", text);
        let choice = usize::from(choices[at % choices.len()]) + at / choices.len();
        // What closes is preferred, so that walks end.
        let closing = |id: &&u32| {
            VOCABULARY.eos().iter().any(|end| end.as_u32() == **id)
                || matches!(u8::try_from(**id), Ok(b'}' | b']' | b'"'))
        };
        let token = match allowed.iter().find(closing) {
            Some(&close) if !choice.is_multiple_of(3) => close,
            _ => allowed[choice % allowed.len()],
        };
        let token = TokenId::new(token);
        if VOCABULARY.eos().contains(&token) {
            return Ok(Some(text));
        }
        text.extend_from_slice(VOCABULARY.bytes(token).unwrap_or_default());
        prop_assert!(matcher.accept_tokens(&[token]).is_ok(), "an allowed token after {:?}", text);
    }
    Ok(None)
}

fn options(order: PropertyOrder, spelling: Spelling) -> Options {
    let mut options = Options::default();
    options.property_order = order;
    options.spelling = spelling;
    options
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_are_those_of_an_unrelated_validator(
        schema in document(),
        instances in prop::collection::vec(instance(), 12),
    ) {
        let validator = jsonschema::options().should_validate_formats(true).build(&schema);
        let validator = validator.expect("a schema");
        let any = compiled(&schema, &options(PropertyOrder::Any, Spelling::Any));
        let default = compiled(&schema, &Options::default());
        for instance in instances {
            let text = instance.to_string();
            let valid = validator.is_valid(&instance);
            match &any {
                Verdict::Compiled(compiled) => {
                    if let Some(accepted) = accepts(compiled, &text) {
                        prop_assert_eq!(accepted, valid, "{}", text);
                    }
                }
                Verdict::Unsatisfiable => prop_assert!(!valid, "{}", text),
                Verdict::Refused => {}
            }
            match &default {
                Verdict::Compiled(compiled) => {
                    prop_assert!(accepts(compiled, &text) != Some(true) || valid, "{}", text);
                }
                Verdict::Unsatisfiable => prop_assert!(!valid, "{}", text),
                Verdict::Refused => {}
            }
        }
    }

    #[test]
    fn walks_end_in_valid_values(
        schema in document(),
        choices in prop::collection::vec(any::<u16>(), 8..40),
        order in prop::sample::select(vec![PropertyOrder::Declared, PropertyOrder::Any]),
        spelling in prop::sample::select(vec![Spelling::Minimal, Spelling::Any]),
    ) {
        let validator = jsonschema::options().should_validate_formats(true).build(&schema);
        let validator = validator.expect("a schema");
        if let Verdict::Compiled(compiled) = compiled(&schema, &options(order, spelling))
            && let Some(text) = walked(&compiled, &choices)?
        {
            let text = String::from_utf8(text).expect("UTF-8");
            // The validator reads numbers as doubles: what these round is not asked of it.
            let exact = text.split(|c: char| !c.is_ascii_digit()).all(|run| run.len() < 15);
            let exponent = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            let small = text.split(|c| !exponent(c)).all(|number| !number.contains(['e', 'E']) || number.len() < 5);
            if !exact || !small {
                return Ok(());
            }
            let value: Value = serde_json::from_str(&text).expect("JSON");
            prop_assert!(validator.is_valid(&value), "{}", text);
        }
    }
}
