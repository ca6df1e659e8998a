//! What is saved is loaded, and what is broken is refused.

use super::*;
use crate::Precompute;
use formwork_core::{CompileRequest, CompiledGrammar, Grammar, Limits, RowId, StartOptions};
use formwork_grammar::{BodyBuilder, GrammarBuilder, TokenRef, TokenSet};

fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder(260);
    for byte in 0..=255_u8 {
        builder = builder.token(TokenId::new(byte.into()), &[byte]);
    }
    for (id, word) in (256..).zip(["((", "a)", "aaa"]) {
        builder = builder.token(TokenId::new(id), word.as_bytes());
    }
    let end = TokenId::new(259);
    Arc::new(builder.special(end, "<end>").eos(end).build().expect("a vocabulary"))
}

/// `s = "(" s ")" | [a-c]{1,40} | <a) or "aaa">`.
fn grammar() -> Grammar {
    let mut rules = GrammarBuilder::new();
    let nested = rules.declare("s");
    let mut body = BodyBuilder::new();
    let (open, inner, close) = (body.literal(b"("), body.rule(nested), body.literal(b")"));
    let nest = body.seq(&[open, inner, close]);
    let letter = body.bytes((b'a'..=b'c').collect());
    let letters = body.repeat(letter, 1, Some(40));
    let tokens = body.tokens(TokenSet::of([TokenRef::Ids(257, 258)]));
    let root = body.alt(&[nest, letters, tokens]);
    rules.define(nested, body.finish(root)).expect("defined once");
    rules.finish(nested).expect("defined")
}

fn saved() -> Vec<u8> {
    let request = CompileRequest::new(Arc::new(grammar()), vocabulary());
    let compiled = PdaBackend::default().compile(&request).expect("a grammar");
    let mut bytes = Vec::new();
    compiled.save(&mut bytes).expect("memory");
    bytes
}

fn rows(compiled: &Arc<Compiled>, tokens: &[u32]) -> Vec<Vec<i32>> {
    let mut matcher = compiled.clone().start(&StartOptions::default()).expect("nothing is fixed");
    let mut rows = Vec::new();
    for &token in tokens {
        let mut row = vec![0; matcher.vocabulary().row_words()];
        matcher.fill_bitmask(&mut row, RowId::NONE).expect("within the limits");
        rows.push(row);
        matcher.accept_tokens(&[TokenId::new(token)]).expect("it is allowed");
    }
    assert!(matcher.is_accepting());
    rows
}

#[test]
fn what_is_loaded_answers_like_what_was_saved() {
    let request = CompileRequest::new(Arc::new(grammar()), vocabulary());
    let compiled = Arc::new(PdaBackend::default().compile(&request).expect("a grammar"));
    let bytes = saved();
    let (open, letter, close) = (u32::from(b'('), u32::from(b'b'), u32::from(b')'));
    let outputs = [
        vec![256, open, letter, letter, close, close, close],
        vec![open, 257],
        vec![256, 258, close, close],
    ];
    for precompute in [Precompute::Nothing, Precompute::Everything] {
        let loaded = PdaBackend::new(precompute).load(&bytes, vocabulary()).expect("as saved");
        for output in &outputs {
            assert_eq!(rows(&loaded, output), rows(&compiled, output));
        }
        let mut again = Vec::new();
        loaded.save(&mut again).expect("memory");
        assert_eq!(again, bytes);
    }
}

#[test]
fn it_is_for_one_vocabulary() {
    let other = Vocabulary::builder(1).token(TokenId::new(0), b"a").build().expect("a vocabulary");
    let error = PdaBackend::default().load(&saved(), Arc::new(other)).unwrap_err();
    assert!(matches!(error, ArtifactError::OtherVocabulary { .. }), "{error}");
}

#[test]
fn broken_files_are_refused() {
    let (bytes, vocabulary) = (saved(), vocabulary());
    let backend = PdaBackend::default();
    for len in 0..bytes.len() {
        assert!(backend.load(&bytes[..len], vocabulary.clone()).is_err(), "{len} bytes");
    }
    for at in 0..bytes.len() {
        let mut broken = bytes.clone();
        broken[at] ^= 0x41;
        assert!(backend.load(&broken, vocabulary.clone()).is_err(), "byte {at}");
    }
}

/// Islands that a file with the right checksum may hold all the same.
#[test]
fn islands_that_cannot_be_run_are_refused() {
    let mut letter = grammar_island(b"a");
    letter.turns = Some(Turns { min: 3, max: Some(2) });
    let error = read_back(&[grammar_island(b"a"), letter]).unwrap_err();
    let table = ArtifactTable::Islands;
    assert!(matches!(error, ArtifactError::Inconsistent { table: t, entry: 1 } if t == table));
    let counted = Island { turns: Some(Turns { min: 0, max: None }), ..grammar_island(b"a") };
    let error = read_back(&[counted]).unwrap_err();
    assert!(matches!(error, ArtifactError::Inconsistent { table: t, entry: 0 } if t == table));
    assert!(read_back(&[]).is_err());
    assert_eq!(read_back(&[grammar_island(b"ab")]).expect("in order").len(), 1);
}

fn grammar_island(word: &[u8]) -> Island {
    let mut rules = GrammarBuilder::new();
    let root = rules.declare("root");
    let mut body = BodyBuilder::new();
    let expr = body.literal(word);
    rules.define(root, body.finish(expr)).expect("defined once");
    let grammar = rules.finish(root).expect("defined");
    let request = CompileRequest::new(Arc::new(grammar), vocabulary());
    let compiled = PdaBackend::default().compile(&request).expect("a grammar");
    compiled.tables().core.program.islands[0].clone()
}

fn read_back(islands: &[Island]) -> Result<Vec<Island>, ArtifactError> {
    let mut writer = Writer::new(KIND, VERSION);
    writer.u32(narrow(islands.len()));
    islands.iter().for_each(|island| write_island(&mut writer, island));
    let bytes = writer.finish();
    let mut reader = Reader::open(&bytes, KIND, VERSION)?;
    let alphabet = Alphabet::new(
        &formwork_grammar::passes::reach(&grammar(), &Limits::default()).expect("small"),
        &vocabulary(),
        &mut formwork_automata::Fuel::unlimited(),
    );
    read_islands(&mut reader, &alphabet.expect("tokens that there are"))
}
