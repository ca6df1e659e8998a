//! What stands after `(`.

use super::Parser;
use crate::{Case, Dot, RegexError, RegexErrorKind as Kind};
use formwork_grammar::Polarity;

/// What a flag can change, from where it stands to the end of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    pub(super) case: Case,
    pub(super) dot: Dot,
    pub(super) anchors: Anchors,
}

/// What `^` and `$` mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchors {
    Output,
    Lines,
}

/// What `(` has opened.
pub(super) enum Opened {
    /// A group, in which these flags hold.
    Group(Flags),
    /// A look-ahead.
    Look(Polarity),
    /// None: flags for the rest of the group in hand.
    Flags(Flags),
}

/// What is refused by its first characters.
const REFUSED: [(&str, Kind); 8] = [
    ("<=", Kind::LookBehind),
    ("<!", Kind::LookBehind),
    (">", Kind::AtomicGroup),
    ("(", Kind::ConditionalGroup),
    ("#", Kind::Comment),
    ("&", Kind::Recursion),
    ("P>", Kind::Recursion),
    ("P=", Kind::Backreference),
];

impl Parser<'_, '_> {
    /// Reads what follows the `(` at `start`, which has been read.
    pub(super) fn opening(&mut self, start: usize) -> Result<Opened, RegexError> {
        if !self.cursor.eat("?") || self.cursor.eat(":") {
            return Ok(Opened::Group(self.flags));
        }
        for (sign, look) in [("=", Polarity::Required), ("!", Polarity::Forbidden)] {
            if self.cursor.eat(sign) {
                return Ok(Opened::Look(look));
            }
        }
        for (sign, kind) in REFUSED {
            if self.cursor.eat(sign) {
                return Err(self.cursor.error(start, kind));
            }
        }
        if self.cursor.eat("<") || self.cursor.eat("P<") {
            self.group_name(start)?;
            return Ok(Opened::Group(self.flags));
        }
        if self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) {
            self.cursor.bump();
            return Err(self.cursor.error(start, Kind::Recursion));
        }
        self.flags(start)
    }

    /// Reads a group's name, which means nothing here, up to its `>`.
    fn group_name(&mut self, start: usize) -> Result<(), RegexError> {
        let allowed = |next: char| next.is_alphanumeric() || next == '_' || next == '$';
        let name = self.cursor.eat_while(allowed);
        if name.is_empty() || name.starts_with(char::is_numeric) || !self.cursor.eat(">") {
            return Err(self.cursor.error(start, Kind::GroupName));
        }
        Ok(())
    }

    /// Reads flags, up to `:` or `)`.
    fn flags(&mut self, start: usize) -> Result<Opened, RegexError> {
        let mut flags = self.flags;
        let mut on = true;
        // A sign that has set nothing yet.
        let mut pending = true;
        loop {
            let at = self.cursor.offset();
            let next = self.cursor.bump();
            match next {
                Some('i') => flags.case = if on { Case::Insensitive } else { Case::Sensitive },
                Some('s') => flags.dot = if on { Dot::Any } else { Dot::ExceptLineBreaks },
                Some('m') => flags.anchors = if on { Anchors::Lines } else { Anchors::Output },
                Some('u') if on => {}
                Some('-') if on => on = false,
                Some(':') if !pending => return Ok(Opened::Group(flags)),
                Some(')') if !pending => return Ok(Opened::Flags(flags)),
                Some(flag) if flag.is_ascii_alphabetic() => {
                    return Err(self.cursor.error(at, Kind::UnsupportedFlag { flag }));
                }
                _ => return Err(self.cursor.error(start, Kind::UnknownGroup)),
            }
            pending = next == Some('-');
        }
    }
}
