//! Hot calls allocate nothing after warm-up, and what a step costs is counted in allocations.

use formwork_core::{
    CompileRequest, MaskDelta, RowId, StartOptions, StructuredOutputBackend, TokenId, Vocabulary,
};
use formwork_dfa::DfaBackend;
use formwork_grammar::{BodyBuilder, Grammar};
use std::sync::Arc;

#[test]
fn fill_check_validate_and_roll_back_allocate_nothing_and_accept_a_block_per_128_tokens() {
    let builder = (0..26_u8).fold(Vocabulary::builder(27), |builder, letter| {
        builder.token(TokenId::new(u32::from(letter)), &[b'a' + letter])
    });
    let end = TokenId::new(26);
    let vocabulary = Arc::new(builder.special(end, "<end>").eos(end).build().unwrap());
    let mut body = BodyBuilder::new();
    let letter = body.bytes(formwork_automata::ByteSet::range(b'a'..=b'z'));
    let words = body.repeat(letter, 0, None);
    let grammar = Arc::new(Grammar::of_body(body.finish(words)));
    let compiled = DfaBackend.compile_blocking(&CompileRequest::new(grammar, vocabulary)).unwrap();
    let mut matcher = compiled.start(&StartOptions::default()).unwrap();
    let mut row = vec![0; matcher.vocabulary().row_words()];
    let mut delta = MaskDelta::default();
    let token = [TokenId::new(3)];
    matcher.fill_delta(&mut row, &mut delta).unwrap();

    let mut steps = || {
        for _ in 0..100 {
            matcher.fill_bitmask(&mut row, RowId::NONE).unwrap();
            matcher.fill_delta(&mut row, &mut delta).unwrap();
            assert!(matcher.check_token(token[0]));
            assert_eq!(matcher.validate_tokens(&token), 1);
            matcher.accept_tokens(&token).unwrap();
            assert!(matcher.accept_tokens(&[TokenId::new(99)]).is_err());
        }
        matcher.rollback(100).unwrap();
    };
    let info = allocation_counter::measure(&mut steps);
    assert_eq!(info.count_total, 0);
    let info = allocation_counter::measure(|| {
        for _ in 0..1_280 {
            matcher.accept_tokens(&token).unwrap();
        }
    });
    assert!(info.count_total <= 20, "{info:?}");
    let info = allocation_counter::measure(|| drop(matcher.fork()));
    assert!(info.count_total <= 3, "a fork copies a block, not the history: {info:?}");
    assert!(info.bytes_total < 8_192, "{info:?}");
}
