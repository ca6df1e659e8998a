//! Large, deep and senseless constraints: each front end answers rightly or says what is wrong, and
//! where.

use formwork::{
    CompilationError, CompiledGrammar, Compiler, Constraint, FrontEndOptions, RowId, StartOptions,
    TokenId, Vocabulary,
};
use std::sync::{Arc, LazyLock};

static BYTES: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut builder = Vocabulary::builder(256);
    for byte in 0..=255_u8 {
        builder = builder.token(TokenId::new(u32::from(byte)), &[byte]);
    }
    Arc::new(builder.build().expect("ids are all different"))
});

type Compiled = Result<Arc<dyn CompiledGrammar>, CompilationError>;

fn compiled(constraint: &Constraint, syntax: &str) -> Compiled {
    let mut options = FrontEndOptions::default();
    options.set("grammar", &syntax.into()).expect("it is known");
    let backend = formwork::backend("earley").expect("it is there");
    Compiler::new(BYTES.clone()).with_backend(backend).with_options(options).compile(constraint)
}

fn ebnf(text: &str) -> Compiled {
    compiled(&Constraint::Grammar(text.into()), "ebnf")
}

fn lark(text: &str) -> Compiled {
    compiled(&Constraint::Grammar(text.into()), "lark")
}

/// Whether a text is accepted as a whole. Makes the first mask, too.
fn accepts(compiled: &Compiled, text: &str) -> bool {
    let compiled = match compiled {
        Ok(compiled) => compiled.clone(),
        Err(error) => panic!("{error}"),
    };
    let mut matcher = compiled.start(&StartOptions::default()).expect("it starts");
    let mut row = vec![0; BYTES.row_words()];
    matcher.fill_bitmask(&mut row, RowId::NONE).expect("it has a mask");
    let tokens: Vec<TokenId> = text.bytes().map(|byte| TokenId::new(u32::from(byte))).collect();
    matcher.accept_tokens(&tokens).is_ok() && matcher.is_accepting()
}

/// That the error has all of these words in it.
fn says(compiled: Compiled, words: &[&str]) {
    let Err(error) = compiled else { panic!("nothing is wrong, it says") };
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
}

const DEEP: usize = 30_000;

fn nested(open: &str, inside: &str, close: &str) -> String {
    [&open.repeat(DEEP), inside, &close.repeat(DEEP)].concat()
}

#[test]
fn depth_has_a_limit_with_a_name() {
    let regex = Constraint::Regex(nested("(", "a", ")"));
    says(compiled(&regex, "ebnf"), &["levels", "column"]);
    says(ebnf(&format!("root ::= {}", nested("(", "\"a\"", ")"))), &["levels", "line 1, column"]);
    says(lark(&format!("start: {}", nested("(", "\"a\"", ")"))), &["deep", "line 1, column"]);
    let inside = "{\"type\":\"any_text\"}";
    let tag = nested("{\"type\":\"optional\",\"content\":", inside, "}");
    let tag =
        Constraint::StructuralTag(format!("{{\"type\":\"structural_tag\",\"format\":{tag}}}"));
    says(compiled(&tag, "ebnf"), &["levels"]);
    let schema = Constraint::JsonSchema(nested("{\"anyOf\":[", "true", "]}"));
    says(compiled(&schema, "ebnf"), &["levels"]);
}

#[test]
fn a_megabyte_of_alternatives_is_read() {
    let words: Vec<String> = (0..100_000).map(|number| format!("w{number:06}")).collect();
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let check = |compiled: Compiled, mark: &str| {
        assert!(accepts(&compiled, &format!("{mark}w077777{mark}")));
        assert!(!accepts(&compiled, &format!("{mark}w07777{mark}")));
    };
    check(compiled(&Constraint::Regex(words.join("|")), "ebnf"), "");
    check(ebnf(&format!("root ::= {}", quoted.join(" | "))), "");
    check(lark(&format!("start: {}", quoted.join(" | "))), "");
    check(
        compiled(&Constraint::JsonSchema(format!("{{\"enum\":[{}]}}", quoted.join(","))), "ebnf"),
        "\"",
    );
    let few = quoted[70_000..80_000].iter();
    let formats: Vec<String> =
        few.map(|word| format!("{{\"type\":\"const_string\",\"value\":{word}}}")).collect();
    let tag = format!(
        "{{\"type\":\"structural_tag\",\"format\":{{\"type\":\"or\",\"elements\":[{}]}}}}",
        formats.join(",")
    );
    check(compiled(&Constraint::StructuralTag(tag), "ebnf"), "");
}

#[test]
fn recursion_is_read_or_named() {
    let ring = |is: &str, end: &str| -> String {
        (0..10).map(|n| format!("r{n} {is} r{} \"a\" | \"b\"{end}\n", (n + 1) % 10)).collect()
    };
    for compiled in [
        ebnf(&format!("root ::= r0\n{}", ring("::=", ""))),
        lark(&format!("start: r0\n{}", ring(":", ""))),
    ] {
        assert!(accepts(&compiled, "b") && accepts(&compiled, &format!("b{}", "a".repeat(500))));
        assert!(!accepts(&compiled, "ab") && !accepts(&compiled, "bb"));
    }
    says(ebnf("root ::= a\na ::= \"x\" a"), &["nothing satisfies", "line 1"]);
    says(lark("start: a\na: \"x\" a"), &["nothing satisfies"]);
    assert!(accepts(&ebnf("root ::= \"y\" | a\na ::= \"x\" a"), "y"));
    assert!(accepts(&lark("start: \"y\" | a\na: \"x\" a"), "y"));
    let schema = "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#\"}}";
    says(compiled(&Constraint::JsonSchema(schema.into()), "ebnf"), &["nothing"]);
}

#[test]
fn names_are_checked() {
    says(ebnf("root ::= \"a\"\n  nowhere"), &["nowhere", "line 2, column 3"]);
    says(ebnf("root ::= \"a\"\nroot ::= \"b\""), &["twice", "root", "line 2, column 1"]);
    says(lark("start: \"a\"\n  | nowhere"), &["nowhere", "line 2, column 5"]);
    says(lark("start: \"a\"\nstart: \"b\""), &["start", "line 2, column 1"]);
    let schema = "{\"$ref\":\"#/$defs/nowhere\"}";
    says(compiled(&Constraint::JsonSchema(schema.into()), "ebnf"), &["nowhere"]);
    let tag = "{\"type\":\"structural_tag\",\"format\":{\"type\":\"nowhere\"}}";
    says(compiled(&Constraint::StructuralTag(tag.into()), "ebnf"), &["nowhere", "line 1, column"]);
}
