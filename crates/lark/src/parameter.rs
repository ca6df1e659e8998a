//! Parameters of rules: 64 bits, what calls make of them, and conditions on them.
//!
//! A field is a range of bits. Incrementing saturates at the field's greatest value, decrementing
//! at zero.

/// Bits from `low` (included) to `high` (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bits {
    low: u32,
    high: u32,
}

impl Bits {
    pub(crate) const ALL: Self = Self { low: 0, high: 64 };

    /// `None` unless `low < high <= 64`.
    pub(crate) fn new(low: u64, high: u64) -> Option<Self> {
        let (low, high) = (u32::try_from(low).ok()?, u32::try_from(high).ok()?);
        (low < high && high <= 64).then_some(Self { low, high })
    }

    pub(crate) fn single(bit: u64) -> Option<Self> {
        Self::new(bit, bit.checked_add(1)?)
    }

    /// The greatest value of the field.
    fn most(self) -> u64 {
        u64::MAX >> (64 - (self.high - self.low))
    }

    fn of(self, value: u64) -> u64 {
        (value >> self.low) & self.most()
    }

    fn with(self, value: u64, field: u64) -> u64 {
        value & !(self.most() << self.low) | field << self.low
    }
}

/// What a call passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Constant(u64),
    Same,
    Increment(Bits),
    Decrement(Bits),
    And(u64),
    Or(u64),
}

impl Argument {
    /// The value passed on, given the caller's.
    pub(crate) fn value(self, own: u64) -> u64 {
        match self {
            Self::Constant(value) => value,
            Self::Same => own,
            Self::Increment(bits) => {
                bits.with(own, (bits.of(own).saturating_add(1)).min(bits.most()))
            }
            Self::Decrement(bits) => bits.with(own, bits.of(own).saturating_sub(1)),
            Self::And(mask) => own & mask,
            Self::Or(mask) => own | mask,
        }
    }

    /// Whether the caller needs a parameter.
    pub(crate) fn is_relative(self) -> bool {
        !matches!(self, Self::Constant(_))
    }
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    /// By the name that conditions use.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Equal,
            "ne" => Self::NotEqual,
            "lt" => Self::Less,
            "le" => Self::LessOrEqual,
            "gt" => Self::Greater,
            "ge" => Self::GreaterOrEqual,
            _ => return None,
        })
    }
}

/// One step of a condition in postfix order: operands before operators, so that evaluating one is a
/// loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    True,
    IsOnes(Bits),
    IsZeros(Bits),
    Compare(Comparison, Bits, u64),
    CompareCount(Comparison, Bits, u64),
    /// All of the last so many.
    And(usize),
    /// Any of the last so many.
    Or(usize),
    Not,
}

/// A condition on a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Condition(pub(crate) Vec<Step>);

impl Condition {
    /// Whether it holds.
    pub(crate) fn holds(&self, own: u64) -> bool {
        let mut stack: Vec<bool> = Vec::new();
        for step in &self.0 {
            let value = match *step {
                Step::True => true,
                Step::IsOnes(bits) => bits.of(own) == bits.most(),
                Step::IsZeros(bits) => bits.of(own) == 0,
                Step::Compare(comparison, bits, value) => comparison.holds(bits.of(own), value),
                Step::CompareCount(comparison, bits, value) => {
                    comparison.holds(u64::from(bits.of(own).count_ones()), value)
                }
                Step::And(count) => {
                    let from = stack.len().saturating_sub(count);
                    stack.drain(from..).fold(true, |all, value| all & value)
                }
                Step::Or(count) => {
                    let from = stack.len().saturating_sub(count);
                    stack.drain(from..).fold(false, |any, value| any | value)
                }
                Step::Not => !stack.pop().unwrap_or(false),
            };
            stack.push(value);
        }
        stack.pop().unwrap_or(true)
    }

    /// Whether it looks at the parameter at all.
    pub(crate) fn is_relative(&self) -> bool {
        let looks =
            |step: &Step| !matches!(step, Step::True | Step::And(_) | Step::Or(_) | Step::Not);
        self.0.iter().any(looks)
    }
}
