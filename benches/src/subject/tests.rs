//! The definitions hold, and checking them would notice if they did not.

use super::*;
use crate::Count;

/// Every byte, some words, and an end.
fn vocabulary() -> Arc<Vocabulary> {
    let id = TokenId::new;
    let mut builder = Vocabulary::builder(260);
    for byte in 0..=255 {
        builder = builder.token(id(byte.into()), &[byte]);
    }
    let builder = builder.token(id(256), b"2024").token(id(257), b"\":\"");
    Arc::new(builder.special(id(258), "<end>").eos(id(258)).build().unwrap())
}

fn date() -> Definition {
    let all = definitions().unwrap();
    all.into_iter().find(|definition| definition.name == "date").unwrap()
}

fn compiled(definition: Definition) -> Result<Option<Subject>> {
    Subject::new(&Arc::new(definition), &formwork::backends()[0], &vocabulary())
}

#[test]
fn every_definition_holds() {
    let subjects = subjects(&vocabulary()).unwrap();
    for definition in definitions().unwrap() {
        let is_measured = subjects.iter().any(|subject| subject.definition.name == definition.name);
        assert!(is_measured, "{} is measured with no backend", definition.name);
    }
}

#[test]
fn a_definition_that_does_not_hold_is_noticed() {
    assert!(compiled(date()).unwrap().is_some());
    let mut wrong = date();
    wrong.text = "2024-13-01".into();
    assert!(compiled(wrong.clone()).is_err());
    wrong.expect.bytes_taken = Some(6);
    assert!(compiled(wrong.clone()).is_err());
    wrong.expect.outcome = Outcome::Refused;
    assert!(compiled(wrong).is_ok());

    let mut incomplete = date();
    incomplete.text = "2024-".into();
    assert!(compiled(incomplete).is_err());

    let mut counted = date();
    let backend = formwork::backends()[0].name().to_owned();
    let count =
        Count { backend: backend.clone(), counter: "no such".into(), about: 0, give_or_take: 0 };
    counted.expect.counts = vec![count];
    assert!(compiled(counted).is_err());

    let mut stale = date();
    stale.expect.unsupported_by = vec![backend];
    assert!(compiled(stale).unwrap_err().to_string().contains("stale"));
}

#[test]
fn a_count_may_be_off_by_what_is_given() {
    let mut definition = date();
    definition.expect.counts.retain(|count| count.counter == "states");
    definition.expect.counts.truncate(1);
    let states = definition.expect.counts[0].about;
    definition.expect.counts[0].give_or_take = 5;
    definition.expect.counts[0].about = states + 5;
    assert!(compiled(definition.clone()).is_ok());
    definition.expect.counts[0].about = states + 6;
    assert!(compiled(definition).is_err());
}

#[test]
fn greedy_tokens_take_the_longest_first() {
    let tokens = greedy_tokens(&vocabulary(), "20242").unwrap();
    assert_eq!(tokens, [256, u32::from(b'2')].map(TokenId::new));
}
