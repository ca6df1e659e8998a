//! Numbers as they are written: decimal digits of any count, compared exactly, never floats.

use formwork_automata::{Exhausted, Fuel};
use std::cmp::Ordering;

/// Exponents (after the digits were moved behind the point) beyond this are refused, so that no
/// sum of positions can overflow.
const MAX_POINT: i64 = 1 << 52;

/// The number `0.d1 d2 d3 ... * 10^point`, negative or not. Equal numbers are equal values: the
/// digits begin and end with a digit that is not zero, zero has no digit, point 0 and no sign.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    digits: Box<[u8]>,
    point: i64,
}

impl Decimal {
    /// The value of a JSON number; none when its exponent is out of range. Linear in the text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent),
            None => (text, "0"),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = all.iter().take_while(|&&digit| digit == b'0').count();
        let trailing = all.iter().rev().take_while(|&&digit| digit == b'0').count();
        if leading == all.len() {
            return Some(Self { negative: false, digits: [].into(), point: 0 });
        }
        let digits: Box<[u8]> = all[leading..all.len() - trailing].into();
        let exponent: i64 = exponent.parse().ok()?;
        let shift = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?;
        let point = exponent.checked_add(shift)?;
        (point.abs() < MAX_POINT).then_some(Self { negative, digits, point })
    }

    /// Whether it is below zero.
    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Whether nothing but zeros stands behind the decimal point.
    pub(crate) fn is_integer(&self) -> bool {
        self.fraction_len() == 0
    }

    /// The same number without its sign.
    pub(crate) fn magnitude(&self) -> Self {
        Self { negative: false, ..self.clone() }
    }

    /// How many digits stand before the point in the plain spelling: at least 1.
    pub(crate) fn integer_len(&self) -> u64 {
        u64::try_from(self.point).unwrap_or(0).max(1)
    }

    /// How many digits stand behind the point in the shortest plain spelling.
    pub(crate) fn fraction_len(&self) -> u64 {
        u64::try_from(self.digits.len() as i64 - self.point).unwrap_or(0)
    }

    /// A digit before the point, the first being 0.
    pub(crate) fn integer_digit(&self, index: u64) -> u8 {
        if self.point <= 0 { b'0' } else { self.digit(index) }
    }

    /// A digit behind the point, the first being 0.
    pub(crate) fn fraction_digit(&self, index: u64) -> u8 {
        match u64::try_from(-self.point) {
            Ok(zeros) if index < zeros => b'0',
            Ok(zeros) => self.digit(index - zeros),
            Err(_) => self.digit(index + self.point.unsigned_abs()),
        }
    }

    fn digit(&self, index: u64) -> u8 {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.digits.get(index))
            .copied()
            .unwrap_or(b'0')
    }

    /// How many bytes [`Self::plain`] writes.
    pub(crate) fn plain_len(&self) -> u64 {
        self.integer_len() + self.fraction_len() + 2
    }

    /// The plain spelling: no exponent, no needless zero. Costs [`Self::plain_len`].
    pub(crate) fn plain(&self) -> String {
        let mut text = String::new();
        if self.negative {
            text.push('-');
        }
        (0..self.integer_len()).for_each(|index| text.push(char::from(self.integer_digit(index))));
        if !self.is_integer() {
            text.push('.');
            let fraction = 0..self.fraction_len();
            fraction.for_each(|index| text.push(char::from(self.fraction_digit(index))));
        }
        text
    }

    /// The digits, without zeros around them, and the power of ten that they are multiplied with.
    pub(crate) fn scaled(&self) -> (&[u8], i64) {
        (&self.digits, self.point - self.digits.len() as i64)
    }

    /// The power of ten that `0.d1 d2 d3 ...` is multiplied with, where `d1` is the first digit that
    /// is not zero; 0 for zero.
    pub(crate) fn point(&self) -> i64 {
        self.point
    }

    /// The digit at an index, the first that is not zero being 0; zero beyond the last.
    pub(crate) fn significant(&self, index: usize) -> u8 {
        self.digits.get(index).map_or(0, |digit| digit - b'0')
    }

    /// Whether it is an integer times a divisor, which is not zero. Costs as many steps as both have
    /// digits, multiplied.
    pub(crate) fn is_multiple_of(
        &self,
        divisor: &Self,
        fuel: &mut Fuel,
    ) -> Result<bool, Exhausted> {
        let ((digits, power), (modulus, divisor_power)) = (self.scaled(), divisor.scaled());
        if digits.is_empty() {
            return Ok(true);
        }
        // The last digit is not 0, so no negative power of ten divides the number.
        let Ok(zeros) = u64::try_from(power - divisor_power) else { return Ok(false) };
        let mut remainder: Vec<u8> = vec![0; modulus.len() + 1];
        for digit in digits {
            fuel.steps(1 + modulus.len())?;
            push_digit(&mut remainder, digit - b'0', modulus);
        }
        // Powers of two and five of the divisor are used up after four zeros for each of its digits.
        for _ in 0..zeros.min(4 * modulus.len() as u64 + 4) {
            fuel.steps(1 + modulus.len())?;
            push_digit(&mut remainder, 0, modulus);
        }
        Ok(remainder.iter().all(|&digit| digit == 0))
    }

    /// A short text that equal numbers and only they share.
    pub(crate) fn key(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let digits = String::from_utf8_lossy(&self.digits);
        format!("{sign}{digits}e{}", self.point)
    }

    /// The value as a count, if it is one; what exceeds `u64` is `u64::MAX`.
    pub(crate) fn as_count(&self) -> Option<u64> {
        if self.negative || !self.is_integer() {
            return None;
        }
        if self.point > 20 {
            return Some(u64::MAX);
        }
        Some(self.plain().parse().unwrap_or(u64::MAX))
    }
}

/// Appends a digit to a remainder, one digit longer than the modulus, and reduces it.
fn push_digit(remainder: &mut [u8], digit: u8, modulus: &[u8]) {
    remainder.rotate_left(1);
    *remainder.last_mut().expect("at least one digit") = digit;
    let is_less = |remainder: &[u8]| {
        let modulus = modulus.iter().map(|digit| digit - b'0');
        remainder[0] == 0 && remainder[1..].iter().copied().lt(modulus)
    };
    while !is_less(remainder) {
        let mut borrow = 0;
        for (index, digit) in remainder.iter_mut().enumerate().rev() {
            let minus = index.checked_sub(1).map_or(0, |index| modulus[index] - b'0') + borrow;
            borrow = u8::from(*digit < minus);
            *digit = *digit + 10 * borrow - minus;
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitudes = || match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Digits begin with no zero, so the point decides; they end with none, so a prefix is less.
            _ => self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits)),
        };
        match (self.negative, other.negative) {
            (false, false) => magnitudes(),
            (true, true) => magnitudes().reverse(),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).expect("in range")
    }

    #[test]
    fn equal_numbers_are_equal_values() {
        for same in [
            &["0", "-0", "0.00", "-0e99", "0E-5"][..],
            &["1", "1.0", "10e-1", "0.01E+2"],
            &["-120.5", "-1.205e2", "-12050e-2"],
            &["1e20", "100000000000000000000"],
        ] {
            for pair in same.windows(2) {
                assert_eq!(decimal(pair[0]), decimal(pair[1]), "{pair:?}");
                assert_eq!(decimal(pair[0]).key(), decimal(pair[1]).key());
            }
        }
        assert_ne!(decimal("9007199254740993"), decimal("9007199254740992"));
        assert!(decimal("0.999999") < decimal("0.9999999"));
    }

    #[test]
    fn spells_plainly() {
        for (text, plain) in [
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("12.50", "12.5"),
            ("5e-3", "0.005"),
            ("-1.25e1", "-12.5"),
            ("120", "120"),
        ] {
            assert_eq!(decimal(text).plain(), plain);
            assert!(decimal(text).plain_len() >= plain.len() as u64);
        }
    }

    #[test]
    fn counts() {
        assert_eq!(decimal("1e1").as_count(), Some(10));
        assert_eq!(decimal("2.0").as_count(), Some(2));
        assert_eq!(decimal("2.5").as_count(), None);
        assert_eq!(decimal("-1").as_count(), None);
        assert_eq!(decimal("18446744073709551616").as_count(), Some(u64::MAX));
        assert_eq!(decimal("1e300").as_count(), Some(u64::MAX));
    }

    #[test]
    fn refuses_exponents_that_cannot_be_counted() {
        assert_eq!(Decimal::parse("1e99999999999999999999"), None);
        assert_eq!(Decimal::parse("1e9007199254740993"), None);
        assert_eq!(Decimal::parse("0e99999999999999999999"), Some(decimal("0")));
    }

    #[test]
    fn multiples_of_long_numbers() {
        let is_multiple = |value: &str, divisor: &str| {
            let fuel = &mut Fuel::unlimited();
            decimal(value).is_multiple_of(&decimal(divisor), fuel).expect("without a limit")
        };
        let long = format!("{}7", "123456789".repeat(40));
        assert!(is_multiple(&format!("{long}00"), &long) && is_multiple(&long, "0.001"));
        assert!(!is_multiple(&format!("{long}1"), &long) && !is_multiple(&long, "2"));
        assert!(is_multiple("1e1000000000", "1024") && !is_multiple("1e1000000000", "3"));
        assert!(!is_multiple("1e308", "0.123456789") && is_multiple("1e308", "0.5"));
        assert!(is_multiple("0", "7") && is_multiple("-4.5", "1.5") && !is_multiple("35", "1.5"));
    }

    proptest! {
        #[test]
        fn multiples_as_integers_of_a_common_scale(
            value in -99_999_i64..100_000, divisor in 1_i64..3_000, scale in 0_usize..6,
        ) {
            let spell = |value: i64| decimal(&format!("{value}e-{scale}"));
            let multiple = spell(value).is_multiple_of(&spell(divisor), &mut Fuel::unlimited());
            prop_assert_eq!(multiple.unwrap(), value % divisor == 0);
        }

        #[test]
        fn orders_as_integers_of_a_common_scale(
            a in -99_999_i64..100_000, b in -99_999_i64..100_000, scale in 0_usize..6,
        ) {
            let spell = |value: i64| format!("{value}e-{scale}");
            prop_assert_eq!(decimal(&spell(a)).cmp(&decimal(&spell(b))), a.cmp(&b));
            let plain = decimal(&spell(a)).plain();
            prop_assert_eq!(decimal(&plain), decimal(&spell(a)));
        }
    }
}
