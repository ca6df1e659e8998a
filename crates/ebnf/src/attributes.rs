//! What a rule may say about itself between brackets: `name[max_tokens=5, lazy] ::= …`.

use crate::{
    Dialect, EbnfError, EbnfErrorKind as Kind, characters,
    cursor::{Cursor, is_name_character},
};
use formwork_grammar::{Annotation, Temperature};

/// The attributes of one rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// Offset of the bracket.
    pub(crate) at: usize,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) max_chars: Option<u32>,
    /// Of the words that the rule would generate, only those without a shorter one at their begin.
    pub(crate) lazy: Option<()>,
    pub(crate) annotation: Annotation,
}

impl Attributes {
    /// Whether the rule's language is not that of its body.
    pub(crate) fn change_language(&self) -> bool {
        self.max_chars.is_some() || self.lazy.is_some()
    }
}

/// Reads the attributes of the rule `name`, whose bracket comes next.
pub(crate) fn attributes(
    cursor: &mut Cursor<'_>,
    name: &str,
    dialect: Dialect,
) -> Result<Attributes, EbnfError> {
    let mut attributes = Attributes { at: cursor.offset(), ..Attributes::default() };
    cursor.bump();
    loop {
        cursor.skip_blank();
        one(cursor, name, dialect, &mut attributes)?;
        cursor.skip_blank();
        if !cursor.eat(",") {
            cursor.expect("]", "`,` or `]`")?;
            return Ok(attributes);
        }
    }
}

fn one(
    cursor: &mut Cursor<'_>,
    rule: &str,
    dialect: Dialect,
    attributes: &mut Attributes,
) -> Result<(), EbnfError> {
    let at = cursor.offset();
    let name = cursor.eat_while(is_name_character);
    let again = match name {
        "max_tokens" => {
            value(cursor)?;
            attributes.max_tokens.replace(number(cursor)?).is_some()
        }
        "max_chars" => {
            value(cursor)?;
            attributes.max_chars.replace(number(cursor)?).is_some()
        }
        "temperature" => {
            value(cursor)?;
            attributes.annotation.temperature.replace(temperature(cursor)?).is_some()
        }
        "capture" => {
            let capture = capture(cursor, rule, dialect)?;
            attributes.annotation.capture.replace(capture).is_some()
        }
        "lazy" => attributes.lazy.replace(()).is_some(),
        "" => return Err(cursor.expected("an attribute")),
        _ => return Err(cursor.error(at, Kind::UnknownAttribute { name: name.into() })),
    };
    match again {
        true => Err(cursor.error(at, Kind::GivenTwice { name: name.into() })),
        false => Ok(()),
    }
}

fn value(cursor: &mut Cursor<'_>) -> Result<(), EbnfError> {
    cursor.expect("=", "`=`")?;
    cursor.skip_blank();
    Ok(())
}

/// `capture` is named after the rule, `capture="x"` after itself.
fn capture(cursor: &mut Cursor<'_>, rule: &str, dialect: Dialect) -> Result<Box<str>, EbnfError> {
    cursor.skip_blank();
    if !cursor.eat("=") {
        return Ok(rule.into());
    }
    cursor.skip_blank();
    let at = cursor.offset();
    if cursor.peek() != Some('"') {
        return Err(cursor.expected("a string"));
    }
    let name = characters::string(cursor, dialect)?;
    match name.is_empty() {
        true => Err(cursor.error(at, Kind::Argument { expected: "a name that is not empty" })),
        false => Ok(name.into()),
    }
}

fn temperature(cursor: &mut Cursor<'_>) -> Result<Temperature, EbnfError> {
    let at = cursor.offset();
    let text = cursor.eat_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '-'));
    // Names such as `inf` are numbers to `parse`, and then not finite.
    let number = text.parse().ok();
    number.and_then(Temperature::new).ok_or_else(|| cursor.error(at, Kind::Temperature))
}

/// Reads a number in decimal digits.
pub(crate) fn number(cursor: &mut Cursor<'_>) -> Result<u32, EbnfError> {
    let at = cursor.offset();
    let digits = cursor.eat_while(|character| character.is_ascii_digit());
    if digits.is_empty() {
        return Err(cursor.expected("a number"));
    }
    digits.parse().map_err(|_| cursor.error(at, Kind::NumberTooLarge))
}
