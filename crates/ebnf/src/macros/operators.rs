//! What neither GBNF nor XGrammar can write and the grammar representation can say.

use super::{Call, Macro, byte_set, operand, rule};
use crate::{
    EbnfError, EbnfErrorKind as Kind,
    arguments::{Argument, Value},
    parse::Parser,
};
use formwork_grammar::{ExprId, Member, Permute, Polarity, Rest, Uniqueness};

/// `Bytes("e2 80-8f,91 a0")`: a byte of each set in turn.
pub(super) fn bytes(parser: &mut Parser<'_, '_>, call: &Call<'_>) -> Result<ExprId, EbnfError> {
    let argument = call.only(parser)?;
    let text = argument.text(&parser.cursor)?;
    let mut parts = Vec::new();
    for set in text.split_ascii_whitespace() {
        let Some(set) = byte_set(set) else {
            return Err(argument.wrong(&parser.cursor, "bytes in hexadecimal: `e2 80-8f,91 a0`"));
        };
        parts.push(parser.body.bytes(set));
    }
    Ok(parser.body.seq(&parts))
}

/// `And(a, b, …)`: the texts that all of these rules generate.
pub(super) fn and<'t>(parser: &mut Parser<'t, '_>, call: &Call<'t>) -> Result<ExprId, EbnfError> {
    call.arguments.finish(&parser.cursor)?;
    let list = call.arguments.positional.iter();
    let operands: Vec<ExprId> =
        list.map(|argument| operand(parser, argument, Macro::And)).collect::<Result<_, _>>()?;
    match operands.is_empty() {
        true => Err(call.error(parser, Kind::Argument { expected: "the name of a rule" })),
        false => Ok(parser.body.and(&operands)),
    }
}

/// `Not(a)`: the byte strings that the rule does not generate.
pub(super) fn not<'t>(parser: &mut Parser<'t, '_>, call: &Call<'t>) -> Result<ExprId, EbnfError> {
    let argument = call.only(parser)?;
    let operand = operand(parser, argument, Macro::Not)?;
    Ok(parser.body.not(operand))
}

/// `Followed(a)`, `NotFollowed(a)`: nothing, before what begins, or does not begin, like the rule.
pub(super) fn followed<'t>(
    parser: &mut Parser<'t, '_>,
    call: &Call<'t>,
    construct: Macro,
) -> Result<ExprId, EbnfError> {
    let argument = call.only(parser)?;
    let operand = operand(parser, argument, construct)?;
    let polarity = match construct {
        Macro::Followed => Polarity::Required,
        _ => Polarity::Forbidden,
    };
    Ok(parser.body.look_ahead(operand, polarity))
}

/// `Permute(required=(a, b), optional=(c), rest=(key, tail), distinct=true, separator=s, min=1,
/// max=9)`: items in any order.
pub(super) fn permute<'t>(
    parser: &mut Parser<'t, '_>,
    mut call: Call<'t>,
) -> Result<ExprId, EbnfError> {
    let cursor = parser.cursor;
    let mut members = Vec::new();
    for (name, required) in [("required", true), ("optional", false)] {
        for argument in call.arguments.tuple(name, &cursor)? {
            members.push(Member { expr: rule(parser, &argument)?, required });
        }
    }
    let distinct = call.arguments.truth("distinct", false, &cursor)?;
    let rest = match call.arguments.take("rest") {
        None => None,
        Some(argument) => {
            let (key, tail) = argument.pair(&cursor, "a pair of rules: key and tail")?;
            let key = match distinct {
                true => operand(parser, key, Macro::Permute)?,
                false => rule(parser, key)?,
            };
            let uniqueness = if distinct { Uniqueness::Distinct } else { Uniqueness::Any };
            Some(Rest { key, tail: rule(parser, tail)?, uniqueness })
        }
    };
    let separator = match call.arguments.take("separator") {
        None => parser.body.empty(),
        Some(argument) => rule(parser, &argument)?,
    };
    let min = count(parser, call.arguments.take("min"))?.unwrap_or(0);
    let max = count(parser, call.arguments.take("max"))?;
    call.arguments.finish(&cursor)?;
    if let Some(argument) = call.arguments.positional.first() {
        return Err(argument.wrong(&cursor, "named values"));
    }
    Ok(parser.body.permute(Permute { members: members.into(), rest, separator, min, max }))
}

fn count(
    parser: &Parser<'_, '_>,
    argument: Option<Argument<'_>>,
) -> Result<Option<u32>, EbnfError> {
    match argument {
        None => Ok(None),
        Some(Argument { value: Value::Number(number), .. }) => Ok(Some(number)),
        Some(other) => Err(other.wrong(&parser.cursor, "a number")),
    }
}
