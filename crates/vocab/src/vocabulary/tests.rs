//! Tables: what a built vocabulary says, and what a builder refuses.

use super::*;

fn id(id: u32) -> TokenId {
    TokenId::new(id)
}

fn sample() -> VocabularyBuilder {
    Vocabulary::builder(6)
        .token(id(3), b"b")
        .token(id(0), b"a")
        .token(id(1), b"ab")
        .special(id(2), "<end>")
        .token(id(4), b"")
        .eos(id(2))
}

#[test]
fn says_what_each_id_stands_for() {
    let vocabulary = sample().model_size(8).build().unwrap();
    assert_eq!((vocabulary.tokenizer_len(), vocabulary.model_len()), (6, 8));
    assert_eq!(vocabulary.bytes(id(1)), Some(b"ab".as_slice()));
    assert_eq!(vocabulary.bytes(id(2)), None, "a special token has no bytes");
    assert_eq!(vocabulary.by_name("<end>"), Some(id(2)));
    assert!(vocabulary.tokens_with_bytes(b"ab").eq([id(1)]));
    assert!(vocabulary.tokens_with_bytes(b"<end>").next().is_none());
    let emittable = (0..9).map(id).filter(|&id| vocabulary.is_emittable(id));
    assert!(emittable.eq([0, 1, 2, 3].map(id)), "no bytes, never defined, padding, past the end");
    assert!(!vocabulary.is_byte_complete());
    assert_eq!(vocabulary.unspellable_bytes().iter().count(), 254);
    assert_eq!(vocabulary.longest_token(), 2);
}

#[test]
fn a_model_may_be_smaller_than_its_tokenizer() {
    let vocabulary = sample().model_size(1).build().unwrap();
    assert!(vocabulary.is_emittable(id(0)) && !vocabulary.is_emittable(id(1)));
    assert!(vocabulary.tokens_with_bytes(b"ab").next().is_none());
    assert!(vocabulary.unspellable_bytes().contains(b'b'));
    assert_eq!(vocabulary.longest_token(), 1, "`ab` cannot be emitted");
}

#[test]
fn the_fingerprint_follows_what_determines_masks() {
    let print = |builder: VocabularyBuilder| builder.build().unwrap().fingerprint();
    let first = print(sample());
    assert_eq!(first, print(sample()));
    assert_eq!(first.to_string().len(), 64);
    for other in [sample().model_size(9), sample().token(id(5), b"x"), sample().eos(id(3))] {
        assert_ne!(first, print(other));
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let error = |builder: VocabularyBuilder| builder.build().unwrap_err();
    assert_eq!(
        error(sample().token(id(6), b"c")),
        VocabularyError::OutOfRange { id: id(6), len: 6 }
    );
    assert_eq!(error(sample().eos(id(9))), VocabularyError::EosOutOfRange { id: id(9), len: 6 });
    assert_eq!(error(sample().token(id(0), b"c")), VocabularyError::DefinedTwice { id: id(0) });
    assert_eq!(
        error(sample().special(id(5), "<end>")),
        VocabularyError::NameTwice { name: "<end>".into() }
    );
    assert_eq!(
        error(sample().token(id(5), &vec![b'x'; 1 << 17])),
        VocabularyError::TooLong { id: id(5), len: 1 << 17 }
    );
    assert_eq!(error(Vocabulary::builder(1 << 25)), VocabularyError::TooMany { len: 1 << 25 });
}

#[test]
fn the_limits_are_the_last_sizes_that_work() {
    let len = Vocabulary::MAX_TOKENS;
    let error = Vocabulary::builder(1).model_size(len + 1).build().unwrap_err();
    assert_eq!(error, VocabularyError::TooMany { len: len + 1 });
    assert_eq!(Vocabulary::builder(1).model_size(len).build().unwrap().model_len(), len);

    let longest = vec![b'x'; Vocabulary::MAX_TOKEN_BYTES];
    let filled = |tokens: u32| {
        let builder = Vocabulary::builder(tokens as usize);
        (0..tokens).map(id).fold(builder, |builder, id| builder.token(id, &longest)).build()
    };
    // 1,024 tokens of 2^16 - 1 bytes are a little less than the total, one more is too much.
    let vocabulary = filled(1_024).unwrap();
    assert_eq!(vocabulary.trie().node_count(), longest.len() + 1);
    assert_eq!(vocabulary.trie().max_depth(), vocabulary.longest_token());
    assert_eq!(vocabulary.tokens_with_bytes(&longest).count(), 1_024);
    let len = 1_025 * longest.len();
    assert_eq!(filled(1_025).unwrap_err(), VocabularyError::TooManyBytes { len });
}

#[test]
fn a_description_is_short() {
    let vocabulary = sample().build().unwrap();
    assert!(format!("{vocabulary:?}{:?}", vocabulary.trie()).len() < 300);
}
