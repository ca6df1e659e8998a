//! The slices of a vocabulary.
//!
//! # Which classes
//! Those that patterns and formats are made of, each with and without what is past ASCII where both
//! occur: text as JSON writes it and as it is read, text without space, words and names, letters,
//! hexadecimal digits, what may stand in a URI. They are chosen for what the languages mean, and a
//! state need not match one exactly: a slice serves every state that takes at least its class.
//! Classes of which a vocabulary has few tokens (digits, white space) are left out, since walking
//! costs as little.

use crate::{CharacterClass, Slice, slice::Signature};
use formwork_automata::ByteSet;
use formwork_vocab::{NodeId, TokenId, Vocabulary};
use std::{sync::Arc, thread};

/// A slice of less than one token in so many saves less than it costs.
const MIN_SHARE: usize = 100;

/// The slices of one vocabulary, largest first.
#[derive(Debug)]
pub struct Slices {
    slices: Vec<Slice>,
}

impl Slices {
    /// The slices of a vocabulary: built by the first caller, shared by all.
    #[must_use]
    pub fn of(vocabulary: &Vocabulary) -> Arc<Self> {
        vocabulary.derived(Self::new)
    }

    /// Builds all slices, a thread for some of them each. These are threads of their own: workers of
    /// a pool would take up other tasks while they wait, which may ask for the same slices.
    fn new(vocabulary: &Vocabulary) -> Self {
        let signatures = signatures(vocabulary);
        let classes = classes();
        let threads = thread::available_parallelism().map_or(1, |count| count.get().min(4));
        let mut slices: Vec<Slice> = thread::scope(|scope| {
            let signatures = &signatures;
            let classes = &classes;
            let workers: Vec<_> = (0..threads)
                .map(|first| {
                    scope.spawn(move || {
                        let own = classes.iter().skip(first).step_by(threads);
                        own.map(|&class| Slice::new(vocabulary, signatures, class))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            let done = workers.into_iter().map(|worker| worker.join().expect("building a slice"));
            done.flatten().collect()
        });
        let min = vocabulary.trie().tokens_below(NodeId::ROOT).len() / MIN_SHARE;
        slices.retain(|slice| slice.len() > min);
        slices.sort_by_key(|slice| (std::cmp::Reverse(slice.len()), slice.class()));
        Self { slices }
    }

    /// All slices, largest first.
    #[must_use]
    pub fn all(&self) -> &[Slice] {
        &self.slices
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.slices.iter().map(Slice::memory_bytes).sum()
    }
}

/// Whether every character of the class can begin with one of the bytes.
pub(crate) fn begins(class: CharacterClass, bytes: &ByteSet) -> bool {
    let lacking = class.first_bytes().difference(bytes);
    // Bytes that begin no character count as first bytes of a class beyond ASCII.
    lacking.iter().all(|byte| matches!(byte, 0x80..=0xc1 | 0xf5..=0xff))
}

fn signatures(vocabulary: &Vocabulary) -> Vec<Option<Signature>> {
    let mut signatures = vec![None; vocabulary.tokenizer_len()];
    for &token in vocabulary.trie().tokens_below(NodeId::ROOT) {
        signatures[token.index()] = signature(vocabulary, token);
    }
    signatures
}

fn signature(vocabulary: &Vocabulary, token: TokenId) -> Option<Signature> {
    let (class, characters) = CharacterClass::of_text(vocabulary.bytes(token)?)?;
    Some(Signature { class, characters: u16::try_from(characters).ok()? })
}

/// The classes that get a slice.
fn classes() -> Vec<CharacterClass> {
    let any = |_: u8| true;
    let line = |byte: u8| byte != b'\n' && byte != b'\r';
    let json = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    let json_printable = |byte: u8| json(byte) && byte != 0x7f;
    let visible = |byte: u8| json(byte) && byte.is_ascii_graphic();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let name = |byte: u8| word(byte) || byte == b'-';
    let host = |byte: u8| name(byte) && byte != b'_' || byte == b'.';
    let unreserved = |byte: u8| name(byte) || byte == b'.' || byte == b'~';
    let uri = |byte: u8| unreserved(byte) || b"!$&'()*+,;=:@/?".contains(&byte);
    let mut classes = Vec::new();
    for ascii in [
        CharacterClass::ascii(any),
        CharacterClass::ascii(line),
        CharacterClass::ascii(json),
        CharacterClass::ascii(json_printable),
        CharacterClass::ascii(|byte| json(byte) && byte != b'/'),
        CharacterClass::ascii(visible),
        CharacterClass::ascii(|byte| word(byte) || byte == b' '),
    ] {
        classes.extend([ascii, ascii.with_all_beyond_ascii()]);
    }
    classes.extend([
        CharacterClass::ascii(|byte| visible(byte) && byte != b'/'),
        CharacterClass::ascii(uri),
        CharacterClass::ascii(unreserved),
        CharacterClass::ascii(host),
        CharacterClass::ascii(name),
        CharacterClass::ascii(word),
        CharacterClass::ascii(|byte| byte.is_ascii_alphanumeric()),
        CharacterClass::ascii(|byte| byte.is_ascii_alphabetic()),
        CharacterClass::ascii(|byte| byte.is_ascii_lowercase() || byte == b' '),
        CharacterClass::ascii(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        CharacterClass::ascii(|byte| byte.is_ascii_lowercase()),
        CharacterClass::ascii(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
        CharacterClass::ascii(|byte| byte.is_ascii_uppercase()),
        CharacterClass::ascii(|byte| byte.is_ascii_hexdigit()),
        CharacterClass::ascii(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f')),
    ]);
    classes
}
