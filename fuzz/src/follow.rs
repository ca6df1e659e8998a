//! A text for a front end: compiled within small limits, and followed for some steps.
//!
//! # What must hold
//! Nothing panics. An error has words. Of what is compiled, every mask that is not that of a
//! terminated output allows something, and what it allows is accepted. Where the grammar is small
//! enough to be printed, the print is read again, and is satisfiable too.

use formwork::{
    CompileRequest, Constraint, FrontEndOptions, Grammar, Limits, RowId, StartOptions,
    StructuredOutputBackend, TokenId, Vocabulary,
    earley::EarleyBackend,
    ebnf::{self, EbnfErrorKind},
    grammar::print,
    mask::Row,
};
use std::sync::{Arc, LazyLock};

/// Who reads the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrontEnd {
    /// As a regular expression.
    Regex,
    /// As a grammar in GBNF or EBNF.
    Ebnf,
    /// As a grammar in Lark.
    Lark,
    /// As a structural tag.
    StructuralTag,
    /// As a JSON Schema.
    JsonSchema,
}

/// Longer texts are not read.
const MAX_BYTES: usize = 4_096;
/// Steps that an output is followed for.
const STEPS: usize = 12;

/// One token a byte, and some of several bytes.
static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let mut builder = Vocabulary::builder(262);
    for byte in 0..=255_u8 {
        builder = builder.token(TokenId::new(u32::from(byte)), &[byte]);
    }
    for (id, text) in (256..).zip(["ab", "\"a", "\":", "  ", "é"]) {
        builder = builder.token(TokenId::new(id), text.as_bytes());
    }
    let builder = builder.special(TokenId::new(261), "<end>").eos(TokenId::new(261));
    Arc::new(builder.build().expect("ids are all different"))
});

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.source_bytes = MAX_BYTES;
    limits.nesting = 64;
    limits.rules = 2_000;
    limits.nodes = 20_000;
    limits.automaton_states = 5_000;
    limits.automaton_steps = 500_000;
    limits.mask_steps = 2_000_000;
    limits
}

/// Gives a text to a front end, and follows what it makes of it.
///
/// # Panics
/// When something does not hold that must.
pub(crate) fn text(front_end: FrontEnd, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if text.len() > MAX_BYTES {
        return;
    }
    let text = text.to_owned();
    let mut options = FrontEndOptions::default();
    let constraint = match front_end {
        FrontEnd::Regex => Constraint::Regex(text),
        FrontEnd::Ebnf | FrontEnd::Lark => {
            let syntax = if front_end == FrontEnd::Ebnf { "ebnf" } else { "lark" };
            options.set("grammar", &syntax.into()).expect("it is known");
            Constraint::Grammar(text)
        }
        FrontEnd::StructuralTag => Constraint::StructuralTag(text),
        FrontEnd::JsonSchema => Constraint::JsonSchema(text),
    };
    match formwork::lower(&constraint, &options, &limits()) {
        Err(error) => assert!(!error.to_string().is_empty(), "an error has words"),
        Ok(grammar) => {
            let grammar = Arc::new(grammar);
            if follow(&grammar) && !grammar.is_lazy() {
                print_and_read(&grammar);
            }
        }
    }
}

/// Whether the grammar was compiled; follows outputs of it.
fn follow(grammar: &Arc<Grammar>) -> bool {
    let mut request = CompileRequest::new(grammar.clone(), VOCABULARY.clone());
    request.limits = limits();
    let Ok(compiled) = EarleyBackend.compile_blocking(&request) else { return false };
    let mut matcher = compiled.start(&StartOptions::default()).expect("a compiled grammar starts");
    let mut row = vec![0; VOCABULARY.row_words()];
    for step in 0..STEPS {
        // A limit may be hit in a step; the row then allows stop ids alone.
        if matcher.fill_bitmask(&mut row, RowId::NONE).is_err() {
            return true;
        }
        let allowed: Vec<usize> = Row::new(&row, VOCABULARY.model_len()).ones().collect();
        if matcher.is_terminated() {
            return true;
        }
        assert!(!allowed.is_empty(), "there is always a way on");
        let chosen = allowed[(step * 7 + allowed.len() / 2) % allowed.len()];
        let chosen = TokenId::new(u32::try_from(chosen).expect("ids are u32"));
        if matcher.accept_tokens(&[chosen]).is_err() {
            let failed = matcher.fill_bitmask(&mut row, RowId::NONE).is_err();
            assert!(failed, "what a mask allows is accepted");
            return true;
        }
    }
    true
}

fn print_and_read(grammar: &Grammar) {
    let mut room = limits();
    room.source_bytes = 1 << 20;
    let Ok(printed) = print::ebnf(grammar, &room) else { return };
    match ebnf::compile(&printed, &ebnf::Options::default(), &room) {
        Ok(_) => {}
        Err(error) => {
            let is_excused = matches!(
                error.kind,
                EbnfErrorKind::Unsatisfiable
                    | EbnfErrorKind::SourceBytes { .. }
                    | EbnfErrorKind::Nesting { .. }
                    | EbnfErrorKind::Rules { .. }
                    | EbnfErrorKind::Nodes { .. }
                    | EbnfErrorKind::Exhausted(_)
            );
            assert!(is_excused, "{error}\n{printed}");
        }
    }
}
