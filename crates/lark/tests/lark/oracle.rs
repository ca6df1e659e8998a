//! Random grammars against a matcher that tries everything.

use crate::automaton;
use formwork_lark::Options;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A body. Rules refer only to rules of greater number, so nothing is recursive.
#[derive(Clone, Debug)]
enum Expr {
    Text(&'static str),
    /// `/a*/`, which may be empty.
    Run,
    Rule(usize),
    Seq(Vec<Expr>),
    Alt(Vec<Expr>),
    Repeat(Box<Expr>, u32, u32),
}

const RULES: usize = 3;
const LONGEST: usize = 5;

impl Expr {
    fn print(&self) -> String {
        let join = |parts: &[Self], with: &str| {
            format!("({})", parts.iter().map(Self::print).collect::<Vec<_>>().join(with))
        };
        match self {
            Self::Text(text) => format!("{text:?}"),
            Self::Run => "/a*/".into(),
            Self::Rule(number) => format!("r{number}"),
            Self::Seq(parts) => join(parts, " "),
            Self::Alt(parts) => join(parts, " | "),
            Self::Repeat(inner, min, max) => format!("({}){{{min},{max}}}", inner.print()),
        }
    }
}

/// Where a match has got to, and whether it has had a terminal.
type At = (usize, bool);

/// Tries everything.
struct Matcher<'a> {
    rules: &'a [Expr],
    word: &'a [u8],
    ignores: bool,
}

impl Matcher<'_> {
    /// The places behind a terminal that is not empty, blanks before it skipped unless it is first.
    fn terminal(&self, (at, is_inside): At, text: &[u8]) -> BTreeSet<At> {
        let blanks = match self.ignores && is_inside {
            true => self.word[at..].iter().take_while(|&&byte| byte == b' ').count(),
            false => 0,
        };
        let starts = (at..=at + blanks).filter(|&start| self.word[start..].starts_with(text));
        starts.map(|start| (start + text.len(), true)).collect()
    }

    fn ends(&self, expr: &Expr, from: &BTreeSet<At>) -> BTreeSet<At> {
        match expr {
            Expr::Text(text) => {
                from.iter().flat_map(|&at| self.terminal(at, text.as_bytes())).collect()
            }
            Expr::Run => {
                let words = (1..=LONGEST).map(|length| "a".repeat(length));
                let runs: Vec<String> = words.collect();
                let run = |&at: &At| {
                    runs.iter()
                        .flat_map(move |run| self.terminal(at, run.as_bytes()))
                        .collect::<Vec<_>>()
                };
                from.iter().flat_map(run).chain(from.iter().copied()).collect()
            }
            Expr::Rule(number) => self.ends(&self.rules[*number], from),
            Expr::Seq(parts) => {
                parts.iter().fold(from.clone(), |from, part| self.ends(part, &from))
            }
            Expr::Alt(parts) => parts.iter().flat_map(|part| self.ends(part, from)).collect(),
            Expr::Repeat(inner, min, max) => {
                let mut found = BTreeSet::new();
                let mut at = from.clone();
                for count in 0..=*max {
                    if count >= *min {
                        found.extend(at.iter().copied());
                    }
                    at = self.ends(inner, &at);
                }
                found
            }
        }
    }

    fn matches(&self) -> bool {
        let ends = self.ends(&self.rules[0], &BTreeSet::from([(0, false)]));
        ends.iter().any(|&(at, _)| at == self.word.len())
    }
}

fn body(least_rule: usize) -> impl Strategy<Value = Expr> {
    let text = prop::sample::select(vec!["a", "b", "ab", "ba", " a"]).prop_map(Expr::Text);
    let leaf = match least_rule < RULES {
        true => prop_oneof![3 => text, 1 => Just(Expr::Run), 3 => (least_rule..RULES).prop_map(Expr::Rule)]
            .boxed(),
        false => prop_oneof![3 => text, 1 => Just(Expr::Run)].boxed(),
    };
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Seq),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Alt),
            (inner, 0..2_u32, 1..3_u32)
                .prop_map(|(inner, min, max)| { Expr::Repeat(Box::new(inner), min.min(max), max) }),
        ]
    })
}

fn words() -> Vec<Vec<u8>> {
    let mut words = vec![Vec::new()];
    let mut begin = 0;
    for _ in 0..LONGEST {
        let end = words.len();
        for index in begin..end {
            for byte in *b"ab " {
                let mut word = words[index].clone();
                word.push(byte);
                words.push(word);
            }
        }
        begin = end;
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_grammar_generates_what_trying_everything_finds(
        rules in (body(1), body(2), body(3)),
        ignores in any::<bool>(),
    ) {
        let rules = [rules.0, rules.1, rules.2];
        let mut text = "start: r0\n".to_owned();
        for (number, rule) in rules.iter().enumerate() {
            text.push_str(&format!("r{number}: {}\n", rule.print()));
        }
        if ignores {
            text.push_str("%ignore \" \"\n");
        }
        let dfa = automaton(&text, &Options::default());
        for word in words() {
            let expected = Matcher { rules: &rules, word: &word, ignores }.matches();
            prop_assert_eq!(dfa.accepts(&word), expected, "{}\n{:?}", text, String::from_utf8_lossy(&word));
        }
    }

    /// A lazy rule generates the shortest words, and leaves those that begin with none to others.
    #[test]
    fn lazy_rules_take_what_is_theirs(head in pattern(), other in pattern()) {
        let text = format!("start: head \"!\" | other \"?\"\nhead[lazy]: {head}\nother: {other}\n");
        let dfa = automaton(&text, &Options::default());
        let whole = |pattern: &str| automaton(&format!("start: {pattern}"), &Options::default());
        let (heads, others) = (whole(&head), whole(&other));
        for word in words() {
            let begins = |least: usize| (least..word.len()).any(|end| heads.accepts(&word[..end]));
            let shortest = heads.accepts(&word) && !begins(0);
            let mut sentence = word.clone();
            sentence.push(b'!');
            prop_assert_eq!(dfa.accepts(&sentence), shortest, "{}\n{:?}", text, word);
            *sentence.last_mut().expect("just pushed") = b'?';
            // A lazy rule that can be empty is always empty, and takes nothing from others.
            let is_free = heads.accepts(b"") || !begins(1) && !heads.accepts(&word);
            prop_assert_eq!(dfa.accepts(&sentence), others.accepts(&word) && is_free, "{}\n{:?}", text, word);
        }
    }
}

/// An expression over `a`, `b` and the blank.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b", " ", "[ab]", "[a ]*", "b?", "(ab)+"]);
    prop::collection::vec(leaf, 1..4).prop_map(|parts| format!("/{}/", parts.concat()))
}
