//! Free text, or free tokens, until something triggers a rule.
//!
//! # Meaning
//! `TagDispatch(("t", rule), …)` is any number of rounds, each a text up to the first trigger in it
//! and then that trigger's rule; and after the last round a text without triggers. Where several
//! triggers end at the same place, each of them counts. No round's text, its trigger included, holds
//! an excluded string. `loop_after_dispatch=false` is one round, or a text without triggers.
//! `stop_str=("s", …)` ends everything where one of them ends, and with `stop_eos=false` nothing
//! else does.
//!
//! `TokenTagDispatch((id, rule), …)` is the same with tokens: any token that is no trigger and not
//! excluded, or a trigger and its rule.
//!
//! # Construction
//! One automaton for each rule that triggers lead to, however many triggers those are.

use super::{Call, automaton, rule, tokens};
use crate::{
    EbnfError, EbnfErrorKind as Kind,
    arguments::Argument,
    cursor::Cursor,
    keywords::{Keywords, Role},
    parse::Parser,
};
use formwork_automata::{Dfa, Exhausted, Fuel};
use formwork_grammar::{ExprId, TokenRef, TokenSet};
use rustc_hash::{FxHashMap, FxHashSet};

const TEXT_PAIR: &str = "a pair of a string and a rule";
const TOKEN_PAIR: &str = "a pair of a token and a rule";

/// Number of the end that stop strings count to; those of triggers come before it.
const STOP: usize = usize::MAX;

/// The automata of a dispatch by text.
struct Texts {
    /// Up to a trigger, by rule.
    rounds: Vec<Dfa>,
    /// After the last round, either of these.
    ends: Vec<Dfa>,
}

pub(super) fn by_text<'t>(
    parser: &mut Parser<'t, '_>,
    mut call: Call<'t>,
) -> Result<ExprId, EbnfError> {
    let cursor = parser.cursor;
    let once = !call.arguments.truth("loop_after_dispatch", true, &cursor)?;
    let may_end = call.arguments.truth("stop_eos", true, &cursor)?;
    let stops = call.arguments.tuple("stop_str", &cursor)?;
    let excludes = call.arguments.tuple("excludes", &cursor)?;
    call.arguments.finish(&cursor)?;
    let (mut words, rules) = triggers(&cursor, &call.arguments.positional)?;
    excluded_begins(&cursor, &words, &excludes)?;
    for stop in &stops {
        words.push((stop.word(&cursor)?, Role::Ends(STOP)));
    }
    for excluded in &excludes {
        words.push((excluded.word(&cursor)?, Role::Excluded));
    }
    let free = if may_end { Some(()) } else { None };
    let texts = texts(&words, rules.len(), free, &mut parser.parsed.fuel)
        .map_err(|error| call.error(parser, error.into()))?;
    let mut rounds = Vec::with_capacity(rules.len());
    for (of_rule, text) in rules.into_iter().zip(texts.rounds) {
        let text = automaton(parser, text);
        let rule = rule(parser, of_rule)?;
        rounds.push(parser.body.seq(&[text, rule]));
    }
    let ends: Vec<ExprId> = texts.ends.into_iter().map(|dfa| automaton(parser, dfa)).collect();
    let end = parser.body.alt(&ends);
    Ok(finished(parser, &rounds, end, once))
}

/// The triggers, each counting to the number of its rule; and the rules.
#[expect(clippy::type_complexity, reason = "two lists that belong together, taken apart at once")]
fn triggers<'a, 't>(
    cursor: &Cursor<'_>,
    pairs: &'a [Argument<'t>],
) -> Result<(Vec<(&'a str, Role)>, Vec<&'a Argument<'t>>), EbnfError> {
    let mut numbers = FxHashMap::default();
    let (mut words, mut rules) = (Vec::new(), Vec::new());
    for pair in pairs {
        let (trigger, rule) = pair.pair(cursor, TEXT_PAIR)?;
        let number = *numbers.entry(rule.name(cursor)?).or_insert_with(|| {
            rules.push(rule);
            rules.len() - 1
        });
        words.push((trigger.word(cursor)?, Role::Ends(number)));
    }
    Ok((words, rules))
}

/// That no excluded string is the begin of a trigger.
fn excluded_begins(
    cursor: &Cursor<'_>,
    triggers: &[(&str, Role)],
    excludes: &[Argument<'_>],
) -> Result<(), EbnfError> {
    let mut sorted: Vec<&str> = triggers.iter().map(|(word, _)| *word).collect();
    sorted.sort_unstable();
    for argument in excludes {
        let excluded = argument.word(cursor)?;
        // What begins with a string is sorted right behind it.
        let at = sorted.partition_point(|word| *word < excluded);
        if sorted.get(at).is_some_and(|word| word.starts_with(excluded)) {
            return Err(excluded_trigger(cursor, argument, excluded.into()));
        }
    }
    Ok(())
}

fn excluded_trigger(cursor: &Cursor<'_>, argument: &Argument<'_>, excluded: Box<str>) -> EbnfError {
    cursor.error_of(argument.at, argument.length, Kind::ExcludedTrigger { excluded })
}

/// The automata; a text without any of the words is an end when `free` says so.
fn texts(
    words: &[(&str, Role)],
    rules: usize,
    free: Option<()>,
    fuel: &mut Fuel,
) -> Result<Texts, Exhausted> {
    let keywords = Keywords::new(words, fuel)?;
    let rounds = (0..rules).map(|number| keywords.until(number, fuel)).collect::<Result<_, _>>()?;
    let mut ends = Vec::new();
    if free.is_some() {
        ends.push(keywords.free(fuel)?);
    }
    if words.iter().any(|(_, role)| *role == Role::Ends(STOP)) {
        ends.push(keywords.until(STOP, fuel)?);
    }
    Ok(Texts { rounds, ends })
}

pub(super) fn by_token<'t>(
    parser: &mut Parser<'t, '_>,
    mut call: Call<'t>,
) -> Result<ExprId, EbnfError> {
    let cursor = parser.cursor;
    let once = !call.arguments.truth("loop_after_dispatch", true, &cursor)?;
    let excludes = call.arguments.tuple("excludes", &cursor)?;
    call.arguments.finish(&cursor)?;
    let excluded: FxHashSet<TokenRef> = tokens(parser, &excludes)?.into_iter().collect();
    let mut named: Vec<TokenRef> = excluded.iter().cloned().collect();
    let mut triggered = Vec::new();
    for argument in &call.arguments.positional {
        let (trigger, of_rule) = argument.pair(&cursor, TOKEN_PAIR)?;
        let trigger = tokens(parser, std::slice::from_ref(trigger))?;
        if let Some(token) = trigger.iter().find(|token| excluded.contains(token)) {
            return Err(excluded_trigger(&cursor, argument, shown(token)));
        }
        named.extend(trigger.iter().cloned());
        let token = parser.body.tokens(TokenSet::of(trigger));
        let rule = rule(parser, of_rule)?;
        triggered.push(parser.body.seq(&[token, rule]));
    }
    named.sort_unstable_by_key(shown);
    let free = parser.body.tokens(TokenSet::all_except(named));
    let free = parser.body.repeat(free, 0, None);
    let round = parser.body.alt(&triggered);
    let round = parser.body.seq(&[free, round]);
    Ok(finished(parser, &[round], free, once))
}

fn shown(token: &TokenRef) -> Box<str> {
    match token {
        TokenRef::Name(name) => name.clone(),
        TokenRef::Ids(first, last) => format!("{first}-{last}").into(),
    }
}

/// Rounds and an end: one round or the end, or any number of rounds and then the end.
fn finished(parser: &mut Parser<'_, '_>, rounds: &[ExprId], end: ExprId, once: bool) -> ExprId {
    let round = parser.body.alt(rounds);
    if once {
        return parser.body.alt(&[round, end]);
    }
    let rounds = parser.body.repeat(round, 0, None);
    parser.body.seq(&[rounds, end])
}
