//! Identifiers of resources, and pointers into them: RFC 3986, 3987, 6570, 6901.

use super::{internet, matching};
use formwork_automata::Dfa;

/// Which characters stand for themselves in an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Those of a URI.
    Ascii,
    /// Those of an IRI.
    Unicode,
}

/// `ucschar` of RFC 3987, as the inside of a class.
const BEYOND_ASCII: &str = concat!(
    "\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}",
    "\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}",
    "\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}",
    "\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}",
    "\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}",
);
/// `iprivate` of RFC 3987.
const PRIVATE: &str = "\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}";

const UNRESERVED: &str = "A-Za-z0-9\\-._~";
const SUB_DELIMITERS: &str = "!$&'()*+,;=";
const ENCODED: &str = "%[0-9A-Fa-f]{2}";
const SCHEME: &str = "[A-Za-z][A-Za-z0-9+.\\-]*";

/// The parts of the grammar of an identifier that depend on the alphabet.
struct Parts {
    /// `//` and what follows up to the path, then a path that begins with `/` or is empty.
    authority: String,
    /// A character of a segment.
    segment: String,
    /// Query and fragment, each optional.
    tail: String,
}

impl Parts {
    fn new(alphabet: Alphabet) -> Self {
        let (beyond, private) = match alphabet {
            Alphabet::Ascii => ("", ""),
            Alphabet::Unicode => (BEYOND_ASCII, PRIVATE),
        };
        let character =
            |more: &str| format!("(?:[{UNRESERVED}{SUB_DELIMITERS}{beyond}{more}]|{ENCODED})");
        let (name, user, segment) = (character(""), character(":"), character(":@"));
        let future = format!("[Vv][0-9A-Fa-f]+\\.[{UNRESERVED}{SUB_DELIMITERS}:]+");
        let literal = format!("\\[(?:{}|{future})\\]", internet::ipv6_pattern());
        let host = format!("(?:{literal}|{name}*)");
        let authority = format!("//(?:{user}*@)?{host}(?::[0-9]*)?(?:/{segment}*)*");
        let query = character(&format!(":@/?{private}"));
        let fragment = character(":@/?");
        Self { authority, tail: format!("(?:\\?{query}*)?(?:#{fragment}*)?"), segment }
    }

    fn absolute(&self) -> String {
        let Self { authority, segment, tail } = self;
        let rootless = format!("{segment}+(?:/{segment}*)*");
        format!("{SCHEME}:(?:{authority}|/(?:{rootless})?|{rootless}|){tail}")
    }

    fn relative(&self) -> String {
        let Self { authority, segment, tail } = self;
        let rest = format!("(?:/{segment}*)*");
        // A colon in the first segment would make it a scheme.
        let first = segment.replacen(":@", "@", 1);
        format!("(?:{authority}|/(?:{segment}+{rest})?|{first}+{rest}|){tail}")
    }
}

pub(super) fn uri(alphabet: Alphabet) -> Dfa {
    matching(&Parts::new(alphabet).absolute())
}

pub(super) fn reference(alphabet: Alphabet) -> Dfa {
    let parts = Parts::new(alphabet);
    matching(&format!("(?:{}|{})", parts.absolute(), parts.relative()))
}

/// Templates whose expressions have an operator of RFC 6570 or one of `more`. An apostrophe is a
/// literal, as an erratum has it.
pub(super) fn uri_template(more: &str) -> Dfa {
    let literal = format!("[!#$&-;=?-\\[\\]_a-z~{BEYOND_ASCII}{PRIVATE}]|{ENCODED}");
    let character = format!("(?:[A-Za-z0-9_]|{ENCODED})");
    let name = format!("{character}(?:\\.?{character})*");
    let variable = format!("{name}(?::[1-9][0-9]{{0,3}}|\\*)?");
    let expression = format!("\\{{[+#./;?&{more}]?{variable}(?:,{variable})*\\}}");
    matching(&format!("(?:{literal}|{expression})*"))
}

const JSON_POINTER: &str = "(?:/(?:[^~/]|~[01])*)*";

pub(super) fn json_pointer() -> Dfa {
    matching(JSON_POINTER)
}

pub(super) fn relative_json_pointer() -> Dfa {
    matching(&format!("(?:0|[1-9][0-9]*)(?:#|{JSON_POINTER})"))
}

/// With index manipulation.
pub(super) fn possible_relative_json_pointer() -> Dfa {
    matching(&format!("(?:0|[1-9][0-9]*)(?:[+\\-][0-9]+)?(?:#|{JSON_POINTER})"))
}
