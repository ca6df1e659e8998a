//! Quantifiers, and braces that are none.

use super::{Last, Parser};
use crate::{RegexError, RegexErrorKind as Kind, tree::TreeNode};

/// Least and greatest count.
type Counts = (u32, Option<u32>);

impl<'p> Parser<'p, '_> {
    /// Reads the quantifier that begins with `sign` at `start`, which has been read.
    pub(super) fn quantifier(&mut self, start: usize, sign: char) -> Result<(), RegexError> {
        let (min, max) = match sign {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            _ => match self.braces(start)? {
                Some(counts) => counts,
                None => return self.character(start, '{'),
            },
        };
        match self.group.last {
            Last::Atom => {}
            Last::Nothing => return Err(self.cursor.error(start, Kind::DanglingQuantifier)),
            // Marks of laziness and possession were read with the quantifier they belong to.
            Last::Quantified => return Err(self.cursor.error(start, Kind::RepeatedQuantifier)),
        }
        if !self.cursor.eat("?") && self.cursor.eat("+") {
            return Err(self.cursor.error(start, Kind::PossessiveQuantifier));
        }
        self.split_run()?;
        let node = self.group.sequence.pop().expect("an atom stands before");
        let repeat = self.node(TreeNode::Repeat { node, min, max })?;
        self.group.sequence.push(repeat);
        self.group.last = Last::Quantified;
        Ok(())
    }

    /// Makes the last character of the run in hand, if there is one, the last node of the sequence.
    fn split_run(&mut self) -> Result<(), RegexError> {
        let Some(last) = self.tree.text[self.run..].chars().next_back() else { return Ok(()) };
        let end = self.tree.text.len();
        let split = end - last.len_utf8();
        if self.run < split {
            let node = self.node(TreeNode::Text(self.run..split))?;
            self.group.sequence.push(node);
        }
        let node = self.node(TreeNode::Text(split..end))?;
        self.group.sequence.push(node);
        self.run = end;
        Ok(())
    }

    /// Reads `{n}`, `{n,}` or `{n,m}` from after its brace; `None`, with nothing read, for a brace
    /// that is a literal.
    fn braces(&mut self, start: usize) -> Result<Option<Counts>, RegexError> {
        let brace = self.cursor;
        let min = self.count();
        let comma = self.cursor.eat(",");
        let max = if comma { self.count() } else { "" };
        let closed = self.cursor.eat("}");
        match (min.is_empty(), comma, closed) {
            (true, false, _) | (true, true, false) => {
                self.cursor = brace;
                return Ok(None);
            }
            (false, _, true) => {}
            // `{,n}` and `{n` are a quantifier here, text there, an error elsewhere.
            (true, true, true) | (false, _, false) => {
                return Err(self.cursor.error(start, Kind::MalformedQuantifier));
            }
        }
        let number = |digits: &str| {
            let digits = digits.trim_start_matches('0');
            let digits = if digits.is_empty() { "0" } else { digits };
            digits.parse::<u32>().map_err(|_| self.cursor.error(start, Kind::CountTooLarge))
        };
        let min = number(min)?;
        let max = match (comma, max) {
            (false, _) => Some(min),
            (true, "") => None,
            (true, max) => Some(number(max)?),
        };
        match max {
            Some(max) if max < min => {
                Err(self.cursor.error(start, Kind::ReversedQuantifier { min, max }))
            }
            _ => Ok(Some((min, max))),
        }
    }

    fn count(&mut self) -> &'p str {
        self.cursor.eat_while(|digit| digit.is_ascii_digit())
    }
}
