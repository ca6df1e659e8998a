//! Divisibility by a decimal number, digit by digit.
//!
//! # Idea
//! A divisor is `modulus * 10^-scale`. What is written is an integer with some digits behind the
//! point; it is a multiple when that integer, brought to `scale` digits behind the point, is 0 modulo
//! `modulus`, and all further digits are 0. After `f` digits behind the point only the remainder
//! modulo `modulus / gcd(modulus, 10^(scale - f))` matters: the powers of ten to come settle the rest.
//!
//! Before the point of an integral divisor fewer remainders than that differ: two that are accepted
//! after the same fewest further digits, and the same ones, are accepted alike ever after (Alexeev,
//! "Minimal DFA for testing divisibility", J. Comput. Syst. Sci. 69(2), 2004). So a multiple of
//! 1,000,000 takes seven states, not a million.

use crate::decimal::Decimal;

/// What [`Decimal`] is to be a multiple of.
#[derive(Clone, Debug)]
pub(super) struct Divisor {
    modulus: u64,
    scale: u32,
    /// By digits behind the point, up to `scale`.
    moduli: Box<[u64]>,
    /// After so many further digits all remainders modulo what is left of the modulus differ.
    depth: u32,
    /// The modulus without zeros at its end, and the scale that goes with it.
    core: (u64, i64),
}

/// The remainder from which no multiple can be reached.
pub(super) const FAILED: u64 = u64::MAX;

/// The greatest power of ten that divides nothing more of a number below 2^64.
const MAX_POWER: i64 = 64;

impl Divisor {
    /// None when its digits do not fit 48 bits, or there are more than 10,000 behind the point.
    pub(super) fn new(value: &Decimal) -> Option<Self> {
        let (digits, exponent) = value.scaled();
        let mut modulus: u64 = 0;
        for &digit in digits {
            modulus = modulus * 10 + u64::from(digit - b'0');
            (modulus < 1 << 48).then_some(())?;
        }
        for _ in 0..exponent {
            modulus *= 10;
            (modulus < 1 << 48).then_some(())?;
        }
        let scale = u32::try_from(exponent.min(0).unsigned_abs()).ok()?;
        if scale > 10_000 || modulus == 0 {
            return None;
        }
        let moduli = (0..=scale).map(|behind| reduced(modulus, scale - behind)).collect();
        let mut depth = 0;
        while 10_u128.pow(depth) / u128::from(modulus / reduced(modulus, depth))
            < u128::from(reduced(modulus, depth))
        {
            depth += 1;
        }
        let core = digits.iter().fold(0, |core, digit| core * 10 + u64::from(digit - b'0'));
        Some(Self { modulus, scale, moduli, depth, core: (core, -exponent) })
    }

    /// Being an integer.
    pub(super) fn one() -> Self {
        Self { modulus: 1, scale: 0, moduli: [1].into(), depth: 0, core: (1, 0) }
    }

    pub(super) fn scale(&self) -> u32 {
        self.scale
    }

    /// Remainders that [`Self::push_exact`] keeps apart.
    pub(super) fn exact_size(&self) -> u64 {
        self.core.0
    }

    /// Remainders that differ, about.
    pub(super) fn size(&self) -> u64 {
        if self.scale > 0 {
            return self.modulus;
        }
        let power = |depth: u32| u64::try_from(10_u128.pow(depth)).unwrap_or(u64::MAX);
        let early = |depth: u32| power(depth) / (self.modulus / reduced(self.modulus, depth));
        (0..self.depth).map(early).fold(reduced(self.modulus, self.depth), u64::saturating_add)
    }

    /// The remainder after one more digit, of which `behind` are now behind the point.
    pub(super) fn push(&self, remainder: u64, digit: u8, behind: u32) -> u64 {
        if remainder == FAILED || behind > self.scale {
            return if digit == 0 && remainder == 0 { 0 } else { FAILED };
        }
        let next = (remainder * 10 + u64::from(digit)) % self.moduli[behind as usize];
        // With the last digit that may differ from 0 it is decided.
        let decided = behind == self.scale && self.scale > 0;
        if decided && next != 0 { FAILED } else { next }
    }

    /// The remainder when a point follows.
    pub(super) fn at_point(&self, remainder: u64) -> u64 {
        if self.scale == 0 && remainder != 0 { FAILED } else { remainder }
    }

    /// Whether what is written is a multiple.
    pub(super) fn accepts(remainder: u64) -> bool {
        remainder == 0
    }

    /// What two remainders before the point share exactly when they are accepted alike.
    pub(super) fn key(&self, remainder: u64) -> (u32, u64) {
        if self.scale > 0 {
            return (0, remainder);
        }
        let modulus = u128::from(self.modulus);
        let mut power = 1_u128;
        for depth in 0..self.depth {
            // The digits to come that make it a multiple.
            let missing = (modulus - u128::from(remainder) * power % modulus) % modulus;
            if missing < power {
                return (depth, u64::try_from(missing).unwrap_or(FAILED));
            }
            power *= 10;
        }
        let rest = u128::from(remainder) * power % modulus;
        (self.depth, u64::try_from(rest).unwrap_or(FAILED))
    }

    /// The remainder, modulo the digits of the divisor, after a digit other than 0 behind some zeros.
    pub(super) fn push_exact(&self, remainder: u64, zeros: u32, digit: u8) -> u64 {
        let modulus = u128::from(self.core.0);
        let mut next = u128::from(remainder);
        for _ in 0..=zeros {
            next = next * 10 % modulus;
        }
        u64::try_from((next + u128::from(digit)) % modulus).unwrap_or(FAILED)
    }

    /// The least power of ten with which digits of this remainder make a multiple, when the last of
    /// them is not 0; none when no power does.
    pub(super) fn power_needed(&self, remainder: u64) -> Option<i64> {
        let (modulus, scale) = (u128::from(self.core.0), self.core.1);
        let mut at = u128::from(remainder) % modulus;
        for power in 0..MAX_POWER {
            if at == 0 {
                return Some(power - scale);
            }
            at = at * 10 % modulus;
        }
        None
    }
}

/// What is left of a modulus when a power of ten follows.
fn reduced(modulus: u64, power: u32) -> u64 {
    let mut rest = modulus;
    for factor in [2_u64, 5] {
        let mut left = power;
        while left > 0 && rest.is_multiple_of(factor) {
            rest /= factor;
            left -= 1;
        }
    }
    rest
}
