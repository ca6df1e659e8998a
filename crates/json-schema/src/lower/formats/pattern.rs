//! The format `regex`: patterns of ECMA-262.
//!
//! Brackets nest, so the language is not regular, and flags change what is well-formed. Surely valid
//! is what is so under the flag `u` and without it, with groups at most three deep: literals,
//! classes with ranges of letters and digits, escapes, quantifiers whose counts are in order,
//! look-around outside groups, and one named group. References to groups are left out: whether
//! their group is there is not for an automaton to say.

use super::matching;
use formwork_automata::Dfa;
use std::fmt::Write;

const DEPTH: usize = 3;
const SYNTAX: &str = "\\^$\\\\.*+?()\\[\\]{}|/";

pub(super) fn regex() -> Dfa {
    let mut inner = alternatives(&atom(None), None);
    for _ in 1..DEPTH {
        inner = alternatives(&atom(Some(&inner)), None);
    }
    let shallow = alternatives(&atom(Some(&alternatives(&atom(None), None))), None);
    let top = alternatives(&atom(Some(&inner)), Some(&shallow));
    let name = "[A-Za-z_$][A-Za-z0-9_$]*";
    let quantifier = quantifier();
    matching(&format!("{top}(?:\\(\\?<{name}>{shallow}\\){quantifier}?{top})?"))
}

/// Any terms, one after the other or to choose from; among them look-around of this inside.
fn alternatives(atom: &str, look_around: Option<&str>) -> String {
    let look_around = match look_around {
        None => String::new(),
        Some(inner) => format!("|\\(\\?<?[=!]{inner}\\)"),
    };
    format!("(?:[\\^$|]|\\\\[bB]{look_around}|{atom}{}?)*", quantifier())
}

/// What can be quantified; among it groups of this inside.
fn atom(inner: Option<&str>) -> String {
    let escape = escape();
    let class = class();
    let group = match inner {
        None => String::new(),
        Some(inner) => format!("|\\((?:\\?:)?{inner}\\)"),
    };
    format!("(?:[^{SYNTAX}]|\\.|{escape}|{class}{group})")
}

fn escape() -> String {
    let property = "[pP]\\{(?:L|Lu|Ll|N|Nd|P|S|Z)\\}";
    let code = "x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|c[A-Za-z]";
    format!("\\\\(?:[dDwWsSfnrtv{SYNTAX}]|{code}|{property})")
}

/// A hyphen between two characters makes a range, and only that of a letter or digit to one behind
/// it is among these.
fn class() -> String {
    let mut ranges = String::new();
    for (first, last) in [('0', '9'), ('a', 'z'), ('A', 'Z')] {
        for low in first..=last {
            // Writing to a string does not fail.
            let _ = write!(ranges, "{low}-[{low}-{last}]|");
        }
    }
    let item = format!("(?:{ranges}[^\\\\\\]\\-\\^]|{}|\\\\-)", escape());
    format!("\\[\\^?-?(?:{item}\\^?)*-?\\]")
}

fn quantifier() -> String {
    let mut ordered = String::new();
    for digit in 0..=9 {
        let _ = write!(ordered, "|{digit},(?:[{digit}-9]|[1-9][0-9]{{1,3}})");
    }
    for tens in 1..9 {
        let _ = write!(ordered, "|{tens}[0-9],(?:[{}-9][0-9]|[1-9][0-9]{{2,3}})", tens + 1);
    }
    format!("(?:(?:[*+?]|\\{{(?:(?:0|[1-9][0-9]{{0,3}}),?{ordered})\\}})\\??)")
}
