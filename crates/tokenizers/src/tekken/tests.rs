//! Small `tekken.json` files.

use super::*;
use crate::testing::{TEXTS, check_decided, check_spelling, ranks, text};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

const PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}|",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);

const SPECIAL: u32 = 25;

/// The ranks, two more that are not used, and 25 special tokens.
fn file() -> Value {
    let ranks = ranks(120);
    let used = ranks.len();
    let more = [b"never one".to_vec(), b"never two".to_vec()];
    let tokens = ranks.into_iter().chain(more).enumerate().map(|(rank, bytes)| {
        json!({ "rank": rank, "token_bytes": STANDARD.encode(&bytes),
            "token_str": String::from_utf8(bytes).ok() })
    });
    json!({
        "config": {
            "pattern": PATTERN, "num_vocab_tokens": used + 2,
            "default_vocab_size": used + SPECIAL as usize,
            "default_num_special_tokens": SPECIAL, "version": "v13",
        },
        "vocab": tokens.collect::<Vec<_>>(),
        "special_tokens": [
            { "rank": 0, "token_str": "<unk>", "is_control": true },
            { "rank": 2, "token_str": "</s>", "is_control": true },
            { "rank": 9, "token_str": "[TOOL_CALLS]", "is_control": true },
        ],
    })
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| tekken(&file().to_string()).unwrap());

#[test]
fn ids_are_shifted_by_the_special_tokens() {
    let ranks = ranks(120);
    assert_eq!(VOCABULARY.tokenizer_len(), ranks.len() + SPECIAL as usize);
    for (id, bytes) in (SPECIAL..).zip(&ranks) {
        assert_eq!(VOCABULARY.bytes(TokenId::new(id)), Some(&bytes[..]));
    }
    assert_eq!(VOCABULARY.eos(), [TokenId::new(2)]);
    assert_eq!(VOCABULARY.by_name("[TOOL_CALLS]"), Some(TokenId::new(9)));
    assert_eq!(VOCABULARY.by_name("<SPECIAL_24>"), Some(TokenId::new(24)));
    let mut old = file();
    old["special_tokens"] = Value::Null;
    let old = tekken(&old.to_string()).unwrap();
    assert_eq!(old.by_name("[TOOL_CONTENT]"), Some(TokenId::new(19)));
    assert_eq!(old.by_name("<SPECIAL_20>"), Some(TokenId::new(20)));
}

#[test]
fn texts_are_spelt() {
    for text in TEXTS {
        check_spelling(&VOCABULARY, text).unwrap();
    }
    let decided = check_decided(&VOCABULARY, "{\"name\": \"the cat\", \"n", "ame\"").unwrap();
    assert!(decided >= "{\"name\": \"the cat".len(), "{decided}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn encoding_spells_the_text_and_what_is_decided_stays(text in text(), more in text()) {
        check_spelling(&VOCABULARY, &text)?;
        check_decided(&VOCABULARY, &text, &more)?;
    }
}

#[test]
fn faults_name_their_place() {
    let edited = |path: &str, value: Value| {
        let mut file = file();
        *file.pointer_mut(path).unwrap() = value;
        let error = tekken(&file.to_string()).unwrap_err();
        (error.pointer, error.kind)
    };
    let (place, kind) = edited("/vocab/3/token_bytes", json!("!"));
    assert_eq!(place, "/vocab/3/token_bytes");
    assert!(matches!(kind, TekkenErrorKind::Base64(_)));
    let (place, kind) = edited("/vocab/3/rank", json!(2));
    assert_eq!(place, "/vocab/3/rank");
    assert!(matches!(kind, TekkenErrorKind::Vocabulary(_)));
    let (place, kind) = edited("/vocab/3/rank", json!(1_000_000_000));
    assert_eq!(place, "/vocab");
    assert!(matches!(kind, TekkenErrorKind::Count { .. }));
    let (place, kind) = edited("/config/default_vocab_size", json!(3_000_000_000_u32));
    assert_eq!(place, "/config/default_vocab_size");
    assert!(matches!(kind, TekkenErrorKind::Vocabulary(VocabularyError::TooMany { .. })));
    let (_, kind) = edited("/config/default_num_special_tokens", json!(3_000_000));
    assert!(matches!(kind, TekkenErrorKind::Count { .. }));
    let (place, kind) = edited("/special_tokens/1/rank", json!(25));
    assert_eq!(place, "/special_tokens/1");
    assert!(matches!(kind, TekkenErrorKind::SpecialOutOfRange { rank: 25, len: 25 }));
    let (place, kind) = edited("/special_tokens/1/rank", json!(9));
    assert_eq!(place, "/special_tokens/2");
    assert!(matches!(kind, TekkenErrorKind::Vocabulary(_)));
    let (place, kind) = edited("/config/pattern", json!("["));
    assert_eq!(place, "/config/pattern");
    assert!(matches!(kind, TekkenErrorKind::Pattern(_)));
    assert!(matches!(tekken("{}").unwrap_err().kind, TekkenErrorKind::Json(_)));
}
