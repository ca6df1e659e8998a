//! Arguments and conditions of parametric rules.

use super::Parser;
use crate::{
    error::LarkErrorKind as Kind,
    fault::{Fault, fault},
    parameter::{Argument, Bits, Comparison, Condition, Step},
    token::TokenKind,
};

/// A conjunction, disjunction or negation that is open, and its operands so far.
struct Open {
    combine: fn(usize) -> Step,
    operands: usize,
    /// The most operands it takes.
    most: usize,
}

impl Parser<'_> {
    /// `0x1f`, `_`, `incr([0:2])` and so on.
    pub(super) fn reference_argument(&mut self) -> Result<Argument, Fault> {
        let span = self.span();
        match self.kind() {
            TokenKind::Number => Ok(Argument::Constant(self.integer("a number of 64 bits")?)),
            TokenKind::Underscore => {
                self.at += 1;
                Ok(Argument::Same)
            }
            TokenKind::Rule => {
                let name = self.word();
                self.at += 1;
                self.expect(TokenKind::Open, "`(`")?;
                let argument = match name {
                    "incr" => Argument::Increment(self.bits()?),
                    "decr" => Argument::Decrement(self.bits()?),
                    "set_bit" => Argument::Or(self.bit()?),
                    "clear_bit" => Argument::And(!self.bit()?),
                    "bit_and" => Argument::And(self.integer("a number of 64 bits")?),
                    "bit_or" => Argument::Or(self.integer("a number of 64 bits")?),
                    _ => return Err(fault(Kind::UnknownFunction { name: name.into() }, span)),
                };
                self.expect(TokenKind::Close, "`)`")?;
                Ok(argument)
            }
            _ => self.unexpected("a value for the parameter"),
        }
    }

    /// A mask of one bit, from its number.
    fn bit(&mut self) -> Result<u64, Fault> {
        let span = self.span();
        let bit = self.integer("the number of a bit")?;
        match bit {
            0..64 => Ok(1 << bit),
            _ => Err(fault(Kind::Bits, span)),
        }
    }

    /// `_` or `[low:high]`.
    fn bits(&mut self) -> Result<Bits, Fault> {
        if self.take(TokenKind::Underscore) {
            return Ok(Bits::ALL);
        }
        let start = self.expect(TokenKind::OpenSquare, "`_` or a range of bits")?;
        let low = self.integer("the number of a bit")?;
        self.expect(TokenKind::Colon, "`:`")?;
        let high = self.integer("the number of a bit")?;
        self.expect(TokenKind::CloseSquare, "`]`")?;
        Bits::new(low, high).ok_or_else(|| fault(Kind::Bits, self.since(start)))
    }

    /// What stands behind `%if`. Conjunctions and their like are a stack, not recursion.
    pub(super) fn condition(&mut self) -> Result<Condition, Fault> {
        let mut steps = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        loop {
            if let Some(combined) = self.combination() {
                if open.len() >= self.limits.nesting {
                    let limit = self.limits.nesting;
                    return Err(fault(Kind::Nesting { limit }, self.span()));
                }
                self.at += 1;
                self.expect(TokenKind::Open, "`(`")?;
                open.push(combined);
                continue;
            }
            steps.push(self.test()?);
            // An operand is complete: it may complete what is around it.
            loop {
                let Some(inner) = open.last_mut() else { return Ok(Condition(steps)) };
                inner.operands += 1;
                if inner.operands < inner.most && self.kind() == TokenKind::Comma {
                    self.at += 1;
                    break;
                }
                let inner = open.pop().expect("looked at above");
                self.expect(TokenKind::Close, "`,` or `)`")?;
                steps.push((inner.combine)(inner.operands));
            }
        }
    }

    /// Whether `and`, `or` or `not` stands here.
    fn combination(&self) -> Option<Open> {
        let (combine, most): (fn(usize) -> Step, usize) = match (self.kind(), self.word()) {
            (TokenKind::Rule, "and") => (Step::And, usize::MAX),
            (TokenKind::Rule, "or") => (Step::Or, usize::MAX),
            (TokenKind::Rule, "not") => (|_| Step::Not, 1),
            _ => return None,
        };
        Some(Open { combine, operands: 0, most })
    }

    /// A condition that holds no other.
    fn test(&mut self) -> Result<Step, Fault> {
        let span = self.span();
        let name = match self.kind() {
            TokenKind::Rule => self.word(),
            _ => return self.unexpected("a condition"),
        };
        self.at += 1;
        if name == "true" {
            return Ok(Step::True);
        }
        self.expect(TokenKind::Open, "`(`")?;
        let step = match name {
            "bit_set" | "bit_clear" => {
                let at = self.span();
                let bit = self.integer("the number of a bit")?;
                let bits = Bits::single(bit).ok_or_else(|| fault(Kind::Bits, at))?;
                if name == "bit_set" { Step::IsOnes(bits) } else { Step::IsZeros(bits) }
            }
            "is_ones" => Step::IsOnes(self.bits()?),
            "is_zeros" => Step::IsZeros(self.bits()?),
            _ => {
                let counted = name.strip_prefix("bit_count_");
                let comparison = Comparison::by_name(counted.unwrap_or(name))
                    .ok_or_else(|| fault(Kind::UnknownFunction { name: name.into() }, span))?;
                let bits = self.bits()?;
                self.expect(TokenKind::Comma, "`,`")?;
                let value = self.integer("a number of 64 bits")?;
                match counted {
                    Some(_) => Step::CompareCount(comparison, bits, value),
                    None => Step::Compare(comparison, bits, value),
                }
            }
        };
        self.expect(TokenKind::Close, "`)`")?;
        Ok(step)
    }
}
