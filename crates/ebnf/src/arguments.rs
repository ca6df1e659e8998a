//! The arguments of the constructs that are written like calls.

use crate::{
    Dialect, EbnfError, EbnfErrorKind as Kind,
    attributes::number,
    characters,
    cursor::{Cursor, is_name_character},
};

/// An argument, and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'t> {
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) value: Value<'t>,
}

#[derive(Clone, Debug)]
pub(crate) enum Value<'t> {
    Text(String),
    Number(u32),
    Truth(bool),
    /// A rule, as a rule.
    Name(&'t str),
    Tuple(Vec<Argument<'t>>),
}

/// What stands between the parentheses.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'t> {
    pub(crate) positional: Vec<Argument<'t>>,
    /// Not yet taken, each name once.
    named: Vec<(&'t str, Argument<'t>)>,
}

/// Tuples in tuples: none needs more.
const DEEPEST: usize = 2;

impl<'t> Arguments<'t> {
    /// Reads the arguments, whose parenthesis comes next.
    pub(crate) fn read(cursor: &mut Cursor<'t>, dialect: Dialect) -> Result<Self, EbnfError> {
        cursor.expect("(", "`(`")?;
        let mut arguments = Self::default();
        cursor.skip_blank();
        while !cursor.eat(")") {
            arguments.one(cursor, dialect)?;
            separator(cursor)?;
        }
        Ok(arguments)
    }

    fn one(&mut self, cursor: &mut Cursor<'t>, dialect: Dialect) -> Result<(), EbnfError> {
        let argument = value(cursor, dialect, DEEPEST)?;
        cursor.skip_blank();
        let Value::Name(name) = argument.value else {
            self.positional.push(argument);
            return Ok(());
        };
        if !cursor.eat("=") {
            self.positional.push(argument);
            return Ok(());
        }
        if self.named.iter().any(|(other, _)| *other == name) {
            let kind = Kind::GivenTwice { name: name.into() };
            return Err(cursor.error_of(argument.at, argument.length, kind));
        }
        let given = value(cursor, dialect, DEEPEST)?;
        self.named.push((name, given));
        Ok(())
    }

    /// Takes the argument of this name.
    pub(crate) fn take(&mut self, name: &str) -> Option<Argument<'t>> {
        let at = self.named.iter().position(|(other, _)| *other == name)?;
        Some(self.named.remove(at).1)
    }

    /// Takes a truth value that need not be given.
    pub(crate) fn truth(
        &mut self,
        name: &str,
        default: bool,
        cursor: &Cursor<'_>,
    ) -> Result<bool, EbnfError> {
        match self.take(name) {
            None => Ok(default),
            Some(Argument { value: Value::Truth(truth), .. }) => Ok(truth),
            Some(other) => Err(other.wrong(cursor, "`true` or `false`")),
        }
    }

    /// Takes a tuple that need not be given.
    pub(crate) fn tuple(
        &mut self,
        name: &str,
        cursor: &Cursor<'_>,
    ) -> Result<Vec<Argument<'t>>, EbnfError> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Argument { value: Value::Tuple(parts), .. }) => Ok(parts),
            Some(other) => Err(other.wrong(cursor, "a list in parentheses")),
        }
    }

    /// That there is no argument left.
    pub(crate) fn finish(&self, cursor: &Cursor<'_>) -> Result<(), EbnfError> {
        match self.named.first() {
            None => Ok(()),
            Some((name, argument)) => {
                let kind = Kind::UnknownArgument { name: (*name).into() };
                Err(cursor.error_of(argument.at, argument.length, kind))
            }
        }
    }
}

impl<'t> Argument<'t> {
    /// An error: the argument should be something else.
    pub(crate) fn wrong(&self, cursor: &Cursor<'_>, expected: &'static str) -> EbnfError {
        cursor.error_of(self.at, self.length, Kind::Argument { expected })
    }

    pub(crate) fn text(&self, cursor: &Cursor<'_>) -> Result<&str, EbnfError> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong(cursor, "a string")),
        }
    }

    /// A string that is not empty.
    pub(crate) fn word(&self, cursor: &Cursor<'_>) -> Result<&str, EbnfError> {
        match self.text(cursor)? {
            "" => Err(self.wrong(cursor, "a string that is not empty")),
            text => Ok(text),
        }
    }

    pub(crate) fn name(&self, cursor: &Cursor<'_>) -> Result<&'t str, EbnfError> {
        match self.value {
            Value::Name(name) => Ok(name),
            _ => Err(self.wrong(cursor, "the name of a rule")),
        }
    }

    pub(crate) fn number(&self, cursor: &Cursor<'_>) -> Result<u32, EbnfError> {
        match self.value {
            Value::Number(number) => Ok(number),
            _ => Err(self.wrong(cursor, "a number")),
        }
    }

    /// Both parts of a pair.
    pub(crate) fn pair(
        &self,
        cursor: &Cursor<'_>,
        expected: &'static str,
    ) -> Result<(&Self, &Self), EbnfError> {
        match &self.value {
            Value::Tuple(parts) if parts.len() == 2 => Ok((&parts[0], &parts[1])),
            _ => Err(self.wrong(cursor, expected)),
        }
    }
}

/// Reads `,`, or sees that the list ends.
fn separator(cursor: &mut Cursor<'_>) -> Result<(), EbnfError> {
    cursor.skip_blank();
    if cursor.eat(",") {
        cursor.skip_blank();
        return Ok(());
    }
    if cursor.rest().starts_with(')') { Ok(()) } else { Err(cursor.expected("`,` or `)`")) }
}

/// Recurses as deep as `deepest`, a constant.
fn value<'t>(
    cursor: &mut Cursor<'t>,
    dialect: Dialect,
    deepest: usize,
) -> Result<Argument<'t>, EbnfError> {
    const EXPECTED: &str = "a string, a number, a name, `true`, `false` or a list in parentheses";
    cursor.skip_blank();
    let at = cursor.offset();
    let value = match cursor.peek() {
        Some('"') => Value::Text(characters::string(cursor, dialect)?),
        Some('(') if deepest > 0 => {
            cursor.bump();
            let mut parts = Vec::new();
            cursor.skip_blank();
            while !cursor.eat(")") {
                parts.push(self::value(cursor, dialect, deepest - 1)?);
                separator(cursor)?;
            }
            Value::Tuple(parts)
        }
        Some(digit) if digit.is_ascii_digit() => Value::Number(number(cursor)?),
        Some(character) if is_name_character(character) => {
            let dotted = |c| is_name_character(c) || (c == '.' && dialect == Dialect::XGrammar);
            match cursor.eat_while(dotted) {
                "true" => Value::Truth(true),
                "false" => Value::Truth(false),
                name => Value::Name(name),
            }
        }
        _ => return Err(cursor.expected(EXPECTED)),
    };
    Ok(Argument { at, length: cursor.offset() - at, value })
}
