//! Small tokenizers of every family, against the `tokenizers` crate.

use super::*;
use crate::testing::{Merge, TEXTS, check_decided, check_spelling, text, train};
use decoder::BYTE_CHARACTERS;
use proptest::prelude::*;
use serde_json::json;
use std::{str::FromStr, sync::LazyLock};

const LLAMA3: &str = crate::split::LLAMA3_PATTERN;

fn show(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| BYTE_CHARACTERS[usize::from(byte)]).collect()
}

fn characters(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A BPE model of some first tokens, an alphabet and merges.
fn bpe(first: &[String], merges: &[Merge], shown: fn(&[u8]) -> String) -> Value {
    let mut vocab = serde_json::Map::new();
    let mut add = |token: String| {
        let next = vocab.len();
        vocab.entry(token).or_insert_with(|| next.into());
    };
    first.iter().cloned().for_each(&mut add);
    for (left, right) in merges {
        add(shown(left));
        add(shown(right));
    }
    merges.iter().for_each(|(left, right)| add(shown(left) + &shown(right)));
    let merges: Vec<[String; 2]> = merges.iter().map(|(l, r)| [shown(l), shown(r)]).collect();
    json!({ "type": "BPE", "vocab": vocab, "merges": merges })
}

fn added(id: usize, content: &str, special: bool) -> Value {
    json!({ "id": id, "content": content, "special": special, "single_word": false,
        "lstrip": false, "rstrip": false, "normalized": false })
}

/// A byte-level tokenizer that splits by these pre-tokenizers.
fn byte_level_file(normalizer: Value, pre_tokenizers: Value) -> Value {
    let alphabet: Vec<String> = (0..=255).map(|byte: u8| show(&[byte])).collect();
    let mut model = bpe(&alphabet, &train(120, true, " "), show);
    let len = model["vocab"].as_object().unwrap().len();
    model["ignore_merges"] = Value::Bool(true);
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [
            added(len, "<|end|>", true), added(len + 1, "<tool>", false),
            added(len + 2, "</tool>", false), added(len + 3, "é  ", false),
        ],
        "normalizer": normalizer,
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": pre_tokenizers },
        "post_processor": null,
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
            "use_regex": true },
        "model": model,
    })
}

fn split(pattern: &str) -> Value {
    json!({ "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated",
        "invert": false })
}

fn byte_level(use_regex: bool) -> Value {
    json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
        "use_regex": use_regex })
}

fn gpt2() -> Value {
    byte_level_file(Value::Null, json!([byte_level(true)]))
}

fn llama3() -> Value {
    byte_level_file(Value::Null, json!([split(LLAMA3), byte_level(false)]))
}

fn qwen() -> Value {
    let pattern = crate::split::QWEN_PATTERN;
    byte_level_file(json!({ "type": "NFC" }), json!([split(pattern), byte_level(false)]))
}

fn deepseek() -> Value {
    let rest = concat!(
        r"[!-/:-@\[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|",
        r"\s*[\r\n]+|\s+(?!\S)|\s+"
    );
    let stages = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", rest].map(split);
    let [numbers, han, rest] = stages;
    byte_level_file(Value::Null, json!([numbers, han, rest, byte_level(false)]))
}

fn digits() -> Value {
    let digits = json!({ "type": "Digits", "individual_digits": false });
    byte_level_file(Value::Null, json!([split(r"[\r\n]"), digits, byte_level(true)]))
}

/// No pattern at all: only the model says what may be joined.
fn unsplit() -> Value {
    let mut file = byte_level_file(Value::Null, json!([byte_level(false)]));
    file["model"]["ignore_merges"] = Value::Bool(false);
    file
}

fn byte_pieces() -> Vec<String> {
    (0..=255).map(|byte: u8| format!("<0x{byte:02X}>")).collect()
}

/// Byte-pair encoding in SentencePiece's manner.
fn sentencepiece_file(normalizers: Value, pre_tokenizer: Value) -> Value {
    let mut first: Vec<String> = ["<unk>", "<s>", "</s>", "<tool>", "▁▁"].map(String::from).into();
    first.extend(byte_pieces());
    first.extend([" ", "▁", "!"].map(String::from));
    let mut model = bpe(&first, &train(90, false, "▁"), characters);
    model["unk_token"] = json!("<unk>");
    model["byte_fallback"] = json!(true);
    model["fuse_unk"] = json!(true);
    json!({
        "added_tokens": [
            added(0, "<unk>", true), added(1, "<s>", true), added(2, "</s>", true),
            added(3, "<tool>", false),
        ],
        "normalizer": normalizers, "pre_tokenizer": pre_tokenizer, "post_processor": null,
        "decoder": { "type": "Sequence", "decoders": [
            { "type": "Replace", "pattern": { "String": "▁" }, "content": " " },
            { "type": "ByteFallback" }, { "type": "Fuse" },
            { "type": "Strip", "content": " ", "start": 1, "stop": 0 },
        ] },
        "model": model,
    })
}

fn spaces() -> Value {
    json!({ "type": "Replace", "pattern": { "String": " " }, "content": "▁" })
}

fn llama2() -> Value {
    let prepend = json!({ "type": "Prepend", "prepend": "▁" });
    let both = json!({ "type": "Sequence", "normalizers": [prepend, spaces()] });
    sentencepiece_file(both, Value::Null)
}

fn gemma() -> Value {
    let at_spaces = json!({ "type": "Split", "pattern": { "String": " " },
        "behavior": "MergedWithPrevious", "invert": false });
    sentencepiece_file(spaces(), at_spaces)
}

fn mistral() -> Value {
    let metaspace = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "first",
        "split": true });
    sentencepiece_file(Value::Null, metaspace)
}

/// A unigram model, with pieces for bytes or without.
fn unigram(byte_fallback: bool) -> Value {
    let mut vocab: Vec<(String, f64)> = vec![("<unk>".into(), 0.0), ("</s>".into(), 0.0)];
    if byte_fallback {
        vocab.extend(byte_pieces().into_iter().map(|piece| (piece, 0.0)));
    }
    vocab.extend(["▁", "t", "h", "e", "a", "n"].map(|piece| (piece.to_owned(), -6.5)));
    for (at, (left, right)) in train(90, false, "▁").into_iter().enumerate() {
        for token in [characters(&left), characters(&right), characters(&[left, right].concat())] {
            if !vocab.iter().any(|(other, _)| *other == token) {
                vocab.push((token, -2.0 - 0.03 * (at as f64)));
            }
        }
    }
    json!({
        "added_tokens": [added(0, "<unk>", true), added(1, "</s>", true)],
        "normalizer": null,
        "pre_tokenizer": { "type": "Metaspace", "replacement": "▁", "add_prefix_space": true },
        "post_processor": null,
        "decoder": match byte_fallback {
            true => json!({ "type": "Sequence", "decoders": [
                { "type": "Metaspace", "replacement": "▁", "add_prefix_space": true },
                { "type": "ByteFallback" }, { "type": "Fuse" },
            ] }),
            false => json!({ "type": "Metaspace", "replacement": "▁", "add_prefix_space": true }),
        },
        "model": { "type": "Unigram", "unk_id": 0, "vocab": vocab,
            "byte_fallback": byte_fallback },
    })
}

struct Family {
    name: &'static str,
    file: String,
    vocabulary: Vocabulary,
    /// Whether `▁` and characters without a piece come out as they went in.
    is_exact: bool,
}

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let family = |name, file: Value, is_exact| {
        let file = file.to_string();
        let vocabulary = huggingface(&file, &HuggingFaceOptions::default()).unwrap();
        Family { name, file, vocabulary, is_exact }
    };
    vec![
        family("gpt2", gpt2(), true),
        family("llama3", llama3(), true),
        family("qwen", qwen(), false),
        family("deepseek", deepseek(), true),
        family("digits", digits(), true),
        family("unsplit", unsplit(), true),
        family("llama2", llama2(), false),
        family("gemma", gemma(), false),
        family("mistral", mistral(), false),
        family("unigram", unigram(true), false),
        family("unigram without bytes", unigram(false), false),
    ]
});

/// Whether the normaliser leaves a text as it is, and the model knows every character.
fn is_unchanged(family: &Family, text: &str) -> bool {
    match family.name {
        "qwen" => {
            let nfc = tokenizers::normalizers::NFC;
            let mut normalized = tokenizers::NormalizedString::from(text);
            tokenizers::Normalizer::normalize(&nfc, &mut normalized).unwrap();
            normalized.get() == text
        }
        "unigram without bytes" => false,
        _ => family.is_exact || !text.contains('▁'),
    }
}

#[test]
fn every_family_has_an_encoder_that_spells_the_text() {
    for family in FAMILIES.iter() {
        for text in TEXTS.iter().filter(|text| is_unchanged(family, text)) {
            check_spelling(&family.vocabulary, text)
                .unwrap_or_else(|error| panic!("{}: {error}", family.name));
        }
    }
}

#[test]
fn tokens_have_the_bytes_that_the_decoder_gives_them_between_others() {
    for family in FAMILIES.iter() {
        let oracle = tokenizers::Tokenizer::from_str(&family.file).unwrap();
        let vocabulary = &family.vocabulary;
        let anchor = vocabulary.tokens_with_bytes(b"e").next().unwrap();
        let mut compared = 0;
        for id in (0..).take(vocabulary.tokenizer_len()).map(TokenId::new) {
            let Some(text) = vocabulary.bytes(id).and_then(|b| std::str::from_utf8(b).ok()) else {
                continue;
            };
            let ids = [anchor, id, anchor].map(TokenId::as_u32);
            // The crate takes the characters of this one for bytes.
            if text != "é  " {
                assert_eq!(oracle.decode(&ids, false).unwrap(), format!("e{text}e"));
                compared += 1;
            }
        }
        assert!(compared > 100, "{}", family.name);
    }
}

#[test]
fn added_tokens_are_special_or_text_as_the_file_says() {
    let vocabulary = &FAMILIES[0].vocabulary;
    let end = vocabulary.by_name("<|end|>").unwrap();
    assert!(vocabulary.bytes(end).is_none());
    assert_eq!(vocabulary.tokens_with_bytes(b"<tool>").count(), 1);
    assert_eq!(vocabulary.tokens_with_bytes("é  ".as_bytes()).count(), 1, "as it looks");
    let encoder = vocabulary.encoder().unwrap();
    let tokens = encoder.encode("a<tool><|end|>".as_bytes()).unwrap();
    let tool = vocabulary.tokens_with_bytes(b"<tool>").next().unwrap();
    assert!(tokens.contains(&tool) && !tokens.contains(&end), "{tokens:?}");
}

#[test]
fn a_special_token_that_the_model_makes_of_its_name_is_cut_open() {
    for family in FAMILIES.iter().filter(|family| family.name.starts_with("unigram")) {
        let end = family.vocabulary.by_name("</s>").unwrap();
        let encoder = family.vocabulary.encoder().unwrap();
        let tokens = encoder.encode(b"the</s></s> cat</s").unwrap();
        assert!(!tokens.contains(&end), "{}", family.name);
        let oracle = tokenizers::Tokenizer::from_str(&family.file).unwrap();
        assert!(oracle.encode("the</s>", false).unwrap().get_ids().contains(&end.as_u32()));
    }
}

#[test]
fn much_of_ordinary_text_is_decided() {
    let text = "{\"name\": \"the cat\", \"tags\": [1, 12], \"ok\": the";
    for family in FAMILIES.iter() {
        let decided = check_decided(&family.vocabulary, text, " thing").unwrap();
        let wanted = match family.name {
            "unigram without bytes" => 0,
            _ => text.len() - 4,
        };
        assert!(decided >= wanted, "{}: {decided}", family.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn encoding_spells_the_text_and_what_is_decided_stays(text in text(), more in text()) {
        for family in FAMILIES.iter() {
            if is_unchanged(family, &text) {
                check_spelling(&family.vocabulary, &text)
                    .map_err(|error| TestCaseError::fail(format!("{}: {error}", family.name)))?;
            }
            check_decided(&family.vocabulary, &text, &more)
                .map_err(|error| TestCaseError::fail(format!("{}: {error}", family.name)))?;
        }
    }

    #[test]
    fn encoding_is_the_crates_own_where_nothing_is_prepended(text in text()) {
        let plain = |family: &&Family| {
            !["llama2", "mistral"].contains(&family.name) && !family.name.starts_with("unigram")
        };
        for family in FAMILIES.iter().filter(plain) {
            let mut oracle = tokenizers::Tokenizer::from_str(&family.file).unwrap();
            oracle.set_encode_special_tokens(true);
            let expected = oracle.encode(&*text, false).unwrap();
            let tokens = family.vocabulary.encoder().unwrap().encode(text.as_bytes()).unwrap();
            let tokens: Vec<u32> = tokens.into_iter().map(TokenId::as_u32).collect();
            prop_assert_eq!(&tokens[..], expected.get_ids(), "{}", family.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn what_is_decided_stays_with_any_added_tokens(
        tokens in prop::collection::vec(("[abc ]{1,4}", any::<bool>()), 1..5),
        texts in prop::collection::vec(("[abc ]{0,10}", "[abc ]{0,6}"), 12),
        family in 0..4_usize,
    ) {
        let mut file = [gpt2, llama3, qwen, gemma][family]();
        let first = file["model"]["vocab"].as_object().unwrap().len() + 10;
        for (id, (content, normalized)) in (first..).zip(&tokens) {
            let id = file["model"]["vocab"].get(content).map_or(id, |id| {
                usize::try_from(id.as_u64().unwrap()).unwrap()
            });
            let mut token = added(id, content, false);
            token["normalized"] = json!(normalized);
            let list = file["added_tokens"].as_array_mut().unwrap();
            if !list.iter().any(|other| other["content"] == **content) {
                list.push(token);
            }
        }
        let vocabulary = huggingface(&file.to_string(), &HuggingFaceOptions::default()).unwrap();
        for (text, more) in &texts {
            check_decided(&vocabulary, text, more)?;
        }
    }
}

fn kind(file: &Value) -> (String, HuggingFaceErrorKind) {
    kind_with(file, &HuggingFaceOptions::default())
}

fn kind_with(file: &Value, options: &HuggingFaceOptions) -> (String, HuggingFaceErrorKind) {
    let error = huggingface(&file.to_string(), options).unwrap_err();
    (error.pointer, error.kind)
}

#[test]
fn models_without_bytes_of_their_own_are_refused_by_name() {
    let model = |model: Value| {
        let mut file = gpt2();
        file["model"] = model;
        kind(&file)
    };
    let (pointer, error) = model(json!({ "type": "WordPiece", "vocab": {} }));
    assert_eq!(pointer, "/model");
    assert!(matches!(error, HuggingFaceErrorKind::WordPiece));
    assert!(error.to_string().contains("space before a token"));
    let old = json!({ "vocab": {}, "max_input_chars_per_word": 100 });
    assert!(matches!(model(old).1, HuggingFaceErrorKind::WordPiece));
    let words = json!({ "type": "WordLevel", "vocab": {} });
    assert!(matches!(model(words).1, HuggingFaceErrorKind::WordLevel));
    let other = model(json!({ "type": "Neural", "vocab": {} }));
    assert!(matches!(other.1, HuggingFaceErrorKind::UnknownModel { name } if name == "Neural"));
    let mut file = gpt2();
    file["model"]["end_of_word_suffix"] = json!("</w>");
    let (pointer, error) = kind(&file);
    assert_eq!(pointer, "/model/end_of_word_suffix");
    assert!(matches!(error, HuggingFaceErrorKind::Affix));
}

#[test]
fn decoders_that_look_at_neighbours_are_refused_by_name() {
    let refusal = |decoder: Value| {
        let mut file = llama2();
        file["decoder"] = decoder;
        match kind(&file) {
            (pointer, HuggingFaceErrorKind::Decoder(error)) => (pointer, error),
            other => panic!("{other:?}"),
        }
    };
    let sequence = |steps: Value| json!({ "type": "Sequence", "decoders": steps });
    let strip =
        |start, stop| json!({ "type": "Strip", "content": " ", "start": start, "stop": stop });
    let replace =
        |from: &str| json!({ "type": "Replace", "pattern": { "String": from }, "content": " " });
    let fuse = json!({ "type": "Fuse" });
    let fallback = json!({ "type": "ByteFallback" });
    let cases = [
        (Value::Null, "/decoder", DecoderError::Missing),
        (json!({ "type": "CTC" }), "/decoder", DecoderError::Type { name: "CTC".into() }),
        (json!({}), "/decoder", DecoderError::Malformed),
        (sequence(json!([strip(1, 0)])), "/decoder/decoders/0", DecoderError::Strips),
        (sequence(json!([fuse, strip(0, 1)])), "/decoder/decoders/1", DecoderError::Strips),
        (
            sequence(json!([fuse, sequence(json!([replace("ab")]))])),
            "/decoder/decoders/1/decoders/0",
            DecoderError::ReplacesAcross,
        ),
        (
            sequence(json!([fallback, replace("▁")])),
            "/decoder/decoders/1",
            DecoderError::ReplacesAcross,
        ),
        (
            sequence(json!([byte_level(true), replace("▁")])),
            "/decoder",
            DecoderError::MixedByteLevel,
        ),
    ];
    for (decoder, place, error) in cases {
        assert_eq!(refusal(decoder), (place.to_owned(), error));
    }
}

#[test]
fn faults_in_tables_name_their_place() {
    let edited = |edit: &dyn Fn(&mut Value)| {
        let mut file = gpt2();
        edit(&mut file);
        kind(&file)
    };
    let (pointer, error) = edited(&|file| file["model"]["vocab"]["a/~"] = json!(3));
    assert_eq!(pointer, "/model/vocab/a~1~0");
    assert!(matches!(error, HuggingFaceErrorKind::Vocabulary(_)));
    let (_, error) = edited(&|file| file["model"]["vocab"]["huge"] = json!(1_000_000_000));
    let too_many = formwork_vocab::VocabularyError::TooMany { len: 1_000_000_001 };
    assert!(matches!(error, HuggingFaceErrorKind::Vocabulary(found) if found == too_many));
    let (_, error) = edited(&|file| file["model"]["vocab"]["negative"] = json!(-1));
    assert!(matches!(error, HuggingFaceErrorKind::Json(_)));
    let (pointer, error) = edited(&|file| file["model"]["merges"][7] = json!(["a", "nowhere"]));
    assert_eq!(pointer, "/model/merges/7");
    assert!(
        matches!(error, HuggingFaceErrorKind::UnknownMerge { content } if content == "nowhere")
    );
    let (pointer, error) = edited(&|file| file["model"]["merges"][0] = json!("a b c"));
    assert_eq!(pointer, "/model/merges/0");
    assert!(matches!(error, HuggingFaceErrorKind::Merge));
    let (_, error) = edited(&|file| file["model"]["merges"][0] = json!(["a"]));
    assert!(matches!(error, HuggingFaceErrorKind::Json(_)));
    let (pointer, error) = edited(&|file| file["added_tokens"][1]["id"] = json!(5));
    assert_eq!(pointer, "/added_tokens/1");
    assert!(matches!(error, HuggingFaceErrorKind::Vocabulary(_)));
    let (_, error) = edited(&|file| file["model"]["vocab"]["<tool>"] = json!(999));
    assert!(matches!(error, HuggingFaceErrorKind::AddedElsewhere { .. }));
    let mut file = unigram(false);
    file["model"]["unk_id"] = json!(100_000);
    let (pointer, error) = kind(&file);
    assert_eq!(pointer, "/model/unk_id");
    assert!(matches!(error, HuggingFaceErrorKind::UnknownOutOfRange { .. }));
    let twice = gpt2().to_string().replace("\"vocab\":{", "\"vocab\":{\"a\":70000,");
    let error = huggingface(&twice, &HuggingFaceOptions::default()).unwrap_err();
    assert!(matches!(error.kind, HuggingFaceErrorKind::ContentTwice { .. }));
}

#[test]
fn hostile_text_is_an_error() {
    let deep = format!("{{\"decoder\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_model = format!("{{\"model\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    for text in ["", "{", "[]", "{}", "{\"model\":{}}", "{\"model\":3}", &deep, &deep_model] {
        assert!(huggingface(text, &HuggingFaceOptions::default()).is_err());
    }
}

#[test]
fn what_ends_an_output_comes_from_the_caller_or_from_the_files_beside() {
    let file = gpt2().to_string();
    let end = FAMILIES[0].vocabulary.by_name("<|end|>").unwrap();
    let eos = |options: HuggingFaceOptions| {
        huggingface(&file, &options).map(|vocabulary| vocabulary.eos().to_vec())
    };
    let named = |names: &[&str]| HuggingFaceOptions {
        eos: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Default::default()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(eos(named(&[])).unwrap(), []);
    assert_eq!(eos(named(&["<|end|>", "7"])).unwrap(), [TokenId::new(7), end]);
    let beside = HuggingFaceOptions {
        generation_config: text(r#"{"eos_token_id": [3, 4]}"#),
        tokenizer_config: text(r#"{"eos_token": {"content": "<|end|>"}}"#),
        model_config: text(r#"{"eos_token_id": 9, "vocab_size": 1024}"#),
        ..Default::default()
    };
    assert_eq!(eos(beside.clone()).unwrap(), [TokenId::new(3), TokenId::new(4), end]);
    assert_eq!(huggingface(&file, &beside).unwrap().model_len(), 1024);
    let model = HuggingFaceOptions {
        model_config: text(r#"{"text_config": {"eos_token_id": 9, "vocab_size": 77}}"#),
        ..Default::default()
    };
    assert_eq!(eos(model.clone()).unwrap(), [TokenId::new(9)]);
    assert_eq!(huggingface(&file, &model).unwrap().model_len(), 77);
    let error = kind_with(&gpt2(), &named(&["<|nothing|>"])).1;
    assert!(matches!(error, HuggingFaceErrorKind::UnknownEos { name } if name == "<|nothing|>"));
    let error = kind_with(&gpt2(), &named(&["4000000"])).1;
    assert!(matches!(error, HuggingFaceErrorKind::Vocabulary(_)));
}

#[test]
fn parts_that_do_not_fit_together_leave_the_vocabulary_without_an_encoder() {
    let has_encoder = |file: &Value| {
        let text = file.to_string();
        huggingface(&text, &HuggingFaceOptions::default()).unwrap().encoder().is_some()
    };
    assert!(has_encoder(&gpt2()));
    let mut lower = gpt2();
    lower["normalizer"] = json!({ "type": "Lowercase" });
    assert!(!has_encoder(&lower));
    let mut plain = gpt2();
    plain["pre_tokenizer"] = Value::Null;
    assert!(!has_encoder(&plain), "bytes are decoded that were never encoded");
    let mut spaces = llama2();
    spaces["normalizer"] = Value::Null;
    assert!(!has_encoder(&spaces), "spaces are decoded that were never encoded");
    let mut lossy = llama2();
    lossy["model"]["byte_fallback"] = json!(false);
    lossy["model"]["unk_token"] = Value::Null;
    assert!(!has_encoder(&lossy), "unknown characters would vanish");
}
