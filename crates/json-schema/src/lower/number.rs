//! Numbers as languages.
//!
//! Without bounds a number is what RFC 8259 says. With bounds it is spelled plainly, digits and
//! point but no exponent, and the bounds hold for the decimal text itself, digit by digit: an
//! automaton compares what is being written with the digits of the bound, and remembers whether it
//! is less, equal or greater so far. So the bound is exact however many digits it has.

use super::text::automaton;
use crate::{
    decimal::Decimal,
    model::{Bound, Interval},
};
use formwork_automata::{BooleanOp, ByteSet, Dfa, Exhausted, Fuel, NfaBuilder, NfaStateId};
use std::cmp::Ordering;

/// Which numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Digits {
    /// `-?(0|[1-9][0-9]*)`: nothing behind the point, and no point.
    Integer,
    /// A fraction, and an exponent where there are no bounds.
    Fraction,
}

type Built = Result<(), Exhausted>;

/// All numbers of an interval. About three states for each digit of a bound.
pub(super) fn numbers(
    interval: &Interval,
    digits: Digits,
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    let lower = interval.lower.as_ref().map(|bound| at_least(bound, digits, fuel)).transpose()?;
    let upper = interval.upper.as_ref().map(|bound| at_most(bound, digits, fuel)).transpose()?;
    Ok(match (lower, upper) {
        (None, None) => automaton(|nfa, from, to| unbounded(nfa, digits, from, to), fuel)?,
        (Some(one), None) | (None, Some(one)) => one,
        (Some(lower), Some(upper)) => {
            lower.combine(&upper, BooleanOp::Intersection, fuel)?.canonical()
        }
    })
}

fn digit_range(first: u8, last: u8) -> ByteSet {
    ByteSet::range(first..=last)
}

fn unbounded(nfa: &mut NfaBuilder<'_>, digits: Digits, from: NfaStateId, to: NfaStateId) -> Built {
    let all = digit_range(b'0', b'9');
    let (unsigned, whole, more) = (nfa.state()?, nfa.state()?, nfa.state()?);
    nfa.empty(from, unsigned)?;
    nfa.byte(from, ByteSet::single(b'-'), unsigned)?;
    nfa.byte(unsigned, ByteSet::single(b'0'), whole)?;
    nfa.byte(unsigned, digit_range(b'1', b'9'), more)?;
    nfa.byte(more, all, more)?;
    nfa.empty(more, whole)?;
    nfa.empty(whole, to)?;
    if digits == Digits::Integer {
        return Ok(());
    }
    let (point, fraction) = (nfa.state()?, nfa.state()?);
    nfa.byte(whole, ByteSet::single(b'.'), point)?;
    nfa.byte(point, all, fraction)?;
    nfa.byte(fraction, all, fraction)?;
    nfa.empty(fraction, to)?;
    let (mark, sign, exponent) = (nfa.state()?, nfa.state()?, nfa.state()?);
    for end in [whole, fraction] {
        nfa.byte(end, b"eE".iter().copied().collect(), mark)?;
    }
    nfa.byte(mark, b"+-".iter().copied().collect(), sign)?;
    nfa.empty(mark, sign)?;
    nfa.byte(sign, all, exponent)?;
    nfa.byte(exponent, all, exponent)?;
    nfa.empty(exponent, to)
}

/// The numbers above a bound. A magnitude behind a minus sign stands for its negative, so the
/// comparison there is the other way round; `-0` is 0.
fn at_least(bound: &Bound, digits: Digits, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let magnitude = bound.value.magnitude();
    let equal = bound.inclusive;
    let (positive, negative) = if bound.value.is_negative() {
        (Outcomes::ALL, Outcomes { less: true, equal, greater: false })
    } else {
        // Of the negative ones only -0 can be as large as a bound that is not negative.
        let minus_zero =
            Outcomes { less: false, equal: equal && magnitude.is_zero(), greater: false };
        (Outcomes { less: false, equal, greater: true }, minus_zero)
    };
    signed(&magnitude, digits, (positive, negative), fuel)
}

/// The numbers below a bound.
fn at_most(bound: &Bound, digits: Digits, fuel: &mut Fuel) -> Result<Dfa, Exhausted> {
    let magnitude = bound.value.magnitude();
    let equal = bound.inclusive;
    let (positive, negative) = if bound.value.is_negative() {
        (Outcomes::NONE, Outcomes { less: false, equal, greater: true })
    } else if magnitude.is_zero() {
        let zero = Outcomes { less: false, equal, greater: false };
        (zero, Outcomes { less: false, equal, greater: true })
    } else {
        (Outcomes { less: true, equal, greater: false }, Outcomes::ALL)
    };
    signed(&magnitude, digits, (positive, negative), fuel)
}

/// How a magnitude may compare with that of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcomes {
    less: bool,
    equal: bool,
    greater: bool,
}

impl Outcomes {
    const ALL: Self = Self { less: true, equal: true, greater: true };
    const NONE: Self = Self { less: false, equal: false, greater: false };

    fn allow(self, outcome: Ordering) -> bool {
        match outcome {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }
}

fn signed(
    magnitude: &Decimal,
    digits: Digits,
    (positive, negative): (Outcomes, Outcomes),
    fuel: &mut Fuel,
) -> Result<Dfa, Exhausted> {
    automaton(
        |nfa, from, to| {
            Comparison { bound: magnitude, digits, allowed: positive, to }.pour(nfa, from)?;
            let behind_sign = nfa.state()?;
            nfa.byte(from, ByteSet::single(b'-'), behind_sign)?;
            Comparison { bound: magnitude, digits, allowed: negative, to }.pour(nfa, behind_sign)
        },
        fuel,
    )
}

/// Plain decimals without a sign, compared with a bound.
struct Comparison<'a> {
    bound: &'a Decimal,
    digits: Digits,
    allowed: Outcomes,
    to: NfaStateId,
}

/// The states of one decimal place, by how the digits before it compare with those of the bound.
#[derive(Clone, Copy)]
struct Place {
    less: NfaStateId,
    equal: NfaStateId,
    greater: NfaStateId,
}

impl Place {
    fn new(nfa: &mut NfaBuilder<'_>) -> Result<Self, Exhausted> {
        Ok(Self { less: nfa.state()?, equal: nfa.state()?, greater: nfa.state()? })
    }
}

impl Comparison<'_> {
    fn pour(&self, nfa: &mut NfaBuilder<'_>, from: NfaStateId) -> Built {
        if self.allowed == Outcomes::NONE {
            return Ok(());
        }
        let points = Place::new(nfa)?;
        let len = self.bound.integer_len();
        // A zero before the point stands alone.
        let zero = match self.bound.integer_digit(0) {
            b'0' => Ordering::Equal,
            _ => Ordering::Less,
        };
        let after_zero = nfa.state()?;
        nfa.byte(from, ByteSet::single(b'0'), after_zero)?;
        self.end_of_integer(nfa, after_zero, zero, points)?;
        let mut place = Place::new(nfa)?;
        self.compare(nfa, (from, b'1'), self.bound.integer_digit(0), place)?;
        for index in 1..len {
            // Fewer digits than the bound has: less, whatever they are.
            for state in [place.less, place.equal, place.greater] {
                self.end_of_integer(nfa, state, Ordering::Less, points)?;
            }
            let next = Place::new(nfa)?;
            let any = digit_range(b'0', b'9');
            nfa.byte(place.less, any, next.less)?;
            nfa.byte(place.greater, any, next.greater)?;
            self.compare(nfa, (place.equal, b'0'), self.bound.integer_digit(index), next)?;
            place = next;
        }
        self.end_of_integer(nfa, place.less, Ordering::Less, points)?;
        self.end_of_integer(nfa, place.equal, Ordering::Equal, points)?;
        self.end_of_integer(nfa, place.greater, Ordering::Greater, points)?;
        // More digits than the bound has: greater.
        let longer = nfa.state()?;
        for state in [place.less, place.equal, place.greater, longer] {
            nfa.byte(state, digit_range(b'0', b'9'), longer)?;
        }
        self.end_of_integer(nfa, longer, Ordering::Greater, points)?;
        self.fraction(nfa, points)
    }

    /// One digit, from `first` on, compared with the bound's.
    fn compare(
        &self,
        nfa: &mut NfaBuilder<'_>,
        (from, first): (NfaStateId, u8),
        digit: u8,
        to: Place,
    ) -> Built {
        if digit > first {
            nfa.byte(from, digit_range(first, digit - 1), to.less)?;
        }
        if digit >= first {
            nfa.byte(from, ByteSet::single(digit), to.equal)?;
        }
        if digit < b'9' {
            nfa.byte(from, digit_range(first.max(digit + 1), b'9'), to.greater)?;
        }
        Ok(())
    }

    /// The number may end here, or go on behind the point, its integer part compared.
    fn end_of_integer(
        &self,
        nfa: &mut NfaBuilder<'_>,
        at: NfaStateId,
        outcome: Ordering,
        points: Place,
    ) -> Built {
        // Equal so far, and the bound goes on behind the point: less.
        let ended = match outcome {
            Ordering::Equal if !self.bound.is_integer() => Ordering::Less,
            _ => outcome,
        };
        if self.allowed.allow(ended) {
            nfa.empty(at, self.to)?;
        }
        if self.digits == Digits::Fraction {
            let point = match outcome {
                Ordering::Less => points.less,
                Ordering::Equal => points.equal,
                Ordering::Greater => points.greater,
            };
            nfa.byte(at, ByteSet::single(b'.'), point)?;
        }
        Ok(())
    }

    /// What follows the point.
    fn fraction(&self, nfa: &mut NfaBuilder<'_>, points: Place) -> Built {
        let any = digit_range(b'0', b'9');
        let decided = Place::new(nfa)?;
        for (point, state, outcome) in [
            (points.less, decided.less, Ordering::Less),
            (points.greater, decided.greater, Ordering::Greater),
        ] {
            nfa.byte(point, any, state)?;
            nfa.byte(state, any, state)?;
            if self.allowed.allow(outcome) {
                nfa.empty(state, self.to)?;
            }
        }
        let mut at = points.equal;
        let len = self.bound.fraction_len();
        for index in 0..len {
            let equal = nfa.state()?;
            let next = Place { equal, ..decided };
            self.compare(nfa, (at, b'0'), self.bound.fraction_digit(index), next)?;
            // The digits of the bound end with one that is not zero: before that, it is greater.
            let outcome = if index + 1 == len { Ordering::Equal } else { Ordering::Less };
            if self.allowed.allow(outcome) {
                nfa.empty(equal, self.to)?;
            }
            at = equal;
        }
        // Beyond the digits of the bound: zeros change nothing, anything else is greater.
        nfa.byte(at, ByteSet::single(b'0'), decided.equal)?;
        nfa.byte(decided.equal, ByteSet::single(b'0'), decided.equal)?;
        for state in [at, decided.equal] {
            nfa.byte(state, digit_range(b'1', b'9'), decided.greater)?;
        }
        if self.allowed.equal {
            nfa.empty(decided.equal, self.to)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bound(text: &str, inclusive: bool) -> Option<Bound> {
        Some(Bound { value: Decimal::parse(text).expect("in range"), inclusive })
    }

    fn language(lower: Option<Bound>, upper: Option<Bound>, digits: Digits) -> Dfa {
        numbers(&Interval { lower, upper }, digits, &mut Fuel::unlimited())
            .expect("without a limit")
    }

    #[test]
    fn without_bounds() {
        let integers = language(None, None, Digits::Integer);
        let numbers = language(None, None, Digits::Fraction);
        for text in ["0", "-0", "7", "-120"] {
            assert!(integers.accepts(text.as_bytes()) && numbers.accepts(text.as_bytes()));
        }
        for text in ["0.5", "1e5", "-1.25E-7", "0e0"] {
            assert!(!integers.accepts(text.as_bytes()) && numbers.accepts(text.as_bytes()));
        }
        for text in ["", "-", "01", "1.", ".5", "+1", "1e", "--1"] {
            assert!(!integers.accepts(text.as_bytes()) && !numbers.accepts(text.as_bytes()));
        }
    }

    #[test]
    fn exact_at_the_edges() {
        let above = language(bound("0.9999999", false), None, Digits::Fraction);
        assert!(!above.accepts(b"0.999999") && !above.accepts(b"0.9999999"));
        assert!(
            !above.accepts(b"0.99999990") && above.accepts(b"0.99999991") && above.accepts(b"1")
        );
        let large = language(bound("9007199254740993", true), None, Digits::Integer);
        assert!(!large.accepts(b"9007199254740992") && large.accepts(b"9007199254740993"));
        let scientific = language(None, bound("1e20", true), Digits::Integer);
        assert!(scientific.accepts(b"100000000000000000000"));
        assert!(!scientific.accepts(b"100000000000000000001"));
    }

    #[test]
    fn zero_has_a_sign_that_means_nothing() {
        let from_zero = language(bound("-0.0", true), None, Digits::Fraction);
        assert!(from_zero.accepts(b"-0") && from_zero.accepts(b"-0.00") && from_zero.accepts(b"0"));
        assert!(!from_zero.accepts(b"-0.001"));
        let above_zero = language(bound("0", false), None, Digits::Fraction);
        assert!(!above_zero.accepts(b"-0") && !above_zero.accepts(b"0.0"));
        assert!(above_zero.accepts(b"0.0001"));
        let below_zero = language(None, bound("0", false), Digits::Integer);
        assert!(
            !below_zero.accepts(b"-0") && !below_zero.accepts(b"0") && below_zero.accepts(b"-1")
        );
    }

    #[test]
    fn empty_intervals_are_empty() {
        assert!(language(bound("1.2", true), bound("1.8", true), Digits::Integer).is_empty());
        assert!(!language(bound("1.2", true), bound("1.8", true), Digits::Fraction).is_empty());
        assert!(language(bound("3", true), bound("3", false), Digits::Fraction).is_empty());
        assert!(language(bound("3", true), bound("2", true), Digits::Fraction).is_empty());
    }

    #[test]
    fn a_bound_of_a_million_digits_runs_out_of_fuel() {
        let interval = Interval { lower: bound("1e1000000000", true), upper: None };
        let mut fuel = Fuel::new(10_000, 1_000_000);
        let result = numbers(&interval, Digits::Integer, &mut fuel);
        assert_eq!(result.unwrap_err(), Exhausted::States { limit: 10_000 });
    }

    fn decimal_text() -> impl Strategy<Value = String> {
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?"
    }

    proptest! {
        #[test]
        fn membership_is_comparison(
            lower in decimal_text(), upper in decimal_text(), values in prop::collection::vec(decimal_text(), 20),
            inclusive in any::<(bool, bool)>(),
        ) {
            let interval = Interval {
                lower: bound(&lower, inclusive.0),
                upper: bound(&upper, inclusive.1),
            };
            let all = numbers(&interval, Digits::Fraction, &mut Fuel::unlimited()).unwrap();
            let integers = numbers(&interval, Digits::Integer, &mut Fuel::unlimited()).unwrap();
            for text in values.iter().chain([&lower, &upper]) {
                let inside = interval.contains(&Decimal::parse(text).unwrap());
                prop_assert_eq!(all.accepts(text.as_bytes()), inside, "{}", text);
                let written_whole = !text.contains('.');
                prop_assert_eq!(integers.accepts(text.as_bytes()), inside && written_whole);
            }
        }
    }
}
