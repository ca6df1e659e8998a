//! Verdicts, byte by byte.

use super::*;
use formwork::Constraint;

fn check(constraint: &Constraint, text: &str) -> Verdict {
    let compiled = Compiler::new(Arc::new(byte_vocabulary().unwrap())).compile(constraint).unwrap();
    let mut matcher = compiled.start(&StartOptions::default()).unwrap();
    verdict(&mut *matcher, text.as_bytes()).unwrap()
}

#[test]
fn a_refusal_names_the_byte_and_what_was_legal() {
    let date = Constraint::Regex("[0-9]{4}-[0-9]{2}".into());
    assert_eq!(check(&date, "2026-11"), Verdict::Accepted);
    let refused = check(&date, "2026/11");
    assert_eq!(refused, Verdict::Refused { offset: 4, legal: b"-".into(), complete: false });
    assert_eq!(
        refused.describe(b"2026/11"),
        "refused at byte 4: byte \"/\" after \"2026\"\nlegal there: \"-\""
    );
    let cut = check(&date, "2026-1");
    assert_eq!(cut, Verdict::Refused { offset: 6, legal: b"0123456789".into(), complete: false });
    assert!(cut.describe(b"2026-1").contains("the end of the text"));
}

#[test]
fn a_text_that_goes_on_after_its_end_is_told_where_it_should_have_ended() {
    let choice = Constraint::Choice(vec!["yes".into(), "no".into()]);
    let refused = check(&choice, "nope");
    assert_eq!(refused, Verdict::Refused { offset: 2, legal: vec![], complete: true });
    assert!(refused.describe(b"nope").ends_with("legal there: the end of the text"));
}
