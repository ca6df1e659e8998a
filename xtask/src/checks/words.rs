//! Words that no tracked text may have: marks of unfinished work, and talk about the place where
//! the work was done instead of the work.

use crate::{finding::Finding, tree::Tree};
use Reach::{Prefix, Whole};

/// A word, how far it reaches, and what it is a sign of.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// The word. Written in small letters it is meant in any case, otherwise as it stands.
    text: &'static str,
    reach: Reach,
    sign: &'static str,
}

/// Where a word must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Where a letter, digit or underscore is not.
    Whole,
    /// Anywhere.
    Prefix,
}

/// The words. They are put together from parts, so that this file does not have them.
const WORDS: &[Word] = &[
    word(concat!("TO", "DO"), Whole, "unfinished work"),
    word(concat!("FIX", "ME"), Whole, "unfinished work"),
    word(concat!("unimplemented", "!"), Prefix, "unfinished work"),
    word(concat!("/wo", "rk/"), Prefix, "a path of one machine"),
    word(concat!("../sha", "red"), Prefix, "a path of one machine"),
    word(concat!("issue", " #"), Prefix, "a page that a reader may not have: say what it says"),
    word(concat!("hel", "per"), Prefix, "a name that says nothing: say what it does"),
];

const fn word(text: &'static str, reach: Reach, sign: &'static str) -> Word {
    Word { text, reach, sign }
}

/// Written by tools, not by us.
const GENERATED: &[&str] = &["Cargo.lock"];

/// A word that may not be there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum WordFault {
    /// It is there.
    #[error("`{word}` is a sign of {sign}")]
    Forbidden {
        /// The word.
        word: &'static str,
        /// What it is a sign of.
        sign: &'static str,
    },
}

/// Looks for the words in every tracked text.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| !GENERATED.contains(&file.path.as_str())) {
        let small = file.text.to_ascii_lowercase();
        for word in WORDS {
            // Nothing but ASCII letters has changed, so that places are the same in both texts.
            let any_case = !word.text.contains(|c: char| c.is_ascii_uppercase());
            let text = if any_case { &small } else { &file.text };
            findings.extend(places(text, word).map(|at| {
                let line = text[..at].matches('\n').count() + 1;
                Finding::new(
                    &file.path,
                    line,
                    WordFault::Forbidden { word: word.text, sign: word.sign },
                )
            }));
        }
    }
    findings
}

/// Where a word stands that does not end within a longer one, nor begin within one.
fn places<'t>(text: &'t str, word: &'static Word) -> impl Iterator<Item = usize> + 't {
    let within = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word.text).map(|(at, _)| at).filter(move |&at| {
        let begins = word.text.starts_with(|c: char| c.is_alphanumeric());
        let before = text[..at].chars().next_back();
        let behind = text[at + word.text.len()..].chars().next();
        !(begins && within(before) || word.reach == Whole && within(behind))
    })
}

#[cfg(test)]
mod tests {
    //! Each word is found where it is meant, and not within others.

    use super::*;
    use crate::tree::tests::files;

    fn found(text: &str) -> Vec<(usize, &'static str)> {
        let findings = check(&files(&[("notes.md", text)]));
        findings
            .into_iter()
            .map(|finding| match finding.fault {
                crate::finding::Fault::Word(WordFault::Forbidden { word, .. }) => {
                    (finding.line, word)
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn every_word_is_found_on_its_line() {
        for word in WORDS {
            assert_eq!(found(&format!("é\nsee {}\n", word.text)), [(2, word.text)]);
        }
    }

    #[test]
    fn words_in_small_letters_are_meant_in_any_case() {
        let (helping, unfinished) = (WORDS[6].text, WORDS[0].text);
        assert_eq!(found(&format!("{}s", helping.to_uppercase())), [(1, helping)]);
        assert_eq!(found(&unfinished.to_lowercase()), []);
    }

    #[test]
    fn longer_words_are_other_words() {
        let (helping, unfinished) = (WORDS[6].text, WORDS[0].text);
        assert_eq!(found(&format!("{unfinished}S x{unfinished} _{unfinished} x{helping}")), []);
        assert_eq!(found(&format!("{unfinished}: {unfinished}.")).len(), 2);
    }

    #[test]
    fn generated_files_are_not_read() {
        let tree = files(&[("Cargo.lock", WORDS[0].text), ("a/Cargo.lock", WORDS[0].text)]);
        let paths: Vec<String> = check(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(paths, ["a/Cargo.lock"]);
    }
}
