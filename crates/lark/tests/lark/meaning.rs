//! Tables of words, construct by construct.

use crate::{check, check_with};
use formwork_grammar::{Limits, Node};
use formwork_lark::{Ending, Folding, Ignored, Lexer, Options, SubGrammar, compile};

#[test]
fn operators_bind_as_lark_has_it() {
    check(
        "start: \"a\" \"b\" | \"c\" (\"d\" | \"e\") [\"f\"]",
        &["ab", "cd", "cef"],
        &["ac", "c", "abf"],
    );
    check(
        "start: \"a\"~2..3 \"b\"~2 \"c\"{,1} \"d\"{1,}",
        &["aabbd", "aaabbcdd"],
        &["abbd", "aabb", "aabbccd"],
    );
    check("?start: | \"a\"\n  | \"b\" -> name", &["", "a", "b"], &["ab"]);
    check("start:", &[""], &["a"]);
}

#[test]
fn intersection_binds_tighter_than_choice_and_complement_tightest() {
    let text = "start: T\nT: /[ab]+/ | /[cd]/+ & /[def]/+";
    check(text, &["ab", "dd"], &["c", "e", "ad"]);
    check("start: T\nT: /a/ /b/ & /b/ | \"x\"", &["x"], &["ab", "b"]);
    check("start: T\nT: /[a-d]+/ & ~/(?s:.*)[ab](?s:.*)/", &["cd", "c"], &["", "ca", "x"]);
    check("start: T\nT: ~/a/ /b/ & /[ab]*/", &["b", "bb", "aab"], &["ab", ""]);
}

#[test]
fn strings_ranges_and_expressions() {
    check(r#"start: "\n\x41\u00e9\ud83d\ude00" "a".."c""#, &["\nAé😀b"], &["\nAé😀d"]);
    check("start: \"Stra-ß\"i", &["stra-ß", "STRA-ß"], &["stra-s"]);
    let ascii = Options::default().with_folding(Folding::Ascii);
    check_with(
        "start: \"k-ß\"i /[à-öq]/i",
        &ascii,
        &["K-ßQ", "k-ßö"],
        &["\u{212a}-ßq", "k-ẞq", "k-ßÖ"],
    );
    check("start: /a.b/ /c/i /x.y/s", &["a bCx\ny"], &["a\nbcxxy"]);
    check("start: / a \\ [b] # comment\n c/x", &["a bc"], &["abc", "a b c"]);
    check("start: /a\\/b/ \"é\"..\"ü\"", &["a/bö"], &["a/ba"]);
}

#[test]
fn ignored_text_stands_between_terminals() {
    let text = "start: \"a\" b \"c\"?\nb: \"b\"\n%ignore \" \"\n%ignore /#x/";
    check(text, &["ab", "a b", "a  #x b c"], &[" ab", "ab ", "a bc ", "a x b"]);
    let behind = Options::default().with_ignored(Ignored::BetweenAndAfter);
    check_with(text, &behind, &["ab ", "a b c  "], &[" ab"]);
    let before = format!("%llguidance {{\"allow_initial_skip\": true}}\n{text}");
    check(&before, &[" ab", "ab"], &["ab "]);
    let once = format!("%llguidance {{\"ignore_once\": true}}\n{text}");
    check(&once, &["a b"], &["a  b"]);
}

#[test]
fn what_may_be_empty_lets_no_ignored_text_in_before_the_first_terminal() {
    let text = "start: x* T y \"c\"\nx: \"a\" | T\ny: \"b\"?\nT: /t*/\n%ignore \" \"";
    check(text, &["c", "ac", "a a c", "t b c", "b c", "a t b c", "tt c"], &[" c", " a c", "t t"]);
}

#[test]
fn a_lone_lazy_rule_may_be_cut_off_where_asked() {
    let text = "start[capture]: r\nr[stop=\"<e>\"]: /(.|\\n)*/";
    check(text, &["é<e>", "<e>"], &["", "é", "<e>x", "<e><e>"]);
    let optional = Options::default().with_ending(Ending::Optional);
    check_with(text, &optional, &["é<e>", "<e>", "", "é", "x<e"], &["<e>x", "<e><e>"]);
    check_with("start: r \"x\"\nr[lazy]: /a*b/", &optional, &["abx"], &["a", "ab", ""]);
}

#[test]
fn a_lazy_rule_ends_as_soon_as_it_can() {
    check("start: \"<\" r \">\"\nr[lazy]: /[a-z]+/", &["<a>"], &["<>", "<ab>"]);
    check("start: r \"!\"\nr[suffix=\"</e>\"]: /(.|\\n)*/", &["a\nb</e>!"], &["a</e>b</e>!", "a!"]);
    check("start: \"<\" r \">\"\nr[stop=/!!+/]: /[a-z]{1,4}/", &["<a!!>"], &["<a!!!>", "<!!>"]);
    check("start: r \"x\"\nr[stop=END]: /a*/\nEND: \"e\" | \"f\"", &["aaex", "fx"], &["aax"]);
    check("start: \"a\" t \"b\"\nt[stop=\"\"]: /x*/", &["axxb"], &["ax"]);
}

#[test]
fn where_a_lazy_rule_could_begin_its_text_is_nothing_else() {
    let text = "start: (f | g)* text\ntext: TEXT\nf: f_head \"=f>\"\ng: g_head \"=g>\"\n\
                f_head[lazy]: TEXT \"<t\"\ng_head[lazy]: TEXT \"<t\"\nTEXT: /(.|\\n)*/";
    check(text, &["", "a<", "a<t=f>", "<t=g>b<t=f>c<"], &["a<t", "a<t=h>", "<t=f>a<t b"]);
    // Elsewhere the same terminal may be anything.
    let text = format!(
        "start: inner \"|\" other\nother: \"<\" TEXT\n{}",
        &text.replace("start:", "inner:")
    );
    check(&text, &["|<a<t", "<t=f>|<<t"], &["<t|<"]);
}

#[test]
fn the_longest_match_on_request() {
    let greedy = Options::default().with_lexer(Lexer::Greedy);
    let text = "start: (\"foo\" | \"foobar\") \"bar\"";
    check(text, &["foobar", "foobarbar"], &["foo"]);
    check_with(text, &greedy, &["foobarbar"], &["foobar"]);
    let text = "start: /a*/ (\"ab\" | \"b\")";
    check(text, &["ab", "aab", "b"], &["a"]);
    check_with(text, &greedy, &["ab", "aab", "b"], &["a"]);
    let text = "start: /[a-z]+/ \"end\"";
    check_with(text, &greedy, &[], &["end", "aend"]);
    let text = "start: INT | FLOAT \".\" INT\nINT: /[0-9]+/\nFLOAT: /[0-9]+\\.[0-9]*/";
    check_with(text, &greedy, &["12", "1..2"], &["1.2"]);
}

#[test]
fn pieces_of_texts() {
    let text = "start: %regex {\"substring_words\": \"foo bar, baz\"}";
    check(text, &["", "foo", " bar,", "foo bar, baz", ", "], &["fo", "foo baz"]);
    let text =
        "start: \"<\" %regex {\"substring_chunks\": [\"a\", \"\", \"b\", \"a\", \"b\"]} \">\"";
    check(text, &["<>", "<ab>", "<abab>", "<ba>"], &["<aa>", "<bb>"]);
    check("start: %regex {\"substring_chars\": \"aé\\u0000b\"}", &["é\0", "aé\0b"], &["ab"]);
}

#[test]
fn grammars_inside_grammars() {
    let text =
        "start: item %lark {\n  start: item*\n  item: \"b\"\n  %ignore \"_\"\n} item\nitem: \"a\"";
    check(text, &["aa", "aba", "ab__ba"], &["a_ba", "abb_a", "aaa"]);
    let options = Options::default()
        .with_grammar("pair", SubGrammar::Lark("start: @n \":\" @n".into()))
        .with_grammar("n", SubGrammar::Regex("[0-9]+".into()))
        .with_grammar("j", SubGrammar::JsonSchema("{\"enum\": [1, \"x\"]}".into()));
    check_with("start: @pair \"=\" @j", &options, &["1:22=1", "1:2=\"x\""], &["1:=1", "1:2=x"]);
    let text = "start: \"v=\" %json {\"type\": \"boolean\"} \";\" %json {\"const\": \"}\"}";
    check(text, &["v=true;\"}\""], &["v=1;\"}\""]);
}

#[test]
fn schemas_may_bring_options_of_their_own() {
    let schema =
        |own: &str| format!("start: %json {{\"enum\": [[1, 2]], \"x-guidance\": {{{own}}}}}");
    check(&schema(""), &["[1,2]", "[ 1, 2]"], &["[1;2]"]);
    check(&schema("\"whitespace_flexible\": false"), &["[1,2]"], &["[1, 2]"]);
}

#[test]
fn the_common_library() {
    let text = "%import common (SIGNED_NUMBER, WS, C_COMMENT)\n%import common.CNAME -> NAME\n\
                %ignore WS\n%ignore C_COMMENT\nstart: NAME \"=\" SIGNED_NUMBER";
    check(text, &["x=1", "_y /* * */ = -1.5e3"], &["1=1", "x=1.2.3", "x=1 "]);
    check("%import common.ESCAPED_STRING\nstart: ESCAPED_STRING", &[r#""a\"b""#], &[r#""a"b""#]);
    check("%import common.FLOAT\nstart: FLOAT", &["1.", ".5", "1e5", "1.5e-5"], &["1", "."]);
}

#[test]
fn attributes_become_nodes() {
    let text = "start: a b c d\na[capture]: \"a\"\nb[max_tokens=3]: /b+/\nc[temperature=0.5]: \"c\"\n\
                d[capture=\"x\", max_tokens=0]: \"d\"";
    let grammar = compile(text, &Options::default(), &Limits::default()).unwrap();
    let rules = grammar.lower_all(&Limits::default()).unwrap();
    let bodies: Vec<_> = rules.iter().map(|&rule| grammar.body(rule).unwrap()).collect();
    let nodes: Vec<&Node> = bodies.iter().flat_map(|body| body.nodes()).collect();
    let captures = nodes.iter().filter_map(|node| match node {
        Node::Annotated { annotation, .. } => annotation.capture.as_deref(),
        _ => None,
    });
    assert_eq!(
        captures.collect::<Vec<_>>(),
        ["a"],
        "of the text that may be nothing, none is left"
    );
    let heat = |node: &&&Node| matches!(node, Node::Annotated { annotation, .. } if annotation.temperature.is_some());
    assert_eq!(nodes.iter().filter(heat).count(), 1);
    let limits = nodes.iter().filter_map(|node| match node {
        Node::TokenLimit { max, .. } => Some(*max),
        _ => None,
    });
    assert_eq!(limits.collect::<Vec<_>>(), [3]);
}

#[test]
fn tokens_by_name_and_number() {
    let text = "start: <|end|> <[1,5-7]> <[^2]> <[*]>";
    let grammar = compile(text, &Options::default(), &Limits::default()).unwrap();
    let rules = grammar.lower_all(&Limits::default()).unwrap();
    let bodies: Vec<_> = rules.iter().map(|&rule| grammar.body(rule).unwrap()).collect();
    let sets = bodies.iter().flat_map(|body| body.nodes()).filter_map(|node| match node {
        Node::Tokens(set) => Some((set.tokens.len(), set.negated)),
        _ => None,
    });
    assert_eq!(sets.collect::<Vec<_>>(), [(1, false), (2, false), (1, true), (0, true)]);
}

#[test]
fn characters_are_bounded_on_request() {
    check("start: r \">\"\nr[max_chars=2]: T\nT: /(.|\\n)*/", &["中文>", ">"], &["中文a>"]);
    check("start: a \">\"\na[max_chars=3]: \"x\" b\nb[max_chars=5]: /a*/", &["xaa>"], &["xaaa>"]);
}
