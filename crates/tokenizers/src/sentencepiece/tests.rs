//! Small models, against the `tokenizers` crate where it does the same.

use super::*;
use crate::testing::{TEXTS, check_decided, check_spelling, text, train};
use formwork_vocab::VocabularyError;
use proptest::prelude::*;
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};
use proto::{Normalizer, Piece, Trainer};
use std::sync::LazyLock;

/// Numbers of the kinds of pieces.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const UNUSED: i32 = 5;
const BYTE: i32 = 6;

#[derive(Clone)]
struct Source {
    pieces: Vec<(String, f32, i32)>,
    trainer: Trainer,
    normalizer: Normalizer,
    denormalizer: Normalizer,
}

fn field(bytes: &mut Vec<u8>, tag: u32, message: &impl Message) {
    encode_key(tag, WireType::LengthDelimited, bytes);
    encode_varint(message.encoded_len() as u64, bytes);
    message.encode(bytes).unwrap();
}

impl Source {
    fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (piece, score, kind) in &self.pieces {
            let (piece, score, r#type) = (Some(piece.clone()), Some(*score), Some(*kind));
            field(&mut bytes, 1, &Piece { piece, score, r#type });
        }
        field(&mut bytes, 2, &self.trainer);
        field(&mut bytes, 3, &self.normalizer);
        field(&mut bytes, 4, &Piece::default());
        field(&mut bytes, 5, &self.denormalizer);
        bytes
    }

    fn read(&self) -> Vocabulary {
        sentencepiece(&self.write()).unwrap()
    }

    fn kind(&self) -> SentencePieceErrorKind {
        sentencepiece(&self.write()).unwrap_err().kind
    }
}

/// A model whose pieces are the control symbols, the bytes where wanted, and what training makes.
fn source(model_type: i32, byte_fallback: bool, user_defined: &[&str]) -> Source {
    let mut pieces: Vec<(String, f32, i32)> =
        vec![("<unk>".into(), 0.0, UNKNOWN), ("<s>".into(), 0.0, CONTROL)];
    pieces.push(("</s>".into(), 0.0, CONTROL));
    if byte_fallback {
        pieces.extend((0..=255_u8).map(|byte| (format!("<0x{byte:02X}>"), 0.0, BYTE)));
    }
    pieces.extend(user_defined.iter().map(|piece| ((*piece).to_owned(), 0.0, USER_DEFINED)));
    let mut score = 0.0;
    let mut add = |text: String| {
        if !pieces.iter().any(|(other, ..)| *other == text) {
            score -= 1.0;
            pieces.push((text, score, NORMAL));
        }
    };
    let merges = train(90, false, "▁");
    for (left, right) in &merges {
        add(String::from_utf8([&left[..], right].concat()).unwrap());
    }
    for part in merges.iter().flat_map(|(left, right)| [left, right]) {
        add(String::from_utf8(part.clone()).unwrap());
    }
    add("▁".to_owned());
    Source {
        pieces,
        trainer: Trainer {
            model_type: Some(model_type),
            byte_fallback: Some(byte_fallback),
            eos_id: Some(2),
            ..Default::default()
        },
        normalizer: Normalizer { remove_extra_whitespaces: Some(false), ..Default::default() },
        denormalizer: Normalizer::default(),
    }
}

const UNIGRAM: i32 = 1;
const BPE: i32 = 2;

static MODELS: LazyLock<Vec<Vocabulary>> = LazyLock::new(|| {
    [
        source(BPE, true, &[]),
        source(UNIGRAM, true, &[]),
        source(BPE, true, &["<tool>", "▁▁", "</tool>"]),
    ]
    .map(|source| source.read())
    .into()
});

#[test]
fn pieces_have_the_bytes_that_they_stand_for() {
    let vocabulary = &MODELS[2];
    assert_eq!(vocabulary.by_name("</s>"), Some(TokenId::new(2)));
    assert_eq!(vocabulary.by_name("<unk>"), Some(TokenId::new(0)));
    assert_eq!(vocabulary.eos(), [TokenId::new(2)]);
    assert_eq!(vocabulary.bytes(TokenId::new(3 + 0x0a)), Some(&b"\n"[..]));
    assert_eq!(vocabulary.bytes(TokenId::new(3 + 0xff)), Some(&[0xff][..]));
    assert_eq!(vocabulary.bytes(TokenId::new(260)), Some(&b"  "[..]));
    assert_eq!(vocabulary.tokens_with_bytes(b" the").count(), 1);
    assert!(vocabulary.is_byte_complete());
}

#[test]
fn texts_are_spelt() {
    for vocabulary in MODELS.iter() {
        for text in TEXTS {
            check_spelling(vocabulary, text).unwrap();
        }
    }
    let tool = MODELS[2].tokens_with_bytes(b"<tool>").next().unwrap();
    let tokens = MODELS[2].encoder().unwrap().encode(b"the<tool>cat").unwrap();
    assert!(tokens.contains(&tool));
}

#[test]
fn much_of_ordinary_text_is_decided() {
    let text = "{\"name\": \"the cat\", \"tags\": [1, 12], \"ok\": the";
    for vocabulary in MODELS.iter() {
        let decided = check_decided(vocabulary, text, " thing").unwrap();
        assert!(decided >= text.len() - 4, "{decided}");
    }
}

/// The same pieces as a `tokenizer.json` of the crate, whose merges come by rank.
fn crate_file(source: &Source) -> serde_json::Value {
    use serde_json::json;
    let spaces = json!({ "type": "Replace", "pattern": { "String": " " }, "content": "▁" });
    let model = match source.trainer.model_type {
        Some(BPE) => {
            let vocab: serde_json::Map<_, _> = (0..)
                .zip(&source.pieces)
                .map(|(id, (text, ..))| (text.clone(), json!(id)))
                .collect();
            let mut merges = Vec::new();
            for (text, _, kind) in &source.pieces {
                let splits = text.char_indices().skip(1).filter(|_| *kind == NORMAL);
                let mut pairs: Vec<(&str, &str)> = splits
                    .map(|(at, _)| text.split_at(at))
                    .filter(|(l, r)| vocab.contains_key(*l) && vocab.contains_key(*r))
                    .collect();
                pairs.sort_unstable();
                merges.extend(pairs);
            }
            json!({ "type": "BPE", "vocab": vocab, "merges": merges, "unk_token": "<unk>",
                "byte_fallback": true, "fuse_unk": true })
        }
        _ => {
            let vocab: Vec<(&str, f32)> =
                source.pieces.iter().map(|(text, score, _)| (&**text, *score)).collect();
            json!({ "type": "Unigram", "vocab": vocab, "unk_id": 0, "byte_fallback": true })
        }
    };
    json!({ "added_tokens": [], "normalizer": spaces, "pre_tokenizer": null,
        "post_processor": null, "decoder": null, "model": model })
}

static ORACLES: LazyLock<Vec<(Vocabulary, tokenizers::Tokenizer)>> = LazyLock::new(|| {
    [source(BPE, true, &[]), source(UNIGRAM, true, &[])]
        .map(|source| {
            let file = crate_file(&source).to_string();
            (source.read(), file.parse().unwrap())
        })
        .into()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn encoding_spells_the_text_and_what_is_decided_stays(text in text(), more in text()) {
        for vocabulary in MODELS.iter() {
            if !text.contains('▁') {
                check_spelling(vocabulary, &text)?;
            }
            check_decided(vocabulary, &text, &more)?;
        }
    }

    #[test]
    fn encoding_is_the_crates(text in text()) {
        // The crate takes control symbols and byte pieces for text.
        let text = text.replace('>', "");
        for (vocabulary, oracle) in ORACLES.iter() {
            let tokens = vocabulary.encoder().unwrap().encode(text.as_bytes()).unwrap();
            let tokens: Vec<u32> = tokens.into_iter().map(TokenId::as_u32).collect();
            let expected = oracle.encode(&*text, false).unwrap();
            prop_assert_eq!(&tokens[..], expected.get_ids());
        }
    }
}

#[test]
fn unknown_characters_are_one_token_a_run_where_there_are_no_bytes() {
    for model_type in [BPE, UNIGRAM] {
        let vocabulary = source(model_type, false, &[]).read();
        let encoder = vocabulary.encoder().unwrap();
        let unknown = TokenId::new(0);
        let tokens = encoder.encode("the☃☃☃ the".as_bytes()).unwrap();
        assert_eq!(tokens.iter().filter(|&&id| id == unknown).count(), 1, "{tokens:?}");
        let decided = check_decided(&vocabulary, "the cat the☃ the cat", "☃ dog").unwrap();
        assert!(decided <= "the cat the".len(), "what has no bytes ends what can be decided");
    }
}

#[test]
fn models_that_change_text_have_no_encoder() {
    let has_encoder = |edit: &dyn Fn(&mut Source)| {
        let mut source = source(UNIGRAM, true, &[]);
        edit(&mut source);
        source.read().encoder().is_some()
    };
    assert!(has_encoder(&|_| ()));
    assert!(!has_encoder(&|source| source.normalizer.remove_extra_whitespaces = None));
    assert!(!has_encoder(&|source| source.normalizer.precompiled_charsmap = Some(vec![1])));
    assert!(!has_encoder(&|source| source.pieces[300].2 = UNUSED));
    assert!(!has_encoder(&|source| source.pieces[300].2 = USER_DEFINED), "unigram alone");
    assert!(!has_encoder(&|source| source.trainer.model_type = Some(4)), "characters");
    assert!(!has_encoder(&|source| source.pieces[50].0 = "<0x00>".into()), "a byte is missing");
    assert!(
        !has_encoder(&|source| source.pieces[300].0 = "a".repeat(2000)),
        "too long to look for"
    );
}

#[test]
fn spaces_that_are_not_escaped_stay() {
    let mut source = source(BPE, true, &[]);
    source.normalizer.escape_whitespaces = Some(false);
    for (text, ..) in &mut source.pieces {
        *text = text.replace('▁', " ");
    }
    let vocabulary = source.read();
    for text in TEXTS {
        check_spelling(&vocabulary, text).unwrap();
        check_decided(&vocabulary, text, "the cat").unwrap();
    }
}

#[test]
fn what_cannot_be_right_is_refused_by_name() {
    let mut suffix = source(BPE, true, &[]);
    suffix.trainer.treat_whitespace_as_suffix = Some(true);
    assert!(matches!(suffix.kind(), SentencePieceErrorKind::WhitespaceAsSuffix));
    let mut decoding = source(BPE, true, &[]);
    decoding.denormalizer.precompiled_charsmap = Some(vec![1]);
    assert!(matches!(decoding.kind(), SentencePieceErrorKind::Denormalizer));
    let mut byte = source(BPE, true, &[]);
    byte.pieces[5].0 = "<0xG0>".into();
    let error = sentencepiece(&byte.write()).unwrap_err();
    assert_eq!(error.piece, Some(TokenId::new(5)));
    assert!(matches!(error.kind, SentencePieceErrorKind::Byte { piece } if piece == "<0xG0>"));
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let bytes = source(BPE, true, &[]).write();
    for len in 0..bytes.len().min(3000) {
        // Where a field ends, what is there may be a smaller model.
        let _ = sentencepiece(&bytes[..len]);
    }
    let error = sentencepiece(&bytes[..bytes.len() - 1]).unwrap_err();
    assert!(matches!(
        error.kind,
        SentencePieceErrorKind::Cut | SentencePieceErrorKind::Protobuf(_)
    ));
    let claims = [&[0x0a][..], &[0xff; 9], &[1], b"rest"].concat();
    assert!(matches!(sentencepiece(&claims).unwrap_err().kind, SentencePieceErrorKind::Cut));
    let not_text = [0x0a, 4, 0x0a, 2, 0xff, 0xfe];
    let error = sentencepiece(&not_text).unwrap_err();
    assert!(matches!(error.kind, SentencePieceErrorKind::Protobuf(_)));
    // A group inside a group, and so on.
    assert!(sentencepiece(&[0x33; 100_000]).is_err());
    let many = [0x0a, 0].repeat(Vocabulary::MAX_TOKENS + 1);
    let error = sentencepiece(&many).unwrap_err();
    assert!(matches!(
        error.kind,
        SentencePieceErrorKind::Vocabulary(VocabularyError::TooMany { .. })
    ));
}

proptest! {
    #[test]
    fn any_bytes_are_a_model_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = sentencepiece(&bytes);
        let mut model = source(UNIGRAM, false, &[]).write();
        let at = bytes.len() * 7 % model.len();
        model.splice(at..(at + 3).min(model.len()), bytes);
        let _ = sentencepiece(&model);
    }
}
