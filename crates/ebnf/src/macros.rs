//! The constructs that are written like calls.

mod dispatch;
mod operators;

use crate::{
    EbnfError, EbnfErrorKind as Kind,
    arguments::{Argument, Arguments, Value},
    machines,
    parse::{Operand, Parser},
};
use formwork_automata::{ByteSet, Dfa};
use formwork_grammar::{ExprId, TokenRef, TokenSet};
use formwork_regex::{Case, Classes, Dot, Folding, RegexError};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A construct that is written like a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Macro {
    TagDispatch,
    TokenTagDispatch,
    Token,
    ExcludeToken,
    Regex,
    Substring,
    Bytes,
    And,
    Not,
    Followed,
    NotFollowed,
    Permute,
}

const ALL: [Macro; 12] = [
    Macro::TagDispatch,
    Macro::TokenTagDispatch,
    Macro::Token,
    Macro::ExcludeToken,
    Macro::Regex,
    Macro::Substring,
    Macro::Bytes,
    Macro::And,
    Macro::Not,
    Macro::Followed,
    Macro::NotFollowed,
    Macro::Permute,
];

impl Macro {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TagDispatch => "TagDispatch",
            Self::TokenTagDispatch => "TokenTagDispatch",
            Self::Token => "Token",
            Self::ExcludeToken => "ExcludeToken",
            Self::Regex => "Regex",
            Self::Substring => "Substring",
            Self::Bytes => "Bytes",
            Self::And => "And",
            Self::Not => "Not",
            Self::Followed => "Followed",
            Self::NotFollowed => "NotFollowed",
            Self::Permute => "Permute",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        ALL.into_iter().find(|construct| construct.name() == name)
    }
}

/// The constructs whose names the text gives to rules: to GBNF they are names like any other.
pub(crate) fn defined_as_rules(text: &str) -> FxHashSet<&'static str> {
    let mut names = FxHashSet::default();
    for line in text.lines() {
        let line = line.trim_start();
        if !line.starts_with(|first: char| first.is_ascii_uppercase()) {
            continue;
        }
        for construct in ALL {
            let rest = line.strip_prefix(construct.name()).unwrap_or_default().trim_start();
            if rest.starts_with("::=") || rest.starts_with('[') && rest.contains("::=") {
                names.insert(construct.name());
            }
        }
    }
    names
}

/// Reads the arguments of a construct whose name stands at `at` and has been read.
pub(crate) fn read<'t>(
    parser: &mut Parser<'t, '_>,
    construct: Macro,
    at: usize,
) -> Result<ExprId, EbnfError> {
    let arguments = Arguments::read(&mut parser.cursor, parser.options.dialect)?;
    let call = Call { at, length: parser.cursor.offset() - at, arguments };
    match construct {
        Macro::TagDispatch => dispatch::by_text(parser, call),
        Macro::TokenTagDispatch => dispatch::by_token(parser, call),
        Macro::Token => token_set(parser, &call, false),
        Macro::ExcludeToken => token_set(parser, &call, true),
        Macro::Regex => regex(parser, call),
        Macro::Substring => substring(parser, &call),
        Macro::Bytes => operators::bytes(parser, &call),
        Macro::And => operators::and(parser, &call),
        Macro::Not => operators::not(parser, &call),
        Macro::Followed | Macro::NotFollowed => operators::followed(parser, &call, construct),
        Macro::Permute => operators::permute(parser, call),
    }
}

/// A construct with its arguments.
#[derive(Debug)]
struct Call<'t> {
    /// Offset of the name.
    at: usize,
    /// Bytes from there to the closing parenthesis.
    length: usize,
    arguments: Arguments<'t>,
}

impl<'t> Call<'t> {
    fn error(&self, parser: &Parser<'_, '_>, kind: Kind) -> EbnfError {
        parser.cursor.error_of(self.at, self.length, kind)
    }

    /// The only argument there is.
    fn only(&self, parser: &Parser<'_, '_>) -> Result<&Argument<'t>, EbnfError> {
        self.arguments.finish(&parser.cursor)?;
        match &self.arguments.positional[..] {
            [only] => Ok(only),
            _ => Err(self.error(parser, Kind::Argument { expected: "one value" })),
        }
    }
}

/// The words of an automaton, as an element.
fn automaton(parser: &mut Parser<'_, '_>, dfa: Dfa) -> ExprId {
    parser.body.automaton(Arc::new(dfa))
}

/// A reference to the rule that an argument names.
fn rule<'t>(parser: &mut Parser<'t, '_>, argument: &Argument<'t>) -> Result<ExprId, EbnfError> {
    let name = argument.name(&parser.cursor)?;
    parser.reference(name, argument.at)
}

/// As [`rule`], for one that must be regular.
fn operand<'t>(
    parser: &mut Parser<'t, '_>,
    argument: &Argument<'t>,
    construct: Macro,
) -> Result<ExprId, EbnfError> {
    let name = argument.name(&parser.cursor)?;
    let rule = parser.mention(name, argument.at)?;
    let Argument { at, length, .. } = *argument;
    let construct = construct.name();
    parser.parsed.operands.push(Operand { rule, construct, at, length });
    parser.reference(name, at)
}

/// Ids, pairs of ids for all from the first to the second, and names.
fn tokens(parser: &Parser<'_, '_>, list: &[Argument<'_>]) -> Result<Vec<TokenRef>, EbnfError> {
    let cursor = &parser.cursor;
    let mut tokens = Vec::with_capacity(list.len());
    for argument in list {
        tokens.push(match &argument.value {
            Value::Text(name) if !name.is_empty() => TokenRef::Name(name.as_str().into()),
            Value::Number(id) => TokenRef::Ids(*id, *id),
            Value::Tuple(_) => {
                let (first, last) = argument.pair(cursor, "two ids")?;
                let (first, last) = (first.number(cursor)?, last.number(cursor)?);
                if first > last {
                    return Err(argument.wrong(cursor, "two ids in ascending order"));
                }
                TokenRef::Ids(first, last)
            }
            _ => return Err(argument.wrong(cursor, "a token's id or name")),
        });
    }
    Ok(tokens)
}

fn token_set(
    parser: &mut Parser<'_, '_>,
    call: &Call<'_>,
    negated: bool,
) -> Result<ExprId, EbnfError> {
    call.arguments.finish(&parser.cursor)?;
    let listed = tokens(parser, &call.arguments.positional)?;
    if listed.is_empty() && !negated {
        return Err(call.error(parser, Kind::Argument { expected: "a token's id or name" }));
    }
    let set = if negated { TokenSet::all_except(listed) } else { TokenSet::of(listed) };
    Ok(parser.body.tokens(set))
}

fn substring(parser: &mut Parser<'_, '_>, call: &Call<'_>) -> Result<ExprId, EbnfError> {
    call.arguments.finish(&parser.cursor)?;
    let texts = call.arguments.positional.iter();
    let chunks: Vec<String> = texts
        .map(|argument| argument.text(&parser.cursor).map(str::to_owned))
        .collect::<Result<_, _>>()?;
    let dfa = machines::substring(&chunks, &mut parser.parsed.fuel)
        .map_err(|error| call.error(parser, error.into()))?;
    Ok(automaton(parser, dfa))
}

/// `Regex("…", flags="is", json_string=true)`.
fn regex(parser: &mut Parser<'_, '_>, mut call: Call<'_>) -> Result<ExprId, EbnfError> {
    let flags = call.arguments.take("flags");
    let json = call.arguments.truth("json_string", false, &parser.cursor)?;
    let argument = call.only(parser)?;
    let pattern = argument.text(&parser.cursor)?;
    let options = match &flags {
        Some(flags) => {
            let text = flags.text(&parser.cursor)?;
            regex_options(text)
                .map_err(|kind| parser.cursor.error_of(flags.at, flags.length, kind))?
        }
        // Without flags, `.` is any character in XGrammar.
        None => regex_options("s").map_err(|kind| call.error(parser, kind))?,
    };
    let wrong = (argument.at, argument.length);
    match json {
        false => lower(parser, pattern, &options, wrong),
        true => {
            let fuel = &mut parser.parsed.fuel;
            let failed = |kind: Kind| parser.cursor.error_of(wrong.0, wrong.1, kind);
            let dfa = formwork_regex::language(pattern, &options, parser.limits, fuel)
                .map_err(|error| failed(error.into()))?;
            let dfa = machines::json_spelling(&dfa, fuel).map_err(|error| failed(error.into()))?;
            Ok(automaton(parser, dfa))
        }
    }
}

/// `/…/flags`, whose first slash comes next.
pub(crate) fn regex_literal(parser: &mut Parser<'_, '_>) -> Result<ExprId, EbnfError> {
    let start = parser.cursor.offset();
    parser.cursor.bump();
    let mut pattern = String::new();
    loop {
        let escaped = parser.cursor.eat("\\");
        match parser.cursor.bump() {
            Some('/') if !escaped => break,
            Some('/') => pattern.push('/'),
            None | Some('\n' | '\r') => {
                return Err(parser.cursor.error_of(start, 1, Kind::UnclosedRegex));
            }
            Some(character) => {
                pattern.extend(escaped.then_some('\\'));
                pattern.push(character);
            }
        }
    }
    let flags_at = parser.cursor.offset();
    let flags = parser.cursor.eat_while(|next| next.is_ascii_alphabetic());
    let options = regex_options(flags).map_err(|kind| parser.cursor.error(flags_at, kind))?;
    let length = parser.cursor.offset() - start;
    lower(parser, &pattern, &options, (start, length))
}

fn lower(
    parser: &mut Parser<'_, '_>,
    pattern: &str,
    options: &formwork_regex::Options,
    (at, length): (usize, usize),
) -> Result<ExprId, EbnfError> {
    formwork_regex::lower(pattern, options, parser.limits, &mut parser.body)
        .map_err(|error: RegexError| parser.cursor.error_of(at, length, error.into()))
}

/// The pattern matches all of the construct's text. Classes such as `\d` are ASCII, and so are the
/// letters that `i` is about.
fn regex_options(flags: &str) -> Result<formwork_regex::Options, Kind> {
    let mut options = formwork_regex::Options::default();
    options.classes = Classes::Ascii;
    options.folding = Folding::Ascii;
    for flag in flags.chars() {
        match flag {
            'i' => options.case = Case::Insensitive,
            's' => options.dot = Dot::Any,
            'u' => {}
            _ => return Err(Kind::UnknownFlag { flag }),
        }
    }
    Ok(options)
}

/// The set of bytes that a list such as `61-7a,20` says.
fn byte_set(text: &str) -> Option<ByteSet> {
    let byte = |text: &str| (text.len() == 2).then(|| u8::from_str_radix(text, 16).ok()).flatten();
    let mut set = ByteSet::EMPTY;
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (byte(first)?, byte(last)?);
        if first > last {
            return None;
        }
        set = set.union(&ByteSet::range(first..=last));
    }
    Some(set)
}
