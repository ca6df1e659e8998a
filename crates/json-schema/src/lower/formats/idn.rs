//! Host names beyond ASCII: RFC 5890 to 5893.
//!
//! # Idea
//! Whether a label is one is not regular (its encoded form has at most 63 characters, its normal
//! form is itself), so what is surely valid is built from scripts whose letters are all allowed and
//! stay as they are when normalised. A character takes at most six in encoded form, so nine of them
//! fit beside the prefix. Rules of context (RFC 5892, appendix A) are part of the patterns.
//!
//! A name with a label from right to left has only such labels, and labels of ASCII that begin with
//! a letter (RFC 5893).

use super::{
    Texts, combined, concatenated,
    internet::{self, HOSTNAME},
    matching,
};
use formwork_automata::{BooleanOp, Dfa};
use std::sync::Arc;

/// What separates labels.
const DOT: &str = "[.\u{3002}\u{FF0E}\u{FF61}]";

/// Labels of at most 58 characters, so that four of them are a name; no `xn--` and the like.
const ASCII: &str = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,56}[A-Za-z0-9])?";
/// The same, to stand beside labels from right to left.
const ASCII_LETTER_FIRST: &str = "[a-z](?:[a-z0-9\\-]{0,56}[a-z0-9])?";

/// Lower-case letters of Latin script. A middle dot stands between two `l`.
const LATIN: &str = "T(?:-?T)*";
const LATIN_PART: &str = "(?:l(?:\u{B7}l)*|[a-km-z0-9\u{DF}-\u{F6}\u{F8}-\u{FF}\u{101}\u{103}\u{105}\u{107}\u{109}\
     \u{10B}\u{10D}\u{10F}\u{111}\u{113}\u{115}\u{117}\u{119}\u{11B}\u{11D}\u{11F}\u{121}\u{123}\
     \u{125}\u{127}\u{129}\u{12B}\u{12D}\u{12F}\u{131}\u{135}\u{137}\u{13A}\u{13C}\u{13E}\u{142}\
     \u{144}\u{146}\u{148}\u{14B}\u{14D}\u{14F}\u{151}\u{153}\u{155}\u{157}\u{159}\u{15B}\u{15D}\
     \u{15F}\u{161}\u{163}\u{165}\u{167}\u{169}\u{16B}\u{16D}\u{16F}\u{171}\u{173}\u{175}\u{177}\
     \u{17A}\u{17C}\u{17E}])";
/// Greek; the numeral sign stands before a Greek letter.
const GREEK: &str = "G(?:-?(?:[a-z0-9]|\u{375}?G))*";
const GREEK_LETTER: &str = "[\u{3AC}-\u{3CE}]";
const CYRILLIC: &str = "[\u{430}-\u{45F}a-z0-9](?:-?[\u{430}-\u{45F}a-z0-9])*";
/// Consonants, vowels and their signs; a joiner stands between a virama and a consonant.
const DEVANAGARI: &str = "[\u{904}-\u{939}](?:[\u{904}-\u{939}\u{93E}-\u{94C}\u{901}-\u{903}]|\
                          \u{94D}(?:[\u{200C}\u{200D}][\u{915}-\u{939}])?)*";
const THAI: &str = "[\u{E01}-\u{E30}](?:[\u{E01}-\u{E30}\u{E32}\u{E34}-\u{E3A}\u{E40}-\u{E4E}])*";
const HANGUL: &str = "[\u{AC00}-\u{D7A3}](?:-?[\u{AC00}-\u{D7A3}a-z0-9])*";
/// Kana and Han; beside one of them a middle dot may stand anywhere.
const JAPANESE: &str = "[a-z0-9K\u{30FB}]*[K][a-z0-9K\u{30FB}]*";
const JAPANESE_LETTERS: &str = "\u{3041}-\u{3096}\u{30A1}-\u{30FA}\u{30FC}\u{3005}\u{3007}\
                                \u{4E00}-\u{9FFF}";
/// Hebrew; its two punctuation marks stand behind a letter.
const HEBREW: &str = "(?:[\u{5D0}-\u{5EA}][\u{5F3}\u{5F4}]?)+";
/// Arabic with one kind of digits; a non-joiner stands between letters that join on both sides.
const ARABIC: &str = "(?:A(?:A|[\u{660}-\u{669}])*|A(?:A|[\u{6F0}-\u{6F9}])*)";
const ARABIC_PART: &str = "(?:[\u{621}-\u{63A}\u{641}-\u{64A}]|D\u{200C}D)";
const ARABIC_JOINING: &str =
    "[\u{626}\u{628}\u{62A}-\u{62E}\u{633}-\u{63A}\u{641}-\u{647}\u{649}\u{64A}]";

/// The labels of either direction.
fn labels() -> (String, String) {
    let latin = LATIN.replace('T', LATIN_PART);
    let greek = GREEK.replace('G', GREEK_LETTER);
    let japanese = JAPANESE.replace('K', JAPANESE_LETTERS);
    let arabic = ARABIC.replace('A', ARABIC_PART).replace('D', ARABIC_JOINING);
    let left = [&*latin, &*greek, CYRILLIC, DEVANAGARI, THAI, HANGUL, &*japanese].join("|");
    (format!("(?:{left})"), format!("(?:{HEBREW}|{arabic})"))
}

/// The labels that are surely valid beyond ASCII: at most nine characters, none of ASCII alone.
fn beyond_ascii(labels: &str) -> Dfa {
    let short = matching("[^]{1,9}");
    let long = combined(&matching(labels), BooleanOp::Intersection, &short);
    combined(&long, BooleanOp::Difference, &matching("[\\x00-\\x7F]*"))
}

/// One to four labels with dots between them.
fn names(label: &Dfa) -> Dfa {
    let further = concatenated(&matching(DOT), label);
    let mut names = label.clone();
    for _ in 1..4 {
        let longer = concatenated(&names, &further);
        names = combined(label, BooleanOp::Union, &longer);
    }
    names
}

fn domains() -> Dfa {
    let (left, right) = labels();
    let encoded = matching("[^]{2}--[^]*");
    let either = |beyond: &Dfa, ascii: &str| {
        let ascii = combined(&matching(ascii), BooleanOp::Difference, &encoded);
        names(&combined(beyond, BooleanOp::Union, &ascii))
    };
    let left = either(&beyond_ascii(&left), ASCII);
    combined(&left, BooleanOp::Union, &either(&beyond_ascii(&right), ASCII_LETTER_FIRST))
}

/// Names of ASCII alone may be longer.
fn ascii_names() -> Dfa {
    let all = matching(&format!("{0}(?:{DOT}{0})*", internet::LABEL));
    let encoded = matching(&format!("(?:[^]*{DOT})?[A-Za-z0-9]{{2}}--[^]*"));
    combined(&all, BooleanOp::Difference, &encoded)
}

pub(super) fn hostname() -> Texts {
    let dfa = combined(&domains(), BooleanOp::Union, &ascii_names());
    Texts { dfa: Arc::new(dfa), length: HOSTNAME }
}

/// Mailboxes whose part before the sign is in any script.
pub(super) fn email() -> Dfa {
    concatenated(&internet::before_domain("\u{80}-\u{10FFFF}"), &domains())
}
