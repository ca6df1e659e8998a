//! Masks as they are shown.

use super::*;
use formwork::Constraint;

fn view(pattern: &str, prefix: &Prefix, sample: usize) -> Result<View> {
    let end = TokenId::new(256);
    let bytes = (0..=255_u8).map(|byte| (TokenId::new(u32::from(byte)), [byte]));
    let vocabulary = bytes
        .fold(Vocabulary::builder(257), |builder, (id, byte)| builder.token(id, &byte))
        .special(end, "<end>")
        .eos(end)
        .build()?;
    let constraint = Constraint::Regex(pattern.into());
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&constraint)?;
    View::new(&mut *start(compiled, prefix)?, sample)
}

fn text(prefix: &str) -> Prefix {
    Prefix { prefix: Some(prefix.into()), ..Prefix::default() }
}

#[test]
fn a_mask_after_text_is_the_mask_after_its_tokens() {
    let tokens = Prefix { tokens: b"ab".map(u32::from).into(), ..Prefix::default() };
    let after_tokens = view("ab[x-z]*", &tokens, 5).unwrap();
    let after_text = view("ab[x-z]*", &text("ab"), 5).unwrap();
    assert_eq!(after_tokens, after_text);
    assert_eq!((after_text.allowed, after_text.of), (4, 257));
    assert!(after_text.accepting && !after_text.terminated);
    assert_eq!(after_text.stop_ids, [Stop { id: 256, allowed: true }]);
    let texts: Vec<&str> = after_text.sample.iter().map(|token| &*token.text).collect();
    assert_eq!(texts, ["x", "y", "z", "<<end>>"]);
    // 256 is bit 0 of word 8; `x`, `y` and `z` are bits 24, 25 and 26 of word 3.
    assert_eq!((&*after_text.words[3], &*after_text.words[8]), ("07000000", "00000001"));
}

#[test]
fn forced_bytes_are_shown_and_prefixes_that_lead_nowhere_refused() {
    let forced = view("a\nb\"[0-9]", &text("a"), 5).unwrap();
    assert_eq!((forced.allowed, &*forced.forced_bytes), (1, "\\nb\\\""));
    assert!(!forced.stop_ids[0].allowed);
    view("ab", &text("b"), 5).unwrap_err();
    let unknown = Prefix { tokens: vec![900], ..Prefix::default() };
    view("ab", &unknown, 5).unwrap_err();
}

#[test]
fn a_sample_is_spread_and_never_more_than_asked_for() {
    let sample = |count| -> Vec<u32> {
        let view = view("[0-9]", &Prefix::default(), count).unwrap();
        view.sample.iter().map(|token| token.id - u32::from(b'0')).collect()
    };
    assert!(sample(0).is_empty());
    assert_eq!(sample(1), [0]);
    assert_eq!(sample(3), [0, 3, 6]);
    assert_eq!(sample(10), (0..10).collect::<Vec<_>>());
    assert_eq!(sample(99), (0..10).collect::<Vec<_>>());
}
