//! Bracketed classes.

use super::{
    Parser,
    escape::{Escape, Place},
    sets::{Name, Sign},
};
use crate::{Dialect, RegexError, RegexErrorKind as Kind};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// What may stand at one end of a range.
enum Atom {
    Character(char),
    Set(Name, Sign),
}

/// What a class holds so far.
#[derive(Default)]
struct Members {
    ranges: Vec<ClassUnicodeRange>,
    /// How many ranges there were when they were last joined.
    joined: usize,
}

impl Members {
    fn range(&mut self, start: char, end: char) {
        self.ranges.push(ClassUnicodeRange::new(start, end));
        self.join();
    }

    fn set(&mut self, set: &ClassUnicode) {
        self.ranges.extend_from_slice(set.ranges());
        self.join();
    }

    /// Joins what overlaps when there is twice as much of it as the last time, so that a class that
    /// names the same set over and over does not grow.
    fn join(&mut self) {
        if self.ranges.len() > 2 * self.joined.max(4_096) {
            let class = ClassUnicode::new(std::mem::take(&mut self.ranges));
            self.ranges.extend_from_slice(class.ranges());
            self.joined = self.ranges.len();
        }
    }

    fn class(self) -> ClassUnicode {
        ClassUnicode::new(self.ranges)
    }
}

impl Parser<'_, '_> {
    /// Reads the class whose bracket stands at `start` and has been read.
    pub(super) fn class(&mut self, start: usize) -> Result<ClassUnicode, RegexError> {
        let negated = self.cursor.eat("^");
        self.refuse_leading_bracket(start)?;
        let mut members = Members::default();
        while !self.cursor.eat("]") {
            let at = self.cursor.offset();
            let first = self.atom(start)?;
            let rest = self.cursor.rest();
            if !rest.starts_with('-') || rest.starts_with("-]") {
                self.add(at, first, &mut members)?;
                continue;
            }
            self.refuse_operator()?;
            self.cursor.eat("-");
            let last = self.atom(start)?;
            match (first, last) {
                (Atom::Character(first), Atom::Character(last)) if first > last => {
                    let kind = Kind::ReversedRange { start: first, end: last };
                    return Err(self.cursor.error(at, kind));
                }
                (Atom::Character(first), Atom::Character(last)) => {
                    members.range(first, last);
                }
                // ECMA-262, B.1.2.8.1: the union of both and of `-`.
                (first, last) if self.options.dialect == Dialect::Ecma262 => {
                    self.add(at, first, &mut members)?;
                    self.add(at, last, &mut members)?;
                    members.range('-', '-');
                }
                _ => return Err(self.cursor.error(at, Kind::RangeOfClass)),
            }
        }
        let mut class = members.class();
        self.sets
            .fold(&mut class, self.flags.case)
            .map_err(|error| self.cursor.error(start, error.into()))?;
        if negated {
            class.negate();
        }
        Ok(class)
    }

    fn add(&mut self, at: usize, atom: Atom, members: &mut Members) -> Result<(), RegexError> {
        match atom {
            Atom::Character(character) => members.range(character, character),
            Atom::Set(name, sign) => {
                let set = self
                    .sets
                    .named(name.clone(), sign, self.flags.case)
                    .map_err(|error| self.cursor.error(at, error.into()))?
                    .ok_or_else(|| self.unknown(at, &name))?;
                members.set(&set);
            }
        }
        Ok(())
    }

    fn atom(&mut self, class_start: usize) -> Result<Atom, RegexError> {
        self.refuse_operator()?;
        let at = self.cursor.offset();
        match self.cursor.bump() {
            None => Err(self.cursor.error_of(class_start, 1, Kind::UnclosedClass)),
            Some('\\') => match self.escape(at, Place::InClass)? {
                Escape::Character(character) => Ok(Atom::Character(character)),
                Escape::Set(name, sign) => Ok(Atom::Set(name, sign)),
                Escape::Start | Escape::End => unreachable!("no anchors in classes"),
            },
            Some('[') => {
                self.nested.get_or_insert(at);
                Ok(Atom::Character('['))
            }
            Some(character) => Ok(Atom::Character(character)),
        }
    }

    /// Refuses what some dialects read as an operator on sets.
    fn refuse_operator(&self) -> Result<(), RegexError> {
        let found = ["&&", "--", "~~"].iter().any(|sign| self.cursor.rest().starts_with(sign));
        if found && self.options.dialect == Dialect::Shared {
            return Err(self.cursor.error_of(self.cursor.offset(), 2, Kind::SetOperation));
        }
        Ok(())
    }

    /// Refuses a class that begins with `]` where some dialects would look for another `]`.
    fn refuse_leading_bracket(&self, start: usize) -> Result<(), RegexError> {
        let ambiguous = match self.cursor.rest().strip_prefix(']') {
            Some(rest) => self.options.dialect == Dialect::Shared && rest.contains(']'),
            None => false,
        };
        match ambiguous {
            true => Err(self.cursor.error(start, Kind::AmbiguousBrackets)),
            false => Ok(()),
        }
    }
}
