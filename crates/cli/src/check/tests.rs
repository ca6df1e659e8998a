//! Verdicts, byte by byte.

use super::*;
use crate::vocabularies::{cl100k_base, load};
use formwork::{Constraint, Vocabulary};
use std::sync::Arc;

fn check(constraint: &Constraint, text: &str) -> Verdict {
    check_with(load(BYTES).unwrap(), constraint, text)
}

fn check_with(vocabulary: Arc<Vocabulary>, constraint: &Constraint, text: &str) -> Verdict {
    let compiled = Compiler::new(vocabulary.clone()).compile(constraint).unwrap();
    let mut matcher = compiled.start(&StartOptions::default()).unwrap();
    verdict(&mut *matcher, &tokenize(&vocabulary, text.as_bytes()).unwrap()).unwrap()
}

fn refusal(offset: usize, token: &[u8], legal: &[u8], complete: bool) -> Verdict {
    Verdict::Refused { offset, token: token.into(), legal: legal.into(), complete }
}

#[test]
fn a_refusal_names_the_byte_and_what_was_legal() {
    let date = Constraint::Regex("[0-9]{4}-[0-9]{2}".into());
    assert_eq!(check(&date, "2026-11"), Verdict::Accepted);
    let refused = check(&date, "2026/11");
    assert_eq!(refused, refusal(4, b"/", b"-", false));
    assert_eq!(
        refused.describe(b"2026/11"),
        "refused at byte 4: byte \"/\" after \"2026\"\nlegal there: \"-\""
    );
    let cut = check(&date, "2026-1");
    assert_eq!(cut, refusal(6, b"", b"0123456789", false));
    assert!(cut.describe(b"2026-1").contains("the end of the text"));
}

#[test]
fn a_text_that_goes_on_after_its_end_is_told_where_it_should_have_ended() {
    let choice = Constraint::Choice(vec!["yes".into(), "no".into()]);
    let refused = check(&choice, "nope");
    assert_eq!(refused, refusal(2, b"p", b"", true));
    assert!(refused.describe(b"nope").ends_with("legal there: the end of the text"));
}

#[test]
fn a_real_vocabulary_is_read_by_its_tokens() {
    let choice = Constraint::Choice(vec!["hello world".into()]);
    assert_eq!(check_with(cl100k_base(), &choice, "hello world"), Verdict::Accepted);
    let refused = check_with(cl100k_base(), &choice, "hello there");
    assert_eq!(refused, refusal(5, b" there", b" ", false));
    assert!(refused.describe(b"hello there").starts_with("refused at byte 5: token \" there\""));
}
