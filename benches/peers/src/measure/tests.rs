//! The protocol on engines that are made of almost nothing.

use super::*;
use crate::engine::{Constraint, Matcher, SchemaForm, Source};
use anyhow::anyhow;
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

const EOS: u32 = 40;

/// Allows token 1 any number of times, and the end after each; token 2 makes it panic.
struct Ones {
    name: &'static str,
    log: Rc<RefCell<Vec<&'static str>>>,
    compiles: Cell<usize>,
    /// From this compile on it allows token 3 too.
    changes_its_mind_at: usize,
}

struct OnesCompiled {
    allows_three: bool,
}

impl Ones {
    fn new(name: &'static str, log: &Rc<RefCell<Vec<&'static str>>>) -> Self {
        Self { name, log: log.clone(), compiles: Cell::new(0), changes_its_mind_at: usize::MAX }
    }
}

impl Engine for Ones {
    fn name(&self) -> &str {
        self.name
    }

    fn about(&self) -> String {
        String::new()
    }

    fn reads(&self) -> SchemaForm {
        SchemaForm::Text
    }

    fn compile(&self, source: Source) -> Result<Box<dyn Compiled>> {
        self.log.borrow_mut().push(self.name);
        let compile = self.compiles.replace(self.compiles.get() + 1);
        match source {
            Source::Regex(regex) if regex == "no" => Err(anyhow!("refused")),
            _ => Ok(Box::new(OnesCompiled { allows_three: compile >= self.changes_its_mind_at })),
        }
    }
}

impl Compiled for OnesCompiled {
    fn start(&self) -> Result<Box<dyn Matcher>> {
        Ok(Box::new(OnesMatcher { allows_three: self.allows_three, any: false }))
    }
}

struct OnesMatcher {
    allows_three: bool,
    any: bool,
}

impl Matcher for OnesMatcher {
    fn mask(&mut self, row: &mut [i32]) -> Result<()> {
        row.fill(0);
        row[0] = 0b0110 | i32::from(self.allows_three) << 3;
        row[1] = i32::from(self.any) << (EOS - 32);
        Ok(())
    }

    fn commit(&mut self, token: u32) -> Result<()> {
        assert_ne!(token, 2, "two");
        self.any = true;
        Ok(())
    }
}

fn a_case(regex: &str, tests: &[(bool, &[u32])]) -> Case {
    let test = |&(valid, tokens): &(bool, &[u32])| Test { valid, tokens: tokens.to_vec() };
    Case {
        id: "x".into(),
        split: "s".into(),
        constraint: Constraint::Regex(regex.into()),
        tests: tests.iter().map(test).collect(),
    }
}

fn protocol() -> Protocol {
    let time_limit = Duration::from_secs(600);
    Protocol { runs: 3, time_limit, caps: HashMap::new(), row_words: 2, eos: EOS }
}

fn one(case_: &Case) -> Outcome {
    let engines: [Box<dyn Engine>; 1] = [Box::new(Ones::new("a", &Rc::default()))];
    case(&engines, (case_, 0), &HashMap::new(), &protocol()).remove(0)
}

#[test]
fn verdicts_need_every_token_and_the_end() {
    let tests: [(bool, &[u32]); 5] =
        [(true, &[1, 1]), (true, &[]), (false, &[1, 5]), (false, &[1]), (true, &[2])];
    let outcome = one(&a_case("1+", &tests));
    let measured = outcome.measured().unwrap();
    let wrong: Vec<_> = measured.verdicts.iter().map(Verdict::wrong).collect();
    use crate::outcome::Wrong::{Error, InvalidAccepted, ValidRefused};
    assert_eq!(wrong, [None, Some(ValidRefused), None, Some(InvalidAccepted), Some(Error)]);
    let taken: Vec<_> = measured.verdicts.iter().map(|verdict| verdict.tokens_taken).collect();
    assert_eq!(taken, [2, 0, 1, 1, 0]);
    assert!(measured.verdicts[4].error.as_deref().unwrap().contains("two"));
    assert!(!measured.passed() && !measured.unsteady);
    // Masks: two, none, two (the second refuses), one, one (its commit panics).
    assert_eq!(measured.cold.len(), 6);
    assert_eq!(measured.warm.len(), 6);
    assert_eq!(measured.cold[3].1, 0, "a refused token is not taken");
    assert_eq!(measured.runs, 3);
}

#[test]
fn engines_take_turns_and_another_one_begins_each_time() {
    let log = Rc::default();
    let engines: [Box<dyn Engine>; 2] =
        [Box::new(Ones::new("a", &log)), Box::new(Ones::new("b", &log))];
    case(&engines, (&a_case("1+", &[(true, &[1])]), 1), &HashMap::new(), &protocol());
    assert_eq!(*log.borrow(), ["b", "a", "a", "b", "b", "a"]);
}

#[test]
fn refusals_and_caps_are_told_apart() {
    assert!(matches!(one(&a_case("no", &[])).status, Status::Refused { .. }));
    let log = Rc::default();
    let engines: [Box<dyn Engine>; 1] = [Box::new(Ones::new("a", &log))];
    let capped = Protocol { caps: HashMap::from([("a".into(), 3)]), ..protocol() };
    let outcomes = case(&engines, (&a_case("long", &[]), 0), &HashMap::new(), &capped);
    assert!(matches!(outcomes[0].status, Status::Skipped));
    assert!(log.borrow().is_empty());
    let stopped = HashMap::from([("a", Excess::Time)]);
    let outcomes = case(&engines, (&a_case("1+", &[]), 0), &stopped, &protocol());
    assert!(matches!(outcomes[0].status, Status::Stopped { excess: Excess::Time }));
    assert!(log.borrow().is_empty());
    let outcomes = case(&engines, (&a_case("abc", &[]), 0), &HashMap::new(), &capped);
    assert!(outcomes[0].measured().is_some_and(|measured| measured.cold.is_empty()));
}

#[test]
fn a_slow_engine_gets_one_run() {
    let log = Rc::default();
    let engines: [Box<dyn Engine>; 1] = [Box::new(Ones::new("a", &log))];
    let impatient = Protocol { time_limit: Duration::ZERO, ..protocol() };
    let outcomes = case(&engines, (&a_case("1+", &[(true, &[1])]), 0), &HashMap::new(), &impatient);
    assert_eq!(outcomes[0].measured().unwrap().runs, 1);
    assert_eq!(log.borrow().len(), 1);
}

#[test]
fn runs_that_differ_are_not_passed() {
    let engine = Ones { changes_its_mind_at: 1, ..Ones::new("a", &Rc::default()) };
    let engines: [Box<dyn Engine>; 1] = [Box::new(engine)];
    let outcomes =
        case(&engines, (&a_case("1+", &[(false, &[3])]), 0), &HashMap::new(), &protocol());
    let measured = outcomes[0].measured().unwrap();
    assert_eq!(measured.verdicts[0].wrong(), None);
    assert!(measured.unsteady && !measured.passed());
}

#[test]
fn the_shorter_step_is_kept_whole() {
    let mut steps = [Step(5, 5), Step(1, 1)];
    shorter(&mut steps, &[Step(7, 1), Step(0, 3)]);
    assert_eq!(steps, [Step(7, 1), Step(1, 1)]);
}
