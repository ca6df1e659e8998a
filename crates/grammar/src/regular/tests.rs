//! Tables: a construct, what it accepts, what it refuses.

use super::*;
use crate::{
    Annotation, Body, BodyBuilder, ExprId, GrammarBuilder, Member, Permute, Polarity, Rest, RuleId,
    TokenRef, Uniqueness,
};
use formwork_automata::{ByteSet, StateId};

fn compile(grammar: &Grammar) -> Result<Dfa, RegularError> {
    dfa(grammar, &BytesOnly, &Limits::default(), &CancellationToken::new())
}

fn body(build: impl FnOnce(&mut BodyBuilder) -> ExprId) -> Body {
    let mut builder = BodyBuilder::new();
    let root = build(&mut builder);
    builder.finish(root)
}

#[track_caller]
fn check(build: impl FnOnce(&mut BodyBuilder) -> ExprId, accepts: &[&str], refuses: &[&str]) {
    let dfa = compile(&Grammar::of_body(body(build))).unwrap();
    for text in accepts {
        assert!(dfa.accepts(text.as_bytes()), "{text:?} must be accepted by\n{dfa:?}");
    }
    for text in refuses {
        assert!(!dfa.accepts(text.as_bytes()), "{text:?} must be refused by\n{dfa:?}");
    }
}

#[test]
fn sequences_alternatives_and_repetition() {
    check(
        |b| {
            let (ab, c) = (b.literal(b"ab"), b.literal(b"c"));
            let either = b.alt(&[ab, c]);
            b.repeat(either, 2, Some(3))
        },
        &["abc", "cc", "cab", "ababab", "ccc"],
        &["", "c", "ab", "cccc", "abb"],
    );
    check(
        |b| {
            let a = b.literal(b"a");
            let some = b.repeat(a, 2, None);
            let z = b.literal(b"z");
            b.seq(&[some, z])
        },
        &["aaz", "aaaaaz"],
        &["az", "z", "aa"],
    );
}

#[test]
fn intersection_and_complement_nest() {
    check(
        |b| {
            let any = b.bytes(ByteSet::range(b'a'..=b'c'));
            let words = b.repeat(any, 0, None);
            let (x, y) = (b.literal(b"ab"), b.literal(b"ac"));
            let stop = b.alt(&[x, y]);
            let not = b.not(stop);
            b.and(&[words, not])
        },
        &["", "a", "abc", "b", "cab"],
        &["ab", "ac", "d"],
    );
}

#[test]
fn permutations_in_any_order_with_separator_and_rest() {
    let permute = |b: &mut BodyBuilder, uniqueness| {
        let (x, y) = (b.literal(b"x"), b.literal(b"y"));
        let keys = b.bytes(ByteSet::range(b'p'..=b'q'));
        let (tail, separator) = (b.literal(b"!"), b.literal(b","));
        let members =
            [Member { expr: x, required: true }, Member { expr: y, required: false }].into();
        let rest = Some(Rest { key: keys, tail, uniqueness });
        b.permute(Permute { members, rest, separator, min: 2, max: Some(3) })
    };
    check(
        |b| permute(b, Uniqueness::Distinct),
        &["x,y", "y,x", "x,p!", "q!,x,p!", "y,x,p!"],
        &["x", "y,p!", "p!,x,p!", "x,y,p!,q!", "x,x", "x,y,y", "x,", ""],
    );
    check(
        |b| permute(b, Uniqueness::Any),
        &["x,y", "p!,x,p!", "q!,x"],
        &["x", "x,x", "p!,p!", "x,p!,p!,p!"],
    );
}

#[test]
fn look_ahead_sees_past_the_end_of_its_rule() {
    let grammar = |polarity| {
        let mut rules = GrammarBuilder::new();
        let (root, word) = (rules.declare("root"), rules.declare("word"));
        let word_body = body(|b| {
            let a = b.literal(b"a");
            let ahead = b.literal(b"bc");
            let ahead = b.look_ahead(ahead, polarity);
            b.seq(&[a, ahead])
        });
        let root_body = body(|b| {
            let word = b.rule(word);
            let rest = b.bytes(ByteSet::range(b'a'..=b'd'));
            let rest = b.repeat(rest, 0, Some(2));
            b.seq(&[word, rest])
        });
        rules.define(root, root_body).unwrap();
        rules.define(word, word_body).unwrap();
        compile(&rules.finish(root).unwrap()).unwrap()
    };
    let required = grammar(Polarity::Required);
    let forbidden = grammar(Polarity::Forbidden);
    for (text, follows) in [("abc", true), ("a", false), ("ab", false), ("abd", false)] {
        assert_eq!(required.accepts(text.as_bytes()), follows, "{text}");
        assert_eq!(forbidden.accepts(text.as_bytes()), !follows, "{text}");
    }
    assert!(!required.accepts(b"abcd") && !forbidden.accepts(b"abcd"));
}

#[test]
fn linear_recursion_is_an_automaton_and_embedding_is_refused_by_name() {
    // left: l = l "a" | "b"    right: r = "c" r | "d"    root = l r
    let mut rules = GrammarBuilder::new();
    let [root, left, right] = ["root", "left", "right"].map(|name| rules.declare(name));
    rules
        .define(
            root,
            body(|b| {
                let (l, r) = (b.rule(left), b.rule(right));
                b.seq(&[l, r])
            }),
        )
        .unwrap();
    rules
        .define(
            left,
            body(|b| {
                let (l, a, stop) = (b.rule(left), b.literal(b"a"), b.literal(b"b"));
                let more = b.seq(&[l, a]);
                b.alt(&[more, stop])
            }),
        )
        .unwrap();
    rules
        .define(
            right,
            body(|b| {
                let (r, c, stop) = (b.rule(right), b.literal(b"c"), b.literal(b"d"));
                let more = b.seq(&[c, r]);
                b.alt(&[more, stop])
            }),
        )
        .unwrap();
    let dfa = compile(&rules.finish(root).unwrap()).unwrap();
    for text in ["bd", "baaad", "bcccd", "baccd"] {
        assert!(dfa.accepts(text.as_bytes()), "{text}");
    }
    for text in ["b", "d", "abd", "bdc", "bca", ""] {
        assert!(!dfa.accepts(text.as_bytes()), "{text}");
    }

    let mut rules = GrammarBuilder::new();
    let nested = rules.declare("nested");
    rules
        .define(
            nested,
            body(|b| {
                let (open, inner, close) = (b.literal(b"("), b.rule(nested), b.literal(b")"));
                let nested = b.seq(&[open, inner, close]);
                b.optional(nested)
            }),
        )
        .unwrap();
    let error = compile(&rules.finish(nested).unwrap()).unwrap_err();
    assert!(matches!(error, RegularError::NotRegular { rule, .. } if &*rule == "nested"));
}

#[test]
fn what_has_no_base_case_is_never_offered() {
    // root = "a" stuck | "b"    stuck = "c" stuck
    let mut rules = GrammarBuilder::new();
    let [root, stuck] = ["root", "stuck"].map(|name| rules.declare(name));
    let root_body = body(|b| {
        let (a, stuck, stop) = (b.literal(b"a"), b.rule(stuck), b.literal(b"b"));
        let dead = b.seq(&[a, stuck]);
        b.alt(&[dead, stop])
    });
    let stuck_body = body(|b| {
        let (c, stuck) = (b.literal(b"c"), b.rule(stuck));
        b.seq(&[c, stuck])
    });
    rules.define(root, root_body).unwrap();
    rules.define(stuck, stuck_body).unwrap();
    let dfa = compile(&rules.finish(root).unwrap()).unwrap();
    assert!(dfa.next(dfa.start(), b'a').is_dead());
    assert!(dfa.accepts(b"b"));
}

/// Every token set is one letter.
struct OneLetter;

impl TokenAlphabet for OneLetter {
    fn marks(&self, _set: &TokenSet) -> Result<Vec<Mark>, RegularError> {
        Ok(vec![Mark(7)])
    }
}

#[test]
fn a_token_limit_counts_tokens_that_touch_it() {
    // "<" ([a-c]* limited to 2 tokens) ">"
    let grammar = Grammar::of_body(body(|b| {
        let any = b.bytes(ByteSet::range(b'a'..=b'c'));
        let text = b.repeat(any, 0, None);
        let text = b.token_limit(text, 2);
        let (open, close) = (b.literal(b"<"), b.literal(b">"));
        b.seq(&[open, text, close])
    }));
    let dfa = dfa(&grammar, &OneLetter, &Limits::default(), &CancellationToken::new()).unwrap();
    let reads = |tokens: &[&str]| {
        let after = tokens.iter().fold(dfa.start(), |state: StateId, token| {
            dfa.next_mark(dfa.next_bytes(state, token.as_bytes()), TOKEN_END)
        });
        dfa.is_accepting(after)
    };
    assert!(reads(&["<>"]));
    assert!(reads(&["<", "aaaa", "bb", ">"]));
    assert!(reads(&["<a", "b>"]), "tokens that straddle the ends count");
    assert!(!reads(&["<a", "b", "c>"]));
    assert!(!reads(&["<", "a", "b", "c", ">"]));
}

#[test]
fn a_token_symbol_fails_what_must_follow_in_bytes() {
    let grammar = |polarity| {
        Grammar::of_body(body(|b| {
            let x = b.literal(b"x");
            let ahead = b.look_ahead(x, polarity);
            let token = b.tokens(TokenSet::of([TokenRef::Ids(0, 0)]));
            let next = b.alt(&[x, token]);
            b.seq(&[ahead, next])
        }))
    };
    let compile = |polarity| {
        dfa(&grammar(polarity), &OneLetter, &Limits::default(), &CancellationToken::new()).unwrap()
    };
    let required = compile(Polarity::Required);
    assert!(required.accepts(b"x"));
    assert!(required.next_mark(required.start(), Mark(7)).is_dead());
    let forbidden = compile(Polarity::Forbidden);
    assert!(!forbidden.accepts(b"x"));
    assert!(!forbidden.next_mark(forbidden.start(), Mark(7)).is_dead());
}

#[test]
fn fuel_bounds_what_is_unrolled() {
    let grammar = Grammar::of_body(body(|b| {
        let a = b.literal(b"a");
        let inner = b.repeat(a, 1, Some(1_000));
        b.repeat(inner, 1, Some(1_000_000))
    }));
    assert!(matches!(compile(&grammar), Err(RegularError::Exhausted(Exhausted::States { .. }))));
}

#[test]
fn a_complement_beside_a_token_limit_still_ignores_token_ends() {
    // not "a", or at most no token of "b".
    let grammar = Grammar::of_body(body(|b| {
        let (a, limited) = (b.literal(b"a"), b.literal(b"b"));
        let other = b.not(a);
        let limited = b.token_limit(limited, 0);
        b.alt(&[other, limited])
    }));
    let dfa = dfa(&grammar, &BytesOnly, &Limits::default(), &CancellationToken::new()).unwrap();
    let after = |text: &[u8]| dfa.next_mark(dfa.next_bytes(dfa.start(), text), TOKEN_END);
    assert!(dfa.is_accepting(after(b"bb")) && !dfa.is_accepting(after(b"a")));
    assert!(dfa.is_accepting(dfa.next_bytes(after(b"a"), b"c")));
}

/// A rule without a base case, beside a body.
fn beside_a_dead_rule(build: impl FnOnce(&mut BodyBuilder, RuleId) -> ExprId) -> Grammar {
    let mut rules = GrammarBuilder::new();
    let [root, dead] = ["root", "dead"].map(|name| rules.declare(name));
    rules.define(root, body(|b| build(b, dead))).unwrap();
    rules.define(dead, body(|b| b.rule(dead))).unwrap();
    rules.finish(root).unwrap()
}

#[test]
fn what_flattens_to_twice_its_size_with_every_node_is_refused() {
    let grammar = beside_a_dead_rule(|b, dead| {
        let dead = b.rule(dead);
        let mut text = b.literal(b"ab");
        for _ in 0..60 {
            let either = b.alt(&[text, dead]);
            text = b.seq(&[either, either]);
        }
        text
    });
    assert!(matches!(compile(&grammar), Err(RegularError::Exhausted(Exhausted::Steps { .. }))));
}

#[test]
fn a_graph_of_alternatives_that_come_to_nothing_spends_fuel() {
    let grammar = Grammar::of_body(body(|b| {
        let (x, y) = (b.literal(b"xx"), b.literal(b"yy"));
        let mut nothing = b.and(&[x, y]);
        for depth in 0..60 {
            let noted = |b: &mut BodyBuilder, name: &str| {
                let capture = Some(format!("{name}{depth}").into());
                b.annotate(nothing, Annotation { capture, temperature: None })
            };
            let (left, right) = (noted(b, "l"), noted(b, "r"));
            nothing = b.alt(&[left, right]);
        }
        nothing
    }));
    let limits = Limits { automaton_steps: 1_000_000, ..Limits::default() };
    let error = dfa(&grammar, &BytesOnly, &limits, &CancellationToken::new()).unwrap_err();
    assert!(matches!(error, RegularError::Exhausted(Exhausted::Steps { .. })), "{error}");
}

#[test]
fn many_unordered_items_are_refused_by_name() {
    let grammar = Grammar::of_body(body(|b| {
        let members = (0..20_000_u32).map(|number| {
            let expr = b.literal(&number.to_be_bytes());
            Member { expr, required: false }
        });
        let members = members.collect();
        let separator = b.empty();
        b.permute(Permute { members, rest: None, separator, min: 0, max: None })
    }));
    assert!(matches!(
        compile(&grammar),
        Err(RegularError::NotRegular { why: "too many unordered items", .. })
    ));
}
