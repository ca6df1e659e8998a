//! The three number types of logits.

#![expect(unsafe_code, reason = "f32 are read as their bits, in place")]

use half::{bf16, f16, slice::HalfFloatSliceExt};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
}

/// A number type of logits: `f32`, [`struct@f16`] or [`struct@bf16`].
pub trait Logit: sealed::Sealed + Copy + Send + Sync + 'static {
    /// What a refused token gets.
    const NEG_INFINITY: Self;

    /// The value as `f32`, exactly.
    fn to_f32(self) -> f32;

    /// The slice as its bits.
    fn bits_mut(slice: &mut [Self]) -> Bits<'_>;
}

/// A slice of logits as bits, with the bits of minus infinity known by the width and, for 16 bits,
/// said beside it.
#[derive(Debug)]
pub enum Bits<'a> {
    /// `f32`.
    Four(&'a mut [u32]),
    /// A type of two bytes, and its minus infinity.
    Two(&'a mut [u16], u16),
}

/// Minus infinity of `f32`.
pub(crate) const NEG_INFINITY_F32: u32 = 0xff80_0000;

impl Logit for f32 {
    const NEG_INFINITY: Self = f32::NEG_INFINITY;

    fn to_f32(self) -> f32 {
        self
    }

    fn bits_mut(slice: &mut [Self]) -> Bits<'_> {
        // SAFETY: f32 and u32 have one size and one alignment, every bit pattern is valid in both,
        // and the new slice borrows the old one for as long as it lives.
        Bits::Four(unsafe {
            std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len())
        })
    }
}

impl Logit for f16 {
    const NEG_INFINITY: Self = f16::NEG_INFINITY;

    fn to_f32(self) -> f32 {
        half_to_f32(self.to_bits())
    }

    fn bits_mut(slice: &mut [Self]) -> Bits<'_> {
        Bits::Two(slice.reinterpret_cast_mut(), Self::NEG_INFINITY.to_bits())
    }
}

impl Logit for bf16 {
    const NEG_INFINITY: Self = bf16::NEG_INFINITY;

    fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    fn bits_mut(slice: &mut [Self]) -> Bits<'_> {
        Bits::Two(slice.reinterpret_cast_mut(), Self::NEG_INFINITY.to_bits())
    }
}

/// What an f16's exponent lacks of an f32's, as a factor.
const TWO_POW_112: f32 = f32::from_bits((127 + 112) << 23);

/// The value of an f16. The scaling rights normal and subnormal numbers alike; infinities and NaN
/// get the greatest exponent by hand. The kernels have this very function.
fn half_to_f32(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let magnitude = (bits & 0x7fff) << 13;
    let scaled = match bits & 0x7c00 {
        0x7c00 => magnitude | 0x7f80_0000,
        _ => (f32::from_bits(magnitude) * TWO_POW_112).to_bits(),
    };
    f32::from_bits(scaled | (bits & 0x8000) << 16)
}

/// A number whose order is the order of logits: NaN below minus infinity, both zeros equal. Never 0,
/// so that 0 can stand for "no token".
#[inline(always)]
pub(crate) fn rank(value: f32) -> u32 {
    if value.is_nan() {
        return 1;
    }
    // Minus zero becomes zero; nothing else changes.
    let bits = (value + 0.0).to_bits();
    // Negative numbers in reverse, below all others.
    let flip = (bits.cast_signed() >> 31).cast_unsigned() | 0x8000_0000;
    bits ^ flip
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_has_its_value() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) = (half_to_f32(bits), f16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan());
            assert_eq!(ours.is_nan(), theirs.is_nan());
        }
    }

    #[test]
    fn every_bf16_has_its_value() {
        for bits in 0..=u16::MAX {
            let (ours, theirs) =
                (Logit::to_f32(bf16::from_bits(bits)), bf16::from_bits(bits).to_f32());
            assert!(ours.to_bits() == theirs.to_bits() || ours.is_nan() && theirs.is_nan());
        }
    }

    #[test]
    fn ranks_ascend_with_values() {
        let ascending = [
            f32::NEG_INFINITY,
            f32::MIN,
            -1.0,
            -f32::MIN_POSITIVE,
            -f32::from_bits(1),
            0.0,
            f32::from_bits(1),
            1.0,
            f32::MAX,
            f32::INFINITY,
        ];
        assert!(ascending.windows(2).all(|pair| rank(pair[0]) < rank(pair[1])));
        assert_eq!(rank(-0.0), rank(0.0));
        assert!(0 < rank(-f32::NAN) && rank(f32::NAN) < rank(f32::NEG_INFINITY));
    }
}
