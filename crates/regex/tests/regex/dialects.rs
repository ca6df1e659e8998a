//! Constructs of one dialect or another, by hand.

use crate::{language_of, options};
use formwork_regex::{
    Case, Classes,
    Dialect::{self, Ecma262, Shared},
    Dot, Folding,
    MatchMode::{self, Search, Whole},
    Options,
};

const BOTH: &[Dialect] = &[Shared, Ecma262];

/// Dialects, pattern, outputs it matches, outputs it does not match.
type Row = (&'static [Dialect], &'static str, &'static [&'static str], &'static [&'static str]);

fn check(mode: MatchMode, rows: &[Row]) {
    for &(dialects, pattern, inside, outside) in rows {
        for &dialect in dialects {
            let dfa = language_of(pattern, &options(mode, dialect)).expect(pattern);
            let at = |text| format!("{pattern:?} on {text:?} in {dialect:?}");
            for text in inside {
                assert!(dfa.accepts(text.as_bytes()), "{} should match", at(text));
            }
            for text in outside {
                assert!(!dfa.accepts(text.as_bytes()), "{} should not match", at(text));
            }
        }
    }
}

#[test]
fn escapes() {
    check(
        Whole,
        &[
            (BOTH, r"\/\-\_\.\^\$\{\}\[\]\(\)\|\*\+\?\\", &[r"/-_.^${}[]()|*+?\"], &[""]),
            (BOTH, r"\n\r\t\v\f", &["\n\r\t\x0b\x0c"], &[]),
            (BOTH, r"\0\cA\cz\x41\u0042", &["\0\x01\x1aAB"], &[]),
            (BOTH, r"\u{1F600}\u{0000000041}", &["😀A"], &[]),
            (BOTH, r"\uD83D\uDE00", &["😀"], &[]),
            (BOTH, r"\uD83D\uDE00+", &["😀", "😀😀"], &[""]),
            (BOTH, r"[\uD83D\uDE00-\uD83D\uDE02]", &["😀", "😁", "😂"], &["😃"]),
            (BOTH, r"[\b\0\-\]\\^]", &["\x08", "\0", "-", "]", "\\", "^"], &["b", "0"]),
            (BOTH, "a\0b", &["a\0b"], &["ab"]),
            (BOTH, r"\<\>\é\😀\ ", &["<>é😀 "], &[]),
            (&[Shared], r"\a\x{1F600}\U0001F600\U{41}", &["\x07😀😀A"], &[]),
            (&[Shared], r"\Aa\z|b\Z", &["a", "b"], &["", "ab"]),
        ],
    );
}

#[test]
fn classes() {
    check(
        Whole,
        &[
            (BOTH, "[^]", &["a", "\n", "😀"], &["", "ab"]),
            (BOTH, "a|[]", &["a"], &[""]),
            (BOTH, "(?:[])*", &[""], &["a"]),
            (BOTH, "[[({]+", &["[({"], &["]"]),
            (BOTH, "[^[\\]]", &["a"], &["[", "]"]),
            (BOTH, "[a-]", &["a", "-"], &["b"]),
            (BOTH, "[-a]", &["a", "-"], &["b"]),
            (BOTH, "[a^]", &["a", "^"], &["b"]),
            (BOTH, r"[\w-]", &["a", "-"], &["."]),
            (BOTH, r"[&~|]+", &["&~|"], &[]),
            (&[Ecma262], r"[\w-.]", &["a", "-", "."], &["/"]),
            (&[Ecma262], r"[.-\d]", &["1", "-", "."], &["/"]),
            (&[Ecma262], "[a&&b]", &["a", "b", "&"], &[]),
            (&[Ecma262], "[+--]", &["+", ",", "-"], &["."]),
            (&[Ecma262], "[a[b]c]", &["ac]", "[c]", "bc]"], &["a"]),
            (&[Ecma262], "[][a]", &[], &["", "[", "]", "a"]),
            (&[Ecma262], "[^][a]", &["xa", "\na"], &["a"]),
            (BOTH, r"[\x00-\u{10FFFF}]", &["\0", "\u{10ffff}"], &[""]),
            (BOTH, r"[^\x00-\u{10FFFF}]", &[], &["", "a"]),
        ],
    );
}

#[test]
fn named_sets() {
    check(
        Whole,
        &[
            (BOTH, r"\d\w\s", &["1_ ", "1a\u{a0}", "1a\u{3000}"], &["a1 "]),
            (&[Shared], r"\d", &["1", "١"], &["a"]),
            (&[Ecma262], r"\d", &["1"], &["١"]),
            (&[Ecma262], r"\D", &["١", "a", "😀"], &["1"]),
            (&[Shared], r"\w", &["é", "_"], &["-"]),
            (&[Ecma262], r"\w", &["e", "_"], &["é"]),
            (&[Ecma262], r"\W", &["é", "-"], &["e", "_"]),
            (&[Shared], r"\s", &["\u{85}"], &["\u{feff}"]),
            (&[Ecma262], r"\s", &["\u{feff}", "\u{2029}", "\u{1680}"], &["\u{85}", "\u{200b}"]),
            (&[Ecma262], r"\S", &["\u{85}", "a"], &["\u{feff}", " "]),
            (&[Shared], ".", &["a", "\r", "\u{2028}"], &["\n", ""]),
            (&[Ecma262], ".", &["a", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}"]),
            (BOTH, "(?s).", &["\n", "\r", "\u{2028}"], &[]),
            (BOTH, "(?s:.).", &["\na"], &["a\n"]),
            (BOTH, r"\p{L}\p{Lu}\p{Script=Greek}", &["éÀω"], &["éàω"]),
            (BOTH, r"\p{Letter}\P{gc=Lu}\p{scx=Grek}", &["éàω"], &["éÀω"]),
            (BOTH, r"[\p{Nd}\P{L}x]", &["٣", "-", "x"], &["y"]),
            (&[Shared], r"\pL\PN", &["éa"], &["é1"]),
            (BOTH, r"\p{Any}", &["\0", "\u{10ffff}"], &[""]),
        ],
    );
}

#[test]
fn flags_and_groups() {
    check(
        Whole,
        &[
            (BOTH, "(?i)straße", &["STRAẞE", "straße"], &["STRASSE"]),
            (BOTH, "(?i:k)k", &["Kk", "\u{212a}k"], &["KK"]),
            (BOTH, "(a(?i)b)c", &["aBc"], &["ABc", "aBC"]),
            (BOTH, "(?i)a(?-i)b(?i-s:c)", &["AbC"], &["ABC"]),
            (BOTH, "(?i)[^k]", &["a"], &["K", "\u{212a}"]),
            (&[Ecma262], r"(?i)\w", &["\u{17f}", "\u{212a}"], &["é"]),
            (&[Ecma262], r"(?i)\W", &["é"], &["\u{17f}", "k"]),
            (BOTH, "(?<a>a)(?P<b$>b)(?:c)(d)", &["abcd"], &[]),
            (BOTH, "(?<a>a)|(?<a>b)", &["a", "b"], &[]),
            (BOTH, "(?u)é", &["é"], &[]),
            (BOTH, "()|(|a)", &["", "a"], &["aa"]),
        ],
    );
}

#[test]
fn quantifiers() {
    check(
        Whole,
        &[
            (BOTH, "ab*c+?d??e{2}f{1,}?g{0,2}", &["aceef", "abbccdeefffgg"], &["acef", "aceefggg"]),
            (BOTH, "é{2}", &["éé"], &["é", "ééé"]),
            (BOTH, "a{0}b", &["b"], &["ab"]),
            (BOTH, "a{002}", &["aa"], &["a"]),
            (BOTH, "a{b}", &["a{b}"], &["ab"]),
            (BOTH, "{a", &["{a"], &[]),
            (BOTH, "{}", &["{}"], &[]),
            (BOTH, "x{,", &["x{,"], &[]),
            (BOTH, "a]}", &["a]}"], &[]),
        ],
    );
}

#[test]
fn anchors_in_the_whole_output() {
    check(
        Whole,
        &[
            (BOTH, "^a$", &["a"], &["", "aa"]),
            (BOTH, "a$\n?", &["a"], &["a\n"]),
            (BOTH, "a^b|c", &["c"], &["ab", "a", "b"]),
            (BOTH, "a$b|c", &["c"], &["ab", "a"]),
            (BOTH, "a*^b", &["b"], &["ab"]),
            (BOTH, "a$b*", &["a"], &["ab"]),
            (BOTH, "$^", &[""], &["a"]),
            (BOTH, "(^a|b)+", &["a", "b", "abb"], &["ba", "aa"]),
            (BOTH, "(?:^){3}a(?:$)*", &["a"], &[""]),
            (BOTH, "(^|a){2,3}", &["", "a", "aa", "aaa"], &["aaaa"]),
            (BOTH, "(a|$){3}", &["", "a", "aa", "aaa"], &["aaaa"]),
            (BOTH, "(a|^b|c$){2}", &["aa", "ba", "ac", "bc"], &["ab", "ca", "a", "aac"]),
            (BOTH, "(a|^$){2}", &["", "aa"], &["a"]),
        ],
    );
}

#[test]
fn anchors_in_a_search() {
    check(
        Search,
        &[
            (BOTH, "a", &["a", "xax", "😀a\n"], &["", "x"]),
            (BOTH, "", &["", "x"], &[]),
            (BOTH, "^a|b$", &["ax", "xb", "ab"], &["ba", "xa"]),
            (BOTH, "^a$", &["a"], &["aa", "a\n"]),
            (BOTH, "^", &["", "a"], &[]),
            (BOTH, "a^", &[], &["a", ""]),
            (BOTH, "(^|,)x(,|$)", &["x", "a,x", "x,", "a,x,b"], &["ax", "xa"]),
            (BOTH, "^(?:a|b$)", &["ax", "b"], &["bx", "xb"]),
            (BOTH, "(?:^){2}a", &["ab"], &["ba"]),
            (BOTH, "(a|^$){2}", &["", "xaax"], &["a", "axa"]),
        ],
    );
}

#[test]
fn only_text_is_matched() {
    for mode in [Whole, Search] {
        for pattern in ["(?s).*", "[^a]*", r"\W*", "[^]*"] {
            let dfa = language_of(pattern, &options(mode, Ecma262)).expect(pattern);
            assert!(dfa.accepts("é😀".as_bytes()));
            for bytes in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"]
            {
                assert!(!dfa.accepts(bytes), "{pattern} on {bytes:?}");
            }
        }
    }
}

#[test]
fn options_are_where_flags_begin() {
    let matches = |pattern: &str, change: &dyn Fn(&mut Options), text: &str| {
        let mut options = Options::default();
        change(&mut options);
        language_of(pattern, &options).expect(pattern).accepts(text.as_bytes())
    };
    let insensitive = |options: &mut Options| options.case = Case::Insensitive;
    assert!(matches("a", &insensitive, "A"));
    assert!(!matches("(?-i)a", &insensitive, "A"));
    let ascii = |options: &mut Options| {
        options.case = Case::Insensitive;
        options.folding = Folding::Ascii;
    };
    for (pattern, inside, outside) in [
        ("kΣ", &["kΣ", "KΣ"][..], &["\u{212a}Σ", "kσ"][..]),
        ("[^kσ]", &["Σ", "ς", "\u{212a}"], &["k", "K", "σ"]),
        ("[x-zß-à]", &["X", "Z", "à", "y"], &["À", "W"]),
        ("(?-i)a", &["a"], &["A"]),
    ] {
        assert!(inside.iter().all(|text| matches(pattern, &ascii, text)), "{pattern}");
        assert!(!outside.iter().any(|text| matches(pattern, &ascii, text)), "{pattern}");
    }
    let dot_all = |options: &mut Options| options.dot = Dot::Any;
    assert!(matches(".", &dot_all, "\n"));
    assert!(!matches("(?-s).", &dot_all, "\n"));
    let ascii = |options: &mut Options| options.classes = Classes::Ascii;
    assert!(!matches(r"\d", &ascii, "١"));
    assert!(!matches(r"\s", &ascii, "\u{a0}") && matches(r"\s", &ascii, "\x0c"));
    let unicode = |options: &mut Options| {
        options.dialect = Ecma262;
        options.classes = Classes::Unicode;
    };
    assert!(matches(r"\d", &unicode, "١"));
}

#[test]
fn equal_languages_are_equal_automata() {
    for (left, right) in [("a|b|c", "[a-c]"), ("(a*)*", "a*"), ("a{2}|a{3}", "aa(?:a|)")] {
        let of = |pattern| language_of(pattern, &Options::default()).expect(pattern);
        assert_eq!(of(left), of(right));
    }
}
