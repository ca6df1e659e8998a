//! The constructs that are written like calls.

use crate::{check, grammar, grammar_in};
use formwork_ebnf::{Dialect, EbnfErrorKind};
use formwork_grammar::{Node, TokenRef, TokenSet};
use proptest::prelude::*;

const DISPATCH: &str = "root ::= TagDispatch((\"<a>\", a), (\"<b>\", b), excludes=(\"no\"))\na ::= \"1\"+\nb ::= \"2\"";

#[test]
fn free_text_runs_up_to_a_trigger() {
    check(
        &grammar(DISPATCH),
        &["", "text", "<a>1", "x<a>11y<b>2z", "<a", "\u{3042}<b>2"],
        &["<a>", "<a>2", "x<b>", "nono", "ano", "<a>1no"],
    );
    let once = DISPATCH.replace("excludes", "loop_after_dispatch=false, excludes");
    check(&grammar(&once), &["", "text", "x<a>11", "<b>2"], &["<a>1<b>2", "<b>2x", "no<b>2"]);
}

#[test]
fn a_dispatch_may_have_to_be_stopped() {
    let text =
        "root ::= TagDispatch((\"<a>\", a), stop_str=(\"end\"), stop_eos=false)\na ::= \"1\"";
    check(&grammar(text), &["end", "x<a>1yend"], &["", "x", "<a>1", "endx", "endend"]);
}

#[test]
fn triggers_that_end_together_all_count() {
    let text = "root ::= TagDispatch((\"ab\", x), (\"b\", y), loop_after_dispatch=false)\nx ::= \"1\"\ny ::= \"2\"";
    check(&grammar(text), &["ab1", "ab2", "b2", "a"], &["b1", "ab", "abb2"]);
}

#[test]
fn what_is_excluded_may_not_begin_a_trigger() {
    for excluded in ["<", "<a>"] {
        let error = grammar_in(Dialect::Shared, &DISPATCH.replace("no", excluded)).err();
        let kind = EbnfErrorKind::ExcludedTrigger { excluded: excluded.into() };
        assert_eq!(error.map(|error| error.kind), Some(kind));
    }
    check(&grammar(&DISPATCH.replace("no", "a>")), &["<b>2", "<a"], &["<a>1", "a>"]);
}

/// What a dispatch in a loop means, read literally.
fn dispatches(text: &str, triggers: &[&str], excludes: &[&str]) -> bool {
    let first = |words: &[&str]| {
        (1..=text.len())
            .filter(|&end| text.is_char_boundary(end))
            .find(|&end| words.iter().any(|word| text[..end].ends_with(word)))
    };
    let excluded = first(excludes).unwrap_or(usize::MAX);
    match first(triggers) {
        Some(end) if end < excluded => {
            text[end..].strip_prefix('!').is_some_and(|rest| dispatches(rest, triggers, excludes))
        }
        _ => excluded == usize::MAX,
    }
}

proptest! {
    #[test]
    fn a_dispatch_is_what_it_says(
        triggers in prop::collection::vec("[ab]{1,3}", 0..4),
        excludes in prop::collection::vec("[ab]{1,4}", 0..3),
        texts in prop::collection::vec("[ab!]{0,8}", 8),
    ) {
        let pairs: String = triggers.iter().map(|trigger| format!("(\"{trigger}\", x), ")).collect();
        let list: Vec<String> = excludes.iter().map(|word| format!("\"{word}\"")).collect();
        let text = format!("root ::= TagDispatch({pairs}excludes=({})) | x \"??\"\nx ::= \"!\"", list.join(", "));
        let refused = excludes.iter().any(|out| triggers.iter().any(|t| t.starts_with(&**out)));
        let compiled = grammar_in(Dialect::Shared, &text);
        prop_assert_eq!(compiled.is_err(), refused);
        if let Ok(compiled) = compiled {
            let triggers: Vec<&str> = triggers.iter().map(String::as_str).collect();
            let excludes: Vec<&str> = excludes.iter().map(String::as_str).collect();
            for text in texts {
                let expected = dispatches(&text, &triggers, &excludes);
                prop_assert_eq!(crate::generates(&compiled, &text), expected, "{:?}", text);
            }
        }
    }

    #[test]
    fn a_substring_is_a_run_of_chunks(
        chunks in prop::collection::vec("[ab]{0,3}", 0..5),
        texts in prop::collection::vec("[ab]{0,6}", 6),
    ) {
        let list: Vec<String> = chunks.iter().map(|chunk| format!("\"{chunk}\"")).collect();
        let compiled = grammar(&format!("root ::= Substring({})", list.join(", ")));
        for text in texts {
            let runs = (0..=chunks.len()).flat_map(|from| (from..=chunks.len()).map(move |to| (from, to)));
            let expected = runs.map(|(from, to)| chunks[from..to].concat()).any(|run| run == text);
            prop_assert_eq!(crate::generates(&compiled, &text), expected, "{:?}", text);
        }
    }
}

#[test]
fn patterns_are_regular_expressions() {
    check(&grammar("root ::= Regex(\"a.[0-9]{2}\")"), &["a\n12", "ab12"], &["a1", "ab1"]);
    check(&grammar("root ::= Regex(\"a.\", flags=\"i\")"), &["Ab"], &["a\n"]);
    check(&grammar(r"root ::= /a\/\d+./s /b/i"), &["a/7\nB"], &["a/b"]);
}

#[test]
fn a_pattern_in_a_json_string_is_escaped() {
    let grammar = grammar(r#"root ::= Regex("[\"\\\\\n\u0001a]{2}", json_string=true)"#);
    check(
        &grammar,
        &[r#"\"\\"#, r"\n\u000a", r"\u005C\u005c", "aa", r"\u0001\u0022"],
        &["a", "\"a", "\\a", "\na", r"\u0061a"],
    );
}

#[test]
fn tokens_are_symbols() {
    let text = "root ::= <[7]> !<think> Token(1, (3, 5), \"<x>\") ExcludeToken(2)";
    let compiled = grammar(text);
    let body = compiled.body(compiled.root()).expect("lowered");
    let sets: Vec<&TokenSet> = body
        .nodes()
        .iter()
        .filter_map(|node| match node {
            Node::Tokens(set) => Some(set),
            _ => None,
        })
        .collect();
    let name = |name: &str| TokenRef::Name(name.into());
    assert_eq!(
        sets,
        [
            &TokenSet::of([TokenRef::Ids(7, 7)]),
            &TokenSet::all_except([name("<think>")]),
            &TokenSet::of([TokenRef::Ids(1, 1), TokenRef::Ids(3, 5), name("<x>")]),
            &TokenSet::all_except([TokenRef::Ids(2, 2)]),
        ]
    );
}

#[test]
fn operators_take_rules() {
    let text = "root ::= And(word, other) \"!\" | NotFollowed(digit) any Followed(digit) digit\nword ::= [a-z]+\nother ::= Not(short)\nshort ::= \"a\" | \"b\" | \"c\" .\nany ::= .\ndigit ::= [0-9]";
    check(&grammar(text), &["d!", "abc!", "x7"], &["a!", "cx!", "77", "xx"]);
    check(&grammar("root ::= Bytes(\"61-63,7a e3 81 82\")"), &["z\u{3042}"], &["d\u{3042}", "z"]);
    let text = "root ::= Permute(required=(a, b), optional=(c), separator=s, min=2)\na ::= \"a\"\nb ::= \"b\"\nc ::= \"c\"\ns ::= \",\"";
    check(&grammar(text), &["a,b", "c,b,a"], &["a", "a,c", "a,b,a", "ab"]);
}
