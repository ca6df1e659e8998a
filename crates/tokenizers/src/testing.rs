//! What the tests of all families share: a small trainer, texts, and the laws of encoders.

use formwork_vocab::{TokenId, Vocabulary};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What the small vocabularies are trained on.
pub(crate) const CORPUS: &str = "the cat and the dog said: {\"name\": \"Ada\", \"tags\": [1, 12, 123]} \
    it's they'll we've THE END 日本語 日本 русский рус é naïve 👍👍   fn main() {\n    return x;\n}\n\n\
    the  thing  in   a\t\tname: \"value\", \"name\": true, <tool> </tool> 2024 2025 ok ok okay";

/// Texts of all kinds.
pub(crate) const TEXTS: [&str; 9] = [
    "",
    "It's a dog's life, isn't it? They'll say WE'VE seen 12345678 of them.",
    "fn main() {\n\tprintln!(\"{}\", x[0]); // done\r\n}\n\n\n  end  ",
    "Füße, naïve café, Ελληνικά, русский, العربية, हिन्दी, 日本語のテキスト, 한국어",
    "👩‍👩‍👧‍👦 and 🏳️‍🌈 and 👍🏽",
    "\u{0}\u{1}\u{7f}\u{85}\u{a0}\u{feff}\u{2028}",
    "{\"name\":\"Ada\",\"tags\":[\"x\",\"y\"],\"n\":-1.5e10}",
    "<|end|> in text is text, <s> and </s> too, <tool>{}</tool>  <too",
    "   the   cat    and\t\tthe \n\n dog   ",
];

/// A merge: two symbols that become one.
pub(crate) type Merge = (Vec<u8>, Vec<u8>);

/// The first `count` merges of byte-pair encoding, over words of [`CORPUS`] that begin at spaces,
/// from bytes or from characters.
pub(crate) fn train(count: usize, bytes: bool, space: &str) -> Vec<Merge> {
    let corpus = CORPUS.replace(' ', space);
    let mut words: Vec<Vec<Vec<u8>>> = Vec::new();
    let mut word = Vec::new();
    for character in corpus.chars() {
        if space.starts_with(character) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        let text = character.to_string().into_bytes();
        match bytes {
            true => word.extend(text.into_iter().map(|byte| vec![byte])),
            false => word.push(text),
        }
    }
    words.push(word);
    let mut merges: Vec<Merge> = Vec::new();
    while merges.len() < count {
        let mut counts: BTreeMap<Merge, usize> = BTreeMap::new();
        for pair in words.iter().flat_map(|word| word.windows(2)) {
            *counts.entry((pair[0].clone(), pair[1].clone())).or_default() += 1;
        }
        // The most frequent, the smallest of equals; none that makes what there is already.
        let made = |merge: &Merge| [&merge.0[..], &merge.1].concat();
        let known: Vec<Vec<u8>> = merges.iter().map(made).collect();
        let new = counts.into_iter().filter(|(merge, _)| !known.contains(&made(merge)));
        let Some((best, _)) = new.max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0))) else { break };
        for word in &mut words {
            let mut at = 0;
            while at + 1 < word.len() {
                if (&word[at], &word[at + 1]) == (&best.0, &best.1) {
                    let right = word.remove(at + 1);
                    word[at].extend(right);
                }
                at += 1;
            }
        }
        merges.push(best);
    }
    merges
}

/// The lines of a rank file: all bytes, then what the merges make.
pub(crate) fn ranks(count: usize) -> Vec<Vec<u8>> {
    let bytes = (0..=255_u8).map(|byte| vec![byte]);
    bytes.chain(train(count, true, " ").into_iter().map(|(l, r)| [l, r].concat())).collect()
}

/// The bytes of tokens, one after the other.
pub(crate) fn joined(vocabulary: &Vocabulary, tokens: &[TokenId]) -> Vec<u8> {
    tokens.iter().flat_map(|&id| vocabulary.bytes(id).unwrap_or_default()).copied().collect()
}

/// The bytes of the tokens of a text are the text.
pub(crate) fn check_spelling(vocabulary: &Vocabulary, text: &str) -> Result<(), TestCaseError> {
    let tokens = vocabulary.encoder().unwrap().encode(text.as_bytes()).unwrap();
    prop_assert!(tokens.iter().all(|&id| !vocabulary.is_special(id)), "{text:?}: {tokens:?}");
    let spelt = joined(vocabulary, &tokens);
    prop_assert_eq!(String::from_utf8_lossy(&spelt), text);
    Ok(())
}

/// What is said to be decided after `text` begins the encoding of everything that begins so, and
/// spells the beginning of the text. Says how many bytes were decided.
pub(crate) fn check_decided(
    vocabulary: &Vocabulary,
    text: &str,
    more: &str,
) -> Result<usize, TestCaseError> {
    let encoder = vocabulary.encoder().unwrap();
    let decided = encoder.encode_prefix(text.as_bytes()).unwrap();
    let spelt = joined(vocabulary, &decided);
    prop_assert!(text.as_bytes().starts_with(&spelt), "{text:?}: {spelt:?}");
    let mut longer = text.to_owned();
    for character in std::iter::once(None).chain(more.chars().map(Some)) {
        longer.extend(character);
        let tokens = encoder.encode(longer.as_bytes()).unwrap();
        prop_assert!(
            tokens.starts_with(&decided),
            "{text:?} then {longer:?}: {:?}",
            String::from_utf8_lossy(&spelt)
        );
    }
    // Bytes of a character that is not whole yet are as if they were not there.
    let cut = [text.as_bytes(), &"é".as_bytes()[..1]].concat();
    prop_assert_eq!(encoder.encode_prefix(&cut).unwrap(), decided);
    Ok(spelt.len())
}

/// Texts of every kind of character that patterns and normalisers tell apart, of what the small
/// vocabularies were trained on, and of names of tokens.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "B", "ab", "Re", "'", "'s", "'LL", "l", "e", "1", "12", " ", "  ", "\n", "\r\n", "\t",
        "/", ".", "\"", "{", "é", "字", "\u{301}", "\u{a0}", "\u{2028}", "ǅ", "👍", "\\", "٣", "ſ",
        "\u{2bc}", "ʰ", "½", "\u{85}", "\u{0}", "the", " the", "cat", "name", "日本", "語", "рус",
        "ok", "<tool>", "<to", "ol>", "</tool>", "<", "▁", "▁the", "<|end|>", "<s>", "</s>", ": ",
        "한", "\u{1100}", "\u{1161}", "\u{200d}", "<0x0A>", "0x0A>", "!",
    ]);
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}
