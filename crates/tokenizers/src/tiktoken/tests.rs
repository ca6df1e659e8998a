//! Rank files against tiktoken itself.

use super::*;
use crate::testing::{TEXTS, check_decided, check_spelling, ranks, text};
use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::prelude::*;
use std::{collections::HashSet, sync::LazyLock};
use tiktoken_rs::CoreBPE;

const PATTERNS: [&str; 5] = [
    crate::split::LLAMA3_PATTERN,
    crate::split::QWEN_PATTERN,
    crate::split::GPT2_PATTERN,
    crate::split::CL100K_PATTERN,
    tiktoken_rs::O200K_BASE_PAT_STR,
];

fn file(ranks: &[Vec<u8>]) -> String {
    let lines = ranks.iter().enumerate();
    lines.map(|(rank, bytes)| format!("{} {rank}\n", STANDARD.encode(bytes))).collect()
}

fn options(pattern: &str) -> TiktokenOptions {
    TiktokenOptions {
        special: vec![("<|end|>".to_owned(), TokenId::new(400))],
        eos: vec![TokenId::new(400)],
        pattern: Some(pattern.to_owned()),
        ranks: None,
    }
}

static VOCABULARIES: LazyLock<Vec<(Vocabulary, CoreBPE)>> = LazyLock::new(|| {
    let ranks = ranks(120);
    let both = |pattern: &&str| {
        let vocabulary = tiktoken(file(&ranks).as_bytes(), &options(pattern)).unwrap();
        let encoder = ranks.iter().cloned().zip(0..).collect();
        (vocabulary, CoreBPE::new(encoder, [].into_iter().collect(), pattern).unwrap())
    };
    PATTERNS.iter().map(both).collect()
});

fn check_text(text: &str) -> Result<(), TestCaseError> {
    for (vocabulary, oracle) in VOCABULARIES.iter() {
        check_spelling(vocabulary, text)?;
        let tokens = vocabulary.encoder().unwrap().encode(text.as_bytes()).unwrap();
        let tokens: Vec<u32> = tokens.into_iter().map(TokenId::as_u32).collect();
        prop_assert_eq!(tokens, oracle.encode_ordinary(text));
    }
    Ok(())
}

#[test]
fn texts_are_encoded_as_tiktoken_does() {
    let long = "the cat and ".repeat(200) + &"ab".repeat(300);
    for text in TEXTS.into_iter().chain([&*long]) {
        check_text(text).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn encoding_is_tiktokens_and_what_is_decided_stays(text in text(), more in text()) {
        check_text(&text)?;
        for (vocabulary, _) in VOCABULARIES.iter() {
            check_decided(vocabulary, &text, &more)?;
        }
    }
}

static RANKS: LazyLock<String> = LazyLock::new(|| file(&ranks(60)));

fn pattern() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a+",
        "ab?",
        "[ab]+(?!c)",
        "b{1,2}",
        "c",
        "a++b",
        r"\s+(?!\S)",
        r"\s+",
        " ?[ab]+",
        "(?i:B)c*",
        "(?:a|bc)+",
        r"\b[abc]+\b",
        r"[abc]+$",
        "(?>a|ab)c",
        "b(?=c)",
        r"^a",
        r"\n",
        "[^a]",
        "c+?b",
        "(?:b(?!a)){2}",
        "a(?=bc)",
    ]);
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("|"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_decided_stays_under_any_pattern(
        pattern in pattern(),
        text in "[abc \n]{0,10}",
        more in "[abc \n]{0,6}",
    ) {
        let vocabulary = tiktoken(RANKS.as_bytes(), &options(&pattern)).unwrap();
        check_decided(&vocabulary, &text, &more)?;
    }
}

#[test]
fn a_pattern_that_is_not_understood_decides_nothing_but_encodes() {
    let ranks = ranks(20);
    let vocabulary = tiktoken(file(&ranks).as_bytes(), &options(r"(?<=x)y|(?s:.)")).unwrap();
    check_spelling(&vocabulary, "xyz the cat").unwrap();
    assert_eq!(check_decided(&vocabulary, "xyz the cat", "s").unwrap(), 0);
}

#[test]
fn a_table_without_every_byte_has_no_encoder() {
    let mut ranks = ranks(20);
    ranks.remove(7);
    let pattern = crate::split::LLAMA3_PATTERN;
    let vocabulary = tiktoken(file(&ranks).as_bytes(), &options(pattern)).unwrap();
    assert!(vocabulary.encoder().is_none());
}

#[test]
fn faults_name_their_line() {
    let fault = |text: &str, options: &TiktokenOptions| {
        let error = tiktoken(text.as_bytes(), options).unwrap_err();
        (error.line, error.kind)
    };
    let text = file(&ranks(3));
    let (line, kind) = fault(&text, &options("("));
    assert!(matches!((line, kind), (259, FileErrorKind::Pattern(PatternError::Syntax(_)))));
    let long = options(&"a".repeat(20_000));
    assert!(matches!(
        fault(&text, &long).1,
        FileErrorKind::Pattern(PatternError::TooLong { len: 20_000 })
    ));
    let counted = TiktokenOptions { ranks: Some(258), ..options("a") };
    let count = FileErrorKind::Count { promised: 258, found: 259 };
    assert_eq!(fault(&text, &counted).1.to_string(), count.to_string());
    let far = text.replace(" 258\n", " 1000000000\n");
    assert!(matches!(fault(&far, &options("a")), (259, FileErrorKind::Vocabulary(_))));
    let twice = text.replace(" 258\n", " 7\n");
    assert!(matches!(fault(&twice, &options("a")), (259, FileErrorKind::Vocabulary(_))));
    let clash = TiktokenOptions { special: vec![("x".into(), TokenId::new(5))], ..options("a") };
    assert!(matches!(fault(&text, &clash).1, FileErrorKind::Vocabulary(_)));
}

#[test]
fn presets_have_the_sizes_of_their_tokenizers() {
    use TiktokenPreset::{Cl100kBase, Llama3, Llama4, O200kBase, Qwen};
    let sizes = [
        (Llama3, 128_256, 3),
        (Llama4, 202_048, 3),
        (Qwen, 151_851, 2),
        (Cl100kBase, 100_277, 1),
        (O200kBase, 200_019, 1),
    ];
    for (preset, len, ends) in sizes {
        let options = preset.options();
        let last = options.special.iter().map(|(_, id)| id.as_u32()).max().unwrap();
        assert_eq!((last + 1, options.eos.len()), (len, ends), "{preset:?}");
        let names: HashSet<&str> = options.special.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names.len(), options.special.len(), "{preset:?}");
    }
    let id = |preset: TiktokenPreset, name: &str| {
        let options = preset.options();
        options.special.iter().find(|(other, _)| other == name).unwrap().1.as_u32()
    };
    assert_eq!(id(Llama3, "<|begin_of_text|>"), 128_000);
    assert_eq!(id(Llama3, "<|eot_id|>"), 128_009);
    assert_eq!(id(Llama3, "<|reserved_special_token_245|>"), 128_255);
    assert_eq!(id(Llama4, "<|eot|>"), 200_008);
    assert_eq!(id(Llama4, "<|finetune_right_pad|>"), 200_018);
    assert_eq!(id(Llama4, "<|text_post_train_reserved_special_token_68|>"), 200_079);
    assert_eq!(id(Llama4, "<|image_start|>"), 200_080);
    assert_eq!(id(Llama4, "<|vision_reserved_special_token_1047|>"), 201_133);
    assert_eq!(id(Llama4, "<|reasoning_thinking_end|>"), 201_143);
    assert_eq!(id(Qwen, "<|im_end|>"), 151_645);
    assert_eq!(TiktokenPreset::hinted_by("Meta-Llama-3.1-8B"), Some(Llama3));
    assert_eq!(TiktokenPreset::hinted_by("qwen.tiktoken"), Some(Qwen));
    assert_eq!(TiktokenPreset::hinted_by("tokenizer.model"), None);
}

#[test]
fn presets_agree_with_the_embedded_vocabularies() {
    let embedded = [
        (TiktokenPreset::Cl100kBase, crate::cl100k_base().unwrap()),
        (TiktokenPreset::O200kBase, crate::o200k_base().unwrap()),
    ];
    for (preset, vocabulary) in embedded {
        let ids = (0..).take(vocabulary.tokenizer_len()).map(TokenId::new);
        let lines: String = ids
            .filter_map(|id| Some(format!("{} {id}\n", STANDARD.encode(vocabulary.bytes(id)?))))
            .collect();
        let read = tiktoken_preset(lines.as_bytes(), preset).unwrap();
        assert_eq!(read.fingerprint(), vocabulary.fingerprint());
        for text in TEXTS {
            let [read, embedded] = [&read, &*vocabulary]
                .map(|v| v.encoder().unwrap().encode(text.as_bytes()).unwrap());
            assert_eq!(read, embedded);
        }
    }
}
