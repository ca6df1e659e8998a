//! What is saved is what is loaded, and whatever else a file says is an error or a vocabulary like
//! any other.

use super::*;
use crate::{NodeId, VocabularyBuilder, WalkScratch};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

fn id(id: u32) -> TokenId {
    TokenId::new(id)
}

/// A token of a random vocabulary.
#[derive(Clone, Debug)]
enum Token {
    Unknown,
    Special,
    Text(Vec<u8>),
}

fn vocabularies() -> impl Strategy<Value = Vocabulary> {
    let byte = prop_oneof![Just(b'a'), Just(b'b'), Just(0), Just(255), any::<u8>()];
    let token = prop_oneof![
        1 => Just(Token::Unknown),
        1 => Just(Token::Special),
        8 => prop::collection::vec(byte, 0..6).prop_map(Token::Text),
    ];
    let tokens = prop::collection::vec(token, 0..40);
    (tokens, 0..45_usize, prop::collection::vec(0..40_u32, 0..3)).prop_map(
        |(tokens, model_len, eos)| {
            let mut builder = Vocabulary::builder(tokens.len()).model_size(model_len);
            for (number, token) in (0..).zip(&tokens) {
                builder = match token {
                    Token::Unknown => builder,
                    Token::Special => builder.special(id(number), &format!("<{number}>")),
                    Token::Text(bytes) => builder.token(id(number), bytes),
                };
            }
            let eos = eos.into_iter().filter(|&eos| (eos as usize) < tokens.len()).map(id);
            eos.fold(builder, VocabularyBuilder::eos).build().unwrap()
        },
    )
}

fn saved(vocabulary: &Vocabulary) -> Vec<u8> {
    let mut bytes = Vec::new();
    vocabulary.save(&mut bytes).unwrap();
    bytes
}

/// Everything a vocabulary says, its trie by the nodes and by a walk.
fn described(vocabulary: &Vocabulary) -> impl PartialEq + std::fmt::Debug + use<> {
    let ids = (0..).take(vocabulary.tokenizer_len()).map(id);
    let tokens: Vec<_> = ids
        .map(|id| {
            let name = vocabulary.special_name(id).map(str::to_owned);
            let by_name = name.as_deref().and_then(|name| vocabulary.by_name(name));
            let bytes = vocabulary.bytes(id).map(<[u8]>::to_vec);
            (bytes, name, by_name, vocabulary.is_emittable(id))
        })
        .collect();
    let sizes = (
        (vocabulary.model_len(), vocabulary.row_words(), vocabulary.longest_token()),
        (vocabulary.eos().to_vec(), vocabulary.unspellable_bytes(), vocabulary.fingerprint()),
    );
    let trie = vocabulary.trie();
    let mut nodes = Vec::new();
    let mut pending = vec![NodeId::ROOT];
    while let Some(node) = pending.pop() {
        let children: Vec<_> = trie.children(node).collect();
        pending.extend(children.iter().map(|child| child.1));
        let (own, below) = (trie.tokens(node).to_vec(), trie.tokens_below(node).to_vec());
        nodes.push((node, trie.depth(node), trie.subtree_end(node), children, own, below));
    }
    let mut walked = Vec::new();
    let step = |at: u32, byte: u8| (byte != b'b').then_some(at.wrapping_mul(31) + u32::from(byte));
    trie.walk_states(0, &mut WalkScratch::default(), step, |token, at| walked.push((token, at)));
    (tokens, sizes, (trie.node_count(), trie.max_depth(), nodes), walked)
}

/// With a checksum that fits, as somebody would write it on purpose.
fn sealed(mut archive: Vec<u8>) -> Vec<u8> {
    let len = archive.len() as u64 - 60;
    archive[20..28].copy_from_slice(&len.to_le_bytes());
    let digest = Sha256::new().chain_update(&archive[..28]).chain_update(&archive[60..]);
    archive[28..60].copy_from_slice(&digest.finalize());
    archive
}

/// Loads it, if need be with the fingerprint that fits, so that what comes after it is looked at.
fn load_as_if_meant(archive: Vec<u8>) -> Result<Vocabulary, LoadError> {
    let mut archive = sealed(archive);
    match Vocabulary::load(&archive) {
        Err(LoadError::FingerprintDiffers { computed, .. }) => {
            let at = archive.len() - 32;
            archive[at..].copy_from_slice(&computed.0);
            Vocabulary::load(&sealed(archive))
        }
        result => result,
    }
}

proptest! {
    #[test]
    fn a_loaded_vocabulary_says_what_the_saved_one_said(vocabulary in vocabularies()) {
        let bytes = saved(&vocabulary);
        let loaded = Vocabulary::load(&bytes).unwrap();
        prop_assert!(loaded.trie.get().is_some(), "the trie comes with it");
        prop_assert_eq!(described(&loaded), described(&vocabulary));
        prop_assert_eq!(loaded.memory_bytes(), vocabulary.memory_bytes());
        prop_assert_eq!(saved(&loaded), bytes.clone());
        let streamed = Vocabulary::load_from(&*bytes, bytes.len() as u64).unwrap();
        prop_assert_eq!(described(&streamed), described(&vocabulary));
    }

    #[test]
    fn a_meddled_file_is_an_error_or_says_of_itself_what_it_says(
        vocabulary in vocabularies(),
        meddled in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = saved(&vocabulary);
        let payload = bytes.len() - 60;
        for (at, byte) in meddled {
            bytes[60 + at.index(payload)] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(60 + cut.index(payload));
        }
        if let Ok(loaded) = load_as_if_meant(bytes) {
            let ids = (0..).take(loaded.tokenizer_len()).map(id);
            let mut builder = Vocabulary::builder(loaded.tokenizer_len());
            for id in ids {
                builder = match (loaded.bytes(id), loaded.special_name(id)) {
                    (Some(bytes), None) => builder.token(id, bytes),
                    (None, Some(name)) => builder.special(id, name),
                    (None, None) => builder,
                    both => panic!("{both:?}"),
                };
            }
            let builder = loaded.eos().iter().copied().fold(builder, VocabularyBuilder::eos);
            let built = builder.model_size(loaded.model_len()).build().unwrap();
            prop_assert_eq!(described(&loaded), described(&built));
        }
    }

    #[test]
    fn no_other_order_is_a_trie(
        vocabulary in vocabularies(),
        swapped in any::<[prop::sample::Index; 2]>(),
    ) {
        let order = vocabulary.trie().order().to_vec();
        prop_assume!(order.len() > 1);
        let [from, to] = swapped.map(|at| at.index(order.len()));
        let mut swapped = order.clone();
        swapped.swap(from, to);
        let result = TokenTrie::from_order(&vocabulary, &swapped);
        prop_assert_eq!(result.is_ok(), from == to);
        let mut repeated = order.clone();
        repeated[to] = order[from];
        prop_assert_eq!(TokenTrie::from_order(&vocabulary, &repeated).is_ok(), from == to);
        let mut shorter = order;
        shorter.remove(from);
        let (found, expected) = (shorter.len(), shorter.len() + 1);
        let error = TokenTrie::from_order(&vocabulary, &shorter).unwrap_err();
        prop_assert_eq!(error, OrderFault::Missing { found, expected });
    }
}

fn sample() -> Vocabulary {
    let builder = Vocabulary::builder(5).token(id(0), b"b").token(id(1), b"ab").token(id(4), b"a");
    builder.special(id(2), "<end>").special(id(3), "<pad>").eos(id(2)).build().unwrap()
}

/// What a file consists of.
struct Sections {
    model: u64,
    eos: Vec<u32>,
    lengths: Vec<u16>,
    bytes: Vec<u8>,
    special: BTreeMap<u32, &'static str>,
    order: Vec<u32>,
}

/// The error of the sample with something changed.
fn error_of(change: impl FnOnce(&mut Sections)) -> LoadError {
    let mut sections = Sections {
        model: 5,
        eos: vec![2],
        lengths: vec![1, 2, 0, 0, 1],
        bytes: b"baba".to_vec(),
        special: BTreeMap::from([(2, "<end>"), (3, "<pad>")]),
        order: vec![4, 1, 0],
    };
    let write = |sections: &Sections| {
        let mut writer = Writer::new(KIND, VERSION);
        writer.u64(sections.model);
        writer.u32s(&sections.eos);
        writer.u16s(&sections.lengths);
        writer.bytes(&sections.bytes);
        writer.u32s(&sections.special.keys().copied().collect::<Vec<_>>());
        sections.special.values().for_each(|name| writer.str(name));
        writer.u32s(&sections.order);
        writer.fixed(&sample().fingerprint().0);
        writer.finish()
    };
    assert_eq!(write(&sections), saved(&sample()), "the format is what the table says");
    change(&mut sections);
    load_as_if_meant(write(&sections)).unwrap_err()
}

#[test]
fn what_is_wrong_is_named() {
    let model = error_of(|sections| sections.model = 1 << 40);
    let too_many = matches!(model, LoadError::Vocabulary(VocabularyError::TooMany { .. }));
    assert!(too_many, "{model}");
    let eos = error_of(|sections| sections.eos = vec![2, 5]);
    let out_of_range = matches!(
        eos,
        LoadError::Vocabulary(VocabularyError::EosOutOfRange { id: found, len: 5 }) if found == id(5)
    );
    assert!(out_of_range, "{eos}");
    let eos = error_of(|sections| sections.eos = vec![3, 2]);
    assert_eq!(eos.to_string(), "entry 1 of the end-of-sequence ids is out of order");
    let lengths = error_of(|sections| sections.lengths[1] = 3);
    assert!(matches!(lengths, LoadError::Lengths { claimed: 5, found: 4 }), "{lengths}");
    let special = error_of(|sections| {
        sections.special.insert(4, "<a>");
    });
    assert!(matches!(special, LoadError::SpecialWithBytes { id: found } if found == id(4)));
    let special = error_of(|sections| {
        sections.special.insert(3, "<end>");
    });
    let twice = matches!(&special, LoadError::Vocabulary(VocabularyError::NameTwice { .. }));
    assert!(twice, "{special}");
    let special = error_of(|sections| {
        sections.special.insert(9, "<far>");
    });
    let far = matches!(special, LoadError::Vocabulary(VocabularyError::OutOfRange { .. }));
    assert!(far, "{special}");
    let order = error_of(|sections| sections.order = vec![4, 0, 1]);
    assert!(matches!(order, LoadError::OutOfOrder { list: Misplaced::Trie, position: 2 }));
    let order = error_of(|sections| sections.order[0] = 2);
    assert!(matches!(order, LoadError::NotText { position: 0 }), "{order}");
    let order = error_of(|sections| sections.order[2] = u32::MAX);
    assert!(matches!(order, LoadError::NotText { position: 2 }), "{order}");
    let order = error_of(|sections| {
        sections.order.pop();
    });
    assert!(matches!(order, LoadError::MissingTokens { found: 2, expected: 3 }), "{order}");
}

#[test]
fn another_fingerprint_is_an_error_that_names_both() {
    let mut bytes = saved(&sample());
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    let error = Vocabulary::load(&sealed(bytes)).unwrap_err();
    let LoadError::FingerprintDiffers { recorded, computed } = error else { panic!("{error}") };
    assert!(computed == sample().fingerprint() && recorded != computed);
}

#[test]
fn every_truncation_and_every_flipped_bit_is_an_error() {
    let mut bytes = saved(&sample());
    for len in 0..bytes.len() {
        assert!(Vocabulary::load(&bytes[..len]).is_err(), "{len}");
    }
    for at in 0..bytes.len() * 8 {
        bytes[at / 8] ^= 1 << (at % 8);
        assert!(Vocabulary::load(&bytes).is_err(), "bit {at}");
        bytes[at / 8] ^= 1 << (at % 8);
    }
    assert!(Vocabulary::load(&bytes).is_ok());
}

#[test]
fn a_stream_is_taken_up_to_a_limit() {
    let bytes = saved(&sample());
    let error = Vocabulary::load_from(&*bytes, 100).unwrap_err();
    assert!(matches!(error, LoadError::Archive(ArchiveError::TooLong { limit: 100, .. })));
}

#[test]
fn an_encoder_is_attached_after_loading() {
    #[derive(Debug)]
    struct Nothing;
    impl crate::Encoder for Nothing {
        fn encode(&self, _: &[u8]) -> Result<Vec<TokenId>, crate::EncodeError> {
            Ok(Vec::new())
        }
        fn encode_prefix(&self, _: &[u8]) -> Result<Vec<TokenId>, crate::EncodeError> {
            Ok(Vec::new())
        }
    }
    let loaded = Vocabulary::load(&saved(&sample())).unwrap();
    assert!(loaded.encoder().is_none());
    let with = loaded.with_encoder(std::sync::Arc::new(Nothing));
    assert!(with.encoder().is_some());
    assert_eq!(described(&with), described(&sample()));
}
