//! The embedded vocabularies against text of all kinds.

use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

static O200K: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| o200k_base().unwrap());
static CL100K: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| cl100k_base().unwrap());

const TEXTS: [&str; 8] = [
    "",
    "It's a dog's life, isn't it? They'll say WE'VE seen 12345678 of them.",
    "fn main() {\n\tprintln!(\"{}\", x[0]); // done\r\n}\n\n\n  end  ",
    "Füße, naïve café, Ελληνικά, русский, العربية, हिन्दी, 日本語のテキスト, 한국어",
    "👩‍👩‍👧‍👦 and 🏳️‍🌈 and e\u{301}",
    "\u{0}\u{1}\u{7f}\u{85}\u{a0}\u{feff}\u{2028}",
    "{\"name\":\"Ada\",\"tags\":[\"x\",\"y\"],\"n\":-1.5e10}",
    "<|endoftext|> in text is text",
];

fn joined(vocabulary: &Vocabulary, tokens: &[TokenId]) -> Vec<u8> {
    tokens.iter().flat_map(|&id| vocabulary.bytes(id).expect("text only")).copied().collect()
}

#[test]
fn the_bytes_of_the_tokens_of_a_text_are_the_text() {
    for vocabulary in [&*O200K, &*CL100K] {
        let encoder = vocabulary.encoder().unwrap();
        for text in TEXTS {
            let tokens = encoder.encode(text.as_bytes()).unwrap();
            assert_eq!(joined(vocabulary, &tokens), text.as_bytes());
        }
        assert_eq!(encoder.encode(b"ok\xff").unwrap_err(), EncodeError::InvalidUtf8 { offset: 2 });
    }
}

#[test]
fn sizes_specials_and_single_bytes_are_right() {
    for (vocabulary, len, end) in [(&*O200K, 200_019, 199_999), (&*CL100K, 100_277, 100_257)] {
        assert_eq!(vocabulary.tokenizer_len(), len);
        assert_eq!(vocabulary.by_name(END_OF_TEXT), Some(TokenId::new(end)));
        assert_eq!(vocabulary.eos(), [TokenId::new(end)]);
        assert!(vocabulary.is_byte_complete());
        assert_eq!(vocabulary.bytes(TokenId::new(end)), None);
    }
}

/// Appends `more` to `text` in steps and checks that what was said to be decided stays.
fn check_prefix(vocabulary: &Vocabulary, text: &str, more: &str) -> Result<(), TestCaseError> {
    let encoder = vocabulary.encoder().unwrap();
    let decided = encoder.encode_prefix(text.as_bytes()).unwrap();
    let mut longer = text.to_owned();
    for character in more.chars() {
        longer.push(character);
        let tokens = encoder.encode(longer.as_bytes()).unwrap();
        prop_assert!(
            tokens.starts_with(&decided),
            "{text:?} then {longer:?}: {:?}",
            joined(vocabulary, &decided)
        );
    }
    Ok(())
}

fn text() -> impl Strategy<Value = String> {
    // Every kind of character that the patterns tell apart, and the contractions.
    let piece = prop::sample::select(vec![
        "a", "B", "ab", "Re", "'", "'s", "'LL", "l", "e", "1", "12", " ", "  ", "\n", "\r\n", "\t",
        "/", ".", "\"", "{", "é", "字", "\u{301}", "\u{a0}", "\u{2028}", "ǅ", "👍", "\\", "٣", "ſ",
        "\u{2bc}", "ʰ", "½", "\u{85}", "\u{0}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_decided_stays_whatever_is_appended(text in text(), more in text()) {
        check_prefix(&O200K, &text, &more)?;
        check_prefix(&CL100K, &text, &more)?;
    }
}

#[test]
fn most_of_a_long_text_is_decided_even_when_a_character_is_cut() {
    let encoder = O200K.encoder().unwrap();
    let text = "{\"id\":\"ORD-000123\",\"customer\":{\"name\":\"é".as_bytes();
    let cut = &text[..text.len() - 1];
    let decided = joined(&O200K, &encoder.encode_prefix(cut).unwrap());
    assert!(text.starts_with(&decided) && decided.len() > 16, "{decided:?}");
}

#[test]
fn a_short_key_is_decided_up_to_its_last_word() {
    for vocabulary in [&*O200K, &*CL100K] {
        let decided = |text: &str| {
            let tokens = vocabulary.encoder().unwrap().encode_prefix(text.as_bytes()).unwrap();
            String::from_utf8(joined(vocabulary, &tokens)).unwrap()
        };
        assert_eq!(decided("{\"id\":"), "{\"id");
        assert_eq!(decided("[12,"), "[12");
        assert_eq!(decided("Hello world"), "Hello");
        assert_eq!(decided("-\n"), "", "more line breaks may follow");
    }
    let decided = |vocabulary: &Vocabulary| {
        let tokens = vocabulary.encoder().unwrap().encode_prefix(b"it'").unwrap();
        joined(vocabulary, &tokens)
    };
    assert_eq!(decided(&O200K), b"", "a contraction may follow, in one piece with the word");
    assert_eq!(decided(&CL100K), b"it", "contractions are pieces of their own");
}

#[test]
fn a_run_of_white_space_without_end_is_an_error_and_no_panic() {
    let limit = 1 << 18;
    for vocabulary in [&*O200K, &*CL100K] {
        let encoder = vocabulary.encoder().unwrap();
        let fits = format!("x{}y", " ".repeat(limit));
        let tokens = encoder.encode(fits.as_bytes()).unwrap();
        assert_eq!(joined(vocabulary, &tokens), fits.as_bytes());
        let long = format!("x{}y", " ".repeat(1_100_000));
        let error = EncodeError::RunTooLong { offset: 1, limit };
        assert_eq!(encoder.encode(long.as_bytes()).unwrap_err(), error);
        assert_eq!(encoder.encode_prefix(long.as_bytes()).unwrap_err(), error);
    }
}

#[test]
fn every_id_decodes_to_what_the_tokenizer_says() {
    let tokenizer = tiktoken_rs::cl100k_base_singleton();
    for id in 0..100_256 {
        let bytes = tokenizer.decode_bytes(&[id]).unwrap();
        assert_eq!(CL100K.bytes(TokenId::new(id)), Some(&bytes[..]));
    }
}
